/*
 * fuzz_schedstat.c - any bytes as /proc/PID/schedstat: what is taken is what
 * its three numbers say when they are written again, but for leading zeros; a
 * failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void check_again(const struct plimp_schedstat *found)
{
	struct plimp_schedstat again;
	char line[128];
	int size = snprintf(line, sizeof(line),
			    "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			    found->run_ns, found->wait_ns, found->switches_in);

	PROMISE(plimp_decode_schedstat((plim_bytes){line, (size_t)size},
				       &again) == PLIM_OK);
	PROMISE(!memcmp(found, &again, sizeof(again)));
	PROMISE(plimp_decode_schedstat((plim_bytes){line, (size_t)size - 1},
				       &again) == PLIM_EMALFORMED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	struct plimp_schedstat found, poison;

	memset(&poison, 0xa5, sizeof(poison));
	found = poison;
	int result = plimp_decode_schedstat(text, &found);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result) {
		PROMISE(!memcmp(&found, &poison, sizeof(poison)));
		return 0;
	}
	size_t blanks = 0;
	for (size_t i = 0; i + 1 < size; i++) {
		blanks += data[i] == ' ';
		PROMISE(data[i] == ' ' || (data[i] >= '0' && data[i] <= '9'));
	}
	PROMISE(blanks == 2 && data[size - 1] == '\n');
	check_again(&found);
	return 0;
}
