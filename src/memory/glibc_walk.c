/*
 * glibc_walk.c - walks the heaps of glibc's malloc (glibc_walk.h): the order of
 * things.
 *
 * First all that points into heaps is read: the arenas, their heaps, the lists
 * of fast bins. Then every region is stepped through once. What that found of
 * caches is followed, mmapped blocks are looked for, and last what was read
 * first is read again: if it changed, the process went on meanwhile, and a part
 * of the heap is walked a second time to see by how much. Nothing here waits,
 * stops the process, or reads a page that is not there.
 */
#include "memory/glibc_walk.h"

#include "core/fail.h"
#include "core/memory.h"

#include <stdio.h>
#include <string.h>

/* Every so many bytes of a region a place is kept to read on from. */
#define WALK_MARK_BYTES 262144u
#define WALK_MARKS	1048576u

void plimp_walk_refuse(struct plimp_walk *walk, int reason, const char *why)
{
	if (walk->reason != 0)
		return;
	walk->reason = reason;
	snprintf(walk->why, sizeof(walk->why), "%s", why);
}

/* Is this chunk in a fast bin? `*at` moves along the list of its arena, which
 * ascends as the chunks do. */
static int walk_is_fast(struct plimp_walk *walk, uint64_t chunk, size_t end,
			size_t *at)
{
	while (*at < end && walk->fast[*at] < chunk)
		(*at)++;
	if (*at == end || walk->fast[*at] != chunk)
		return 0;
	(*at)++;
	walk->fast_met++;
	return 1;
}

