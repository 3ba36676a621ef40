/*
 * elf_symbols.c - addresses of names in the symbol tables of an ELF file.
 *
 * A string table may be hundreds of megabytes and cannot be kept, so it is
 * streamed once for where the wanted names stand in it, and then the symbols
 * once for who refers to such a place. A name may stand in several places (the
 * linker lets a name share the tail of a longer one, and need not), so a few
 * are kept for each. Nothing is allocated.
 */
#include "elf/elf.h"
#include "elf/elf_bytes.h"

#include <assert.h>
#include <string.h>

enum {
	SYMBOL_BYTES = 24,
	SYMBOL_BLOCK = SYMBOL_BYTES * 680,
	SYMBOL_PLACES = 4,
	SYMBOL_NAME = 128
};

struct symbol_search {
	const char *const *names;
	size_t count;
	size_t longest;
	uint8_t length[PLIMP_ELF_NAMES];
	uint8_t places[PLIMP_ELF_NAMES];
	uint32_t place[PLIMP_ELF_NAMES][SYMBOL_PLACES];
};

/* By section headers. */
static int tables_by_section(const struct plimp_elf *elf, uint32_t type,
			     struct plimp_elf_symbol_table *tables)
{
	struct plimp_elf_section symbols, strings;

	for (uint32_t i = 0;; i++) {
		int failed = plimp_elf_section(elf, i, &symbols);

		if (failed)
			return failed;
		if (symbols.type == type)
			break;
	}
	int failed = plimp_elf_section(elf, symbols.link, &strings);
	if (failed)
		return failed;
	if (symbols.entry_size != SYMBOL_BYTES ||
	    strings.type != PLIMP_ELF_STRINGS_TABLE)
		return PLIM_EMALFORMED;
	tables->symbols = symbols.offset;
	tables->count = symbols.size / SYMBOL_BYTES;
	tables->strings = strings.offset;
	tables->strings_size = strings.size;
	return PLIM_OK;
}

/* The loader may have put addresses of the process where the file has its own
 * (glibc does on x86-64): those lie within the module. */
static int dynamic_place(const struct plimp_elf *elf, uint64_t value,
			 uint64_t *place)
{
	if (elf->is_loaded && value >= elf->base &&
	    value - elf->base < elf->size) {
		*place = value - elf->base;
		return PLIM_OK;
	}
	return plimp_elf_place(elf, value, place);
}

/* DT_HASH says how many symbols there are. */
static int count_by_hash(const struct plimp_elf *elf, uint64_t place,
			 uint64_t *count)
{
	uint8_t head[8];
	int failed = plimp_elf_bytes(elf, place, head, sizeof(head));

	if (!failed)
		*count = plimp_elf_u32(head + 4);
	return failed;
}

/* DT_GNU_HASH does not; the chain of the highest bucket ends with the last. */
static int count_by_gnu_hash(const struct plimp_elf *elf, uint64_t place,
			     uint64_t *count)
{
	uint8_t head[16], block[1024];
	int failed = plimp_elf_bytes(elf, place, head, sizeof(head));

	if (failed)
		return failed;
	uint64_t buckets = plimp_elf_u32(head), first = plimp_elf_u32(head + 4);
	uint64_t at = place + 16 + (uint64_t)plimp_elf_u32(head + 8) * 8;
	uint64_t highest = 0, chains = at + buckets * 4;

	if (buckets > PLIMP_ELF_SYMBOLS)
		return PLIM_ELIMIT;
	while (buckets) {
		size_t part = buckets < 256 ? (size_t)buckets : 256;

		failed = plimp_elf_bytes(elf, at, block, part * 4);
		if (failed)
			return failed;
		for (size_t i = 0; i < part; i++)
			if (plimp_elf_u32(block + 4 * i) > highest)
				highest = plimp_elf_u32(block + 4 * i);
		buckets -= part;
		at += part * 4;
	}
	if (highest < first) {
		*count = first;
		return PLIM_OK;
	}
	for (; highest < PLIMP_ELF_SYMBOLS; highest++) {
		failed = plimp_elf_bytes(elf, chains + (highest - first) * 4,
					 block, 4);
		if (failed)
			return failed;
		if (block[0] & 1) {
			*count = highest + 1;
			return PLIM_OK;
		}
	}
	return PLIM_ELIMIT;
}

