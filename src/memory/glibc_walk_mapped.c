/*
 * glibc_walk_mapped.c - what malloc holds outside of heaps (glibc_walk.h).
 *
 * A large block is a mapping of its own; its header, at the start of the
 * mapping, says so and how long it is. The kernel merges neighbouring mappings,
 * so that one of maps may hold several, one after another, and other people's
 * memory in between. First the starts of all mappings are looked at, and what
 * follows each block; if that is not as many as mp_ counts, every page of them
 * is, up to a bound.
 *
 * When brk() fails, the main arena takes segments by mmap(): from then on it is
 * not contiguous. Each begins with a chunk, and ends with fenceposts or with
 * the top.
 */
#include "memory/glibc_walk.h"

#include <string.h>

/* 64 GiB of pages of 4 KiB: some seconds at the most. */
#define MAPPED_LOOKS_MOST (UINT64_C(1) << 24)

/* One way of looking at a page: `*size` is what begins there, 0 nothing. */
typedef int mapped_look_fn(struct plimp_walk *walk, uint64_t page, uint64_t end,
			   uint64_t *size);

struct mapped_sweep {
	mapped_look_fn *look;
	int is_deep;
	uint64_t pages; /* left, of a deep one */
	size_t known;	/* regions that were there before */
};

static int mapped_is_candidate(const struct plimp_space *space,
			       const struct plimp_mapping *mapping)
{
	const uint32_t both = PLIMP_MAY_READ | PLIMP_MAY_WRITE;
	plim_bytes name = plimp_space_name(space, mapping);

	if ((mapping->protection & both) != both ||
	    (mapping->protection & PLIMP_IS_SHARED) != 0)
		return 0;
	if (name.size == 0)
		return mapping->inode == 0;
	if (name.size >= 6 && memcmp(name.data, "[anon:", 6) == 0)
		return 1;
	if (name.size == 6 && memcmp(name.data, "[heap]", 6) == 0)
		return 1;
	return name.size >= 15 && memcmp(name.data, "/anon_hugepage", 14) == 0;
}

static int mapped_pages(struct plimp_walk *walk, struct mapped_sweep *sweep,
			uint64_t start, uint64_t end)
{
	uint64_t page = start;

	while (page < end && end - page >= walk->page_bytes) {
		uint64_t size = 0;
		int code;

		if (sweep->is_deep) {
			if (sweep->pages == 0)
				return PLIM_OK;
			sweep->pages--;
		}
		code = sweep->look(walk, page, end, &size);
		if (code != PLIM_OK || walk->reason != 0)
			return code;
		if (size == 0 && !sweep->is_deep)
			return PLIM_OK;
		page += size > 0 ? size : walk->page_bytes;
	}
	return PLIM_OK;
}

/* What the arenas have reserved, where a region begins. */
static uint64_t mapped_region_end(const struct plimp_walk *walk,
				  const struct plimp_walk_region *region)
{
	return region->is_main ? region->end
			       : region->start + walk->place->heap_bytes;
}

/* The parts of a mapping that no region has. */
static int mapped_mapping(struct plimp_walk *walk, struct mapped_sweep *sweep,
			  const struct plimp_mapping *mapping, size_t *next)
{
	uint64_t mask = walk->page_bytes - 1;
	uint64_t start = mapping->start;
	int code = PLIM_OK;

	while (*next < sweep->known && code == PLIM_OK &&
	       walk->regions[*next].start < mapping->end) {
		uint64_t from = walk->regions[*next].start;
		uint64_t to = mapped_region_end(walk, &walk->regions[*next]);

		if (from > start)
			code = mapped_pages(walk, sweep, start, from & ~mask);
		if (to > start)
			start = (to + mask) & ~mask;
		if (to >= mapping->end)
			return code;
		(*next)++;
	}
	if (code == PLIM_OK && start < mapping->end)
		code = mapped_pages(walk, sweep, start, mapping->end);
	return code;
}

static int mapped_space(struct plimp_walk *walk, struct mapped_sweep *sweep)
{
	const struct plimp_space *space = walk->image->space;
	size_t next = 0;

	sweep->known = walk->region_count;
	for (size_t i = 0; i < space->count; i++) {
		const struct plimp_mapping *mapping = &space->items[i];
		int code;

		while (next < sweep->known &&
		       mapped_region_end(walk, &walk->regions[next]) <=
			   mapping->start)
			next++;
		if (!mapped_is_candidate(space, mapping))
			continue;
		code = mapped_mapping(walk, sweep, mapping, &next);
		if (code != PLIM_OK || walk->reason != 0)
			return code;
	}
	return PLIM_OK;
}

