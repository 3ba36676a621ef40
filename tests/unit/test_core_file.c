/*
 * test_core_file.c - core files that are built here: what they hold, what they
 * leave out, and every way in which they are broken.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "corefile.h"
#include "memory/core.h"

#include <plimsoll/fields.h>

#include <stdlib.h>
#include <string.h>

#define PAGE  UINT64_C(4096)
#define EXE   UINT64_C(0x555555554000)
#define HEAP  UINT64_C(0x555555600000)
#define LIBC  UINT64_C(0x7ffff7c00000)
#define STACK UINT64_C(0x7ffffffde000)
#define VDSO  UINT64_C(0x7ffff7fc9000)

/* The file of a test: bytes, perhaps fewer than it says. */
struct bytes {
	uint8_t *bytes;
	size_t size;
	size_t calls;
	size_t fail_at; /* the read that fails, 0: none */
};

static int bytes_read(void *user, uint64_t address, void *buffer, size_t size,
		      size_t *copied)
{
	struct bytes *bytes = user;

	if (++bytes->calls == bytes->fail_at)
		return PLIM_ESYSTEM;
	assert_true(address <= bytes->size && size <= bytes->size - address);
	/* A read may be short. */
	if (size > 3000)
		size = 3000;
	memcpy(buffer, bytes->bytes + address, size);
	*copied = size;
	return PLIM_OK;
}

struct opened {
	struct bytes bytes;
	struct plimp_file file;
	struct plimp_core core;
	plim_allocator allocator;
	plim_error error;
	int code;
};

static struct opened *core_open(struct opened *opened)
{
	opened->file.reader.page_bytes = 4096;
	opened->file.reader.read = bytes_read;
	opened->file.reader.user = &opened->bytes;
	opened->file.size = opened->bytes.size;
	memset(&opened->error, 0, sizeof opened->error);
	opened->code = plimp_core_open(&opened->core, &opened->allocator,
				       &opened->file, "x.core", &opened->error);
	assert_int_equal(opened->error.code, opened->code);
	return opened;
}

static void core_close(struct opened *opened)
{
	plimp_core_close(&opened->core);
	free(opened->bytes.bytes);
}

/* A program of four mappings of files, a heap, a stack and a vdso; libc's text
 * is only dumped as far as its first page. */
static struct corefile *world_new(void)
{
	static uint8_t pages[3][4096];
	struct corefile *made = corefile_new();
	size_t i;

	for (i = 0; i < 3; i++)
		memset(pages[i], 'a' + (int)i, sizeof pages[i]);
	made->vdso = VDSO;
	made->threads = 3;
	corefile_segment(made, EXE, EXE + 2 * PAGE, 4, pages, PAGE);
	corefile_segment(made, EXE + 2 * PAGE, EXE + 3 * PAGE, 6, pages, PAGE);
	corefile_segment(made, HEAP, HEAP + 4 * PAGE, 6, pages, 3 * PAGE);
	corefile_segment(made, LIBC, LIBC + 8 * PAGE, 5, pages, PAGE);
	corefile_segment(made, LIBC + 8 * PAGE, LIBC + 9 * PAGE, 6, pages,
			 PAGE);
	corefile_segment(made, VDSO, VDSO + PAGE, 5, pages, PAGE);
	corefile_segment(made, STACK, STACK + PAGE, 6, pages, PAGE);
	corefile_file(made, EXE, EXE + 2 * PAGE, 0, "/usr/bin/work load");
	corefile_file(made, EXE + 2 * PAGE, EXE + 3 * PAGE, 2 * PAGE,
		      "/usr/bin/work load");
	corefile_file(made, LIBC, LIBC + 8 * PAGE, 0, "/lib/libc.so.6");
	corefile_file(made, LIBC + 8 * PAGE, LIBC + 9 * PAGE, 8 * PAGE,
		      "/lib/libc.so.6");
	return made;
}

