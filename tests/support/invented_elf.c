/*
 * invented_elf.c - see invented_elf.h. Numbers by the System V ABI.
 */
#include "invented_elf.h"

#include <stdio.h>
#include <string.h>

enum {
	AT_SECTIONS = 0x9000,
	AT_NAMES = 0x9400,
	AT_LINK = 0x9600,
	AT_ID = 0x9700,
	AT_RELA = 0x9800,
	AT_SYMTAB = 0xa000,
	AT_STRTAB = 0xe000,
	AT_DYNSYM = 0x12000,
	AT_DYNSTR = 0x16000,
	TABLE_ROOM = 0x4000
};

static const char *const section_names[INVENTED_SECTIONS] = {
    "",	       ".text",		 ".text.cold", ".plt",	  ".data",
    ".symtab", ".strtab",	 ".dynsym",    ".dynstr", ".rela.plt",
    ".gone",   ".gone.build-id", ".shstrtab"};

static void put(struct invented *file, uint64_t place, uint64_t value, int size)
{
	for (int i = 0; i < size; i++)
		file->bytes[place + (uint64_t)i] = (uint8_t)(value >> 8 * i);
}

static int invented_pages(void *user, uint64_t address, size_t count,
			  uint8_t *pages)
{
	const struct invented *file = user;

	for (size_t i = 0; i < count; i++)
		pages[i] =
		    address + i * 4096 < file->size ? PLIMP_PAGE_READABLE : 0;
	return PLIM_OK;
}

static int invented_read(void *user, uint64_t address, void *buffer,
			 size_t size, size_t *copied)
{
	const struct invented *file = user;

	if (address > file->size)
		size = 0;
	else if (size > file->size - address)
		size = (size_t)(file->size - address);
	memcpy(buffer, file->bytes + address, size);
	*copied = size;
	return PLIM_OK;
}

static void section(struct invented *file, int index, uint32_t type,
		    uint64_t flags, uint64_t address, uint64_t offset,
		    uint64_t size, uint32_t link, uint64_t entry)
{
	uint64_t at = AT_SECTIONS + (uint64_t)index * 64;

	put(file, at + 4, type, 4);
	put(file, at + 8, flags, 8);
	put(file, at + 16, address, 8);
	put(file, at + 24, offset, 8);
	put(file, at + 32, size, 8);
	put(file, at + 40, link, 4);
	put(file, at + 56, entry, 8);
}

static void name_sections(struct invented *file)
{
	uint64_t at = 1;

	for (int i = 1; i < INVENTED_SECTIONS; i++) {
		size_t size = strlen(section_names[i]) + 1;

		put(file, AT_SECTIONS + (uint64_t)i * 64, at, 4);
		memcpy(file->bytes + AT_NAMES + at, section_names[i], size);
		at += size;
	}
	section(file, INVENTED_S_NAMES, 3, 0, 0, AT_NAMES, at, 0, 0);
}

void invented_make(struct invented *file, int machine)
{
	static const uint8_t mark[7] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	const uint64_t code = 2 | 4;

	memset(file, 0, sizeof(*file));
	file->size = INVENTED_SIZE;
	file->reader = (struct plimp_reader){.page_bytes = 4096,
					     .pages = invented_pages,
					     .read = invented_read,
					     .user = file};
	memcpy(file->bytes, mark, sizeof(mark));
	put(file, 16, 3, 2);
	put(file, 18, (uint64_t)machine, 2);
	put(file, 20, 1, 4);
	put(file, 32, 64, 8);
	put(file, 40, AT_SECTIONS, 8);
	put(file, 54, 56, 2);
	put(file, 56, 1, 2);
	put(file, 58, 64, 2);
	put(file, 60, INVENTED_SECTIONS, 2);
	put(file, 62, INVENTED_S_NAMES, 2);
	put(file, 64, 1, 4); /* LOAD, read and execute */
	put(file, 68, 5, 4);
	put(file, 80, INVENTED_AT, 8);
	put(file, 96, INVENTED_END - INVENTED_AT, 8);
	put(file, 104, INVENTED_END - INVENTED_AT, 8);
	section(file, INVENTED_S_TEXT, 1, code, INVENTED_TEXT, 0x1000, 0x1000,
		0, 0);
	section(file, INVENTED_S_COLD, 1, code, INVENTED_COLD, 0x3000, 0x1000,
		0, 0);
	section(file, INVENTED_S_PLT, 1, code, INVENTED_PLT, 0x5000, 0x100, 0,
		16);
	section(file, INVENTED_S_DATA, 1, 3, INVENTED_DATA, 0x8000, 0x1000, 0,
		0);
	name_sections(file);
}

