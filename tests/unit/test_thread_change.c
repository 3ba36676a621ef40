/*
 * test_thread_change.c - what threads did between two samples, their order, who
 * was born and who exited, and the sums, over lists that are made up here.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "observe/threads.h"

#include <stdlib.h>
#include <string.h>

#define MOST 64

/* A thread of a sample; below 0: its wake-ups are not known. */
struct made {
	int32_t tid;
	uint64_t start;
	int64_t wakeups;
	const char *name; /* NULL: not read */
};

struct side {
	struct plimp_thread items[MOST];
	plim_thread shown[MOST];
};

static struct side sides[2];
static struct plimp_threads_pair pairs[2 * MOST];
static plim_threads threads;

static plim_count known(uint64_t value, int method)
{
	return plim_count_known(value, method);
}

static void fill(int side, const struct made *made, size_t count)
{
	struct plimp_threads_side *to = &threads.sides[side];

	assert_in_range(count, 0, MOST);
	for (size_t i = 0; i < count; i++) {
		struct plimp_thread *item = &sides[side].items[i];
		plim_thread *shown = &sides[side].shown[i];

		memset(shown, 0, sizeof(*shown));
		item->tid = made[i].tid;
		item->start_ticks = made[i].start;
		shown->tid = made[i].tid;
		shown->is_main = made[i].tid == 100;
		shown->start_ticks =
		    known(made[i].start, PLIM_METHOD_THREAD_STAT);
		shown->wakeups =
		    made[i].wakeups < 0
			? plim_count_missing(PLIM_REASON_BAD_TEXT, 0)
			: known((uint64_t)made[i].wakeups,
				PLIM_METHOD_THREAD_STATUS);
		shown->cpu_ns = known(1000 * (i + 1) + (uint64_t)side * 50,
				      PLIM_METHOD_THREAD_SCHEDSTAT);
		shown->switches_in = known(7, PLIM_METHOD_THREAD_SCHEDSTAT);
		shown->runqueue_ns =
		    plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0);
		shown->name.state = PLIM_STATE_SKIPPED;
		shown->name.method = PLIM_REASON_NOT_ASKED;
		if (made[i].name != NULL) {
			shown->name.state = PLIM_STATE_KNOWN;
			shown->name.bytes.data = made[i].name;
			shown->name.bytes.size = strlen(made[i].name);
		}
	}
	to->list.items = sides[side].items;
	to->list.count = count;
	to->shown = sides[side].shown;
	to->record.threads.items = sides[side].items;
	to->record.threads.count = count;
	to->record.threads.known = 1;
}

static int setup(void **state)
{
	(void)state;
	memset(&threads, 0, sizeof(threads));
	threads.pairs = pairs;
	threads.samples = 2;
	threads.first = 0;
	threads.last = 1;
	/* The first sample was taken at tick 500. */
	threads.sides[0].record.stamp_ticks = 500;
	return 0;
}

#define PAIR(before, after)                                        \
	do {                                                       \
		fill(0, before, sizeof(before) / sizeof(*before)); \
		fill(1, after, sizeof(after) / sizeof(*after));    \
		plimp_threads_pair(&threads);                      \
	} while (0)

