/*
 * thread.h - the threads of one process: who wakes, who computes, what each
 * waits in.
 *
 * A plim_threads holds two samples of one process and what changed between
 * them. A sample is one pass: the record of the process and its threads are
 * read together, so that where the process total is the sum over threads it
 * is exactly that sum. A thread is known from sample to sample by (tid,
 * start), because tids are used again; every counter is bound to the thread
 * that it is told of. Names and what a thread waits in are read behind the
 * counters, outside the measured interval. A thread that ends while it is
 * read is left out and counted.
 */
#ifndef PLIMSOLL_THREAD_H
#define PLIMSOLL_THREAD_H

#include <plimsoll/base.h>
#include <plimsoll/fields.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>
#include <plimsoll/usage.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Used by one thread at a time; freed before its host. */
typedef struct plim_threads plim_threads;

/* What to read of each thread: bits of plim_threads_options.parts. On Linux
 * the first two take a file each. */
enum plim_thread_part {
	/* Wake-ups and involuntary switches: task/TID/status. */
	PLIM_THREAD_SWITCHES = 1,
	/* CPU time, waits for a CPU, times put on one: task/TID/schedstat. */
	PLIM_THREAD_TIMES = 2,
	/* The name. It comes with the start of a thread that was not there
	 * before; that of another is read again, behind the counters. Without
	 * this part it stays the one that was read last, if any. */
	PLIM_THREAD_NAME = 4,
	/* State, the system call that it blocks in, and the kernel's place of
	 * waiting, behind the counters: task/TID/syscall and wchan. The name
	 * comes with it. */
	PLIM_THREAD_BLOCKED = 8,
	PLIM_THREAD_ALL = 15
};

/* Start from zeros and set `size`. */
typedef struct plim_threads_options {
	size_t size;	/* sizeof(plim_threads_options) */
	uint32_t parts; /* enum plim_thread_part; 0 is PLIM_THREAD_ALL */
	uint32_t reserved;
	/* What to read of the process in the same pass; NULL is CPU, and
	 * WAKEUPS where the parts have SWITCHES. */
	const plim_field_set *fields;
} plim_threads_options;

/*
 * One thread in one sample. A figure whose part was not asked for is SKIPPED.
 * The texts belong to the sample, which stays until two more were taken.
 */
typedef struct plim_thread {
	int32_t tid;
	char state;	 /* R S D T t Z X I; 0 if it was not read */
	uint8_t is_main; /* 1: the thread whose id is the process's; Linux */
	uint8_t reserved_byte[2];
	plim_count start_ticks; /* of the host's clock, since boot */
	plim_count wakeups;	/* voluntary context switches */
	plim_count involuntary;
	/* Times put on a CPU: the figure that compares with Windows. */
	plim_count switches_in;
	/* ns; of a thread that runs right now it lags by up to a tick. */
	plim_count cpu_ns;
	plim_count runqueue_ns;	  /* waited for a CPU while it could run */
	plim_count start_address; /* UNSUPPORTED on Linux and macOS; on
				   * Windows the routine that was named */
	plim_text name;
	/* The number of the system call that it blocks in. NOT_APPLICABLE
	 * where it runs or waits outside of one, DENIED where the kernel tells
	 * it only to who may trace the process. 0 is a number: read. */
	plim_count system_call;
	/* The name of that call, `syscall_N` for a number without a name in
	 * the table, else the place of waiting, else why there is neither. */
	plim_text blocked_in;
	/* A function of the kernel; its "0" is none. */
	plim_text wait_channel;
	uint64_t reserved[4];
} plim_thread;

/*
 * One thread between the two samples. The changes of a thread that was born
 * in the window are its whole counts. Those of one that existed before the
 * first sample and is not in it (a list that is read while it changes may
 * miss one) are PENDING. Those of one that exited are GONE: its figures as of
 * the first sample are `last`'s, and what it did since is not knowable. After
 * another program was executed by a process of several threads the main
 * thread's are UNLIKE, because a thread may have taken over its number.
 */
typedef struct plim_thread_change {
	/* As in the second sample; of one that exited as in the first. */
	const plim_thread *last;
	int born;   /* 1: it started after the first sample */
	int exited; /* 1: it is not in the second sample */
	plim_count wakeups;
	plim_count involuntary;
	plim_count switches_in;
	plim_count cpu_ns;
	plim_count runqueue_ns;
	plim_text name; /* where the second sample lacks it, the first's */
	uint64_t reserved[2];
} plim_thread_change;

/* PLIM_ENOMEM, PLIM_EINVAL. */
PLIM_API int plim_threads_new(plim_threads **threads, plim_host *host,
			      plim_error *error);
