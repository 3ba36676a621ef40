/*
 * test_window.c - reads that touch nothing: what is not readable is never
 * read, what lies across pages is put together, and big reads are as big as
 * they are of use.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "planted.h"

#include <string.h>

#define BASE UINT64_C(0x7f0000000000)

static struct planted window_planted;
static struct plimp_image window_image;
static struct plimp_window window_under_test;

static int window_begin(void **state)
{
	uint8_t *bytes;

	(void)state;
	planted_begin(&window_planted);
	bytes = planted_add(&window_planted, BASE, 64 * PLANTED_PAGE, "");
	for (size_t i = 0; i < 64 * PLANTED_PAGE; i++)
		bytes[i] = (uint8_t)(i * 7 + i / PLANTED_PAGE);
	planted_image(&window_planted, &window_image);
	return plimp_window_open(&window_under_test, &window_image);
}

static int window_end(void **state)
{
	(void)state;
	plimp_window_close(&window_under_test);
	planted_end(&window_planted);
	return 0;
}

static void window_puts_pages_together(void **state)
{
	uint8_t bytes[3 * PLANTED_PAGE];
	uint64_t word = 0;
	uint32_t half = 0;
	uint16_t quarter = 0;

	(void)state;
	assert_int_equal(plimp_window_read(&window_under_test, BASE + 100,
					   bytes, sizeof(bytes)),
			 PLIMP_REACHED);
	assert_memory_equal(bytes, planted_at(&window_planted, BASE + 100),
			    sizeof(bytes));
	assert_int_equal(window_under_test.loads, 4);
	planted_u64(&window_planted, BASE + 8 * PLANTED_PAGE - 4,
		    0x1122334455667788);
	assert_int_equal(plimp_window_u64(&window_under_test,
					  BASE + 8 * PLANTED_PAGE - 4, &word),
			 PLIMP_REACHED);
	assert_true(word == 0x1122334455667788);
	assert_int_equal(plimp_window_u32(&window_under_test,
					  BASE + 8 * PLANTED_PAGE - 2, &half),
			 PLIMP_REACHED);
	assert_int_equal(half, 0x33445566);
	assert_int_equal(plimp_window_u16(&window_under_test,
					  BASE + 8 * PLANTED_PAGE - 1,
					  &quarter),
			 PLIMP_REACHED);
	assert_int_equal(quarter, 0x4455);
	assert_false(window_planted.violated);
}

static void window_keeps_what_it_read(void **state)
{
	uint64_t first = 0;
	uint64_t again = 0;

	(void)state;
	plimp_window_u64(&window_under_test, BASE + 16, &first);
	planted_u64(&window_planted, BASE + 16, 1);
	plimp_window_u64(&window_under_test, BASE + 16, &again);
	assert_true(first == again);
	assert_int_equal(window_planted.read_calls, 1);
	plimp_window_forget(&window_under_test);
	plimp_window_u64(&window_under_test, BASE + 16, &again);
	assert_int_equal(again, 1);
}

/* Absent, swapped, and outside of everything: told, not read, and asked for
 * once. */
static void window_leaves_alone_what_is_not_there(void **state)
{
	const uint64_t places[] = {
	    BASE + 2 * PLANTED_PAGE,
	    BASE + 3 * PLANTED_PAGE,
	    BASE + 64 * PLANTED_PAGE,
	    BASE - 8,
	    0,
	    16,
	    UINT64_MAX - 4,
	    BASE + 2 * PLANTED_PAGE - 4,
	};
	uint64_t calls;

	(void)state;
	planted_page(&window_planted, BASE + 2 * PLANTED_PAGE, 0);
	planted_page(&window_planted, BASE + 3 * PLANTED_PAGE,
		     PLIMP_PAGE_SWAPPED);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint64_t word = 5;

		assert_int_equal(
		    plimp_window_u64(&window_under_test, places[i], &word),
		    PLIMP_UNREACHED);
		assert_int_equal(word, 5);
	}
	assert_false(window_planted.violated);
	calls = window_planted.page_calls;
	for (int i = 0; i < 100; i++) {
		uint64_t word;

		plimp_window_u64(&window_under_test, places[0], &word);
		plimp_window_u64(&window_under_test, places[1], &word);
	}
	assert_int_equal(window_planted.page_calls, calls);
}

static void window_passes_errors_on(void **state)
{
	uint64_t word;

	(void)state;
	window_planted.fail_after = 1;
	window_planted.fail_code = PLIM_ENOPROCESS;
	assert_int_equal(plimp_window_u64(&window_under_test, BASE, &word),
			 PLIM_ENOPROCESS);
	window_planted.fail_after = 0;
	window_planted.fail_code = PLIM_EDENIED;
	assert_int_equal(plimp_window_u64(&window_under_test, BASE, &word),
			 PLIM_EDENIED);
	window_planted.fail_after = -1;
	assert_int_equal(plimp_window_u64(&window_under_test, BASE, &word),
			 PLIMP_REACHED);
}

static void window_refuses_odd_pages(void **state)
{
	const uint32_t sizes[] = {0, 1, 2048, 4097, 131072};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct plimp_image image = window_image;
		struct plimp_window window = {0};
		struct plimp_span span = {0};
		struct plimp_residency residency;

		image.reader.page_bytes = sizes[i];
		plimp_residency_init(&residency, &image);
		assert_int_equal(plimp_window_open(&window, &image),
				 PLIM_EUNSUPPORTED);
		assert_int_equal(plimp_span_open(&span, &image, &residency),
				 PLIM_EUNSUPPORTED);
		plimp_window_close(&window);
		plimp_span_close(&span);
	}
}

