/*
 * core.h - the image of a process out of its core file.
 *
 * An ELF core of 64 bits, little endian, x86-64 or aarch64, as the kernel
 * (fs/binfmt_elf.c), gcore of gdb, or anybody else writes it: memory by
 * PT_LOAD, files by NT_FILE, the page size by NT_AUXV. A page that the core
 * does not hold, because it was filtered (coredump_filter, core(5)) or because
 * the file is cut off, is not there: unknown, never zeros. What took memory a
 * core does not say.
 */
#ifndef PLIMP_CORE_H
#define PLIMP_CORE_H

#include "host/target.h"

struct plimp_core_segment {
	uint64_t start;
	uint64_t end;
	uint64_t offset;     /* in the file */
	uint64_t held;	     /* bytes from `start` on that the file has */
	uint32_t protection; /* enum plimp_protection */
};

/* A row of NT_FILE. */
struct plimp_core_file {
	uint64_t start;
	uint64_t end;
	uint64_t offset;   /* in that file, bytes */
	size_t name_start; /* in the texts of the space */
	size_t name_size;
};

struct plimp_core {
	const plim_allocator *allocator;
	const struct plimp_file *file;
	struct plimp_reader reader;
	struct plimp_space space; /* its figures are all unavailable; the inode
				   * of a mapping is made of its file's name */
	int machine;		  /* e_machine */
	int signal;		  /* that it died of; 0 unknown, or gcore */
	int32_t pid;		  /* 0 unknown */
	uint32_t threads;
	int is_cut;    /* the file ends before what its table tells */
	int has_files; /* there was an NT_FILE */
	char name[17]; /* of the process, "" unknown */
	uint64_t vdso; /* 0 unknown */
	uint64_t held_bytes;
	uint64_t left_out_bytes;
	struct plimp_core_segment *segments; /* ascending, not overlapping */
	size_t segment_count;
	size_t segment_capacity;
	size_t last;		       /* segment that was used last */
	struct plimp_core_file *files; /* ascending, not overlapping */
	size_t file_count;
	size_t file_capacity;
};

/*
 * Opens the core in `file`, which must outlive it; `path` is for messages. It
 * must not be moved afterwards: its reader refers to it. PLIM_EMALFORMED,
 * PLIM_EUNSUPPORTED, PLIM_ELIMIT, PLIM_ENOMEM, or an error of the file's
 * reader; it is then closed.
 */
int plimp_core_open(struct plimp_core *core, const plim_allocator *allocator,
		    const struct plimp_file *file, const char *path,
		    plim_error *error);
void plimp_core_close(struct plimp_core *core);

/* The steps of it, each in its file; they return an error code alone. */
int plimp_core_bytes(const struct plimp_core *core, uint64_t offset,
		     void *bytes, size_t size);
int plimp_core_notes(struct plimp_core *core, uint64_t offset, uint64_t size);
int plimp_core_map(struct plimp_core *core);

#endif
