/*
 * fuzz_statm.c - any bytes as /proc/PID/statm: what is told stands in the
 * text, decodes to the same when written again, and a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int decode(plim_bytes text, struct plimp_statm *statm)
{
	struct plimp_statm poison;

	memset(&poison, 0xa5, sizeof(poison));
	*statm = poison;
	int result = plimp_decode_statm(text, statm);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result)
		PROMISE(!memcmp(statm, &poison, sizeof(poison)));
	return result == PLIM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	struct plimp_statm statm, again;
	char line[128];

	if (!decode(text, &statm))
		return 0;
	PROMISE(promise_says(text, "", statm.size_pages));
	int used = snprintf(
	    line, sizeof(line), "%" PRIu64 " %" PRIu64 " %" PRIu64 " 1 0 2 0\n",
	    statm.size_pages, statm.resident_pages, statm.shared_pages);
	PROMISE(decode((plim_bytes){line, (size_t)used}, &again));
	PROMISE(!memcmp(&statm, &again, sizeof(statm)));
	/* Without its newline or less, it is no statm. */
	PROMISE(!decode((plim_bytes){line, (size_t)used - 1}, &again));
	return 0;
}
