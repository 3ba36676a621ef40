/*
 * fuzz_cpumax.c - any bytes as cpu.max: a quota and a period that are not 0
 * and stand in the text, or none; written again they decode to the same; what
 * is not told is not stored.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	uint64_t quota = 77, period = 78, quota_again, period_again;
	char line[64];
	int result = plimp_decode_cpu_max(text, &quota, &period);

	PROMISE(result == 0 || result == 1 || result == PLIM_EMALFORMED);
	if (result != 1) {
		PROMISE(quota == 77 && period == 78);
		PROMISE(result < 0 || !memcmp(data, "max ", 4));
		return 0;
	}
	PROMISE(quota && period);
	PROMISE(promise_says(text, "", quota));
	int used = snprintf(line, sizeof(line), "%" PRIu64 " %" PRIu64 "\n",
			    quota, period);
	plim_bytes written = {line, (size_t)used};
	PROMISE(plimp_decode_cpu_max(written, &quota_again, &period_again) ==
		1);
	PROMISE(quota == quota_again && period == period_again);
	/* Two numbers and two marks between and behind them. */
	PROMISE(size >= (size_t)used - 1);
	return 0;
}
