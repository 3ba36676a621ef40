/*
 * sampler.h - THE contract with an operating system, third part: what the
 * threads of a process are doing, without stopping them.
 *
 * A sampler arms the sources of one process, and with FOLLOW of whatever it
 * starts, and hands out raw captures: registers and a copy of a stack, or the
 * accounts of a thread, or what became of it. Who profiles unwinds them.
 * Threads that run are captured by the kernel in the clock of their own CPU
 * time and come by drain(). Threads that sleep are looked at by tick(), from
 * outside: their system call, their stack pointer, their memory, and a proof
 * that they did not run meanwhile. Neither stops a thread nor sends a signal;
 * only the ptrace tier stops threads, and only where its flag allows it.
 *
 * The rules of host.h hold. A sampler is used by one thread at a time, with
 * PTRACE by one and the same, and with it its host, its lenses and their
 * targets; only stop() may be called from anywhere. With PTRACE, a thread that
 * could not be stopped at once is let go by the next wait() or tick() after it
 * has stopped, so that one of the two is to be called again soon. Everything
 * in a capture is borrowed during its callback.
 */
#ifndef PLIMP_SAMPLER_H
#define PLIMP_SAMPLER_H

#include "core/stack.h"
#include "host/preload.h"
#include "host/target.h"

enum plimp_sampler_flag { /* bits of plimp_sampler_options.flags */
			  /* Children, and theirs, too. */
			  PLIMP_SAMPLER_FOLLOW = 1,
			  /* Running threads may be stopped where the kernel
			   * refuses perf events; at most 99 times a second. */
			  PLIMP_SAMPLER_PTRACE = 2,
			  /* The target is about to execute the program that
			   * is meant: nothing counts before. */
			  PLIMP_SAMPLER_ON_EXEC = 4,
			  PLIMP_SAMPLER_NO_SLEEPERS = 8,
			  PLIMP_SAMPLER_NO_RUNNING = 16,
			  /* Perf events of no thread are inherited: each
			   * has its own, whose period can be changed. */
			  PLIMP_SAMPLER_NO_INHERIT = 32,
			  /* None is opened. */
			  PLIMP_SAMPLER_NO_PERF = 64,
			  /* The target is this process: threads that run walk
			   * their own stacks, in a signal handler, by `walk`
			   * (docs/design/inside.md). */
			  PLIMP_SAMPLER_INSIDE = 128,
			  /* INSIDE: by no timer of CPU time. */
			  PLIMP_SAMPLER_NO_TIMERS = 256,
			  /* INSIDE: every thread is held by a signal while it
			   * is copied, asleep or not; to compare with. */
			  PLIMP_SAMPLER_SUSPEND = 512
};

enum plimp_sampler_event {
	PLIMP_EVENT_TASK_CLOCK = 0,
	/* Cycles of the core, where there is such a counter, else as above:
	 * plimp_tiers.event says which. The period stays one of time. */
	PLIMP_EVENT_CYCLES = 1
};

/* What a dump of the kernel can have at most: a u16, and a multiple of 8. */
#define PLIMP_STACK_MOST	65528u
#define PLIMP_STACK_USUAL	16384u
#define PLIMP_PTRACE_PERIOD_NS	UINT64_C(10101010) /* PLIM_PROFILE_PTRACE_HZ */
#define PLIMP_SAMPLER_TIDS_MOST 65536u

/* What a walk in a signal handler found. */
struct plimp_walked {
	size_t count; /* at least 1 */
	int end;      /* enum plim_stack_end */
};
/* Walks the calling thread's stack, from these registers on: addresses as
 * plimp_unwind() gives them, `capacity` at most. Async-signal-safe. */
typedef void plimp_walk_fn(void *user, const struct plimp_registers *registers,
			   const struct plimp_stack_bytes *stack,
			   uint64_t *frames, size_t capacity,
			   struct plimp_walked *walked);

