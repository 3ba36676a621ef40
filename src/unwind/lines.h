/*
 * lines.h - from an address in a file to the function that holds it, the
 * functions that were inlined there, and the line of each: what DWARF tells.
 *
 * DWARF is read by libdw (elfutils), and the file may be made to attack its
 * reader, so libdw runs in a process of its own (host/cell.h): it gets the
 * open file and addresses, gives bounded records, and has limits of memory and
 * of time. A file that makes it crash, hang or grow costs its own lines and
 * nothing else (docs/design/lines.md). That process starts at the first
 * question; a unit of the file is indexed at the first question about one of
 * its addresses, and answers the next ones by a binary search.
 *
 * Where the library was built without libdw, or libdw.so.1 is not installed,
 * or this system has no such cells, opening is PLIM_EUNSUPPORTED.
 *
 * One object is used by one thread at a time, and with it its host.
 */
#ifndef PLIMP_LINES_H
#define PLIMP_LINES_H

#include "elf/elf.h"
#include "host/target.h"

/* More memory than this the reading process does not get, beyond what it
 * shares with ours, nor more CPU time over its life. */
#define PLIMP_LINES_MEMORY	0x60000000u
#define PLIMP_LINES_CPU_SECONDS 120u
/* A question that takes longer ends it: wall time, ns. Opening a compressed
 * file of 90 MB takes 2 s, indexing its largest unit 80 ms. */
#define PLIMP_LINES_DEADLINE_NS 20000000000u
/* So often it is started anew after it died of a file. */
#define PLIMP_LINES_DEATHS 2
/* The most frames that one address has: what is inlined deeper is left out at
 * the outer end, but for the physical function, which is the last. */
#define PLIMP_LINES_FRAMES 128
/* A longer name, or path, is not told. */
#define PLIMP_LINES_NAME 16384u

struct plimp_lines;

/*
 * One frame. Texts are empty and numbers 0 where they are not known; texts are
 * as in the file, hostile, and not NUL-terminated.
 */
struct plimp_line {
	plim_bytes function; /* DW_AT_name: "push_back", without its scope */
	plim_bytes linkage;  /* DW_AT_linkage_name: mangled. Prefer it */
	plim_bytes file;     /* where in this function the address lies: for */
	uint32_t line;	     /* a caller of an inlined one, the call */
	uint32_t column;
	uint32_t declared_line;	  /* where the function itself is declared */
	plim_bytes declared_file; /* in the source */
	uint64_t start;		  /* where the physical function is entered;
				   * 0 for an inlined one */
	int is_inlined;		  /* 1 for all but the last frame */
};

/*
 * Remembers what is to be read: the module's file, or its debug file, and the
 * file that it shares parts with where it says so (plimp_lines_alternate()),
 * else NULL; both must stay open until the lines are closed. It reads nothing
 * yet. PLIM_EUNSUPPORTED, PLIM_ENOMEM.
 */
int plimp_lines_open(struct plimp_lines **lines, plim_host *host,
		     const struct plimp_file *file,
		     const struct plimp_file *alternate, plim_error *error);

/*
 * The frames at an address, as the file numbers them (the process's minus the
 * module's bias), innermost first; for a caller that is the return address
 * minus 1. At most `capacity` frames are stored: the innermost ones, and the
 * physical function as the last. `*count` is at least 1 on success; a frame
 * without any function can be one (the address has a line and no more).
 *
 * Texts are borrowed until the next call with the same object.
 *
 * PLIM_ENAME: the file says nothing about this address, or has no DWARF.
 * PLIM_EMALFORMED: it is broken there, or made reading crash. PLIM_ELIMIT: it
 * takes more memory or time than there is for it. After PLIMP_LINES_DEATHS of
 * these that ended the reader, that is the answer to everything. PLIM_ENOMEM,
 * PLIM_ESYSTEM. Outputs are untouched then.
 */
int plimp_lines_find(struct plimp_lines *lines, uint64_t file_address,
		     struct plimp_line *frames, size_t capacity, size_t *count,
		     plim_error *error);

/* What one address of many came to: as plimp_lines_find() gives it. Another
 * value than PLIM_OK ends the run. */
typedef int plimp_lines_fn(void *user, size_t index, int result,
			   const struct plimp_line *frames, size_t count);

/*
 * Many addresses in one go, each told as soon as it is known, in their order:
 * several times as fast as one by one. `frames` is room for those of one
 * address. PLIM_OK, PLIM_ENOMEM, or what `told` returned; then the rest was not
 * told.
 */
int plimp_lines_each(struct plimp_lines *lines, const uint64_t *file_addresses,
		     size_t count, struct plimp_line *frames, size_t capacity,
		     plimp_lines_fn *told, void *user);

/*
 * Ends the reading process, and with it what is indexed; the next question
 * starts a new one. For who asks many files: each that was asked and not put
 * to rest holds a process. Ask file by file.
 */
void plimp_lines_rest(struct plimp_lines *lines);

/* NULL is allowed. */
void plimp_lines_close(struct plimp_lines *lines);

/*
 * .gnu_debugaltlink: the path, absolute or from the folder of the file on, of
 * the file that dwz moved common parts to, and its build id, by which it is
 * proven. PLIM_ENAME where there is none; PLIM_EMALFORMED; what the reader
 * failed with.
 */
int plimp_lines_alternate(const struct plimp_elf *elf, char *path, size_t size,
			  uint8_t id[PLIMP_ELF_ID], size_t *id_size);

#endif
