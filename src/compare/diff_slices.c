/*
 * diff_slices.c - how much the parts of functions vary within the runs
 * (docs/design/profile-diff.md, "Samples are not independent").
 *
 * A run is told in slices of equal CPU time. A function has a residual in each
 * slice: its time there less its part of the slice's time, by the time of the
 * whole side. They add up to 0; the sum of their squares is the variance of
 * the part if slices are independent of each other, however the samples in
 * them are. It is taken of single slices, and of two and four together, which
 * are so sooner; the largest counts.
 *
 * A program that does one thing after the other varies from slice to slice
 * and not from run to run. Where both sides do the same at the same time, the
 * difference of the two residuals has none of that: the smaller of both
 * variances is taken.
 *
 * Few slices do not tell a variance exactly. Where it is no larger than chance
 * would make that of independent samples, these are believed; where it is,
 * Student's distribution asks for more.
 */
#include "compare/diff.h"

#include "compare/normal.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

/* Fewer slices than that tell no variance. */
#define SLICES_LEAST 16
/* A variance of sampling is believed up to that quantile of what slices would
 * make of it: 19 of 20 are below. */
#define SLICES_BELIEVED 1.6448536269514722

static double slices_square(double value)
{
	return value * value;
}

/* The approximate quantile of a variance by so many degrees, by its truth
 * (Wilson and Hilferty). */
static double slices_quantile(double degrees)
{
	const double part = 2 / (9 * degrees);
	const double root = 1 - part + SLICES_BELIEVED * plimp_root(part);

	return root * root * root;
}

/* By how much a variance of so many degrees must be larger, so that a normal
 * deviate at `critical` is as rare as Student's (Abramowitz and Stegun,
 * 26.7.8, the other way round). */
static double slices_student(double degrees, double critical)
{
	const double less = 1 - 1 / (4 * degrees);
	const double square = slices_square(critical);
	const double below = slices_square(less) - square / (2 * degrees);

	/* So far out such a variance says little; no factor is infinite. */
	return below > 0.2 ? 1 / below : 5;
}

/* --- order ---------------------------------------------------------------- */

int plimp_diff_slices_order(struct plim_diff *diff)
{
	const size_t count = diff->slice_count;
	struct plimp_diff_slice *ordered;
	size_t first[PLIM_STORED_SLICE_LIMIT + 1] = {0};

	if (count == 0)
		return PLIM_OK;
	ordered = plimp_allocate(&diff->allocator, count, sizeof(*ordered));
	if (ordered == NULL)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < count; i++)
		first[diff->slices[i].slice + 1]++;
	for (size_t i = 0; i < diff->slice_limit; i++)
		first[i + 1] += first[i];
	for (size_t i = 0; i < count; i++)
		ordered[first[diff->slices[i].slice]++] = diff->slices[i];
	plimp_release(&diff->allocator, diff->slices, diff->slice_capacity,
		      sizeof(*ordered));
	diff->slices = ordered;
	diff->slice_capacity = count;
	return PLIM_OK;
}

/* --- one size of group ---------------------------------------------------- */

struct slices_pass {
	struct plim_diff *diff;
	int of;
	uint32_t size;	   /* slices in a group */
	size_t group;	   /* at hand */
	double here[2];	   /* by side: of the group at hand, what is left */
	double whole[2];   /* of all groups */
	double squares[2]; /* of groups' weights, summed */
	double product;	   /* of both sides' weights, summed */
	size_t touched;
};

static void slices_add(struct slices_pass *pass, uint32_t function, int side,
		       double own, double left)
{
	struct plimp_diff_sum *sum = &pass->diff->sums[function];

	if (sum->group != pass->group + 1) {
		sum->group = pass->group + 1;
		memset(sum->own, 0, sizeof(sum->own));
		memset(sum->left, 0, sizeof(sum->left));
		pass->diff->touched[pass->touched++] = function;
	}
	sum->own[side] += own;
	sum->left[side] += left;
}

static void slices_take(struct slices_pass *pass,
			const struct plimp_diff_slice *slice)
{
	struct plim_diff *diff = pass->diff;
	const struct plimp_diff_stack *stack = &diff->stacks[slice->stack];
	const uint32_t *items = diff->items + stack->first;
	const int side = diff->profiles[stack->profile].side;
	const double left = stack->is_out ? 0 : slice->weight;

	pass->here[side] += left;
	if (pass->of == PLIM_DIFF_OF_SELF) {
		slices_add(pass, items[0], side, slice->weight, left);
		return;
	}
	for (uint32_t k = 0; k < stack->function_count && left > 0; k++)
		slices_add(pass, items[k], side, left, left);
}

/* The part of a side's time, and the time that it is of. */
static double slices_part(const struct slices_pass *pass,
			  const struct plimp_diff_sum *sum, int side,
			  double *whole)
{
	*whole = pass->whole[side] + sum->all_own[side] - sum->all_left[side];
	return *whole > 0 ? sum->all_own[side] / *whole : 0;
}

/* What touched functions have in a group, instead of what all have that are
 * not in it: nothing. */
