/*
 * symbols_read.c - the symbol tables of ELF files as entries of one table.
 *
 * What is kept: functions (STT_FUNC), ifuncs, whose code is their resolver's,
 * and symbols without a type that lie in executable sections (assembly, the
 * vDSO of some machines). All must lie in an executable segment of the
 * module's own file, whichever file they are from, so that a lying debug file
 * can name no data and nothing outside. The mapping symbols of aarch64 ($x,
 * $d), labels of the assembler (.L) and absolute symbols are no functions.
 * Entries are those of the System V ABI: name 4, info 1, other 1, section 2,
 * value 8, size 8.
 */
#include "unwind/symbols_table.h"

#include "core/fail.h"
#include "core/memory.h"
#include "elf/elf_bytes.h"

#include <assert.h>
#include <string.h>

enum {
	READ_ENTRY = 24,
	READ_BLOCK = READ_ENTRY * 4096,
	READ_PAGE = 4096,
	SECTION_EXECUTABLE = 4, /* SHF_EXECINSTR */
	SECTION_RESERVED = 0xff00,
	SECTION_EXTENDED = 0xffff, /* its number stands elsewhere */
	TYPE_NONE = 0,
	TYPE_FUNCTION = 2,
	TYPE_IFUNC = 10
};

/* What is asked of a section, which is read once: symbols are in no order. */
struct symbol_section {
	uint64_t address;
	uint64_t size;
	uint8_t is_read;
	uint8_t is_there;
	uint8_t is_code;
};

struct symbol_reader {
	struct plimp_symbol_maker *maker;
	const struct plimp_elf *elf; /* that the table is of */
	uint32_t names;		     /* its names, in the strings */
	uint32_t names_size;
	int source;
	struct symbol_section *sections; /* elf->section_count of them */
};

/* The executable segments. What is loaded writable as well is code, too. */
static int read_ranges(struct plimp_symbol_maker *maker,
		       const struct plimp_elf *elf)
{
	for (uint32_t i = 0; maker->range_count < PLIMP_SYMBOL_RANGES; i++) {
		struct plimp_elf_segment load;
		int failed = plimp_elf_segment(elf, i, &load);
		uint64_t size = load.memory_size;

		if (failed == PLIM_ENAME)
			break;
		if (failed)
			return failed;
		if (load.type != PLIMP_ELF_LOAD || !(load.flags & 1))
			continue;
		if (size > UINT64_MAX - load.address)
			size = UINT64_MAX - load.address;
		if (size)
			maker->ranges[maker->range_count++] =
			    (struct plimp_symbol_range){load.address,
							load.address + size};
	}
	return maker->range_count ? PLIM_OK : PLIM_ENAME;
}

/* Bytes at a place; of a module in memory, zeroes for pages that are not to be
 * had. */
static int read_some(const struct plimp_elf *elf, uint64_t place, char *to,
		     size_t size)
{
	int failed = plimp_elf_bytes(elf, place, to, size);

	if (failed != PLIM_EMALFORMED || !elf->is_loaded)
		return failed;
	for (size_t at = 0; at < size;) {
		size_t part =
		    READ_PAGE - (size_t)((elf->base + place + at) % READ_PAGE);

		if (part > size - at)
			part = size - at;
		failed = plimp_elf_bytes(elf, place + at, to + at, part);
		if (failed == PLIM_EMALFORMED)
			memset(to + at, 0, part);
		else if (failed)
			return failed;
		at += part;
	}
	return PLIM_OK;
}

/* The section of an entry; NULL where that is not told. */
static const struct symbol_section *read_section(struct symbol_reader *reader,
						 uint32_t index)
{
	struct plimp_elf_section told;
	struct symbol_section *section;

	if (index >= reader->elf->section_count || index >= SECTION_RESERVED)
		return NULL;
	section = &reader->sections[index];
	if (!section->is_read) {
		section->is_read = 1;
		if (!plimp_elf_section(reader->elf, index, &told)) {
			section->is_there = 1;
			section->is_code =
			    (told.flags & SECTION_EXECUTABLE) != 0;
			section->address = told.address;
			section->size = told.size;
		}
	}
	return section->is_there ? section : NULL;
}

