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
	struct plimp_text_list texts;
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

/* Makes room for so many records; new ones are zeroed. */
int plimp_pass_reserve(plim_host *host, struct plimp_pass *pass, size_t count,
		       plim_error *error);
void plimp_pass_release(plim_host *host, struct plimp_pass *pass);

/* Gives every record its part of the lists of threads and texts, which were
 * filled record by record and stand still from now on. */
void plimp_pass_join(struct plimp_pass *pass);

/*
 * The two halves of plim_snapshot_take(), without the bill: the spare pass is
 * filled, then it becomes the current one. `request` gets the tick from which
 * on processes are too young to be proven by it.
 */
int plimp_snapshot_fill(plim_snapshot *snapshot, struct plimp_request *request,
			const plim_snapshot *previous, plim_error *error);
void plimp_snapshot_swap(plim_snapshot *snapshot);

#endif
