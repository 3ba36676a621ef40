/*
 * generations.h - what the storm of reused pids (generations.c) writes down,
 * while it does it: a log in shared memory of who was born, and who ended,
 * when. Every process is a generation with a number of its own; what it costs
 * follows from the number, so that a figure of another one is seen.
 *
 * Times are CLOCK_MONOTONIC in ns, taken before and after the call. `step` is
 * odd while a birth or an end is under way: who wants all that happened before
 * now waits until it has changed, if it is odd. tests/scale/rounds.py reads
 * the same bytes.
 */
#ifndef WORKLOAD_GENERATIONS_H
#define WORKLOAD_GENERATIONS_H

#include <stdint.h>

#define GEN_CAPACITY 1000000
#define GEN_PIDS     65536
#define GEN_PAGE     4096

enum gen_kind {
	GEN_PLAIN = 0, /* costs what its number says, then sleeps */
	GEN_FLASH = 1, /* ends at once, without a name */
	GEN_ELDER = 2, /* as plain, and stays to the end */
	GEN_BUSY = 3,  /* an elder that is busy a fifth of the time */
	GEN_WRITER = 4 /* an elder that writes a page now and then */
};

struct gen {
	int32_t pid;
	int32_t before; /* the one before with this pid, or -1 */
	int32_t kind;
	int32_t padding;
	uint64_t inode; /* of its pidfd, 0 if there are none */
	uint64_t born_before;
	uint64_t born_after;
	uint64_t end_before; /* 0: nobody has ended it yet */
	uint64_t end_after;  /* 0: not reaped yet */
	uint64_t tick_low;   /* its start tick lies between these */
	uint64_t tick_high;
};

struct gen_log {
	uint64_t step;
	uint64_t count;
	int32_t driver; /* the parent of all of them */
	int32_t padding;
	int32_t last[GEN_PIDS]; /* the last one with each pid, or -1 */
	struct gen items[GEN_CAPACITY];
};

#define GEN_WRITER_NS 5000000 /* between two pages */

/* What number `n` does before it takes its name gN. */
static inline uint64_t gen_pages(uint64_t n)
{
	return n % 6 * 16;
}

static inline uint64_t gen_calls(uint64_t n)
{
	return n * 7 % 251;
}

static inline uint64_t gen_spin_ns(uint64_t n)
{
	return n % 16 == 0 ? n / 16 % 16 * 100000 : 0;
}

/* Pages written to a file: this many write calls, too. */
static inline uint64_t gen_written(uint64_t n)
{
	return n % 8 == 1 ? n / 8 % 5 + 1 : 0;
}

#endif
