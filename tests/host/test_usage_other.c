/*
 * test_usage_other.c - what another process costs, against what it counts for
 * itself (tests/workloads).
 */
#include "common.h"

#include "counting.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct other {
	struct spawn spawn;
	plim_host *host;
	plim_target *target;
	plim_usage *first;
	plim_usage *last;
};

static struct other other;

static int other_setup(void **state)
{
	memset(&other, 0, sizeof(other));
	other.host = open_host(0);
	other.first = new_usage(other.host);
	other.last = new_usage(other.host);
	*state = &other;
	return 0;
}

static int other_teardown(void **state)
{
	(void)state;
	spawn_end(&other.spawn);
	plim_target_close(other.target);
	plim_usage_free(other.first);
	plim_usage_free(other.last);
	plim_host_close(other.host);
	return 0;
}

static void other_start(const char *const *argv)
{
	spawn_start(&other.spawn, argv);
	other.target = open_target(other.host, other.spawn.pid);
}

/* A folder whose files reach storage, or a skipped test. */
static const char *other_folder(void)
{
	const char *folder = getenv("PLIM_TEST_DISK");

	if (folder == NULL)
		folder = child_on_tmpfs(".") || access(".", W_OK) != 0
			     ? "/var/tmp"
			     : ".";
	if (child_on_tmpfs(folder))
		SKIP_BECAUSE("every folder to write to is on a tmpfs");
	return folder;
}

/* Four threads sleep, the leader does not: rate within 5 % of their count. */
static void test_sleepers(void **state)
{
	const char *const argv[] = {"sleepers", "4", NULL};
	uint64_t then;
	uint64_t sleeps;
	uint64_t truth;
	plim_count change;
	plim_real rate;

	(void)state;
	other_start(argv);
	spawn_ask(&other.spawn, "truth");
	then = spawn_truth(&other.spawn, "monotonic_ns");
	sleeps = spawn_truth(&other.spawn, "sleeps");
	measure(other.first, other.target);
	child_sleep_ms(2000);
	measure(other.last, other.target);
	spawn_ask(&other.spawn, "truth");
	then = spawn_truth(&other.spawn, "monotonic_ns") - then;
	sleeps = spawn_truth(&other.spawn, "sleeps") - sleeps;
	truth = sleeps * 1000000 / (then / 1000);
	change = plim_process_change(plim_usage_process(other.first),
				     plim_usage_process(other.last),
				     PLIM_FIELD_WAKEUPS);
	rate = plim_process_rate(plim_usage_process(other.first),
				 plim_usage_process(other.last),
				 PLIM_FIELD_WAKEUPS);
	expect_method(plim_usage_process(other.last), PLIM_FIELD_WAKEUPS,
		      PLIM_METHOD_THREAD_SUM);
	assert_int_equal(
	    known(plim_usage_process(other.last), PLIM_FIELD_THREADS), 5);
	assert_int_equal(change.state, PLIM_STATE_KNOWN);
	assert_int_equal(rate.state, PLIM_STATE_KNOWN);
	assert_int_equal(change.bound, PLIM_BOUND_AT_LEAST);
	assert_true(truth > 500);
	expect_near((uint64_t)rate.value, truth, 5, 0);
}

/* Threads that end take their counts along; the change never falls. */
static void test_threads_end(void **state)
{
	const char *const argv[] = {"sleepers", "4", NULL};
	const plim_process *first;
	const plim_process *last;
	uint64_t truth;
	uint64_t gone;
	plim_count change;

	(void)state;
	other_start(argv);
	child_sleep_ms(500);
	spawn_ask(&other.spawn, "truth");
	truth = spawn_truth(&other.spawn, "wakeups");
	first = measure(other.first, other.target);
	spawn_ask(&other.spawn, "end 3");
	gone = spawn_truth(&other.spawn, "gone_sleeps");
	child_sleep_ms(500);
	last = measure(other.last, other.target);
	spawn_ask(&other.spawn, "truth");
	truth = spawn_truth(&other.spawn, "wakeups") - truth;
	assert_true(gone > 300);
	/* The live total has fallen; what is told of the change has not. */
	assert_true(known(last, PLIM_FIELD_WAKEUPS) <
		    known(first, PLIM_FIELD_WAKEUPS));
	change = plim_process_change(first, last, PLIM_FIELD_WAKEUPS);
	assert_int_equal(change.state, PLIM_STATE_KNOWN);
	assert_int_equal(change.bound, PLIM_BOUND_AT_LEAST);
	assert_true(change.value >= 150);
	assert_true(change.value <= truth + 1);
	assert_int_equal(known(last, PLIM_FIELD_THREADS), 2);
}

