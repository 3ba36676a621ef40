/*
 * test_figure.c - every pair of states, bounds and values through every
 * operation, against an oracle that knows no rule of figure.c.
 *
 * The oracle takes a figure for the interval in which the truth lies: exact
 * is a point, a bound is open on one side, a missing figure on both. What an
 * operation may claim follows from the ends of the intervals.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll/fields.h>
#include <plimsoll/figure.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAXIMUM	     UINT64_MAX
#define TWO_53	     (UINT64_C(1) << 53)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define STATES 15

static const uint64_t values[] = {0, 1, 5, TWO_53, TWO_53 + 1, MAXIMUM};
static const int bounds[] = {PLIM_BOUND_EXACT, PLIM_BOUND_AT_LEAST,
			     PLIM_BOUND_AT_MOST};

/* A reason of each state, so that missing figures are as the library makes
 * them. */
static int reason_of(int state)
{
	for (int reason = 0; plim_reason_word(reason) != NULL; reason++)
		if (plim_reason_state(reason) == state)
			return reason;
	fail_msg("no reason for state %d", state);
	return 0;
}

/* All figures that are combined: each missing state with a code of its own,
 * and known ones of each value, bound and of two methods. */
static plim_count all[STATES + COUNT(values) * 3 * 2];
static size_t all_count;

static int make_all(void **state)
{
	(void)state;
	for (int i = 0; i < STATES; i++) {
		plim_count figure;

		if (i == PLIM_STATE_KNOWN)
			continue;
		figure = plim_count_missing(reason_of(i), 100 + i);
		if (i % 2 == 0) {
			/* What a careless caller leaves there. */
			figure.value = 99;
			figure.bound = PLIM_BOUND_AT_LEAST;
		}
		all[all_count++] = figure;
	}
	for (size_t v = 0; v < COUNT(values); v++)
		for (size_t b = 0; b < 3; b++)
			for (int m = PLIM_METHOD_STAT; m <= PLIM_METHOD_STATM;
			     m += 2)
				all[all_count++] =
				    plim_count_bounded(values[v], m, bounds[b]);
	return 0;
}

static int is_known(plim_count figure)
{
	return figure.state == PLIM_STATE_KNOWN;
}

static void same_real(plim_real actual, plim_real expected)
{
	assert_int_equal(actual.state, expected.state);
	assert_int_equal(actual.bound, expected.bound);
	assert_int_equal(actual.method, expected.method);
	assert_int_equal(actual.code, expected.code);
	if (!(actual.value == expected.value))
		fail_msg("%.17g is not %.17g", actual.value, expected.value);
}

static void same_count(plim_count actual, plim_count expected)
{
	assert_int_equal(actual.value, expected.value);
	same_real(plim_real_of(actual), plim_real_of(expected));
}

static plim_count without_value(plim_count missing)
{
	missing.value = 0;
	missing.bound = PLIM_BOUND_EXACT;
	return missing;
}

static plim_real real_without_value(plim_count missing)
{
	return plim_real_of(without_value(missing));
}

struct span {
	int has_low;
	int has_high;
	long double low;
	long double high;
};

static struct span span_of(plim_count figure)
{
	struct span span = {0, 0, 0, 0};

	if (!is_known(figure))
		return span;
	span.has_low = figure.bound != PLIM_BOUND_AT_MOST;
	span.has_high = figure.bound != PLIM_BOUND_AT_LEAST;
	span.low = span.has_low ? (long double)figure.value : 0;
	span.high = span.has_high ? (long double)figure.value : 0;
	return span;
}

/* The bound that an interval allows to claim, -1 if it is open. */
static int span_bound(struct span span)
{
	if (!span.has_low && !span.has_high)
		return -1;
	if (!span.has_high)
		return PLIM_BOUND_AT_LEAST;
	if (!span.has_low || span.low != span.high)
		return PLIM_BOUND_AT_MOST;
	return PLIM_BOUND_EXACT;
}

/* What both differences have in common: 1 if the result is not a number, and
 * then why. */
