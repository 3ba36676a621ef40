/*
 * test_births.c - what a tree starts, against what it says that it started.
 *
 * The truth is the workload's own count of what it started and waited for.
 * Each way of starting is tried with each source, from a process that was
 * there before with its threads and children, and from a child that is held
 * before its first instruction.
 */
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIRTHS_USER 65533

struct births {
	plim_host *host;
	struct spawn starter;
	plim_target *target;
	plim_births *births;
	plim_births_counts counts;
};

/* The connector tells what the whole machine starts: whatever else runs here
 * may use up its room, and then its counts are lower bounds for good. Such a
 * run is made again, so often at most. */
#define OVERRUNS 20
static int overrun;

static void begin(struct births *it, const char *threads)
{
	memset(it, 0, sizeof(*it));
	it->host = open_host(0);
	spawn_start(&it->starter,
		    (const char *const[]){"starter", threads, NULL});
	it->target = open_target(it->host, it->starter.pid);
}

static int try_open(struct births *it, uint32_t flags, uint32_t ring,
		    plim_error *error)
{
	plim_births_options options = {
	    .size = sizeof(options),
	    .flags = flags,
	    .ring_bytes = ring,
	};

	return plim_births_open(&it->births, it->host, it->target, &options,
				error);
}

/* With this source alone, or the test is skipped. */
static void open_with(struct births *it, int method, uint32_t flags,
		      uint32_t ring)
{
	plim_error error = {0};

	flags |= method == PLIM_METHOD_PERF_RECORDS ? PLIM_BIRTHS_NO_CONNECTOR
						    : PLIM_BIRTHS_NO_PERF;
	if (try_open(it, flags, ring, &error) != PLIM_OK)
		fail_msg("plim_births_open: %s", plim_error_word(error.code));
	if (plim_births_method(it->births) == method)
		return;
	assert_int_equal(plim_births_method(it->births), PLIM_METHOD_NONE);
	assert_int_equal(plim_births_read(it->births, &it->counts, NULL),
			 PLIM_OK);
	assert_int_not_equal(it->counts.processes_started.state,
			     PLIM_STATE_KNOWN);
	if (method == PLIM_METHOD_PERF_RECORDS)
		SKIP_BECAUSE("perf events are refused to this user");
	SKIP_BECAUSE("the process connector is refused to this user");
}

static void end(struct births *it)
{
	spawn_end(&it->starter);
	plim_births_free(it->births);
	plim_target_close(it->target);
	plim_host_close(it->host);
}

static uint64_t value(plim_count count, const struct births *it, int bound)
{
	assert_int_equal(count.state, PLIM_STATE_KNOWN);
	assert_int_equal(count.method, plim_births_method(it->births));
	assert_int_equal(count.bound, bound);
	return count.value;
}

static void take_counts(struct births *it)
{
	assert_int_equal(plim_births_read(it->births, &it->counts, NULL),
			 PLIM_OK);
}

static void expect_count(plim_count count, const struct births *it,
			 uint64_t truth)
{
	if (plim_births_method(it->births) == PLIM_METHOD_PROCESS_CONNECTOR &&
	    count.bound == PLIM_BOUND_AT_LEAST) {
		overrun = 1;
		assert_true(value(count, it, PLIM_BOUND_AT_LEAST) <= truth);
		return;
	}
	assert_int_equal(value(count, it, PLIM_BOUND_EXACT), truth);
}

/* All that were started have ended, too. */
static void expect_counts(struct births *it, uint64_t processes,
			  uint64_t threads)
{
	take_counts(it);
	expect_count(it->counts.processes_started, it, processes);
	expect_count(it->counts.threads_started, it, threads);
	expect_count(it->counts.processes_ended, it, processes);
	expect_count(it->counts.threads_ended, it, threads);
	expect_count(it->counts.lost, it, 0);
}

static void until_whole(void (*run)(int method), int method)
{
	int runs = 0;

	do {
		overrun = 0;
		run(method);
	} while (overrun && ++runs < OVERRUNS);
	assert_false(overrun);
}

/* One command after a mark; what the workload says it has started since. */
static void expect_command(struct births *it, const char *command,
			   uint64_t *processes, uint64_t *threads)
{
	uint64_t before[2] = {*processes, *threads};

	assert_int_equal(plim_births_mark(it->births, NULL), PLIM_OK);
	spawn_ask(&it->starter, command);
	*processes = spawn_truth(&it->starter, "processes");
	*threads = spawn_truth(&it->starter, "threads");
	assert_true(*processes + *threads > before[0] + before[1]);
	/* A main thread says its end after its parent was told. */
	child_sleep_ms(20);
	expect_counts(it, *processes - before[0], *threads - before[1]);
}

