/*
 * branch.c - processes in their places: order among siblings, what is shown,
 * and sums of subtrees.
 *
 * The branches stand in preorder, so that a subtree is a run of them, and a
 * walk from the end meets every child before its parent. Nothing here calls
 * itself: a chain of processes can be as long as there are pids.
 */
#include "branch.h"

#include <stdlib.h>
#include <string.h>

void branches_release(struct branches *branches)
{
	free(branches->items);
	free(branches->sums);
	branches->items = NULL;
	branches->sums = NULL;
}

struct branch *branches_add(struct branches *branches)
{
	if (branches->count == branches->capacity) {
		size_t capacity = branches->capacity * 2 + 256;
		struct branch *items =
		    realloc(branches->items, capacity * sizeof *items);

		if (items == NULL)
			return NULL;
		branches->items = items;
		branches->capacity = capacity;
	}
	memset(&branches->items[branches->count], 0, sizeof(struct branch));
	return &branches->items[branches->count++];
}

/* --- sums ----------------------------------------------------------------- */

plim_count branch_part(const struct branch *branch, const struct column *column)
{
	int id = column->field->id;

	if (column->members)
		return plim_count_known(1, PLIM_METHOD_LISTING);
	if (!column->rate)
		return plim_process_count(branch->process, id);
	if (branch->earlier == NULL)
		return plim_count_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	return plim_process_change(branch->earlier, branch->process, id);
}

plim_real branch_sum_real(const struct branches *branches, plim_sum sum,
			  const struct column *column)
{
	plim_count total = plim_sum_total(&sum);
	plim_real real;

	if (!column->rate)
		return plim_real_of(total);
	real = plim_change_rate(total, branches->interval_ns);
	if (column->field->unit == PLIM_UNIT_NS)
		real.value /= 1e7; /* ns per second to per cent of a core */
	return real;
}

/* As if the members of `from` had been added one by one. */
static void sum_merge(plim_sum *into, const plim_sum *from)
{
	if (from->known > 0) {
		plim_sum_add(into, from->total_known);
		into->known += from->known - 1;
	}
	if (from->missing > 0) {
		plim_sum_add(into, from->first_missing);
		into->missing += from->missing - 1;
	}
}

int branches_reserve_sums(struct branches *branches)
{
	size_t columns = (size_t)branches->summed.count;
	size_t needed = branches->count * columns;
	size_t i;

	if (needed > branches->sum_capacity) {
		plim_sum *sums = realloc(branches->sums, needed * sizeof *sums);

		if (sums == NULL)
			return PLIM_ENOMEM;
		branches->sums = sums;
		branches->sum_capacity = needed;
	}
	if (needed > 0)
		memset(branches->sums, 0, needed * sizeof *branches->sums);
	for (i = 0; i < branches->count && needed > 0; i++)
		branches->items[i].sums = branches->sums + i * columns;
	return 0;
}

int branches_sum(struct branches *branches)
{
	int columns = branches->summed.count;
	size_t i;
	int k;

	if (branches_reserve_sums(branches) != 0)
		return PLIM_ENOMEM;
	for (i = branches->count; i-- > 0;) {
		struct branch *branch = &branches->items[i];

		for (k = 0; k < columns; k++) {
			plim_sum_add(
			    &branch->sums[k],
			    branch_part(branch, &branches->summed.items[k]));
			if (branch->parent != PLIM_NO_PARENT)
				sum_merge(
				    &branches->items[branch->parent].sums[k],
				    &branch->sums[k]);
		}
	}
	return 0;
}

int branches_summed(const struct branches *branches,
		    const struct column *column)
{
	int i;

	for (i = 0; i < branches->summed.count; i++)
		if (branches->summed.items[i].field == column->field &&
		    branches->summed.items[i].rate == column->rate &&
		    branches->summed.items[i].members == column->members)
			return i;
	return -1;
}

/* --- order ---------------------------------------------------------------- */

/* qsort has no argument for us; this is the command's one sort of them. */
static struct {
	const struct branches *branches;
	const struct column *column;
	int descending;
	int reverse;
} branch_sorting;

static int branch_sum_order(const struct branch *a, const struct branch *b)
{
	const struct branches *all = branch_sorting.branches;
	int k = branches_summed(all, branch_sorting.column);

	return plim_real_order(
	    branch_sum_real(all, a->sums[k], branch_sorting.column),
	    branch_sum_real(all, b->sums[k], branch_sorting.column),
	    branch_sorting.descending);
}

