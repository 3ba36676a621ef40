/*
 * lens.h - what the files that look into one process's memory share.
 *
 * Text files (status, maps, smaps, smaps_rollup) are opened anew for each
 * read; the kernel binds an open one, and pagemap and mem with it, to the
 * memory of the program that the process executed when it was opened. That
 * memory outlives an exec where a vfork'ed child shares it, so that a read
 * which succeeds proves nothing: the check does (lens.c).
 */
#ifndef PLIMP_LINUX_LENS_H
#define PLIMP_LINUX_LENS_H

#include "host/linux/system.h"
#include "host/target.h"

#define PLIMP_LENS_BUFFER 65536
/* Bytes that one read of mem copies at most; the kernel takes the lock anew
 * for each page of them. */
#define PLIMP_LENS_READ ((size_t)262144)

struct plimp_lens {
	plim_host *host;
	plim_target *target; /* NULL: ourselves */
	int directory;	     /* the target's or the host's own */
	int reason;	     /* why it has no memory: enum plim_reason */
	char folder[32];     /* "", or "task/TID/" once the main thread ended */
	struct plimp_grip image;
	int mem; /* held; -1 before the first use */
	int pagemap;
	int has_scan; /* PAGEMAP_SCAN: -1 before it was asked */
	uint64_t scan_mask;
	uint64_t zero_frame; /* of the zero page; 0: not known */
	uint64_t scan_ps;    /* measured, per page; see lens_learn() */
	uint64_t entry_ps;
	struct plimp_status status; /* the last one; has: 0 */
	struct plimp_lens_bill bill;
	char *buffer; /* PLIMP_LENS_BUFFER bytes */
};

/* Opens a file of the process: a descriptor, or -1. */
int plimp_lens_file(struct plimp_lens *lens, const char *name, int flags);

/* What an error of the system about its files says of the target: it is gone,
 * or this was refused. Never PLIM_OK. */
int plimp_lens_fail(struct plimp_lens *lens, int problem, const char *name,
		    plim_error *error);

/* A call that may have held the lock began then and has just ended; its time
 * in ns. */
uint64_t plimp_lens_billed(struct plimp_lens *lens, const char *name,
			   uint64_t begin);

#endif
