/*
 * fuzz_dents.c - any bytes as what getdents64 stored: the walk always ends,
 * every number stands in the buffer as a name, offsets go up and stay inside,
 * and a failure moves and stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The record that ended at `end` has this number as its name: some place
 * before it holds the digits and a NUL. */
static int stands(plim_bytes records, size_t start, size_t end, int32_t number)
{
	char name[16];
	size_t size = (size_t)snprintf(name, sizeof(name), "%" PRId32, number);

	for (size_t at = start + 19; at + size + 1 <= end; at++) {
		if (!memcmp(records.data + at, name, size + 1))
			return 1;
	}
	return 0;
}

static void walk(plim_bytes records, size_t offset)
{
	size_t before = offset;
	int32_t number = -77;
	int result;

	while ((result = plimp_decode_dents(records, &offset, &number)) == 1) {
		PROMISE(offset >= before + 20 && offset <= records.size);
		PROMISE(number > 0);
		PROMISE(stands(records, before, offset, number));
		before = offset;
		number = -77;
	}
	PROMISE(number == -77);
	PROMISE(result == 0 || result == PLIM_EMALFORMED);
	if (result == 0)
		PROMISE(offset == records.size);
	else
		PROMISE(offset == before);
	/* Asked again, it says the same. */
	PROMISE(plimp_decode_dents(records, &offset, &number) == result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes records = {.data = (const char *)data, .size = size};

	walk(records, 0);
	walk(records, size / 2);
	walk(records, size);
	walk((plim_bytes){records.data, size / 3 * 2}, 0);
	return 0;
}
