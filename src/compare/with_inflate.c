/*
 * with_inflate.c - a file that gzip compressed, by zlib where the library was
 * built with it (PLIM_WITH_GZIP). Members that follow each other are one file
 * (RFC 1952, 2.2). The room for the result grows with it up to a limit, so
 * that a small file that inflates to a large one costs no more than that.
 * zlib's memory is the caller's, too (core/sized.h).
 */
#include "compare/stored.h"

#include "core/memory.h"
#include "core/sized.h"

#ifdef PLIM_WITH_GZIP

#include <limits.h>
#include <string.h>
#include <zlib.h>

/* 15 bits of window, 16: a gzip member (zlib.h, inflateInit2). */
#define UNPACK_WINDOW (15 + 16)
#define UNPACK_START  65536

struct unpack {
	const plim_allocator *allocator;
	z_stream stream;
	char *data;
	size_t size;
	size_t capacity;
	size_t limit;
};

static int unpack_room(struct unpack *unpack)
{
	void *data = unpack->data;
	int code;

	if (unpack->size < unpack->capacity)
		return PLIM_OK;
	if (unpack->size >= unpack->limit)
		return PLIM_ELIMIT;
	code = plimp_reserve(unpack->allocator, &data, &unpack->capacity,
			     unpack->size + 1, UNPACK_START, 1);
	unpack->data = data;
	return code;
}

/* All members; the stream has all of the input. */
static int unpack_run(struct unpack *unpack)
{
	for (;;) {
		uInt part;
		int result;
		int code = unpack_room(unpack);

		if (code != PLIM_OK)
			return code;
		part = (uInt)(unpack->capacity - unpack->size);
		unpack->stream.next_out = (Bytef *)unpack->data + unpack->size;
		unpack->stream.avail_out = part;
		result = inflate(&unpack->stream, Z_NO_FLUSH);
		unpack->size += part - unpack->stream.avail_out;
		if (result == Z_MEM_ERROR)
			return PLIM_ENOMEM;
		if (result == Z_STREAM_END) {
			if (unpack->stream.avail_in == 0)
				return PLIM_OK;
			if (inflateReset(&unpack->stream) != Z_OK)
				return PLIM_ESYNTAX;
		} else if (result != Z_OK || (unpack->stream.avail_in == 0 &&
					      unpack->stream.avail_out > 0)) {
			return PLIM_ESYNTAX;
		}
	}
}

int plimp_stored_inflate(plim_bytes from, size_t limit, char **data,
			 size_t *size, size_t *capacity,
			 const plim_allocator *allocator)
{
	plim_allocator copy = {NULL, NULL};
	struct unpack unpack = {.allocator = &copy, .limit = limit};
	int code;

	if (from.size > limit || limit > UINT_MAX / 2)
		return PLIM_ELIMIT;
	if (allocator != NULL)
		copy = *allocator;
	unpack.stream.zalloc = plimp_sized_take;
	unpack.stream.zfree = plimp_sized_release;
	unpack.stream.opaque = &copy;
	unpack.stream.next_in = (z_const Bytef *)from.data;
	unpack.stream.avail_in = (uInt)from.size;
	if (inflateInit2(&unpack.stream, UNPACK_WINDOW) != Z_OK)
		return PLIM_ENOMEM;
	code = unpack_run(&unpack);
	inflateEnd(&unpack.stream);
	if (code == PLIM_OK && unpack.size > limit)
		code = PLIM_ELIMIT;
	if (code != PLIM_OK) {
		plimp_release(&copy, unpack.data, unpack.capacity, 1);
		return code;
	}
	*data = unpack.data;
	*size = unpack.size;
	*capacity = unpack.capacity;
	return PLIM_OK;
}

#else /* without zlib */

int plimp_stored_inflate(plim_bytes from, size_t limit, char **data,
			 size_t *size, size_t *capacity,
			 const plim_allocator *allocator)
{
	(void)from;
	(void)limit;
	(void)data;
	(void)size;
	(void)capacity;
	(void)allocator;
	return PLIM_EUNSUPPORTED;
}

#endif
