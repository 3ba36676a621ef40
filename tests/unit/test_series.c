/*
 * test_series.c - samples over time: what is kept of very many, extremes and
 * slope against sums made the long way, what is flat, drifting or neither,
 * and the stall guard's answers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include "observe/memory_guard.h"
#include "observe/memory_series.h"

#include <math.h>
#include <string.h>

#define SECOND	UINT64_C(1000000000)
#define MIB	((uint64_t)1 << 20)
#define FIGURE	PLIM_MEMORY_ANONYMOUS
#define OTHER	PLIM_MEMORY_PRIVATE_DIRTY
#define A_WHILE 1000003 /* a first stamp */

static struct plimp_memory_series series;

static int series_setup(void **state)
{
	(void)state;
	memset(&series, 0, sizeof(series));
	plimp_memory_series_clear(&series);
	return 0;
}

static int series_teardown(void **state)
{
	(void)state;
	plimp_memory_series_release(&series);
	return 0;
}

static void add_figure(uint64_t ns, plim_count figure)
{
	struct plimp_memory_point point;

	memset(&point, 0, sizeof(point));
	point.stamp.monotonic.ns = A_WHILE + ns;
	point.stamp.boottime.ns = A_WHILE + ns;
	point.figures[FIGURE] = figure;
	point.figures[OTHER] = plim_count_missing(PLIM_REASON_STALL, 0);
	assert_int_equal(plimp_memory_series_reserve(&series), PLIM_OK);
	plimp_memory_series_add(&series, &point);
}

static void add(uint64_t ns, uint64_t value)
{
	add_figure(ns, plim_count_known(value, PLIM_METHOD_STATUS));
}

static plim_memory_steady range(void)
{
	return plimp_memory_series_range(&series, FIGURE);
}

static void expect_trend(int trend)
{
	int got = range().trend;

	if (got != trend)
		fail_msg("it is %s, not %s", plim_trend_word(got),
			 plim_trend_word(trend));
}

static void test_empty(void **state)
{
	size_t indices[4];

	(void)state;
	assert_int_equal(plimp_memory_series_count(&series), 0);
	assert_null(plimp_memory_series_at(&series, 0));
	assert_int_equal(plimp_memory_series_timeline(&series, 4, indices), 0);
	assert_int_equal(range().last.state, PLIM_STATE_UNREAD);
	assert_int_equal(range().slope.state, PLIM_STATE_UNREAD);
	assert_int_equal(range().trend, PLIM_TREND_UNKNOWN);
	assert_int_equal(
	    plimp_memory_series_range(&series, PLIM_MEMORY_COUNT).last.state,
	    PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plimp_memory_series_range(&series, 0).last.state,
			 PLIM_STATE_UNSUPPORTED);
}

static void test_one(void **state)
{
	(void)state;
	add(0, 5 * MIB);
	assert_int_equal(range().last.value, 5 * MIB);
	assert_int_equal(range().lowest.value, 5 * MIB);
	assert_int_equal(range().highest.value, 5 * MIB);
	assert_int_equal(range().known, 1);
	assert_int_equal(range().slope.state, PLIM_STATE_PENDING);
	expect_trend(PLIM_TREND_UNKNOWN);
}

/* 1 MiB per second, exactly, from samples at uneven times. */
static void test_slope(void **state)
{
	static const uint64_t seconds[] = {0, 1, 3, 4, 9};
	plim_memory_steady got;

	(void)state;
	for (size_t at = 0; at < 5; at++)
		add(seconds[at] * SECOND, (10 + seconds[at]) * MIB);
	got = range();
	assert_true(fabs(got.slope.value - (double)MIB) < 1e-6 * (double)MIB);
	assert_int_equal(got.slope.method, PLIM_METHOD_STATUS);
	assert_int_equal(got.lowest.value, 10 * MIB);
	assert_int_equal(got.highest.value, 19 * MIB);
	assert_int_equal(got.last.value, 19 * MIB);
	assert_int_equal(got.last_at.monotonic.ns, A_WHILE + 9 * SECOND);
	expect_trend(PLIM_TREND_DRIFTING);
}

