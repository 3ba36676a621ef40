/*
 * arenas.c - the baseline estimate: heaps that glibc made for threads, from
 * the layout of the mappings alone.
 *
 * glibc reserves each heap of a thread's arena as 64 MiB at a multiple of
 * 64 MiB (HEAP_MAX_SIZE, malloc/arena.c) and opens it from the bottom up, so
 * that it shows as a readable part and, behind it, one without rights. A run
 * of adjacent anonymous mappings that begins at such a multiple and ends 64
 * MiB later is counted. That is all it is: an estimate, which other programs
 * fool and which misses heaps that merged with a neighbour. Where that may be
 * so here, a bit says it; the bits are decided from the same mappings, the
 * kernel's flags, and the names of the files. Several runs that stand side by
 * side are each counted, since the layout tells them apart.
 */
#include "memory/regions.h"

#include <string.h>

#define BASELINE_HEAP ((uint64_t)64 << 20)
#define BASELINE_GO   0xc000000000u

int plimp_arenas_is_anonymous(const struct plimp_space *space, size_t index)
{
	const struct plimp_mapping *mapping = &space->items[index];

	if ((mapping->protection & PLIMP_IS_SHARED) || mapping->inode != 0)
		return 0;
	return mapping->name_size == 0 ||
	       plimp_regions_begins(plimp_space_name(space, mapping), "[anon:");
}

static int baseline_is_follower(const struct plimp_space *space, size_t index)
{
	return index > 0 &&
	       space->items[index - 1].end == space->items[index].start;
}

size_t plimp_arenas_span(const struct plimp_space *space, size_t index)
{
	uint64_t start = space->items[index].start;
	size_t at;

	if (start % BASELINE_HEAP != 0 || start > UINT64_MAX - BASELINE_HEAP)
		return 0;
	for (at = index; at < space->count; at++) {
		uint64_t end = space->items[at].end;

		if (!plimp_arenas_is_anonymous(space, at) ||
		    (at > index && !baseline_is_follower(space, at)) ||
		    end > start + BASELINE_HEAP)
			return 0;
		if (end == start + BASELINE_HEAP)
			return at + 1 - index;
	}
	return 0;
}

/* The marks of a heap of glibc are missing in the part that can be written:
 * reserved without accounting. Without flags nothing can be said. */
static int baseline_is_unmarked(const struct plimp_mapping *mapping)
{
	return (mapping->has & PLIMP_MAPPING_FLAGS) &&
	       (mapping->protection & PLIMP_MAY_WRITE) &&
	       (!(mapping->flags & PLIMP_VM_NO_RESERVE) ||
		(mapping->flags & PLIMP_VM_ACCOUNTED));
}

/* It may hold a heap that nobody can see: anonymous, to be written, over a
 * boundary of 64 MiB, and not marked as anything else. */
static uint32_t baseline_hidden(const struct plimp_space *space, size_t index)
{
	const struct plimp_mapping *mapping = &space->items[index];
	uint64_t past = mapping->start % BASELINE_HEAP;

	if (!plimp_arenas_is_anonymous(space, index) ||
	    !(mapping->protection & PLIMP_MAY_WRITE) ||
	    mapping->end - mapping->start <=
		(past == 0 ? BASELINE_HEAP : BASELINE_HEAP - past) ||
	    baseline_is_unmarked(mapping))
		return 0;
	return past == 0 ? PLIM_BLIND_SPOT_MERGED : PLIM_BLIND_SPOT_UNALIGNED;
}

/* libc.so.6 has been its name since 1997; before 2.34 it was a link to
 * libc-2.N.so, which is what is mapped. */
static int baseline_is_glibc(plim_bytes base)
{
	return plimp_regions_begins(base, "libc.so.6") ||
	       plimp_regions_begins(base, "libc-2.");
}

static int baseline_is_other(plim_bytes base)
{
	static const char *const names[] = {
	    "libjemalloc",  "libtcmalloc", "libmimalloc", "libsnmalloc",
	    "libtbbmalloc", "libhoard",	   "librpmalloc", "libscudo",
	};
	size_t at;

	for (at = 0; at < sizeof(names) / sizeof(names[0]); at++)
		if (plimp_regions_begins(base, names[at]))
			return 1;
	return 0;
}

