/*
 * test_macos_snapshot.c - every process of a made-up Mac: what each figure is
 * made of, whose figures are told, and what becomes of processes that end or
 * change while they are read.
 */
#include "fake.h"

#include <plimsoll/snapshot.h>
#include <plimsoll/usage.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static plim_host *host;
static plim_snapshot *snapshot;

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	return plim_host_open(&host, NULL, NULL) ||
	       plim_snapshot_new(&snapshot, host, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	plim_snapshot_free(snapshot);
	plim_host_close(host);
	return 0;
}

static void take(int preset)
{
	plim_field_set fields = plim_field_set_preset(preset);
	plim_snapshot_options options = {.size = sizeof options,
					 .fields = &fields};
	plim_error error;

	assert_int_equal(plim_snapshot_take(snapshot, &options, &error),
			 PLIM_OK);
}

static plim_count figure(int32_t pid, int field)
{
	const plim_process *process = plim_snapshot_find(snapshot, pid);

	assert_non_null(process);
	return plim_process_count(process, field);
}

static void known(int32_t pid, int field, uint64_t value, int method)
{
	plim_count found = figure(pid, field);

	assert_int_equal(found.state, PLIM_STATE_KNOWN);
	assert_int_equal(found.bound, PLIM_BOUND_EXACT);
	assert_true(found.value == value);
	assert_int_equal(found.method, method);
}

static void missing(int32_t pid, int field, int reason)
{
	plim_count found = figure(pid, field);

	assert_int_equal(found.state, plim_reason_state(reason));
	assert_int_equal(found.method, reason);
	assert_true(found.value == 0);
}

static void text(int32_t pid, int field, const char *expected)
{
	plim_text found =
	    plim_process_text(plim_snapshot_find(snapshot, pid), field);

	assert_int_equal(found.state, PLIM_STATE_KNOWN);
	assert_int_equal(found.bytes.size, strlen(expected));
	assert_memory_equal(found.bytes.data, expected, found.bytes.size);
}

/* Every figure differs from every other, so that none can be another's. */
static struct fake_process *add_rich(int32_t pid)
{
	struct fake_process *made = fake_add(pid, 1, "rich");

	made->rusage.user_ticks = 24000000u * UINT64_C(3);   /* 3 s */
	made->rusage.system_ticks = 24000000u * UINT64_C(5); /* 5 s */
	made->rusage.package_idle_wakeups = 11;
	made->rusage.interrupt_wakeups = 4711;
	made->rusage.pageins = 12;
	made->rusage.wired_size = 13;
	made->rusage.resident_size = UINT64_C(5) << 32;
	made->rusage.footprint = UINT64_C(3) << 32;
	made->rusage.child_user_ticks = 24000000u * UINT64_C(7);
	made->rusage.child_system_ticks = 24000000u * UINT64_C(11);
	made->rusage.child_interrupt_wakeups = 14;
	made->rusage.disk_read = 15 << 20;
	made->rusage.disk_written = 16 << 20;
	made->rusage.lifetime_max_footprint = UINT64_C(7) << 32;
	made->faults = 1000;
	made->pageins = 17;
	made->nice = -5;
	made->files = 700;
	made->path = "/Applications/Rich.app/Contents/MacOS/rich";
	return made;
}

