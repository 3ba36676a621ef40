/*
 * fold.h - what a folding is inside: rows (fold.c), functions and the errors
 * of shares (fold_functions.c).
 */
#ifndef PLIMP_PROFILE_FOLD_H
#define PLIMP_PROFILE_FOLD_H

#include "profile/store.h"

#include <plimsoll/unwind.h>

/* Of each function: its place among fold->functions + 1, and the last stack
 * that it was counted for. */
struct plimp_fold_place {
	uint32_t place;
	uint32_t counted; /* number of that stack + 1 */
};

struct plim_fold {
	plim_allocator allocator;
	struct plimp_pool pool; /* items of rows */
	const struct plimp_store *store;
	plim_fold_total total;
	double sampled;	 /* weight of what has samples */
	double squares;	 /* of their weights */
	uint32_t *items; /* of the stack at hand */
	size_t item_count;
	size_t item_capacity;
	plim_fold_row *rows;
	size_t row_count;
	size_t row_capacity;
	struct plimp_hash hash;
	uint32_t *row_of; /* by stack of the store, or PLIM_NO_INDEX */
	size_t row_of_count;
	plim_fold_function *functions;
	size_t function_count;
	size_t function_capacity;
	struct plimp_fold_place *places; /* by function */
	size_t place_count;
	uint32_t stacks_counted;
};

/* The options are checked. PLIM_ENOMEM. */
int plimp_fold_store(const struct plimp_store *store,
		     const plim_fold_options *options, plim_fold **fold,
		     plim_error *error);

const plim_profile_function *
plimp_fold_function(const struct plimp_store *store, uint32_t index);

/* By name, then by whatever tells them apart. */
int plimp_fold_order_functions(const struct plimp_store *store, uint32_t a,
			       uint32_t b);

/* The items of a stack into fold->items, root first. */
int plimp_fold_items(plim_fold *fold, const plim_profile_stack *stack,
		     uint32_t flags);

/* Counts a stack for its functions. */
int plimp_fold_count(plim_fold *fold, const plim_profile_stack *stack);

/* Everything is counted: shares, errors, order of functions. */
void plimp_fold_shares(plim_fold *fold);

/* The standard error of a share; see plim_fold_function. `share` is of
 * everything, `sampled` the part of everything that is sampled. */
double plimp_share_error(double share, double sampled, double count);

#endif