static int difference_fails(plim_count first, plim_count last,
			    plim_count *expected)
{
	if (!is_known(last))
		*expected = without_value(last);
	else if (!is_known(first))
		*expected = without_value(first);
	else if (first.method != last.method)
		*expected = plim_count_missing(PLIM_REASON_OTHER_METHOD, 0);
	else
		return 0;
	return 1;
}

static int difference_bound(plim_count first, plim_count last)
{
	struct span a = span_of(first);
	struct span b = span_of(last);
	struct span change = {b.has_low && a.has_high, b.has_high && a.has_low,
			      0, 0};

	return span_bound(change);
}

static void test_differences(void **state)
{
	(void)state;
	for (size_t i = 0; i < all_count; i++) {
		for (size_t j = 0; j < all_count; j++) {
			plim_count first = all[i];
			plim_count last = all[j];
			int bound = difference_bound(first, last);
			plim_count counter = plim_counter_change(first, last);
			plim_real gauge = plim_gauge_change(first, last);
			plim_count expected;
			plim_real signed_;

			if (difference_fails(first, last, &expected)) {
				same_count(counter, expected);
				same_real(gauge, plim_real_of(expected));
				continue;
			}
			if (bound < 0) {
				expected = plim_count_missing(
				    PLIM_REASON_SAME_BOUND, 0);
				same_count(counter, expected);
				same_real(gauge, plim_real_of(expected));
				continue;
			}
			signed_ =
			    plim_real_known((double)((long double)last.value -
						     (long double)first.value),
					    last.method);
			signed_.bound = (uint8_t)bound;
			same_real(gauge, signed_);
			assert_false(signbit(gauge.value) && gauge.value == 0);
			expected = plim_count_bounded(last.value - first.value,
						      last.method, bound);
			if (last.value < first.value)
				expected = plim_count_missing(
				    PLIM_REASON_WENT_BACK, 0);
			same_count(counter, expected);
		}
	}
}

/* The rows of the header, by hand. */
static void test_difference_bounds(void **state)
{
	enum {
		E = PLIM_BOUND_EXACT,
		A = PLIM_BOUND_AT_LEAST,
		M = PLIM_BOUND_AT_MOST
	};
	static const struct {
		int first, last, bound;
	} rows[] = {
	    {E, E, E}, {E, A, A}, {M, A, A},  {M, E, A},  {E, M, M},
	    {A, M, M}, {A, E, M}, {A, A, -1}, {M, M, -1},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		plim_count change = plim_counter_change(
		    plim_count_bounded(3, PLIM_METHOD_IO, rows[i].first),
		    plim_count_bounded(10, PLIM_METHOD_IO, rows[i].last));

		if (rows[i].bound < 0) {
			assert_int_equal(change.state, PLIM_STATE_UNLIKE);
			assert_int_equal(change.method, PLIM_REASON_SAME_BOUND);
			continue;
		}
		same_count(change, plim_count_bounded(7, PLIM_METHOD_IO,
						      rows[i].bound));
	}
}

static void test_rates(void **state)
{
	static const uint64_t intervals[] = {0, 1, 500000000, 2000000000,
					     MAXIMUM};

	(void)state;
	for (size_t i = 0; i < all_count; i++) {
		for (size_t j = 0; j < all_count; j++) {
			plim_count change = plim_counter_change(all[i], all[j]);

			for (size_t k = 0; k < COUNT(intervals); k++) {
				plim_real rate = plim_counter_rate(
				    all[i], all[j], intervals[k]);
				double exact =
				    (double)((long double)change.value * 1e9L /
					     (long double)intervals[k]);

				same_real(rate, plim_change_rate(change,
								 intervals[k]));
				if (!is_known(change)) {
					same_real(rate, plim_real_of(change));
					continue;
				}
				if (intervals[k] == 0) {
					same_real(
					    rate,
					    plim_real_missing(
						PLIM_REASON_ZERO_INTERVAL, 0));
					continue;
				}
				assert_int_equal(rate.state, PLIM_STATE_KNOWN);
				assert_int_equal(rate.bound, change.bound);
				assert_int_equal(rate.method, change.method);
				assert_true(fabs(rate.value - exact) <=
					    exact * 1e-15);
			}
		}
	}
}

