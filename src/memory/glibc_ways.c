/*
 * glibc_ways.c - ways to the main arena: a scan of libc's data, the ring of
 * arenas from a heap of any thread, and what top, break and system_mem say of
 * each other. (The symbol is glibc_module.c's.)
 *
 * main_arena and mp_ have initialisers, so that they lie in what is mapped
 * from the file, never in .bss: the scan is bounded by the file. Pages that
 * cannot be read are filled with ones, which no record can hold where it
 * matters. Records lie at multiples of 8 by the ABI.
 */
#include "memory/glibc_locate.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

enum { SCAN_BLOCK = 262144, SCAN_OVERLAP = PLIMP_GLIBC_STATE_BYTES };

/* Reads `size` bytes, whole pages from `address`; `*missing` is set if some
 * are not to be read. */
static int scan_fill(const struct plimp_image *image, uint64_t address,
		     uint8_t *block, size_t size, int *missing)
{
	const struct plimp_reader *reader = &image->reader;
	const size_t page = reader->page_bytes;
	uint8_t kinds[SCAN_BLOCK / PLIMP_PAGE_LEAST];
	size_t count = size / page, copied;
	int failed = reader->pages(reader->user, address, count, kinds);

	if (failed)
		return failed;
	memset(block, 0xff, size);
	for (size_t i = 0, run; i < count; i += run) {
		run = 1;
		if (!(kinds[i] & PLIMP_PAGE_READABLE)) {
			*missing = 1;
			continue;
		}
		while (i + run < count &&
		       (kinds[i + run] & PLIMP_PAGE_READABLE))
			run++;
		failed = reader->read(reader->user, address + i * page,
				      block + i * page, run * page, &copied);
		if (failed)
			return failed;
		if (copied != run * page)
			*missing = 1;
	}
	return PLIM_OK;
}

static void scan_keep(uint64_t *items, size_t *count, uint64_t address)
{
	for (size_t i = 0; i < *count; i++)
		if (items[i] == address)
			return;
	if (*count < PLIMP_GLIBC_FINDS)
		items[(*count)++] = address;
}

/* A cheap look at what must be so, before the record is judged. */
static int scan_is_state(const struct plimp_glibc_layout *layout,
			 const uint8_t *bytes, uint64_t address)
{
	uint64_t last = layout->bins + 16u * (PLIMP_GLIBC_BINS - 1);

	return plimp_word64(bytes + last) == address + last - 16 ||
	       plimp_word64(bytes + layout->next) == address;
}

/* main_arena's ring goes to itself or to the start of a heap. Layouts whose
 * states are alike from `top` on are told apart by this: seen through the
 * wrong one the record begins elsewhere, and its ring does not. */
static int scan_is_ring(const struct plimp_glibc_layout *layout,
			const struct plimp_glibc_state *state)
{
	return state->next == state->address ||
	       state->next % PLIMP_PAGE_LEAST == layout->heap_info_size;
}

static void scan_block(const struct plimp_image *image,
		       const struct plimp_glibc_layout *layout,
		       const uint8_t *block, size_t size, uint64_t address,
		       struct plimp_glibc_finds *finds)
{
	for (size_t at = 0; at + layout->mp_size <= size; at += 8) {
		const uint8_t *bytes = block + at;
		struct plimp_glibc_parameters parameters;
		struct plimp_glibc_state state;

		if (plimp_glibc_judge_mp(layout, image->reader.page_bytes,
					 bytes, &parameters))
			scan_keep(finds->parameters, &finds->parameter_count,
				  address + at);
		if (size - at < layout->state_size ||
		    !scan_is_state(layout, bytes, address + at) ||
		    !plimp_glibc_judge_state(layout, bytes, address + at,
					     &state) ||
		    !scan_is_ring(layout, &state))
			continue;
		if (state.is_raw)
			scan_keep(finds->raw, &finds->raw_count, address + at);
		else
			scan_keep(finds->states, &finds->state_count,
				  address + at);
	}
}

