/*
 * test_text.c - UTF-8, base names, and slips of the fingers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/text.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Every text of up to four bytes against RFC 3629 the other way round: decode
 * by arithmetic, encode again, compare. The bytes in the middle are those at
 * which a range begins or ends.
 */
static size_t encode(uint32_t point, unsigned char *bytes)
{
	if (point < 0x80) {
		bytes[0] = (unsigned char)point;
		return 1;
	}
	if (point < 0x800) {
		bytes[0] = (unsigned char)(0xc0 | point >> 6);
		bytes[1] = (unsigned char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		bytes[0] = (unsigned char)(0xe0 | point >> 12);
		bytes[1] = (unsigned char)(0x80 | (point >> 6 & 0x3f));
		bytes[2] = (unsigned char)(0x80 | (point & 0x3f));
		return 3;
	}
	bytes[0] = (unsigned char)(0xf0 | point >> 18);
	bytes[1] = (unsigned char)(0x80 | (point >> 12 & 0x3f));
	bytes[2] = (unsigned char)(0x80 | (point >> 6 & 0x3f));
	bytes[3] = (unsigned char)(0x80 | (point & 0x3f));
	return 4;
}

static void test_every_character(void **state)
{
	unsigned char bytes[4];

	(void)state;
	for (uint32_t point = 0; point <= 0x10ffff; point++) {
		size_t size = encode(point, bytes);
		plim_bytes text = {(const char *)bytes, size};
		uint32_t decoded = 0xffffffff;

		if (point >= 0xd800 && point <= 0xdfff) {
			assert_int_equal(plimp_utf8_decode(text, &decoded), 0);
			continue;
		}
		assert_int_equal(plimp_utf8_decode(text, &decoded), size);
		assert_int_equal(decoded, point);
		text.size--;
		assert_int_equal(plimp_utf8_decode(text, &decoded), 0);
	}
}

static void test_every_lead(void **state)
{
	static const unsigned char edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90,
					      0x9f, 0xa0, 0xbf, 0xc0, 0xff};
	unsigned char bytes[4];
	unsigned char again[4];

	(void)state;
	for (unsigned first = 0; first < 256; first++)
		for (size_t i = 0;
		     i < COUNT(edges) * COUNT(edges) * COUNT(edges); i++) {
			plim_bytes text = {(const char *)bytes, sizeof(bytes)};
			uint32_t point;
			size_t size;

			bytes[0] = (unsigned char)first;
			bytes[1] = edges[i % COUNT(edges)];
			bytes[2] = edges[i / COUNT(edges) % COUNT(edges)];
			bytes[3] = edges[i / COUNT(edges) / COUNT(edges)];
			size = plimp_utf8_decode(text, &point);
			if (size == 0)
				continue;
			assert_true(point <= 0x10ffff);
			assert_int_equal(encode(point, again), size);
			assert_memory_equal(again, bytes, size);
		}
}

