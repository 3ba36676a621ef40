/*
 * births.h - what the two sources of births share (births.c chooses one).
 */
#ifndef PLIMP_LINUX_BIRTHS_H
#define PLIMP_LINUX_BIRTHS_H

#include "host/linux/system.h"

/* A ring of perf records, which those of one CPU go to. */
struct plimp_perf_ring {
	unsigned char *map; /* a page of the kernel's, then the records */
	size_t map_size;
	size_t size; /* of the records: a power of two */
	int cpu;
	int descriptor;
	int was_full; /* when it was read last */
	struct plimp_perf_record last;
};

struct plimp_births {
	plim_host *host;
	int method;
	int32_t root;
	struct plimp_birth_counts counts;
	/* One bit for each pid that there can be. Perf: threads that need no
	 * events of their own, NULL after the opening. Connector: processes
	 * that belong to the tree. */
	unsigned char *known;
	/* Perf. */
	struct plimp_perf_ring *rings;
	size_t ring_count;
	int *events; /* descriptors: each thread's, for each ring */
	size_t event_count;
	size_t event_capacity;
	size_t event_limit;
	int poll;
	/* Connector. */
	int socket;
};

int plimp_births_knows(const struct plimp_births *births, int32_t pid);
void plimp_births_learn(struct plimp_births *births, int32_t pid, int known);

/* In all of them: 0, or the error number of what failed; ENOMEM if memory
 * could not be had. */

/* Rings, with nobody in them. EPERM from mmap is told as ENOBUFS. */
int plimp_perf_begin(struct plimp_births *births, size_t ring_bytes);
/* The threads of a process. EACCES, ESRCH as of the kernel. */
int plimp_perf_cover(struct plimp_births *births, int directory, size_t *added);
void plimp_perf_drain(struct plimp_births *births);
/* A CPU that came online without a ring makes the counts partial. */
void plimp_perf_check_cpus(struct plimp_births *births);
void plimp_perf_end(struct plimp_births *births);

/* A socket that is told of everything from now on. */
int plimp_connector_begin(struct plimp_births *births);
void plimp_connector_drain(struct plimp_births *births);
void plimp_connector_end(struct plimp_births *births);

#endif
