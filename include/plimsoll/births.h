/*
 * births.h - how many processes and threads a tree starts, the short-lived
 * ones included.
 *
 * A sample of /proc sees who is alive when it is taken; a child that starts
 * and ends between two samples is in neither. Births are counted from what
 * the kernel itself says at every start and every end, so that nothing is too
 * short. The observed processes are not stopped, not signalled and not
 * traced.
 *
 * Linux has two sources. Perf records: a software event that counts nothing is
 * put on each thread of the tree, and the kernel hands it on to whatever those
 * threads start; an ordinary user may do so for processes of their own while
 * kernel.perf_event_paranoid is at most 2. The process connector: a socket
 * that tells every start and end of the whole machine, of which those of the
 * tree are kept; it needs CAP_NET_ADMIN, or Linux 6.6, and the machine's own
 * pid and user namespaces. Where neither may be used all counts are
 * unavailable, with the reason why perf could not be used.
 */
#ifndef PLIMSOLL_BIRTHS_H
#define PLIMSOLL_BIRTHS_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>
#include <plimsoll/usage.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Used by one thread at a time. Freed before its host and its target. */
typedef struct plim_births plim_births;

/* Bits of plim_births_options.flags. */
enum plim_births_flag {
	/* Do not look for descendants that are there already: for a child that
	 * is held before it executes its program, which has none. */
	PLIM_BIRTHS_ROOT_ALONE = 1,
	PLIM_BIRTHS_NO_PERF = 2,     /* never use perf records */
	PLIM_BIRTHS_NO_CONNECTOR = 4 /* never use the process connector */
};

/* Start from zeros and set `size`. */
typedef struct plim_births_options {
	size_t size; /* sizeof(plim_births_options) */
	uint32_t flags;
	/* Room for what happens between two readings, for each CPU; 0 means
	 * 512 KiB, the most that an ordinary user gets by default. A process
	 * that starts and ends takes 64 bytes, so that is 8,192 of them for
	 * each CPU. Rounded up to a power of two, at least a page and at most
	 * 16 MiB; where the system gives less, less is taken. */
	uint32_t ring_bytes;
} plim_births_options;

/* The most descriptors that one plim_births holds; and no more than a quarter
 * of those that the caller may open. Perf records take one for each CPU and
 * each thread that is there at the beginning; what the tree starts later takes
 * none. */
#define PLIM_BIRTHS_DESCRIPTORS 4096

/*
 * Begins to count what this process starts, and all its descendants. The
 * target NULL means the caller itself. `options` may be NULL. Everything that
 * is started after the return is counted, and what a child that is held does
 * from its first instruction. PLIM_OK also where no source can be used: then
 * the counts say why. PLIM_ENOPROCESS or PLIM_EREPLACED if the target has
 * ended, PLIM_EHIDDEN, PLIM_ENOMEM, PLIM_ESYSTEM (no free descriptor, for
 * one), PLIM_EINVAL.
 */
PLIM_API int plim_births_open(plim_births **births, plim_host *host,
			      plim_target *target,
			      const plim_births_options *options,
			      plim_error *error);

/* Ends counting. NULL is allowed. */
PLIM_API void plim_births_free(plim_births *births);

/*
 * What was counted since the mark. All four are lower bounds once something
 * was lost: when more happened between two readings than there is room for,
 * when a member could not be observed, or when a CPU came online that is not
 * watched.
 *
 * A program that executes another in place starts nothing. Perf lets go of a
 * process that executes a program with the rights of another user
 * (set-user-id), or one that it may not read: what it starts is not seen. If it
 * still runs at the next reading, that is noticed, and the counts are lower
 * bounds from then on; if it has ended by then, it is not.
 */
typedef struct plim_births_counts {
	/* Processes that were started by a member: fork, vfork, posix_spawn,
	 * clone without CLONE_THREAD. */
	plim_count processes_started;
	plim_count threads_started; /* besides the first of each process */
	/* Members whose main thread has ended; the root, too. */
	plim_count processes_ended;
	plim_count threads_ended;
	/* Records that found no room, which may be told only by the reading
	 * after the next birth; 0 if all were seen. */
	plim_count lost;
	plim_interval interval; /* from the mark to the reading */
	uint64_t reserved[4];
} plim_births_counts;

/*
 * Takes what has happened until now, and fills `*counts`. Allocates nothing.
 * Fails for PLIM_EINVAL alone.
 */
PLIM_API int plim_births_read(plim_births *births, plim_births_counts *counts,
			      plim_error *error);

/* Sets the mark: counts begin at 0 again. The first is set by the opening.
 * Fails for PLIM_EINVAL alone. */
PLIM_API int plim_births_mark(plim_births *births, plim_error *error);

/* A descriptor for the caller's own poll that becomes readable when half of
 * the room is used up, so that who reads then loses nothing and who starts
 * little is never woken for. Owned by the births. -1 where there is none. */
PLIM_API int plim_births_poll_descriptor(const plim_births *births);

/* PLIM_METHOD_PERF_RECORDS, PLIM_METHOD_PROCESS_CONNECTOR, or
 * PLIM_METHOD_NONE where nothing can be counted. */
PLIM_API int plim_births_method(const plim_births *births);

/* The bill of the last call that asked the system. */
PLIM_API plim_cost plim_births_cost(const plim_births *births);

#ifdef __cplusplus
}
#endif
#endif