static void test_is_utf8(void **state)
{
	static const struct {
		const char *text;
		int expected;
	} rows[] = {
	    {"", 1},
	    {"abc", 1},
	    {"\xc3\xa9t\xc3\xa9", 1},
	    {"\xf0\x9f\x98\x80", 1},
	    {"\xef\xbf\xbf", 1},
	    {"abc\xff", 0},
	    {"\x80", 0},
	    {"abc\xc3", 0},
	    {"\xc0\x80", 0},
	    {"\xe0\x9f\xbf", 0},
	    {"\xed\xa0\x80", 0},
	    {"\xf0\x8f\xbf\xbf", 0},
	    {"\xf4\x90\x80\x80", 0},
	    {"\xf5\x80\x80\x80", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(plim_is_utf8((plim_bytes){
				     rows[i].text, strlen(rows[i].text)}),
				 rows[i].expected);
	assert_int_equal(plim_is_utf8((plim_bytes){"a\0b", 3}), 1);
	assert_int_equal(plim_is_utf8((plim_bytes){NULL, 0}), 1);
}

static void test_base_name(void **state)
{
	static const struct {
		const char *path;
		const char *expected;
	} rows[] = {
	    {"", ""},
	    {"name", "name"},
	    {"/usr/bin/env", "env"},
	    {"C:\\Windows\\cmd.exe", "cmd.exe"},
	    {"a/b\\c", "c"},
	    {"a\\b/c", "c"},
	    {"dir/", "dir"},
	    {"/a/dir///", "dir"},
	    {"dir\\/\\", "dir"},
	    {"/", ""},
	    {"\\//", ""},
	    {"/a", "a"},
	    {"/a/b\\c", "b\\c"},
	    {"/a\\", "a\\"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		plim_bytes name = plim_base_name(
		    (plim_bytes){rows[i].path, strlen(rows[i].path)});

		assert_int_equal(name.size, strlen(rows[i].expected));
		assert_memory_equal(name.data, rows[i].expected, name.size);
	}
	assert_int_equal(plim_base_name((plim_bytes){NULL, 0}).size, 0);
}

static void test_nearest_name(void **state)
{
	static const char *const names[] = {
	    "pid", "name",  "threads", "cpu_ns", "wakeups", "resident_bytes",
	    "ps",  "watch", "az",      NULL,
	};
	static const struct {
		const char *word;
		const char *expected;
	} rows[] = {
	    {"name", "name"},
	    {"nmae", "name"},  /* swapped */
	    {"nam", "name"},   /* left out */
	    {"naame", "name"}, /* added */
	    {"nane", "name"},  /* another */
	    {"NAME", "name"},  /* case costs nothing */
	    {"PS", "ps"},
	    {"AZ", "az"},
	    {"pod", "pid"},
	    {"thraeds", "threads"},
	    {"wakups", "wakeups"},
	    {"resident_bite", "resident_bytes"}, /* three slips */
	    {"resident", "resident_bytes"},	 /* broken off */
	    {"cpu", "cpu_ns"},
	    {"re", NULL},
	    {"", NULL},
	    {"x", NULL},
	    {"px", NULL},
	    {"zebra", NULL},
	    {"nxyz", NULL},
	    {"completely_different", NULL},
	};
	static const char *const none[] = {NULL};
	char large[300];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *nearest = plim_nearest_name(rows[i].word, names);

		if (rows[i].expected == NULL)
			assert_null(nearest);
		else
			assert_string_equal(nearest, rows[i].expected);
	}
	assert_null(plim_nearest_name("name", none));
	memset(large, 'n', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_null(plim_nearest_name(large, names));
}

/* The nearest wins, not the first; among equals the first. */
static void test_nearest_of_several(void **state)
{
	static const char *const names[] = {"reading", "readers", "reader",
					    NULL};

	(void)state;
	assert_string_equal(plim_nearest_name("raeder", names), "reader");
	assert_string_equal(plim_nearest_name("readerx", names), "readers");
}

static void test_digits(void **state)
{
	static const struct {
		uint64_t value;
		const char *digits;
	} rows[] = {
	    {0, "0"},
	    {7, "7"},
	    {10, "10"},
	    {1234567890, "1234567890"},
	    {UINT64_MAX, "18446744073709551615"},
	};
	char digits[PLIMP_DIGITS];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t count = plimp_digits(rows[i].value, digits);

		assert_int_equal(count, strlen(rows[i].digits));
		assert_memory_equal(digits, rows[i].digits, count);
	}
}

/* Each byte alone, and behind a plain one: where the run ends is told. */
static void test_plain(void **state)
{
	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		const char text[] = {'a', (char)byte, 'b'};
		int plain =
		    byte >= 0x20 && byte <= 0x7e && byte != '"' && byte != '\\';

		assert_int_equal(plimp_text_plain((plim_bytes){text, 3}),
				 plain ? 3 : 1);
		assert_int_equal(plimp_text_plain((plim_bytes){text + 1, 1}),
				 plain);
	}
	assert_int_equal(plimp_text_plain((plim_bytes){NULL, 0}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_character),
	    cmocka_unit_test(test_every_lead),
	    cmocka_unit_test(test_is_utf8),
	    cmocka_unit_test(test_base_name),
	    cmocka_unit_test(test_nearest_name),
	    cmocka_unit_test(test_nearest_of_several),
	    cmocka_unit_test(test_digits),
	    cmocka_unit_test(test_plain),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
