/*
 * invented_elf.h - a small ELF file with symbols that a test invents.
 *
 * One executable segment has the file's bytes from 0 on at INVENTED_AT. In it
 * lie .text, .plt and .text.cold, each with a gap behind; .data is outside of
 * the segment. Sections are numbered by enum invented_section.
 */
#ifndef SUPPORT_INVENTED_ELF_H
#define SUPPORT_INVENTED_ELF_H

#include "core/reader.h"

enum {
	INVENTED_AT = 0x400000,
	INVENTED_TEXT = 0x401000, /* 0x1000 bytes */
	INVENTED_COLD = 0x403000, /* 0x1000 bytes */
	INVENTED_PLT = 0x405000,  /* 0x100 bytes */
	INVENTED_END = 0x408000,  /* of the segment */
	INVENTED_DATA = 0x410000,
	INVENTED_SLOTS = 0x410800, /* that .rela.plt is of, 8 bytes each */
	INVENTED_SIZE = 0x20000
};

enum invented_section {
	INVENTED_S_TEXT = 1,
	INVENTED_S_COLD = 2,
	INVENTED_S_PLT = 3,
	INVENTED_S_DATA = 4,
	INVENTED_S_SYMTAB = 5,
	INVENTED_S_STRTAB = 6,
	INVENTED_S_DYNSYM = 7,
	INVENTED_S_DYNSTR = 8,
	INVENTED_S_RELA = 9,
	INVENTED_S_LINK = 10, /* .gnu_debuglink */
	INVENTED_S_ID = 11,   /* .note.gnu.build-id */
	INVENTED_S_NAMES = 12,
	INVENTED_SECTIONS = 13
};

struct invented_symbol {
	const char *name;
	uint64_t value;
	uint64_t size;
	int type;    /* 0 none, 1 object, 2 function, 10 ifunc */
	int binding; /* 0 local, 1 global, 2 weak, 10 unique */
	int section;
};

struct invented {
	struct plimp_reader reader; /* of the bytes, from 0 on */
	uint64_t size;
	uint8_t bytes[INVENTED_SIZE];
};

/* Makes a file of a machine (62 x86-64, 183 aarch64) without symbols: its
 * symbol tables have another type, so that there are none. */
void invented_make(struct invented *file, int machine);

/* Gives it .symtab, or .dynsym with `dynamic`: symbol 0 is the empty one. */
void invented_symbols(struct invented *file, int dynamic,
		      const struct invented_symbol *symbols, size_t count);

/* Relocations of .rela.plt: one JUMP_SLOT for each slot, to dynamic symbols
 * 1, 2, ... */
void invented_relocations(struct invented *file, size_t count);

/* The build id, 20 bytes that are all `byte`, and the debug link. */
void invented_build_id(struct invented *file, uint8_t byte);
void invented_debug_link(struct invented *file, const char *name, uint32_t crc);

#endif
