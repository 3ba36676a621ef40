/*
 * glibc_walk_tcache.c - what threads cache (glibc_walk.h).
 *
 * A thread's cache is a block of the heap itself: counts, and heads of lists.
 * Nothing points to it but the thread's own storage; but it has a size of its
 * own, and contents that hardly anything else has: a bin has a head exactly if
 * it counts more than nothing, and the lists are as long as the counts, of
 * chunks of the bin's size, which from 2.29 on all carry the same key. What
 * passes is a cache. The cache of a thread that has ended has no heads any
 * more (tcache_thread_shutdown), so that what is left of it does not pass.
 *
 * mallinfo2() calls all of that in use, and so does the walk before this file
 * takes it out.
 */
#include "memory/glibc_walk.h"

#include "core/memory.h"

#define CACHE_BINS_MOST	 128u
#define CACHE_BYTES_MOST 2048u
/* Pages that following lists may read; then counts are believed. */
#define CACHE_LOADS 32768u

uint64_t plimp_walk_cache_chunk(const struct plimp_glibc_layout *layout)
{
	return ((uint64_t)layout->tcache_size + 8 + 15) & ~(uint64_t)15;
}

static unsigned cache_bins(const struct plimp_glibc_layout *layout)
{
	unsigned bins = (unsigned)layout->tcache_small + layout->tcache_large;

	return bins < CACHE_BINS_MOST ? bins : CACHE_BINS_MOST;
}

/* How many chunks a bin says it holds; more than can be if it is nonsense. */
static uint64_t cache_count(const struct plimp_walk *walk, const uint8_t *bytes,
			    unsigned bin)
{
	uint64_t most = walk->place->tcache_count;
	uint64_t count;

	switch (walk->layout->tcache_counts) {
	case PLIMP_GLIBC_BYTES:
		return bytes[bin];
	case PLIMP_GLIBC_WORDS:
		return plimp_word16(bytes + 2 * bin);
	default:
		count = plimp_word16(bytes + 2 * bin);
		return count <= most ? most - count : UINT64_MAX;
	}
}

static uint64_t cache_head(const struct plimp_walk *walk, const uint8_t *bytes,
			   unsigned bin)
{
	return plimp_word64(bytes + walk->layout->tcache_entries + 8u * bin);
}

static int cache_fits(const struct plimp_glibc_layout *layout)
{
	return layout->tcache_size <= CACHE_BYTES_MOST &&
	       layout->tcache_entries + 8u * cache_bins(layout) <=
		   layout->tcache_size;
}

/* Could these be the contents of a cache that holds something? */
static int cache_is_plausible(const struct plimp_walk *walk,
			      const uint8_t *bytes)
{
	unsigned bins = cache_bins(walk->layout);
	uint64_t held = 0;

	for (unsigned i = 0; i < bins; i++) {
		uint64_t count = cache_count(walk, bytes, i);
		uint64_t head = cache_head(walk, bytes, i);

		if (count > walk->place->tcache_count || head % 16 != 0 ||
		    (head == 0) != (count == 0))
			return 0;
		held += count;
	}
	return held > 0;
}

/* The rest of a list of which the count alone is known. Its size is that of
 * the bin; where the bin has a range, nothing is said. */
static uint64_t cache_believe(const struct plimp_walk *walk, unsigned bin,
			      uint64_t rest, uint64_t *count)
{
	if (bin >= walk->layout->tcache_small)
		return 0;
	*count += rest;
	return rest * (PLIMP_CHUNK_LEAST + 16u * (uint64_t)bin);
}

/* What all its counts come to; `*count` chunks. */
static uint64_t cache_counted(const struct plimp_walk *walk,
			      const uint8_t *bytes, uint64_t *count)
{
	unsigned bins = cache_bins(walk->layout);
	uint64_t sum = 0;

	*count = 0;
	for (unsigned i = 0; i < bins; i++)
		sum +=
		    cache_believe(walk, i, cache_count(walk, bytes, i), count);
	return sum;
}

static uint64_t cache_digest(const uint8_t *bytes, size_t size)
{
	uint64_t digest = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < size; i++)
		digest = (digest ^ bytes[i]) * 1099511628211u;
	return digest;
}

