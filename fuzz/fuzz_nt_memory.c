/*
 * fuzz_nt_memory.c - any bytes as counters of memory or of I/O: no member
 * counts that does not lie below the size that stands in the first four bytes,
 * whatever stands behind, and a failure stores nothing.
 */
#include "host/windows/decode.h"
#include "promise.h"

#include <string.h>

static void check(plim_bytes bytes, unsigned word)
{
	struct plimp_nt_memory memory, poison, again;
	char behind[256];
	size_t filled;
	int result;

	memset(&poison, 0xa5, sizeof(poison));
	memory = poison;
	result = plimp_decode_nt_memory(bytes, word, &memory);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK) {
		PROMISE(!memcmp(&memory, &poison, sizeof(poison)));
		return;
	}
	PROMISE((memory.has & PLIMP_NT_FAULTS) != 0);
	if (bytes.size > sizeof(behind))
		return;
	/* What lies behind the size means nothing. */
	filled = (uint8_t)bytes.data[0];
	if (bytes.data[1] != 0 || bytes.data[2] != 0 || bytes.data[3] != 0)
		return;
	memcpy(behind, bytes.data, bytes.size);
	if (filled < bytes.size)
		memset(behind + filled, 0x5a, bytes.size - filled);
	PROMISE(plimp_decode_nt_memory((plim_bytes){behind, bytes.size}, word,
				       &again) == PLIM_OK);
	PROMISE(!memcmp(&memory, &again, sizeof(again)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {.data = (const char *)data, .size = size};
	struct plimp_nt_io io, poison;
	uint64_t number = 0;
	uint64_t ms;
	int result;

	check(bytes, 8);
	check(bytes, 4);
	memset(&poison, 0xa5, sizeof(poison));
	io = poison;
	result = plimp_decode_nt_io(bytes, &io);
	PROMISE((result == PLIM_OK) == (size >= PLIMP_NT_IO_SIZE));
	PROMISE(result == PLIM_OK || !memcmp(&io, &poison, sizeof(poison)));
	if (size >= sizeof(number))
		memcpy(&number, data, sizeof(number));
	PROMISE(plimp_nt_ns(number) >= number || number == 0);
	if (plimp_nt_unix_ms(number, &ms) == 0)
		PROMISE(ms <= number / 10000);
	return 0;
}
