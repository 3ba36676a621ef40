/*
 * child.c - a program of known behaviour for tests of the command on Windows.
 *
 *   child args ...           prints its arguments, one a line, in UTF-8
 *   child exit N             ends with N
 *   child wait MS            does nothing
 *   child say TEXT MS        prints a line, then does nothing
 *   child open FILE MS       makes a file, then does nothing
 *   child spin MS            computes
 *   child pass MS            starts one that computes, and waits for it
 *   child tree FILE MS       starts two that wait, one of which starts another;
 *                            writes their pids and its own; waits
 *   child leave FILE MS      starts one that waits, writes its pid, ends
 *   child alive PID ...      prints how many of these have not ended
 *   child handles            prints how many handles it inherited beside its
 *                            three streams
 */
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#include <shellapi.h>

static void child_print(const wchar_t *text)
{
	char bytes[65536];

	WideCharToMultiByte(CP_UTF8, 0, text, -1, bytes, sizeof bytes, NULL,
			    NULL);
	printf("%s\n", bytes);
}

static DWORD child_ms(const wchar_t *text)
{
	return (DWORD)wcstoul(text, NULL, 10);
}

static DWORD child_start(const wchar_t *arguments, DWORD flags, HANDLE *process)
{
	wchar_t path[4096];
	wchar_t line[8192];
	STARTUPINFOW start;
	PROCESS_INFORMATION made;

	memset(&start, 0, sizeof start);
	start.cb = sizeof start;
	GetModuleFileNameW(NULL, path, 4096);
	_snwprintf(line, 8192, L"\"%ls\" %ls", path, arguments);
	if (!CreateProcessW(path, line, NULL, NULL, FALSE, flags, NULL, NULL,
			    &start, &made)) {
		fprintf(stderr, "child: cannot start: %lu\n", GetLastError());
		exit(99);
	}
	CloseHandle(made.hThread);
	if (process != NULL)
		*process = made.hProcess;
	return made.dwProcessId;
}

static void child_write(const wchar_t *path, const DWORD *pids, size_t count)
{
	FILE *file = _wfopen(path, L"w");
	size_t i;

	if (file == NULL)
		exit(98);
	for (i = 0; i < count; i++)
		fprintf(file, "%lu\n", pids[i]);
	fclose(file);
}

static int child_tree(const wchar_t *path, const wchar_t *ms)
{
	wchar_t inner[4096];
	wchar_t line[8192];
	DWORD pids[3];

	pids[0] = GetCurrentProcessId();
	_snwprintf(line, 8192, L"wait %ls", ms);
	pids[1] = child_start(line, 0, NULL);
	_snwprintf(inner, 4096, L"%ls.inner", path);
	_snwprintf(line, 8192, L"leave %ls %ls", inner, ms);
	/* In vain: the job does not let anybody go. */
	pids[2] = child_start(line, DETACHED_PROCESS, NULL);
	child_write(path, pids, 3);
	Sleep(child_ms(ms));
	return 0;
}

static int child_pass(const wchar_t *ms)
{
	wchar_t line[64];
	HANDLE process;

	_snwprintf(line, 64, L"spin %ls", ms);
	child_start(line, 0, &process);
	WaitForSingleObject(process, INFINITE);
	CloseHandle(process);
	return 0;
}

static int child_leave(const wchar_t *path, const wchar_t *ms)
{
	wchar_t line[64];
	DWORD pid;

	_snwprintf(line, 64, L"wait %ls", ms);
	pid = child_start(line, 0, NULL);
	child_write(path, &pid, 1);
	return 0;
}

static int child_alive(int count, wchar_t **pids)
{
	int alive = 0;
	int i;

	for (i = 0; i < count; i++) {
		HANDLE process =
		    OpenProcess(SYNCHRONIZE, FALSE, child_ms(pids[i]));

		if (process == NULL)
			continue;
		alive += WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
		CloseHandle(process);
	}
	printf("%d\n", alive);
	return 0;
}

/* Handles of a program that was given three are few: those that its own C
 * library and system opened have low numbers, too, so that only files and
 * pipes are looked for. */
static int child_handles(void)
{
	int count = 0;
	uintptr_t number;

	for (number = 4; number < 4096; number += 4) {
		const HANDLE handle = (HANDLE)number;
		DWORD flags;

		if (GetHandleInformation(handle, &flags) &&
		    (flags & HANDLE_FLAG_INHERIT) != 0 &&
		    handle != GetStdHandle(STD_INPUT_HANDLE) &&
		    handle != GetStdHandle(STD_OUTPUT_HANDLE) &&
		    handle != GetStdHandle(STD_ERROR_HANDLE) &&
		    GetFileType(handle) != FILE_TYPE_UNKNOWN)
			count++;
	}
	printf("%d\n", count);
	return 0;
}

static int child_run(int count, wchar_t **words)
{
	const wchar_t *verb = count > 1 ? words[1] : L"";

	if (wcscmp(verb, L"args") == 0) {
		int i;

		for (i = 2; i < count; i++)
			child_print(words[i]);
		return 0;
	}
	if (wcscmp(verb, L"alive") == 0)
		return child_alive(count - 2, words + 2);
	if (wcscmp(verb, L"handles") == 0)
		return child_handles();
	if (wcscmp(verb, L"exit") == 0 && count > 2)
		return (int)wcstoul(words[2], NULL, 0);
	if (wcscmp(verb, L"wait") == 0 && count > 2) {
		Sleep(child_ms(words[2]));
		return 0;
	}
	if (wcscmp(verb, L"spin") == 0 && count > 2) {
		const ULONGLONG end = GetTickCount64() + child_ms(words[2]);
		volatile unsigned work = 0;

		while (GetTickCount64() < end)
			work++;
		return 0;
	}
	if (wcscmp(verb, L"pass") == 0 && count > 2)
		return child_pass(words[2]);
	if (count <= 3)
		return 95;
	if (wcscmp(verb, L"say") == 0) {
		child_print(words[2]);
		fflush(stdout);
		Sleep(child_ms(words[3]));
		return 0;
	}
	if (wcscmp(verb, L"open") == 0) {
		const DWORD none = 0;

		child_write(words[2], &none, 1);
		Sleep(child_ms(words[3]));
		return 0;
	}
	if (wcscmp(verb, L"tree") == 0)
		return child_tree(words[2], words[3]);
	if (wcscmp(verb, L"leave") == 0)
		return child_leave(words[2], words[3]);
	return 95;
}

int main(void)
{
	wchar_t **words;
	int count;

	_setmode(_fileno(stdout), _O_BINARY);
	words = CommandLineToArgvW(GetCommandLineW(), &count);
	return words != NULL ? child_run(count, words) : 94;
}
