/*
 * test_symbols.c - tables of symbols of ELF files that the test puts together:
 * the alias rule row by row, overlaps and gaps, stubs of the PLT, and files
 * that lie.
 */
#include "counting.h"
#include "invented_elf.h"
#include "unwind/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct counting counting;

/* What `elf` and `debug` have, as one table; NULL where building fails, which
 * then must be with `expected`. */
static struct plimp_symbols *
table_of(const struct invented *elf, const struct invented *debug, int expected)
{
	plim_allocator allocator = counting_allocator(&counting);
	struct plimp_symbols *symbols = NULL;
	struct plimp_elf own, other;
	plim_error error = {.code = PLIM_OK};

	assert_int_equal(plimp_elf_open(&own, &elf->reader, 0, elf->size), 0);
	if (debug)
		assert_int_equal(
		    plimp_elf_open(&other, &debug->reader, 0, debug->size), 0);
	assert_int_equal(plimp_symbols_build(&symbols, &own,
					     debug ? &other : NULL, &allocator,
					     &error),
			 expected);
	assert_int_equal(error.code, expected);
	if (expected)
		assert_null(symbols);
	return symbols;
}

static void drop(struct plimp_symbols *symbols)
{
	plim_allocator allocator = counting_allocator(&counting);

	plimp_symbols_free(symbols, &allocator);
	assert_int_equal(counting.live, 0);
}

/* The name at an address, "" for none. */
static const char *name_at(const struct plimp_symbols *symbols, uint64_t at)
{
	static char text[256];
	struct plimp_symbol symbol;
	int code = plimp_symbols_find(symbols, at, &symbol);

	if (code) {
		assert_int_equal(code, PLIM_ENAME);
		return "";
	}
	assert_in_range(at, symbol.start, symbol.start + symbol.size - 1);
	assert_in_range(symbol.name.size, 1, sizeof(text) - 1);
	memcpy(text, symbol.name.data, symbol.name.size);
	text[symbol.name.size] = '\0';
	return text;
}

enum { NONE = 0, OBJECT = 1, FUNC = 2, IFUNC = 10 };
enum { LOCAL = 0, GLOBAL = 1, WEAK = 2, UNIQUE = 10 };
#define T INVENTED_TEXT
#define S INVENTED_S_TEXT

/* The alias rule: of two symbols at one address, `a` is the better one. */
static const struct alias_row {
	struct invented_symbol a, b;
} alias_rows[] = {
    /* typed before untyped, whatever the binding */
    {{"f", T, 16, FUNC, LOCAL, S}, {"g", T, 0, NONE, GLOBAL, S}},
    {{"f", T, 0, FUNC, LOCAL, S}, {"g", T, 16, NONE, GLOBAL, S}},
    {{"f", T, 16, IFUNC, LOCAL, S}, {"g", T, 16, NONE, GLOBAL, S}},
    /* global before weak before local */
    {{"__long_one", T, 16, FUNC, GLOBAL, S}, {"w", T, 16, FUNC, WEAK, S}},
    {{"__long_one", T, 16, FUNC, WEAK, S}, {"l", T, 16, FUNC, LOCAL, S}},
    {{"__long_one", T, 16, FUNC, UNIQUE, S}, {"w", T, 16, FUNC, WEAK, S}},
    {{"f", T, 0, FUNC, GLOBAL, S}, {"w", T, 16, FUNC, WEAK, S}},
    /* sized before unsized */
    {{"__long_one", T, 16, FUNC, GLOBAL, S}, {"g", T, 0, FUNC, GLOBAL, S}},
    /* fewest leading underscores */
    {{"longer_name", T, 16, FUNC, WEAK, S}, {"_x", T, 16, FUNC, WEAK, S}},
    {{"_longer", T, 16, FUNC, WEAK, S}, {"__x", T, 16, FUNC, WEAK, S}},
    {{"malloc", T, 16, FUNC, GLOBAL, S},
     {"__libc_malloc", T, 16, FUNC, GLOBAL, S}},
    /* the shortest */
    {{"read", T, 16, FUNC, WEAK, S}, {"pread", T, 16, FUNC, WEAK, S}},
    /* the first by its bytes */
    {{"fork_a", T, 16, FUNC, WEAK, S}, {"fork_b", T, 16, FUNC, WEAK, S}},
    {{"Fork", T, 16, FUNC, GLOBAL, S}, {"fork", T, 16, FUNC, GLOBAL, S}},
    /* a function and an ifunc are alike */
    {{"a", T, 16, IFUNC, GLOBAL, S}, {"b", T, 16, FUNC, GLOBAL, S}},
};

