/*
 * fuzz_maps.c - any bytes as a line of maps: what is told decodes to the same
 * when written as the kernel does, the name lies in the line, and a failure
 * stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void same(const struct plimp_map *map)
{
	struct plimp_map again;
	char line[160];
	int used = snprintf(
	    line, sizeof(line),
	    "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " %02" PRIx64
	    ":%02" PRIx64 " %" PRIu64 " ",
	    map->start, map->end, map->permissions & 1 ? 'r' : '-',
	    map->permissions & 2 ? 'w' : '-', map->permissions & 4 ? 'x' : '-',
	    map->permissions & 8 ? 's' : 'p', map->offset, map->device >> 32,
	    map->device & UINT32_MAX, map->inode);

	PROMISE(plimp_decode_map((plim_bytes){line, (size_t)used}, &again) ==
		PLIM_OK);
	PROMISE(again.start == map->start && again.end == map->end);
	PROMISE(again.offset == map->offset && again.device == map->device);
	PROMISE(again.inode == map->inode && again.name.size == 0);
	PROMISE(again.permissions == map->permissions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes line = {(const char *)data, size};
	struct plimp_map poison, map;
	char *name = malloc(size + 1);
	size_t length;

	memset(&poison, 0xa5, sizeof(poison));
	memcpy(&map, &poison, sizeof(map));
	length = plimp_decode_map_name(line, name);
	PROMISE(length <= size && (size - length) % 3 == 0);
	int result = plimp_decode_map(line, &map);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result == PLIM_OK) {
		PROMISE(map.start < map.end && map.permissions < 16);
		PROMISE(promise_inside(line, map.name));
		PROMISE(map.name.size == 0 || map.name.data[0] != ' ');
		same(&map);
	} else {
		PROMISE(!memcmp(&map, &poison, sizeof(map)));
	}
	free(name);
	return 0;
}
