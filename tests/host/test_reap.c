/*
 * test_reap.c - a child's cost at its end, descendants included: equal to
 * what wait4 gives. A child can be waited for once, so the kernel's account of
 * all waited-for children, before and after, is the truth here.
 */
#include "common.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct reap {
	plim_host *host;
	plim_usage *usage;
};

static int reap_setup(void **state)
{
	static struct reap reap;

	reap.host = open_host(0);
	reap.usage = new_usage(reap.host);
	*state = &reap;
	return 0;
}

static int reap_teardown(void **state)
{
	struct reap *reap = *state;

	plim_usage_free(reap->usage);
	plim_host_close(reap->host);
	return 0;
}

static uint64_t reap_ns(struct timeval after, struct timeval before)
{
	return ((uint64_t)(after.tv_sec - before.tv_sec) * 1000000u +
		(uint64_t)(after.tv_usec - before.tv_usec)) *
	       1000u;
}

/* 500 grandchildren that sleep once each, and 100 sleeps of its own. */
static void test_grandchildren(void **state)
{
	struct reap *reap = *state;
	const char *const argv[] = {"grandchildren", "500", "100", NULL};
	struct spawn spawn;
	struct rusage before;
	struct rusage after;
	const plim_process *it;
	int status = -1;

	spawn_start(&spawn, argv);
	getrusage(RUSAGE_CHILDREN, &before);
	assert_int_equal(plim_usage_reap(reap->usage, spawn.pid, &status, NULL),
			 PLIM_OK);
	getrusage(RUSAGE_CHILDREN, &after);
	spawn_await_answer(&spawn);
	it = plim_usage_process(reap->usage);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(known(it, PLIM_FIELD_WAKEUPS),
			 after.ru_nvcsw - before.ru_nvcsw);
	assert_true(known(it, PLIM_FIELD_WAKEUPS) >=
		    spawn_truth(&spawn, "wakeups_least"));
	assert_int_equal(known(it, PLIM_FIELD_INVOLUNTARY),
			 after.ru_nivcsw - before.ru_nivcsw);
	assert_int_equal(known(it, PLIM_FIELD_FAULTS_MINOR),
			 after.ru_minflt - before.ru_minflt);
	assert_int_equal(known(it, PLIM_FIELD_FAULTS_MAJOR),
			 after.ru_majflt - before.ru_majflt);
	assert_int_equal(known(it, PLIM_FIELD_DISK_BLOCKS),
			 (after.ru_inblock - before.ru_inblock) +
			     (after.ru_oublock - before.ru_oublock));
	/* Each side is rounded to microseconds once. */
	expect_near(known(it, PLIM_FIELD_CPU_USER) +
			known(it, PLIM_FIELD_CPU_SYSTEM),
		    reap_ns(after.ru_utime, before.ru_utime) +
			reap_ns(after.ru_stime, before.ru_stime),
		    0, 4000);
	expect_near(known(it, PLIM_FIELD_CPU),
		    reap_ns(after.ru_utime, before.ru_utime) +
			reap_ns(after.ru_stime, before.ru_stime),
		    0, 4000);
	expect_method(it, PLIM_FIELD_WAKEUPS, PLIM_METHOD_WAIT4);
	assert_int_equal(plim_process_pid(it), spawn.pid);
	spawn.pid = 0;
}

/* What only a live process has. */
static void test_gone_figures(void **state)
{
	struct reap *reap = *state;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(plim_usage_reap(reap->usage, child, NULL, NULL),
			 PLIM_OK);
	expect_state(plim_usage_process(reap->usage), PLIM_FIELD_RESIDENT,
		     PLIM_STATE_GONE);
	expect_state(plim_usage_process(reap->usage), PLIM_FIELD_THREADS,
		     PLIM_STATE_GONE);
	expect_state(plim_usage_process(reap->usage), PLIM_FIELD_DESCRIPTORS,
		     PLIM_STATE_GONE);
	assert_int_equal(waitpid(child, NULL, WNOHANG), -1);
}

static void test_by_signal(void **state)
{
	struct reap *reap = *state;
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		child_bind();
		for (;;)
			pause();
	}
	kill(child, SIGKILL);
	assert_int_equal(plim_usage_reap(reap->usage, child, &status, NULL),
			 PLIM_OK);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* No child of ours: nothing is waited for, nothing is changed. */
static void test_no_child(void **state)
{
	struct reap *reap = *state;
	plim_error error = {0};
	int status = 4711;

	assert_int_equal(
	    plim_usage_reap(reap->usage, getppid(), &status, &error),
	    PLIM_ENOPROCESS);
	assert_int_equal(error.code, PLIM_ENOPROCESS);
	assert_int_equal(status, 4711);
	assert_int_equal(
	    plim_process_count(plim_usage_process(reap->usage), PLIM_FIELD_CPU)
		.state,
	    PLIM_STATE_UNREAD);
}

static volatile sig_atomic_t reap_signals;
static volatile pid_t reap_child;

static void reap_handler(int signal)
{
	(void)signal;
	if (++reap_signals == 3)
		kill(reap_child, SIGKILL);
}

/* Signals don't end the wait, the child's end does. */
static void test_interrupted(void **state)
{
	struct reap *reap = *state;
	struct sigaction action = {.sa_handler = reap_handler};
	struct sigaction old;
	struct itimerval often = {{0, 20000}, {0, 20000}};
	struct itimerval never = {{0, 0}, {0, 0}};
	int status = 4711;

	reap_signals = 0;
	reap_child = fork();
	if (reap_child == 0) {
		child_bind();
		for (;;)
			pause();
	}
	sigaction(SIGALRM, &action, &old);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(
	    plim_usage_reap(reap->usage, reap_child, &status, NULL), PLIM_OK);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	assert_true(reap_signals >= 3);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define REAP(test) \
	cmocka_unit_test_setup_teardown(test, reap_setup, reap_teardown)
	    REAP(test_grandchildren), REAP(test_gone_figures),
	    REAP(test_by_signal),     REAP(test_no_child),
	    REAP(test_interrupted),
	};

	return cmocka_run_group_tests_name("reaped children", tests, NULL,
					   NULL);
}
