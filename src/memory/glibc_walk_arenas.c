/*
 * glibc_walk_arenas.c - arenas, and the stretches of memory that belong to
 * them (glibc_walk.h).
 *
 * A thread's arena has its memory in heaps, each at a multiple of the heap's
 * size: the one of its top is the last, and each knows the one before. The
 * main arena has the memory from sbrk_base up to its top. Every stretch must
 * lie in mappings and none may overlap another: an arena that says otherwise
 * is not walked, and with it nothing is, since every figure is a sum.
 */
#include "memory/glibc_walk.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

#define ARENA_RECORD_MOST 4096u

static uint64_t arena_digest(const uint8_t *bytes, size_t size)
{
	uint64_t digest = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		digest = (digest ^ bytes[i]) * 1099511628211u;
	return digest;
}

/* Reads the record of an arena. The mutex at its start is left out of the
 * digest: it tells of others than the heap's contents. */
static int arena_record(struct plimp_walk *walk, uint64_t address,
			uint8_t *bytes, uint64_t *digest)
{
	const struct plimp_glibc_layout *layout = walk->layout;
	int code;

	code = plimp_window_read(&walk->window, address, bytes,
				 layout->state_size);
	if (code == PLIMP_REACHED)
		*digest = arena_digest(bytes + 4, layout->state_size - 4u);
	return code;
}

static void arena_fast_heads(const struct plimp_glibc_layout *layout,
			     const uint8_t *bytes,
			     struct plimp_walk_arena *arena)
{
	if (layout->fastbins == PLIMP_GLIBC_NONE)
		return;
	for (unsigned i = 0; i < layout->fastbin_count && i < 32; i++) {
		arena->fast_heads[i] =
		    plimp_word64(bytes + layout->fastbins + 8u * i);
		if (arena->fast_heads[i] != 0)
			arena->fast_bins |= 1u << i;
	}
}

static int arena_read(struct plimp_walk *walk, size_t index)
{
	const struct plimp_glibc_layout *layout = walk->layout;
	struct plimp_walk_arena *arena = &walk->arenas[index];
	uint8_t bytes[ARENA_RECORD_MOST];
	int code;

	arena->address = walk->place->arenas[index];
	arena->is_main = arena->address == walk->place->main_arena;
	code = arena_record(walk, arena->address, bytes, &arena->digest);
	if (code < 0)
		return code;
	if (code == PLIMP_UNREACHED) {
		plimp_walk_refuse(walk, PLIM_REASON_PAGES_MISSING,
				  "the record of an arena is not in RAM");
		return PLIM_OK;
	}
	arena->top = plimp_word64(bytes + layout->top);
	arena->system_mem = plimp_word64(bytes + layout->system_mem);
	arena->attached = plimp_word64(bytes + layout->attached_threads);
	arena->is_contiguous = (plimp_word32(bytes + layout->flags) & 2u) == 0;
	arena_fast_heads(layout, bytes, arena);
	return PLIM_OK;
}

int plimp_walk_add_region(struct plimp_walk *walk,
			  const struct plimp_walk_region *region)
{
	int code;

	if (walk->region_count >= PLIMP_WALK_REGIONS) {
		plimp_walk_refuse(walk, PLIM_REASON_TOO_DEAR,
				  "more heaps than the bound");
		return PLIM_OK;
	}
	code = plimp_reserve(walk->image->allocator, (void **)&walk->regions,
			     &walk->region_capacity, walk->region_count + 1, 64,
			     sizeof(*walk->regions));
	if (code == PLIM_OK)
		walk->regions[walk->region_count++] = *region;
	return code;
}

/* All of it in mappings that can be written, one behind the other. Those of
 * hugetlbfs have the name of a file. */
static int region_is_mapped(const struct plimp_walk *walk,
			    struct plimp_walk_region *region)
{
	const struct plimp_space *space = walk->image->space;
	uint64_t address = region->start;

	while (address < region->end) {
		const struct plimp_mapping *mapping =
		    plimp_space_find(space, address);
		const unsigned both = PLIMP_MAY_READ | PLIMP_MAY_WRITE;

		/* A heap that grew since the mappings were read goes on into
		 * what was reserved for it. */
		if (mapping == NULL || (address == region->start &&
					(mapping->protection & both) != both))
			return 0;
		if ((mapping->flags & PLIMP_VM_HUGETLB) != 0 ||
		    mapping->inode != 0)
			region->is_huge = 1;
		address = mapping->end;
	}
	return 1;
}

