/*
 * fuzz_lines_wire.c - any bytes as the answer of a cell that reads DWARF: they
 * are frames whose texts lie within the bytes, or PLIM_EMALFORMED; and frames
 * that were read are written and read again as the same.
 */
#include "promise.h"
#include "unwind/lines_wire.h"

#include <string.h>

enum { CAPACITY = 5 };

static void check_text(plim_bytes text, const uint8_t *data, size_t size)
{
	const char *low = (const char *)data;

	PROMISE(text.size <= PLIMP_LINES_NAME);
	PROMISE(text.data >= low && text.data + text.size <= low + size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[65536];
	struct plimp_line frames[CAPACITY], again[CAPACITY];
	size_t rows, count = 99, second = 99, written;

	if (size == 0)
		return 0;
	rows = data[0];
	if (plimp_lines_read(data + 1, size - 1, rows, frames, CAPACITY,
			     &count) != PLIM_OK) {
		PROMISE(count == 99);
		return 0;
	}
	PROMISE(rows >= 1 && rows <= PLIMP_LINES_FRAMES);
	PROMISE(count == (rows < CAPACITY ? rows : CAPACITY));
	for (size_t i = 0; i < count; i++) {
		check_text(frames[i].function, data, size);
		check_text(frames[i].linkage, data, size);
		check_text(frames[i].file, data, size);
		check_text(frames[i].declared_file, data, size);
		PROMISE(frames[i].is_inlined == (i + 1 < count));
	}
	written = plimp_lines_write(frames, count, bytes, sizeof(bytes));
	PROMISE(plimp_lines_read(bytes, written, count, again, CAPACITY,
				 &second) == PLIM_OK);
	PROMISE(second == count);
	for (size_t i = 0; i < count; i++) {
		PROMISE(again[i].line == frames[i].line);
		PROMISE(again[i].file.size == frames[i].file.size);
		PROMISE(memcmp(again[i].file.data, frames[i].file.data,
			       frames[i].file.size) == 0);
	}
	return 0;
}
