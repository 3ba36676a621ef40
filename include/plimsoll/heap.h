/*
 * heap.h - whose memory it is, and whether it is live: the allocators of a
 * process, walked from outside.
 *
 * A walk reads the allocator's own structures in the memory of another
 * process, which is not stopped, not traced and runs nothing for us; or in a
 * core file. It tells live blocks from free ones, which of the free ones are
 * resident, what a malloc_trim(0) would return of them, and why not the rest.
 * Each allocator that is seen has its own entry, with what it was recognised
 * by; one that is not walked, or whose walk contradicts itself, has no
 * figures but the reason why. Then plim_retention puts all of it into words.
 *
 * Equations, over all arenas of glibc: uordblks of mallinfo2(3) = IN_USE +
 * TCACHE, fordblks = FREE + FASTBIN + TOP, hblkhd = MMAPPED, and SYSTEM is
 * the sum of system_mem. FREE_RESIDENT = TRIM_RETURNS + PINNED + TOP_RETAINED,
 * but for what of the trim is swap (TRIM_SWAP).
 */
#ifndef PLIMSOLL_HEAP_H
#define PLIMSOLL_HEAP_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The figures of an allocator, of one arena, of all. X(NAME, NUMBER, "name",
 * "sentence"): bytes, unless the name ends in _count. Names are those of
 * JSON; rows are append-only. A figure is UNREAD where nobody told it.
 */
#define PLIM_HEAP_LIST(X)                                                      \
	X(IN_USE, 1, "in_use_bytes",                                           \
	  "blocks that the program holds, with their headers; without "        \
	  "mmapped ones")                                                      \
	X(TCACHE, 2, "tcache_bytes",                                           \
	  "freed blocks that caches of threads keep for themselves")           \
	X(FASTBIN, 3, "fastbin_bytes",                                         \
	  "freed small blocks that wait to be joined with their neighbours")   \
	X(FREE, 4, "free_bytes",                                               \
	  "free blocks, neither in fast bins nor at the top")                  \
	X(TOP, 5, "top_bytes", "free memory at the end of each arena")         \
	X(MMAPPED, 6, "mmapped_bytes",                                         \
	  "large blocks that are a mapping of their own each")                 \
	X(SYSTEM, 7, "system_bytes",                                           \
	  "memory that the allocator took from the system, by its own count")  \
	X(WALKED, 8, "walked_bytes", "memory that was walked block by block")  \
	X(UNKNOWN, 9, "unknown_bytes",                                         \
	  "memory of the allocator whose headers could not be read: not in "   \
	  "RAM, swapped out, or not in the core file")                         \
	X(UNCERTAIN, 10, "uncertain_bytes",                                    \
	  "by how much the bytes in use may be off, since the program went "   \
	  "on while they were counted")                                        \
	X(FREE_RESIDENT, 11, "free_resident_bytes",                            \
	  "free, fast-bin and top bytes that take memory")                     \
	X(TRIM_RETURNS, 12, "trim_returns_bytes",                              \
	  "by how much malloc_trim(0) would lower anonymous RSS")              \
	X(PINNED, 13, "pinned_bytes",                                          \
	  "resident free bytes in pages that something live keeps")            \
	X(TOP_RETAINED, 14, "top_retained_bytes",                              \
	  "resident free bytes at the tops of thread arenas, which "           \
	  "malloc_trim(0) never touches")                                      \
	X(CACHED, 15, "cached_resident_bytes",                                 \
	  "resident bytes of freed blocks in caches of threads")               \
	X(RELEASED, 16, "released_bytes",                                      \
	  "free bytes that take no memory: given back, or never touched")      \
	X(SWAPPED, 17, "swapped_bytes",                                        \
	  "bytes of the heap that are swapped "                                \
	  "out")                                                               \
	X(HUGE, 18, "huge_page_bytes",                                         \
	  "of what a trim returns: in huge pages that stay partly mapped, so " \
	  "that RSS falls and the machine may get nothing")                    \
	X(SHARED, 19, "shared_bytes",                                          \
	  "of what a trim returns: in pages still shared after a fork, so "    \
	  "that RSS falls and the machine gets nothing")                       \
	X(IN_USE_COUNT, 20, "in_use_count", "blocks in use")                   \
	X(FREE_COUNT, 21, "free_count", "free blocks, of any kind")            \
	X(MMAPPED_COUNT, 22, "mmapped_count", "mmapped blocks")                \
	X(ARENA_COUNT, 23, "arena_count", "arenas")                            \
	X(HEAP_COUNT, 24, "heap_count", "sub-heaps of the arenas")             \
	X(TRIM_SWAP, 25, "trim_swap_bytes",                                    \
	  "swapped bytes that malloc_trim(0) would drop from swap")            \
	X(RESIDENT, 26, "resident_bytes",                                      \
	  "bytes of all pages of the allocator that take memory, mmapped "     \
	  "blocks included")

