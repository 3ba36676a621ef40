/*
 * memory.h - every allocation of the library goes through these three.
 *
 * Sizes are checked for overflow here, so callers multiply nothing. A NULL
 * `resize` in the allocator means the C library's.
 */
#ifndef PLIMP_MEMORY_H
#define PLIMP_MEMORY_H

#include <plimsoll/base.h>

/* Zeroed memory for `count` elements of `size` bytes, or NULL. */
void *plimp_allocate(const plim_allocator *allocator, size_t count,
		     size_t size);

/* Resizes an array; new elements are not zeroed. NULL leaves it valid. */
void *plimp_resize(const plim_allocator *allocator, void *memory,
		   size_t old_count, size_t new_count, size_t size);

/* Gives back `count` elements of `size` bytes; NULL is allowed. */
void plimp_release(const plim_allocator *allocator, void *memory, size_t count,
		   size_t size);

/*
 * Makes room for at least `needed` elements, doubling from `start`. Updates
 * array and capacity; PLIM_ENOMEM leaves both as they were.
 */
int plimp_reserve(const plim_allocator *allocator, void **array,
		  size_t *capacity, size_t needed, size_t start, size_t size);

#endif
