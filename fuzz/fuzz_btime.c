/*
 * fuzz_btime.c - any bytes as /proc/stat: the time stands in a btime line,
 * digit by digit; written again it decodes to the same; a failure stores
 * nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	uint64_t seconds = 77, again = 0;
	char line[64];
	int result = plimp_decode_btime(text, &seconds);

	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result) {
		PROMISE(seconds == 77);
		return 0;
	}
	PROMISE(promise_says(text, "btime ", seconds));
	int used =
	    snprintf(line, sizeof(line), "cpu 1\nbtime %" PRIu64 "\n", seconds);
	plim_bytes written = {line, (size_t)used};
	PROMISE(plimp_decode_btime(written, &again) == PLIM_OK);
	PROMISE(again == seconds);
	written.size--;
	PROMISE(plimp_decode_btime(written, &again) == PLIM_EMALFORMED);
	return 0;
}
