/*
 * sections.h - where a module's call frame information is, and its bytes.
 */
#ifndef PLIMP_SECTIONS_H
#define PLIMP_SECTIONS_H

#include "elf/elf.h"
#include "unwind/cfi.h"

#include <plimsoll/base.h>

/* The bytes of one section; of an image in memory the header's table as well,
 * which then says what functions there are. */
struct plimp_section {
	struct plimp_cfi cfi;
	uint8_t *bytes; /* what cfi.bytes is in; to be released */
	size_t room;
	uint8_t *header; /* .eh_frame_hdr, from its table on */
	size_t header_size;
	uint64_t header_address;
	unsigned header_encoding;
	uint64_t header_count;
};
void plimp_section_release(struct plimp_section *section,
			   const plim_allocator *allocator);

/* PLIM_ENAME: there is none. PLIM_EMALFORMED, PLIM_ELIMIT, PLIM_ENOMEM, or
 * what the reader failed with. */
int plimp_section_eh_frame(const struct plimp_elf *elf,
			   const plim_allocator *allocator,
			   struct plimp_section *section);
/* The same of .debug_frame, and of .zdebug_frame; PLIM_EUNSUPPORTED where it
 * is compressed, and this build cannot take it apart. */
int plimp_section_debug_frame(const struct plimp_elf *elf,
			      const plim_allocator *allocator,
			      struct plimp_section *section);

/*
 * Inflates a zlib stream into exactly `size` bytes (with_gzip.c, or its stand-
 * in). PLIM_EMALFORMED, PLIM_ENOMEM, PLIM_EUNSUPPORTED.
 */
int plimp_section_inflate(const uint8_t *from, size_t from_size, uint8_t *to,
			  size_t size, const plim_allocator *allocator);

#endif
