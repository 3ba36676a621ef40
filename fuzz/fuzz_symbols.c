/*
 * fuzz_symbols.c - any bytes as an ELF file with symbols, as its own debug
 * file, and as a module in memory of which a page is missing: a table that
 * comes out names nothing outside of the executable segments, and no address
 * but those that its symbols cover.
 */
#include "promise.h"
#include "unwind/symbols.h"

#include <string.h>

enum { PAGE = 4096 };

struct bytes {
	const uint8_t *data;
	uint64_t size;
	uint64_t base;
	uint64_t missing;
};

static int bytes_pages(void *user, uint64_t address, size_t count,
		       uint8_t *pages)
{
	const struct bytes *bytes = user;

	for (size_t i = 0; i < count; i++) {
		uint64_t at = address + i * PAGE - bytes->base;

		pages[i] =
		    at < bytes->size && address + i * PAGE != bytes->missing
			? PLIMP_PAGE_READABLE
			: 0;
	}
	return PLIM_OK;
}

static int bytes_read(void *user, uint64_t address, void *buffer, size_t size,
		      size_t *copied)
{
	const struct bytes *bytes = user;
	uint64_t at = address - bytes->base;

	PROMISE(at < bytes->size && size > 0);
	if (size > bytes->size - at)
		size = (size_t)(bytes->size - at);
	memcpy(buffer, bytes->data + at, size);
	*copied = size;
	return PLIM_OK;
}

static int is_code(const struct plimp_elf *elf, uint64_t address)
{
	struct plimp_elf_segment load;

	for (uint32_t i = 0; !plimp_elf_segment(elf, i, &load); i++)
		if (load.type == PLIMP_ELF_LOAD && load.flags & 1 &&
		    address >= load.address &&
		    address - load.address < load.memory_size)
			return 1;
	return 0;
}

static void check_at(const struct plimp_symbols *symbols,
		     const struct plimp_elf *elf, uint64_t address)
{
	struct plimp_symbol symbol, again;
	int code = plimp_symbols_find(symbols, address, &symbol);

	PROMISE(code == PLIM_OK || code == PLIM_ENAME);
	if (code)
		return;
	PROMISE(is_code(elf, address));
	PROMISE(symbol.name.size > 0 && symbol.size > 0);
	PROMISE(address >= symbol.start &&
		address - symbol.start < symbol.size);
	PROMISE(!memchr(symbol.name.data, 0, symbol.name.size));
	PROMISE(!plimp_symbols_find(symbols, address, &again) &&
		again.start == symbol.start);
}

static void check_built(const struct plimp_elf *elf,
			const struct plimp_elf *debug)
{
	const plim_allocator allocator = {0};
	struct plimp_symbols *symbols = NULL;
	struct plimp_elf_segment load;
	int code = plimp_symbols_build(&symbols, elf, debug, &allocator, NULL);

	PROMISE(code == PLIM_OK || code == PLIM_ENAME || code == PLIM_ELIMIT ||
		code == PLIM_EMALFORMED);
	PROMISE(!code == (symbols != NULL));
	if (code)
		return;
	for (uint32_t i = 0; i < 8 && !plimp_elf_segment(elf, i, &load); i++)
		for (uint64_t at = 0; at < 64; at++) {
			check_at(symbols, elf, load.address + at * 64);
			check_at(symbols, elf, load.address - 1 - at);
			check_at(symbols, elf,
				 load.address + load.memory_size - at);
		}
	check_at(symbols, elf, UINT64_MAX);
	plimp_symbols_free(symbols, &allocator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = {.data = data, .size = size, .missing = 1};
	struct plimp_reader reader = {.page_bytes = PAGE,
				      .pages = bytes_pages,
				      .read = bytes_read,
				      .user = &bytes};
	struct plimp_elf elf;

	if (!plimp_elf_open(&elf, &reader, 0, size)) {
		check_built(&elf, NULL);
		check_built(&elf, &elf);
	}
	bytes.base = (uint64_t)0x7f00 << 32;
	bytes.missing = bytes.base + PAGE;
	if (!plimp_elf_open_loaded(&elf, &reader, bytes.base, size))
		check_built(&elf, NULL);
	return 0;
}
