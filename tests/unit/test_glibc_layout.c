/*
 * test_glibc_layout.c - the table of layouts: that members lie where a
 * compiler would put them, and that every release has one row.
 *
 * The structures below are written out again for the newest and oldest shapes,
 * with types of the same size and alignment, so that a slip in the table shows.
 * tools/check-layouts does it for every tag of glibc's own sources.
 */
#include "memory/glibc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef uint64_t word;

struct state_2_26 {
	int32_t mutex, flags;
	word fastbins[10], top, last_remainder, bins[254];
	uint32_t binmap[4];
	word next, next_free, attached_threads, system_mem, max_system_mem;
};
struct state_2_27 {
	int32_t mutex, flags, have_fastchunks;
	word fastbins[10], top, last_remainder, bins[254];
	uint32_t binmap[4];
	word next, next_free, attached_threads, system_mem, max_system_mem;
};
struct state_2_43 {
	int32_t mutex, flags;
	word top, last_remainder, bins[254];
	uint32_t binmap[4];
	word next, next_free, attached_threads, system_mem, max_system_mem;
};
struct par_2_26 {
	word trim_threshold, top_pad, mmap_threshold, arena_test, arena_max;
	int32_t n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold;
	word mmapped_mem, max_mmapped_mem, sbrk_base;
	word tcache_bins, tcache_max_bytes, tcache_count, unsorted_limit;
};
struct par_2_35 {
	word trim_threshold, top_pad, mmap_threshold, arena_test, arena_max;
	word thp_pagesize, hp_pagesize;
	int32_t hp_flags, n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold;
	word mmapped_mem, max_mmapped_mem, sbrk_base;
	word tcache_bins, tcache_max_bytes, tcache_count, unsorted_limit;
};
struct par_2_43 {
	word trim_threshold, top_pad, mmap_threshold, arena_test, arena_max;
	int32_t thp_mode;
	word thp_pagesize, hp_pagesize;
	int32_t hp_flags, n_mmaps, n_mmaps_max, max_n_mmaps, no_dyn_threshold;
	word mmapped_mem, max_mmapped_mem, sbrk_base;
	word tcache_bins, tcache_max_bytes, tcache_count, unsorted_limit;
};

#define SAME(row, member, type, field) \
	assert_int_equal((row)->member, offsetof(struct type, field))
#define STATE(row, type)                                                  \
	do {                                                              \
		assert_int_equal((row)->state_size, sizeof(struct type)); \
		SAME(row, flags, type, flags);                            \
		SAME(row, top, type, top);                                \
		SAME(row, last_remainder, type, last_remainder);          \
		SAME(row, bins, type, bins);                              \
		SAME(row, binmap, type, binmap);                          \
		SAME(row, next, type, next);                              \
		SAME(row, next_free, type, next_free);                    \
		SAME(row, attached_threads, type, attached_threads);      \
		SAME(row, system_mem, type, system_mem);                  \
		SAME(row, max_system_mem, type, max_system_mem);          \
	} while (0)
#define PAR(row, type)                                                     \
	do {                                                               \
		assert_int_equal((row)->mp_size, sizeof(struct type));     \
		SAME(row, mp_trim_threshold, type, trim_threshold);        \
		SAME(row, mp_top_pad, type, top_pad);                      \
		SAME(row, mp_mmap_threshold, type, mmap_threshold);        \
		SAME(row, mp_arena_test, type, arena_test);                \
		SAME(row, mp_arena_max, type, arena_max);                  \
		SAME(row, mp_n_mmaps, type, n_mmaps);                      \
		SAME(row, mp_n_mmaps_max, type, n_mmaps_max);              \
		SAME(row, mp_max_n_mmaps, type, max_n_mmaps);              \
		SAME(row, mp_no_dyn_threshold, type, no_dyn_threshold);    \
		SAME(row, mp_mmapped_mem, type, mmapped_mem);              \
		SAME(row, mp_max_mmapped_mem, type, max_mmapped_mem);      \
		SAME(row, mp_sbrk_base, type, sbrk_base);                  \
		SAME(row, mp_tcache_bins, type, tcache_bins);              \
		SAME(row, mp_tcache_max_bytes, type, tcache_max_bytes);    \
		SAME(row, mp_tcache_count, type, tcache_count);            \
		SAME(row, mp_tcache_unsorted_limit, type, unsorted_limit); \
	} while (0)

