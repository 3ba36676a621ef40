/*
 * diff_judge.c - which functions changed (docs/design/profile-diff.md).
 *
 * The test. A function has the part p of a side's time; the side has n
 * effective samples (Kish: the square of the sum of weights by the sum of
 * their squares). If nothing changed, both sides have one part, p, and theirs
 * differ with the variance
 *
 *     p q (1/n0 + 1/n1) + ((a p q)^2 + b^2) (1/k0 + 1/k1),   q = 1 - p,
 *
 * which is the sampling of a binomial, or, where it is more, what slices tell
 * (diff_slices.c), and what two runs of one program differ by besides: `a` of
 * the function's own time and b of all time, with k profiles on a side.
 *
 * Which one. Parts add up to 1, so that one function that grows makes all
 * others shrink. So the one that is the farthest out is taken first, by its
 * own time or by its total time; then its stacks are left out, and the others
 * are tested by what is left. This is Holm's step-down procedure: the j-th of
 * m tests is taken only if its chance is below level / (m - j), so that the
 * chance of any false one is the level. Total time finds what is spread over
 * many callees; where a function's own time says nearly as much, that is
 * taken. A function's own time is held against what is left also where a
 * caller has been taken with all that it called.
 */
#include "compare/diff.h"

#include "compare/normal.h"
#include "compare/order.h"

#include <assert.h>

/* Effective samples, of both sides together, on a function and off it, below
 * which the normal distribution is no model and nothing is tested. */
#define ODDS_LEAST 25.0
/* Functions taken by one phase; each costs a pass over the functions of all
 * stacks in all their slices. Fewer where that is more than a real profile has.
 * What is beyond is taken at once. */
#define ODDS_STEPS  256u
#define ODDS_PASSED (UINT64_C(1) << 29)
/* By how much two runs of a program differ in anything, as a part of all time:
 * what preemption and cold caches add lands where it lands. */
#define ODDS_WHOLE 0.0005
/* 9 of 10 lie below it: for the smallest change that would have been told. */
#define ODDS_POWER 1.2815515655446004
/* Files of a side count as much as so many assumed ones. */
#define ODDS_PRIOR 3.0
/* A function smaller than that tells more of its samples than of runs. */
#define ODDS_LARGE 0.02
/* A caller is taken by its total time only if no function's own time is that
 * far out, as a part of it. */
#define ODDS_OWN 0.8

struct odds {
	struct plim_diff *diff;
	int of;
	size_t tested;	 /* m, of both kinds */
	size_t taken;	 /* j */
	double critical; /* z of the step */
	double n[2];	 /* effective samples of what is left */
	double runs;	 /* a^2 (1/k0 + 1/k1) */
	double whole;	 /* b^2 (1/k0 + 1/k1) */
};

static double odds_square(double value)
{
	return value * value;
}

static double odds_size(double value)
{
	return value < 0 ? -value : value;
}

/* A function's own time wherever it is; its total time of what is left. */
static double odds_time(const struct odds *odds, size_t i, int side)
{
	return odds->of == PLIM_DIFF_OF_SELF ? odds->diff->whole[side][i]
					     : odds->diff->tally[side].total[i];
}

/* What is left of others. */
static double odds_rest(const struct odds *odds, size_t i, int side)
{
	const struct plimp_diff_tally *tally = &odds->diff->tally[side];
	const double own =
	    odds->of == PLIM_DIFF_OF_SELF ? tally->self[i] : tally->total[i];

	return own < tally->weight ? tally->weight - own : 0;
}

/* Sums anew; 0: a side has nothing left. */
static int odds_count(struct odds *odds)
{
	plimp_diff_count(odds->diff);
	if (odds->critical > 0)
		plimp_diff_slices(odds->diff, odds->critical);
	for (int side = 0; side < 2; side++) {
		const struct plimp_diff_tally *tally = &odds->diff->tally[side];

		if (!(tally->weight > 0) || !(tally->square > 0))
			return 0;
		odds->n[side] = odds_square(tally->weight) / tally->square;
	}
	return 1;
}

