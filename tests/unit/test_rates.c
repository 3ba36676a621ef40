/*
 * test_rates.c - intervals, changes and rates between two records.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll/usage.h>

#include "core/rates.h"
#include "core/record.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SECOND	     UINT64_C(1000000000)
#define MILLISECOND  UINT64_C(1000000)

static plim_process first;
static plim_process last;

/* Two records of one process, two seconds apart. */
static int make_pair(void **state)
{
	plim_field_set asked = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_identity identity = {
	    .pid = 7, .has = PLIM_IDENTITY_START, .start_ticks = 100};

	(void)state;
	plimp_record_clear(&first, &asked);
	plimp_record_clear(&last, &asked);
	plimp_record_identity(&first, &identity);
	plimp_record_identity(&last, &identity);
	first.stamp.monotonic.ns = 10 * SECOND;
	first.stamp.boottime.ns = 50 * SECOND;
	last.stamp.monotonic.ns = 12 * SECOND;
	last.stamp.boottime.ns = 52 * SECOND;
	return 0;
}

static void set_both(int field, uint64_t before, uint64_t after, int method)
{
	plimp_record_set(&first, field, plim_count_known(before, method));
	plimp_record_set(&last, field, plim_count_known(after, method));
}

static void make_other(void)
{
	plim_identity identity = first.identity;

	identity.start_ticks++;
	plimp_record_identity(&last, &identity);
}

static void check_interval(uint64_t elapsed, uint64_t suspended)
{
	plim_interval interval = {.elapsed_ns = 1, .suspended_ns = 1};

	assert_int_equal(plim_process_interval(&first, &last, &interval, NULL),
			 PLIM_OK);
	assert_int_equal(interval.elapsed_ns, elapsed);
	assert_int_equal(interval.suspended_ns, suspended);
}

static void test_interval(void **state)
{
	make_pair(state);
	check_interval(2 * SECOND, 0);
	last.stamp.boottime.ns += 3600 * SECOND;
	check_interval(2 * SECOND, 3600 * SECOND);
	/* Less than a millisecond is the time between the two readings. */
	last.stamp.boottime.ns = 52 * SECOND + MILLISECOND - 1;
	check_interval(2 * SECOND, 0);
	last.stamp.boottime.ns = 52 * SECOND + MILLISECOND;
	check_interval(2 * SECOND, MILLISECOND);
	last.stamp.boottime.ns = 52 * SECOND - 300;
	check_interval(2 * SECOND, 0);
	last.stamp = first.stamp;
	check_interval(0, 0);
	last.stamp.monotonic.ns--;
	check_interval(0, 0);
	last.stamp.boottime.ns = 0;
	check_interval(0, 0);
}

static void test_interval_errors(void **state)
{
	plim_interval interval = {.elapsed_ns = 11, .suspended_ns = 22};
	plim_error error;

	make_pair(state);
	make_other();
	assert_int_equal(
	    plim_process_interval(&first, &last, &interval, &error),
	    PLIM_EUNLIKE);
	assert_int_equal(error.code, PLIM_EUNLIKE);
	assert_string_equal(error.path, "7@t101");
	assert_string_equal(error.detail, "earlier it was 7@t100");
	last.identity.has = 0;
	assert_int_equal(
	    plim_process_interval(&first, &last, &interval, &error),
	    PLIM_ECANNOTTELL);
	assert_int_equal(error.code, PLIM_ECANNOTTELL);
	assert_int_equal(interval.elapsed_ns, 11);
	assert_int_equal(interval.suspended_ns, 22);
}

static void check_change(int field, int state, int method)
{
	plim_count change = plim_process_change(&first, &last, field);
	plim_real rate = plim_process_rate(&first, &last, field);

	assert_int_equal(change.state, state);
	assert_int_equal(change.method, method);
	assert_int_equal(rate.state, state);
	assert_int_equal(rate.method, method);
}

static void test_change(void **state)
{
	plim_real rate;

	make_pair(state);
	set_both(PLIM_FIELD_IO_CALLS, 10, 25, PLIM_METHOD_IO);
	assert_int_equal(
	    plim_process_change(&first, &last, PLIM_FIELD_IO_CALLS).value, 15);
	rate = plim_process_rate(&first, &last, PLIM_FIELD_IO_CALLS);
	assert_int_equal(rate.state, PLIM_STATE_KNOWN);
	assert_true(rate.value == 7.5);
	assert_int_equal(rate.bound, PLIM_BOUND_EXACT);
	assert_int_equal(rate.method, PLIM_METHOD_IO);

	set_both(PLIM_FIELD_IO_CALLS, 10, 9, PLIM_METHOD_IO);
	check_change(PLIM_FIELD_IO_CALLS, PLIM_STATE_RESET,
		     PLIM_REASON_WENT_BACK);
	plimp_record_set(&first, PLIM_FIELD_IO_CALLS,
			 plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13));
	check_change(PLIM_FIELD_IO_CALLS, PLIM_STATE_DENIED,
		     PLIM_REASON_NOT_PERMITTED);
	plimp_record_set(&last, PLIM_FIELD_IO_CALLS,
			 plim_count_missing(PLIM_REASON_ENDED, 3));
	check_change(PLIM_FIELD_IO_CALLS, PLIM_STATE_GONE, PLIM_REASON_ENDED);
}