/* A thousand threads: their number, and the sum over all of them. */
static void test_many_threads(void **state)
{
	const char *const argv[] = {"threads", "1000", NULL};
	const plim_process *it;

	(void)state;
	other_start(argv);
	spawn_ask(&other.spawn, "truth");
	child_sleep_ms(50);
	it = measure(other.first, other.target);
	assert_int_equal(known(it, PLIM_FIELD_THREADS), 1001);
	/* Since the answer it has gone to sleep once more. */
	expect_near(known(it, PLIM_FIELD_WAKEUPS),
		    spawn_truth(&other.spawn, "wakeups"), 0, 3);
	spawn_ask(&other.spawn, "end 400");
	for (int tries = 0; tries < 100; tries++) {
		it = measure(other.first, other.target);
		if (known(it, PLIM_FIELD_THREADS) == 601)
			break;
		child_sleep_ms(10);
	}
	assert_int_equal(known(it, PLIM_FIELD_THREADS), 601);
}

/* CPU of the main thread, and of a thread that has ended. */
static void test_cpu(void **state)
{
	const char *const argv[] = {"spin", NULL};
	const char *const commands[] = {"spin 300", "thread 300"};

	(void)state;
	other_start(argv);
	for (size_t i = 0; i < 2; i++) {
		const plim_process *first;
		const plim_process *last;
		uint64_t truth;
		plim_count change;

		spawn_ask(&other.spawn, "truth");
		truth = spawn_truth(&other.spawn, "cpu_ns");
		child_sleep_ms(20);
		first = measure(other.first, other.target);
		spawn_ask(&other.spawn, commands[i]);
		child_sleep_ms(20);
		last = measure(other.last, other.target);
		truth = spawn_truth(&other.spawn, "cpu_ns") - truth;
		change = plim_process_change(first, last, PLIM_FIELD_CPU);
		assert_int_equal(change.state, PLIM_STATE_KNOWN);
		assert_int_equal(change.method, PLIM_METHOD_PROCESS_CPU_CLOCK);
		expect_near(change.value, truth, 2, 0);
		expect_near(known(last, PLIM_FIELD_CPU),
			    spawn_truth(&other.spawn, "cpu_ns"), 2, 0);
		expect_near(known(last, PLIM_FIELD_CPU_USER) +
				known(last, PLIM_FIELD_CPU_SYSTEM),
			    known(last, PLIM_FIELD_CPU), 5, 20000000);
	}
}

/*
 * Bytes after fsync, to the byte. The file system may charge a page of its
 * metadata to whoever happens to be there; so of a few rounds every one holds
 * all bytes and nothing but whole pages more, and one is exact.
 */
static void test_written(void **state)
{
	const char *const argv[] = {"writer", other_folder(), NULL};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int exact = 0;

	(void)state;
	other_start(argv);
	for (int round = 0; round < 8 && !exact; round++) {
		const plim_process *first;
		const plim_process *last;
		uint64_t truth;
		plim_count change;

		spawn_ask(&other.spawn, "truth");
		truth = spawn_truth(&other.spawn, "written");
		first = measure(other.first, other.target);
		spawn_ask(&other.spawn, "write 256");
		truth = spawn_truth(&other.spawn, "written") - truth;
		last = measure(other.last, other.target);
		assert_int_equal(
		    known(last, PLIM_FIELD_DISK_WRITE),
		    proc_number(other.spawn.pid, "io", "write_bytes"));
		change =
		    plim_process_change(first, last, PLIM_FIELD_DISK_WRITE);
		assert_int_equal(change.state, PLIM_STATE_KNOWN);
		assert_int_equal(truth, 256 * page);
		assert_true(change.value >= truth);
		assert_int_equal((change.value - truth) % page, 0);
		exact = change.value == truth;
		/* One call a page, and the lines of the answer. */
		change = plim_process_change(first, last, PLIM_FIELD_IO_CALLS);
		assert_true(change.value >= 256 && change.value < 350);
	}
	assert_true(exact);
	expect_method(plim_usage_process(other.last), PLIM_FIELD_DISK_WRITE,
		      PLIM_METHOD_IO_WITH_CHILDREN);
}

