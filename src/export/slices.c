/*
 * slices.c - the samples of each row of a fold by parts of the run (slices.h).
 *
 * A part has the same CPU time as any other, whatever the clock said: shares
 * are of CPU time, and a run on a loaded machine gets it in pieces. A sample
 * belongs to the part in which the middle of its weight lies. Samples are in
 * the order of time, so that those of a row come slice by slice.
 */
#include "export/slices.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

/* The row of a running sample, or PLIM_NO_INDEX for what is left out. */
static uint32_t slices_row(const plim_profile *profile, const plim_fold *fold,
			   const plim_profile_sample *sample)
{
	const plim_profile_stack *stack =
	    plim_profile_stack_at(profile, sample->stack);

	if (stack == NULL || stack->activity != PLIM_ACTIVITY_RUNNING ||
	    sample->weight_ns == 0)
		return PLIM_NO_INDEX;
	return plim_fold_row_of(fold, sample->stack);
}

/* How many samples each row has at most, as the places of its items. */
static double slices_count(struct plimp_slices *slices,
			   const plim_profile *profile, const plim_fold *fold)
{
	double whole = 0;

	for (size_t i = 0; i < plim_profile_sample_count(profile); i++) {
		const plim_profile_sample *sample =
		    plim_profile_sample_at(profile, i);
		const uint32_t row = slices_row(profile, fold, sample);

		if (row == PLIM_NO_INDEX)
			continue;
		assert(row < slices->row_count);
		slices->first[row + 1]++;
		whole += (double)sample->weight_ns;
	}
	for (size_t row = 0; row < slices->row_count; row++)
		slices->first[row + 1] += slices->first[row];
	slices->item_count = slices->first[slices->row_count];
	return whole;
}

/* `ends`, by row: behind its last item. */
static void slices_fill(struct plimp_slices *slices, size_t *ends, double whole,
			const plim_profile *profile, const plim_fold *fold)
{
	double before = 0;

	for (size_t i = 0; i < plim_profile_sample_count(profile); i++) {
		const plim_profile_sample *sample =
		    plim_profile_sample_at(profile, i);
		const uint32_t row = slices_row(profile, fold, sample);
		double place;
		uint32_t slice;

		if (row == PLIM_NO_INDEX)
			continue;
		place = (before + (double)sample->weight_ns / 2) / whole;
		slice = (uint32_t)(place * PLIMP_SLICES);
		if (slice >= PLIMP_SLICES)
			slice = PLIMP_SLICES - 1;
		before += (double)sample->weight_ns;
		if (ends[row] > slices->first[row] &&
		    slices->items[ends[row] - 1].slice == slice) {
			slices->items[ends[row] - 1].weight_ns +=
			    sample->weight_ns;
			continue;
		}
		slices->items[ends[row]++] =
		    (struct plimp_slice){slice, sample->weight_ns};
	}
}

/* Rows had room for each sample; now they follow each other. */
static void slices_close(struct plimp_slices *slices, const size_t *ends)
{
	size_t to = 0;

	for (size_t row = 0; row < slices->row_count; row++) {
		const size_t first = slices->first[row];
		const size_t count = ends[row] - first;

		if (count > 0)
			memmove(slices->items + to, slices->items + first,
				count * sizeof(*slices->items));
		slices->first[row] = to;
		to += count;
	}
	slices->first[slices->row_count] = to;
}

int plimp_slices_make(struct plimp_slices *slices, const plim_profile *profile,
		      const plim_fold *fold, const plim_allocator *allocator)
{
	size_t *ends;
	double whole;

	*slices = (struct plimp_slices){.row_count = plim_fold_row_count(fold)};
	if (allocator != NULL)
		slices->allocator = *allocator;
	slices->first = plimp_allocate(allocator, slices->row_count + 1,
				       sizeof(*slices->first));
	if (slices->first == NULL)
		return PLIM_ENOMEM;
	whole = slices_count(slices, profile, fold);
	slices->items = plimp_allocate(allocator, slices->item_count + 1,
				       sizeof(*slices->items));
	ends = plimp_allocate(allocator, slices->row_count + 1, sizeof(*ends));
	if (slices->items != NULL && ends != NULL) {
		memcpy(ends, slices->first,
		       (slices->row_count + 1) * sizeof(*ends));
		slices_fill(slices, ends, whole, profile, fold);
		slices_close(slices, ends);
	}
	plimp_release(allocator, ends, slices->row_count + 1, sizeof(*ends));
	return slices->items != NULL && ends != NULL ? PLIM_OK : PLIM_ENOMEM;
}

void plimp_slices_release(struct plimp_slices *slices)
{
	plimp_release(&slices->allocator, slices->items, slices->item_count + 1,
		      sizeof(*slices->items));
	plimp_release(&slices->allocator, slices->first, slices->row_count + 1,
		      sizeof(*slices->first));
}
