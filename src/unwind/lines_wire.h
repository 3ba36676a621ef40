/*
 * lines_wire.h - what a cell that reads DWARF and its keeper say to each
 * other. Both are the same program, so that numbers are as the machine has
 * them; what comes out of the cell is hostile all the same.
 *
 * The question is an address. The answer is a head, and behind it rows and the
 * texts of all rows, one after the other without anything between them.
 */
#ifndef PLIMP_LINES_WIRE_H
#define PLIMP_LINES_WIRE_H

#include "unwind/lines.h"

/* The most bytes that follow a head. */
#define PLIMP_LINES_ANSWER 1048576u

struct plimp_lines_head {
	uint32_t size;	/* of what follows; 0 with a failure */
	int32_t code;	/* PLIM_OK, or why not */
	uint32_t count; /* rows */
	uint32_t reserved;
};

/* Writes rows and texts: how many bytes. A text that is too long, or for which
 * there is no room left, is left out; `capacity` holds all the rows. */
size_t plimp_lines_write(const struct plimp_line *frames, size_t count,
			 uint8_t *bytes, size_t capacity);

/*
 * Reads them; the texts lie in `bytes`. At most `capacity` frames: the
 * innermost, and as the last the outermost. PLIM_EMALFORMED leaves `*count`
 * as it was.
 */
int plimp_lines_read(const uint8_t *bytes, size_t size, size_t rows,
		     struct plimp_line *frames, size_t capacity, size_t *count);

#endif