/* How much of a block takes memory: few of its pages need have been touched. */
static int mapped_touched(struct plimp_walk *walk, uint64_t page, uint64_t end)
{
	if (!walk->image->reader.has_residency)
		return PLIM_OK;
	for (; page < end; page += walk->page_bytes) {
		uint8_t flags;
		int code;

		if (walk->mapped_looks == 0) {
			walk->mapped_is_vague = 1;
			return PLIM_OK;
		}
		walk->mapped_looks--;
		code = plimp_residency_at(&walk->behind, page, end, &flags);
		if (code != PLIM_OK)
			return code;
		if ((flags & PLIMP_PAGE_RESIDENT) != 0)
			walk->mapped_resident += walk->page_bytes;
		else if ((flags & PLIMP_PAGE_READABLE) != 0 &&
			 (flags & PLIMP_PAGE_ZERO) == 0)
			walk->mapped_is_vague = 1;
	}
	return PLIM_OK;
}

static void mapped_reset(struct plimp_walk *walk)
{
	walk->mapped_bytes = 0;
	walk->mapped_count = 0;
	walk->mapped_resident = 0;
	walk->mapped_is_vague = 0;
	walk->mapped_looks = MAPPED_LOOKS_MOST;
}

/* A header that says: a mapping of its own. `*size` is that of the mapping.
 * The start of a block that was aligned within its mapping still has the
 * header that it had before (_int_memalign). */
static int mapped_look_chunk(struct plimp_walk *walk, uint64_t page,
			     uint64_t end, uint64_t *size)
{
	const uint8_t *bytes;
	uint64_t foot;
	uint64_t head;
	uint64_t length;
	int code =
	    plimp_span_at(&walk->span, page, PLIMP_CHUNK_HEADER, end, &bytes);

	if (code != PLIMP_REACHED)
		return code < 0 ? code : PLIM_OK;
	foot = plimp_word64(bytes);
	head = plimp_word64(bytes + 8);
	length = head & ~(uint64_t)PLIMP_CHUNK_FLAGS;
	if ((head & PLIMP_CHUNK_FLAGS) != PLIMP_GLIBC_MMAPPED || foot > 1)
		return PLIM_OK;
	if (walk->layout->is_mmapped_like_normal)
		length += PLIMP_CHUNK_HEADER;
	if (length % walk->page_bytes != 0 || length == 0 ||
	    length > end - page)
		return PLIM_OK;
	walk->mapped_bytes += length;
	walk->mapped_count++;
	*size = length;
	return mapped_touched(walk, page, page + length);
}

static int mapped_told(struct plimp_walk *walk)
{
	const struct plimp_glibc_layout *layout = walk->layout;
	uint64_t mp = walk->place->mp;
	uint64_t bytes = 0;
	uint32_t count = 0;
	int code;

	if (mp == 0)
		return PLIM_OK;
	code = plimp_window_u64(&walk->window, mp + layout->mp_mmapped_mem,
				&bytes);
	if (code == PLIMP_REACHED)
		code = plimp_window_u32(&walk->window, mp + layout->mp_n_mmaps,
					&count);
	if (code < 0)
		return code;
	walk->told = code == PLIMP_REACHED;
	walk->told_bytes = bytes;
	walk->told_count = count;
	return PLIM_OK;
}

static int mapped_is_met(const struct plimp_walk *walk)
{
	return walk->mapped_bytes == walk->told_bytes &&
	       walk->mapped_count == walk->told_count;
}

int plimp_walk_mapped(struct plimp_walk *walk)
{
	struct mapped_sweep sweep = {
	    .look = mapped_look_chunk,
	    .pages = PLIMP_WALK_SWEEP_PAGES,
	};
	int code = mapped_told(walk);

	if (code != PLIM_OK || !walk->told || walk->told_count == 0)
		return code;
	mapped_reset(walk);
	code = mapped_space(walk, &sweep);
	if (code != PLIM_OK || mapped_is_met(walk))
		return code;
	mapped_reset(walk);
	sweep.is_deep = 1;
	code = mapped_space(walk, &sweep);
	walk->mapped_is_cut = sweep.pages == 0;
	return code;
}