int plimp_walk_cache_meet(struct plimp_walk *walk, uint64_t chunk, uint64_t end,
			  uint32_t arena)
{
	const struct plimp_glibc_layout *layout = walk->layout;
	uint64_t address = chunk + PLIMP_CHUNK_HEADER;
	const uint8_t *bytes;
	uint64_t count;
	int code;

	if (!cache_fits(layout) || walk->place->tcache_count == 0)
		return PLIM_OK;
	code = plimp_span_at(&walk->span, address, layout->tcache_size, end,
			     &bytes);
	if (code != PLIMP_REACHED)
		return code < 0 ? code : PLIM_OK;
	if (!cache_is_plausible(walk, bytes) ||
	    walk->cache_count >= PLIMP_WALK_CACHES)
		return PLIM_OK;
	code = plimp_reserve(walk->image->allocator, (void **)&walk->caches,
			     &walk->cache_capacity, walk->cache_count + 1, 64,
			     sizeof(*walk->caches));
	if (code != PLIM_OK)
		return code;
	walk->caches[walk->cache_count++] = (struct plimp_walk_cache){
	    .address = address,
	    .digest = cache_digest(bytes, layout->tcache_size),
	    .held = cache_counted(walk, bytes, &count),
	    .arena = arena,
	};
	return PLIM_OK;
}

/* One node: is it a chunk that this bin can hold? `*size` is its size, 0 if
 * not; `*next` the node after it. */
static int cache_node(struct plimp_walk *walk, uint64_t cache, unsigned bin,
		      uint64_t node, uint64_t *key, uint64_t *size,
		      uint64_t *next)
{
	const struct plimp_glibc_layout *layout = walk->layout;
	uint64_t least = PLIMP_CHUNK_LEAST + 16u * (uint64_t)bin;
	uint8_t bytes[32];
	uint64_t found;
	uint64_t word;
	int code;

	*size = 0;
	if (node % 16 != 0 || node < PLIMP_CHUNK_HEADER)
		return PLIMP_REACHED;
	code = plimp_window_read(&walk->window, node - PLIMP_CHUNK_HEADER,
				 bytes, sizeof(bytes));
	if (code != PLIMP_REACHED)
		return code;
	found = plimp_word64(bytes + 8) & ~(uint64_t)PLIMP_CHUNK_FLAGS;
	word = plimp_word64(bytes + 24);
	if (bin < layout->tcache_small ? found != least : found < least)
		return PLIMP_REACHED;
	if (layout->tcache_key == PLIMP_GLIBC_ADDRESS && word != cache)
		return PLIMP_REACHED;
	if (layout->tcache_key == PLIMP_GLIBC_RANDOM) {
		if (*key == 0)
			*key = word;
		if (word != *key || word == 0)
			return PLIMP_REACHED;
	}
	*next = plimp_word64(bytes + 16);
	if (layout->is_mangled)
		*next ^= node >> 12;
	*size = found;
	return PLIMP_REACHED;
}

/* Books a node with the arena of its chunk, to be settled when the whole cache
 * is seen to be true. One that has a mapping of its own is of no arena. */
static void cache_take(struct plimp_walk *walk, uint64_t node, uint64_t size)
{
	const struct plimp_walk_region *region =
	    plimp_walk_region_of(walk, node);
	struct plimp_walk_arena *arena;

	/* Not more than there is: a bin of a range believes any size. */
	if (region == NULL || size > region->end - node)
		return;
	arena = &walk->arenas[region->arena];
	if (arena->pending_count == 0)
		walk->touched[walk->touched_count++] = region->arena;
	arena->pending += size;
	arena->pending_count++;
}

/* An arena cannot have more in caches than it has in use: two caches that say
 * they hold the same chunks. What could not be walked may be in use, too. */
static int cache_has_room(const struct plimp_walk *walk)
{
	for (size_t i = 0; i < walk->touched_count; i++) {
		const struct plimp_walk_arena *arena =
		    &walk->arenas[walk->touched[i]];
		const struct plimp_walk_tally *tally = &arena->tally;

		if (tally->cached + arena->pending >
		    tally->used + tally->unknown + tally->lost)
			return 0;
	}
	return 1;
}

/* Enters what was booked, or forgets it. */
static void cache_settle(struct plimp_walk *walk, int is_true)
{
	for (size_t i = 0; i < walk->touched_count; i++) {
		struct plimp_walk_arena *arena =
		    &walk->arenas[walk->touched[i]];

		if (is_true) {
			arena->tally.cached += arena->pending;
			arena->tally.cached_resident += arena->pending;
			arena->tally.cached_count += arena->pending_count;
		}
		arena->pending = 0;
		arena->pending_count = 0;
	}
	walk->touched_count = 0;
}

/* What one list came to. */
enum cache_end { CACHE_TRUE, CACHE_FALSE, CACHE_UNREADABLE, CACHE_DEAR };

