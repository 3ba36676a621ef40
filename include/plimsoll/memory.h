/*
 * memory.h - what a process holds: samples over time, the floor that it rests
 * on, and what of it the machine really pays for.
 *
 * A plim_memory takes one sample after another of one process, at whatever
 * pace the caller keeps (an interval of at least 1 ms is sensible), and never
 * stops the process. Of every figure it knows the last value, the lowest, the
 * highest and the slope, and whether that is a floor. When the process ends,
 * the figures of its last live moment stay readable.
 *
 * Rank ANONYMOUS and PRIVATE_DIRTY first. RESIDENT is what every monitor
 * shows and the wrong number to act on: most of it may be file pages that are
 * shared with others, or that the kernel drops when it needs room. ANONYMOUS
 * is not the heap and the stacks alone: written .data and .bss, relocated
 * pages and every other private mapping that was written are in it.
 * PRIVATE_DIRTY is what the process costs the machine: shared with nobody,
 * not to be dropped, only to be freed or swapped.
 *
 * The stall guard. One read of `status` is cheap. smaps and smaps_rollup walk
 * the page tables under the target's memory lock, and the target waits if it
 * maps, unmaps or faults meanwhile: some 12 ms for each resident GiB, far
 * more on a busy machine. So the walk is predicted from the cheap read, and
 * left out when it would take longer than a limit: its figures are then
 * SKIPPED, never 0, and resident, swapped and exclusive anonymous bytes are
 * taken from the page map in short calls instead. Two walks are also kept
 * apart in time, so that sampling often does not add up to one long stall.
 *
 * Of a whole tree, PSS and private memory are fields like any other
 * (PLIM_FIELD_PSS, PLIM_FIELD_PRIVATE_DIRTY): ask plim_tree_usage() for them;
 * each member is read behind the same guard, and what is left out is counted
 * as missing beside the sum.
 *
 * A plim_memory is used by one thread at a time, together with its host.
 */
#ifndef PLIMSOLL_MEMORY_H
#define PLIMSOLL_MEMORY_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The figures of a sample. X(NAME, NUMBER, "json_name", "Linux", "sentence").
 * All are bytes. A row is added at the end and never changes its number or
 * name. 1 to 8 come from the cheap read, 9 to 20 and PRIVATE_DIRTY from the
 * walk, the last from the page map where the walk is left out.
 */
#define PLIM_MEMORY_LIST(X)                                                    \
	X(ANONYMOUS, 1, "anonymous_bytes", "status RssAnon",                   \
	  "anonymous memory in RAM")                                           \
	X(PRIVATE_DIRTY, 2, "private_dirty_bytes",                             \
	  "smaps_rollup Private_Dirty",                                        \
	  "written pages that nobody else maps: what the process costs the "   \
	  "machine")                                                           \
	X(RESIDENT, 3, "resident_bytes", "status VmRSS",                       \
	  "memory in RAM, shared pages included")                              \
	X(FILE, 4, "file_bytes", "status RssFile",                             \
	  "file pages in RAM, evictable and mostly shared")                    \
	X(SHMEM, 5, "shmem_bytes", "status RssShmem",                          \
	  "shared memory and tmpfs pages in RAM")                              \
	X(SWAP, 6, "swap_bytes", "status VmSwap",                              \
	  "anonymous memory that is swapped out")                              \
	X(PEAK_RESIDENT, 7, "peak_resident_bytes", "status VmHWM",             \
	  "largest resident size since the last exec")                         \
	X(PAGE_TABLES, 8, "page_table_bytes", "status VmPTE",                  \
	  "page tables of the process")                                        \
	X(PRIVATE_CLEAN, 9, "private_clean_bytes",                             \
	  "smaps_rollup Private_Clean",                                        \
	  "pages that nobody else maps and that are as on disk")               \
	X(SHARED_CLEAN, 10, "shared_clean_bytes", "smaps_rollup Shared_Clean", \
	  "pages that others map too, as on disk")                             \
	X(SHARED_DIRTY, 11, "shared_dirty_bytes", "smaps_rollup Shared_Dirty", \
	  "written pages that others map too")                                 \
	X(PSS, 12, "pss_bytes", "smaps_rollup Pss",                            \
	  "resident memory, each page divided by those who map it")            \
	X(PSS_DIRTY, 13, "pss_dirty_bytes", "smaps_rollup Pss_Dirty",          \
	  "the written part of the proportional share")                        \
	X(PSS_ANONYMOUS, 14, "pss_anonymous_bytes", "smaps_rollup Pss_Anon",   \
	  "the anonymous part of the proportional share")                      \
	X(PSS_FILE, 15, "pss_file_bytes", "smaps_rollup Pss_File",             \
	  "the file part of the proportional share")                           \
	X(PSS_SHMEM, 16, "pss_shmem_bytes", "smaps_rollup Pss_Shmem",          \
	  "the shared memory part of the proportional share")                  \
	X(ROLLUP_SWAP, 17, "rollup_swap_bytes", "smaps_rollup Swap",           \
	  "swapped out, shared memory and tmpfs included")                     \
	X(SWAP_PSS, 18, "swap_pss_bytes", "smaps_rollup SwapPss",              \
	  "swapped out, each page divided by those who map it")                \
	X(HUGE_ANONYMOUS, 19, "anonymous_huge_bytes",                          \
	  "smaps_rollup AnonHugePages",                                        \
	  "anonymous memory in transparent huge pages")                        \
	X(LAZY_FREE, 20, "lazy_free_bytes", "smaps_rollup LazyFree",           \
	  "given back with MADV_FREE, still resident until the kernel needs "  \
	  "it")                                                                \
	X(EXCLUSIVE_ANONYMOUS, 21, "exclusive_anonymous_bytes",                \
	  "PAGEMAP_SCAN, else pagemap",                                        \
	  "anonymous pages that nobody else maps, where the walk is left "     \
	  "out; before Linux 6.7 and without privilege at least that many")

