/*
 * profile.h - where the time of a running process goes: stacks on the CPU and
 * off it, taken from outside, without stopping it.
 *
 * Running threads are sampled by their own CPU time, sleeping ones by the
 * clock; both go into one result of which three views are made. CPU is what
 * the threads computed, OFF is when they waited for a CPU or were blocked, and
 * WALL is both: wall = CPU + waiting + blocked, for every thread.
 *
 * Times are the kernel's accounts, not counts of samples: samples only tell
 * on which stacks a thread's time is laid. What no sample covers stands in a
 * row of its own ("[system, not sampled]") and is never spread over others.
 *
 * A profile is opened, run, resolved (names) and then read: tables by index,
 * or folded. Everything read is borrowed until plim_profile_free(). Texts may
 * hold bytes of a hostile process: escape them. A profile is used by one
 * thread at a time, together with its host; plim_profile_stop() alone may be
 * called by any thread and by a signal handler.
 */
#ifndef PLIMSOLL_PROFILE_H
#define PLIMSOLL_PROFILE_H

#include <plimsoll/base.h>
#include <plimsoll/figure.h>
#include <plimsoll/host.h>
#include <plimsoll/process.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No index: a frame without a module, a row of no one thread. */
#define PLIM_NO_INDEX 0xffffffffu

/* Views. X(NAME, NUMBER, "word", "sentence"). Append-only. */
#define PLIM_VIEW_LIST(X)                          \
	X(CPU, 1, "cpu", "time on a CPU")          \
	X(OFF, 2, "off",                           \
	  "time off the CPU: waiting for one, or " \
	  "blocked")                               \
	X(WALL, 3, "wall", "all time: on a CPU, waiting for one, blocked")
enum plim_view {
#define PLIM_X(name, number, word, text) PLIM_VIEW_##name = number,
	PLIM_VIEW_LIST(PLIM_X)
#undef PLIM_X
};
/* NULL for a number that is none; 0 for a word that is none. */
PLIM_API const char *plim_view_word(int view);
PLIM_API const char *plim_view_text(int view);
PLIM_API int plim_view_find(plim_bytes word);

/* What a thread did. X(NAME, NUMBER, "word", "sentence"). Append-only. */
#define PLIM_ACTIVITY_LIST(X)                       \
	X(RUNNING, 1, "running", "it ran on a CPU") \
	X(WAITING, 2, "waiting",                    \
	  "it could run, and no CPU was "           \
	  "free for it")                            \
	X(BLOCKED, 3, "blocked", "it waited for something else")
