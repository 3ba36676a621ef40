/*
 * wait_posix.h - waiting for descriptors with a set of blocked signals that
 * holds for the wait alone, which systems have by different calls.
 */
#ifndef PLIM_WAIT_POSIX_H
#define PLIM_WAIT_POSIX_H

#include "cmd.h"

#include <signal.h>

/* How many are ready; 0 also where none came in time or a signal did. */
int wait_ready(uint64_t ns, struct wait_entry *entries, size_t count,
	       const sigset_t *mask);

#endif
