/*
 * test_elf.c - an ELF file that the test puts together byte by byte, so that
 * it knows what is in it; then the same file cut, and with every byte changed.
 */
#include "elf/elf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
	PAGE = 4096,
	SIZE = 6 * PAGE + 640,
	NOTES = 0x200,
	DYNAMIC = 0x300,
	SYMBOLS = 0x400, /* four symbols */
	HASH = 0x480,
	STRINGS = 0x500,
	STRINGS_SIZE = 64,
	LINK = 0x600,
	NAMES = 0x700,
	SECTIONS = 6 * PAGE,
	SECTION_COUNT = 7,
	SYMBOL_COUNT = 4
};
/* Where the file would like to be, and where it is in "memory". */
#define AT   0x400000u
#define BASE 0x7f0000001000u

struct file {
	uint8_t bytes[SIZE];
	uint64_t base; /* address of byte 0 */
	uint64_t size;
	uint64_t missing; /* a page that is not there, or 1 */
	int failure;
};

static int file_pages(void *user, uint64_t address, size_t count,
		      uint8_t *pages)
{
	const struct file *file = user;

	if (file->failure)
		return file->failure;
	for (size_t i = 0; i < count; i++) {
		uint64_t page = address + i * PAGE;

		pages[i] = page >= file->base &&
				   page - file->base < file->size &&
				   page != file->missing
			       ? PLIMP_PAGE_READABLE
			       : 0;
	}
	return PLIM_OK;
}

static int file_read(void *user, uint64_t address, void *buffer, size_t size,
		     size_t *copied)
{
	const struct file *file = user;
	uint64_t at = address - file->base;

	assert_true(at < file->size);
	if (size > file->size - at)
		size = file->size - at;
	for (uint64_t i = 0; i < size; i++)
		assert_int_not_equal((address + i) & ~(uint64_t)(PAGE - 1),
				     file->missing);
	memcpy(buffer, file->bytes + at, size);
	*copied = size;
	return PLIM_OK;
}

static struct plimp_reader reader_of(struct file *file)
{
	return (struct plimp_reader){.page_bytes = PAGE,
				     .pages = file_pages,
				     .read = file_read,
				     .user = file};
}

static void put(struct file *file, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		file->bytes[at + i] = (uint8_t)(value >> 8 * i);
}

static void put_header(struct file *file)
{
	memcpy(file->bytes, "\177ELF\2\1\1", 7);
	put(file, 16, 3, 2);  /* ET_DYN */
	put(file, 18, 62, 2); /* EM_X86_64 */
	put(file, 20, 1, 4);  /* EV_CURRENT */
	put(file, 24, AT + 0x123, 8);
	put(file, 32, 64, 8);	    /* program headers */
	put(file, 40, SECTIONS, 8); /* section headers */
	put(file, 54, 56, 2);
	put(file, 56, 4, 2);
	put(file, 58, 64, 2);
	put(file, 60, SECTION_COUNT, 2);
	put(file, 62, SECTION_COUNT - 1, 2);
}

static void put_segment(struct file *file, size_t index, uint32_t type,
			uint64_t offset, uint64_t address, uint64_t size,
			uint64_t align)
{
	size_t at = 64 + 56 * index;

	put(file, at, type, 4);
	put(file, at + 4, 6, 4);
	put(file, at + 8, offset, 8);
	put(file, at + 16, address, 8);
	put(file, at + 32, size, 8);
	put(file, at + 40, size + 0x100, 8);
	put(file, at + 48, align, 8);
}

static void put_section(struct file *file, size_t index, uint32_t name,
			uint32_t type, uint64_t offset, uint64_t size,
			uint32_t link, uint64_t entry)
{
	size_t at = SECTIONS + 64 * index;

	put(file, at, name, 4);
	put(file, at + 4, type, 4);
	put(file, at + 24, offset, 8);
	put(file, at + 32, size, 8);
	put(file, at + 40, link, 4);
	put(file, at + 48, 4, 8);
	put(file, at + 56, entry, 8);
}

static void put_symbol(struct file *file, size_t index, uint32_t name,
		       uint8_t info, uint16_t section, uint64_t value,
		       uint64_t size)
{
	size_t at = SYMBOLS + 24 * index;

	put(file, at, name, 4);
	put(file, at + 4, info, 1);
	put(file, at + 6, section, 2);
	put(file, at + 8, value, 8);
	put(file, at + 16, size, 8);
}

