/*
 * glibc.h - the seam between finding glibc's malloc in a process and walking
 * it: the layout of its records, one row per range of releases, and the place
 * where a process has them.
 *
 * A row is numbers only: offsets of members in bytes, taken from the tagged
 * sources (malloc/malloc.c, malloc/arena.c), never from a header of the
 * machine that we run on. Where a record lacks a member its offset is
 * PLIMP_GLIBC_NONE. glibc_layout.c has the table, glibc_locate*.c the finding,
 * glibc_walk*.c the walk.
 */
#ifndef PLIMP_GLIBC_H
#define PLIMP_GLIBC_H

#include <plimsoll/base.h>

#define PLIMP_GLIBC_NONE 0xffffu

/* ELF machines that the table has rows for. */
enum plimp_machine { PLIMP_MACHINE_X86_64 = 62, PLIMP_MACHINE_AARCH64 = 183 };

/* Where a row's numbers come from. */
enum plimp_glibc_standing {
	PLIMP_GLIBC_READ = 1,  /* the tagged sources alone */
	PLIMP_GLIBC_BUILT = 2, /* and a build's own offsets */
	PLIMP_GLIBC_RUN = 3    /* and a running program, against mallinfo2 */
};

/* How a thread's cache tells how many chunks a bin holds. */
enum plimp_glibc_counts {
	PLIMP_GLIBC_BYTES = 1, /* 2.26 to 2.29: one byte each */
	PLIMP_GLIBC_WORDS = 2, /* 2.30 to 2.41: two bytes each */
	/* From 2.42: two bytes each, the free slots: tcache_count less what is
	 * cached, so that a bin of n chunks says tcache_count - n. */
	PLIMP_GLIBC_SLOTS = 3
};

/* The second word of a cached chunk's user data. */
enum plimp_glibc_key {
	PLIMP_GLIBC_NO_KEY = 0,	 /* 2.26 to 2.28 */
	PLIMP_GLIBC_ADDRESS = 1, /* 2.29 to 2.33: of the thread's cache */
	PLIMP_GLIBC_RANDOM = 2	 /* from 2.34: one number of the process */
};

struct plimp_glibc_layout {
	const char *name; /* "2.35-2.41 x86-64" */
	uint8_t standing; /* enum plimp_glibc_standing */
	uint16_t machine; /* enum plimp_machine */
	uint16_t first_minor;
	uint16_t last_minor; /* glibc 2.first to 2.last */

	/* struct _heap_info, at the start of each heap of a thread's arena.
	 * ar_ptr is at 0; the first arena is right behind the record. */
	uint16_t heap_info_size;
	uint16_t heap_prev;
	uint16_t heap_size;
	uint16_t heap_mprotect_size;
	uint16_t heap_pagesize; /* or NONE, before 2.35 */

	/* struct malloc_state. Its mutex is at 0. */
	uint16_t state_size;
	uint16_t flags;		  /* int; bit 1: not contiguous */
	uint16_t have_fastchunks; /* int, or NONE */
	uint16_t fastbins;	  /* or NONE, from 2.43 */
	uint16_t fastbin_count;
	uint16_t top;
	uint16_t last_remainder;
	uint16_t bins; /* PLIMP_GLIBC_BINS pairs of fd and bk */
	uint16_t binmap;
	uint16_t next;
	uint16_t next_free;
	uint16_t attached_threads;
	uint16_t system_mem;
	uint16_t max_system_mem;

	/* Lists of fast bins and caches are stored as (place >> 12) ^ next,
	 * from 2.32; the heads are not. */
	uint8_t is_mangled;

	/* struct tcache_perthread_struct: the counts at 0, then the heads. */
	uint8_t tcache_counts; /* enum plimp_glibc_counts */
	uint8_t tcache_key;    /* enum plimp_glibc_key */
	uint16_t tcache_size;
	uint16_t tcache_entries; /* offset of the heads */
	uint16_t tcache_small;	 /* bins of one size each: 64 */
	uint16_t tcache_large;	 /* bins of a range of sizes behind them */

	/* struct malloc_par. */
	uint16_t mp_size;
	uint16_t mp_trim_threshold;
	uint16_t mp_top_pad;
	uint16_t mp_mmap_threshold;
	uint16_t mp_arena_test;
	uint16_t mp_arena_max;
	uint16_t mp_thp_pagesize;     /* or NONE, before 2.35 */
	uint16_t mp_hp_pagesize;      /* or NONE, before 2.35 */
	uint16_t mp_n_mmaps;	      /* int */
	uint16_t mp_n_mmaps_max;      /* int */
	uint16_t mp_max_n_mmaps;      /* int */
	uint16_t mp_no_dyn_threshold; /* int */
	uint16_t mp_mmapped_mem;
	uint16_t mp_max_mmapped_mem;
	uint16_t mp_sbrk_base;
	uint16_t mp_tcache_bins; /* the small ones from 2.42 */
	uint16_t mp_tcache_max_bytes;
	uint16_t mp_tcache_count;
	uint16_t mp_tcache_unsorted_limit;

	/* From 2.43 a chunk of its own mapping has the size that a normal one
	 * of its place would have; before, the size of the mapping. */
	uint8_t is_mmapped_like_normal;
	/* With hugetlb=2 heaps are this many huge pages; 0: heap_bytes always
	 * (before 2.35 and from 2.42). */
	uint8_t huge_heap_pages;
	uint32_t heap_bytes; /* size and alignment of a thread arena's heap */
};