static size_t walk_fast_start(const struct plimp_walk *walk,
			      const struct plimp_walk_arena *arena,
			      uint64_t address)
{
	size_t low = arena->fast_start;
	size_t high = arena->fast_end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walk->fast[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int walk_used(struct plimp_walk *walk,
		     const struct plimp_walk_region *region,
		     const struct plimp_stretch_item *item, size_t *fast)
{
	struct plimp_walk_arena *arena = &walk->arenas[region->arena];
	struct plimp_walk_tally *tally = &arena->tally;
	uint64_t bin = (item->size - PLIMP_CHUNK_LEAST) / 16;
	int code = PLIM_OK;

	if (walk_is_fast(walk, item->address, arena->fast_end, fast)) {
		tally->fast += item->size;
		tally->fast_count++;
		return plimp_pages_free(walk, item->address, item->size, 1);
	}
	tally->used += item->size;
	tally->used_count++;
	if (bin < 32 && (arena->fast_cut >> bin & 1) != 0)
		tally->maybe += item->size;
	if (item->size == walk->cache_chunk)
		code = plimp_walk_cache_meet(walk, item->address, region->end,
					     region->arena);
	if (code != PLIM_OK)
		return code;
	return plimp_pages_live(walk, item->address, item->size, item->address);
}

static int walk_item(struct plimp_walk *walk,
		     const struct plimp_walk_region *region,
		     const struct plimp_stretch_item *item, size_t *fast)
{
	struct plimp_walk_arena *arena = &walk->arenas[region->arena];
	struct plimp_walk_tally *tally = &arena->tally;

	switch (item->kind) {
	case PLIMP_STRETCH_USED:
		return walk_used(walk, region, item, fast);
	case PLIMP_STRETCH_FREE:
		tally->free += item->size;
		tally->free_count++;
		return plimp_pages_free(walk, item->address, item->size, 0);
	case PLIMP_STRETCH_TOP:
		tally->top += item->size;
		tally->free_count++;
		arena->meets_top = 1;
		return plimp_pages_top(walk, item->address, item->size);
	case PLIMP_STRETCH_FENCE:
	case PLIMP_STRETCH_GAP:
		tally->used += item->size;
		return plimp_pages_live(walk, item->address, item->size, 0);
	case PLIMP_STRETCH_UNKNOWN:
		tally->unknown += item->size;
		return plimp_pages_unknown(walk, item->address, item->size);
	case PLIMP_STRETCH_LOST:
		tally->lost += item->size;
		return plimp_pages_unknown(walk, item->address, item->size);
	default:
		return plimp_pages_end(walk);
	}
}

static int walk_mark(struct plimp_walk *walk, uint32_t region, uint64_t address,
		     uint64_t used)
{
	int code;

	if (walk->mark_count >= WALK_MARKS)
		return PLIM_OK;
	code = plimp_reserve(walk->image->allocator, (void **)&walk->marks,
			     &walk->mark_capacity, walk->mark_count + 1, 256,
			     sizeof(*walk->marks));
	if (code == PLIM_OK)
		walk->marks[walk->mark_count++] = (struct plimp_walk_mark){
		    .address = address, .used = used, .region = region};
	return code;
}

/* Behind fenceposts at the end of what brk gave there may be memory that was
 * never malloc's, as far as system_mem can tell. */
static int walk_is_tail(const struct plimp_walk_region *region,
			const struct plimp_stretch_item *item)
{
	return item->kind == PLIMP_STRETCH_GAP && region->top == 0 &&
	       item->address + item->size == region->end;
}

static int walk_region(struct plimp_walk *walk, uint32_t index)
{
	const struct plimp_walk_region *region = &walk->regions[index];
	struct plimp_walk_arena *arena = &walk->arenas[region->arena];
	struct plimp_stretch_item item = {.kind = PLIMP_STRETCH_GAP};
	uint64_t mark = region->first;
	uint64_t before = arena->tally.used;
	size_t fast = walk_fast_start(walk, arena, region->first);
	struct plimp_chunks chunks;
	int code;

	plimp_span_forget(&walk->span);
	plimp_pages_begin(walk, region);
	arena->tally.used += region->first - region->start;
	code = plimp_pages_live(walk, region->start,
				region->first - region->start, 0);
	plimp_chunks_begin(&chunks, walk, region, region->first);
	while (code == PLIM_OK && item.kind != PLIMP_STRETCH_END) {
		if (chunks.position >= mark) {
			mark = chunks.position + WALK_MARK_BYTES;
			code = walk_mark(walk, index, chunks.position,
					 arena->tally.used - before);
		}
		if (code == PLIM_OK)
			code = plimp_chunks_next(&chunks, &item);
		if (code == PLIM_OK && walk_is_tail(region, &item))
			continue;
		if (code == PLIM_OK)
			code = walk_item(walk, region, &item, &fast);
	}
	return code;
}

static int walk_regions(struct plimp_walk *walk)
{
	for (size_t i = 0; i < walk->region_count; i++) {
		int code = walk_region(walk, (uint32_t)i);

		if (code != PLIM_OK || walk->reason != 0)
			return code;
	}
	return PLIM_OK;
}

/* In this order; any of them may find that nothing can be said. */
static int walk_all(struct plimp_walk *walk)
{
	int (*const steps[])(struct plimp_walk *) = {
	    plimp_walk_arenas, plimp_walk_segments, plimp_walk_fast_bins,
	    walk_regions,      plimp_walk_caches,   plimp_walk_mapped,
	    plimp_walk_reread, plimp_walk_sample,   plimp_walk_tell,
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int code = steps[i](walk);

		if (code != PLIM_OK)
			return code;
		if (walk->reason != 0)
			break;
	}
	if (walk->reason != 0)
		plimp_heap_refuse(walk->heap, walk->reason, 0, "%s", walk->why);
	return PLIM_OK;
}

static void walk_release(struct plimp_walk *walk)
{
	const plim_allocator *allocator = walk->image->allocator;

	plimp_release(allocator, walk->arenas, walk->arena_count,
		      sizeof(*walk->arenas));
	plimp_release(allocator, walk->regions, walk->region_capacity,
		      sizeof(*walk->regions));
	plimp_release(allocator, walk->fast, walk->fast_capacity,
		      sizeof(*walk->fast));
	plimp_release(allocator, walk->caches, walk->cache_capacity,
		      sizeof(*walk->caches));
	plimp_release(allocator, walk->marks, walk->mark_capacity,
		      sizeof(*walk->marks));
	plimp_release(allocator, walk->touched, walk->arena_count,
		      sizeof(*walk->touched));
	plimp_span_close(&walk->span);
	plimp_window_close(&walk->window);
	plimp_release(allocator, walk, 1, sizeof(*walk));
}

static int walk_open(struct plimp_walk *walk)
{
	int code = plimp_window_open(&walk->window, walk->image);

	if (code == PLIM_OK)
		code = plimp_span_open(&walk->span, walk->image, &walk->ahead);
	if (code != PLIM_OK)
		return code;
	walk->arenas = plimp_allocate(walk->image->allocator, walk->arena_count,
				      sizeof(*walk->arenas));
	return walk->arenas == NULL ? PLIM_ENOMEM : PLIM_OK;
}

int plimp_glibc_walk(const struct plimp_image *image,
		     const struct plimp_glibc_place *place,
		     struct plim_heap *heap, plim_error *error)
{
	struct plimp_walk *walk;
	int code;

	if (place->reason != PLIMP_GLIBC_FOUND || place->arena_count == 0 ||
	    place->arena_count > PLIMP_ARENAS_MOST) {
		plimp_heap_refuse(heap, PLIM_REASON_HEAP_NOT_FOUND, 0, "%s",
				  plimp_glibc_reason_text(place->reason));
		return PLIM_OK;
	}
	walk = plimp_allocate(image->allocator, 1, sizeof(*walk));
	if (walk == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "walk", "glibc", NULL);
	walk->image = image;
	walk->place = place;
	walk->layout = place->layout;
	walk->heap = heap;
	walk->page_bytes = image->reader.page_bytes;
	walk->arena_count = place->arena_count;
	walk->steps = PLIMP_WALK_STEPS;
	walk->absent = PLIMP_WALK_ABSENT;
	walk->cache_chunk = plimp_walk_cache_chunk(place->layout);
	plimp_residency_init(&walk->ahead, image);
	plimp_residency_init(&walk->behind, image);
	code = walk_open(walk);
	if (code == PLIM_OK)
		code = walk_all(walk);
	walk_release(walk);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "walk", "glibc", NULL);
	return PLIM_OK;
}