static void slices_close_group(struct slices_pass *pass)
{
	struct plim_diff *diff = pass->diff;

	for (size_t i = 0; i < pass->touched; i++) {
		struct plimp_diff_sum *sum = &diff->sums[diff->touched[i]];
		double is[2] = {0, 0};
		double were[2] = {0, 0};

		for (int side = 0; side < 2; side++) {
			double whole;
			const double part =
			    slices_part(pass, sum, side, &whole);
			const double own = sum->own[side];

			if (!(whole > 0))
				continue;
			were[side] = -part * pass->here[side] / whole;
			is[side] = (own - part * (pass->here[side] + own -
						  sum->left[side])) /
				   whole;
		}
		sum->apart += slices_square(is[0]) + slices_square(is[1]) -
			      slices_square(were[0]) - slices_square(were[1]);
		sum->together += slices_square(is[0] - is[1]) -
				 slices_square(were[0] - were[1]);
	}
	pass->touched = 0;
}

/* Calls a function for each group. */
static void slices_groups(struct slices_pass *pass,
			  void (*close)(struct slices_pass *pass))
{
	const struct plim_diff *diff = pass->diff;
	size_t at = 0;

	pass->touched = 0;
	for (size_t i = 0; i < diff->function_count; i++)
		diff->sums[i].group = 0;
	for (pass->group = 0; pass->group < diff->slice_limit / pass->size;
	     pass->group++) {
		const size_t end = (pass->group + 1) * pass->size;

		pass->here[0] = 0;
		pass->here[1] = 0;
		while (at < diff->slice_count && diff->slices[at].slice < end)
			slices_take(pass, &diff->slices[at++]);
		close(pass);
	}
}

static void slices_sum_group(struct slices_pass *pass)
{
	struct plim_diff *diff = pass->diff;

	for (int side = 0; side < 2; side++) {
		pass->whole[side] += pass->here[side];
		pass->squares[side] += slices_square(pass->here[side]);
	}
	pass->product += pass->here[0] * pass->here[1];
	for (size_t i = 0; i < pass->touched; i++) {
		struct plimp_diff_sum *sum = &diff->sums[diff->touched[i]];

		for (int side = 0; side < 2; side++) {
			sum->all_own[side] += sum->own[side];
			sum->all_left[side] += sum->left[side];
		}
	}
	pass->touched = 0;
}

/* As if it were in no group. */
static void slices_begin(const struct slices_pass *pass,
			 struct plimp_diff_sum *sum)
{
	double by[2] = {0, 0};

	for (int side = 0; side < 2; side++) {
		double whole;
		const double part = slices_part(pass, sum, side, &whole);

		if (whole > 0)
			by[side] = part / whole;
	}
	sum->apart = slices_square(by[0]) * pass->squares[0] +
		     slices_square(by[1]) * pass->squares[1];
	sum->together = sum->apart - 2 * by[0] * by[1] * pass->product;
}

/* --- all ------------------------------------------------------------------ */

/* The variance of sampling alone. */
static double slices_sampling(const struct plim_diff *diff, int of, size_t i)
{
	double parts[2] = {0, 0};
	double counts[2] = {0, 0};
	double pooled;

	for (int side = 0; side < 2; side++) {
		const struct plimp_diff_tally *tally = &diff->tally[side];
		double own = tally->total[i];
		double whole = tally->weight;

		if (of == PLIM_DIFF_OF_SELF) {
			own = diff->whole[side][i];
			whole += own - tally->self[i];
		}
		if (!(whole > 0) || !(tally->square > 0))
			return 0;
		parts[side] = own / whole;
		counts[side] = tally->weight * whole / tally->square;
	}
	if (!(counts[0] > 0) || !(counts[1] > 0))
		return 0;
	pooled = (counts[0] * parts[0] + counts[1] * parts[1]) /
		 (counts[0] + counts[1]);
	return pooled < 1
		   ? pooled * (1 - pooled) * (1 / counts[0] + 1 / counts[1])
		   : 0;
}

static void slices_say(const struct slices_pass *pass, double critical)
{
	struct plim_diff *diff = pass->diff;
	const double groups = (double)(diff->slice_limit / pass->size);
	const double believed = slices_quantile(groups - 1);
	const double more = slices_student(groups - 1, critical);
	double *varied = diff->varied[pass->of - 1];

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct plimp_diff_sum *sum = &diff->sums[i];
		double variance =
		    sum->apart < sum->together ? sum->apart : sum->together;

		variance *= groups / (groups - 1);
		if (variance > believed * slices_sampling(diff, pass->of, i) &&
		    variance * more > varied[i])
			varied[i] = variance * more;
	}
}

static void slices_of(struct plim_diff *diff, int of, double critical)
{
	for (uint32_t size = 1; size <= 4; size *= 2) {
		struct slices_pass pass = {
		    .diff = diff, .of = of, .size = size};

		if (diff->slice_limit / size < SLICES_LEAST)
			return;
		memset(diff->sums, 0,
		       diff->function_count * sizeof(*diff->sums));
		slices_groups(&pass, slices_sum_group);
		for (size_t i = 0; i < diff->function_count; i++)
			slices_begin(&pass, &diff->sums[i]);
		slices_groups(&pass, slices_close_group);
		slices_say(&pass, critical);
	}
}

void plimp_diff_slices(struct plim_diff *diff, double critical)
{
	if (diff->slice_count == 0)
		return;
	for (int of = PLIM_DIFF_OF_SELF; of <= PLIM_DIFF_OF_TOTAL; of++) {
		memset(diff->varied[of - 1], 0,
		       diff->function_count * sizeof(double));
		slices_of(diff, of, critical);
	}
}
