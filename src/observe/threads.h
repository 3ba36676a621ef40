/*
 * threads.h - what a plim_threads is inside: three samples, of which two are
 * shown and one is being written, and the pairs that the two make.
 */
#ifndef PLIMP_THREADS_H
#define PLIMP_THREADS_H

#include "host/host.h"

#include <plimsoll/thread.h>

/* One sample. */
struct plimp_threads_side {
	plim_process record;
	struct plimp_thread_list list;
	struct plimp_thread_details details;
	plim_thread *shown; /* as many as the list */
	size_t shown_capacity;
	unsigned parts; /* enum plim_thread_part */
};

/* A thread of the last sample, or one that exited. */
struct plimp_threads_pair {
	const plim_thread *first; /* NULL if it was not in the first sample */
	const plim_thread *last;  /* NULL if it exited */
	plim_count wakeups;	  /* its change */
	int born;
	int other; /* the two may be different ones: executed a program */
};

struct plim_threads {
	plim_host *host;
	struct plimp_threads_side sides[3];
	int samples; /* 0, 1, 2 */
	int of_self; /* the last one is */
	int first;   /* sides */
	int last;
	/* Those of the last sample in their order, then those that exited. */
	struct plimp_threads_pair *pairs;
	size_t pair_capacity;
	size_t change_count;
	size_t exited_count;
	plim_threads_facts facts;
	plim_cost cost;
};

/* Pairs the two samples, for all threads of which there is room, orders the
 * pairs and sums up; of one sample there are no pairs. */
void plimp_threads_pair(plim_threads *threads);

#endif
