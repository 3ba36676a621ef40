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
	int root; /* O_PATH, as it was last found; -1 before the first use */
	uint32_t user;	/* the effective one, and the pid in its namespace, */
	int user_known; /* as last read; 0: never */
	int32_t inner_pid;
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

/*
 * An O_PATH descriptor of what an absolute path means to the process: below its
 * own root, in its mount namespace, no symbolic link leading out; -1 and errno.
 * It is what it is: a directory, a pipe, too. `is_name`: the path is one of
 * maps, which is written as seen from our root where that reaches there, so
 * that what the root of the process has before it is left out (lens_path.c).
 */
int plimp_lens_below_root(struct plimp_lens *lens, const char *path,
			  int is_name);
/* The same below our own root. */
int plimp_lens_below_ours(struct plimp_lens *lens, const char *path);

/* 1 and the target's effective user, of now or of when it was last told. */
int plimp_lens_user(struct plimp_lens *lens, uint32_t *user);

/* The descriptor of an open file, which stays the file's. */
int plimp_file_descriptor(const struct plimp_file *file);

/* What an error of the system about its files says of the target: it is gone,
 * or this was refused. Never PLIM_OK. */
int plimp_lens_fail(struct plimp_lens *lens, int problem, const char *name,
		    plim_error *error);

/* Of pages as those of struct plimp_reader no more than PLIMP_PAGE_READABLE,
 * for one call less. */
int plimp_lens_readable(struct plimp_lens *lens, uint64_t address, size_t count,
			uint8_t *pages);

/* A call that may have held the lock began then and has just ended; its time
 * in ns. */
uint64_t plimp_lens_billed(struct plimp_lens *lens, const char *name,
			   uint64_t begin);

#endif
