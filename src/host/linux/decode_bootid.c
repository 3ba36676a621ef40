/*
 * decode_bootid.c - /proc/sys/kernel/random/boot_id, a UUID.
 *
 * The format is the kernel's %pU: 32 hexadecimal digits in groups of 8, 4, 4,
 * 4 and 12 with "-" between them, then a newline. The bytes are stored in the
 * order in which they are written. Capital digits are taken as well; anything
 * else is malformed.
 */
#include "host/linux/decode.h"

#include <assert.h>
#include <string.h>

#define BOOTID_SIZE 36

static int bootid_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int plimp_decode_boot_id(plim_bytes text, uint8_t id[16])
{
	uint8_t found[16];
	size_t bytes = 0;

	if (text.size != BOOTID_SIZE &&
	    !(text.size == BOOTID_SIZE + 1 && text.data[BOOTID_SIZE] == '\n'))
		return PLIM_EMALFORMED;
	for (size_t i = 0; i < BOOTID_SIZE;) {
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (text.data[i++] != '-')
				return PLIM_EMALFORMED;
			continue;
		}
		int high = bootid_digit(text.data[i]);
		int low = bootid_digit(text.data[i + 1]);
		if (high < 0 || low < 0)
			return PLIM_EMALFORMED;
		found[bytes++] = (uint8_t)(high << 4 | low);
		i += 2;
	}
	assert(bytes == sizeof(found));
	memcpy(id, found, sizeof(found));
	return PLIM_OK;
}
