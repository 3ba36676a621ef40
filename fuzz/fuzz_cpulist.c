/*
 * fuzz_cpulist.c - any bytes as a CPU list: the count is from 1 to 2^20; each
 * cut at a comma names fewer; two lists in a row are a list only if the second
 * lies behind the first; a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int decode(plim_bytes text, uint64_t *count)
{
	*count = 77777777;
	int result = plimp_decode_cpu_list(text, count);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result)
		PROMISE(*count == 77777777);
	else
		PROMISE(*count > 0 && *count <= (uint64_t)1 << 20);
	return result == PLIM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	uint64_t count, part;
	char line[64];

	if (!decode(text, &count))
		return 0;
	/* Walked one by one there are as many, if that is not too long. */
	uint64_t cpu = 0, seen = 0;
	while (count < 1000 && plimp_decode_cpu_next(text, &cpu) == 1) {
		seen++;
		if (cpu++ == UINT64_MAX)
			break;
	}
	PROMISE(count >= 1000 || seen == count);
	/* Nothing but what a list is made of. */
	for (size_t i = 0; i < size; i++) {
		PROMISE(memchr("0123456789-,\n", data[i], 13) != NULL);
		PROMISE(data[i] != '\n' || i == size - 1);
	}
	const char *comma = memchr(text.data, ',', size);
	plim_bytes first = {text.data,
			    comma ? (size_t)(comma - text.data) : size};
	PROMISE(decode(first, &part));
	PROMISE(comma ? part < count : part == count);
	if (comma) {
		uint64_t rest;
		plim_bytes behind = {comma + 1, size - first.size - 1};
		PROMISE(decode(behind, &rest));
		PROMISE(part + rest == count);
	}
	/* The same number of CPUs as one range. */
	int used = snprintf(line, sizeof(line),
			    count == 1 ? "0\n" : "0-%" PRIu64 "\n", count - 1);
	PROMISE(decode((plim_bytes){line, (size_t)used}, &part));
	PROMISE(part == count);
	return 0;
}
