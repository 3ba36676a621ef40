/*
 * decode_dents.c - the entries that getdents64(2) stores.
 *
 * A record is struct linux_dirent64 of the kernel's include/linux/dirent.h: 8
 * bytes inode, 8 bytes offset, 2 bytes length of the record, 1 byte type, then
 * the name with its NUL and padding. Numbers are in the byte order of the
 * machine that recorded them. Only names that are a pid as the kernel writes
 * one are told: no sign, no leading zero.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <assert.h>
#include <string.h>

#define DENTS_LENGTH_AT 16 /* where the length of the record stands */
#define DENTS_NAME_AT	19 /* where the name begins */

/* The name as a number from 1 to 2^31 - 1, or 0. */
static int32_t dents_number(const char *name, size_t size)
{
	struct plimp_scan scan = {.at = name, .end = name + size};
	uint64_t value;

	if (!size || name[0] == '0' || !plimp_scan_u64(&scan, &value) ||
	    scan.at != scan.end || value > INT32_MAX)
		return 0;
	return (int32_t)value;
}

int plimp_decode_dents(plim_bytes records, size_t *offset, int32_t *number)
{
	size_t at = *offset;

	assert(records.data != NULL || records.size == 0);
	while (at < records.size) {
		const char *record = records.data + at;
		size_t left = records.size - at;
		uint16_t length;

		if (left <= DENTS_NAME_AT)
			return PLIM_EMALFORMED;
		memcpy(&length, record + DENTS_LENGTH_AT, sizeof(length));
		if (length <= DENTS_NAME_AT || length > left)
			return PLIM_EMALFORMED;
		const char *name = record + DENTS_NAME_AT;
		const char *end = memchr(name, 0, length - DENTS_NAME_AT);
		if (!end)
			return PLIM_EMALFORMED;
		at += length;
		assert(at <= records.size);
		int32_t found = dents_number(name, (size_t)(end - name));
		if (found) {
			*number = found;
			*offset = at;
			return 1;
		}
	}
	*offset = at;
	return 0;
}