/* Effective samples that a function is tested by: of it and of the rest. */
static double odds_count_of(const struct odds *odds, size_t i, int side)
{
	return odds->n[side] *
	       (odds_time(odds, i, side) + odds_rest(odds, i, side)) /
	       odds->diff->tally[side].weight;
}

/* The part of a side's time; 0 where there is none at all. */
static double odds_part(const struct odds *odds, size_t i, int side)
{
	const double time = odds_time(odds, i, side);
	const double whole = time + odds_rest(odds, i, side);

	return whole > 0 ? time / whole : 0;
}

/* That of both, by their samples; and how many these are. */
static double odds_pooled(const struct odds *odds, size_t i, double *count)
{
	double sum = 0;

	*count = 0;
	for (int side = 0; side < 2; side++) {
		const double samples = odds_count_of(odds, i, side);

		sum += samples * odds_part(odds, i, side);
		*count += samples;
	}
	return *count > 0 && sum < *count ? sum / *count : *count > 0;
}

static int odds_is_tested(const struct odds *odds, size_t i)
{
	double count;
	const double part = odds_pooled(odds, i, &count);

	return count * part >= ODDS_LEAST && count * (1 - part) >= ODDS_LEAST;
}

/* The variance of a binomial; 0: there is none, because it has nothing or
 * everything. */
static double odds_binomial(const struct odds *odds, size_t i)
{
	double count;
	const double part = odds_pooled(odds, i, &count);
	const double before = odds_count_of(odds, i, 0);
	const double after = odds_count_of(odds, i, 1);

	if (!(before > 0) || !(after > 0))
		return 0;
	return (1 / before + 1 / after) * (part * (1 - part));
}

/* By how much slices, and what lands anywhere, make it more. */
static double odds_more(const struct odds *odds, size_t i)
{
	const double binomial = odds_binomial(odds, i);
	double variance = binomial;

	if (!(binomial > 0))
		return 1;
	if (odds->diff->slice_count > 0 &&
	    odds->diff->varied[odds->of - 1][i] > variance)
		variance = odds->diff->varied[odds->of - 1][i];
	return (variance + odds->whole) / binomial;
}

/* The standard error of the logarithm of the odds, were nothing changed; 0:
 * there is none. */
static double odds_error(const struct odds *odds, size_t i)
{
	double count;
	const double part = odds_pooled(odds, i, &count);
	const double binomial = odds_binomial(odds, i);

	if (!(binomial > 0))
		return 0;
	return plimp_root(odds_more(odds, i) * binomial /
			      odds_square(part * (1 - part)) +
			  odds->runs);
}

static double odds_z(const struct odds *odds, size_t i)
{
	double count;
	const double part = odds_pooled(odds, i, &count);
	const double error = odds_error(odds, i) * part * (1 - part);

	if (!(error > 0))
		return 0;
	return (odds_part(odds, i, 1) - odds_part(odds, i, 0)) / error;
}

/* --- how much runs differ ------------------------------------------------- */

/* By how much the files of a side differ in a function beyond sampling, as a
 * square relative to p q, and what such a figure is worth. */
static void odds_spread(const struct plim_diff *diff, size_t i, int side,
			double *sum, double *worth)
{
	double mean = 0;
	double squares = 0;
	double sampling = 0;
	double both;
	double weight;
	double count = 0;

	for (size_t p = 0; p < diff->profile_count; p++) {
		const struct plimp_diff_profile *profile = &diff->profiles[p];

		if (profile->side != side || !(profile->weight > 0))
			continue;
		mean += profile->self[i] / profile->weight;
		sampling += profile->square / odds_square(profile->weight);
		count++;
	}
	if (count < 2)
		return;
	mean /= count;
	both = mean * (1 - mean);
	if (mean < ODDS_LARGE || mean > 1 - ODDS_LARGE)
		return;
	for (size_t p = 0; p < diff->profile_count; p++) {
		const struct plimp_diff_profile *profile = &diff->profiles[p];

		if (profile->side == side && profile->weight > 0)
			squares += odds_square(
			    profile->self[i] / profile->weight - mean);
	}
	sampling *= both / count;
	weight = 1 / odds_square(sampling / odds_square(both) +
				 odds_square(PLIM_DIFF_ALLOWANCE));
	*sum += weight * (squares / (count - 1) - sampling) / odds_square(both);
	*worth += weight;
}

