/*
 * snapshot.h - the inside of a snapshot.
 *
 * Two passes alternate: the one that is read, and the one that is being
 * filled; they change places when the filling succeeded, so that a failure
 * leaves the snapshot as it was.
 */
#ifndef PLIMP_SNAPSHOT_H
#define PLIMP_SNAPSHOT_H

#include "host/host.h"

struct plimp_pass {
	plim_process *records;
	size_t count;
	size_t capacity;
	struct plimp_thread_list threads;
	plim_stamp begin;
	plim_stamp end;
	uint64_t young_ticks; /* what started later was too young to be told
			       * from a successor by its tick */
	plim_cost cost;
};

struct plim_snapshot {
	plim_host *host;
	struct plimp_pids pids;
	struct plimp_pass current;
	struct plimp_pass spare;
};

#endif