/* By blocks that overlap by the largest record, in whole pages. */
static int scan_mapping(const struct plimp_image *image,
			const struct plimp_glibc_layout *layout,
			const struct plimp_mapping *mapping, uint8_t *block,
			uint64_t *left, struct plimp_glibc_finds *finds)
{
	const uint64_t page = image->reader.page_bytes;
	const uint64_t overlap = (SCAN_OVERLAP + page - 1) & ~(page - 1);

	for (uint64_t at = mapping->start; at < mapping->end;) {
		uint64_t size = mapping->end - at;

		if (size > SCAN_BLOCK)
			size = SCAN_BLOCK;
		if (size > *left) {
			finds->is_partial = 1;
			return PLIM_OK;
		}
		*left -= size;
		int failed = scan_fill(image, at, block, (size_t)size,
				       &finds->is_partial);
		if (failed)
			return failed;
		scan_block(image, layout, block, (size_t)size, at, finds);
		at += size;
		if (at < mapping->end)
			at -= overlap;
	}
	return PLIM_OK;
}

int plimp_glibc_scan(const struct plimp_image *image,
		     const struct plimp_glibc_module *module,
		     const struct plimp_glibc_layout *layout,
		     struct plimp_glibc_finds *finds)
{
	const unsigned wanted = PLIMP_MAY_READ | PLIMP_MAY_WRITE;
	uint8_t *block = plimp_allocate(image->allocator, SCAN_BLOCK, 1);
	uint64_t left = PLIMP_GLIBC_DATA_MOST;
	int failed = PLIM_OK;

	if (!block)
		return PLIM_ENOMEM;
	memset(finds, 0, sizeof(*finds));
	for (size_t i = module->first; i < module->end && !failed; i++) {
		const struct plimp_mapping *mapping = &image->space->items[i];

		if (plimp_glibc_module_has(image, module, mapping->start) &&
		    (mapping->protection & wanted) == wanted)
			failed = scan_mapping(image, layout, mapping, block,
					      &left, finds);
	}
	plimp_release(image->allocator, block, SCAN_BLOCK, 1);
	return failed;
}

int plimp_glibc_state_at(struct plimp_window *window,
			 const struct plimp_glibc_layout *layout,
			 uint64_t address, struct plimp_glibc_state *state,
			 int *holds)
{
	uint8_t bytes[PLIMP_GLIBC_STATE_BYTES];
	int reach =
	    plimp_window_read(window, address, bytes, layout->state_size);

	if (reach == PLIMP_REACHED)
		*holds = plimp_glibc_judge_state(layout, bytes, address, state);
	return reach;
}

/* The arena whose first heap this is; 0 if the bytes are no heap's. */
static uint64_t ring_arena_of(const struct plimp_glibc_layout *layout,
			      const uint8_t *bytes, uint64_t heap_bytes)
{
	uint64_t arena = plimp_word64(bytes);
	uint64_t prev = plimp_word64(bytes + layout->heap_prev);
	uint64_t size = plimp_word64(bytes + layout->heap_size);
	uint64_t open = plimp_word64(bytes + layout->heap_mprotect_size);

	if (!size || size > open || open > heap_bytes || size % 4096 ||
	    open % 4096 || prev % heap_bytes || prev >= (uint64_t)1 << 56)
		return 0;
	if (arena % heap_bytes != layout->heap_info_size || arena >= (uint64_t)1
									 << 56)
		return 0;
	return arena;
}

/* Along `next` until it leaves the heaps: `*end` is where to. Each arena on
 * the way is at the start of a heap that is its own. */
static int ring_follow(struct plimp_window *window,
		       const struct plimp_glibc_layout *layout,
		       uint64_t heap_bytes, uint64_t arena, uint64_t *end)
{
	uint8_t head[64];
	uint64_t next = arena;

	*end = 0;
	for (unsigned hops = 0; hops < PLIMP_GLIBC_ARENAS_MOST; hops++) {
		if (next % heap_bytes != layout->heap_info_size) {
			*end = next;
			return PLIMP_REACHED;
		}
		int reach =
		    plimp_window_read(window, next - layout->heap_info_size,
				      head, layout->heap_info_size);

		if (reach)
			return reach;
		if (ring_arena_of(layout, head, heap_bytes) != next) {
			*end = next;
			return PLIMP_REACHED;
		}
		reach = plimp_window_u64(window, next + layout->next, &next);
		if (reach)
			return reach;
		if (next == arena)
			return PLIMP_REACHED;
	}
	return PLIMP_REACHED;
}

