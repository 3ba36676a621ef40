/*
 * fuzz_meminfo.c - any bytes as /proc/meminfo: the figure stands in a line of
 * its key, digit by digit; written again it decodes to the same; a failure
 * stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>

static void try_key(plim_bytes text, const char *key)
{
	uint64_t bytes = 77, again = 0;
	char line[128];
	int result = plimp_decode_meminfo(text, key, &bytes);

	snprintf(line, sizeof(line), "%s:", key);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result) {
		PROMISE(bytes == 77);
		return;
	}
	PROMISE(bytes % 1024 == 0);
	PROMISE(promise_says(text, line, bytes / 1024));
	int used = snprintf(line, sizeof(line), "A: 1 kB\n%s:%8" PRIu64 " kB\n",
			    key, bytes / 1024);
	plim_bytes written = {line, (size_t)used};
	PROMISE(plimp_decode_meminfo(written, key, &again) == PLIM_OK);
	PROMISE(again == bytes);
	written.size--;
	PROMISE(plimp_decode_meminfo(written, key, &again) == PLIM_EMALFORMED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};

	try_key(text, "MemTotal");
	try_key(text, "SwapTotal");
	try_key(text, "HugePages_Total");
	return 0;
}