static void test_figures(void **state)
{
	(void)state;
	add_rich(200);
	take(PLIM_FIELDS_ALL);
	known(200, PLIM_FIELD_PPID, 1, PLIM_METHOD_MAC_BSDINFO);
	known(200, PLIM_FIELD_UID, FAKE_UID, PLIM_METHOD_MAC_BSDINFO);
	known(200, PLIM_FIELD_CPU, UINT64_C(8000000000),
	      PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_CPU_USER, UINT64_C(3000000000),
	      PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_CPU_SYSTEM, UINT64_C(5000000000),
	      PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_CPU_CHILDREN, UINT64_C(18000000000),
	      PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_RESIDENT, UINT64_C(5) << 32,
	      PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_PRIVATE, UINT64_C(3) << 32,
	      PLIM_METHOD_MAC_FOOTPRINT);
	known(200, PLIM_FIELD_PEAK_RESIDENT, UINT64_C(7) << 32,
	      PLIM_METHOD_MAC_PEAK_FOOTPRINT);
	known(200, PLIM_FIELD_WAKEUPS, 4711, PLIM_METHOD_MAC_WAKEUPS);
	known(200, PLIM_FIELD_DISK_READ, 15 << 20, PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_DISK_WRITE, 16 << 20, PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_FAULTS_MAJOR, 12, PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_FAULTS_MINOR, 983, PLIM_METHOD_MAC_TASKINFO);
	known(200, PLIM_FIELD_THREADS, 1, PLIM_METHOD_MAC_TASKINFO);
	known(200, PLIM_FIELD_DESCRIPTORS, 700, PLIM_METHOD_MAC_FILE_LIST);
	known(200, PLIM_FIELD_NICE, (uint64_t)-5, PLIM_METHOD_MAC_BSDINFO);
	known(200, PLIM_FIELD_KERNEL_THREAD, 0, PLIM_METHOD_MAC_BSDINFO);
	known(200, PLIM_FIELD_START_TICKS, 240000200, PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_START_UNIX_MS, UINT64_C(1699999000250),
	      PLIM_METHOD_MAC_BSDINFO);
	known(200, PLIM_FIELD_IDENTITY_RUNG, PLIM_RUNG_INODE,
	      PLIM_METHOD_MAC_UNIQUE_ID);
	text(200, PLIM_FIELD_NAME, "rich");
	text(200, PLIM_FIELD_STATE, "S");
	text(200, PLIM_FIELD_IDENTITY, "200@i1200");
	text(200, PLIM_FIELD_EXE, "/Applications/Rich.app/Contents/MacOS/rich");
	text(FAKE_SELF, PLIM_FIELD_STATE, "R");
}

static void test_never(void **state)
{
	static const int fields[] = {
	    PLIM_FIELD_ANONYMOUS,      PLIM_FIELD_FILE,
	    PLIM_FIELD_SHMEM,	       PLIM_FIELD_SWAP,
	    PLIM_FIELD_COMMIT,	       PLIM_FIELD_INVOLUNTARY,
	    PLIM_FIELD_DISK_CANCELLED, PLIM_FIELD_DISK_BLOCKS,
	    PLIM_FIELD_DISK_OPS,       PLIM_FIELD_IO_CALLS,
	    PLIM_FIELD_OOM_SCORE,      PLIM_FIELD_RUNQUEUE,
	    PLIM_FIELD_BLOCK_IO_DELAY, PLIM_FIELD_PSS,
	    PLIM_FIELD_PRIVATE_DIRTY};
	size_t i;

	(void)state;
	add_rich(200);
	take(PLIM_FIELDS_ALL);
	for (i = 0; i < sizeof fields / sizeof fields[0]; i++)
		missing(200, fields[i], PLIM_REASON_HOST_NEVER);
	assert_int_equal(plim_process_text(plim_snapshot_find(snapshot, 200),
					   PLIM_FIELD_CGROUP)
			     .state,
			 PLIM_STATE_UNSUPPORTED);
}

