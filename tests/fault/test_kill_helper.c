/*
 * test_kill_helper.c - the helper that reads a command line is killed,
 * stopped, held or reaped by others at every point of its short life.
 *
 * The line that is told is the line, or it is missing and says why; no read
 * takes longer than its deadline; and the helper is gone when the read is
 * over.
 */
#include "hold.h"
#include "reader.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define DEADLINE_MS 300
#define SLACK_MS    2000 /* the machine's load */
#define MOST_CALLS  40

static struct spawn workload;
static struct reader reader;
static struct hold hold;

static int kill_setup(void **state)
{
	(void)state;
	reader_spawn(&workload);
	return 0;
}

static int kill_teardown(void **state)
{
	(void)state;
	spawn_end(&workload);
	return 0;
}

/* What is done to a helper at its call number `at`. */
struct strike {
	unsigned at;
	int both; /* to the second helper, too */
	int reap; /* it is waited for here, not by the library */
	pid_t helper;
	unsigned call; /* of this helper */
	atomic_uint kills;
	atomic_uint reaps;
};

static struct strike strike;

static void strike_arm(unsigned at, int both, int reap)
{
	memset(&strike, 0, sizeof(strike));
	strike.at = at;
	strike.both = both;
	strike.reap = reap;
}

static enum hold_answer strike_kill(struct hold *it, pid_t helper, long number)
{
	(void)it;
	(void)number;
	if (helper != strike.helper)
		strike.call = 0;
	strike.helper = helper;
	if (strike.call++ != strike.at ||
	    (atomic_load(&strike.kills) > 0 && !strike.both))
		return HOLD_GO;
	atomic_fetch_add(&strike.kills, 1);
	/* It is in a call of ours, and its parent waits: the pid is its. */
	kill(helper, SIGKILL);
	if (strike.reap && waitpid(helper, NULL, __WALL) == helper)
		atomic_fetch_add(&strike.reaps, 1);
	return HOLD_KEEP;
}

/* The first of two helpers dies at each of its calls: the second has it all,
 * and not a byte of the first. */
static unsigned kill_at_each_call(int reap)
{
	unsigned reaps = 0;
	unsigned at;

	for (at = 0; at < MOST_CALLS; at++) {
		for (int tries = 0;; tries++) {
			assert_true(tries < 20);
			strike_arm(at, 0, reap);
			if (reader_try(&reader))
				break;
		}
		reader_expect_quiet(&reader);
		reaps += atomic_load(&strike.reaps);
		if (atomic_load(&strike.kills) == 0)
			break;
	}
	/* Two ranges of descriptors, six pieces and the end at least. */
	assert_true(at >= 9 && at < MOST_CALLS);
	return reaps;
}

static void killed_at_each_call(void *user)
{
	unsigned reaps = 0;

	(void)user;
	reader_open(&reader, workload.pid, DEADLINE_MS);
	hold_start(&hold, strike_kill, NULL);
	reader.descriptors++;
	kill_at_each_call(0);
	/* Somebody waits for every kind of child, and gets it. */
	for (int i = 0; i < 10; i++)
		reaps += kill_at_each_call(1);
	print_message("%u reaped by others\n", reaps);
	assert_true(reaps > 0);
	hold_end(&hold);
	reader_close(&reader);
}

static void test_killed_at_each_call(void **state)
{
	(void)state;
	child_run(killed_at_each_call, NULL);
}

/* Both helpers die: the line is missing, whatever was read of it. */
static void killed_twice(void *user)
{
	unsigned at;

	(void)user;
	reader_open(&reader, workload.pid, DEADLINE_MS);
	hold_start(&hold, strike_kill, NULL);
	reader.descriptors++;
	for (at = 0; at < MOST_CALLS; at++) {
		plim_text text = {0};

		strike_arm(at, 1, (int)at % 2);
		assert_int_equal(
		    plim_target_command_line(reader.target, &text, NULL),
		    PLIM_OK);
		reader_expect_quiet(&reader);
		if (atomic_load(&strike.kills) == 0)
			break;
		assert_int_equal(text.bytes.size, 0);
		if (text.state == PLIM_STATE_TIMEOUT)
			continue;
		assert_int_equal(atomic_load(&strike.kills), 2);
		assert_int_equal(text.method, PLIM_REASON_READ_FAILED);
		assert_int_equal(text.state,
				 plim_reason_state(PLIM_REASON_READ_FAILED));
		assert_int_equal(text.code, EPIPE);
	}
	assert_true(at >= 9 && at < MOST_CALLS);
	reader_expect(&reader);
	reader_expect_quiet(&reader);
	hold_end(&hold);
	reader_close(&reader);
}

static void test_killed_twice(void **state)
{
	(void)state;
	child_run(killed_twice, NULL);
}

