/*
 * budget_reading.c - computing with readings, and what verdicts are.
 *
 * A reading is an interval: one point if it is exact, open to one side if it
 * is a bound, the whole line if it is missing or by a method that the limit
 * does not name. The aggregate of the repeats is their k-th smallest; it
 * grows with each of them, so the lowest and the highest value that it can
 * have are the aggregates of the lower and of the upper ends. Nothing here
 * allocates or needs libm.
 */
#include "observe/budget_judge.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *plim_verdict_word(int verdict)
{
	switch (verdict) {
	case PLIM_VERDICT_PASS:
		return "pass";
	case PLIM_VERDICT_EXCEEDED:
		return "exceeded";
	case PLIM_VERDICT_UNAVAILABLE:
		return "unavailable";
	case PLIM_VERDICT_INCONCLUSIVE:
		return "inconclusive";
	default:
		return NULL;
	}
}

int plimp_judge_badness(int verdict)
{
	switch (verdict) {
	case PLIM_VERDICT_PASS:
		return 0;
	case PLIM_VERDICT_INCONCLUSIVE:
		return 1;
	case PLIM_VERDICT_EXCEEDED:
		return 3;
	default:
		return 2;
	}
}

int plim_verdict_join(int a, int b)
{
	int worse = plimp_judge_badness(a) >= plimp_judge_badness(b) ? a : b;

	return plim_verdict_word(worse) != NULL ? worse
						: PLIM_VERDICT_UNAVAILABLE;
}

int plim_budget_verdict(const plim_budget_judgement *judgements, size_t count)
{
	int verdict = PLIM_VERDICT_PASS;
	int judged = 0;

	for (size_t i = 0; i < count; i++) {
		verdict = plim_verdict_join(verdict, judgements[i].verdict);
		judged |= !judgements[i].skipped || judgements[i].decided != 0;
	}
	return judged ? verdict
		      : plim_verdict_join(verdict, PLIM_VERDICT_UNAVAILABLE);
}

/* Without libm. Newton's steps fall until they meet. */
static double judge_root(double square)
{
	double root = square > 1 ? square : 1;

	assert(square >= 0);
	for (;;) {
		double next = (root + square / root) / 2;

		if (!(next < root))
			return root;
		root = next;
	}
}

static int judge_method_is_named(const plim_budget_limit *limit, int method)
{
	if (limit->method_count == 0)
		return 1;
	for (size_t i = 0; i < limit->method_count; i++)
		if (limit->methods[i] == method)
			return 1;
	return 0;
}

/* 1 if the reading counts: it is known and by a method that will do. */
int plimp_judge_is_known(const struct plimp_judge_case *judged,
			 const plim_budget_reading *reading)
{
	return reading->value.state == PLIM_STATE_KNOWN &&
	       judge_method_is_named(judged->limit, reading->value.method);
}

static double judge_value(const struct plimp_judge_case *judged, size_t index,
			  enum plimp_judge_end end)
{
	const plim_budget_reading *reading = &judged->readings[index];
	int known = plimp_judge_is_known(judged, reading);

	if (end == PLIMP_JUDGE_LOW &&
	    (!known || reading->value.bound == PLIM_BOUND_AT_MOST))
		return (double)-INFINITY;
	if (end == PLIMP_JUDGE_HIGH &&
	    (!known || reading->value.bound == PLIM_BOUND_AT_LEAST))
		return (double)INFINITY;
	return known ? reading->value.value : 0;
}

