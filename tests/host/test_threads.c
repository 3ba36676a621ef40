/*
 * test_threads.c - who wakes in a process, against what its threads count for
 * themselves (tests/workloads), and against this very process.
 */
#include "common.h"

#include "fixture.h"
#include "ns.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct look {
	struct spawn spawn;
	plim_host *host;
	plim_target *target;
	plim_threads *threads;
};

static struct look look;

static int look_setup(void **state)
{
	memset(&look, 0, sizeof(look));
	look.host = open_host(0);
	assert_int_equal(plim_threads_new(&look.threads, look.host, NULL),
			 PLIM_OK);
	*state = &look;
	return 0;
}

static int look_teardown(void **state)
{
	(void)state;
	spawn_end(&look.spawn);
	plim_threads_free(look.threads);
	plim_target_close(look.target);
	plim_host_close(look.host);
	return 0;
}

static void look_start(const char *const *argv)
{
	spawn_start(&look.spawn, argv);
	look.target = open_target(look.host, look.spawn.pid);
}

static int look_code(uint32_t parts, int extend)
{
	const plim_threads_options options = {.size = sizeof(options),
					      .parts = parts};

	if (extend)
		return plim_threads_extend(look.threads, look.target, &options,
					   NULL);
	return plim_threads_sample(look.threads, look.target, &options, NULL);
}

static void sample(uint32_t parts)
{
	assert_int_equal(look_code(parts, 0), PLIM_OK);
}

static uint64_t value(plim_count figure)
{
	assert_int_equal(figure.state, PLIM_STATE_KNOWN);
	return figure.value;
}

static const plim_thread *find(int32_t tid)
{
	for (size_t i = 0; i < plim_threads_count(look.threads); i++)
		if (plim_threads_at(look.threads, i)->tid == tid)
			return plim_threads_at(look.threads, i);
	return NULL;
}

static void expect_word(plim_text text, const char *word)
{
	expect_text(text, word, strlen(word));
}

/* The sums that must hold whatever happened, where all are known. */
static void expect_sums(void)
{
	plim_threads_facts facts = plim_threads_about(look.threads);
	uint64_t listed = 0;
	uint64_t exited = 0;

	for (size_t i = 0; i < plim_threads_changes(look.threads); i++)
		listed += value(plim_threads_change(look.threads, i).wakeups);
	for (size_t i = 0; i < plim_threads_exited(look.threads); i++)
		exited += value(
		    plim_threads_exited_at(look.threads, i).last->wakeups);
	assert_true(value(facts.listed_wakeups) == listed);
	assert_true(value(facts.exited_wakeups_at_start) == exited);
	assert_int_equal(facts.live_total_change.state, PLIM_STATE_KNOWN);
	assert_true(facts.live_total_change.value ==
		    (double)listed - (double)exited);
	assert_int_equal(facts.last, plim_threads_count(look.threads));
	assert_int_equal(facts.first + facts.born, facts.last + facts.exited);
}

/* Four sleep, the main thread does not: within 2 % of their own count, and
 * the process is the sum of its threads. */
static void test_sleepers(void **state)
{
	const char *const argv[] = {"sleepers", "4", NULL};
	plim_interval interval;
	uint64_t sleeps;
	uint64_t sum = 0;

	(void)state;
	look_start(argv);
	spawn_ask(&look.spawn, "truth");
	sleeps = spawn_truth(&look.spawn, "sleeps");
	sample(PLIM_THREAD_ALL);
	child_sleep_ms(2000);
	sample(PLIM_THREAD_ALL);
	spawn_ask(&look.spawn, "truth");
	sleeps = spawn_truth(&look.spawn, "sleeps") - sleeps;
	assert_true(sleeps > 1000);
	expect_near(value(plim_threads_about(look.threads).listed_wakeups),
		    sleeps, 2, 0);
	assert_int_equal(plim_threads_changes(look.threads), 5);
	expect_sums();
	for (size_t i = 0; i < 5; i++) {
		plim_thread_change change =
		    plim_threads_change(look.threads, i);

		assert_false(change.born);
		assert_int_equal(change.last->is_main, i == 4);
		sum += value(change.last->wakeups);
		expect_word(change.name, "sleepers");
		assert_true(value(change.switches_in) <=
			    value(change.wakeups) + value(change.involuntary) +
				1);
		if (i == 4)
			assert_in_range(value(change.wakeups), 0, 2);
	}
	/* One pass: the process's own figure is exactly their sum. */
	assert_true(
	    known(plim_threads_last(look.threads), PLIM_FIELD_WAKEUPS) == sum);
	assert_int_equal(plim_threads_interval(look.threads, &interval, NULL),
			 PLIM_OK);
	assert_true(interval.elapsed_ns >= 2000000000u);
	assert_int_equal(
	    plim_threads_about(look.threads).exited_wakeups_in_window.method,
	    PLIM_REASON_SELF_ONLY);
}

