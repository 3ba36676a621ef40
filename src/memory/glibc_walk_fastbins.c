/*
 * glibc_walk_fastbins.c - which chunks wait in fast bins (glibc_walk.h).
 *
 * A chunk in a fast bin looks as if it were in use; only the lists know. They
 * are short as a rule, and then they are followed, page by readable page. A
 * program that frees millions of small blocks makes them long and scattered,
 * and following them would cost a call or two for each node: then the heaps of
 * the arena are read through once in order, every chunk that could be a node
 * is noted with what it points to, and the lists are followed in that table.
 *
 * What is left in a chunk that was taken from a fast bin again looks like a
 * node, too: that is why no chunk is taken for one that no list leads to.
 */
#include "memory/glibc_walk.h"

#include "core/memory.h"

#include <stdlib.h>

/* Pages that following lists may read before the table is made. */
#define FAST_LOADS 4096u

/* Chunks of an arena that could be in a fast bin, ascending. */
struct fast_table {
	uint64_t *chunks;
	uint64_t *nexts;
	size_t count;
	size_t capacity;
	size_t next_capacity;
};

static uint64_t fast_size(unsigned bin)
{
	return PLIMP_CHUNK_LEAST + 16u * (uint64_t)bin;
}

static uint64_t fast_next(const struct plimp_walk *walk, uint64_t chunk,
			  uint64_t word)
{
	if (!walk->layout->is_mangled)
		return word;
	return word ^ ((chunk + PLIMP_CHUNK_HEADER) >> 12);
}

static int fast_add(struct plimp_walk *walk, uint64_t chunk)
{
	int code;

	if (walk->fast_count >= PLIMP_WALK_FAST_NODES)
		return PLIM_ELIMIT;
	code = plimp_reserve(walk->image->allocator, (void **)&walk->fast,
			     &walk->fast_capacity, walk->fast_count + 1, 1024,
			     sizeof(*walk->fast));
	if (code == PLIM_OK)
		walk->fast[walk->fast_count++] = chunk;
	return code;
}

/* Can there be a node of this arena here? */
static int fast_is_place(const struct plimp_walk *walk, uint32_t arena,
			 uint64_t chunk)
{
	const struct plimp_walk_region *region;

	if (chunk % 16 != 0)
		return 0;
	region = plimp_walk_region_of(walk, chunk);
	return region != NULL && region->arena == arena &&
	       chunk >= region->first &&
	       region->end - chunk >= PLIMP_CHUNK_LEAST;
}

/* A list that comes back to itself: `mark` is a node that was passed, moved up
 * to the present one each time twice as many have followed. */
struct fast_loop {
	uint64_t mark;
	uint64_t steps;
	uint64_t limit;
};

static int fast_is_loop(struct fast_loop *loop, uint64_t chunk)
{
	if (loop->mark == chunk)
		return 1;
	if (++loop->steps >= loop->limit) {
		loop->mark = chunk;
		loop->limit = loop->limit * 2 + 1;
		loop->steps = 0;
	}
	return 0;
}

/* Follows a list through readable pages. `*is_long`: it costs too much. */
static int fast_follow(struct plimp_walk *walk, uint32_t arena, unsigned bin,
		       uint64_t loads, int *is_long)
{
	uint64_t chunk = walk->arenas[arena].fast_heads[bin];
	struct fast_loop loop = {0};

	while (chunk != 0) {
		uint8_t bytes[24];
		int code;

		if (!fast_is_place(walk, arena, chunk) ||
		    fast_is_loop(&loop, chunk)) {
			walk->fast_broken++;
			return PLIM_OK;
		}
		if (walk->window.loads - loads > FAST_LOADS) {
			*is_long = 1;
			return PLIM_OK;
		}
		code = plimp_window_read(&walk->window, chunk, bytes,
					 sizeof(bytes));
		if (code < 0)
			return code;
		if (code == PLIMP_UNREACHED) {
			walk->arenas[arena].fast_cut |= 1u << bin;
			return PLIM_OK;
		}
		if ((plimp_word64(bytes + 8) & ~(uint64_t)PLIMP_CHUNK_FLAGS) !=
		    fast_size(bin)) {
			walk->fast_broken++;
			return PLIM_OK;
		}
		code = fast_add(walk, chunk);
		if (code != PLIM_OK)
			return code;
		chunk = fast_next(walk, chunk, plimp_word64(bytes + 16));
	}
	return PLIM_OK;
}

