/*
 * reader.h - THE contract for "bytes at an address": the memory of a live
 * process, a core file, a file's own bytes, or a buffer of a test.
 *
 * Who walks memory asks first what its pages are, and then reads only those
 * that are readable. Reading a page that is not there would map the zero page
 * in somebody else's process, and reading one that is swapped out would bring
 * it back: a reader does not look again, so who has not asked does just that.
 * Everything that comes out of a reader is hostile, and may be another thing
 * at the next read.
 */
#ifndef PLIMP_READER_H
#define PLIMP_READER_H

#include <plimsoll/base.h>

/*
 * What a page is: bits. 0: it is not there, there is nothing to read and it
 * takes no memory. READABLE without RESIDENT and without ZERO: there are bytes,
 * and whether it takes memory is not known (a core file; a kernel before 6.7,
 * whose zero page an ordinary user cannot tell from one shared after a fork).
 * EXCLUSIVE and SHARED may both be missing: then that is not known.
 */
enum plimp_page {
	PLIMP_PAGE_READABLE = 1, /* its bytes can be read without an effect */
	PLIMP_PAGE_RESIDENT = 2, /* it takes memory */
	PLIMP_PAGE_SWAPPED = 4, /* it is in swap, or on its way; not READABLE */
	PLIMP_PAGE_ZERO = 8,	/* the shared zero page: READABLE, all 0 */
	PLIMP_PAGE_EXCLUSIVE = 16, /* mapped by nobody else */
	PLIMP_PAGE_SHARED = 32,	   /* mapped by others, too */
	PLIMP_PAGE_FILE = 64,	   /* of a file, or shared memory */
	PLIMP_PAGE_HUGE = 128	   /* mapped as a part of a huge page */
};

/*
 * Both functions return PLIM_OK; or PLIM_ENOPROCESS where it ended, PLIM_EIMAGE
 * where it executed another program, PLIM_EREPLACED, PLIM_EDENIED,
 * PLIM_EUNSUPPORTED, PLIM_ESYSTEM, and leave their outputs as they were, or
 * undefined where they are arrays.
 */
struct plimp_reader {
	uint32_t page_bytes; /* a power of 2 */
	int has_residency;   /* 0: RESIDENT and SWAPPED are never told */

	/* One byte of enum plimp_page for each of `count` pages from `address`
	 * on, which is a multiple of the page size. Addresses that nobody has
	 * are pages that are not there. */
	int (*pages)(void *user, uint64_t address, size_t count,
		     uint8_t *pages);

	/* Copies `size` bytes, all in READABLE pages, and tells how many came:
	 * fewer, perhaps none, where one went away meanwhile. */
	int (*read)(void *user, uint64_t address, void *buffer, size_t size,
		    size_t *copied);
	void *user;
};

#endif
