/*
 * test_targets.c - processes that are held: their end, how they ended, what
 * may be done to them, and their command lines.
 */
#include "child.h"

#include <plimsoll.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static plim_host *host;

static int open_host(void **state)
{
	(void)state;
	return plim_host_open(&host, NULL, NULL);
}

static int close_host(void **state)
{
	(void)state;
	plim_host_close(host);
	return 0;
}

static plim_target *hold(const PROCESS_INFORMATION *child)
{
	plim_target *target;

	assert_int_equal(
	    plim_target_open(&target, host, (int32_t)child->dwProcessId, NULL),
	    PLIM_OK);
	return target;
}

static int fate(plim_target *target)
{
	plim_check check;

	assert_int_equal(plim_target_check(target, &check, NULL), PLIM_OK);
	assert_int_equal(check.changes, 0);
	assert_int_equal(check.zombie, 0);
	return check.fate;
}

/* 259 is what Windows says of one that lives; 300 has more than 8 bits. */
static void test_end(void **state)
{
	static const struct {
		const wchar_t *arguments;
		uint32_t code;
	} rows[] = {{L"exit 0", 0},
		    {L"exit 7", 7},
		    {L"exit 259", 259},
		    {L"exit 300", 300},
		    {L"exit -1", UINT32_MAX}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		PROCESS_INFORMATION child = child_start(L"nap 60000");
		plim_target *target = hold(&child);
		plim_usage *usage;
		plim_count status;

		assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
		assert_int_equal(fate(target), PLIM_FATE_SAME);
		assert_int_equal(plim_target_wait(target, 0, NULL),
				 PLIM_ETIMEOUT);
		assert_int_equal(plim_target_wait(target, 5000000, NULL),
				 PLIM_ETIMEOUT);
		status = plim_target_exit_status(target);
		assert_int_equal(status.state, PLIM_STATE_PENDING);
		assert_int_equal(plim_usage_refresh(usage, target, NULL, NULL),
				 PLIM_OK);
		TerminateProcess(child.hProcess, rows[i].code);
		assert_int_equal(
		    plim_target_wait(target, UINT64_C(60000000000), NULL),
		    PLIM_OK);
		assert_int_equal(fate(target), PLIM_FATE_GONE);
		status = plim_target_exit_status(target);
		assert_int_equal(status.state, PLIM_STATE_KNOWN);
		assert_int_equal(status.value, rows[i].code);
		/* Its last live state stays. */
		assert_int_equal(plim_usage_refresh(usage, target, NULL, NULL),
				 PLIM_ENOPROCESS);
		assert_int_equal(plim_process_pid(plim_usage_process(usage)),
				 child.dwProcessId);
		child_end(&child);
		plim_usage_free(usage);
		plim_target_close(target);
	}
}

/* An exit code of its own is seen by who waits. */
static void test_reap(void **state)
{
	PROCESS_INFORMATION child = child_start(L"exit 300");
	const int32_t pid = (int32_t)child.dwProcessId;
	const plim_process *record;
	plim_usage *usage;
	int status = 0;

	(void)state;
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	assert_int_equal(plim_usage_reap(usage, pid, &status, NULL), PLIM_OK);
	assert_int_equal(status, 300);
	record = plim_usage_process(usage);
	assert_int_equal(plim_process_pid(record), pid);
	assert_int_equal(plim_process_count(record, PLIM_FIELD_CPU).state,
			 PLIM_STATE_KNOWN);
	assert_int_equal(plim_process_count(record, PLIM_FIELD_RESIDENT).state,
			 PLIM_STATE_GONE);
	assert_true(plim_process_identity(record).start_ticks != 0);
	child_end(&child);
	/* Who is no child is none, though it may be asked. */
	assert_int_equal(plim_usage_reap(usage, (int32_t)GetCurrentProcessId(),
					 &status, NULL),
			 PLIM_ENOPROCESS);
	assert_int_equal(plim_usage_reap(usage, 0x7ffffff0, &status, NULL),
			 PLIM_ENOPROCESS);
	plim_usage_free(usage);
}

