/*
 * test_result_print.c - the header that prints RESULT lines without the
 * library, against the library: numbers as plim_fixed_format() has them, any
 * bytes back as they were, in a locale whose point is a comma. What it prints
 * is compared to the byte in tests/install.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll-result.h>
#include <plimsoll.h>

#include "comma.h"
#include "skip.h"

#include <math.h>

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void check_number(double value, int decimals)
{
	struct plim_print_line line;
	char expected[400] = "RESULT r v=";
	size_t size = strlen(expected);

	plim_print_begin(&line, "r");
	plim_print_add_real(&line, "v", value, decimals);
	assert_false(line.failed);
	size += plim_fixed_format(value, decimals, expected + size,
				  sizeof(expected) - size);
	if (line.size != size || memcmp(line.data, expected, size) != 0)
		fail_msg("%a with %d: %.*s, expected %s", value, decimals,
			 (int)line.size, line.data, expected);
}

static void numbers(void **state)
{
	uint64_t seed = UINT64_C(0x853c49e6748fea9b);

	(void)state;
	for (int i = 0; i < 200000; i++) {
		double value =
		    ldexp((double)(next_random(&seed) >> 11), i % 1100 - 1089);
		double tie = (double)(next_random(&seed) >> (20 + i % 44)) +
			     ldexp(1, -1 - i % 12);

		check_number(i & 1 ? -value : value, i % 10);
		check_number(tie, i % 10);
		check_number((double)(next_random(&seed) % 1000000) / 1000,
			     i % 4);
	}
	check_number(18446744073709549568.0, 9);
	check_number(-18446744073709549568.0, 0);
	check_number(0.5, 0);
	check_number(1.5, 0);
	check_number(9.9996, 3);
}

/* What cannot be printed is no number. */
static void no_numbers(void **state)
{
	static const char expected[] = "RESULT r a=unavailable b=unavailable "
				       "c=unavailable d=unavailable";
	struct plim_print_line line;

	(void)state;
	plim_print_begin(&line, "r");
	plim_print_add_real(&line, "a", NAN, 3);
	plim_print_add_real(&line, "b", INFINITY, 3);
	plim_print_add_real(&line, "c", -INFINITY, 3);
	plim_print_add_real(&line, "d", 18446744073709551616.0, 3);
	assert_int_equal(line.size, strlen(expected));
	assert_memory_equal(line.data, expected, line.size);
}

static void expect_back(plim_bytes value, const char *text)
{
	char back[512];
	size_t size = plim_result_unescape(value, back, sizeof(back));

	assert_int_equal(size, strlen(text));
	assert_memory_equal(back, text, size);
}

/* One text in each place where a program can put one. */
static void check_text(const char *text)
{
	struct plim_print_line line;
	plim_result_pair pair;
	plim_result result;

	plim_print_begin(&line, "r");
	plim_print_add_text(&line, "t", text);
	plim_print_add_word(&line, "w", text);
	plim_print_put(&line, "\n", 1);
	assert_false(line.failed);
	assert_int_equal(plim_result_parse((plim_bytes){line.data, line.size},
					   &result, NULL),
			 PLIM_OK);
	assert_int_equal(plim_result_find(&result, "t", &pair, NULL), 1);
	assert_int_equal(pair.quoted, 1);
	expect_back(pair.value, text);
	assert_int_equal(plim_result_find(&result, "w", &pair, NULL), 1);
	assert_int_equal(pair.unavailable, 0);
	expect_back(pair.value, text);

	plim_print_start(&line, "t");
	plim_print_put_text(&line, text, 1);
	assert_int_equal(plim_result_parse((plim_bytes){line.data, line.size},
					   &result, NULL),
			 PLIM_OK);
	assert_int_equal(result.kind, PLIM_RESULT_TEXT);
	expect_back(result.value, text);

	if (text[0] == '\0')
		return;
	plim_print_start(&line, "t");
	plim_print_put_whole(&line, 7, 1);
	plim_print_put(&line, " ", 1);
	plim_print_put_escaped(&line, text, 0);
	assert_int_equal(plim_result_parse((plim_bytes){line.data, line.size},
					   &result, NULL),
			 PLIM_OK);
	assert_int_equal(result.kind, PLIM_RESULT_VALUE);
	expect_back(result.unit, text);
}

static void texts(void **state)
{
	static const char *const rows[] = {
	    "",
	    "plain",
	    "two words",
	    "unavailable",
	    "12",
	    "-1.5e3",
	    "1.4.2",
	    "a\"b\\c",
	    "a\nRESULT b=1",
	    "\x1b[31m",
	    "\xff\xfe",
	    "\xc3",
	    "\xc3\xa9",
	    "\xe2\x80\xae",
	    "\xed\xa0\x80",
	    "\xf0\x9f\x98\x80",
	    "\xf4\x90\x80\x80",
	    "\xc0\x80",
	    "\xe0\x80\x80",
	    "\xf0\x80\x80\x80",
	    "\xc2\x85",
	    "\\x41",
	};
	uint64_t seed = UINT64_C(0xda3e39cb94b95bdb);
	char random[48];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_text(rows[i]);
	for (int i = 0; i < 50000; i++) {
		size_t size = next_random(&seed) % (sizeof(random) - 1);

		for (size_t j = 0; j < size; j++) {
			/* Bytes that begin, continue and break characters. */
			static const char few[] =
			    "\xc3\xa9\xe2\x80\xf0\x9f\"\\x4"
			    "1\n =a";
			uint64_t choice = next_random(&seed);

			random[j] = choice & 1
					? few[choice / 2 % (sizeof(few) - 1)]
					: (char)(choice / 2 % 255 + 1);
		}
		random[size] = '\0';
		check_text(random);
	}
}

/* One line, or nothing and -1: no key, a stream that fails. */
static void streams(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	FILE *file = fopen("streams.txt", "w+b"); /* in a folder of its own */
	char read[64] = {0};

	(void)state;
	assert_non_null(file);
	assert_int_equal(plim_print_count(file, "a", 5, NULL), 0);
	assert_int_equal(plim_print_count(file, "9", 5, NULL), -1);
	assert_int_equal(plim_print_count(file, "", 5, NULL), -1);
	assert_int_equal(plim_print_count(file, "a=b", 5, NULL), -1);
	rewind(file);
	assert_int_equal(fread(read, 1, sizeof(read), file), 11);
	assert_string_equal(read, "RESULT a=5\n");
	fclose(file);
	remove("streams.txt");
	if (full == NULL)
		return;
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(plim_print_count(full, "a", 5, NULL), -1);
	fclose(full);
}

static void comma_locale(void **state)
{
	if (!set_comma_locale())
		SKIP_BECAUSE("no locale with a decimal comma is to be had");
	check_number(1234.5, 3);
	no_numbers(state);
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers),	    cmocka_unit_test(no_numbers),
	    cmocka_unit_test(texts),	    cmocka_unit_test(streams),
	    cmocka_unit_test(comma_locale),
	};

	return cmocka_run_group_tests_name("result_print", tests, NULL, NULL);
}
