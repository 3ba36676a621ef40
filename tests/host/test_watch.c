/*
 * test_watch.c - CPU time by clocks, of the one that was remembered and of
 * nobody else.
 *
 * The truth is the process's own clock, read by the test before and after the
 * library reads it. Each proof is forced in turn: a held pidfd, a held
 * directory, the inode of a fresh pidfd, the start tick; and each is asked
 * about a pid that has another owner by then, also within one start tick.
 */
#include "common.h"

#include "ns.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WATCH_TRIES  300
#define WATCH_FILLER 16 /* a quarter of 64 descriptors */

static plim_watch *new_watch(plim_host *host)
{
	plim_watch *watch = NULL;

	assert_int_equal(plim_watch_new(&watch, host, NULL), PLIM_OK);
	assert_int_equal(plim_watch_size(watch), 0);
	return watch;
}

static void refresh(plim_watch *watch)
{
	assert_int_equal(plim_watch_refresh(watch, NULL), PLIM_OK);
}

/* Where a pid stands; the test fails if it does not. */
static size_t place_of(const plim_watch *watch, pid_t pid)
{
	for (size_t i = 0; i < plim_watch_size(watch); i++)
		if (plim_watch_identity(watch, i).pid == pid)
			return i;
	fail_msg("process %d is not watched", (int)pid);
	return 0;
}

static int stands(const plim_watch *watch, pid_t pid)
{
	for (size_t i = 0; i < plim_watch_size(watch); i++)
		if (plim_watch_identity(watch, i).pid == pid)
			return 1;
	return 0;
}

static plim_count cpu_of(const plim_watch *watch, pid_t pid)
{
	return plim_watch_cpu(watch, place_of(watch, pid));
}

static void add_pid(plim_watch *watch, plim_host *host, pid_t pid)
{
	plim_target *target = open_target(host, pid);
	plim_identity identity = plim_target_identity(target);

	plim_target_close(target);
	assert_int_equal(plim_watch_add(watch, &identity, NULL), PLIM_OK);
}