/* Bytes that were dropped before they were flushed: a counter of their own. */
static void test_cancelled(void **state)
{
	const char *const argv[] = {"writer", other_folder(), NULL};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const plim_process *first;
	const plim_process *last;

	(void)state;
	other_start(argv);
	first = measure(other.first, other.target);
	spawn_ask(&other.spawn, "cancel 128");
	last = measure(other.last, other.target);
	assert_int_equal(spawn_truth(&other.spawn, "cancelled"), 128 * page);
	assert_int_equal(
	    plim_process_change(first, last, PLIM_FIELD_DISK_CANCELLED).value,
	    128 * page);
	assert_true(
	    plim_process_change(first, last, PLIM_FIELD_DISK_WRITE).value >=
	    128 * page);
}

/* Memory of each kind, within 1 MiB. */
static void test_memory(void **state)
{
	const char *const argv[] = {"holder", other_folder(), NULL};
	const plim_process *first;
	const plim_process *it;
	uint64_t file;

	(void)state;
	other_start(argv);
	first = measure(other.first, other.target);
	file = known(first, PLIM_FIELD_FILE);
	spawn_ask(&other.spawn, "anonymous 48");
	spawn_ask(&other.spawn, "shared 24");
	spawn_ask(&other.spawn, "file 12");
	it = measure(other.last, other.target);
	expect_near(known(it, PLIM_FIELD_ANONYMOUS),
		    spawn_truth(&other.spawn, "anonymous"), 0, MIB);
	expect_near(known(it, PLIM_FIELD_PRIVATE),
		    spawn_truth(&other.spawn, "anonymous"), 0, MIB);
	expect_near(known(it, PLIM_FIELD_SHMEM),
		    spawn_truth(&other.spawn, "shared"), 0, MIB);
	expect_near(known(it, PLIM_FIELD_FILE) - file,
		    spawn_truth(&other.spawn, "file"), 0, MIB);
	assert_int_equal(known(it, PLIM_FIELD_RESIDENT),
			 known(it, PLIM_FIELD_ANONYMOUS) +
			     known(it, PLIM_FIELD_FILE) +
			     known(it, PLIM_FIELD_SHMEM));
	assert_true(known(it, PLIM_FIELD_PEAK_RESIDENT) >= 84 * MIB);
	spawn_ask(&other.spawn, "drop");
	it = measure(other.last, other.target);
	assert_true(known(it, PLIM_FIELD_ANONYMOUS) < MIB);
	assert_true(known(it, PLIM_FIELD_PEAK_RESIDENT) >= 84 * MIB);
}

/* The cheap file alone tells the same. */
static void test_memory_cheaply(void **state)
{
	const char *const argv[] = {"holder", ".", NULL};
	plim_field_set light = plim_field_set_preset(PLIM_FIELDS_LIGHT);
	const plim_process *it;

	(void)state;
	other_start(argv);
	spawn_ask(&other.spawn, "anonymous 32");
	spawn_ask(&other.spawn, "shared 16");
	assert_int_equal(
	    plim_usage_refresh(other.first, other.target, &light, NULL),
	    PLIM_OK);
	it = plim_usage_process(other.first);
	expect_near(known(it, PLIM_FIELD_ANONYMOUS),
		    spawn_truth(&other.spawn, "anonymous"), 0, MIB);
	expect_method(it, PLIM_FIELD_ANONYMOUS, PLIM_METHOD_STATM);
	assert_true(known(it, PLIM_FIELD_RESIDENT) >= 48 * MIB);
	assert_true(known(it, PLIM_FIELD_RESIDENT) < 56 * MIB);
	expect_state(it, PLIM_FIELD_SHMEM, PLIM_STATE_SKIPPED);
}

