/*
 * test_result_read.c - reading RESULT lines: what is one, what is none, where
 * a broken one breaks, and numbers, whose truth is strtod in the C locale.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static plim_bytes bytes(const char *text)
{
	return (plim_bytes){text, strlen(text)};
}

static void same(plim_bytes got, const char *expected)
{
	assert_int_equal(got.size, strlen(expected));
	if (got.size > 0)
		assert_memory_equal(got.data, expected, got.size);
}

static void kinds(void **state)
{
	static const struct {
		const char *line;
		int kind;
		const char *key, *value, *unit;
		double number;
	} rows[] = {
	    {"RESULT a=5", PLIM_RESULT_VALUE, "a", "5", "", 5},
	    {"RESULT a=-0.25 x", PLIM_RESULT_VALUE, "a", "-0.25", "x", -0.25},
	    {"RESULT a=5 two words\n", PLIM_RESULT_VALUE, "a", "5", "two words",
	     5},
	    {"RESULT a=5 b\r\n", PLIM_RESULT_VALUE, "a", "5", "b", 5},
	    {"RESULT a=1e3", PLIM_RESULT_VALUE, "a", "1e3", "", 1000},
	    {"RESULT a=5 \"x\" \\x41\\\\", PLIM_RESULT_VALUE, "a", "5",
	     "\"x\" \\x41\\\\", 5},
	    {"RESULT a.b-C_9=5", PLIM_RESULT_VALUE, "a.b-C_9", "5", "", 5},
	    {"RESULT a=unavailable", PLIM_RESULT_UNAVAILABLE, "a",
	     "unavailable", "", 0},
	    {"RESULT a=unavailable not_permitted", PLIM_RESULT_UNAVAILABLE, "a",
	     "unavailable", "not_permitted", 0},
	    {"RESULT a=real", PLIM_RESULT_TEXT, "a", "real", "", 0},
	    {"RESULT a=1.2.3", PLIM_RESULT_TEXT, "a", "1.2.3", "", 0},
	    {"RESULT a=1.2.3 beta", PLIM_RESULT_TEXT, "a", "1.2.3 beta", "", 0},
	    {"RESULT a=unavailables", PLIM_RESULT_TEXT, "a", "unavailables", "",
	     0},
	    {"RESULT a=5,0", PLIM_RESULT_TEXT, "a", "5,0", "", 0},
	    {"RESULT a=nan", PLIM_RESULT_TEXT, "a", "nan", "", 0},
	    {"RESULT a=0x10", PLIM_RESULT_TEXT, "a", "0x10", "", 0},
	    {"RESULT a=\"12 \\\" \"", PLIM_RESULT_TEXT, "a", "12 \\\" ", "", 0},
	    {"RESULT a=\"\"", PLIM_RESULT_TEXT, "a", "", "", 0},
	    {"RESULT a", PLIM_RESULT_RECORD, "a", "", "", 0},
	    {"RESULT a b=1 c=\"x y\"", PLIM_RESULT_RECORD, "a", "b=1 c=\"x y\"",
	     "", 0},
	    {"", PLIM_RESULT_NONE, "", "", "", 0},
	    {"RESULT", PLIM_RESULT_NONE, "", "", "", 0},
	    {"result a=5", PLIM_RESULT_NONE, "", "", "", 0},
	    {" RESULT a=5", PLIM_RESULT_NONE, "", "", "", 0},
	    {"RESULTS a=5", PLIM_RESULT_NONE, "", "", "", 0},
	    {"any \x1b\xff line\n", PLIM_RESULT_NONE, "", "", "", 0},
	};
	plim_error error, untouched;
	plim_result result;

	(void)state;
	memset(&untouched, 0xa5, sizeof(untouched));
	for (size_t i = 0; i < COUNT(rows); i++) {
		error = untouched;
		assert_int_equal(
		    plim_result_parse(bytes(rows[i].line), &result, &error),
		    PLIM_OK);
		assert_memory_equal(&error, &untouched, sizeof(error));
		assert_int_equal(result.kind, rows[i].kind);
		same(result.key, rows[i].key);
		same(result.value, rows[i].value);
		same(result.unit, rows[i].unit);
		assert_true(result.number == rows[i].number);
	}
}

static void broken(void **state)
{
	static const struct {
		const char *line;
		int position;
	} rows[] = {
	    {"RESULT ", 7},
	    {"RESULT  a=5", 7},
	    {"RESULT =5", 7},
	    {"RESULT 5=5", 7},
	    {"RESULT a=", 9},
	    {"RESULT a= 5", 9},
	    {"RESULT a=5 ", 11},
	    {"RESULT a=5 b\nc", 12},
	    {"RESULT a=5\tb", 10},
	    {"RESULT a=5\n\n", 10},
	    {"RESULT a=5 \x1b[31m", 11},
	    {"RESULT a=5 \xff", 11},
	    {"RESULT a=5 \xc2\x9b", 11},
	    {"RESULT a=5 \\n", 11},
	    {"RESULT a=5 \\x4", 11},
	    {"RESULT a=x \\", 11},
	    {"RESULT a=unavailable ", 21},
	    {"RESULT a=\"x", 11},
	    {"RESULT a=\"x\\\"", 13},
	    {"RESULT a=\"x\" y", 12},
	    {"RESULT a=\"x\ty\"", 11},
	    {"RESULT a\tb=1", 8},
	    {"RESULT a ", 9},
	    {"RESULT a b", 10},
	    {"RESULT a b=", 11},
	    {"RESULT a b=1 ", 13},
	    {"RESULT a b=1  c=2", 13},
	    {"RESULT a b=1 =2", 13},
	    {"RESULT a b=\"1", 13},
	    {"RESULT a b=\"1\"c=2", 14},
	    {"RESULT a b=1\"2\"", 12},
	    {"RESULT a b=\xc3\xa9", 11},
	    {"RESULT a b=1\\x41", 12},
	    {"RESULT a b=1\nRESULT c=2", 12},
	};
	plim_result result, untouched;
	plim_error error;

	(void)state;
	memset(&untouched, 0x77, sizeof(untouched));
	for (size_t i = 0; i < COUNT(rows); i++) {
		result = untouched;
		if (plim_result_parse(bytes(rows[i].line), &result, &error) !=
		    PLIM_ESYNTAX)
			fail_msg("%s was read", rows[i].line);
		assert_memory_equal(&result, &untouched, sizeof(result));
		if (error.position != rows[i].position)
			fail_msg("%s: at %d, not %d", rows[i].line,
				 (int)error.position, rows[i].position);
		/* Without a record to fill it is the same. */
		assert_int_equal(
		    plim_result_parse(bytes(rows[i].line), &result, NULL),
		    PLIM_ESYNTAX);
	}
	assert_int_equal(
	    plim_result_parse(bytes("RESULT a=1e999"), &result, &error),
	    PLIM_EINVAL);
	assert_int_equal(error.position, 9);
}