/* Follows a list of `count` nodes and books them; `*met` were booked. */
static int cache_list(struct plimp_walk *walk, uint64_t cache, unsigned bin,
		      uint64_t node, uint64_t count, uint64_t *key,
		      uint64_t *met, enum cache_end *ending)
{
	*ending = CACHE_FALSE;
	for (*met = 0; *met < count; (*met)++) {
		uint64_t size;
		uint64_t next = 0;
		int code;

		if (walk->window.loads > walk->cache_loads) {
			*ending = CACHE_DEAR;
			return PLIM_OK;
		}
		code = cache_node(walk, cache, bin, node, key, &size, &next);
		if (code < 0)
			return code;
		if (code == PLIMP_UNREACHED) {
			*ending = CACHE_UNREADABLE;
			return PLIM_OK;
		}
		if (size == 0)
			return PLIM_OK;
		cache_take(walk, node, size);
		node = next;
	}
	if (node == 0)
		*ending = CACHE_TRUE;
	return PLIM_OK;
}

/* A record that was a cache's when it was met, is one now, and changed in
 * between is in use: its lists moved while they were followed, but its counts
 * are of one moment. How far they are off is what they changed by. */
static void cache_is_live(struct plimp_walk *walk,
			  const struct plimp_walk_cache *cache,
			  const uint8_t *bytes)
{
	struct plimp_walk_tally *tally = &walk->arenas[cache->arena].tally;
	uint64_t count;
	uint64_t sum = cache_counted(walk, bytes, &count);

	tally->cached += sum;
	tally->cached_resident += sum;
	tally->cached_count += count;
	walk->cache_trusted += sum;
	walk->cache_real++;
}

static int cache_follow(struct plimp_walk *walk,
			const struct plimp_walk_cache *cache)
{
	struct plimp_walk_tally *tally = &walk->arenas[cache->arena].tally;
	unsigned bins = cache_bins(walk->layout);
	uint8_t bytes[CACHE_BYTES_MOST];
	enum cache_end ending = CACHE_TRUE;
	uint64_t believed = 0;
	uint64_t believed_count = 0;
	uint64_t key = 0;
	uint64_t now;
	int has_changed;
	int code;

	/* What is kept of these pages may be as old as the arena's record. */
	plimp_window_forget(&walk->window);
	code = plimp_window_read(&walk->window, cache->address, bytes,
				 walk->layout->tcache_size);

	if (code != PLIMP_REACHED)
		return code < 0 ? code : PLIM_OK;
	has_changed =
	    cache_digest(bytes, walk->layout->tcache_size) != cache->digest;
	walk->changed += has_changed != 0;
	if (!cache_is_plausible(walk, bytes))
		return PLIM_OK;
	now = cache_counted(walk, bytes, &believed_count);
	believed_count = 0;
	for (unsigned i = 0; i < bins && ending != CACHE_FALSE; i++) {
		uint64_t count = cache_count(walk, bytes, i);
		uint64_t met;

		code = cache_list(walk, cache->address, i,
				  cache_head(walk, bytes, i), count, &key, &met,
				  &ending);
		if (code != PLIM_OK)
			return code;
		if (ending == CACHE_UNREADABLE || ending == CACHE_DEAR)
			believed += cache_believe(walk, i, count - met,
						  &believed_count);
	}
	if (!cache_has_room(walk) ||
	    tally->cached + walk->arenas[cache->arena].pending + believed >
		tally->used + tally->unknown + tally->lost)
		ending = CACHE_FALSE;
	cache_settle(walk, ending != CACHE_FALSE);
	if (has_changed)
		walk->cache_moved +=
		    now > cache->held ? now - cache->held : cache->held - now;
	if (ending == CACHE_FALSE) {
		if (has_changed)
			cache_is_live(walk, cache, bytes);
		return PLIM_OK;
	}
	tally->cached += believed;
	tally->cached_count += believed_count;
	walk->cache_trusted += believed;
	walk->cache_real++;
	return PLIM_OK;
}

int plimp_walk_caches(struct plimp_walk *walk)
{
	if (walk->cache_count == 0)
		return PLIM_OK;
	walk->touched = plimp_allocate(
	    walk->image->allocator, walk->arena_count, sizeof(*walk->touched));
	if (walk->touched == NULL)
		return PLIM_ENOMEM;
	walk->cache_loads = walk->window.loads + CACHE_LOADS;
	for (size_t i = 0; i < walk->cache_count; i++) {
		int code = cache_follow(walk, &walk->caches[i]);

		if (code != PLIM_OK)
			return code;
	}
	return PLIM_OK;
}
