/*
 * space.c - the lists that every host fills of a process's memory: its
 * mappings with their names, and where the stack pointers of its threads are.
 */
#include "core/memory.h"
#include "host/target.h"

#include <assert.h>
#include <string.h>

void plimp_space_release(plim_host *host, struct plimp_space *space)
{
	plimp_release(&host->allocator, space->items, space->capacity,
		      sizeof *space->items);
	plimp_texts_release(host, &space->texts);
	memset(space, 0, sizeof *space);
}

struct plimp_mapping *plimp_space_find(const struct plimp_space *space,
				       uint64_t address)
{
	size_t low = 0;
	size_t high = space->count;

	/* The first one that ends above the address lies in [low, high]. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	if (low == space->count || space->items[low].start > address)
		return NULL;
	return &space->items[low];
}

plim_bytes plimp_space_name(const struct plimp_space *space,
			    const struct plimp_mapping *mapping)
{
	plim_bytes name = {"", 0};

	assert(mapping->name_start <= space->texts.size);
	assert(mapping->name_size <= space->texts.size - mapping->name_start);
	if (mapping->name_size > 0) {
		name.data = space->texts.bytes + mapping->name_start;
		name.size = mapping->name_size;
	}
	return name;
}

void plimp_stacks_release(plim_host *host, struct plimp_stacks *stacks)
{
	plimp_release(&host->allocator, stacks->items, stacks->capacity,
		      sizeof *stacks->items);
	memset(stacks, 0, sizeof *stacks);
}
