/*
 * report.h - what plim report has found out, between measuring
 * (cmd_report.c) and telling (report_page.c).
 */
#ifndef PLIM_REPORT_H
#define PLIM_REPORT_H

#include "cmd.h"

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
};

/* Tells all of it in the format that was asked for: the exit status. */
int report_page(const struct report *report);

#endif
