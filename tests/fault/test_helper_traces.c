/*
 * test_helper_traces.c - what a program that reads command lines gets to see
 * of the helper that reads them: nothing.
 *
 * When a read is over there is no child, no signal, no descriptor and no byte
 * of it, whatever else the program does with its children, its threads and its
 * signals meanwhile.
 */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_MS 2000

static struct spawn workload;
static struct reader reader;

static int traces_setup(void **state)
{
	(void)state;
	reader_spawn(&workload);
	return 0;
}

static int traces_teardown(void **state)
{
	(void)state;
	spawn_end(&workload);
	return 0;
}

static void nothing_stays(void *user)
{
	size_t live;

	(void)user;
	reader_open(&reader, workload.pid, DEADLINE_MS);
	reader_expect_quiet(&reader);
	reader_expect(&reader);
	live = reader.memory.live;
	for (int i = 0; i < 200; i++) {
		reader_expect(&reader);
		reader_expect_quiet(&reader);
		assert_int_equal(reader.memory.live, live);
	}
	reader_close(&reader);
}

static void test_nothing_stays(void **state)
{
	(void)state;
	child_run(nothing_stays, NULL);
}

/* Ends with this status when the other end of the pipe is closed. */
static pid_t mortal_start(int gate[2], int status)
{
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(gate[1]);
		_exit(read(gate[0], &byte, 1) == 0 ? status : 1);
	}
	close(gate[0]);
	return pid;
}

/* A child that has ended is kept for who started it, and is told once. */
static void own_children(void *user)
{
	siginfo_t about;
	int status = 0;
	int gate[2];
	pid_t child;

	(void)user;
	reader_open(&reader, workload.pid, DEADLINE_MS);
	child = mortal_start(gate, 7);
	for (int i = 0; i < 20; i++)
		reader_expect(&reader);
	assert_int_equal(waitpid(-1, &status, __WALL | WNOHANG), 0);
	assert_int_equal(reader_signals, 0);
	close(gate[1]);
	while (waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT) != 0)
		assert_int_equal(errno, EINTR);
	for (int i = 0; i < 20; i++)
		reader_expect(&reader);
	assert_int_equal(reader_signals, 1);
	assert_int_equal(waitpid(-1, &status, __WALL | WNOHANG), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	/* Who wants to hear nothing of children is not heard of, either. */
	reader_count_signals(SA_NOCLDWAIT);
	for (int i = 0; i < 20; i++)
		reader_expect(&reader);
	reader_expect_quiet(&reader);
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 20; i++)
		reader_expect(&reader);
	reader_expect_quiet(&reader);
	reader_close(&reader);
}

static void test_own_children(void **state)
{
	(void)state;
	child_run(own_children, NULL);
}

/* Another thread that waits for any child, again and again. */
struct waiter {
	pthread_t thread;
	int options;
	atomic_int stop;
	atomic_uint found;
	atomic_uint calls;
	pid_t last;
};

static void *waiter_run(void *user)
{
	struct waiter *waiter = user;

	while (!atomic_load(&waiter->stop)) {
		pid_t pid = waitpid(-1, NULL, waiter->options);

		atomic_fetch_add(&waiter->calls, 1);
		if (pid <= 0)
			continue;
		waiter->last = pid;
		atomic_fetch_add(&waiter->found, 1);
	}
	return NULL;
}

static void waiter_start(struct waiter *waiter, int options)
{
	memset(waiter, 0, sizeof(*waiter));
	waiter->options = options;
	assert_int_equal(
	    pthread_create(&waiter->thread, NULL, waiter_run, waiter), 0);
}

static void waiter_end(struct waiter *waiter)
{
	atomic_store(&waiter->stop, 1);
	assert_int_equal(pthread_join(waiter->thread, NULL), 0);
}

static void waited_for(void *user)
{
	struct waiter waiter;
	int gate[2];
	pid_t child;

	(void)user;
	reader_open(&reader, workload.pid, DEADLINE_MS);
	/* Without a child of its own it never waits, and finds none. */
	waiter_start(&waiter, 0);
	for (int i = 0; i < 500; i++)
		reader_expect(&reader);
	waiter_end(&waiter);
	assert_int_equal(atomic_load(&waiter.found), 0);
	assert_true(atomic_load(&waiter.calls) > 500);
	reader_expect_quiet(&reader);
	/* With one it waits all the time, and finds that one. */
	child = mortal_start(gate, 0);
	waiter_start(&waiter, 0);
	for (int i = 0; i < 200; i++)
		reader_expect(&reader);
	assert_int_equal(atomic_load(&waiter.found), 0);
	close(gate[1]);
	while (atomic_load(&waiter.found) == 0)
		child_sleep_ms(1);
	for (int i = 0; i < 50; i++)
		reader_expect(&reader);
	waiter_end(&waiter);
	assert_int_equal(atomic_load(&waiter.found), 1);
	assert_int_equal(waiter.last, child);
	reader_signals = 0;
	reader_expect_quiet(&reader);
	/* Who asks for children of every kind may get one, and spoils nothing.
	 */
	waiter_start(&waiter, __WALL);
	for (int i = 0; i < 200; i++)
		reader_expect(&reader);
	waiter_end(&waiter);
	reader_expect_quiet(&reader);
	reader_close(&reader);
}