/* A main thread that has ended while others hold the memory. */
static void test_leader_has_ended(void **state)
{
	const char *const argv[] = {"leader", "32", NULL};
	const plim_process *it;
	int method;

	(void)state;
	other_start(argv);
	it = measure(other.first, other.target);
	spawn_ask(&other.spawn, "truth");
	expect_near(known(it, PLIM_FIELD_ANONYMOUS),
		    spawn_truth(&other.spawn, "anonymous"), 0, MIB);
	/* By a file of a live thread: the leader's are empty. */
	method = plim_process_count(it, PLIM_FIELD_ANONYMOUS).method;
	assert_true(method == PLIM_METHOD_TASK_STATM ||
		    method == PLIM_METHOD_TASK_STATUS);
	assert_true(known(it, PLIM_FIELD_RESIDENT) >= 32 * MIB);
	expect_near(known(it, PLIM_FIELD_PRIVATE),
		    spawn_truth(&other.spawn, "anonymous"), 0, MIB);
	assert_true(known(it, PLIM_FIELD_PEAK_RESIDENT) >= 32 * MIB);
	/* The kernel counts the ended leader until the process ends. */
	expect_near(known(it, PLIM_FIELD_THREADS),
		    spawn_truth(&other.spawn, "threads"), 0, 1);
	/* The leader's own fd is empty. */
	assert_int_equal(known(it, PLIM_FIELD_DESCRIPTORS),
			 spawn_truth(&other.spawn, "descriptors"));
	known(it, PLIM_FIELD_WAKEUPS);
	known(it, PLIM_FIELD_CPU);
	assert_true(plim_process_is_measured(it));
	/* It has not ended, whatever the leader's letter is. */
	expect_fate(other.target, PLIM_FATE_SAME, 0, 0);
	assert_int_equal(plim_target_wait(other.target, 0, NULL),
			 PLIM_ETIMEOUT);
}

/* After the end the record keeps its last live state. */
static void test_ended(void **state)
{
	const char *const argv[] = {"spin", NULL};
	const plim_process *it;
	plim_error error = {0};
	uint64_t cpu;
	int status;

	(void)state;
	other_start(argv);
	spawn_ask(&other.spawn, "spin 50");
	it = measure(other.first, other.target);
	cpu = known(it, PLIM_FIELD_CPU);
	kill(other.spawn.pid, SIGKILL);
	assert_int_equal(child_wait(other.spawn.pid, &status, 5000), 0);
	assert_int_equal(
	    plim_usage_refresh(other.first, other.target, NULL, &error),
	    PLIM_ENOPROCESS);
	assert_int_equal(error.code, PLIM_ENOPROCESS);
	it = plim_usage_process(other.first);
	assert_int_equal(known(it, PLIM_FIELD_CPU), cpu);
	assert_int_equal(plim_process_pid(it), other.spawn.pid);
	expect_fate(other.target, PLIM_FATE_GONE, 0, 0);
	other.spawn.pid = 0;
}

