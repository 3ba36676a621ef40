/*
 * test_processes.c - all processes of the live system by one table, this one
 * among them: who it is, its CPU time and its memory against what the
 * documented calls say, and storms of processes that come and go meanwhile.
 */
#include "child.h"

#include <plimsoll.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <psapi.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

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

static plim_snapshot *take(plim_snapshot *snapshot)
{
	if (snapshot == NULL)
		assert_int_equal(plim_snapshot_new(&snapshot, host, NULL),
				 PLIM_OK);
	assert_int_equal(plim_snapshot_take(snapshot, NULL, NULL), PLIM_OK);
	return snapshot;
}

static uint64_t known(const plim_process *process, int field)
{
	plim_count figure = plim_process_count(process, field);

	assert_int_equal(figure.state, PLIM_STATE_KNOWN);
	return figure.value;
}

static uint64_t own_creation(void)
{
	FILETIME create, other;

	assert_true(GetProcessTimes(GetCurrentProcess(), &create, &other,
				    &other, &other));
	return (uint64_t)create.dwHighDateTime << 32 | create.dwLowDateTime;
}

static void test_host(void **state)
{
	SYSTEM_INFO info;
	plim_real usable = plim_host_usable_cpus(host);
	plim_text text = plim_host_text(host, PLIM_HOST_SYSTEM);

	(void)state;
	GetSystemInfo(&info);
	assert_int_equal(text.bytes.size, 7);
	assert_memory_equal(text.bytes.data, "windows", 7);
	assert_int_equal(plim_host_text(host, PLIM_HOST_PROC_ROOT).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_host_count(host, PLIM_HOST_PAGE_BYTES).value,
			 info.dwPageSize);
	assert_int_equal(
	    plim_host_count(host, PLIM_HOST_TICKS_PER_SECOND).value, 10000000);
	assert_int_equal(plim_host_count(host, PLIM_HOST_OWN_PID).value,
			 GetCurrentProcessId());
	assert_true(plim_host_count(host, PLIM_HOST_CPUS).value >=
		    info.dwNumberOfProcessors);
	assert_int_equal(usable.state, PLIM_STATE_KNOWN);
	assert_true(usable.value > 0 &&
		    usable.value <=
			(double)plim_host_count(host, PLIM_HOST_CPUS).value);
}

/* The share of the machine goes down with this process's affinity. */
static void test_affinity(void **state)
{
	DWORD_PTR before;
	DWORD_PTR system;

	(void)state;
	assert_true(
	    GetProcessAffinityMask(GetCurrentProcess(), &before, &system));
	assert_true(SetProcessAffinityMask(GetCurrentProcess(),
					   before & (~before + 1)));
	assert_true(plim_host_usable_cpus(host).value == 1.0);
	assert_true(SetProcessAffinityMask(GetCurrentProcess(), before));
	assert_true(plim_host_usable_cpus(host).value >= 1.0);
}

static void test_other_root(void **state)
{
	const plim_host_options options = {.size = sizeof options,
					   .proc_root = "/tmp/recording"};
	plim_host *none = NULL;

	(void)state;
	assert_int_equal(plim_host_open(&none, &options, NULL), PLIM_EROOT);
	assert_null(none);
}

static void test_enumeration(void **state)
{
	plim_snapshot *snapshot = take(NULL);
	int32_t last = 0;

	(void)state;
	assert_true(plim_snapshot_size(snapshot) > 0);
	for (size_t i = 0; i < plim_snapshot_size(snapshot); i++) {
		const plim_process *process = plim_snapshot_at(snapshot, i);

		/* Ascending, and without the idle process. */
		assert_true(plim_process_pid(process) > last);
		last = plim_process_pid(process);
		assert_true(plim_process_is_measured(process));
		assert_int_equal(
		    plim_identity_rung(&(plim_identity){
			.has = plim_process_identity(process).has}),
		    PLIM_RUNG_START);
	}
	assert_int_equal(plim_snapshot_cost(snapshot).present,
			 plim_snapshot_size(snapshot));
	assert_int_equal(plim_snapshot_cost(snapshot).vanished, 0);
	/* One call for the table, and two for the clocks of the bill, unless
	 * the build takes it by documented calls. */
	if (plim_process_count(plim_snapshot_at(snapshot, 0),
			       PLIM_FIELD_WAKEUPS)
		.method != PLIM_REASON_TABLE_LACKS)
		assert_int_equal(plim_snapshot_cost(snapshot).system_calls, 3);
	plim_snapshot_free(snapshot);
}

