/*
 * glibc_walk_chunks.c - one stretch of a heap after another (glibc_walk.h).
 *
 * A chunk says its own size, and the next one whether it is in use: so each
 * step reads the header of the next chunk. A size that cannot be is a sign
 * that the heap changed between two reads, or that somebody else's memory
 * begins; then the walk goes on at the first place from which twelve chunks
 * follow each other, or at the arena's top, which is known. A header in a page
 * that cannot be read is unknown: it is neither free nor zero.
 *
 * The size of a chunk is a multiple of 16 and at least 32 (malloc.c, MINSIZE).
 * Fenceposts are the exception: two headers of 16 bytes where the main arena
 * was cut off, and a 16 and a 0 in the last 32 bytes of a thread's heap
 * (sysmalloc). Nowhere else does such a size end anything.
 */
#include "memory/glibc_walk.h"

#define CHUNK_CHAIN 12 /* chunks that must follow to believe a place */
#define CHUNK_FENCE (16u | PLIMP_GLIBC_PREV_INUSE)

void plimp_chunks_begin(struct plimp_chunks *chunks, struct plimp_walk *walk,
			const struct plimp_walk_region *region,
			uint64_t position)
{
	*chunks = (struct plimp_chunks){
	    .walk = walk,
	    .region = region,
	    .position = position,
	};
}

/* A size word that a chunk of this region may have, not its top. */
static int chunk_is_plausible(const struct plimp_walk_region *region,
			      uint64_t address, uint64_t head)
{
	uint64_t size = head & ~(uint64_t)PLIMP_CHUNK_FLAGS;

	if (size < PLIMP_CHUNK_LEAST || size % 16 != 0 ||
	    (head & PLIMP_GLIBC_MMAPPED) != 0)
		return 0;
	if (region->is_main && (head & PLIMP_GLIBC_NON_MAIN) != 0)
		return 0;
	/* Something follows every chunk but the top: its header at least. */
	return size <= region->end - address &&
	       region->end - address - size >= PLIMP_CHUNK_HEADER;
}

/* The last 32 bytes of a thread's heap that is full: a 16, and a 0 with
 * PREV_INUSE behind it. A word of zeros is neither. */
static int chunk_is_heap_fence(const struct plimp_walk_region *region,
			       uint64_t address, uint64_t head)
{
	uint64_t size = head & ~(uint64_t)PLIMP_CHUNK_FLAGS;

	return !region->is_main && region->top == 0 &&
	       region->end - address <= 32 &&
	       (size == 16 || head == PLIMP_GLIBC_PREV_INUSE);
}

/* A fencepost of the main arena. The chunk before the first one may be free. */
static int chunk_is_main_fence(const struct plimp_walk_region *region,
			       uint64_t head)
{
	return region->is_main &&
	       (head & ~(uint64_t)PLIMP_GLIBC_PREV_INUSE) == 16;
}

/* The top reaches to the end. It may have moved since its address was read: it
 * is where it was, or lower, or higher, or has grown beyond the end. */
static int chunk_is_top(const struct plimp_walk_region *region,
			uint64_t address, uint64_t head)
{
	uint64_t size = head & ~(uint64_t)PLIMP_CHUNK_FLAGS;
	uint64_t left = region->end - address;

	if (region->top == 0)
		return 0;
	return size == left || (address >= region->top && size > left);
}

static int chunk_head(struct plimp_chunks *chunks, uint64_t address,
		      uint64_t *head, uint64_t *foot)
{
	struct plimp_walk *walk = chunks->walk;
	const uint8_t *bytes;
	int code = plimp_span_at(&walk->span, address, PLIMP_CHUNK_HEADER,
				 chunks->region->end, &bytes);

	if (code != PLIMP_REACHED)
		return code;
	*foot = plimp_word64(bytes);
	*head = plimp_word64(bytes + 8);
	return PLIMP_REACHED;
}

/* Is there a chain of chunks from here? PLIMP_REACHED, PLIMP_UNREACHED (no), or
 * an error. */
