/*
 * test_threads.c - the threads of this process: who they are, what they are
 * called and where they began, and that what is told of a number is of the
 * thread that was sampled.
 */
#include "child.h"

#include <plimsoll.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static plim_host *host;
static HANDLE stop;
static HANDLE begun[2]; /* Wine knows where a thread began once it has */

static int open_host(void **state)
{
	(void)state;
	stop = CreateEventW(NULL, TRUE, FALSE, NULL);
	begun[0] = CreateEventW(NULL, FALSE, FALSE, NULL);
	begun[1] = CreateEventW(NULL, FALSE, FALSE, NULL);
	return plim_host_open(&host, NULL, NULL);
}

static int close_host(void **state)
{
	(void)state;
	plim_host_close(host);
	CloseHandle(stop);
	CloseHandle(begun[0]);
	CloseHandle(begun[1]);
	return 0;
}

static DWORD WINAPI waiting_thread(void *argument)
{
	(void)argument;
	SetEvent(begun[0]);
	WaitForSingleObject(stop, INFINITE);
	return 0;
}

static DWORD WINAPI spinning_thread(void *argument)
{
	(void)argument;
	SetEvent(begun[1]);
	while (WaitForSingleObject(stop, 0) != WAIT_OBJECT_0)
		;
	return 0;
}

/* In kernel32 since Windows 10, 1607; not in the headers of MinGW. */
static int describe(HANDLE thread, const wchar_t *name)
{
	HRESULT(WINAPI * function)(HANDLE, const wchar_t *);
	FARPROC found = GetProcAddress(GetModuleHandleW(L"kernel32.dll"),
				       "SetThreadDescription");

	memcpy(&function, &found, sizeof found);
	return function != NULL && SUCCEEDED(function(thread, name));
}

static uint64_t creation(HANDLE thread)
{
	FILETIME create, other;

	assert_true(GetThreadTimes(thread, &create, &other, &other, &other));
	return (uint64_t)create.dwHighDateTime << 32 | create.dwLowDateTime;
}

static const plim_thread *find(const plim_threads *threads, DWORD tid)
{
	for (size_t i = 0; i < plim_threads_count(threads); i++)
		if (plim_threads_at(threads, i)->tid == (int32_t)tid)
			return plim_threads_at(threads, i);
	return NULL;
}