/* What is assumed of runs, mixed with what several profiles of a side told. */
static void odds_allowance(struct plim_diff *diff)
{
	const double free = (double)(diff->profile_count - 2);
	const double assumed = odds_square(diff->facts.allowance);
	double sum = 0;
	double worth = 0;

	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < diff->function_count &&
				   diff->facts.sides[side].profiles > 1;
		     i++)
			odds_spread(diff, i, side, &sum, &worth);
	if (!(worth > 0))
		return;
	sum = sum > 0 ? sum / worth : 0;
	diff->facts.allowance = plimp_root((ODDS_PRIOR * assumed + free * sum) /
					   (ODDS_PRIOR + free));
	diff->facts.is_allowance_seen = 1;
}

/* --- taking --------------------------------------------------------------- */

static double odds_critical(const struct odds *odds)
{
	const size_t left =
	    odds->tested > odds->taken ? odds->tested - odds->taken : 1;

	/* Half of the level for growing, half for shrinking. */
	return plimp_normal_beyond(odds->diff->facts.level / 2 / (double)left);
}

/* Its own time, and nearly nothing else: total time would test it twice. */
static int odds_has_callees(const struct odds *odds, size_t i)
{
	double more = 0;

	for (int side = 0; side < 2; side++) {
		const struct plimp_diff_tally *tally = &odds->diff->tally[side];

		more += (tally->total[i] - tally->self[i]) / tally->weight *
			odds->n[side];
	}
	return more >= ODDS_LEAST;
}

static void odds_select(struct odds *odds)
{
	struct plim_diff *diff = odds->diff;

	for (size_t i = 0; i < diff->function_count; i++)
		for (odds->of = PLIM_DIFF_OF_SELF;
		     odds->of <= PLIM_DIFF_OF_TOTAL; odds->of++) {
			if (!odds_is_tested(odds, i) ||
			    (odds->of == PLIM_DIFF_OF_TOTAL &&
			     !odds_has_callees(odds, i)))
				continue;
			diff->tested[i] |= (uint8_t)(1u << odds->of);
			diff->facts.tested[odds->of - 1]++;
			odds->tested++;
		}
}

static int odds_is_open(const struct odds *odds, size_t i)
{
	return (odds->diff->tested[i] >> odds->of & 1) != 0 &&
	       odds->diff->functions[i].verdict != PLIM_DIFF_CHANGED;
}

/* The one farthest out by the time in question, or function_count. */
static size_t odds_farthest(const struct odds *odds, double *most)
{
	size_t best = odds->diff->function_count;

	*most = odds->critical;
	for (size_t i = 0; i < odds->diff->function_count; i++) {
		const double size =
		    odds_is_open(odds, i) ? odds_size(odds_z(odds, i)) : 0;

		if (size > *most) {
			*most = size;
			best = i;
		}
	}
	return best;
}

/* The one to take, and by which time; function_count: none. */
static size_t odds_next(struct odds *odds)
{
	double own;
	double total;
	size_t by_own;
	size_t by_total;

	odds->critical = odds_critical(odds);
	odds->of = PLIM_DIFF_OF_TOTAL;
	by_total = odds_farthest(odds, &total);
	odds->of = PLIM_DIFF_OF_SELF;
	by_own = odds_farthest(odds, &own);
	if (by_total == odds->diff->function_count ||
	    (by_own < odds->diff->function_count && own >= ODDS_OWN * total))
		return by_own;
	odds->of = PLIM_DIFF_OF_TOTAL;
	return by_total;
}

static void odds_leave_out(struct plim_diff *diff, size_t function, int of)
{
	for (size_t i = 0; i < diff->stack_count; i++) {
		struct plimp_diff_stack *stack = &diff->stacks[i];
		const uint32_t count =
		    of == PLIM_DIFF_OF_SELF ? 1 : stack->function_count;

		for (uint32_t k = 0; k < count && !stack->is_out; k++)
			stack->is_out =
			    diff->items[stack->first + k] == function;
	}
}

