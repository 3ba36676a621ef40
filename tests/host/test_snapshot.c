/*
 * test_snapshot.c - every process in one pass, on the live machine: we are in
 * it, it is in order, what begins and ends is told, and the bill adds up.
 */
#include "common.h"

#include "counting.h"
#include "ns.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct round {
	plim_host *host;
	plim_snapshot *first;
	plim_snapshot *last;
};

static int round_setup(void **state)
{
	static struct round round;

	round.host = open_host(0);
	round.first = new_snapshot(round.host);
	round.last = new_snapshot(round.host);
	*state = &round;
	return 0;
}

static int round_teardown(void **state)
{
	struct round *round = *state;

	plim_snapshot_free(round->first);
	plim_snapshot_free(round->last);
	plim_host_close(round->host);
	return 0;
}

/* The test itself is in it, measured, with all that it knows of itself. */
static void test_sees_itself(void **state)
{
	struct round *round = *state;
	const plim_process *me;
	struct timespec now;
	uint64_t started;

	take(round->first);
	me = plim_snapshot_find(round->first, getpid());
	assert_non_null(me);
	assert_int_equal(known(me, PLIM_FIELD_PPID), (uint64_t)getppid());
	assert_int_equal(known(me, PLIM_FIELD_UID), geteuid());
	assert_true(plim_process_is_measured(me));
	assert_true(known(me, PLIM_FIELD_RESIDENT) >=
		    known(me, PLIM_FIELD_PRIVATE) / 4);
	assert_true(known(me, PLIM_FIELD_CPU) > 0);
	clock_gettime(CLOCK_REALTIME, &now);
	started = known(me, PLIM_FIELD_START_UNIX_MS);
	assert_true(started <= (uint64_t)now.tv_sec * 1000 + 1000);
	assert_true(started + 600000 >= (uint64_t)now.tv_sec * 1000);
}

/* In ascending order of pid, each once, and each one found again. */
static void test_order(void **state)
{
	struct round *round = *state;
	size_t count;

	take(round->first);
	count = plim_snapshot_size(round->first);
	assert_true(count >= 1);
	for (size_t i = 0; i < count; i++) {
		const plim_process *it = plim_snapshot_at(round->first, i);

		assert_ptr_equal(
		    plim_snapshot_find(round->first, plim_process_pid(it)), it);
		if (i > 0)
			assert_true(plim_process_pid(it) >
				    plim_process_pid(
					plim_snapshot_at(round->first, i - 1)));
		assert_int_equal(known(it, PLIM_FIELD_PID),
				 (uint64_t)plim_process_pid(it));
		assert_true(
		    plim_process_text(it, PLIM_FIELD_STATE).bytes.size == 1);
	}
	assert_null(plim_snapshot_at(round->first, count));
	assert_null(plim_snapshot_find(round->first, INT32_MAX));
	assert_null(plim_snapshot_find(round->first, 0));
	assert_null(plim_snapshot_find(round->first, -1));
}

struct round_events {
	pid_t pid;
	int stayed;
	int started;
	int ended;
	pid_t last_pid;
	int calls;
};

static int round_event(int event, const plim_process *first,
		       const plim_process *last, void *user)
{
	struct round_events *events = user;
	pid_t pid = plim_process_pid(first != NULL ? first : last);

	events->calls++;
	assert_true(pid >= events->last_pid);
	events->last_pid = pid;
	if (pid != events->pid)
		return 0;
	events->stayed += event == PLIM_EVENT_STAYED;
	events->started += event == PLIM_EVENT_STARTED;
	events->ended += event == PLIM_EVENT_ENDED;
	return 0;
}

static int round_stop(int event, const plim_process *first,
		      const plim_process *last, void *user)
{
	(void)event;
	(void)first;
	(void)last;
	return *(int *)user;
}

/* A process that begins, one that stays, one that ends. */
static void test_compare(void **state)
{
	struct round *round = *state;
	const char *const argv[] = {"idle", NULL};
	struct spawn spawn;
	struct round_events events;
	plim_snapshot *third = new_snapshot(round->host);
	int value = 4711;
	pid_t pid;

	take(round->first);
	spawn_start(&spawn, argv);
	pid = spawn.pid;
	take(round->last);
	spawn_end(&spawn);
	take(third);
	events = (struct round_events){.pid = pid};
	assert_int_equal(plim_snapshot_compare(round->first, round->last,
					       round_event, &events),
			 0);
	assert_int_equal(events.started, 1);
	assert_int_equal(events.stayed + events.ended, 0);
	events = (struct round_events){.pid = pid};
	plim_snapshot_compare(round->last, third, round_event, &events);
	assert_int_equal(events.ended, 1);
	assert_int_equal(events.stayed + events.started, 0);
	events = (struct round_events){.pid = getpid()};
	plim_snapshot_compare(round->first, third, round_event, &events);
	assert_int_equal(events.stayed, 1);
	assert_int_equal(events.started + events.ended, 0);
	assert_int_equal(
	    plim_snapshot_compare(round->first, third, round_stop, &value),
	    4711);
	plim_snapshot_free(third);
}

