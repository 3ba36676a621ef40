/*
 * musl.c - walks the heap of musl's mallocng (musl.h).
 *
 * The records are read until two readings are alike and agree with the
 * allocator's own count of slots per class: then the target was quiet and the
 * figures are exact. A target that goes on gets a bounded number of readings;
 * the spread of their sums is what the figures may be off by.
 *
 * In the words of heap.h: blocks in slots are IN_USE, with the slot's slack;
 * blocks of a mapping of their own are MMAPPED; a free slot is FREE. SYSTEM is
 * every group's memory and the meta areas. mallocng returns a group's mapping
 * when its last block is freed and has no malloc_trim: free resident bytes are
 * PINNED where the outermost group has a block, and CACHED where it has none
 * and is kept for the next burst.
 */
#include "memory/musl.h"

#include "core/fail.h"
#include "memory/heaps.h"
#include "memory/sweep.h"

#include <string.h>

/* Readings of a target that does not rest, and of one that rests in the midst
 * of a change. */
#define MUSL_READINGS	   8
#define MUSL_READINGS_MOST 256
/* Group headers that are compared with their records. */
#define MUSL_HEADERS 64

struct musl_sums {
	uint64_t live;	     /* blocks in slots */
	uint64_t live_bytes; /* of their slots */
	uint64_t free;
	uint64_t free_bytes;
	uint64_t large;
	uint64_t large_bytes;
	uint64_t mapped; /* groups' mappings but large ones */
	uint64_t donated;
	uint64_t slots[PLIMP_MUSL_CLASSES]; /* of groups, donated left out */
};

struct musl_walk {
	const struct plimp_image *image;
	struct plim_heap *heap;
	struct plimp_musl_place place;
	struct plimp_musl_groups groups;
	struct musl_sums sums;
	struct plimp_musl_pages pages;
	uint64_t areas;
	uint64_t least; /* live bytes over the readings */
	uint64_t most;
	size_t contradictions;
	unsigned readings;
	int is_quiet;
};

static unsigned musl_bits(uint32_t mask)
{
	unsigned count = 0;

	for (; mask != 0; mask &= mask - 1)
		count++;
	return count;
}

static void musl_add_group(struct musl_sums *sums,
			   const struct plimp_musl_group *group)
{
	uint64_t stride = plimp_musl_stride(group);
	unsigned slots = group->last + 1u;
	unsigned unused = musl_bits(group->avail | group->freed);

	if (group->class == PLIMP_MUSL_LARGE) {
		sums->large++;
		sums->large_bytes += group->bytes;
		return;
	}
	sums->live += slots - unused;
	sums->live_bytes += (slots - unused) * stride;
	sums->free += unused;
	sums->free_bytes += unused * stride;
	sums->mapped += group->bytes;
	if (group->freeable)
		sums->slots[group->class] += slots;
	else if (group->bytes == 0)
		sums->donated += 16 + slots * stride;
}

/* Slots that hold groups hold no blocks. */
static void musl_take_nested(struct musl_sums *sums,
			     const struct plimp_musl_group *group)
{
	unsigned nested = musl_bits(group->nested);

	sums->live -= nested;
	sums->live_bytes -= nested * plimp_musl_stride(group);
}

static void musl_sum(struct musl_walk *walk)
{
	memset(&walk->sums, 0, sizeof(walk->sums));
	for (size_t i = 0; i < walk->groups.count; i++) {
		musl_add_group(&walk->sums, &walk->groups.items[i]);
		musl_take_nested(&walk->sums, &walk->groups.items[i]);
	}
}