static void odds_take(struct odds *odds, size_t i, double z)
{
	plim_diff_function *row = &odds->diff->functions[i];

	row->verdict = PLIM_DIFF_CHANGED;
	row->of = odds->of;
	row->z = z;
	for (int side = 0; side < 2; side++)
		odds->diff->judged[i][side] = odds_time(odds, i, side);
	odds->diff->judged[i][2] = odds_more(odds, i);
	odds->taken++;
	odds->diff->facts.changed++;
}

/* By how much the odds of a function moved, as a logarithm. One that has
 * nothing on a side moved as if it had half a sample there. */
static double odds_moved(const struct odds *odds, size_t i)
{
	double of_side[2];

	for (int side = 0; side < 2; side++) {
		const double half =
		    odds->diff->tally[side].weight / odds->n[side] / 2;

		of_side[side] = (odds_time(odds, i, side) + half) /
				(odds_rest(odds, i, side) + half);
	}
	return plimp_log(of_side[1]) - plimp_log(of_side[0]);
}

/*
 * One has been taken, and moved by so much. Where what is left could not show
 * whether another, that had been as clear, moved as much or not at all, that
 * one is taken, too, and both are open. `clear` has them.
 */
static void odds_take_others(struct odds *odds, size_t taken, double moved,
			     const uint8_t *clear)
{
	struct plim_diff *diff = odds->diff;
	int is_left = -1; /* not known yet */

	for (size_t i = 0; i < diff->function_count; i++) {
		double error;

		if (!clear[i] || !odds_is_open(odds, i))
			continue;
		if (is_left < 0)
			is_left = odds_count(odds);
		error = is_left ? odds_error(odds, i) : 0;
		/* As clear as before: a matter of its own, for the next step.
		 */
		if (error > 0 && (2 * error < odds_size(moved) ||
				  odds_size(odds_z(odds, i)) > odds->critical))
			continue;
		diff->functions[taken].is_open = 1;
		diff->functions[i].is_open = 1;
		diff->functions[i].verdict = PLIM_DIFF_CHANGED;
		diff->functions[i].of = odds->of;
		odds->taken++;
		diff->facts.changed++;
	}
}

/* All that are as far out as the step asks. */
static void odds_note_clear(const struct odds *odds, uint8_t *clear)
{
	for (size_t i = 0; i < odds->diff->function_count; i++) {
		const double z = odds_is_open(odds, i) ? odds_z(odds, i) : 0;

		clear[i] = odds_size(z) > odds->critical;
		if (clear[i])
			odds->diff->functions[i].z = z;
	}
}

/* The same of all that have been taken. */
static void odds_leave_out_all(struct plim_diff *diff)
{
	for (size_t i = 0; i < diff->stack_count; i++) {
		struct plimp_diff_stack *stack = &diff->stacks[i];

		for (uint32_t k = 0; k < stack->function_count; k++) {
			const plim_diff_function *row =
			    &diff->functions[diff->items[stack->first + k]];

			if (row->verdict == PLIM_DIFF_CHANGED &&
			    (k == 0 || row->of == PLIM_DIFF_OF_TOTAL))
				stack->is_out = 1;
		}
	}
}

/* All that are left beyond the critical value, by what is left now. */
static void odds_take_rest(struct odds *odds)
{
	struct plim_diff *diff = odds->diff;

	odds->critical = odds_critical(odds);
	for (odds->of = PLIM_DIFF_OF_SELF; odds->of <= PLIM_DIFF_OF_TOTAL;
	     odds->of++)
		for (size_t i = 0; i < diff->function_count; i++) {
			const double z =
			    odds_is_open(odds, i) ? odds_z(odds, i) : 0;

			if (odds_size(z) > odds->critical)
				odds_take(odds, i, z);
		}
	odds_leave_out_all(diff);
}

static size_t odds_steps(const struct plim_diff *diff)
{
	const uint64_t depth =
	    diff->item_count / (diff->stack_count > 0 ? diff->stack_count : 1) +
	    1;
	const uint64_t pass = diff->item_count + diff->slice_count * depth + 1;
	const uint64_t steps = ODDS_PASSED / pass + 1;

	return steps < ODDS_STEPS ? (size_t)steps : ODDS_STEPS;
}