/* Two processes have no rates of each other. */
static void test_unlike(void **state)
{
	const char *const argv[] = {"idle", NULL};
	const plim_process *me = measure_self(other.first);
	const plim_process *it;
	plim_interval interval = {.elapsed_ns = 7, .suspended_ns = 7};

	(void)state;
	other_start(argv);
	it = measure(other.last, other.target);
	assert_int_equal(plim_process_change(me, it, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNLIKE);
	assert_int_equal(plim_process_rate(me, it, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNLIKE);
	assert_int_equal(plim_process_cpu_percent(me, it).state,
			 PLIM_STATE_UNLIKE);
	assert_int_equal(plim_process_interval(me, it, &interval, NULL),
			 PLIM_EUNLIKE);
	assert_int_equal(interval.elapsed_ns, 7);
	assert_true(plim_process_is_child_of(it, me));
	assert_false(plim_process_is_child_of(me, it));
	assert_false(plim_process_is_child_of(me, me));
}

/* A held process of several threads is measured without memory. */
static void test_no_allocation(void **state)
{
	const char *const argv[] = {"threads", "50", NULL};
	struct counting counting = {0};
	plim_host_options options = {
	    .size = sizeof(options),
	    .allocator = counting_allocator(&counting),
	};
	plim_host *host = NULL;
	plim_target *target;
	plim_usage *usage;
	size_t calls;

	(void)state;
	spawn_start(&other.spawn, argv);
	assert_int_equal(plim_host_open(&host, &options, NULL), PLIM_OK);
	target = open_target(host, other.spawn.pid);
	usage = new_usage(host);
	measure(usage, target);
	calls = counting.calls;
	for (int i = 0; i < 50; i++)
		measure(usage, target);
	assert_int_equal(counting.calls, calls);
	plim_usage_free(usage);
	plim_target_close(target);
	plim_host_close(host);
	assert_int_equal(counting.live, 0);
}

/* What the kernel tells of nobody but oneself. */
static void test_self_only(void **state)
{
	const char *const argv[] = {"idle", NULL};
	plim_count blocks;

	(void)state;
	other_start(argv);
	blocks = plim_process_count(measure(other.first, other.target),
				    PLIM_FIELD_DISK_BLOCKS);
	assert_int_equal(blocks.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(blocks.method, PLIM_REASON_SELF_ONLY);
}

/* What is asked of a bundled example, against its own words. */
static void test_example(void **state)
{
	const char *const argv[] = {"plim-example", "--for",	"30", "--dir",
				    other_folder(), "--memory", "40", NULL};
	const plim_process *first;
	const plim_process *last;
	uint64_t then;
	uint64_t cpu;
	uint64_t wakeups;
	plim_real rate;

	(void)state;
	other_start(argv);
	kill(other.spawn.pid, SIGUSR1);
	spawn_await_answer(&other.spawn);
	then = spawn_truth(&other.spawn, "monotonic_ns");
	cpu = spawn_truth(&other.spawn, "cpu_ns");
	wakeups = spawn_truth(&other.spawn, "wakeups");
	first = measure(other.first, other.target);
	child_sleep_ms(3000);
	last = measure(other.last, other.target);
	kill(other.spawn.pid, SIGUSR1);
	spawn_await_answer(&other.spawn);
	then = spawn_truth(&other.spawn, "monotonic_ns") - then;
	cpu = spawn_truth(&other.spawn, "cpu_ns") - cpu;
	wakeups = spawn_truth(&other.spawn, "wakeups") - wakeups;
	rate = plim_process_rate(first, last, PLIM_FIELD_WAKEUPS);
	assert_int_equal(rate.state, PLIM_STATE_KNOWN);
	expect_near((uint64_t)rate.value, wakeups * 1000000 / (then / 1000), 5,
		    0);
	rate = plim_process_rate(first, last, PLIM_FIELD_CPU);
	/* The spinner is busy for 20 ms of every 100 ms: the two windows may
	 * differ by a part of one such burst. */
	expect_near((uint64_t)rate.value, cpu * 1000000 / (then / 1000), 2,
		    10000000);
	expect_near(known(last, PLIM_FIELD_ANONYMOUS),
		    spawn_truth(&other.spawn, "anonymous_bytes"), 0, MIB);
	assert_int_equal(known(last, PLIM_FIELD_THREADS),
			 spawn_truth(&other.spawn, "threads"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OTHER(test) \
	cmocka_unit_test_setup_teardown(test, other_setup, other_teardown)
	    OTHER(test_sleepers),	  OTHER(test_threads_end),
	    OTHER(test_many_threads),	  OTHER(test_cpu),
	    OTHER(test_written),	  OTHER(test_cancelled),
	    OTHER(test_memory),		  OTHER(test_memory_cheaply),
	    OTHER(test_leader_has_ended), OTHER(test_ended),
	    OTHER(test_unlike),		  OTHER(test_no_allocation),
	    OTHER(test_self_only),	  OTHER(test_example),
	};

	return cmocka_run_group_tests_name("usage of others", tests, NULL,
					   NULL);
}
