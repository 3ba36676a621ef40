/*
 * counting.c - an allocator that counts (counting.h). It also holds the
 * library to its word about sizes: what is given back is what was asked for.
 */
#include "counting.h"

#include <stdlib.h>

static void *counting_resize(void *memory, size_t old_size, size_t new_size,
			     void *user)
{
	struct counting *counting = user;
	void *moved;

	if (new_size == 0) {
		if (memory != NULL)
			counting->live -= old_size;
		free(memory);
		return NULL;
	}
	counting->calls++;
	moved = realloc(memory, new_size);
	if (moved == NULL)
		return NULL;
	counting->live += new_size - (memory != NULL ? old_size : 0);
	return moved;
}

plim_allocator counting_allocator(struct counting *counting)
{
	return (plim_allocator){counting_resize, counting};
}