enum plim_memory_figure {
#define PLIM_X(name, number, json, linux_source, text) \
	PLIM_MEMORY_##name = number,
	PLIM_MEMORY_LIST(PLIM_X)
#undef PLIM_X
	    PLIM_MEMORY_COUNT = 22 /* above the last of this header */
};

/* The JSON name, the source on Linux and the sentence of a figure; NULL for a
 * number that is none. Static storage. */
PLIM_API const char *plim_memory_name(int figure);
PLIM_API const char *plim_memory_source(int figure);
PLIM_API const char *plim_memory_text(int figure);
/* The figure with this JSON name, 0 if there is none. */
PLIM_API int plim_memory_find(const char *name);

/* Bits of plim_memory_options.parts: what to read. */
enum plim_memory_part {
	PLIM_MEMORY_STATUS = 1,	  /* always read */
	PLIM_MEMORY_ROLLUP = 2,	  /* the sums of the walk */
	PLIM_MEMORY_MAPPINGS = 4, /* mapping by mapping (mapping.h) */
	PLIM_MEMORY_STACKS = 8	  /* which thread a stack belongs to */
};

/* Start from zeros and set `size`: a zero member means the default. */
typedef struct plim_memory_options {
	size_t size;	/* sizeof(plim_memory_options) */
	uint32_t parts; /* enum plim_memory_part; 0: all */
	/* Non-zero: walk whatever it costs the target, and at every sample. */
	uint32_t force;
	/* The longest predicted walk that is made; default 20 ms. */
	uint64_t stall_ns;
	/* After a walk that took N ns none is begun for N * rest ns; default
	 * 20, so that at most a twentieth of the time is spent under the
	 * target's lock. Samples in between have the cheap figures, the
	 * others SKIPPED; 0 in `rest_set` means the default. */
	uint32_t rest;
	uint32_t rest_set; /* non-zero: `rest` counts, even if it is 0 */
	uint64_t reserved[4];
} plim_memory_options;

/* PLIM_MEMORY_STALL_NS: the default limit of a predicted walk. */
#define PLIM_MEMORY_STALL_NS 20000000
#define PLIM_MEMORY_REST     20

typedef struct plim_memory plim_memory;

/* PLIM_ENOMEM, PLIM_EINVAL. */
PLIM_API int plim_memory_new(plim_memory **memory, plim_host *host,
			     plim_error *error);
/* Freed before its host, and before the target that it sampled is closed. */
PLIM_API void plim_memory_free(plim_memory *memory);

/* Forgets all samples, the ledger, the end and the target. */
PLIM_API void plim_memory_clear(plim_memory *memory);

/*
 * Takes a sample now. `target` NULL is this process. A target other than that
 * of the last sample empties the memory first. `options` may be NULL. The
 * target is not closed before the memory is cleared or freed, or has sampled
 * another one.
 *
 * The first sample reads the mappings, and so does each later one that the
 * guard and the rest allow; so there is always one of a live state, which may
 * be older than the last sample (plim_mappings_stamp() tells).
 *
 * Once there is a sample, the end of the process is told by PLIM_ENOPROCESS
 * (it ended; a zombie has, too), PLIM_EREPLACED (and its pid has another
 * owner) or PLIM_EIMAGE (it executed another program, which has a memory of
 * its own): plim_memory_ended() has it, all samples stay
 * as they were, and so it is for every later call with this target. With no
 * sample yet these are errors like the others: PLIM_EHIDDEN, PLIM_ECANNOTTELL,
 * PLIM_EDENIED, PLIM_ELIMIT (too many mappings), PLIM_ENOMEM, PLIM_ESYSTEM,
 * PLIM_EUNSUPPORTED, PLIM_EINVAL: the memory stays as it was. What this user
 * may not read of a process that can be seen is no error but a DENIED figure.
 */
PLIM_API int plim_memory_sample(plim_memory *memory, plim_target *target,
				const plim_memory_options *options,
				plim_error *error);

/*
 * The samples that are kept, oldest first. Of very many, not all are: when
 * PLIM_MEMORY_KEPT are there, every second is dropped, and from then on every
 * second (fourth, eighth) is kept; the first and the last always are. Ranges,
 * slopes and plim_memory_taken() count all.
 */
