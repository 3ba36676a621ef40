/*
 * fold_functions.c - self and total of each function, and how sure the shares
 * are.
 *
 * The statistic. Samples with weights w fall on a function or not; its share p
 * is the weight that did by all of it. For independent samples the variance of
 * p is p (1 - p) / n with n = (sum w)^2 / (sum w^2), Kish's effective size
 * (L. Kish, Survey Sampling, 1965). Samples on a fixed grid of a thread's CPU
 * time are spread more evenly than independent ones, so that this is an upper
 * bound but for a program that keeps step with the grid.
 */
#include "profile/fold.h"

#include "core/memory.h"

#include <assert.h>

/* The square root of 0 to 1, by Newton from above, which falls until it is
 * right: so no program needs libm for the library's sake. */
static double share_root(double value)
{
	double root = 1;
	double next = (1 + value) / 2;

	while (next < root) {
		root = next;
		next = (root + value / root) / 2;
	}
	return root;
}

double plimp_share_error(double share, double sampled, double count)
{
	double part;

	if (count <= 0 || sampled <= 0)
		return 0;
	part = share / sampled;
	if (part > 1)
		part = 1;
	if (part * (1 - part) <= 0 || count <= 1)
		return count <= 1 ? sampled : sampled / count;
	return sampled * share_root(part * (1 - part) / count);
}

/* The row of a function, made when it is first met. */
static plim_fold_function *fold_function_row(plim_fold *fold, uint32_t function)
{
	struct plimp_fold_place *place = fold->places + function;

	assert(function < fold->place_count);
	if (place->place == 0) {
		if (plimp_reserve(&fold->allocator, (void **)&fold->functions,
				  &fold->function_capacity,
				  fold->function_count + 1, 64,
				  sizeof(*fold->functions)) != PLIM_OK)
			return NULL;
		fold->functions[fold->function_count] =
		    (plim_fold_function){.function = function};
		place->place = (uint32_t)++fold->function_count;
	}
	return fold->functions + (place->place - 1);
}

static int fold_places(plim_fold *fold)
{
	size_t count = fold->store->functions.count;

	if (fold->places != NULL)
		return PLIM_OK;
	fold->places =
	    plimp_allocate(&fold->allocator, count, sizeof(*fold->places));
	if (fold->places == NULL)
		return PLIM_ENOMEM;
	fold->place_count = count;
	return PLIM_OK;
}

int plimp_fold_count(plim_fold *fold, const plim_profile_stack *stack)
{
	int code = fold_places(fold);

	if (code == PLIM_OK)
		code = plimp_fold_items(fold, stack,
					fold->total.flags &
					    ~(uint32_t)PLIM_FOLD_ADDRESSES);
	if (code != PLIM_OK)
		return code;
	fold->stacks_counted++;
	for (size_t i = 0; i < fold->item_count; i++) {
		uint32_t item = fold->items[i];
		plim_fold_function *row = fold_function_row(fold, item);

		if (row == NULL)
			return PLIM_ENOMEM;
		if (i + 1 == fold->item_count) {
			row->self_ns += stack->weight_ns;
			row->self_samples += stack->samples;
		}
		if (fold->places[item].counted == fold->stacks_counted)
			continue; /* recursion: once per sample */
		fold->places[item].counted = fold->stacks_counted;
		row->reserved |= stack->weight_square > 0;
		row->total_ns += stack->weight_ns;
		row->total_samples += stack->samples;
	}
	return PLIM_OK;
}

static int order_rows_of_functions(const plim_fold *fold,
				   const plim_fold_function *a,
				   const plim_fold_function *b)
{
	if (a->self_ns != b->self_ns)
		return a->self_ns < b->self_ns ? 1 : -1;
	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return plimp_fold_order_functions(fold->store, a->function,
					  b->function);
}

static void functions_sink(plim_fold *fold, size_t at, size_t count)
{
	plim_fold_function *rows = fold->functions;

	for (;;) {
		size_t child = 2 * at + 1;
		plim_fold_function swapped;

		if (child >= count)
			return;
		if (child + 1 < count &&
		    order_rows_of_functions(fold, &rows[child],
					    &rows[child + 1]) < 0)
			child++;
		if (order_rows_of_functions(fold, &rows[at], &rows[child]) >= 0)
			return;
		swapped = rows[at];
		rows[at] = rows[child];
		rows[child] = swapped;
		at = child;
	}
}

static void functions_sort(plim_fold *fold)
{
	for (size_t i = fold->function_count / 2; i-- > 0;)
		functions_sink(fold, i, fold->function_count);
	for (size_t end = fold->function_count; end-- > 1;) {
		plim_fold_function swapped = fold->functions[0];

		fold->functions[0] = fold->functions[end];
		fold->functions[end] = swapped;
		functions_sink(fold, 0, end);
	}
}

void plimp_fold_shares(plim_fold *fold)
{
	double whole = (double)fold->total.weight_ns;
	double sampled = whole > 0 ? fold->sampled / whole : 0;
	double count = fold->squares > 0
			   ? fold->sampled * fold->sampled / fold->squares
			   : 0;

	fold->total.effective_samples = count;
	for (size_t i = 0; i < fold->function_count; i++) {
		plim_fold_function *row = fold->functions + i;

		if (whole <= 0)
			break;
		row->self_share = (double)row->self_ns / whole;
		row->total_share = (double)row->total_ns / whole;
		if (!row->reserved)
			continue; /* counted, not sampled */
		row->self_error =
		    plimp_share_error(row->self_share, sampled, count);
		row->total_error =
		    plimp_share_error(row->total_share, sampled, count);
	}
	for (size_t i = 0; i < fold->row_count && whole > 0; i++) {
		fold->rows[i].share = (double)fold->rows[i].weight_ns / whole;
		if (fold->rows[i].reserved[0] != 0)
			fold->rows[i].share_error = plimp_share_error(
			    fold->rows[i].share, sampled, count);
	}
	functions_sort(fold);
}

size_t plim_fold_function_count(const plim_fold *fold)
{
	return fold->function_count;
}

const plim_fold_function *plim_fold_function_at(const plim_fold *fold,
						size_t index)
{
	return index < fold->function_count ? fold->functions + index : NULL;
}
