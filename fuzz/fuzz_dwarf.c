/*
 * fuzz_dwarf.c - any bytes as an ELF file with DWARF: opening it and asking it
 * for addresses ends, gives bounded frames whose texts can be read, and says
 * the same when it is asked again. It is read here without a cell, so that a
 * fault of libdw is seen, too (docs/design/lines.md).
 */
#include "promise.h"
#include "unwind/lines_wire.h"
#include "unwind/with_dwarf.h"

#include <plimsoll.h>

#include <stdlib.h>
#include <string.h>

#if defined(PLIM_WITH_DWARF)

static struct plimp_dwarf_library *fuzz_library(void)
{
	static struct plimp_dwarf_library *library;
	static plim_host *host;

	if (host == NULL && plim_host_open(&host, NULL, NULL) == PLIM_OK &&
	    plimp_dwarf_open(&library, host, NULL) != PLIM_OK)
		library = NULL;
	return library;
}

static void look(struct plimp_dwarf *dwarf, uint64_t address)
{
	static uint8_t bytes[PLIMP_LINES_ANSWER];
	struct plimp_line frames[8], again[8];
	size_t count = 77, second = 77, size;
	int result = plimp_dwarf_find(dwarf, address, frames, 8, &count);

	if (result != PLIM_OK) {
		PROMISE(result < 0 && count == 77);
		return;
	}
	PROMISE(count >= 1 && count <= 8);
	for (size_t i = 0; i < count; i++)
		PROMISE(frames[i].is_inlined == (i + 1 < count));
	size = plimp_lines_write(frames, count, bytes, sizeof(bytes));
	PROMISE(size <= sizeof(bytes));
	PROMISE(plimp_lines_read(bytes, size, count, again, 8, &second) ==
		PLIM_OK);
	PROMISE(second == count);
	PROMISE(again[0].line == frames[0].line);
	PROMISE(plimp_dwarf_find(dwarf, address, again, 8, &second) == PLIM_OK);
	PROMISE(second == count && again[0].start == frames[0].start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plimp_dwarf_library *library = fuzz_library();
	struct plimp_dwarf *dwarf;
	uint64_t entry;
	char *bytes;

	if (library == NULL || size < 64)
		return 0;
	bytes = malloc(size);
	if (bytes == NULL)
		return 0;
	memcpy(bytes, data, size);
	memcpy(&entry, data + 24, sizeof(entry));
	dwarf = plimp_dwarf_image(library, bytes, size);
	if (dwarf != NULL) {
		for (uint64_t at = 0; at < 32; at++)
			look(dwarf, entry + at * 7);
		look(dwarf, 0);
		look(dwarf, UINT64_MAX);
	}
	plimp_dwarf_free(dwarf);
	free(bytes);
	return 0;
}

#else

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	(void)data;
	(void)size;
	return 0;
}

#endif