/* A line of NUL bytes, and a NUL inside: bytes, not strings. */
static void with_nul(void **state)
{
	static const char line[] = "RESULT a=5 b\0c";
	plim_result result;
	plim_error error;

	(void)state;
	assert_int_equal(plim_result_parse((plim_bytes){line, sizeof(line) - 1},
					   &result, &error),
			 PLIM_ESYNTAX);
	assert_int_equal(error.position, 12);
	assert_int_equal(plim_result_parse((plim_bytes){line, sizeof(line) - 3},
					   &result, &error),
			 PLIM_OK);
	same(result.unit, "b");
}

static void walk_pairs(void **state)
{
	static const struct {
		const char *key, *value;
		int quoted, unavailable;
	} rows[] = {
	    {"crate", "x", 0, 0},
	    {"n", "5", 0, 0},
	    {"m", "unavailable", 0, 1},
	    {"q", "unavailable", 1, 0},
	    {"name", "a b=1 \\\" c", 1, 0},
	    {"e", "", 1, 0},
	    {"eq", "a=b", 0, 0},
	};
	plim_result_pair pair;
	plim_result result;
	size_t offset = 0;

	(void)state;
	assert_int_equal(
	    plim_result_parse(
		bytes(
		    "RESULT budget crate=x n=5 m=unavailable "
		    "q=\"unavailable\" name=\"a b=1 \\\" c\" e=\"\" eq=a=b\n"),
		&result, NULL),
	    PLIM_OK);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(plim_result_next(&result, &offset, &pair), 1);
		same(pair.key, rows[i].key);
		same(pair.value, rows[i].value);
		assert_int_equal(pair.quoted, rows[i].quoted);
		assert_int_equal(pair.unavailable, rows[i].unavailable);
	}
	assert_int_equal(plim_result_next(&result, &offset, &pair), 0);
	assert_int_equal(plim_result_next(&result, &offset, &pair), 0);
}

