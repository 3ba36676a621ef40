/*
 * bill.h - what one call cost, from its begin to its end.
 */
#ifndef PLIMP_BILL_H
#define PLIMP_BILL_H

#include "host/host.h"

struct plimp_bill_mark {
	struct plimp_bill bill;
	int timed;
	uint64_t monotonic_ns;
	plim_count cpu;
};

/* Begins; `timed` is 0 where asking for time would cost more than the work
 * that is measured: then no clock is read. */
struct plimp_bill_mark plimp_bill_begin(plim_host *host, int timed);

/* Ends: fills calls, bytes, CPU and wall time of `*cost`, and adds the whole
 * of it to the host's. */
void plimp_bill_end(plim_host *host, const struct plimp_bill_mark *mark,
		    plim_cost *cost);

/* Of a call that makes other calls with bills of their own: what those have
 * added to the host's meanwhile is not added again. */
struct plimp_bill_whole {
	struct plimp_bill_mark mark;
	plim_cost before;
};
struct plimp_bill_whole plimp_bill_open(plim_host *host);
void plimp_bill_close(plim_host *host, const struct plimp_bill_whole *whole);

/* Adds one bill to another. */
void plimp_cost_add(plim_cost *total, const plim_cost *cost);

#endif
