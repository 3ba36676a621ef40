/*
 * test_regions.c - what mappings are: one for each kind and each piece of
 * evidence, hostile ones, and totals that keep what is not known.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "space.h"

#include <stdio.h>

#define KIB ((uint64_t)1 << 10)

static int regions_setup(void **state)
{
	(void)state;
	space_begin();
	return 0;
}

static void expect_kind(size_t index, int kind)
{
	if (space_regions[index].kind != kind)
		fail_msg("mapping %zu is %s, not %s", index,
			 plim_mapping_kind_word(space_regions[index].kind),
			 plim_mapping_kind_word(kind));
}

static void expect_label(size_t index, const char *label)
{
	plim_bytes got =
	    plimp_regions_label(&space, index, &space_regions[index]);

	assert_int_equal(got.size, strlen(label));
	assert_memory_equal(got.data, label, got.size);
}

/* A program with its segments and its .bss, [heap], a library with holes, a
 * mapped file, the stack, and the kernel's pages. */
static void test_ordinary(void **state)
{
	static const char program[] = "/opt/my program\nv2";

	(void)state;
	space_add(0x555555554000, 4 * KIB, "r--p", 11, program, 4096);
	space_next(8 * KIB, "r-xp", 11, program, 8192);
	space_next(4 * KIB, "rw-p", 11, program, 4096);
	space_next(64 * KIB, "rw-p", 0, "", 4096);
	space_add(0x555555700000, 132 * KIB, "rw-p", 0, "[heap]", 8192);
	space_add(0x7f0000000000, 100 * KIB, "r--p", 12, "/lib/libz", 0);
	space_next(200 * KIB, "r-xp", 12, "/lib/libz", 0);
	space_next(4 * KIB, "---p", 12, "/lib/libz", 0);
	space_next(4 * KIB, "rw-p", 12, "/lib/libz", 0);
	space_next(52 * KIB, "rw-p", 0, "", 0);
	space_add(0x7f0000100000, 16 * KIB, "r--p", 13, "/usr/locale.bin", 0);
	space_add(0x7f0000200000, 16 * KIB, "r--p", 14, "/a/libq.so.1", 0);
	space_add(0x7f0000300000, 16 * KIB, "r--s", 15, "/a/gone.so (deleted)",
		  0);
	space_add(0x7ffffffde000, 132 * KIB, "rw-p", 0, "[stack]", 0);
	space_add(0x7ffffffff000 - 16 * KIB, 8 * KIB, "r--p", 0, "[vvar]", 0);
	space_next(8 * KIB, "r-xp", 0, "[vdso]", 0);
	space_add(0xffffffffff600000, 4 * KIB, "--xp", 0, "[vsyscall]", 0);
	space_classify(program, 77);
	for (size_t at = 0; at < 4; at++)
		expect_kind(at, PLIM_MAPPING_TEXT);
	expect_kind(4, PLIM_MAPPING_HEAP);
	for (size_t at = 5; at < 10; at++)
		expect_kind(at, PLIM_MAPPING_LIBRARY);
	expect_kind(10, PLIM_MAPPING_FILE);
	expect_kind(11, PLIM_MAPPING_LIBRARY);
	expect_kind(12, PLIM_MAPPING_LIBRARY);
	expect_kind(13, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[13].tid, 77);
	assert_int_equal(space_regions[13].threads, 1);
	for (size_t at = 14; at < 17; at++)
		expect_kind(at, PLIM_MAPPING_KERNEL);
	expect_label(0, program);
	expect_label(3, "anonymous, 64 KiB to 1 MiB");
	expect_label(9, "anonymous, below 64 KiB");
	expect_label(13, "[stack]");
}

/* Without the program's path its file is like any other that has code. */
static void test_program_unknown(void **state)
{
	(void)state;
	space_add(0x400000, 8 * KIB, "r-xp", 11, "/bin/x", 0);
	space_classify("", 0);
	expect_kind(0, PLIM_MAPPING_LIBRARY);
}