static void world_open(struct opened *opened, struct corefile *made)
{
	opened->bytes.bytes = corefile_write(made, &opened->bytes.size);
	corefile_free(made);
	core_open(opened);
}

static const struct plimp_mapping *mapping_at(const struct opened *opened,
					      size_t index, const char *name)
{
	const struct plimp_mapping *mapping = &opened->core.space.items[index];

	assert_true(index < opened->core.space.count);
	assert_int_equal(mapping->name_size, strlen(name));
	/* Without any name there are no texts to point into. */
	if (name[0] != '\0')
		assert_memory_equal(opened->core.space.texts.bytes +
					mapping->name_start,
				    name, strlen(name));
	assert_int_equal(mapping->resident.method, PLIM_REASON_NO_RESIDENCY);
	assert_int_equal(mapping->exclusive.method, PLIM_REASON_NO_RESIDENCY);
	return mapping;
}

static void test_whole(void **state)
{
	struct opened opened = {.code = 0};
	const struct plimp_mapping *mapping;
	uint8_t pages[10];
	uint8_t bytes[2 * 4096];
	size_t copied = 0;
	struct plimp_reader *reader = &opened.core.reader;

	(void)state;
	world_open(&opened, world_new());
	assert_int_equal(opened.code, PLIM_OK);
	assert_int_equal(opened.core.machine, 62);
	assert_int_equal(opened.core.pid, 4711);
	assert_int_equal(opened.core.signal, 11);
	assert_int_equal(opened.core.threads, 3);
	assert_string_equal(opened.core.name, "workload");
	assert_int_equal(opened.core.is_cut, 0);
	assert_int_equal(opened.core.held_bytes, 9 * PAGE);
	assert_int_equal(opened.core.left_out_bytes, (1 + 1 + 7) * PAGE);
	assert_int_equal(reader->page_bytes, 4096);
	assert_int_equal(reader->has_residency, 0);
	assert_int_equal(opened.core.space.count, 7);
	mapping = mapping_at(&opened, 0, "/usr/bin/work load");
	assert_int_equal(mapping->start, EXE);
	assert_int_equal(mapping->end, EXE + 2 * PAGE);
	assert_int_equal(mapping->protection, PLIMP_MAY_READ);
	mapping = mapping_at(&opened, 1, "/usr/bin/work load");
	assert_int_equal(mapping->offset, 2 * PAGE);
	assert_int_equal(mapping->inode, opened.core.space.items[0].inode);
	assert_int_equal(mapping->protection, PLIMP_MAY_READ | PLIMP_MAY_WRITE);
	mapping = mapping_at(&opened, 2, "");
	assert_int_equal(mapping->inode, 0);
	assert_int_equal(mapping->start, HEAP);
	mapping = mapping_at(&opened, 3, "/lib/libc.so.6");
	assert_int_equal(mapping->protection,
			 PLIMP_MAY_READ | PLIMP_MAY_EXECUTE);
	assert_true(mapping->inode != 0 &&
		    mapping->inode != opened.core.space.items[0].inode);
	mapping_at(&opened, 5, "[vdso]");
	assert_int_equal(
	    reader->pages(reader->user, HEAP - 2 * PAGE, 10, pages), PLIM_OK);
	assert_memory_equal(pages, "\0\0\1\1\1\0\0\0\0\0", 10);
	assert_int_equal(reader->read(reader->user, HEAP + PAGE - 1, bytes,
				      PAGE + 2, &copied),
			 PLIM_OK);
	assert_int_equal(copied, PAGE + 2);
	assert_int_equal(bytes[0], 'a');
	assert_int_equal(bytes[1], 'b');
	assert_int_equal(bytes[PAGE + 1], 'c');
	/* What is not there ends a read, and is no zero. */
	assert_int_equal(
	    reader->read(reader->user, HEAP + 3 * PAGE - 4, bytes, 8, &copied),
	    PLIM_OK);
	assert_int_equal(copied, 4);
	assert_int_equal(reader->read(reader->user, 16, bytes, 8, &copied),
			 PLIM_OK);
	assert_int_equal(copied, 0);
	assert_int_equal(
	    reader->pages(reader->user, UINT64_MAX - 4095, 2, pages), PLIM_OK);
	assert_memory_equal(pages, "\0\0", 2);
	/* Across two segments that touch. */
	assert_int_equal(
	    reader->read(reader->user, EXE + PAGE, bytes, 8, &copied), PLIM_OK);
	assert_int_equal(copied, 0);
	core_close(&opened);
}

