/*
 * test_recognise.c - whose malloc a process has, and by what that is known:
 * glibc's, linked and static; preloaded ones, with glibc's idle beside them;
 * interpreters on top of malloc; and programs that only look like glibc's.
 */
#include "common.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void is_glibc_alone(const struct walked *walked, int is_static)
{
	plim_heap *heap = walked_heap(walked, PLIM_HEAP_OF_GLIBC);

	assert_int_equal(walked->list.count, 1);
	assert_int_equal(heap->is_static, is_static);
	assert_int_equal(heap->depth, PLIM_DEPTH_RECOGNISED);
}

static void test_glibc(void **state)
{
	struct walked walked;
	struct spawn spawn;
	plim_heap *heap;

	(void)state;
	start_built(&spawn, "keeper", "not built");
	spawn_ask(&spawn, "small 10");
	walk(&walked, spawn.pid);
	is_glibc_alone(&walked, 0);
	heap = walked_heap(&walked, PLIM_HEAP_OF_GLIBC);
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_CERTAIN);
	has_evidence(heap, "libc.so.6 defines gnu_get_libc_version");
	has_evidence(heap, "libc.so.6 calls the malloc of libc.so.6");
	walked_release(&walked);
	spawn_end(&spawn);
}

static void test_static_glibc(void **state)
{
	struct walked walked;
	struct spawn spawn;

	(void)state;
	start_built(&spawn, "keeper-static", "not built");
	spawn_ask(&spawn, "small 10");
	walk(&walked, spawn.pid);
	is_glibc_alone(&walked, 1);
	has_evidence(walked_heap(&walked, PLIM_HEAP_OF_GLIBC),
		     "malloc(): corrupted top size");
	walked_release(&walked);
	spawn_end(&spawn);
}

static void run_preloaded(const char *pattern, int kind, const char *defines,
			  const char *binding, const char *what)
{
	struct walked walked;
	struct spawn spawn;
	plim_heap *heap;

	start_preloaded(&spawn, "keeper", pattern, what);
	spawn_ask(&spawn, "small 1000");
	walk(&walked, spawn.pid);
	assert_int_equal(walked.list.count, 2);
	heap = walked_heap(&walked, kind);
	assert_ptr_equal(walked.list.items[0], heap);
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_CERTAIN);
	assert_int_equal(heap->depth, PLIM_DEPTH_RECOGNISED);
	assert_int_equal(heap->missing.method, PLIM_REASON_NOT_WALKED);
	has_evidence(heap, defines);
	has_evidence(heap, binding);
	lacks(heap, PLIM_HEAP_IN_USE, PLIM_REASON_NOT_WALKED);
	heap = walked_heap(&walked, PLIM_HEAP_OF_GLIBC);
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_POSSIBLE);
	has_evidence(heap, "not in use for malloc");
	walked_release(&walked);
	spawn_end(&spawn);
}

static void test_jemalloc(void **state)
{
	(void)state;
	run_preloaded("/usr/lib/*/libjemalloc.so.2", PLIM_HEAP_OF_JEMALLOC,
		      "libjemalloc.so.2 defines mallctl",
		      "calls the malloc of libjemalloc.so.2",
		      "no libjemalloc.so.2");
}

static void test_mimalloc(void **state)
{
	(void)state;
	run_preloaded("/usr/lib/*/libmimalloc.so.2", PLIM_HEAP_OF_MIMALLOC,
		      "defines mi_malloc", "calls the malloc of libmimalloc",
		      "no libmimalloc.so.2");
}

/* An interpreter of its own allocator, on top of glibc's: both are named. The
 * program is at a fixed address and has a stub for malloc, through which the
 * binding must be followed. */
static void test_python(void **state)
{
	static const char script[] =
	    "import os,sys; print('pid=%d ready' % os.getpid(), flush=True); "
	    "sys.stdin.read()";
	const char *argv[] = {"python3", "-c", script, NULL};
	struct walked walked;
	struct spawn spawn;
	plim_heap *heap;

	(void)state;
	if (access("/usr/bin/python3", X_OK) != 0)
		SKIP_BECAUSE("no /usr/bin/python3");
	spawn_program(&spawn, "/usr/bin/python3", argv);
	walk(&walked, spawn.pid);
	heap = walked_heap(&walked, PLIM_HEAP_OF_CPYTHON);
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_CERTAIN);
	assert_true(strncmp(heap->version, "3.", 2) == 0);
	has_evidence(heap, "defines PyObject_Malloc");
	heap = walked_heap(&walked, PLIM_HEAP_OF_GLIBC);
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_CERTAIN);
	has_evidence(heap, "libc.so.6 calls the malloc of libc.so.6");
	walked_release(&walked);
	spawn_end(&spawn);
}

/* --- made-up images --------------------------------------------------------
 */

struct row {
	uint64_t start;
	uint64_t end;
	uint64_t inode;
	const char *name;
};

