/*
 * fuzz_stored_pprof.c - any bytes as pprof, compressed or not, likewise. The
 * promises are those of stored.h.
 */
#include "stored.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_stored((plim_bytes){(const char *)data, size});
	return 0;
}