static uint64_t clock_of(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static pid_t fork_as(pid_t pid, int busy)
{
	pid_t child = pid > 0 ? ns_fork_as(pid) : fork();

	if (child == 0) {
		child_bind();
		while (busy)
			;
		for (;;)
			pause();
	}
	return child;
}

static void end_child(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(child_wait(pid, &status, 5000), 0);
}

/* The figure lies between two readings of the clock itself. */
static void expect_clock(plim_watch *watch, pid_t pid)
{
	uint64_t before = clock_of(pid);
	uint64_t after;
	plim_count cpu;

	refresh(watch);
	after = clock_of(pid);
	cpu = cpu_of(watch, pid);
	assert_int_equal(cpu.state, PLIM_STATE_KNOWN);
	assert_int_equal(cpu.method, PLIM_METHOD_PROCESS_CPU_CLOCK);
	assert_in_range(cpu.value, before, after);
}

/* Nothing may be held any more, so that the proof is made anew each time. */
static void fill_up(plim_watch *watch, plim_host *host, pid_t *pids)
{
	for (int i = 0; i < WATCH_FILLER; i++) {
		pids[i] = fork_as(0, 0);
		assert_true(pids[i] > 0);
		add_pid(watch, host, pids[i]);
	}
}

struct watched {
	uint32_t flags;
	int anew; /* not held */
	int same_tick;
};

static pid_t watched_reuse(plim_host *host, plim_watch *watch, int same_tick)
{
	for (int i = 0; i < WATCH_TRIES; i++) {
		pid_t pid = fork_as(ns_fresh_pid(), 1);
		uint64_t ticks;

		if (pid < 0 && errno == EEXIST)
			continue;
		assert_true(pid > 0);
		ticks = ns_start_ticks(pid);
		add_pid(watch, host, pid);
		refresh(watch);
		assert_int_equal(cpu_of(watch, pid).state, PLIM_STATE_KNOWN);
		if (!same_tick)
			child_sleep_ms(25);
		end_child(pid);
		assert_int_equal(fork_as(pid, 1), pid);
		if ((ns_start_ticks(pid) == ticks) == same_tick)
			return pid;
		end_child(pid);
		plim_watch_remove(watch, pid);
	}
	SKIP_BECAUSE("this machine is too slow to use a pid twice within one "
		     "tick");
	return 0;
}

static void expect_ended(plim_watch *watch, pid_t pid)
{
	size_t place = place_of(watch, pid);
	plim_count cpu = plim_watch_cpu(watch, place);
	plim_real percent = plim_watch_percent(watch, place);

	assert_int_equal(cpu.state, PLIM_STATE_GONE);
	assert_int_equal(cpu.value, 0);
	assert_int_equal(percent.state, PLIM_STATE_GONE);
	assert_true(percent.value == 0);
}

static void watched_body(void *user)
{
	const struct watched *watched = user;
	struct rlimit few = {64, 64};
	plim_host *host;
	plim_watch *watch;
	pid_t pids[WATCH_FILLER];
	pid_t pid;

	if (watched->anew)
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	host = open_host(watched->flags);
	watch = new_watch(host);
	if (watched->anew)
		fill_up(watch, host, pids);
	pid = watched_reuse(host, watch, watched->same_tick);
	/* The newcomer is there and spins, and yields nothing. */
	for (int i = 0; i < 3; i++) {
		refresh(watch);
		expect_ended(watch, pid);
		child_sleep_ms(5);
	}
	assert_int_equal(plim_watch_cost(watch).vanished, 0);
	/* Asked for himself he takes the place, with a history of his own. */
	add_pid(watch, host, pid);
	expect_clock(watch, pid);
	assert_int_equal(plim_watch_percent(watch, place_of(watch, pid)).state,
			 PLIM_STATE_PENDING);
	expect_clock(watch, pid);
	assert_int_equal(plim_watch_percent(watch, place_of(watch, pid)).state,
			 PLIM_STATE_KNOWN);
	plim_watch_free(watch);
	plim_host_close(host);
}

static void watched_run(uint32_t flags, int anew, int same_tick)
{
	struct watched watched = {flags, anew, same_tick};

	if (kernel_version() < 6009 && same_tick && (anew || flags == 0))
		SKIP_BECAUSE("this kernel has no pidfd inodes (Linux 6.9)");
	ns_run(NULL, watched_body, &watched);
}

static void test_held(void **state)
{
	(void)state;
	watched_run(0, 0, 0);
	watched_run(0, 0, 1);
}

static void test_held_without_inode(void **state)
{
	(void)state;
	watched_run(PLIM_HOST_NO_INODE, 0, 0);
	watched_run(PLIM_HOST_NO_INODE, 0, 1);
}

static void test_held_directory(void **state)
{
	(void)state;
	watched_run(PLIM_HOST_NO_PIDFD, 0, 0);
	watched_run(PLIM_HOST_NO_PIDFD, 0, 1);
}

static void test_fresh_pidfd(void **state)
{
	(void)state;
	watched_run(0, 1, 0);
	watched_run(0, 1, 1);
}

static void test_ticks(void **state)
{
	(void)state;
	watched_run(PLIM_HOST_NO_INODE, 1, 0);
	watched_run(PLIM_HOST_NO_PIDFD, 1, 0);
}

/* A zombie's number is still its own: what it used is told until it was
 * waited for. */
static void test_zombie(void **state)
{
	plim_host *host = open_host(0);
	plim_watch *watch = new_watch(host);
	pid_t pid = fork_as(0, 1);
	uint64_t cpu;
	siginfo_t info;

	(void)state;
	add_pid(watch, host, pid);
	expect_clock(watch, pid);
	child_sleep_ms(20);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	expect_clock(watch, pid);
	cpu = cpu_of(watch, pid).value;
	refresh(watch);
	assert_int_equal(cpu_of(watch, pid).value, cpu);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	refresh(watch);
	expect_ended(watch, pid);
	assert_int_equal(plim_watch_cost(watch).vanished, 1);
	assert_int_equal(plim_watch_cost(watch).read, 0);
	plim_watch_free(watch);
	plim_host_close(host);
}

static void test_percent(void **state)
{
	struct spawn spin;
	plim_host *host = open_host(0);
	plim_watch *watch = new_watch(host);
	plim_real percent;
	uint64_t begin, elapsed;

	(void)state;
	spawn_start(&spin, (const char *const[]){"spin", NULL});
	add_pid(watch, host, spin.pid);
	assert_int_equal(cpu_of(watch, spin.pid).state, PLIM_STATE_UNREAD);
	assert_int_equal(plim_watch_percent(watch, 0).state, PLIM_STATE_UNREAD);
	refresh(watch);
	assert_int_equal(plim_watch_percent(watch, 0).state,
			 PLIM_STATE_PENDING);
	begin = child_monotonic_ns();
	spawn_ask(&spin, "spin 200");
	refresh(watch);
	elapsed = child_monotonic_ns() - begin;
	percent = plim_watch_percent(watch, 0);
	assert_int_equal(percent.state, PLIM_STATE_KNOWN);
	/* 200 ms of CPU in the time that it took. */
	expect_near((uint64_t)(percent.value * (double)elapsed / 1e8), 200, 3,
		    2);
	spawn_end(&spin);
	plim_watch_free(watch);
	plim_host_close(host);
}

/* What is the same stays with its sample; what is not there goes. */
static void test_follow(void **state)
{
	plim_host *host = open_host(0);
	plim_watch *watch = new_watch(host);
	plim_snapshot *snapshot = new_snapshot(host);
	pid_t stays = fork_as(0, 0);
	pid_t goes = fork_as(0, 0);
	pid_t comes;

	(void)state;
	take(snapshot);
	assert_int_equal(plim_watch_follow(watch, snapshot, NULL), PLIM_OK);
	assert_true(stands(watch, stays) && stands(watch, goes));
	refresh(watch);
	refresh(watch);
	end_child(goes);
	comes = fork_as(0, 0);
	refresh(watch);
	expect_ended(watch, goes);
	take(snapshot);
	assert_int_equal(plim_watch_follow(watch, snapshot, NULL), PLIM_OK);
	assert_false(stands(watch, goes));
	assert_int_equal(
	    plim_watch_percent(watch, place_of(watch, stays)).state,
	    PLIM_STATE_KNOWN);
	assert_int_equal(cpu_of(watch, comes).state, PLIM_STATE_UNREAD);
	expect_clock(watch, comes);
	for (size_t i = 1; i < plim_watch_size(watch); i++)
		assert_true(plim_watch_identity(watch, i - 1).pid <
			    plim_watch_identity(watch, i).pid);
	end_child(stays);
	end_child(comes);
	plim_snapshot_free(snapshot);
	plim_watch_free(watch);
	plim_host_close(host);
}

static void test_refused(void **state)
{
	plim_host *host = open_host(0);
	plim_watch *watch = new_watch(host);
	plim_target *target = open_target(host, getpid());
	plim_identity me = plim_target_identity(target);
	plim_identity other = me;
	plim_identity weak = {.pid = getpid()};
	plim_identity dead = me;

	(void)state;
	other.inode++;
	other.start_ticks--;
	dead.pid = fork_as(0, 0);
	end_child(dead.pid);
	assert_int_equal(plim_watch_add(watch, &other, NULL), PLIM_EREPLACED);
	other.has &= ~(uint32_t)PLIM_IDENTITY_INODE;
	assert_int_equal(plim_watch_add(watch, &other, NULL), PLIM_EREPLACED);
	assert_int_equal(plim_watch_add(watch, &weak, NULL), PLIM_ECANNOTTELL);
	assert_int_equal(plim_watch_add(watch, &dead, NULL), PLIM_ENOPROCESS);
	assert_int_equal(plim_watch_add(watch, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_watch_add(NULL, &me, NULL), PLIM_EINVAL);
	assert_int_equal(plim_watch_refresh(NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_watch_follow(watch, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_watch_size(watch), 0);
	/* By its start tick alone it is found, and twice is once. */
	me.has &= ~(uint32_t)PLIM_IDENTITY_INODE;
	assert_int_equal(plim_watch_add(watch, &me, NULL), PLIM_OK);
	assert_int_equal(plim_watch_add(watch, &me, NULL), PLIM_OK);
	assert_int_equal(plim_watch_size(watch), 1);
	plim_watch_remove(watch, 1);
	assert_int_equal(plim_watch_size(watch), 1);
	plim_watch_remove(watch, me.pid);
	assert_int_equal(plim_watch_size(watch), 0);
	plim_target_close(target);
	plim_watch_free(watch);
	plim_host_close(host);
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++) {
		errno = 0;
		count += dup2(fd, fd) == fd;
	}
	return count;
}

/* A call for each clock, one for all held, and two for the bill; descriptors
 * go back when they are not needed. */
static void test_price(void **state)
{
	plim_host *host = open_host(0);
	plim_watch *watch = new_watch(host);
	unsigned before = open_descriptors();
	pid_t pids[3];

	(void)state;
	if (kernel_version() < 5003)
		SKIP_BECAUSE("this kernel has no pidfds (Linux 5.3)");
	for (int i = 0; i < 3; i++) {
		pids[i] = fork_as(0, 0);
		add_pid(watch, host, pids[i]);
	}
	assert_int_equal(open_descriptors(), before + 3);
	refresh(watch);
	assert_int_equal(plim_watch_cost(watch).system_calls, 3 + 1 + 2);
	assert_int_equal(plim_watch_cost(watch).present, 3);
	assert_int_equal(plim_watch_cost(watch).read, 3);
	end_child(pids[0]);
	refresh(watch);
	assert_int_equal(open_descriptors(), before + 2);
	plim_watch_remove(watch, pids[1]);
	assert_int_equal(open_descriptors(), before + 1);
	plim_watch_free(watch);
	assert_int_equal(open_descriptors(), before);
	end_child(pids[1]);
	end_child(pids[2]);
	plim_host_close(host);
}

/* No descriptor is free while it follows: then it is as it was. */
static void starved_body(void *user)
{
	plim_host *host = open_host(0);
	plim_watch *watch = new_watch(host);
	plim_snapshot *snapshot = new_snapshot(host);
	struct rlimit limit;
	plim_error error;
	pid_t first = fork_as(0, 0);
	pid_t second = fork_as(0, 0);
	size_t watched;

	(void)user;
	add_pid(watch, host, first);
	refresh(watch);
	take(snapshot);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = open_descriptors() + 1; /* one can be opened */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(plim_watch_follow(watch, snapshot, &error),
			 PLIM_ESYSTEM);
	assert_int_equal(error.system, EMFILE);
	assert_int_equal(plim_watch_size(watch), 1);
	assert_int_equal(open_descriptors(), limit.rlim_cur - 1);
	expect_clock(watch, first);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(plim_watch_follow(watch, snapshot, NULL), PLIM_OK);
	watched = plim_watch_size(watch);
	assert_true(watched > 2);
	expect_clock(watch, second);
	end_child(first);
	end_child(second);
	plim_snapshot_free(snapshot);
	plim_watch_free(watch);
	plim_host_close(host);
}

static void test_starved(void **state)
{
	(void)state;
	child_run(starved_body, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_held),
	    cmocka_unit_test(test_held_without_inode),
	    cmocka_unit_test(test_held_directory),
	    cmocka_unit_test(test_fresh_pidfd),
	    cmocka_unit_test(test_ticks),
	    cmocka_unit_test(test_zombie),
	    cmocka_unit_test(test_percent),
	    cmocka_unit_test(test_follow),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_price),
	    cmocka_unit_test(test_starved),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
