/*
 * diff.h - what a comparison is inside: the functions of both sides under one
 * number each (diff_match.c), their times (diff.c), and the verdicts
 * (diff_judge.c).
 */
#ifndef PLIMP_COMPARE_DIFF_H
#define PLIMP_COMPARE_DIFF_H

#include "core/pool.h"

#include <plimsoll/compare.h>

/* A stack of one of the profiles, by the numbers of the comparison. */
struct plimp_diff_stack {
	uint32_t profile;	 /* of all, those before first */
	uint32_t function_count; /* different ones; the first is the leaf */
	size_t first;		 /* into `items` */
	size_t chain;		 /* all of them, also what calls itself */
	uint32_t chain_count;
	uint64_t whole; /* its weight */
	double weight;
	double square; /* of its samples' weights, summed */
	uint64_t samples;
	int is_out; /* a function that changed has accounted for it */
};

/* What of a stack was sampled in one part of its run. */
struct plimp_diff_slice {
	uint32_t stack;
	uint32_t slice;
	double weight;
};

/* What a function's time in one part of the runs is summed up in. */
struct plimp_diff_sum {
	double own[2];	/* by side: of the group of slices at hand */
	double left[2]; /* of what is not out */
	double all_own[2];
	double all_left[2];
	double apart;	 /* squares of the sides' residuals, summed */
	double together; /* of their difference */
	size_t group;	 /* that it was last touched in, + 1 */
};

/* One side in a tally. */
struct plimp_diff_tally {
	double weight;
	double square;
	double *self; /* by function */
	double *total;
};

struct plimp_diff_profile {
	int side;
	const plim_stored *stored; /* while it is being made */
	double weight;
	double square;
	double *self; /* by function: for how much profiles of a side differ */
};

struct plim_diff {
	plim_allocator allocator;
	struct plimp_pool pool;
	plim_diff_facts facts;
	struct plimp_diff_profile *profiles;
	size_t profile_count;
	plim_diff_function *functions;
	size_t function_count;
	struct plimp_diff_stack *stacks;
	size_t stack_count;
	size_t stack_capacity;
	uint32_t *items;
	size_t item_count;
	size_t item_capacity;
	struct plimp_diff_tally tally[2];
	double *whole[2]; /* by side: self times before anything is out */
	/* Where all profiles tell of slices; else there are none. */
	uint32_t slice_limit;		 /* slices of a run; 0 */
	struct plimp_diff_slice *slices; /* by slice, then by stack */
	size_t slice_count;
	size_t slice_capacity;
	struct plimp_diff_sum *sums; /* by function */
	uint32_t *touched;	     /* functions of the group at hand */
	double *varied[2];   /* by enum plim_diff_of - 1, by function: the
			      * variance of the difference of its parts, by
			      * slices; 0: no more than that of sampling */
	uint32_t *places;    /* by function: its place among the rows */
	uint32_t *order;     /* of rows, functions that have any time */
	uint8_t *tested;     /* by function: bits 1 << enum plim_diff_of */
	uint8_t *clear;	     /* by function, for diff_judge.c */
	double (*judged)[3]; /* its times when it was found changed, and by how
			      * much their variance is more than a binomial's */
};

/* Numbers for all functions of all profiles; `numbers[profile][function]`.
 * Makes diff->functions. PLIM_ENOMEM. */
int plimp_diff_match(struct plim_diff *diff, uint32_t **numbers);

/* Sums over the stacks that are not out. */
void plimp_diff_count(struct plim_diff *diff);

/* diff_slices.c: orders the slices; PLIM_ENOMEM. */
int plimp_diff_slices_order(struct plim_diff *diff);
/* What is left by slices, when the tallies are made: diff->varied. A variance
 * that is not known well is as much larger as `critical` standard errors of it
 * ask for. */
void plimp_diff_slices(struct plim_diff *diff, double critical);

/* Everything is counted: verdicts and what belongs to them. */
void plimp_diff_judge(struct plim_diff *diff);

#endif
