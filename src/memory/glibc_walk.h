/*
 * glibc_walk.h - what the files of the walk over glibc's heaps share.
 *
 * The walk has five parts. glibc_walk_arenas.c reads the arenas and makes a
 * region of each stretch that belongs to one; glibc_walk_fastbins.c finds out
 * which chunks wait in fast bins; glibc_walk_chunks.c steps through a region
 * chunk by chunk; glibc_walk_pages.c says what becomes of their pages;
 * glibc_walk_tcache.c and glibc_walk_mapped.c find what threads cache and what
 * has a mapping of its own. glibc_walk_figures.c checks one against the other.
 * docs/design/heap-walk.md has the method and what each failure leads to.
 */
#ifndef PLIMP_GLIBC_WALK_H
#define PLIMP_GLIBC_WALK_H

#include "memory/glibc.h"
#include "memory/heaps.h"
#include "memory/image.h"

/* malloc.c: two words in front of a block, and the least that a chunk is;
 * struct malloc_chunk, from whose end a trim begins. */
#define PLIMP_CHUNK_HEADER 16u
#define PLIMP_CHUNK_LEAST  32u
#define PLIMP_CHUNK_RECORD 48u
#define PLIMP_CHUNK_FLAGS  7u

/* Bounds. What a hostile heap would exceed ends as unknown. */
#define PLIMP_WALK_REGIONS     1048576u	 /* heaps and segments */
#define PLIMP_WALK_FAST_NODES  16777216u /* chunks in fast bins */
#define PLIMP_WALK_CACHES      65536u	 /* caches of threads */
#define PLIMP_WALK_STEPS       67108864u /* 16-byte steps of resynchronising */
#define PLIMP_WALK_LOAD_STEPS  256u	 /* a page read costs so many */
#define PLIMP_WALK_SWEEP_PAGES 262144u	 /* pages looked at for mmapped ones */
#define PLIMP_WALK_ABSENT      16777216u /* pages jumped over, in all */

/* What one stretch of a region is. */
enum plimp_stretch {
	PLIMP_STRETCH_END = 0,	 /* the region is through */
	PLIMP_STRETCH_USED = 1,	 /* a chunk in use, cached, or in a fast bin */
	PLIMP_STRETCH_FREE = 2,	 /* a free chunk */
	PLIMP_STRETCH_TOP = 3,	 /* the arena's top */
	PLIMP_STRETCH_FENCE = 4, /* fenceposts */
	PLIMP_STRETCH_GAP = 5,	 /* taken by somebody else's sbrk() */
	PLIMP_STRETCH_UNKNOWN = 6, /* headers that cannot be read */
	PLIMP_STRETCH_LOST = 7	   /* headers that make no sense */
};

struct plimp_stretch_item {
	int kind;
	uint64_t address;
	uint64_t size;
};

/* A stretch of an arena's memory. */
struct plimp_walk_region {
	uint64_t start; /* with the allocator's own records */
	uint64_t first; /* the first chunk */
	uint64_t end;
	uint64_t top; /* the arena's top, if it lies here; else 0 */
	uint32_t arena;
	uint8_t is_main; /* of the main arena: by brk, or a segment */
	uint8_t is_brk;
	uint8_t is_huge; /* a mapping of hugetlbfs */
};

/* Steps through a region. */
struct plimp_chunks {
	struct plimp_walk *walk;
	const struct plimp_walk_region *region;
	uint64_t position;
	uint64_t head; /* the size word there */
	uint8_t has_head;
	uint8_t is_gap; /* what comes is foreign until it makes sense */
};