static int no_pages(void *user, uint64_t address, size_t count, uint8_t *pages)
{
	(void)user;
	(void)address;
	memset(pages, 0, count);
	return PLIM_OK;
}

static int no_read(void *user, uint64_t address, void *buffer, size_t size,
		   size_t *copied)
{
	(void)user;
	(void)address;
	(void)buffer;
	(void)size;
	*copied = 0;
	return PLIM_OK;
}

/* The allocators of a space whose memory cannot be read at all: as of a core
 * without pages. */
static void recognise_rows(const struct row *rows, size_t count,
			   struct plimp_heap_list *list)
{
	static const plim_allocator allocator = {0};
	static struct plimp_mapping items[16];
	static char texts[1024];
	struct plimp_space space = {.items = items, .count = count};
	struct plimp_image image = {.allocator = &allocator, .machine = 62};
	size_t used = 0;

	memset(items, 0, sizeof(items));
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(rows[i].name);

		memcpy(texts + used, rows[i].name, size);
		items[i].start = rows[i].start;
		items[i].end = rows[i].end;
		items[i].inode = rows[i].inode;
		items[i].name_start = used;
		items[i].name_size = size;
		items[i].protection = rows[i].inode != 0
					  ? PLIMP_MAY_READ | PLIMP_MAY_EXECUTE
					  : PLIMP_MAY_READ | PLIMP_MAY_WRITE;
		used += size;
	}
	space.texts.bytes = texts;
	space.texts.size = used;
	image.space = &space;
	image.reader.page_bytes = 4096;
	image.reader.pages = no_pages;
	image.reader.read = no_read;
	plimp_heap_list_init(list, &allocator, 0);
	assert_int_equal(plimp_recognise(&image, list, NULL), PLIM_OK);
}

static void test_names(void **state)
{
	static const struct row rows[] = {
	    {0x400000, 0x401000, 5, "/usr/bin/server"},
	    {0x7f0000000000, 0x7f0000100000, 0, "[anon:jemalloc_pg]"},
	    {0x7f0000200000, 0x7f0000300000, 0, "[anon:jemalloc_pg]"},
	    {0x7f1000000000, 0x7f1000100000, 0,
	     "[anon:tcmalloc_region_NORMAL]"},
	    {0x7f2000000000, 0x7f2000100000, 0, "[anon:mimalloc]"},
	    {0x7f3000000000, 0x7f3000100000, 0, "[anon: glibc: malloc arena]"},
	    {0x7f4000000000, 0x7f4000100000, 7, "/lib/libpython3.11.so.1.0"},
	};
	struct plimp_heap_list list;
	plim_heap *heap;

	(void)state;
	recognise_rows(rows, 7, &list);
	assert_int_equal(list.count, 5);
	heap = plimp_heap_list_find(&list, PLIM_HEAP_OF_JEMALLOC);
	assert_non_null(heap);
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_CERTAIN);
	assert_int_equal(heap->evidence_count, 1);
	assert_string_equal(heap->evidence[0].text,
			    "memory: mappings are named jemalloc_pg");
	assert_non_null(plimp_heap_list_find(&list, PLIM_HEAP_OF_TCMALLOC));
	assert_non_null(plimp_heap_list_find(&list, PLIM_HEAP_OF_MIMALLOC));
	assert_non_null(plimp_heap_list_find(&list, PLIM_HEAP_OF_GLIBC));
	/* A file's name alone proves little. */
	heap = plimp_heap_list_find(&list, PLIM_HEAP_OF_CPYTHON);
	assert_non_null(heap);
	assert_int_equal(heap->confidence, PLIM_CONFIDENCE_POSSIBLE);
	assert_ptr_equal(list.items[4], heap);
	plimp_heap_list_release(&list);
}

/* Aligned 64 MiB mappings are glibc's habit, and anybody's right; Go's place
 * proves nothing without Go; a folder may be called like an allocator. */
static void test_fooled(void **state)
{
	static const struct row rows[] = {
	    {0x400000, 0x401000, 5, "/opt/libjemalloc/bin/mimalloc-server"},
	    {0xc000000000, 0xc004000000, 0, ""},
	    {0x7f0000000000, 0x7f0004000000, 0, ""},
	    {0x7f0008000000, 0x7f000c000000, 0, "[heap]"},
	    {0x7f1000000000, 0x7f1000100000, 0, "[anon:my jemalloc_pg]"},
	};
	struct plimp_heap_list list;

	(void)state;
	recognise_rows(rows, 5, &list);
	assert_int_equal(list.count, 0);
	plimp_heap_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_glibc),
	    cmocka_unit_test(test_static_glibc),
	    cmocka_unit_test(test_jemalloc),
	    cmocka_unit_test(test_mimalloc),
	    cmocka_unit_test(test_python),
	    cmocka_unit_test(test_names),
	    cmocka_unit_test(test_fooled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