/* What each waits in. The main thread waits for a command. */
static void test_blocked(void **state)
{
	const char *const argv[] = {"threads", "3", NULL};
	const plim_thread *thread;

	(void)state;
	look_start(argv);
	child_sleep_ms(50);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(plim_threads_count(look.threads), 4);
	for (size_t i = 0; i < 4; i++) {
		thread = plim_threads_at(look.threads, i);
		assert_int_equal(thread->state, 'S');
		assert_int_equal(thread->start_address.state,
				 PLIM_STATE_UNSUPPORTED);
		expect_word(thread->name, "threads");
		if (thread->system_call.state == PLIM_STATE_DENIED)
			SKIP_BECAUSE("tracing a child is refused here");
		if (thread->is_main) {
			assert_int_equal(thread->tid, look.spawn.pid);
			assert_int_equal(value(thread->system_call), SYS_read);
			expect_word(thread->blocked_in, "read");
		} else {
			assert_int_equal(value(thread->system_call), SYS_futex);
			expect_word(thread->blocked_in, "futex");
		}
		if (thread->wait_channel.state == PLIM_STATE_KNOWN)
			assert_true(thread->wait_channel.bytes.size > 1);
		else
			assert_int_equal(thread->wait_channel.method,
					 PLIM_REASON_NO_WAIT);
	}
	assert_string_equal(plim_system_call_name(look.host, SYS_futex),
			    "futex");
	assert_string_equal(plim_system_call_name(look.host, 99999), "");
}

/* One that runs blocks in nothing; its CPU time is the process's. */
static void test_running(void **state)
{
	const char *const argv[] = {"spin", NULL};
	const plim_thread *thread = NULL;

	(void)state;
	look_start(argv);
	sample(PLIM_THREAD_ALL);
	spawn_send(&look.spawn, "spin 300");
	for (int i = 0; i < 20; i++) {
		child_sleep_ms(10);
		sample(PLIM_THREAD_BLOCKED);
		thread = plim_threads_at(look.threads, 0);
		if (thread->state == 'R')
			break;
	}
	assert_int_equal(thread->state, 'R');
	if (thread->system_call.state != PLIM_STATE_DENIED) {
		assert_int_equal(thread->system_call.method,
				 PLIM_REASON_RUNNING);
		assert_int_equal(thread->blocked_in.state,
				 PLIM_STATE_NOT_APPLICABLE);
	}
	assert_int_equal(thread->wakeups.state, PLIM_STATE_SKIPPED);
	spawn_await_answer(&look.spawn);
	look_code(PLIM_THREAD_TIMES, 0);
	sample(PLIM_THREAD_TIMES);
	thread = plim_threads_at(look.threads, 0);
	expect_near(value(thread->cpu_ns),
		    known(plim_threads_last(look.threads), PLIM_FIELD_CPU), 1,
		    100000);
	assert_true(value(thread->cpu_ns) > 290000000u);
	assert_int_equal(thread->wakeups.state, PLIM_STATE_SKIPPED);
	/* Its name stays the one that was read. */
	expect_word(thread->name, "spin");
}

/* A millisecond of CPU time is 0.01 % of a core in 10 s: it is seen, and that
 * of nobody else is. */
static void test_little_cpu(void **state)
{
	const char *const argv[] = {"spin", NULL};
	plim_count cpu;

	(void)state;
	look_start(argv);
	spawn_ask(&look.spawn, "spin 1");
	sample(PLIM_THREAD_TIMES);
	sample(PLIM_THREAD_TIMES);
	assert_int_equal(value(plim_threads_change(look.threads, 0).cpu_ns), 0);
	spawn_ask(&look.spawn, "spin 1");
	sample(PLIM_THREAD_TIMES);
	cpu = plim_threads_change(look.threads, 0).cpu_ns;
	assert_in_range(value(cpu), 1000000, 1500000);
	assert_int_equal(value(plim_threads_about(look.threads).listed_cpu_ns),
			 cpu.value);
	/* In a thread that has ended: the process's clock has it. */
	spawn_ask(&look.spawn, "thread 50");
	sample(PLIM_THREAD_TIMES);
	assert_true(plim_threads_about(look.threads).unlisted_cpu_ns.value >
		    49e6);
	assert_true(plim_threads_about(look.threads).unlisted_cpu_ns.value <
		    55e6);
}

