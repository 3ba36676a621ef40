/*
 * test_exit.c - the end of a process that is no child of ours: waited for,
 * its status once its own parent has reaped it, and signals that reach it and
 * nobody else.
 */
#include "common.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct ending {
	struct spawn spawn; /* the parent of the process in question */
	plim_host *host;
	plim_target *target;
};

static struct ending ending;

static int ending_setup(void **state)
{
	const char *const argv[] = {"zombie", NULL};

	(void)state;
	memset(&ending, 0, sizeof(ending));
	ending.host = open_host(0);
	spawn_start(&ending.spawn, argv);
	spawn_ask(&ending.spawn, "child");
	ending.target = open_target(
	    ending.host, (int32_t)spawn_truth(&ending.spawn, "child"));
	return 0;
}

static int ending_teardown(void **state)
{
	(void)state;
	spawn_end(&ending.spawn);
	plim_target_close(ending.target);
	plim_host_close(ending.host);
	return 0;
}

static int ending_readable(void)
{
	struct pollfd wait = {
	    .fd = plim_target_poll_descriptor(ending.target),
	    .events = POLLIN,
	};

	assert_true(wait.fd >= 0);
	return poll(&wait, 1, 0);
}

/* Alive, a zombie, reaped: each told apart, with status 5. */
static void test_status(void **state)
{
	plim_count status;

	(void)state;
	assert_int_equal(plim_target_wait(ending.target, 0, NULL),
			 PLIM_ETIMEOUT);
	assert_int_equal(ending_readable(), 0);
	status = plim_target_exit_status(ending.target);
	if (kernel_version() < 6015) {
		assert_int_equal(status.state, PLIM_STATE_UNSUPPORTED);
		SKIP_BECAUSE("this kernel tells no exit status of others "
			     "(Linux 6.15)");
	}
	assert_int_equal(status.state, PLIM_STATE_PENDING);
	spawn_ask(&ending.spawn, "end 5");
	assert_int_equal(plim_target_wait(ending.target, 0, NULL), PLIM_OK);
	assert_int_equal(ending_readable(), 1);
	expect_fate(ending.target, PLIM_FATE_SAME, 0, 1);
	status = plim_target_exit_status(ending.target);
	assert_int_equal(status.state, PLIM_STATE_PENDING);
	assert_int_equal(status.method, PLIM_REASON_NOT_REAPED);
	spawn_ask(&ending.spawn, "reap");
	status = plim_target_exit_status(ending.target);
	assert_int_equal(status.state, PLIM_STATE_KNOWN);
	assert_int_equal(status.value, spawn_truth(&ending.spawn, "status"));
	assert_int_equal(WEXITSTATUS((int)status.value), 5);
	expect_fate(ending.target, PLIM_FATE_GONE, 0, 0);
	assert_int_equal(plim_target_wait(ending.target, 0, NULL), PLIM_OK);
}

/* Ended by a signal: the status says which. */
static void test_signalled_status(void **state)
{
	plim_count status;

	(void)state;
	if (kernel_version() < 6015)
		SKIP_BECAUSE("this kernel tells no exit status of others "
			     "(Linux 6.15)");
	spawn_ask(&ending.spawn, "kill 15");
	spawn_ask(&ending.spawn, "reap");
	status = plim_target_exit_status(ending.target);
	assert_int_equal(status.state, PLIM_STATE_KNOWN);
	assert_true(WIFSIGNALED((int)status.value));
	assert_int_equal(WTERMSIG((int)status.value), 15);
}