static void test_alias_rule(void **state)
{
	static struct invented file;

	(void)state;
	for (size_t i = 0; i < sizeof(alias_rows) / sizeof(*alias_rows); i++)
		for (int turn = 0; turn < 2; turn++) {
			struct invented_symbol both[2] = {alias_rows[i].a,
							  alias_rows[i].b};

			if (turn) {
				both[0] = alias_rows[i].b;
				both[1] = alias_rows[i].a;
			}
			invented_make(&file, 62);
			invented_symbols(&file, 0, both, 2);
			struct plimp_symbols *symbols =
			    table_of(&file, NULL, PLIM_OK);

			assert_string_equal(name_at(symbols, T),
					    alias_rows[i].a.name);
			assert_string_equal(name_at(symbols, T + 15),
					    alias_rows[i].a.name);
			drop(symbols);
		}
}

/* Sizes are respected: what no symbol covers has no name. */
static void test_gaps(void **state)
{
	static const struct invented_symbol list[] = {
	    {"sized", T + 0x100, 0x10, FUNC, GLOBAL, S},
	    {"next", T + 0x200, 0x20, FUNC, GLOBAL, S},
	    {"unsized", T + 0x300, 0, FUNC, GLOBAL, S},
	    {"label", T + 0x380, 0, NONE, LOCAL, S},
	    {"last", T + 0x400, 0x10, FUNC, GLOBAL, S},
	    {"inner_label", T + 0x208, 0, NONE, GLOBAL, S},
	    {"inner_unsized", T + 0x20c, 0, FUNC, GLOBAL, S},
	    {"end", T + 0xf00, 0, FUNC, GLOBAL, S},
	    {"cold", INVENTED_COLD, 0, NONE, GLOBAL, INVENTED_S_COLD},
	    {"after_text", T + 0x1000, 0, NONE, GLOBAL, S},
	    {"beyond", INVENTED_COLD + 0xff0, 0x40, FUNC, GLOBAL,
	     INVENTED_S_COLD},
	};
	static const struct {
		uint64_t at;
		const char *name;
	} truth[] = {
	    {0, ""},
	    {T + 0xff, ""},
	    {T + 0x100, "sized"},
	    {T + 0x10f, "sized"},
	    {T + 0x110, ""},
	    {T + 0x1ff, ""},
	    {T + 0x200, "next"},
	    {T + 0x208, "next"},
	    {T + 0x20c, "next"},
	    {T + 0x21f, "next"},
	    {T + 0x220, ""},
	    {T + 0x300, "unsized"},
	    {T + 0x37f, "unsized"},
	    {T + 0x380, "label"},
	    {T + 0x3ff, "label"},
	    {T + 0x400, "last"},
	    {T + 0x410, ""},
	    {T + 0xeff, ""},
	    {T + 0xf00, "end"},
	    {T + 0xfff, "end"},
	    {T + 0x1000, ""},
	    {INVENTED_COLD - 1, ""},
	    {INVENTED_COLD, "cold"},
	    {INVENTED_COLD + 0xfef, "cold"},
	    {INVENTED_COLD + 0xff0, "beyond"},
	    {INVENTED_COLD + 0xfff, "beyond"},
	    {INVENTED_COLD + 0x1000, ""},
	    {INVENTED_DATA, ""},
	    {UINT64_MAX, ""},
	};
	static struct invented file;

	(void)state;
	invented_make(&file, 62);
	invented_symbols(&file, 0, list, sizeof(list) / sizeof(*list));
	struct plimp_symbols *symbols = table_of(&file, NULL, PLIM_OK);

	for (size_t i = 0; i < sizeof(truth) / sizeof(*truth); i++)
		assert_string_equal(name_at(symbols, truth[i].at),
				    truth[i].name);
	drop(symbols);
}