static void test_self(void **state)
{
	plim_snapshot *snapshot = take(NULL);
	const plim_process *self =
	    plim_snapshot_find(snapshot, (int32_t)GetCurrentProcessId());
	wchar_t path[MAX_PATH];
	const wchar_t *base;
	char name[MAX_PATH];
	plim_text text;
	FILETIME now;
	uint64_t now_ms;

	(void)state;
	assert_non_null(self);
	assert_true(known(self, PLIM_FIELD_START_TICKS) == own_creation());
	assert_true(plim_process_identity(self).start_ticks == own_creation());
	GetSystemTimeAsFileTime(&now);
	now_ms = (((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) -
		  UINT64_C(116444736000000000)) /
		 10000;
	assert_in_range(known(self, PLIM_FIELD_START_UNIX_MS), now_ms - 600000,
			now_ms);
	GetModuleFileNameW(NULL, path, MAX_PATH);
	base = wcsrchr(path, L'\\') + 1;
	WideCharToMultiByte(CP_UTF8, 0, base, -1, name, sizeof name, NULL,
			    NULL);
	text = plim_process_text(self, PLIM_FIELD_NAME);
	assert_int_equal(text.bytes.size, strlen(name));
	assert_memory_equal(text.bytes.data, name, text.bytes.size);
	assert_true(known(self, PLIM_FIELD_THREADS) >= 1);
	assert_true(known(self, PLIM_FIELD_RESIDENT) >= MIB);
	assert_true(known(self, PLIM_FIELD_PEAK_RESIDENT) >=
		    known(self, PLIM_FIELD_RESIDENT));
	/* It is the same in the next round. */
	plim_identity first = plim_process_identity(self);
	take(snapshot);
	self = plim_snapshot_find(snapshot, (int32_t)GetCurrentProcessId());
	plim_identity second = plim_process_identity(self);
	assert_int_equal(plim_identity_compare(&first, &second), PLIM_SAME);
	plim_snapshot_free(snapshot);
}

/* CPU time grows by a third of a spin of 300 ms at least, and by no more than
 * the units allow, in the table and of ourselves. */
static void test_cpu(void **state)
{
	const int32_t pid = (int32_t)GetCurrentProcessId();
	plim_snapshot *snapshot = take(NULL);
	plim_usage *usage;
	ULONGLONG begin = GetTickCount64();
	uint64_t table;
	uint64_t own;
	uint64_t wall;

	(void)state;
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	assert_int_equal(plim_usage_refresh_self(usage, NULL, NULL), PLIM_OK);
	table = known(plim_snapshot_find(snapshot, pid), PLIM_FIELD_CPU);
	own = known(plim_usage_process(usage), PLIM_FIELD_CPU);
	/* By its own CPU time: the machine may be busy. */
	do {
		FILETIME create, end, kernel, user;

		GetProcessTimes(GetCurrentProcess(), &create, &end, &kernel,
				&user);
		wall =
		    ((uint64_t)kernel.dwLowDateTime + user.dwLowDateTime) * 100;
	} while (wall < own + 300000000 && GetTickCount64() - begin < 60000);
	wall = (GetTickCount64() - begin + 50) * 1000000;
	take(snapshot);
	assert_int_equal(plim_usage_refresh_self(usage, NULL, NULL), PLIM_OK);
	table =
	    known(plim_snapshot_find(snapshot, pid), PLIM_FIELD_CPU) - table;
	own = known(plim_usage_process(usage), PLIM_FIELD_CPU) - own;
	assert_in_range(table, 100000000, wall);
	assert_in_range(own, 100000000, wall);
	const plim_process *both[] = {plim_snapshot_find(snapshot, pid),
				      plim_usage_process(usage)};
	for (size_t i = 0; i < 2; i++)
		assert_true(known(both[i], PLIM_FIELD_CPU) ==
			    known(both[i], PLIM_FIELD_CPU_USER) +
				known(both[i], PLIM_FIELD_CPU_SYSTEM));
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
}

/* 64 MiB that are touched are resident, by the table and by the counters. */
static void test_resident(void **state)
{
	const int32_t pid = (int32_t)GetCurrentProcessId();
	plim_snapshot *snapshot = take(NULL);
	plim_usage *usage;
	uint64_t table;
	uint64_t own;
	char *memory;

	(void)state;
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	assert_int_equal(plim_usage_refresh_self(usage, NULL, NULL), PLIM_OK);
	table = known(plim_snapshot_find(snapshot, pid), PLIM_FIELD_RESIDENT);
	own = known(plim_usage_process(usage), PLIM_FIELD_RESIDENT);
	memory = VirtualAlloc(NULL, 64 * MIB, MEM_COMMIT | MEM_RESERVE,
			      PAGE_READWRITE);
	assert_non_null(memory);
	memset(memory, 0x5a, 64 * MIB);
	take(snapshot);
	assert_int_equal(plim_usage_refresh_self(usage, NULL, NULL), PLIM_OK);
	assert_in_range(
	    known(plim_snapshot_find(snapshot, pid), PLIM_FIELD_RESIDENT) -
		table,
	    64 * MIB, 72 * MIB);
	assert_in_range(known(plim_usage_process(usage), PLIM_FIELD_RESIDENT) -
			    own,
			64 * MIB, 72 * MIB);
	assert_true(known(plim_usage_process(usage),
			  PLIM_FIELD_PEAK_RESIDENT) >= own + 64 * MIB);
	VirtualFree(memory, 0, MEM_RELEASE);
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
}

/* The path of the program, asked for. */
static void test_exe(void **state)
{
	plim_field_set fields = {{0}};
	plim_usage *usage;
	wchar_t path[MAX_PATH];
	char wanted[MAX_PATH * 3];
	plim_text text;

	(void)state;
	plim_field_set_add(&fields, PLIM_FIELD_EXE);
	assert_int_equal(plim_usage_new(&usage, host, NULL), PLIM_OK);
	assert_int_equal(plim_usage_refresh_self(usage, &fields, NULL),
			 PLIM_OK);
	text = plim_process_text(plim_usage_process(usage), PLIM_FIELD_EXE);
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	GetModuleFileNameW(NULL, path, MAX_PATH);
	WideCharToMultiByte(CP_UTF8, 0, path, -1, wanted, sizeof wanted, NULL,
			    NULL);
	assert_int_equal(text.bytes.size, strlen(wanted));
	assert_memory_equal(text.bytes.data, wanted, text.bytes.size);
	plim_usage_free(usage);
}

static void test_child(void **state)
{
	PROCESS_INFORMATION child = child_start(L"nap 20000");
	plim_snapshot *snapshot = take(NULL);
	const plim_process *self =
	    plim_snapshot_find(snapshot, (int32_t)GetCurrentProcessId());
	const plim_process *process =
	    plim_snapshot_find(snapshot, (int32_t)child.dwProcessId);

	(void)state;
	assert_non_null(process);
	assert_int_equal(known(process, PLIM_FIELD_PPID),
			 GetCurrentProcessId());
	assert_int_equal(plim_process_is_child_of(process, self), 1);
	assert_int_equal(plim_process_is_child_of(self, process), 0);
	child_kill(&child);
	plim_snapshot_free(snapshot);
}

static void count_members(plim_tree *tree, plim_target *root, size_t least)
{
	ULONGLONG begin = GetTickCount64();

	do {
		assert_int_equal(plim_tree_usage(tree, root, NULL, NULL),
				 PLIM_OK);
		Sleep(10);
	} while (plim_tree_size(tree) < least &&
		 GetTickCount64() - begin < 60000);
	assert_int_equal(plim_tree_size(tree), least);
}

/* A child with four children, and a chain of five. */
static void test_trees(void **state)
{
	static const struct {
		const wchar_t *arguments;
		size_t members;
	} rows[] = {{L"parent 30000 4", 5}, {L"chain 30000 5", 5}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		PROCESS_INFORMATION child = child_start(rows[i].arguments);
		plim_target *target;
		plim_tree *tree;

		assert_int_equal(plim_target_open(&target, host,
						  (int32_t)child.dwProcessId,
						  NULL),
				 PLIM_OK);
		assert_int_equal(plim_tree_new(&tree, host, NULL), PLIM_OK);
		count_members(tree, target, rows[i].members);
		for (size_t j = 0; j < plim_tree_size(tree); j++) {
			const plim_branch *branch = plim_tree_at(tree, j);
			plim_target *member;

			if (j == 0) {
				assert_int_equal(
				    plim_process_pid(branch->process),
				    child.dwProcessId);
				continue;
			}
			assert_int_equal(
			    plim_target_open(&member, host,
					     plim_process_pid(branch->process),
					     NULL),
			    PLIM_OK);
			assert_int_equal(plim_target_signal(member, 9, NULL),
					 PLIM_OK);
			plim_target_close(member);
		}
		child_kill(&child);
		/* The root is gone: nothing is left, and that is no error. */
		assert_int_equal(plim_tree_usage(tree, target, NULL, NULL),
				 PLIM_OK);
		assert_int_equal(plim_tree_size(tree), 0);
		plim_tree_free(tree);
		plim_target_close(target);
	}
}

struct storm {
	volatile LONG started;
	volatile LONG stop;
};

static DWORD WINAPI storm_run(void *argument)
{
	struct storm *storm = argument;

	while (InterlockedIncrement(&storm->started) <= 1000) {
		PROCESS_INFORMATION child = child_start(L"exit 3");

		if (child_end(&child) != 3)
			abort();
	}
	InterlockedIncrement(&storm->stop);
	return 0;
}

/* While 1,000 processes come and go every table is whole, ascending, has us,
 * and tells no process twice under one identity. */
static void test_storm(void **state)
{
	struct storm storm = {0, 0};
	HANDLE threads[3];
	plim_snapshot *first = take(NULL);
	plim_snapshot *last = take(NULL);
	size_t tables = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		threads[i] = CreateThread(NULL, 0, storm_run, &storm, 0, NULL);
	while (storm.stop < 3) {
		plim_snapshot *taken = first;
		int32_t pid = 0;

		take(taken);
		first = last;
		last = taken;
		tables++;
		for (size_t i = 0; i < plim_snapshot_size(last); i++) {
			const plim_process *process = plim_snapshot_at(last, i);
			plim_identity identity = plim_process_identity(process);
			const plim_process *before =
			    plim_snapshot_find(first, identity.pid);
			plim_identity earlier;

			assert_true(identity.pid > pid);
			pid = identity.pid;
			assert_true(identity.has & PLIM_IDENTITY_START);
			if (before == NULL)
				continue;
			earlier = plim_process_identity(before);
			if (plim_identity_compare(&earlier, &identity) !=
			    PLIM_SAME)
				continue;
			assert_true(known(process, PLIM_FIELD_CPU) >=
				    known(before, PLIM_FIELD_CPU));
		}
		assert_non_null(
		    plim_snapshot_find(last, (int32_t)GetCurrentProcessId()));
	}
	assert_true(tables >= 10);
	WaitForMultipleObjects(3, threads, TRUE, INFINITE);
	for (size_t i = 0; i < 3; i++)
		CloseHandle(threads[i]);
	plim_snapshot_free(first);
	plim_snapshot_free(last);
}

/* Watched by a handle: its clock, then that it has ended. */
static void test_watch(void **state)
{
	PROCESS_INFORMATION child = child_start(L"nap 60000");
	plim_snapshot *snapshot = take(NULL);
	plim_watch *watch;
	size_t at = 0;

	(void)state;
	assert_int_equal(plim_watch_new(&watch, host, NULL), PLIM_OK);
	assert_int_equal(plim_watch_follow(watch, snapshot, NULL), PLIM_OK);
	assert_int_equal(plim_watch_size(watch), plim_snapshot_size(snapshot));
	assert_int_equal(plim_watch_refresh(watch, NULL), PLIM_OK);
	while (plim_watch_identity(watch, at).pid != (int32_t)child.dwProcessId)
		assert_true(++at < plim_watch_size(watch));
	assert_int_equal(plim_watch_cpu(watch, at).state, PLIM_STATE_KNOWN);
	child_kill(&child);
	assert_int_equal(plim_watch_refresh(watch, NULL), PLIM_OK);
	assert_int_equal(plim_watch_cpu(watch, at).state, PLIM_STATE_GONE);
	plim_watch_free(watch);
	plim_snapshot_free(snapshot);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_host),
	    cmocka_unit_test(test_affinity),
	    cmocka_unit_test(test_other_root),
	    cmocka_unit_test(test_enumeration),
	    cmocka_unit_test(test_self),
	    cmocka_unit_test(test_cpu),
	    cmocka_unit_test(test_resident),
	    cmocka_unit_test(test_exe),
	    cmocka_unit_test(test_child),
	    cmocka_unit_test(test_trees),
	    cmocka_unit_test(test_watch),
	    cmocka_unit_test(test_storm),
	};

	child_main(argc, argv);
	return cmocka_run_group_tests(tests, open_host, close_host);
}
