/*
 * glibc_walk_pages.c - what becomes of the pages of a heap (glibc_walk.h).
 *
 * Stretches come in order of address and are dealt out to pages; a page that
 * is through is asked whether it takes memory, and its free bytes go where they
 * belong. Neighbouring free chunks, those in fast bins included, are one run,
 * since malloc_trim() first joins them (malloc_consolidate). Of a run it gives
 * back the whole pages from 48 bytes behind its start (mtrim); what is left of
 * the run lies in pages that something live keeps. The top of the main arena
 * shrinks by whole pages if the heap ends there (systrim); the top of a
 * thread's arena never does.
 *
 * A free byte in a resident page is in exactly one of: trim, pinned,
 * top_retained. In a page of the zero page, or in none, it is released.
 */
#include "memory/glibc_walk.h"

enum page_share { PAGE_LIVE, PAGE_FREE, PAGE_TRIM, PAGE_TOP, PAGE_UNKNOWN };

void plimp_pages_begin(struct plimp_walk *walk,
		       const struct plimp_walk_region *region)
{
	walk->pages = (struct plimp_walk_pages){
	    .tally = &walk->arenas[region->arena].tally,
	    .region = region,
	    .page = region->start & ~(walk->page_bytes - 1),
	};
}

static int page_offer(struct plimp_walk *walk, const plim_hostage *hostage)
{
	if (hostage->kept_bytes == 0 ||
	    hostage->kept_bytes <= plimp_heap_hostage_floor(walk->heap))
		return PLIM_OK;
	return plimp_heap_add_hostage(walk->heap, hostage);
}

/* The page has one live chunk, and free bytes besides that it keeps there. A
 * chunk can do so in the page it begins in and in the one it ends in. */
static int page_hostage(struct plimp_walk *walk)
{
	struct plimp_walk_pages *pages = &walk->pages;
	uint64_t address = pages->live_chunk + PLIMP_CHUNK_HEADER;
	int code;

	if (pages->hostage.address == address) {
		pages->hostage.kept_bytes += pages->free;
		return PLIM_OK;
	}
	code = page_offer(walk, &pages->hostage);
	pages->hostage = (plim_hostage){
	    .address = address,
	    .size = pages->live_size,
	    .kept_bytes = pages->free,
	    .arena = pages->region->arena,
	};
	return code;
}

static void page_trims(struct plimp_walk_tally *tally, uint64_t bytes,
		       uint8_t flags)
{
	tally->trim += bytes;
	if ((flags & PLIMP_PAGE_HUGE) != 0)
		tally->huge += bytes;
	if ((flags & PLIMP_PAGE_SHARED) != 0)
		tally->shared += bytes;
	else if ((flags & PLIMP_PAGE_EXCLUSIVE) == 0)
		tally->unshared += bytes;
}

/* The page is through. */
static int page_close(struct plimp_walk *walk)
{
	struct plimp_walk_pages *pages = &walk->pages;
	struct plimp_walk_tally *tally = pages->tally;
	uint64_t unused = (uint64_t)pages->free + pages->trim + pages->top;
	uint8_t flags;
	int code = plimp_residency_at(&walk->behind, pages->page,
				      pages->region->end, &flags);

	if (code != PLIM_OK)
		return code;
	if ((flags & PLIMP_PAGE_RESIDENT) != 0) {
		tally->resident += walk->page_bytes;
		tally->pinned += pages->free;
		tally->top_retained += pages->top;
		if (pages->trim > 0)
			page_trims(tally, pages->trim, flags);
		if (pages->free > 0 && pages->live == 1 &&
		    pages->live_chunk != 0)
			code = page_hostage(walk);
	} else if ((flags & PLIMP_PAGE_SWAPPED) != 0) {
		tally->swapped += walk->page_bytes;
		tally->trim_swap += pages->trim;
	} else if ((flags & PLIMP_PAGE_READABLE) != 0 &&
		   (flags & PLIMP_PAGE_ZERO) == 0) {
		tally->vague += walk->page_bytes;
	} else {
		tally->released += unused;
	}
	pages->free = 0;
	pages->trim = 0;
	pages->top = 0;
	pages->live = 0;
	return code;
}

/* Deals a stretch out to its pages. */
static int page_deal(struct plimp_walk *walk, uint64_t start, uint64_t end,
		     enum page_share share, uint64_t chunk)
{
	struct plimp_walk_pages *pages = &walk->pages;
	uint64_t size = end - start;