static const char *const commands[] = {
    "fork 80",	  "vfork 50",	"ignored 70",
    "orphans 30", "threads 60", "programs 15",
};

static void every_command(struct births *it)
{
	uint64_t processes = 0;
	uint64_t threads = 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		expect_command(it, commands[i], &processes, &threads);
}

static void each_way(int method)
{
	struct births it;

	begin(&it, NULL);
	open_with(&it, method, 0, 0);
	expect_counts(&it, 0, 0);
	every_command(&it);
	end(&it);
}

static void test_perf(void **state)
{
	(void)state;
	until_whole(each_way, PLIM_METHOD_PERF_RECORDS);
}

static void test_connector(void **state)
{
	(void)state;
	until_whole(each_way, PLIM_METHOD_PROCESS_CONNECTOR);
}

/* A thread that was there before starts them, and then a child that was. */
static void there_before(int method)
{
	struct births it;
	uint64_t processes = 0;
	uint64_t threads = 0;

	begin(&it, "40");
	spawn_ask(&it.starter, "branch");
	processes = spawn_truth(&it.starter, "processes");
	open_with(&it, method, 0, 0);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		expect_command(&it, commands[i], &processes, &threads);
	end(&it);

	begin(&it, "40");
	open_with(&it, method, 0, 0);
	processes = 0;
	threads = 0;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		spawn_ask(&it.starter, "by-thread");
		expect_command(&it, commands[i], &processes, &threads);
	}
	end(&it);
}

static void test_there_before_perf(void **state)
{
	(void)state;
	until_whole(there_before, PLIM_METHOD_PERF_RECORDS);
}

static void test_there_before_connector(void **state)
{
	(void)state;
	until_whole(there_before, PLIM_METHOD_PROCESS_CONNECTOR);
}

/* A child that is held before it executes its program: everything it starts
 * is counted, and its own end. */
static void held(int method)
{
	struct births it;
	char path[512];
	char byte = 0;
	int ends[2];
	int status;
	pid_t child;

	memset(&it, 0, sizeof(it));
	snprintf(path, sizeof(path), "%s", spawn_path("grandchildren"));
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		child_bind();
		dup2(null, 1);
		if (read(ends[0], &byte, 1) != 1)
			_exit(3);
		execl(path, "grandchildren", "100", "1", (char *)NULL);
		_exit(4);
	}
	assert_true(child > 0);
	close(ends[0]);
	it.host = open_host(0);
	it.target = open_target(it.host, child);
	it.starter.pid = -1;
	open_with(&it, method, PLIM_BIRTHS_ROOT_ALONE, 0);
	assert_int_equal(write(ends[1], &byte, 1), 1);
	close(ends[1]);
	assert_int_equal(child_wait(child, &status, 20000), 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	take_counts(&it);
	expect_count(it.counts.processes_started, &it, 100);
	expect_count(it.counts.processes_ended, &it, 101);
	expect_count(it.counts.threads_started, &it, 0);
	plim_births_free(it.births);
	plim_target_close(it.target);
	plim_host_close(it.host);
}

static void test_held_perf(void **state)
{
	(void)state;
	until_whole(held, PLIM_METHOD_PERF_RECORDS);
}

static void test_held_connector(void **state)
{
	(void)state;
	until_whole(held, PLIM_METHOD_PROCESS_CONNECTOR);
}

static void *nothing(void *user)
{
	return user;
}

