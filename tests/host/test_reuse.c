/*
 * test_reuse.c - a pid that is used again, really, in a pid namespace of its
 * own; also so fast that both owners share a start tick. One ended and one
 * started, nothing is carried over, and no signal reaches the newcomer.
 *
 * Within one tick the rung of the start tick cannot tell the two apart by
 * what is written down; a target that was held since before still can, since
 * its directory belongs to the dead one. Both are asserted.
 */
#include "common.h"

#include "ns.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REUSE_TRIES 300

struct reuse {
	uint32_t flags;
	int same_tick;
	plim_host *host;
	plim_target *target;
	plim_usage *usage;
	plim_snapshot *first;
	plim_snapshot *last;
	pid_t pid; /* the newcomer's, and the dead one's */
};

static pid_t reuse_fork(pid_t pid, int busy)
{
	pid_t child = ns_fork_as(pid);

	if (child == 0) {
		child_bind();
		while (busy)
			;
		for (;;)
			pause();
	}
	return child;
}

static void reuse_end(pid_t pid)
{
	int status;

	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(child_wait(pid, &status, 5000), 0);
}

/* The old one, measured, ended and reaped; then the new one. 1 if their ticks
 * are as wanted, else it is all undone. */
static int reuse_try(struct reuse *reuse)
{
	uint64_t old_ticks;

	reuse->pid = reuse_fork(ns_fresh_pid(), 1);
	if (reuse->pid < 0 && errno == EEXIST)
		return 0;
	assert_true(reuse->pid > 0);
	old_ticks = ns_start_ticks(reuse->pid);
	reuse->target = open_target(reuse->host, reuse->pid);
	measure(reuse->usage, reuse->target);
	take(reuse->first);
	if (!reuse->same_tick)
		child_sleep_ms(25);
	reuse_end(reuse->pid);
	assert_int_equal(reuse_fork(reuse->pid, 0), reuse->pid);
	if ((ns_start_ticks(reuse->pid) == old_ticks) == reuse->same_tick)
		return 1;
	reuse_end(reuse->pid);
	plim_target_close(reuse->target);
	reuse->target = NULL;
	return 0;
}

static int reuse_alive(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == 0;
}

/* The held target: it has been replaced, on every rung and at any speed. */
static void reuse_expect_held(struct reuse *reuse)
{
	const plim_process *it = plim_usage_process(reuse->usage);
	uint64_t cpu = known(it, PLIM_FIELD_CPU);
	uint64_t stamp = plim_process_stamp(it).monotonic.ns;
	plim_text line = {0};
	int code;

	expect_fate(reuse->target, PLIM_FATE_REPLACED, 0, 0);
	assert_int_equal(
	    plim_usage_refresh(reuse->usage, reuse->target, NULL, NULL),
	    PLIM_EREPLACED);
	it = plim_usage_process(reuse->usage);
	assert_int_equal(known(it, PLIM_FIELD_CPU), cpu);
	assert_int_equal(plim_process_stamp(it).monotonic.ns, stamp);
	assert_int_equal(plim_target_command_line(reuse->target, &line, NULL),
			 PLIM_OK);
	assert_int_equal(line.state, PLIM_STATE_GONE);
	assert_int_equal(line.bytes.size, 0);
	code = plim_target_signal(reuse->target, SIGKILL, NULL);
	assert_int_equal(code, reuse->flags & PLIM_HOST_NO_PIDFD
				   ? PLIM_EUNSUPPORTED
				   : PLIM_ENOPROCESS);
	child_sleep_ms(2);
	assert_true(reuse_alive(reuse->pid));
}

struct reuse_events {
	pid_t pid;
	int order[4];
	int count;
	const plim_process *ended;
	const plim_process *started;
};

static int reuse_event(int event, const plim_process *first,
		       const plim_process *last, void *user)
{
	struct reuse_events *events = user;
	const plim_process *one = first != NULL ? first : last;

	if (plim_process_pid(one) != events->pid)
		return 0;
	assert_true(events->count < 4);
	events->order[events->count++] = event;
	if (event == PLIM_EVENT_ENDED) {
		assert_null(last);
		events->ended = first;
	}
	if (event == PLIM_EVENT_STARTED) {
		assert_null(first);
		events->started = last;
	}
	return 0;
}

