/*
 * verdict.h - the verdict over a result (plim_retention of heap.h).
 */
#ifndef PLIMP_VERDICT_H
#define PLIMP_VERDICT_H

#include "memory/heaps.h"

/* As plim_retention_find(); `list` may be NULL: nothing was walked. */
void plimp_retention_find(const struct plimp_heap_list *list,
			  const plim_retention_memory *memory,
			  plim_retention *out);

#endif
