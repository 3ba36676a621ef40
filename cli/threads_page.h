/*
 * threads_page.h - what plim threads has found out, and how it is told.
 */
#ifndef PLIM_THREADS_PAGE_H
#define PLIM_THREADS_PAGE_H

#include "cmd.h"

struct threads_view {
	const struct options *options;
	plim_host *host;
	plim_target *target;
	plim_threads *threads;
	plim_field_set fields; /* of the process's record */
	int ended;	       /* it ended while it was watched */
	uint64_t round;
};

/* The window as a page, JSON or CSV; the exit status. */
int threads_view_output(struct threads_view *view);

#endif