/* Up to where an entry may reach: the end of its section, if it lies in that,
 * and of its segment. 0: it is no code. */
static uint64_t read_limit(struct symbol_reader *reader, uint64_t start,
			   uint32_t index)
{
	const struct plimp_symbol_range *range =
	    plimp_symbol_range(reader->maker, start);
	const struct symbol_section *section;
	uint64_t limit;

	if (!range)
		return 0;
	limit = range->end - start;
	section = read_section(reader, index);
	if (section) {
		if (!section->is_code || start < section->address ||
		    start - section->address >= section->size)
			return 0;
		if (section->size - (start - section->address) < limit)
			limit = section->size - (start - section->address);
	}
	return limit < UINT32_MAX ? limit : UINT32_MAX;
}

static int is_no_function(const struct symbol_reader *reader, const char *name)
{
	if (name[0] == '$' && reader->elf->machine == 183)
		return strchr("xdt", name[1]) && (!name[2] || name[2] == '.');
	return name[0] == '.' && name[1] == 'L';
}

static uint8_t read_binding(uint8_t info)
{
	switch (info >> 4) {
	case 0:
		return PLIMP_BINDING_LOCAL;
	case 2:
		return PLIMP_BINDING_WEAK;
	default:
		return PLIMP_BINDING_GLOBAL; /* and GNU unique */
	}
}

/* One entry: PLIM_ENAME where it is none that counts, PLIM_EMALFORMED where it
 * claims to be one. */
static int read_entry(struct symbol_reader *reader, const uint8_t *bytes)
{
	struct plimp_symbol_maker *maker = reader->maker;
	struct plimp_symbol_entry entry = {.source = (uint8_t)reader->source};
	const uint32_t section = plimp_elf_u16(bytes + 6);
	const int type = bytes[4] & 15;
	const uint64_t size = plimp_elf_u64(bytes + 16);
	uint64_t limit;
	int failed;

	if (type != TYPE_FUNCTION && type != TYPE_IFUNC && type != TYPE_NONE)
		return PLIM_ENAME;
	if (!section ||
	    (section >= SECTION_RESERVED && section != SECTION_EXTENDED))
		return PLIM_ENAME;
	entry.is_untyped = type == TYPE_NONE;
	entry.start = plimp_elf_u64(bytes + 8);
	limit = read_limit(reader, entry.start, section);
	if (!limit)
		return entry.is_untyped ? PLIM_ENAME : PLIM_EMALFORMED;
	entry.limit = (uint32_t)limit;
	entry.size = size < limit ? (uint32_t)size : (uint32_t)limit;
	entry.binding = read_binding(bytes[4]);
	if (plimp_elf_u32(bytes) >= reader->names_size)
		return PLIM_EMALFORMED;
	failed = plimp_symbol_name(maker, reader->names + plimp_elf_u32(bytes),
				   &entry);
	if (failed)
		return failed;
	if (entry.is_untyped &&
	    is_no_function(reader, maker->strings + entry.name))
		return PLIM_ENAME;
	return plimp_symbol_add(maker, &entry);
}

static int read_block(struct symbol_reader *reader, const uint8_t *block,
		      size_t count)
{
	reader->maker->seen += count;
	for (size_t i = 0; i < count; i++) {
		int failed = read_entry(reader, block + i * READ_ENTRY);

		if (failed == PLIM_EMALFORMED)
			reader->maker->rejected++;
		else if (failed && failed != PLIM_ENAME)
			return failed;
	}
	return PLIM_OK;
}

/* .symtab names the version behind an '@' ("memcpy@@GLIBC_2.14"), which is
 * nobody's name for the function. */
static void cut_versions(char *names, size_t size)
{
	char *end = names + size;
	char *at = names;

	while (at < end && (at = memchr(at, '@', (size_t)(end - at)))) {
		if (at > names && at[-1])
			*at = '\0';
		at++;
	}
}

