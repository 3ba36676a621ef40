/*
 * mac_bytes.h - answers of macOS, put together byte by byte at the offsets of
 * layout.h, so that no test depends on how this machine lays out numbers. All
 * are synthetic; layout_check.c ties the offsets to Apple's headers.
 */
#ifndef DECODE_MAC_BYTES_H
#define DECODE_MAC_BYTES_H

#include "host/macos/decode.h"

#include <stddef.h>
#include <string.h>

static inline void mac_put(char *bytes, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[at + i] = (char)(value >> (8 * i) & 0xff);
}

#define MAC_PUT(bytes, type, member, value)                  \
	mac_put(bytes, offsetof(struct type, member), value, \
		sizeof(((struct type *)0)->member))

#endif