static void test_size_classes(void **state)
{
	static const struct {
		uint64_t size;
		const char *label;
	} classes[] = {
	    {4 * KIB, "anonymous, below 64 KiB"},
	    {60 * KIB, "anonymous, below 64 KiB"},
	    {64 * KIB, "anonymous, 64 KiB to 1 MiB"},
	    {SPACE_MIB - 4 * KIB, "anonymous, 64 KiB to 1 MiB"},
	    {SPACE_MIB, "anonymous, 1 to 16 MiB"},
	    {16 * SPACE_MIB, "anonymous, 16 to 64 MiB"},
	    {64 * SPACE_MIB, "anonymous, 64 MiB to 1 GiB"},
	    {1024 * SPACE_MIB - 4 * KIB, "anonymous, 64 MiB to 1 GiB"},
	    {1024 * SPACE_MIB, "anonymous, 1 GiB and more"},
	};
	size_t count = sizeof(classes) / sizeof(classes[0]);

	(void)state;
	for (size_t at = 0; at < count; at++)
		space_add(0x100000001000 + (at << 36), classes[at].size, "rw-p",
			  0, "", 0);
	space_classify("", 0);
	for (size_t at = 0; at < count; at++) {
		expect_kind(at, PLIM_MAPPING_OTHER);
		expect_label(at, classes[at].label);
	}
}

/* Stacks by the stack pointer of a thread, by the kernel's flags, and by the
 * names that glibc, bionic and old kernels give; the guard below is none. */
static void test_stacks(void **state)
{
	const uint64_t stack = 8 * SPACE_MIB;

	(void)state;
	space_add(0x7f0000000000 - 4 * KIB, 4 * KIB, "---p", 0, "", 0);
	space_next(stack, "rw-p", 0, "", 16384);
	space_next(4 * KIB, "---p", 0, "", 0);
	space_next(stack, "rw-p", 0, "", 16384);
	space_flags("rd wr mr mw me ac nh");
	space_add(0x7f0010001000, stack, "rw-p", 0, "", 0);
	space_flags("rd wr mr mw me ac");
	space_add(0x7f0020000000, stack, "rw-p", 0,
		  "[anon: glibc: pthread stack: 4321]", 0);
	space_next(stack, "rw-p", 0, "[anon:stack_and_tls:99]", 0);
	space_next(stack, "rw-p", 0, "[anon: glibc: unused stack]", 0);
	space_next(stack, "rw-p", 0, "[stack:12]", 0);
	space_pointer(0x7f0000000000 - 1, 9); /* in the guard */
	space_pointer(0x7f0000000000 + stack - 512, 41);
	space_classify("/x", 40);
	expect_kind(0, PLIM_MAPPING_OTHER);
	expect_kind(1, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[1].tid, 41);
	assert_int_equal(space_regions[1].threads, 1);
	assert_int_equal(space_regions[0].tid, 0);
	expect_kind(2, PLIM_MAPPING_OTHER);
	expect_kind(3, PLIM_MAPPING_STACK); /* of a thread nobody knows */
	assert_int_equal(space_regions[3].tid, 0);
	assert_int_equal(space_regions[3].threads, 0);
	expect_kind(4, PLIM_MAPPING_OTHER);
	expect_kind(5, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[5].tid, 4321);
	expect_label(5, "[anon: glibc: pthread stack]");
	expect_kind(6, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[6].tid, 99);
	expect_label(6, "[anon:stack_and_tls]");
	expect_kind(7, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[7].tid, 0);
	expect_label(7, "[anon: glibc: unused stack]");
	expect_kind(8, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[8].tid, 12);
}

/* glibc from 2.42 guards stacks without mappings, so that neighbours merge:
 * the lowest thread, and how many. A stack pointer in a heap is a coroutine's
 * and makes no stack of it. */
static void test_stacks_merged(void **state)
{
	(void)state;
	space_add(0x600000, SPACE_MIB, "rw-p", 0, "[heap]", 0);
	space_add(0x7f0000001000, 16 * SPACE_MIB, "rw-p", 0, "", 0);
	space_add(0x7f4000000000, 2 * SPACE_MIB, "rw-p", 0, "", 0);
	space_flags("rd wr nr");
	space_pointer(0x610000, 50);
	space_pointer(0x7f0000002000, 52);
	space_pointer(0x7f0000900000, 51);
	space_pointer(0x7f0000a00000, 54);
	space_pointer(0x7f4000000010, 53);
	space_classify("/x", 40);
	expect_kind(0, PLIM_MAPPING_HEAP);
	assert_int_equal(space_regions[0].tid, 0);
	expect_kind(1, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[1].tid, 51);
	assert_int_equal(space_regions[1].threads, 3);
	expect_kind(2, PLIM_MAPPING_ALLOCATOR);
	assert_int_equal(space_regions[2].tid, 0);
	assert_int_equal(space_regions[2].threads, 0);
}