/* A pid of nobody, of a thread, of a neighbour, of one that has ended. */
static void test_nobody(void **state)
{
	PROCESS_INFORMATION child = child_start(L"nap 60000");
	const int32_t pid = (int32_t)child.dwProcessId;
	plim_target *target = hold(&child);
	plim_identity identity = plim_target_identity(target);
	plim_target *none = NULL;

	(void)state;
	assert_int_equal(plim_target_open(&none, host, 0x7ffffff0, NULL),
			 PLIM_ENOPROCESS);
	assert_int_equal(
	    plim_target_open(&none, host, (int32_t)child.dwThreadId, NULL),
	    PLIM_ETHREAD);
	/* The system itself takes these for the process. */
	for (int32_t i = 1; i < 4; i++)
		assert_int_equal(plim_target_open(&none, host, pid + i, NULL),
				 PLIM_ENOPROCESS);
	/* The same number with another start is another process. */
	identity.start_ticks++;
	assert_int_equal(
	    plim_target_open_identity(&none, host, &identity, NULL),
	    PLIM_EREPLACED);
	identity.start_ticks--;
	assert_int_equal(
	    plim_target_open_identity(&none, host, &identity, NULL), PLIM_OK);
	plim_target_close(none);
	identity.has = 0;
	assert_int_equal(
	    plim_target_open_identity(&none, host, &identity, NULL),
	    PLIM_ECANNOTTELL);
	identity.has = PLIM_IDENTITY_START;
	TerminateProcess(child.hProcess, 1);
	WaitForSingleObject(child.hProcess, INFINITE);
	/* Its object is held: nobody is there all the same. */
	none = NULL;
	assert_int_equal(plim_target_open(&none, host, pid, NULL),
			 PLIM_ENOPROCESS);
	assert_int_equal(
	    plim_target_open_identity(&none, host, &identity, NULL),
	    PLIM_ENOPROCESS);
	assert_null(none);
	child_end(&child);
	plim_target_close(target);
}

/* While it is held its number has no other owner, however many come. */
static void test_reuse(void **state)
{
	PROCESS_INFORMATION child = child_start(L"exit 5");
	const int32_t pid = (int32_t)child.dwProcessId;
	plim_target *target;
	int opened = plim_target_open(&target, host, pid, NULL);

	(void)state;
	/* It may have ended before it was opened. */
	if (opened != PLIM_OK) {
		assert_int_equal(opened, PLIM_ENOPROCESS);
		child_kill(&child);
		child = child_start(L"nap 60000");
		target = hold(&child);
		TerminateProcess(child.hProcess, 5);
	}
	assert_int_equal(child_end(&child), 5);
	for (int i = 0; i < 100; i++) {
		PROCESS_INFORMATION other = child_start(L"exit 0");

		assert_int_not_equal(other.dwProcessId,
				     plim_target_identity(target).pid);
		child_end(&other);
	}
	assert_int_equal(fate(target), PLIM_FATE_GONE);
	assert_int_equal(plim_target_exit_status(target).value, 5);
	plim_target_close(target);
}

static DWORD WINAPI thread_nothing(void *user)
{
	(void)user;
	return 0;
}

static void thread_pass(void)
{
	HANDLE thread = CreateThread(NULL, 0, thread_nothing, NULL, 0, NULL);

	assert_non_null(thread);
	WaitForSingleObject(thread, INFINITE);
	CloseHandle(thread);
}

/* A pid that has a new owner: nothing of the new one is told of the old. */
static void test_replaced(void **state)
{
	const plim_snapshot_options options = {.size = sizeof options};
	PROCESS_INFORMATION child = child_start(L"nap 60000");
	const DWORD pid = child.dwProcessId;
	plim_target *target = hold(&child);
	const plim_identity old = plim_target_identity(target);
	plim_target *none = NULL;
	plim_snapshot *snapshot;
	plim_identity now;
	int tries;

	(void)state;
	plim_target_close(target);
	child_kill(&child);
	for (tries = 0; tries < 4000; tries++) {
		child = child_start(L"nap 60000");
		if (child.dwProcessId == pid)
			break;
		child_kill(&child);
		/* Numbers come back in the order in which they were given back,
		 * and threads get them, too. In step a thread would have ours
		 * each time. */
		if (tries % 300 == 299)
			thread_pass();
	}
	assert_true(tries < 4000);
	assert_int_equal(plim_target_open_identity(&none, host, &old, NULL),
			 PLIM_EREPLACED);
	assert_null(none);
	assert_int_equal(plim_snapshot_new(&snapshot, host, NULL), PLIM_OK);
	assert_int_equal(plim_snapshot_take(snapshot, &options, NULL), PLIM_OK);
	now = plim_process_identity(plim_snapshot_find(snapshot, (int32_t)pid));
	assert_int_equal(plim_identity_compare(&old, &now), PLIM_DIFFERENT);
	plim_snapshot_free(snapshot);
	child_kill(&child);
}

