/*
 * fuzz_iostat.c - any bytes as io.stat: the sum is that of a slow reader that
 * cannot wrap; twice the text is twice the sum, or does not fit; a failure
 * stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <stdlib.h>
#include <string.h>

static int decode(plim_bytes text, uint64_t *operations)
{
	*operations = 77;
	int result = plimp_decode_io_stat(text, operations);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result)
		PROMISE(*operations == 77);
	return result == PLIM_OK;
}

/* The sum of all words rios=N and wios=N, in parts of 32 bits. */
static void sum_up(plim_bytes text, uint64_t *high, uint64_t *low)
{
	*high = *low = 0;
	for (size_t at = 1; at + 5 <= text.size; at++) {
		if (text.data[at - 1] != ' ' && text.data[at - 1] != '\t')
			continue;
		if (memcmp(text.data + at, "rios=", 5) != 0 &&
		    memcmp(text.data + at, "wios=", 5) != 0)
			continue;
		uint64_t number_high = 0, number_low = 0;
		for (size_t i = at + 5; i < text.size; i++) {
			unsigned digit = (unsigned char)text.data[i] - '0';
			if (digit > 9)
				break;
			number_low = number_low * 10 + digit;
			number_high = number_high * 10 + (number_low >> 32);
			number_low &= UINT32_MAX;
		}
		*high += number_high;
		*low += number_low;
	}
	*high += *low >> 32;
	*low &= UINT32_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	uint64_t operations, doubled, high, low;

	if (!decode(text, &operations))
		return 0;
	sum_up(text, &high, &low);
	PROMISE(high <= UINT32_MAX && (high << 32 | low) == operations);
	PROMISE(!size || text.data[size - 1] == '\n');

	char *twice = malloc(2 * size + 1);
	if (!twice)
		return 0;
	if (size) {
		memcpy(twice, data, size);
		memcpy(twice + size, data, size);
	}
	if (decode((plim_bytes){twice, 2 * size}, &doubled))
		PROMISE(operations <= UINT64_MAX / 2 &&
			doubled == 2 * operations);
	else
		PROMISE(operations > UINT64_MAX / 2);
	free(twice);
	return 0;
}
