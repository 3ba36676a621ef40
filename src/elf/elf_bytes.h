/*
 * elf_bytes.h - numbers out of little-endian bytes at any place.
 */
#ifndef PLIMP_ELF_BYTES_H
#define PLIMP_ELF_BYTES_H

#include <stdint.h>

static inline uint16_t plimp_elf_u16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t plimp_elf_u32(const uint8_t *bytes)
{
	return (uint32_t)plimp_elf_u16(bytes) |
	       (uint32_t)plimp_elf_u16(bytes + 2) << 16;
}

static inline uint64_t plimp_elf_u64(const uint8_t *bytes)
{
	return (uint64_t)plimp_elf_u32(bytes) |
	       (uint64_t)plimp_elf_u32(bytes + 4) << 32;
}

#endif