/* Doubles in the order of whole numbers. */
static uint64_t judge_key(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double judge_of_key(uint64_t key)
{
	uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The k-th smallest, from 0. There is no memory to sort in: the answer is
 * found bit by bit, by counting. */
static double judge_rank(const struct plimp_judge_case *judged,
			 enum plimp_judge_end end, size_t rank)
{
	uint64_t key = 0;

	for (int bit = 63; bit >= 0; bit--) {
		uint64_t tried = key | UINT64_C(1) << bit;
		size_t below = 0;

		for (size_t i = 0; i < judged->count; i++)
			below += judge_key(judge_value(judged, i, end)) < tried;
		if (below <= rank)
			key = tried;
	}
	return judge_of_key(key);
}

double plimp_judge_aggregate(const struct plimp_judge_case *judged,
			     enum plimp_judge_end end, int is_floor)
{
	size_t last = judged->count - 1;
	size_t rank = is_floor ? last / 2 : judged->count / 2;

	assert(judged->count > 0);
	if (judged->aggregate == PLIM_AGGREGATE_WORST)
		rank = is_floor ? 0 : last;
	else if (judged->aggregate == PLIM_AGGREGATE_BEST)
		rank = is_floor ? last : 0;
	return judge_rank(judged, end, rank);
}

size_t plimp_judge_missing(const struct plimp_judge_case *judged)
{
	size_t missing = 0;

	for (size_t i = 0; i < judged->count; i++)
		missing += !plimp_judge_is_known(judged, &judged->readings[i]);
	return missing;
}

/* The method of all known readings, or MIXED. */
int plimp_judge_method(const struct plimp_judge_case *judged)
{
	int method = -1;

	for (size_t i = 0; i < judged->count; i++) {
		const plim_budget_reading *reading = &judged->readings[i];

		if (!plimp_judge_is_known(judged, reading))
			continue;
		if (method >= 0 && method != reading->value.method)
			return PLIM_METHOD_MIXED;
		method = reading->value.method;
	}
	return method >= 0 ? method : PLIM_METHOD_NONE;
}

/* One standard deviation of a rate of n events; 0 where there is none. */
static double judge_error(const struct plimp_judge_case *judged,
			  const plim_budget_reading *reading)
{
	double seconds = (double)reading->window_ns / 1e9;
	double events;

	if (judged->figure->kind != PLIM_BUDGET_EVENTS)
		return 0;
	if (reading->counted.state == PLIM_STATE_KNOWN)
		events = (double)reading->counted.value;
	else
		events = reading->value.value * seconds;
	/* Of nothing counted it is known to about one event. */
	if (seconds > 0)
		return judge_root(events > 1 ? events : 1) / seconds;
	return events > 0 ? reading->value.value / judge_root(events) : 0;
}

/* The value of the check: which reading it is, and what is known of it. */
void plimp_judge_fill(const struct plimp_judge_case *judged,
		      struct plimp_judge_check *check, double value, int bound)
{
	check->value = plim_real_known(value, plimp_judge_method(judged));
	check->value.bound = (uint8_t)bound;
	check->headroom =
	    check->is_floor ? value - check->bound : check->bound - value;
	for (size_t i = 0; i < judged->count; i++) {
		const plim_budget_reading *reading = &judged->readings[i];

		if (!plimp_judge_is_known(judged, reading) ||
		    judge_key(reading->value.value) != judge_key(value))
			continue;
		check->error = judge_error(judged, reading);
		check->counted = reading->counted;
		return;
	}
}

void plimp_judge_value(const struct plimp_judge_case *judged,
		       struct plimp_judge_check *check)
{
	double read =
	    plimp_judge_aggregate(judged, PLIMP_JUDGE_READ, check->is_floor);
	int bound = PLIM_BOUND_EXACT;

	assert(plimp_judge_missing(judged) == 0);
	if (plimp_judge_aggregate(judged, PLIMP_JUDGE_HIGH, check->is_floor) !=
	    read)
		bound = PLIM_BOUND_AT_LEAST;
	else if (plimp_judge_aggregate(judged, PLIMP_JUDGE_LOW,
				       check->is_floor) != read)
		bound = PLIM_BOUND_AT_MOST;
	plimp_judge_fill(judged, check, read, bound);
}

/* 1 if some repeats hold and some cross. */
int plimp_judge_disagree(const struct plimp_judge_case *judged,
			 const struct plimp_judge_check *check)
{
	int holds = 0, crosses = 0;

	for (size_t i = 0; i < judged->count; i++) {
		double value = judged->readings[i].value.value;
		int ok = check->is_floor ? value >= check->bound
					 : value <= check->bound;

		if (!plimp_judge_is_known(judged, &judged->readings[i]))
			continue;
		holds |= ok;
		crosses |= !ok;
	}
	return holds && crosses;
}

void plimp_judge_spread(const struct plimp_judge_case *judged,
			plim_budget_judgement *out)
{
	out->least = out->most = plim_real_missing(PLIM_REASON_NONE, 0);
	for (size_t i = 0; i < judged->count; i++) {
		const plim_budget_reading *reading = &judged->readings[i];

		if (!plimp_judge_is_known(judged, reading))
			continue;
		if (out->least.state != PLIM_STATE_KNOWN ||
		    reading->value.value < out->least.value)
			out->least = reading->value;
		if (out->most.state != PLIM_STATE_KNOWN ||
		    reading->value.value > out->most.value)
			out->most = reading->value;
	}
}