static void one_row(const struct plimp_glibc_layout *row, unsigned minor)
{
	const int slots = minor >= 42;
	const int bins = slots ? 76 : 64;

	assert_in_range(minor, row->first_minor, row->last_minor);
	if (minor < 27)
		STATE(row, state_2_26);
	else if (minor < 43)
		STATE(row, state_2_27);
	else
		STATE(row, state_2_43);
	if (minor < 35)
		PAR(row, par_2_26);
	else if (minor < 43)
		PAR(row, par_2_35);
	else
		PAR(row, par_2_43);
	if (minor == 26)
		SAME(row, fastbins, state_2_26, fastbins);
	else if (minor < 43)
		SAME(row, fastbins, state_2_27, fastbins);
	else
		assert_int_equal(row->fastbins, PLIMP_GLIBC_NONE);
	assert_int_equal(row->fastbin_count, minor < 43 ? 10 : 0);
	assert_int_equal(row->heap_info_size, minor < 35 ? 32 : 48);
	assert_int_equal(row->tcache_small + row->tcache_large, bins);
	assert_int_equal(row->tcache_entries, minor < 30 ? 64 : 2 * bins);
	assert_int_equal(row->tcache_size, row->tcache_entries + 8 * bins);
	assert_int_equal(row->is_mangled, minor >= 32);
	assert_int_equal(row->tcache_key, minor < 29   ? PLIMP_GLIBC_NO_KEY
					  : minor < 34 ? PLIMP_GLIBC_ADDRESS
						       : PLIMP_GLIBC_RANDOM);
	assert_int_equal(row->huge_heap_pages,
			 minor >= 35 && minor < 42 ? 4 : 0);
	assert_int_equal(row->is_mmapped_like_normal, minor >= 43);
	assert_int_equal(row->heap_bytes, 64 << 20);
}

static void rows_are_as_compiled(void **state)
{
	const int machines[] = {PLIMP_MACHINE_X86_64, PLIMP_MACHINE_AARCH64};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		for (unsigned minor = 26; minor <= 43; minor++) {
			const struct plimp_glibc_layout *row =
			    plimp_glibc_layout_find(machines[i], minor);

			assert_non_null(row);
			assert_int_equal(row->machine, machines[i]);
			one_row(row, minor);
		}
		assert_null(plimp_glibc_layout_find(machines[i], 25));
		assert_null(plimp_glibc_layout_find(machines[i], 44));
	}
	assert_null(plimp_glibc_layout_find(40, 36));
}

/* Each release of a machine is in one row, and rows name themselves. */
static void rows_do_not_overlap(void **state)
{
	size_t count;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);

	(void)state;
	assert_int_equal(count, 18);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < i; k++)
			assert_true(rows[k].machine != rows[i].machine ||
				    rows[k].last_minor < rows[i].first_minor);
		assert_non_null(
		    strstr(rows[i].name, rows[i].machine == PLIMP_MACHINE_X86_64
					     ? " x86-64"
					     : " aarch64"));
		assert_string_not_equal(
		    plimp_glibc_standing_word(rows[i].standing), "unknown");
	}
}

static void reasons_have_words(void **state)
{
	(void)state;
	for (int i = 0; i <= PLIMP_GLIBC_RING_BROKEN; i++) {
		assert_string_not_equal(plimp_glibc_reason_word(i), "unknown");
		assert_string_not_equal(plimp_glibc_reason_text(i), "unknown");
	}
	assert_string_equal(plimp_glibc_reason_word(99), "unknown");
	assert_string_equal(plimp_glibc_reason_text(99), "unknown");
	assert_string_equal(plimp_glibc_standing_word(0), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rows_are_as_compiled),
	    cmocka_unit_test(rows_do_not_overlap),
	    cmocka_unit_test(reasons_have_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
