/*
 * fuzz_blocked.c - any bytes as a thread's status: a mask of blocked signals
 * that is told stands in the text, digit by digit, and so do those of waiting
 * ones; a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>

static void promise_line(plim_bytes text, const char *key, uint64_t mask)
{
	char line[64];

	snprintf(line, sizeof(line), "%s:\t%016" PRIx64, key, mask);
	PROMISE(promise_count(text, line) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	struct plimp_signal_masks masks = {77, 77, 77};
	uint64_t mask = 77;
	int result = plimp_decode_blocked(text, &mask);

	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK) {
		PROMISE(mask == 77);
		return 0;
	}
	promise_line(text, "SigBlk", mask);
	result = plimp_decode_signals(text, &masks);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK) {
		PROMISE(masks.blocked == 77 && masks.pending == 77);
		return 0;
	}
	PROMISE(masks.blocked == mask);
	promise_line(text, "SigPnd", masks.pending);
	promise_line(text, "ShdPnd", masks.shared);
	return 0;
}
