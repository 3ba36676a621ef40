/*
 * test_kill_helper.c - the helper that reads command lines is killed, stopped
 * or reaped by others, at rest and at work.
 *
 * The next read works, no read takes longer than its deadline, nothing is
 * told that is not so, the end of the host or of its process is the end of
 * the helper, and the program that uses the library never gets to see it: no
 * SIGCHLD, nothing from waitpid(-1).
 */
#include "fault.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORD_SIZE   30000
#define DEADLINE_MS 300
#define KILL_MS	    4000

struct help {
	plim_host *host;
	plim_target *target;
	struct spawn spawn;
	struct fault_children children; /* without the helper */
	size_t descriptors;
};

static struct help help;
static char help_line[5 + 3 * (WORD_SIZE + 1)];
static volatile sig_atomic_t help_signals;

static void help_count(int number)
{
	(void)number;
	help_signals++;
}

static plim_host *help_open(void)
{
	plim_host_options options = {
	    .size = sizeof(options),
	    .command_line_ms = DEADLINE_MS,
	};
	plim_host *host = NULL;

	assert_int_equal(plim_host_open(&host, &options, NULL), PLIM_OK);
	return host;
}

static int help_setup(void **state)
{
	static char words[3][WORD_SIZE + 1];
	const char *argv[5] = {"idle"};
	struct sigaction action = {.sa_handler = help_count};

	(void)state;
	memset(&help, 0, sizeof(help));
	memcpy(help_line, "idle", 5);
	for (int i = 0; i < 3; i++) {
		memset(words[i], 'x' + i, WORD_SIZE);
		argv[i + 1] = words[i];
		memcpy(help_line + 5 + i * (WORD_SIZE + 1), words[i],
		       WORD_SIZE + 1);
	}
	spawn_start(&help.spawn, argv);
	help.children = fault_children();
	help.descriptors = fault_descriptors();
	help.host = help_open();
	help.target = open_target(help.host, help.spawn.pid);
	help_signals = 0;
	sigaction(SIGCHLD, &action, NULL);
	return 0;
}

static int help_teardown(void **state)
{
	(void)state;
	signal(SIGCHLD, SIG_DFL);
	plim_target_close(help.target);
	plim_host_close(help.host);
	spawn_end(&help.spawn);
	return 0;
}

/* Ends the host; nothing of it is left, and nothing was seen of it. */
static void help_settle(void)
{
	plim_target_close(help.target);
	plim_host_close(help.host);
	help.target = NULL;
	help.host = NULL;
	fault_expect_children(&help.children);
	assert_int_equal(fault_descriptors(), help.descriptors);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0); /* the workload */
	assert_int_equal(help_signals, 0);
}

/* A whole line at the next read, or the one after on a loaded machine. */
static void help_read(void)
{
	plim_text text = {0};

	for (int tries = 0; tries < 20; tries++) {
		assert_int_equal(
		    plim_target_command_line(help.target, &text, NULL),
		    PLIM_OK);
		if (text.state != PLIM_STATE_TIMEOUT)
			break;
	}
	expect_text(text, help_line, sizeof(help_line));
}

static pid_t help_pid(void)
{
	pid_t pid = fault_new_child(&help.children);

	assert_true(pid > 0);
	return pid;
}

static void test_killed_between(void **state)
{
	pid_t last = 0;

	(void)state;
	assert_int_equal(fault_new_child(&help.children), 0);
	for (int i = 0; i < 10; i++) {
		pid_t pid;

		help_read();
		pid = help_pid();
		assert_int_not_equal(pid, last);
		/* It serves more than one read. */
		help_read();
		assert_int_equal(help_pid(), pid);
		assert_int_equal(kill(pid, SIGKILL), 0);
		if (i % 2 == 0)
			child_sleep_ms(5);
		assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
		last = pid;
	}
	help_read();
	help_settle();
}

static void test_killed_at_last(void **state)
{
	(void)state;
	help_read();
	assert_int_equal(kill(help_pid(), SIGKILL), 0);
	child_sleep_ms(20);
	help_settle();
}

struct killer {
	pthread_t thread;
	atomic_int stop;
	atomic_uint kills;
};

/* Through a pidfd that was made while it was ours: never somebody else. */
static void killer_strike(struct killer *killer, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0)
		return;
	if (fault_new_child(&help.children) == pid &&
	    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0) == 0)
		atomic_fetch_add(&killer->kills, 1);
	close(pidfd);
}

static void *killer_run(void *user)
{
	struct killer *killer = user;

	while (!atomic_load(&killer->stop)) {
		pid_t pid = fault_new_child(&help.children);

		if (pid > 0)
			killer_strike(killer, pid);
		usleep(200);
	}
	return NULL;
}