static void test_rate_values(void **state)
{
	plim_real rate;

	(void)state;
	rate =
	    plim_counter_rate(plim_count_known(10, PLIM_METHOD_IO),
			      plim_count_known(30, PLIM_METHOD_IO), 500000000);
	same_real(rate, plim_real_known(40, PLIM_METHOD_IO));
	rate = plim_counter_rate(plim_count_known(30, PLIM_METHOD_IO),
				 plim_count_known(30, PLIM_METHOD_IO), 1);
	same_real(rate, plim_real_known(0, PLIM_METHOD_IO));
	rate = plim_counter_rate(plim_count_known(30, PLIM_METHOD_IO),
				 plim_count_known(29, PLIM_METHOD_IO), 0);
	assert_int_equal(rate.state, PLIM_STATE_RESET);
	assert_int_equal(rate.method, PLIM_REASON_WENT_BACK);
	rate = plim_change_rate(all[0], 1);
	same_real(rate, real_without_value(all[0]));
}

static void test_ratios(void **state)
{
	(void)state;
	for (size_t i = 0; i < all_count; i++) {
		for (size_t j = 0; j < all_count; j++) {
			plim_count part = all[i];
			plim_count whole = all[j];
			struct span p = span_of(part);
			struct span w = span_of(whole);
			struct span span = {p.has_low && w.has_high,
					    p.has_high && w.has_low, 0, 0};
			plim_real ratio = plim_ratio(part, whole);
			plim_real expected;

			if (!is_known(part))
				expected = real_without_value(part);
			else if (!is_known(whole))
				expected = real_without_value(whole);
			else if (whole.value == 0)
				expected = plim_real_missing(
				    PLIM_REASON_ZERO_WHOLE, 0);
			else if (span_bound(span) < 0)
				expected = plim_real_missing(
				    PLIM_REASON_SAME_BOUND, 0);
			else {
				expected = plim_real_known(
				    (double)part.value / (double)whole.value,
				    part.method == whole.method
					? part.method
					: PLIM_METHOD_MIXED);
				expected.bound = (uint8_t)span_bound(span);
			}
			same_real(ratio, expected);
		}
	}
}

static plim_count max_expected(plim_count a, plim_count b)
{
	struct span x = span_of(a);
	struct span y = span_of(b);
	struct span max = {x.has_low || y.has_low, x.has_high && y.has_high, 0,
			   0};
	int bound;
	int method = PLIM_METHOD_MIXED;

	if (!is_known(a) && !is_known(b))
		return without_value(a);
	max.low = x.low > y.low ? x.low : y.low;
	max.high = x.high > y.high ? x.high : y.high;
	bound = span_bound(max);
	if (bound < 0)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	if (!is_known(a))
		method = b.method;
	else if (!is_known(b) || a.method == b.method)
		method = a.method;
	return plim_count_bounded(
	    (uint64_t)(bound == PLIM_BOUND_AT_MOST ? max.high : max.low),
	    method, bound);
}

static void test_max(void **state)
{
	(void)state;
	for (size_t i = 0; i < all_count; i++)
		for (size_t j = 0; j < all_count; j++)
			same_count(plim_count_max(all[i], all[j]),
				   max_expected(all[i], all[j]));
	same_count(plim_count_max(plim_count_known(7, PLIM_METHOD_STAT),
				  plim_count_bounded(9, PLIM_METHOD_STAT,
						     PLIM_BOUND_AT_MOST)),
		   plim_count_bounded(9, PLIM_METHOD_STAT, PLIM_BOUND_AT_MOST));
	same_count(
	    plim_count_max(
		plim_count_bounded(3, PLIM_METHOD_STAT, PLIM_BOUND_AT_LEAST),
		plim_count_bounded(9, PLIM_METHOD_STAT, PLIM_BOUND_AT_MOST)),
	    plim_count_bounded(3, PLIM_METHOD_STAT, PLIM_BOUND_AT_LEAST));
}

