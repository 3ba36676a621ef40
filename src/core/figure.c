/*
 * figure.c - the arithmetic of figures that may be missing.
 *
 * Three things travel through every operation: the state (an unavailable
 * operand makes the result unavailable for the same reason), the bound (a
 * result claims no more than its operands do) and the method (what was found
 * in different ways is not subtracted, and is named as mixed where adding it
 * makes sense). Each has one helper here; the operations combine them, always
 * in this order: state, method, bound, value. Nothing asserts on a figure:
 * any 16 bytes are answered. Sums are in sum.c.
 */
#include <plimsoll/figure.h>
#include <plimsoll/fields.h>

#include <float.h>

#define FIGURE_NS_PER_SECOND 1e9

static const char *const figure_state_words[] = {
#define PLIM_X(name, number, word, text) [number] = word,
    PLIM_STATE_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const figure_state_texts[] = {
#define PLIM_X(name, number, word, text) [number] = text,
    PLIM_STATE_LIST(PLIM_X)
#undef PLIM_X
};

#define FIGURE_STATES \
	((int)(sizeof(figure_state_words) / sizeof(figure_state_words[0])))

const char *plim_state_word(int state)
{
	if (state < 0 || state >= FIGURE_STATES)
		return NULL;
	return figure_state_words[state];
}

const char *plim_state_text(int state)
{
	if (state < 0 || state >= FIGURE_STATES)
		return NULL;
	return figure_state_texts[state];
}

const char *plim_bound_word(int bound)
{
	switch (bound) {
	case PLIM_BOUND_AT_LEAST:
		return "at_least";
	case PLIM_BOUND_AT_MOST:
		return "at_most";
	default:
		return "";
	}
}

plim_count plim_count_known(uint64_t value, int method)
{
	return plim_count_bounded(value, method, PLIM_BOUND_EXACT);
}

plim_count plim_count_bounded(uint64_t value, int method, int bound)
{
	return (plim_count){
	    .value = value,
	    .state = PLIM_STATE_KNOWN,
	    .bound = (uint8_t)bound,
	    .method = (uint16_t)method,
	};
}

/* A number that is no reason is stored as the reason NONE, whose state is
 * UNREAD: the two never disagree. */
plim_count plim_count_missing(int reason, int32_t code)
{
	return (plim_count){
	    .state = (uint8_t)plim_reason_state(reason),
	    .method = plim_reason_word(reason) != NULL ? (uint16_t)reason
						       : PLIM_REASON_NONE,
	    .code = code,
	};
}

/* NaN fails both comparisons; it and the infinities come from no figure and
 * are taken for one that was never read. */
plim_real plim_real_known(double value, int method)
{
	if (!(value >= -DBL_MAX && value <= DBL_MAX))
		return plim_real_missing(PLIM_REASON_NONE, 0);
	return (plim_real){
	    .value = value,
	    .state = PLIM_STATE_KNOWN,
	    .method = (uint16_t)method,
	};
}

plim_real plim_real_missing(int reason, int32_t code)
{
	return plim_real_of(plim_count_missing(reason, code));
}

plim_real plim_real_of(plim_count count)
{
	int known = count.state == PLIM_STATE_KNOWN;

	return (plim_real){
	    .value = known ? (double)count.value : 0,
	    .state = count.state,
	    .bound = count.bound,
	    .method = count.method,
	    .code = count.code,
	};
}

static int figure_is_known(plim_count figure)
{
	return figure.state == PLIM_STATE_KNOWN;
}

/* What an unavailable operand makes of the result. The value is cleared: the
 * figure may come from a caller who left something in it. */
static plim_count figure_carry(plim_count missing)
{
	missing.value = 0;
	missing.bound = PLIM_BOUND_EXACT;
	return missing;
}

static uint16_t figure_method(plim_count a, plim_count b)
{
	return a.method == b.method ? a.method : PLIM_METHOD_MIXED;
}

plim_real plim_real_in_unit(plim_count count, int unit)
{
	const uint64_t sign = UINT64_C(1) << 63;
	plim_real real = plim_real_of(count);

	if (unit == PLIM_UNIT_SIGNED && figure_is_known(count) &&
	    (count.value & sign) != 0)
		real.value = -(double)(UINT64_C(0) - count.value);
	return real;
}

/* The bound that the negative, or the reciprocal, of a figure has. */
static int figure_mirror(int bound)
{
	if (bound == PLIM_BOUND_AT_LEAST)
		return PLIM_BOUND_AT_MOST;
	if (bound == PLIM_BOUND_AT_MOST)
		return PLIM_BOUND_AT_LEAST;
	return bound;
}

/* The bound of a result that grows with both operands, or -1 where they
 * point apart and the result is not bounded at all. */
static int figure_join(int a, int b)
{
	if (a == PLIM_BOUND_EXACT || a == b)
		return b;
	return b == PLIM_BOUND_EXACT ? a : -1;
}

/* The checks that both differences share. A KNOWN result has method and bound
 * of the difference, and lacks its value alone. */
static plim_count figure_compare(plim_count first, plim_count last)
{
	int bound = figure_join(last.bound, figure_mirror(first.bound));

	if (!figure_is_known(last))
		return figure_carry(last);
	if (!figure_is_known(first))
		return figure_carry(first);
	if (first.method != last.method)
		return plim_count_missing(PLIM_REASON_OTHER_METHOD, 0);
	if (bound < 0)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	return plim_count_bounded(0, last.method, bound);
}

plim_count plim_counter_change(plim_count first, plim_count last)
{
	plim_count change = figure_compare(first, last);

	if (!figure_is_known(change))
		return change;
	if (last.value < first.value)
		return plim_count_missing(PLIM_REASON_WENT_BACK, 0);
	change.value = last.value - first.value;
	return change;
}

/* Subtracts before it converts: two large values that differ by one byte give
 * one, not what is left of it after rounding to 53 bits. */
plim_real plim_gauge_change(plim_count first, plim_count last)
{
	plim_count change = figure_compare(first, last);
	plim_real real = plim_real_of(change);

	if (!figure_is_known(change))
		return real;
	if (last.value >= first.value)
		real.value = (double)(last.value - first.value);
	else
		real.value = -(double)(first.value - last.value);
	return real;
}

plim_real plim_counter_rate(plim_count first, plim_count last,
			    uint64_t interval_ns)
{
	return plim_change_rate(plim_counter_change(first, last), interval_ns);
}

/* A missing change is told before a missing interval: it stays when time has
 * passed. 2^64 times 1e9 is far from the end of a double. */
plim_real plim_change_rate(plim_count change, uint64_t interval_ns)
{
	plim_real rate;

	if (!figure_is_known(change))
		return plim_real_of(figure_carry(change));
	if (interval_ns == 0)
		return plim_real_missing(PLIM_REASON_ZERO_INTERVAL, 0);
	rate = plim_real_of(change);
	rate.value = rate.value * FIGURE_NS_PER_SECOND / (double)interval_ns;
	return rate;
}

plim_real plim_ratio(plim_count part, plim_count whole)
{
	int bound = figure_join(part.bound, figure_mirror(whole.bound));
	plim_real ratio;

	if (!figure_is_known(part))
		return plim_real_of(figure_carry(part));
	if (!figure_is_known(whole))
		return plim_real_of(figure_carry(whole));
	if (whole.value == 0)
		return plim_real_missing(PLIM_REASON_ZERO_WHOLE, 0);
	if (bound < 0)
		return plim_real_missing(PLIM_REASON_SAME_BOUND, 0);
	ratio = plim_real_of(part);
	ratio.value /= (double)whole.value;
	ratio.bound = (uint8_t)bound;
	ratio.method = figure_method(part, whole);
	return ratio;
}

/* The maximum of a known figure and one that may be anything: whatever the
 * known one is at least. An upper bound is at least nothing. */
static plim_count figure_max_alone(plim_count known)
{
	if (known.bound == PLIM_BOUND_AT_MOST)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	known.bound = PLIM_BOUND_AT_LEAST;
	return known;
}

/*
 * Both unavailable: the first tells why. Two known figures are two intervals
 * [low, high], and so is their maximum:
 *
 *   at least and at most    at least the former; the latter adds nothing
 *   at least and any other  at least the larger
 *   at most x and exact y   y if y >= x, else at most x
 *   at most both            at most the larger
 */
plim_count plim_count_max(plim_count a, plim_count b)
{
	plim_count larger = a.value >= b.value ? a : b;
	plim_count lesser = a.value >= b.value ? b : a;
	int bound = figure_join(a.bound, b.bound);

	if (!figure_is_known(a))
		return figure_is_known(b) ? figure_max_alone(b)
					  : figure_carry(a);
	if (!figure_is_known(b))
		return figure_max_alone(a);
	if (bound < 0)
		larger = a.bound == PLIM_BOUND_AT_LEAST ? a : b;
	else if (bound == PLIM_BOUND_AT_LEAST)
		larger.bound = PLIM_BOUND_AT_LEAST;
	else if (a.value == b.value && lesser.bound == PLIM_BOUND_EXACT)
		larger.bound = PLIM_BOUND_EXACT;
	larger.method = figure_method(a, b);
	larger.code = 0;
	return larger;
}

static int figure_direct(int order, int descending)
{
	return descending ? -order : order;
}

int plim_count_order(plim_count a, plim_count b, int descending)
{
	int missing = !figure_is_known(a) - !figure_is_known(b);

	if (missing != 0 || !figure_is_known(a))
		return missing;
	return figure_direct((a.value > b.value) - (a.value < b.value),
			     descending);
}

/* A NaN that a caller put there stands with the unavailable ones: qsort needs
 * an order. */
static int figure_real_is_missing(plim_real figure)
{
	return figure.state != PLIM_STATE_KNOWN || figure.value != figure.value;
}

int plim_real_order(plim_real a, plim_real b, int descending)
{
	int missing = figure_real_is_missing(a) - figure_real_is_missing(b);

	if (missing != 0 || figure_real_is_missing(a))
		return missing;
	return figure_direct((a.value > b.value) - (a.value < b.value),
			     descending);
}
