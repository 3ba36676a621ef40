/*
 * elf.h - reading ELF files of 64 bits, little endian: what is loaded where,
 * sections, symbols by name, notes, the link to a debug file.
 *
 * All comes through a reader, so that a file, a core and a module's pages in a
 * process's memory are read alike; `base` is the address of the ELF header in
 * it, 0 for a file. Nothing is kept but the header and nothing is allocated.
 * Every number in the file is hostile: a table that does not lie within `size`
 * is not there, what would take too long is PLIM_ELIMIT, and nothing is trusted
 * because something else said it.
 *
 * Functions give PLIM_OK; PLIM_EMALFORMED where it is no such file or the
 * bytes are not there; PLIM_ENAME where there is no such thing in it;
 * PLIM_ELIMIT; or what the reader failed with. Outputs are untouched then.
 */
#ifndef PLIMP_ELF_H
#define PLIMP_ELF_H

#include "core/reader.h"

/* No more program headers, sections, symbols are looked at, and no string
 * table beyond so many bytes (browsers have some hundred MiB with symbols). */
#define PLIMP_ELF_SEGMENTS 4096u
#define PLIMP_ELF_SECTIONS 65536u
#define PLIMP_ELF_SYMBOLS  8388608u
#define PLIMP_ELF_STRINGS  0x10000000u
/* Nor at more notes of one segment, or a segment of more bytes. */
#define PLIMP_ELF_NOTES	     65536u
#define PLIMP_ELF_NOTE_BYTES 0x4000000u
/* Names that one search of the symbols may ask for. */
#define PLIMP_ELF_NAMES 64
/* A build id is 20 bytes (SHA-1) or 16, or what the linker was told. */
#define PLIMP_ELF_ID 64

struct plimp_elf {
	const struct plimp_reader *reader;
	uint64_t base;
	uint64_t size;	    /* bytes from `base` on */
	int is_loaded;	    /* a module's pages: by addresses, not by offsets */
	uint64_t loaded_at; /* the address in the file that `base` has */
	uint16_t type;	    /* 2 executable, 3 shared or position-independent,
			     * 4 core */
	uint16_t machine;
	uint64_t entry;
	uint64_t segments; /* program headers: place, and how many */
	uint32_t segment_count;
	uint64_t sections; /* section headers; 0: none */
	uint32_t section_count;
	uint32_t section_names; /* index of the table of their names */
};

/* Reads and judges the header at `base`. The reader must outlive it. */
int plimp_elf_open(struct plimp_elf *elf, const struct plimp_reader *reader,
		   uint64_t base, uint64_t size);

/* The same of a module as it is mapped from `base` on, `size` bytes at most:
 * what is loaded lies by its addresses, and there are no sections. */
int plimp_elf_open_loaded(struct plimp_elf *elf,
			  const struct plimp_reader *reader, uint64_t base,
			  uint64_t size);

enum plimp_elf_segment_type {
	PLIMP_ELF_LOAD = 1,
	PLIMP_ELF_DYNAMIC = 2,
	PLIMP_ELF_INTERPRETER = 3,
	PLIMP_ELF_NOTE = 4
};

struct plimp_elf_segment {
	uint32_t type;
	uint32_t flags; /* 1 executable, 2 writable, 4 readable */
	uint64_t offset;
	uint64_t address;
	uint64_t file_size;
	uint64_t memory_size;
	uint64_t align;
};
/* PLIM_ENAME from the last one on. */
int plimp_elf_segment(const struct plimp_elf *elf, uint32_t index,
		      struct plimp_elf_segment *segment);
/* The first one of this type. */
int plimp_elf_segment_find(const struct plimp_elf *elf, uint32_t type,
			   struct plimp_elf_segment *segment);

enum plimp_elf_section_type {
	PLIMP_ELF_SYMBOLS_ALL = 2,
	PLIMP_ELF_STRINGS_TABLE = 3,
	PLIMP_ELF_SECTION_NOTE = 7,
	PLIMP_ELF_NO_BITS = 8,
	PLIMP_ELF_SYMBOLS_DYNAMIC = 11
};

struct plimp_elf_section {
	uint32_t name; /* in the table of section names */
	uint32_t type;
	uint64_t flags;
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	uint32_t link;
	uint32_t info;
	uint64_t align;
	uint64_t entry_size;
};
int plimp_elf_section(const struct plimp_elf *elf, uint32_t index,
		      struct plimp_elf_section *section);
