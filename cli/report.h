/*
 * report.h - what plim report has found out, between measuring
 * (cmd_report.c) and telling (report_page.c).
 */
#ifndef PLIM_REPORT_H
#define PLIM_REPORT_H

#include "tree_page.h"

struct report {
	const struct options *options;
	plim_host *host;
	plim_target *target;
	plim_usage *first; /* where the window began */
	plim_usage *last;  /* the last live sample */
	plim_usage *total; /* of a command that ended */
	struct child child;
	int started; /* we started it */
	int ended;
	int sampled; /* at least once while it lived */
	int quiet;   /* 1: it became quiet, -1: it did not, 0: not waited for */
	int changes;
	struct tree_view tree; /* the process and its descendants */
	int tree_rounds;       /* 2: over the window */
};

/* report_tree.c: the tree is found and measured where the window begins and
 * where it ends, and not in between: a pass over every process is dear. */
int report_tree_open(struct report *report, plim_error *error);
int report_tree_take(struct report *report, plim_error *error);
void report_tree_page(struct report *report);
void report_tree_json(struct report *report, plim_json *json);
void report_tree_release(struct report *report);

/* Tells all of it in the format that was asked for: the exit status. */
int report_page(struct report *report);

#endif