/* A reader of the gate line takes its own keys and ignores the others, those
 * that are not there yet too; a key that is there twice says two things. */
static void find_pairs(void **state)
{
	static const char line[] =
	    "RESULT budget crate=x resident_bytes=5 future=\"b=7\" b=6 d=1 "
	    "d=2";
	plim_result_pair pair, untouched;
	plim_result result;
	plim_error error;

	(void)state;
	memset(&untouched, 0x77, sizeof(untouched));
	assert_int_equal(plim_result_parse(bytes(line), &result, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plim_result_find(&result, "resident_bytes", &pair, &error), 1);
	same(pair.value, "5");
	assert_int_equal(plim_result_find(&result, "b", &pair, &error), 1);
	same(pair.value, "6");
	pair = untouched;
	assert_int_equal(plim_result_find(&result, "resident", &pair, &error),
			 0);
	assert_int_equal(plim_result_find(&result, "d", &pair, &error),
			 PLIM_ESYNTAX);
	assert_memory_equal(&pair, &untouched, sizeof(pair));
	assert_int_equal(error.position, strstr(line, "d=2") - line);
	/* A record without pairs. */
	assert_int_equal(plim_result_parse(bytes("RESULT a"), &result, NULL),
			 PLIM_OK);
	assert_int_equal(plim_result_find(&result, "a", &pair, &error), 0);
}

static void unescape(void **state)
{
	static const struct {
		const char *text;
		const char *expected;
		size_t size;
	} rows[] = {
	    {"", "", 0},
	    {"abc", "abc", 3},
	    {"\\\"\\\\", "\"\\", 2},
	    {"\\x00\\xfF", "\0\xff", 2},
	    {"\\x4", "\\x4", 3},
	    {"\\n", "\\n", 2},
	    {"a\\", "a\\", 2},
	    {"\\\\x41", "\\x41", 4},
	};
	char buffer[16];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t size = 0; size <= 8; size++) {
			memset(buffer, '#', sizeof(buffer));
			assert_int_equal(plim_result_unescape(
					     bytes(rows[i].text), buffer, size),
					 rows[i].size);
			assert_memory_equal(buffer, rows[i].expected,
					    size < rows[i].size ? size
								: rows[i].size);
			assert_int_equal(buffer[size], '#');
		}
	}
}

