/*
 * picture_glibc.c - a made-up process that uses glibc's malloc.
 */
#include "picture_glibc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LIBC_TEXT = 0x4000,
	LIBC_DATA = 0x2000,
	LIBC_BSS = 0x1000,
	HEAP_BYTES = 0x21000,
	THREAD_BYTES = 0x21000,
	FILE_BYTES = LIBC_TEXT + LIBC_DATA
};

static const uint8_t build_id[20] = "picture of a glibc.";

static void put_le(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static void put_segment(uint8_t *to, uint32_t type, uint32_t flags,
			uint64_t offset, uint64_t size)
{
	put_le(to, type, 4);
	put_le(to + 4, flags, 4);
	put_le(to + 8, offset, 8);
	put_le(to + 16, offset, 8);
	put_le(to + 32, size, 8);
	put_le(to + 40, size, 8);
	put_le(to + 48, 4096, 8);
}

/* The header, text and data, a note with the build id, an interpreter unless
 * it is static. Addresses are offsets. */
static void put_module(uint8_t *file, int machine, int is_static)
{
	memcpy(file, "\177ELF\2\1\1", 7);
	put_le(file + 16, 3, 2);
	put_le(file + 18, (uint64_t)machine, 2);
	put_le(file + 20, 1, 4);
	put_le(file + 32, 64, 8);
	put_le(file + 54, 56, 2);
	put_le(file + 56, is_static ? 3 : 4, 2);
	put_le(file + 58, 64, 2);
	put_segment(file + 64, 1, 5, 0, LIBC_TEXT);
	put_segment(file + 64 + 56, 1, 6, LIBC_TEXT, LIBC_DATA);
	put_segment(file + 64 + 112, 4, 4, 0x300, 36);
	if (!is_static)
		put_segment(file + 64 + 168, 3, 4, 0x400, 8);
	put_le(file + 0x300, 4, 4);
	put_le(file + 0x304, 20, 4);
	put_le(file + 0x308, 3, 4);
	memcpy(file + 0x30c, "GNU", 4);
	memcpy(file + 0x310, build_id, 20);
}

static void put_section(uint8_t *to, uint32_t type, uint64_t offset,
			uint64_t size, uint32_t link, uint64_t entry)
{
	put_le(to + 4, type, 4);
	put_le(to + 24, offset, 8);
	put_le(to + 32, size, 8);
	put_le(to + 40, link, 4);
	put_le(to + 56, entry, 8);
}

/* The debug file: the module's own header, and the two symbols behind it. */
static void add_debug(struct picture_glibc *glibc, const uint8_t *file)
{
	static const char names[] = "\0main_arena\0mp_";
	uint8_t *debug = calloc(1, 0x2000);

	if (!debug)
		abort();
	memcpy(debug, file, 0x1000);
	put_le(debug + 40, 0x1000, 8);
	put_le(debug + 60, 4, 2);
	put_section(debug + 0x1040, 2, 0x1200, 72, 2, 24);
	put_section(debug + 0x1080, 3, 0x1300, sizeof(names), 0, 0);
	put_section(debug + 0x10c0, 7, 0x300, 36, 0, 0);
	memcpy(debug + 0x1300, names, sizeof(names));
	put_le(debug + 0x1200 + 24, 1, 4);
	put_le(debug + 0x1200 + 30, 3, 2);
	put_le(debug + 0x1200 + 32, PICTURE_ARENA - PICTURE_LIBC, 8);
	put_le(debug + 0x1200 + 48, 12, 4);
	put_le(debug + 0x1200 + 54, 3, 2);
	put_le(debug + 0x1200 + 56, PICTURE_MP - PICTURE_LIBC, 8);
	picture_add_file(&glibc->picture, 0, build_id, debug, 0x2000);
	free(debug);
}

static void map_libc(struct picture_glibc *glibc, const char *version,
		     unsigned how)
{
	const char *name =
	    how & PICTURE_STATIC ? "/bin/program" : "/lib/x86_64/libc.so.6";
	struct picture *picture = &glibc->picture;
	uint8_t *file = calloc(1, FILE_BYTES);
	uint8_t *text, *data;

	if (!file)
		abort();
	put_module(file, glibc->layout->machine, how & PICTURE_STATIC);
	if (how & PICTURE_STATIC)
		memcpy(file + 0x2000, "glibc.malloc.check", 19);
	else
		snprintf((char *)file + 0x2000, 100,
			 "GNU C Library (a picture) stable release version "
			 "%s.\n",
			 version);
	text = picture_map(picture, PICTURE_LIBC, LIBC_TEXT,
			   PLIMP_MAY_READ | PLIMP_MAY_EXECUTE, PICTURE_INODE, 0,
			   name);
	memcpy(text, file, LIBC_TEXT);
	data = picture_map(picture, PICTURE_DATA, LIBC_DATA,
			   PLIMP_MAY_READ | PLIMP_MAY_WRITE, PICTURE_INODE,
			   LIBC_TEXT, name);
	memcpy(data, file + LIBC_TEXT, LIBC_DATA);
	picture_map(picture, PICTURE_DATA + LIBC_DATA, LIBC_BSS,
		    PLIMP_MAY_READ | PLIMP_MAY_WRITE, 0, 0, "");
	if (!(how & PICTURE_NO_FILE))
		picture_add_file(picture, PICTURE_INODE, NULL, file,
				 FILE_BYTES);
	if (how & PICTURE_SYMBOLS)
		add_debug(glibc, file);
	free(file);
}

void picture_state(struct picture_glibc *glibc, uint64_t arena, uint16_t offset,
		   uint64_t value)
{
	picture_put(&glibc->picture, arena + offset, value);
}

void picture_mp(struct picture_glibc *glibc, uint16_t offset, uint64_t value)
{
	picture_put(&glibc->picture, PICTURE_MP + offset, value);
}

/* As ptmalloc_init() leaves it: empty bins, top of no bytes. */
static void init_state(struct picture_glibc *glibc, uint64_t arena)
{
	const struct plimp_glibc_layout *layout = glibc->layout;
	const uint64_t bins = arena + layout->bins;

	for (uint64_t i = 0; i < PLIMP_GLIBC_BINS; i++) {
		picture_put(&glibc->picture, bins + 16 * i, bins + 16 * i - 16);
		picture_put(&glibc->picture, bins + 16 * i + 8,
			    bins + 16 * i - 16);
	}
	picture_state(glibc, arena, layout->top, bins - 16);
	picture_state(glibc, arena, layout->next, arena);
	picture_state(glibc, arena, layout->attached_threads, 1);
}

static void set_top(struct picture_glibc *glibc, uint64_t arena, uint64_t top,
		    uint64_t size)
{
	picture_state(glibc, arena, glibc->layout->top, top);
	picture_put(&glibc->picture, top + 8, size | PLIMP_GLIBC_PREV_INUSE);
}

static void init_mp(struct picture_glibc *glibc)
{
	const struct plimp_glibc_layout *layout = glibc->layout;
	const int slots = layout->tcache_counts == PLIMP_GLIBC_SLOTS;

	picture_mp(glibc, layout->mp_trim_threshold, 131072);
	picture_mp(glibc, layout->mp_top_pad, 131072);
	picture_mp(glibc, layout->mp_mmap_threshold, 131072);
	picture_mp(glibc, layout->mp_arena_test, 8);
	picture_put32(&glibc->picture, PICTURE_MP + layout->mp_n_mmaps_max,
		      65536);
	picture_mp(glibc, layout->mp_tcache_bins, 64);
	picture_mp(glibc, layout->mp_tcache_max_bytes,
		   layout->is_mmapped_like_normal ? 1041 : 1032);
	picture_mp(glibc, layout->mp_tcache_count,
		   slots && layout->is_mmapped_like_normal ? 16 : 7);
}

static void init_main(struct picture_glibc *glibc, unsigned how)
{
	const struct plimp_glibc_layout *layout = glibc->layout;

	if (how & PICTURE_RAW) {
		picture_state(glibc, PICTURE_ARENA, layout->next,
			      PICTURE_ARENA);
		picture_state(glibc, PICTURE_ARENA, layout->attached_threads,
			      1);
		return;
	}
	init_state(glibc, PICTURE_ARENA);
	if (how & PICTURE_NO_BREAK)
		return;
	glibc->brk = PICTURE_HEAP + HEAP_BYTES;
	set_top(glibc, PICTURE_ARENA, PICTURE_HEAP, HEAP_BYTES);
	picture_state(glibc, PICTURE_ARENA, layout->system_mem, HEAP_BYTES);
	picture_state(glibc, PICTURE_ARENA, layout->max_system_mem, HEAP_BYTES);
	picture_mp(glibc, layout->mp_sbrk_base, PICTURE_HEAP);
}

void picture_glibc_open(struct picture_glibc *glibc,
			const struct plimp_glibc_layout *layout,
			const char *version, unsigned how, unsigned heaps)
{
	char first[16];

	*glibc = (struct picture_glibc){.layout = layout};
	picture_open(&glibc->picture, layout->machine);
	snprintf(first, sizeof(first), "2.%d", layout->first_minor);
	if (!(how & (PICTURE_NO_BREAK | PICTURE_RAW)))
		picture_map(&glibc->picture, PICTURE_HEAP, HEAP_BYTES,
			    PLIMP_MAY_READ | PLIMP_MAY_WRITE, 0, 0, "[heap]");
	for (unsigned i = 0; i < heaps; i++)
		picture_map(&glibc->picture,
			    PICTURE_HEAPS + (uint64_t)i * layout->heap_bytes,
			    THREAD_BYTES, PLIMP_MAY_READ | PLIMP_MAY_WRITE, 0,
			    0, "");
	map_libc(glibc, version ? version : first, how);
	init_mp(glibc);
	init_main(glibc, how);
}

void picture_glibc_close(struct picture_glibc *glibc)
{
	picture_close(&glibc->picture);
}

uint64_t picture_thread(struct picture_glibc *glibc)
{
	const struct plimp_glibc_layout *layout = glibc->layout;
	struct picture *picture = &glibc->picture;
	uint64_t heap =
	    PICTURE_HEAPS + (uint64_t)glibc->threads++ * layout->heap_bytes;
	uint64_t arena = heap + layout->heap_info_size;
	uint64_t top = (arena + layout->state_size + 15) & ~(uint64_t)15;

	picture_put(picture, heap, arena);
	picture_put(picture, heap + layout->heap_size, THREAD_BYTES);
	picture_put(picture, heap + layout->heap_mprotect_size, THREAD_BYTES);
	if (layout->heap_pagesize != PLIMP_GLIBC_NONE)
		picture_put(picture, heap + layout->heap_pagesize, 4096);
	init_state(glibc, arena);
	set_top(glibc, arena, top, heap + THREAD_BYTES - top);
	picture_put32(picture, arena + layout->flags, 2);
	picture_state(glibc, arena, layout->system_mem, THREAD_BYTES);
	picture_state(glibc, arena, layout->max_system_mem, THREAD_BYTES);
	picture_state(glibc, arena, layout->next,
		      picture_get(picture, PICTURE_ARENA + layout->next));
	picture_state(glibc, PICTURE_ARENA, layout->next, arena);
	return arena;
}

uint64_t picture_chunk(struct picture_glibc *glibc, uint64_t arena,
		       uint64_t size)
{
	struct picture *picture = &glibc->picture;
	uint64_t top = picture_get(picture, arena + glibc->layout->top);
	uint64_t left = picture_get(picture, top + 8) & ~(uint64_t)7;
	uint64_t flag =
	    arena == PICTURE_ARENA ? 0 : (uint64_t)PLIMP_GLIBC_NON_MAIN;

	if (left < size + 32)
		return 0;
	picture_put(picture, top + 8, size | PLIMP_GLIBC_PREV_INUSE | flag);
	set_top(glibc, arena, top + size, left - size);
	return top;
}

uint64_t picture_cache(struct picture_glibc *glibc, uint64_t arena)
{
	const struct plimp_glibc_layout *layout = glibc->layout;
	uint64_t chunk =
	    picture_chunk(glibc, arena, (layout->tcache_size + 23u) & ~15u);
	unsigned bins = layout->tcache_small + layout->tcache_large;

	if (layout->tcache_counts == PLIMP_GLIBC_SLOTS)
		for (unsigned i = 0; i < bins; i++)
			picture_put16(&glibc->picture, chunk + 16 + 2 * i,
				      layout->is_mmapped_like_normal ? 16 : 7);
	return chunk + 16;
}

/* The bin is that of the size; links and keys as tcache_put() leaves them. */
void picture_cache_put(struct picture_glibc *glibc, uint64_t cache,
		       uint64_t chunk)
{
	const struct plimp_glibc_layout *layout = glibc->layout;
	struct picture *picture = &glibc->picture;
	uint64_t size = picture_get(picture, chunk + 8) & ~(uint64_t)7;
	uint64_t bin = (size - 32) / 16;
	uint64_t head = cache + layout->tcache_entries + 8 * bin;
	uint64_t next = picture_get(picture, head);
	uint8_t *count = picture_at(
	    picture,
	    cache +
		(layout->tcache_counts == PLIMP_GLIBC_BYTES ? bin : 2 * bin),
	    1);

	if (layout->is_mangled)
		next ^= (chunk + 16) >> 12;
	picture_put(picture, chunk + 16, next);
	if (layout->tcache_key != PLIMP_GLIBC_NO_KEY)
		picture_put(picture, chunk + 24,
			    layout->tcache_key == PLIMP_GLIBC_ADDRESS
				? cache
				: 0x9e3779b97f4a7c15u);
	picture_put(picture, head, chunk + 16);
	*count =
	    (uint8_t)(layout->tcache_counts == PLIMP_GLIBC_SLOTS ? *count - 1
								 : *count + 1);
}
