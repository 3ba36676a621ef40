/*
 * memory_guard.h - the stall guard: whether page tables may be walked now.
 */
#ifndef PLIMP_MEMORY_GUARD_H
#define PLIMP_MEMORY_GUARD_H

#include <plimsoll/memory.h>

struct plimp_memory_guard {
	uint32_t parts; /* enum plim_memory_part */
	int force;
	uint64_t stall_ns;
	uint64_t rest;
	uint64_t rest_until; /* by the monotonic clock, in ns */
};

/* The answers. */
enum plimp_guard_answer {
	PLIMP_GUARD_WALK = 0,
	PLIMP_GUARD_STALL = 1, /* it would take too long, or nobody knows */
	PLIMP_GUARD_REST = 2   /* not yet */
};

/* What the options say; the rest that is going on goes on. PLIM_EINVAL for a
 * wrong size. */
int plimp_guard_set(struct plimp_memory_guard *guard,
		    const plim_memory_options *options, plim_error *error);

/* May a walk of so long a prediction begin? */
int plimp_guard_ask(const struct plimp_memory_guard *guard,
		    plim_count predicted_ns, uint64_t now_ns);

/* A walk is over: the rest begins. */
void plimp_guard_walked(struct plimp_memory_guard *guard, uint64_t began_ns,
			uint64_t ended_ns);

/* The reason that a figure has which was left out for such an answer. */
int plimp_guard_reason(int answer);

#endif
