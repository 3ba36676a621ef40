/*
 * cell.h - THE contract with an operating system, third part: a process of our
 * own in which somebody else's code reads hostile bytes.
 *
 * Who has to read a format that no sane person parses by hand uses a library
 * for it, and a library may crash, hang or eat the machine when the bytes are
 * made for that. So it runs in a cell: a copy of the calling process that has
 * the given files, a socket to its keeper, and nothing else. It can open
 * nothing, start nothing, write nowhere; it has so much memory and so much
 * time; when it ends, however, the keeper sees the socket close.
 *
 * Both ends of the socket give and take bytes; what they mean is the users'.
 * What comes out of a cell is as hostile as the bytes that it reads.
 */
#ifndef PLIMP_CELL_H
#define PLIMP_CELL_H

#include "host/target.h"

#define PLIMP_CELL_FILES 2

struct plimp_cell;

struct plimp_cell_limits {
	uint64_t memory_bytes; /* of address space, beyond the caller's */
	uint32_t cpu_seconds;  /* over its whole life */
};

/* What the code in the cell has: descriptors. A file that was not given is
 * -1. Files are shared with the keeper, so that nobody may seek in them. */
struct plimp_cell_inside {
	int socket;
	int files[PLIMP_CELL_FILES];
};

/*
 * Runs in the cell, with a copy of all that the caller had in memory; the cell
 * ends when it returns. It may allocate with malloc(). The calling process's
 * other threads are not there; one that held a lock of the C library when the
 * cell was made holds it there for ever, which the keeper's deadlines end.
 */
typedef void plimp_cell_fn(const struct plimp_cell_inside *inside, void *user);

/*
 * Makes a cell. A file may be NULL. PLIM_EUNSUPPORTED where this system has no
 * such thing, PLIM_ENOMEM, PLIM_ESYSTEM. Neither a signal is sent to the
 * caller when the cell ends, nor does a wait for any child find it.
 */
int plimp_system_cell_start(plim_host *host, plimp_cell_fn *run, void *user,
			    const struct plimp_file *const *files, size_t count,
			    const struct plimp_cell_limits *limits,
			    struct plimp_cell **cell, plim_error *error);

/*
 * The keeper's end: exactly `size` bytes, before the deadline, by
 * plimp_system_monotonic().
 * PLIM_OK, PLIM_ETIMEOUT, PLIM_ESYSTEM where the cell has ended; bytes that
 * were taken are undefined then.
 */
int plimp_system_cell_give(struct plimp_cell *cell, const void *bytes,
			   size_t size, uint64_t deadline_ns);
int plimp_system_cell_take(struct plimp_cell *cell, void *bytes, size_t size,
			   uint64_t deadline_ns);
/* The same of what there is: at least `least` bytes, at most `most`. */
int plimp_system_cell_take_some(struct plimp_cell *cell, void *bytes,
				size_t least, size_t most, size_t *taken,
				uint64_t deadline_ns);

/* Ends the cell, whatever it does. NULL is allowed. */
void plimp_system_cell_stop(struct plimp_cell *cell);

/* The cell's end: exactly `size` bytes, waiting for them. 0 where the keeper
 * has gone, which is when to return. */
int plimp_system_cell_tell(const struct plimp_cell_inside *inside,
			   const void *bytes, size_t size);
int plimp_system_cell_hear(const struct plimp_cell_inside *inside, void *bytes,
			   size_t size);
/* What there is, waiting for one byte: at most `most`, how many. */
size_t plimp_system_cell_hear_some(const struct plimp_cell_inside *inside,
				   void *bytes, size_t most);

#endif
