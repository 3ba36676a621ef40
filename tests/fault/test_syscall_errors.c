/*
 * test_syscall_errors.c - the kernel refuses a call that it normally answers.
 *
 * A seccomp filter, set in a process of its own, makes single system calls
 * fail: as on a kernel without pidfds, in a sandbox without clocks or new
 * processes, in a machine whose memory is full. What then comes is the
 * documented lesser answer or an error that names the cause; never an end, a
 * successor or a zero that is not so.
 */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* The lower half of an argument, on machines with the low byte first. */
#define ARGUMENT(n) ((uint32_t)(offsetof(struct seccomp_data, args) + (n)*8u))

/* Call `number` fails with `error` where argument `n` has one of `bits`;
 * everywhere if there are none. */
static void deny_bits(long number, uint32_t n, uint32_t bits, int error)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(n)),
	    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K,
		     SECCOMP_RET_ERRNO | ((uint32_t)error & 0xffffu)),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (bits == 0)
		code[3] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_IMM, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		SKIP_BECAUSE("a seccomp filter is refused here");
}

static void deny(long number, int error)
{
	deny_bits(number, 0, 0, error);
}

/* What the tests look at; it is started before any filter is set. */
static struct spawn plain;
static struct spawn threaded;
static struct spawn leaderless;

static int world_setup(void **state)
{
	(void)state;
	spawn_start(&plain, (const char *const[]){"idle", NULL});
	spawn_start(&threaded, (const char *const[]){"threads", "10", NULL});
	spawn_start(&leaderless, (const char *const[]){"leader", "8", NULL});
	return 0;
}

static int world_teardown(void **state)
{
	(void)state;
	spawn_end(&plain);
	spawn_end(&threaded);
	spawn_end(&leaderless);
	return 0;
}

/* An operation that fails tells which error was met. */
static void expect_system(const plim_error *error, int code, int expected,
			  int system)
{
	assert_int_equal(code, expected);
	fault_expect_error(error, expected);
	assert_int_equal(error->system, system);
}

static void expect_line(plim_target *target)
{
	plim_text text = {0};

	for (int tries = 0; tries < 20; tries++) {
		assert_int_equal(plim_target_command_line(target, &text, NULL),
				 PLIM_OK);
		if (text.state != PLIM_STATE_TIMEOUT)
			break;
	}
	expect_text(text, "idle", 5);
}

/* A child that ends when it is told to, made before the filter. */
static pid_t mortal_start(int gate[2])
{
	pid_t pid;
	char byte;

	assert_int_equal(pipe(gate), 0);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	close(gate[0]);
	return pid;
}

/* The second rung, with everything that needs no pidfd. */
static void no_pidfds(void *user)
{
	int gate[2];
	pid_t mortal = mortal_start(gate);
	plim_snapshot *snapshot;
	plim_usage *usage;
	plim_target *target;
	plim_identity identity;
	plim_host *host;

	deny(SYS_pidfd_open, *(int *)user);
	host = open_host(0);
	assert_int_equal(plim_host_count(host, PLIM_HOST_IDENTITY_RUNG).value,
			 PLIM_RUNG_START);
	target = open_target(host, mortal);
	identity = plim_target_identity(target);
	assert_int_equal(plim_identity_rung(&identity), PLIM_RUNG_START);
	assert_int_equal(plim_target_wait(target, 0, NULL), PLIM_EUNSUPPORTED);
	assert_int_equal(plim_target_signal(target, SIGKILL, NULL),
			 PLIM_EUNSUPPORTED);
	assert_int_equal(plim_target_poll_descriptor(target), -1);
	assert_int_equal(plim_target_exit_status(target).state,
			 PLIM_STATE_UNSUPPORTED);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	usage = new_usage(host);
	known(measure(usage, target), PLIM_FIELD_CPU);
	snapshot = new_snapshot(host);
	take(snapshot);
	assert_non_null(plim_snapshot_find(snapshot, mortal));
	close(gate[1]);
	assert_int_equal(waitpid(mortal, NULL, 0), mortal);
	expect_fate(target, PLIM_FATE_GONE, 0, 0);
	assert_int_equal(plim_usage_refresh(usage, target, NULL, NULL),
			 PLIM_ENOPROCESS);
	plim_target_close(target);
	target = open_target(host, plain.pid);
	expect_line(target);
	plim_target_close(target);
	plim_snapshot_free(snapshot);
	plim_usage_free(usage);
	plim_host_close(host);
	assert_int_equal(fault_children().count, 0);
}