/* Where the segment that begins with `region` ends: `*size`, 0 if it makes no
 * sense as one. Each chunk costs a step, since every page may be tried. What
 * looked odd on the way is forgotten: it may be nobody's heap, and if it is
 * one, the walk meets it again. */
static int mapped_segment_size(struct plimp_walk *walk,
			       const struct plimp_walk_region *region,
			       uint64_t *size)
{
	struct plimp_stretch_item item = {.kind = PLIMP_STRETCH_USED};
	uint64_t desyncs = walk->desyncs;
	uint64_t odd = walk->odd;
	struct plimp_chunks chunks;

	*size = 0;
	plimp_chunks_begin(&chunks, walk, region, region->first);
	while ((item.kind == PLIMP_STRETCH_USED ||
		item.kind == PLIMP_STRETCH_FREE) &&
	       walk->steps > 0) {
		int code = plimp_chunks_next(&chunks, &item);

		if (code != PLIM_OK)
			return code;
		walk->steps -= walk->steps > 0;
	}
	walk->desyncs = desyncs;
	walk->odd = odd;
	if ((item.kind == PLIMP_STRETCH_FENCE ||
	     item.kind == PLIMP_STRETCH_TOP) &&
	    (chunks.position & (walk->page_bytes - 1)) == 0)
		*size = chunks.position - region->start;
	return PLIM_OK;
}

static int mapped_look_segment(struct plimp_walk *walk, uint64_t page,
			       uint64_t end, uint64_t *size)
{
	struct plimp_walk_region region = {
	    .start = page,
	    .first = page,
	    .end = end,
	    .is_main = 1,
	};
	const struct plimp_mapping *mapping =
	    plimp_space_find(walk->image->space, page);
	uint64_t top = walk->arenas[0].top;
	const uint8_t *bytes;
	uint64_t head;
	int code =
	    plimp_span_at(&walk->span, page, PLIMP_CHUNK_HEADER, end, &bytes);

	if (code != PLIMP_REACHED)
		return code < 0 ? code : PLIM_OK;
	head = plimp_word64(bytes + 8);
	if ((head & PLIMP_CHUNK_FLAGS) != PLIMP_GLIBC_PREV_INUSE ||
	    head < PLIMP_CHUNK_LEAST || head % 16 > PLIMP_CHUNK_FLAGS)
		return mapped_look_chunk(walk, page, end, size);
	if (top >= page && top < end && end - top > PLIMP_CHUNK_HEADER) {
		code = plimp_window_u64(&walk->window, top + 8, &head);
		if (code < 0)
			return code;
		head &= ~(uint64_t)PLIMP_CHUNK_FLAGS;
		if (code == PLIMP_REACHED && head <= end - top) {
			region.top = top;
			region.end = top + head;
		}
	}
	/* Those of hugetlbfs have the name of a file. */
	region.is_huge =
	    mapping != NULL &&
	    ((mapping->flags & PLIMP_VM_HUGETLB) != 0 || mapping->inode != 0);
	code = mapped_segment_size(walk, &region, size);
	if (code != PLIM_OK || *size == 0)
		return code;
	if (top < page || top >= page + *size)
		region.top = 0;
	region.end = page + *size;
	return plimp_walk_add_region(walk, &region);
}

static uint64_t mapped_main_bytes(const struct plimp_walk *walk)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < walk->region_count; i++)
		if (walk->regions[i].is_main)
			bytes += walk->regions[i].end - walk->regions[i].start;
	return bytes;
}

int plimp_walk_segments(struct plimp_walk *walk)
{
	struct mapped_sweep sweep = {
	    .look = mapped_look_segment,
	    .pages = PLIMP_WALK_SWEEP_PAGES,
	};
	uint64_t needed = walk->arenas[0].system_mem;
	size_t before = walk->region_count;
	int code;

	if (!walk->arenas[0].is_main || walk->arenas[0].is_contiguous ||
	    mapped_main_bytes(walk) >= needed)
		return PLIM_OK;
	code = mapped_space(walk, &sweep);
	if (code == PLIM_OK && walk->reason == 0 &&
	    mapped_main_bytes(walk) < needed) {
		walk->region_count = before;
		sweep.is_deep = 1;
		code = mapped_space(walk, &sweep);
	}
	mapped_reset(walk);
	if (code == PLIM_OK)
		plimp_walk_sort_regions(walk);
	return code;
}
