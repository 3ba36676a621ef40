/*
 * tree_sums.c - what a tree costs: sums over its members, totals that include
 * who ended, and what changed since the round before.
 *
 * CPU time and I/O stand on the accounts (tree_account.c). All other counters
 * are lost with whoever ended; of them a total holds what was last known, and
 * a change what was seen to be added, and both are lower bounds.
 */
#include "observe/tree.h"

#include "core/fail.h"
#include "core/rates.h"

#include <assert.h>

plim_sum plim_tree_sum(const plim_tree *tree, int field)
{
	plim_sum sum = {0};
	size_t i;

	for (i = 0; i < plim_tree_size(tree); i++)
		plim_sum_add(&sum, plim_process_count(
				       plim_tree_at(tree, i)->process, field));
	return sum;
}

/* The charge that a field stands on, or -1. CPU time is own and children's. */
static int sums_charge(int field)
{
	int charge;

	if (field == PLIM_FIELD_CPU)
		return PLIMP_CHARGE_CPU;
	for (charge = PLIMP_CHARGE_CPU + 1; charge < PLIMP_CHARGES; charge++)
		if (plimp_charge_field(charge) == field)
			return charge;
	return -1;
}

static plim_count sums_at_least(plim_count figure)
{
	if (figure.state == PLIM_STATE_KNOWN)
		figure.bound = PLIM_BOUND_AT_LEAST;
	return figure;
}

/*
 * State, bound and method of what the accounts tell: those of the sum over the
 * living. Where no member lives, or none can be read now, what is in the books
 * was known once.
 */
static plim_count sums_of_books(const plim_tree *tree, int charge,
				uint64_t value, uint64_t total)
{
	const struct plimp_tree_side *side = plimp_tree_now(tree);
	int field = plimp_charge_field(charge);
	plim_sum sum = plim_tree_sum(tree, field);
	plim_count figure;

	if (charge == PLIMP_CHARGE_CPU) {
		plim_sum own = plim_tree_sum(tree, PLIM_FIELD_CPU);

		if (sum.missing == 0 || sum.known == 0)
			sum.missing = own.missing;
		if (own.known > 0)
			plim_sum_add(&sum, own.total_known);
	}
	figure = plim_sum_total(&sum);
	if (figure.state != PLIM_STATE_KNOWN) {
		if (total == 0)
			return figure;
		figure = plim_count_known(0, PLIM_METHOD_MIXED);
		figure.bound = PLIM_BOUND_AT_LEAST;
	}
	figure.value = value;
	if (side->facts.ignoring > 0 || total == UINT64_MAX)
		figure.bound = PLIM_BOUND_AT_LEAST;
	return figure;
}

static plim_count sums_unread(const plim_tree *tree, int field)
{
	const plim_field *row = plim_field_get(field);

	if (row == NULL || row->kind == PLIM_KIND_TEXT)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (tree->rounds == 0)
		return plim_count_missing(PLIM_REASON_NONE, 0);
	return plim_count_known(0, PLIM_METHOD_NONE);
}

/* The last known counts of who ended, and the living. Children-time is in the
 * parent's once a child has ended. */
static plim_count sums_other_total(const plim_tree *tree, int field)
{
	const struct plimp_tree_side *side = plimp_tree_now(tree);
	plim_sum sum = plim_tree_sum(tree, field);
	uint64_t ended = side->books.ended[field];

	if (plim_field_get(field)->kind != PLIM_KIND_COUNTER ||
	    field == PLIM_FIELD_CPU_CHILDREN)
		return plim_sum_total(&sum);
	if (ended > 0)
		plim_sum_add(&sum,
			     plim_count_known(ended, sum.total_known.method));
	return sums_at_least(plim_sum_total(&sum));
}

plim_count plim_tree_total(const plim_tree *tree, int field)
{
	const struct plimp_tree_books *books;
	int charge = sums_charge(field);
	plim_count figure;

	assert(tree != NULL);
	figure = sums_unread(tree, field);
	if (figure.state != PLIM_STATE_KNOWN)
		return figure;
	if (charge < 0)
		return sums_other_total(tree, field);
	books = &plimp_tree_now(tree)->books;
	figure = sums_of_books(tree, charge, books->total[charge],
			       books->total[charge]);
	if (books->left > 0 || books->owing[charge] ||
	    books->kept[charge] > 0 || plimp_tree_now(tree)->facts.kept > 0)
		return sums_at_least(figure);
	return figure;
}

/* What common members added, and the whole counts of the newborn. */
static plim_count sums_other_change(const plim_tree *tree, int field)
{
	const struct plimp_tree_side *before = plimp_tree_before(tree);
	plim_sum sum = {0};
	size_t i;

	for (i = 0; i < plim_tree_size(tree); i++) {
		const plim_process *now = plim_tree_at(tree, i)->process;
		const plim_process *earlier = plim_tree_earlier(tree, i);

		if (earlier != NULL)
			plim_sum_add(&sum,
				     plim_process_change(earlier, now, field));
		else if (plimp_tree_is_newborn(before, now))
			plim_sum_add(&sum, plim_process_count(now, field));
	}
	return sums_at_least(plim_sum_total(&sum));
}

plim_count plim_tree_change(const plim_tree *tree, int field)
{
	const struct plimp_tree_books *now;
	const struct plimp_tree_books *before;
	int charge = sums_charge(field);
	plim_count figure;
	uint64_t change;

	assert(tree != NULL);
	figure = sums_unread(tree, field);
	if (figure.state != PLIM_STATE_KNOWN)
		return figure;
	if (plim_field_get(field)->kind != PLIM_KIND_COUNTER)
		return plim_count_missing(PLIM_REASON_NOT_A_RATE, 0);
	if (tree->rounds < 2)
		return plim_count_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	if (charge < 0)
		return sums_other_change(tree, field);
	now = &plimp_tree_now(tree)->books;
	before = &plimp_tree_before(tree)->books;
	/* Totals never go back, unless a recording makes them overflow. */
	if (now->total[charge] < before->total[charge])
		return plim_count_missing(PLIM_REASON_WENT_BACK, 0);
	change = now->total[charge] - before->total[charge];
	change -= now->found[charge] < change ? now->found[charge] : change;
	figure = sums_of_books(tree, charge, change, now->total[charge]);
	if (now->found[charge] > 0 || now->grown[charge] ||
	    now->owing[charge] || now->left != before->left)
		return sums_at_least(figure);
	return figure;
}

int plim_tree_interval(const plim_tree *tree, plim_interval *interval,
		       plim_error *error)
{
	assert(tree != NULL && interval != NULL);
	if (tree == NULL || interval == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "interval", NULL,
				  NULL);
	if (tree->rounds < 2)
		return plimp_fail(error, PLIM_ECANNOTTELL, 0, "interval", NULL,
				  "there is no round before");
	*interval = plimp_interval(plimp_tree_before(tree)->pass.begin,
				   plimp_tree_now(tree)->pass.begin);
	return PLIM_OK;
}

plim_real plim_tree_rate(const plim_tree *tree, int field)
{
	plim_interval interval = {0};

	if (plim_tree_interval(tree, &interval, NULL) != PLIM_OK)
		return plim_real_of(plim_tree_change(tree, field));
	return plim_change_rate(plim_tree_change(tree, field),
				interval.elapsed_ns);
}

/* Nanoseconds of CPU per second of time, of which 1e9 are 100 %. */
plim_real plim_tree_cpu_percent(const plim_tree *tree)
{
	plim_real rate = plim_tree_rate(tree, PLIM_FIELD_CPU);

	rate.value /= 1e7;
	return rate;
}