static int musl_is_alike(const struct musl_sums *a, const struct musl_sums *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* One reading: context, records, nesting, sums. enum plimp_musl_result. */
static int musl_take_reading(struct musl_walk *walk)
{
	int status = plimp_musl_refresh(walk->image, &walk->place);

	if (status == PLIMP_MUSL_OK)
		status = plimp_musl_read(walk->image, &walk->place,
					 &walk->groups, &walk->areas);
	if (status != PLIMP_MUSL_OK)
		return status;
	walk->contradictions =
	    plimp_musl_nest(&walk->groups, walk->image->space);
	musl_sum(walk);
	if (walk->sums.mapped > PLIMP_MUSL_BYTES_MOST ||
	    walk->sums.large_bytes > PLIMP_MUSL_BYTES_MOST)
		return PLIMP_MUSL_TOO_LARGE;
	if (walk->readings == 0 || walk->sums.live_bytes < walk->least)
		walk->least = walk->sums.live_bytes;
	if (walk->sums.live_bytes > walk->most)
		walk->most = walk->sums.live_bytes;
	walk->readings++;
	return PLIMP_MUSL_OK;
}

/* How many slots the sums are off the allocator's own counts, over all. */
static uint64_t musl_off(const struct musl_walk *walk)
{
	uint64_t off = 0;

	for (size_t i = 0; i < PLIMP_MUSL_CLASSES; i++) {
		uint64_t own = walk->place.usage[i];
		uint64_t ours = walk->sums.slots[i];

		off += own > ours ? own - ours : ours - own;
	}
	return off;
}

/*
 * Reads until two readings are alike and agree with the counts. A thread may
 * have been taken off its CPU in the midst of malloc, so that readings are
 * alike and do not agree: those are repeated for some milliseconds. A broken
 * record may be one that was written just then, and is tried again, too.
 */
static int musl_take_readings(struct musl_walk *walk)
{
	int moves = 0;
	int last = PLIMP_MUSL_CORRUPT;
	int status = PLIMP_MUSL_OK;

	for (int i = 0; i < MUSL_READINGS_MOST && moves < MUSL_READINGS; i++) {
		struct musl_sums before = walk->sums;
		int alike;

		status = musl_take_reading(walk);
		if (status < 0)
			return status;
		alike = status == last && (status != PLIMP_MUSL_OK ||
					   musl_is_alike(&before, &walk->sums));
		if (alike && status == PLIMP_MUSL_OK && musl_off(walk) == 0 &&
		    walk->contradictions == 0) {
			walk->is_quiet = 1;
			return PLIMP_MUSL_OK;
		}
		if (alike && (status == PLIMP_MUSL_SWAPPED ||
			      status == PLIMP_MUSL_TOO_LARGE))
			return status;
		moves += !alike;
		last = status;
	}
	/* Alike to the end: it rests, and contradicts itself. */
	walk->is_quiet = moves < MUSL_READINGS;
	return status;
}

/* What does not agree contradicts a quiet heap. In one that changes it is what
 * changed between two reads, and nothing is proven. */
static int musl_check_state(const struct musl_walk *walk, uint64_t wrong)
{
	if (wrong == 0)
		return PLIM_CHECK_PASSED;
	return walk->is_quiet ? PLIM_CHECK_FAILED : PLIM_CHECK_NOT_MADE;
}

static void musl_check_usage(struct musl_walk *walk)
{
	uint64_t expected = 0;
	uint64_t found = 0;

	for (size_t i = 0; i < PLIMP_MUSL_CLASSES; i++) {
		expected += walk->place.usage[i];
		found += walk->sums.slots[i];
	}
	plimp_heap_add_check(walk->heap, "slots_are_usage_by_class",
			     musl_check_state(walk, musl_off(walk)),
			     plim_count_known(expected, PLIM_METHOD_HEAP_WALK),
			     plim_count_known(found, PLIM_METHOD_HEAP_WALK),
			     "slots of all size classes, each class compared");
}

static void musl_check_nesting(struct musl_walk *walk)
{
	plimp_heap_add_check(
	    walk->heap, "groups_lie_in_live_slots",
	    musl_check_state(walk, walk->contradictions),
	    plim_count_known(0, PLIM_METHOD_HEAP_WALK),
	    plim_count_known(walk->contradictions, PLIM_METHOD_HEAP_WALK),
	    "groups that are neither mapped nor in a live slot of one");
}

/* The header of a group leads back to its record: of a few, spread over all,
 * and of those that lie in no mapping that is known. One of these that proves
 * to be there is of 4 MiB at most, so that its pages may be asked about. */
static int musl_check_headers(struct musl_walk *walk, uint64_t *wrong)
{
	size_t step = walk->groups.count / MUSL_HEADERS + 1;
	uint64_t asked = 0;

	*wrong = 0;
	for (size_t i = 0; i < walk->groups.count; i += step) {
		uint8_t word[8];
		int status = plimp_fetch(walk->image, walk->groups.items[i].mem,
					 word, 8);

		if (status < 0)
			return status;
		if (status != PLIMP_FETCHED)
			continue;
		asked++;
		*wrong += plimp_word64(word) != walk->groups.items[i].meta;
	}
	plimp_heap_add_check(
	    walk->heap, "headers_lead_back",
	    asked == 0 ? PLIM_CHECK_NOT_MADE : musl_check_state(walk, *wrong),
	    plim_count_known(asked, PLIM_METHOD_HEAP_WALK),
	    plim_count_known(asked - *wrong, PLIM_METHOD_HEAP_WALK),
	    "group headers, a sample");
	return PLIM_OK;
}

/* mallocng moves a block within its slot from use to use; the slot's own
 * header then says by how much. */
static int musl_address(struct musl_walk *walk, uint64_t slot,
			uint64_t *address)
{
	uint8_t header[4];
	int status = plimp_fetch(walk->image, slot - 4, header, 4);

	*address = slot;
	if (status == PLIMP_FETCHED && header[1] >> 5 == 7)
		*address = slot + 16u * plimp_word16(header + 2);
	return status < 0 ? status : PLIM_OK;
}

/* A block that is the last one of its group is what keeps the group. */
static int musl_add_hostages(struct musl_walk *walk)
{
	for (size_t i = 0; i < walk->groups.count; i++) {
		const struct plimp_musl_group *group = &walk->groups.items[i];
		plim_hostage hostage = {.size = group->stride,
					.kept_bytes = group->kept};
		int status;

		if (group->top != i || group->bytes == 0 || group->live != 1 ||
		    group->kept <= plimp_heap_hostage_floor(walk->heap))
			continue;
		status = musl_address(walk, group->block, &hostage.address);
		if (status == PLIM_OK)
			status = plimp_heap_add_hostage(walk->heap, &hostage);
		if (status != PLIM_OK)
			return status;
	}
	return PLIM_OK;
}

/* What the allocator has none of. */
static void musl_set_absent(struct plim_heap *heap)
{
	static const int absent[] = {
	    PLIM_HEAP_TCACHE,	    PLIM_HEAP_FASTBIN,	 PLIM_HEAP_TOP,
	    PLIM_HEAP_TRIM_RETURNS, PLIM_HEAP_TRIM_SWAP, PLIM_HEAP_TOP_RETAINED,
	    PLIM_HEAP_HUGE,	    PLIM_HEAP_SHARED,	 PLIM_HEAP_ARENA_COUNT,
	    PLIM_HEAP_HEAP_COUNT};

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		plimp_heap_set_missing(heap, absent[i],
				       PLIM_REASON_NO_SUCH_PART);
}

static void musl_set_pages(struct musl_walk *walk)
{
	static const int paged[] = {
	    PLIM_HEAP_FREE_RESIDENT, PLIM_HEAP_PINNED,	PLIM_HEAP_CACHED,
	    PLIM_HEAP_RELEASED,	     PLIM_HEAP_SWAPPED, PLIM_HEAP_RESIDENT};
	const struct plimp_musl_pages *pages = &walk->pages;
	struct plim_heap *heap = walk->heap;
	uint64_t pinned = 0;

	if (!walk->image->reader.has_residency) {
		for (size_t i = 0; i < sizeof(paged) / sizeof(paged[0]); i++)
			plimp_heap_set_missing(heap, paged[i],
					       PLIM_REASON_NO_RESIDENCY);
		return;
	}
	for (size_t i = 0; i < walk->groups.count; i++) {
		if (walk->groups.items[i].live > 0)
			pinned += walk->groups.items[i].kept;
	}
	plimp_heap_set(heap, PLIM_HEAP_FREE_RESIDENT, pages->free_resident);
	plimp_heap_set(heap, PLIM_HEAP_PINNED, pinned);
	plimp_heap_set(heap, PLIM_HEAP_CACHED, pages->free_resident - pinned);
	plimp_heap_set(heap, PLIM_HEAP_RELEASED,
		       walk->sums.free_bytes - pages->free_resident -
			   pages->free_swapped);
	plimp_heap_set(heap, PLIM_HEAP_SWAPPED, pages->swapped);
	plimp_heap_set(heap, PLIM_HEAP_RESIDENT, pages->resident);
}

static void musl_set_figures(struct musl_walk *walk)
{
	const struct musl_sums *sums = &walk->sums;
	struct plim_heap *heap = walk->heap;
	uint64_t taken = sums->mapped + sums->donated + 4096 * walk->areas;

	plimp_heap_set(heap, PLIM_HEAP_IN_USE, sums->live_bytes);
	plimp_heap_set(heap, PLIM_HEAP_IN_USE_COUNT, sums->live);
	plimp_heap_set(heap, PLIM_HEAP_FREE, sums->free_bytes);
	plimp_heap_set(heap, PLIM_HEAP_FREE_COUNT, sums->free);
	plimp_heap_set(heap, PLIM_HEAP_MMAPPED, sums->large_bytes);
	plimp_heap_set(heap, PLIM_HEAP_MMAPPED_COUNT, sums->large);
	plimp_heap_set(heap, PLIM_HEAP_SYSTEM, taken);
	plimp_heap_set(heap, PLIM_HEAP_WALKED, taken);
	plimp_heap_set(heap, PLIM_HEAP_UNKNOWN, 0);
	plimp_heap_set(heap, PLIM_HEAP_UNCERTAIN,
		       walk->is_quiet ? 0 : walk->most - walk->least);
	musl_set_absent(heap);
	musl_set_pages(walk);
}

static void musl_refuse(struct plim_heap *heap, int result)
{
	switch (result) {
	case PLIMP_MUSL_NONE:
		plimp_heap_refuse(heap, PLIM_REASON_HEAP_NOT_FOUND, 0,
				  "no context of mallocng: nothing was "
				  "allocated yet, or musl is older than 1.2.1 "
				  "or built with its old malloc");
		break;
	case PLIMP_MUSL_SEVERAL:
		plimp_heap_refuse(heap, PLIM_REASON_HEAP_CONTRADICTS, 0,
				  "several places look like the context of "
				  "mallocng");
		break;
	case PLIMP_MUSL_SWAPPED:
	case PLIMP_MUSL_ABSENT:
		plimp_heap_refuse(heap, PLIM_REASON_PAGES_MISSING, 0,
				  "records of mallocng are %s",
				  result == PLIMP_MUSL_SWAPPED
				      ? "swapped out"
				      : "not in memory or not in the core");
		break;
	case PLIMP_MUSL_TOO_LARGE:
		plimp_heap_refuse(heap, PLIM_REASON_TOO_DEAR, 0,
				  "the heap has more records or memory than "
				  "are followed");
		break;
	default:
		plimp_heap_refuse(heap, PLIM_REASON_HEAP_CONTRADICTS, 0,
				  "a record of mallocng cannot be one");
		break;
	}
}

/* Of a quiet target every check must hold. One that goes on may contradict
 * itself in a few groups that changed between two reads. */
static int musl_check(struct musl_walk *walk)
{
	uint64_t wrong;
	uint64_t bound = walk->is_quiet ? 0 : 8 + walk->groups.count / 50;
	int status;

	musl_check_usage(walk);
	musl_check_nesting(walk);
	status = musl_check_headers(walk, &wrong);
	if (status != PLIM_OK)
		return status;
	if (musl_off(walk) > 32 * bound || walk->contradictions > bound ||
	    wrong > bound)
		plimp_heap_refuse(walk->heap, PLIM_REASON_HEAP_CONTRADICTS, 0,
				  "the records of mallocng contradict its own "
				  "counts");
	return PLIM_OK;
}

static int musl_walk_found(struct musl_walk *walk)
{
	int status = musl_take_readings(walk);

	if (status < 0)
		return status;
	if (status != PLIMP_MUSL_OK) {
		musl_refuse(walk->heap, status);
		return PLIM_OK;
	}
	status = musl_check(walk);
	if (status != PLIM_OK || walk->heap->depth == PLIM_DEPTH_REFUSED)
		return status;
	status = plimp_musl_pages(walk->image, &walk->groups, &walk->pages);
	if (status == PLIM_OK)
		status = musl_add_hostages(walk);
	if (status != PLIM_OK)
		return status;
	musl_set_figures(walk);
	walk->heap->confidence = PLIM_CONFIDENCE_CERTAIN;
	walk->heap->layout = "musl 1.2.1-1.2.5, mallocng, 64-bit";
	walk->heap->standing = walk->place.has_page_size ? "read" : "run";
	plimp_heap_finish(walk->heap);
	return PLIM_OK;
}

int plimp_musl_walk(const struct plimp_image *image, struct plim_heap *heap,
		    plim_error *error)
{
	struct musl_walk walk = {.image = image, .heap = heap};
	int status = plimp_musl_locate(image, &walk.place);

	if (status > 0)
		musl_refuse(heap, status);
	else if (status == PLIMP_MUSL_OK)
		status = musl_walk_found(&walk);
	plimp_musl_groups_release(image, &walk.groups);
	if (status < 0)
		return plimp_fail(error, status, 0, "walk", "mallocng", NULL);
	return PLIM_OK;
}