enum {
	DYNAMIC_HASH,
	DYNAMIC_STRINGS,
	DYNAMIC_SYMBOLS,
	DYNAMIC_SIZE,
	DYNAMIC_GNU_HASH,
	DYNAMIC_COUNT
};

static int dynamic_index(uint64_t tag)
{
	switch (tag) {
	case 4:
		return DYNAMIC_HASH;
	case 5:
		return DYNAMIC_STRINGS;
	case 6:
		return DYNAMIC_SYMBOLS;
	case 10:
		return DYNAMIC_SIZE;
	case 0x6ffffef5:
		return DYNAMIC_GNU_HASH;
	default:
		return DYNAMIC_COUNT;
	}
}

/* The values of the tags that matter; 0 where one is missing. */
static int read_dynamic(const struct plimp_elf *elf,
			uint64_t values[DYNAMIC_COUNT])
{
	struct plimp_elf_segment dynamic;
	int failed = plimp_elf_segment_find(elf, PLIMP_ELF_DYNAMIC, &dynamic);
	uint64_t place;

	if (failed)
		return failed;
	place =
	    elf->is_loaded ? dynamic.address - elf->loaded_at : dynamic.offset;
	for (uint64_t i = 0; i < 1024 && i < dynamic.file_size / 16; i++) {
		uint8_t entry[16];

		failed = plimp_elf_bytes(elf, place + i * 16, entry, 16);
		if (failed)
			return failed;
		if (!plimp_elf_u64(entry))
			break;
		int index = dynamic_index(plimp_elf_u64(entry));
		if (index < DYNAMIC_COUNT)
			values[index] = plimp_elf_u64(entry + 8);
	}
	return PLIM_OK;
}

static int tables_by_dynamic(const struct plimp_elf *elf,
			     struct plimp_elf_symbol_table *tables)
{
	uint64_t values[DYNAMIC_COUNT] = {0};
	uint64_t place;
	int failed = read_dynamic(elf, values);

	if (failed)
		return failed;
	if (!values[DYNAMIC_STRINGS] || !values[DYNAMIC_SYMBOLS] ||
	    !(values[DYNAMIC_HASH] || values[DYNAMIC_GNU_HASH]))
		return PLIM_ENAME;
	tables->strings_size = values[DYNAMIC_SIZE];
	failed = dynamic_place(elf, values[DYNAMIC_STRINGS], &tables->strings);
	if (!failed)
		failed = dynamic_place(elf, values[DYNAMIC_SYMBOLS],
				       &tables->symbols);
	if (!failed && values[DYNAMIC_HASH]) {
		failed = dynamic_place(elf, values[DYNAMIC_HASH], &place);
		return failed ? failed
			      : count_by_hash(elf, place, &tables->count);
	}
	if (!failed)
		failed = dynamic_place(elf, values[DYNAMIC_GNU_HASH], &place);
	return failed ? failed : count_by_gnu_hash(elf, place, &tables->count);
}

int plimp_elf_symbol_table(const struct plimp_elf *elf, int table,
			   struct plimp_elf_symbol_table *tables)
{
	struct plimp_elf_symbol_table found = {0};
	int failed = tables_by_section(elf,
				       table == PLIMP_ELF_STATIC
					   ? PLIMP_ELF_SYMBOLS_ALL
					   : PLIMP_ELF_SYMBOLS_DYNAMIC,
				       &found);

	if (failed == PLIM_ENAME && table == PLIMP_ELF_DYNAMIC_ONES)
		failed = tables_by_dynamic(elf, &found);
	if (failed)
		return failed;
	if (found.count > PLIMP_ELF_SYMBOLS ||
	    found.strings_size > PLIMP_ELF_STRINGS)
		return PLIM_ELIMIT;
	if (found.strings > elf->size ||
	    found.strings_size > elf->size - found.strings ||
	    found.symbols > elf->size ||
	    found.count > (elf->size - found.symbols) / SYMBOL_BYTES)
		return PLIM_EMALFORMED;
	*tables = found;
	return PLIM_OK;
}

static void keep_place(struct symbol_search *search, size_t name, uint32_t at)
{
	uint8_t *count = &search->places[name];

	for (uint8_t i = 0; i < *count; i++)
		if (search->place[name][i] == at)
			return;
	if (*count < SYMBOL_PLACES)
		search->place[name][(*count)++] = at;
}