/* What a zombie's memory is not. */
static int is_lacking(plim_count member)
{
	return !is_known(member) && member.state != PLIM_STATE_NOT_APPLICABLE;
}

/* The total of members, by their intervals. A missing member is not below
 * zero; an upper bound counts as open below, as everywhere. */
static plim_count sum_expected(const plim_count *members, size_t count)
{
	struct span total = {1, 1, 0, 0};
	const plim_count *missing = NULL;
	const plim_count *known = NULL;
	uint64_t value = 0;
	int method = PLIM_METHOD_NONE;
	int bound;

	for (size_t i = 0; i < count; i++) {
		struct span span = span_of(members[i]);

		if (!is_known(members[i])) {
			if (is_lacking(members[i]))
				total.has_high = 0;
			if (missing == NULL ||
			    (is_lacking(members[i]) && !is_lacking(*missing)))
				missing = &members[i];
			continue;
		}
		total.has_low = total.has_low && span.has_low;
		total.has_high = total.has_high && span.has_high;
		if (value + members[i].value < value) {
			value = MAXIMUM;
			total.has_high = 0;
		} else {
			value += members[i].value;
		}
		if (known != NULL && known->method != members[i].method)
			method = PLIM_METHOD_MIXED;
		else if (known == NULL)
			method = members[i].method;
		known = &members[i];
	}
	bound = span_bound(total);
	if (known == NULL && missing != NULL)
		return without_value(*missing);
	if (bound < 0)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	return plim_count_bounded(value, method, bound);
}

static void check_sum(const plim_count *members, size_t count)
{
	plim_sum sum;
	uint32_t known = 0;
	uint32_t missing = 0;

	memset(&sum, 0, sizeof(sum));
	for (size_t i = 0; i < count; i++) {
		plim_sum_add(&sum, members[i]);
		known += is_known(members[i]) ? 1 : 0;
		missing += is_lacking(members[i]) ? 1 : 0;
	}
	assert_int_equal(sum.known, known);
	assert_int_equal(sum.missing, missing);
	same_count(plim_sum_total(&sum), sum_expected(members, count));
}

static void test_sums(void **state)
{
	(void)state;
	check_sum(NULL, 0);
	for (size_t i = 0; i < all_count; i++)
		for (size_t j = 0; j < all_count; j++) {
			plim_count members[] = {all[i], all[j]};

			check_sum(members, 1);
			check_sum(members, 2);
		}
	/* Threes, a third of them. */
	for (size_t i = 0; i < all_count; i++)
		for (size_t j = i % 3; j < all_count; j += 3)
			for (size_t k = 0; k < all_count; k++) {
				plim_count members[] = {all[k], all[i], all[j]};

				check_sum(members, 3);
			}
}

static void test_sum_values(void **state)
{
	plim_sum sum;
	plim_count total;

	(void)state;
	memset(&sum, 0, sizeof(sum));
	total = plim_sum_total(&sum);
	assert_int_equal(total.state, PLIM_STATE_KNOWN);
	assert_int_equal(total.value, 0);
	plim_sum_add(&sum, plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13));
	plim_sum_add(&sum, plim_count_missing(PLIM_REASON_ENDED, 3));
	total = plim_sum_total(&sum);
	assert_int_equal(total.state, PLIM_STATE_DENIED);
	assert_int_equal(total.code, 13);
	plim_sum_add(&sum, plim_count_known(40, PLIM_METHOD_STATM));
	plim_sum_add(&sum, plim_count_known(2, PLIM_METHOD_STATM));
	same_count(
	    plim_sum_total(&sum),
	    plim_count_bounded(42, PLIM_METHOD_STATM, PLIM_BOUND_AT_LEAST));
	plim_sum_add(&sum, plim_count_known(MAXIMUM, PLIM_METHOD_STATUS));
	same_count(plim_sum_total(&sum),
		   plim_count_bounded(MAXIMUM, PLIM_METHOD_MIXED,
				      PLIM_BOUND_AT_LEAST));
	sum.known = UINT32_MAX;
	sum.missing = UINT32_MAX;
	plim_sum_add(&sum, plim_count_known(1, PLIM_METHOD_STATUS));
	plim_sum_add(&sum, plim_count_missing(PLIM_REASON_ENDED, 3));
	assert_int_equal(sum.known, UINT32_MAX);
	assert_int_equal(sum.missing, UINT32_MAX);
}

