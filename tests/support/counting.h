/*
 * counting.h - an allocator that counts, for tests of what allocates.
 */
#ifndef SUPPORT_COUNTING_H
#define SUPPORT_COUNTING_H

#include <plimsoll/base.h>

#include <stddef.h>

struct counting {
	size_t calls; /* that asked for memory */
	size_t live;  /* bytes that are not given back */
};

plim_allocator counting_allocator(struct counting *counting);

#endif
