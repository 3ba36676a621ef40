/*
 * decode_maps.c - a line of /proc/PID/maps: show_map_vma() in the kernel's
 * fs/proc/task_mmu.c.
 *
 * Addresses, offset and device are hexadecimal in lower case, the inode is
 * decimal, and the name begins behind as many blanks as fill 73 columns, or
 * one. It may hold blanks and any byte but a newline, which the kernel writes
 * as \012: a target names its own files, so that everything behind the inode
 * is hostile. Nothing behind the inode at all is an anonymous mapping.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <assert.h>
#include <string.h>

/* Up to 16 hexadecimal digits, lower case. */
static int maps_hex(struct plimp_scan *scan, uint64_t *value)
{
	int digits = 0;

	*value = 0;
	for (; scan->at < scan->end; scan->at++, digits++) {
		char digit = *scan->at;
		unsigned nibble;

		if (digit >= '0' && digit <= '9')
			nibble = (unsigned)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			nibble = (unsigned)(digit - 'a') + 10;
		else
			break;
		if (*value >> 60 != 0)
			return 0;
		*value = *value << 4 | nibble;
	}
	return digits > 0;
}

/* "rwxp": each its letter or "-", the last one "p" or "s". */
static int maps_permissions(struct plimp_scan *scan, uint32_t *bits)
{
	static const char letters[] = "rwx";
	int i;

	*bits = 0;
	if (scan->end - scan->at < 4)
		return 0;
	for (i = 0; i < 3; i++) {
		if (scan->at[i] == letters[i])
			*bits |= 1u << i;
		else if (scan->at[i] != '-')
			return 0;
	}
	if (scan->at[3] == 's')
		*bits |= PLIMP_MAP_SHARED;
	else if (scan->at[3] != 'p')
		return 0;
	scan->at += 4;
	return 1;
}

static int maps_device(struct plimp_scan *scan, uint64_t *device)
{
	uint64_t major, minor;

	if (!maps_hex(scan, &major) || !plimp_scan_literal(scan, ":") ||
	    !maps_hex(scan, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
		return 0;
	*device = major << 32 | minor;
	return 1;
}

int plimp_decode_map(plim_bytes line, struct plimp_map *map)
{
	struct plimp_scan scan = plimp_scan_of(line);
	struct plimp_map found;

	if (!maps_hex(&scan, &found.start) || !plimp_scan_literal(&scan, "-") ||
	    !maps_hex(&scan, &found.end) || found.start >= found.end ||
	    !plimp_scan_literal(&scan, " ") ||
	    !maps_permissions(&scan, &found.permissions) ||
	    !plimp_scan_literal(&scan, " ") ||
	    !maps_hex(&scan, &found.offset) ||
	    !plimp_scan_literal(&scan, " ") ||
	    !maps_device(&scan, &found.device) ||
	    !plimp_scan_literal(&scan, " ") ||
	    !plimp_scan_u64(&scan, &found.inode))
		return PLIM_EMALFORMED;
	if (scan.at < scan.end && *scan.at != ' ')
		return PLIM_EMALFORMED;
	while (scan.at < scan.end && *scan.at == ' ')
		scan.at++;
	found.name.data = scan.at;
	found.name.size = (size_t)(scan.end - scan.at);
	*map = found;
	return PLIM_OK;
}

size_t plimp_decode_map_name(plim_bytes name, char *buffer)
{
	size_t size = 0;
	size_t at = 0;

	while (at < name.size) {
		if (name.size - at >= 4 &&
		    !memcmp(name.data + at, "\\012", 4)) {
			buffer[size++] = '\n';
			at += 4;
		} else {
			buffer[size++] = name.data[at++];
		}
	}
	assert(size <= name.size);
	return size;
}