/* Of functions that overlap the one that begins last has the address. */
static void test_overlaps(void **state)
{
	static const struct invented_symbol list[] = {
	    {"outer", T, 0x100, FUNC, GLOBAL, S},
	    {"inner", T + 0x40, 0x20, FUNC, LOCAL, S},
	    {"straddles", T + 0xf0, 0x20, FUNC, LOCAL, S},
	    /* at one start: the better name has what it covers */
	    {"short_global", T + 0x200, 0x10, FUNC, GLOBAL, S},
	    {"long_local", T + 0x200, 0x40, FUNC, LOCAL, S},
	    {"long_global", T + 0x300, 0x40, FUNC, GLOBAL, S},
	    {"short_local", T + 0x300, 0x10, FUNC, LOCAL, S},
	};
	static const struct {
		uint64_t at;
		const char *name;
		uint64_t start;
	} truth[] = {
	    {T, "outer", T},
	    {T + 0x3f, "outer", T},
	    {T + 0x40, "inner", T + 0x40},
	    {T + 0x5f, "inner", T + 0x40},
	    {T + 0x60, "outer", T},
	    {T + 0xef, "outer", T},
	    {T + 0xf0, "straddles", T + 0xf0},
	    {T + 0x10f, "straddles", T + 0xf0},
	    {T + 0x20f, "short_global", T + 0x200},
	    {T + 0x210, "long_local", T + 0x200},
	    {T + 0x23f, "long_local", T + 0x200},
	    {T + 0x30f, "long_global", T + 0x300},
	    {T + 0x33f, "long_global", T + 0x300},
	};
	static struct invented file;
	struct plimp_symbol symbol;

	(void)state;
	invented_make(&file, 62);
	invented_symbols(&file, 0, list, sizeof(list) / sizeof(*list));
	struct plimp_symbols *symbols = table_of(&file, NULL, PLIM_OK);

	for (size_t i = 0; i < sizeof(truth) / sizeof(*truth); i++) {
		assert_string_equal(name_at(symbols, truth[i].at),
				    truth[i].name);
		assert_int_equal(
		    plimp_symbols_find(symbols, truth[i].at, &symbol), 0);
		assert_int_equal(symbol.start, truth[i].start);
	}
	drop(symbols);
}

/* No object, nothing undefined, absolute or without a name, no mapping symbol
 * and no label of the assembler names code; nor what lies elsewhere. */
static void test_what_is_no_function(void **state)
{
	static const struct invented_symbol list[] = {
	    {"object", T, 16, OBJECT, GLOBAL, S},
	    {"undefined", T, 16, FUNC, GLOBAL, 0},
	    {"absolute", T, 16, FUNC, GLOBAL, 0xfff1},
	    {"", T, 16, FUNC, GLOBAL, S},
	    {"$x", T, 0, NONE, LOCAL, S},
	    {"$d.12", T + 4, 0, NONE, LOCAL, S},
	    {".Ltmp", T, 0, NONE, LOCAL, S},
	    {"elsewhere", INVENTED_DATA, 16, FUNC, GLOBAL, INVENTED_S_DATA},
	    {"data", INVENTED_DATA, 0, NONE, GLOBAL, INVENTED_S_DATA},
	    {"lies", T, 16, FUNC, GLOBAL, INVENTED_S_COLD},
	};
	static struct invented file;

	(void)state;
	invented_make(&file, 183);
	invented_symbols(&file, 0, list, sizeof(list) / sizeof(*list));
	assert_null(table_of(&file, NULL, PLIM_ENAME));
	/* But of another machine a dollar is a name. */
	invented_make(&file, 62);
	invented_symbols(&file, 0, list, sizeof(list) / sizeof(*list));
	struct plimp_symbols *symbols = table_of(&file, NULL, PLIM_OK);

	assert_string_equal(name_at(symbols, T), "$x");
	assert_string_equal(name_at(symbols, T + 4), "$d.12");
	assert_int_equal(plimp_symbols_facts(symbols).rejected, 2);
	drop(symbols);
}

/* A debug file names what the module has in its dynamic table, and more; a
 * version behind the name is cut off. */