static void odds_take_all(struct odds *odds, uint8_t *clear)
{
	struct plim_diff *diff = odds->diff;
	const size_t steps = odds_steps(diff);

	if (!odds_count(odds))
		return;
	odds_select(odds);
	odds->critical = odds_critical(odds);
	for (size_t step = 0; odds_count(odds); step++) {
		size_t best;
		double moved;

		if (step == steps) {
			odds_take_rest(odds);
			break;
		}
		best = odds_next(odds);
		if (best == diff->function_count)
			break;
		odds_note_clear(odds, clear);
		moved = odds_moved(odds, best);
		odds_take(odds, best, odds_z(odds, best));
		odds_leave_out(diff, best, odds->of);
		clear[best] = 0;
		odds_take_others(odds, best, moved, clear);
	}
	odds->critical = odds_critical(odds);
}

/* --- what is said of each ------------------------------------------------- */

/* The change and its error, of times x against times r, both by side; x[2] is
 * what odds_more() said of them. */
static void odds_say_change(const struct odds *odds, size_t i,
			    const double x[3])
{
	plim_diff_function *row = &odds->diff->functions[i];
	double square = odds->runs;
	double ratio;
	double rest[2];

	row->change = plim_real_missing(PLIM_REASON_ZERO_WHOLE, 0);
	row->change_error = row->change;
	for (int side = 0; side < 2; side++) {
		const struct plimp_diff_tally *tally = &odds->diff->tally[side];
		const double samples = odds->n[side] / tally->weight;

		rest[side] = row->verdict == PLIM_DIFF_CHANGED
				 ? tally->weight
				 : odds_rest(odds, i, side);
		if (!(rest[side] > 0) || (side == 0 && !(x[side] > 0)))
			return;
		/* Where it has nothing: as if half a sample. */
		square += x[2] * (1 / (x[side] > 0 ? x[side] * samples : 0.5) +
				  1 / (rest[side] * samples));
	}
	ratio = x[1] / rest[1] / (x[0] / rest[0]);
	row->change = plim_real_known(ratio - 1, PLIM_METHOD_NONE);
	row->change_error =
	    plim_real_known(ratio * plimp_root(square), PLIM_METHOD_NONE);
}

/* The smallest change that 9 of 10 comparisons would have told; 0: none. */
static double odds_detectable(const struct odds *odds, size_t i)
{
	const double error = odds_error(odds, i);

	if (!(error > 0) || !odds_is_tested(odds, i))
		return 0;
	return plimp_exp((odds->critical + ODDS_POWER) * error) - 1;
}

/* Of one that was not found changed: whether it would have been. */
static void odds_say_same(struct odds *odds, size_t i)
{
	plim_diff_function *row = &odds->diff->functions[i];
	double x[3];
	double best = 0;

	row->of = PLIM_DIFF_OF_SELF;
	row->z = 0;
	for (int of = PLIM_DIFF_OF_SELF; of <= PLIM_DIFF_OF_TOTAL; of++) {
		double found;

		if ((odds->diff->tested[i] >> of & 1) == 0)
			continue;
		odds->of = of;
		found = odds_detectable(odds, i);
		if (found <= 0 || (best > 0 && found >= best) ||
		    (best > 0 && best <= odds->diff->facts.detect))
			continue;
		best = found;
		row->of = of;
		row->z = odds_z(odds, i);
	}
	odds->of = row->of;
	row->detectable = best > 0
			      ? plim_real_known(best, PLIM_METHOD_NONE)
			      : plim_real_missing(PLIM_REASON_FEW_SAMPLES, 0);
	/* One that stands out and was not judged is not the same for that. */
	row->verdict = best > 0 && best <= odds->diff->facts.detect &&
			       odds_size(row->z) <= odds->critical
			   ? PLIM_DIFF_SAME
			   : PLIM_DIFF_FEW;
	for (int side = 0; side < 2; side++)
		x[side] = odds_time(odds, i, side);
	x[2] = odds_more(odds, i);
	odds_say_change(odds, i, x);
}

