/*
 * test_arenas.c - the baseline estimate: layouts of mappings as programs make
 * them, what of them is counted, what is not, and which blind spot
 * says so. All layouts are synthetic, after those of live programs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "space.h"

#define HEAP (64 * SPACE_MIB)
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"
#define BASE 0x7f4000000000u

/* What every glibc program with a [heap] has. */
#define ALWAYS PLIM_BLIND_SPOT_MAIN_ARENA

static int arenas_setup(void **state)
{
	(void)state;
	space_begin();
	return 0;
}

static void add_program(void)
{
	space_add(0x555555554000, SPACE_MIB, "r-xp", 11, "/bin/x", 0);
	space_add(0x555555800000, 8 * SPACE_MIB, "rw-p", 0, "[heap]",
		  5 * SPACE_MIB);
}

static void add_libc(void)
{
	space_add(0x7ff000000000, SPACE_MIB, "r-xp", 12, LIBC, 0);
}

/* A heap that is open up to `open`. */
static void add_heap(uint64_t start, uint64_t open, uint64_t resident,
		     const char *flags)
{
	space_add(start, open, "rw-p", 0, "", resident);
	space_flags(flags);
	if (open == HEAP)
		return;
	space_next(HEAP - open, "---p", 0, "", 0);
	space_flags(flags);
}

static plim_baseline expect(uint64_t heaps, uint64_t resident, uint32_t spots)
{
	plim_baseline got = plimp_arenas_estimate(&space);

	assert_int_equal(got.sub_heaps.state, PLIM_STATE_KNOWN);
	assert_int_equal(got.sub_heaps.value, heaps);
	assert_int_equal(got.reserved.value, heaps * HEAP);
	assert_int_equal(got.resident.state, PLIM_STATE_KNOWN);
	assert_int_equal(got.resident.value, resident);
	assert_int_equal(got.blind_spots, spots);
	return got;
}

/* Four heaps side by side, each with its remainder, and the main heap. */
static void test_side_by_side(void **state)
{
	plim_baseline got;

	(void)state;
	add_program();
	for (uint64_t at = 0; at < 4; at++)
		add_heap(BASE + at * HEAP, (at + 1) * SPACE_MIB, SPACE_MIB,
			 "nr");
	add_libc();
	got = expect(4, 4 * SPACE_MIB, ALWAYS | PLIM_BLIND_SPOT_RESIDENCY);
	assert_int_equal(got.main_heap_size.value, 8 * SPACE_MIB);
	assert_int_equal(got.main_heap_resident.value, 5 * SPACE_MIB);
}

/* A heap of several pieces is one; a gap, another file or a shared mapping in
 * it makes it none; so does one that is too short or too long. */
static void test_pieces(void **state)
{
	(void)state;
	add_program();
	add_heap(BASE, 8 * SPACE_MIB, 0, "nr");
	space.items[space.count - 1].end -= 8 * SPACE_MIB;
	space_next(8 * SPACE_MIB, "r--p", 0, "", 4096);
	add_heap(BASE + 2 * HEAP, 8 * SPACE_MIB, 4096, "nr");
	space.items[space.count - 1].start += 4096; /* a gap */
	space_add(BASE + 4 * HEAP, 8 * SPACE_MIB, "rw-p", 0, "", 4096);
	space_next(HEAP - 8 * SPACE_MIB, "r--p", 9, "/file", 4096);
	space_add(BASE + 6 * HEAP, 8 * SPACE_MIB, "rw-p", 0, "", 4096);
	space_next(HEAP - 8 * SPACE_MIB, "---s", 0, "", 4096);
	space_add(BASE + 8 * HEAP, HEAP - 4096, "rw-p", 0, "", 4096);
	space_add(BASE + 10 * HEAP, HEAP, "rw-p", 0, "", 4096);
	space_flags("nr");
	space.items[space.count - 1].end += 4096;
	add_libc();
	expect(1, 4096,
	       ALWAYS | PLIM_BLIND_SPOT_RESIDENCY | PLIM_BLIND_SPOT_MERGED);
	assert_int_equal(plimp_arenas_span(&space, 2), 3);
	assert_int_equal(plimp_arenas_span(&space, 3), 0);
}

/* With names (Linux 5.17, glibc.mem.decorate_maps) heaps have one. */
static void test_named(void **state)
{
	(void)state;
	add_program();
	space_add(BASE, 8 * SPACE_MIB, "rw-p", 0, "[anon: glibc: malloc arena]",
		  4096);
	space_next(HEAP - 8 * SPACE_MIB, "---p", 0,
		   "[anon: glibc: malloc arena]", 0);
	add_libc();
	expect(1, 4096, ALWAYS | PLIM_BLIND_SPOT_RESIDENCY);
}