/* Two rounds: one ended, one started, no figure of one in the other. */
static void reuse_expect_rounds(struct reuse *reuse)
{
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &all,
	    .previous = reuse->first,
	};
	struct reuse_events events = {.pid = reuse->pid};
	plim_interval interval;
	const plim_process *old;
	const plim_process *new;

	assert_int_equal(plim_snapshot_take(reuse->last, &options, NULL),
			 PLIM_OK);
	old = plim_snapshot_find(reuse->first, reuse->pid);
	new = plim_snapshot_find(reuse->last, reuse->pid);
	assert_non_null(old);
	assert_non_null(new);
	assert_int_equal(plim_snapshot_compare(reuse->first, reuse->last,
					       reuse_event, &events),
			 0);
	if (reuse->same_tick && reuse->flags != 0) {
		/* All that is written down of the two is equal. */
		plim_identity a = plim_process_identity(old);
		plim_identity b = plim_process_identity(new);

		assert_int_equal(plim_identity_rung(&a), PLIM_RUNG_START);
		assert_int_equal(a.start_ticks, b.start_ticks);
		return;
	}
	assert_int_equal(events.count, 2);
	assert_int_equal(events.order[0], PLIM_EVENT_ENDED);
	assert_int_equal(events.order[1], PLIM_EVENT_STARTED);
	assert_ptr_equal(events.ended, old);
	assert_ptr_equal(events.started, new);
	assert_int_equal(plim_process_change(old, new, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNLIKE);
	assert_int_equal(plim_process_rate(old, new, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNLIKE);
	assert_int_equal(plim_process_cpu_percent(old, new).state,
			 PLIM_STATE_UNLIKE);
	assert_int_equal(plim_process_interval(old, new, &interval, NULL),
			 PLIM_EUNLIKE);
}

/* What was written down of the dead one opens nothing of the newcomer's. */
static void reuse_expect_recorded(struct reuse *reuse)
{
	plim_identity old = plim_target_identity(reuse->target);
	plim_identity found;
	plim_target *target = NULL;
	int code = plim_target_open_identity(&target, reuse->host, &old, NULL);

	if (!reuse->same_tick || reuse->flags == 0) {
		assert_int_equal(code, PLIM_EREPLACED);
		assert_null(target);
		return;
	}
	/* Here the written proof does not suffice; it says on which rung. */
	assert_int_equal(code, PLIM_OK);
	found = plim_target_identity(target);
	assert_int_equal(plim_identity_rung(&found), PLIM_RUNG_START);
	plim_target_close(target);
}

static void reuse_body(void *user)
{
	struct reuse *reuse = user;
	int tries = 0;

	if (kernel_version() < 6009 && reuse->flags == 0 && reuse->same_tick)
		SKIP_BECAUSE("this kernel has no pidfd inodes (Linux 6.9)");
	reuse->host = open_host(reuse->flags);
	reuse->usage = new_usage(reuse->host);
	reuse->first = new_snapshot(reuse->host);
	reuse->last = new_snapshot(reuse->host);
	while (!reuse_try(reuse))
		if (++tries == REUSE_TRIES)
			SKIP_BECAUSE("this machine is too slow to use a pid "
				     "twice within one tick");
	reuse_expect_held(reuse);
	reuse_expect_rounds(reuse);
	reuse_expect_recorded(reuse);
	reuse_end(reuse->pid);
	expect_fate(reuse->target, PLIM_FATE_GONE, 0, 0);
	plim_target_close(reuse->target);
	plim_snapshot_free(reuse->first);
	plim_snapshot_free(reuse->last);
	plim_usage_free(reuse->usage);
	plim_host_close(reuse->host);
}

static void reuse_run(uint32_t flags, int same_tick)
{
	struct reuse reuse = {.flags = flags, .same_tick = same_tick};

	ns_run(NULL, reuse_body, &reuse);
}

static void test_inode(void **state)
{
	(void)state;
	reuse_run(0, 0);
}

static void test_inode_same_tick(void **state)
{
	(void)state;
	reuse_run(0, 1);
}

static void test_start_tick(void **state)
{
	(void)state;
	reuse_run(PLIM_HOST_NO_INODE, 0);
}

static void test_start_tick_same_tick(void **state)
{
	(void)state;
	reuse_run(PLIM_HOST_NO_INODE, 1);
}

static void test_no_pidfd(void **state)
{
	(void)state;
	reuse_run(PLIM_HOST_NO_PIDFD, 0);
}

static void test_no_pidfd_same_tick(void **state)
{
	(void)state;
	reuse_run(PLIM_HOST_NO_PIDFD, 1);
}

/* The same pid over and over: never taken for one process. */
static void reuse_many(void *user)
{
	plim_host *host = open_host(0);
	plim_identity before = {0};
	int told = 0;

	(void)user;
	for (int i = 0; i < 50; i++) {
		pid_t pid = reuse_fork(1500, 0);
		plim_target *target = open_target(host, pid);
		plim_identity now = plim_target_identity(target);

		if (i > 0)
			told += plim_identity_compare(&before, &now) ==
				PLIM_DIFFERENT;
		before = now;
		plim_target_close(target);
		reuse_end(pid);
	}
	assert_int_equal(told, 49);
	plim_host_close(host);
}

static void test_many_times(void **state)
{
	(void)state;
	if (kernel_version() < 6009)
		SKIP_BECAUSE("this kernel has no pidfd inodes (Linux 6.9)");
	ns_run(NULL, reuse_many, NULL);
}

/* Pid 2 is the parent of the kernel's threads, but not in a namespace. */
static void reuse_pid_two(void *user)
{
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	const plim_process *it;

	(void)user;
	assert_int_equal(getpid(), 2);
	take(snapshot);
	it = plim_snapshot_find(snapshot, 2);
	assert_non_null(it);
	assert_int_equal(known(it, PLIM_FIELD_KERNEL_THREAD), 0);
	known(it, PLIM_FIELD_RESIDENT);
	assert_int_equal(plim_host_count(host, PLIM_HOST_OWN_PID).value, 2);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

static void test_pid_two(void **state)
{
	(void)state;
	ns_run(NULL, reuse_pid_two, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_inode),
	    cmocka_unit_test(test_inode_same_tick),
	    cmocka_unit_test(test_start_tick),
	    cmocka_unit_test(test_start_tick_same_tick),
	    cmocka_unit_test(test_no_pidfd),
	    cmocka_unit_test(test_no_pidfd_same_tick),
	    cmocka_unit_test(test_many_times),
	    cmocka_unit_test(test_pid_two),
	};

	return cmocka_run_group_tests_name("reused pids", tests, NULL, NULL);
}