enum plim_heap_figure_id {
#define PLIM_X(name, number, word, text) PLIM_HEAP_##name = number,
	PLIM_HEAP_LIST(PLIM_X)
#undef PLIM_X
};
/* Room for an array that is indexed by these. */
#define PLIM_HEAP_LIMIT 32

/* Name and sentence of a figure; NULL for a number that is none. The first
 * number is 1, and they have no gap. Static storage. */
PLIM_API const char *plim_heap_figure_name(int figure);
PLIM_API const char *plim_heap_figure_text(int figure);
/* The number of the figure with this name, 0 for none. */
PLIM_API int plim_heap_figure_find(plim_bytes name);

/* Allocators. X(NAME, NUMBER, "word", "name for people"). Append-only. */
#define PLIM_HEAP_KIND_LIST(X)                                   \
	X(GLIBC, 1, "glibc", "malloc of the GNU C library")      \
	X(MUSL, 2, "musl", "mallocng of musl")                   \
	X(JEMALLOC, 3, "jemalloc", "jemalloc")                   \
	X(GPERFTOOLS, 4, "gperftools", "tcmalloc of gperftools") \
	X(TCMALLOC, 5, "tcmalloc", "tcmalloc of Google")         \
	X(MIMALLOC, 6, "mimalloc", "mimalloc")                   \
	X(GO, 7, "go", "runtime of Go")                          \
	X(JVM, 8, "jvm", "heap of a Java virtual machine")       \
	X(CPYTHON, 9, "cpython", "pymalloc of CPython")
enum plim_heap_kind {
#define PLIM_X(name, number, word, text) PLIM_HEAP_OF_##name = number,
	PLIM_HEAP_KIND_LIST(PLIM_X)
#undef PLIM_X
};
/* NULL for a number that is none. Static storage. */
PLIM_API const char *plim_heap_kind_word(int kind);
PLIM_API const char *plim_heap_kind_text(int kind);

/* How far an allocator was followed. */
enum plim_heap_depth {
	PLIM_DEPTH_RECOGNISED = 1, /* it is there; not walked */
	PLIM_DEPTH_WALKED = 2,	   /* its figures are exact, self-checked */
	/* It can be walked, and was not, or contradicted itself: `missing` and
	 * `why` of its facts say so; it has no figures. */
	PLIM_DEPTH_REFUSED = 3
};
/* "recognised", "walked", "refused"; NULL for another number. */
PLIM_API const char *plim_heap_depth_word(int depth);

/* How sure it is that this allocator is in use. */
enum plim_confidence {
	PLIM_CONFIDENCE_POSSIBLE = 1, /* one weak sign */
	PLIM_CONFIDENCE_LIKELY = 2,   /* its code is there */
	PLIM_CONFIDENCE_CERTAIN = 3   /* its live structures are */
};
/* "possible", "likely", "certain"; NULL for another number. */
PLIM_API const char *plim_confidence_word(int confidence);

/* Used by one thread at a time; freed before its host. */
typedef struct plim_heaps plim_heaps;
/* One allocator of a walk: borrowed, valid until the next walk that succeeds.
 */
typedef struct plim_heap plim_heap;

/* Bits of plim_heaps_options.flags. */
enum plim_heaps_flag {
	PLIM_HEAPS_RECOGNISE = 1 /* name the allocators, walk none */
};

