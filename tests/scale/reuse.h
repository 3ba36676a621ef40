/*
 * reuse.h - the storm of reused pids as the tests see it.
 *
 * The storm (tests/workloads/generations.c) writes down who was born and who
 * ended, and when. So every record belongs to exactly one generation, that of
 * its pid at its time, and its name, its proof and its figures must be that
 * one's. PLIM_STORM=SECONDS,LIVE (60,10000) makes it a large one.
 */
#ifndef TESTS_SCALE_REUSE_H
#define TESTS_SCALE_REUSE_H

#include "scale.h"

#include "generations.h"

#define REUSE_NOBODY UINT32_MAX
#define REUSE_EVENTS 100 /* of each kind, at least */
#define REUSE_TOLD   1024

/* What ending and being born cost beside what the number says. */
#define REUSE_SLACK_NS 50000000

struct reuse {
	unsigned seconds;
	unsigned live;
	struct gen_log *log;
	struct spawn driver;
	uint64_t own_pages; /* of generation 0, which has none of its number */
	uint32_t round;
	uint64_t begin[2]; /* of the earlier and of this round */
	uint64_t end;	   /* of this one */
	uint64_t records;
	uint64_t ended;
	uint64_t started;
	char *told; /* printed in the end: a child's own words are not */
};
extern struct reuse reuse;

/* Runs the body in a pid namespace of its own. */
void reuse_run(child_fn *body);

/* In the body: starts the storm. */
void reuse_start(void);

/* Long enough, and as much as is to be seen, on a busy machine too. */
int reuse_is_over(uint64_t begin);

/* Waits until all that had begun by now is written down; how many births. */
uint64_t reuse_settled(void);

/* The one generation that the record can be of; NOBODY for who is no part of
 * the storm. Fails if there is none, or more than one. */
uint32_t reuse_who(const plim_process *it);

/* 1 if it bears its own name, 0 if still its parent's; fails for another. */
int reuse_is_named(const plim_process *it, uint32_t number);

/* What its number says it has done, exactly once it bears its name. */
void reuse_figures(const plim_process *it, uint32_t number);

/* Fails, with all that is known of the record and of its pid. */
_Noreturn void reuse_fail(const plim_process *it, uint32_t number,
			  const char *what);

#endif