static void residency_is_asked_for_in_runs(void **state)
{
	struct plimp_residency residency;
	uint8_t flags;

	(void)state;
	plimp_residency_init(&residency, &window_image);
	planted_page(&window_planted, BASE + 5 * PLANTED_PAGE,
		     PLIMP_PAGE_SWAPPED);
	for (unsigned i = 0; i < 64; i++) {
		assert_int_equal(
		    plimp_residency_at(&residency, BASE + i * PLANTED_PAGE,
				       BASE + 64 * PLANTED_PAGE, &flags),
		    PLIM_OK);
		assert_int_equal(flags,
				 i == 5 ? PLIMP_PAGE_SWAPPED : PLANTED_USUAL);
	}
	assert_int_equal(window_planted.page_calls, 1);
	assert_int_equal(residency.asked, 64);
	assert_int_equal(plimp_residency_at(&residency,
					    BASE + 64 * PLANTED_PAGE, BASE,
					    &flags),
			 PLIM_OK);
	assert_int_equal(flags, 0);
	assert_int_equal(residency.asked, 65);
}

static void span_stops_at_what_is_not_there(void **state)
{
	struct plimp_residency residency;
	struct plimp_span span;
	const uint8_t *bytes;
	uint64_t end = BASE + 64 * PLANTED_PAGE;
	uint64_t hole = BASE + 5 * PLANTED_PAGE;

	(void)state;
	planted_page(&window_planted, hole, 0);
	plimp_residency_init(&residency, &window_image);
	assert_int_equal(plimp_span_open(&span, &window_image, &residency),
			 PLIM_OK);
	assert_int_equal(plimp_span_at(&span, BASE + 8, 16, end, &bytes),
			 PLIMP_REACHED);
	assert_memory_equal(bytes, planted_at(&window_planted, BASE + 8), 16);
	assert_int_equal(span.size, 5 * PLANTED_PAGE);
	assert_int_equal(plimp_span_at(&span, hole - 8, 16, end, &bytes),
			 PLIMP_UNREACHED);
	assert_int_equal(plimp_span_at(&span, hole + 8, 16, end, &bytes),
			 PLIMP_UNREACHED);
	assert_int_equal(
	    plimp_span_at(&span, hole + PLANTED_PAGE, 16, end, &bytes),
	    PLIMP_REACHED);
	/* Nothing of it ends behind the end. */
	assert_int_equal(plimp_span_at(&span, end - 8, 16, end, &bytes),
			 PLIMP_UNREACHED);
	assert_int_equal(plimp_span_at(&span, end, 1, end, &bytes),
			 PLIMP_UNREACHED);
	assert_int_equal(plimp_span_at(&span, end - 16, 16, end, &bytes),
			 PLIMP_REACHED);
	assert_false(window_planted.violated);
	plimp_span_close(&span);
}

/* One word of every fourth page: in the end a page is read for each, not the
 * three others; a word of every page: as much as fits at once. */
static void span_reads_what_is_of_use(void **state)
{
	struct plimp_residency residency;
	struct plimp_span span;
	const uint8_t *bytes;
	uint64_t end = BASE + 64 * PLANTED_PAGE;

	(void)state;
	plimp_residency_init(&residency, &window_image);
	plimp_span_open(&span, &window_image, &residency);
	for (unsigned i = 0; i < 64; i += 4)
		plimp_span_at(&span, BASE + i * PLANTED_PAGE, 16, end, &bytes);
	for (unsigned i = 0; i < 64; i += 4)
		plimp_span_at(&span, BASE + i * PLANTED_PAGE, 16, end, &bytes);
	window_planted.bytes_read = 0;
	for (unsigned i = 0; i < 64; i += 4)
		plimp_span_at(&span, BASE + i * PLANTED_PAGE, 16, end, &bytes);
	assert_int_equal(window_planted.bytes_read, 16 * PLANTED_PAGE);
	for (unsigned round = 0; round < 3; round++) {
		window_planted.read_calls = 0;
		for (unsigned i = 0; i < 64; i++)
			plimp_span_at(&span, BASE + i * PLANTED_PAGE, 16, end,
				      &bytes);
	}
	assert_int_equal(window_planted.read_calls, 4);
	assert_true(window_planted.most_read <= PLIMP_SPAN_BYTES);
	plimp_span_close(&span);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(window_puts_pages_together,
					    window_begin, window_end),
	    cmocka_unit_test_setup_teardown(window_keeps_what_it_read,
					    window_begin, window_end),
	    cmocka_unit_test_setup_teardown(
		window_leaves_alone_what_is_not_there, window_begin,
		window_end),
	    cmocka_unit_test_setup_teardown(window_passes_errors_on,
					    window_begin, window_end),
	    cmocka_unit_test_setup_teardown(window_refuses_odd_pages,
					    window_begin, window_end),
	    cmocka_unit_test_setup_teardown(residency_is_asked_for_in_runs,
					    window_begin, window_end),
	    cmocka_unit_test_setup_teardown(span_stops_at_what_is_not_there,
					    window_begin, window_end),
	    cmocka_unit_test_setup_teardown(span_reads_what_is_of_use,
					    window_begin, window_end),
	};

	return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