/* gcore writes offsets in bytes, leaves mappings out, and has no NT_AUXV of a
 * page size that matters here. */
static void test_gcore(void **state)
{
	struct corefile *made = corefile_new();
	struct opened opened = {.code = 0};
	const struct plimp_mapping *mapping;
	uint8_t byte = 7;

	(void)state;
	made->unit = 1;
	made->page_size = 0;
	made->signal = 0;
	corefile_segment(made, LIBC + 2 * PAGE, LIBC + 3 * PAGE, 6, &byte, 1);
	corefile_file(made, LIBC, LIBC + 2 * PAGE, 0, "/lib/libc.so.6");
	corefile_file(made, LIBC + 2 * PAGE, LIBC + 5 * PAGE, 2 * PAGE,
		      "/lib/libc.so.6");
	world_open(&opened, made);
	assert_int_equal(opened.code, PLIM_OK);
	assert_int_equal(opened.core.signal, 0);
	assert_int_equal(opened.core.space.count, 3);
	mapping = mapping_at(&opened, 0, "/lib/libc.so.6");
	assert_int_equal(mapping->end, LIBC + 2 * PAGE);
	assert_int_equal(mapping->protection, PLIMP_MAY_READ);
	mapping = mapping_at(&opened, 1, "/lib/libc.so.6");
	assert_int_equal(mapping->offset, 2 * PAGE);
	assert_int_equal(mapping->protection, PLIMP_MAY_READ | PLIMP_MAY_WRITE);
	mapping = mapping_at(&opened, 2, "/lib/libc.so.6");
	assert_int_equal(mapping->offset, 3 * PAGE);
	assert_int_equal(mapping->end, LIBC + 5 * PAGE);
	/* Half a page is none. */
	assert_int_equal(opened.core.held_bytes, 1);
	assert_int_equal(opened.core.left_out_bytes, 5 * PAGE - 1);
	assert_int_equal(
	    opened.core.reader.pages(&opened.core, LIBC + 2 * PAGE, 1, &byte),
	    PLIM_OK);
	assert_int_equal(byte, 0);
	core_close(&opened);
}

static void test_aarch64(void **state)
{
	struct corefile *made = world_new();
	struct opened opened = {.code = 0};
	uint8_t page = 0;

	(void)state;
	made->machine = 183;
	made->page_size = 16384;
	world_open(&opened, made);
	assert_int_equal(opened.code, PLIM_OK);
	assert_int_equal(opened.core.machine, 183);
	assert_int_equal(opened.core.pid, 4711);
	assert_int_equal(opened.core.reader.page_bytes, 16384);
	/* 12 KiB are no whole page there. */
	assert_int_equal(opened.core.reader.pages(&opened.core, HEAP, 1, &page),
			 PLIM_OK);
	assert_int_equal(page, 0);
	core_close(&opened);
}

/* More segments than 16 bits can count. */
static void test_many(void **state)
{
	struct corefile *made = world_new();
	struct opened opened = {.code = 0};

	(void)state;
	made->many = 1;
	world_open(&opened, made);
	assert_int_equal(opened.code, PLIM_OK);
	assert_int_equal(opened.core.segment_count, 7);
	core_close(&opened);
}