/* One that does not answer is given up at the deadline, and is gone. */
static void halted(void *user)
{
	const long numbers[] = {SYS_close_range, SYS_sendto};

	(void)user;
	reader_open(&reader, workload.pid, DEADLINE_MS);
	/* A child that is stopped is told to every parent that does not refuse
	 * it, whatever signal the child's end sends. */
	reader_count_signals(SA_NOCLDSTOP);
	hold_start(&hold, halt_helper, NULL);
	reader.descriptors++;
	for (size_t i = 0; i < 4; i++) {
		uint64_t begin = child_monotonic_ns();
		uint64_t spent;
		plim_text text = {0};

		halt_arm(numbers[i / 2], i % 2 == 0 ? SIGSTOP : 0);
		assert_int_equal(
		    plim_target_command_line(reader.target, &text, NULL),
		    PLIM_OK);
		spent = child_monotonic_ns() - begin;
		assert_int_not_equal(atomic_load(&halt.helper), 0);
		assert_int_equal(atomic_load(&halt.stopped), i % 2 == 0);
		assert_int_equal(text.state, PLIM_STATE_TIMEOUT);
		assert_int_equal(text.method, PLIM_REASON_DEADLINE);
		assert_int_equal(text.bytes.size, 0);
		assert_true(spent >= DEADLINE_MS * 1000000ull);
		assert_true(spent < (DEADLINE_MS + SLACK_MS) * 1000000ull);
		assert_int_equal(hold_state(atomic_load(&halt.helper)), 0);
		reader_expect_quiet(&reader);
		reader_expect(&reader);
	}
	hold_end(&hold);
	reader_close(&reader);
}

static void test_halted(void **state)
{
	(void)state;
	child_run(halted, NULL);
}

/* The real thing: a process whose memory lock is held most of the time. */
static struct spawn locked;

static int locked_setup(void **state)
{
	(void)state;
	spawn_start(&locked,
		    (const char *const[]){"forkloop", "512", "40", NULL});
	return 0;
}

static int locked_teardown(void **state)
{
	(void)state;
	spawn_end(&locked);
	return 0;
}

struct killer {
	pthread_t thread;
	atomic_int stop;
	atomic_uint kills;
};

/* Through a pidfd that was made while it was ours: never somebody else. */
static void killer_strike(struct killer *killer, pid_t pid)
{
	struct fault_children none = {0, {0}};
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0)
		return;
	if (fault_new_child(&none) == pid && hold_state(pid) != 'Z' &&
	    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0)
		atomic_fetch_add(&killer->kills, 1);
	close(pidfd);
}

static void *killer_run(void *user)
{
	struct fault_children none = {0, {0}};
	struct killer *killer = user;

	while (!atomic_load(&killer->stop)) {
		pid_t pid = fault_new_child(&none);

		if (pid > 0)
			killer_strike(killer, pid);
		usleep(200);
	}
	return NULL;
}

static void killed_under_lock(void *user)
{
	static const char line[] = "forkloop\000512\00040";
	struct killer killer = {.stop = 0};
	uint64_t end = child_monotonic_ns() + 15000000000ull;
	unsigned whole = 0;
	unsigned missing = 0;

	(void)user;
	reader_open(&reader, locked.pid, DEADLINE_MS);
	reader.line = line;
	reader.size = sizeof(line);
	assert_int_equal(
	    pthread_create(&killer.thread, NULL, killer_run, &killer), 0);
	while (child_monotonic_ns() < end &&
	       (atomic_load(&killer.kills) < 20 || whole < 5)) {
		uint64_t begin = child_monotonic_ns();
		plim_text text = {0};
		int code = plim_target_command_line(reader.target, &text, NULL);

		/* Each of two helpers has the deadline for itself. */
		if (code != PLIM_OK ||
		    child_monotonic_ns() - begin >
			(2 * DEADLINE_MS + SLACK_MS) * 1000000ull)
			break;
		if (text.state == PLIM_STATE_KNOWN
			? !reader_is_line(&reader, &text)
			: text.bytes.size != 0 ||
			      (text.method != PLIM_REASON_DEADLINE &&
			       (text.method != PLIM_REASON_READ_FAILED ||
				text.code != EPIPE)))
			break;
		whole += text.state == PLIM_STATE_KNOWN;
		missing += text.state != PLIM_STATE_KNOWN;
		if (waitpid(-1, NULL, __WALL | WNOHANG) != -1)
			break;
	}
	atomic_store(&killer.stop, 1);
	pthread_join(killer.thread, NULL);
	print_message("%u kills, %u lines whole, %u missing\n",
		      atomic_load(&killer.kills), whole, missing);
	assert_true(atomic_load(&killer.kills) >= 5 && whole > 0);
	assert_true(child_monotonic_ns() >= end ||
		    (atomic_load(&killer.kills) >= 20 && whole >= 5));
	reader_expect_quiet(&reader);
	reader_close(&reader);
}

static void test_killed_under_lock(void **state)
{
	(void)state;
	child_run(killed_under_lock, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_killed_at_each_call),
	    cmocka_unit_test(test_killed_twice),
	    cmocka_unit_test(test_halted),
	    cmocka_unit_test_setup_teardown(test_killed_under_lock,
					    locked_setup, locked_teardown),
	};

	return cmocka_run_group_tests_name("kill helper", tests, kill_setup,
					   kill_teardown);
}
