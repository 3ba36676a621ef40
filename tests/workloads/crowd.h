/*
 * crowd.h - what the crowd (crowd.c) tells of its members: a table of these,
 * in the order of their numbers.
 */
#ifndef WORKLOAD_CROWD_H
#define WORKLOAD_CROWD_H

#include <stdint.h>

struct crowd_member {
	int32_t pid;
	char name[16]; /* as the kernel keeps it, with its NUL */
};

#endif