static int chunk_chain(struct plimp_chunks *chunks, uint64_t address)
{
	struct plimp_walk *walk = chunks->walk;
	const struct plimp_walk_region *region = chunks->region;

	for (int i = 0; i < CHUNK_CHAIN; i++) {
		uint64_t head;
		int code;

		if (region->top != 0 && address == region->top)
			return PLIMP_REACHED;
		if (region->end - address < PLIMP_CHUNK_HEADER)
			return PLIMP_UNREACHED;
		code = plimp_window_u64(&walk->window, address + 8, &head);
		if (code != PLIMP_REACHED)
			return code;
		if (i > 0 && (chunk_is_heap_fence(region, address, head) ||
			      chunk_is_main_fence(region, head)))
			return PLIMP_REACHED;
		if (i > 0 && chunk_is_top(region, address, head))
			return PLIMP_REACHED;
		if (!chunk_is_plausible(region, address, head))
			return PLIMP_UNREACHED;
		address += head & ~(uint64_t)PLIMP_CHUNK_FLAGS;
	}
	return PLIMP_REACHED;
}

/* Jumps over pages that cannot be read; `*found` is where the next one begins
 * that can, or the end. */
static int chunk_readable(struct plimp_chunks *chunks, uint64_t address,
			  uint64_t *found)
{
	struct plimp_walk *walk = chunks->walk;
	uint64_t end = chunks->region->end;
	uint64_t page = address & ~(walk->page_bytes - 1);

	for (;;) {
		uint8_t flags;
		int code = plimp_residency_at(&walk->ahead, page, end, &flags);

		if (code != PLIM_OK)
			return code;
		if ((flags & PLIMP_PAGE_READABLE) != 0)
			break;
		if (end - page <= walk->page_bytes || walk->absent == 0) {
			*found = end;
			return PLIM_OK;
		}
		walk->absent--;
		page += walk->page_bytes;
		address = page;
	}
	*found = address;
	return PLIM_OK;
}

static void chunk_charge(struct plimp_walk *walk, uint64_t loads)
{
	uint64_t steps =
	    1 + PLIMP_WALK_LOAD_STEPS * (walk->window.loads - loads);

	walk->steps -= steps < walk->steps ? steps : walk->steps;
}

/* The first place from `address` on that makes sense: `*found`, the top or the
 * end of the region where there is none before. */
static int chunk_resync(struct plimp_chunks *chunks, uint64_t address,
			uint64_t *found)
{
	struct plimp_walk *walk = chunks->walk;
	const struct plimp_walk_region *region = chunks->region;
	uint64_t last = region->top > address ? region->top : region->end;
	uint64_t readable = address;
	uint64_t limit = address; /* of the page that is known to be so */

	address = (address + 15) & ~(uint64_t)15;
	while (address < last && walk->steps > 0) {
		uint64_t loads = walk->window.loads;
		int code;

		if (address >= limit) {
			code = chunk_readable(chunks, address, &readable);
			if (code != PLIM_OK)
				return code;
			address = readable;
			limit = (address & ~(walk->page_bytes - 1)) +
				walk->page_bytes;
			if (address >= last)
				break;
		}
		code = chunk_chain(chunks, address);
		if (code < 0)
			return code;
		if (code == PLIMP_REACHED) {
			*found = address;
			return PLIM_OK;
		}
		chunk_charge(walk, loads);
		address += 16;
	}
	*found = last;
	return PLIM_OK;
}

/* What is between the position and the next place that makes sense. */
static int chunk_skip(struct plimp_chunks *chunks, int kind, uint64_t from,
		      struct plimp_stretch_item *item)
{
	uint64_t found;
	int code = chunk_resync(chunks, from, &found);

	if (code != PLIM_OK)
		return code;
	if (kind == PLIMP_STRETCH_LOST)
		chunks->walk->desyncs++;
	*item = (struct plimp_stretch_item){
	    .kind = kind,
	    .address = chunks->position,
	    .size = found - chunks->position,
	};
	chunks->position = found;
	chunks->has_head = 0;
	return PLIM_OK;
}

static void chunk_take(struct plimp_chunks *chunks, int kind, uint64_t size,
		       struct plimp_stretch_item *item)
{
	*item = (struct plimp_stretch_item){
	    .kind = kind, .address = chunks->position, .size = size};
	chunks->position += size;
	chunks->has_head = 0;
}

