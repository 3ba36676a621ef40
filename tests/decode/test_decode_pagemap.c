/*
 * test_decode_pagemap.c - entries of pagemap and regions of PAGEMAP_SCAN, as
 * the kernel's documentation lists their bits.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define PRESENT	  (UINT64_C(1) << 63)
#define SWAPPED	  (UINT64_C(1) << 62)
#define FILE_PAGE (UINT64_C(1) << 61)
#define GUARD	  (UINT64_C(1) << 58)
#define WRITTEN	  (UINT64_C(1) << 57)
#define EXCLUSIVE (UINT64_C(1) << 56)
#define DIRTY	  (UINT64_C(1) << 55)

static void test_bits(void **state)
{
	static const struct {
		uint64_t entry;
		uint64_t zero_frame;
		int doubtful;
		uint8_t page;
	} rows[] = {
	    {0, 0, 0, 0},
	    {DIRTY | WRITTEN, 0, 0, 0},
	    {PRESENT | EXCLUSIVE, 0, 0,
	     PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_EXCLUSIVE},
	    {PRESENT | EXCLUSIVE | DIRTY | 1234, 1234, 0,
	     PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_EXCLUSIVE},
	    {PRESENT | FILE_PAGE, 0, 0,
	     PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_SHARED |
		 PLIMP_PAGE_FILE},
	    {PRESENT | FILE_PAGE | EXCLUSIVE, 0, 0,
	     PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_EXCLUSIVE |
		 PLIMP_PAGE_FILE},
	    {SWAPPED | 0x123, 0, 0, PLIMP_PAGE_SWAPPED},
	    {SWAPPED | FILE_PAGE, 0, 0, PLIMP_PAGE_SWAPPED | PLIMP_PAGE_FILE},
	    {SWAPPED | GUARD, 0, 0, 0},
	    /* Shared after a fork, or the zero page. */
	    {PRESENT, 0, 1, PLIMP_PAGE_READABLE},
	    {PRESENT | DIRTY, 1234, 1, PLIMP_PAGE_READABLE},
	    {PRESENT | 77, 0, 1, PLIMP_PAGE_READABLE},
	    {PRESENT | 1234, 1234, 0, PLIMP_PAGE_READABLE | PLIMP_PAGE_ZERO},
	    {PRESENT | 1235, 1234, 0,
	     PLIMP_PAGE_READABLE | PLIMP_PAGE_RESIDENT | PLIMP_PAGE_SHARED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes entry = text_copy((const char *)&rows[i].entry, 8);
		uint8_t page = 0xff;

		assert_int_equal(
		    plimp_decode_pagemap(entry, rows[i].zero_frame, &page),
		    rows[i].doubtful);
		assert_int_equal(page, rows[i].page);
		text_free(entry);
	}
}

static void test_many(void **state)
{
	const uint64_t entries[3] = {PRESENT, 0, PRESENT | EXCLUSIVE};
	plim_bytes all = text_copy((const char *)entries, sizeof(entries));
	plim_bytes cut = text_copy((const char *)entries, 23);
	uint8_t pages[4] = {9, 9, 9, 9};

	(void)state;
	assert_int_equal(plimp_decode_pagemap(cut, 0, pages), PLIM_EMALFORMED);
	assert_int_equal(pages[0], 9);
	assert_int_equal(plimp_decode_pagemap(all, 0, pages), 1);
	assert_int_equal(pages[0], PLIMP_PAGE_READABLE);
	assert_int_equal(pages[1], 0);
	assert_int_equal(pages[3], 9);
	text_free(all);
	text_free(cut);
}

struct walked {
	int result;
	size_t count;
	uint64_t end;
};

static struct walked walk(const uint64_t *words, size_t size, uint64_t from)
{
	plim_bytes bytes = text_copy((const char *)words, size);
	struct walked walked = {0, 0, 0};
	struct plimp_page_run region;
	uint64_t at = from;
	size_t offset = 0;

	while ((walked.result =
		    plimp_decode_region(bytes, &offset, &at, &region)) == 1) {
		assert_true(region.start >= from);
		assert_true(region.end > region.start);
		assert_true(at == region.end);
		from = at;
		walked.count++;
	}
	walked.end = at;
	text_free(bytes);
	return walked;
}

static void test_regions(void **state)
{
	const uint64_t good[] = {0x1000, 0x3000, PLIMP_CATEGORY_PRESENT,
				 0x3000, 0x4000, PLIMP_CATEGORY_SWAPPED};
	const uint64_t back[] = {0x2000, 0x3000, 0, 0x1000, 0x2000, 0};
	const uint64_t empty[] = {0x2000, 0x2000, 0};
	struct walked walked;

	(void)state;
	walked = walk(good, sizeof(good), 0x1000);
	assert_int_equal(walked.result, 0);
	assert_int_equal(walked.count, 2);
	assert_true(walked.end == 0x4000);
	walked = walk(good, 0, 7);
	assert_int_equal(walked.result, 0);
	assert_int_equal(walked.count, 0);
	walked = walk(good, sizeof(good) - 1, 0);
	assert_int_equal(walked.result, PLIM_EMALFORMED);
	assert_int_equal(walked.count, 1);
	assert_int_equal(walk(good, sizeof(good), 0x1001).result,
			 PLIM_EMALFORMED);
	walked = walk(back, sizeof(back), 0);
	assert_int_equal(walked.result, PLIM_EMALFORMED);
	assert_true(walked.end == 0x3000);
	assert_int_equal(walk(empty, sizeof(empty), 0).result, PLIM_EMALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_bits),
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_regions),
	};

	return cmocka_run_group_tests_name("decode_pagemap", tests, NULL, NULL);
}