/* Against the textbook's sums over ten thousand values that go up and down;
 * most of the samples are not kept. */
static void test_long(void **state)
{
	double n = 0, st = 0, sv = 0, stt = 0, stv = 0;
	uint64_t lowest = UINT64_MAX, highest = 0;
	uint32_t seed = 7;
	double slope;

	(void)state;
	for (uint64_t at = 0; at < 10000; at++) {
		uint64_t value;
		double t = (double)at / 1000;

		seed = seed * 1664525u + 1013904223u;
		value = 100 * MIB + at * 512 + (seed >> 12);
		add(at * SECOND / 1000, value);
		n += 1;
		st += t;
		sv += (double)value;
		stt += t * t;
		stv += t * (double)value;
		lowest = value < lowest ? value : lowest;
		highest = value > highest ? value : highest;
	}
	slope = (n * stv - st * sv) / (n * stt - st * st);
	assert_int_equal(series.taken, 10000);
	assert_int_equal(range().known, 10000);
	assert_int_equal(range().lowest.value, lowest);
	assert_int_equal(range().highest.value, highest);
	assert_true(fabs(range().slope.value - slope) < 1e-6 * fabs(slope));
	expect_trend(PLIM_TREND_DRIFTING);
}

/* A very long run: no more than what is kept, the first and the last of it,
 * evenly spaced, and no memory beyond. */
static void test_bounded(void **state)
{
	const uint64_t many = 3 * PLIM_MEMORY_KEPT + 17;
	size_t count;

	(void)state;
	for (uint64_t at = 0; at < many; at++) {
		add(at * SECOND, at);
		count = plimp_memory_series_count(&series);
		assert_in_range(count, 1, PLIM_MEMORY_KEPT);
		assert_int_equal(plimp_memory_series_at(&series, count - 1)
				     ->figures[FIGURE]
				     .value,
				 at);
	}
	assert_in_range(series.capacity, 1, 2 * PLIM_MEMORY_KEPT);
	assert_int_equal(series.stride, 4);
	count = plimp_memory_series_count(&series);
	assert_in_range(count, PLIM_MEMORY_KEPT / 2, PLIM_MEMORY_KEPT);
	for (size_t at = 0; at + 1 < count; at++)
		assert_int_equal(
		    plimp_memory_series_at(&series, at)->figures[FIGURE].value,
		    at * series.stride);
	assert_int_equal(range().highest.value, many - 1);
}

static void test_timeline(void **state)
{
	size_t indices[64];
	size_t count;

	(void)state;
	for (uint64_t at = 0; at < 20; at++)
		add(at * SECOND, at);
	assert_int_equal(plimp_memory_series_timeline(&series, 20, indices),
			 20);
	for (size_t at = 0; at < 20; at++)
		assert_int_equal(indices[at], at);
	for (uint64_t at = 20; at <= 190; at++)
		add(at * SECOND, at);
	count = plimp_memory_series_timeline(&series, 20, indices);
	assert_int_equal(count, 20);
	for (size_t at = 0; at < 20; at++)
		assert_int_equal(indices[at], at * 10);
	assert_int_equal(plimp_memory_series_timeline(&series, 1, indices), 1);
	assert_int_equal(indices[0], 190);
	assert_int_equal(plimp_memory_series_timeline(&series, 2, indices), 2);
	assert_int_equal(indices[0], 0);
	assert_int_equal(indices[1], 190);
	assert_int_equal(plimp_memory_series_timeline(&series, 0, indices), 0);
}