/* A stack pointer at the very end of a mapping is not in it. One in a region
 * that is laid out as a heap of glibc: without flags the layout decides, with
 * them the accounting. */
static void test_stacks_or_heap(void **state)
{
	(void)state;
	space_add(0x7e0000001000, SPACE_MIB, "rw-p", 0, "", 0);
	space_next(SPACE_MIB, "r--p", 0, "", 0);
	space_add(0x7f0000000000, 64 * SPACE_MIB, "rw-p", 0, "", 0);
	space_add(0x7f1000000000, 64 * SPACE_MIB, "rw-p", 0, "", 0);
	space_flags("rd wr ac");
	space_pointer(space.items[0].end, 60);
	space_pointer(0x7f0000000100, 61);
	space_pointer(0x7f1000000100, 62);
	space_classify("/x", 40);
	expect_kind(0, PLIM_MAPPING_OTHER);
	expect_kind(1, PLIM_MAPPING_OTHER);
	expect_kind(2, PLIM_MAPPING_ALLOCATOR);
	expect_kind(3, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[3].tid, 62);
}

/* Mappings of one file belong together over adjacent anonymous memory, not
 * over a gap. */
static void test_file_runs(void **state)
{
	(void)state;
	space_add(0x10000, 4 * KIB, "r--p", 12, "/plugin", 0);
	space_next(4 * KIB, "rw-p", 0, "", 0);
	space_next(4 * KIB, "r-xp", 12, "/plugin", 0);
	space_add(0x20000, 4 * KIB, "r--p", 13, "/data", 0);
	space_add(0x30000, 4 * KIB, "rw-p", 0, "", 0);
	space_add(0x40000, 4 * KIB, "r-xp", 13, "/data", 0);
	space_classify("/x", 40);
	expect_kind(0, PLIM_MAPPING_LIBRARY);
	expect_kind(1, PLIM_MAPPING_OTHER);
	expect_kind(2, PLIM_MAPPING_LIBRARY);
	expect_kind(3, PLIM_MAPPING_FILE);
	expect_kind(5, PLIM_MAPPING_LIBRARY);
}

/* Heaps: glibc's by layout, with flags and without; by flags alone; Go's;
 * named ones. An executable stack stays a stack. */
static void test_allocators(void **state)
{
	(void)state;
	space_add(0x3c000000, 132 * KIB, "rw-p", 0, "[heap]", 0);
	space_add(0xc000000000, 4 * SPACE_MIB, "rw-p", 0, "", 0);
	space_next(60 * SPACE_MIB, "---p", 0, "", 0);
	space_add(0x7f0000000000, 3 * SPACE_MIB, "rw-p", 0, "", 0);
	space_next(61 * SPACE_MIB, "---p", 0, "", 0);
	space_add(0x7f1000003000, SPACE_MIB, "rw-p", 0, "", 0);
	space_flags("rd wr mr mw me nr sd");
	space_add(0x7f2000003000, SPACE_MIB, "rw-p", 0, "", 0);
	space_flags("rd wr mr mw me nr ac");
	space_add(0x7f3000003000, SPACE_MIB, "rw-p", 0,
		  "[anon: glibc: malloc arena]", 0);
	space_next(SPACE_MIB, "rw-p", 0, "[anon: Go: heap]", 0);
	space_next(SPACE_MIB, "rw-p", 0, "[anon:tcmalloc_region_NORMAL]", 0);
	space_next(SPACE_MIB, "rw-p", 0, "[anon:jemalloc_pg]", 0);
	space_next(SPACE_MIB, "rw-p", 0, "[anon:mimalloc]", 0);
	space_next(SPACE_MIB, "rw-p", 0, "[anon:something else]", 0);
	space_next(SPACE_MIB, "rwxp", 0, "[anon:mimalloc]", 0);
	space_classify("/x", 40);
	expect_kind(0, PLIM_MAPPING_HEAP);
	for (size_t at = 1; at < 6; at++)
		expect_kind(at, PLIM_MAPPING_ALLOCATOR);
	expect_kind(6, PLIM_MAPPING_OTHER);
	for (size_t at = 7; at < 12; at++)
		expect_kind(at, PLIM_MAPPING_ALLOCATOR);
	expect_kind(12, PLIM_MAPPING_OTHER);
	expect_kind(13, PLIM_MAPPING_JIT);
	expect_label(7, "[anon: glibc: malloc arena]");
}