/* Our own CPU over two rounds grows with what we spin. */
static void test_cpu_grows(void **state)
{
	struct round *round = *state;
	struct timespec now;
	uint64_t end;
	uint64_t cpu;

	take(round->first);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	end = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
	      300000000u;
	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec <
		 end);
	take(round->last);
	cpu = plim_process_change(plim_snapshot_find(round->first, getpid()),
				  plim_snapshot_find(round->last, getpid()),
				  PLIM_FIELD_CPU)
		  .value;
	/* The passes themselves are our CPU time, too. */
	assert_true(cpu >= 300000000u);
	assert_true(cpu < 3000000000u);
}

/* Kernel threads by their flag; memory is none of theirs. */
static void test_kernel_threads(void **state)
{
	struct round *round = *state;
	size_t found = 0;

	take(round->first);
	for (size_t i = 0; i < plim_snapshot_size(round->first); i++) {
		const plim_process *it = plim_snapshot_at(round->first, i);

		if (known(it, PLIM_FIELD_KERNEL_THREAD) == 0)
			continue;
		found++;
		expect_state(it, PLIM_FIELD_RESIDENT,
			     PLIM_STATE_NOT_APPLICABLE);
		expect_state(it, PLIM_FIELD_ANONYMOUS,
			     PLIM_STATE_NOT_APPLICABLE);
		expect_state(it, PLIM_FIELD_PRIVATE, PLIM_STATE_NOT_APPLICABLE);
		expect_state(it, PLIM_FIELD_PEAK_RESIDENT,
			     PLIM_STATE_NOT_APPLICABLE);
		assert_int_equal(
		    plim_process_count(it, PLIM_FIELD_RESIDENT).method,
		    PLIM_REASON_NO_MEMORY);
		assert_true(plim_process_text(it, PLIM_FIELD_NAME).bytes.size >
			    0);
	}
	if (found == 0)
		SKIP_BECAUSE("no kernel thread is visible here");
}

/* Wake-ups of several threads only when asked, and then all of them. */
static void test_thread_pass(void **state)
{
	struct round *round = *state;
	const char *const argv[] = {"threads", "20", NULL};
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &all,
	    .threads = 1,
	};
	struct spawn spawn;
	plim_count wakeups;

	spawn_start(&spawn, argv);
	take(round->first);
	wakeups = plim_process_count(
	    plim_snapshot_find(round->first, spawn.pid), PLIM_FIELD_WAKEUPS);
	assert_int_equal(wakeups.state, PLIM_STATE_SKIPPED);
	assert_int_equal(wakeups.method, PLIM_REASON_THREAD_PASS);
	assert_int_equal(plim_snapshot_take(round->last, &options, NULL),
			 PLIM_OK);
	spawn_ask(&spawn, "truth");
	expect_near(known(plim_snapshot_find(round->last, spawn.pid),
			  PLIM_FIELD_WAKEUPS),
		    spawn_truth(&spawn, "wakeups"), 0, 3);
	spawn_end(&spawn);
}

/* Only the files of the fields are read: the rest says so. */
static void test_light(void **state)
{
	struct round *round = *state;
	plim_field_set light = plim_field_set_preset(PLIM_FIELDS_LIGHT);
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &light,
	};
	const plim_process *me;
	plim_cost light_cost;

	assert_int_equal(plim_snapshot_take(round->first, &options, NULL),
			 PLIM_OK);
	me = plim_snapshot_find(round->first, getpid());
	assert_non_null(me);
	known(me, PLIM_FIELD_CPU);
	known(me, PLIM_FIELD_RESIDENT);
	known(me, PLIM_FIELD_ANONYMOUS);
	known(me, PLIM_FIELD_THREADS);
	known(me, PLIM_FIELD_FAULTS_MINOR);
	expect_state(me, PLIM_FIELD_DISK_WRITE, PLIM_STATE_SKIPPED);
	expect_state(me, PLIM_FIELD_SWAP, PLIM_STATE_SKIPPED);
	expect_state(me, PLIM_FIELD_DESCRIPTORS, PLIM_STATE_SKIPPED);
	light_cost = plim_snapshot_cost(round->first);
	take(round->last);
	assert_true(light_cost.system_calls <
		    plim_snapshot_cost(round->last).system_calls);
	assert_true(light_cost.bytes_read <
		    plim_snapshot_cost(round->last).bytes_read);
}