/* Whether a heap begins here, and where its ring leads to. */
static int ring_try(struct plimp_window *window,
		    const struct plimp_glibc_module *module,
		    const struct plimp_glibc_layout *layout,
		    uint64_t heap_bytes, uint64_t heap, uint64_t *found,
		    int *applied)
{
	uint64_t arena, end;
	uint8_t head[64];
	int reach =
	    plimp_window_read(window, heap, head, layout->heap_info_size);

	if (reach)
		return reach;
	arena = ring_arena_of(layout, head, heap_bytes);
	if (!arena)
		return PLIMP_REACHED;
	*applied = 1;
	reach = ring_follow(window, layout, heap_bytes, arena, &end);
	if (reach == PLIMP_REACHED && end &&
	    plimp_glibc_module_has(window->image, module, end))
		*found = end;
	return reach;
}

/* Heaps of one mapping that are looked at: fully grown neighbours merge, and
 * a sanitizer's shadow is terabytes of nothing. */
enum { RING_PER_MAPPING = 4096 };

/* Heaps are private, writable memory that nobody named but glibc; with huge
 * pages of hugetlbfs they look like a deleted file. */
static int ring_may_hold(const struct plimp_mapping *mapping, int is_huge)
{
	const unsigned wanted = PLIMP_MAY_READ | PLIMP_MAY_WRITE;

	return (mapping->protection & (wanted | PLIMP_IS_SHARED)) == wanted &&
	       (!mapping->inode || is_huge);
}

int plimp_glibc_by_ring(struct plimp_window *window,
			const struct plimp_glibc_module *module,
			const struct plimp_glibc_layout *layout,
			uint64_t hp_pagesize, uint64_t *found, int *applied)
{
	const struct plimp_space *space = window->image->space;
	const uint64_t heap_bytes = plimp_glibc_heap_bytes(layout, hp_pagesize);
	unsigned looked = 0;

	assert(layout->heap_info_size <= 64);
	*found = 0;
	*applied = 0;
	for (size_t i = 0; i < space->count; i++) {
		const struct plimp_mapping *mapping = &space->items[i];
		uint64_t over = mapping->start % heap_bytes;
		uint64_t heap = mapping->start + (over ? heap_bytes - over : 0);

		if (!ring_may_hold(mapping, hp_pagesize != 0))
			continue;
		for (unsigned k = 0;
		     k < RING_PER_MAPPING && heap >= mapping->start &&
		     heap < mapping->end;
		     heap += heap_bytes, k++) {
			if (looked++ == PLIMP_GLIBC_HEAPS_MOST)
				return PLIMP_REACHED;
			int reach = ring_try(window, module, layout, heap_bytes,
					     heap, found, applied);
			if (reach < 0 || *found)
				return reach < 0 ? reach : PLIMP_REACHED;
		}
	}
	return PLIMP_REACHED;
}

enum { BREAK_TRIES = 8 };

/* One look: 1, 0, -1 into the answer. */
static int break_look(struct plimp_window *window,
		      const struct plimp_glibc_layout *layout, uint64_t arena,
		      uint64_t sbrk_base, int *answer)
{
	const uint64_t page = window->image->reader.page_bytes;
	struct plimp_glibc_state state;
	uint64_t size;
	int holds, reach;

	reach = plimp_glibc_state_at(window, layout, arena, &state, &holds);
	if (reach)
		return reach;
	if (!holds || state.is_initial || (state.flags & 2) || !sbrk_base) {
		*answer = holds ? -1 : 0;
		return PLIMP_REACHED;
	}
	reach = plimp_window_u64(window, state.top + 8, &size);
	if (reach == PLIMP_REACHED)
		*answer = (size & PLIMP_GLIBC_PREV_INUSE) &&
			  (state.top + (size & ~(uint64_t)7)) % page == 0 &&
			  state.top + (size & ~(uint64_t)7) - sbrk_base ==
			      state.system_mem;
	return reach;
}

/* The main arena's memory is one run from the first break that malloc got to
 * the end of top, while nobody refused it the break (then flags has bit 1);
 * what others took from the break meanwhile is counted as its own. A racing
 * target may be between two stores: it gets some tries. */
int plimp_glibc_by_break(struct plimp_window *window,
			 const struct plimp_glibc_layout *layout,
			 uint64_t arena, uint64_t sbrk_base, int *answer)
{
	*answer = 0;
	for (int i = 0; i < BREAK_TRIES && !*answer; i++) {
		int reach;

		if (i)
			plimp_window_forget(window);
		reach = break_look(window, layout, arena, sbrk_base, answer);
		if (reach < 0)
			return reach;
		if (reach == PLIMP_UNREACHED)
			*answer = -1;
	}
	return PLIMP_REACHED;
}