/* Two or three fenceposts (the free chunk before them may have had no bytes
 * left), and then what was not malloc's. */
static int chunk_main_fence(struct plimp_chunks *chunks,
			    struct plimp_stretch_item *item)
{
	uint64_t position = chunks->position;
	uint64_t head = CHUNK_FENCE;
	uint64_t size = 0;

	while (head == CHUNK_FENCE && size < 48 &&
	       chunks->region->end - position >= 16) {
		uint64_t foot;
		int code;

		size += 16;
		position += 16;
		if (chunks->region->end - position < PLIMP_CHUNK_HEADER)
			break;
		code = chunk_head(chunks, position, &head, &foot);
		if (code < 0)
			return code;
		if (code == PLIMP_UNREACHED)
			break;
	}
	if (size == 16)
		return chunk_skip(chunks, PLIMP_STRETCH_LOST,
				  chunks->position + 16, item);
	chunk_take(chunks, PLIMP_STRETCH_FENCE, size, item);
	chunks->is_gap = 1;
	return PLIM_OK;
}

/* Behind a fence: either a chunk, or somebody else's memory. */
static int chunk_gap(struct plimp_chunks *chunks,
		     struct plimp_stretch_item *item)
{
	chunks->is_gap = 0;
	return chunk_skip(chunks, PLIMP_STRETCH_GAP, chunks->position, item);
}

/* A chunk whose header makes sense: the next header tells its state. */
static int chunk_step(struct plimp_chunks *chunks,
		      struct plimp_stretch_item *item)
{
	uint64_t size = chunks->head & ~(uint64_t)PLIMP_CHUNK_FLAGS;
	uint64_t next = chunks->position + size;
	uint64_t head;
	uint64_t foot;
	int code = chunk_head(chunks, next, &head, &foot);
	int kind = PLIMP_STRETCH_USED;

	if (code < 0)
		return code;
	if (code == PLIMP_UNREACHED)
		return chunk_skip(chunks, PLIMP_STRETCH_UNKNOWN, next, item);
	if ((head & PLIMP_GLIBC_PREV_INUSE) == 0) {
		kind = PLIMP_STRETCH_FREE;
		if (foot != size)
			chunks->walk->odd++;
	}
	*item = (struct plimp_stretch_item){
	    .kind = kind, .address = chunks->position, .size = size};
	chunks->position = next;
	chunks->head = head;
	return PLIM_OK;
}

int plimp_chunks_next(struct plimp_chunks *chunks,
		      struct plimp_stretch_item *item)
{
	const struct plimp_walk_region *region = chunks->region;
	uint64_t foot;

	if (chunks->position >= region->end) {
		*item = (struct plimp_stretch_item){.kind = PLIMP_STRETCH_END};
		return PLIM_OK;
	}
	if (!chunks->has_head) {
		int code =
		    chunk_head(chunks, chunks->position, &chunks->head, &foot);

		if (code < 0)
			return code;
		if (code == PLIMP_UNREACHED)
			return chunk_skip(chunks, PLIMP_STRETCH_UNKNOWN,
					  chunks->position + 16, item);
		chunks->has_head = 1;
	}
	if (chunks->is_gap) {
		int code = chunk_chain(chunks, chunks->position);

		if (code < 0)
			return code;
		if (code == PLIMP_UNREACHED)
			return chunk_gap(chunks, item);
		chunks->is_gap = 0;
	}
	if (chunk_is_top(region, chunks->position, chunks->head)) {
		chunk_take(chunks, PLIMP_STRETCH_TOP,
			   region->end - chunks->position, item);
		return PLIM_OK;
	}
	if (chunk_is_main_fence(region, chunks->head))
		return chunk_main_fence(chunks, item);
	if (chunk_is_heap_fence(region, chunks->position, chunks->head)) {
		chunk_take(chunks, PLIMP_STRETCH_FENCE,
			   region->end - chunks->position, item);
		return PLIM_OK;
	}
	if (!chunk_is_plausible(region, chunks->position, chunks->head))
		return chunk_skip(chunks, PLIMP_STRETCH_LOST,
				  chunks->position + 16, item);
	return chunk_step(chunks, item);
}
