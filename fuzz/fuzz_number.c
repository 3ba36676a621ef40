/*
 * fuzz_number.c - any bytes as a file of one number: it stands in the text,
 * digit by digit, alone; a failure stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	uint64_t number = 77;
	int result = plimp_decode_number(text, &number);

	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result) {
		PROMISE(number == 77);
		return 0;
	}
	PROMISE(promise_says(text, "", number));
	for (size_t i = 0; i < size; i++)
		PROMISE((data[i] >= '0' && data[i] <= '9') ||
			(data[i] == '\n' && i == size - 1));
	return 0;
}
