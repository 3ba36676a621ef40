/*
 * mapping.h - the mappings of a process: what each one is, totals by name and
 * by kind, and an estimate of the heaps that glibc made for its threads.
 *
 * Every mapping has a kind, which is decided from its name, its file, its
 * rights, the kernel's flags and the stack pointers of the threads, and a
 * label, under which like ones are added up: the name as the kernel has it,
 * or the size class of anonymous memory without a name. Figures that are not
 * known stay so through the sums: a total over mappings of which some are
 * unknown is a lower bound.
 *
 * Names come from the process and may hold anything: escape them
 * (plim_escape) before they reach a terminal. They are as the kernel has them,
 * newlines undone, " (deleted)" kept.
 */
#ifndef PLIMSOLL_MAPPING_H
#define PLIMSOLL_MAPPING_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/memory.h>
#include <plimsoll/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a mapping is. X(NAME, NUMBER, "word", "sentence"). Numbers are
 * append-only, words never change.
 */
#define PLIM_MAPPING_KIND_LIST(X)                                              \
	X(TEXT, 1, "text",                                                     \
	  "the program that the process executes: its code, constants and "    \
	  "data")                                                              \
	X(LIBRARY, 2, "library", "a shared library: code, constants and data") \
	X(HEAP, 3, "heap", "the heap that brk moves")                          \
	X(ALLOCATOR, 4, "allocator_heap",                                      \
	  "memory that an allocator reserved for itself")                      \
	X(STACK, 5, "stack", "the stack of a thread")                          \
	X(JIT, 6, "jit", "code that the process made itself")                  \
	X(SHARED, 7, "shared", "shared memory")                                \
	X(FILE, 8, "file", "a mapped file: file cache")                        \
	X(HUGE, 9, "huge_pages", "reserved huge pages (hugetlb)")              \
	X(KERNEL, 10, "kernel", "pages that the kernel provides")              \
	X(OTHER, 11, "other", "anonymous memory of no other kind")