/* Without NT_FILE there are mappings, and no names. */
static void test_no_notes(void **state)
{
	struct corefile *made = world_new();
	struct opened opened = {.code = 0};

	(void)state;
	made->unit = 0;
	made->vdso = 0;
	world_open(&opened, made);
	assert_int_equal(opened.code, PLIM_OK);
	assert_int_equal(opened.core.has_files, 0);
	assert_int_equal(opened.core.space.count, 7);
	mapping_at(&opened, 3, "");
	core_close(&opened);
}

/* Cut at every length: it opens with less, or says what is wrong. */
static void test_cut(void **state)
{
	struct corefile *made = world_new();
	size_t size = 0;
	uint8_t *bytes = corefile_write(made, &size);
	uint64_t held_before = 0;
	size_t opened_once = 0;
	size_t cut;

	(void)state;
	corefile_free(made);
	for (cut = 0; cut <= size; cut += cut < 1700 ? 1 : 509) {
		struct opened opened = {.code = 0};

		opened.bytes.bytes = malloc(cut + 1);
		memcpy(opened.bytes.bytes, bytes, cut);
		opened.bytes.size = cut;
		core_open(&opened);
		if (opened.code != PLIM_OK) {
			assert_int_equal(opened.code, PLIM_EMALFORMED);
			assert_true(opened.error.detail[0] != '\0');
			assert_int_equal(opened_once, 0);
		} else {
			opened_once++;
			assert_true(opened.core.held_bytes >= held_before);
			held_before = opened.core.held_bytes;
			assert_int_equal(opened.core.held_bytes +
					     opened.core.left_out_bytes,
					 18 * PAGE);
			assert_int_equal(opened.core.is_cut,
					 opened.core.held_bytes < 9 * PAGE);
		}
		core_close(&opened);
	}
	assert_true(opened_once > 30);
	assert_true(held_before > 7 * PAGE);
	free(bytes);
}

static void broken(size_t at, uint64_t value, size_t size, int code,
		   const char *says)
{
	struct opened opened = {.code = 0};
	struct corefile *made = world_new();
	size_t i;

	opened.bytes.bytes = corefile_write(made, &opened.bytes.size);
	corefile_free(made);
	for (i = 0; i < size; i++)
		opened.bytes.bytes[at + i] = (uint8_t)(value >> (8 * i));
	core_open(&opened);
	assert_int_equal(opened.code, code);
	if (code != PLIM_OK) {
		assert_string_equal(opened.error.path, "x.core");
		assert_non_null(strstr(opened.error.detail, says));
	}
	core_close(&opened);
}

static void test_broken(void **state)
{
	(void)state;
	broken(0, 0x464c4500, 4, PLIM_EMALFORMED, "no ELF file");
	broken(0, 0xfd2fb528, 4, PLIM_EMALFORMED, "zstd -d");
	broken(0, 0x184d2204, 4, PLIM_EMALFORMED, "lz4 -d");
	broken(0, 0x8b1f, 2, PLIM_EMALFORMED, "gzip -d");
	broken(0, UINT64_C(0x5a587a37fd), 5, PLIM_EMALFORMED, "xz -d");
	broken(4, 1, 1, PLIM_EUNSUPPORTED, "32-bit");
	broken(5, 2, 1, PLIM_EUNSUPPORTED, "big-endian");
	broken(16, 3, 2, PLIM_EMALFORMED, "its type is 3");
	broken(18, 40, 2, PLIM_EUNSUPPORTED, "machine 40");
	broken(54, 32, 2, PLIM_EMALFORMED, "another size");
	/* No segments, a table beyond the end. */
	broken(56, 0, 2, PLIM_EMALFORMED, "no memory");
	broken(32, UINT64_MAX - 60, 8, PLIM_EMALFORMED, "cut off");
	broken(32, UINT64_C(1) << 40, 8, PLIM_EMALFORMED, "cut off");
	broken(56, 0xffff, 2, PLIM_EMALFORMED, "no memory");
	broken(40, UINT64_MAX, 8, PLIM_OK, "");
	/* The second segment: its address overlaps the first, is no page, or
	 * wraps. */
	broken(64 + 2 * 56 + 16, EXE, 8, PLIM_EMALFORMED, "contradicts");
	broken(64 + 2 * 56 + 16, EXE + 2 * PAGE + 1, 8, PLIM_EMALFORMED,
	       "contradicts");
	broken(64 + 7 * 56 + 40, UINT64_MAX - PAGE, 8, PLIM_EMALFORMED,
	       "contradicts");
	/* More in the file than in memory; a place beyond the end. */
	broken(64 + 1 * 56 + 32, UINT64_MAX, 8, PLIM_OK, "");
	broken(64 + 7 * 56 + 8, UINT64_MAX, 8, PLIM_OK, "");
	/* Notes: beyond the end, and of any size. */
	broken(64 + 8, UINT64_MAX, 8, PLIM_OK, "");
	broken(64 + 32, UINT64_MAX, 8, PLIM_OK, "");
}

