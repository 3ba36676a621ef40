/*
 * heaps.h - what a plim_heaps is inside: the result of the last walk that
 * succeeded; and the two walks that make one.
 */
#ifndef PLIMP_OBSERVE_HEAPS_H
#define PLIMP_OBSERVE_HEAPS_H

#include "host/host.h"
#include "memory/heaps.h"
#include "memory/image.h"

struct plim_heaps {
	plim_host *host;
	struct plimp_heap_list list;
	plim_heaps_facts facts;
	plim_cost cost;
};

/* A result in the making. */
struct plimp_heaps_draft {
	plim_host *host;
	int walk; /* 0: the allocators are named alone */
	struct plimp_heap_list list;
	plim_heaps_facts facts;
};

int plimp_heaps_live(struct plimp_heaps_draft *draft, plim_target *target,
		     plim_error *error);
int plimp_heaps_core(struct plimp_heaps_draft *draft, const char *path,
		     plim_error *error);

/* The debug file of a build id on this machine, where debuggers look for it
 * first; as plimp_image.open_debug. */
int plimp_heaps_debug(plim_host *host, const uint8_t *id, size_t size,
		      struct plimp_file *file);

#endif