#define PLIM_MEMORY_KEPT 4096
PLIM_API size_t plim_memory_samples(const plim_memory *memory);
PLIM_API uint64_t plim_memory_taken(const plim_memory *memory);
/* When a kept sample was taken, and a figure of it: UNREAD for an index
 * beyond, UNSUPPORTED for a figure that is none. */
PLIM_API plim_stamp plim_memory_stamp(const plim_memory *memory, size_t index);
PLIM_API plim_count plim_memory_at(const plim_memory *memory, size_t index,
				   int figure);
/* Of the last sample. SKIPPED where the guard left it out there. */
PLIM_API plim_count plim_memory_last(const plim_memory *memory, int figure);

/*
 * At most `most` kept samples for a timeline, as indices, ascending: the
 * first, the last, and between them those nearest to equal steps of time.
 * Returns how many there are; 20 is a good number.
 */
PLIM_API size_t plim_memory_timeline(const plim_memory *memory, size_t most,
				     size_t *indices);

/*
 * What a figure did. X(NAME, NUMBER, "word", "sentence").
 *
 * DRIFTING: at least 4 samples know it; the line of least squares goes up or
 * down by 16 KiB or more from first to last; its slope is at least 4 times
 * its own standard error; and the line fits the kept samples better than any
 * single step does, since one step is not a drift. FLAT: it is not drifting,
 * and lowest and highest are at most 64 KiB or 1/256 of the highest apart,
 * whichever is more. MOVING: all else. Only a flat figure is a floor.
 */
#define PLIM_TREND_LIST(X)                                         \
	X(UNKNOWN, 0, "unknown", "fewer than two samples know it") \
	X(FLAT, 1, "flat", "it stands still: a floor")             \
	X(DRIFTING, 2, "drifting", "it goes on rising or falling") \
	X(MOVING, 3, "moving", "it moves, in no lasting direction")

enum plim_trend {
#define PLIM_X(name, number, word, text) PLIM_TREND_##name = number,
	PLIM_TREND_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_trend_word(int trend);
PLIM_API const char *plim_trend_text(int trend);

/* A figure over all samples. */
typedef struct plim_memory_steady {
	plim_count last; /* the last that was known; else of the last sample */
	plim_count lowest; /* of those that were known */
	plim_count highest;
	/* Bytes per second by the line of least squares over all samples:
	 * PENDING with fewer than two that know it, UNLIKE where only bounds
	 * are known. */
	plim_real slope;
	uint64_t known;	    /* samples that know the figure */
	uint64_t missing;   /* samples that do not */
	plim_stamp last_at; /* of `last` */
	int trend;	    /* enum plim_trend */
	int reserved[3];
} plim_memory_steady;
PLIM_API plim_memory_steady plim_memory_range(const plim_memory *memory,
					      int figure);

/* How the run ended. X(NAME, NUMBER, "word", "sentence"). */
#define PLIM_MEMORY_END_LIST(X)                               \
	X(ALIVE, 0, "alive", "it is there")                   \
	X(GONE, 1, "gone", "the process ended")               \
	X(REPLACED, 2, "replaced",                            \
	  "the process ended, and its pid has another owner") \
	X(IMAGE_CHANGED, 3, "image_changed",                  \
	  "the process executed another program")

enum plim_memory_end_kind {
#define PLIM_X(name, number, word, text) PLIM_MEMORY_END_##name = number,
	PLIM_MEMORY_END_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_memory_end_word(int how);
PLIM_API const char *plim_memory_end_text(int how);

typedef struct plim_memory_end {
	int how; /* enum plim_memory_end_kind */
	int reserved;
	plim_stamp seen;	/* when it was noticed */
	plim_stamp last_alive;	/* the last sample: it ended after this */
	plim_count exit_status; /* plim_target_exit_status(); PENDING while it
				 * lives, NOT_APPLICABLE after an exec */
} plim_memory_end;
PLIM_API plim_memory_end plim_memory_ended(const plim_memory *memory);

/* What all samples together did cost. */
typedef struct plim_memory_cost {
	plim_cost cost; /* system calls, bytes, CPU and wall time of ours */
	/* A walk as it was predicted for the last sample; UNREAD without. */
	plim_count predicted_ns;
	uint64_t stall_ns; /* the limit that the last sample was held to */
	/* The longest single call that held, or may have held, the target's
	 * memory lock, and its source ("smaps"); UNREAD and "" without one. */
	plim_count longest_call_ns;
	const char *longest_call;
	uint64_t walks;	  /* of smaps and smaps_rollup that were made */
	uint64_t skipped; /* walks that the guard left out */
	uint64_t rested;  /* walks left out because the last one was recent */
	uint64_t scans;	  /* page maps that were read instead */
	uint64_t reserved[4];
} plim_memory_cost;
PLIM_API plim_memory_cost plim_memory_ledger(const plim_memory *memory);

/* The mappings of the last live state: mapping.h. NULL before there are any;
 * valid until the next sample. */
struct plim_mappings;
PLIM_API const struct plim_mappings *
plim_memory_mappings(const plim_memory *memory);

#ifdef __cplusplus
}
#endif
#endif
