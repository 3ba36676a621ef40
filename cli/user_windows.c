/*
 * user_windows.c - users of Windows, who have names and no numbers: a number,
 * of a recording of another system, stays one.
 */
#include "user.h"
#include "wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

#define USER_LONGEST 257 /* UNLEN and the NUL */

char *user_ask(uint32_t uid)
{
	(void)uid;
	return NULL;
}

static void user_text(const wchar_t *wide, char *text, size_t size)
{
	char *made = wide_to(wide);

	if (made != NULL)
		snprintf(text, size, "%s", made);
	free(made);
}

void user_self(char *text, size_t size)
{
	wchar_t wide[USER_LONGEST];
	DWORD room = USER_LONGEST;

	text[0] = '\0';
	if (GetUserNameW(wide, &room))
		user_text(wide, text, size);
}

void user_machine(char *text, size_t size)
{
	wchar_t wide[USER_LONGEST];
	DWORD room = USER_LONGEST;

	text[0] = '\0';
	if (GetComputerNameExW(ComputerNameDnsHostname, wide, &room))
		user_text(wide, text, size);
}