/* Threads end: they are listed apart, and nothing falls for it. */
static void test_threads_end(void **state)
{
	const char *const argv[] = {"sleepers", "6", NULL};
	plim_threads_facts facts;
	plim_count before;
	plim_count after;

	(void)state;
	look_start(argv);
	sample(PLIM_THREAD_ALL);
	child_sleep_ms(300);
	assert_int_equal(look_code(PLIM_THREAD_ALL, 1), PLIM_OK);
	before = plim_process_change(plim_threads_first(look.threads),
				     plim_threads_last(look.threads),
				     PLIM_FIELD_WAKEUPS);
	spawn_ask(&look.spawn, "end 2");
	sample(PLIM_THREAD_ALL);
	facts = plim_threads_about(look.threads);
	assert_int_equal(facts.first, 7);
	assert_int_equal(facts.last, 5);
	assert_int_equal(facts.exited, 2);
	assert_int_equal(facts.born, 0);
	expect_sums();
	assert_true(facts.live_total_change.value < 0);
	assert_int_equal(plim_threads_changes(look.threads), 5);
	assert_int_equal(plim_threads_exited(look.threads), 2);
	for (size_t i = 0; i < 2; i++) {
		plim_thread_change change =
		    plim_threads_exited_at(look.threads, i);

		assert_true(change.exited);
		assert_int_equal(change.wakeups.method,
				 PLIM_REASON_THREAD_ENDED);
		assert_true(value(change.last->wakeups) > 50);
		expect_word(change.name, "sleepers");
	}
	after = plim_process_change(plim_threads_first(look.threads),
				    plim_threads_last(look.threads),
				    PLIM_FIELD_WAKEUPS);
	assert_true(value(after) == value(facts.listed_wakeups));
	assert_true(value(before) > 0);
}

/* The first sample stays where it is. */
static void test_extend(void **state)
{
	const char *const argv[] = {"sleepers", "1", NULL};
	const plim_process *first;
	uint64_t stamp;
	uint64_t last = 0;

	(void)state;
	look_start(argv);
	assert_int_equal(look_code(PLIM_THREAD_ALL, 1), PLIM_OK);
	stamp =
	    plim_process_stamp(plim_threads_last(look.threads)).monotonic.ns;
	for (int i = 0; i < 5; i++) {
		uint64_t now;

		child_sleep_ms(20);
		assert_int_equal(look_code(PLIM_THREAD_ALL, 1), PLIM_OK);
		first = plim_threads_first(look.threads);
		assert_true(plim_process_stamp(first).monotonic.ns == stamp);
		now = value(plim_threads_about(look.threads).listed_wakeups);
		assert_true(now > last);
		last = now;
	}
	sample(PLIM_THREAD_ALL);
	first = plim_threads_first(look.threads);
	assert_true(plim_process_stamp(first).monotonic.ns > stamp);
	assert_true(value(plim_threads_about(look.threads).listed_wakeups) <
		    last);
}

/* A known thread is proven by an inode: its stat is not read again. Three
 * calls for the list and the record; of each thread two opens, one proof, two
 * reads and two closes, and without status half of it. */
static void test_bill(void **state)
{
	const char *const argv[] = {"threads", "100", NULL};
	plim_cost cost;
	uint64_t first;

	(void)state;
	look_start(argv);
	sample(PLIM_THREAD_SWITCHES | PLIM_THREAD_TIMES | PLIM_THREAD_NAME);
	first = plim_threads_cost(look.threads).system_calls;
	assert_in_range(first, 101 * 10, 101 * 10 + 16);
	sample(PLIM_THREAD_SWITCHES | PLIM_THREAD_TIMES);
	cost = plim_threads_cost(look.threads);
	assert_in_range(cost.system_calls, 101 * 7, 101 * 7 + 16);
	expect_sums();
	sample(PLIM_THREAD_TIMES);
	cost = plim_threads_cost(look.threads);
	assert_in_range(cost.system_calls, 101 * 4, 101 * 4 + 16);
	assert_int_equal(cost.read, 1);
	for (size_t i = 0; i < 101; i++)
		expect_word(plim_threads_at(look.threads, i)->name, "threads");
	/* The proof was that of schedstat; of status there is none yet. */
	sample(PLIM_THREAD_SWITCHES);
	cost = plim_threads_cost(look.threads);
	assert_in_range(cost.system_calls, 101 * 7, 101 * 7 + 16);
	sample(PLIM_THREAD_SWITCHES);
	cost = plim_threads_cost(look.threads);
	assert_in_range(cost.system_calls, 101 * 4, 101 * 4 + 16);
}

