/*
 * fuzz_mac_arguments.c - any bytes as KERN_PROCARGS2: what is told lies in the
 * bytes, each argument has its NUL, there are as many as are told, and no more
 * than are claimed; between the path and the first there are NULs alone, none
 * beyond a multiple of 8; a failure stores nothing.
 */
#include "host/macos/decode.h"
#include "promise.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {(const char *)data, size};
	struct plimp_mac_arguments found;
	struct plimp_mac_arguments poison;
	uint32_t claimed = 0;
	size_t ends = 0;
	size_t behind;
	size_t begin;
	int result;

	memset(&poison, 0xa5, sizeof(poison));
	found = poison;
	result = plimp_decode_mac_arguments(bytes, &found);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK) {
		PROMISE(!memcmp(&found, &poison, sizeof(found)));
		return 0;
	}
	for (int i = 3; i >= 0; i--)
		claimed = claimed << 8 | data[i];
	PROMISE(promise_inside(bytes, found.program));
	PROMISE(promise_inside(bytes, found.arguments));
	PROMISE(memchr(found.program.data, '\0', found.program.size) == NULL);
	for (size_t i = 0; i < found.arguments.size; i++)
		ends += found.arguments.data[i] == '\0';
	PROMISE(ends == found.count && found.count <= claimed);
	PROMISE(found.is_whole == (found.count == claimed));
	if (found.count > 0)
		PROMISE(found.arguments.data[found.arguments.size - 1] == '\0');
	behind = found.program.size + 1;
	begin = (size_t)(found.arguments.data - bytes.data) - 4;
	PROMISE(begin >= behind && begin <= (behind + 7) / 8 * 8);
	for (size_t i = behind; i < begin; i++)
		PROMISE(bytes.data[4 + i] == '\0');
	/* What was not skipped for want of a reason is the first argument. */
	PROMISE(begin % 8 == 0 || begin == size - 4 ||
		bytes.data[4 + begin] != '\0');
	return 0;
}