static void test_debug_file(void **state)
{
	static const struct invented_symbol dynamic[] = {
	    {"write", T, 16, FUNC, WEAK, S},
	    {"only_dynamic", T + 0x80, 16, FUNC, GLOBAL, S},
	};
	static const struct invented_symbol full[] = {
	    {"write@@GLIBC_2.2.5", T, 16, FUNC, WEAK, S},
	    {"hidden", T + 0x40, 16, FUNC, LOCAL, S},
	    {"@odd", T + 0xc0, 16, FUNC, LOCAL, S},
	    {"far", INVENTED_END, 16, FUNC, LOCAL, 0xffff},
	};
	static struct invented file, debug;
	struct plimp_symbol symbol;

	(void)state;
	invented_make(&file, 62);
	invented_symbols(&file, 1, dynamic, 2);
	invented_make(&debug, 62);
	invented_symbols(&debug, 0, full, 4);
	struct plimp_symbols *symbols = table_of(&file, NULL, PLIM_OK);

	assert_int_equal(plimp_symbols_facts(symbols).source,
			 PLIMP_SYMBOL_DYNSYM);
	assert_string_equal(name_at(symbols, T), "write");
	assert_string_equal(name_at(symbols, T + 0x40), "");
	drop(symbols);
	symbols = table_of(&file, &debug, PLIM_OK);
	assert_int_equal(plimp_symbols_facts(symbols).source,
			 PLIMP_SYMBOL_DEBUG_FILE);
	assert_int_equal(plimp_symbols_facts(symbols).pieces, 4);
	assert_string_equal(name_at(symbols, T), "write");
	assert_int_equal(plimp_symbols_find(symbols, T, &symbol), 0);
	assert_int_equal(symbol.source, PLIMP_SYMBOL_DEBUG_FILE);
	assert_string_equal(name_at(symbols, T + 0x40), "hidden");
	assert_string_equal(name_at(symbols, T + 0xc0), "@odd");
	assert_string_equal(name_at(symbols, T + 0x8f), "only_dynamic");
	assert_int_equal(plimp_symbols_find(symbols, T + 0x8f, &symbol), 0);
	assert_int_equal(symbol.source, PLIMP_SYMBOL_DYNSYM);
	drop(symbols);
}

static void code_at(struct invented *file, uint64_t address,
		    const uint8_t *code, size_t size)
{
	memcpy(file->bytes + (address - INVENTED_AT), code, size);
}

static void jump_at(struct invented *file, uint64_t address, uint64_t slot)
{
	uint8_t code[6] = {0xff, 0x25};
	uint32_t far = (uint32_t)(slot - (address + 6));

	for (int i = 0; i < 4; i++)
		code[2 + i] = (uint8_t)(far >> 8 * i);
	code_at(file, address, code, sizeof(code));
}

static const struct invented_symbol imported[] = {
    {"memcpy", 0, 0, FUNC, GLOBAL, 0},
    {"_Znwm", 0, 0, FUNC, GLOBAL, 0},
    {"strlen", 0, 0, FUNC, GLOBAL, 0},
};

static void test_plt_x86_64(void **state)
{
	static const uint8_t first[] = {0xff, 0x35, 2, 0, 0, 0};
	static const uint8_t marked[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xf2};
	static const uint8_t lazy[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1};
	static struct invented file;
	struct plimp_symbol symbol;

	(void)state;
	invented_make(&file, 62);
	invented_symbols(&file, 1, imported, 3);
	invented_relocations(&file, 3);
	code_at(&file, INVENTED_PLT, first, sizeof(first));
	jump_at(&file, INVENTED_PLT + 6, INVENTED_SLOTS - 8);
	jump_at(&file, INVENTED_PLT + 16, INVENTED_SLOTS + 16);
	code_at(&file, INVENTED_PLT + 32, marked, sizeof(marked));
	jump_at(&file, INVENTED_PLT + 32 + 5, INVENTED_SLOTS);
	code_at(&file, INVENTED_PLT + 48, lazy, sizeof(lazy));
	jump_at(&file, INVENTED_PLT + 64, INVENTED_SLOTS + 24);
	struct plimp_symbols *symbols = table_of(&file, NULL, PLIM_OK);

	assert_string_equal(name_at(symbols, INVENTED_PLT), "");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 16), "strlen@plt");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 31), "strlen@plt");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 32), "memcpy@plt");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 48), "_Znwm@plt");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 64), "");
	assert_int_equal(
	    plimp_symbols_find(symbols, INVENTED_PLT + 20, &symbol), 0);
	assert_int_equal(symbol.source, PLIMP_SYMBOL_PLT);
	assert_int_equal(symbol.start, INVENTED_PLT + 16);
	assert_int_equal(symbol.size, 16);
	drop(symbols);
}

/* bti c; adrp x16, page; ldr x17, [x16, #low]; add; br x17: as GNU ld 2.40
 * writes them. */
