/*
 * snapshot.h - every process that this user may see, in one pass.
 *
 * A snapshot is a reusable container: taking it again allocates nothing once
 * it is large enough. What is read from it is borrowed until it is taken
 * again or freed. A process that ends while it is read is left out and
 * counted in the bill; a figure that is refused is DENIED in its record.
 */
#ifndef PLIMSOLL_SNAPSHOT_H
#define PLIMSOLL_SNAPSHOT_H

#include <plimsoll/base.h>
#include <plimsoll/fields.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plim_snapshot plim_snapshot;

/* More processes than this are PLIM_ELIMIT, never a shorter list: it is what
 * Linux can number. */
#define PLIM_SNAPSHOT_LIMIT 4194304

PLIM_API int plim_snapshot_new(plim_snapshot **snapshot, plim_host *host,
			       plim_error *error);
PLIM_API void plim_snapshot_free(plim_snapshot *snapshot);

/* Start from zeros and set `size`. */
typedef struct plim_snapshot_options {
	size_t size; /* sizeof(plim_snapshot_options) */
	/* What to read; NULL means PLIM_FIELDS_FULL. Only the files that these
	 * fields need are opened. */
	const plim_field_set *fields;
	/* Non-zero: read every thread of a process with several, for its
	 * wake-ups; dear (PLIM_REASON_THREAD_PASS otherwise). */
	int threads;
	/* Non-zero: take the strongest identity of each process, not only of
	 * those too young for their start tick to prove anything. */
	int strong_identity;
	/* The round that this one will be compared with, or NULL: processes
	 * that were too young then get the strong identity again. May be the
	 * snapshot itself as it was before. */
	const plim_snapshot *previous;
} plim_snapshot_options;

/*
 * Lists and reads. On failure the snapshot is as it was. PLIM_ENOMEM,
 * PLIM_ELIMIT, PLIM_EDENIED, PLIM_ESYSTEM, PLIM_EUNSUPPORTED.
 */
PLIM_API int plim_snapshot_take(plim_snapshot *snapshot,
				const plim_snapshot_options *options,
				plim_error *error);

/* Its records, in ascending order of pid. */
PLIM_API size_t plim_snapshot_size(const plim_snapshot *snapshot);
PLIM_API const plim_process *plim_snapshot_at(const plim_snapshot *snapshot,
					      size_t index);
/* NULL if no process with this pid was seen. */
PLIM_API const plim_process *plim_snapshot_find(const plim_snapshot *snapshot,
						int32_t pid);

/* The bill of the last pass, and when it began and ended. Records carry their
 * own times in between: a pass is not one instant. */
PLIM_API plim_cost plim_snapshot_cost(const plim_snapshot *snapshot);
PLIM_API plim_stamp plim_snapshot_begin(const plim_snapshot *snapshot);
PLIM_API plim_stamp plim_snapshot_end(const plim_snapshot *snapshot);

/* What became of a process between two rounds. */
enum plim_event {
	PLIM_EVENT_STAYED = 1,
	PLIM_EVENT_STARTED = 2, /* `first` is NULL */
	PLIM_EVENT_ENDED = 3	/* `last` is NULL */
};
typedef int plim_event_fn(int event, const plim_process *first,
			  const plim_process *last, void *user);

/*
 * Walks two snapshots of one host in the order of pids and tells each
 * process once. A pid that was used again is one ENDED, then one STARTED. A
 * callback that returns non-zero ends the walk, and its value is returned.
 */
PLIM_API int plim_snapshot_compare(const plim_snapshot *first,
				   const plim_snapshot *last,
				   plim_event_fn *callback, void *user);

#ifdef __cplusplus
}
#endif
#endif