/* Start from zeros and set `size`: a zero member means the default. */
typedef struct plim_heaps_options {
	size_t size;	   /* sizeof(plim_heaps_options) */
	uint32_t flags;	   /* enum plim_heaps_flag */
	uint32_t hostages; /* how many to keep; default 12, at most 1000 */
	uint64_t reserved[4];
} plim_heaps_options;

/* PLIM_ENOMEM, PLIM_EINVAL. */
PLIM_API int plim_heaps_new(plim_heaps **heaps, plim_host *host,
			    plim_error *error);
PLIM_API void plim_heaps_free(plim_heaps *heaps);

/*
 * Finds the allocators of a process and walks those that can be walked.
 * `target` NULL is this process itself, whose heap the walk changes a little
 * while it counts. `options` may be NULL.
 *
 * Before and after it is proven that the process is the same and runs the same
 * program; if not, nothing of what was read is shown and the result of the
 * last walk stays: PLIM_ENOPROCESS if it ended, PLIM_EREPLACED if its pid has
 * another owner, PLIM_EIMAGE if it executed another program, PLIM_ECANNOTTELL.
 * PLIM_EDENIED if this user may not read its memory; the detail says what would
 * allow it. PLIM_ENOMEM, PLIM_ELIMIT (more mappings than the bound),
 * PLIM_ESYSTEM, PLIM_EINVAL, PLIM_EUNSUPPORTED where it has no memory: a
 * kernel thread. An allocator that cannot be walked is no failure.
 */
PLIM_API int plim_heaps_walk(plim_heaps *heaps, plim_target *target,
			     const plim_heaps_options *options,
			     plim_error *error);

/*
 * The same of a core file, of this machine's kind or another (x86-64 and
 * aarch64). A core does not say what was resident: figures of residence are
 * UNSUPPORTED. What the core leaves out, because it was filtered or cut off,
 * is UNKNOWN. PLIM_EMALFORMED if it is no ELF core, PLIM_EUNSUPPORTED if it
 * is of another machine, 32-bit or big-endian, PLIM_ELIMIT, PLIM_ENOMEM,
 * PLIM_EDENIED, PLIM_ESYSTEM (no such file, for one), PLIM_EINVAL.
 */
PLIM_API int plim_heaps_walk_core(plim_heaps *heaps, const char *path,
				  const plim_heaps_options *options,
				  plim_error *error);

/* What the last walk that succeeded was of. */
enum plim_heaps_source {
	PLIM_HEAPS_NOTHING = 0, /* there was none */
	PLIM_HEAPS_PROCESS = 1,
	PLIM_HEAPS_CORE = 2
};
typedef struct plim_heaps_facts {
	int source;	   /* enum plim_heaps_source */
	int32_t pid;	   /* of a core: as its notes say, 0 unknown */
	int machine;	   /* e_machine of ELF: 62 x86-64, 183 aarch64 */
	int has_residency; /* 1: it is known what takes memory */
	int is_cut;	   /* of a core: 1 if the file ends too early */
	uint32_t page_bytes;
	plim_stamp stamp;    /* when the walk began */
	plim_count wall_ns;  /* how long it took */
	plim_count mappings; /* how many there are */
	/* Of a core: bytes of its mappings that it holds, and does not. */
	plim_count held_bytes;
	plim_count left_out_bytes;
	/* Bytes read of the target's memory; the longest single call that
	 * may have held up the target, and its name ("" if none did). */
	plim_count memory_read_bytes;
	plim_count pages_asked;
	plim_count longest_call_ns;
	char longest_call[24];
	char process[32]; /* of a core: the name of the process */
	uint64_t reserved[4];
} plim_heaps_facts;
PLIM_API plim_heaps_facts plim_heaps_about(const plim_heaps *heaps);
/* The bill of the last walk, failed ones included. */
PLIM_API plim_cost plim_heaps_cost(const plim_heaps *heaps);

/* The allocators, the surest first; NULL beyond the last. */
PLIM_API size_t plim_heaps_count(const plim_heaps *heaps);
PLIM_API const plim_heap *plim_heaps_at(const plim_heaps *heaps, size_t index);

/* Texts are NUL-terminated, "" where there is none, live as long as the heap,
 * and may hold bytes of a hostile process: escape them. */
