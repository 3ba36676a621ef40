/*
 * slices.h - when in a run its CPU time was sampled: the samples of each row
 * of a fold, by parts of the run that have equal CPU time. What compares two
 * profiles learns from them how much a share varies within one run.
 */
#ifndef PLIMP_SLICES_H
#define PLIMP_SLICES_H

#include <plimsoll/export.h>

/* Enough for a variance of a share that is within a fifth of the truth, few
 * enough that a part is longer than what programs are busy with at a time. */
#define PLIMP_SLICES 64

struct plimp_slice {
	uint32_t slice;
	uint64_t weight_ns;
};

struct plimp_slices {
	plim_allocator allocator;
	struct plimp_slice *items; /* of all rows, in order of time each */
	size_t item_count;
	size_t *first; /* by row, and one more: where its items begin */
	size_t row_count;
};

/* Of the running samples whose stacks the fold has. PLIM_ENOMEM; then, too,
 * it may be released. */
int plimp_slices_make(struct plimp_slices *slices, const plim_profile *profile,
		      const plim_fold *fold, const plim_allocator *allocator);
void plimp_slices_release(struct plimp_slices *slices);

#endif