/* A target that ended leaves both samples as they were. */
static void test_ended(void **state)
{
	const char *const argv[] = {"sleepers", "2", NULL};
	plim_error error = {0};
	plim_threads_facts before;
	plim_threads_facts after;

	(void)state;
	look_start(argv);
	sample(PLIM_THREAD_ALL);
	child_sleep_ms(20);
	sample(PLIM_THREAD_ALL);
	before = plim_threads_about(look.threads);
	spawn_end(&look.spawn);
	assert_int_equal(
	    plim_threads_sample(look.threads, look.target, NULL, &error),
	    PLIM_ENOPROCESS);
	assert_int_equal(error.code, PLIM_ENOPROCESS);
	assert_int_equal(plim_threads_cost(look.threads).vanished, 1);
	after = plim_threads_about(look.threads);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_int_equal(plim_threads_count(look.threads), 3);
	expect_sums();
}

/* A zombie has one thread, whose counts stand still. */
static void test_zombie(void **state)
{
	const char *const argv[] = {"sleepers", "2", NULL};
	const plim_thread *thread;

	(void)state;
	look_start(argv);
	sample(PLIM_THREAD_ALL);
	kill(look.spawn.pid, SIGKILL);
	waitid(P_PID, (id_t)look.spawn.pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(plim_threads_count(look.threads), 1);
	thread = plim_threads_at(look.threads, 0);
	assert_int_equal(thread->state, 'Z');
	assert_int_equal(thread->tid, look.spawn.pid);
	value(thread->wakeups);
	assert_int_equal(plim_threads_about(look.threads).exited, 2);
	expect_sums();
}

/* The main thread has ended and others live: it is listed, and so are they. */
static void test_leader_ended(void **state)
{
	const char *const argv[] = {"leader", "1", NULL};

	(void)state;
	look_start(argv);
	child_sleep_ms(50);
	sample(PLIM_THREAD_ALL);
	spawn_ask(&look.spawn, "truth");
	assert_int_equal(plim_threads_count(look.threads),
			 spawn_truth(&look.spawn, "threads") + 1);
	assert_int_equal(find(look.spawn.pid)->state, 'Z');
	assert_int_equal(
	    find(look.spawn.pid)->system_call.state == PLIM_STATE_KNOWN, 0);
	sample(PLIM_THREAD_ALL);
	expect_sums();
	assert_int_equal(plim_threads_about(look.threads).exited, 0);
}

/* Another process than before begins anew. */
static void test_other_process(void **state)
{
	const char *const argv[] = {"sleepers", "2", NULL};
	struct spawn other;
	plim_target *first;

	(void)state;
	look_start(argv);
	spawn_start(&other, (const char *const[]){"threads", "3", NULL});
	sample(PLIM_THREAD_ALL);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(plim_threads_changes(look.threads), 3);
	first = look.target;
	look.target = open_target(look.host, other.pid);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(plim_threads_changes(look.threads), 0);
	assert_int_equal(plim_threads_exited(look.threads), 0);
	assert_null(plim_threads_first(look.threads));
	assert_int_equal(plim_threads_count(look.threads), 4);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(plim_threads_changes(look.threads), 4);
	plim_target_close(look.target);
	look.target = first;
	spawn_end(&other);
}

/* --- this process itself ------------------------------------------------- */

static atomic_int self_stop;

static void self_sleep(int count)
{
	const struct timespec time = {0, 1000000};

	for (int i = 0; i < count; i++)
		nanosleep(&time, NULL);
}

static void *self_sleeps(void *user)
{
	prctl(PR_SET_NAME, (const char *)user);
	while (!atomic_load(&self_stop))
		self_sleep(1);
	return NULL;
}

static void *self_sleeps_fifty(void *user)
{
	(void)user;
	self_sleep(50);
	return NULL;
}

/* The process's own count tells what threads added that have ended, those
 * that came and went included. */
static void test_self(void **state)
{
	pthread_t living;
	pthread_t passing;
	plim_threads_facts facts;
	plim_count gone;

	(void)state;
	atomic_store(&self_stop, 0);
	assert_int_equal(
	    pthread_create(&living, NULL, self_sleeps, (void *)"night owl"), 0);
	child_sleep_ms(20);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(
	    pthread_create(&passing, NULL, self_sleeps_fifty, NULL), 0);
	pthread_join(passing, NULL);
	sample(PLIM_THREAD_ALL);
	facts = plim_threads_about(look.threads);
	gone = facts.exited_wakeups_in_window;
	assert_int_equal(gone.state, PLIM_STATE_KNOWN);
	assert_int_equal(gone.method, PLIM_METHOD_GETRUSAGE);
	/* A few more than its sleeps: it starts, and it ends. */
	assert_in_range(gone.value, gone.bound == PLIM_BOUND_EXACT ? 50 : 40,
			56);
	assert_int_equal(facts.last, 2);
	expect_sums();
	expect_word(plim_threads_change(look.threads, 0).name, "night owl");
	assert_true(value(plim_threads_change(look.threads, 0).wakeups) >= 40);
	atomic_store(&self_stop, 1);
	pthread_join(living, NULL);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(plim_threads_exited(look.threads), 1);
	assert_int_equal(
	    plim_threads_about(look.threads).exited_wakeups_in_window.state,
	    PLIM_STATE_KNOWN);
	/* Nobody else is left: exact, and nothing more is added. */
	sample(PLIM_THREAD_SWITCHES);
	gone = plim_threads_about(look.threads).exited_wakeups_in_window;
	assert_int_equal(value(gone), 0);
	assert_int_equal(gone.bound, PLIM_BOUND_EXACT);
}

/* The name of the thread that is not the main one, in its change. */
static plim_text names_other(void)
{
	size_t rank = plim_threads_change(look.threads, 0).last->is_main;

	assert_int_equal(plim_threads_changes(look.threads), 2);
	return plim_threads_change(look.threads, rank).name;
}

static int32_t self_start(pthread_t *thread)
{
	int32_t tid = 0;

	assert_int_equal(
	    pthread_create(thread, NULL, self_sleeps, (void *)"one"), 0);
	while (tid == 0) {
		self_sleep(2);
		sample(PLIM_THREAD_NAME);
		for (size_t i = 0; i < plim_threads_count(look.threads); i++) {
			const plim_thread *it =
			    plim_threads_at(look.threads, i);

			if (it->name.bytes.size == 3)
				tid = it->tid;
		}
	}
	return tid;
}

/* As many as before, of whom one is another; and one more. Who takes the
 * threads that he knows for all there are would miss them. */
static void test_turnover(void **state)
{
	const uint32_t parts = PLIM_THREAD_SWITCHES | PLIM_THREAD_TIMES;
	pthread_t threads[3];
	int32_t first;
	plim_threads_facts facts;

	(void)state;
	atomic_store(&self_stop, 0);
	first = self_start(&threads[0]);
	sample(parts);
	assert_int_equal(plim_threads_count(look.threads), 2);
	atomic_store(&self_stop, 1);
	pthread_join(threads[0], NULL);
	atomic_store(&self_stop, 0);
	assert_int_equal(
	    pthread_create(&threads[1], NULL, self_sleeps, (void *)"two"), 0);
	sample(parts);
	facts = plim_threads_about(look.threads);
	assert_int_equal(facts.first, 2);
	assert_int_equal(facts.last, 2);
	assert_int_equal(facts.born, 1);
	assert_int_equal(facts.exited, 1);
	assert_null(find(first));
	expect_sums();
	assert_int_equal(
	    pthread_create(&threads[2], NULL, self_sleeps, (void *)"three"), 0);
	sample(parts);
	facts = plim_threads_about(look.threads);
	assert_int_equal(facts.last, 3);
	assert_int_equal(facts.born, 1);
	assert_int_equal(facts.exited, 0);
	expect_sums();
	atomic_store(&self_stop, 1);
	pthread_join(threads[1], NULL);
	pthread_join(threads[2], NULL);
}

/* A name is what the thread calls itself, whatever bytes that are, and is
 * read again. */
static void test_names(void **state)
{
	pthread_t thread;

	(void)state;
	atomic_store(&self_stop, 0);
	assert_int_equal(pthread_create(&thread, NULL, self_sleeps,
					(void *)"a) R \x1b[31m\n"),
			 0);
	child_sleep_ms(20);
	sample(PLIM_THREAD_NAME | PLIM_THREAD_SWITCHES);
	sample(PLIM_THREAD_SWITCHES);
	expect_word(names_other(), "a) R \x1b[31m\n");
	assert_int_equal(pthread_setname_np(thread, "tame"), 0);
	sample(PLIM_THREAD_SWITCHES);
	expect_word(names_other(), "a) R \x1b[31m\n");
	sample(PLIM_THREAD_SWITCHES | PLIM_THREAD_NAME);
	expect_word(names_other(), "tame");
	atomic_store(&self_stop, 1);
	pthread_join(thread, NULL);
}

/* --- a number that is used again ------------------------------------------ */

static atomic_int reuse_tid;

static void *reuse_run(void *user)
{
	int naps = *(const int *)user;

	self_sleep(naps);
	atomic_store(&reuse_tid, (int)syscall(SYS_gettid));
	while (!atomic_load(&self_stop))
		self_sleep(1);
	return NULL;
}

static int reuse_last_pid(int tid)
{
	char text[16];
	int size = snprintf(text, sizeof(text), "%d", tid - 1);
	int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	ssize_t put = file < 0 ? -1 : write(file, text, (size_t)size);

	if (file >= 0)
		close(file);
	return put == size ? 0 : -1;
}

static void reuse_start(pthread_t *thread, int *naps)
{
	atomic_store(&self_stop, 0);
	atomic_store(&reuse_tid, 0);
	assert_int_equal(pthread_create(thread, NULL, reuse_run, naps), 0);
	while (atomic_load(&reuse_tid) == 0)
		self_sleep(1);
}

static void reuse_stop(pthread_t thread)
{
	atomic_store(&self_stop, 1);
	pthread_join(thread, NULL);
}

/* Two threads have one number, one after the other, and share nothing. */
static void reuse_body(void *user)
{
	const uint32_t parts = PLIM_THREAD_ALL;
	int naps[2] = {40, 3};
	pthread_t thread;
	int tid;

	(void)user;
	look.host = open_host(0);
	assert_int_equal(plim_threads_new(&look.threads, look.host, NULL),
			 PLIM_OK);
	reuse_start(&thread, &naps[0]);
	tid = atomic_load(&reuse_tid);
	sample(parts);
	assert_true(value(find(tid)->wakeups) >= 40);
	reuse_stop(thread);
	/* Its number is free, and the tick another one. */
	child_sleep_ms(30);
	if (reuse_last_pid(tid) != 0)
		SKIP_BECAUSE("choosing the next pid is refused here");
	reuse_start(&thread, &naps[1]);
	assert_int_equal(atomic_load(&reuse_tid), tid);
	sample(parts);
	assert_int_equal(plim_threads_exited(look.threads), 1);
	assert_int_equal(plim_threads_exited_at(look.threads, 0).last->tid,
			 tid);
	assert_int_equal(plim_threads_about(look.threads).born, 1);
	assert_true(value(find(tid)->wakeups) < 40);
	for (size_t i = 0; i < 2; i++) {
		plim_thread_change change =
		    plim_threads_change(look.threads, i);

		assert_int_equal(change.born, change.last->tid == tid);
		if (change.born)
			assert_true(value(change.wakeups) ==
				    value(change.last->wakeups));
	}
	expect_sums();
	reuse_stop(thread);
}

static void test_tid_reuse(void **state)
{
	(void)state;
	ns_run(NULL, reuse_body, NULL);
}

/* --- refused -------------------------------------------------------------- */

/* Who may not trace it learns the counts and not what it blocks in. */
static void denied_body(void *user)
{
	const pid_t *pid = user;

	if (geteuid() == 0)
		child_become(65534);
	look.host = open_host(0);
	look.target = open_target(look.host, *pid);
	assert_int_equal(plim_threads_new(&look.threads, look.host, NULL),
			 PLIM_OK);
	sample(PLIM_THREAD_ALL);
	sample(PLIM_THREAD_ALL);
	expect_sums();
	for (size_t i = 0; i < plim_threads_count(look.threads); i++) {
		const plim_thread *thread = plim_threads_at(look.threads, i);

		value(thread->wakeups);
		value(thread->cpu_ns);
		assert_int_equal(thread->name.state, PLIM_STATE_KNOWN);
		assert_true(thread->state != 0);
		assert_int_equal(thread->system_call.method,
				 PLIM_REASON_NOT_PERMITTED);
		assert_int_equal(thread->system_call.code, EACCES);
		/* The kernel says 0 where it does not tell. */
		assert_int_equal(thread->wait_channel.method,
				 PLIM_REASON_NO_WAIT);
		assert_int_equal(thread->blocked_in.method,
				 PLIM_REASON_NOT_PERMITTED);
	}
}

static void test_denied(void **state)
{
	pid_t pid = 1;

	(void)state;
	if (geteuid() == 0) {
		spawn_start(&look.spawn,
			    (const char *const[]){"threads", "2", NULL});
		pid = look.spawn.pid;
	}
	child_run(denied_body, &pid);
}

/* --- no free descriptor ----------------------------------------------------
 */

/* With few descriptors all is as it is, or it is an error; what was there
 * before stays. */
static void starved_sample(pid_t pid, uint32_t parts)
{
	const plim_threads_options some = {.size = sizeof(some),
					   .parts = parts};
	struct rlimit limit = {0, 0};
	struct rlimit before;
	plim_error error;
	int refused = 0;
	int code = PLIM_ENOMEM;

	look.host = open_host(0);
	look.target = open_target(look.host, pid);
	assert_int_equal(plim_threads_new(&look.threads, look.host, NULL),
			 PLIM_OK);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit;
	for (limit.rlim_cur = 3; code != PLIM_OK; limit.rlim_cur++) {
		assert_true(limit.rlim_cur < 200);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		code = plim_threads_sample(look.threads, look.target, &some,
					   &error);
		refused += code == PLIM_ESYSTEM;
		if (code != PLIM_OK) {
			assert_int_equal(code, PLIM_ESYSTEM);
			assert_int_equal(error.system, EMFILE);
			assert_int_equal(plim_threads_changes(look.threads), 0);
		}
		assert_int_equal(plim_threads_count(look.threads), 4);
	}
	assert_true(refused > 0);
	assert_int_equal(plim_threads_changes(look.threads), 4);
	expect_sums();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	plim_threads_free(look.threads);
	plim_target_close(look.target);
	plim_host_close(look.host);
}

static void starved_body(void *user)
{
	static const uint32_t parts[] = {
	    PLIM_THREAD_SWITCHES | PLIM_THREAD_TIMES, PLIM_THREAD_ALL};
	const pid_t *pid = user;

	for (size_t i = 0; i < 2; i++)
		starved_sample(*pid, parts[i]);
}

static void test_starved(void **state)
{
	(void)state;
	spawn_start(&look.spawn, (const char *const[]){"threads", "3", NULL});
	child_run(starved_body, &look.spawn.pid);
}
/* --- a recording ---------------------------------------------------------- */

static void fixture_thread(struct fixture *fixture, int tid, const char *file,
			   const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "10/task/%d/%s", tid, file);
	fixture_text(fixture, path, text);
}