static void odds_say(struct odds *odds)
{
	struct plim_diff *diff = odds->diff;
	const int is_left = odds_count(odds);
	const plim_diff_side *sides = diff->facts.sides;

	for (size_t i = 0; i < diff->function_count; i++) {
		plim_diff_function *row = &diff->functions[i];

		if (row->total[0] == 0 && row->total[1] == 0)
			continue; /* of another view */
		row->change =
		    plim_real_missing(row->is_open ? PLIM_REASON_NOT_TOLD_APART
						   : PLIM_REASON_ZERO_WHOLE,
				      0);
		row->change_error = row->change;
		row->detectable = plim_real_missing(
		    row->verdict == PLIM_DIFF_CHANGED ? PLIM_REASON_HAS_CHANGED
						      : PLIM_REASON_FEW_SAMPLES,
		    0);
		if (!is_left) {
			if (row->verdict != PLIM_DIFF_CHANGED)
				row->verdict = PLIM_DIFF_FEW;
		} else if (row->verdict != PLIM_DIFF_CHANGED) {
			odds_say_same(odds, i);
		} else if (!row->is_open) {
			odds_say_change(odds, i, diff->judged[i]);
		}
		if (row->of == 0)
			row->of = PLIM_DIFF_OF_SELF;
		diff->facts.same += row->verdict == PLIM_DIFF_SAME;
		diff->facts.few += row->verdict == PLIM_DIFF_FEW;
	}
	diff->facts.scale = plim_real_missing(PLIM_REASON_NO_LINE, 0);
	if (is_left && sides[0].duration_ns > 0 && sides[1].duration_ns > 0)
		diff->facts.scale = plim_real_known(
		    diff->tally[1].weight / (double)sides[1].duration_ns /
			(diff->tally[0].weight / (double)sides[0].duration_ns),
		    PLIM_METHOD_NONE);
}

/* --- order ---------------------------------------------------------------- */

static int odds_larger(double a, double b)
{
	return a > b ? -1 : a < b;
}

static int odds_by_row(uint32_t a, uint32_t b, const void *user)
{
	const struct plim_diff *diff = user;
	const plim_diff_function *left = &diff->functions[a];
	const plim_diff_function *right = &diff->functions[b];
	int order = left->verdict - right->verdict;

	if (order == 0 && left->verdict == PLIM_DIFF_CHANGED)
		order = odds_larger(odds_size(left->z), odds_size(right->z));
	if (order == 0)
		order =
		    odds_larger(left->self_share[0] + left->self_share[1],
				right->self_share[0] + right->self_share[1]);
	if (order == 0)
		order =
		    odds_larger(left->total_share[0] + left->total_share[1],
				right->total_share[0] + right->total_share[1]);
	if (order == 0) /* numbers go by name */
		order = a < b ? -1 : a > b;
	return order;
}

static void odds_order(struct plim_diff *diff)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->function_count; i++)
		if (diff->functions[i].total[0] > 0 ||
		    diff->functions[i].total[1] > 0)
			diff->order[count++] = (uint32_t)i;
	assert(count ==
	       diff->facts.changed + diff->facts.same + diff->facts.few);
	plimp_order(diff->order, count, odds_by_row, diff);
	for (size_t i = 0; i < count; i++)
		diff->places[diff->order[i]] = (uint32_t)i;
	/* Nothing is summed up any more: stacks name rows. */
	for (size_t i = 0; i < diff->item_count; i++)
		diff->items[i] = diff->places[diff->items[i]];
}

void plimp_diff_judge(struct plim_diff *diff)
{
	const plim_diff_side *sides = diff->facts.sides;
	struct odds odds = {.diff = diff};

	odds_allowance(diff);
	odds.runs =
	    odds_square(diff->facts.allowance) *
	    (1 / (double)sides[0].profiles + 1 / (double)sides[1].profiles);
	if (diff->facts.allowance > 0)
		odds.whole =
		    odds_square(ODDS_WHOLE) * (1 / (double)sides[0].profiles +
					       1 / (double)sides[1].profiles);
	if (odds_count(&odds))
		for (int side = 0; side < 2; side++)
			diff->facts.sides[side].effective_samples =
			    odds.n[side];
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < diff->function_count; i++)
			diff->whole[side][i] = diff->tally[side].self[i];
	odds_take_all(&odds, diff->clear);
	odds_say(&odds);
	odds_order(diff);
}