/* The caller itself. */
static void test_self(void **state)
{
	struct births it;
	pthread_t thread;

	(void)state;
	memset(&it, 0, sizeof(it));
	it.host = open_host(0);
	open_with(&it, PLIM_METHOD_PERF_RECORDS, 0, 0);
	for (int i = 0; i < 30; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0)
			_exit(0);
		assert_int_equal(waitpid(child, NULL, 0), child);
	}
	for (int i = 0; i < 11; i++) {
		assert_int_equal(pthread_create(&thread, NULL, nothing, NULL),
				 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	child_sleep_ms(20);
	expect_counts(&it, 30, 11);
	plim_births_free(it.births);
	plim_host_close(it.host);
}

/* More than there is room for: a lower bound, and exact again after a mark. */
static void test_overflow(void **state)
{
	struct births it;

	(void)state;
	begin(&it, NULL);
	open_with(&it, PLIM_METHOD_PERF_RECORDS, 0, 1);
	spawn_ask(&it.starter, "fork 2000");
	child_sleep_ms(20);
	take_counts(&it);
	assert_in_range(
	    value(it.counts.processes_started, &it, PLIM_BOUND_AT_LEAST), 60,
	    1999);
	assert_int_equal(plim_births_mark(it.births, NULL), PLIM_OK);
	spawn_ask(&it.starter, "fork 20");
	child_sleep_ms(20);
	take_counts(&it);
	/* What was lost before may be told only now. */
	assert_int_equal(it.counts.processes_started.value, 20);
	assert_int_equal(plim_births_mark(it.births, NULL), PLIM_OK);
	spawn_ask(&it.starter, "fork 20");
	child_sleep_ms(20);
	expect_counts(&it, 20, 0);
	end(&it);
}

/* A reader that the machine lets wait for too long loses something all the
 * same; such a run is made again. */
static void poll_way(int method)
{
	struct births it;
	struct pollfd entries[2] = {{.events = POLLIN}, {.events = POLLIN}};
	int woken = 0;

	begin(&it, NULL);
	open_with(&it, method, 0, 131072);
	entries[0].fd = plim_births_poll_descriptor(it.births);
	entries[1].fd = it.starter.out;
	assert_true(entries[0].fd >= 0);
	assert_int_equal(poll(entries, 1, 0), 0);
	spawn_ask(&it.starter, "fork 20");
	assert_int_equal(poll(entries, 1, 20), 0);
	spawn_send(&it.starter, "fork 20000");
	for (;;) {
		assert_true(poll(entries, 2, 60000) > 0);
		if (entries[1].revents != 0)
			break;
		woken++;
		take_counts(&it);
	}
	spawn_await_answer(&it.starter);
	child_sleep_ms(20);
	take_counts(&it);
	overrun = it.counts.processes_started.bound != PLIM_BOUND_EXACT;
	if (!overrun)
		expect_counts(&it, 20020, 0);
	/* 64 bytes each, and half of 128 KiB at a time, of each CPU. */
	assert_in_range(woken, 5, 40);
	end(&it);
}

/* Who reads when the descriptor says so loses nothing. */
static void test_poll(void **state)
{
	(void)state;
	until_whole(poll_way, PLIM_METHOD_PERF_RECORDS);
}

static int open_descriptors(void)
{
	int count = 0;

	for (int i = 0; i < 4096; i++)
		count += fcntl(i, F_GETFD) >= 0;
	return count;
}

/* Few descriptors: some threads are not observed, and it is said; all are
 * given back. */
static void few_body(void *user)
{
	struct rlimit limit = {100, 100};
	struct births it;
	int highest = 0;
	int before;

	(void)user;
	begin(&it, "40");
	before = open_descriptors();
	for (int i = 0; i < 100; i++)
		if (fcntl(i, F_GETFD) >= 0)
			highest = i;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	open_with(&it, PLIM_METHOD_PERF_RECORDS, 0, 0);
	assert_true(open_descriptors() > before + 4);
	assert_true(open_descriptors() <= before + 25 + 16);
	/* All new ones have the highest numbers. */
	for (int i = highest + 1; i < 100; i++)
		if (fcntl(i, F_GETFD) >= 0)
			assert_int_equal(fcntl(i, F_GETFD), FD_CLOEXEC);
	spawn_ask(&it.starter, "fork 10");
	child_sleep_ms(20);
	take_counts(&it);
	assert_int_equal(
	    value(it.counts.processes_started, &it, PLIM_BOUND_AT_LEAST), 10);
	plim_births_free(it.births);
	it.births = NULL;
	assert_int_equal(open_descriptors(), before);
	end(&it);
}

static void test_few_descriptors(void **state)
{
	(void)state;
	child_run(few_body, NULL);
}

/* No descriptor at all is no reason to say that nothing was started. */
static void none_body(void *user)
{
	struct births it;
	plim_error error = {0};
	struct rlimit limit;

	(void)user;
	begin(&it, NULL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	for (rlim_t more = 1;; more++) {
		int code;

		limit.rlim_cur = (rlim_t)open_descriptors() + more;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		code = try_open(&it, PLIM_BIRTHS_NO_CONNECTOR, 0, &error);
		if (code == PLIM_OK)
			break;
		assert_null(it.births);
		assert_int_equal(code, PLIM_ESYSTEM);
		assert_int_equal(error.system, EMFILE);
		assert_true(more < 64);
	}
	end(&it);
}

static void test_no_descriptor(void **state)
{
	(void)state;
	child_run(none_body, NULL);
}

static void expect_missing(struct births *it, int reason, int state)
{
	assert_int_equal(plim_births_method(it->births), PLIM_METHOD_NONE);
	assert_int_equal(plim_births_poll_descriptor(it->births), -1);
	take_counts(it);
	assert_int_equal(it->counts.processes_started.state, state);
	assert_int_equal(it->counts.processes_started.method, reason);
	assert_int_equal(it->counts.processes_started.value, 0);
	assert_int_equal(it->counts.threads_ended.state, state);
	assert_int_equal(it->counts.lost.state, state);
}

static void denied_body(void *user)
{
	const struct births *of_root = user;
	struct births it;

	memset(&it, 0, sizeof(it));
	child_become(BIRTHS_USER);
	it.host = open_host(0);
	it.target = open_target(it.host, of_root->starter.pid);
	assert_int_equal(try_open(&it, PLIM_BIRTHS_NO_CONNECTOR, 0, NULL),
			 PLIM_OK);
	take_counts(&it);
	if (it.counts.processes_started.method == PLIM_REASON_PERF_REFUSED)
		SKIP_BECAUSE("perf events are refused to this user");
	expect_missing(&it, PLIM_REASON_NOT_PERMITTED, PLIM_STATE_DENIED);
	plim_births_free(it.births);
	plim_target_close(it.target);
	plim_host_close(it.host);
}

static void test_denied(void **state)
{
	struct births it;

	(void)state;
	if (geteuid() != 0)
		SKIP_BECAUSE("only root can start a process of root");
	begin(&it, NULL);
	child_run(denied_body, &it);
	end(&it);
}

/* As a container's filter does it. */
static void filter_perf(void)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		     offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		SKIP_BECAUSE("this kernel filters no system calls");
}

static void refused_way(int method)
{
	struct births it;

	(void)method;
	begin(&it, NULL);
	filter_perf();
	assert_int_equal(try_open(&it, PLIM_BIRTHS_NO_CONNECTOR, 0, NULL),
			 PLIM_OK);
	expect_missing(&it, PLIM_REASON_PERF_REFUSED, PLIM_STATE_DENIED);
	plim_births_free(it.births);
	it.births = NULL;
	/* The connector stands in where it may be used. */
	assert_int_equal(try_open(&it, 0, 0, NULL), PLIM_OK);
	if (plim_births_method(it.births) == PLIM_METHOD_NONE)
		expect_missing(&it, PLIM_REASON_PERF_REFUSED,
			       PLIM_STATE_DENIED);
	else
		every_command(&it);
	end(&it);
}

/* The filter is for good, and one process can have it many times. */
static void refused_body(void *user)
{
	(void)user;
	until_whole(refused_way, PLIM_METHOD_PROCESS_CONNECTOR);
}

static void test_refused(void **state)
{
	(void)state;
	child_run(refused_body, NULL);
}

/* Fills what is executed into `path`, readable by nobody but root. */
static void secret_program(char *path, size_t size)
{
	char command[1200];

	snprintf(path, size, "/tmp/plim-secret-XXXXXX");
	assert_true(mkdtemp(path) != NULL);
	assert_int_equal(chmod(path, 0711), 0);
	snprintf(command, sizeof(command),
		 "cp '%s' '%s/starter' && chmod 0711 '%s/starter'",
		 spawn_path("starter"), path, path);
	assert_int_equal(system(command), 0);
}

/* Perf lets go of who executes it; the process goes on, and it is said. */
static void secret_body(void *user)
{
	char path[600];
	struct births it;
	char byte = 0;
	int ends[2];
	pid_t child;

	memset(&it, 0, sizeof(it));
	snprintf(path, sizeof(path), "%s/starter", (const char *)user);
	child_become(BIRTHS_USER);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		child_bind();
		if (read(ends[0], &byte, 1) != 1)
			_exit(3);
		dup2(ends[0], 0);
		close(ends[1]);
		execl(path, "starter", (char *)NULL);
		_exit(4);
	}
	it.host = open_host(0);
	it.target = open_target(it.host, child);
	it.starter.pid = -1;
	open_with(&it, PLIM_METHOD_PERF_RECORDS, PLIM_BIRTHS_ROOT_ALONE, 0);
	take_counts(&it);
	value(it.counts.processes_started, &it, PLIM_BOUND_EXACT);
	assert_int_equal(write(ends[1], &byte, 1), 1);
	child_sleep_ms(300);
	take_counts(&it);
	assert_int_equal(
	    value(it.counts.processes_started, &it, PLIM_BOUND_AT_LEAST), 0);
	assert_int_equal(
	    value(it.counts.processes_ended, &it, PLIM_BOUND_AT_LEAST), 0);
	close(ends[1]);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	plim_births_free(it.births);
	plim_target_close(it.target);
	plim_host_close(it.host);
}

