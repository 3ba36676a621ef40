/*
 * test_decode_scan.c - the steps that every decoder is made of.
 */
#include "fixture.h"
#include "host/linux/scan.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static void test_lines(void **state)
{
	plim_bytes text = text_string("one\n\nthree");
	struct plimp_scan scan = plimp_scan_of(text);
	plim_bytes line;

	(void)state;
	assert_int_equal(plimp_scan_line(&scan, &line), 1);
	assert_true(text_is(line, "one"));
	assert_int_equal(plimp_scan_line(&scan, &line), 1);
	assert_true(text_is(line, ""));
	assert_int_equal(plimp_scan_line(&scan, &line), 1);
	assert_true(text_is(line, "three"));
	line.size = 77;
	assert_int_equal(plimp_scan_line(&scan, &line), 0);
	assert_int_equal(line.size, 77);
	text_free(text);

	scan = plimp_scan_of((plim_bytes){.data = NULL, .size = 0});
	assert_int_equal(plimp_scan_line(&scan, &line), 0);
}

static void test_literal(void **state)
{
	plim_bytes text = text_string("abc");
	struct plimp_scan scan = plimp_scan_of(text);

	(void)state;
	assert_int_equal(plimp_scan_literal(&scan, "abd"), 0);
	assert_int_equal(plimp_scan_literal(&scan, "abcd"), 0);
	assert_ptr_equal(scan.at, text.data);
	assert_int_equal(plimp_scan_literal(&scan, ""), 1);
	assert_ptr_equal(scan.at, text.data);
	assert_int_equal(plimp_scan_literal(&scan, "ab"), 1);
	assert_int_equal(plimp_scan_literal(&scan, "c"), 1);
	assert_ptr_equal(scan.at, scan.end);
	assert_int_equal(plimp_scan_literal(&scan, "c"), 0);
	text_free(text);
}

static void test_u64(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text;
		uint64_t value;
		size_t taken; /* 0: no number */
	} rows[] = {
		{"", 7, 0}, {"-1", 7, 0}, {"+1", 7, 0}, {" 1", 7, 0},
		{"a", 7, 0}, {"/", 7, 0}, {":", 7, 0}, {"\xb1", 7, 0},
		{"0", 0, 1}, {"9", 9, 1}, {"007", 7, 3}, {"12a", 12, 2},
		{"0x10", 0, 1}, {"1.5", 1, 1}, {"1:2", 1, 1}, {"1/2", 1, 1},
		{"9223372036854775807", INT64_MAX, 19},
		{"9223372036854775808", (uint64_t)INT64_MAX + 1, 19},
		{"9999999999999999999", 9999999999999999999u, 19},
		{"10000000000000000000", 10000000000000000000u, 20},
		{"18446744073709551609", UINT64_MAX - 6, 20},
		{"18446744073709551615", UINT64_MAX, 20},
		{"18446744073709551615 ", UINT64_MAX, 20},
		{"18446744073709551616", 7, 0},
		{"18446744073709551620", 7, 0},
		{"18446744073709551625", 7, 0},
		{"28446744073709551615", 7, 0},
		{"99999999999999999999", 7, 0},
		{"184467440737095516150", 7, 0},
		{"00000000000000000000000000000042", 42, 32},
		{"000018446744073709551615", UINT64_MAX, 24},
		{"000018446744073709551616", 7, 0},
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		struct plimp_scan scan = plimp_scan_of(text);
		const char *start = scan.at;
		uint64_t value = 7;
		assert_int_equal(plimp_scan_u64(&scan, &value),
				 rows[i].taken != 0);
		assert_true(value == rows[i].value);
		assert_int_equal(scan.at - start, rows[i].taken);
		text_free(text);
	}
}

static void test_i64(void **state)
{
	/* clang-format off */
	static const struct {
		const char *text;
		int64_t value;
		size_t taken;
	} rows[] = {
		{"", 7, 0}, {"-", 7, 0}, {"--1", 7, 0}, {"- 1", 7, 0},
		{"+1", 7, 0}, {"-a", 7, 0},
		{"0", 0, 1}, {"-0", 0, 2}, {"-1", -1, 2}, {"12-", 12, 2},
		{"9223372036854775807", INT64_MAX, 19},
		{"9223372036854775808", 7, 0},
		{"-9223372036854775807", -INT64_MAX, 20},
		{"-9223372036854775808", INT64_MIN, 20},
		{"-9223372036854775809", 7, 0},
		{"18446744073709551615", 7, 0},
		{"-18446744073709551616", 7, 0},
	};
	/* clang-format on */

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		struct plimp_scan scan = plimp_scan_of(text);
		const char *start = scan.at;
		int64_t value = 7;
		assert_int_equal(plimp_scan_i64(&scan, &value),
				 rows[i].taken != 0);
		assert_true(value == rows[i].value);
		assert_int_equal(scan.at - start, rows[i].taken);
		text_free(text);
	}
}

static void test_words(void **state)
{
	plim_bytes text = text_string(" \ta\nb\t c");
	struct plimp_scan scan = plimp_scan_of(text);
	plim_bytes word = {.data = NULL, .size = 77};

	(void)state;
	assert_int_equal(plimp_scan_word(&scan, &word), 0);
	assert_int_equal(word.size, 77);
	plimp_scan_blanks(&scan);
	assert_int_equal(plimp_scan_word(&scan, &word), 1);
	assert_true(text_is(word, "a\nb"));
	plimp_scan_blanks(&scan);
	assert_int_equal(plimp_scan_word(&scan, &word), 1);
	assert_true(text_is(word, "c"));
	plimp_scan_blanks(&scan);
	assert_ptr_equal(scan.at, scan.end);
	assert_int_equal(plimp_scan_word(&scan, &word), 0);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_lines), cmocka_unit_test(test_literal),
	    cmocka_unit_test(test_u64),	  cmocka_unit_test(test_i64),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("decode_scan", tests, NULL, NULL);
}
