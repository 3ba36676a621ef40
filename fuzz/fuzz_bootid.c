/*
 * fuzz_bootid.c - any bytes as a boot id: what is taken is the same UUID when
 * it is written again, and a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <stdio.h>
#include <string.h>

static char lower(char c)
{
	return c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	uint8_t id[16], poison[16];
	char line[64];
	size_t used = 0;

	memset(poison, 0xa5, sizeof(poison));
	memset(id, 0xa5, sizeof(id));
	int result = plimp_decode_boot_id(text, id);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result) {
		PROMISE(!memcmp(id, poison, sizeof(id)));
		return 0;
	}
	for (size_t i = 0; i < sizeof(id); i++) {
		int dash = i == 4 || i == 6 || i == 8 || i == 10;
		used += (size_t)snprintf(line + used, sizeof(line) - used,
					 dash ? "-%02x" : "%02x", id[i]);
	}
	PROMISE(used == 36 && size >= 36 && size <= 37);
	for (size_t i = 0; i < used; i++)
		PROMISE(lower(text.data[i]) == line[i]);
	PROMISE(size == 36 || text.data[36] == '\n');
	return 0;
}