/* Where the first chunk is, so that its block is 16-aligned. */
static uint64_t region_first(uint64_t address)
{
	return ((address + PLIMP_CHUNK_HEADER + 15) & ~(uint64_t)15) -
	       PLIMP_CHUNK_HEADER;
}

/* One heap of a thread's arena. `*address` is the heap before it, 0 if it is
 * the first. */
static int heap_read(struct plimp_walk *walk, uint32_t index, uint64_t *address,
		     int *is_good)
{
	const struct plimp_glibc_layout *layout = walk->layout;
	struct plimp_walk_arena *arena = &walk->arenas[index];
	struct plimp_walk_region region = {.start = *address, .arena = index};
	uint8_t bytes[64];
	uint64_t size;
	uint64_t previous;
	int code;

	*is_good = 0;
	if (layout->heap_info_size > sizeof(bytes))
		return PLIM_OK;
	code = plimp_window_read(&walk->window, *address, bytes,
				 layout->heap_info_size);
	if (code < 0)
		return code;
	if (code == PLIMP_UNREACHED) {
		plimp_walk_refuse(walk, PLIM_REASON_PAGES_MISSING,
				  "the header of a heap is not in RAM");
		return PLIM_OK;
	}
	previous = plimp_word64(bytes + layout->heap_prev);
	size = plimp_word64(bytes + layout->heap_size);
	if (plimp_word64(bytes) != arena->address ||
	    size < layout->heap_info_size + 64u ||
	    size > walk->place->heap_bytes || size % 16 != 0 ||
	    previous % walk->place->heap_bytes != 0)
		return PLIM_OK;
	region.end = region.start + size;
	region.first = region_first(region.start + layout->heap_info_size);
	if (arena->address == region.start + layout->heap_info_size)
		region.first =
		    region_first(arena->address + layout->state_size);
	else if (previous == 0)
		return PLIM_OK;
	if (region.first >= region.end ||
	    region.end - region.first < PLIMP_CHUNK_LEAST)
		return PLIM_OK;
	if (arena->top >= region.first && arena->top < region.end)
		region.top = arena->top;
	if (!region_is_mapped(walk, &region))
		return PLIM_OK;
	*is_good = 1;
	arena->heaps++;
	*address = previous;
	return plimp_walk_add_region(walk, &region);
}

static int arena_heaps(struct plimp_walk *walk, uint32_t index)
{
	struct plimp_walk_arena *arena = &walk->arenas[index];
	uint64_t heap = arena->top & ~(walk->place->heap_bytes - 1);
	uint64_t own = arena->address & ~(walk->place->heap_bytes - 1);
	uint64_t last = 0;
	uint64_t mark = 0; /* a heap that was passed, moved up now and then */
	uint64_t steps = 0;

	while (heap != 0) {
		int is_good = 0;
		int code;

		if (heap == mark) {
			plimp_walk_refuse(walk, PLIM_REASON_HEAP_CONTRADICTS,
					  "the heaps of an arena go round");
			return PLIM_OK;
		}
		if ((steps & (steps + 1)) == 0)
			mark = heap;
		steps++;
		last = heap;
		code = heap_read(walk, index, &heap, &is_good);
		if (code != PLIM_OK || walk->reason != 0)
			return code;
		if (!is_good) {
			plimp_walk_refuse(walk, PLIM_REASON_HEAP_CONTRADICTS,
					  "a heap of an arena has a header "
					  "that cannot be");
			return PLIM_OK;
		}
	}
	if (last != own)
		plimp_walk_refuse(walk, PLIM_REASON_HEAP_CONTRADICTS,
				  "the heaps of an arena do not lead to it");
	return PLIM_OK;
}

/* The end of the memory by brk: the arena's top chunk ends it, if the top is
 * there; else it is the end of the mappings. */
static int brk_end(struct plimp_walk *walk, struct plimp_walk_arena *arena,
		   struct plimp_walk_region *region)
{
	const struct plimp_space *space = walk->image->space;
	uint64_t end = region->start;
	uint64_t head = 0;
	int code;