static void fixture_stat(struct fixture *fixture, int tid, const char *state)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "%d (th %d) %s 1 10 10 0 -1 4194304 1 0 2 0 30 40 5 6 20 0 7 "
		 "0 %d 10240000 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 "
		 "0 17 1 0 0 25 0 0 1 1 1 1000 1017 1 1 0\n",
		 tid, tid, state, 100000 + tid);
	fixture_thread(fixture, tid, "stat", text);
}

static void test_fixture(void **state)
{
	struct fixture fixture;
	const plim_thread *thread;
	plim_threads_facts facts;

	(void)state;
	plim_threads_free(look.threads);
	plim_host_close(look.host);
	fixture_new(&fixture);
	fixture_host(&fixture, 0);
	fixture_process(&fixture, 10, "ten", 3);
	fixture_thread(&fixture, 10, "syscall", "0\n");
	fixture_thread(&fixture, 10, "wchan", "0");
	fixture_stat(&fixture, 12, "D");
	fixture_thread(&fixture, 12, "status",
		       "voluntary_ctxt_switches:\t12\n"
		       "nonvoluntary_ctxt_switches:\t2\n");
	fixture_thread(&fixture, 12, "schedstat", "120 240 360\n");
	fixture_thread(&fixture, 12, "syscall", "-1 0x7ffd 0x55aa\n");
	fixture_thread(&fixture, 12, "wchan", "folio_wait_bit_common");
	fixture_stat(&fixture, 13, "S");
	fixture_thread(&fixture, 13, "status", "nothing\n");
	fixture_thread(&fixture, 13, "syscall",
		       "9999 0x0 0x0 0x0 0x0 0x0 0x0 0x7fff00000000 0x1\n");
	fixture_thread(&fixture, 13, "wchan", "not a symbol");
	/* A 32-bit program's numbers have other names. */
	fixture_stat(&fixture, 14, "S");
	fixture_thread(&fixture, 14, "syscall",
		       "162 0x0 0x0 0x0 0x0 0x0 0x0 0xffd11000 0xf7f01000\n");
	fixture_thread(&fixture, 14, "schedstat", "garbage\n");
	look.host = open_root(fixture.root, 0);
	look.target = open_target(look.host, 10);
	assert_int_equal(plim_threads_new(&look.threads, look.host, NULL),
			 PLIM_OK);
	sample(PLIM_THREAD_ALL);
	assert_int_equal(plim_threads_count(look.threads), 4);
	thread = find(10);
	assert_int_equal(value(thread->system_call), 0);
	/* A recording does not say of what machine it is. */
	expect_word(thread->blocked_in, "syscall_0");
	assert_string_equal(plim_system_call_name(look.host, 0), "");
	assert_int_equal(thread->wait_channel.method, PLIM_REASON_NO_WAIT);
	assert_int_equal(value(thread->wakeups), 77);
	assert_int_equal(value(thread->cpu_ns), 7770000000u);
	thread = find(12);
	assert_int_equal(thread->system_call.method, PLIM_REASON_NO_CALL);
	expect_word(thread->wait_channel, "folio_wait_bit_common");
	expect_word(thread->blocked_in, "folio_wait_bit_common");
	expect_word(thread->name, "th 12");
	assert_int_equal(thread->state, 'D');
	assert_int_equal(value(thread->runqueue_ns), 240);
	assert_int_equal(value(thread->switches_in), 360);
	thread = find(13);
	assert_int_equal(value(thread->system_call), 9999);
	expect_word(thread->blocked_in, "syscall_9999");
	assert_int_equal(thread->wait_channel.method, PLIM_REASON_BAD_TEXT);
	assert_int_equal(thread->wakeups.method, PLIM_REASON_BAD_TEXT);
	assert_int_equal(value(thread->start_ticks), 100013);
	thread = find(14);
	expect_word(thread->blocked_in, "syscall_162");
	sample(PLIM_THREAD_ALL);
	facts = plim_threads_about(look.threads);
	assert_int_equal(facts.listed_wakeups.state, PLIM_STATE_MALFORMED);
	assert_int_equal(facts.exited, 0);
	/* Seven threads by its stat, and not one of them recorded. */
	fixture_text(
	    &fixture, "11/stat",
	    "11 (x) S 1 1 1 0 -1 4194304 1 0 1 0 1 1 0 0 20 0 7 0 99 1 "
	    "1 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 "
	    "0 0 0 1 1 1 1 1 1 1 0\n");
	plim_target_close(look.target);
	look.target = open_target(look.host, 11);
	assert_int_equal(look_code(PLIM_THREAD_ALL, 0), PLIM_EUNSUPPORTED);
	assert_int_equal(plim_threads_count(look.threads), 4);
	/* Of one thread its own files are enough. */
	fixture_text(
	    &fixture, "11/stat",
	    "11 (x) S 1 1 1 0 -1 4194304 1 0 1 0 1 1 0 0 20 0 1 0 99 1 "
	    "1 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 "
	    "0 0 0 1 1 1 1 1 1 1 0\n");
	fixture_text(&fixture, "11/schedstat", "5 6 7\n");
	sample(PLIM_THREAD_ALL);
	assert_int_equal(plim_threads_count(look.threads), 1);
	assert_int_equal(value(find(11)->switches_in), 7);
	assert_int_equal(find(11)->wakeups.method, PLIM_REASON_NO_FILE);
	expect_word(find(11)->name, "x");
	fixture_free(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_sleepers, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_blocked, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_running, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_little_cpu, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_threads_end, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_extend, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_bill, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_ended, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_zombie, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_leader_ended, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_other_process, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_self, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_turnover, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_names, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_tid_reuse, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_denied, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_starved, look_setup,
					    look_teardown),
	    cmocka_unit_test_setup_teardown(test_fixture, look_setup,
					    look_teardown),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