static void put_note(struct file *file, size_t *at, const char *owner,
		     uint32_t type, const char *body, size_t size)
{
	size_t length = strlen(owner) + 1;

	put(file, *at, length, 4);
	put(file, *at + 4, size, 4);
	put(file, *at + 8, type, 4);
	memcpy(file->bytes + *at + 12, owner, length);
	*at += 12 + ((length + 3) & ~(size_t)3);
	memcpy(file->bytes + *at, body, size);
	*at += (size + 3) & ~(size_t)3;
}

/* ".text" is not there, "a" is the tail of "main_a". */
static void make(struct file *file)
{
	static const char names[] =
	    "\0.note\0.symtab\0.dynsym\0.strtab\0.gnu_debuglink\0.shstrtab";
	static const char strings[] = "\0main_a\0undefined\0mp_\0";
	size_t at = NOTES;

	memset(file, 0, sizeof(*file));
	file->size = SIZE;
	file->missing = 1;
	put_header(file);
	put_segment(file, 0, PLIMP_ELF_LOAD, 0, AT, 2 * PAGE, PAGE);
	put_segment(file, 1, PLIMP_ELF_NOTE, NOTES, AT + NOTES, 0x60, 4);
	put_segment(file, 2, PLIMP_ELF_DYNAMIC, DYNAMIC, AT + DYNAMIC, 0x60, 8);
	put_segment(file, 3, PLIMP_ELF_LOAD, 2 * PAGE + 0x80,
		    AT + 4 * PAGE + 0x80, PAGE - 0x80, PAGE);
	put_note(file, &at, "Go", 4, "go id", 5);
	put_note(file, &at, "GNU", 1, "abi", 3);
	put_note(file, &at, "GNU", 3, "0123456789abcdefghij", 20);
	memcpy(file->bytes + STRINGS, strings, sizeof(strings));
	put_symbol(file, 1, 1, 0x11, 2, AT + 0x4321, 2200);
	put_symbol(file, 2, 8, 0x12, 0, 0, 0);
	put_symbol(file, 3, 6, 0x02, 1, AT + 0x99, 7);
	memcpy(file->bytes + LINK, "libc.debug\0\0\x78\x56\x34\x12", 16);
	memcpy(file->bytes + NAMES, names, sizeof(names));
	put_section(file, 1, 1, PLIMP_ELF_SECTION_NOTE, NOTES, 0x60, 0, 0);
	put_section(file, 2, 7, PLIMP_ELF_SYMBOLS_ALL, SYMBOLS,
		    SYMBOL_COUNT * 24, 4, 24);
	put_section(file, 3, 15, PLIMP_ELF_SYMBOLS_DYNAMIC, SYMBOLS, 2 * 24, 4,
		    24);
	put_section(file, 4, 23, PLIMP_ELF_STRINGS_TABLE, STRINGS, STRINGS_SIZE,
		    0, 0);
	put_section(file, 5, 31, 1, LINK, 16, 0, 0);
	put_section(file, 6, 46, PLIMP_ELF_STRINGS_TABLE, NAMES, sizeof(names),
		    0, 0);
	/* DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_HASH: nchain is 4. */
	put(file, DYNAMIC, 5, 8);
	put(file, DYNAMIC + 8, AT + STRINGS, 8);
	put(file, DYNAMIC + 16, 6, 8);
	put(file, DYNAMIC + 24, AT + SYMBOLS, 8);
	put(file, DYNAMIC + 32, 10, 8);
	put(file, DYNAMIC + 40, STRINGS_SIZE, 8);
	put(file, DYNAMIC + 48, 4, 8);
	put(file, DYNAMIC + 56, AT + HASH, 8);
	put(file, HASH, 1, 4);
	put(file, HASH + 4, SYMBOL_COUNT, 4);
}

/* The module as it lies in memory from BASE on. */
static void load(struct file *file)
{
	file->base = BASE;
	memset(file->bytes + SECTIONS, 0xee, SIZE - SECTIONS);
}