static void test_let_go(void **state)
{
	char path[512];
	char command[600];

	(void)state;
	if (geteuid() != 0)
		SKIP_BECAUSE("only root can become another user");
	secret_program(path, sizeof(path));
	child_run(secret_body, path);
	snprintf(command, sizeof(command), "rm -r '%s'", path);
	assert_int_equal(system(command), 0);
}

static void test_nothing_wanted(void **state)
{
	struct births it;

	(void)state;
	begin(&it, NULL);
	assert_int_equal(
	    try_open(&it, PLIM_BIRTHS_NO_CONNECTOR | PLIM_BIRTHS_NO_PERF, 0,
		     NULL),
	    PLIM_OK);
	expect_missing(&it, PLIM_REASON_NOT_WANTED, PLIM_STATE_SKIPPED);
	end(&it);
}

/* A zombie starts nothing any more, and one that was reaped neither. */
static void test_ended(void **state)
{
	struct births it;
	plim_error error = {0};

	(void)state;
	begin(&it, NULL);
	assert_int_equal(kill(it.starter.pid, SIGKILL), 0);
	child_sleep_ms(50);
	assert_int_equal(try_open(&it, 0, 0, &error), PLIM_ENOPROCESS);
	assert_int_equal(error.code, PLIM_ENOPROCESS);
	assert_null(it.births);
	spawn_end(&it.starter);
	assert_int_equal(try_open(&it, 0, 0, &error), PLIM_ENOPROCESS);
	assert_null(it.births);
	plim_target_close(it.target);
	plim_host_close(it.host);
}