static int sign_of(int number)
{
	return (number > 0) - (number < 0);
}

static void test_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < all_count; i++) {
		for (size_t j = 0; j < all_count; j++) {
			plim_count a = all[i];
			plim_count b = all[j];
			int up = sign_of(plim_count_order(a, b, 0));
			int down = sign_of(plim_count_order(a, b, 1));

			if (is_known(a) && is_known(b)) {
				assert_int_equal(up, a.value < b.value
							 ? -1
							 : a.value > b.value);
				assert_int_equal(down, -up);
			} else {
				assert_int_equal(up, is_known(b) - is_known(a));
				assert_int_equal(down, up);
			}
			/* As reals, 2^53 + 1 equals 2^53. */
			if (a.value == b.value || is_known(a) != is_known(b) ||
			    a.value / 2 != b.value / 2) {
				plim_real x = plim_real_of(a);
				plim_real y = plim_real_of(b);

				assert_int_equal(
				    sign_of(plim_real_order(x, y, 0)), up);
				assert_int_equal(
				    sign_of(plim_real_order(x, y, 1)), down);
			}
		}
	}
}

static void test_order_of_nan(void **state)
{
	plim_real not_a_number = {.state = PLIM_STATE_KNOWN};
	plim_real one = plim_real_known(-1, PLIM_METHOD_IO);

	(void)state;
	not_a_number.value = NAN;
	assert_true(plim_real_order(not_a_number, one, 0) > 0);
	assert_true(plim_real_order(not_a_number, one, 1) > 0);
	assert_true(plim_real_order(one, not_a_number, 1) < 0);
	assert_int_equal(plim_real_order(not_a_number, not_a_number, 0), 0);
}