/* Sums, of an arena. Bytes, but for the counts. */
struct plimp_walk_tally {
	uint64_t used; /* chunks in use and cached, and what is no chunk */
	uint64_t cached;
	uint64_t fast;
	uint64_t maybe; /* of used: could be in a list that cannot be read */
	uint64_t free;
	uint64_t top;
	uint64_t unknown;
	uint64_t lost;
	uint64_t used_count;
	uint64_t cached_count;
	uint64_t fast_count;
	uint64_t free_count;
	/* By page. */
	uint64_t resident;
	uint64_t swapped;
	uint64_t vague; /* whether it takes memory is not known */
	uint64_t pinned;
	uint64_t trim;
	uint64_t trim_swap;
	uint64_t top_retained;
	uint64_t cached_resident;
	uint64_t released;
	uint64_t huge;
	uint64_t shared;
	uint64_t unshared; /* of trim: nobody knows whether it is shared */
};

struct plimp_walk_arena {
	uint64_t address;
	uint64_t top;
	uint64_t system_mem;
	uint64_t attached;
	uint64_t digest; /* of its record, to see it change */
	uint64_t fast_heads[32];
	uint32_t fast_bins; /* bins that are not empty: bits */
	uint32_t fast_cut;  /* bins whose list could not be read to its end */
	size_t fast_start;  /* its chunks in fast bins, in `fast` of the walk */
	size_t fast_end;
	uint32_t heaps;
	uint8_t is_main;
	uint8_t is_contiguous;
	uint8_t meets_top;
	uint64_t pending; /* of a cache that is being followed */
	uint64_t pending_count;
	struct plimp_walk_tally tally;
};

/* A place of the walk, to read what follows again: a chunk began there, and so
 * much was in use before it. */
struct plimp_walk_mark {
	uint64_t address;
	uint64_t used;
	uint32_t region;
};

/* A thread's cache: the chunk that looked like one, and its contents then. */
struct plimp_walk_cache {
	uint64_t address; /* of the record */
	uint64_t digest;
	uint64_t held; /* bytes, by its counts */
	uint32_t arena;
};

/* The page that is being accounted for (glibc_walk_pages.c). */
struct plimp_walk_pages {
	struct plimp_walk_tally *tally;
	const struct plimp_walk_region *region;
	uint64_t page;
	uint32_t free;
	uint32_t trim;
	uint32_t top;
	uint32_t live;	     /* chunks; 2: two or more */
	uint64_t live_chunk; /* 0: not a chunk */
	uint64_t live_size;
	plim_hostage hostage; /* the last one, while it may get more */
	uint64_t run;	      /* where the run of free chunks began; 0: none */
	uint64_t run_end;
	int run_has_fast;
};

struct plimp_walk {
	const struct plimp_image *image;
	const struct plimp_glibc_place *place;
	const struct plimp_glibc_layout *layout;
	struct plim_heap *heap;
	uint64_t page_bytes;
	uint64_t cache_chunk; /* size of the chunk that holds a cache */
	struct plimp_window window;
	struct plimp_residency ahead;  /* what may be read */
	struct plimp_residency behind; /* what became of it */
	struct plimp_span span;
	struct plimp_walk_arena *arenas;
	size_t arena_count;
	struct plimp_walk_region *regions; /* ascending, none overlaps */
	size_t region_count;
	size_t region_capacity;
	uint64_t *fast; /* chunks in fast bins, ascending by arena */
	size_t fast_count;
	size_t fast_capacity;
	uint64_t fast_met;    /* of them, met as chunks */
	uint64_t fast_broken; /* lists that lead nowhere */
	struct plimp_walk_cache *caches;
	size_t cache_count;
	size_t cache_capacity;
	uint32_t *touched; /* arenas that have something pending */
	size_t touched_count;
	uint64_t cache_loads;	/* window.loads at which following ends */
	uint64_t cache_real;	/* caches that were followed to the end */
	uint64_t cache_trusted; /* and those that were not, for the cost */
	uint64_t cache_moved;	/* by what they changed meanwhile */
	struct plimp_walk_mark *marks;
	size_t mark_count;
	size_t mark_capacity;
	struct plimp_walk_pages pages;
	uint64_t steps;	 /* left */
	uint64_t absent; /* left */
	uint64_t desyncs;
	uint64_t odd;	  /* free chunks whose foot says another size */
	uint64_t changed; /* records that changed while the walk went on */
	uint64_t grown;	  /* by how much system_mem did, or shrank */
	uint64_t mapped_bytes;
	uint64_t mapped_count;
	uint64_t mapped_resident;
	uint64_t mapped_looks; /* at pages of theirs, left */
	int mapped_is_vague;   /* of some pages it is not known */
	uint64_t uncertain;
	int mapped_is_cut; /* not all pages could be looked at */
	int told;	   /* mp_ was read, and says so: */
	uint64_t told_bytes;
	uint64_t told_count;
	int is_incomplete; /* a bound was met */
	/* Why nothing can be said; 0 while all is well. */
	int reason;
	char why[128];
};

