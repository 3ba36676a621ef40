/*
 * live.h - an image of a live process for the tests of what reads allocators,
 * made of nothing but maps, pagemap, mem and map_files, so that a test of a
 * reader stands on the kernel alone.
 */
#ifndef TESTS_ALLOCATORS_LIVE_H
#define TESTS_ALLOCATORS_LIVE_H

#include "memory/image.h"

struct live_image {
	struct plimp_image image;
	struct plimp_space space;
	int pid;
	int memory;	/* /proc/PID/mem */
	int pagemap;	/* /proc/PID/pagemap */
	uint64_t reads; /* of its memory */
	uint64_t bytes;
};

/* 0, or -1 with errno. Needs to be the same user, or root. */
int live_open(struct live_image *live, int pid);
void live_close(struct live_image *live);

#endif