static void test_jit(void **state)
{
	(void)state;
	space_add(0x7f0000001000, SPACE_MIB, "rwxp", 0, "", 0);
	space_next(SPACE_MIB, "r-xp", 0, "", 0);
	space_add(0x7f0010000000, SPACE_MIB, "rw-s", 21,
		  "/memfd:JITCode:QtQml (deleted)", 0);
	space_next(SPACE_MIB, "rw-s", 22, "/memfd:doublemapper (deleted)", 0);
	space_next(SPACE_MIB, "r-xs", 23, "/memfd:anything (deleted)", 0);
	space_next(SPACE_MIB, "r-xp", 24, "/tmp/jit-123.dump", 0);
	space_next(SPACE_MIB, "rwxp", 0, "", 0); /* a stack that may execute */
	space_next(SPACE_MIB, "r-xp", 25, "/usr/lib/libclrjit.so", 0);
	space_pointer(space.items[6].start + 64, 41);
	space_classify("/x", 40);
	for (size_t at = 0; at < 6; at++)
		expect_kind(at, PLIM_MAPPING_JIT);
	expect_kind(6, PLIM_MAPPING_STACK);
	expect_kind(7, PLIM_MAPPING_LIBRARY);
}

static void test_shared(void **state)
{
	(void)state;
	space_add(0x7f0000001000, SPACE_MIB, "rw-s", 1, "/dev/zero (deleted)",
		  0);
	space_next(SPACE_MIB, "rw-s", 32769, "/SYSV00000000 (deleted)", 0);
	space_next(SPACE_MIB, "rw-s", 5, "/dev/shm/a b\nc", 0);
	space_next(SPACE_MIB, "rw-s", 6, "/memfd:buffer (deleted)", 0);
	space_next(SPACE_MIB, "rw-s", 7, "[anon_shmem:pool]", 0);
	space_next(SPACE_MIB, "rw-p", 8, "/dev/zero", 0);
	space_next(SPACE_MIB, "rw-s", 9, "anon_inode:[io_uring]", 0);
	space_next(SPACE_MIB, "rw-s", 10, "/dev/dri/card0", 0);
	space_next(SPACE_MIB, "rw-s", 0, "", 0);
	space_classify("/x", 40);
	for (size_t at = 0; at < 5; at++)
		expect_kind(at, PLIM_MAPPING_SHARED);
	expect_kind(5, PLIM_MAPPING_OTHER);
	expect_kind(6, PLIM_MAPPING_KERNEL);
	expect_kind(7, PLIM_MAPPING_OTHER);
	expect_kind(8, PLIM_MAPPING_SHARED);
}

static void test_huge(void **state)
{
	(void)state;
	space_add(0x7f0000000000, 2 * SPACE_MIB, "rw-p", 5,
		  "/anon_hugepage (deleted)", 0);
	space_next(2 * SPACE_MIB, "rw-s", 6, "/mnt/huge/x", 0);
	space_flags("rd wr sh mr mw me ms de ht");
	space_next(2 * SPACE_MIB, "rw-p", 7, "/dev/hugepages/y", 0);
	space_next(2 * SPACE_MIB, "rw-s", 8, "/mnt/huge/x", 0);
	space_flags("rd wr sh mr mw me ms");
	space_classify("/x", 40);
	for (size_t at = 0; at < 3; at++)
		expect_kind(at, PLIM_MAPPING_HUGE);
	expect_kind(3, PLIM_MAPPING_FILE);
}

