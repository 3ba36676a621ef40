/*
 * test_glibc_locate.c - glibc found in made-up processes, one for each row of
 * the table; and all that must not be taken for it.
 */
#include "picture_glibc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct picture_glibc glibc;
static struct plimp_glibc_place place;

static const struct plimp_glibc_layout *row(unsigned minor)
{
	return plimp_glibc_layout_find(PLIMP_MACHINE_X86_64, minor);
}

static void locate(void)
{
	plim_error error;

	memset(&place, 0xa5, sizeof(place));
	assert_int_equal(
	    plimp_glibc_locate(&glibc.picture.image, &place, &error), PLIM_OK);
	assert_int_equal(glibc.picture.forbidden, 0);
}

static void done(void)
{
	plimp_glibc_place_release(NULL, &place);
	picture_glibc_close(&glibc);
}

/* Locates, expects a failure with the reason, and nothing found. */
static void refuses(int reason)
{
	locate();
	assert_int_equal(place.reason, reason);
	assert_null(place.arenas);
	done();
}

static void expect_main(const struct plimp_glibc_layout *layout)
{
	assert_int_equal(place.reason, PLIMP_GLIBC_FOUND);
	assert_ptr_equal(place.layout, layout);
	assert_true(place.main_arena == PICTURE_ARENA);
	assert_true(place.mp == PICTURE_MP);
}

static void every_row(void **state)
{
	size_t count;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		uint64_t first, second;

		picture_glibc_open(&glibc, &rows[i], NULL, PICTURE_SYMBOLS, 2);
		first = picture_thread(&glibc);
		second = picture_thread(&glibc);
		picture_mp(&glibc, rows[i].mp_mmapped_mem, 8192);
		picture_put32(&glibc.picture, PICTURE_MP + rows[i].mp_n_mmaps,
			      1);
		picture_put32(&glibc.picture,
			      PICTURE_MP + rows[i].mp_max_n_mmaps, 3);
		locate();
		expect_main(&rows[i]);
		assert_int_equal(place.ways, 15);
		assert_int_equal(place.applied, 15);
		assert_int_equal(place.arena_count, 3);
		assert_true(place.arenas[0] == PICTURE_ARENA);
		assert_true(place.arenas[1] == second);
		assert_true(place.arenas[2] == first);
		assert_true(place.sbrk_base == PICTURE_HEAP);
		assert_int_equal(place.heap_bytes, 64 << 20);
		assert_int_equal(place.mmapped_bytes, 8192);
		assert_int_equal(place.mmapped_count, 1);
		assert_int_equal(place.trim_threshold, 131072);
		assert_int_equal(place.tcache_bins, 64);
		assert_int_equal(place.system_bytes, 3 * 0x21000 + 8192);
		assert_string_equal(place.version_from, "file");
		assert_false(place.is_static || place.is_beyond);
		assert_true(place.libc_start == PICTURE_LIBC);
		assert_true(place.libc_end == PICTURE_DATA + 0x2000);
		done();
	}
}

/* One thread, no symbols: the scan, and what break and top say of it. */
static void one_thread(void **state)
{
	(void)state;
	picture_glibc_open(&glibc, row(36), "2.36", 0, 0);
	locate();
	expect_main(row(36));
	assert_int_equal(place.ways,
			 PLIMP_GLIBC_BY_SCAN | PLIMP_GLIBC_BY_BREAK);
	assert_int_equal(place.arena_count, 1);
	assert_string_equal(place.version, "2.36");
	done();
	/* Without memory nothing but the scan can be asked. */
	picture_glibc_open(&glibc, row(36), "2.36", PICTURE_NO_BREAK, 0);
	locate();
	expect_main(row(36));
	assert_int_equal(place.ways, PLIMP_GLIBC_BY_SCAN);
	assert_int_equal(place.applied, PLIMP_GLIBC_BY_SCAN);
	assert_int_equal(place.system_bytes, 0);
	done();
}

/* The main arena without a break of its own, where the break cannot be asked.
 */
static void not_contiguous(void **state)
{
	(void)state;
	picture_glibc_open(&glibc, row(41), "2.41", 0, 0);
	picture_put32(&glibc.picture, PICTURE_ARENA + row(41)->flags, 2);
	picture_state(&glibc, PICTURE_ARENA, row(41)->system_mem, 0x5000);
	locate();
	expect_main(row(41));
	assert_int_equal(place.applied, PLIMP_GLIBC_BY_SCAN);
	done();
}

static void another_allocator_works(void **state)
{
	(void)state;
	picture_glibc_open(&glibc, row(36), "2.36", PICTURE_RAW, 0);
	locate();
	expect_main(row(36));
	assert_int_equal(place.system_bytes, 0);
	assert_int_equal(place.sbrk_base, 0);
	done();
}