/* What is read while it dies is whole, or it is missing and says why. */
static void test_killed_at_work(void **state)
{
	struct killer killer = {.stop = 0};
	uint64_t end = child_monotonic_ns() + KILL_MS * 1000000ull;
	unsigned whole = 0;
	unsigned missing = 0;

	(void)state;
	assert_int_equal(
	    pthread_create(&killer.thread, NULL, killer_run, &killer), 0);
	while (child_monotonic_ns() < end) {
		uint64_t begin = child_monotonic_ns();
		plim_text text = {0};
		int code = plim_target_command_line(help.target, &text, NULL);

		if (code != PLIM_OK || child_monotonic_ns() - begin >
					   (DEADLINE_MS + 2000) * 1000000ull)
			break;
		if (text.state == PLIM_STATE_KNOWN) {
			if (text.bytes.size != sizeof(help_line) ||
			    memcmp(text.bytes.data, help_line,
				   sizeof(help_line)) != 0)
				break;
			whole++;
		} else {
			if (text.method != PLIM_REASON_READ_FAILED &&
			    text.method != PLIM_REASON_DEADLINE)
				break;
			missing++;
		}
		if (waitpid(-1, NULL, WNOHANG) != 0)
			break;
	}
	atomic_store(&killer.stop, 1);
	pthread_join(killer.thread, NULL);
	print_message("%u kills, %u lines whole, %u missing\n",
		      atomic_load(&killer.kills), whole, missing);
	assert_true(child_monotonic_ns() >= end);
	assert_true(atomic_load(&killer.kills) > 10 && whole > 0);
	help_read();
	help_settle();
}

/* One that does not answer is given up at the deadline, and replaced. */
static void test_stopped(void **state)
{
	plim_text text = {0};
	uint64_t begin;
	uint64_t spent;
	pid_t pid;

	(void)state;
	help_read();
	pid = help_pid();
	assert_int_equal(kill(pid, SIGSTOP), 0);
	child_sleep_ms(20);
	begin = child_monotonic_ns();
	assert_int_equal(plim_target_command_line(help.target, &text, NULL),
			 PLIM_OK);
	spent = child_monotonic_ns() - begin;
	assert_int_equal(text.state, PLIM_STATE_TIMEOUT);
	assert_int_equal(text.bytes.size, 0);
	assert_true(spent >= DEADLINE_MS * 1000000ull);
	assert_true(spent < (DEADLINE_MS + 2000) * 1000000ull);
	assert_int_equal(fault_new_child(&help.children), 0);
	help_read();
	assert_int_not_equal(help_pid(), pid);
	/* And one that is stopped does not keep the host from closing. (That a
	 * child is stopped is told to every parent that has not asked for
	 * SA_NOCLDSTOP, whatever signal the child's end sends.) */
	assert_int_equal(kill(help_pid(), SIGSTOP), 0);
	child_sleep_ms(20);
	help_signals = 0;
	help_settle();
}

/* Somebody waits for every kind of child, and gets it. */
static void test_reaped_by_others(void **state)
{
	pid_t pid;

	(void)state;
	for (int i = 0; i < 3; i++) {
		help_read();
		pid = help_pid();
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, __WALL), pid);
	}
	help_read();
	pid = help_pid();
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
	help_settle();
}

static void *help_thread(void *user)
{
	(void)user;
	help_read();
	return NULL;
}

/* The thread that it was started by ends. */
static void test_thread_ends(void **state)
{
	pthread_t thread;
	pid_t pid;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, help_thread, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pid = help_pid();
	help_read();
	assert_int_equal(help_pid(), pid);
	help_settle();
}

/* A process that ends without closing its host leaves no helper. */
static void help_orphan(int report)
{
	struct fault_children none;
	pid_t pid;

	child_bind();
	help.host = help_open();
	none = fault_children();
	help.target = open_target(help.host, help.spawn.pid);
	help_read();
	pid = fault_new_child(&none);
	if (write(report, &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
	for (;;)
		pause();
}

static void test_process_killed(void **state)
{
	struct pollfd end = {.events = POLLIN};
	int report[2];
	pid_t child;
	pid_t helper = 0;

	(void)state;
	assert_int_equal(pipe(report), 0);
	fflush(stdout);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		help_orphan(report[1]);
	assert_int_equal(read(report[0], &helper, sizeof(helper)),
			 sizeof(helper));
	close(report[0]);
	close(report[1]);
	assert_true(helper > 0);
	end.fd = (int)syscall(SYS_pidfd_open, helper, 0);
	assert_true(end.fd >= 0);
	assert_int_equal(poll(&end, 1, 0), 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(poll(&end, 1, 5000), 1);
	close(end.fd);
	help_signals = 0;
	help_settle();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define HELP(test) \
	cmocka_unit_test_setup_teardown(test, help_setup, help_teardown)
	    HELP(test_killed_between),	 HELP(test_killed_at_last),
	    HELP(test_killed_at_work),	 HELP(test_stopped),
	    HELP(test_reaped_by_others), HELP(test_thread_ends),
	    HELP(test_process_killed),
	};

	return cmocka_run_group_tests_name("kill helper", tests, NULL, NULL);
}
