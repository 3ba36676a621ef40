/*
 * report.h - what plim report has found out, between measuring
 * (cmd_report.c) and telling (report_page.c).
 */
#ifndef PLIM_REPORT_H
#define PLIM_REPORT_H

#include "idle.h"
#include "tree_page.h"

/* What became of the walk of the allocators. */
enum report_memory {
	REPORT_MEMORY_NONE = 0, /* it ended, or nobody waits for more */
	REPORT_MEMORY_KNOWN = 1,
	REPORT_MEMORY_LARGE = 2, /* left to plim mem */
	REPORT_MEMORY_REFUSED = 3
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
	struct tree_view tree; /* the process and its descendants */
	plim_tree *whole;      /* from the start on, for one that ends */
	int tree_rounds;       /* 2: over the window */
};

/* report_tree.c: the tree is found and measured where the window begins and
 * where it ends, and not in between: a pass over every process is dear. That
 * is the observation's own, but for a process that ends first: of that the
 * round at the start and one behind its end are told. */
int report_tree_open(struct report *report, plim_error *error);
int report_tree_take(struct report *report, plim_error *error);
void report_tree_of_window(struct report *report);
void report_tree_page(struct report *report);
void report_tree_json(struct report *report, plim_json *json);
void report_tree_release(struct report *report);

/* report_memory.c */
int report_memory_open(struct report *report, plim_error *error);
void report_memory_take(struct report *report);
void report_memory_page(const struct report *report);
void report_memory_json(const struct report *report, plim_json *json);
void report_memory_release(struct report *report);

/* Tells all of it in the format that was asked for: the exit status. */
int report_page(struct report *report);

#endif
