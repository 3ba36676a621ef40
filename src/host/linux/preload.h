/*
 * preload.h - the memory shared with a preloaded object, for the sampler.
 */
#ifndef PLIMP_LINUX_PRELOAD_H
#define PLIMP_LINUX_PRELOAD_H

#include "host/linux/inside_context.h"
#include "core/preload_shared.h"
#include "host/linux/sampler.h"
#include "host/preload.h"

struct plimp_preload_memory {
	plim_host *host;
	int descriptor;
	size_t size;	 /* 0: no sampler had it yet */
	uint64_t device; /* as maps has them */
	uint64_t inode;
	struct plimp_preload_head *head;
	uint64_t *order;      /* places by time, of one drain */
	unsigned char *entry; /* a copy of one */
	uint32_t count;
	char setting[96];
};

#endif