static void test_plt_aarch64(void **state)
{
	static struct invented file;

	(void)state;
	invented_make(&file, 183);
	invented_symbols(&file, 1, imported, 3);
	invented_relocations(&file, 3);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t pages = (INVENTED_SLOTS >> 12) - (INVENTED_PLT >> 12);
		uint32_t low = (INVENTED_SLOTS & 0xfff) / 8 + i;
		uint32_t code[4] = {
		    0x90000010u | (pages & 3) << 29 | (pages >> 2) << 5,
		    0xf9400211u | low << 10, 0x91000210u, 0xd61f0220u};

		code_at(&file, INVENTED_PLT + 32 + i * 16,
			(const uint8_t *)code, sizeof(code));
	}
	struct plimp_symbols *symbols = table_of(&file, NULL, PLIM_OK);

	assert_string_equal(name_at(symbols, INVENTED_PLT + 31), "");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 32), "memcpy@plt");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 47), "memcpy@plt");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 48), "_Znwm@plt");
	assert_string_equal(name_at(symbols, INVENTED_PLT + 64), "");
	drop(symbols);
}

/* Functions in disorder, each found from its first byte to its
 * last, with its own name. */
static void test_many(void **state)
{
	enum { MANY = 600 };
	static struct invented_symbol list[MANY];
	static char names[MANY][8];
	static struct invented file;

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		unsigned at = i * 7919u % MANY;

		snprintf(names[i], sizeof(names[i]), "f%u", at);
		list[i] = (struct invented_symbol){names[i], T + at * 6, 5,
						   FUNC,     LOCAL,	 S};
	}
	invented_make(&file, 62);
	invented_symbols(&file, 0, list, MANY);
	struct plimp_symbols *symbols = table_of(&file, NULL, PLIM_OK);

	for (unsigned i = 0; i < MANY * 6; i++) {
		char name[8] = "";

		if (i % 6 < 5)
			snprintf(name, sizeof(name), "f%u", i / 6);
		assert_string_equal(name_at(symbols, T + i), name);
	}
	assert_int_equal(plimp_symbols_facts(symbols).pieces, MANY);
	assert_int_equal(plimp_symbols_facts(symbols).seen, MANY + 1);
	drop(symbols);
}

/* Every byte of a file's tables and headers changed, and the file cut at every
 * length: no crash, no leak, and what is built can be asked. */
static void test_hostile(void **state)
{
	static const struct invented_symbol list[] = {
	    {"a", T, 16, FUNC, GLOBAL, S},
	    {"b", T + 8, 64, FUNC, WEAK, S},
	    {"c", T + 32, 0, NONE, GLOBAL, S},
	};
	static const struct {
		uint64_t from, to;
	} parts[] = {
	    {0, 64 + 56},	   {0x9000, 0x9000 + 64 * INVENTED_SECTIONS},
	    {0x9800, 0x9800 + 72}, {0xa000, 0xa000 + 96},
	    {0xe000, 0xe010},	   {0x12000, 0x12000 + 96}};
	static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
	static struct invented whole, file;

	(void)state;
	invented_make(&whole, 62);
	invented_symbols(&whole, 0, list, 3);
	invented_symbols(&whole, 1, imported, 3);
	invented_relocations(&whole, 3);
	jump_at(&whole, INVENTED_PLT + 16, INVENTED_SLOTS);
	for (size_t p = 0; p < sizeof(parts) / sizeof(*parts); p++)
		for (uint64_t i = parts[p].from; i < parts[p].to; i++)
			for (size_t v = 0; v < sizeof(values); v++) {
				plim_allocator allocator =
				    counting_allocator(&counting);
				struct plimp_symbols *symbols = NULL;
				struct plimp_elf elf;

				file = whole;
				file.reader.user = &file;
				file.bytes[i] = values[v];
				if (plimp_elf_open(&elf, &file.reader, 0,
						   file.size))
					continue;
				if (!plimp_symbols_build(&symbols, &elf, &elf,
							 &allocator, NULL)) {
					for (unsigned at = 0; at < 64; at++)
						name_at(symbols, T + at);
					plimp_symbols_free(symbols, &allocator);
				}
				assert_int_equal(counting.live, 0);
			}
	for (uint64_t size = 0; size < INVENTED_SIZE; size += 97) {
		plim_allocator allocator = counting_allocator(&counting);
		struct plimp_symbols *symbols = NULL;
		struct plimp_elf elf;

		file = whole;
		file.reader.user = &file;
		file.size = size;
		if (plimp_elf_open(&elf, &file.reader, 0, size))
			continue;
		if (!plimp_symbols_build(&symbols, &elf, NULL, &allocator,
					 NULL))
			drop(symbols);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_alias_rule),
	    cmocka_unit_test(test_gaps),
	    cmocka_unit_test(test_overlaps),
	    cmocka_unit_test(test_what_is_no_function),
	    cmocka_unit_test(test_debug_file),
	    cmocka_unit_test(test_plt_x86_64),
	    cmocka_unit_test(test_plt_aarch64),
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
