/*
 * fuzz_perf_sample.c - any bytes as records of a ring that samples threads, of
 * both machines, with counts and without: the walk over the sizes always goes
 * on, what is told lies inside the record, and a failure stores nothing. The
 * first byte chooses the layout.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

static void check_inside(plim_bytes record, plim_bytes part)
{
	if (part.data == NULL)
		return;
	PROMISE(part.data >= record.data);
	PROMISE(part.size <= record.size);
	PROMISE((size_t)(part.data - record.data) <= record.size - part.size);
}

static void check(const struct plimp_perf_layout *layout, plim_bytes bytes,
		  uint32_t size)
{
	struct plimp_perf_capture capture, poison;
	plim_bytes record = {bytes.data, size};
	int result;

	memset(&poison, 0x5a, sizeof(poison));
	capture = poison;
	result = plimp_decode_perf_sample(layout, bytes, &capture);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK) {
		PROMISE(memcmp(&capture, &poison, sizeof(poison)) == 0);
		return;
	}
	PROMISE(capture.size == size && size <= bytes.size);
	check_inside(record, capture.stack);
	check_inside(record, capture.name);
	PROMISE(capture.registers.known == 0 ||
		capture.type == PLIMP_PERF_TAKEN);
	PROMISE(capture.stack.size == 0 || capture.type == PLIMP_PERF_TAKEN);
	if (capture.type == PLIMP_PERF_MAPPED)
		PROMISE(capture.start < capture.end);
	if (layout->machine == PLIMP_MACHINE_X86)
		PROMISE(capture.registers.known == 0 ||
			capture.registers.known == 0x1ffff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plimp_perf_layout layout = {PLIMP_MACHINE_X86, 0, 0};
	plim_bytes bytes = {(const char *)data + 1, size - 1};
	uint32_t told;

	if (size == 0)
		return 0;
	if ((data[0] & 1) != 0)
		layout.machine = PLIMP_MACHINE_ARM;
	layout.has_count = (data[0] & 2) != 0;
	layout.has_lost = (data[0] & 4) != 0;
	while (plimp_decode_perf_size(bytes, &told) == PLIM_OK) {
		PROMISE(told >= 8 && told % 8 == 0);
		check(&layout, bytes, told);
		if (told >= bytes.size)
			break;
		bytes.data += told;
		bytes.size -= told;
	}
	return 0;
}