static void test_waited_for(void **state)
{
	(void)state;
	child_run(waited_for, NULL);
}

static void *thread_read(void *user)
{
	plim_text text = {0};
	int *is_right = user;

	for (int tries = 0; tries < 20 && !*is_right; tries++)
		*is_right = plim_target_command_line(reader.target, &text,
						     NULL) == PLIM_OK &&
			    reader_is_line(&reader, &text);
	return NULL;
}

/* The thread that reads ends. */
static void thread_ends(void *user)
{
	(void)user;
	reader_open(&reader, workload.pid, DEADLINE_MS);
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		int is_right = 0;

		assert_int_equal(
		    pthread_create(&thread, NULL, thread_read, &is_right), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
		assert_true(is_right);
		reader_expect_quiet(&reader);
		reader_expect(&reader);
		reader_expect_quiet(&reader);
	}
	reader_close(&reader);
}

static void test_thread_ends(void **state)
{
	(void)state;
	child_run(thread_ends, NULL);
}

/* In a forked child: reads with what it got from its parent. */
static void forked_run(void)
{
	int is_right = 1;

	child_bind();
	for (int i = 0; i < 50 && is_right; i++) {
		is_right = 0;
		thread_read(&is_right);
		is_right = is_right && fault_children().count == 0 &&
			   waitpid(-1, NULL, __WALL | WNOHANG) == -1 &&
			   errno == ECHILD && reader_signals == 0 &&
			   fault_descriptors() == reader.descriptors;
	}
	_exit(is_right ? 0 : 1);
}

/* After a fork both read, at the same time. */
static void forked(void *user)
{
	(void)user;
	reader_open(&reader, workload.pid, DEADLINE_MS);
	reader_expect(&reader);
	for (int i = 0; i < 5; i++) {
		int status = -1;
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0)
			forked_run();
		for (int reads = 0; reads < 50; reads++)
			reader_expect(&reader);
		assert_int_equal(child_wait(child, &status, 20000), 0);
		assert_int_equal(status, 0);
		/* That of the child, and no other. */
		assert_int_equal(reader_signals, 1);
		reader_signals = 0;
		reader_expect_quiet(&reader);
	}
	reader_close(&reader);
}

static void test_forked(void **state)
{
	(void)state;
	child_run(forked, NULL);
}

/* A signal to everybody in our group, as the terminal sends it, is handled in
 * this process: the helper shares our memory, so a handler that ran there
 * would run once too often, under another pid and on another stack. */
static pid_t signal_owner;
static atomic_uint signals_here;
static atomic_uint signals_elsewhere;
static atomic_int signals_stop;

static void signal_note(int number)
{
	(void)number;
	if (getpid() == signal_owner)
		atomic_fetch_add(&signals_here, 1);
	else
		atomic_fetch_add(&signals_elsewhere, 1);
}

static void *signals_run(void *user)
{
	(void)user;
	while (!atomic_load(&signals_stop))
		kill(0, SIGUSR1);
	return NULL;
}

static void group_signals(void *user)
{
	struct sigaction action = {
	    .sa_handler = signal_note,
	    .sa_flags = SA_RESTART,
	};
	pthread_t thread;

	(void)user;
	assert_int_equal(setpgid(0, 0), 0);
	signal_owner = getpid();
	reader_open(&reader, workload.pid, DEADLINE_MS);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, signals_run, NULL), 0);
	for (int i = 0; i < 200; i++)
		reader_expect(&reader);
	atomic_store(&signals_stop, 1);
	pthread_join(thread, NULL);
	assert_true(atomic_load(&signals_here) > 0);
	assert_int_equal(atomic_load(&signals_elsewhere), 0);
	reader_expect_quiet(&reader);
	reader_close(&reader);
}

static void test_group_signals(void **state)
{
	(void)state;
	child_run(group_signals, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing_stays),
	    cmocka_unit_test(test_own_children),
	    cmocka_unit_test(test_waited_for),
	    cmocka_unit_test(test_thread_ends),
	    cmocka_unit_test(test_forked),
	    cmocka_unit_test(test_group_signals),
	};

	return cmocka_run_group_tests_name("helper traces", tests, traces_setup,
					   traces_teardown);
}
