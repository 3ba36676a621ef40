/*
 * test_macos_threads.c - threads of processes on a made-up Mac: what is told of
 * each, lists that grow, threads that end while they are read, too many, and
 * what two samples say of each other.
 */
#include "fake.h"

#include <plimsoll/thread.h>
#include <plimsoll/usage.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static plim_host *host;
static plim_target *target;
static plim_threads *threads;
static struct fake_thread *made;

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	made = calloc(FAKE_THREADS, sizeof *made);
	if (made == NULL)
		return -1;
	fake_add(200, 1, "threaded");
	fake_find(200)->threads = made;
	return plim_host_open(&host, NULL, NULL) ||
	       plim_threads_new(&threads, host, NULL) ||
	       plim_target_open(&target, host, 200, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	plim_target_close(target);
	plim_threads_free(threads);
	plim_host_close(host);
	free(made);
	return 0;
}

/* So many, of which number i has the id 5000 + i and has run i ms. */
static void make(size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		made[i] = (struct fake_thread){
		    .id = 5000 + i,
		    .user_ns = i * 750000,
		    .system_ns = i * 250000,
		    .state = 3,
		};
	fake_find(200)->thread_count = count;
}

static void sample(void)
{
	plim_error error;

	assert_int_equal(plim_threads_sample(threads, target, NULL, &error),
			 PLIM_OK);
}

static void test_each(void **state)
{
	const plim_thread *thread;

	(void)state;
	make(3);
	made[0].name = "main";
	made[1].state = 1;
	made[2].state = 4;
	made[2].name = "a\nb";
	sample();
	assert_int_equal(plim_threads_count(threads), 3);
	thread = plim_threads_at(threads, 2);
	assert_int_equal(thread->tid, 5002);
	assert_int_equal(thread->is_main, 0);
	assert_int_equal(thread->state, 'D');
	assert_int_equal(thread->cpu_ns.state, PLIM_STATE_KNOWN);
	assert_int_equal(thread->cpu_ns.value, 2000000);
	assert_int_equal(thread->cpu_ns.method, PLIM_METHOD_MAC_THREAD);
	assert_int_equal(thread->name.state, PLIM_STATE_KNOWN);
	assert_int_equal(thread->name.bytes.size, 3);
	assert_memory_equal(thread->name.bytes.data, "a\nb", 3);
	assert_int_equal(thread->start_ticks.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(thread->wakeups.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(thread->wakeups.method, PLIM_REASON_HOST_NEVER);
	assert_int_equal(thread->involuntary.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(thread->runqueue_ns.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(thread->switches_in.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(thread->system_call.state, PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_threads_at(threads, 1)->state, 'R');
	assert_int_equal(plim_threads_at(threads, 0)->name.bytes.size, 4);
}

/* An id that happens to be the process's makes no main thread. */
static void test_same_number(void **state)
{
	(void)state;
	make(1);
	made[0].id = 200;
	sample();
	assert_int_equal(plim_threads_at(threads, 0)->tid, 200);
	assert_int_equal(plim_threads_at(threads, 0)->is_main, 0);
}

/* 64, 128, 256, ...: a list that fills its room is asked for again. */
static void test_growth(void **state)
{
	static const struct {
		size_t count;
		size_t lists;
	} rows[] = {{63, 1}, {64, 2}, {127, 2}, {128, 3}, {1000, 5}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		make(rows[i].count);
		fake.thread_lists = 0;
		sample();
		assert_int_equal(plim_threads_count(threads), rows[i].count);
		assert_int_equal(fake.thread_lists, rows[i].lists);
	}
}

static void test_limit(void **state)
{
	plim_error error;

	(void)state;
	make(PLIM_THREAD_LIMIT);
	sample();
	assert_int_equal(plim_threads_count(threads), PLIM_THREAD_LIMIT);
	make(PLIM_THREAD_LIMIT + 1);
	assert_int_equal(plim_threads_sample(threads, target, NULL, &error),
			 PLIM_ELIMIT);
	/* The sample of before stands. */
	assert_int_equal(plim_threads_count(threads), PLIM_THREAD_LIMIT);
}

static void test_vanish(void **state)
{
	(void)state;
	make(5);
	made[2].ended = 1;
	sample();
	assert_int_equal(plim_threads_count(threads), 4);
	assert_int_equal(plim_threads_at(threads, 1)->tid, 5001);
	assert_int_equal(plim_threads_at(threads, 2)->tid, 5003);
}

/* The list comes in any order. */
static void test_order(void **state)
{
	(void)state;
	make(3);
	made[0].id = 7000;
	sample();
	assert_int_equal(plim_threads_at(threads, 0)->tid, 5001);
	assert_int_equal(plim_threads_at(threads, 2)->tid, 7000);
}

static void test_change(void **state)
{
	plim_thread_change change;
	size_t i;
	int born = 0;

	(void)state;
	make(3);
	sample();
	fake.absolute += 24000000;
	fake.continuous += 24000000;
	made[1].user_ns += 400000000;
	made[2] = (struct fake_thread){.id = 6000, .user_ns = 9000};
	sample();
	assert_int_equal(plim_threads_changes(threads), 3);
	for (i = 0; i < 3; i++) {
		change = plim_threads_change(threads, i);
		if (change.last->tid == 5001)
			assert_int_equal(change.cpu_ns.value, 400000000);
		if (change.last->tid == 6000)
			assert_int_equal(change.cpu_ns.value, 9000);
		assert_int_equal(change.wakeups.state, PLIM_STATE_UNSUPPORTED);
		born += change.born;
	}
	assert_int_equal(born, 1);
	assert_int_equal(plim_threads_exited(threads), 1);
	assert_int_equal(plim_threads_exited_at(threads, 0).last->tid, 5002);
}

static void test_refused(void **state)
{
	plim_error error;

	(void)state;
	make(3);
	fake_find(200)->uid = 0;
	assert_int_equal(plim_threads_sample(threads, target, NULL, &error),
			 PLIM_EDENIED);
}

/* Only a thread that is not there has ended: what is not understood, or not
 * told, is not "no threads". */
static void test_no_answers(void **state)
{
	plim_error error;

	(void)state;
	make(3);
	made[0].ended = 1;
	fake.cut = PLIMP_MAC_THREAD_BY_ID;
	assert_int_equal(plim_threads_sample(threads, target, NULL, &error),
			 PLIM_EMALFORMED);
	fake.cut = 0;
	made[2].error = EPERM;
	assert_int_equal(plim_threads_sample(threads, target, NULL, &error),
			 PLIM_EDENIED);
	made[2].error = EIO;
	assert_int_equal(plim_threads_sample(threads, target, NULL, &error),
			 PLIM_ESYSTEM);
	assert_int_equal(error.system, EIO);
	made[2].error = 0;
	sample();
	assert_int_equal(plim_threads_count(threads), 2);
}

/* Above what a tid can hold nothing is told, instead of another number. */
static void test_large_id(void **state)
{
	plim_error error;

	(void)state;
	make(3);
	made[1].id = UINT64_C(1) << 31;
	assert_int_equal(plim_threads_sample(threads, target, NULL, &error),
			 PLIM_ESYSTEM);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_each),	 TEST(test_same_number), TEST(test_growth),
	    TEST(test_limit),	 TEST(test_vanish),	 TEST(test_order),
	    TEST(test_change),	 TEST(test_refused),	 TEST(test_no_answers),
	    TEST(test_large_id),
	};

	return cmocka_run_group_tests_name("macos_threads", tests, NULL, NULL);
}