/* Two that are fully grown are one mapping of 128 MiB, and a third that is
 * not behind them: none is counted, and it is said. */
static void test_merged(void **state)
{
	(void)state;
	add_program();
	space_add(BASE, 2 * HEAP, "rw-p", 0, "", 2 * HEAP);
	space_flags("nr");
	add_libc();
	expect(0, 0, ALWAYS | PLIM_BLIND_SPOT_MERGED);

	space_begin();
	add_program();
	space_add(BASE, HEAP + SPACE_MIB, "rw-p", 0, "", SPACE_MIB);
	space_flags("nr");
	space_next(HEAP - SPACE_MIB, "---p", 0, "", 0);
	add_libc();
	expect(0, 0, ALWAYS | PLIM_BLIND_SPOT_MERGED);
}

/* One heap that is full, alone: 64 MiB exactly, and no remainder. */
static void test_full(void **state)
{
	(void)state;
	add_program();
	add_heap(BASE, HEAP, HEAP, "nr");
	add_libc();
	expect(1, HEAP, ALWAYS | PLIM_BLIND_SPOT_RESIDENCY);
}

/* A reserve right below a heap merged with it. With flags, a mapping that is
 * accounted is known not to be that; without, it may be. */
static void test_unaligned(void **state)
{
	(void)state;
	add_program();
	space_add(BASE - SPACE_MIB, 10 * SPACE_MIB, "rw-p", 0, "", SPACE_MIB);
	space_flags("nr");
	space_next(HEAP - 9 * SPACE_MIB, "---p", 0, "", 0);
	add_heap(BASE + HEAP, SPACE_MIB, 4096, "nr");
	add_libc();
	expect(1, 4096,
	       ALWAYS | PLIM_BLIND_SPOT_RESIDENCY | PLIM_BLIND_SPOT_UNALIGNED);

	space_begin();
	add_program();
	space_add(BASE - SPACE_MIB, 10 * SPACE_MIB, "rw-p", 0, "", 0);
	space_flags("ac");
	add_libc();
	expect(0, 0, ALWAYS);
	space.items[2].has &= ~(uint32_t)PLIMP_MAPPING_FLAGS;
	expect(0, 0, ALWAYS | PLIM_BLIND_SPOT_UNALIGNED);
	space.items[2].end = BASE; /* up to the boundary: nothing is hidden */
	expect(0, 0, ALWAYS);
}

/* A program that maps aligned 64 MiB itself: they are counted, as the rule
 * has it, and the kernel's flags give them away. */
static void test_own_mappings(void **state)
{
	(void)state;
	add_program();
	for (uint64_t at = 0; at < 6; at++) {
		space_add(BASE + 2 * at * HEAP, HEAP, "rw-p", 0, "", SPACE_MIB);
		space_flags("ac");
	}
	add_libc();
	expect(6, 6 * SPACE_MIB,
	       ALWAYS | PLIM_BLIND_SPOT_RESIDENCY | PLIM_BLIND_SPOT_UNMARKED);
}

/* Go's first arena is counted; there is neither libc nor [heap]. */
static void test_go(void **state)
{
	(void)state;
	space_add(0x400000, SPACE_MIB, "r-xp", 11, "/bin/go", 0);
	add_heap(0xc000000000, 48 * SPACE_MIB, 47 * SPACE_MIB, "nr");
	expect(1, 47 * SPACE_MIB,
	       PLIM_BLIND_SPOT_RESIDENCY | PLIM_BLIND_SPOT_GO |
		   PLIM_BLIND_SPOT_NO_GLIBC | PLIM_BLIND_SPOT_NO_HEAP);
}

/* Other allocators, by their libraries and by names of memory. */
static void test_others(void **state)
{
	static const char *const files[] = {
	    "/usr/lib/libmimalloc.so.2.0", "/usr/lib/libjemalloc.so.2",
	    "/opt/libtcmalloc_minimal.so.4 (deleted)"};

	(void)state;
	for (size_t at = 0; at < 3; at++) {
		space_begin();
		add_program();
		add_heap(BASE, HEAP, HEAP, "ac");
		space_add(BASE + 4 * HEAP, SPACE_MIB, "r-xp", 13, files[at], 0);
		add_libc();
		expect(1, HEAP,
		       ALWAYS | PLIM_BLIND_SPOT_RESIDENCY |
			   PLIM_BLIND_SPOT_OTHER_ALLOCATOR |
			   PLIM_BLIND_SPOT_UNMARKED);
	}
	space_begin();
	add_program();
	space_add(BASE, SPACE_MIB, "rw-p", 0, "[anon:tcmalloc_region_X]", 0);
	add_libc();
	expect(0, 0, ALWAYS | PLIM_BLIND_SPOT_OTHER_ALLOCATOR);
}