/* The counts of one that ends while it is observed stay. */
static void test_outlives(void **state)
{
	struct births it;

	(void)state;
	begin(&it, "5");
	open_with(&it, PLIM_METHOD_PERF_RECORDS, 0, 0);
	spawn_ask(&it.starter, "fork 7");
	spawn_end(&it.starter);
	take_counts(&it);
	assert_int_equal(
	    value(it.counts.processes_started, &it, PLIM_BOUND_EXACT), 7);
	assert_int_equal(
	    value(it.counts.processes_ended, &it, PLIM_BOUND_EXACT), 8);
	assert_int_equal(value(it.counts.threads_ended, &it, PLIM_BOUND_EXACT),
			 5);
	assert_true(it.counts.interval.elapsed_ns > 0);
	plim_births_free(it.births);
	plim_target_close(it.target);
	plim_host_close(it.host);
}

static void test_arguments(void **state)
{
	plim_births_options options = {.size = 1};
	plim_births_counts counts;
	plim_births *births = NULL;
	plim_host *host = open_host(0);

	(void)state;
	assert_int_equal(plim_births_open(NULL, host, NULL, NULL, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_births_open(&births, NULL, NULL, NULL, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_births_open(&births, host, NULL, &options, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_births_read(NULL, &counts, NULL), PLIM_EINVAL);
	assert_int_equal(plim_births_mark(NULL, NULL), PLIM_EINVAL);
	plim_births_free(NULL);
	assert_null(births);
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_perf),
	    cmocka_unit_test(test_connector),
	    cmocka_unit_test(test_there_before_perf),
	    cmocka_unit_test(test_there_before_connector),
	    cmocka_unit_test(test_held_perf),
	    cmocka_unit_test(test_held_connector),
	    cmocka_unit_test(test_self),
	    cmocka_unit_test(test_overflow),
	    cmocka_unit_test(test_poll),
	    cmocka_unit_test(test_few_descriptors),
	    cmocka_unit_test(test_no_descriptor),
	    cmocka_unit_test(test_denied),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_let_go),
	    cmocka_unit_test(test_nothing_wanted),
	    cmocka_unit_test(test_ended),
	    cmocka_unit_test(test_outlives),
	    cmocka_unit_test(test_arguments),
	};

	return cmocka_run_group_tests_name("births", tests, NULL, NULL);
}
