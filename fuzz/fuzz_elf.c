/*
 * fuzz_elf.c - any bytes as an ELF file, and as a module in memory with a page
 * missing: whatever is asked ends, reads nothing outside or unreadable, and
 * gives one of its errors with its outputs untouched.
 */
#include "elf/elf.h"
#include "promise.h"

#include <string.h>

enum { PAGE = 4096 };

struct bytes {
	const uint8_t *data;
	uint64_t size;
	uint64_t base;
	uint64_t missing;
	uint64_t reads;
};

static int bytes_pages(void *user, uint64_t address, size_t count,
		       uint8_t *pages)
{
	const struct bytes *bytes = user;

	PROMISE(address % PAGE == 0);
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
	struct bytes *bytes = user;
	uint64_t at = address - bytes->base;

	PROMISE(at < bytes->size && size > 0);
	PROMISE(bytes->missing == 1 || address + size <= bytes->missing ||
		address >= bytes->missing + PAGE);
	bytes->reads++;
	if (size > bytes->size - at)
		size = bytes->size - at;
	memcpy(buffer, bytes->data + at, size);
	*copied = size;
	return PLIM_OK;
}

static void check_code(int code)
{
	PROMISE(code == PLIM_OK || code == PLIM_EMALFORMED ||
		code == PLIM_ENAME || code == PLIM_ELIMIT);
}

static void check_symbols(const struct plimp_elf *elf, int table)
{
	static const char *const names[] = {"main_arena", "mp_", "a",
					    "mallctl"};
	struct plimp_elf_symbol symbols[4], poison[4];

	memset(symbols, 0xa5, sizeof(symbols));
	memcpy(poison, symbols, sizeof(symbols));
	int code = plimp_elf_symbols_find(elf, table, names, 4, symbols);
	check_code(code);
	if (code)
		PROMISE(!memcmp(symbols, poison, sizeof(symbols)));
	for (int i = 0; !code && i < 4; i++)
		PROMISE(symbols[i].found == 0 || symbols[i].section != 0);
}

static void check_all(const struct plimp_elf *elf)
{
	struct plimp_elf_section section;
	uint8_t id[PLIMP_ELF_ID];
	char name[32];
	uint32_t crc;
	size_t size = 0;
	uint64_t value;

	int code = plimp_elf_build_id(elf, id, &size);
	check_code(code);
	PROMISE(code || (size >= 4 && size <= sizeof(id)));
	code = plimp_elf_debug_link(elf, name, sizeof(name), &crc);
	check_code(code);
	PROMISE(code || (memchr(name, 0, sizeof(name)) && !strchr(name, '/')));
	check_code(plimp_elf_section_find(elf, ".go.buildinfo", &section));
	check_code(plimp_elf_note_find(elf, "Go", 4, id, 8, &size));
	check_code(plimp_elf_bias(elf, 0, 0x10000, &value));
	check_code(plimp_elf_place(elf, 0x1000, &value));
	code =
	    plimp_elf_search(elf, 0, elf->size, "GNU C Library (", 15, &value);
	check_code(code);
	PROMISE(code || value <= elf->size - 15);
	check_symbols(elf, PLIMP_ELF_STATIC);
	check_symbols(elf, PLIMP_ELF_DYNAMIC_ONES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = {.data = data, .size = size, .missing = 1};
	struct plimp_reader reader = {.page_bytes = PAGE,
				      .pages = bytes_pages,
				      .read = bytes_read,
				      .user = &bytes};
	struct plimp_elf elf;

	int code = plimp_elf_open(&elf, &reader, 0, size);
	check_code(code);
	if (!code)
		check_all(&elf);
	bytes.base = (uint64_t)0x7f00 << 32;
	bytes.missing = bytes.base + PAGE;
	code = plimp_elf_open_loaded(&elf, &reader, bytes.base, size);
	check_code(code);
	if (!code)
		check_all(&elf);
	/* A handful for each of what is asked, and one for every symbol table
	 * block, note, section and segment that the bytes have room for. */
	PROMISE(bytes.reads < 400000 + 64 * size);
	return 0;
}
