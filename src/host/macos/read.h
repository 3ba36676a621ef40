/*
 * read.h - little-endian numbers at an offset that layout.h has, and texts in
 * a field that need not be ended by a NUL. Who calls has seen to it that the
 * bytes hold the whole structure.
 */
#ifndef PLIMP_MACOS_READ_H
#define PLIMP_MACOS_READ_H

#include <plimsoll/base.h>

#include <assert.h>
#include <string.h>

static inline uint64_t plimp_mac_number(plim_bytes bytes, size_t offset,
					size_t size)
{
	uint64_t number = 0;

	assert(size <= sizeof number && offset <= bytes.size &&
	       size <= bytes.size - offset);
	while (size > 0)
		number = number << 8 | (uint8_t)bytes.data[offset + --size];
	return number;
}

#define PLIMP_MAC_U64(bytes, type, member) \
	plimp_mac_number(bytes, offsetof(struct type, member), 8)
#define PLIMP_MAC_U32(bytes, type, member) \
	((uint32_t)plimp_mac_number(bytes, offsetof(struct type, member), 4))

/* Up to a NUL, or the whole field. */
static inline plim_bytes plimp_mac_field(plim_bytes bytes, size_t offset,
					 size_t size)
{
	const char *start = bytes.data + offset;
	const char *end;

	assert(offset <= bytes.size && size <= bytes.size - offset);
	end = memchr(start, '\0', size);
	return (plim_bytes){start, end != NULL ? (size_t)(end - start) : size};
}

#endif