static void header_is_taken(void **state)
{
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	struct plimp_elf_segment segment;
	uint64_t bias;

	(void)state;
	make(&file);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE), PLIM_OK);
	assert_int_equal(elf.type, 3);
	assert_int_equal(elf.machine, 62);
	assert_int_equal(elf.entry, AT + 0x123);
	assert_int_equal(elf.segment_count, 4);
	assert_int_equal(elf.section_count, SECTION_COUNT);
	assert_int_equal(plimp_elf_segment(&elf, 3, &segment), PLIM_OK);
	assert_int_equal(segment.offset, 2 * PAGE + 0x80);
	assert_int_equal(segment.address, AT + 4 * PAGE + 0x80);
	assert_int_equal(segment.memory_size, PAGE + 0x80);
	assert_int_equal(plimp_elf_segment(&elf, 4, &segment), PLIM_ENAME);
	assert_int_equal(
	    plimp_elf_segment_find(&elf, PLIMP_ELF_INTERPRETER, &segment),
	    PLIM_ENAME);
	/* The page that holds the second segment's start, mapped anywhere. */
	assert_int_equal(plimp_elf_bias(&elf, 2 * PAGE, 0x7000000, &bias),
			 PLIM_OK);
	assert_true(bias == 0x7000000 - (AT + 4 * PAGE));
	assert_int_equal(plimp_elf_bias(&elf, 0, AT, &bias), PLIM_OK);
	assert_int_equal(bias, 0);
	assert_int_equal(plimp_elf_bias(&elf, 99 * PAGE, AT, &bias),
			 PLIM_ENAME);
}

static void segments_share_a_page(void **state)
{
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	uint64_t bias = 77;

	(void)state;
	make(&file);
	/* As lld does: the first ends in the page that the other begins in. */
	put_segment(&file, 0, PLIMP_ELF_LOAD, 0, AT, 2 * PAGE + 0x80, PAGE);
	put(&file, 64 + 56 * 3 + 4, 5, 4);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE), PLIM_OK);
	assert_int_equal(plimp_elf_bias_of_code(&elf, 0, AT, &bias),
			 PLIM_ENAME);
	assert_int_equal(bias, 77);
	assert_int_equal(plimp_elf_bias(&elf, 2 * PAGE, 0x7000000, &bias),
			 PLIM_OK);
	assert_true(bias == 0x7000000 - (AT + 4 * PAGE));
	assert_int_equal(plimp_elf_bias(&elf, PAGE, 0x7000000, &bias), PLIM_OK);
	assert_true(bias == 0x7000000 - (AT + PAGE));
	/* Both begin in it: only the mapping's right to execute tells. */
	put_segment(&file, 0, PLIMP_ELF_LOAD, 2 * PAGE, AT, 0x80, PAGE);
	assert_int_equal(
	    plimp_elf_bias_of_code(&elf, 2 * PAGE, 0x7000000, &bias), PLIM_OK);
	assert_true(bias == 0x7000000 - (AT + 4 * PAGE));
}

static void sections_are_found(void **state)
{
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	struct plimp_elf_section section = {.size = 77};
	char name[32] = "untouched";
	uint32_t crc = 5;

	(void)state;
	make(&file);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE), PLIM_OK);
	assert_int_equal(plimp_elf_section_find(&elf, ".strtab", &section),
			 PLIM_OK);
	assert_int_equal(section.offset, STRINGS);
	assert_int_equal(plimp_elf_section_find(&elf, ".str", &section),
			 PLIM_ENAME);
	assert_int_equal(section.offset, STRINGS);
	assert_int_equal(plimp_elf_debug_link(&elf, name, 5, &crc),
			 PLIM_EMALFORMED);
	assert_string_equal(name, "untouched");
	assert_int_equal(plimp_elf_debug_link(&elf, name, sizeof(name), &crc),
			 PLIM_OK);
	assert_string_equal(name, "libc.debug");
	assert_int_equal(crc, 0x12345678);
	file.bytes[LINK + 4] = '/';
	assert_int_equal(plimp_elf_debug_link(&elf, name, sizeof(name), &crc),
			 PLIM_EMALFORMED);
}

static void symbols_are_found(void **state)
{
	static const char *const names[] = {"a", "main_a", "undefined", "mp_",
					    "ain"};
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	struct plimp_elf_symbol symbols[5];

	(void)state;
	make(&file);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE), PLIM_OK);
	assert_int_equal(
	    plimp_elf_symbols_find(&elf, PLIMP_ELF_STATIC, names, 5, symbols),
	    PLIM_OK);
	assert_true(symbols[0].found && symbols[0].value == AT + 0x99);
	assert_int_equal(symbols[0].binding, 0);
	assert_true(symbols[1].found && symbols[1].value == AT + 0x4321);
	assert_int_equal(symbols[1].size, 2200);
	assert_int_equal(symbols[1].kind, 1);
	assert_int_equal(symbols[1].binding, 1);
	assert_false(symbols[2].found); /* named, not defined */
	assert_false(symbols[3].found); /* a string, no symbol */
	assert_false(symbols[4].found);
	/* .dynsym has the first two alone. */
	assert_int_equal(plimp_elf_symbols_find(&elf, PLIMP_ELF_DYNAMIC_ONES,
						names, 5, symbols),
			 PLIM_OK);
	assert_false(symbols[0].found);
	assert_true(symbols[1].found);
}

