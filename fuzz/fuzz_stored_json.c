/*
 * fuzz_stored_json.c - any bytes as the JSON of a profile: it is read, or the
 * mistake has its place; what was read has no index out of its tables, and can
 * be compared with itself, which changes nothing.
 */
#include "stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_stored((plim_bytes){(const char *)data, size});
	return 0;
}
