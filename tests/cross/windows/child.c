/*
 * child.c - see child.h.
 */
#include "child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void child_fail(const char *what)
{
	fprintf(stderr, "child: %s: error %lu\n", what, GetLastError());
	abort();
}

/* Wine's CreateProcessW() fails once in some hundred calls, with an internal
 * error, while processes that were ended have not wholly gone. */
static int child_create(wchar_t *line, PROCESS_INFORMATION *started)
{
	STARTUPINFOW startup = {.cb = sizeof startup};

	for (int tries = 0; tries < 10; tries++) {
		if (CreateProcessW(NULL, line, NULL, NULL, FALSE, 0, NULL, NULL,
				   &startup, started))
			return 1;
		if (GetLastError() != ERROR_INTERNAL_ERROR)
			return 0;
		Sleep(20);
	}
	return 0;
}

PROCESS_INFORMATION child_start(const wchar_t *arguments)
{
	PROCESS_INFORMATION started;
	static wchar_t line[40000];
	wchar_t program[MAX_PATH];

	if (GetModuleFileNameW(NULL, program, MAX_PATH) == 0)
		child_fail("GetModuleFileNameW");
	_snwprintf(line, sizeof line / sizeof line[0], L"\"%ls\" %ls", program,
		   arguments);
	if (!child_create(line, &started))
		child_fail("CreateProcessW");
	return started;
}

uint32_t child_end(PROCESS_INFORMATION *child)
{
	DWORD code = 0;

	if (WaitForSingleObject(child->hProcess, 60000) != WAIT_OBJECT_0 ||
	    !GetExitCodeProcess(child->hProcess, &code))
		child_fail("the child did not end");
	CloseHandle(child->hProcess);
	CloseHandle(child->hThread);
	child->hProcess = NULL;
	return code;
}

void child_kill(PROCESS_INFORMATION *child)
{
	TerminateProcess(child->hProcess, 1);
	child_end(child);
}

static void child_parent(long ms, long count)
{
	PROCESS_INFORMATION children[16];
	wchar_t arguments[32];
	long i;

	_snwprintf(arguments, 32, L"nap %ld", ms);
	for (i = 0; i < count && i < 16; i++)
		children[i] = child_start(arguments);
	while (i-- > 0)
		child_end(&children[i]);
}

static void child_chain(long ms, long count)
{
	PROCESS_INFORMATION next;
	wchar_t arguments[32];

	if (count <= 1) {
		Sleep((DWORD)ms);
		return;
	}
	_snwprintf(arguments, 32, L"chain %ld %ld", ms, count - 1);
	next = child_start(arguments);
	child_end(&next);
}

void child_main(int argc, char **argv)
{
	long first = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	long second = argc > 3 ? strtol(argv[3], NULL, 10) : 0;

	if (argc < 2)
		return;
	if (strcmp(argv[1], "nap") == 0)
		Sleep((DWORD)first);
	else if (strcmp(argv[1], "parent") == 0)
		child_parent(first, second);
	else if (strcmp(argv[1], "chain") == 0)
		child_chain(first, second);
	else if (strcmp(argv[1], "exit") == 0)
		exit((int)first);
	else
		return;
	exit(0);
}

int child_is_wine(void)
{
	return GetProcAddress(GetModuleHandleA("ntdll.dll"),
			      "wine_get_version") != NULL;
}