typedef struct plim_heap_facts {
	int kind;	     /* enum plim_heap_kind */
	int depth;	     /* enum plim_heap_depth */
	int confidence;	     /* enum plim_confidence */
	int is_static;	     /* 1: linked into the program itself */
	const char *version; /* "2.36" */
	const char *layout;  /* the row that fits: "glibc 2.35-2.41 x86-64" */
	/* How far that row was proven: "run", "built" or "read". */
	const char *standing;
	/* Why there are no figures: of one that was walked it is KNOWN. */
	plim_count missing;
	const char *why; /* the same in a sentence */
	uint64_t reserved[4];
} plim_heap_facts;
PLIM_API plim_heap_facts plim_heap_about(const plim_heap *heap);

/* A figure of the allocator. */
PLIM_API plim_count plim_heap_figure(const plim_heap *heap, int figure);

/* The sum of a figure over all allocators that have it: at least where one
 * was recognised or refused, and counted as missing. With none walked it is
 * the first one's reason. */
PLIM_API plim_count plim_heaps_sum(const plim_heaps *heaps, int figure);

/* What it was recognised by, one sentence each; "" beyond the last. */
PLIM_API size_t plim_heap_evidence_count(const plim_heap *heap);
PLIM_API const char *plim_heap_evidence(const plim_heap *heap, size_t index);

typedef struct plim_arena {
	uint64_t address;
	int is_main;
	uint32_t heaps;	    /* sub-heaps; of the main arena 0 */
	plim_count threads; /* attached to it */
	uint64_t reserved[2];
} plim_arena;
/* Arenas in the allocator's own order, the main one first; NULL beyond. */
PLIM_API size_t plim_heap_arena_count(const plim_heap *heap);
PLIM_API const plim_arena *plim_heap_arena(const plim_heap *heap, size_t index);
PLIM_API plim_count plim_heap_arena_figure(const plim_heap *heap, size_t index,
					   int figure);

/* A live block that keeps free memory from being returned. */
typedef struct plim_hostage {
	uint64_t address;    /* as the program has it */
	uint64_t size;	     /* with its header */
	uint64_t kept_bytes; /* resident free bytes of the pages that it alone,
			      * or first of several, keeps */
	uint32_t arena;	     /* index */
	uint32_t reserved;
} plim_hostage;
/* Those that keep most, first; NULL beyond the last. */
PLIM_API size_t plim_heap_hostage_count(const plim_heap *heap);
PLIM_API const plim_hostage *plim_heap_hostage(const plim_heap *heap,
					       size_t index);

/* A check of the walk against what the allocator counts itself. */
enum plim_heap_check_state {
	PLIM_CHECK_PASSED = 1,
	PLIM_CHECK_FAILED = 2,
	PLIM_CHECK_NOT_MADE = 3 /* what it needs was not to be had */
};
PLIM_API const char *plim_heap_check_word(int state);
typedef struct plim_heap_check {
	const char *name; /* "walked_is_system", static */
	int state;	  /* enum plim_heap_check_state */
	int reserved;
	plim_count expected; /* NOT_APPLICABLE where it compares no numbers */
	plim_count found;
	char text[96]; /* more in words, or "" */
} plim_heap_check;
PLIM_API size_t plim_heap_check_count(const plim_heap *heap);
PLIM_API const plim_heap_check *plim_heap_check_at(const plim_heap *heap,
						   size_t index);

/*
 * The verdict: what the memory of a process is, in disjoint parts, and what
 * would return each. X(NAME, NUMBER, "word", "sentence"). Numbers and words
 * are stable. The parts up to UNKNOWN are what is resident; the others stand
 * beside them.
 */