static int read_names(struct symbol_reader *reader,
		      const struct plimp_elf_symbol_table *table)
{
	struct plimp_symbol_maker *maker = reader->maker;
	uint32_t place;
	int failed;

	failed =
	    plimp_symbol_strings(maker, (size_t)table->strings_size, &place);
	if (failed)
		return failed;
	failed = read_some(reader->elf, table->strings, maker->strings + place,
			   (size_t)table->strings_size);
	if (failed) {
		maker->strings_size = place;
		return failed;
	}
	if (reader->source != PLIMP_SYMBOL_DYNSYM)
		cut_versions(maker->strings + place,
			     (size_t)table->strings_size);
	reader->names = place;
	reader->names_size = (uint32_t)table->strings_size;
	return PLIM_OK;
}

static int read_table(struct symbol_reader *reader,
		      const struct plimp_elf_symbol_table *table)
{
	const plim_allocator *allocator = reader->maker->allocator;
	uint64_t place = table->symbols, left = table->count;
	uint8_t *block = plimp_allocate(allocator, READ_BLOCK, 1);
	size_t sections = (size_t)reader->elf->section_count + 1;
	int failed = block ? read_names(reader, table) : PLIM_ENOMEM;

	if (!failed) {
		reader->sections = plimp_allocate(allocator, sections,
						  sizeof(*reader->sections));
		if (!reader->sections)
			failed = PLIM_ENOMEM;
	}

	while (!failed && left) {
		size_t part = left < READ_BLOCK / READ_ENTRY
				  ? (size_t)left
				  : READ_BLOCK / READ_ENTRY;

		failed = read_some(reader->elf, place, (char *)block,
				   part * READ_ENTRY);
		if (!failed)
			failed = read_block(reader, block, part);
		place += part * READ_ENTRY;
		left -= part;
	}
	plimp_release(allocator, reader->sections, sections,
		      sizeof(*reader->sections));
	reader->sections = NULL;
	plimp_release(allocator, block, READ_BLOCK, 1);
	return failed;
}

/* A table that there is: PLIM_OK also where it is not, or is malformed. The
 * others may be good. */
static int read_one(struct plimp_symbol_maker *maker,
		    const struct plimp_elf *elf, int which, int source,
		    struct plimp_elf_symbol_table *table, uint32_t *names)
{
	struct symbol_reader reader = {
	    .maker = maker, .elf = elf, .source = source};
	size_t before = maker->count;
	int failed = plimp_elf_symbol_table(elf, which, table);

	if (!failed)
		failed = read_table(&reader, table);
	*names = reader.names;
	if (failed)
		memset(table, 0, sizeof(*table));
	if (failed == PLIM_EMALFORMED)
		maker->rejected++;
	if (maker->count > before &&
	    (!maker->source || source == PLIMP_SYMBOL_DEBUG_FILE))
		maker->source = source;
	return failed == PLIM_ENAME || failed == PLIM_EMALFORMED ? PLIM_OK
								 : failed;
}

static int read_all(struct plimp_symbol_maker *maker,
		    const struct plimp_elf *elf, const struct plimp_elf *debug)
{
	struct plimp_elf_symbol_table table = {0};
	uint32_t names;
	int failed = read_ranges(maker, elf);

	if (!failed)
		failed = read_one(maker, elf, PLIMP_ELF_STATIC,
				  PLIMP_SYMBOL_SYMTAB, &table, &names);
	if (!failed && debug)
		failed = read_one(maker, debug, PLIMP_ELF_STATIC,
				  PLIMP_SYMBOL_DEBUG_FILE, &table, &names);
	if (!failed)
		failed = read_one(maker, elf, PLIMP_ELF_DYNAMIC_ONES,
				  PLIMP_SYMBOL_DYNSYM, &table, &names);
	if (!failed && table.count)
		failed = plimp_symbol_plt(maker, elf, &table, names);
	if (!failed)
		failed = plimp_symbol_sort(maker);
	return failed ? failed : plimp_symbol_pieces(maker);
}

int plimp_symbols_build(struct plimp_symbols **symbols,
			const struct plimp_elf *elf,
			const struct plimp_elf *debug,
			const plim_allocator *allocator, plim_error *error)
{
	struct plimp_symbol_maker maker = {.allocator = allocator};
	int failed = read_all(&maker, elf, debug);

	if (!failed)
		failed = plimp_symbol_table(&maker, symbols);
	plimp_symbol_maker_release(&maker);
	if (failed)
		return plimp_fail(error, failed, 0, "read symbols", NULL, NULL);
	return PLIM_OK;
}
