/*
 * test_profile_schedule.c - ticks on a fixed grid: jitter, lateness, and what
 * is skipped.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/schedule.h"

#define PERIOD UINT64_C(10000000)
#define START  UINT64_C(5000000000)

static void test_grid(void **state)
{
	struct plimp_schedule schedule;
	uint64_t first = 0;
	int differ = 0;

	(void)state;
	plimp_schedule_begin(&schedule, START, PERIOD);
	for (uint64_t i = 1; i <= 1000; i++) {
		uint64_t due = plimp_schedule_due(&schedule);
		uint64_t grid = START + i * PERIOD;

		assert_true(due >= grid && due < grid + PERIOD / 10);
		differ += due - grid != first;
		first = due - grid;
		/* Each look takes half a period: the grid stays. */
		assert_int_equal(
		    plimp_schedule_take(&schedule, due + PERIOD / 2), 1);
	}
	assert_true(differ > 900);
	assert_int_equal(schedule.planned, 1000);
	assert_int_equal(schedule.late, 0);
	assert_int_equal(schedule.skipped, 0);
}

static void test_same_ticks(void **state)
{
	struct plimp_schedule a;
	struct plimp_schedule b;

	(void)state;
	plimp_schedule_begin(&a, 0, PERIOD);
	plimp_schedule_begin(&b, 0, PERIOD);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(plimp_schedule_due(&a),
				 plimp_schedule_due(&b));
		plimp_schedule_take(&a, plimp_schedule_due(&a));
		plimp_schedule_take(&b, plimp_schedule_due(&b));
	}
}

/* Who comes five and a half periods late takes one tick, not six. */
static void test_behind(void **state)
{
	struct plimp_schedule schedule;
	uint64_t now;

	(void)state;
	plimp_schedule_begin(&schedule, START, PERIOD);
	now = plimp_schedule_due(&schedule) + 5 * PERIOD + PERIOD / 2;
	assert_int_equal(plimp_schedule_take(&schedule, now), 6);
	assert_int_equal(schedule.planned, 6);
	assert_int_equal(schedule.skipped, 5);
	assert_int_equal(schedule.late, 1);
	assert_true(plimp_schedule_due(&schedule) > now);
	assert_true(plimp_schedule_due(&schedule) >= START + 7 * PERIOD);
	assert_true(plimp_schedule_due(&schedule) < START + 8 * PERIOD);
}

static void test_late(void **state)
{
	struct plimp_schedule schedule;
	uint64_t due;

	(void)state;
	plimp_schedule_begin(&schedule, START, PERIOD);
	due = plimp_schedule_due(&schedule);
	plimp_schedule_take(&schedule, due + PERIOD / 2 + 1);
	assert_int_equal(schedule.late, 1);
	assert_int_equal(schedule.skipped, 0);
	/* Too early is on time. */
	due = plimp_schedule_due(&schedule);
	assert_int_equal(plimp_schedule_take(&schedule, due - 1), 1);
	assert_int_equal(schedule.late, 1);
}

/* At 1,000 Hz: eight quiet ticks, then fewer and fewer, down to each tenth;
 * all of them count as planned. Whoever moves brings the next one back. */
static void test_rest(void **state)
{
	static const uint64_t ahead[] = {0, 0, 0, 0, 0, 0, 0, 1, 3, 7, 9, 9};
	struct plimp_schedule schedule;
	uint64_t number = 0;

	(void)state;
	plimp_schedule_begin(&schedule, START, PERIOD / 10);
	for (unsigned i = 0; i < 12; i++) {
		plimp_schedule_settle(&schedule, 1);
		assert_int_equal(schedule.ahead, ahead[i]);
		number += 1 + ahead[i];
		assert_true(plimp_schedule_due(&schedule) / (PERIOD / 10) ==
			    START / (PERIOD / 10) + number);
		assert_int_equal(plimp_schedule_take(
				     &schedule, plimp_schedule_due(&schedule)),
				 1 + ahead[i]);
		assert_int_equal(schedule.planned, number);
	}
	assert_int_equal(schedule.skipped, 0);
	plimp_schedule_settle(&schedule, 0);
	assert_true(plimp_schedule_due(&schedule) <
		    START + (number + 2) * (PERIOD / 10));
	plimp_schedule_settle(&schedule, 1);
	assert_int_equal(schedule.ahead, 0);
	/* At 100 Hz none is left out. */
	plimp_schedule_begin(&schedule, START, PERIOD);
	for (unsigned i = 0; i < 20; i++)
		plimp_schedule_settle(&schedule, 1);
	assert_int_equal(schedule.ahead, 0);
}

/* Where nobody runs at all: up to a quarter of a second, at any rate, and on
 * top of those that are left out anyway. */
static void test_leave(void **state)
{
	static const uint64_t most[][2] = {
	    {1000000, 249}, {PERIOD, 24}, {140000000, 0}, {300000000, 0}};
	struct plimp_schedule schedule;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t left = 0;

		plimp_schedule_begin(&schedule, START, most[i][0]);
		for (unsigned j = 0; j < 9; j++)
			plimp_schedule_settle(&schedule, 1);
		while (plimp_schedule_leave(&schedule))
			left++;
		assert_int_equal(schedule.ahead, most[i][1]);
		assert_true(left == most[i][1] || i == 0);
		assert_int_equal(plimp_schedule_take(
				     &schedule, plimp_schedule_due(&schedule)),
				 1 + most[i][1]);
		/* Only then are they as many as before. */
		plimp_schedule_settle(&schedule, 0);
		assert_int_equal(schedule.ahead, 0);
		plimp_schedule_settle(&schedule, 1);
		assert_int_equal(schedule.ahead, 0);
	}
}

/* Those that were left out count when they are past. */
static void test_past(void **state)
{
	struct plimp_schedule schedule;

	(void)state;
	for (unsigned left = 0; left < 6; left++) {
		unsigned past = left < 3 ? left : 3;

		plimp_schedule_begin(&schedule, START, PERIOD);
		for (unsigned i = 0; i < left; i++)
			assert_true(plimp_schedule_leave(&schedule));
		assert_int_equal(
		    plimp_schedule_past(&schedule, START + 3 * PERIOD + 1),
		    past);
		assert_int_equal(schedule.planned, past);
		assert_int_equal(schedule.ahead, left - past);
	}
}

static void test_change(void **state)
{
	struct plimp_schedule schedule;

	(void)state;
	plimp_schedule_begin(&schedule, START, PERIOD);
	plimp_schedule_take(&schedule, plimp_schedule_due(&schedule));
	plimp_schedule_change(&schedule, START + 3 * PERIOD, 2 * PERIOD);
	assert_true(plimp_schedule_due(&schedule) >= START + 5 * PERIOD);
	assert_true(plimp_schedule_due(&schedule) <
		    START + 5 * PERIOD + PERIOD / 5);
	assert_int_equal(schedule.planned, 1);
	/* A period too short for a jitter. */
	plimp_schedule_change(&schedule, START, 5);
	assert_int_equal(plimp_schedule_due(&schedule), START + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_grid),   cmocka_unit_test(test_same_ticks),
	    cmocka_unit_test(test_behind), cmocka_unit_test(test_late),
	    cmocka_unit_test(test_rest),   cmocka_unit_test(test_leave),
	    cmocka_unit_test(test_past),   cmocka_unit_test(test_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
