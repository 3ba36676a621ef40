/*
 * heap.h - the parts of the workload `heap` (heap.c).
 *
 * Whatever it notes about its own memory lies outside of malloc, in mappings:
 * the heap then holds what the pattern asked for and what libc needs itself.
 */
#ifndef WORKLOAD_HEAP_H
#define WORKLOAD_HEAP_H

#include <stddef.h>
#include <stdint.h>

#define HEAP_THREADS_MOST 64

/* What the command line says; words and defaults are in heap.c. */
struct heap_plan {
	const char *pattern;
	uint64_t threads;
	uint64_t bytes; /* asked for by each thread */
	uint64_t least; /* of a block */
	uint64_t most;
	uint64_t keep; /* of 1,000 blocks, where the pattern leaves it open */
	uint64_t seed;
	uint64_t touch;	 /* 0 no block, 1 every block, 2 every other */
	uint64_t across; /* each frees what its neighbour allocated */
	uint64_t join;	 /* the main thread works as well */
};

/* --- heap_load.c: allocating and freeing ---------------------------------- */

/* Starts the threads, each of which has its arena afterwards; stores in `own`
 * what libc alone has in use then. */
void heap_start(const struct heap_plan *plan, uint64_t *own);

/* Every thread allocates and frees as the pattern says; all are done. */
void heap_load(void);

/* All threads replace blocks at random, until heap_stop(). */
void heap_churn(void);
void heap_stop(void);

/* How often a block was replaced, and in what time, at the last stop. */
uint64_t heap_operations(void);
uint64_t heap_churned_ns(void);

/* Frees so many of 1,000 blocks, each by the thread that has it. */
void heap_give(uint64_t permille);

/* The threads end, with all that they keep still allocated. */
void heap_end(void);

/* Blocks that are held, in chunk bytes with their header; mapped ones apart. */
struct heap_held {
	uint64_t bytes;
	uint64_t count;
	uint64_t mapped_bytes;
	uint64_t mapped_count;
};
void heap_count(struct heap_held *held);

/* --- heap_told.c: what the process knows about itself ----------------------
 */

/* Lines of mallinfo2, by the names of its fields. */
void heap_tell_mallinfo(void);

/* Lines of smaps_rollup and status: anonymous_bytes, rss_anon_bytes,
 * pss_bytes, swap_bytes, huge_bytes, page_table_bytes, minor and major
 * faults. Allocates nothing. */
void heap_tell_memory(void);

/* Anonymous memory as smaps_rollup has it. */
uint64_t heap_anonymous(void);

/* --- heap_tricks.c: what fools a reader of heaps ---------------------------
 */

/* A page in the way of brk, `kib` above its end; brk fails from there on. */
void heap_block_brk(uint64_t kib);

/* So many bytes by sbrk, behind malloc's back. */
void heap_take_sbrk(uint64_t bytes);

/* So many aligned mappings of 64 MiB, an eighth of each touched. */
void heap_map_aligned(uint64_t count);

/* Every private anonymous mapping but stacks is asked to leave for swap. */
void heap_page_out(void);

/* A child that shares all pages and does nothing; and its end. */
long heap_fork(void);
void heap_reap(void);

/* A thread that maps, touches and unmaps 8 KiB again and again. */
void heap_probe(void);

/* Lines probe_operations, probe_worst_ns and probe_blocked_ns since the last
 * call: the longest one, and the longest that it was blocked and not only
 * waiting for a CPU. */
void heap_probe_tell(void);

#endif
