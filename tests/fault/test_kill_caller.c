/*
 * test_kill_caller.c - a process is killed while it reads a command line.
 *
 * Its helper lives on for as long as what it waits for, and no longer: then
 * it has nobody to answer to, and ends by itself.
 */
#include "hold.h"
#include "reader.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define LONG_MS 10000

static struct spawn workload;
static struct reader reader;
static struct hold hold;

static int caller_setup(void **state)
{
	(void)state;
	reader_spawn(&workload);
	return 0;
}

static int caller_teardown(void **state)
{
	(void)state;
	spawn_end(&workload);
	return 0;
}

/* Reads until it is killed; in a process of its own. */
static void caller_run(pid_t pid)
{
	child_bind();
	reader_open(&reader, pid, LONG_MS);
	for (;;) {
		plim_text text = {0};

		if (plim_target_command_line(reader.target, &text, NULL) !=
		    PLIM_OK)
			_exit(1);
	}
}

static pid_t caller_start(pid_t pid)
{
	pid_t caller = fork();

	assert_true(caller >= 0);
	if (caller == 0) {
		if (atomic_load(&hold.listener) > 0)
			close(atomic_load(&hold.listener));
		caller_run(pid);
	}
	return caller;
}

static void caller_kill(pid_t caller)
{
	int status = 0;

	assert_int_equal(kill(caller, SIGKILL), 0);
	assert_int_equal(child_wait(caller, &status, 5000), 0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* The caller dies in the middle: the helper ends with what it waits for, and
 * by itself. It then is a child of ours. */
static void caller_killed(void *user)
{
	const long numbers[] = {SYS_close_range, SYS_sendto};

	(void)user;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	hold_start(&hold, halt_helper, NULL);
	for (size_t i = 0; i < 2; i++) {
		pid_t caller;
		pid_t helper;
		int status = -1;

		halt_arm(numbers[i], 0);
		caller = caller_start(workload.pid);
		for (int ms = 0; atomic_load(&halt.helper) == 0; ms++) {
			assert_true(ms < 10000);
			child_sleep_ms(1);
		}
		helper = atomic_load(&halt.helper);
		assert_int_equal(proc_number(helper, "status", "PPid"), caller);
		caller_kill(caller);
		child_sleep_ms(20);
		assert_int_equal(proc_number(helper, "status", "PPid"),
				 getpid());
		assert_int_equal(hold_state(helper), 'S');
		hold_release(&hold);
		assert_int_equal(child_wait(helper, &status, 5000), 0);
		assert_int_equal(status, 0);
		assert_int_equal(waitpid(-1, NULL, __WALL | WNOHANG), -1);
	}
	hold_end(&hold);
}

static void test_caller_killed(void **state)
{
	(void)state;
	child_run(caller_killed, NULL);
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

/* How many children we get and reap within five seconds; all must end. */
static unsigned orphans_reap(void)
{
	uint64_t end = child_monotonic_ns() + 5000000000ull;
	unsigned count = 0;
	pid_t got;

	while ((got = waitpid(-1, NULL, __WALL | WNOHANG)) >= 0) {
		count += got > 0;
		if (got == 0)
			child_sleep_ms(1);
		assert_true(child_monotonic_ns() < end);
	}
	assert_int_equal(errno, ECHILD);
	return count;
}

static void caller_killed_under_lock(void *user)
{
	unsigned orphans = 0;

	(void)user;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	atomic_store(&hold.listener, -1);
	for (int i = 0; i < 20; i++) {
		pid_t caller = caller_start(locked.pid);

		child_sleep_ms(20 + 3 * (unsigned)i);
		caller_kill(caller);
		orphans += orphans_reap();
	}
	print_message("%u helpers outlived their callers for a moment\n",
		      orphans);
	assert_true(orphans > 0);
	assert_int_equal(fault_children().count, 0);
}

static void test_caller_killed_under_lock(void **state)
{
	(void)state;
	child_run(caller_killed_under_lock, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_caller_killed),
	    cmocka_unit_test_setup_teardown(test_caller_killed_under_lock,
					    locked_setup, locked_teardown),
	};

	return cmocka_run_group_tests_name("kill caller", tests, caller_setup,
					   caller_teardown);
}
