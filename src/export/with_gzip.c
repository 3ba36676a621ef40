/*
 * with_gzip.c - the one place that compresses, by zlib, where the library has
 * it (PLIM_WITH_GZIP). zlib's memory is the caller's, too (core/sized.h).
 * The pieces of one member are some 270 KiB (zlib's zconf.h).
 */
#include "export/gzip.h"
#include "core/memory.h"
#include "core/sized.h"

#include <assert.h>
#include <string.h>

#ifdef PLIM_WITH_GZIP
#include <zlib.h>

/* 15 bits of window, 16: a gzip member in place of a zlib stream (zlib.h,
 * deflateInit2). */
#define GZIP_WINDOW   (15 + 16)
#define GZIP_MEMORY   8
#define GZIP_PIECE    8192
#define GZIP_ONE_CALL (1u << 30)

struct plimp_gzip {
	plim_allocator allocator;
	struct plimp_sink *sink;
	int plain;
	z_stream stream;
	unsigned char piece[GZIP_PIECE];
};

int plimp_gzip_is_there(void)
{
	return 1;
}

int plimp_gzip_new(struct plimp_gzip **gzip, struct plimp_sink *sink, int plain,
		   const plim_allocator *allocator)
{
	struct plimp_gzip *made = plimp_allocate(allocator, 1, sizeof *made);

	if (made == NULL)
		return PLIM_ENOMEM;
	if (allocator != NULL)
		made->allocator = *allocator;
	made->sink = sink;
	made->plain = plain;
	made->stream.zalloc = plimp_sized_take;
	made->stream.zfree = plimp_sized_release;
	made->stream.opaque = &made->allocator;
	if (!plain && deflateInit2(&made->stream, Z_DEFAULT_COMPRESSION,
				   Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
				   Z_DEFAULT_STRATEGY) != Z_OK) {
		plimp_release(allocator, made, 1, sizeof *made);
		return PLIM_ENOMEM;
	}
	*gzip = made;
	return PLIM_OK;
}

void plimp_gzip_free(struct plimp_gzip *gzip)
{
	plim_allocator allocator;

	if (gzip == NULL)
		return;
	if (!gzip->plain)
		deflateEnd(&gzip->stream);
	allocator = gzip->allocator;
	plimp_release(&allocator, gzip, 1, sizeof *gzip);
}

/* Until all of the input is taken, and at the end until all has come out. */
static void gzip_run(struct plimp_gzip *gzip, int how)
{
	int code = Z_OK;

	do {
		gzip->stream.next_out = gzip->piece;
		gzip->stream.avail_out = GZIP_PIECE;
		code = deflate(&gzip->stream, how);
		assert(code != Z_STREAM_ERROR);
		plimp_sink_put(gzip->sink, (const char *)gzip->piece,
			       GZIP_PIECE - gzip->stream.avail_out);
	} while (gzip->stream.avail_out == 0);
	assert(how != Z_FINISH || code == Z_STREAM_END);
	(void)code; /* where assertions are off */
}

void plimp_gzip_put(struct plimp_gzip *gzip, const char *data, size_t size)
{
	if (gzip->plain) {
		plimp_sink_put(gzip->sink, data, size);
		return;
	}
	while (size > 0) {
		const uInt part =
		    size < GZIP_ONE_CALL ? (uInt)size : GZIP_ONE_CALL;

		gzip->stream.next_in = (z_const Bytef *)data;
		gzip->stream.avail_in = part;
		gzip_run(gzip, Z_NO_FLUSH);
		data += part;
		size -= part;
	}
}

int plimp_gzip_finish(struct plimp_gzip *gzip)
{
	if (!gzip->plain) {
		gzip->stream.next_in = Z_NULL;
		gzip->stream.avail_in = 0;
		gzip_run(gzip, Z_FINISH);
	}
	return plimp_sink_flush(gzip->sink);
}

#else /* without zlib */

struct plimp_gzip {
	plim_allocator allocator;
	struct plimp_sink *sink;
};

int plimp_gzip_is_there(void)
{
	return 0;
}

int plimp_gzip_new(struct plimp_gzip **gzip, struct plimp_sink *sink, int plain,
		   const plim_allocator *allocator)
{
	struct plimp_gzip *made = plimp_allocate(allocator, 1, sizeof *made);

	(void)plain;
	if (made == NULL)
		return PLIM_ENOMEM;
	if (allocator != NULL)
		made->allocator = *allocator;
	made->sink = sink;
	*gzip = made;
	return PLIM_OK;
}

void plimp_gzip_free(struct plimp_gzip *gzip)
{
	plim_allocator allocator;

	if (gzip == NULL)
		return;
	allocator = gzip->allocator;
	plimp_release(&allocator, gzip, 1, sizeof *gzip);
}

void plimp_gzip_put(struct plimp_gzip *gzip, const char *data, size_t size)
{
	plimp_sink_put(gzip->sink, data, size);
}

int plimp_gzip_finish(struct plimp_gzip *gzip)
{
	return plimp_sink_flush(gzip->sink);
}

#endif
