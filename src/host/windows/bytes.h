/*
 * bytes.h - little-endian numbers at a place of some bytes. Who calls has
 * checked the bound.
 */
#ifndef PLIMP_WINDOWS_BYTES_H
#define PLIMP_WINDOWS_BYTES_H

#include <plimsoll/base.h>

#include <assert.h>

static inline uint64_t plimp_nt_number(plim_bytes bytes, size_t at,
				       unsigned size)
{
	uint64_t value = 0;

	assert(at <= bytes.size && size <= bytes.size - at && size <= 8);
	while (size-- > 0)
		value = value << 8 | (uint8_t)bytes.data[at + size];
	return value;
}

static inline uint16_t plimp_nt_u16(plim_bytes bytes, size_t at)
{
	return (uint16_t)plimp_nt_number(bytes, at, 2);
}

static inline uint32_t plimp_nt_u32(plim_bytes bytes, size_t at)
{
	return (uint32_t)plimp_nt_number(bytes, at, 4);
}

static inline uint64_t plimp_nt_u64(plim_bytes bytes, size_t at)
{
	return plimp_nt_number(bytes, at, 8);
}

#endif