/* The first one of this name (".go.buildinfo"). */
int plimp_elf_section_find(const struct plimp_elf *elf, const char *name,
			   struct plimp_elf_section *section);

/*
 * The address of each LOAD segment is where it would like to be. Where the
 * file's byte `offset` is mapped at `start`, every address of the file is this
 * much further in the process (it wraps, as the loader's does). Linkers let
 * two segments share a page of the file (lld always does): a segment that
 * begins in the page at `offset` goes before one that ends in it. Of a mapping
 * that may be executed ask the second, which looks at segments of code alone.
 */
int plimp_elf_bias(const struct plimp_elf *elf, uint64_t offset, uint64_t start,
		   uint64_t *bias);
int plimp_elf_bias_of_code(const struct plimp_elf *elf, uint64_t offset,
			   uint64_t start, uint64_t *bias);

struct plimp_elf_symbol {
	int found; /* all below is valid; 0: no such symbol is defined */
	uint64_t value;
	uint64_t size;
	uint8_t kind;	 /* 1 object, 2 function, 6 thread-local, 10 ifunc */
	uint8_t binding; /* 0 local, 1 global, 2 weak */
	uint16_t section;
};
enum plimp_elf_symbols {
	PLIMP_ELF_STATIC = 1,	   /* .symtab */
	PLIMP_ELF_DYNAMIC_ONES = 2 /* .dynsym; of pages in memory, by the
				    * dynamic segment */
};

/* Where a table of symbols and its names lie, from `base` on: entries of 24
 * bytes. All of it is within `size` and the bounds above. */
struct plimp_elf_symbol_table {
	uint64_t symbols;
	uint64_t count;
	uint64_t strings;
	uint64_t strings_size;
};
/* PLIM_ENAME where the file has none (.symtab of a stripped one). */
int plimp_elf_symbol_table(const struct plimp_elf *elf, int table,
			   struct plimp_elf_symbol_table *tables);

/*
 * Looks `count` names up in one pass, at most PLIMP_ELF_NAMES; the first that
 * is defined counts. PLIM_ENAME where the file has no such table; one that has
 * none of the names is PLIM_OK.
 */
int plimp_elf_symbols_find(const struct plimp_elf *elf, int table,
			   const char *const *names, size_t count,
			   struct plimp_elf_symbol *symbols);

/* A note's bytes: `owner` ("GNU", "Go") and type. At most `capacity` of them
 * are copied; `size` is how many it has. */
int plimp_elf_note_find(const struct plimp_elf *elf, const char *owner,
			uint32_t type, void *bytes, size_t capacity,
			size_t *size);

/* The GNU build id: PLIM_ENAME where there is none, or none of 4 to
 * PLIMP_ELF_ID bytes. */
int plimp_elf_build_id(const struct plimp_elf *elf, uint8_t id[PLIMP_ELF_ID],
		       size_t *size);

/* Where distributions put the debug file of a build id of 2 bytes or more:
 * "/usr/lib/debug/.build-id/XX/REST.debug". Nothing is opened. */
#define PLIMP_ELF_DEBUG_ROOT "/usr/lib/debug"
#define PLIMP_ELF_DEBUG_PATH 192
void plimp_elf_debug_path(const uint8_t *id, size_t size,
			  char path[PLIMP_ELF_DEBUG_PATH]);

/* .gnu_debuglink: the name of the debug file, without a folder, and the CRC-32
 * of its bytes. */
int plimp_elf_debug_link(const struct plimp_elf *elf, char *name, size_t size,
			 uint32_t *crc);

/* Where the byte of that address in the file lies, from `base` on; PLIM_ENAME
 * where no segment loads it from the file. */
int plimp_elf_place(const struct plimp_elf *elf, uint64_t address,
		    uint64_t *place);

/* Bytes at an offset from `base`; PLIM_EMALFORMED where they are not all
 * there and readable. */
int plimp_elf_bytes(const struct plimp_elf *elf, uint64_t offset, void *bytes,
		    size_t size);

/*
 * The first place of any of `size` bytes from `start` on, in which `pattern`
 * lies whole: for what a section or segment holds. PLIM_ENAME: nowhere.
 */
int plimp_elf_search(const struct plimp_elf *elf, uint64_t start, uint64_t size,
		     const char *pattern, size_t pattern_size, uint64_t *place);

#endif