/* glibc.malloc.hugetlb=2: heaps are 8 MiB of a file of huge pages. */
static void test_hugetlb(void **state)
{
	(void)state;
	add_program();
	space_add(BASE, 8 * SPACE_MIB, "rw-p", 99, "/anon_hugepage (deleted)",
		  0);
	space_flags("ht nr");
	add_libc();
	expect(0, 0, ALWAYS | PLIM_BLIND_SPOT_HUGETLB);
}

/* brk blocked: no [heap]; musl: no glibc; an old glibc by its old name. */
static void test_heap_and_libc(void **state)
{
	plim_baseline got;

	(void)state;
	add_libc();
	got = expect(0, 0, PLIM_BLIND_SPOT_NO_HEAP);
	assert_int_equal(got.main_heap_size.state, PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(got.main_heap_resident.state,
			 PLIM_STATE_NOT_APPLICABLE);
	space_begin();
	add_program();
	space_add(BASE, SPACE_MIB, "r-xp", 12, "/lib/ld-musl-x86_64.so.1", 0);
	expect(0, 0, PLIM_BLIND_SPOT_NO_GLIBC);
	space_begin();
	add_program();
	space_add(BASE, SPACE_MIB, "r-xp", 12, "/lib/libc-2.31.so", 0);
	expect(0, 0, ALWAYS);
}

/* A thread stack of 64 MiB is not aligned, and has its guard below. */
static void test_stack(void **state)
{
	(void)state;
	add_program();
	space_add(BASE - HEAP - 8192, 4096, "---p", 0, "", 0);
	space_next(HEAP, "rw-p", 0, "", 4096);
	space_flags("ac nh");
	add_libc();
	expect(0, 0, ALWAYS);
}

/* What is resident but not known stays so, and is a bound among known ones. */
static void test_unknown_resident(void **state)
{
	plim_baseline got;

	(void)state;
	add_program();
	add_heap(BASE, SPACE_MIB, 4096, "nr");
	space.items[2].resident = plim_count_missing(PLIM_REASON_STALL, 0);
	space.items[3].resident = plim_count_missing(PLIM_REASON_STALL, 0);
	add_heap(BASE + 2 * HEAP, SPACE_MIB, 8192, "nr");
	add_libc();
	got = plimp_arenas_estimate(&space);
	assert_int_equal(got.sub_heaps.value, 2);
	assert_int_equal(got.resident.value, 8192);
	assert_int_equal(got.resident.bound, PLIM_BOUND_AT_LEAST);
	space.count = 4;
	got = plimp_arenas_estimate(&space);
	assert_int_equal(got.resident.state, PLIM_STATE_SKIPPED);
	assert_int_equal(got.resident.method, PLIM_REASON_STALL);
}

/* Addresses at the end of the space do not wrap. */
static void test_end(void **state)
{
	(void)state;
	add_libc();
	space_add(0xfffffffffc000000, HEAP - 4096, "rw-p", 0, "", 0);
	expect(0, 0, PLIM_BLIND_SPOT_NO_HEAP);
	assert_int_equal(plimp_arenas_span(&space, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_side_by_side, arenas_setup),
	    cmocka_unit_test_setup(test_pieces, arenas_setup),
	    cmocka_unit_test_setup(test_named, arenas_setup),
	    cmocka_unit_test_setup(test_merged, arenas_setup),
	    cmocka_unit_test_setup(test_full, arenas_setup),
	    cmocka_unit_test_setup(test_unaligned, arenas_setup),
	    cmocka_unit_test_setup(test_own_mappings, arenas_setup),
	    cmocka_unit_test_setup(test_go, arenas_setup),
	    cmocka_unit_test_setup(test_others, arenas_setup),
	    cmocka_unit_test_setup(test_hugetlb, arenas_setup),
	    cmocka_unit_test_setup(test_heap_and_libc, arenas_setup),
	    cmocka_unit_test_setup(test_stack, arenas_setup),
	    cmocka_unit_test_setup(test_unknown_resident, arenas_setup),
	    cmocka_unit_test_setup(test_end, arenas_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
