/*
 * memory.c - the allocator hook, with the overflow checks that it spares
 * everybody else.
 */
#include "core/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *resize_bytes(const plim_allocator *allocator, void *memory,
			  size_t old_size, size_t new_size)
{
	if (allocator != NULL && allocator->resize != NULL)
		return allocator->resize(memory, old_size, new_size,
					 allocator->user);
	if (new_size == 0) {
		free(memory);
		return NULL;
	}
	return realloc(memory, new_size);
}

void *plimp_allocate(const plim_allocator *allocator, size_t count, size_t size)
{
	void *memory = plimp_resize(allocator, NULL, 0, count, size);

	if (memory != NULL)
		memset(memory, 0, count * size);
	return memory;
}

void *plimp_resize(const plim_allocator *allocator, void *memory,
		   size_t old_count, size_t new_count, size_t size)
{
	assert(size > 0 && new_count > 0);
	if (new_count > SIZE_MAX / size)
		return NULL;
	return resize_bytes(allocator, memory, old_count * size,
			    new_count * size);
}

void plimp_release(const plim_allocator *allocator, void *memory, size_t count,
		   size_t size)
{
	assert(memory == NULL || count <= SIZE_MAX / size);
	if (memory != NULL)
		resize_bytes(allocator, memory, count * size, 0);
}

int plimp_reserve(const plim_allocator *allocator, void **array,
		  size_t *capacity, size_t needed, size_t start, size_t size)
{
	size_t wanted = *capacity;
	void *grown;

	assert(start > 0 && size > 0);
	if (needed <= *capacity)
		return PLIM_OK;
	if (wanted == 0)
		wanted = start;
	while (wanted < needed) {
		if (wanted > SIZE_MAX / 2)
			return PLIM_ENOMEM;
		wanted *= 2;
	}
	grown = plimp_resize(allocator, *array, *capacity, wanted, size);
	if (grown == NULL)
		return PLIM_ENOMEM;
	*array = grown;
	*capacity = wanted;
	return PLIM_OK;
}