enum plim_activity {
#define PLIM_X(name, number, word, text) PLIM_ACTIVITY_##name = number,
	PLIM_ACTIVITY_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_activity_word(int activity);
PLIM_API const char *plim_activity_text(int activity);

/* Frames that are no code. X(NAME, NUMBER, "name as shown", "sentence"). */
#define PLIM_SPECIAL_LIST(X)                                                  \
	X(SYSTEM, 1, "[system, not sampled]",                                 \
	  "CPU time in the kernel, which this user may not sample")           \
	X(UNSAMPLED, 2, "[not sampled]",                                      \
	  "CPU time that no sample covers: less than a period, or samples "   \
	  "were lost")                                                        \
	X(WAITING, 3, "[waiting for a CPU]",                                  \
	  "time in which the thread could run and no CPU was free for it")    \
	X(BLOCKED, 4, "[blocked, stack not known]",                           \
	  "blocked between two looks, or where the stack could not be read")  \
	X(NOWHERE, 5, "[no stack]", "a sample without any frame")             \
	X(CALL, 6, "[system call]",                                           \
	  "a system call in which a thread is blocked; its function has the " \
	  "name of the call, in brackets")
enum plim_special {
#define PLIM_X(name, number, word, text) PLIM_SPECIAL_##name = number,
	PLIM_SPECIAL_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_special_name(int special);
PLIM_API const char *plim_special_text(int special);

/* Bits of plim_profile_request.flags. */
enum plim_profile_flag {
	/* Also what it starts, and every descendant that it has, but for the
	 * process that samples. */
	PLIM_PROFILE_TREE = 1,
	/* Where perf events are refused, running threads may be stopped for
	 * some microseconds at a time, at most 99 times a second (ptrace).
	 * Without it the profile then lacks running threads. */
	PLIM_PROFILE_PTRACE = 2,
	/* The target is a child that waits to exec: count from the exec. */
	PLIM_PROFILE_ON_EXEC = 4,
	/* No lines and no inlined frames when names are resolved. */
	PLIM_PROFILE_NO_LINES = 8,
	/* Sample by the cycles of the processor, where it has a counter that
	 * may be used; by CPU time elsewhere. */
	PLIM_PROFILE_CYCLES = 16,
	PLIM_PROFILE_NO_SLEEPERS = 32, /* running threads alone */
	PLIM_PROFILE_NO_RUNNING = 64,  /* sleeping threads alone */
	/* The caller has raised its limit of descriptors: use many. */
	PLIM_PROFILE_RAISED = 128,
	/* Of the own process: no signal handler, the kernel's rings alone. */
	PLIM_PROFILE_NO_SIGNALS = 256,
	/* No perf events. Of the own process: timers of CPU time. */
	PLIM_PROFILE_NO_PERF = 512,
	/* Of the own process: no timers either. With NO_PERF each thread that
	 * runs gets a signal at each tick. */
	PLIM_PROFILE_NO_TIMERS = 1024,
	/* Of the own process: the classic way, to compare with. A signal to
	 * every thread at each tick, asleep or not, which holds it until its
	 * registers and its stack were copied. It interrupts system calls. */
	PLIM_PROFILE_SUSPEND = 2048
};

/*
 * An object that is preloaded into a program which is about to be executed, as
 * a last resort where perf events are refused: its threads then sample
 * themselves while they run (docs/design/preload.md).
 */
typedef struct plim_preload plim_preload;

#define PLIM_PROFILE_DEFAULT_HZ		99u
#define PLIM_PROFILE_PTRACE_HZ		99u /* a thread is stopped so often */
#define PLIM_PROFILE_DEFAULT_CEILING_HZ 1000u
#define PLIM_PROFILE_LIMIT_HZ		10000u
#define PLIM_PROFILE_DEFAULT_NS		10000000000u /* ns */
#define PLIM_PROFILE_DEFAULT_CEILING_NS 60000000000u /* ns */

/*
 * What is asked for. Start from zeros and set `size`: a zero member means the
 * default. Frequency and duration are brought inside their bounds, never
 * refused for being outside: plim_profile_about() says what was in effect.
 */
typedef struct plim_profile_request {
	size_t size;		      /* sizeof(plim_profile_request) */
	uint32_t flags;		      /* enum plim_profile_flag */
	uint32_t hz;		      /* 1 to the ceiling; 0: 99 */
	uint32_t hz_ceiling;	      /* 0: 1,000; at most 10,000 */
	uint32_t stack_bytes;	      /* copied per sample; 0: 16 KiB, at most
				       * 64,000 */
	uint64_t duration_ns;	      /* 0: 10 s; at least 1 ms */
	uint64_t duration_ceiling_ns; /* 0: 60 s */
	/*
	 * A cost budget instead of a frequency: at most that share of the
	 * target's CPU time, in per cent, and no pause longer than that. The
	 * rate follows it between 1 Hz and the ceiling (`hz` is where it
	 * begins). 0: no budget.
	 */
	double budget_percent;
	uint64_t budget_pause_ns;
	/* For samples and stacks; 0: as frequency, duration and threads need,
	 * at most 256 MiB; at least 64 KiB. When it is full the session ends.
	 */
	uint64_t memory_bytes;
	/* Threads to keep to; none: all. By id, and by name: either selects. */
	const int32_t *tids;
	size_t tid_count;
	const char *thread_name; /* whole name; NULL: any */
	/* Threads that run are sampled by it alone; with ON_EXEC. It outlives
	 * the profile, and serves no other one. NULL: none. */
	plim_preload *preload;
	uint64_t reserved[7];
} plim_profile_request;

typedef struct plim_profile plim_profile;

/*
 * Judges whether the program can have it, and prepares it. `program` is the
 * path of its file, or of a script's; `object` that of libplimsoll-preload.so,
 * absolute; `others` what the program's environment has as LD_PRELOAD, or
 * NULL. PLIM_EUNSUPPORTED, and the detail says why, of a program that is
 * static, gives privileges, is of another machine or 32 bits, has another C
 * library, a sanitizer or a Go runtime; PLIM_EDENIED where its file may not be
 * read; PLIM_ESYSTEM where it or the object is not there; PLIM_EINVAL,
 * PLIM_ENOMEM.
 */
PLIM_API int plim_preload_open(plim_preload **preload, plim_host *host,
			       const char *program, const char *object,
			       const char *others, plim_error *error);

/* What the program's environment is to have: "NAME=value"; NULL beyond the
 * last. Neither is there any more when its main() begins, unless it is followed
 * with PLIM_PROFILE_TREE. */
PLIM_API const char *plim_preload_setting(const plim_preload *preload,
					  size_t index);

/* NULL is allowed. */
PLIM_API void plim_preload_free(plim_preload *preload);

/*
 * Arms the session; nothing is counted yet. Copies the request. `target` must
 * outlive the run, `host` the profile. PLIM_ENOPROCESS, PLIM_EREPLACED,
 * PLIM_EHIDDEN; PLIM_EDENIED where this user may neither sample it nor read
 * its memory (the detail says what would allow it); PLIM_EUNSUPPORTED of a
 * kernel thread, of a program of 32 bits, and on a host that cannot profile;
 * PLIM_ENAME where no thread has that id or name; PLIM_ENOMEM, PLIM_ELIMIT,
 * PLIM_ESYSTEM, PLIM_EINVAL.
 */
PLIM_API int plim_profile_open(plim_profile **profile, plim_target *target,
			       const plim_profile_request *request,
			       plim_error *error);

/*
 * A profile of the process that calls, from inside. It has a host of its own,
 * opened with `options` (NULL: the defaults; an allocator must be safe for
 * threads), and is used as any other, but that it may be run and started again
 * any number of times: each time what was sampled before is dropped. One
 * session at a time samples a process: a second one fails with PLIM_EBUSY when
 * it is run or started, and may be tried again later. The thread that runs it
 * is no part of it.
 *
 * PLIM_PROFILE_TREE, _ON_EXEC and _PTRACE are not for it: PLIM_EINVAL. Else as
 * plim_host_open(), plim_target_open() and plim_profile_open(). After fork()
 * the child may free its copy, and open another.
 */
PLIM_API int plim_profile_open_self(plim_profile **profile,
				    const plim_host_options *options,
				    const plim_profile_request *request,
				    plim_error *error);

/*
 * Samples until the duration is over, the target ends, the memory is full or
 * plim_profile_stop() is called: all of these are successes, told apart by
 * plim_profile_about(). PLIM_ENOSAMPLES if nothing was sampled: the detail
 * says why (refused, ended first, no CPU time used, stopped first); the tables,
 * metrics and tiers can be read all the same. PLIM_EUNSUPPORTED where what a
 * command executes is a program of 32 bits. PLIM_EINVAL the second time (but
 * for plim_profile_open_self()), PLIM_EBUSY,
 * PLIM_ENOMEM, PLIM_ESYSTEM.
 */
PLIM_API int plim_profile_run(plim_profile *profile, plim_error *error);

/*
 * The same in a thread of the library's, which is no part of the profile when
 * it samples its own process and takes none of the application's signals:
 * returns when sampling has begun. Until plim_profile_join() has returned only
 * plim_profile_stop() may be called, and the profile's host, if it is not its
 * own, is not used by others. Every plim_profile_run() may be a start and a
 * join. Failures are those of plim_profile_run() before it has sampled, and
 * PLIM_EINVAL for one that is started.
 */
PLIM_API int plim_profile_start(plim_profile *profile, plim_error *error);

/* Waits for the end of what was started, and returns what plim_profile_run()
 * would have. PLIM_EINVAL where nothing was started, and in a forked child,
 * which has no such thread. */
PLIM_API int plim_profile_join(plim_profile *profile, plim_error *error);

/*
 * Does a view have anything? PLIM_OK; else PLIM_ENOSAMPLES, and the detail says
 * why: nothing used the CPU, running threads could not be sampled, the target
 * ended first. PLIM_EINVAL for a view that is none.
 */
PLIM_API int plim_profile_check(const plim_profile *profile, int view,
				plim_error *error);

/* Ends the run early; before it, the run ends at once. From any thread or
 * signal handler. */
PLIM_API void plim_profile_stop(plim_profile *profile);

/*
 * Finds the names: functions, lines, inlined frames. May take long, and may be
 * called when the target has gone. Before it every frame is module+offset. A
 * second call does nothing. PLIM_ENOMEM leaves the frames as they were.
 */
PLIM_API int plim_profile_resolve(plim_profile *profile, plim_error *error);

/* NULL is allowed. */
PLIM_API void plim_profile_free(plim_profile *profile);

/* Why a run ended. X(NAME, NUMBER, "word", "sentence"). Append-only. */
#define PLIM_PROFILE_END_LIST(X)                                     \
	X(NOT_RUN, 0, "not_run", "it has not run")                   \
	X(DURATION, 1, "duration", "the duration was over")          \
	X(TARGET, 2, "target_ended", "the target ended")             \
	X(FULL, 3, "buffer_full", "the memory for samples was full") \
	X(STOPPED, 4, "stopped", "it was stopped early")
enum plim_profile_end {
#define PLIM_X(name, number, word, text) PLIM_PROFILE_END_##name = number,
	PLIM_PROFILE_END_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_profile_end_word(int end);
PLIM_API const char *plim_profile_end_text(int end);

/* Bits of plim_profile_facts.clamped: what was asked for outside its bounds. */
enum plim_profile_clamp {
	PLIM_CLAMPED_HZ = 1,
	PLIM_CLAMPED_DURATION = 2,
	PLIM_CLAMPED_STACK = 4,
	PLIM_CLAMPED_MEMORY = 8,
	PLIM_CLAMPED_CEILING = 16 /* either ceiling */
};

/* What it was. */
typedef struct plim_profile_facts {
	plim_identity target;
	plim_bytes name;	/* of the process */
	uint64_t start_unix_ns; /* when sampling began, since 1970; 0 before */
	uint64_t start_ns;	/* the same, CLOCK_MONOTONIC */
	uint64_t duration_ns;	/* that it covers */
	uint64_t duration_asked_ns;
	uint64_t duration_effective_ns; /* asked, brought inside the bounds */
	uint32_t hz_asked;		/* 0: the default */
	uint32_t hz_effective;		/* at the start; see period_ns */
	uint64_t period_ns;		/* 10^9 / hz, last in effect */
	uint64_t jitter_ns;    /* each tick is up to so much late by design */
	uint64_t memory_bytes; /* the bound in effect */
	uint32_t stack_bytes;  /* copied per sample */
	uint32_t clamped;      /* enum plim_profile_clamp */
	uint32_t flags;	       /* as asked */
	int end;	       /* enum plim_profile_end */
	int is_budget;	       /* 1: the rate followed a budget */
	int is_resolved;       /* 1: names were looked up */
	int kernel_seen;       /* 1: system time is sampled, too */
	int reserved_int;
	double budget_percent;
	uint64_t budget_pause_ns;
	uint64_t reserved[8];
} plim_profile_facts;
PLIM_API plim_profile_facts plim_profile_about(const plim_profile *profile);

/* Ways to sample. X(NAME, NUMBER, "word", "sentence"). Append-only. */
#define PLIM_TIER_LIST(X)                                                      \
	X(PERF, 1, "perf",                                                     \
	  "perf events: running threads, with registers "                      \
	  "and stack")                                                         \
	X(PTRACE, 2, "ptrace",                                                 \
	  "ptrace: running threads, each stopped for "                         \
	  "a moment; this disturbs the target")                                \
	X(NO_STOP, 3, "no_stop",                                               \
	  "sleeping threads, read without a stop and "                         \
	  "without a signal")                                                  \
	X(PERF_SIGNAL, 4, "perf_signal",                                       \
	  "perf events of the own process: running "                           \
	  "threads, which walk their own stacks in a "                         \
	  "signal handler")                                                    \
	X(CPU_TIMER, 5, "cpu_timer",                                           \
	  "timers of CPU time of the own process: "                            \
	  "running threads, at most once in a tick of "                        \
	  "the kernel")                                                        \
	X(THREAD_SIGNAL, 6, "thread_signal",                                   \
	  "a signal to each thread of the own process "                        \
	  "that runs, at each tick; this may interrupt "                       \
	  "a system call")                                                     \
	X(SUSPEND, 7, "suspend",                                               \
	  "a signal to every thread of the own process, asleep or not, which " \
	  "holds it while it is copied: to compare with")                      \
	X(PRELOAD, 8, "preload",                                               \
	  "an object preloaded into the program: running threads, which copy " \
	  "their own stacks in a signal handler")
enum plim_tier {
#define PLIM_X(name, number, word, text) PLIM_TIER_##name = number,
	PLIM_TIER_LIST(PLIM_X)
#undef PLIM_X
};
typedef struct plim_profile_tier {
	int tier;	  /* enum plim_tier */
	int used;	  /* 1: samples came by it */
	plim_count works; /* KNOWN 1, else why not */
	const char *word; /* of the tier */
	const char *text;
	const char *remedy; /* the cheapest, "" if there is none */
} plim_profile_tier;
/* All tiers in the order of the list; NULL beyond the last. */
PLIM_API size_t plim_profile_tier_count(const plim_profile *profile);
PLIM_API const plim_profile_tier *
plim_profile_tier_at(const plim_profile *profile, size_t index);

/* Sentences on what the profile lacks ("running threads are not sampled:
 * ..."), the gravest first; none where it lacks nothing. NULL beyond. */
PLIM_API size_t plim_profile_lack_count(const plim_profile *profile);
PLIM_API const char *plim_profile_lack(const plim_profile *profile,
				       size_t index);

/*
 * Metrics. X(NAME, NUMBER, "name", UNIT, "sentence"), UNIT as in units.h.
 * Names are those of JSON; append-only. All are told by every run, also by
 * one that sampled nothing.
 */
#define PLIM_PROFILE_METRIC_LIST(X)                                           \
	X(CAPTURED, 1, "samples_captured", NONE,                              \
	  "samples of running and of blocked threads that were kept")         \
	X(DROPPED, 2, "samples_dropped", NONE,                                \
	  "samples that were offered and not kept")                           \
	X(RUNNING, 3, "running_captured", NONE,                               \
	  "of them captured: of running threads")                             \
	X(BLOCKED, 4, "blocked_captured", NONE,                               \
	  "of them captured: of blocked threads")                             \
	X(OFFERED, 5, "samples_offered", NONE,                                \
	  "samples that the schedule had: CPU time by period, and a look at " \
	  "each sleeping thread by tick, missed ticks included")              \
	X(THREADS_SEEN, 6, "threads_seen", NONE, "threads that were told of") \
	X(THREADS_AT_START, 7, "threads_at_start", NONE,                      \
	  "threads when sampling began")                                      \
	X(THREADS_BORN, 8, "threads_born", NONE, "threads born meanwhile")    \
	X(THREADS_ENDED, 9, "threads_ended", NONE, "threads ended meanwhile") \
	X(THREADS_PRESENT, 10, "threads_present", NONE,                       \
	  "threads that there were when sampling began")                      \
	X(PAUSE_SUM, 11, "pause_sum_ns", NS,                                  \
	  "time for which threads were stopped for us, in all")               \
	X(PAUSE_LONGEST, 12, "pause_longest_ns", NS,                          \
	  "the longest of these stops of one thread")                         \
	X(PAUSE_P99, 13, "pause_p99_ns", NS,                                  \
	  "99 of 100 of these stops were at most so long")                    \
	X(STOPS, 14, "stops", NONE, "how often a thread was stopped for us")  \
	X(SIGNALS, 15, "signals_sent", NONE, "signals sent to the target")    \
	X(CALLS_DISTURBED, 16, "system_calls_disturbed", NONE,                \
	  "blocked system calls of the target that we interrupted")           \
	X(BYTES_COPIED, 17, "bytes_copied", BYTES,                            \
	  "bytes copied of the target's stacks")                              \
	X(SAMPLER_CPU, 18, "sampler_cpu_ns", NS,                              \
	  "CPU time of the thread that sampled")                              \
	X(SAMPLER_MEMORY, 19, "sampler_memory_bytes", BYTES,                  \
	  "memory for samples, stacks and rings at the end")                  \
	X(DURATION, 20, "duration_ns", NS, "time that the profile covers")    \
	X(HZ_ASKED, 21, "hz_asked", PER_SECOND, "the frequency asked for")    \
	X(HZ_EFFECTIVE, 22, "hz_effective", PER_SECOND,                       \
	  "the frequency in effect, last")                                    \
	X(CLAMPED, 23, "clamped", NONE,                                       \
	  "1 if something asked for was outside its bounds")                  \
	X(BUFFER_FULL, 24, "buffer_full", NONE,                               \
	  "1 if the memory for samples was full, which ended the run")        \
	X(TICKS_PLANNED, 25, "ticks_planned", NONE,                           \
	  "ticks of the clock that the schedule had")                         \
	X(TICKS_LATE, 26, "ticks_late", NONE,                                 \
	  "ticks that came more than half a period late")                     \
	X(TICKS_SKIPPED, 27, "ticks_skipped", NONE,                           \
	  "ticks left out because we were behind")                            \
	X(FAILED_MOVED, 28, "failed_moved", NONE,                             \
	  "stacks not taken: the thread went on meanwhile")                   \
	X(FAILED_DENIED, 29, "failed_denied", NONE,                           \
	  "stacks not taken: this user may not")                              \
	X(FAILED_ENDED, 30, "failed_ended", NONE,                             \
	  "stacks not taken: the thread ended meanwhile")                     \
	X(FAILED_UNREADABLE, 31, "failed_unreadable", NONE,                   \
	  "stacks not taken: the memory could not be read")                   \
	X(LOST, 32, "samples_lost", NONE,                                     \
	  "samples the kernel lost because a ring was full")                  \
	X(THROTTLED, 33, "times_throttled", NONE,                             \
	  "how often the kernel held sampling back")                          \
	X(UNSEEN, 34, "samples_in_kernel", NONE,                              \
	  "samples that fell into the kernel, where this user may not "       \
	  "sample")                                                           \
	X(STACKS_ROOT, 35, "stacks_root", NONE,                               \
	  "samples whose stack reached the thread's first function")          \
	X(STACKS_DEPTH, 36, "stacks_depth_cap", NONE,                         \
	  "samples whose stack was deeper than is kept")                      \
	X(STACKS_CUT, 37, "stacks_copy_cap", NONE,                            \
	  "samples whose stack went on above what was copied")                \
	X(STACKS_NO_RULES, 38, "stacks_no_rules", NONE,                       \
	  "samples whose stack ended in code without rules")                  \
	X(STACKS_BAD_MEMORY, 39, "stacks_bad_memory", NONE,                   \
	  "samples whose stack ended at memory that cannot be read")          \
	X(STACKS_UNKNOWN_CODE, 40, "stacks_unknown_code", NONE,               \
	  "samples whose stack ended at an address without code")             \
	X(STACKS_OTHER, 41, "stacks_other", NONE,                             \
	  "samples whose stack ended for another reason")                     \
	X(FRAMES, 42, "frames", NONE, "different frames")                     \
	X(FRAMES_UNNAMED, 43, "frames_unnamed", NONE,                         \
	  "different frames without a name, shown as module+offset")          \
	X(STACKS, 44, "stacks", NONE, "different stacks")                     \
	X(PROCESSES, 45, "processes", NONE,                                   \
	  "programs: a process, and one more for each exec")                  \
	X(DESCRIPTORS, 46, "descriptors", NONE,                               \
	  "file descriptors that sampling held")                              \
	X(TARGET_CPU, 47, "target_cpu_ns", NS,                                \
	  "CPU time of the process by the kernel's own account of the whole " \
	  "process, over the window")                                         \
	X(OVERRUNS, 48, "timer_overruns", NONE,                               \
	  "periods that had no sample of their own, since the kernel looks "  \
	  "at timers once in a tick: the next sample stands for them, too")
enum plim_profile_metric_id {
#define PLIM_X(name, number, word, unit, text) PLIM_METRIC_##name = number,
	PLIM_PROFILE_METRIC_LIST(PLIM_X)
#undef PLIM_X
};
/* Room for an array that is indexed by these; they begin at 1 without gap. */
#define PLIM_METRIC_LIMIT 64
PLIM_API const char *plim_profile_metric_name(int metric);
PLIM_API const char *plim_profile_metric_text(int metric);
PLIM_API int plim_profile_metric_unit(int metric); /* enum plim_unit */
PLIM_API plim_count plim_profile_metric(const plim_profile *profile,
					int metric);

/* X(NAME, NUMBER, "name", "sentence"). Append-only. */
#define PLIM_PROFILE_RATIO_LIST(X)                                           \
	X(COVERAGE, 1, "thread_coverage",                                    \
	  "threads seen by threads present at the start: 0 when none was; "  \
	  "above 1 when more came")                                          \
	X(OVERHEAD, 2, "overhead_ratio",                                     \
	  "time for which threads were stopped by duration; 0 without one")  \
	X(FIDELITY, 3, "fidelity",                                           \
	  "samples captured by offered, missed ticks counted as offered; 1 " \
	  "when none was")                                                   \
	X(COMPLETE, 4, "complete_stacks",                                    \
	  "share of the captured samples whose stack reached the thread's "  \
	  "first function; 1 when there is none")
enum plim_profile_ratio_id {
#define PLIM_X(name, number, word, text) PLIM_PROFILE_RATIO_##name = number,
	PLIM_PROFILE_RATIO_LIST(PLIM_X)
#undef PLIM_X
};
PLIM_API const char *plim_profile_ratio_name(int ratio);
PLIM_API const char *plim_profile_ratio_text(int ratio);
PLIM_API plim_real plim_profile_ratio(const plim_profile *profile, int ratio);

/* Times of one thread, or of all. wall = cpu + waiting + blocked, exactly;
 * cpu = sampled + system + unsampled. ns. */
typedef struct plim_profile_times {
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t waiting_ns; /* for a CPU */
	uint64_t blocked_ns;
	uint64_t sampled_ns;   /* of cpu: on stacks */
	uint64_t system_ns;    /* of cpu: [system, not sampled] */
	uint64_t unsampled_ns; /* of cpu: [not sampled] */
	uint64_t reserved[3];
} plim_profile_times;
/* Of all threads. */
PLIM_API plim_profile_times plim_profile_total(const plim_profile *profile);

/* A program that a process executed: an exec makes a new one. */
typedef struct plim_profile_process {
	plim_identity identity;
	int32_t pid;
	uint32_t parent;   /* index of the process it was started by, or
			    * PLIM_NO_INDEX */
	uint32_t previous; /* index of the program before the exec, or
			    * PLIM_NO_INDEX */
	int has_modules;   /* 0: its code could not be read: `why` */
	int why;	   /* PLIM_OK, or the error */
	int reserved_int;
	plim_bytes name;
	uint64_t since_ns; /* CLOCK_MONOTONIC; 0: before we began */
	uint64_t until_ns; /* 0: until the end */
	uint64_t reserved[4];
} plim_profile_process;
PLIM_API size_t plim_profile_process_count(const plim_profile *profile);
PLIM_API const plim_profile_process *
plim_profile_process_at(const plim_profile *profile, size_t index);

/*
 * The last one may be "[ended threads]", with tid 0: CPU time of threads and,
 * in a tree, of processes that ended, which the kernel counted for their
 * process or their parent and nobody saw. All of it is unsampled.
 */
typedef struct plim_profile_thread {
	uint32_t process; /* index */
	int32_t tid;
	uint64_t start_ticks; /* since boot; 0 unknown */
	plim_bytes name;
	uint64_t born_ns;  /* CLOCK_MONOTONIC; 0: it was there before */
	uint64_t ended_ns; /* 0: it was there at the end */
	plim_profile_times times;
	plim_count user_ns;	  /* of cpu, by the kernel's own account, in */
	plim_count system_ns;	  /* whole clock ticks */
	uint64_t samples;	  /* of it running */
	uint64_t blocked_samples; /* of it blocked */
	uint64_t reserved[4];
} plim_profile_thread;
PLIM_API size_t plim_profile_thread_count(const plim_profile *profile);
PLIM_API const plim_profile_thread *
plim_profile_thread_at(const plim_profile *profile, size_t index);

/* A file, or a piece of memory, with code of one process. */
typedef struct plim_profile_module {
	uint32_t process;     /* index */
	uint32_t is_deleted;  /* 1: the file is gone */
	uint32_t is_replaced; /* 1: another file has its name */
	int why;	      /* PLIM_OK, or why the file could not be had */
	plim_bytes path;      /* "[vdso]", "[anon]" */
	plim_bytes build_id;  /* bytes; empty where there is none */
	uint64_t start;	      /* addresses in the process */
	uint64_t end;
	uint64_t offset;      /* in the file, of `start` */
	uint64_t bias;	      /* address in the file = address - bias */
	uint64_t since_ns;    /* CLOCK_MONOTONIC; 0: before we began */
	uint64_t until_ns;    /* 0: until the end */
	uint32_t has_symbols; /* 1: some frame has a name from it */
	uint32_t has_lines;
	uint32_t has_inlines;
	uint32_t reserved_word;
	uint64_t reserved[4];
} plim_profile_module;
PLIM_API size_t plim_profile_module_count(const plim_profile *profile);
PLIM_API const plim_profile_module *
plim_profile_module_at(const plim_profile *profile, size_t index);

/*
 * A function. The same function of the same file is one, in however many
 * processes. Special frames have a function of their own with the name in
 * brackets; a frame without a name has one, too, called "file+0xOFFSET" (or
 * the address), so that whoever writes never makes up names. The offset is an
 * address in the file: that where its function starts, as the file's rules of
 * unwinding say, so that its frames are all of one; or the frame's own.
 */
typedef struct plim_profile_function {
	plim_bytes name;    /* demangled */
	plim_bytes linkage; /* as in the file; empty if it has none */
	plim_bytes file;    /* of source; empty: not known */
	uint32_t line;	    /* of source, where it begins; 0: not known */
	uint32_t module;    /* first one it was seen in, or PLIM_NO_INDEX */
	uint64_t start;	    /* its address in the file; 0: not known */
	int special;	    /* enum plim_special, 0: none */
	int is_unnamed;	    /* 1: `name` is module+offset */
	uint64_t reserved[2];
} plim_profile_function;
PLIM_API size_t plim_profile_function_count(const plim_profile *profile);
PLIM_API const plim_profile_function *
plim_profile_function_at(const plim_profile *profile, size_t index);

typedef struct plim_profile_line {
	uint32_t function; /* index */
	uint32_t line;	   /* 0: not known */
	plim_bytes file;   /* empty: not known */
	int is_inlined;	   /* 1: the next line is where it was inlined */
	int reserved;
} plim_profile_line;
PLIM_API size_t plim_profile_line_count(const plim_profile *profile);
PLIM_API const plim_profile_line *
plim_profile_line_at(const plim_profile *profile, size_t index);

/* A place in a stack. It has at least one line, innermost first. */
typedef struct plim_profile_frame {
	uint64_t address;    /* in the process: of the leaf exact, of a caller
			      * the last byte of its call; 0 of a special */
	uint32_t process;    /* index; PLIM_NO_INDEX of a special frame */
	uint32_t module;     /* index or PLIM_NO_INDEX */
	uint32_t first_line; /* index into the lines */
	uint32_t line_count;
	int special; /* enum plim_special, 0: none */
	int reserved_int;
	uint64_t reserved;
} plim_profile_frame;
PLIM_API size_t plim_profile_frame_count(const plim_profile *profile);
PLIM_API const plim_profile_frame *
plim_profile_frame_at(const plim_profile *profile, size_t index);

/* A stack of one thread in one activity, and what was laid on it. */
typedef struct plim_profile_stack {
	uint32_t thread; /* index */
	int activity;	 /* enum plim_activity */
	int end;	 /* enum plim_stack_end (unwind.h) */
	int is_counted;	 /* 1: it is no sample, but time known otherwise */
	int64_t call;	 /* number of the system call it blocks in, else -1 */
	plim_bytes call_name;	/* empty: none */
	const uint32_t *frames; /* indices, leaf first */
	size_t frame_count;	/* at least 1 */
	uint64_t samples;
	uint64_t weight_ns;   /* of its activity */
	double weight_square; /* sum of the squares of the samples' weights */
	uint64_t reserved[2];
} plim_profile_stack;
PLIM_API size_t plim_profile_stack_count(const plim_profile *profile);
PLIM_API const plim_profile_stack *
plim_profile_stack_at(const plim_profile *profile, size_t index);

/*
 * One sample; they are in order of time. A thread that stays blocked where it
 * was has one entry for all the looks that found it so.
 */
typedef struct plim_profile_sample {
	uint64_t time_ns;   /* CLOCK_MONOTONIC, of the first look */
	uint64_t weight_ns; /* time of its activity since the one before */
	uint32_t stack;	    /* index */
	uint32_t looks;	    /* at least 1; running: 1 */
	/* Running: the thread's CPU time since its last sample, with what fell
	 * into the kernel or was lost; 0: not known. Blocked: from the first
	 * look to the last. */
	uint64_t span_ns;
} plim_profile_sample;
PLIM_API size_t plim_profile_sample_count(const plim_profile *profile);
PLIM_API const plim_profile_sample *
plim_profile_sample_at(const plim_profile *profile, size_t index);

/*
 * Folding: the one way from stacks to rows, from which every export is
 * written. Rows go from the root to the leaf, heaviest first, equal ones by
 * the names in them, then by what tells them apart: always the same order.
 * All foldings of one view have the same totals, to the nanosecond, for each
 * thread, too.
 */
enum plim_fold_flag {
	/* Items are frames (indices) instead of functions: nothing is merged
	 * but what is the same stack. THREADS, ACTIVITIES and ENDS are on. */
	PLIM_FOLD_ADDRESSES = 1,
	PLIM_FOLD_INLINES = 2,	 /* inlined functions are items, too */
	PLIM_FOLD_THREADS = 4,	 /* rows of different threads are kept apart */
	PLIM_FOLD_PROCESSES = 8, /* those of different programs */
	PLIM_FOLD_ACTIVITIES = 16, /* running, waiting and blocked */
	PLIM_FOLD_ENDS = 32,	   /* complete and cut ones */
	/* A blocked stack gets the name of its system call on top, as an item
	 * of its own, in brackets. Not with ADDRESSES. */
	PLIM_FOLD_CALLS = 64
};
typedef struct plim_fold_options {
	size_t size;	       /* sizeof(plim_fold_options) */
	int view;	       /* enum plim_view; 0: CPU */
	uint32_t flags;	       /* enum plim_fold_flag */
	uint32_t thread_limit; /* 1 + index of the one thread to fold; 0: all */
	uint32_t reserved_word;
	uint64_t reserved[4];
} plim_fold_options;

typedef struct plim_fold plim_fold;

typedef struct plim_fold_row {
	const uint32_t *items; /* functions, or frames: root first */
	size_t item_count;
	uint64_t weight_ns;
	uint64_t samples;
	uint64_t incomplete_samples; /* whose stack did not reach the root */
	uint32_t thread;	     /* index, PLIM_NO_INDEX: several */
	uint32_t process;	     /* index, PLIM_NO_INDEX: several */
	int activity;		     /* 0: several */
	int end;		     /* enum plim_stack_end; 0: several */
	double share;		     /* of the fold's weight */
	double share_error;	     /* as of a function */
	uint64_t reserved[2];
} plim_fold_row;

/*
 * A function's share: self where it is the innermost, total wherever it is on
 * the stack, once per sample. The error is the standard error of the share p,
 *
 *     sqrt(p (1 - p) / n),   n = (sum of w)^2 / (sum of w^2)
 *
 * over all samples with their weights w: with equal weights n is the count of
 * samples, and this is the binomial's. Time that was counted and not sampled
 * has no error of its own. About 2 of 3 shares are off by less than one
 * error, 19 of 20 by less than two. A share of 0 or 1 has the error of one
 * sample, 1 / n. Blocked samples follow each other closely, so that in OFF
 * and WALL the error is at most this.
 */
typedef struct plim_fold_function {
	uint32_t function; /* index */
	uint32_t reserved;
	uint64_t self_ns;
	uint64_t total_ns;
	uint64_t self_samples;
	uint64_t total_samples;
	double self_share;
	double self_error;
	double total_share;
	double total_error;
} plim_fold_function;

typedef struct plim_fold_total {
	uint64_t weight_ns;
	uint64_t samples;
	uint64_t incomplete_samples;
	double effective_samples; /* n of the error */
	int view;
	uint32_t flags; /* in effect */
	uint64_t reserved[4];
} plim_fold_total;

/* PLIM_EINVAL, PLIM_ENOMEM. A view without any row is no failure. The profile
 * must outlive it, and is resolved first or never. */
PLIM_API int plim_profile_fold(const plim_profile *profile,
			       const plim_fold_options *options,
			       plim_fold **fold, plim_error *error);
/* NULL is allowed. */
PLIM_API void plim_fold_free(plim_fold *fold);
PLIM_API plim_fold_total plim_fold_about(const plim_fold *fold);
PLIM_API size_t plim_fold_row_count(const plim_fold *fold);
PLIM_API const plim_fold_row *plim_fold_row_at(const plim_fold *fold,
					       size_t index);
/* The row that a stack of the profile is in, or PLIM_NO_INDEX: it is of another
 * view or thread, or has neither time nor a sample. */
PLIM_API uint32_t plim_fold_row_of(const plim_fold *fold, uint32_t stack);
/* Functions, most self time first, then most total, then by name. Always
 * with inlined ones expanded if the fold has INLINES. */
PLIM_API size_t plim_fold_function_count(const plim_fold *fold);
PLIM_API const plim_fold_function *plim_fold_function_at(const plim_fold *fold,
							 size_t index);
/* The name of an item of a row: of the function, or the frame's innermost. */
PLIM_API plim_bytes plim_fold_item_name(const plim_fold *fold, uint32_t item);

#ifdef __cplusplus
}
#endif
#endif