static void expect_tids(const int32_t *tids, size_t count)
{
	assert_int_equal(plim_threads_changes(&threads), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(plim_threads_change(&threads, i).last->tid,
				 tids[i]);
}

static void expect_known(plim_count figure, uint64_t value)
{
	assert_int_equal(figure.state, PLIM_STATE_KNOWN);
	assert_true(figure.value == value);
}

static void expect_missing(plim_count figure, int reason)
{
	assert_int_equal(figure.method, reason);
	assert_int_equal(figure.state, plim_reason_state(reason));
	assert_true(figure.value == 0);
}

/* Most first, ties by id. */
static void test_order(void **state)
{
	static const struct made before[] = {{100, 10, 5, "main"},
					     {101, 11, 100, "a"},
					     {102, 12, 100, "b"},
					     {103, 13, 7, "c"}};
	static const struct made after[] = {{100, 10, 5, "main"},
					    {101, 11, 103, "a"},
					    {102, 12, 190, "b"},
					    {103, 13, 10, "c"}};
	static const int32_t tids[] = {102, 101, 103, 100};
	plim_threads_facts facts;

	(void)state;
	PAIR(before, after);
	expect_tids(tids, 4);
	expect_known(plim_threads_change(&threads, 0).wakeups, 90);
	expect_known(plim_threads_change(&threads, 1).wakeups, 3);
	expect_known(plim_threads_change(&threads, 2).wakeups, 3);
	expect_known(plim_threads_change(&threads, 3).wakeups, 0);
	expect_known(plim_threads_change(&threads, 0).cpu_ns, 50);
	expect_missing(plim_threads_change(&threads, 0).runqueue_ns,
		       PLIM_REASON_KERNEL_LACKS);
	facts = plim_threads_about(&threads);
	assert_int_equal(facts.first, 4);
	assert_int_equal(facts.last, 4);
	assert_int_equal(facts.born, 0);
	assert_int_equal(facts.exited, 0);
	expect_known(facts.listed_wakeups, 96);
	assert_int_equal(facts.listed_wakeups.method,
			 PLIM_METHOD_THREAD_STATUS);
	expect_known(facts.listed_cpu_ns, 200);
	expect_known(facts.listed_switches_in, 0);
	expect_known(facts.exited_wakeups_at_start, 0);
	assert_true(facts.live_total_change.value == 96);
}

/* A rank that is none gives nothing, and takes nothing. */
static void test_none(void **state)
{
	static const struct made one[] = {{100, 10, 5, "main"}};
	plim_thread_change none;

	(void)state;
	PAIR(one, one);
	none = plim_threads_change(&threads, 1);
	assert_null(none.last);
	assert_int_equal(none.wakeups.state, PLIM_STATE_UNREAD);
	none = plim_threads_exited_at(&threads, 0);
	assert_null(none.last);
	assert_null(plim_threads_at(&threads, 1));
	assert_non_null(plim_threads_at(&threads, 0));
}

/* A thread that lacks a figure comes last, and no sum hides that. */
static void test_unknown_last(void **state)
{
	static const struct made before[] = {{100, 10, 5, "main"},
					     {101, 11, 9, "a"},
					     {102, 12, -1, "b"},
					     {103, 13, 9, "c"}};
	static const struct made after[] = {{100, 10, 5, "main"},
					    {101, 11, -1, "a"},
					    {102, 12, 900, "b"},
					    {103, 13, 10, "c"}};
	static const int32_t tids[] = {103, 100, 101, 102};
	plim_threads_facts facts;

	(void)state;
	PAIR(before, after);
	expect_tids(tids, 4);
	expect_missing(plim_threads_change(&threads, 2).wakeups,
		       PLIM_REASON_BAD_TEXT);
	facts = plim_threads_about(&threads);
	expect_missing(facts.listed_wakeups, PLIM_REASON_BAD_TEXT);
	assert_int_equal(facts.live_total_change.state, PLIM_STATE_MALFORMED);
	expect_known(facts.listed_cpu_ns, 200);
}

/* One was born, one exited; the sums hold together. */
static void test_born_and_exited(void **state)
{
	static const struct made before[] = {{90, 20, 40, "first"},
					     {100, 10, 5, "main"},
					     {101, 11, 1000, "old"},
					     {103, 13, 10, "c"},
					     {109, 19, 3, "end"}};
	static const struct made after[] = {{100, 10, 6, "main"},
					    {102, 600, 30, "new"},
					    {103, 13, 20, "c"},
					    {110, 499, 2, "just"}};
	static const int32_t tids[] = {102, 103, 110, 100};
	static const int32_t gone[] = {90, 101, 109};
	plim_threads_facts facts;
	plim_thread_change change;

	(void)state;
	PAIR(before, after);
	expect_tids(tids, 4);
	change = plim_threads_change(&threads, 0);
	assert_true(change.born);
	assert_false(change.exited);
	expect_known(change.wakeups, 30);
	assert_false(plim_threads_change(&threads, 1).born);
	/* Within the tick before the sample: it may be new. */
	assert_true(plim_threads_change(&threads, 2).born);
	assert_int_equal(plim_threads_exited(&threads), 3);
	for (size_t i = 0; i < 3; i++) {
		change = plim_threads_exited_at(&threads, i);
		assert_int_equal(change.last->tid, gone[i]);
		assert_true(change.exited);
		assert_false(change.born);
		expect_missing(change.wakeups, PLIM_REASON_THREAD_ENDED);
		expect_missing(change.cpu_ns, PLIM_REASON_THREAD_ENDED);
		assert_int_equal(change.name.state, PLIM_STATE_KNOWN);
	}
	expect_known(plim_threads_exited_at(&threads, 1).last->wakeups, 1000);
	facts = plim_threads_about(&threads);
	assert_int_equal(facts.born, 2);
	assert_int_equal(facts.exited, 3);
	expect_known(facts.listed_wakeups, 30 + 10 + 2 + 1);
	expect_known(facts.exited_wakeups_at_start, 40 + 1000 + 3);
	assert_true(facts.live_total_change.value == 43.0 - 1043.0);
	expect_missing(facts.exited_wakeups_in_window, PLIM_REASON_SELF_ONLY);
}

/* A number that is used again is another thread. */
static void test_tid_reuse(void **state)
{
	static const struct made before[] = {{100, 10, 5, "main"},
					     {101, 11, 1000, "old"}};
	static const struct made after[] = {{100, 10, 5, "main"},
					    {101, 700, 20, "new"}};
	plim_thread_change change;

	(void)state;
	PAIR(before, after);
	change = plim_threads_change(&threads, 0);
	assert_int_equal(change.last->tid, 101);
	assert_true(change.born);
	expect_known(change.wakeups, 20);
	assert_int_equal(plim_threads_exited(&threads), 1);
	change = plim_threads_exited_at(&threads, 0);
	assert_int_equal(change.last->start_ticks.value, 11);
	assert_memory_equal(change.name.bytes.data, "old", 3);
}

/* Older than the first sample and not in it: missed there, so that what it
 * did in the window is not known. */
static void test_missed(void **state)
{
	static const struct made before[] = {{100, 10, 5, "main"}};
	static const struct made after[] = {{100, 10, 7, "main"},
					    {101, 498, 1000, "missed"}};
	plim_threads_facts facts;
	plim_thread_change change;

	(void)state;
	PAIR(before, after);
	change = plim_threads_change(&threads, 1);
	assert_int_equal(change.last->tid, 101);
	assert_false(change.born);
	expect_missing(change.wakeups, PLIM_REASON_FIRST_SAMPLE);
	facts = plim_threads_about(&threads);
	assert_int_equal(facts.born, 0);
	expect_missing(facts.listed_wakeups, PLIM_REASON_FIRST_SAMPLE);
}

/* A count that fell is no count. */
static void test_went_back(void **state)
{
	static const struct made before[] = {{100, 10, 5, "main"}};
	static const struct made after[] = {{100, 10, 4, "main"}};

	(void)state;
	PAIR(before, after);
	expect_missing(plim_threads_change(&threads, 0).wakeups,
		       PLIM_REASON_WENT_BACK);
}

/* Another thread may have executed a program, and be the main one now. */
static void test_other_image(void **state)
{
	static const struct made before[] = {{100, 10, 5, "main"},
					     {101, 11, 900, "a"}};
	static const struct made after[] = {{100, 10, 905, "main"}};

	(void)state;
	fill(0, before, 2);
	fill(1, after, 1);
	threads.sides[0].record.image = 0x1000;
	threads.sides[1].record.image = 0x2000;
	plimp_threads_pair(&threads);
	expect_missing(plim_threads_change(&threads, 0).wakeups,
		       PLIM_REASON_OTHER_IMAGE);
	threads.sides[1].record.image = 0x1000;
	plimp_threads_pair(&threads);
	expect_known(plim_threads_change(&threads, 0).wakeups, 900);
}

/* A name that the second sample lacks is the first's. */
static void test_name_of_first(void **state)
{
	static const struct made before[] = {{100, 10, 5, "main"},
					     {101, 11, 5, "worker"}};
	static const struct made after[] = {
	    {100, 10, 6, "renamed"}, {101, 11, 5, NULL}, {102, 600, 0, NULL}};
	plim_thread_change change;

	(void)state;
	PAIR(before, after);
	change = plim_threads_change(&threads, 0);
	assert_int_equal(change.name.bytes.size, 7);
	change = plim_threads_change(&threads, 1);
	assert_int_equal(change.last->tid, 101);
	assert_int_equal(change.name.state, PLIM_STATE_KNOWN);
	assert_memory_equal(change.name.bytes.data, "worker", 6);
	change = plim_threads_change(&threads, 2);
	assert_int_equal(change.name.state, PLIM_STATE_SKIPPED);
}

static void own_counts(int side, uint64_t before, uint64_t after)
{
	plim_process *record = &threads.sides[side].record;

	plim_field_set_add(&record->asked, PLIM_FIELD_WAKEUPS);
	record->figures[PLIM_FIELD_WAKEUPS] =
	    known(before, PLIM_METHOD_GETRUSAGE);
	record->threads.wakeups_after = known(after, PLIM_METHOD_GETRUSAGE);
}

/* What exited threads added is what the whole process added, less what is
 * listed: exactly, or at least where something switched meanwhile. */
static void test_exited_in_window(void **state)
{
	static const struct made before[] = {{100, 10, 5, "main"},
					     {101, 11, 1000, "a"}};
	static const struct made after[] = {{100, 10, 25, "main"},
					    {102, 600, 30, "b"}};
	plim_count count;

	(void)state;
	PAIR(before, after);
	own_counts(0, 5000, 5000);
	own_counts(1, 5060, 5060);
	plimp_threads_pair(&threads);
	count = plim_threads_about(&threads).exited_wakeups_in_window;
	expect_known(count, 10);
	assert_int_equal(count.bound, PLIM_BOUND_EXACT);
	assert_int_equal(count.method, PLIM_METHOD_GETRUSAGE);
	own_counts(0, 5000, 5002);
	own_counts(1, 5060, 5061);
	plimp_threads_pair(&threads);
	count = plim_threads_about(&threads).exited_wakeups_in_window;
	expect_known(count, 8);
	assert_int_equal(count.bound, PLIM_BOUND_AT_LEAST);
	/* Less than nothing is no count: the least is none. */
	own_counts(0, 5000, 5020);
	plimp_threads_pair(&threads);
	count = plim_threads_about(&threads).exited_wakeups_in_window;
	expect_known(count, 0);
	assert_int_equal(count.bound, PLIM_BOUND_AT_LEAST);
	/* The whole added less than its parts. */
	own_counts(0, 5000, 5000);
	own_counts(1, 5049, 5049);
	plimp_threads_pair(&threads);
	expect_missing(plim_threads_about(&threads).exited_wakeups_in_window,
		       PLIM_REASON_WENT_BACK);
}

/* Sums do not wrap. */
static void test_large(void **state)
{
	static const struct made before[] = {
	    {100, 10, 0, "main"}, {101, 11, 0, "a"}, {102, 12, 0, "b"}};
	static const struct made after[] = {{100, 10, INT64_MAX, "main"},
					    {101, 11, INT64_MAX, "a"},
					    {102, 12, INT64_MAX, "b"}};
	plim_count sum;

	(void)state;
	PAIR(before, after);
	sum = plim_threads_about(&threads).listed_wakeups;
	expect_known(sum, UINT64_MAX);
	assert_int_equal(sum.bound, PLIM_BOUND_AT_LEAST);
}

static void test_one_sample(void **state)
{
	static const struct made one[] = {{100, 10, 5, "main"}};
	plim_threads_facts facts;
	plim_interval interval;

	(void)state;
	fill(1, one, 1);
	threads.samples = 0;
	facts = plim_threads_about(&threads);
	expect_missing(facts.listed_wakeups, PLIM_REASON_FIRST_SAMPLE);
	assert_int_equal(plim_threads_count(&threads), 0);
	assert_null(plim_threads_last(&threads));
	threads.samples = 1;
	threads.first = 1;
	plimp_threads_pair(&threads);
	assert_int_equal(plim_threads_count(&threads), 1);
	assert_int_equal(plim_threads_changes(&threads), 0);
	assert_int_equal(plim_threads_exited(&threads), 0);
	assert_null(plim_threads_first(&threads));
	assert_non_null(plim_threads_last(&threads));
	facts = plim_threads_about(&threads);
	assert_int_equal(facts.last, 1);
	expect_missing(facts.listed_wakeups, PLIM_REASON_FIRST_SAMPLE);
	expect_missing(facts.exited_wakeups_in_window,
		       PLIM_REASON_FIRST_SAMPLE);
	assert_int_equal(facts.live_total_change.state, PLIM_STATE_PENDING);
	assert_int_equal(plim_threads_interval(&threads, &interval, NULL),
			 PLIM_EINVAL);
}

/* Random lists, the seed the same each time: order, sums and who is who are
 * checked against the plain definition. */
static void test_random(void **state)
{
	struct made before[MOST / 2];
	struct made after[MOST];
	uint32_t seed = 12345;

	(void)state;
	for (int round = 0; round < 500; round++) {
		size_t count[2] = {0, 0};
		double live = 0;
		uint64_t listed = 0;
		uint64_t exited = 0;
		plim_threads_facts facts;

		for (int32_t tid = 1; tid <= MOST / 2; tid++) {
			uint32_t dice = seed = seed * 1664525u + 1013904223u;
			struct made one = {tid, 10, (int64_t)(dice >> 8 & 15),
					   NULL};

			if ((dice >> 28) < 10) {
				before[count[0]++] = one;
				live -= (double)one.wakeups;
			}
			if ((dice >> 28) < 6) {
				one.wakeups += (int64_t)(dice >> 20 & 7);
				listed += dice >> 20 & 7;
				after[count[1]++] = one;
				live += (double)one.wakeups;
			} else if ((dice >> 28) < 10) {
				exited += (uint64_t)one.wakeups;
			} else if ((dice >> 28) < 13) {
				one.start = 600;
				listed += (uint64_t)one.wakeups;
				after[count[1]++] = one;
				live += (double)one.wakeups;
			}
		}
		fill(0, before, count[0]);
		fill(1, after, count[1]);
		plimp_threads_pair(&threads);
		facts = plim_threads_about(&threads);
		assert_int_equal(plim_threads_changes(&threads), count[1]);
		assert_int_equal(facts.exited,
				 count[0] + facts.born - count[1]);
		expect_known(facts.listed_wakeups, listed);
		expect_known(facts.exited_wakeups_at_start, exited);
		assert_true(facts.live_total_change.value == live);
		for (size_t i = 1; i < count[1]; i++) {
			plim_thread_change a =
			    plim_threads_change(&threads, i - 1);
			plim_thread_change b = plim_threads_change(&threads, i);

			assert_true(a.wakeups.value > b.wakeups.value ||
				    (a.wakeups.value == b.wakeups.value &&
				     a.last->tid < b.last->tid));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_order, setup),
	    cmocka_unit_test_setup(test_none, setup),
	    cmocka_unit_test_setup(test_unknown_last, setup),
	    cmocka_unit_test_setup(test_born_and_exited, setup),
	    cmocka_unit_test_setup(test_tid_reuse, setup),
	    cmocka_unit_test_setup(test_missed, setup),
	    cmocka_unit_test_setup(test_went_back, setup),
	    cmocka_unit_test_setup(test_other_image, setup),
	    cmocka_unit_test_setup(test_name_of_first, setup),
	    cmocka_unit_test_setup(test_exited_in_window, setup),
	    cmocka_unit_test_setup(test_large, setup),
	    cmocka_unit_test_setup(test_one_sample, setup),
	    cmocka_unit_test_setup(test_random, setup),
	};

	return cmocka_run_group_tests_name("thread_change", tests, NULL, NULL);
}