static int fast_table_add(struct plimp_walk *walk, struct fast_table *table,
			  uint64_t chunk, uint64_t next)
{
	const plim_allocator *allocator = walk->image->allocator;
	int code;

	if (table->count >= PLIMP_WALK_FAST_NODES)
		return PLIM_ELIMIT;
	code =
	    plimp_reserve(allocator, (void **)&table->chunks, &table->capacity,
			  table->count + 1, 65536, sizeof(*table->chunks));
	if (code == PLIM_OK)
		code = plimp_reserve(allocator, (void **)&table->nexts,
				     &table->next_capacity, table->count + 1,
				     65536, sizeof(*table->nexts));
	if (code != PLIM_OK)
		return code;
	table->chunks[table->count] = chunk;
	table->nexts[table->count] = next;
	table->count++;
	return PLIM_OK;
}

int plimp_walk_looks_fast(struct plimp_walk *walk, uint32_t arena,
			  const struct plimp_stretch_item *item, uint64_t end,
			  uint64_t *next)
{
	const uint8_t *bytes;
	int code =
	    plimp_span_at(&walk->span, item->address + 16, 8, end, &bytes);

	if (code != PLIMP_REACHED)
		return code < 0 ? code : 0;
	*next = fast_next(walk, item->address, plimp_word64(bytes));
	return *next == 0 || fast_is_place(walk, arena, *next);
}

/* Notes the chunk if a list of a bin that is not empty could hold it. */
static int fast_consider(struct plimp_walk *walk, uint32_t arena,
			 const struct plimp_stretch_item *item, uint64_t end,
			 struct fast_table *table)
{
	uint64_t bin = (item->size - PLIMP_CHUNK_LEAST) / 16;
	uint64_t next;
	int answer;

	if (bin >= 32 || (walk->arenas[arena].fast_bins >> bin & 1) == 0)
		return PLIM_OK;
	answer = plimp_walk_looks_fast(walk, arena, item, end, &next);
	if (answer <= 0)
		return answer;
	return fast_table_add(walk, table, item->address, next);
}

static int fast_gather(struct plimp_walk *walk, uint32_t arena,
		       struct fast_table *table, int *is_whole)
{
	for (size_t i = 0; i < walk->region_count; i++) {
		const struct plimp_walk_region *region = &walk->regions[i];
		struct plimp_chunks chunks;
		struct plimp_stretch_item item = {.kind = PLIMP_STRETCH_GAP};

		if (region->arena != arena)
			continue;
		plimp_chunks_begin(&chunks, walk, region, region->first);
		while (item.kind != PLIMP_STRETCH_END) {
			int code = plimp_chunks_next(&chunks, &item);

			if (code == PLIM_OK && item.kind == PLIMP_STRETCH_USED)
				code = fast_consider(walk, arena, &item,
						     region->end, table);
			if (item.kind == PLIMP_STRETCH_UNKNOWN)
				*is_whole = 0;
			if (code != PLIM_OK)
				return code;
		}
	}
	return PLIM_OK;
}

/* The place of a chunk in the table, looked for from `near` outwards, since
 * lists lead to neighbours more often than not; `count` if it is not there. */