/* Equal steps of time, not of samples: a pause is seen; fewer lines then. */
static void test_timeline_uneven(void **state)
{
	size_t indices[5];
	size_t count;

	(void)state;
	for (uint64_t at = 0; at < 50; at++)
		add(at * SECOND / 100, at);
	add(100 * SECOND, 50);
	count = plimp_memory_series_timeline(&series, 5, indices);
	assert_int_equal(count, 3);
	assert_int_equal(indices[0], 0);
	assert_int_equal(indices[1], 49); /* nearest to 25 s */
	assert_int_equal(indices[2], 50);
}

/* All at one instant: no interval, no slope; still a range. */
static void test_no_interval(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 30; at++)
		add(0, 10 * MIB + at % 2);
	assert_int_equal(range().slope.state, PLIM_STATE_NO_INTERVAL);
	expect_trend(PLIM_TREND_FLAT);
	assert_int_equal(plimp_memory_series_timeline(&series, 0, NULL), 0);
}

static void test_flat(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 50; at++)
		add(at * SECOND, 10 * MIB + at % 2 * 65536);
	expect_trend(PLIM_TREND_FLAT);
	add(50 * SECOND, 10 * MIB + 65537); /* just beyond 64 KiB */
	expect_trend(PLIM_TREND_MOVING);
}

/* Of a large figure 1/256 counts for nothing. */
static void test_flat_large(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 50; at++)
		add(at * SECOND, 256 * MIB - at % 2 * MIB);
	expect_trend(PLIM_TREND_FLAT);
	add(50 * SECOND, 255 * MIB - 1);
	expect_trend(PLIM_TREND_MOVING);
}

/* A page every sample is a leak, however little; less than 16 KiB in all is
 * not called one. */
static void test_drift_small(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 4; at++)
		add(at * SECOND, 10 * MIB + at * 4096);
	expect_trend(PLIM_TREND_FLAT);
	add(4 * SECOND, 10 * MIB + 4 * 4096);
	expect_trend(PLIM_TREND_DRIFTING);
	assert_true(fabs(range().slope.value - 4096) < 1e-3);
}

static void test_drift_down(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 20; at++)
		add(at * SECOND, 100 * MIB - at * MIB - at % 3 * MIB / 4);
	expect_trend(PLIM_TREND_DRIFTING);
	assert_true(range().slope.value < -0.9 * (double)MIB);
}

/* One step is not a drift, wherever it is; several are. */
static void test_steps(void **state)
{
	(void)state;
	for (uint64_t when = 1; when < 20; when++) {
		plimp_memory_series_clear(&series);
		for (uint64_t at = 0; at < 20; at++)
			add(at * SECOND, at < when ? 10 * MIB : 30 * MIB);
		expect_trend(PLIM_TREND_MOVING);
	}
	plimp_memory_series_clear(&series);
	for (uint64_t at = 0; at < 24; at++)
		add(at * SECOND, (10 + at / 6) * MIB);
	expect_trend(PLIM_TREND_DRIFTING);
}

/* Four samples that a line fits better than a step, and neither well. */
static void test_noise(void **state)
{
	static const uint64_t mib[] = {0, 2, 1, 3};

	(void)state;
	for (uint64_t at = 0; at < 4; at++)
		add(at * SECOND, (100 + mib[at]) * MIB);
	expect_trend(PLIM_TREND_MOVING);
}

/* A garbage collector's teeth, whole ones, go nowhere. */
static void test_teeth(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 80; at++)
		add(at * SECOND, (100 + at % 10) * MIB);
	expect_trend(PLIM_TREND_MOVING);
}