static void test_older_kernel(void **state)
{
	plim_host *older = NULL;
	plim_usage *usage = NULL;
	plim_count peak;

	(void)state;
	fake.rusage_most = 2;
	assert_int_equal(plim_host_open(&older, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_usage_new(&usage, older, NULL), PLIM_OK);
	fake_find(FAKE_SELF)->rusage.interrupt_wakeups = 9;
	assert_int_equal(plim_usage_refresh_self(usage, NULL, NULL), PLIM_OK);
	peak = plim_process_count(plim_usage_process(usage),
				  PLIM_FIELD_PEAK_RESIDENT);
	assert_int_equal(peak.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(peak.method, PLIM_REASON_KERNEL_LACKS);
	assert_int_equal(
	    plim_process_count(plim_usage_process(usage), PLIM_FIELD_WAKEUPS)
		.value,
	    9);
	plim_usage_free(usage);
	plim_host_close(older);
}

static void test_others(void **state)
{
	static const int fields[] = {
	    PLIM_FIELD_CPU,	    PLIM_FIELD_PRIVATE,
	    PLIM_FIELD_RESIDENT,    PLIM_FIELD_WAKEUPS,
	    PLIM_FIELD_DISK_READ,   PLIM_FIELD_THREADS,
	    PLIM_FIELD_DESCRIPTORS, PLIM_FIELD_START_TICKS,
	    PLIM_FIELD_NICE,	    PLIM_FIELD_START_UNIX_MS};
	size_t i;

	(void)state;
	add_rich(200)->uid = 0;
	take(PLIM_FIELDS_ALL);
	for (i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		missing(200, fields[i], PLIM_REASON_OTHER_USER);
		assert_int_equal(figure(200, fields[i]).state,
				 PLIM_STATE_DENIED);
	}
	known(200, PLIM_FIELD_PPID, 1, PLIM_METHOD_MAC_BSDSHORT);
	known(200, PLIM_FIELD_UID, 0, PLIM_METHOD_MAC_BSDSHORT);
	text(200, PLIM_FIELD_NAME, "rich");
	text(200, PLIM_FIELD_IDENTITY, "200@i1200");
	assert_int_equal(plim_process_text(plim_snapshot_find(snapshot, 200),
					   PLIM_FIELD_STATE)
			     .state,
			 PLIM_STATE_DENIED);
	assert_int_equal(
	    plim_process_is_measured(plim_snapshot_find(snapshot, 200)), 0);
	assert_int_equal(plim_snapshot_cost(snapshot).refused, 1);
	fake.has_root = 1;
	take(PLIM_FIELDS_ALL);
	known(200, PLIM_FIELD_CPU, UINT64_C(8000000000),
	      PLIM_METHOD_MAC_RUSAGE);
}

static void test_zombie(void **state)
{
	(void)state;
	fake_end(add_rich(200));
	take(PLIM_FIELDS_ALL);
	text(200, PLIM_FIELD_STATE, "Z");
	missing(200, PLIM_FIELD_RESIDENT, PLIM_REASON_ZOMBIE);
	missing(200, PLIM_FIELD_PRIVATE, PLIM_REASON_ZOMBIE);
	missing(200, PLIM_FIELD_THREADS, PLIM_REASON_ZOMBIE);
	missing(200, PLIM_FIELD_DESCRIPTORS, PLIM_REASON_ZOMBIE);
	known(200, PLIM_FIELD_CPU, UINT64_C(8000000000),
	      PLIM_METHOD_MAC_RUSAGE);
}

/* On its way out it is no zombie yet, and has no memory any more. */
static void test_exiting(void **state)
{
	(void)state;
	fake_exit(add_rich(200));
	take(PLIM_FIELDS_ALL);
	text(200, PLIM_FIELD_STATE, "S");
	missing(200, PLIM_FIELD_RESIDENT, PLIM_REASON_ENDED);
	missing(200, PLIM_FIELD_PRIVATE, PLIM_REASON_ENDED);
	known(200, PLIM_FIELD_PEAK_RESIDENT, UINT64_C(7) << 32,
	      PLIM_METHOD_MAC_PEAK_FOOTPRINT);
	known(200, PLIM_FIELD_CPU, UINT64_C(8000000000),
	      PLIM_METHOD_MAC_RUSAGE);
}

static void test_growth(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 1000; i++)
		fake_add(1000 + (int32_t)i, 1, "many");
	/* More than there may be when the list begins. */
	fake.forks = 300;
	take(PLIM_FIELDS_LIGHT);
	assert_int_equal(fake.lists, 2);
	assert_int_equal(plim_snapshot_size(snapshot), 1301);
	assert_null(plim_snapshot_find(snapshot, 0));
	for (i = 1; i < plim_snapshot_size(snapshot); i++)
		assert_true(
		    plim_process_pid(plim_snapshot_at(snapshot, i - 1)) <
		    plim_process_pid(plim_snapshot_at(snapshot, i)));
}

/* A list that is never whole is none. */
static void test_no_end(void **state)
{
	plim_error error;

	(void)state;
	take(PLIM_FIELDS_LIGHT);
	fake.forks = 30;
	fake.forks_on = 1;
	assert_int_equal(plim_snapshot_take(snapshot, NULL, &error),
			 PLIM_ESYSTEM);
	assert_int_equal(plim_snapshot_size(snapshot), 1);
}

/* At whatever question it ends, it is left out whole or was read before. */
static void test_vanish(void **state)
{
	int questions;

	(void)state;
	for (questions = 1; questions < 12; questions++) {
		const plim_process *found;

		if (fake_find(200) == NULL)
			add_rich(200);
		fake_find(200)->gone_after = questions;
		take(PLIM_FIELDS_ALL);
		found = plim_snapshot_find(snapshot, 200);
		if (fake_find(200) == NULL)
			assert_null(found);
		else
			assert_non_null(found);
		assert_int_equal(plim_snapshot_cost(snapshot).vanished,
				 found == NULL);
		assert_int_equal(plim_snapshot_size(snapshot),
				 found == NULL ? 1 : 2);
	}
	assert_non_null(fake_find(200));
}

/* The pid has a new owner between the two looks: nothing of either. */
static void test_replaced(void **state)
{
	(void)state;
	add_rich(200)->replaced_after = 1;
	take(PLIM_FIELDS_ALL);
	assert_null(plim_snapshot_find(snapshot, 200));
	assert_int_equal(plim_snapshot_cost(snapshot).vanished, 1);
	take(PLIM_FIELDS_ALL);
	text(200, PLIM_FIELD_NAME, "successor");
	text(200, PLIM_FIELD_IDENTITY, "200@i6200");
}

/* Answers of another size, or of another process, are none. */
static void test_malformed(void **state)
{
	plim_error error;

	(void)state;
	add_rich(200);
	fake.cut = PLIMP_MAC_BSDINFO;
	take(PLIM_FIELDS_ALL);
	missing(200, PLIM_FIELD_PPID, PLIM_REASON_BAD_TEXT);
	missing(200, PLIM_FIELD_NICE, PLIM_REASON_BAD_TEXT);
	assert_int_equal(plim_process_text(plim_snapshot_find(snapshot, 200),
					   PLIM_FIELD_NAME)
			     .state,
			 PLIM_STATE_MALFORMED);
	known(200, PLIM_FIELD_WAKEUPS, 4711, PLIM_METHOD_MAC_WAKEUPS);
	fake.cut = 0;
	fake.wrong_pid = 1;
	take(PLIM_FIELDS_ALL);
	missing(200, PLIM_FIELD_PPID, PLIM_REASON_BAD_TEXT);
	fake.wrong_pid = 0;
	fake.cut = PLIMP_MAC_TASKINFO;
	take(PLIM_FIELDS_ALL);
	missing(200, PLIM_FIELD_THREADS, PLIM_REASON_BAD_TEXT);
	known(200, PLIM_FIELD_PPID, 1, PLIM_METHOD_MAC_BSDINFO);
	/* Without knowing who is who nothing is told. */
	fake.cut = PLIMP_MAC_UNIQUE;
	assert_int_equal(plim_snapshot_take(snapshot, NULL, &error),
			 PLIM_ESYSTEM);
}

static void test_saturated(void **state)
{
	struct fake_process *rich = add_rich(200);
	plim_count minor;

	(void)state;
	rich->faults = INT32_MAX;
	rich->rusage.user_ticks = UINT64_MAX / 2;
	rich->rusage.system_ticks = 0;
	take(PLIM_FIELDS_ALL);
	minor = figure(200, PLIM_FIELD_FAULTS_MINOR);
	assert_int_equal(minor.bound, PLIM_BOUND_AT_LEAST);
	assert_int_equal(minor.value, INT32_MAX - 17);
	/* 2^63 ticks of 125/3 ns are more than 2^64 ns: the most, no wrap. */
	assert_true(figure(200, PLIM_FIELD_CPU).value == UINT64_MAX);
}

/* Faults that went on beyond their largest are no figure; the rest of the task
 * is. */
static void test_wrapped(void **state)
{
	struct fake_process *rich = add_rich(200);

	(void)state;
	rich->faults = UINT32_C(0x80000000);
	take(PLIM_FIELDS_ALL);
	missing(200, PLIM_FIELD_FAULTS_MINOR, PLIM_REASON_READ_FAILED);
	known(200, PLIM_FIELD_FAULTS_MAJOR, 12, PLIM_METHOD_MAC_RUSAGE);
	known(200, PLIM_FIELD_THREADS, 1, PLIM_METHOD_MAC_TASKINFO);
	text(200, PLIM_FIELD_STATE, "S");
}

/* A program of Intel on Apple's processor: its clocks tell nanoseconds, the
 * kernel counts in ticks of 125/3 ns all the same. */
static void test_translated(void **state)
{
	static const struct {
		uint64_t frequency;
		int known;
	} rows[] = {{24000000, 1}, {0, 0}, {1000000000, 0}};
	size_t i;

	(void)state;
	add_rich(200);
	fake.translated = 1;
	fake.scale = (struct plimp_mac_scale){1, 1};
	fake.absolute = UINT64_C(1000) * 1000000000;
	fake.continuous = UINT64_C(1500) * 1000000000;
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		plim_host *other = NULL;
		plim_snapshot *taken = NULL;
		const plim_process *process;
		plim_count cpu;

		fake.tbfrequency = rows[i].frequency;
		assert_int_equal(plim_host_open(&other, NULL, NULL), PLIM_OK);
		assert_int_equal(plim_snapshot_new(&taken, other, NULL),
				 PLIM_OK);
		assert_int_equal(plim_snapshot_take(taken, NULL, NULL),
				 PLIM_OK);
		process = plim_snapshot_find(taken, 200);
		cpu = plim_process_count(process, PLIM_FIELD_CPU);
		if (rows[i].known)
			assert_true(cpu.value == UINT64_C(8000000000));
		else
			assert_int_equal(cpu.method, PLIM_REASON_TRANSLATED);
		assert_int_equal(
		    plim_process_count(process, PLIM_FIELD_WAKEUPS).value,
		    4711);
		assert_int_equal(
		    plim_host_count(other, PLIM_HOST_TICKS_PER_SECOND).value,
		    rows[i].known ? 24000000 : 0);
		/* What starts now, 1000 s of waking time after the boot. */
		assert_true(
		    plimp_system_ticks(other, plimp_system_now().boottime) ==
		    (rows[i].known ? UINT64_C(24000000000) : UINT64_MAX));
		plim_snapshot_free(taken);
		plim_host_close(other);
	}
}