/* A zombie is there, in state Z; it has no memory, which is not none. */
static void test_zombie_figures(void **state)
{
	plim_usage *usage = new_usage(ending.host);
	plim_snapshot *snapshot = new_snapshot(ending.host);
	const plim_process *it[2];

	(void)state;
	spawn_ask(&ending.spawn, "end 3");
	take(snapshot);
	it[0] = measure(usage, ending.target);
	it[1] = plim_snapshot_find(
	    snapshot, (int32_t)spawn_truth(&ending.spawn, "child"));
	for (size_t i = 0; i < 2; i++) {
		assert_non_null(it[i]);
		expect_text(plim_process_text(it[i], PLIM_FIELD_STATE), "Z", 1);
		expect_state(it[i], PLIM_FIELD_RESIDENT,
			     PLIM_STATE_NOT_APPLICABLE);
		expect_state(it[i], PLIM_FIELD_ANONYMOUS,
			     PLIM_STATE_NOT_APPLICABLE);
		expect_state(it[i], PLIM_FIELD_PRIVATE,
			     PLIM_STATE_NOT_APPLICABLE);
		expect_state(it[i], PLIM_FIELD_FILE, PLIM_STATE_NOT_APPLICABLE);
		expect_state(it[i], PLIM_FIELD_SHMEM,
			     PLIM_STATE_NOT_APPLICABLE);
		expect_state(it[i], PLIM_FIELD_SWAP, PLIM_STATE_NOT_APPLICABLE);
		expect_state(it[i], PLIM_FIELD_PEAK_RESIDENT,
			     PLIM_STATE_NOT_APPLICABLE);
		assert_int_equal(
		    plim_process_count(it[i], PLIM_FIELD_RESIDENT).method,
		    PLIM_REASON_ZOMBIE);
		assert_int_equal(known(it[i], PLIM_FIELD_PPID),
				 (uint64_t)ending.spawn.pid);
		known(it[i], PLIM_FIELD_CPU);
		known(it[i], PLIM_FIELD_START_TICKS);
		expect_text(plim_process_text(it[i], PLIM_FIELD_NAME), "zombie",
			    6);
	}
	plim_snapshot_free(snapshot);
	plim_usage_free(usage);
}

/* Memory of a process without any is not 0. */
static void ending_expect_memory(const plim_process *it)
{
	static const int fields[] = {PLIM_FIELD_RESIDENT, PLIM_FIELD_ANONYMOUS,
				     PLIM_FIELD_PRIVATE,
				     PLIM_FIELD_PEAK_RESIDENT};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		plim_count count = plim_process_count(it, fields[i]);

		if (count.state == PLIM_STATE_KNOWN && count.value == 0)
			fail_msg("%s is 0", plim_field_get(fields[i])->name);
	}
}

/*
 * On its way out, before it is a zombie, a process has no memory any more
 * (kernel/exit.c, exit_mm): statm says 0, and its command line is empty. Both
 * are no figures of it. The pages of a large one take their time to be given
 * back, so that it can be seen in between.
 */
static void test_exiting(void **state)
{
	const char *const argv[] = {"holder", ".", NULL};
	plim_field_set light = plim_field_set_preset(PLIM_FIELDS_LIGHT);
	plim_usage *usage = new_usage(ending.host);
	plim_target *target;
	struct spawn holder;
	int seen = 0;

	(void)state;
	spawn_start(&holder, argv);
	spawn_ask(&holder, "anonymous 1024");
	target = open_target(ending.host, holder.pid);
	assert_int_equal(plim_target_signal(target, SIGKILL, NULL), PLIM_OK);
	while (plim_target_wait(target, 0, NULL) == PLIM_ETIMEOUT) {
		plim_text line = {0};

		if (plim_usage_refresh(usage, target, NULL, NULL) != PLIM_OK)
			break;
		ending_expect_memory(plim_usage_process(usage));
		if (plim_usage_refresh(usage, target, &light, NULL) != PLIM_OK)
			break;
		ending_expect_memory(plim_usage_process(usage));
		assert_int_equal(plim_target_command_line(target, &line, NULL),
				 PLIM_OK);
		if (line.state == PLIM_STATE_KNOWN)
			expect_text(line, "holder\0.", 9);
		seen++;
	}
	print_message("seen %d times on its way out\n", seen);
	spawn_end(&holder);
	plim_target_close(target);
	plim_usage_free(usage);
}

