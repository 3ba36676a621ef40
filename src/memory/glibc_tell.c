/*
 * glibc_tell.c - tells apart layouts whose records of arenas and parameters
 * are alike, by the cache of the program's first thread.
 *
 * The first thing that malloc allocates is that cache, so that the first chunk
 * of the main arena is of its size: this tells how it counts. One chunk in one
 * of its bins then tells how lists are linked (from 2.32 a link is xored with
 * its own place, so that even the last one, 0, is not) and what stands behind
 * the link. Needed for static programs and for files that are gone alone: else
 * the version decides.
 */
#include "memory/glibc_locate.h"

struct tell_cache {
	uint64_t address;
	uint64_t chunk; /* its size; 0: there is none */
	int has_entry;
	uint64_t entry;
	uint64_t link;
	uint64_t key;
};

/* The first bin that holds something. */
static int tell_entry(struct plimp_window *window,
		      const struct plimp_glibc_layout *layout,
		      struct tell_cache *cache)
{
	int reach = PLIMP_REACHED;

	cache->has_entry = 0;
	for (unsigned i = 0; i < layout->tcache_small && !reach; i++) {
		uint64_t place =
		    cache->address + layout->tcache_entries + 8 * i;

		reach = plimp_window_u64(window, place, &cache->entry);
		if (reach || !cache->entry)
			continue;
		reach = plimp_window_u64(window, cache->entry, &cache->link);
		if (!reach)
			reach = plimp_window_u64(window, cache->entry + 8,
						 &cache->key);
		cache->has_entry = reach == PLIMP_REACHED;
		break;
	}
	return reach < 0 ? reach : PLIM_OK;
}

static int tell_cache_of(struct plimp_window *window,
			 const struct plimp_glibc_fit *fit,
			 struct tell_cache *cache)
{
	const uint64_t base = fit->parameters.sbrk_base;
	uint64_t chunk = (base + 15) & ~(uint64_t)15, size;
	int reach;

	cache->chunk = 0;
	if (!base || fit->is_raw)
		return PLIM_OK;
	reach = plimp_window_u64(window, chunk + 8, &size);
	if (reach)
		return reach < 0 ? reach : PLIM_OK;
	cache->address = chunk + 16;
	cache->chunk = size & ~(uint64_t)7;
	return PLIM_OK;
}

static int tell_is_chunk(uint64_t address)
{
	return address % 16 == 0 && address < (uint64_t)1 << 56;
}

/* 1 if what the cache shows can be of this row. A link that was taken apart
 * the wrong way leads nowhere: it differs by a page number's bits. */
static int tell_holds(struct plimp_window *window,
		      const struct plimp_glibc_layout *layout,
		      const struct tell_cache *cache, int *holds)
{
	uint64_t link = cache->link, word;
	int reach;

	*holds = cache->chunk == ((layout->tcache_size + 23u) & ~15u);
	if (!*holds || !cache->has_entry)
		return PLIM_OK;
	if (layout->is_mangled)
		link ^= cache->entry >> 12;
	*holds = tell_is_chunk(cache->entry) && tell_is_chunk(link);
	if (layout->tcache_key == PLIMP_GLIBC_ADDRESS)
		*holds = *holds && cache->key == cache->address;
	else if (cache->key == cache->address ||
		 (layout->tcache_key == PLIMP_GLIBC_RANDOM && !cache->key))
		*holds = 0;
	if (!*holds || !link)
		return PLIM_OK;
	reach = plimp_window_u64(window, link, &word);
	*holds = reach == PLIMP_REACHED;
	return reach < 0 ? reach : PLIM_OK;
}

int plimp_glibc_tell(struct plimp_window *window,
		     const struct plimp_glibc_fit *fits, size_t count,
		     struct plimp_glibc_fit *fit)
{
	size_t held = 0;

	if (count == 1) {
		*fit = fits[0];
		return PLIM_OK;
	}
	for (size_t i = 0; i < count; i++) {
		struct tell_cache cache;
		int holds = 0;
		int failed = tell_cache_of(window, &fits[i], &cache);

		if (!failed && cache.chunk)
			failed = tell_entry(window, fits[i].layout, &cache);
		if (!failed && cache.chunk)
			failed =
			    tell_holds(window, fits[i].layout, &cache, &holds);
		if (failed)
			return failed;
		if (holds && !held++)
			*fit = fits[i];
	}
	if (held != 1)
		fit->reason = PLIMP_GLIBC_SEVERAL;
	return PLIM_OK;
}