static void file_is_gone(void **state)
{
	(void)state;
	picture_glibc_open(&glibc, row(43), "2.43",
			   PICTURE_NO_FILE | PICTURE_SYMBOLS, 1);
	picture_thread(&glibc);
	locate();
	expect_main(row(43));
	assert_string_equal(place.version, "2.43");
	assert_string_equal(place.version_from, "memory");
	/* The build id is in the pages, too, so that the symbols are found. */
	assert_int_equal(place.ways, 15);
	done();
}

/* A wrong layout shows itself: no row takes what another one laid out, but
 * those that have the same records. */
static void wrong_layout(void **state)
{
	size_t count;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);

	(void)state;
	for (size_t i = 0; i < count / 2; i++)
		for (size_t k = 0; k < count / 2; k++) {
			const struct plimp_glibc_layout *a = &rows[i];
			const struct plimp_glibc_layout *b = &rows[k];
			char version[16] = "2.";
			int same = a->top == b->top && a->next == b->next &&
				   a->mp_sbrk_base == b->mp_sbrk_base;

			version[2] = (char)('0' + b->first_minor / 10);
			version[3] = (char)('0' + b->first_minor % 10);
			picture_glibc_open(&glibc, a, version, 0, 1);
			picture_thread(&glibc);
			locate();
			if (same)
				expect_main(b);
			else
				assert_int_not_equal(place.reason,
						     PLIMP_GLIBC_FOUND);
			assert_true(same || !place.arenas);
			done();
		}
}

/* Without a version the records choose, and the first thread's cache where
 * they are alike. */
static void static_program(void **state)
{
	size_t count;
	const struct plimp_glibc_layout *rows = plimp_glibc_layouts(&count);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		uint64_t cache;

		picture_glibc_open(&glibc, &rows[i], NULL, PICTURE_STATIC, 0);
		cache = picture_cache(&glibc, PICTURE_ARENA);
		picture_cache_put(&glibc, cache,
				  picture_chunk(&glibc, PICTURE_ARENA, 64));
		picture_cache_put(&glibc, cache,
				  picture_chunk(&glibc, PICTURE_ARENA, 64));
		locate();
		expect_main(&rows[i]);
		assert_true(place.is_static);
		assert_string_equal(place.version, "");
		assert_string_equal(place.version_from, "layout");
		done();
	}
	/* Nothing in the cache tells 2.30 from 2.34. */
	picture_glibc_open(&glibc, row(31), NULL, PICTURE_STATIC, 0);
	picture_cache(&glibc, PICTURE_ARENA);
	refuses(PLIMP_GLIBC_SEVERAL);
	/* 2.26 is alone with its records. */
	picture_glibc_open(&glibc, row(26), NULL, PICTURE_STATIC, 0);
	locate();
	expect_main(row(26));
	done();
}

static void versions(void **state)
{
	(void)state;
	picture_glibc_open(&glibc, row(26), "2.25", 0, 0);
	refuses(PLIMP_GLIBC_OLD);
	picture_glibc_open(&glibc, row(43), "2.47", 0, 0);
	locate();
	expect_main(row(43));
	assert_true(place.is_beyond);
	assert_string_equal(place.version, "2.47");
	done();
	/* A newer release that is laid out otherwise is not guessed at. */
	picture_glibc_open(&glibc, row(42), "2.47", 0, 0);
	refuses(PLIMP_GLIBC_NO_ARENA);
	/* Between two releases either may be it. */
	picture_glibc_open(&glibc, row(43), "2.42.9000", 0, 0);
	locate();
	expect_main(row(43));
	assert_string_equal(place.version, "2.42.9000");
	done();
	picture_glibc_open(&glibc, row(42), "2.42.9000", 0, 0);
	locate();
	expect_main(row(42));
	done();
	picture_glibc_open(&glibc, row(36), "2.36", 0, 0);
	glibc.picture.image.machine = 40;
	refuses(PLIMP_GLIBC_MACHINE);
}

/* No glibc: a musl libc by a like name, no file at all, an empty process. */
static void not_glibc(void **state)
{
	uint8_t *text;

	(void)state;
	picture_glibc_open(&glibc, row(36), "2.36", PICTURE_NO_FILE, 0);
	text = picture_at(&glibc.picture, PICTURE_LIBC + 0x2000, 64);
	memset(text, 0, 64);
	picture_add_file(&glibc.picture, PICTURE_INODE, NULL,
			 picture_at(&glibc.picture, PICTURE_LIBC, 0x4000),
			 0x4000);
	refuses(PLIMP_GLIBC_ABSENT);
	glibc = (struct picture_glibc){.layout = row(36)};
	picture_open(&glibc.picture, 62);
	refuses(PLIMP_GLIBC_ABSENT);
	/* A static program that has no glibc in it. */
	picture_glibc_open(&glibc, row(36), NULL,
			   PICTURE_STATIC | PICTURE_NO_FILE, 0);
	memset(picture_at(&glibc.picture, PICTURE_LIBC + 0x2000, 64), 0, 64);
	memset(picture_at(&glibc.picture, PICTURE_DATA, 0x2000), 0, 0x2000);
	refuses(PLIMP_GLIBC_ABSENT);
}