static void test_what_has_no_change(void **state)
{
	make_pair(state);
	check_change(PLIM_FIELD_RESIDENT, PLIM_STATE_NOT_APPLICABLE,
		     PLIM_REASON_NOT_A_RATE);
	check_change(PLIM_FIELD_NAME, PLIM_STATE_NOT_APPLICABLE,
		     PLIM_REASON_NOT_A_RATE);
	check_change(PLIM_FIELD_PID, PLIM_STATE_NOT_APPLICABLE,
		     PLIM_REASON_NOT_A_RATE);
	assert_int_equal(
	    plim_process_change(&first, &last, PLIM_FIELD_NAME).code, 0);
	assert_int_equal(plim_process_change(&first, &last, 0).code, 0);
	check_change(0, PLIM_STATE_UNSUPPORTED, PLIM_REASON_UNKNOWN_FIELD);
	check_change(PLIM_FIELD_LAST + 1, PLIM_STATE_UNSUPPORTED,
		     PLIM_REASON_UNKNOWN_FIELD);
	check_change(PLIM_FIELD_CPU, PLIM_STATE_UNREAD, PLIM_REASON_NONE);
	plim_field_set_remove(&last.asked, PLIM_FIELD_CPU);
	check_change(PLIM_FIELD_CPU, PLIM_STATE_SKIPPED, PLIM_REASON_NOT_ASKED);
}

static void test_other_process(void **state)
{
	make_pair(state);
	set_both(PLIM_FIELD_CPU, 10, 25, PLIM_METHOD_STAT_TICKS);
	make_other();
	check_change(PLIM_FIELD_CPU, PLIM_STATE_UNLIKE,
		     PLIM_REASON_OTHER_PROCESS);
	last.identity.has = 0;
	check_change(PLIM_FIELD_CPU, PLIM_STATE_UNLIKE,
		     PLIM_REASON_OTHER_PROCESS);
}

static void test_no_interval(void **state)
{
	plim_real rate;

	make_pair(state);
	set_both(PLIM_FIELD_CPU, 10, 25, PLIM_METHOD_STAT_TICKS);
	last.stamp = first.stamp;
	assert_int_equal(
	    plim_process_change(&first, &last, PLIM_FIELD_CPU).value, 15);
	rate = plim_process_rate(&first, &last, PLIM_FIELD_CPU);
	assert_int_equal(rate.state, PLIM_STATE_NO_INTERVAL);
	assert_int_equal(rate.method, PLIM_REASON_ZERO_INTERVAL);
	last.stamp.monotonic.ns--;
	rate = plim_process_cpu_percent(&first, &last);
	assert_int_equal(rate.state, PLIM_STATE_NO_INTERVAL);
	assert_true(rate.value == 0);
}

static void test_cpu_percent(void **state)
{
	plim_real percent;

	make_pair(state);
	set_both(PLIM_FIELD_CPU, SECOND, 4 * SECOND,
		 PLIM_METHOD_PROCESS_CPU_CLOCK);
	percent = plim_process_cpu_percent(&first, &last);
	assert_int_equal(percent.state, PLIM_STATE_KNOWN);
	assert_true(percent.value == 150);
	assert_int_equal(percent.method, PLIM_METHOD_PROCESS_CPU_CLOCK);
	/* A clock and ticks do not mix. */
	plimp_record_set(&first, PLIM_FIELD_CPU,
			 plim_count_known(SECOND, PLIM_METHOD_STAT_TICKS));
	percent = plim_process_cpu_percent(&first, &last);
	assert_int_equal(percent.state, PLIM_STATE_UNLIKE);
	assert_int_equal(percent.method, PLIM_REASON_OTHER_METHOD);
}

/* What it waited for a CPU is told by the same number as its wake-ups, and
 * for storage by that of the others. */
#define THREAD(number, start, many, few)                                    \
	{                                                                   \
		.tid = number, .start_ticks = start, .voluntary = many,     \
		.involuntary = few, .runqueue_ns = many, .block_io_ns = few \
	}