/* Counters at first, then names and addresses, of the same threads. */
static void test_sample(void **state)
{
	DWORD tids[2];
	HANDLE handles[2];
	plim_threads *threads;
	const plim_thread *thread;

	(void)state;
	ResetEvent(stop);
	handles[0] = CreateThread(NULL, 0, waiting_thread, NULL, 0, &tids[0]);
	handles[1] = CreateThread(NULL, 0, spinning_thread, NULL, 0, &tids[1]);
	assert_int_equal(WaitForMultipleObjects(2, begun, TRUE, 60000),
			 WAIT_OBJECT_0);
	assert_true(describe(handles[0], L"w\x00e4rter \x4e2d"));
	assert_int_equal(plim_threads_new(&threads, host, NULL), PLIM_OK);
	assert_int_equal(plim_threads_sample(threads, NULL, NULL, NULL),
			 PLIM_OK);
	assert_true(plim_threads_count(threads) >= 3);
	thread = find(threads, tids[0]);
	assert_non_null(thread);
	assert_true(thread->start_ticks.value == creation(handles[0]));
	assert_int_equal(thread->start_ticks.state, PLIM_STATE_KNOWN);
	assert_int_equal(thread->name.state, PLIM_STATE_KNOWN);
	assert_int_equal(thread->name.bytes.size, 11);
	assert_memory_equal(thread->name.bytes.data,
			    "w\xc3\xa4rter \xe4\xb8\xad", 11);
	assert_int_equal(thread->start_address.state, PLIM_STATE_KNOWN);
	assert_true(thread->start_address.value ==
		    (uint64_t)(uintptr_t)waiting_thread);
	assert_int_equal(thread->wakeups.state, PLIM_STATE_KNOWN);
	assert_int_equal(thread->involuntary.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(thread->runqueue_ns.state, PLIM_STATE_UNSUPPORTED);
	thread = find(threads, tids[1]);
	assert_non_null(thread);
	assert_true(thread->start_address.value ==
		    (uint64_t)(uintptr_t)spinning_thread);
	/* One without a description has an empty name. */
	assert_int_equal(thread->name.state, PLIM_STATE_KNOWN);
	assert_int_equal(thread->name.bytes.size, 0);
	SetEvent(stop);
	WaitForMultipleObjects(2, handles, TRUE, INFINITE);
	for (int i = 0; i < 2; i++)
		CloseHandle(handles[i]);
	plim_threads_free(threads);
}

/* Who spins is the one whose CPU time grows; who came and who went. */
static void test_changes(void **state)
{
	const plim_threads_options options = {.size = sizeof options};
	DWORD tids[3];
	HANDLE handles[3];
	plim_threads *threads;
	plim_threads_facts facts;
	uint64_t spun = 0;
	uint64_t waited = 0;
	HANDLE gone;
	DWORD gone_tid;
	ULONGLONG begin;

	(void)state;
	ResetEvent(stop);
	gone = CreateThread(NULL, 0, waiting_thread, NULL, 0, &gone_tid);
	for (int i = 0; i < 2; i++)
		handles[i] =
		    CreateThread(NULL, 0, i ? spinning_thread : waiting_thread,
				 NULL, 0, &tids[i]);
	assert_int_equal(plim_threads_new(&threads, host, NULL), PLIM_OK);
	assert_int_equal(plim_threads_sample(threads, NULL, &options, NULL),
			 PLIM_OK);
	assert_non_null(find(threads, gone_tid));
	TerminateThread(gone, 0);
	WaitForSingleObject(gone, INFINITE);
	CloseHandle(gone);
	handles[2] = CreateThread(NULL, 0, waiting_thread, NULL, 0, &tids[2]);
	begin = GetTickCount64();
	do {
		Sleep(50);
		assert_int_equal(
		    plim_threads_extend(threads, NULL, &options, NULL),
		    PLIM_OK);
		for (size_t i = 0; i < plim_threads_changes(threads); i++) {
			plim_thread_change change =
			    plim_threads_change(threads, i);

			if (change.last->tid == (int32_t)tids[1])
				spun = change.cpu_ns.value;
			if (change.last->tid == (int32_t)tids[0])
				waited = change.cpu_ns.value;
			/* The number of one that ended may be another's. */
			assert_int_equal(change.born,
					 change.last->tid == (int32_t)tids[2]);
		}
	} while (spun < 200000000 && GetTickCount64() - begin < 60000);
	assert_true(spun >= 200000000);
	assert_true(waited < spun / 4);
	facts = plim_threads_about(threads);
	assert_int_equal(facts.born, 1);
	assert_int_equal(facts.exited, 1);
	assert_int_equal(plim_threads_exited_at(threads, 0).last->tid,
			 gone_tid);
	SetEvent(stop);
	WaitForMultipleObjects(3, handles, TRUE, INFINITE);
	for (int i = 0; i < 3; i++)
		CloseHandle(handles[i]);
	plim_threads_free(threads);
}

/* Those of another process, by its handle. */
static void test_other(void **state)
{
	PROCESS_INFORMATION child = child_start(L"nap 30000");
	plim_target *target;
	plim_threads *threads;
	const plim_thread *thread;

	(void)state;
	assert_true(describe(child.hThread, L"main of the child"));
	assert_int_equal(
	    plim_target_open(&target, host, (int32_t)child.dwProcessId, NULL),
	    PLIM_OK);
	assert_int_equal(plim_threads_new(&threads, host, NULL), PLIM_OK);
	assert_int_equal(plim_threads_sample(threads, target, NULL, NULL),
			 PLIM_OK);
	thread = find(threads, child.dwThreadId);
	assert_non_null(thread);
	assert_true(thread->start_ticks.value == creation(child.hThread));
	assert_int_equal(thread->name.bytes.size, 17);
	assert_memory_equal(thread->name.bytes.data, "main of the child", 17);
	assert_int_equal(thread->start_address.state, PLIM_STATE_KNOWN);
	assert_true(thread->start_address.value != 0);
	child_kill(&child);
	assert_int_equal(plim_threads_sample(threads, target, NULL, NULL),
			 PLIM_ENOPROCESS);
	/* The sample stays. */
	assert_non_null(find(threads, child.dwThreadId));
	plim_threads_free(threads);
	plim_target_close(target);
}

static DWORD WINAPI short_thread(void *argument)
{
	(void)argument;
	return 0;
}

static DWORD WINAPI churning_thread(void *argument)
{
	(void)argument;
	while (WaitForSingleObject(stop, 0) != WAIT_OBJECT_0) {
		HANDLE thread =
		    CreateThread(NULL, 0, short_thread, NULL, 0, NULL);

		WaitForSingleObject(thread, INFINITE);
		CloseHandle(thread);
	}
	return 0;
}

/* Threads that end between the sample and the question for their names: each
 * has a name and an address, or says that it ended. */
static void test_race(void **state)
{
	HANDLE churner;
	plim_threads *threads;
	size_t samples;

	(void)state;
	ResetEvent(stop);
	churner = CreateThread(NULL, 0, churning_thread, NULL, 0, NULL);
	assert_int_equal(plim_threads_new(&threads, host, NULL), PLIM_OK);
	for (samples = 0; samples < 200; samples++) {
		assert_int_equal(plim_threads_sample(threads, NULL, NULL, NULL),
				 PLIM_OK);
		for (size_t i = 0; i < plim_threads_count(threads); i++) {
			const plim_thread *thread = plim_threads_at(threads, i);

			assert_true(thread->name.state == PLIM_STATE_KNOWN ||
				    thread->name.state == PLIM_STATE_GONE);
			assert_true(
			    thread->start_address.state == PLIM_STATE_KNOWN ||
			    thread->start_address.state == PLIM_STATE_GONE);
		}
	}
	SetEvent(stop);
	WaitForSingleObject(churner, INFINITE);
	CloseHandle(churner);
	plim_threads_free(threads);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sample),
	    cmocka_unit_test(test_changes),
	    cmocka_unit_test(test_other),
	    cmocka_unit_test(test_race),
	};

	child_main(argc, argv);
	return cmocka_run_group_tests(tests, open_host, close_host);
}