	for (;;) {
		const struct plimp_mapping *mapping =
		    plimp_space_find(space, end);

		if (mapping == NULL ||
		    (mapping->protection & PLIMP_MAY_WRITE) == 0)
			break;
		end = mapping->end;
	}
	region->end = end;
	if (arena->top < region->first || arena->top >= end) {
		/* system_mem holds at least what is by brk. */
		if (region->end - region->start > arena->system_mem)
			region->end = region->start + arena->system_mem;
		return PLIM_OK;
	}
	code = plimp_window_u64(&walk->window, arena->top + 8, &head);
	if (code < 0)
		return code;
	head &= ~(uint64_t)PLIMP_CHUNK_FLAGS;
	if (code == PLIMP_UNREACHED) {
		/* Then system_mem tells, if nobody else called sbrk(). */
		head = region->start + arena->system_mem - arena->top;
	}
	if (head < PLIMP_CHUNK_HEADER || head > end - arena->top) {
		plimp_walk_refuse(walk, PLIM_REASON_HEAP_CONTRADICTS,
				  "the top of the main arena has a size that "
				  "cannot be");
		return PLIM_OK;
	}
	region->top = arena->top;
	region->end = arena->top + head;
	return PLIM_OK;
}

static int arena_brk(struct plimp_walk *walk, uint32_t index)
{
	struct plimp_walk_arena *arena = &walk->arenas[index];
	struct plimp_walk_region region = {
	    .start = walk->place->sbrk_base,
	    .first = region_first(walk->place->sbrk_base),
	    .arena = index,
	    .is_main = 1,
	    .is_brk = 1,
	};
	int code;

	if (region.start == 0)
		return PLIM_OK;
	code = brk_end(walk, arena, &region);
	if (code != PLIM_OK || walk->reason != 0 || region.end <= region.first)
		return code;
	if (!region_is_mapped(walk, &region)) {
		plimp_walk_refuse(walk, PLIM_REASON_HEAP_CONTRADICTS,
				  "the heap of the main arena is not mapped");
		return PLIM_OK;
	}
	return plimp_walk_add_region(walk, &region);
}

static int region_order(const void *a, const void *b)
{
	const struct plimp_walk_region *first = a;
	const struct plimp_walk_region *second = b;

	return (first->start > second->start) - (first->start < second->start);
}

void plimp_walk_sort_regions(struct plimp_walk *walk)
{
	if (walk->region_count == 0)
		return;
	qsort(walk->regions, walk->region_count, sizeof(*walk->regions),
	      region_order);
	for (size_t i = 1; i < walk->region_count; i++)
		if (walk->regions[i].start < walk->regions[i - 1].end)
			plimp_walk_refuse(walk, PLIM_REASON_HEAP_CONTRADICTS,
					  "heaps of arenas overlap");
}

const struct plimp_walk_region *
plimp_walk_region_of(const struct plimp_walk *walk, uint64_t address)
{
	size_t low = 0;
	size_t high = walk->region_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walk->regions[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == walk->region_count || walk->regions[low].start > address)
		return NULL;
	return &walk->regions[low];
}

int plimp_walk_arenas(struct plimp_walk *walk)
{
	const struct plimp_glibc_layout *layout = walk->layout;

	if (layout->state_size > ARENA_RECORD_MOST || layout->state_size < 64 ||
	    walk->place->heap_bytes == 0 ||
	    (walk->place->heap_bytes & (walk->place->heap_bytes - 1)) != 0) {
		plimp_walk_refuse(walk, PLIM_REASON_HEAP_CONTRADICTS,
				  "the layout does not fit");
		return PLIM_OK;
	}
	for (size_t i = 0; i < walk->arena_count; i++) {
		int code = arena_read(walk, i);

		if (code == PLIM_OK && walk->reason == 0)
			code = walk->arenas[i].is_main
				   ? arena_brk(walk, (uint32_t)i)
				   : arena_heaps(walk, (uint32_t)i);
		if (code != PLIM_OK || walk->reason != 0)
			return code;
	}
	plimp_walk_sort_regions(walk);
	return PLIM_OK;
}

static uint64_t arena_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

int plimp_walk_reread(struct plimp_walk *walk)
{
	plimp_window_forget(&walk->window);
	for (size_t i = 0; i < walk->arena_count; i++) {
		uint8_t bytes[ARENA_RECORD_MOST];
		uint64_t digest = 0;
		int code =
		    arena_record(walk, walk->arenas[i].address, bytes, &digest);

		if (code < 0)
			return code;
		if (code == PLIMP_UNREACHED || digest != walk->arenas[i].digest)
			walk->changed++;
		if (code == PLIMP_REACHED)
			walk->grown += arena_apart(
			    plimp_word64(bytes + walk->layout->system_mem),
			    walk->arenas[i].system_mem);
	}
	return PLIM_OK;
}
