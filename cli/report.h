/*
 * report.h - what plim report has found out, between measuring
 * (cmd_report.c) and telling (report_page.c).
 */
#ifndef PLIM_REPORT_H
#define PLIM_REPORT_H

#include "idle.h"
#include "sheet.h"
#include "tree_page.h"

/* What became of the walk of the allocators. */
enum report_memory {
	REPORT_MEMORY_NONE = 0, /* it ended, or nobody waits for more */
	REPORT_MEMORY_KNOWN = 1,
	REPORT_MEMORY_LARGE = 2, /* left to plim mem */
	REPORT_MEMORY_REFUSED = 3
};

/* What was sampled (report_stacks.c). */
struct report_stacks {
	struct report_sampling *sampling;
	int code;     /* of opening or running, PLIM_OK: there is a profile */
	int sampled;  /* there is something to look at */
	int resolved; /* it has been looked at */
	plim_profile *profile;
	plim_fold *cpu;
	plim_fold *off;		     /* thread by thread */
	struct report_sleep *sleeps; /* by pid and tid */
	size_t sleep_count;
	plim_error error;
};

/* Threads of one name that sleep in one place are told as one; of those that
 * neither woke nor computed nothing is told. */
#define REPORT_GROUP_LABEL 160
#define REPORT_GROUP_STACK 400
struct report_group {
	size_t threads;
	size_t processes;
	int32_t pid; /* of the thread that woke most */
	int32_t tid;
	plim_bytes name;
	plim_bytes process;
	int is_shortened; /* their names differ in what a number follows */
	int is_running;
	int is_born; /* in the window, all of them */
	plim_text blocked_in;
	plim_sum wakeups;
	plim_sum cpu_ns;
	plim_sum runqueue_ns;
	const plim_fold_row *row;	/* where it sleeps, or NULL */
	char label[REPORT_GROUP_LABEL]; /* escaped */
	char stack[REPORT_GROUP_STACK]; /* escaped, or "" */
};

struct report_groups {
	struct report_group *items; /* most wake-ups first */
	size_t count;
	size_t threads; /* that were looked at, those that slept included */
	int several;	/* processes */
	plim_sum wakeups;
};

/* The answers that a reader wants first, in the order in which they are told.
 */
enum report_question { REPORT_WAKES, REPORT_RETAINED, REPORT_TIME };
#define REPORT_QUESTIONS 3
struct report_answer {
	char figure[64];  /* the number behind it, or "-" */
	char text[512];	  /* in plain words; escaped for a terminal */
	char where[1024]; /* the stack, the remedy, the reason; or "" */
	int is_known;
};

struct report {
	const struct options *options;
	plim_host *host;
	plim_target *target;
	plim_usage *first;  /* where the window began */
	plim_usage *last;   /* the last live sample */
	plim_usage *total;  /* of a command that ended */
	plim_idle *idle;    /* awaits quiet, and observes the window */
	uint64_t sample_ns; /* when the last live sample was taken */
	struct child child;
	int started; /* we started it */
	int ended;
	int sampled; /* at least once while it lived */
	int awaited; /* it was waited for until it was quiet */
	int quiet;   /* it became so */
	uint64_t quiet_after_ns;
	int changes;
	int memory;		  /* enum report_memory */
	plim_heaps *heaps;	  /* walked when the window was over */
	plim_retention retention; /* what they, and its figures, come to */
	plim_error memory_error;
	struct tree_view tree;	      /* the process and its descendants */
	plim_tree *whole;	      /* from the start on, for one that ends */
	int tree_rounds;	      /* 2: over the window */
	struct report_stacks *stacks; /* or NULL */
	struct report_groups groups;
	struct report_answer answers[REPORT_QUESTIONS];
};

/* report_tree.c: the tree is found and measured where the window begins and
 * where it ends, and not in between: a pass over every process is dear. That
 * is the observation's own, but for a process that ends first: of that the
 * round at the start and one behind its end are told. */