	while (start < end) {
		uint64_t page = start & ~(walk->page_bytes - 1);
		uint64_t part = page + walk->page_bytes - start;

		if (page != pages->page) {
			int code = page_close(walk);

			if (code != PLIM_OK)
				return code;
			pages->page = page;
		}
		if (part > end - start)
			part = end - start;
		if (share == PAGE_LIVE) {
			pages->live += pages->live < 2;
			pages->live_chunk = chunk;
			pages->live_size = size;
		} else if (share == PAGE_FREE) {
			pages->free += (uint32_t)part;
		} else if (share == PAGE_TRIM) {
			pages->trim += (uint32_t)part;
		} else if (share == PAGE_TOP) {
			pages->top += (uint32_t)part;
		} else {
			pages->live = 2; /* whoever it is */
		}
		start += part;
	}
	return PLIM_OK;
}

/* What a trim gives back of a run: whole pages in [*from, *to). */
static void page_trim_range(const struct plimp_walk *walk, uint64_t start,
			    uint64_t end, uint64_t *from, uint64_t *to)
{
	uint64_t mask = walk->page_bytes - 1;

	*from = end;
	*to = end;
	if (end - start <= mask + PLIMP_CHUNK_RECORD ||
	    walk->pages.region->is_huge)
		return;
	*from = (start + PLIMP_CHUNK_RECORD + mask) & ~mask;
	*to = *from + ((end - *from) & ~mask);
}

static int page_run_close(struct plimp_walk *walk)
{
	struct plimp_walk_pages *pages = &walk->pages;
	uint64_t start = pages->run;
	uint64_t end = pages->run_end;
	uint64_t from;
	uint64_t to;
	int code;

	if (start == 0)
		return PLIM_OK;
	pages->run = 0;
	page_trim_range(walk, start, end, &from, &to);
	code = page_deal(walk, start, from, PAGE_FREE, 0);
	if (code == PLIM_OK)
		code = page_deal(walk, from, to, PAGE_TRIM, 0);
	if (code == PLIM_OK)
		code = page_deal(walk, to, end, PAGE_FREE, 0);
	return code;
}

int plimp_pages_free(struct plimp_walk *walk, uint64_t address, uint64_t size,
		     int is_fast)
{
	struct plimp_walk_pages *pages = &walk->pages;

	if (pages->run == 0) {
		pages->run = address;
		pages->run_has_fast = 0;
	}
	pages->run_end = address + size;
	pages->run_has_fast |= is_fast;
	return PLIM_OK;
}

int plimp_pages_live(struct plimp_walk *walk, uint64_t address, uint64_t size,
		     uint64_t chunk)
{
	int code = page_run_close(walk);

	if (code != PLIM_OK)
		return code;
	return page_deal(walk, address, address + size, PAGE_LIVE, chunk);
}

int plimp_pages_unknown(struct plimp_walk *walk, uint64_t address,
			uint64_t size)
{
	int code = page_run_close(walk);

	if (code != PLIM_OK)
		return code;
	return page_deal(walk, address, address + size, PAGE_UNKNOWN, 0);
}

/* Is the end of the region where the system's break is? */
static int page_ends_at_break(const struct plimp_walk *walk)
{
	const struct plimp_walk_region *region = walk->pages.region;
	const struct plimp_mapping *mapping =
	    plimp_space_find(walk->image->space, region->end - 1);

	return region->is_brk && !region->is_huge && mapping != NULL &&
	       mapping->end == region->end;
}

/* By how much systrim() lowers the break: whole pages, or whole huge pages
 * with the tunable, and the least chunk and a byte stay. */
static uint64_t page_extra(const struct plimp_walk *walk, uint64_t size)
{
	uint64_t unit = walk->page_bytes;
	uint64_t thp = walk->place->thp_pagesize;

	if (size <= PLIMP_CHUNK_LEAST + 1)
		return 0;
	if (thp > unit && (thp & (thp - 1)) == 0)
		unit = thp;
	return (size - PLIMP_CHUNK_LEAST - 1) & ~(unit - 1);
}

int plimp_pages_top(struct plimp_walk *walk, uint64_t address, uint64_t size)
{
	struct plimp_walk_pages *pages = &walk->pages;
	uint64_t end = address + size;
	uint64_t extra;
	int code = PLIM_OK;

	/* A fast chunk at the top joins it, and what is before it, too. */
	if (pages->run != 0 && pages->run_has_fast) {
		address = pages->run;
		pages->run = 0;
	} else {
		code = page_run_close(walk);
	}
	if (code != PLIM_OK)
		return code;
	if (!page_ends_at_break(walk))
		return page_deal(walk, address, end, PAGE_TOP, 0);
	extra = page_extra(walk, end - address);
	code = page_deal(walk, address, end - extra, PAGE_FREE, 0);
	if (code != PLIM_OK)
		return code;
	return page_deal(walk, end - extra, end, PAGE_TRIM, 0);
}

int plimp_pages_end(struct plimp_walk *walk)
{
	int code = page_run_close(walk);

	if (code == PLIM_OK)
		code = page_close(walk);
	if (code == PLIM_OK)
		code = page_offer(walk, &walk->pages.hostage);
	return code;
}