/* Names that look like other things. */
static void test_hostile(void **state)
{
	char long_name[4000];

	(void)state;
	memset(long_name, '7', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	memcpy(long_name, "[anon:stack_and_tls:", 20);
	space_add(0x1000, 4096, "rw-p", 31, "/[heap]", 0);
	space_next(4096, "rw-p", 32, "/tmp/[stack]", 0);
	space_next(4096, "rw-p", 33, "/a (deleted) (deleted)", 0);
	space_next(4096, "rw-p", 0, long_name, 0);
	space_next(4096, "rw-p", 0, "[anon:", 0);
	space_next(4096, "rw-p", 0, "[", 0);
	space_next(4096, "rw-p", 0, "?", 0);
	space_next(4096, "r--p", 34, "", 0);
	space_next(4096, "rw-p", 35, "/.so", 0);
	space_next(4096, "rw-p", 36, "/x.sock", 0);
	space_next(4096, "rw-p", 0, "[anon: glibc: pthread stack: 2147483648]",
		   0);
	space_add(UINT64_MAX - 8191, 4096, "rw-p", 0, "", 0);
	space_classify("/x", 40);
	expect_kind(0, PLIM_MAPPING_FILE);
	expect_kind(1, PLIM_MAPPING_FILE);
	expect_kind(2, PLIM_MAPPING_FILE);
	expect_kind(3, PLIM_MAPPING_STACK);
	assert_int_equal(space_regions[3].tid, 0);
	expect_kind(4, PLIM_MAPPING_OTHER);
	expect_kind(5, PLIM_MAPPING_KERNEL);
	expect_kind(6, PLIM_MAPPING_OTHER);
	expect_kind(7, PLIM_MAPPING_FILE);
	expect_kind(8, PLIM_MAPPING_LIBRARY);
	expect_kind(9, PLIM_MAPPING_FILE);
	assert_int_equal(space_regions[10].tid, 0);
	expect_kind(11, PLIM_MAPPING_OTHER);
}

static plim_count group_figure(const struct plimp_region_groups *groups,
			       const char *label, int kind, int figure,
			       size_t members)
{
	size_t at;

	for (at = 0; at < groups->count; at++)
		if (groups->items[at].kind == kind &&
		    groups->items[at].label.size == strlen(label) &&
		    memcmp(groups->items[at].label.data, label,
			   strlen(label)) == 0)
			break;
	if (at == groups->count)
		fail_msg("there is no group '%s'", label);
	assert_int_equal(groups->items[at].count, members);
	return groups->items[at].figures[figure];
}

/* Totals: like labels of one kind together, of two kinds apart; largest
 * first; what is not known makes a total a lower bound, or unknown. */
static void test_groups(void **state)
{
	static const plim_allocator allocator = {NULL, NULL};
	struct plimp_region_groups groups = {NULL, 0, 0};
	struct plimp_mapping *made;
	plim_count total;

	(void)state;
	space_add(0x10000, 4 * KIB, "r--p", 12, "/l.so", 4096);
	space_next(8 * KIB, "r-xp", 12, "/l.so", 8192);
	made = space_next(8 * KIB, "rw-p", 12, "/l.so", 8192);
	made->private_dirty = plim_count_known(4096, PLIM_METHOD_SMAPS);
	made->pss = plim_count_missing(PLIM_REASON_STALL, 0);
	space_add(0x7f0000001000, 2 * SPACE_MIB, "rw-p", 0, "", 123 * KIB);
	space_add(0x7f1000001000, 3 * SPACE_MIB, "rw-p", 0, "", 100 * KIB);
	space_add(0x7f2000001000, 4 * SPACE_MIB, "rw-p", 0, "", 50 * KIB);
	space_flags("ac nh");
	made = space_add(0x7f3000001000, SPACE_MIB, "rw-p", 0, "[anon:x]", 0);
	made->resident = plim_count_missing(PLIM_REASON_STALL, 0);
	space_classify("/x", 40);
	assert_int_equal(plimp_regions_group(&allocator, &space, space_regions,
					     PLIM_MAPPING_BY_NAME, &groups),
			 PLIM_OK);
	assert_int_equal(groups.count, 4);
	total =
	    group_figure(&groups, "anonymous, 1 to 16 MiB", PLIM_MAPPING_OTHER,
			 PLIM_MAPPING_FIGURE_RESIDENT, 2);
	assert_int_equal(total.value, 223 * KIB);
	assert_int_equal(total.bound, PLIM_BOUND_EXACT);
	assert_ptr_equal(
	    groups.items[0].label.data,
	    plimp_regions_label(&space, 3, &space_regions[3]).data);
	total = group_figure(&groups, "anonymous, 1 to 16 MiB",
			     PLIM_MAPPING_STACK, PLIM_MAPPING_FIGURE_SIZE, 1);
	assert_int_equal(total.value, 4 * SPACE_MIB);
	total = group_figure(&groups, "/l.so", PLIM_MAPPING_LIBRARY,
			     PLIM_MAPPING_FIGURE_PSS, 3);
	assert_int_equal(total.state, PLIM_STATE_KNOWN);
	assert_int_equal(total.bound, PLIM_BOUND_AT_LEAST);
	total = group_figure(&groups, "/l.so", PLIM_MAPPING_LIBRARY,
			     PLIM_MAPPING_FIGURE_PRIVATE_DIRTY, 3);
	assert_int_equal(total.value, 4096);
	total = group_figure(&groups, "/l.so", PLIM_MAPPING_LIBRARY,
			     PLIM_MAPPING_FIGURE_EXCLUSIVE, 3);
	assert_int_equal(total.state, PLIM_STATE_SKIPPED);
	/* unknown last */
	assert_int_equal(
	    groups.items[3].figures[PLIM_MAPPING_FIGURE_RESIDENT].method,
	    PLIM_REASON_STALL);
	assert_int_equal(plimp_regions_group(&allocator, &space, space_regions,
					     PLIM_MAPPING_BY_KIND, &groups),
			 PLIM_OK);
	assert_int_equal(groups.count, 3);
	total = group_figure(&groups, "other", PLIM_MAPPING_OTHER,
			     PLIM_MAPPING_FIGURE_RESIDENT, 3);
	assert_int_equal(total.value, 223 * KIB);
	assert_int_equal(total.bound, PLIM_BOUND_AT_LEAST);
	plimp_region_groups_release(&allocator, &groups);
}

/* Every figure of the table comes from the member of its name. */
static void test_figures(void **state)
{
	struct plimp_mapping *made =
	    space_add(0x1000, 4096, "rw-p", 0, "", 1002);
	const struct {
		plim_count *member;
		int figure;
	} all[] = {
	    {&made->resident, PLIM_MAPPING_FIGURE_RESIDENT},
	    {&made->private_dirty, PLIM_MAPPING_FIGURE_PRIVATE_DIRTY},
	    {&made->private_clean, PLIM_MAPPING_FIGURE_PRIVATE_CLEAN},
	    {&made->shared_clean, PLIM_MAPPING_FIGURE_SHARED_CLEAN},
	    {&made->shared_dirty, PLIM_MAPPING_FIGURE_SHARED_DIRTY},
	    {&made->pss, PLIM_MAPPING_FIGURE_PSS},
	    {&made->anonymous, PLIM_MAPPING_FIGURE_ANONYMOUS},
	    {&made->swap, PLIM_MAPPING_FIGURE_SWAP},
	    {&made->swap_pss, PLIM_MAPPING_FIGURE_SWAP_PSS},
	    {&made->huge, PLIM_MAPPING_FIGURE_HUGE},
	    {&made->lazy_free, PLIM_MAPPING_FIGURE_LAZY_FREE},
	    {&made->locked, PLIM_MAPPING_FIGURE_LOCKED},
	    {&made->hugetlb, PLIM_MAPPING_FIGURE_HUGETLB},
	    {&made->exclusive, PLIM_MAPPING_FIGURE_EXCLUSIVE},
	    {&made->pss_dirty, PLIM_MAPPING_FIGURE_PSS_DIRTY},
	};

	(void)state;
	assert_int_equal(sizeof(all) / sizeof(all[0]) + 2,
			 PLIM_MAPPING_FIGURE_COUNT);
	for (size_t at = 0; at < sizeof(all) / sizeof(all[0]); at++)
		*all[at].member = plim_count_known(
		    7000 + (uint64_t)all[at].figure, PLIM_METHOD_SMAPS);
	for (int figure = 2; figure < PLIM_MAPPING_FIGURE_COUNT; figure++)
		assert_int_equal(plimp_regions_figure(made, figure).value,
				 7000 + figure);
	assert_int_equal(
	    plimp_regions_figure(made, PLIM_MAPPING_FIGURE_SIZE).value, 4096);
	assert_int_equal(plimp_regions_figure(made, 0).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(
	    plimp_regions_figure(made, PLIM_MAPPING_FIGURE_COUNT).state,
	    PLIM_STATE_UNSUPPORTED);
}

static void test_nothing(void **state)
{
	static const plim_allocator allocator = {NULL, NULL};
	struct plimp_region_groups groups = {NULL, 0, 0};

	(void)state;
	space_classify("/x", 1);
	assert_int_equal(plimp_regions_group(&allocator, &space, space_regions,
					     PLIM_MAPPING_BY_NAME, &groups),
			 PLIM_OK);
	assert_int_equal(groups.count, 0);
}

/* Many files in one sort, against a plain search. */
static void test_groups_sorted(void **state)
{
	static const plim_allocator allocator = {NULL, NULL};
	struct plimp_region_groups groups = {NULL, 0, 0};
	uint64_t sum = 0;
	uint64_t got = 0;
	uint32_t seed = 1;

	(void)state;
	for (size_t at = 0; at < SPACE_MOST; at++) {
		char name[16];

		seed = seed * 1664525u + 1013904223u;
		snprintf(name, sizeof(name), "/f%u", (seed >> 16) % 20);
		space_add(0x10000 + at * 0x10000, 4096, "r--p",
			  1 + (seed >> 16) % 20, name, (seed >> 8) & 0xffff);
		sum += (seed >> 8) & 0xffff;
	}
	space_classify("/x", 1);
	assert_int_equal(plimp_regions_group(&allocator, &space, space_regions,
					     PLIM_MAPPING_BY_NAME, &groups),
			 PLIM_OK);
	assert_in_range(groups.count, 15, 20);
	for (size_t at = 0; at < groups.count; at++) {
		uint64_t expected = 0;
		size_t members = 0;

		for (size_t i = 0; i < space.count; i++) {
			plim_bytes name =
			    plimp_space_name(&space, &space.items[i]);

			if (name.size != groups.items[at].label.size ||
			    memcmp(name.data, groups.items[at].label.data,
				   name.size) != 0)
				continue;
			expected += space.items[i].resident.value;
			members++;
		}
		assert_int_equal(groups.items[at].count, members);
		assert_int_equal(groups.items[at]
				     .figures[PLIM_MAPPING_FIGURE_RESIDENT]
				     .value,
				 expected);
		if (at > 0)
			assert_true(groups.items[at - 1]
					.figures[PLIM_MAPPING_FIGURE_RESIDENT]
					.value >= expected);
		got += expected;
	}
	assert_int_equal(got, sum);
	plimp_region_groups_release(&allocator, &groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_ordinary, regions_setup),
	    cmocka_unit_test_setup(test_program_unknown, regions_setup),
	    cmocka_unit_test_setup(test_size_classes, regions_setup),
	    cmocka_unit_test_setup(test_stacks, regions_setup),
	    cmocka_unit_test_setup(test_stacks_merged, regions_setup),
	    cmocka_unit_test_setup(test_stacks_or_heap, regions_setup),
	    cmocka_unit_test_setup(test_file_runs, regions_setup),
	    cmocka_unit_test_setup(test_allocators, regions_setup),
	    cmocka_unit_test_setup(test_jit, regions_setup),
	    cmocka_unit_test_setup(test_shared, regions_setup),
	    cmocka_unit_test_setup(test_huge, regions_setup),
	    cmocka_unit_test_setup(test_hostile, regions_setup),
	    cmocka_unit_test_setup(test_groups, regions_setup),
	    cmocka_unit_test_setup(test_figures, regions_setup),
	    cmocka_unit_test_setup(test_nothing, regions_setup),
	    cmocka_unit_test_setup(test_groups_sorted, regions_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