/* Sets the threads, and the sums as a host has them. */
static void set_threads(plim_process *record, const struct plimp_thread *items,
			size_t count)
{
	uint64_t voluntary = 0;
	uint64_t involuntary = 0;

	for (size_t i = 0; i < count; i++) {
		voluntary += items[i].voluntary;
		involuntary += items[i].involuntary;
	}
	record->threads =
	    (struct plimp_threads){.items = items, .count = count, .known = 1};
	plimp_record_set(record, PLIM_FIELD_WAKEUPS,
			 plim_count_bounded(voluntary, PLIM_METHOD_THREAD_SUM,
					    PLIM_BOUND_AT_LEAST));
	plimp_record_set(record, PLIM_FIELD_INVOLUNTARY,
			 plim_count_bounded(involuntary, PLIM_METHOD_THREAD_SUM,
					    PLIM_BOUND_AT_LEAST));
	plimp_record_set(record, PLIM_FIELD_RUNQUEUE,
			 plim_count_bounded(voluntary, PLIM_METHOD_THREAD_SUM,
					    PLIM_BOUND_AT_LEAST));
	plimp_record_set(record, PLIM_FIELD_BLOCK_IO_DELAY,
			 plim_count_bounded(involuntary, PLIM_METHOD_THREAD_SUM,
					    PLIM_BOUND_AT_LEAST));
}

static void check_threads(uint64_t voluntary, uint64_t involuntary)
{
	static const int fields[] = {PLIM_FIELD_WAKEUPS, PLIM_FIELD_INVOLUNTARY,
				     PLIM_FIELD_RUNQUEUE,
				     PLIM_FIELD_BLOCK_IO_DELAY};
	uint64_t expected[] = {voluntary, involuntary, voluntary, involuntary};

	for (size_t i = 0; i < COUNT(fields); i++) {
		plim_count change =
		    plim_process_change(&first, &last, fields[i]);

		assert_int_equal(change.state, PLIM_STATE_KNOWN);
		assert_int_equal(change.value, expected[i]);
		assert_int_equal(change.bound, PLIM_BOUND_AT_LEAST);
		assert_int_equal(change.method, PLIM_METHOD_THREAD_SUM);
	}
}

static void test_threads(void **state)
{
	static const struct plimp_thread before[] = {
	    THREAD(7, 100, 1000, 10), /* stays */
	    THREAD(8, 100, 5000, 50), /* ends */
	    THREAD(9, 100, 400, 4),   /* ends, and its id is used again */
	    THREAD(11, 100, 60, 6),   /* stays */
	};
	static const struct plimp_thread after[] = {
	    THREAD(7, 100, 1003, 10),
	    THREAD(9, 900, 20, 2),  /* born with the id of another */
	    THREAD(10, 901, 30, 3), /* born */
	    THREAD(11, 100, 61, 9),
	    THREAD(12, 902, 0, 0), /* born, has not waited yet */
	};
	plim_real rate;

	make_pair(state);
	set_threads(&first, before, COUNT(before));
	set_threads(&last, after, COUNT(after));
	/* The sums fell; what happened is known all the same. */
	check_threads(3 + 20 + 30 + 1, 0 + 2 + 3 + 3);
	rate = plim_process_rate(&first, &last, PLIM_FIELD_WAKEUPS);
	assert_true(rate.value == 27);
	assert_int_equal(rate.bound, PLIM_BOUND_AT_LEAST);
	set_threads(&last, before, COUNT(before));
	check_threads(0, 0);
	set_threads(&first, after, 0);
	check_threads(6460, 70);
	set_threads(&last, after, 0);
	check_threads(0, 0);
}

/* A list that is read while it changes may miss a thread; what it did before
 * is no part of the interval. */
static void test_threads_missed(void **state)
{
	static const struct plimp_thread before[] = {THREAD(7, 100, 5, 5)};
	static const struct plimp_thread after[] = {
	    THREAD(7, 100, 9, 9),
	    THREAD(8, 498, 1000,
		   1000), /* older than the first record: missed there */
	    THREAD(9, 499, 30, 3),  /* within the tick before it: may be new */
	    THREAD(10, 600, 20, 2), /* born since */
	};

	make_pair(state);
	first.stamp_ticks = 500;
	set_threads(&first, before, COUNT(before));
	set_threads(&last, after, COUNT(after));
	check_threads(4 + 30 + 20, 4 + 3 + 2);
}