static void ending_handler(int signal)
{
	(void)signal;
}

/* The wait is as long as asked, whatever signals come meanwhile. */
static void test_wait_times_out(void **state)
{
	struct sigaction action = {.sa_handler = ending_handler};
	struct sigaction old;
	struct itimerval often = {{0, 10000}, {0, 10000}};
	struct itimerval never = {{0, 0}, {0, 0}};
	uint64_t begin;
	uint64_t took;
	plim_error error = {0};

	(void)state;
	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &often, NULL);
	begin = child_monotonic_ns();
	assert_int_equal(plim_target_wait(ending.target, 150000000, &error),
			 PLIM_ETIMEOUT);
	took = child_monotonic_ns() - begin;
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_int_equal(error.code, PLIM_ETIMEOUT);
	assert_true(took >= 150000000);
	assert_true(took < 2000000000);
}

/* The end wakes the one who waits, long before its time is over. */
static void test_wait_wakes(void **state)
{
	uint64_t begin = child_monotonic_ns();

	(void)state;
	spawn_send(&ending.spawn, "end 0");
	assert_int_equal(plim_target_wait(ending.target, 20000000000ull, NULL),
			 PLIM_OK);
	assert_true(child_monotonic_ns() - begin < 5000000000ull);
	spawn_await_answer(&ending.spawn);
}

/* A signal reaches the target; one that is none is refused, and so is one to
 * a target that has ended. */
static void test_signals(void **state)
{
	static const int none[] = {-1, 65, 1000, INT32_MAX};
	plim_error error = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(
		    plim_target_signal(ending.target, none[i], NULL),
		    PLIM_EINVAL);
	assert_int_equal(plim_target_wait(ending.target, 0, NULL),
			 PLIM_ETIMEOUT);
	assert_int_equal(plim_target_signal(ending.target, SIGTERM, NULL),
			 PLIM_OK);
	assert_int_equal(plim_target_wait(ending.target, 5000000000ull, NULL),
			 PLIM_OK);
	spawn_ask(&ending.spawn, "reap");
	assert_int_equal(WTERMSIG((int)spawn_truth(&ending.spawn, "status")),
			 SIGTERM);
	assert_int_equal(plim_target_signal(ending.target, SIGTERM, &error),
			 PLIM_ENOPROCESS);
	assert_int_equal(error.code, PLIM_ENOPROCESS);
}

/* As on a kernel without pidfds: nothing is waited for, nothing is sent. */
static void test_no_pidfd(void **state)
{
	plim_host *host = open_host(PLIM_HOST_NO_PIDFD);
	plim_target *target =
	    open_target(host, (int32_t)spawn_truth(&ending.spawn, "child"));

	(void)state;
	assert_int_equal(plim_target_wait(target, 0, NULL), PLIM_EUNSUPPORTED);
	assert_int_equal(plim_target_poll_descriptor(target), -1);
	assert_int_equal(plim_target_signal(target, SIGKILL, NULL),
			 PLIM_EUNSUPPORTED);
	assert_int_equal(plim_target_exit_status(target).state,
			 PLIM_STATE_UNSUPPORTED);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	spawn_ask(&ending.spawn, "end 0");
	expect_fate(target, PLIM_FATE_SAME, 0, 1);
	spawn_ask(&ending.spawn, "reap");
	expect_fate(target, PLIM_FATE_GONE, 0, 0);
	plim_target_close(target);
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ENDING(test) \
	cmocka_unit_test_setup_teardown(test, ending_setup, ending_teardown)
	    ENDING(test_status),	 ENDING(test_signalled_status),
	    ENDING(test_zombie_figures), ENDING(test_exiting),
	    ENDING(test_wait_times_out), ENDING(test_wait_wakes),
	    ENDING(test_signals),	 ENDING(test_no_pidfd),
	};

	return cmocka_run_group_tests_name("exit and signals", tests, NULL,
					   NULL);
}