/* Names that end at byte `end` of the block, where a NUL is. */
static void match_names(struct symbol_search *search, const uint8_t *block,
			size_t end, uint64_t at)
{
	for (size_t i = 0; i < search->count; i++) {
		size_t length = search->length[i];

		if (length <= end &&
		    block[end - 1] == (uint8_t)search->names[i][length - 1] &&
		    !memcmp(block + end - length, search->names[i], length))
			keep_place(search, i, (uint32_t)(at + end - length));
	}
}

static int find_strings(const struct plimp_elf *elf,
			const struct plimp_elf_symbol_table *tables,
			struct symbol_search *search)
{
	uint8_t block[SYMBOL_BLOCK];

	for (uint64_t at = 0; at < tables->strings_size;) {
		uint64_t left = tables->strings_size - at;
		size_t part =
		    left < sizeof(block) ? (size_t)left : sizeof(block);
		int failed =
		    plimp_elf_bytes(elf, tables->strings + at, block, part);

		if (failed)
			return failed;
		for (size_t end = 0; end < part; end++) {
			const uint8_t *nul = memchr(block + end, 0, part - end);

			if (!nul)
				break;
			end = (size_t)(nul - block);
			if (end)
				match_names(search, block, end, at);
		}
		at += part < sizeof(block) ? part : part - search->longest;
	}
	return PLIM_OK;
}

/* Which of the names this symbol has, or `count`. */
static size_t name_of_symbol(const struct symbol_search *search, uint32_t at)
{
	for (size_t i = 0; i < search->count; i++)
		for (uint8_t k = 0; k < search->places[i]; k++)
			if (search->place[i][k] == at)
				return i;
	return search->count;
}

static void take_symbol(const struct symbol_search *search,
			const uint8_t *entry, struct plimp_elf_symbol *symbols)
{
	size_t name = name_of_symbol(search, plimp_elf_u32(entry));

	/* Section 0 is "not defined here". */
	if (name == search->count || symbols[name].found ||
	    !plimp_elf_u16(entry + 6))
		return;
	symbols[name] = (struct plimp_elf_symbol){
	    .found = 1,
	    .kind = entry[4] & 15,
	    .binding = (uint8_t)(entry[4] >> 4),
	    .section = plimp_elf_u16(entry + 6),
	    .value = plimp_elf_u64(entry + 8),
	    .size = plimp_elf_u64(entry + 16),
	};
}

static int find_symbols(const struct plimp_elf *elf,
			const struct plimp_elf_symbol_table *tables,
			const struct symbol_search *search,
			struct plimp_elf_symbol *symbols)
{
	uint8_t block[SYMBOL_BLOCK];
	uint64_t place = tables->symbols, left = tables->count;

	while (left) {
		size_t part = left < SYMBOL_BLOCK / SYMBOL_BYTES
				  ? (size_t)left
				  : SYMBOL_BLOCK / SYMBOL_BYTES;
		int failed =
		    plimp_elf_bytes(elf, place, block, part * SYMBOL_BYTES);

		if (failed)
			return failed;
		for (size_t i = 0; i < part; i++)
			take_symbol(search, block + i * SYMBOL_BYTES, symbols);
		place += part * SYMBOL_BYTES;
		left -= part;
	}
	return PLIM_OK;
}

int plimp_elf_symbols_find(const struct plimp_elf *elf, int table,
			   const char *const *names, size_t count,
			   struct plimp_elf_symbol *symbols)
{
	struct symbol_search search = {.names = names, .count = count};
	struct plimp_elf_symbol found[PLIMP_ELF_NAMES] = {{0}};
	struct plimp_elf_symbol_table tables;
	size_t wanted = 0;

	assert(count && count <= PLIMP_ELF_NAMES);
	int failed = plimp_elf_symbol_table(elf, table, &tables);
	if (failed)
		return failed;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(names[i]);

		assert(length && length < SYMBOL_NAME);
		search.length[i] = (uint8_t)length;
		if (length > search.longest)
			search.longest = length;
	}
	failed = find_strings(elf, &tables, &search);
	for (size_t i = 0; i < count; i++)
		wanted += search.places[i];
	if (!failed && wanted)
		failed = find_symbols(elf, &tables, &search, found);
	if (failed)
		return failed;
	memcpy(symbols, found, count * sizeof(*symbols));
	return PLIM_OK;
}
