/*
 * image.h - the memory of a process as the walks of allocators see it: bytes
 * and pages through a reader, the mappings, the files behind them. It is of a
 * live process, of a core file, or made up by a test.
 *
 * Small reads, which follow pointers, go through a window; a walk along many
 * megabytes goes through a span. Both ask what a page is before they read it,
 * and read nothing that is not READABLE: that would map the zero page, or swap
 * something in, in somebody else's process. What is not readable is *unknown*,
 * which is an answer of its own and never a zero.
 *
 * All that comes out of an image is hostile, and may change between two reads.
 */
#ifndef PLIMP_IMAGE_H
#define PLIMP_IMAGE_H

#include "core/reader.h"
#include "host/target.h"

struct plimp_image {
	const plim_allocator *allocator;
	struct plimp_reader reader;
	const struct plimp_space *space; /* the mappings; borrowed */
	int machine; /* ELF e_machine: 62 x86-64, 183 aarch64 */
	/* The file that is mapped there: ELF headers, symbols. PLIM_OK,
	 * PLIM_EUNSUPPORTED where it is not to be had, PLIM_EDENIED, or another
	 * error. NULL: there are no files. */
	int (*open_file)(void *user, const struct plimp_mapping *mapping,
			 struct plimp_file *file);
	/* The debug file that has this build id; likewise. */
	int (*open_debug)(void *user, const uint8_t *id, size_t size,
			  struct plimp_file *file);
	void (*close_file)(void *user, struct plimp_file *file);
	void *user;
};

/* What reading an address gave. Errors of the reader are negative. */
enum plimp_reach {
	PLIMP_REACHED = 0,  /* the bytes are there */
	PLIMP_UNREACHED = 1 /* a page of it is absent or swapped: unknown */
};

/* Pages are 4 to 64 KiB; an image with others is refused. */
#define PLIMP_PAGE_LEAST 4096u
#define PLIMP_PAGE_MOST	 65536u

/* Pages that a window keeps; a power of 2. */
#define PLIMP_WINDOW_PAGES 256u

/*
 * A window: the last pages that were read, found again by their number. What
 * it keeps is as old as the first read of it; plimp_window_forget() begins
 * anew. Its work is bounded by who uses it: `loads` counts the pages that were
 * read, each of which cost the target two short calls at most.
 */
struct plimp_window {
	const struct plimp_image *image;
	uint8_t *bytes;	 /* PLIMP_WINDOW_PAGES pages */
	uint64_t *pages; /* the address of each page, 0 none, 1 less than it
			  * where it is known to be unreachable */
	uint64_t loads;
};

/* PLIM_ENOMEM, or PLIM_EUNSUPPORTED for a page size out of range; the window
 * is then as it was. The image must outlive it. */
int plimp_window_open(struct plimp_window *window,
		      const struct plimp_image *image);
/* A zeroed window is allowed. */
void plimp_window_close(struct plimp_window *window);
void plimp_window_forget(struct plimp_window *window);

/*
 * Copies `size` bytes from `address`. PLIMP_REACHED; PLIMP_UNREACHED if not
 * all of it is readable, or the range wraps; or the reader's error. `buffer`
 * is undefined unless it is PLIMP_REACHED.
 */
int plimp_window_read(struct plimp_window *window, uint64_t address,
		      void *buffer, size_t size);
/* One little-endian word of 8, 4 or 2 bytes, likewise. */
int plimp_window_u64(struct plimp_window *window, uint64_t address,
		     uint64_t *value);
int plimp_window_u32(struct plimp_window *window, uint64_t address,
		     uint32_t *value);
int plimp_window_u16(struct plimp_window *window, uint64_t address,
		     uint16_t *value);

/* Pages of which a map knows what they are, at a time: few, since the target
 * cannot map or unmap anything while it is asked, some 40 ns a page. */
#define PLIMP_RESIDENCY_PAGES 512u

/* What pages are, asked for in runs ahead. */
struct plimp_residency {
	const struct plimp_image *image;
	uint64_t start; /* what is known: pages from here */
	size_t count;	/* so many */
	uint64_t asked; /* pages, in all */
	uint8_t pages[PLIMP_RESIDENCY_PAGES];
};

void plimp_residency_init(struct plimp_residency *residency,
			  const struct plimp_image *image);
/* What the page that begins at `page` is, into `*flags` (enum plimp_page);
 * asks for pages from there up to `end` if it does not know. PLIM_OK or the
 * reader's error. */
int plimp_residency_at(struct plimp_residency *residency, uint64_t page,
		       uint64_t end, uint8_t *flags);

/* Bytes that a span holds at most. */
#define PLIMP_SPAN_BYTES 65536u

/*
 * A span: one run of readable bytes of a range that is walked upwards. It
 * grows to PLIMP_SPAN_BYTES where nearly every page is used, and shrinks to
 * one page where most are jumped over.
 */
struct plimp_span {
	const struct plimp_image *image;
	struct plimp_residency *residency;
	uint8_t *bytes;
	uint64_t start; /* of what is held */
	size_t size;
	size_t want; /* bytes to read next time */
	uint64_t uses;
	uint64_t loads;
};

int plimp_span_open(struct plimp_span *span, const struct plimp_image *image,
		    struct plimp_residency *residency);
void plimp_span_close(struct plimp_span *span);
/* Forgets what is held, not what was learnt. */
void plimp_span_forget(struct plimp_span *span);

/*
 * Makes the `size` bytes (at most a page) from `address` addressable, which
 * end at or below `end`: a pointer to them in `*bytes`, valid until the next
 * call. PLIMP_REACHED, PLIMP_UNREACHED, or the reader's error.
 */
int plimp_span_load(struct plimp_span *span, uint64_t address, size_t size,
		    uint64_t end, const uint8_t **bytes);

static inline int plimp_span_at(struct plimp_span *span, uint64_t address,
				size_t size, uint64_t end,
				const uint8_t **bytes)
{
	uint64_t offset = address - span->start;

	if (address >= span->start && offset < span->size &&
	    span->size - offset >= size) {
		span->uses++;
		*bytes = span->bytes + offset;
		return PLIMP_REACHED;
	}
	return plimp_span_load(span, address, size, end, bytes);
}

/* Little-endian words of bytes that need no alignment. Every machine of the
 * tables is little-endian; which one we run on does not matter. */
static inline uint64_t plimp_word64(const uint8_t *bytes)
{
	return (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 |
	       (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24 |
	       (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
	       (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;
}

static inline uint32_t plimp_word32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
	       (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint16_t plimp_word16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

/*
 * src/memory/glibc_walk.c: walks the heaps of glibc's malloc that was found at
 * `place`, and fills `heap`, whose kind is PLIM_HEAP_OF_GLIBC: figures, arenas,
 * hostages, checks; depth WALKED, or REFUSED with the reason. An error is
 * PLIM_ENOMEM or one of the reader's, and leaves the heap refused or half
 * filled: who gets it throws the heap away.
 */
struct plimp_glibc_place;
struct plim_heap;
int plimp_glibc_walk(const struct plimp_image *image,
		     const struct plimp_glibc_place *place,
		     struct plim_heap *heap, plim_error *error);

#endif