/* The records themselves are gone: nothing is made up. */
static void unreadable(void **state)
{
	uint64_t arena;

	(void)state;
	picture_glibc_open(&glibc, row(36), "2.36", 0, 0);
	picture_kind(&glibc.picture, PICTURE_DATA, 0x1000, PLIMP_PAGE_SWAPPED);
	refuses(PLIMP_GLIBC_UNREADABLE);
	picture_glibc_open(&glibc, row(36), "2.36", 0, 1);
	arena = picture_thread(&glibc);
	picture_kind(&glibc.picture, arena & ~(uint64_t)4095, 0x1000,
		     PLIMP_PAGE_SWAPPED);
	refuses(PLIMP_GLIBC_UNREADABLE);
	/* Top alone: then it is the break that cannot be asked. */
	picture_glibc_open(&glibc, row(36), "2.36", 0, 0);
	picture_kind(&glibc.picture, PICTURE_HEAP, 0x1000, PLIMP_PAGE_SWAPPED);
	locate();
	expect_main(row(36));
	assert_int_equal(place.applied, PLIMP_GLIBC_BY_SCAN);
	done();
	picture_glibc_open(&glibc, row(36), "2.36", 0, 0);
	glibc.picture.failure = PLIM_EDENIED;
	refuses(PLIMP_GLIBC_DENIED);
}

static void ways_disagree(void **state)
{
	const struct plimp_glibc_layout *layout = row(36);
	uint64_t arena;

	(void)state;
	/* The break says another size than the record. */
	picture_glibc_open(&glibc, layout, "2.36", 0, 0);
	picture_state(&glibc, PICTURE_ARENA, layout->system_mem, 0x22000);
	refuses(PLIMP_GLIBC_DISAGREE);
	/* The symbol is beside the record. */
	picture_glibc_open(&glibc, layout, "2.36", PICTURE_SYMBOLS, 0);
	memmove(picture_at(&glibc.picture, PICTURE_ARENA + 8, 2200),
		picture_at(&glibc.picture, PICTURE_ARENA, 2200), 2200);
	for (uint64_t i = 0; i < 127 * 2; i++)
		picture_put(
		    &glibc.picture, PICTURE_ARENA + 8 + layout->bins + 8 * i,
		    PICTURE_ARENA + 8 + layout->bins + 16 * (i / 2) - 16);
	picture_put(&glibc.picture, PICTURE_ARENA + 8 + layout->next,
		    PICTURE_ARENA + 8);
	refuses(PLIMP_GLIBC_DISAGREE);
	/* A heap's ring leads to another place of the data. */
	picture_glibc_open(&glibc, layout, "2.36", 0, 1);
	arena = picture_thread(&glibc);
	picture_state(&glibc, arena, layout->next, PICTURE_ARENA + 16);
	refuses(PLIMP_GLIBC_DISAGREE);
	/* The ring leads to a heap that has no arena. */
	picture_glibc_open(&glibc, layout, "2.36", 0, 2);
	arena = picture_thread(&glibc);
	picture_state(&glibc, arena, layout->next,
		      PICTURE_HEAPS + layout->heap_bytes +
			  layout->heap_info_size);
	refuses(PLIMP_GLIBC_RING_BROKEN);
}

/* A second copy of libc (dlmopen), below the first: as it is before its malloc
 * is used, and then with memory of its own. */
static void two_copies(void **state)
{
	const struct plimp_glibc_layout *layout = row(36);
	const uint64_t arena = 0x7d0000004ac0u, data = 0x7d0000004000u;

	(void)state;
	for (int used = 0; used < 2; used++) {
		struct picture *picture = &glibc.picture;

		picture_glibc_open(&glibc, layout, "2.36", 0, 0);
		picture_insert(picture, 1, data - 0x4000, 0x4000,
			       PLIMP_MAY_READ, PICTURE_INODE, 0,
			       "/lib/x86_64/libc.so.6");
		picture_insert(picture, 2, data, 0x2000,
			       PLIMP_MAY_READ | PLIMP_MAY_WRITE, PICTURE_INODE,
			       0x4000, "/lib/x86_64/libc.so.6");
		memcpy(picture_at(picture, data + 0x180, 136),
		       picture_at(picture, PICTURE_MP, 136), 136);
		picture_put(picture, data + 0x180 + layout->mp_sbrk_base, 0);
		picture_put(picture, arena + layout->next, arena);
		picture_put(picture, arena + layout->attached_threads, 1);
		if (used) {
			for (uint64_t i = 0; i < 127 * 2; i++)
				picture_put(
				    picture, arena + layout->bins + 8 * i,
				    arena + layout->bins + 16 * (i / 2) - 16);
			picture_put(picture, arena + layout->top,
				    PICTURE_HEAP + 64);
			picture_put32(picture, arena + layout->flags, 2);
			picture_put(picture, arena + layout->system_mem, 4096);
			picture_put(picture, arena + layout->max_system_mem,
				    4096);
			refuses(PLIMP_GLIBC_SEVERAL);
		} else {
			locate();
			expect_main(layout);
			done();
		}
	}
}

