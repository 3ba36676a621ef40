/*
 * sweep.h - reading memory that is there, and none that is not, for those who
 * look for something in it.
 *
 * A page is asked about before it is read, so that a look maps no zero page
 * and brings nothing back from swap. All bounds are the caller's: a range that
 * a hostile process made huge costs a question for each page and no more.
 */
#ifndef PLIMP_SWEEP_H
#define PLIMP_SWEEP_H

#include "memory/image.h"

/* What of the bytes at an address could not be copied. */
enum plimp_fetched {
	PLIMP_FETCHED = 0,
	PLIMP_FETCH_ABSENT = 1, /* a page is not there, or went away */
	PLIMP_FETCH_SWAPPED = 2 /* a page is in swap */
};

/* Copies `size` bytes, at most PLIMP_FETCH_MOST; enum plimp_fetched, or a
 * negative error of the reader. `buffer` is undefined but after FETCHED. */
#define PLIMP_FETCH_MOST 65536u
int plimp_fetch(const struct plimp_image *image, uint64_t address, void *buffer,
		size_t size);

/*
 * Gives the readable bytes from `start` to `end`, both multiples of the page
 * size, in blocks that never hold more than PLIMP_SWEEP_BLOCK bytes. Blocks
 * that adjoin overlap by PLIMP_SWEEP_OVERLAP bytes, so that what is no longer
 * than that lies whole in one of them. What the callback returns, unless 0,
 * ends the sweep and is returned; negative values are errors.
 */
#define PLIMP_SWEEP_BLOCK   65536u
#define PLIMP_SWEEP_OVERLAP 4096u
typedef int plimp_sweep_fn(uint64_t address, const uint8_t *bytes, size_t size,
			   void *user);
int plimp_sweep(const struct plimp_image *image, uint64_t start, uint64_t end,
		plimp_sweep_fn *callback, void *user);

/*
 * The next piece of the program's and its libraries' writable data: what is
 * mapped private and writable of a file, and the nameless memory directly
 * behind what is mapped of a file (.bss). 1 if there is one, in `data`, which
 * is zeroed to begin; 0 at the end.
 */
struct plimp_data {
	uint64_t start;
	uint64_t end;
	size_t mapping; /* index in the space of the mapping itself, */
	size_t file;	/* and of the last one of the file that it belongs to */
	size_t next;
};
int plimp_data_next(const struct plimp_space *space, struct plimp_data *data);

#endif