static void test_signals(void **state)
{
	static const int ends[] = {9, 15};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		PROCESS_INFORMATION child = child_start(L"nap 60000");
		plim_target *target = hold(&child);

		assert_int_equal(plim_target_signal(target, 0, NULL), PLIM_OK);
		/* What has no like here is not done. */
		assert_int_equal(plim_target_signal(target, 2, NULL),
				 PLIM_EUNSUPPORTED);
		assert_int_equal(plim_target_signal(target, 65, NULL),
				 PLIM_EINVAL);
		assert_int_equal(fate(target), PLIM_FATE_SAME);
		assert_int_equal(plim_target_signal(target, ends[i], NULL),
				 PLIM_OK);
		assert_int_equal(child_end(&child), 1);
		assert_int_equal(plim_target_signal(target, ends[i], NULL),
				 PLIM_ENOPROCESS);
		assert_int_equal(plim_target_signal(target, 0, NULL),
				 PLIM_ENOPROCESS);
		plim_target_close(target);
	}
}

/* Arguments behind the program's name, each ended by a NUL. */
static void check_command_line(const wchar_t *arguments, const char *wanted,
			       size_t size)
{
	PROCESS_INFORMATION child = child_start(arguments);
	plim_target *target = hold(&child);
	plim_text text;
	size_t first;

	assert_int_equal(plim_target_command_line(target, &text, NULL),
			 PLIM_OK);
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	first = strlen(text.bytes.data) + 1;
	assert_int_equal(text.bytes.size - first, size);
	assert_memory_equal(text.bytes.data + first, wanted, size);
	if (child_is_wine())
		assert_int_equal(text.method, PLIM_METHOD_PROCESS_PARAMETERS);
	child_kill(&child);
	assert_int_equal(plim_target_command_line(target, &text, NULL),
			 PLIM_OK);
	assert_int_equal(text.state, PLIM_STATE_GONE);
	plim_target_close(target);
}

static void test_command_line(void **state)
{
	static const char plain[] = "nap\00060000";
	static const char quoted[] = "nap\00060000\0a b\0q\"uote\0\\\\s\\\0";
	static const char wide[] =
	    "nap\00060000\0\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80";

	(void)state;
	check_command_line(L"nap 60000", plain, sizeof plain);
	check_command_line(L"nap 60000 \"a b\" \"q\\\"uote\" \\\\s\\ \"\"",
			   quoted, sizeof quoted);
	check_command_line(L"nap 60000 \x00e9\x4e2d\xd83d\xde00", wide,
			   sizeof wide);
}

/* The longest that CreateProcessW() takes has 32,766 characters. */
static void test_long_command_line(void **state)
{
	enum { LENGTH = 30000 };
	static wchar_t arguments[LENGTH + 32];
	PROCESS_INFORMATION child;
	plim_target *target;
	plim_text text;

	(void)state;
	wcscpy(arguments, L"nap 60000 ");
	for (size_t i = 0; i < LENGTH; i++)
		arguments[10 + i] = L'\x4e2d';
	child = child_start(arguments);
	target = hold(&child);
	assert_int_equal(plim_target_command_line(target, &text, NULL),
			 PLIM_OK);
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_true(text.bytes.size > 3 * LENGTH);
	assert_memory_equal(text.bytes.data + text.bytes.size - 7,
			    "\xe4\xb8\xad\xe4\xb8\xad", 7);
	child_kill(&child);
	plim_target_close(target);
}

static int count_finding(const plim_finding *finding, void *user)
{
	assert_true(finding->subject[0] != '\0' && finding->text[0] != '\0');
	++*(int *)user;
	return 0;
}

static void test_survey(void **state)
{
	int findings = 0;

	(void)state;
	assert_int_equal(plim_host_survey(host, count_finding, &findings, NULL),
			 PLIM_OK);
	assert_true(findings >= 8);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_end),
	    cmocka_unit_test(test_reap),
	    cmocka_unit_test(test_nobody),
	    cmocka_unit_test(test_reuse),
	    cmocka_unit_test(test_replaced),
	    cmocka_unit_test(test_signals),
	    cmocka_unit_test(test_command_line),
	    cmocka_unit_test(test_long_command_line),
	    cmocka_unit_test(test_survey),
	};

	child_main(argc, argv);
	return cmocka_run_group_tests(tests, open_host, close_host);
}