static void test_makers(void **state)
{
	plim_count zero;
	plim_real real;

	(void)state;
	memset(&zero, 0, sizeof(zero));
	assert_int_equal(sizeof(plim_count), 16);
	assert_int_equal(sizeof(plim_real), 16);
	assert_int_equal(zero.state, PLIM_STATE_UNREAD);
	same_count(plim_count_missing(PLIM_REASON_NONE, 0), zero);
	for (int reason = 0; plim_reason_word(reason) != NULL; reason++) {
		plim_count missing = plim_count_missing(reason, 7);

		assert_int_equal(missing.state, plim_reason_state(reason));
		assert_int_equal(missing.method, reason);
		assert_int_equal(missing.code, 7);
		assert_int_equal(missing.value, 0);
	}
	assert_int_equal(plim_count_missing(-1, 0).state, PLIM_STATE_UNREAD);
	assert_int_equal(plim_count_missing(9999, 0).method, PLIM_REASON_NONE);
	assert_int_equal(plim_count_missing(65536 + PLIM_REASON_ENDED, 0).state,
			 PLIM_STATE_UNREAD);
	real = plim_real_of(
	    plim_count_bounded(TWO_53 + 1, PLIM_METHOD_IO, PLIM_BOUND_AT_MOST));
	assert_true(real.value == 9007199254740992.0);
	assert_int_equal(real.bound, PLIM_BOUND_AT_MOST);
	real = plim_real_in_unit(
	    plim_count_known((uint64_t)(int64_t)-20, PLIM_METHOD_STAT),
	    PLIM_UNIT_SIGNED);
	assert_true(real.value == -20);
	assert_int_equal(real.method, PLIM_METHOD_STAT);
	real = plim_real_in_unit(
	    plim_count_known(UINT64_C(1) << 63, PLIM_METHOD_STAT),
	    PLIM_UNIT_SIGNED);
	assert_true(real.value == -9223372036854775808.0);
	real = plim_real_in_unit(plim_count_known(19, PLIM_METHOD_STAT),
				 PLIM_UNIT_SIGNED);
	assert_true(real.value == 19);
	real = plim_real_in_unit(
	    plim_count_known(UINT64_C(1) << 63, PLIM_METHOD_STAT),
	    PLIM_UNIT_BYTES);
	assert_true(real.value == 9223372036854775808.0);
	real =
	    plim_real_in_unit(plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13),
			      PLIM_UNIT_SIGNED);
	assert_int_equal(real.state, PLIM_STATE_DENIED);
	assert_true(real.value == 0);
	real = plim_real_of(plim_count_known(MAXIMUM, PLIM_METHOD_IO));
	assert_true(real.value == 18446744073709551616.0);
	assert_int_equal(plim_real_known(NAN, 1).state, PLIM_STATE_UNREAD);
	assert_int_equal(plim_real_known(INFINITY, 1).state, PLIM_STATE_UNREAD);
	assert_int_equal(plim_real_known(-INFINITY, 1).state,
			 PLIM_STATE_UNREAD);
	assert_true(plim_real_known(-2.5, 1).value == -2.5);
	assert_true(plim_real_known(DBL_MAX, 1).value == DBL_MAX);
	assert_true(plim_real_known(-DBL_MAX, 1).value == -DBL_MAX);
}

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(plim_state_word(PLIM_STATE_DENIED), "denied");
	assert_string_equal(plim_state_word(PLIM_STATE_MALFORMED), "malformed");
	assert_string_equal(plim_state_text(PLIM_STATE_RESET),
			    "the counter went back");
	for (int i = 0; i < STATES; i++) {
		assert_non_null(plim_state_word(i));
		assert_non_null(plim_state_text(i));
	}
	assert_null(plim_state_word(-1));
	assert_null(plim_state_word(STATES));
	assert_null(plim_state_text(STATES));
	assert_null(plim_state_text(INT32_MIN));
	assert_string_equal(plim_bound_word(PLIM_BOUND_AT_LEAST), "at_least");
	assert_string_equal(plim_bound_word(PLIM_BOUND_AT_MOST), "at_most");
	assert_string_equal(plim_bound_word(PLIM_BOUND_EXACT), "");
	assert_string_equal(plim_bound_word(99), "");
}

/* States and bounds that are none come out without a trap. */
static void test_total(void **state)
{
	plim_count wild = {.value = 3, .state = 200, .bound = 77, .code = -1};
	plim_count known = plim_count_known(4, PLIM_METHOD_IO);
	plim_sum sum;

	(void)state;
	assert_int_equal(plim_counter_change(wild, known).state, 200);
	assert_int_equal(plim_counter_change(known, wild).state, 200);
	assert_int_equal(plim_counter_change(known, wild).value, 0);
	assert_int_equal(plim_ratio(wild, known).state, 200);
	assert_int_equal(plim_count_max(wild, wild).state, 200);
	memset(&sum, 0, sizeof(sum));
	plim_sum_add(&sum, wild);
	assert_int_equal(plim_sum_total(&sum).state, 200);
	wild.state = PLIM_STATE_KNOWN;
	plim_sum_add(&sum, wild);
	plim_sum_add(&sum, known);
	plim_counter_change(wild, wild);
	plim_gauge_change(wild, known);
	plim_count_max(wild, known);
	plim_ratio(wild, known);
	assert_true(plim_count_order(wild, known, 0) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_makers),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_differences),
	    cmocka_unit_test(test_difference_bounds),
	    cmocka_unit_test(test_rates),
	    cmocka_unit_test(test_rate_values),
	    cmocka_unit_test(test_ratios),
	    cmocka_unit_test(test_max),
	    cmocka_unit_test(test_sums),
	    cmocka_unit_test(test_sum_values),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_order_of_nan),
	    cmocka_unit_test(test_total),
	};

	return cmocka_run_group_tests_name("figure", tests, make_all, NULL);
}