/* By parent; the children of one by the column, then as they were. */
static int branch_order(const void *left, const void *right)
{
	const struct branch *items = branch_sorting.branches->items;
	size_t i = *(const size_t *)left;
	size_t j = *(const size_t *)right;
	const struct column *column = branch_sorting.column;
	int order = 0;

	if (items[i].parent != items[j].parent)
		return items[i].parent < items[j].parent ? -1 : 1;
	if (column != NULL && column->subtree)
		order = branch_sum_order(&items[i], &items[j]);
	else if (column != NULL)
		order = column_order(column, items[i].process, items[i].earlier,
				     items[j].process, items[j].earlier,
				     branch_sorting.descending);
	if (order == 0)
		order = (i > j) - (i < j);
	return column == NULL && branch_sorting.reverse ? -order : order;
}

/*
 * `order` holds the children of each parent as one run, those of no parent
 * last. Walks it in preorder: `next` is where the run of a branch goes on, and
 * `first` where the run begins.
 */
static void branches_walk(struct branches *branches, const size_t *order,
			  size_t *next, size_t *place, struct branch *sorted)
{
	const struct branch *items = branches->items;
	size_t count = branches->count;
	size_t done = 0;
	size_t roots = count;
	size_t k;

	for (k = count; k-- > 0;) {
		size_t parent = items[order[k]].parent;

		if (parent == PLIM_NO_PARENT)
			roots = k;
		else
			next[parent] = k;
	}
	while (done < count) {
		size_t at = order[roots++];

		for (;;) {
			size_t child;

			if (place[at] == PLIM_NO_PARENT) {
				place[at] = done;
				sorted[done] = items[at];
				if (items[at].parent != PLIM_NO_PARENT)
					sorted[done].parent =
					    place[items[at].parent];
				done++;
			}
			child = next[at];
			if (child < count && items[order[child]].parent == at) {
				next[at]++;
				at = order[child];
			} else if (items[at].parent != PLIM_NO_PARENT) {
				at = items[at].parent;
			} else {
				break;
			}
		}
	}
}

int branches_sort(struct branches *branches, const struct column *column,
		  int descending, int reverse)
{
	size_t count = branches->count;
	size_t *order = calloc(count + 1, sizeof *order);
	size_t *next = calloc(count + 1, sizeof *next);
	size_t *place = calloc(count + 1, sizeof *place);
	struct branch *sorted = calloc(count + 1, sizeof *sorted);
	int code = PLIM_ENOMEM;
	size_t i;

	if (order != NULL && next != NULL && place != NULL && sorted != NULL) {
		for (i = 0; i < count; i++) {
			order[i] = i;
			next[i] = count;
			place[i] = PLIM_NO_PARENT;
		}
		branch_sorting.branches = branches;
		branch_sorting.column = column;
		branch_sorting.descending = descending;
		branch_sorting.reverse = reverse;
		qsort(order, count, sizeof *order, branch_order);
		branches_walk(branches, order, next, place, sorted);
		memcpy(branches->items, sorted, count * sizeof *sorted);
		code = 0;
	}
	free(order);
	free(next);
	free(place);
	free(sorted);
	return code;
}

void branches_measure(struct branches *branches)
{
	struct branch *items = branches->items;
	size_t i;

	for (i = 0; i < branches->count; i++)
		items[i].size = 1;
	for (i = branches->count; i-- > 0;)
		if (items[i].parent != PLIM_NO_PARENT)
			items[items[i].parent].size += items[i].size;
}

void branches_connect(struct branches *branches)
{
	struct branch *items = branches->items;
	size_t i;

	for (i = branches->count; i-- > 0;) {
		size_t parent = items[i].parent;

		if (items[i].shown != BRANCH_LEFT_OUT &&
		    parent != PLIM_NO_PARENT &&
		    items[parent].shown == BRANCH_LEFT_OUT)
			items[parent].shown = BRANCH_ON_THE_WAY;
	}
	for (i = 0; i < branches->count; i++) {
		size_t below = i + items[i].size;

		items[i].more = 0;
		if (items[i].shown == BRANCH_LEFT_OUT)
			continue;
		while (below < branches->count &&
		       items[below].parent == items[i].parent &&
		       items[below].shown == BRANCH_LEFT_OUT)
			below += items[below].size;
		items[i].more = below < branches->count &&
				items[below].parent == items[i].parent &&
				items[i].parent != PLIM_NO_PARENT;
	}
}
