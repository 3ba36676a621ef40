/*
 * image.h - ELF files for the tests of rules: those of this system, and small
 * ones that are made here of code and call frame information.
 */
#ifndef RULES_IMAGE_H
#define RULES_IMAGE_H

#include "elf/elf.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. */
struct image_bytes {
	uint8_t data[65536];
	size_t size;
};
void image_put(struct image_bytes *bytes, uint64_t value, size_t size);
void image_put_all(struct image_bytes *bytes, const void *data, size_t size);
void image_uleb(struct image_bytes *bytes, uint64_t value);
void image_sleb(struct image_bytes *bytes, int64_t value);

/* A reader over bytes; pages behind the end are not there. */
struct image {
	const uint8_t *bytes;
	size_t size;
	uint64_t base; /* address of bytes[0] */
	struct plimp_reader reader;
	struct plimp_elf elf;
	void *mapped;  /* to be unmapped, or NULL */
	uint8_t *made; /* to be freed, or NULL */
};
/* Maps a file of this system: 0, or nonzero where it is not there. */
int image_open(struct image *image, const char *path);
void image_close(struct image *image);
/* Makes the reader over bytes, size and base that are set. */
void image_over(struct image *image);

/* Where a made file has its code and its sections. */
enum {
	IMAGE_CODE = 0x1000,
	IMAGE_ENTRY = 0x1c00,
	IMAGE_CODE_SIZE = 0x10000,
	IMAGE_EH_FRAME = 0x20000, /* address */
	IMAGE_X86 = 62,
	IMAGE_ARM = 183
};
struct image_parts {
	int machine;
	const struct image_bytes *eh_frame; /* or NULL */
	const struct image_bytes *debug_frame;
	uint64_t debug_flags;	/* SHF_COMPRESSED */
	const char *debug_name; /* NULL: .debug_frame */
};
void image_make(struct image *image, const struct image_parts *parts);

/* A CIE of .eh_frame with "zR", pcrel and sdata4, or as said; the offset of it
 * in the section. `program` are its instructions. */
size_t image_cie(struct image_bytes *section, const char *augmentation,
		 const struct image_bytes *data, int data_align, int column,
		 const struct image_bytes *program);
/* x86-64's: CFA = rsp + 8, return address at CFA - 8. */
size_t image_cie_x86(struct image_bytes *section, const char *augmentation);
/* An FDE that names it, of code [start, start + size). */
size_t image_fde(struct image_bytes *section, size_t cie, uint64_t start,
		 uint64_t size, const struct image_bytes *program);

#endif