/* A string table longer than the 16,320 bytes that are read at once: the name
 * lies over the border of two reads. */
static void long_string_table(void **state)
{
	static const char *const names[] = {"main_arena"};
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	struct plimp_elf_symbol symbol;

	(void)state;
	for (uint32_t place = 16300; place < 16330; place++) {
		make(&file);
		put_section(&file, 4, 23, PLIMP_ELF_STRINGS_TABLE, 0x800,
			    0x5000, 0, 0);
		memset(file.bytes + 0x800, 'x', 0x5000);
		memcpy(file.bytes + 0x800 + place, "\0main_arena", 12);
		put_symbol(&file, 3, place + 1, 0x02, 1, AT + place, 7);
		assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE),
				 PLIM_OK);
		assert_int_equal(plimp_elf_symbols_find(&elf, PLIMP_ELF_STATIC,
							names, 1, &symbol),
				 PLIM_OK);
		assert_true(symbol.found && symbol.value == AT + place);
	}
}

static void notes_are_found(void **state)
{
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	uint8_t id[PLIMP_ELF_ID];
	char text[8] = "";
	size_t size = 1;

	(void)state;
	make(&file);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE), PLIM_OK);
	assert_int_equal(plimp_elf_build_id(&elf, id, &size), PLIM_OK);
	assert_int_equal(size, 20);
	assert_memory_equal(id, "0123456789abcdefghij", 20);
	assert_int_equal(plimp_elf_note_find(&elf, "Go", 4, text, 2, &size),
			 PLIM_OK);
	assert_int_equal(size, 5);
	assert_string_equal(text, "go");
	assert_int_equal(plimp_elf_note_find(&elf, "GNU", 4, text, 2, &size),
			 PLIM_ENAME);
	/* Without program headers the section still has them. */
	put(&file, 56, 0, 2);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE), PLIM_OK);
	assert_int_equal(plimp_elf_build_id(&elf, id, &size), PLIM_OK);
	assert_int_equal(size, 20);
}

static void module_in_memory(void **state)
{
	static const char *const names[] = {"main_a"};
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	struct plimp_elf_symbol symbol;
	struct plimp_elf_section section;
	uint8_t id[PLIMP_ELF_ID];
	size_t size;
	uint64_t bias, place;

	(void)state;
	for (int relocated = 0; relocated < 2; relocated++) {
		make(&file);
		load(&file);
		for (size_t i = 0; relocated && i < 4; i++)
			if (i != 2) /* the size is no address */
				put(&file, DYNAMIC + 16 * i + 8,
				    BASE + (i == 0   ? STRINGS
					    : i == 1 ? SYMBOLS
						     : HASH),
				    8);
		assert_int_equal(
		    plimp_elf_open_loaded(&elf, &reader, BASE, SIZE), PLIM_OK);
		assert_int_equal(elf.loaded_at, AT);
		assert_int_equal(plimp_elf_bias(&elf, 0, BASE, &bias), PLIM_OK);
		assert_true(bias == BASE - AT);
		assert_int_equal(plimp_elf_build_id(&elf, id, &size), PLIM_OK);
		assert_int_equal(size, 20);
		assert_int_equal(
		    plimp_elf_section_find(&elf, ".note", &section),
		    PLIM_ENAME);
		assert_int_equal(plimp_elf_symbols_find(&elf,
							PLIMP_ELF_DYNAMIC_ONES,
							names, 1, &symbol),
				 PLIM_OK);
		assert_true(symbol.found && symbol.value == AT + 0x4321);
		assert_int_equal(
		    plimp_elf_place(&elf, AT + 4 * PAGE + 0x81, &place),
		    PLIM_OK);
		assert_int_equal(place, 4 * PAGE + 0x81);
		assert_int_equal(plimp_elf_place(&elf, AT - 1, &place),
				 PLIM_ENAME);
	}
}

