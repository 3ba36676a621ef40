/*
 * picture.h - a process's memory that a test makes up: mappings, pages of any
 * kind, files, behind the reader and the image that the library reads.
 *
 * Pages are READABLE, RESIDENT and EXCLUSIVE until a test says otherwise. A
 * read of a page that is not READABLE fails the test: that is what would
 * disturb a live process.
 */
#ifndef TEST_PICTURE_H
#define TEST_PICTURE_H

#include "memory/image.h"

#define PICTURE_PAGE  4096u
#define PICTURE_MOST  64
#define PICTURE_FILES 4

struct picture_part {
	uint64_t start;
	uint64_t size;
	uint8_t *bytes;
	uint8_t *pages;
};

struct picture_file {
	uint64_t inode; /* of open_file; 0: by build id */
	uint8_t id[20];
	uint8_t *bytes; /* owned */
	size_t size;
};

struct picture {
	struct plimp_image image;
	struct plimp_space space;
	struct picture_part parts[PICTURE_MOST];
	size_t part_count;
	struct picture_file files[PICTURE_FILES];
	size_t file_count;
	int failure; /* every call of the reader fails with it; 0: none */
	uint64_t reads;
	uint64_t forbidden; /* pages that were read though not READABLE */
};

void picture_open(struct picture *picture, int machine);
void picture_close(struct picture *picture);

/* A mapping, zeroed, in ascending order of `start`; its bytes. */
uint8_t *picture_map(struct picture *picture, uint64_t start, uint64_t size,
		     uint32_t protection, uint64_t inode, uint64_t offset,
		     const char *name);
/* The same, as the mapping of that index. */
uint8_t *picture_insert(struct picture *picture, size_t index, uint64_t start,
			uint64_t size, uint32_t protection, uint64_t inode,
			uint64_t offset, const char *name);
/* What the pages of a range are from now on. */
void picture_kind(struct picture *picture, uint64_t start, uint64_t size,
		  uint8_t kind);

uint8_t *picture_at(struct picture *picture, uint64_t address, size_t size);
void picture_put(struct picture *picture, uint64_t address, uint64_t value);
void picture_put32(struct picture *picture, uint64_t address, uint32_t value);
void picture_put16(struct picture *picture, uint64_t address, uint16_t value);
uint64_t picture_get(struct picture *picture, uint64_t address);

/* A file of that inode; a debug file of that build id. The bytes are copied. */
void picture_add_file(struct picture *picture, uint64_t inode,
		      const uint8_t *id, const uint8_t *bytes, size_t size);

/* A reader of a buffer alone: addresses are places in it. It lives as long as
 * the buffer. */
struct picture_buffer {
	const uint8_t *bytes;
	size_t size;
};
void picture_buffer_reader(struct picture_buffer *buffer,
			   struct plimp_reader *reader);

#endif
