/*
 * idle.h - a quiet window: what a process costs once its load has ended.
 *
 * An observation waits until the process is quiet, takes a first sample,
 * sleeps, takes a second, and gives what changed between the two; with
 * threads, who woke comes from the same two samples. The target may be this
 * process itself, another one, or one with all its descendants. It happens in
 * the calling thread, which sleeps once for each sample and is the only one
 * that is woken: another process is read, never stopped, signalled or traced.
 *
 * What does not go as planned is told as a fact, not as an error: it never
 * became quiet, it ended, it executed another program, its window was raised,
 * the machine slept meanwhile.
 */
#ifndef PLIMSOLL_IDLE_H
#define PLIMSOLL_IDLE_H

#include <plimsoll/base.h>
#include <plimsoll/fields.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>
#include <plimsoll/thread.h>
#include <plimsoll/tree.h>
#include <plimsoll/usage.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Used by one thread at a time; freed before its host. */
typedef struct plim_idle plim_idle;

/* The two parts of an observation. */
enum plim_idle_phase {
	PLIM_IDLE_NO_PHASE = 0,
	PLIM_IDLE_QUIESCENCE = 1, /* waiting for quiet */
	PLIM_IDLE_WINDOW = 2	  /* the quiet window */
};

/*
 * Sleeps for so long: 0 when it is over, non-zero if the observation is to
 * stop, which it then does with one last sample. `descriptor` (-1 where there
 * is none) becomes readable when the target ends; a sleeper that waits for it
 * too returns 0 at once then. One that returns early for another reason is
 * called again for the rest.
 */
typedef int plim_idle_sleep_fn(uint64_t ns, int descriptor, void *user);

/* Called after each look in quiescence and each sample of the window. */
typedef struct plim_idle_progress {
	int phase; /* enum plim_idle_phase */
	int calm;  /* 1: the CPU of the last step was below the threshold */
	uint64_t elapsed_ns;   /* of the phase */
	uint64_t whole_ns;     /* the limit of quiescence, the whole window */
	uint64_t calm_ns;      /* quiescence: below the threshold for so long */
	plim_real cpu_percent; /* of the last step, in per cent of one core */
	uint64_t reserved[2];
} plim_idle_progress;
typedef void plim_idle_progress_fn(const plim_idle_progress *progress,
				   void *user);

/* Start from zeros and set `size`: a zero member means the default. No
 * duration is longer than 2^62 ns. */
typedef struct plim_idle_options {
	size_t size; /* sizeof(plim_idle_options) */
	/* What to read at each sample; NULL means plim_idle_fields(). */
	const plim_field_set *fields;
	uint64_t window_ns; /* default 10 s, raised to longest_period_ns */
	/* The slowest timer of the program: a shorter window could miss it. */
	uint64_t longest_period_ns;
	/* Quiet is when the CPU of every step was at most `quiet_cpu_percent`
	 * of one core (default 2; below 0: do not wait) for `quiet_for_ns`
	 * (default 5 s). It is not waited for longer than `quiet_limit_ns`
	 * (default 120 s). A step is `step_ns` (default 250 ms). */
	double quiet_cpu_percent;
	uint64_t quiet_for_ns;
	uint64_t quiet_limit_ns;
	uint64_t step_ns;
	/* Time between samples in the window; 0: at its two ends alone. More
	 * samples give the peaks, and raise the lower bound of what threads
	 * and processes counted that ended in the window. */
	uint64_t sample_ns;
	int tree;    /* non-zero: the process and its descendants */
	int threads; /* non-zero: who woke, thread by thread */
	plim_idle_sleep_fn *sleep;	 /* NULL: the library sleeps itself */
	plim_idle_progress_fn *progress; /* or NULL */
	void *user;			 /* for both */
	uint64_t reserved[4];		 /* 0 */
} plim_idle_options;

/* The fields that an observation reads when it is not told: identity, CPU,
 * switches, memory, storage, faults, threads and descriptors. */
PLIM_API plim_field_set plim_idle_fields(void);

/* PLIM_ENOMEM, PLIM_EINVAL. */
PLIM_API int plim_idle_new(plim_idle **idle, plim_host *host,
			   plim_error *error);
PLIM_API void plim_idle_free(plim_idle *idle);

/*
 * Waits for quiet, then observes a window: plim_idle_await_quiet() and
 * plim_idle_window(). A target that ends or a sleeper that stops in
 * quiescence has no window: all figures are GONE, or those of one sample.
 *
 * `target` NULL is this process itself, and then `tree` must be 0. `options`
 * may be NULL. PLIM_OK also where the target ended, was replaced or never got
 * quiet: plim_idle_about() tells. PLIM_EHIDDEN, PLIM_ECANNOTTELL, PLIM_ELIMIT
 * (too many threads or processes), PLIM_ENOMEM, PLIM_EDENIED, PLIM_ESYSTEM,
 * PLIM_EUNSUPPORTED, PLIM_EINVAL; what was measured before stays readable.
 */
PLIM_API int plim_idle_observe(plim_idle *idle, plim_target *target,
			       const plim_idle_options *options,
			       plim_error *error);

/*
 * The first half: returns when the target is quiet, has ended, is not quiet at
 * the limit, or the sleeper said stop. It forgets the window before.
 *
 * One process is looked at through its CPU clock alone. Of a tree every member
 * is, at every step; a pass over all processes, which finds the members that
 * started and charges those that ended, is made once a second, and quiet is
 * only ever found right after one.
 */
PLIM_API int plim_idle_await_quiet(plim_idle *idle, plim_target *target,
				   const plim_idle_options *options,
				   plim_error *error);