static void bad_parameters(void **state)
{
	const struct plimp_glibc_layout *layout = row(36);

	(void)state;
	picture_glibc_open(&glibc, layout, "2.36", 0, 0);
	picture_mp(&glibc, layout->mp_tcache_max_bytes, 1040);
	refuses(PLIMP_GLIBC_NO_PARAMETERS);
	picture_glibc_open(&glibc, layout, "2.36", 0, 0);
	picture_mp(&glibc, layout->mp_hp_pagesize, 4096);
	refuses(PLIMP_GLIBC_NO_PARAMETERS);
}

/* Tunables: the cache's sizes as do_set_tcache_max() leaves them, and none. */
static void tunables(void **state)
{
	static const struct {
		unsigned minor;
		uint64_t bins, bytes, count;
	} set[] = {
	    {36, 6, 100, 200},		 {36, 1, 0, 7},	     {36, 64, 1032, 0},
	    {42, 64, 4 << 20, 7},	 {42, 2, 48, 65535}, {42, 64, 1040, 7},
	    {43, 64, (4 << 20) + 1, 16}, {43, 2, 49, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		const struct plimp_glibc_layout *layout = row(set[i].minor);

		picture_glibc_open(&glibc, layout, NULL, 0, 0);
		picture_mp(&glibc, layout->mp_tcache_bins, set[i].bins);
		picture_mp(&glibc, layout->mp_tcache_max_bytes, set[i].bytes);
		picture_mp(&glibc, layout->mp_tcache_count, set[i].count);
		locate();
		expect_main(layout);
		assert_int_equal(place.tcache_bins, set[i].bins);
		assert_int_equal(place.tcache_max_bytes, set[i].bytes);
		assert_int_equal(place.tcache_count, set[i].count);
		done();
	}
}

/* hugetlb=2: heaps of four huge pages to 2.41, of 64 MiB later. */
static void huge_pages(void **state)
{
	(void)state;
	picture_glibc_open(&glibc, row(36), "2.36", PICTURE_NO_BREAK, 0);
	picture_mp(&glibc, row(36)->mp_hp_pagesize, 2 << 20);
	locate();
	expect_main(row(36));
	assert_int_equal(place.heap_bytes, 8 << 20);
	assert_int_equal(place.hp_pagesize, 2 << 20);
	done();
	picture_glibc_open(&glibc, row(42), "2.42", PICTURE_NO_BREAK, 0);
	picture_mp(&glibc, row(42)->mp_hp_pagesize, 2 << 20);
	locate();
	expect_main(row(42));
	assert_int_equal(place.heap_bytes, 64 << 20);
	done();
}

static void reader_fails(void **state)
{
	plim_error error = {0};

	(void)state;
	picture_glibc_open(&glibc, row(36), "2.36", 0, 0);
	memset(&place, 0x5a, sizeof(place));
	glibc.picture.failure = PLIM_ENOPROCESS;
	assert_int_equal(
	    plimp_glibc_locate(&glibc.picture.image, &place, &error),
	    PLIM_ENOPROCESS);
	assert_int_equal(error.code, PLIM_ENOPROCESS);
	for (size_t i = 0; i < sizeof(place); i++)
		assert_int_equal(((uint8_t *)&place)[i], 0x5a);
	picture_glibc_close(&glibc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_row),
	    cmocka_unit_test(one_thread),
	    cmocka_unit_test(not_contiguous),
	    cmocka_unit_test(another_allocator_works),
	    cmocka_unit_test(file_is_gone),
	    cmocka_unit_test(wrong_layout),
	    cmocka_unit_test(static_program),
	    cmocka_unit_test(versions),
	    cmocka_unit_test(not_glibc),
	    cmocka_unit_test(unreadable),
	    cmocka_unit_test(ways_disagree),
	    cmocka_unit_test(two_copies),
	    cmocka_unit_test(bad_parameters),
	    cmocka_unit_test(tunables),
	    cmocka_unit_test(huge_pages),
	    cmocka_unit_test(reader_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
