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

/* Adds one bill to another. */
void plimp_cost_add(plim_cost *total, const plim_cost *cost);

#endif
