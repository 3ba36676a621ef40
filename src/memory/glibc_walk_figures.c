/*
 * glibc_walk_figures.c - one count against the other, and then the figures
 * (glibc_walk.h).
 *
 * What was walked must be what malloc took from the system; every arena must
 * end at its top; the chunks on lists must be where the walk met chunks; what
 * has a mapping of its own must be as much as malloc counts. If one of these
 * fails in a process that did not change meanwhile, the walk has understood
 * something wrongly and says nothing. In a process that went on, they are off
 * by what it did; how much is in the uncertainty, and too much is a refusal.
 */
#include "memory/glibc_walk.h"

/* Of what may be off in a process that went on: one part in so many. */
#define FIGURES_TOLERANCE 20u

static uint64_t tell_walked(const struct plimp_walk_tally *tally)
{
	return tally->used + tally->fast + tally->free + tally->top;
}

static uint64_t tell_unknown(const struct plimp_walk_tally *tally)
{
	return tally->unknown + tally->lost;
}

static void tell_add(struct plimp_walk_tally *sum,
		     const struct plimp_walk_tally *tally)
{
	const uint64_t *from = (const uint64_t *)tally;
	uint64_t *to = (uint64_t *)sum;

	/* Members of one type without gaps. */
	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

static int tell_is_racing(const struct plimp_walk *walk)
{
	return walk->changed > 0;
}

static plim_count tell_known(uint64_t value)
{
	return plim_count_known(value, PLIM_METHOD_HEAP_WALK);
}

static plim_count tell_none(void)
{
	return plim_count_missing(PLIM_REASON_NO_SUCH_PART, 0);
}

static uint64_t tell_apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Fails the whole walk unless the process went on meanwhile. */
static void tell_check(struct plimp_walk *walk, const char *name,
		       uint64_t expected, uint64_t found, uint64_t most,
		       const char *why)
{
	int is_good = expected == found;
	int is_near =
	    tell_is_racing(walk) && tell_apart(expected, found) <= most;

	plimp_heap_add_check(walk->heap, name,
			     is_good || is_near ? PLIM_CHECK_PASSED
						: PLIM_CHECK_FAILED,
			     tell_known(expected), tell_known(found), "%s",
			     is_good   ? ""
			     : is_near ? "off by what it did meanwhile"
				       : why);
	if (!is_good && !is_near)
		plimp_walk_refuse(walk, PLIM_REASON_HEAP_CONTRADICTS, why);
}

static void tell_check_mapped(struct plimp_walk *walk)
{
	const char *text = "";
	int state = PLIM_CHECK_PASSED;

	if (!walk->told) {
		plimp_heap_add_check(walk->heap, "mmapped_is_counted",
				     PLIM_CHECK_NOT_MADE, tell_none(),
				     tell_none(),
				     "malloc's own count was not found");
		return;
	}
	if (walk->mapped_bytes != walk->told_bytes ||
	    walk->mapped_count != walk->told_count) {
		state = PLIM_CHECK_NOT_MADE;
		if (walk->mapped_is_cut)
			text = "too much memory to look for all of them";
		else if (tell_is_racing(walk))
			text = "they changed meanwhile";
		else if (walk->mapped_bytes > walk->told_bytes)
			text = "memory that is none looks like some of them";
		else
			text = "not all of them were found";
	}
	plimp_heap_add_check(walk->heap, "mmapped_is_counted", state,
			     tell_known(walk->told_bytes),
			     tell_known(walk->mapped_bytes), "%s", text);
}

static void tell_check_tops(struct plimp_walk *walk)
{
	uint64_t expected = 0;
	uint64_t found = 0;

	for (size_t i = 0; i < walk->arena_count; i++) {
		const struct plimp_walk_arena *arena = &walk->arenas[i];

		if (arena->system_mem == 0)
			continue;
		expected++;
		if (arena->meets_top || arena->tally.unknown > 0)
			found++;
	}
	tell_check(walk, "arenas_meet_top", expected, found, expected,
		   "an arena does not end at its top");
}

static void tell_checks(struct plimp_walk *walk,
			const struct plimp_walk_tally *sum)
{
	uint64_t system = 0;
	uint64_t nodes = walk->fast_count + walk->fast_broken;

	for (size_t i = 0; i < walk->arena_count; i++)
		system += walk->arenas[i].system_mem;
	tell_check(walk, "walked_is_system", system,
		   tell_walked(sum) + tell_unknown(sum),
		   system / FIGURES_TOLERANCE,
		   "what was walked is not what malloc took");
	tell_check_tops(walk);
	tell_check(walk, "headers_make_sense", 0, sum->lost,
		   system / FIGURES_TOLERANCE,
		   "headers of chunks make no sense");
	tell_check(walk, "feet_match_heads", 0, walk->odd, UINT64_MAX,
		   "free chunks have two sizes");
	if (sum->unknown == 0)
		tell_check(walk, "fast_chunks_are_met", nodes, walk->fast_met,
			   UINT64_MAX,
			   "lists of fast bins lead to what is no chunk");
	tell_check_mapped(walk);
}

/* A figure that the unknown part may add to. */
static void tell_set(plim_count *figures, int figure, uint64_t value,
		     int is_whole)
{
	figures[figure] = plim_count_bounded(value, PLIM_METHOD_HEAP_WALK,
					     is_whole ? PLIM_BOUND_EXACT
						      : PLIM_BOUND_AT_LEAST);
}

static void tell_missing(plim_count *figures, int figure, int reason)
{
	figures[figure] = plim_count_missing(reason, 0);
}

static uint64_t tell_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Figures of pages: which of them there are depends on the reader. */
static void tell_pages(const struct plimp_walk *walk,
		       const struct plimp_walk_tally *tally,
		       plim_count *figures)
{
	static const int all[] = {
	    PLIM_HEAP_FREE_RESIDENT, PLIM_HEAP_TRIM_RETURNS, PLIM_HEAP_PINNED,
	    PLIM_HEAP_TOP_RETAINED,  PLIM_HEAP_CACHED,	     PLIM_HEAP_RELEASED,
	    PLIM_HEAP_SWAPPED,	     PLIM_HEAP_HUGE,	     PLIM_HEAP_SHARED,
	    PLIM_HEAP_TRIM_SWAP,     PLIM_HEAP_RESIDENT,
	};
	int is_whole =
	    tell_unknown(tally) == 0 && tally->vague == 0 && tally->maybe == 0;

	if (!walk->image->reader.has_residency) {
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			tell_missing(figures, all[i], PLIM_REASON_NO_RESIDENCY);
		return;
	}
	tell_set(figures, PLIM_HEAP_FREE_RESIDENT,
		 tally->trim + tally->pinned + tally->top_retained, is_whole);
	tell_set(figures, PLIM_HEAP_TRIM_RETURNS, tally->trim, is_whole);
	tell_set(figures, PLIM_HEAP_PINNED, tally->pinned, is_whole);
	tell_set(figures, PLIM_HEAP_TOP_RETAINED, tally->top_retained,
		 is_whole);
	tell_set(figures, PLIM_HEAP_CACHED, tally->cached_resident, is_whole);
	tell_set(figures, PLIM_HEAP_RELEASED, tally->released, is_whole);
	tell_set(figures, PLIM_HEAP_SWAPPED, tally->swapped, 1);
	tell_set(figures, PLIM_HEAP_HUGE, tally->huge, is_whole);
	tell_set(figures, PLIM_HEAP_SHARED, tally->shared,
		 is_whole && tally->unshared == 0);
	tell_set(figures, PLIM_HEAP_TRIM_SWAP, tally->trim_swap, is_whole);
	tell_set(figures, PLIM_HEAP_RESIDENT, tally->resident,
		 tally->vague == 0);
}

/* Figures that an arena has as well as all of them together. */
static void tell_fill(const struct plimp_walk *walk,
		      const struct plimp_walk_tally *tally, uint64_t system,
		      plim_count *figures)
{
	int is_whole = tell_unknown(tally) == 0;
	int is_told = is_whole && tally->maybe == 0;

	tell_set(figures, PLIM_HEAP_IN_USE,
		 tell_less(tally->used, tally->cached + tally->maybe), is_told);
	tell_set(figures, PLIM_HEAP_TCACHE, tally->cached, is_whole);
	tell_set(figures, PLIM_HEAP_FREE, tally->free, is_whole);
	tell_set(figures, PLIM_HEAP_TOP, tally->top, is_whole);
	tell_set(figures, PLIM_HEAP_SYSTEM, system, 1);
	tell_set(figures, PLIM_HEAP_WALKED, tell_walked(tally), 1);
	tell_set(figures, PLIM_HEAP_UNKNOWN, tell_unknown(tally), 1);
	tell_set(figures, PLIM_HEAP_IN_USE_COUNT,
		 tell_less(tally->used_count, tally->cached_count), is_told);
	tell_set(figures, PLIM_HEAP_FREE_COUNT,
		 tally->free_count + tally->fast_count, is_told);
	if (walk->layout->fastbins == PLIMP_GLIBC_NONE)
		tell_missing(figures, PLIM_HEAP_FASTBIN,
			     PLIM_REASON_NO_SUCH_PART);
	else
		tell_set(figures, PLIM_HEAP_FASTBIN, tally->fast, is_told);
	tell_pages(walk, tally, figures);
}

static void tell_mapped(struct plimp_walk *walk)
{
	plim_count *figures = walk->heap->figures;

	if (walk->told) {
		tell_set(figures, PLIM_HEAP_MMAPPED, walk->told_bytes, 1);
		tell_set(figures, PLIM_HEAP_MMAPPED_COUNT, walk->told_count, 1);
	} else {
		tell_missing(figures, PLIM_HEAP_MMAPPED,
			     PLIM_REASON_HEAP_NOT_FOUND);
		tell_missing(figures, PLIM_HEAP_MMAPPED_COUNT,
			     PLIM_REASON_HEAP_NOT_FOUND);
	}
}

/* Blocks that are mappings of their own are of no arena. */
static void tell_resident(struct plimp_walk *walk,
			  const struct plimp_walk_tally *sum)
{
	int is_whole = walk->told && !walk->mapped_is_vague &&
		       walk->mapped_bytes == walk->told_bytes;

	if (!walk->image->reader.has_residency)
		return;
	tell_set(walk->heap->figures, PLIM_HEAP_RESIDENT,
		 sum->resident + walk->mapped_resident,
		 is_whole && sum->vague == 0);
	/* Old headers were taken for blocks: some of it may be nobody's. */
	if (walk->mapped_bytes > walk->told_bytes)
		walk->heap->figures[PLIM_HEAP_RESIDENT].bound =
		    PLIM_BOUND_AT_MOST;
}

static int tell_arenas(struct plimp_walk *walk)
{
	for (size_t i = 0; i < walk->arena_count; i++) {
		const struct plimp_walk_arena *arena = &walk->arenas[i];
		struct plimp_arena *row;
		int code = plimp_heap_add_arena(walk->heap, &row);

		if (code != PLIM_OK)
			return code;
		row->about.address = arena->address;
		row->about.is_main = arena->is_main;
		row->about.heaps = arena->heaps;
		row->about.threads = tell_known(arena->attached);
		tell_fill(walk, &arena->tally, arena->system_mem, row->figures);
	}
	return PLIM_OK;
}

int plimp_walk_tell(struct plimp_walk *walk)
{
	struct plimp_walk_tally sum = {0};
	uint64_t system = 0;
	uint64_t heaps = 0;
	plim_count *figures = walk->heap->figures;
	int code;

	for (size_t i = 0; i < walk->arena_count; i++) {
		tell_add(&sum, &walk->arenas[i].tally);
		system += walk->arenas[i].system_mem;
		heaps += walk->arenas[i].heaps;
	}
	tell_checks(walk, &sum);
	if (walk->reason != 0)
		return PLIM_OK;
	tell_fill(walk, &sum, system, figures);
	tell_mapped(walk);
	tell_resident(walk, &sum);
	tell_set(figures, PLIM_HEAP_UNCERTAIN, walk->uncertain, 1);
	tell_set(figures, PLIM_HEAP_ARENA_COUNT, walk->arena_count, 1);
	tell_set(figures, PLIM_HEAP_HEAP_COUNT, heaps, 1);
	code = tell_arenas(walk);
	if (code == PLIM_OK)
		plimp_heap_finish(walk->heap);
	return code;
}