/* What is missing is left out of every sum, and counted. */
static void test_missing(void **state)
{
	plim_memory_steady got;

	(void)state;
	for (uint64_t at = 0; at < 10; at++) {
		if (at % 2 == 0)
			add(at * SECOND, (10 + at) * MIB);
		else
			add_figure(
			    at * SECOND,
			    plim_count_missing(PLIM_REASON_RECENT_WALK, 0));
	}
	got = range();
	assert_int_equal(got.known, 5);
	assert_int_equal(got.missing, 5);
	assert_int_equal(got.last.value, 18 * MIB);
	assert_int_equal(got.last_at.monotonic.ns, A_WHILE + 8 * SECOND);
	assert_int_equal(got.lowest.value, 10 * MIB);
	assert_true(fabs(got.slope.value - (double)MIB) < 1);
	assert_int_equal(got.trend, PLIM_TREND_DRIFTING);
	got = plimp_memory_series_range(&series, OTHER);
	assert_int_equal(got.known, 0);
	assert_int_equal(got.missing, 10);
	assert_int_equal(got.last.method, PLIM_REASON_STALL);
	assert_int_equal(got.lowest.state, PLIM_STATE_SKIPPED);
	assert_int_equal(got.slope.state, PLIM_STATE_SKIPPED);
	assert_int_equal(got.trend, PLIM_TREND_UNKNOWN);
}

/* Of bounds there are extremes, but no slope and no floor. */
static void test_bounds(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 10; at++)
		add_figure(at * SECOND,
			   plim_count_bounded(MIB, PLIM_METHOD_PAGEMAP,
					      at == 3 ? PLIM_BOUND_AT_LEAST
						      : PLIM_BOUND_EXACT));
	assert_int_equal(range().highest.value, MIB);
	assert_int_equal(range().slope.state, PLIM_STATE_UNLIKE);
	expect_trend(PLIM_TREND_UNKNOWN);
}

static void test_methods(void **state)
{
	(void)state;
	add(0, MIB);
	add_figure(SECOND, plim_count_known(MIB, PLIM_METHOD_TASK_STATUS));
	assert_int_equal(range().slope.method, PLIM_METHOD_MIXED);
	assert_true(range().slope.value == 0);
}

/* The largest values lose no more than a double does. */
static void test_large(void **state)
{
	(void)state;
	for (uint64_t at = 0; at < 10; at++)
		add(at * SECOND, UINT64_MAX - 10 + at);
	assert_int_equal(range().highest.value, UINT64_MAX - 1);
	assert_int_equal(range().lowest.value, UINT64_MAX - 10);
	expect_trend(PLIM_TREND_FLAT);
}

static plim_count predicted(uint64_t ns)
{
	return plim_count_known(ns, PLIM_METHOD_STATUS);
}

/* The limit, who knows nothing, the rest after a walk, and force. */
static void test_guard(void **state)
{
	struct plimp_memory_guard guard;
	plim_memory_options options = {.size = sizeof(options)};
	plim_count unknown = plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13);

	(void)state;
	memset(&guard, 0, sizeof(guard));
	assert_int_equal(plimp_guard_set(&guard, NULL, NULL), PLIM_OK);
	assert_int_equal(guard.stall_ns, 20000000);
	assert_int_equal(plimp_guard_ask(&guard, predicted(20000000), 5),
			 PLIMP_GUARD_WALK);
	assert_int_equal(plimp_guard_ask(&guard, predicted(20000001), 5),
			 PLIMP_GUARD_STALL);
	assert_int_equal(plimp_guard_ask(&guard, unknown, 5),
			 PLIMP_GUARD_STALL);
	plimp_guard_walked(&guard, 1000, 1010);
	assert_int_equal(plimp_guard_ask(&guard, predicted(1), 1209),
			 PLIMP_GUARD_REST);
	assert_int_equal(plimp_guard_ask(&guard, predicted(1), 1210),
			 PLIMP_GUARD_WALK);
	options.stall_ns = 7;
	options.rest = 3;
	assert_int_equal(plimp_guard_set(&guard, &options, NULL), PLIM_OK);
	assert_int_equal(plimp_guard_ask(&guard, predicted(8), 5000),
			 PLIMP_GUARD_STALL);
	plimp_guard_walked(&guard, 1000, 1010);
	assert_int_equal(guard.rest_until, 1040);
	options.force = 1;
	assert_int_equal(plimp_guard_set(&guard, &options, NULL), PLIM_OK);
	assert_int_equal(plimp_guard_ask(&guard, unknown, 1020),
			 PLIMP_GUARD_WALK);
	options.force = 0;
	options.rest = 0;
	options.rest_set = 1;
	assert_int_equal(plimp_guard_set(&guard, &options, NULL), PLIM_OK);
	plimp_guard_walked(&guard, 1000, 1010);
	assert_int_equal(plimp_guard_ask(&guard, predicted(7), 1010),
			 PLIMP_GUARD_WALK);
	options.rest = UINT32_MAX;
	assert_int_equal(plimp_guard_set(&guard, &options, NULL), PLIM_OK);
	plimp_guard_walked(&guard, 0, UINT64_MAX - 1);
	assert_int_equal(guard.rest_until, UINT64_MAX);
	plimp_guard_walked(&guard, 10, 5); /* a clock that went back */
	assert_int_equal(guard.rest_until, 5);
	options.size = 4;
	assert_int_equal(plimp_guard_set(&guard, &options, NULL), PLIM_EINVAL);
}

