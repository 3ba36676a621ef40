/*
 * gperftools.h - the page heap of gperftools' tcmalloc.
 *
 * Its page heap keeps counters of what it took from the system, what of that
 * is free, and what it gave back to the kernel. No symbol names them, but they
 * stand together in the library's .bss and hold each other's sums. What the
 * central and the thread caches hold is not free in the page heap's sense: it
 * counts with the blocks in use, which are therefore an upper bound.
 */
#ifndef PLIMP_GPERFTOOLS_H
#define PLIMP_GPERFTOOLS_H

#include "memory/image.h"

/* struct PageHeap::Stats (src/page_heap.h), bytes and counts. */
struct plimp_gperftools_counters {
	uint64_t address;   /* where they were found */
	uint64_t system;    /* taken from the system */
	uint64_t free;	    /* in free spans that are committed */
	uint64_t unmapped;  /* in free spans that were given back */
	uint64_t committed; /* system - unmapped */
	uint64_t scavenges;
	uint64_t commits;
	uint64_t total_committed; /* in all, */
	uint64_t decommits;
	uint64_t total_decommitted; /* less this is `committed` */
	uint64_t reserves;
	uint64_t total_reserved; /* as `system`, which never falls */
};

/* Are those the counters of a page heap in a process whose mappings have so
 * many bytes? */
int plimp_gperftools_are(const struct plimp_gperftools_counters *counters,
			 uint64_t mapped);

struct plim_heap;

/* Fills `heap` by the counters, or says there why it cannot. PLIM_OK whatever
 * was found; an error of the reader, PLIM_ENOMEM. */
int plimp_gperftools_walk(const struct plimp_image *image,
			  struct plim_heap *heap, plim_error *error);

#endif