/* A number of NT_FILE that cannot be: rows that it would need are not there,
 * or out of order. */
static void test_broken_files(void **state)
{
	static const uint64_t counts[] = {5, 1000, UINT64_MAX, UINT64_MAX / 24};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		struct opened opened = {.code = 0};
		struct corefile *made = world_new();
		size_t at;
		size_t b;

		opened.bytes.bytes = corefile_write(made, &opened.bytes.size);
		corefile_free(made);
		for (at = 0; memcmp(opened.bytes.bytes + at, "ELIF", 4) != 0;)
			at++;
		for (b = 0; b < 8; b++)
			opened.bytes.bytes[at + 12 + b] =
			    (uint8_t)(counts[i] >> (8 * b));
		core_open(&opened);
		assert_int_equal(opened.code, PLIM_OK);
		assert_true(opened.core.space.count >= 7);
		core_close(&opened);
	}
}

/* Every read of the file fails once: its error comes out, and nothing stays. */
static void test_reads_fail(void **state)
{
	size_t fail;
	int code = PLIM_ESYSTEM;

	(void)state;
	for (fail = 1; code != PLIM_OK; fail++) {
		struct opened opened = {.bytes = {.fail_at = fail}};

		assert_true(fail < 100);
		world_open(&opened, world_new());
		code = opened.code;
		assert_true(code == PLIM_OK || code == PLIM_ESYSTEM);
		core_close(&opened);
	}
	assert_true(fail > 8);
}

struct ration {
	int left;
	size_t held;
};

static void *ration_resize(void *memory, size_t old_size, size_t new_size,
			   void *user)
{
	struct ration *ration = user;

	if (new_size == 0) {
		ration->held -= old_size;
		free(memory);
		return NULL;
	}
	if (ration->left == 0)
		return NULL;
	ration->left--;
	ration->held += new_size - old_size;
	return realloc(memory, new_size);
}

static void test_no_memory(void **state)
{
	int left;
	int code = PLIM_ENOMEM;

	(void)state;
	for (left = 0; code != PLIM_OK; left++) {
		struct ration ration = {.left = left};
		struct opened opened = {.code = 0};

		assert_true(left < 50);
		opened.allocator.resize = ration_resize;
		opened.allocator.user = &ration;
		world_open(&opened, world_new());
		code = opened.code;
		assert_true(code == PLIM_OK || code == PLIM_ENOMEM);
		if (code != PLIM_OK)
			assert_int_equal(ration.held, 0);
		core_close(&opened);
		assert_int_equal(ration.held, 0);
	}
	assert_true(left > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_whole),
	    cmocka_unit_test(test_gcore),
	    cmocka_unit_test(test_aarch64),
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_no_notes),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_broken),
	    cmocka_unit_test(test_broken_files),
	    cmocka_unit_test(test_reads_fail),
	    cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