#define PLIM_RETENTION_LIST(X)                                                 \
	X(LIVE, 1, "live", "live data: the program holds it")                  \
	X(CACHED, 2, "cached", "freed, and kept in caches of threads")         \
	X(RETURNABLE, 3, "returnable",                                         \
	  "freed and retained; the allocator would return it if asked")        \
	X(PINNED, 4, "pinned",                                                 \
	  "freed and retained; live neighbours in the same pages pin it")      \
	X(TOP, 5, "top", "freed and retained at the tops of thread arenas")    \
	X(FREED, 6, "freed",                                                   \
	  "freed; how much of it takes memory cannot be told")                 \
	X(LAZY, 7, "lazy",                                                     \
	  "freed and given back; the kernel takes it when it needs it")        \
	X(OTHER, 8, "other",                                                   \
	  "anonymous memory outside of the allocators: stacks, written data "  \
	  "of libraries, mappings of the program's own")                       \
	X(FILE_CACHE, 9, "file_cache",                                         \
	  "pages of files, which the kernel can drop and read again")          \
	X(SHMEM, 10, "shmem", "shared memory")                                 \
	X(UNKNOWN, 11, "unknown", "memory that could not be told apart")       \
	X(SWAPPED, 12, "swapped", "swapped out: takes swap, no memory")        \
	X(HUGE, 13, "huge",                                                    \
	  "of the returnable: in huge pages that stay, so that RSS falls and " \
	  "the machine may get nothing back")                                  \
	X(SHARED, 14, "shared",                                                \
	  "of the returnable: in pages that a fork still shares, so that RSS " \
	  "falls and the machine gets nothing back")                           \
	X(MIXED, 15, "mixed", "no part is more than half of it")
enum plim_retention_part {
#define PLIM_X(name, number, word, text) PLIM_RETENTION_##name = number,
	PLIM_RETENTION_LIST(PLIM_X)
#undef PLIM_X
};
#define PLIM_RETENTION_LIMIT 20
/* NULL for a number that is none. Static storage. */
PLIM_API const char *plim_retention_word(int part);
PLIM_API const char *plim_retention_text(int part);

/* What the kernel says of the process, in bytes; each may be unavailable.
 * Start from zeros and set `size`. */
typedef struct plim_retention_memory {
	size_t size;	      /* sizeof(plim_retention_memory) */
	plim_count resident;  /* VmRSS */
	plim_count anonymous; /* RssAnon */
	plim_count file;      /* RssFile */
	plim_count shmem;     /* RssShmem */
	plim_count swap;      /* VmSwap */
	plim_count lazy_free; /* LazyFree of smaps: still part of anonymous */
	uint64_t reserved[4];
} plim_retention_memory;

typedef struct plim_retention {
	/* The part that is more than half of what is resident, MIXED if none
	 * is, UNKNOWN if too little is known to say. */
	int verdict;
	int reserved;
	/* By enum plim_retention_part. */
	plim_count parts[PLIM_RETENTION_LIMIT];
	/* Freed and not returned: CACHED + RETURNABLE + PINNED + TOP; with
	 * FREED where residence is not known: at most. */
	plim_count retained;
	/* Two figures, since RSS that falls is not memory returned: by how
	 * much RSS would fall, and what the machine would get of that at
	 * least: without HUGE and SHARED. */
	plim_count rss_falls;
	plim_count machine_gets;
	uint64_t allocators; /* bits 1 << enum plim_heap_kind: all seen */
	uint64_t walked;     /* of them: those behind these figures */
} plim_retention;

/*
 * Total over everything that is unavailable: a part that cannot be told has
 * its reason. `heaps` and `memory` may be NULL, `out` not. PLIM_OK or
 * PLIM_EINVAL.
 */
PLIM_API int plim_retention_find(const plim_heaps *heaps,
				 const plim_retention_memory *memory,
				 plim_retention *out);

/* One line of the verdict. Static strings. */
typedef struct plim_retention_line {
	int part; /* enum plim_retention_part */
	plim_count bytes;
	const char *text;   /* what it is */
	const char *remedy; /* what would return it; "nothing ..." if none */
} plim_retention_line;
typedef int plim_retention_fn(const plim_retention_line *line, void *user);

/*
 * Tells the verdict line by line: first the part that it is named after, then
 * every other known part that is not 0, the largest first, and last what
 * could not be told. A callback that returns non-zero ends it, and that is
 * returned; else 0.
 */
PLIM_API int plim_retention_tell(const plim_retention *retention,
				 plim_retention_fn *callback, void *user);

#ifdef __cplusplus
}
#endif
#endif