void invented_symbols(struct invented *file, int dynamic,
		      const struct invented_symbol *symbols, size_t count)
{
	uint64_t at = dynamic ? AT_DYNSYM : AT_SYMTAB;
	uint64_t names = dynamic ? AT_DYNSTR : AT_STRTAB;
	uint64_t name = 1;

	for (size_t i = 0; i < count; i++) {
		const struct invented_symbol *symbol = &symbols[i];
		uint64_t entry = at + (i + 1) * 24;
		size_t size = strlen(symbol->name) + 1;

		put(file, entry, name, 4);
		put(file, entry + 4,
		    (uint64_t)(symbol->binding << 4 | symbol->type), 1);
		put(file, entry + 6, (uint64_t)symbol->section, 2);
		put(file, entry + 8, symbol->value, 8);
		put(file, entry + 16, symbol->size, 8);
		memcpy(file->bytes + names + name, symbol->name, size);
		name += size;
	}
	section(file, dynamic ? INVENTED_S_DYNSYM : INVENTED_S_SYMTAB,
		dynamic ? 11 : 2, 0, 0, at, (count + 1) * 24,
		dynamic ? INVENTED_S_DYNSTR : INVENTED_S_STRTAB, 24);
	section(file, dynamic ? INVENTED_S_DYNSTR : INVENTED_S_STRTAB, 3, 0, 0,
		names, name, 0, 0);
	name_sections(file);
}

void invented_relocations(struct invented *file, size_t count)
{
	uint64_t type = file->bytes[18] == 62 ? 7 : 1026;

	for (size_t i = 0; i < count; i++) {
		put(file, AT_RELA + i * 24, INVENTED_SLOTS + i * 8, 8);
		put(file, AT_RELA + i * 24 + 8, (uint64_t)(i + 1) << 32 | type,
		    8);
	}
	section(file, INVENTED_S_RELA, 4, 0, 0, AT_RELA, count * 24,
		INVENTED_S_DYNSYM, 24);
	name_sections(file);
}

/* Both sections are there from the beginning on under names that nobody asks
 * for, and get their own now. */
static void name_again(struct invented *file, int index, const char *name)
{
	uint64_t at = AT_NAMES + 0x100 + (uint64_t)index * 16;

	section(file, INVENTED_S_NAMES, 3, 0, 0, AT_NAMES, 0x200, 0, 0);
	put(file, AT_SECTIONS + (uint64_t)index * 64, at - AT_NAMES, 4);
	memcpy(file->bytes + at, name, strlen(name) + 1);
}

void invented_build_id(struct invented *file, uint8_t byte)
{
	put(file, AT_ID, 4, 4);
	put(file, AT_ID + 4, 20, 4);
	put(file, AT_ID + 8, 3, 4);
	memcpy(file->bytes + AT_ID + 12, "GNU", 4);
	memset(file->bytes + AT_ID + 16, byte, 20);
	section(file, INVENTED_S_ID, 7, 2, 0, AT_ID, 36, 0, 0);
	name_again(file, INVENTED_S_ID, ".note.id");
}

void invented_debug_link(struct invented *file, const char *name, uint32_t crc)
{
	uint64_t size = (strlen(name) + 4) & ~(uint64_t)3;

	memset(file->bytes + AT_LINK, 0, 0x100);
	memcpy(file->bytes + AT_LINK, name, strlen(name));
	put(file, AT_LINK + size, crc, 4);
	section(file, INVENTED_S_LINK, 1, 0, 0, AT_LINK, size + 4, 0, 0);
	name_again(file, INVENTED_S_LINK, ".gnu_debuglink");
}