struct plimp_sampler_options {
	uint64_t period_ns;   /* of CPU time, for running threads; >= 10000 */
	uint32_t stack_bytes; /* 0: PLIMP_STACK_USUAL */
	uint32_t flags;	      /* enum plimp_sampler_flag */
	int event;	      /* enum plimp_sampler_event */
	const int32_t *tids;  /* these threads of the target alone; NULL: all.
			       * Copied. No thread born of them is taken in */
	size_t tid_count;
	int32_t left_out;    /* a thread that is not looked at: who samples his
			      * own process. 0: none */
	plimp_walk_fn *walk; /* INSIDE */
	void *walk_user;
	/* Threads that run are sampled by an object that writes there, and
	 * by nothing else; it outlives the sampler, and serves one alone.
	 * NULL: none. */
	struct plimp_preload_memory *preload;
};

enum plimp_tier {
	PLIMP_TIER_NONE = 0,
	PLIMP_TIER_PERF = 1,
	PLIMP_TIER_PTRACE = 2,
	PLIMP_TIER_NO_STOP = 3,
	PLIMP_TIER_PERF_SIGNAL = 4,
	PLIMP_TIER_CPU_TIMER = 5,
	PLIMP_TIER_THREAD_SIGNAL = 6,
	PLIMP_TIER_SUSPEND = 7,
	PLIMP_TIER_PRELOAD = 8
};

/*
 * Which sources are used, and why the better ones are not. `perf`, `ptrace`
 * and `no_stop` are known, 1, where they work; else they give the reason and
 * the system's error number, and the remedy says what would help, "" where
 * nothing does (static). What is refused later shows here later.
 */
struct plimp_tiers {
	uint8_t running;	   /* enum plimp_tier: of most threads; not
				    * NO_STOP */
	uint8_t sleeping;	   /* NO_STOP, SUSPEND or NONE */
	uint8_t event;		   /* enum plimp_sampler_event */
	uint8_t kernel_seen;	   /* samples fall into system calls, too */
	uint8_t newborn_inherit;   /* events go over to new threads by
				    * themselves; else they are found by
				    * records or by a look at the list */
	uint8_t alone;		   /* for want of descriptors a thread has one
				    * event, not one per CPU; those that run
				    * have them first */
	uint8_t counts_cpu;	   /* plimp_capture.cpu_ns of samples is known:
				    * inherited events count so since 6.13 */
	uint32_t stack_bytes;	   /* as it was granted */
	uint64_t ring_bytes;	   /* per CPU, or per thread */
	uint32_t threads_covered;  /* whose running is sampled, live now */
	uint32_t threads_present;  /* live now */
	uint32_t threads_by_ring;  /* that ever were, by PERF */
	uint32_t threads_by_timer; /* INSIDE: that ever were, by CPU_TIMER */
	uint32_t threads_by_tick;  /* and by THREAD_SIGNAL */
	uint64_t timer_ns; /* the kernel looks at timers once in so long */
	plim_count perf;
	plim_count ptrace;
	plim_count no_stop;
	plim_count signal; /* INSIDE: PERF_SIGNAL */
	plim_count timer;  /* CPU_TIMER */
	plim_count tick;   /* THREAD_SIGNAL */
	plim_count suspend;
	plim_count preload;
	const char *preload_remedy;
	uint32_t threads_left_out; /* PRELOAD: without a timer */
	int signal_taken;	   /* PRELOAD: by the program, for itself */
	int is_left;		   /* PRELOAD: by an exec */
	const char *signal_remedy;
	const char *timer_remedy;
	const char *tick_remedy;
	const char *perf_remedy;
	const char *ptrace_remedy;
	const char *no_stop_remedy;
};

