/*
 * interrupt_windows.c - interruptions are events of the console, which come in
 * a thread of their own: it sets the flag, and an event that every wait waits
 * for, too.
 *
 * Whoever is on the console gets them, the command that we started as well.
 * When the console is closed or the user logs off, we are ended as soon as
 * that thread returns: it does not, so that there is time to tell what was
 * found out (the system gives five seconds).
 */
#include "cmd.h"

#include <io.h>
#include <signal.h>
#include <windows.h>

#define WAIT_ENTRIES 8
#define WAIT_MOST_MS 3600000
/* How long data may lie in a pipe, which nothing can wait for. */
#define WAIT_PIPE_MS 10

static HANDLE interrupt_event;

static BOOL WINAPI interrupt_come(DWORD event)
{
	const int is_end = event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT;

	interrupt_note(is_end ? SIGTERM : SIGINT, 0);
	SetEvent(interrupt_event);
	if (is_end)
		Sleep(INFINITE);
	return TRUE;
}

/* Ctrl-C may be ignored since we were started: that stays so. */
void interrupt_catch(void)
{
	interrupt_event = CreateEventW(NULL, TRUE, FALSE, NULL);
	SetConsoleCtrlHandler(interrupt_come, TRUE);
}

static uint64_t wait_now(void)
{
	LARGE_INTEGER rate;
	LARGE_INTEGER now;
	uint64_t second;

	QueryPerformanceFrequency(&rate);
	QueryPerformanceCounter(&now);
	second = (uint64_t)rate.QuadPart;
	return (uint64_t)now.QuadPart / second * UINT64_C(1000000000) +
	       (uint64_t)now.QuadPart % second * UINT64_C(1000000000) / second;
}

/* A pipe whose other end is closed has that to say. */
static int wait_pipe(int descriptor)
{
	DWORD there = 0;

	return !PeekNamedPipe((HANDLE)_get_osfhandle(descriptor), NULL, 0, NULL,
			      &there, NULL) ||
	       there > 0;
}

static int wait_pipes(struct wait_entry *entries, size_t count)
{
	int ready = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (entries[i].is_pipe && entries[i].descriptor >= 0) {
			entries[i].is_ready = wait_pipe(entries[i].descriptor);
			ready += entries[i].is_ready;
		}
	return ready;
}

/* What the library gives to wait for is a handle, which has 32 bits. */
static HANDLE wait_handle(const struct wait_entry *entry)
{
	return (HANDLE)(intptr_t)entry->descriptor;
}

static int wait_ready(struct wait_entry *entries, size_t count)
{
	int ready = wait_pipes(entries, count);
	size_t i;

	for (i = 0; i < count; i++)
		if (!entries[i].is_pipe && entries[i].descriptor >= 0) {
			entries[i].is_ready =
			    WaitForSingleObject(wait_handle(&entries[i]), 0) ==
			    WAIT_OBJECT_0;
			ready += entries[i].is_ready;
		}
	return ready;
}

static DWORD wait_ms(uint64_t left, int pipes)
{
	const uint64_t most = pipes ? WAIT_PIPE_MS : WAIT_MOST_MS;
	const uint64_t ms = (left + 999999) / 1000000;

	return (DWORD)(ms < most ? ms : most);
}

/* What failed to be waited for would come back at once, again and again. */
static void wait_one(const HANDLE *handles, DWORD count, DWORD ms)
{
	if (WaitForMultipleObjects(count, handles, FALSE, ms) == WAIT_FAILED)
		WaitForSingleObject(interrupt_event,
				    ms < WAIT_PIPE_MS ? ms : WAIT_PIPE_MS);
}

int interrupt_wait(uint64_t ns, struct wait_entry *entries, size_t count)
{
	const uint64_t begin = wait_now();
	HANDLE handles[WAIT_ENTRIES + 1];
	DWORD handle_count = 0;
	int pipes = 0;
	size_t i;

	fflush(stderr);
	handles[handle_count++] = interrupt_event;
	for (i = 0; i < count; i++) {
		entries[i].is_ready = 0;
		if (entries[i].descriptor < 0)
			continue;
		if (entries[i].is_pipe)
			pipes = 1;
		else if (handle_count <= WAIT_ENTRIES)
			handles[handle_count++] = wait_handle(&entries[i]);
	}
	for (;;) {
		const int ready = wait_ready(entries, count);
		const uint64_t spent = wait_now() - begin;

		/* The flag may have been taken back; it is what counts. */
		if (interrupted)
			return -1;
		ResetEvent(interrupt_event);
		if (interrupted)
			return -1;
		if (ready > 0 || spent >= ns)
			return ready;
		wait_one(handles, handle_count, wait_ms(ns - spent, pipes));
	}
}