int report_tree_open(struct report *report, plim_error *error);
int report_tree_take(struct report *report, plim_error *error);
void report_tree_of_window(struct report *report);
/* How many members have been found, without the root. */
int report_tree_members(struct report *report, size_t *descendants);
void report_tree_page(struct report *report);
void report_tree_sheet(struct report *report, struct sheet *sheet);
void report_tree_json(struct report *report, plim_json *json);
void report_tree_release(struct report *report);

/* report_memory.c */
int report_memory_open(struct report *report, plim_error *error);
void report_memory_take(struct report *report);
void report_memory_page(const struct report *report);
void report_memory_sheet(const struct report *report, struct sheet *sheet);
void report_memory_json(const struct report *report, plim_json *json);
void report_memory_answer(const struct report *report,
			  struct report_answer *answer);
void report_memory_release(struct report *report);

/* report_stacks.c: samples while the window is observed, or a command before
 * it is quiet. */
void report_stacks_begin(struct report *report, uint64_t ns);
void report_stacks_end(struct report *report);
void report_stacks_resolve(struct report *report);
void report_stacks_release(struct report *report);
int report_stacks_are_there(const struct report *report);
int report_stacks_is_stack(const struct report_stacks *stacks,
			   const plim_fold_row *row);
/* The stack in which a thread was blocked longest, or NULL. */
const plim_fold_row *report_stacks_sleep(const struct report *report,
					 int32_t pid, int32_t tid);
/* A stack in at most so many columns: with all of its frames, or with those
 * that have a name, and the innermost. */
enum report_stack_told { REPORT_WHOLE, REPORT_NAMED };
void report_stacks_text(const struct report *report, const plim_fold *fold,
			const plim_fold_row *row, int how, size_t functions,
			size_t columns, char *text, size_t size);
/* 0, or why there are no stacks. */
int report_stacks_why(const struct report *report, char *text, size_t size);
/* Where there are: 0, or why there is none of a thread that ran. */
int report_stacks_why_none(const struct report *report, char *text,
			   size_t size);

/* report_groups.c; 0, or PLIM_ENOMEM. */
int report_groups_make(struct report *report);
void report_groups_release(struct report *report);
/* A change over the window, per second, and of CPU time in per cent. */
plim_real report_groups_rate(const struct report *report, plim_sum sum);
plim_real report_groups_percent(const struct report *report, plim_sum sum);

/* report_find.c: who wakes, what is retained, where the time goes. */
void report_find(struct report *report);
/* CPU of the process with its descendants in per cent of one core. */
plim_real report_cpu(const struct report *report);

/* report_page.c, report_json.c, report_sheet.c: all of it in the format that
 * was asked for; the exit status. */
int report_page(struct report *report);
int report_json(struct report *report);
int report_sheet(struct report *report, const char *path);
/* report_facts.c: the second half of that page. */
void report_sheet_memory(const struct report *report, struct sheet *sheet);
void report_sheet_figures(const struct report *report, struct sheet *sheet);
void report_sheet_not_there(const struct report *report, struct sheet *sheet);
void report_sheet_how(const struct report *report, struct sheet *sheet);

/* report_words.c: why something failed, and what would allow it. */
void report_reason(const plim_error *error, char *text, size_t size);
const char *report_time(const struct report *report, uint64_t ns);
/* Figures of a report in their order, 0 behind the last. */
extern const int report_fields[];
plim_count report_count(const struct report *report, int field);
plim_real report_field_rate(const struct report *report, int field);
/* Did we end the command? */
int report_signalled(const struct report *report);
/* How it ended, when it was started, how the window came about. */
void report_end(const struct report *report, char *text, size_t size);
void report_started(const struct report *report, char *text, size_t size);
void report_window(const struct report *report, char *text, size_t size);
/* Figures that are missing, each reason once: whether a field is one, whether
 * one before it has the same reason, and the names of all that have it. */
int report_is_missing(const struct report *report, int field);
int report_missing_again(const struct report *report, int field);
void report_missing_names(const struct report *report, int field, char *text,
			  size_t size);

#endif
