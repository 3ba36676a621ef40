/*
 * test_json_read.c - JSON value by value: what is JSON is read, what is none
 * is wrong at its byte, and texts and numbers come out as they were meant.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/json_read.h"

#include <stdio.h>
#include <string.h>

static plim_bytes text_of(const char *text)
{
	return (plim_bytes){text, strlen(text)};
}

/* All kinds that are met, one letter each, until the end or a mistake. */
static const char *walk(const char *text, struct plimp_jread *reader)
{
	static const char letters[] = "!)([snTFN";
	static char seen[256];
	struct plimp_jread_value value;
	size_t used = 0;
	int kind;

	plimp_jread_init(reader, text_of(text));
	do {
		kind = plimp_jread_next(reader, &value);
		if (value.key.size > 0)
			used += (size_t)snprintf(
			    seen + used, sizeof(seen) - used,
			    "%.*s:", (int)value.key.size, value.key.data);
		seen[used++] = letters[kind];
	} while (kind != PLIMP_JREAD_BAD &&
		 (kind != PLIMP_JREAD_END || reader->depth > 0) &&
		 used < sizeof(seen) - 64);
	seen[used] = '\0';
	return seen;
}

static void values(void **state)
{
	struct plimp_jread reader;

	(void)state;
	assert_string_equal(walk("{\"a\": [1, -2.5e3, \"x\"], \"b\":{},"
				 "\"c\":null,\"d\":true , \"e\" :false}",
				 &reader),
			    "(a:[nns)b:()c:Nd:Te:F)");
	assert_null(reader.wrong);
	assert_string_equal(walk(" [] ", &reader), "[)");
	assert_string_equal(walk("0", &reader), "n)");
}

static void mistakes(void **state)
{
	static const struct {
		const char *text;
		size_t at;
	} rows[] = {
	    {"", 0},	      {"{", 1},		  {"[1,]", 3},
	    {"[1 2]", 3},     {"{\"a\"}", 4},	  {"{a:1}", 1},
	    {"[01]", 1},      {"[1.]", 2},	  {"[+1]", 1},
	    {"[\"\\x\"]", 1}, {"[\"\\u12\"]", 1}, {"[\"a", 1},
	    {"[\"\n\"]", 1},  {"[tru]", 1},	  {"[1] 2", 4},
	    {"[1]]", 3},      {"{\"a\":1,}", 7},  {"[-]", 1},
	};
	struct plimp_jread reader;
	struct plimp_jread_value value;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plimp_jread_init(&reader, text_of(rows[i].text));
		while (plimp_jread_next(&reader, &value) != PLIMP_JREAD_BAD)
			assert_true(value.kind != PLIMP_JREAD_END ||
				    reader.depth > 0 ||
				    reader.at < reader.text.size);
		assert_non_null(reader.wrong);
		assert_int_equal(reader.at, rows[i].at);
		/* It is kept. */
		assert_int_equal(plimp_jread_next(&reader, &value),
				 PLIMP_JREAD_BAD);
	}
}

static void depth(void **state)
{
	char text[2 * PLIMP_JREAD_DEPTH + 3];
	struct plimp_jread reader;
	struct plimp_jread_value value;

	(void)state;
	memset(text, '[', PLIMP_JREAD_DEPTH + 1);
	memset(text + PLIMP_JREAD_DEPTH, ']', PLIMP_JREAD_DEPTH);
	text[2 * PLIMP_JREAD_DEPTH] = '\0';
	plimp_jread_init(&reader, text_of(text));
	assert_int_equal(plimp_jread_next(&reader, &value), PLIMP_JREAD_ARRAY);
	plimp_jread_skip(&reader, &value);
	assert_null(reader.wrong);
	assert_int_equal(reader.depth, 0);
	text[PLIMP_JREAD_DEPTH] = '[';
	plimp_jread_init(&reader, text_of(text));
	plimp_jread_next(&reader, &value);
	plimp_jread_skip(&reader, &value);
	assert_non_null(reader.wrong);
	assert_true(reader.is_deep);
}

static void texts(void **state)
{
	static const struct {
		const char *raw;
		const char *text;
	} rows[] = {
	    {"", ""},
	    {"plain", "plain"},
	    {"a\\\"b\\\\c\\/d", "a\"b\\c/d"},
	    {"\\b\\f\\n\\r\\t", "\b\f\n\r\t"},
	    {"\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac"},
	    {"\\ud83d\\ude00.", "\xf0\x9f\x98\x80."},
	    {"\\ud83d.", "\xef\xbf\xbd."},
	    {"\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd"},
	    {"\\uD83D\\u0041", "\xef\xbf\xbd"
			       "A"},
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t size = plimp_jread_text(text_of(rows[i].raw), text);

		assert_int_equal(size, strlen(rows[i].text));
		assert_memory_equal(text, rows[i].text, size);
	}
}

static void whole_numbers(void **state)
{
	static const struct {
		const char *raw;
		int good;
		uint64_t number;
	} rows[] = {
	    {"0", 1, 0},
	    {"18446744073709551615", 1, UINT64_MAX},
	    {"18446744073709551616", 0, 0},
	    {"-1", 0, 0},
	    {"1.5", 0, 0},
	    {"12.0", 1, 12},
	    {"1e3", 1, 1000},
	    {"1E400", 0, 0},
	    {"1e-400", 1, 0},
	    {"9007199254740993", 1, UINT64_C(9007199254740993)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct plimp_jread_value value = {
		    PLIMP_JREAD_NUMBER, {"", 0}, text_of(rows[i].raw)};
		uint64_t number = 7;

		assert_int_equal(plimp_jread_whole(&value, &number),
				 rows[i].good);
		assert_int_equal(number, rows[i].good ? rows[i].number : 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values),	     cmocka_unit_test(mistakes),
	    cmocka_unit_test(depth),	     cmocka_unit_test(texts),
	    cmocka_unit_test(whole_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
