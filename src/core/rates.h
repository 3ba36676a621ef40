/*
 * rates.h - the time between two rounds of anything, and what of two lists of
 * threads belongs together.
 */
#ifndef PLIMP_RATES_H
#define PLIMP_RATES_H

#include "core/record.h"

#include <plimsoll/usage.h>

/* From one stamp to a later one; 0 where the clock was said to go back. */
plim_interval plimp_interval(plim_stamp first, plim_stamp last);

/* Could the thread be born after `first` was read? One that is older was
 * missed there, as a list that is read while it changes may miss one: what it
 * did since is not known. A tick that is not known (0) rules nobody out. */
int plimp_thread_is_newborn(const plim_process *first,
			    const struct plimp_thread *thread);

/*
 * When a thread that is not the main one executes a program it takes over the
 * main thread's number and start, with a history of its own. The image (a
 * number that changes with every exec, where this user may see it) tells.
 */
int plimp_thread_may_be_other(const plim_process *first,
			      const plim_process *last);

/* Threads of `first` that are not in `last`; 0 where either was not read. */
uint32_t plimp_threads_ended(const plim_process *first,
			     const plim_process *last);

#endif