/* An exec by a thread that is not the main one: its history is another's. */
static void test_threads_of_another_image(void **state)
{
	static const struct plimp_thread before[] = {THREAD(7, 100, 5, 5),
						     THREAD(8, 100, 900, 90)};
	static const struct plimp_thread after[] = {THREAD(7, 100, 905, 95)};

	make_pair(state);
	set_threads(&first, before, COUNT(before));
	set_threads(&last, after, COUNT(after));
	first.image = 0x1000;
	last.image = 0x2000;
	check_change(PLIM_FIELD_WAKEUPS, PLIM_STATE_UNLIKE,
		     PLIM_REASON_OTHER_IMAGE);
	/* The same image, and one that is not told, compare as ever. */
	last.image = 0x1000;
	check_threads(900, 90);
	last.image = 0;
	check_threads(900, 90);
	/* The only thread keeps its history through an exec. */
	last.image = 0x2000;
	set_threads(&first, before, 1);
	check_threads(900, 90);
}

static void test_threads_reset(void **state)
{
	static const struct plimp_thread before[] = {THREAD(7, 100, 5, 5),
						     THREAD(8, 100, 5, 5)};
	static const struct plimp_thread after[] = {THREAD(7, 100, 9, 9),
						    THREAD(8, 100, 4, 5)};

	make_pair(state);
	set_threads(&first, before, COUNT(before));
	set_threads(&last, after, COUNT(after));
	check_change(PLIM_FIELD_WAKEUPS, PLIM_STATE_RESET,
		     PLIM_REASON_WENT_BACK);
	assert_int_equal(
	    plim_process_change(&first, &last, PLIM_FIELD_INVOLUNTARY).value,
	    4);
}

static void test_threads_saturate(void **state)
{
	static const struct plimp_thread after[] = {
	    THREAD(7, 100, UINT64_MAX, 1), THREAD(8, 100, 2, 1)};

	make_pair(state);
	set_threads(&first, after, 0);
	set_threads(&last, after, COUNT(after));
	check_threads(UINT64_MAX, 2);
}

/* Threads are compared only where both sums are made of them. */
static void test_threads_of_one_side(void **state)
{
	static const struct plimp_thread threads[] = {THREAD(7, 100, 50, 5)};

	make_pair(state);
	set_threads(&first, threads, 1);
	set_threads(&last, threads, 1);
	last.threads = (struct plimp_threads){.known = 0};
	check_change(PLIM_FIELD_WAKEUPS, PLIM_STATE_UNLIKE,
		     PLIM_REASON_SAME_BOUND);
	plimp_record_set(&last, PLIM_FIELD_WAKEUPS,
			 plim_count_known(90, PLIM_METHOD_GETRUSAGE));
	check_change(PLIM_FIELD_WAKEUPS, PLIM_STATE_UNLIKE,
		     PLIM_REASON_OTHER_METHOD);
	set_both(PLIM_FIELD_WAKEUPS, 50, 90, PLIM_METHOD_GETRUSAGE);
	last.threads = first.threads;
	assert_int_equal(
	    plim_process_change(&first, &last, PLIM_FIELD_WAKEUPS).value, 40);
	plimp_record_set(&last, PLIM_FIELD_WAKEUPS,
			 plim_count_missing(PLIM_REASON_THREAD_PASS, 0));
	check_change(PLIM_FIELD_WAKEUPS, PLIM_STATE_SKIPPED,
		     PLIM_REASON_THREAD_PASS);
}

/* Those of the first side that the last one lacks; who has the number of one
 * that ended is another. */
static void test_threads_ended(void **state)
{
	static const struct plimp_thread before[] = {
	    THREAD(10, 1, 0, 0), THREAD(11, 1, 0, 0), THREAD(12, 1, 0, 0),
	    THREAD(15, 1, 0, 0)};
	static const struct plimp_thread after[] = {
	    THREAD(10, 1, 0, 0), THREAD(12, 9, 0, 0), THREAD(13, 9, 0, 0)};

	make_pair(state);
	set_threads(&first, before, COUNT(before));
	set_threads(&last, after, COUNT(after));
	assert_int_equal(plimp_threads_ended(&first, &last), 3);
	assert_int_equal(plimp_threads_ended(&last, &first), 2);
	assert_int_equal(plimp_threads_ended(&first, &first), 0);
	last.threads.known = 0;
	assert_int_equal(plimp_threads_ended(&first, &last), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_interval),
	    cmocka_unit_test(test_interval_errors),
	    cmocka_unit_test(test_change),
	    cmocka_unit_test(test_what_has_no_change),
	    cmocka_unit_test(test_other_process),
	    cmocka_unit_test(test_no_interval),
	    cmocka_unit_test(test_cpu_percent),
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_threads_missed),
	    cmocka_unit_test(test_threads_of_another_image),
	    cmocka_unit_test(test_threads_reset),
	    cmocka_unit_test(test_threads_saturate),
	    cmocka_unit_test(test_threads_of_one_side),
	    cmocka_unit_test(test_threads_ended),
	};

	return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
