/*
 * preloadable.h - whether a program can have an object preloaded, by its file.
 */
#ifndef PLIMP_PRELOADABLE_H
#define PLIMP_PRELOADABLE_H

#include "host/preload.h"

/* Errors as of plim_preload_open(). */
int plimp_preloadable(plim_host *host, const char *program, const char *object,
		      plim_error *error);

#endif