enum plimp_capture_kind {
	/* A thread that runs: registers, stack, cpu_ns where has_cpu. */
	PLIMP_CAPTURE_RUNNING = 1,
	/* By tick: it sleeps, in the system call `call`; registers (sp, pc),
	 * stack, accounts; proven. */
	PLIMP_CAPTURE_BLOCKED = 2,
	/* By tick: it has not run since the tick before: sleeps with the same
	 * stack in the same call. Accounts. */
	PLIMP_CAPTURE_SAME = 3,
	/* By tick: it runs or waits for a CPU (`state`), or its copy could not
	 * be proven or had (`failed`). Accounts. */
	PLIMP_CAPTURE_UNSAMPLED = 4,
	/* A thread was born of `parent` (a tid, 0 unknown), or, as the first
	 * report, was there. */
	PLIMP_CAPTURE_BORN = 5,
	/* A thread has ended; its process has once its last thread has. cpu_ns
	 * and accounts as they were last seen. It is not told of again. */
	PLIMP_CAPTURE_ENDED = 6,
	/* The process executes another program: every other thread of it has
	 * ended, and this one goes by the pid. `name`. */
	PLIMP_CAPTURE_EXEC = 7,
	/* A child process `pid` of the process `parent`; with FOLLOW alone. */
	PLIMP_CAPTURE_FORK = 8,
	/* Executable memory was mapped: start, end, offset, device, inode,
	 * name (the path). */
	PLIMP_CAPTURE_MAPPED = 9,
	/* `count` records, samples most of all, found no room in a ring since
	 * the last such report; tid and pid 0. */
	PLIMP_CAPTURE_LOST = 10,
	/* The kernel held back the samples of a thread for a while. */
	PLIMP_CAPTURE_THROTTLED = 11,
	/* A thread has another name. */
	PLIMP_CAPTURE_NAMED = 12,
	/* By totals(): the accounts of a thread, see there. */
	PLIMP_CAPTURE_TOTAL = 13
};

enum plimp_thread_state {
	PLIMP_THREAD_UNKNOWN = 0,
	PLIMP_THREAD_RUNNING = 1,
	/* It could run, and by the kernel's account did not for 10 ms: that
	 * account is up to a scheduler's tick old while a thread runs. */
	PLIMP_THREAD_WAITING = 2,
	PLIMP_THREAD_BLOCKED = 3
};

enum plimp_capture_failure {
	PLIMP_FAILED_NOT = 0,
	PLIMP_FAILED_MOVED = 1,	  /* it ran while it was looked at */
	PLIMP_FAILED_DENIED = 2,  /* this user may not look at it */
	PLIMP_FAILED_ENDED = 3,	  /* it ended meanwhile */
	PLIMP_FAILED_MEMORY = 4,  /* its stack is not there, or swapped out */
	PLIMP_FAILED_NO_LENS = 5, /* its process was not adopted */
	PLIMP_FAILED_SYSTEM = 6	  /* anything else */
};

struct plimp_capture {
	int kind; /* enum plimp_capture_kind */
	int32_t pid;
	int32_t tid;
	int32_t parent;
	uint64_t start_ticks; /* of the thread, since boot; 0 unknown */
	uint64_t time_ns;     /* CLOCK_MONOTONIC */

	/* RUNNING where has_cpu: CPU time of the thread since start() or its
	 * birth, user and system. Else, where has_accounts (also RUNNING by
	 * ptrace): all its CPU time,
	 * up to a scheduler's tick old while it runs (schedstat's first). */
	uint64_t cpu_ns;
	int has_cpu;
	/* By tick, in ENDED and TOTAL, where has_accounts: time for which it
	 * could have run but had no CPU, and how often it was given one
	 * (schedstat's second and third). */
	uint64_t wait_ns;
	uint64_t slices;
	int has_accounts;
	/* TOTAL where has_times: of its CPU time, in user and in kernel mode,
	 * in whole clock ticks (stat). */
	uint64_t user_ns;
	uint64_t system_ns;
	int has_times;
	/* ENDED, TOTAL: for a while, or always, no event could be had for it,
	 * so that CPU time without samples tells nothing. */
	int has_gaps;

