/*
 * gperftools.c - the page heap of gperftools' tcmalloc, by its own counters
 * (gperftools.h).
 *
 * All writable data of the library named libtcmalloc is looked at, or of every
 * file where there is none of that name, for eleven words that agree: committed
 * = system - unmapped, what was committed and decommitted in all leaves the
 * same, what was reserved in all is system, and all are whole pages. Zeros
 * would agree, too; a page heap that was used has taken something. The order
 * is the same since 2.5 (2016), which counts commits.
 *
 * FREE is what MallocExtension_ReleaseFreeMemory() would give back, as far as
 * it is resident; malloc_trim(0) does the same there. RELEASED is what was
 * given back already. IN_USE is at most the rest: blocks of the program, the
 * caches of threads and the central ones, and the ends of spans.
 */
#include "memory/gperftools.h"

#include "core/fail.h"
#include "memory/heaps.h"
#include "memory/sweep.h"

#include <string.h>

#define GPERF_BYTES 88u
/* What is looked at of all data. */
#define GPERF_MOST (256u << 20)
/* Readings of counters that move. */
#define GPERF_READINGS 16

enum gperf_result { GPERF_FOUND = 0, GPERF_NONE = 1, GPERF_SEVERAL = 2 };

struct gperf_search {
	const struct plimp_image *image;
	struct plimp_gperftools_counters found;
	uint64_t mapped;
	int count;
};

static void gperf_take(const uint8_t *bytes, uint64_t address,
		       struct plimp_gperftools_counters *counters)
{
	counters->address = address;
	counters->system = plimp_word64(bytes);
	counters->free = plimp_word64(bytes + 8);
	counters->unmapped = plimp_word64(bytes + 16);
	counters->committed = plimp_word64(bytes + 24);
	counters->scavenges = plimp_word64(bytes + 32);
	counters->commits = plimp_word64(bytes + 40);
	counters->total_committed = plimp_word64(bytes + 48);
	counters->decommits = plimp_word64(bytes + 56);
	counters->total_decommitted = plimp_word64(bytes + 64);
	counters->reserves = plimp_word64(bytes + 72);
	counters->total_reserved = plimp_word64(bytes + 80);
}

int plimp_gperftools_are(const struct plimp_gperftools_counters *counters,
			 uint64_t mapped)
{
	const struct plimp_gperftools_counters *c = counters;

	if (c->system == 0 || c->system > mapped || c->reserves == 0 ||
	    c->reserves > c->system / 4096 || c->commits < c->reserves)
		return 0;
	if (c->free > c->system || c->unmapped > c->system - c->free ||
	    c->committed != c->system - c->unmapped ||
	    c->total_reserved != c->system)
		return 0;
	if (c->total_committed < c->total_decommitted ||
	    c->total_committed - c->total_decommitted != c->committed)
		return 0;
	return (c->system | c->free | c->unmapped | c->total_committed) %
		   4096 ==
	       0;
}

static int gperf_look(uint64_t address, const uint8_t *bytes, size_t size,
		      void *user)
{
	struct gperf_search *search = user;

	for (size_t i = 0; i + GPERF_BYTES <= size; i += 8) {
		struct plimp_gperftools_counters counters;

		/* Nearly every place fails by its first word. */
		if (plimp_word64(bytes + i) == 0 ||
		    plimp_word64(bytes + i) % 4096 != 0)
			continue;
		gperf_take(bytes + i, address + i, &counters);
		if (!plimp_gperftools_are(&counters, search->mapped) ||
		    (search->count > 0 &&
		     search->found.address == counters.address))
			continue;
		search->count++;
		search->found = counters;
		if (search->count > 1)
			return GPERF_SEVERAL;
	}
	return 0;
}

static int gperf_is_named(const struct plimp_image *image, size_t mapping)
{
	static const char name[] = "libtcmalloc";
	plim_bytes base = plim_base_name(
	    plimp_space_name(image->space, &image->space->items[mapping]));

	return base.size >= sizeof(name) - 1 &&
	       memcmp(base.data, name, sizeof(name) - 1) == 0;
}

/* Looks at the data of files of that name, or of all. */
static int gperf_sweep(struct gperf_search *search, int named)
{
	struct plimp_data data = {0};
	uint64_t left = GPERF_MOST;

	while (left > 0 && plimp_data_next(search->image->space, &data)) {
		uint64_t size = data.end - data.start;
		int status;

		if (named && !gperf_is_named(search->image, data.file))
			continue;
		if (size > left)
			size = left;
		left -= size;
		status = plimp_sweep(search->image, data.start,
				     data.start + size, gperf_look, search);
		if (status != 0)
			return status;
	}
	return search->count == 0 ? GPERF_NONE : GPERF_FOUND;
}

static int gperf_locate(struct gperf_search *search)
{
	const struct plimp_space *space = search->image->space;
	int status;

	for (size_t i = 0; i < space->count; i++)
		search->mapped += space->items[i].end - space->items[i].start;
	status = gperf_sweep(search, 1);
	return status == GPERF_NONE ? gperf_sweep(search, 0) : status;
}

