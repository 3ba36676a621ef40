/*
 * usage.h - one process measured again and again, and rates.
 *
 * A usage holds one record that is refreshed in place. Keep two to make
 * rates: a record alone never has any. Refreshing a usage allocates nothing
 * after the first time, except when the process has more threads than before.
 */
#ifndef PLIMSOLL_USAGE_H
#define PLIMSOLL_USAGE_H

#include <plimsoll/base.h>
#include <plimsoll/fields.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>
#include <plimsoll/snapshot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plim_usage plim_usage;

/* A process with more threads is PLIM_ELIMIT where they are read one by one. */
#define PLIM_THREAD_LIMIT 65536

PLIM_API int plim_usage_new(plim_usage **usage, plim_host *host,
			    plim_error *error);
PLIM_API void plim_usage_free(plim_usage *usage);

/*
 * Measures this process itself. With the fields of plim_usage_basic() it is
 * two cheap calls into the kernel. `fields` NULL means every field
 * but the two that walk page tables, PSS and PRIVATE_DIRTY.
 * PLIM_EUNSUPPORTED in a child of the process that opened the host: what the
 * host holds is the parent's.
 */
PLIM_API int plim_usage_refresh_self(plim_usage *usage,
				     const plim_field_set *fields,
				     plim_error *error);

/*
 * Measures a remembered process; wake-ups are summed over its threads. If it
 * has ended or its pid has another owner, the record stays as it was, its
 * last live state, and the result is PLIM_ENOPROCESS or PLIM_EREPLACED;
 * PLIM_EHIDDEN if it is not visible any more, PLIM_ECANNOTTELL if nothing
 * tells which of these. PLIM_ELIMIT, PLIM_ENOMEM, PLIM_ESYSTEM likewise leave
 * the record as it was.
 */
PLIM_API int plim_usage_refresh(plim_usage *usage, plim_target *target,
				const plim_field_set *fields,
				plim_error *error);

/*
 * Waits for a child of this process, reaps it, and fills the record with the
 * kernel's exact account of it and of every descendant it had waited for.
 * What only a live process has is GONE. `*status` (may be NULL) is as wait()
 * gives it. On Windows it is the child alone, without those that it waited
 * for, and `*status` is its exit code; the pid is that of a child as long as
 * somebody, as a rule who started it, keeps a handle. A signal does not end the
 * wait: who must be interruptible waits for plim_target_poll_descriptor()
 * first. PLIM_ENOPROCESS if it is no child.
 */
PLIM_API int plim_usage_reap(plim_usage *usage, int32_t child, int *status,
			     plim_error *error);

/* The record; its figures are UNREAD before the first refresh. */
PLIM_API const plim_process *plim_usage_process(const plim_usage *usage);

/* The bill of the last refresh. */
PLIM_API plim_cost plim_usage_cost(const plim_usage *usage);

/* CPU, wake-ups, involuntary switches, faults, blocks, resident. */
PLIM_API plim_field_set plim_usage_basic(void);

/*
 * Two records of the same process. PLIM_EUNLIKE if they are of different
 * ones, PLIM_ECANNOTTELL if neither can be proven.
 */
typedef struct plim_interval {
	uint64_t elapsed_ns;   /* by CLOCK_MONOTONIC */
	uint64_t suspended_ns; /* the machine slept that long meanwhile */
	uint64_t reserved[2];
} plim_interval;
PLIM_API int plim_process_interval(const plim_process *first,
				   const plim_process *last,
				   plim_interval *interval, plim_error *error);

/*
 * The change of a counter from `first` to `last`. Wake-ups that were summed
 * over threads are compared thread by thread: what common threads added, and
 * all of those that were born since; at least that many, since threads may
 * have come and gone. UNLIKE for records of different processes,
 * NOT_APPLICABLE for a field that is no counter.
 */
PLIM_API plim_count plim_process_change(const plim_process *first,
					const plim_process *last, int field);

/* The same per second. */
PLIM_API plim_real plim_process_rate(const plim_process *first,
				     const plim_process *last, int field);

/* CPU in per cent of one core: 100 is one core busy all the time. */
PLIM_API plim_real plim_process_cpu_percent(const plim_process *first,
					    const plim_process *last);

/*
 * A rate meter for many keys: it turns each round of a counter into the
 * change per second since the round before. A key that is left out of a
 * round is forgotten, so that a pid that is used again starts fresh. The
 * first round of a key is PENDING.
 */
typedef struct plim_meter plim_meter;
PLIM_API int plim_meter_new(plim_meter **meter, const plim_allocator *allocator,
			    plim_error *error);
PLIM_API void plim_meter_free(plim_meter *meter);
/* Begins a round. */
PLIM_API void plim_meter_round(plim_meter *meter, plim_stamp now);
/* One key of this round. PLIM_ENOMEM leaves the meter without the key. */
PLIM_API int plim_meter_put(plim_meter *meter, const plim_identity *key,
			    plim_count counter, plim_real *rate,
			    plim_error *error);

#ifdef __cplusplus
}
#endif
#endif