/* The bill: what was listed was read or has vanished; time has passed. */
static void test_bill(void **state)
{
	struct round *round = *state;
	plim_cost cost;
	uint64_t begin;
	uint64_t end;

	take(round->first);
	cost = plim_snapshot_cost(round->first);
	begin = plim_snapshot_begin(round->first).monotonic.ns;
	end = plim_snapshot_end(round->first).monotonic.ns;
	assert_int_equal(cost.present, cost.read + cost.vanished);
	assert_int_equal(cost.read, plim_snapshot_size(round->first));
	assert_true(cost.system_calls > 3 * (uint64_t)cost.read);
	assert_true(cost.bytes_read > 100 * (uint64_t)cost.read);
	assert_true(end > begin);
	expect_near(cost.wall_ns.value, end - begin, 20, 5000000);
	for (size_t i = 0; i < plim_snapshot_size(round->first); i++) {
		uint64_t at =
		    plim_process_stamp(plim_snapshot_at(round->first, i))
			.monotonic.ns;

		assert_true(at >= begin && at <= end);
	}
}

/* The strong identity on request, the start tick for what is old enough. */
static void test_strong(void **state)
{
	struct round *round = *state;
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .strong_identity = 1,
	};
	plim_identity weak;
	plim_identity strong;

	if (plim_host_count(round->host, PLIM_HOST_IDENTITY_RUNG).value !=
	    PLIM_RUNG_INODE)
		SKIP_BECAUSE("this kernel has no pidfd inodes (Linux 6.9)");
	child_sleep_ms(50);
	take(round->first);
	assert_int_equal(plim_snapshot_take(round->last, &options, NULL),
			 PLIM_OK);
	weak =
	    plim_process_identity(plim_snapshot_find(round->first, getpid()));
	strong =
	    plim_process_identity(plim_snapshot_find(round->last, getpid()));
	assert_int_equal(plim_identity_rung(&weak), PLIM_RUNG_START);
	assert_int_equal(plim_identity_rung(&strong), PLIM_RUNG_INODE);
	assert_int_equal(plim_identity_compare(&weak, &strong), PLIM_SAME);
}

static void round_quiet(void *user)
{
	struct counting counting = {0};
	plim_host_options options = {
	    .size = sizeof(options),
	    .allocator = counting_allocator(&counting),
	};
	plim_host *host = NULL;
	plim_snapshot *snapshot;
	size_t calls;

	(void)user;
	assert_int_equal(plim_host_open(&host, &options, NULL), PLIM_OK);
	snapshot = new_snapshot(host);
	take(snapshot);
	take(snapshot);
	calls = counting.calls;
	for (int i = 0; i < 50; i++)
		take(snapshot);
	assert_int_equal(counting.calls, calls);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
	assert_int_equal(counting.live, 0);
}

/* Where nothing begins, taking it again asks for no memory. */
static void test_no_allocation(void **state)
{
	(void)state;
	ns_run(NULL, round_quiet, NULL);
}

/* Options that are none leave the snapshot as it was. */
static void test_bad_options(void **state)
{
	struct round *round = *state;
	plim_snapshot_options options = {.size = 1};
	size_t count;

	take(round->first);
	count = plim_snapshot_size(round->first);
	assert_int_equal(plim_snapshot_take(round->first, &options, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_snapshot_size(round->first), count);
	assert_non_null(plim_snapshot_find(round->first, getpid()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROUND(test) \
	cmocka_unit_test_setup_teardown(test, round_setup, round_teardown)
	    ROUND(test_sees_itself),	ROUND(test_order),
	    ROUND(test_compare),	ROUND(test_cpu_grows),
	    ROUND(test_kernel_threads), ROUND(test_thread_pass),
	    ROUND(test_light),		ROUND(test_bill),
	    ROUND(test_strong),		cmocka_unit_test(test_no_allocation),
	    ROUND(test_bad_options),
	};

	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