	int state;     /* by tick: enum plimp_thread_state */
	long call;     /* BLOCKED, SAME: the system call's number; -1: none, it
			* faults a page in or is stopped */
	int failed;    /* UNSAMPLED: enum plimp_capture_failure */
	int in_kernel; /* RUNNING: in a system call, whose user registers and
			* stack these are; only where kernel_seen */
	/* RUNNING: samples of this thread come of its time in the kernel, too,
	 * whatever the tiers say of others. */
	int sees_kernel;
	/* UNSAMPLED: it runs, and ticks are what samples it. */
	int needs_ticks;

	struct plimp_registers registers;
	struct plimp_stack_bytes stack;
	/* RUNNING where it was walked already, else NULL: registers and stack
	 * are nothing then. */
	const uint64_t *frames;
	size_t frame_count;
	int frames_end; /* enum plim_stack_end */

	uint64_t count;				    /* LOST */
	uint64_t start, end, offset, device, inode; /* MAPPED */
	plim_bytes name; /* MAPPED, NAMED, EXEC, BORN where known */
};
typedef void plimp_capture_fn(void *user, const struct plimp_capture *capture);

struct plimp_sampler;

/*
 * Arms every thread of the target; nothing is handed out yet. Target and lens
 * must outlive the sampler or be abandoned. PLIM_OK also where no source works
 * at all: the tiers say so. PLIM_ENOPROCESS, PLIM_EREPLACED, PLIM_EHIDDEN,
 * PLIM_EIMAGE, PLIM_ELIMIT (threads), PLIM_ENOMEM, PLIM_EUNSUPPORTED (a host
 * that is not live), PLIM_EINVAL, PLIM_ESYSTEM.
 */
int plimp_system_sampler_open(struct plimp_sampler **sampler, plim_host *host,
			      plim_target *target, struct plimp_lens *lens,
			      const struct plimp_sampler_options *options,
			      plim_error *error);

/* NULL is allowed. Every thread runs on as if nothing had been. */
void plimp_system_sampler_close(struct plimp_sampler *sampler);

/*
 * Another process whose threads are to be armed and looked at: a child, or a
 * member of the tree that was there before. A process that is known is given
 * the new target and lens, as after an exec. Threads that have inherited their
 * events are not armed again. Errors as of open, and as there.
 */
int plimp_system_sampler_adopt(struct plimp_sampler *sampler,
			       plim_target *target, struct plimp_lens *lens,
			       plim_error *error);

/* Its target and lens are used no more; unknown ones are none. */
void plimp_system_sampler_abandon(struct plimp_sampler *sampler, int32_t pid);

struct plimp_tiers plimp_system_sampler_tiers(struct plimp_sampler *sampler);

/* From now on captures are handed out; what the sources saw before is not. */
int plimp_system_sampler_start(struct plimp_sampler *sampler,
			       plim_error *error);

/* The sources see nothing more; what they have can still be drained. */
int plimp_system_sampler_halt(struct plimp_sampler *sampler, plim_error *error);

/* It is over: everything is closed and given back but what stop() needs. From
 * now on only stop(), bill(), is_quiet() and close() may be called. */
void plimp_system_sampler_end(struct plimp_sampler *sampler);

/*
 * What came since the last drain, in the order of time but for what arrived
 * late: samples of running threads, births, ends, names, mappings. Bounded: no
 * more than was there when it began. The callback may call deepen() and
 * tiers(), nothing else of the sampler. PLIM_ENOMEM.
 */
int plimp_system_sampler_drain(struct plimp_sampler *sampler,
			       plimp_capture_fn *callback, void *user,
			       plim_error *error);

/*
 * Drains, arms what is new, and looks once at every thread, in no order: each
 * gives BLOCKED, SAME or UNSAMPLED, or ENDED. Where ptrace is the tier,
 * running threads are stopped for a RUNNING capture, if it is time again.
 * PLIM_ELIMIT, PLIM_ENOMEM.
 */
int plimp_system_sampler_tick(struct plimp_sampler *sampler,
			      plimp_capture_fn *callback, void *user,
			      plim_error *error);

enum plimp_wake { /* bits */
		  PLIMP_WAKE_TIME = 1,
		  PLIMP_WAKE_RING = 2,	/* half full: drain */
		  PLIMP_WAKE_ENDED = 4, /* the first target has ended */
		  PLIMP_WAKE_STOP = 8
};

