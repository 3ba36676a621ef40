/*
 * trial.h - a random heap, and what a walk says of it beside what its owner
 * says.
 *
 * A trial is drawn from its seed alone: pattern, threads, sizes, survival and
 * tunables. Its truth is the target's: mallinfo2, what it holds itself, and by
 * how much its anonymous memory really fell when it trimmed.
 */
#ifndef TESTS_MEMORY_TRIAL_H
#define TESTS_MEMORY_TRIAL_H

#include <plimsoll.h>

#include "target.h"

#define TRIAL_WORDS 32

struct trial {
	uint64_t seed;
	char tunables[256]; /* "": none */
	int ended;	    /* its threads end before it is looked at */
	size_t word_count;
	char words[TRIAL_WORDS][24];
};

/* Draws the trial of this seed; threads ask for `most_kib` together at most.
 */
void trial_draw(struct trial *trial, uint64_t seed, uint64_t most_kib);

/* Starts the program of a trial; `root` as target_plan has it. */
int trial_start(const struct trial *trial, const char *root,
		struct target *target);

/* 1 if the library reads memory of processes on this system at all. */
int trial_can(plim_heaps *heaps);

/* What a walk says, in bytes; all of one allocator. */
struct trial_walk {
	uint64_t in_use;
	uint64_t tcache;
	uint64_t fastbin;
	uint64_t free;
	uint64_t top;
	uint64_t mmapped;
	uint64_t mmapped_count;
	uint64_t system;
	uint64_t walked;
	uint64_t unknown;
	uint64_t uncertain;
	uint64_t trim;
	uint64_t huge;
	uint64_t arenas;
	uint64_t heaps;
	char version[32];
	double ms; /* what the call took */
};

/* Walks the glibc heap of a process: 0; -1 and a sentence if there is none
 * or a figure is missing. */
int trial_look(plim_heaps *heaps, plim_host *host, pid_t pid,
	       struct trial_walk *walk, char *error, size_t size);

/* The same target's own account. */
struct trial_truth {
	uint64_t uordblks;
	uint64_t fordblks;
	uint64_t fsmblks;
	uint64_t hblks;
	uint64_t hblkhd;
	uint64_t arena;
	uint64_t own;
	uint64_t held;
};
int trial_ask(struct target *target, struct trial_truth *truth);

/* Which of the equations do not hold. */
enum trial_fault {
	TRIAL_IN_USE = 1,  /* in use + tcache = uordblks */
	TRIAL_FREE = 2,	   /* free + fast bins + top = fordblks */
	TRIAL_SYSTEM = 4,  /* walked = system = arena */
	TRIAL_MMAPPED = 8, /* bytes and count = hblkhd and hblks */
	TRIAL_FAST = 16,   /* fast bins = fsmblks */
	TRIAL_HELD = 32,   /* in use = what is held + what libc had before */
	TRIAL_UNKNOWN = 64 /* nothing unknown, nothing uncertain */
};
unsigned trial_compare(const struct trial_walk *walk,
		       const struct trial_truth *truth);
/* The name of one bit. */
const char *trial_fault_name(unsigned fault);

struct trial_result {
	char error[256]; /* "": the trial took place */
	unsigned faults; /* bits of enum trial_fault */
	struct trial_walk walk;
	struct trial_truth truth;
	int64_t trimmed; /* by how much anonymous memory fell */
	int64_t off;	 /* forecast less that */
};

/* A whole trial: start, walk, ask, trim, end. `host` is ours. */
void trial_run(const struct trial *trial, const char *root, plim_heaps *heaps,
	       plim_host *host, struct trial_result *result);

/* One line: how to have the trial again. */
void trial_print(const struct trial *trial);

/* One line more: both accounts, where they differ. */
void trial_explain(const struct trial_result *result);

/* What many trials add up to. */
struct trial_tally {
	unsigned trials;
	unsigned failed;   /* did not take place */
	unsigned wrong[8]; /* by the number of the bit of enum trial_fault */
	unsigned exact;	   /* forecasts to the byte */
	unsigned one;	   /* off by one page */
	unsigned two;	   /* by two */
	unsigned more;	   /* by more */
};
void trial_count(struct trial_tally *tally, const struct trial_result *result);
void trial_tell(const struct trial_tally *tally);

#endif
