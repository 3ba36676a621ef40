/*
 * heaps.h - what a plim_heaps is inside: the result of the last walk that
 * succeeded.
 */
#ifndef PLIMP_OBSERVE_HEAPS_H
#define PLIMP_OBSERVE_HEAPS_H

#include "host/host.h"
#include "memory/heaps.h"

struct plim_heaps {
	plim_host *host;
	struct plimp_heap_list list;
	plim_heaps_facts facts;
	plim_cost cost;
};

#endif
