/*
 * gate.h - what plim gate has found out, between measuring (gate_run.c,
 * gate_figures.c, gate_judge.c) and telling (gate_table.c, gate_results.c,
 * gate_json.c, gate_csv.c, gate_junit.c, gate_github.c, gate_bencher.c).
 *
 * A gate has targets, a target its repeats, and for each limit one reading of
 * each repeat. All texts that come from a file or from a process are raw:
 * escape them. Who tells changes nothing of it.
 */
#ifndef PLIM_GATE_H
#define PLIM_GATE_H

#include "cmd.h"

/* budget.h, idle.h, result.h and births.h come with plimsoll.h. */

/* One limit of a target. */
struct gate_figure {
	const plim_budget_limit *limit;
	const plim_budget_figure *figure; /* its row */
	plim_budget_reading *readings;	  /* as many as the target's repeats */
	size_t reading_count;		  /* of repeats that were measured */
	plim_budget_judgement judgement;  /* its verdict is the target's where
					   * no repeat could be judged */
};

/* One thread of the ranking, most wake-ups first. */
struct gate_thread {
	int32_t tid;
	int32_t pid;
	char name[64];	     /* "" where unavailable */
	char process[64];    /* the name of its process */
	char blocked_in[32]; /* a system call or a place in the kernel, or "" */
	plim_count wakeups;  /* of the window; so too the next two */
	plim_count cpu_ns;
	plim_count runqueue_ns;
	plim_count start_address;
	plim_real per_second;
	int born; /* in the window */
};

/* One repeat. Durations are nanoseconds; 0 where it did not come so far. */
struct gate_repeat {
	int verdict;	    /* PASS, or why it cannot be judged: UNAVAILABLE (no
			     * sample) or INCONCLUSIVE */
	char reason[256];   /* then; "" */
	uint64_t ready_ns;  /* from the start until it was ready */
	uint64_t quiet_ns;  /* from there until it was quiet */
	uint64_t window_ns; /* as it was */
	uint64_t suspended_ns;
	uint32_t samples; /* of the window */
	uint32_t members; /* processes at the end of the window */
	/* Seen in the window and gone by its end: what they counted after they
	 * were last seen is in no figure. */
	uint32_t processes_ended;
	uint32_t threads_ended;
	int ended;	/* 1: it ended by itself */
	int has_status; /* it ended, and we had started it: */
	int status;	/* as plim_usage_reap() gives it */
	/* Descendants that the kernel reaped for a parent that ignores SIGCHLD,
	 * or that were given to a parent outside: charged to nobody, so that
	 * totals are lower bounds (plim_tree_facts.kept and .ignoring). */
	uint32_t kept;
	uint32_t ignoring;
	plim_count children_started; /* in the window */
	plim_count children_run;     /* from the start on */
	int left_running;	     /* 1: something could not be ended */
};

struct gate_target {
	const plim_budget_target *target;
	int verdict;	  /* enum plim_verdict */
	char reason[256]; /* why it could not be judged as a whole; "" */
	/* As they were used: the file's, or those of the command line. */
	uint64_t window_ns;
	uint32_t repeats;
	int overridden; /* 1: by the command line */
	int done;	/* 0: not come to, since we were interrupted */
	size_t repeat_count;
	struct gate_repeat *repeat;
	size_t figure_count;
	struct gate_figure *figures; /* in the order of the file */
	/* Of the repeat with the most wake-ups; none for `report`. */
	size_t thread_count;
	struct gate_thread *threads;
	plim_result_threads_summary threads_summary;
	/* What the memory of the process is, by the last repeat that looked:
	 * where `retained` is limited, or a limit on memory was crossed. */
	int has_retention;
	plim_retention retention;
	plim_result_figures observed; /* for the lines of result.h */
	plim_result_load load;	      /* `verdict` and `version` in it, too */
};

struct gate {
	const struct options *options;
	plim_host *host;
	const char *file; /* the budget's, as given */
	plim_budget *budget;
	plim_budget_place place;
	size_t target_count; /* those that were asked for */
	struct gate_target *targets;
	int verdict;	 /* all of them joined */
	int allowed;	 /* 1: it is inconclusive, and that was allowed */
	int interrupted; /* 1: the exit status is 130 */
	int status;	 /* the exit status */
};

/* gate_*.c of those who tell. What goes to standard output is written by
 * output.c; the others write where they are told: PLIM_OK or PLIM_EOUTPUT. */
void gate_table(const struct gate *gate);
void gate_json(const struct gate *gate);
void gate_csv(const struct gate *gate);
/* All RESULT lines: gate_host, then for each target the lines of the
 * observation, gate_figure for each repeat, thread_wakeups, and `RESULT gate`
 * with the verdict. What a baseline and `report` read. */
int gate_results(const struct gate *gate, plim_write_fn *write, void *user);
int gate_junit(const struct gate *gate, plim_write_fn *write, void *user);
int gate_bencher(const struct gate *gate, plim_write_fn *write, void *user);
/* The array of github-action-benchmark. */
int gate_action_array(const struct gate *gate, plim_write_fn *write,
		      void *user);
/* At most ten annotations; all of it as a step summary, below 1 MiB. */
int gate_annotations(const struct gate *gate, plim_write_fn *write, void *user);
int gate_summary(const struct gate *gate, plim_write_fn *write, void *user);

/* gate_memory.c: 1 if a limit on memory is crossed and it is known what the
 * memory is. */
int gate_memory_is_shown(const struct gate_target *target);

/* gate_sources.c: how a figure is measured, of a process and of a tree. */
struct gate_source {
	int figure;
	const char *process;
	const char *tree;
};
const struct gate_source *gate_source_of(int figure);

#endif