enum plim_mapping_kind {
#define PLIM_X(name, number, word, text) PLIM_MAPPING_##name = number,
	PLIM_MAPPING_KIND_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_mapping_kind_word(int kind);
PLIM_API const char *plim_mapping_kind_text(int kind);

/*
 * The figures of a mapping and of a group. X(NAME, NUMBER, "json_name",
 * "sentence"). All are bytes. SIZE is always known. With smaps all are known
 * but EXCLUSIVE; from the page map RESIDENT, ANONYMOUS, SWAP and EXCLUSIVE
 * alone, the others are SKIPPED.
 */
#define PLIM_MAPPING_FIGURE_LIST(X)                                     \
	X(SIZE, 1, "size_bytes", "address space")                       \
	X(RESIDENT, 2, "resident_bytes", "in RAM")                      \
	X(PRIVATE_DIRTY, 3, "private_dirty_bytes",                      \
	  "written pages that nobody else maps")                        \
	X(PRIVATE_CLEAN, 4, "private_clean_bytes",                      \
	  "pages as on disk that nobody else maps")                     \
	X(SHARED_CLEAN, 5, "shared_clean_bytes",                        \
	  "pages as on disk that others map too")                       \
	X(SHARED_DIRTY, 6, "shared_dirty_bytes",                        \
	  "written pages that others map too")                          \
	X(PSS, 7, "pss_bytes",                                          \
	  "in RAM, each page divided by those who map it")              \
	X(ANONYMOUS, 8, "anonymous_bytes", "anonymous pages in RAM")    \
	X(SWAP, 9, "swap_bytes", "swapped out")                         \
	X(SWAP_PSS, 10, "swap_pss_bytes",                               \
	  "swapped out, each page divided by those who map it")         \
	X(HUGE, 11, "anonymous_huge_bytes",                             \
	  "anonymous pages in transparent huge pages")                  \
	X(LAZY_FREE, 12, "lazy_free_bytes",                             \
	  "given back with MADV_FREE, still resident")                  \
	X(LOCKED, 13, "locked_bytes", "locked in RAM")                  \
	X(HUGETLB, 14, "hugetlb_bytes",                                 \
	  "in reserved huge pages, which no resident figure has in it") \
	X(EXCLUSIVE, 15, "exclusive_anonymous_bytes",                   \
	  "anonymous pages that nobody else maps")                      \
	X(PSS_DIRTY, 16, "pss_dirty_bytes",                             \
	  "the written part of the proportional share")

enum plim_mapping_figure {
#define PLIM_X(name, number, json, text) PLIM_MAPPING_FIGURE_##name = number,
	PLIM_MAPPING_FIGURE_LIST(PLIM_X)
#undef PLIM_X
	    PLIM_MAPPING_FIGURE_COUNT = 17 /* above the last of this header */
};
PLIM_API const char *plim_mapping_figure_name(int figure);
PLIM_API const char *plim_mapping_figure_text(int figure);

/* A process with more mappings is PLIM_ELIMIT. */
#define PLIM_MAPPING_LIMIT 4194304

/* Bits of plim_mapping.protection. */
enum plim_protection {
	PLIM_PROTECTION_READ = 1,
	PLIM_PROTECTION_WRITE = 2,
	PLIM_PROTECTION_EXECUTE = 4,
	PLIM_PROTECTION_SHARED = 8
};

typedef struct plim_mapping {
	uint64_t start;
	uint64_t end;	 /* the first byte behind it */
	uint64_t offset; /* in the file */
	uint64_t inode;	 /* 0: no file */
	uint32_t device_major;
	uint32_t device_minor;
	uint32_t protection; /* enum plim_protection */
	int kind;	     /* enum plim_mapping_kind */
	/* The thread whose stack it is: the one whose stack pointer was in it,
	 * or that the kernel's name for it tells. 0: not known. Where several
	 * stacks lie in one mapping, the lowest id, and how many. */
	int32_t tid;
	uint32_t threads;
	int is_deleted; /* 1: a file that has no name any more */
	int reserved;
	plim_bytes name;  /* as the kernel has it; empty: none */
	plim_bytes label; /* what it is added up under; never empty */
} plim_mapping;

typedef struct plim_mappings plim_mappings;

/* PLIM_ENOMEM, PLIM_EINVAL. */
PLIM_API int plim_mappings_new(plim_mappings **mappings, plim_host *host,
			       plim_error *error);
PLIM_API void plim_mappings_free(plim_mappings *mappings);

/*
 * Reads all mappings now; `target` NULL is this process. The stall guard is
 * that of memory.h, and of `options` (may be NULL) it takes `force`,
 * `stall_ns` and of `parts` PLIM_MEMORY_STACKS. PLIM_ENOPROCESS,
 * PLIM_EREPLACED, PLIM_EIMAGE (it executed another program meanwhile),
 * PLIM_EHIDDEN, PLIM_ECANNOTTELL, PLIM_ELIMIT, PLIM_ENOMEM, PLIM_ESYSTEM,
 * PLIM_EUNSUPPORTED, PLIM_EINVAL: what was read before stays. Where the list
 * of mappings is refused to this user, PLIM_OK, and plim_mappings_known() is
 * DENIED.
 */
PLIM_API int plim_mappings_read(plim_mappings *mappings, plim_target *target,
				const plim_memory_options *options,
				plim_error *error);

/* How many there are, by the method that found their figures ("smaps",
 * "pagemap_scan", "maps"), or why the list could not be had. */
PLIM_API plim_count plim_mappings_known(const plim_mappings *mappings);
/* When they were read. */
PLIM_API plim_stamp plim_mappings_stamp(const plim_mappings *mappings);

/* The mappings by address: zeroed for an index beyond. Its texts are valid
 * until the next read. */
PLIM_API size_t plim_mappings_count(const plim_mappings *mappings);
PLIM_API plim_mapping plim_mappings_at(const plim_mappings *mappings,
				       size_t index);
PLIM_API plim_count plim_mappings_figure(const plim_mappings *mappings,
					 size_t index, int figure);
/* The sum over all of them. */
PLIM_API plim_count plim_mappings_total(const plim_mappings *mappings,
					int figure);

/* Totals: by label (and kind, since anonymous memory of one size class may
 * be of several), or by kind alone. */
enum plim_mapping_by { PLIM_MAPPING_BY_NAME = 0, PLIM_MAPPING_BY_KIND = 1 };

/* The groups, largest resident first, unknown last, then by size. */
typedef struct plim_mapping_group {
	plim_bytes label; /* by kind: its word */
	int kind;
	int reserved;
	size_t count; /* mappings in it */
} plim_mapping_group;
PLIM_API size_t plim_mappings_group_count(const plim_mappings *mappings,
					  int by);
PLIM_API plim_mapping_group plim_mappings_group(const plim_mappings *mappings,
						int by, size_t index);
PLIM_API plim_count plim_mappings_group_figure(const plim_mappings *mappings,
					       int by, size_t index,
					       int figure);

/*
 * The baseline: an ESTIMATE, from the layout of mappings alone, of the heaps
 * that glibc made for threads other than the first. It reserves each as a
 * region of 64 MiB at a multiple of 64 MiB and opens it piece by piece, so
 * that it shows as adjacent anonymous mappings that together span exactly one
 * such region; those are counted. It counts heaps, of which an arena may have
 * several, not arenas. That much of a heap is resident says nothing about
 * what of it is in use. The exact walk is in heap.h. Where the mappings are not
 * known (plim_mappings_known), every figure has their reason.
 *
 * Blind spots: X(NAME, BIT, "word", "sentence"). A bit is set where the
 * estimate may be wrong for that reason in this process.
 */
#define PLIM_BLIND_SPOT_LIST(X)                                                \
	X(MERGED, 1, "merged",                                                 \
	  "an aligned mapping is larger than 64 MiB: fully grown neighbours "  \
	  "merge into one mapping and are not counted")                        \
	X(UNALIGNED, 2, "unaligned",                                           \
	  "a mapping that begins unaligned reaches over a boundary of 64 "     \
	  "MiB: heaps that merged with what lies below are not counted")       \
	X(GO, 4, "go",                                                         \
	  "there is a Go heap, whose regions of 64 MiB are counted as if "     \
	  "glibc's")                                                           \
	X(OTHER_ALLOCATOR, 8, "other_allocator",                               \
	  "another allocator is mapped: what it aligned to 64 MiB is "         \
	  "counted, and the heap that brk moves may be its own")               \
	X(HUGETLB, 16, "hugetlb",                                              \
	  "there are reserved huge pages: heaps in them are not seen")         \
	X(NO_GLIBC, 32, "no_glibc",                                            \
	  "no glibc is mapped by its name: the program is static, or uses "    \
	  "another C library, and what is counted may be nobody's")            \
	X(UNMARKED, 64, "unmarked",                                            \
	  "a counted region lacks the marks of glibc's heaps (reserved "       \
	  "without accounting): the program may have mapped it itself")        \
	X(NO_HEAP, 128, "no_heap",                                             \
	  "there is no heap that brk moves: the main arena, if there is one, " \
	  "lies in plain mappings")                                            \
	X(MAIN_ARENA, 256, "main_arena",                                       \
	  "the main arena is not among those counted: it lies in the heap "    \
	  "that brk moves, with whatever else does")                           \
	X(RESIDENCY, 512, "residency",                                         \
	  "how much of a region is resident does not tell live data from "     \
	  "memory that was freed")

enum plim_blind_spot {
#define PLIM_X(name, number, word, text) PLIM_BLIND_SPOT_##name = number,
	PLIM_BLIND_SPOT_LIST(PLIM_X)
#undef PLIM_X
};
/* Word and sentence of one bit; NULL for what is none. */
PLIM_API const char *plim_blind_spot_word(int bit);
PLIM_API const char *plim_blind_spot_text(int bit);

typedef struct plim_baseline {
	plim_count sub_heaps;	   /* regions counted */
	plim_count resident;	   /* bytes of them in RAM */
	plim_count reserved;	   /* 64 MiB each */
	plim_count main_heap_size; /* [heap]; NOT_APPLICABLE without one */
	plim_count main_heap_resident;
	uint32_t blind_spots;	/* enum plim_blind_spot */
	uint32_t reserved_bits; /* 0 */
} plim_baseline;
PLIM_API plim_baseline plim_mappings_baseline(const plim_mappings *mappings);

#ifdef __cplusplus
}
#endif
#endif
