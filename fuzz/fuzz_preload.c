/*
 * fuzz_preload.c - any bytes as an entry of the memory that a preloaded object
 * shares with the sampler, on both machines: what is taken lies inside its
 * bounds, and a failure stores nothing. The first byte chooses the machine.
 */
#include "core/preload_shared.h"
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

static void check(uint32_t machine, plim_bytes bytes)
{
	struct plimp_preload_told told, poison;
	int is_sample;
	int result;

	memset(&poison, 0x5a, sizeof(poison));
	told = poison;
	result = plimp_decode_preload(machine, bytes, &told);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK) {
		PROMISE(memcmp(&told, &poison, sizeof(poison)) == 0);
		return;
	}
	is_sample = told.kind == PLIMP_PRELOAD_SAMPLE;
	PROMISE(bytes.size >= sizeof(struct plimp_preload_entry));
	PROMISE(told.kind >= PLIMP_PRELOAD_LOADED &&
		told.kind <= PLIMP_PRELOAD_TAKEN);
	PROMISE(told.pid > 0 && told.tid > 0 && told.parent >= 0);
	PROMISE(told.stack_size <= PLIMP_PRELOAD_STACK_MOST);
	PROMISE(is_sample || told.stack_size == 0);
	PROMISE(is_sample == (told.registers.known != 0));
	if (is_sample && machine == PLIMP_MACHINE_X86)
		PROMISE(told.registers.known == 0x1ffff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {(const char *)data + 1, size - 1};

	if (size == 0)
		return 0;
	check((data[0] & 1) != 0 ? PLIMP_MACHINE_ARM : PLIMP_MACHINE_X86,
	      bytes);
	return 0;
}
