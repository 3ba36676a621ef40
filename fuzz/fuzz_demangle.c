/*
 * fuzz_demangle.c - any bytes as a name to demangle: it ends soon, writes no
 * more than there is room for, and what comes out is the same again.
 */
#include "promise.h"
#include "unwind/symbols.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[PLIMP_DEMANGLE_OUTPUT + 64], again[sizeof(text)];
	plim_bytes name = {(const char *)data, size};
	size_t length = SIZE_MAX, second = 0;

	memset(text, 0x5a, sizeof(text));
	int code = plimp_demangle(name, text, sizeof(text), &length);

	PROMISE(code == PLIM_OK || code == PLIM_ENAME || code == PLIM_ELIMIT ||
		code == PLIM_EUNSUPPORTED);
	for (size_t i = PLIMP_DEMANGLE_OUTPUT; i < sizeof(text); i++)
		PROMISE(text[i] == 0x5a);
	if (code) {
		PROMISE(length == SIZE_MAX);
		return 0;
	}
	PROMISE(length && length <= PLIMP_DEMANGLE_OUTPUT);
	PROMISE(!plimp_demangle(name, again, length, &second));
	PROMISE(second == length && !memcmp(text, again, length));
	/* One byte less is too little. */
	PROMISE(plimp_demangle(name, again, length - 1, &second) ==
		PLIM_ELIMIT);
	return 0;
}