/* Pairs of links that malloc_state has for normal bins. */
#define PLIMP_GLIBC_BINS 127
/* What the size word of a chunk has in its low bits. */
#define PLIMP_GLIBC_PREV_INUSE 1u
#define PLIMP_GLIBC_MMAPPED    2u
#define PLIMP_GLIBC_NON_MAIN   4u

/* The table's rows, in the order of releases, x86-64 first. */
const struct plimp_glibc_layout *plimp_glibc_layouts(size_t *count);

/* The row of glibc 2.`minor` on that machine, or NULL. */
const struct plimp_glibc_layout *plimp_glibc_layout_find(int machine,
							 unsigned minor);

/* "read", "built" or "run". Static storage. */
const char *plimp_glibc_standing_word(int standing);

/* Independent ways to main_arena. */
enum plimp_glibc_way {
	PLIMP_GLIBC_BY_SYMBOL = 1, /* .symtab of libc or of its debug file */
	PLIMP_GLIBC_BY_RING = 2,   /* from a heap of a thread, along `next` */
	PLIMP_GLIBC_BY_SCAN = 4,   /* self-consistent record in libc's data */
	/* No way of its own, but a witness: main_arena's top lies in the heap
	 * that begins at sbrk_base, and system_mem leads from one to the
	 * other. */
	PLIMP_GLIBC_BY_BREAK = 8
};

/* Why there is no place: each has a word and a sentence. Append only. */
enum plimp_glibc_reason {
	PLIMP_GLIBC_FOUND = 0,
	PLIMP_GLIBC_ABSENT = 1,	  /* the process has no glibc */
	PLIMP_GLIBC_MACHINE = 2,  /* no rows for that machine */
	PLIMP_GLIBC_OLD = 3,	  /* before 2.26 */
	PLIMP_GLIBC_NO_ARENA = 4, /* no layout fits: none is self-consistent */
	PLIMP_GLIBC_SEVERAL = 5,  /* several places or layouts fit */
	PLIMP_GLIBC_DISAGREE = 6, /* the ways lead to different places */
	PLIMP_GLIBC_UNREADABLE = 7,    /* its data is absent or swapped out */
	PLIMP_GLIBC_DENIED = 8,	       /* memory may not be read */
	PLIMP_GLIBC_NO_PARAMETERS = 9, /* main_arena, but no mp_ */
	PLIMP_GLIBC_RING_BROKEN = 10   /* arenas do not form a ring */
};
const char *plimp_glibc_reason_word(int reason);
const char *plimp_glibc_reason_text(int reason);

struct plimp_glibc_place {
	int reason; /* enum plimp_glibc_reason; FOUND: all below is valid */
	/* From here to `is_static` also where it was not FOUND, as far as it
	 * is known: NULL, 0 or "" where it is not. */
	const struct plimp_glibc_layout *layout;
	/* The row stands for older releases than this one, and was taken since
	 * the self-check agreed. */
	int is_beyond;
	char version[16];	  /* "2.36"; "": none was found, layout alone */
	const char *version_from; /* "file", "memory", "symbols", or "layout" */
	uint64_t libc_start; /* the mapping that holds main_arena belongs */
	uint64_t libc_end;   /* to what is mapped here */
	int is_static;	     /* libc is part of the program */
	uint64_t main_arena;
	uint64_t mp;
	unsigned ways;	  /* enum plimp_glibc_way that lead to main_arena */
	unsigned applied; /* those that could be asked at all */

	uint64_t *arenas; /* in the order of the ring, main_arena first */
	size_t arena_count;
	size_t arena_capacity;

	/* Of mp_ of this process. */
	uint64_t sbrk_base;   /* 0: the main arena never had memory by brk */
	uint64_t heap_bytes;  /* of a thread arena's heap here */
	uint64_t hp_pagesize; /* 0: no huge pages asked for by the tunable */
	uint64_t thp_pagesize;
	uint64_t trim_threshold;
	uint64_t top_pad;
	uint64_t mmap_threshold;
	uint64_t mmapped_bytes; /* in chunks of their own mappings */
	uint32_t mmapped_count;
	uint64_t tcache_bins; /* bins of one size each that are in use */
	uint64_t tcache_max_bytes;
	uint64_t tcache_count; /* chunks that a bin takes; 0: no cache */
	/* Sum of system_mem of all arenas, and the mmapped bytes: little beside
	 * what the process has means that another allocator does the work. */
	uint64_t system_bytes;
};

struct plimp_image;

/*
 * Finds glibc's malloc in the image. PLIM_OK whatever was found: the reason
 * tells. An error (PLIM_ENOMEM, PLIM_ENOPROCESS, PLIM_EREPLACED, PLIM_ESYSTEM)
 * leaves the place untouched. `place` needs no initial value and is released
 * with plimp_glibc_place_release(), with the image's allocator.
 *
 * Bounded: reads the headers of mapped files, libc's writable segment and one
 * page of each 64 MiB-aligned mapping.
 */
int plimp_glibc_locate(const struct plimp_image *image,
		       struct plimp_glibc_place *place, plim_error *error);
void plimp_glibc_place_release(const plim_allocator *allocator,
			       struct plimp_glibc_place *place);

#endif