static void bytes_are_searched(void **state)
{
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	uint64_t place = 0;

	(void)state;
	make(&file);
	memcpy(file.bytes + 2 * PAGE - 3, "needle", 6);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE), PLIM_OK);
	assert_int_equal(plimp_elf_search(&elf, 0, SIZE, "needle", 6, &place),
			 PLIM_OK);
	assert_int_equal(place, 2 * PAGE - 3);
	assert_int_equal(
	    plimp_elf_search(&elf, 0, 2 * PAGE, "needle", 6, &place),
	    PLIM_ENAME);
	/* Behind a page that is not there. */
	file.missing = PAGE;
	assert_int_equal(plimp_elf_search(&elf, 0, SIZE, "needle", 6, &place),
			 PLIM_ENAME);
	memcpy(file.bytes + 2 * PAGE + 9, "needle", 6);
	assert_int_equal(plimp_elf_search(&elf, 0, SIZE, "needle", 6, &place),
			 PLIM_OK);
	assert_int_equal(place, 2 * PAGE + 9);
}

/* Whatever is asked of a hostile file ends, and says one of the errors. */
static void ask_all(struct file *file)
{
	static const char *const names[] = {"a", "main_a"};
	struct plimp_reader reader = reader_of(file);
	struct plimp_elf_symbol symbols[2];
	struct plimp_elf_section section;
	struct plimp_elf elf;
	uint8_t id[PLIMP_ELF_ID];
	char name[64];
	uint32_t crc;
	size_t size;
	uint64_t value;

	for (int loaded = 0; loaded < 2; loaded++) {
		if (loaded
			? plimp_elf_open_loaded(&elf, &reader, file->base,
						file->size)
			: plimp_elf_open(&elf, &reader, file->base, file->size))
			continue;
		(void)plimp_elf_build_id(&elf, id, &size);
		(void)plimp_elf_debug_link(&elf, name, sizeof(name), &crc);
		(void)plimp_elf_section_find(&elf, ".none", &section);
		(void)plimp_elf_symbols_find(&elf, PLIMP_ELF_STATIC, names, 2,
					     symbols);
		(void)plimp_elf_symbols_find(&elf, PLIMP_ELF_DYNAMIC_ONES,
					     names, 2, symbols);
		(void)plimp_elf_bias(&elf, 0, 0, &value);
	}
}

static void cut_and_changed(void **state)
{
	struct file file;

	(void)state;
	for (uint64_t size = 0; size < SIZE; size += size < 300 ? 1 : 97) {
		make(&file);
		file.size = size;
		ask_all(&file);
	}
	for (size_t i = 0; i < SIZE; i++) {
		make(&file);
		if (!file.bytes[i] && i > 0x800 && i < SECTIONS)
			continue;
		file.bytes[i] ^= (uint8_t)(i % 2 ? 0xff : 0x80);
		ask_all(&file);
	}
}

static void readers_failure_is_told(void **state)
{
	struct file file;
	struct plimp_reader reader = reader_of(&file);
	struct plimp_elf elf;
	uint8_t id[PLIMP_ELF_ID];
	size_t size = 3;

	(void)state;
	make(&file);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE), PLIM_OK);
	file.failure = PLIM_ENOPROCESS;
	assert_int_equal(plimp_elf_build_id(&elf, id, &size), PLIM_ENOPROCESS);
	assert_int_equal(size, 3);
	assert_int_equal(plimp_elf_open(&elf, &reader, 0, SIZE),
			 PLIM_ENOPROCESS);
}

static void test_debug_path(void **state)
{
	const uint8_t id[] = {0x0a, 0xb1, 0xff, 0x00};
	char path[PLIMP_ELF_DEBUG_PATH];

	(void)state;
	plimp_elf_debug_path(id, sizeof(id), path);
	assert_string_equal(path, "/usr/lib/debug/.build-id/0a/b1ff00.debug");
	plimp_elf_debug_path(id, 2, path);
	assert_string_equal(path, "/usr/lib/debug/.build-id/0a/b1.debug");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(header_is_taken),
	    cmocka_unit_test(segments_share_a_page),
	    cmocka_unit_test(sections_are_found),
	    cmocka_unit_test(symbols_are_found),
	    cmocka_unit_test(long_string_table),
	    cmocka_unit_test(notes_are_found),
	    cmocka_unit_test(module_in_memory),
	    cmocka_unit_test(bytes_are_searched),
	    cmocka_unit_test(cut_and_changed),
	    cmocka_unit_test(readers_failure_is_told),
	    cmocka_unit_test(test_debug_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