PLIM_API void plim_threads_free(plim_threads *threads);

/*
 * Takes a sample; what was the last one becomes the first. `target` NULL is
 * this process itself. `options` may be NULL: every part. After a sample of
 * another process than before there is that one sample alone.
 *
 * It allocates nothing after the third time, unless there are more threads
 * than before. On failure both samples stay as they were: PLIM_ENOPROCESS,
 * PLIM_EREPLACED, PLIM_EHIDDEN, PLIM_ECANNOTTELL as of plim_usage_refresh();
 * PLIM_ELIMIT above PLIM_THREAD_LIMIT threads, never a shorter list;
 * PLIM_EDENIED, PLIM_ESYSTEM where the threads cannot be listed or read,
 * PLIM_EUNSUPPORTED where a recording of several has none of them,
 * PLIM_EMALFORMED, PLIM_ENOMEM, PLIM_EINVAL.
 */
PLIM_API int plim_threads_sample(plim_threads *threads, plim_target *target,
				 const plim_threads_options *options,
				 plim_error *error);

/* The same, but the first sample stays the first and only the last is
 * replaced: for who looks again and again over one window. */
PLIM_API int plim_threads_extend(plim_threads *threads, plim_target *target,
				 const plim_threads_options *options,
				 plim_error *error);

/* The threads of the last sample, ascending by (tid, start); NULL for an
 * index that is none. */
PLIM_API size_t plim_threads_count(const plim_threads *threads);
PLIM_API const plim_thread *plim_threads_at(const plim_threads *threads,
					    size_t index);

/* The records of the process, of the same two passes; NULL without one. */
PLIM_API const plim_process *plim_threads_first(const plim_threads *threads);
PLIM_API const plim_process *plim_threads_last(const plim_threads *threads);

/*
 * What the threads of the last sample did, by wake-ups, most first, unknown
 * last, ties by tid, then start. None before there are two samples. A rank
 * that is none gives a change whose `last` is NULL and whose figures are
 * UNREAD.
 */
PLIM_API size_t plim_threads_changes(const plim_threads *threads);
PLIM_API plim_thread_change plim_threads_change(const plim_threads *threads,
						size_t rank);

/* The threads of the first sample that had ended by the last, by tid. */
PLIM_API size_t plim_threads_exited(const plim_threads *threads);
PLIM_API plim_thread_change plim_threads_exited_at(const plim_threads *threads,
						   size_t index);

/*
 * The two samples as a whole. A sum over threads is unavailable, with the
 * reason of the first that lacks it, if any thread does; all sums are PENDING
 * before there are two samples. Where all are known,
 *
 *     listed_wakeups - exited_wakeups_at_start = live_total_change
 */
typedef struct plim_threads_facts {
	uint32_t first; /* threads in the first sample, in the last */
	uint32_t last;
	uint32_t born;
	uint32_t exited;
	uint32_t vanished; /* ended while the last sample was taken */
	uint32_t reserved_word;
	/* The sum of what plim_threads_change() tells. */
	plim_count listed_wakeups;
	/* What those that exited had counted by the first sample. */
	plim_count exited_wakeups_at_start;
	/* By how much the sum over the threads that live changed; it falls
	 * when threads end. */
	plim_real live_total_change;
	/*
	 * What threads that exited, and those that came and went, counted in
	 * the window: the change of the whole process less the listed ones.
	 * Of this process itself alone, by getrusage(2), which counts them:
	 * exact where no thread switched while the two samples were taken,
	 * else at least so many. UNSUPPORTED of others, whose total is itself
	 * a sum over the threads that live.
	 */
	plim_count exited_wakeups_in_window;
	/* The same of CPU time, in ns. The second is the change of the whole
	 * process, which counts ended threads, less the listed ones; it may be
	 * some ticks off, since a running thread's own figure lags. */
	plim_count listed_cpu_ns;
	plim_real unlisted_cpu_ns;
	plim_count listed_switches_in;
	uint64_t reserved[4];
} plim_threads_facts;
PLIM_API plim_threads_facts plim_threads_about(const plim_threads *threads);

/* As plim_process_interval() of the two records; PLIM_EINVAL before there are
 * two samples. */
PLIM_API int plim_threads_interval(const plim_threads *threads,
				   plim_interval *interval, plim_error *error);

/* The bill of the last sample, failed ones included. */
PLIM_API plim_cost plim_threads_cost(const plim_threads *threads);

/* The name of a system call of this host's machine, "" for a number that is
 * not in the table, or where there is no table. Static storage. */
PLIM_API const char *plim_system_call_name(const plim_host *host,
					   uint64_t number);

#ifdef __cplusplus
}
#endif
#endif