/* Sleeps until that time (CLOCK_MONOTONIC; 0: not at all), or until something
 * is to be done: bits of enum plimp_wake, or an error, PLIM_ESYSTEM. A stop
 * lasts; a signal wakes nobody. */
int plimp_system_sampler_wait(struct plimp_sampler *sampler, uint64_t until_ns,
			      plim_error *error);

/* wait() returns, now and ever after. Async-signal-safe; any thread. */
void plimp_system_sampler_stop(struct plimp_sampler *sampler);

/*
 * From now on a sample every so many ns of CPU time; ptrace: between two
 * stops. Threads that have inherited their events keep the period that they
 * were born with; cpu_ns tells the weight of every sample all the same.
 * PLIM_OK; PLIM_EINVAL; PLIM_EUNSUPPORTED where nothing samples by a period.
 */
int plimp_system_sampler_period(struct plimp_sampler *sampler,
				uint64_t period_ns, plim_error *error);

/*
 * The samples of this thread, and of those that it starts, are to hold so many
 * bytes of stack from now on: it gets other events, and those that it had fall
 * silent. Events that it has inherited cannot: then both sample, and the
 * shorter ones are thrown away. 0 where it is so; else it cannot be: the most
 * is reached, the rings are too small, no descriptor is left.
 */
int plimp_system_sampler_deepen(struct plimp_sampler *sampler, int32_t tid,
				uint32_t bytes);

/*
 * TOTAL for every thread that lives: cpu_ns, wait_ns and slices as they are
 * now where has_accounts, user_ns and system_ns where has_times, and `count`,
 * the CPU time that its samples told up to the last of them. Ended ones were
 * told by ENDED. Before start() it gives what to begin with.
 */
int plimp_system_sampler_totals(struct plimp_sampler *sampler,
				plimp_capture_fn *callback, void *user,
				plim_error *error);

/*
 * 0: no thread has run since the last tick began, or (INSIDE) for some
 * microseconds at most, or runs for less than a tick of the scheduler, so that
 * a look would hardly find another thing. 1: somebody has, or it is not known.
 */
int plimp_system_sampler_has_moved(struct plimp_sampler *sampler);

/* SAME of everybody who slept at the last tick, as of then: nobody had moved
 * till `time_ns`. */
void plimp_system_sampler_rested(struct plimp_sampler *sampler,
				 uint64_t time_ns, plimp_capture_fn *callback,
				 void *user);

/* 1: no walk is running (INSIDE), so that none uses what was replaced before
 * the call. */
int plimp_system_sampler_is_quiet(const struct plimp_sampler *sampler);

/* What it has cost since it was opened. */
struct plimp_sampler_bill {
	uint64_t signals_sent; /* INSIDE alone */
	uint64_t overruns;     /* INSIDE, by timers: periods that had no signal
				* of their own */
	uint64_t stops;	       /* by ptrace; INSIDE: handlers */
	uint64_t stop_sum_ns;
	uint64_t stop_longest_ns;
	uint64_t calls_disturbed; /* system calls of stopped threads: none by
				   * intent, since only running ones are; those
				   * that had entered one meanwhile */
	uint64_t bytes_copied;	  /* of stacks, by the kernel or by us */
	uint64_t samples;	  /* of running threads that were handed out */
	uint64_t lost;		  /* records without room */
	uint64_t throttled;
	uint64_t malformed;	      /* records that cannot be */
	uint64_t copies;	      /* of sleeping threads */
	uint64_t copies_inconsistent; /* not proven, so thrown away */
	uint64_t denied;
	uint64_t vanished; /* threads that ended while they were looked at */
	uint64_t unreadable;
	uint64_t descriptors; /* held now */
	uint64_t ring_bytes;  /* of all rings */
};
struct plimp_sampler_bill
plimp_system_sampler_bill(const struct plimp_sampler *sampler);

#endif
