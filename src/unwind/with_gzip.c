/*
 * with_gzip.c - inflating compressed sections, by zlib where the build has it
 * (-Dgzip); where it has not, they are unsupported, and told as that. zlib's
 * memory is the caller's, too (core/sized.h).
 */
#include "unwind/sections.h"

#if defined(PLIM_WITH_GZIP)

#include "core/sized.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

int plimp_section_inflate(const uint8_t *from, size_t from_size, uint8_t *to,
			  size_t size, const plim_allocator *allocator)
{
	plim_allocator copy = {NULL, NULL};
	z_stream stream;
	int result;

	if (from_size > UINT_MAX || size > UINT_MAX)
		return PLIM_ELIMIT;
	if (allocator)
		copy = *allocator;
	memset(&stream, 0, sizeof(stream));
	stream.zalloc = plimp_sized_take;
	stream.zfree = plimp_sized_release;
	stream.opaque = &copy;
	stream.next_in = (Bytef *)from; /* it is only read */
	stream.avail_in = (uInt)from_size;
	stream.next_out = to;
	stream.avail_out = (uInt)size;
	if (inflateInit(&stream) != Z_OK)
		return PLIM_ENOMEM;
	result = inflate(&stream, Z_FINISH);
	inflateEnd(&stream);
	if (result == Z_MEM_ERROR)
		return PLIM_ENOMEM;
	return result == Z_STREAM_END && stream.total_out == size
		   ? PLIM_OK
		   : PLIM_EMALFORMED;
}

#else

int plimp_section_inflate(const uint8_t *from, size_t from_size, uint8_t *to,
			  size_t size, const plim_allocator *allocator)
{
	(void)from;
	(void)from_size;
	(void)to;
	(void)size;
	(void)allocator;
	return PLIM_EUNSUPPORTED;
}

#endif