static int baseline_is_other_name(plim_bytes name)
{
	static const char *const names[] = {
	    "[anon:tcmalloc", "[anon:jemalloc", "[anon:mimalloc",
	    "[anon:mi-",      "[anon:scudo:",	"[anon:partition_alloc",
	};
	size_t at;

	for (at = 0; at < sizeof(names) / sizeof(names[0]); at++)
		if (plimp_regions_begins(name, names[at]))
			return 1;
	return 0;
}

struct baseline_sums {
	uint64_t heaps;
	plim_sum resident;
	const struct plimp_mapping *main_heap;
	uint32_t spots;
	int has_glibc;
};

/* What one mapping says of the estimate, counted or not. */
static void baseline_look(const struct plimp_space *space, size_t index,
			  struct baseline_sums *sums)
{
	const struct plimp_mapping *mapping = &space->items[index];
	plim_bytes name = plimp_space_name(space, mapping);

	if (name.size > 0 && name.data[0] == '/') {
		plim_bytes base = plim_base_name(name);

		if (baseline_is_glibc(base))
			sums->has_glibc = 1;
		if (baseline_is_other(base))
			sums->spots |= PLIM_BLIND_SPOT_OTHER_ALLOCATOR;
	}
	if (baseline_is_other_name(name))
		sums->spots |= PLIM_BLIND_SPOT_OTHER_ALLOCATOR;
	if ((mapping->start == BASELINE_GO &&
	     plimp_arenas_is_anonymous(space, index)) ||
	    plimp_regions_begins(name, "[anon: Go: "))
		sums->spots |= PLIM_BLIND_SPOT_GO;
	if (((mapping->has & PLIMP_MAPPING_FLAGS) &&
	     (mapping->flags & PLIMP_VM_HUGETLB)) ||
	    plimp_regions_begins(name, "/anon_hugepage"))
		sums->spots |= PLIM_BLIND_SPOT_HUGETLB;
	if (plimp_regions_begins(name, "[heap]") && sums->main_heap == NULL)
		sums->main_heap = mapping;
	sums->spots |= baseline_hidden(space, index);
}

static void baseline_count(const struct plimp_space *space, size_t index,
			   size_t span, struct baseline_sums *sums)
{
	size_t at;

	sums->heaps++;
	for (at = index; at < index + span; at++) {
		plim_sum_add(&sums->resident, space->items[at].resident);
		if (baseline_is_unmarked(&space->items[at]))
			sums->spots |= PLIM_BLIND_SPOT_UNMARKED;
	}
}

static void baseline_spots(struct baseline_sums *sums)
{
	if (!sums->has_glibc)
		sums->spots |= PLIM_BLIND_SPOT_NO_GLIBC;
	if (sums->main_heap == NULL)
		sums->spots |= PLIM_BLIND_SPOT_NO_HEAP;
	else if (sums->has_glibc)
		sums->spots |= PLIM_BLIND_SPOT_MAIN_ARENA;
	if (sums->heaps > 0)
		sums->spots |= PLIM_BLIND_SPOT_RESIDENCY;
}

plim_baseline plimp_arenas_estimate(const struct plimp_space *space)
{
	plim_baseline baseline = {{0}, {0}, {0}, {0}, {0}, 0, 0};
	struct baseline_sums sums = {0};
	size_t index;

	/* No two overlap: each begins at a boundary, and ends at the next. */
	for (index = 0; index < space->count; index++) {
		size_t span = plimp_arenas_span(space, index);

		baseline_look(space, index, &sums);
		if (span > 0)
			baseline_count(space, index, span, &sums);
	}
	baseline_spots(&sums);
	baseline.sub_heaps = plim_count_known(sums.heaps, PLIM_METHOD_MAPS);
	baseline.reserved =
	    plim_count_known(sums.heaps * BASELINE_HEAP, PLIM_METHOD_MAPS);
	baseline.resident = plim_sum_total(&sums.resident);
	baseline.main_heap_size = plim_count_missing(PLIM_REASON_NO_HEAP, 0);
	baseline.main_heap_resident = baseline.main_heap_size;
	if (sums.main_heap != NULL) {
		baseline.main_heap_size = plimp_regions_figure(
		    sums.main_heap, PLIM_MAPPING_FIGURE_SIZE);
		baseline.main_heap_resident = sums.main_heap->resident;
	}
	baseline.blind_spots = sums.spots;
	return baseline;
}
