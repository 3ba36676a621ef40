/*
 * user_posix.c - users as the C library knows them.
 */
#include "user.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *user_ask(uint32_t uid)
{
	const struct passwd *entry = getpwuid((uid_t)uid);

	if (entry == NULL || entry->pw_name == NULL)
		return NULL;
	return strdup(entry->pw_name);
}

void user_self(char *text, size_t size)
{
	snprintf(text, size, "%ld", (long)geteuid());
}

void user_machine(char *text, size_t size)
{
	text[size - 1] = '\0';
	if (gethostname(text, size - 1) != 0)
		text[0] = '\0';
}