static void number_texts(void **state)
{
	static const char *const good[] = {
	    "0",
	    "-0",
	    "00012",
	    "1.5",
	    "-1.5",
	    "0.001",
	    "1e5",
	    "1E+5",
	    "1e-5",
	    "1e308",
	    "1e-308",
	    "4.9e-324",
	    "1e-999",
	    "0e999",
	    "123456789012345",
	    "9007199254740993",
	    /* Half-way between two doubles, and a bit above in digit 38. */
	    "9007199254740993.0000000000000000000000",
	    "9007199254740993.0000000000000000000001",
	    "0.000000000000000000000000000000000000012345678901234567890123",
	    "1.7976931348623157e308",
	};
	static const char *const bad[] = {
	    "",	   "-",	  "+1",	 ".5", "5.", "1e",  "1e+", "1.5.2",
	    "0x1", "nan", "inf", " 1", "1 ", "1,5", "--1", "1e1.5",
	};
	plim_error error;
	double value;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		double truth = strtod(good[i], NULL);

		assert_int_equal(
		    plim_result_number(bytes(good[i]), &value, &error),
		    PLIM_OK);
		if (value != truth)
			fail_msg("%s: %a, not %a", good[i], value, truth);
		assert_false(signbit(value) && value == 0);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		value = 77;
		assert_int_equal(
		    plim_result_number(bytes(bad[i]), &value, &error),
		    PLIM_ESYNTAX);
		assert_true(value == 77);
		assert_true(error.position >= 0 &&
			    error.position <= (int64_t)strlen(bad[i]));
	}
	assert_int_equal(plim_result_number(bytes("1e309"), &value, &error),
			 PLIM_EINVAL);
	assert_int_equal(plim_result_number(bytes("-99999999999999999999e999"),
					    &value, &error),
			 PLIM_EINVAL);
	assert_int_equal(
	    plim_result_number(bytes("1e99999999999999999999"), &value, &error),
	    PLIM_EINVAL);
	assert_int_equal(plim_result_number(bytes("1e-99999999999999999999"),
					    &value, &error),
			 PLIM_OK);
	assert_true(value == 0);
}

/* Whatever the writers of figures print is read as strtod reads it. */
static void numbers_read_back(void **state)
{
	uint64_t seed = 88172645463325252;
	char text[400];
	double value;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		double written;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		written = (double)(seed >> (14 + i % 48)) / 1000.0;
		plim_fixed_format(written, 3, text, sizeof(text));
		assert_int_equal(plim_result_number(bytes(text), &value, NULL),
				 PLIM_OK);
		assert_true(value == strtod(text, NULL));
	}
	for (int i = 0; i < 20000; i++) {
		double written;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		memcpy(&written, &seed, sizeof(written));
		if (!isnormal(written))
			continue;
		plim_number_format(written, text, sizeof(text));
		assert_int_equal(plim_result_number(bytes(text), &value, NULL),
				 PLIM_OK);
		if (value != written)
			fail_msg("%s: %a, not %a", text, value, written);
	}
}

static void wholes(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
	    {"0", 0},
	    {"18446744073709551615", UINT64_MAX},
	    {"000000000000000000000000000001", 1},
	    {"0x0", 0},
	    {"0xffffffffffffffff", UINT64_MAX},
	    {"0xAbC", 0xabc},
	};
	static const char *const bad[] = {
	    "", "0x", "-1", "+1", "1.0", "0xg", "a", "1 ", "X1", "0X1",
	};
	uint64_t value;
	plim_error error;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(
		    plim_result_whole(bytes(good[i].text), &value, NULL),
		    PLIM_OK);
		assert_true(value == good[i].value);
	}
	value = 77;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(
		    plim_result_whole(bytes(bad[i]), &value, &error),
		    PLIM_ESYNTAX);
	assert_int_equal(
	    plim_result_whole(bytes("18446744073709551616"), &value, &error),
	    PLIM_EINVAL);
	assert_int_equal(
	    plim_result_whole(bytes("0x10000000000000000"), &value, &error),
	    PLIM_EINVAL);
	assert_true(value == 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(kinds),	    cmocka_unit_test(broken),
	    cmocka_unit_test(with_nul),	    cmocka_unit_test(walk_pairs),
	    cmocka_unit_test(find_pairs),   cmocka_unit_test(unescape),
	    cmocka_unit_test(number_texts), cmocka_unit_test(numbers_read_back),
	    cmocka_unit_test(wholes),
	};

	return cmocka_run_group_tests_name("result_read", tests, NULL, NULL);
}