/* Counters that move are written under a lock that we do not have: they are
 * read again until they agree. */
static int gperf_refresh(struct gperf_search *search)
{
	for (int i = 0; i < GPERF_READINGS; i++) {
		struct plimp_gperftools_counters counters;
		uint8_t bytes[GPERF_BYTES];
		int status = plimp_fetch(search->image, search->found.address,
					 bytes, sizeof(bytes));

		if (status < 0)
			return status;
		if (status != PLIMP_FETCHED)
			break;
		gperf_take(bytes, search->found.address, &counters);
		if (!plimp_gperftools_are(&counters, search->mapped))
			continue;
		search->found = counters;
		return GPERF_FOUND;
	}
	return GPERF_NONE;
}

static void gperf_set_absent(struct plim_heap *heap)
{
	static const int absent[] = {
	    PLIM_HEAP_FASTBIN,	     PLIM_HEAP_TOP,
	    PLIM_HEAP_MMAPPED,	     PLIM_HEAP_TOP_RETAINED,
	    PLIM_HEAP_MMAPPED_COUNT, PLIM_HEAP_ARENA_COUNT,
	    PLIM_HEAP_HEAP_COUNT};
	static const int unknown[] = {
	    PLIM_HEAP_TCACHE,	    PLIM_HEAP_CACHED,	     PLIM_HEAP_PINNED,
	    PLIM_HEAP_IN_USE_COUNT, PLIM_HEAP_FREE_COUNT,    PLIM_HEAP_SWAPPED,
	    PLIM_HEAP_RESIDENT,	    PLIM_HEAP_HUGE,	     PLIM_HEAP_SHARED,
	    PLIM_HEAP_TRIM_SWAP,    PLIM_HEAP_FREE_RESIDENT, PLIM_HEAP_WALKED};

	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		plimp_heap_set_missing(heap, absent[i],
				       PLIM_REASON_NO_SUCH_PART);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		plimp_heap_set_missing(heap, unknown[i],
				       PLIM_REASON_NOT_WALKED);
}

static void gperf_add_check(struct plim_heap *heap, const char *name,
			    uint64_t expected, uint64_t found)
{
	plimp_heap_add_check(
	    heap, name,
	    expected == found ? PLIM_CHECK_PASSED : PLIM_CHECK_FAILED,
	    plim_count_known(expected, PLIM_METHOD_HEAP_WALK),
	    plim_count_known(found, PLIM_METHOD_HEAP_WALK), NULL);
}

static void gperf_set(struct plim_heap *heap,
		      const struct plimp_gperftools_counters *counters)
{
	gperf_add_check(heap, "committed_is_system_less_unmapped",
			counters->system - counters->unmapped,
			counters->committed);
	gperf_add_check(heap, "commits_leave_committed", counters->committed,
			counters->total_committed -
			    counters->total_decommitted);
	gperf_add_check(heap, "reserved_is_system", counters->system,
			counters->total_reserved);
	gperf_set_absent(heap);
	plimp_heap_set(heap, PLIM_HEAP_SYSTEM, counters->system);
	plimp_heap_set(heap, PLIM_HEAP_FREE, counters->free);
	plimp_heap_set(heap, PLIM_HEAP_RELEASED, counters->unmapped);
	plimp_heap_set(heap, PLIM_HEAP_UNKNOWN, 0);
	plimp_heap_set(heap, PLIM_HEAP_UNCERTAIN, 0);
	plimp_heap_set_bounded(heap, PLIM_HEAP_IN_USE,
			       counters->committed - counters->free,
			       PLIM_BOUND_AT_MOST);
	plimp_heap_set_bounded(heap, PLIM_HEAP_TRIM_RETURNS, counters->free,
			       PLIM_BOUND_AT_MOST);
	plimp_heap_add_evidence(heap,
				"memory: counters of its page heap at 0x%llx",
				(unsigned long long)counters->address);
	plimp_heap_add_evidence(heap, "figures: bytes in use include what the "
				      "central and thread caches hold");
	heap->confidence = PLIM_CONFIDENCE_CERTAIN;
	heap->layout = "gperftools from 2.5, page heap";
	heap->standing = "run";
	plimp_heap_finish(heap);
}

int plimp_gperftools_walk(const struct plimp_image *image,
			  struct plim_heap *heap, plim_error *error)
{
	struct gperf_search search = {.image = image};
	int status = gperf_locate(&search);

	if (status == GPERF_FOUND)
		status = gperf_refresh(&search);
	if (status < 0)
		return plimp_fail(error, status, 0, "walk", "gperftools", NULL);
	if (status == GPERF_FOUND)
		gperf_set(heap, &search.found);
	else if (status == GPERF_SEVERAL)
		plimp_heap_refuse(heap, PLIM_REASON_HEAP_CONTRADICTS, 0,
				  "several places look like the counters of "
				  "the page heap");
	else
		plimp_heap_refuse(heap, PLIM_REASON_HEAP_NOT_FOUND, 0,
				  "no counters of the page heap: it took no "
				  "memory yet, or is older than 2.5");
	return PLIM_OK;
}
