/*
 * preload.h - what a session takes of a plim_preload.
 */
#ifndef PLIMP_PROFILE_PRELOAD_H
#define PLIMP_PROFILE_PRELOAD_H

#include "host/preload.h"

#include <plimsoll/profile.h>

/* NULL of NULL. */
struct plimp_preload_memory *plimp_preload_memory(plim_preload *preload);

#endif
