/*
 * watch.h - CPU time of many remembered processes, at the least price.
 *
 * A snapshot reads files of every process, most of whose price is the text
 * that the kernel makes. A watch asks one clock for each process that it
 * holds, and proves afterwards that the number was still that process's own:
 * a pid that is used again yields nothing of its new owner. So a program that
 * shows CPU usage can look often with a watch, and take a snapshot now and
 * then, which the watch follows.
 */
#ifndef PLIMSOLL_WATCH_H
#define PLIMSOLL_WATCH_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>
#include <plimsoll/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Used by one thread at a time. */
typedef struct plim_watch plim_watch;

/* So many processes at most are held by a descriptor each, and by no more
 * than a quarter of those that the caller may open. The others are proven
 * anew each time: on Linux 6.9 by the inode of a pidfd, before by the start
 * tick, which costs a file and tells no two owners of one tick apart. */
#define PLIM_WATCH_HELD 256

PLIM_API int plim_watch_new(plim_watch **watch, plim_host *host,
			    plim_error *error);
PLIM_API void plim_watch_free(plim_watch *watch);

/*
 * Remembers a process. One that is watched already stays as it is; one with
 * the same pid that has ended makes room. PLIM_ENOPROCESS if it has ended,
 * PLIM_EREPLACED if its pid has another owner, PLIM_ECANNOTTELL if the
 * identity holds no proof, PLIM_EHIDDEN, PLIM_ENOMEM, PLIM_ESYSTEM,
 * PLIM_ELIMIT above PLIM_SNAPSHOT_LIMIT.
 */
PLIM_API int plim_watch_add(plim_watch *watch, const plim_identity *identity,
			    plim_error *error);

/* Forgets the process with this pid, if there is one. */
PLIM_API void plim_watch_remove(plim_watch *watch, int32_t pid);

/*
 * Makes the watch hold the processes of a snapshot of the same host: the same
 * ones stay, with their last sample; new ones are added, but for those that
 * have ended since; all others are forgotten. PLIM_ENOMEM and PLIM_ESYSTEM
 * leave the watch as it was.
 */
PLIM_API int plim_watch_follow(plim_watch *watch, const plim_snapshot *snapshot,
			       plim_error *error);

/*
 * One round: reads the CPU time of each. What ended stays, as GONE, until it
 * is removed or a snapshot is followed. Allocates nothing.
 */
PLIM_API int plim_watch_refresh(plim_watch *watch, plim_error *error);

/* Its processes, in ascending order of pid; an index is valid until one is
 * added, removed or a snapshot is followed. */
PLIM_API size_t plim_watch_size(const plim_watch *watch);
PLIM_API plim_identity plim_watch_identity(const plim_watch *watch,
					   size_t index);

/* CPU time in ns as of the last round: PLIM_FIELD_CPU. UNREAD before the
 * first, GONE once it has ended. */
PLIM_API plim_count plim_watch_cpu(const plim_watch *watch, size_t index);

/* In per cent of one core between the last two rounds, each process by its
 * own times of reading: PENDING until there are two. */
PLIM_API plim_real plim_watch_percent(const plim_watch *watch, size_t index);

/* The bill of the last round. */
PLIM_API plim_cost plim_watch_cost(const plim_watch *watch);

#ifdef __cplusplus
}
#endif
#endif