/* The rows by number and back. */
static void test_tables(void **state)
{
	(void)state;
	for (int figure = 1; figure < PLIM_MEMORY_COUNT; figure++) {
		assert_non_null(plim_memory_source(figure));
		assert_non_null(plim_memory_text(figure));
		assert_int_equal(plim_memory_find(plim_memory_name(figure)),
				 figure);
	}
	assert_null(plim_memory_name(0));
	assert_null(plim_memory_name(PLIM_MEMORY_COUNT));
	assert_null(plim_memory_text(-1));
	assert_null(plim_memory_source(PLIM_MEMORY_COUNT));
	assert_int_equal(plim_memory_find("no_such"), 0);
	assert_int_equal(plim_memory_find(NULL), 0);
	assert_string_equal(plim_memory_name(PLIM_MEMORY_EXCLUSIVE_ANONYMOUS),
			    "exclusive_anonymous_bytes");
	assert_string_equal(plim_trend_word(PLIM_TREND_DRIFTING), "drifting");
	assert_non_null(plim_trend_text(PLIM_TREND_MOVING));
	assert_null(plim_trend_word(4));
	assert_string_equal(plim_memory_end_word(PLIM_MEMORY_END_REPLACED),
			    "replaced");
	assert_non_null(plim_memory_end_text(PLIM_MEMORY_END_ALIVE));
	assert_null(plim_memory_end_text(4));
	for (int kind = 1; kind <= PLIM_MAPPING_OTHER; kind++) {
		assert_non_null(plim_mapping_kind_word(kind));
		assert_non_null(plim_mapping_kind_text(kind));
	}
	assert_null(plim_mapping_kind_word(0));
	assert_null(plim_mapping_kind_word(PLIM_MAPPING_OTHER + 1));
	for (int at = 1; at < PLIM_MAPPING_FIGURE_COUNT; at++) {
		assert_non_null(plim_mapping_figure_name(at));
		assert_non_null(plim_mapping_figure_text(at));
	}
	assert_null(plim_mapping_figure_name(PLIM_MAPPING_FIGURE_COUNT));
	assert_string_equal(plim_blind_spot_word(PLIM_BLIND_SPOT_GO), "go");
	assert_non_null(plim_blind_spot_text(PLIM_BLIND_SPOT_RESIDENCY));
	assert_null(plim_blind_spot_word(3));
	assert_null(plim_blind_spot_text(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_empty, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_one, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_slope, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_long, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_bounded, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_timeline, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_timeline_uneven, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_no_interval, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_flat, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_flat_large, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_drift_small, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_drift_down, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_steps, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_noise, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_teeth, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_missing, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_bounds, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_methods, series_setup,
					    series_teardown),
	    cmocka_unit_test_setup_teardown(test_large, series_setup,
					    series_teardown),
	    cmocka_unit_test(test_guard),
	    cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