/* The second half, which begins now. It may be repeated: each time anew. */
PLIM_API int plim_idle_window(plim_idle *idle, plim_target *target,
			      const plim_idle_options *options,
			      plim_error *error);

/* How the observer stood to what it observed. */
enum plim_idle_place {
	PLIM_IDLE_OUTSIDE = 0, /* it was no part of it */
	/* The observed process is the observer's own: what the observing
	 * thread did is taken off (CPU, wake-ups, involuntary switches). */
	PLIM_IDLE_SELF = 1,
	/* The observer's process is a descendant of the root of the tree: it
	 * is left out whole. */
	PLIM_IDLE_BELOW = 2
};

typedef struct plim_idle_facts {
	int quiet; /* 1: it became quiet; -1: not within the limit; 0: that was
		    * not waited for, or did not come to its end */
	int ended; /* the phase in which the target ended, or 0 */
	int replaced;	   /* 1: it ended, and its pid has another owner */
	int image_changed; /* the first phase in which it executed another
			    * program, or 0; where this user can tell */
	int name_changed;  /* 1: its name changed in either of them */
	int stopped;	   /* the phase in which the sleeper said stop, or 0 */
	int raised;	   /* 1: the window is longer than it was asked to be */
	int place;	   /* enum plim_idle_place */
	/* The tree at the last sample, of one process 1; those that started
	 * and ended between samples of the window. */
	uint32_t members;
	uint32_t members_born;
	uint32_t members_ended;
	/* Threads of living members, likewise, where threads are read one by
	 * one: seen at one sample and gone at the next. What they counted after
	 * they were last seen is in no figure, nor are those that came and went
	 * between two samples. */
	uint32_t threads_ended;
	uint32_t samples;	  /* of the window; 2 or more make rates */
	uint64_t quiet_after_ns;  /* from the call to quiet, or to giving up */
	plim_real busiest_step;	  /* CPU in quiescence, per cent of a core */
	uint64_t window_asked_ns; /* as it was asked for, or the default */
	uint64_t window_ns;	  /* as it was to be */
	plim_interval interval;	  /* as it was, from the first sample to the
				   * last one of the living target */
	/* What the observing thread itself did from first to last sample: it
	 * is part of no figure. Wake-ups are voluntary context switches: one
	 * for each sleep. */
	plim_count own_wakeups;
	plim_count own_involuntary;
	plim_count own_cpu_ns;
	uint64_t reserved[4];
} plim_idle_facts;
PLIM_API plim_idle_facts plim_idle_about(const plim_idle *idle);

/*
 * The figures of the process, or the sums over the tree. Before there is a
 * sample they are UNREAD; GONE if the target ended before the first.
 *
 * First and last: as at the first and at the last sample; of a tree a gauge
 * is the sum over its members, a counter its total (plim_tree_total()), and
 * PEAK_RESIDENT the sum of the members' peaks (at most). Peak: the largest of
 * all samples, of a gauge; at least, because more may have been in between.
 */
PLIM_API plim_count plim_idle_first(const plim_idle *idle, int field);
PLIM_API plim_count plim_idle_last(const plim_idle *idle, int field);
PLIM_API plim_count plim_idle_peak(const plim_idle *idle, int field);

/*
 * What a counter gained from the first sample to the last: PENDING with one
 * sample, NOT_APPLICABLE for a gauge. Changes are added up from sample to
 * sample, so that what ended threads and processes were seen to count stays
 * in; the bound says whether more may be. Of the observer's own process, CPU,
 * WAKEUPS and INVOLUNTARY are without the observing thread.
 */
PLIM_API plim_count plim_idle_change(const plim_idle *idle, int field);
/* The same per second of CLOCK_MONOTONIC. */
PLIM_API plim_real plim_idle_rate(const plim_idle *idle, int field);
/* CPU in per cent of one core. */
PLIM_API plim_real plim_idle_cpu_percent(const plim_idle *idle);

/* The record of the process, of a tree that of its root, at the first and at
 * the last sample; NULL before there is one. Valid until the next window. They
 * hold the observing thread's share, too. */
PLIM_API const plim_process *plim_idle_warm(const plim_idle *idle);
PLIM_API const plim_process *plim_idle_end(const plim_idle *idle);

/* The tree as of the last sample; NULL without. */
PLIM_API const plim_tree *plim_idle_tree(const plim_idle *idle);

/*
 * Who woke, when `threads` was asked for: every thread of the last sample, of
 * all members, by wake-ups in the window, most first, unknown last, ties by
 * pid, then tid. The observing thread is not among them. Nothing before there
 * are two samples. Of a single process the totals above are those of the very
 * same two passes; of a tree its threads are read right behind its figures.
 */
typedef struct plim_idle_thread {
	int32_t pid;
	plim_text process; /* its name */
	plim_thread_change change;
} plim_idle_thread;
PLIM_API size_t plim_idle_thread_count(const plim_idle *idle);
PLIM_API plim_idle_thread plim_idle_thread_at(const plim_idle *idle,
					      size_t rank);
/* The facts of all members together; zeroed without threads. */
PLIM_API plim_threads_facts plim_idle_thread_facts(const plim_idle *idle);
/* Of a single process: its threads; NULL without, and of a tree. */
PLIM_API const plim_threads *plim_idle_threads(const plim_idle *idle);

/* The bill of the last observation: both halves, or the one that was asked
 * for. */
PLIM_API plim_cost plim_idle_cost(const plim_idle *idle);

#ifdef __cplusplus
}
#endif
#endif