static void test_no_pidfds(void **state)
{
	int errors[] = {ENOSYS, EPERM};

	(void)state;
	child_run(no_pidfds, &errors[0]);
	child_run(no_pidfds, &errors[1]);
}

/* Clocks of processes have negative numbers. CPU time is then rounded down to
 * ticks, and its method says so. */
static void no_clocks(void *user)
{
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	plim_usage *usage = new_usage(host);
	plim_target *target;
	const plim_process *record;

	(void)user;
	deny_bits(SYS_clock_gettime, 0, 0x80000000u, EINVAL);
	take(snapshot);
	record = plim_snapshot_find(snapshot, plain.pid);
	assert_non_null(record);
	expect_method(record, PLIM_FIELD_CPU, PLIM_METHOD_STAT_TICKS);
	target = open_target(host, plain.pid);
	record = measure(usage, target);
	expect_method(record, PLIM_FIELD_CPU, PLIM_METHOD_STAT_TICKS);
	/* Of itself it is told by getrusage. */
	record = measure_self(usage);
	expect_method(record, PLIM_FIELD_CPU, PLIM_METHOD_GETRUSAGE);
	plim_target_close(target);
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

static void test_no_clocks(void **state)
{
	(void)state;
	child_run(no_clocks, NULL);
}

/* No helper: one answer is missing, the rest is there. */
static void no_helper(void *user)
{
	struct fault_memory memory = {0};
	plim_host *host = fault_host(&memory, NULL);
	plim_target *target = open_target(host, plain.pid);
	plim_usage *usage = new_usage(host);
	size_t descriptors = fault_descriptors();
	size_t live = memory.live;

	deny(*(long *)user, EPERM);
	for (int i = 0; i < 3; i++) {
		plim_error error = fault_poisoned();
		plim_text text;
		plim_text before;

		memset(&text, 0x5a, sizeof(text));
		before = text;
		expect_system(&error,
			      plim_target_command_line(target, &text, &error),
			      PLIM_ESYSTEM, EPERM);
		assert_memory_equal(&text, &before, sizeof(text));
		assert_int_equal(fault_descriptors(), descriptors);
		assert_int_equal(memory.live, live);
	}
	measure(usage, target);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	plim_usage_free(usage);
	plim_target_close(target);
	plim_host_close(host);
	assert_int_equal(memory.live, 0);
}

static void test_no_helper(void **state)
{
	long calls[] = {SYS_clone, SYS_socketpair};

	(void)state;
	child_run(no_helper, &calls[0]);
	child_run(no_helper, &calls[1]);
}

/* A helper that cannot be signalled through its pidfd ends all the same. */
static void no_pidfd_signals(void *user)
{
	plim_host *host = open_host(0);
	plim_target *target = open_target(host, plain.pid);

	(void)user;
	expect_line(target);
	assert_int_equal(fault_children().count, 0);
	deny(SYS_pidfd_send_signal, EPERM);
	expect_line(target);
	assert_int_equal(fault_children().count, 0);
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	plim_target_close(target);
	plim_host_close(host);
	assert_int_equal(fault_children().count, 0);
}

static void test_no_pidfd_signals(void **state)
{
	(void)state;
	child_run(no_pidfd_signals, NULL);
}

/* Files that cannot be opened. `bits` of the flags: all, or directories of
 * processes alone. */
struct closed {
	int error;
	uint32_t bits;
};

static void closed_at_open(void *user)
{
	const struct closed *closed = user;
	plim_host *host = NULL;
	plim_error error = fault_poisoned();
	int code;

	deny_bits(SYS_openat, 2, closed->bits, closed->error);
	code = plim_host_open(&host, NULL, &error);
	assert_null(host);
	if (closed->error == EACCES)
		expect_system(&error, code, PLIM_EDENIED, EACCES);
	else
		assert_true(code == PLIM_EROOT || code == PLIM_ESYSTEM);
}

static void closed_later(void *user)
{
	static char before[65536];
	static char after[65536];
	const struct closed *closed = user;
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	plim_usage *usage = new_usage(host);
	plim_target *target = open_target(host, plain.pid);
	plim_target *made = NULL;
	plim_error error = fault_poisoned();
	plim_check check;
	size_t size;
	int code;

	take(snapshot);
	measure(usage, target);
	size = fault_record(plim_usage_process(usage), before, sizeof(before));
	deny_bits(SYS_openat, 2, closed->bits, closed->error);

	/* What is there is neither gone nor replaced. */
	assert_int_equal(plim_target_check(target, &check, NULL), PLIM_OK);
	assert_true(
	    check.fate == PLIM_FATE_SAME ||
	    check.fate == PLIM_FATE_CANNOT_TELL ||
	    (check.fate == PLIM_FATE_HIDDEN && closed->error == EACCES));
	code = plim_usage_refresh(usage, target, NULL, NULL);
	assert_true(code != PLIM_ENOPROCESS && code != PLIM_EREPLACED);
	if (code != PLIM_OK) {
		assert_int_equal(fault_record(plim_usage_process(usage), after,
					      sizeof(after)),
				 size);
		assert_memory_equal(before, after, size);
	}
	code = plim_target_open(&made, host, plain.pid, &error);
	if (closed->error == EACCES)
		assert_int_equal(code, PLIM_EHIDDEN);
	else
		expect_system(&error, code, PLIM_ESYSTEM, closed->error);
	assert_null(made);

	/* A snapshot does not take them for vanished. */
	error = fault_poisoned();
	size = plim_snapshot_size(snapshot);
	code = plim_snapshot_take(snapshot, NULL, &error);
	if (code == PLIM_OK) {
		assert_int_equal(closed->error, EACCES);
		assert_int_equal(plim_snapshot_cost(snapshot).vanished, 0);
		assert_true(plim_snapshot_cost(snapshot).refused > 0);
	} else {
		expect_system(&error, code,
			      closed->error == EACCES ? PLIM_EDENIED
						      : PLIM_ESYSTEM,
			      closed->error);
		assert_int_equal(plim_snapshot_size(snapshot), size);
		assert_non_null(plim_snapshot_find(snapshot, plain.pid));
	}
	plim_target_close(target);
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

static void test_closed(void **state)
{
	struct closed cases[] = {
	    {EACCES, 0},      {EIO, 0},	     {ENOMEM, 0},
	    {EACCES, O_PATH}, {EIO, O_PATH}, {ENOMEM, O_PATH},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		child_run(closed_at_open, &cases[i]);
		child_run(closed_later, &cases[i]);
	}
}

/* Listings fail: there is no snapshot, and no sum over threads. */
static void no_listings(void *user)
{
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	plim_usage *usage = new_usage(host);
	plim_target *target = open_target(host, threaded.pid);
	plim_target *dead = open_target(host, leaderless.pid);
	plim_error error = fault_poisoned();

	(void)user;
	take(snapshot);
	deny(SYS_getdents64, EIO);
	expect_system(&error, plim_snapshot_take(snapshot, NULL, &error),
		      PLIM_ESYSTEM, EIO);
	assert_non_null(plim_snapshot_find(snapshot, plain.pid));
	measure(usage, target);
	expect_state(plim_usage_process(usage), PLIM_FIELD_WAKEUPS,
		     PLIM_STATE_UNSUPPORTED);
	assert_int_equal(
	    plim_process_count(plim_usage_process(usage), PLIM_FIELD_WAKEUPS)
		.code,
	    EIO);
	known(plim_usage_process(usage), PLIM_FIELD_RESIDENT);
	/* Its memory is told by a thread that is not to be found now. */
	measure(usage, dead);
	expect_state(plim_usage_process(usage), PLIM_FIELD_RESIDENT,
		     PLIM_STATE_UNSUPPORTED);
	expect_fate(dead, PLIM_FATE_SAME, 0, 0);
	plim_target_close(dead);
	plim_target_close(target);
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

static void test_no_listings(void **state)
{
	(void)state;
	child_run(no_listings, NULL);
}

/* Looking at files without opening them fails. */
static void no_stats(void *user)
{
	int error_number = *(int *)user;
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	plim_usage *usage = new_usage(host);
	plim_target *target = open_target(host, plain.pid);
	plim_field_set cpu = {{0}};
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .fields = &cpu,
	};
	const plim_process *record;
	int code;

	take(snapshot);
	measure(usage, target);
	deny(SYS_newfstatat, error_number);
	code = plim_usage_refresh(usage, target, NULL, NULL);
	assert_true(code != PLIM_ENOPROCESS && code != PLIM_EREPLACED);
	/* One figure is missing; the files that were read are proof enough. */
	take(snapshot);
	record = plim_snapshot_find(snapshot, plain.pid);
	assert_non_null(record);
	expect_state(record, PLIM_FIELD_DESCRIPTORS,
		     error_number == EACCES ? PLIM_STATE_DENIED
					    : PLIM_STATE_UNSUPPORTED);
	known(record, PLIM_FIELD_CPU);
	/* Where the look was to be the proof there is none. */
	plim_field_set_add(&cpu, PLIM_FIELD_CPU);
	code = plim_snapshot_take(snapshot, &options, NULL);
	if (error_number == EACCES) {
		assert_int_equal(code, PLIM_OK);
		/* This process and its three siblings at least. */
		assert_true(plim_snapshot_cost(snapshot).refused >= 4);
	} else {
		assert_int_equal(code, PLIM_ESYSTEM);
		assert_non_null(plim_snapshot_find(snapshot, plain.pid));
	}
	plim_target_close(target);
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

static void test_no_stats(void **state)
{
	int errors[] = {EIO, EACCES};

	(void)state;
	child_run(no_stats, &errors[0]);
	child_run(no_stats, &errors[1]);
}

/* Facts of the host that are refused are missing, and the rest is there. */
static void no_facts(void *user)
{
	plim_host *host;

	(void)user;
	deny(SYS_sched_getaffinity, EPERM);
	deny(SYS_sysinfo, EPERM);
	deny(SYS_uname, EPERM);
	host = open_host(0);
	assert_int_not_equal(plim_host_count(host, PLIM_HOST_AFFINITY).state,
			     PLIM_STATE_KNOWN);
	assert_int_not_equal(plim_host_count(host, PLIM_HOST_SWAP_BYTES).state,
			     PLIM_STATE_KNOWN);
	assert_int_equal(plim_host_count(host, PLIM_HOST_IS_LIVE).value, 1);
	assert_true(plim_host_count(host, PLIM_HOST_CPUS).value >= 1);
	plim_host_close(host);
}

static void test_no_facts(void **state)
{
	(void)state;
	child_run(no_facts, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_no_pidfds),
	    cmocka_unit_test(test_no_clocks),
	    cmocka_unit_test(test_no_helper),
	    cmocka_unit_test(test_no_pidfd_signals),
	    cmocka_unit_test(test_closed),
	    cmocka_unit_test(test_no_listings),
	    cmocka_unit_test(test_no_stats),
	    cmocka_unit_test(test_no_facts),
	};

	return cmocka_run_group_tests_name("syscall errors", tests, world_setup,
					   world_teardown);
}
