/*
 * fuzz_wchan.c - any bytes as /proc/PID/task/TID/wchan: a name is the text
 * but for a newline, and safe to show anywhere; "0" is none; a failure stores
 * nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	plim_bytes poison = {(const char *)&poison, 1};
	plim_bytes name = poison;
	char escaped[PLIMP_WCHAN_SIZE + 2];
	int result = plimp_decode_wchan(text, &name);

	PROMISE(result == 1 || result == 0 || result == PLIM_EMALFORMED);
	if (result != 1) {
		PROMISE(name.data == poison.data && name.size == poison.size);
		PROMISE(result || (size >= 1 && size <= 2 && data[0] == '0'));
		return 0;
	}
	PROMISE(name.data == text.data && name.size > 0);
	PROMISE(name.size == size ||
		(name.size == size - 1 && data[size - 1] == '\n'));
	PROMISE(name.size > 1 || name.data[0] != '0');
	PROMISE(plim_escape(PLIM_ESCAPE_JSON, name, escaped, sizeof(escaped)) ==
		name.size);
	PROMISE(!memcmp(escaped, name.data, name.size));
	return 0;
}
