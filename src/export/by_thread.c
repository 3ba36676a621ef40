/*
 * by_thread.c - sorted by counting: how many each thread has, where they
 * begin, then each to its place.
 */
#include "export/by_thread.h"
#include "core/memory.h"

#include <assert.h>

int plimp_by_thread_make(struct plimp_by_thread *sorted,
			 const plim_allocator *allocator, size_t thread_count,
			 size_t item_count, plimp_thread_of_fn *thread_of,
			 const void *user)
{
	size_t *begin;

	*sorted = (struct plimp_by_thread){.item_count = item_count,
					   .thread_count = thread_count,
					   .allocator = allocator};
	sorted->items =
	    plimp_allocate(allocator, item_count + 1, sizeof *sorted->items);
	sorted->begin =
	    plimp_allocate(allocator, thread_count + 2, sizeof *sorted->begin);
	if (sorted->items == NULL || sorted->begin == NULL)
		return PLIM_ENOMEM;
	/* Counted two places on and filled from one place on, so that at the
	 * end each thread's begin stands at its own. */
	begin = sorted->begin;
	for (size_t i = 0; i < item_count; i++) {
		assert(thread_of(user, i) < thread_count);
		begin[thread_of(user, i) + 2]++;
	}
	for (size_t i = 1; i < thread_count + 2; i++)
		begin[i] += begin[i - 1];
	for (size_t i = 0; i < item_count; i++)
		sorted->items[begin[thread_of(user, i) + 1]++] = i;
	return PLIM_OK;
}

void plimp_by_thread_release(struct plimp_by_thread *sorted)
{
	plimp_release(sorted->allocator, sorted->items, sorted->item_count + 1,
		      sizeof *sorted->items);
	plimp_release(sorted->allocator, sorted->begin,
		      sorted->thread_count + 2, sizeof *sorted->begin);
}