static size_t fast_find(const struct fast_table *table, uint64_t chunk,
			size_t near)
{
	size_t low = 0;
	size_t high = table->count;
	size_t step = 1;

	if (table->count == 0)
		return 0;
	if (near >= table->count)
		near = table->count - 1;
	if (table->chunks[near] <= chunk) {
		low = near;
		while (table->count - low > step &&
		       table->chunks[low + step] <= chunk) {
			low += step;
			step *= 2;
		}
		if (table->count - low > step)
			high = low + step;
	} else {
		high = near;
		while (high > step && table->chunks[high - step] > chunk) {
			high -= step;
			step *= 2;
		}
		if (high > step)
			low = high - step;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (table->chunks[middle] <= chunk)
			low = middle;
		else
			high = middle;
	}
	return table->chunks[low] == chunk ? low : table->count;
}

/* Marks the nodes of a list in the table: the low bit of what they point to. */
static void fast_follow_table(struct plimp_walk *walk, uint32_t arena,
			      unsigned bin, const struct fast_table *table,
			      int is_whole)
{
	uint64_t chunk = walk->arenas[arena].fast_heads[bin];
	size_t near = 0;

	while (chunk != 0) {
		size_t index = fast_find(table, chunk, near);

		if (index == table->count || (table->nexts[index] & 1) != 0) {
			/* A node may lie in what cannot be read. */
			if (is_whole)
				walk->fast_broken++;
			else
				walk->arenas[arena].fast_cut |= 1u << bin;
			return;
		}
		near = index;
		chunk = table->nexts[index];
		table->nexts[index] |= 1;
	}
}

static int fast_marked(struct plimp_walk *walk, const struct fast_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		int code = PLIM_OK;

		if ((table->nexts[i] & 1) != 0)
			code = fast_add(walk, table->chunks[i]);
		if (code != PLIM_OK)
			return code;
	}
	return PLIM_OK;
}

static int fast_by_table(struct plimp_walk *walk, uint32_t arena)
{
	const plim_allocator *allocator = walk->image->allocator;
	struct fast_table table = {0};
	int is_whole = 1;
	int code = fast_gather(walk, arena, &table, &is_whole);

	for (unsigned bin = 0; bin < 32 && code == PLIM_OK; bin++)
		fast_follow_table(walk, arena, bin, &table, is_whole);
	if (code == PLIM_OK)
		code = fast_marked(walk, &table);
	plimp_release(allocator, table.chunks, table.capacity,
		      sizeof(*table.chunks));
	plimp_release(allocator, table.nexts, table.next_capacity,
		      sizeof(*table.nexts));
	return code;
}

static int fast_order(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a;
	uint64_t second = *(const uint64_t *)b;

	return (first > second) - (first < second);
}

static int fast_arena(struct plimp_walk *walk, uint32_t arena)
{
	uint64_t loads = walk->window.loads;
	size_t first = walk->fast_count;
	uint64_t broken = walk->fast_broken;
	int is_long = 0;

	for (unsigned bin = 0; bin < 32 && !is_long; bin++) {
		int code = fast_follow(walk, arena, bin, loads, &is_long);

		if (code != PLIM_OK)
			return code;
	}
	if (is_long) {
		walk->fast_count = first;
		walk->fast_broken = broken;
		walk->arenas[arena].fast_cut = 0;
		return fast_by_table(walk, arena);
	}
	if (walk->fast_count > first)
		qsort(walk->fast + first, walk->fast_count - first,
		      sizeof(*walk->fast), fast_order);
	return PLIM_OK;
}

int plimp_walk_fast_bins(struct plimp_walk *walk)
{
	for (size_t i = 0; i < walk->arena_count; i++) {
		int code = PLIM_OK;

		walk->arenas[i].fast_start = walk->fast_count;
		if (walk->arenas[i].fast_bins != 0)
			code = fast_arena(walk, (uint32_t)i);
		walk->arenas[i].fast_end = walk->fast_count;
		if (code == PLIM_ELIMIT) {
			plimp_walk_refuse(walk, PLIM_REASON_TOO_DEAR,
					  "more chunks in fast bins than the "
					  "bound");
			return PLIM_OK;
		}
		if (code != PLIM_OK)
			return code;
	}
	return PLIM_OK;
}
