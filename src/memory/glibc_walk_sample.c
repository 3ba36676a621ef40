/*
 * glibc_walk_sample.c - by how much the bytes in use may be off, in a process
 * that went on while they were counted (glibc_walk.h).
 *
 * Each part of the heap was counted at a moment of its own. So parts that lie
 * evenly all over it are counted once more, and what they have changed by
 * since is carried over to all of it: the drift, and the standard error of
 * that. Added to it is what could not be followed: headers that made no sense,
 * what the sums are off by, caches that changed. docs/design/heap-walk.md says
 * how often the sum of all this covers the truth.
 *
 * A process in which nothing has changed is not read again: 0.
 */
#include "memory/glibc_walk.h"

#define SAMPLE_PARTS 128u
/* Chunks of fast bins are no larger: DEFAULT_MXFAST, 64 * SIZE_SZ / 4. */
#define SAMPLE_FAST_MOST 128u
/* Standard errors on either side. */
#define SAMPLE_ERRORS 3.0

struct sample {
	double sum;
	double squares;
	uint64_t parts;
	uint64_t all; /* parts that there are */
	uint64_t skipped;
	uint64_t doubtful; /* bytes that could be in fast bins */
};

/* A chunk that waited in a fast bin when the lists were read is not in use, as
 * it was not the first time. */
static int sample_is_fast(const struct plimp_walk *walk,
			  const struct plimp_walk_arena *arena, uint64_t chunk)
{
	size_t low = arena->fast_start;
	size_t high = arena->fast_end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walk->fast[middle] < chunk)
			low = middle + 1;
		else
			high = middle;
	}
	return low < arena->fast_end && walk->fast[low] == chunk;
}

/* A chunk that was in a fast bin and looks as if it still were is in none of
 * both counts. One that looks so and was on no list was put there meanwhile,
 * or the list was cut off before it, or it was taken and not written to. */
static int sample_used(struct plimp_walk *walk,
		       const struct plimp_walk_region *region,
		       const struct plimp_stretch_item *item, uint64_t *used,
		       struct sample *sample)
{
	const struct plimp_walk_arena *arena = &walk->arenas[region->arena];
	int looks = 0;
	uint64_t next;

	if (walk->layout->fastbins != PLIMP_GLIBC_NONE &&
	    item->size <= SAMPLE_FAST_MOST)
		looks = plimp_walk_looks_fast(walk, region->arena, item,
					      region->end, &next);
	if (looks < 0)
		return looks;
	if (looks && sample_is_fast(walk, arena, item->address))
		return PLIM_OK;
	*used += item->size;
	if (looks)
		sample->doubtful += item->size;
	return PLIM_OK;
}

/* Counts what is in use from one mark up to the next, as the walk did. */
static int sample_part(struct plimp_walk *walk,
		       const struct plimp_walk_mark *mark,
		       struct sample *sample)
{
	const struct plimp_walk_region *region = &walk->regions[mark->region];
	struct plimp_stretch_item item = {.kind = PLIMP_STRETCH_GAP};
	uint64_t end = mark[1].address;
	uint64_t used = 0;
	struct plimp_chunks chunks;
	double change;
	int code = PLIM_OK;

	plimp_span_forget(&walk->span);
	plimp_chunks_begin(&chunks, walk, region, mark->address);
	/* The chunk that began here may be part of another by now. */
	chunks.is_gap = 1;
	while (chunks.position < end && item.kind != PLIMP_STRETCH_END) {
		code = plimp_chunks_next(&chunks, &item);
		if (code != PLIM_OK)
			return code;
		if (item.kind == PLIMP_STRETCH_UNKNOWN ||
		    item.kind == PLIMP_STRETCH_LOST) {
			sample->skipped++;
			return PLIM_OK;
		}
		if (item.kind == PLIMP_STRETCH_USED)
			code = sample_used(walk, region, &item, &used, sample);
		if (code != PLIM_OK)
			return code;
	}
	change = (double)used - (double)(mark[1].used - mark->used);
	sample->sum += change;
	sample->squares += change * change;
	sample->parts++;
	return PLIM_OK;
}

static int sample_parts(struct plimp_walk *walk, struct sample *sample)
{
	uint64_t stride;
	uint64_t next = 0;
	uint64_t index = 0;

	for (size_t i = 0; i + 1 < walk->mark_count; i++)
		sample->all +=
		    walk->marks[i].region == walk->marks[i + 1].region;
	stride = sample->all / SAMPLE_PARTS + 1;
	for (size_t i = 0; i + 1 < walk->mark_count; i++) {
		int code;

		if (walk->marks[i].region != walk->marks[i + 1].region ||
		    index++ < next)
			continue;
		next += stride;
		code = sample_part(walk, &walk->marks[i], sample);
		if (code != PLIM_OK)
			return code;
	}
	return PLIM_OK;
}

/* Newton's method, from above: the library does without libm. */
static double sample_root(double value)
{
	double root = value > 1 ? value : 1;

	for (int i = 0; i < 100; i++)
		root = (root + value / root) / 2;
	return root;
}

/* Drift and its error, of all parts. */
static double sample_width(const struct sample *sample)
{
	double count = (double)sample->parts;
	double mean;
	double variance;

	if (sample->parts == 0)
		return 0;
	mean = sample->sum / count;
	variance = sample->squares / count - mean * mean;
	if (sample->parts > 1 && variance > 0)
		variance *= count / (count - 1);
	else
		variance = mean * mean;
	return (double)sample->all *
	       ((mean < 0 ? -mean : mean) +
		SAMPLE_ERRORS * sample_root(variance / count));
}

/* What was lost, what the sums are off by, and what malloc took or gave back
 * meanwhile. */
static uint64_t sample_loose(const struct plimp_walk *walk)
{
	uint64_t loose = walk->grown + walk->cache_moved;

	for (size_t i = 0; i < walk->arena_count; i++) {
		const struct plimp_walk_arena *arena = &walk->arenas[i];
		const struct plimp_walk_tally *tally = &arena->tally;
		uint64_t walked = tally->used + tally->fast + tally->free +
				  tally->top + tally->unknown + tally->lost;

		loose += tally->lost + tally->maybe;
		loose += walked > arena->system_mem
			     ? walked - arena->system_mem
			     : arena->system_mem - walked;
	}
	return loose;
}

int plimp_walk_sample(struct plimp_walk *walk)
{
	struct sample sample = {0};
	int code;

	if (walk->changed == 0)
		return PLIM_OK;
	code = sample_parts(walk, &sample);
	if (code != PLIM_OK || sample.parts == 0)
		return code;
	walk->uncertain = sample_loose(walk) + (uint64_t)sample_width(&sample);
	if (walk->fast_count + walk->fast_broken > 0)
		walk->uncertain +=
		    (uint64_t)((double)sample.doubtful * (double)sample.all /
			       (double)sample.parts);
	return PLIM_OK;
}
