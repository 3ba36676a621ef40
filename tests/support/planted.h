/*
 * planted.h - the memory of a process that a test made up, behind the reader
 * that walks use.
 *
 * Areas of bytes at any address, each page with what it is. The reader counts
 * what it was asked for, and notes the one thing that no walk may do: to read a
 * page that is not readable. It stands apart from the lens of a live process,
 * so that a fault of one does not hide in the other. Used by tests and fuzz
 * targets; it knows nothing of either.
 */
#ifndef PLANTED_H
#define PLANTED_H

#include "memory/image.h"

#define PLANTED_AREAS 16
#define PLANTED_PAGE  4096u
#define PLANTED_USUAL \
	(PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_EXCLUSIVE)

struct planted_area {
	uint64_t address;
	size_t size;
	uint8_t *bytes;
	uint8_t *pages; /* enum plimp_page of each */
};

struct planted {
	struct planted_area areas[PLANTED_AREAS];
	struct plimp_mapping mappings[PLANTED_AREAS];
	char names[PLANTED_AREAS * 32];
	size_t count;
	struct plimp_space space;
	plim_allocator allocator;
	uint64_t page_calls;
	uint64_t read_calls;
	uint64_t bytes_read;
	uint64_t most_read; /* by one call */
	int violated;	    /* a page was read that is not readable */
	int fail_after;	    /* calls until `fail_code` is answered; -1: never */
	int fail_code;
};

void planted_begin(struct planted *planted);
void planted_end(struct planted *planted);

/* Adds an area of zeros, whose pages are PLANTED_USUAL, above all others, and
 * its mapping: readable, writable and private. Address and size are whole
 * pages, the name is at most 31 bytes. Returns its bytes. */
uint8_t *planted_add(struct planted *planted, uint64_t address, size_t size,
		     const char *name);

/* Where the address is in an area, or NULL. */
uint8_t *planted_at(struct planted *planted, uint64_t address);
/* What the page is from now on. */
void planted_page(struct planted *planted, uint64_t address, unsigned flags);

void planted_u64(struct planted *planted, uint64_t address, uint64_t value);
void planted_u32(struct planted *planted, uint64_t address, uint32_t value);
void planted_u16(struct planted *planted, uint64_t address, uint16_t value);

/* An image of it; borrowed. */
void planted_image(struct planted *planted, struct plimp_image *image);

#endif