static void test_host(void **state)
{
	plim_host_options options = {.size = sizeof options,
				     .proc_root = "/somewhere"};
	plim_host *none = NULL;
	plim_text boot = plim_host_text(host, PLIM_HOST_BOOT_ID);

	(void)state;
	assert_int_equal(plim_host_count(host, PLIM_HOST_CPUS).value, 8);
	assert_true(plim_host_usable_cpus(host).value == 6.0);
	assert_int_equal(
	    plim_host_count(host, PLIM_HOST_TICKS_PER_SECOND).value, 24000000);
	assert_int_equal(plim_host_count(host, PLIM_HOST_PAGE_BYTES).value,
			 16384);
	assert_int_equal(plim_host_count(host, PLIM_HOST_OWN_PID).value,
			 FAKE_SELF);
	assert_int_equal(plim_host_count(host, PLIM_HOST_IDENTITY_RUNG).value,
			 PLIM_RUNG_INODE);
	assert_true(plim_host_count(host, PLIM_HOST_SWAP_BYTES).value ==
		    UINT64_C(3) << 30);
	assert_int_equal(boot.bytes.size, 36);
	assert_int_equal(plim_host_text(host, PLIM_HOST_PROC_ROOT).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_host_open(&none, &options, NULL), PLIM_EROOT);
	assert_true(plimp_system_ticks(host, plim_host_now(host).boottime) ==
		    UINT64_C(24000000000));
	/* 1000 s awake and 500 s asleep. */
	assert_true(plim_host_now(host).monotonic.ns ==
		    UINT64_C(1000) * 1000000000);
	assert_true(plim_host_now(host).boottime.ns ==
		    UINT64_C(1500) * 1000000000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_figures),	 TEST(test_never),	TEST(test_older_kernel),
	    TEST(test_others),	 TEST(test_zombie),	TEST(test_exiting),
	    TEST(test_growth),	 TEST(test_no_end),	TEST(test_vanish),
	    TEST(test_replaced), TEST(test_malformed),	TEST(test_saturated),
	    TEST(test_wrapped),	 TEST(test_translated), TEST(test_host),
	};

	return cmocka_run_group_tests_name("macos_snapshot", tests, NULL, NULL);
}
