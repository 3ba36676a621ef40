/*
 * picture_glibc.h - a made-up process that uses glibc's malloc, laid out as a
 * row of the table has it: libc's file, the main arena in [heap], arenas of
 * threads in heaps of their own.
 *
 * Chunks are cut off the top of an arena, so that a test knows each of them.
 */
#ifndef TEST_PICTURE_GLIBC_H
#define TEST_PICTURE_GLIBC_H

#include "picture.h"

#include "memory/glibc.h"

/* Where things are, unless a test has moved them. */
#define PICTURE_HEAP  0x555555560000u /* [heap] */
#define PICTURE_LIBC  0x7f0000000000u /* libc.so.6: text, data, .bss */
#define PICTURE_DATA  (PICTURE_LIBC + 0x4000u)
#define PICTURE_ARENA (PICTURE_DATA + 0xac0u) /* main_arena */
#define PICTURE_MP    (PICTURE_DATA + 0x180u) /* mp_ */
#define PICTURE_HEAPS 0x7e0000000000u /* heaps of threads, 64 MiB apart */
#define PICTURE_INODE 77

struct picture_glibc {
	struct picture picture;
	const struct plimp_glibc_layout *layout;
	uint64_t brk; /* end of [heap] */
	unsigned threads;
};

/* What makes a process another one than the plain one: bits. */
enum picture_how {
	PICTURE_NO_FILE = 1,  /* libc's file is gone: pages alone */
	PICTURE_STATIC = 2,   /* a static program, without a version line */
	PICTURE_RAW = 4,      /* malloc was never used */
	PICTURE_NO_BREAK = 8, /* main arena without memory of the break */
	PICTURE_SYMBOLS = 16  /* libc's debug file is there */
};

/*
 * A process of one thread. `version` is what the line of libc says, NULL: the
 * row's first release. `heaps` threads follow with picture_thread(), whose
 * heaps lie below libc: they are mapped first, empty.
 */
void picture_glibc_open(struct picture_glibc *glibc,
			const struct plimp_glibc_layout *layout,
			const char *version, unsigned how, unsigned heaps);
void picture_glibc_close(struct picture_glibc *glibc);

/* An arena in the next of the heaps, behind main_arena in the ring. Its
 * address. */
uint64_t picture_thread(struct picture_glibc *glibc);

/* A chunk of that size (a multiple of 16, from 32 on) off the arena's top, in
 * use; its address (16 before the user's). 0: top is too small. */
uint64_t picture_chunk(struct picture_glibc *glibc, uint64_t arena,
		       uint64_t size);

/* The cache of the first thread, which has to be the arena's first chunk; the
 * address of its record. */
uint64_t picture_cache(struct picture_glibc *glibc, uint64_t arena);
/* Puts a chunk in use into that cache. */
void picture_cache_put(struct picture_glibc *glibc, uint64_t cache,
		       uint64_t chunk);

/* A word of the arena or of mp_, by the row's offset. */
void picture_state(struct picture_glibc *glibc, uint64_t arena, uint16_t offset,
		   uint64_t value);
void picture_mp(struct picture_glibc *glibc, uint16_t offset, uint64_t value);

#endif