/* Gives up: the first reason stays. */
void plimp_walk_refuse(struct plimp_walk *walk, int reason, const char *why);

/* glibc_walk_arenas.c: arenas and their regions, in `walk`. */
int plimp_walk_arenas(struct plimp_walk *walk);
int plimp_walk_add_region(struct plimp_walk *walk,
			  const struct plimp_walk_region *region);
/* In order of address; refuses if one overlaps another. */
void plimp_walk_sort_regions(struct plimp_walk *walk);
/* The region that holds the address, or NULL. */
const struct plimp_walk_region *
plimp_walk_region_of(const struct plimp_walk *walk, uint64_t address);
/* Has a record changed since it was read first? Counted in `changed`. */
int plimp_walk_reread(struct plimp_walk *walk);

/* glibc_walk_chunks.c */
void plimp_chunks_begin(struct plimp_chunks *chunks, struct plimp_walk *walk,
			const struct plimp_walk_region *region,
			uint64_t position);
/* The next stretch. PLIM_OK or an error of the reader. */
int plimp_chunks_next(struct plimp_chunks *chunks,
		      struct plimp_stretch_item *item);

/* glibc_walk_fastbins.c: fills `fast`. */
int plimp_walk_fast_bins(struct plimp_walk *walk);
/* Whether a chunk in use has in it what one in a fast bin has: 1 and what it
 * points to, 0, or an error. One that was taken from a bin may, too. */
int plimp_walk_looks_fast(struct plimp_walk *walk, uint32_t arena,
			  const struct plimp_stretch_item *item, uint64_t end,
			  uint64_t *next);

/* glibc_walk_pages.c. Stretches of a region in order, then the end of it.
 * `is_fast`: a used chunk that is in a fast bin. */
void plimp_pages_begin(struct plimp_walk *walk,
		       const struct plimp_walk_region *region);
int plimp_pages_live(struct plimp_walk *walk, uint64_t address, uint64_t size,
		     uint64_t chunk);
int plimp_pages_free(struct plimp_walk *walk, uint64_t address, uint64_t size,
		     int is_fast);
int plimp_pages_top(struct plimp_walk *walk, uint64_t address, uint64_t size);
int plimp_pages_unknown(struct plimp_walk *walk, uint64_t address,
			uint64_t size);
int plimp_pages_end(struct plimp_walk *walk);

/* glibc_walk_tcache.c. Size of the chunk that holds a thread's cache. */
uint64_t plimp_walk_cache_chunk(const struct plimp_glibc_layout *layout);
/* A used chunk of that size: is kept if its contents can be a cache's. */
int plimp_walk_cache_meet(struct plimp_walk *walk, uint64_t chunk, uint64_t end,
			  uint32_t arena);
/* Follows those that were kept, and sums up what they hold. */
int plimp_walk_caches(struct plimp_walk *walk);

/* glibc_walk_mapped.c: segments of the main arena outside of brk; mmapped
 * chunks. */
int plimp_walk_segments(struct plimp_walk *walk);
int plimp_walk_mapped(struct plimp_walk *walk);

/* glibc_walk_sample.c: how much a part has changed since it was walked. */
int plimp_walk_sample(struct plimp_walk *walk);

/* glibc_walk_figures.c: checks, and then figures or the refusal. */
int plimp_walk_tell(struct plimp_walk *walk);

#endif
