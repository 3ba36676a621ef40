/*
 * preload.h - THE contract for an object that is preloaded into a program which
 * is about to be executed, so that its threads sample themselves where the
 * kernel lets nobody else do it (docs/design/preload.md).
 *
 * Here is the memory that it writes to, which the sampler reads
 * (plimp_sampler_options.preload), and what of a program's file is not in its
 * bytes. Whether a program can have it is judged in profile/preload.c.
 */
#ifndef PLIMP_PRELOAD_H
#define PLIMP_PRELOAD_H

#include "host/host.h"

struct plimp_preload_memory;

/* Not yet as large as a sampler wants it. PLIM_ENOMEM, PLIM_ESYSTEM,
 * PLIM_EUNSUPPORTED. */
int plimp_system_preload_open(struct plimp_preload_memory **memory,
			      plim_host *host, plim_error *error);
/* NULL is allowed. No sampler uses it any more. */
void plimp_system_preload_close(struct plimp_preload_memory *memory);
/* What the object opens: a path of this machine, as "NAME=value". */
const char *
plimp_system_preload_setting(const struct plimp_preload_memory *memory);

/* 1: who executes this file gets privileges by it, so that its loader takes
 * nothing from the environment. */
int plimp_system_gives_privileges(plim_host *host, const char *path);

/* The file of the program that runs here. */
#define PLIMP_OWN_PROGRAM "/proc/self/exe"

#endif
