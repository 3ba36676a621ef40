/*
 * verdict.c - what the memory of a process is, in parts that do not overlap.
 *
 * The walks tell the parts of what allocators hold; the kernel's figures tell
 * the whole. What of the anonymous memory no walk explains is OTHER if every
 * allocator that was seen was walked, else UNKNOWN: it may be theirs. The two
 * are read at different moments, so a remainder below zero is none.
 *
 * MADV_FREE leaves pages resident, and part of RssAnon, until the kernel needs
 * them (LazyFree of smaps). They are first taken to be of the remainder, and
 * what does not fit in there is subtracted from the free memory of the
 * allocators: musl gives back that way.
 */
#include "memory/verdict.h"

#include <assert.h>
#include <string.h>

static const char *const retention_words[] = {NULL,
#define PLIM_X(name, number, word, text) word,
					      PLIM_RETENTION_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const retention_texts[] = {NULL,
#define PLIM_X(name, number, word, text) text,
					      PLIM_RETENTION_LIST(PLIM_X)
#undef PLIM_X
};

#define RETENTION_COUNT \
	((int)(sizeof retention_words / sizeof retention_words[0]))

const char *plim_retention_word(int part)
{
	return part > 0 && part < RETENTION_COUNT ? retention_words[part]
						  : NULL;
}

const char *plim_retention_text(int part)
{
	return part > 0 && part < RETENTION_COUNT ? retention_texts[part]
						  : NULL;
}

static int retention_is_known(plim_count count)
{
	return count.state == PLIM_STATE_KNOWN;
}

static uint64_t retention_value(plim_count count)
{
	return retention_is_known(count) ? count.value : 0;
}

static plim_count retention_bounded(plim_count count, uint64_t value, int bound)
{
	count.value = value;
	if (count.bound == PLIM_BOUND_EXACT)
		count.bound = (uint8_t)bound;
	return count;
}

/* Above 2^64 it saturates, as everywhere; it cannot be, of real memory. */
static uint64_t retention_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static plim_count retention_sum(const plim_count *counts, size_t count)
{
	plim_sum sum;
	size_t i;

	memset(&sum, 0, sizeof sum);
	for (i = 0; i < count; i++)
		plim_sum_add(&sum, counts[i]);
	return plim_sum_total(&sum);
}

/* Live bytes of one heap: what is resident and not free, else what is in use,
 * which need not be resident. */
static plim_count retention_live_of(const plim_heap *heap, int figure)
{
	plim_count resident = plim_heap_figure(heap, PLIM_HEAP_RESIDENT);
	plim_count freed = plim_heap_figure(heap, PLIM_HEAP_FREE_RESIDENT);
	plim_count cached = plim_heap_figure(heap, PLIM_HEAP_CACHED);
	plim_count used[2];
	uint64_t dead;

	(void)figure;
	if (retention_is_known(resident) && retention_is_known(freed)) {
		dead = retention_add(freed.value, retention_value(cached));
		resident.value -= dead < resident.value ? dead : resident.value;
		return resident;
	}
	used[0] = plim_heap_figure(heap, PLIM_HEAP_IN_USE);
	used[1] = plim_heap_figure(heap, PLIM_HEAP_MMAPPED);
	used[0] = retention_sum(used, 2);
	return retention_is_known(used[0])
		   ? retention_bounded(used[0], used[0].value,
				       PLIM_BOUND_AT_MOST)
		   : used[0];
}

/* Free bytes of a heap whose residence is not known. */
static plim_count retention_freed_of(const plim_heap *heap, int figure)
{
	static const int parts[] = {PLIM_HEAP_FREE, PLIM_HEAP_FASTBIN,
				    PLIM_HEAP_TOP, PLIM_HEAP_TCACHE};
	plim_count counts[4];
	plim_count sum;
	size_t i;

	(void)figure;
	if (retention_is_known(heap->figures[PLIM_HEAP_FREE_RESIDENT]))
		return plim_count_missing(PLIM_REASON_NO_SUCH_PART, 0);
	for (i = 0; i < 4; i++)
		counts[i] = plim_heap_figure(heap, parts[i]);
	sum = retention_sum(counts, 4);
	return retention_is_known(sum)
		   ? retention_bounded(sum, sum.value, PLIM_BOUND_AT_MOST)
		   : sum;
}

/* Of them, those that are in no other part: where it is known at least what
 * the allocator would return, they are counted there. */
static plim_count retention_vague_of(const plim_heap *heap, int figure)
{
	if (retention_is_known(heap->figures[PLIM_HEAP_TRIM_RETURNS]))
		return plim_count_missing(PLIM_REASON_NO_SUCH_PART, 0);
	return retention_freed_of(heap, figure);
}

/* glibc is mapped nearly everywhere; where another one took its place it holds
 * nothing, and its remedies are of no use. */
static int retention_is_idle(const plim_heap *heap)
{
	plim_count system = heap->figures[PLIM_HEAP_SYSTEM];
	plim_count mapped = heap->figures[PLIM_HEAP_MMAPPED];

	return retention_is_known(system) && system.value == 0 &&
	       retention_is_known(mapped) && mapped.value == 0;
}

/* Of a figure over those that were walked: what the others hold is in no part
 * but the remainder. */
static plim_count retention_walked(const struct plimp_heap_list *list,
				   plim_count (*of)(const plim_heap *heap,
						    int figure),
				   int figure)
{
	plim_sum sum;
	size_t i;

	memset(&sum, 0, sizeof sum);
	for (i = 0; i < list->count; i++)
		if (list->items[i]->depth == PLIM_DEPTH_WALKED)
			plim_sum_add(&sum, of(list->items[i], figure));
	if (sum.known == 0 && sum.first_missing.state == PLIM_STATE_UNREAD)
		return list->count > 0
			   ? list->items[0]->missing
			   : plim_count_missing(PLIM_REASON_HEAP_NOT_FOUND, 0);
	return plim_sum_total(&sum);
}

/* Returns whether every allocator that was seen was walked, and one was. */
static int retention_heaps(const struct plimp_heap_list *list,
			   plim_retention *out)
{
	static const int from[][2] = {
	    {PLIM_RETENTION_CACHED, PLIM_HEAP_CACHED},
	    {PLIM_RETENTION_RETURNABLE, PLIM_HEAP_TRIM_RETURNS},
	    {PLIM_RETENTION_PINNED, PLIM_HEAP_PINNED},
	    {PLIM_RETENTION_TOP, PLIM_HEAP_TOP_RETAINED},
	    {PLIM_RETENTION_HUGE, PLIM_HEAP_HUGE},
	    {PLIM_RETENTION_SHARED, PLIM_HEAP_SHARED},
	    {PLIM_RETENTION_SWAPPED, PLIM_HEAP_SWAPPED}};
	int all = list->count > 0;
	size_t i;

	for (i = 0; i < sizeof from / sizeof from[0]; i++)
		out->parts[from[i][0]] =
		    retention_walked(list, plim_heap_figure, from[i][1]);
	for (i = 0; i < list->count; i++) {
		const uint64_t bit = UINT64_C(1) << list->items[i]->kind;

		out->allocators |= bit;
		if (list->items[i]->depth != PLIM_DEPTH_WALKED)
			all = 0;
		else if (!retention_is_idle(list->items[i]))
			out->walked |= bit;
	}
	out->parts[PLIM_RETENTION_LIVE] =
	    retention_walked(list, retention_live_of, 0);
	out->parts[PLIM_RETENTION_FREED] =
	    retention_walked(list, retention_vague_of, 0);
	return all;
}

/* CACHED to TOP are neighbours in the table; where residence is not known,
 * FREED is what is known of all four. What allocators that were not walked
 * retain is not in it. */
static plim_count retention_retained(const struct plimp_heap_list *list,
				     const plim_retention *out, int all_walked)
{
	plim_count retained =
	    list != NULL ? retention_walked(list, retention_freed_of, 0)
			 : out->parts[PLIM_RETENTION_FREED];

	if (!retention_is_known(retained))
		retained = retention_sum(&out->parts[PLIM_RETENTION_CACHED], 4);
	if (all_walked || !retention_is_known(retained))
		return retained;
	if (retained.bound == PLIM_BOUND_AT_MOST)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	retained.bound = PLIM_BOUND_AT_LEAST;
	return retained;
}

static uint64_t retention_take(plim_count *part, uint64_t bytes)
{
	uint64_t taken = retention_value(*part);

	if (taken > bytes)
		taken = bytes;
	if (taken > 0)
		*part = retention_bounded(*part, part->value - taken,
					  PLIM_BOUND_AT_LEAST);
	return taken;
}

/* What of the anonymous memory the walks do not explain. */
static void retention_rest(const plim_retention_memory *memory,
			   plim_retention *out, int all_walked)
{
	static const int theirs[] = {PLIM_RETENTION_LIVE, PLIM_RETENTION_CACHED,
				     PLIM_RETENTION_RETURNABLE,
				     PLIM_RETENTION_PINNED, PLIM_RETENTION_TOP};
	/* In this order lazily freed memory is looked for. */
	static const int free_parts[] = {PLIM_RETENTION_PINNED,
					 PLIM_RETENTION_RETURNABLE,
					 PLIM_RETENTION_TOP};
	const int to =
	    all_walked ? PLIM_RETENTION_OTHER : PLIM_RETENTION_UNKNOWN;
	plim_count rest = memory->anonymous;
	uint64_t lazy = retention_value(memory->lazy_free);
	uint64_t known = 0;
	size_t i;

	for (i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
		known = retention_add(known,
				      retention_value(out->parts[theirs[i]]));
	out->parts[PLIM_RETENTION_LAZY] = memory->lazy_free;
	if (!retention_is_known(rest)) {
		out->parts[to] = rest;
		return;
	}
	rest.value -= known < rest.value ? known : rest.value;
	if (lazy <= rest.value) {
		rest.value -= lazy;
	} else {
		lazy -= rest.value;
		rest.value = 0;
		for (i = 0; i < sizeof free_parts / sizeof free_parts[0]; i++)
			lazy -=
			    retention_take(&out->parts[free_parts[i]], lazy);
	}
	out->parts[to] = rest;
}

static void retention_name(plim_retention *out)
{
	uint64_t total = 0;
	uint64_t most = 0;
	int part;

	out->verdict = PLIM_RETENTION_UNKNOWN;
	for (part = 1; part <= PLIM_RETENTION_UNKNOWN; part++) {
		uint64_t value = retention_value(out->parts[part]);

		total = retention_add(total, value);
		if (value > most) {
			most = value;
			out->verdict = part;
		}
	}
	if (total > 0 && most <= total / 2)
		out->verdict = PLIM_RETENTION_MIXED;
}

/* What the machine gets: whole, but for huge pages that a trim leaves partly
 * mapped and pages that others still map. The kernel may split the huge ones
 * later, so it is a lower bound then. */
static void retention_returns(plim_retention *out)
{
	plim_count falls = out->parts[PLIM_RETENTION_RETURNABLE];
	plim_count huge = out->parts[PLIM_RETENTION_HUGE];
	plim_count shared = out->parts[PLIM_RETENTION_SHARED];
	uint64_t stays;

	out->rss_falls = falls;
	out->machine_gets = falls;
	if (!retention_is_known(falls))
		return;
	if (!retention_is_known(huge) || !retention_is_known(shared)) {
		out->machine_gets = retention_is_known(huge) ? shared : huge;
		return;
	}
	stays = retention_add(huge.value, shared.value);
	if (stays == 0)
		return;
	out->machine_gets = retention_bounded(
	    falls, stays < falls.value ? falls.value - stays : 0,
	    PLIM_BOUND_AT_LEAST);
}

void plimp_retention_find(const struct plimp_heap_list *list,
			  const plim_retention_memory *memory,
			  plim_retention *out)
{
	plim_retention_memory none;
	int all_walked = 0;

	assert(out != NULL);
	memset(out, 0, sizeof *out);
	if (memory == NULL) {
		memset(&none, 0, sizeof none);
		memory = &none;
	}
	if (list != NULL)
		all_walked = retention_heaps(list, out);
	retention_rest(memory, out, all_walked);
	out->parts[PLIM_RETENTION_FILE_CACHE] = memory->file;
	out->parts[PLIM_RETENTION_SHMEM] = memory->shmem;
	if (retention_is_known(memory->swap))
		out->parts[PLIM_RETENTION_SWAPPED] = memory->swap;
	out->retained = retention_retained(list, out, all_walked);
	retention_returns(out);
	retention_name(out);
}
