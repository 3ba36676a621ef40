/*
 * test_escape.c - what hostile bytes become, in every form and every size of
 * buffer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll/base.h>

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TERMINAL PLIM_ESCAPE_TERMINAL
#define JSON	 PLIM_ESCAPE_JSON
#define CSV	 PLIM_ESCAPE_CSV
#define ASCII	 PLIM_ESCAPE_ASCII

static void check(int form, const char *data, size_t size, const char *expected)
{
	plim_bytes text = {data, size};
	char whole[200];
	char cut[200];
	size_t length = plim_escape(form, text, whole, sizeof(whole));

	assert_string_equal(whole, expected);
	assert_int_equal(length, strlen(expected));
	assert_int_equal(plim_escape(form, text, NULL, 0), length);
	for (size_t room = 1; room <= length + 1; room++) {
		memset(cut, 'x', sizeof(cut));
		assert_int_equal(plim_escape(form, text, cut, room), length);
		assert_true(strlen(cut) < room);
		assert_memory_equal(cut, whole, strlen(cut));
		assert_true(plim_is_utf8((plim_bytes){cut, strlen(cut)}));
		assert_int_equal(cut[room], 'x');
	}
	assert_string_equal(cut, expected);
}

static const struct {
	int form;
	const char *text;
	const char *expected;
} rows[] = {
    {TERMINAL, "", ""},
    {TERMINAL, "plain text", "plain text"},
    {TERMINAL, "a\"b,c=d", "a\"b,c=d"},
    {TERMINAL, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
     "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {TERMINAL, "a\\b", "a\\x5cb"},
    {TERMINAL, "\x1b[31m\n\t\x7f", "\\x1b[31m\\x0a\\x09\\x7f"},
    {TERMINAL, "\xc2\x9b", "\\xc2\\x9b"}, /* C1 as UTF-8 */
    {TERMINAL, "\x9b", "\\x9b"},	  /* and as a byte */
    {TERMINAL, "\xff\xfe", "\\xff\\xfe"},
    {TERMINAL, "\xc3", "\\xc3"},		   /* cut short */
    {TERMINAL, "\xe2\x82z", "\\xe2\\x82z"},	   /* cut short */
    {TERMINAL, "\xc0\xaf", "\\xc0\\xaf"},	   /* overlong */
    {TERMINAL, "\xe0\x80\xaf", "\\xe0\\x80\\xaf"}, /* overlong */
    {TERMINAL, "\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* surrogate */
    {TERMINAL, "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
    {TERMINAL,
     "a\xe2\x80\xae"
     "b",
     "a\\xe2\\x80\\xaeb"},
    {TERMINAL, "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"}, /* a tag */
    {TERMINAL, "\xef\xb8\x8f", "\xef\xb8\x8f"}, /* a variation selector */
    {TERMINAL, "\xef\xbf\xbf", "\xef\xbf\xbf"}, /* a noncharacter */
    {TERMINAL, "e\xcc\x81", "e\xcc\x81"},	/* a combining accent */

    {ASCII, "abc~", "abc~"},
    {ASCII, "\xc3\xa9", "\\xc3\\xa9"},
    {ASCII, "\\\x7f", "\\x5c\\x7f"},
    {ASCII, "\xf0\x9f\x98\x80", "\\xf0\\x9f\\x98\\x80"},

    {JSON, "a\"b\\c/d", "a\\\"b\\\\c/d"},
    {JSON, "\b\f\n\r\t", "\\b\\f\\n\\r\\t"},
    {JSON, "\x01\x1f", "\\u0001\\u001f"},
    {JSON, "\x7f\xc2\x9b", "\\u007f\\u009b"},
    {JSON, "\xff", "\\\\xff"},
    {JSON, "\xc3\xa9", "\xc3\xa9"},
    {JSON, "\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
    {JSON, "\xe2\x80\xae", "\\u202e"},
    {JSON, "\xf3\xa0\x81\x81", "\\udb40\\udc41"},
    {JSON, "\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80"},

    {CSV, "plain", "plain"},
    {CSV, "a,b", "\"a,b\""},
    {CSV, "a\"b", "\"a\"\"b\""},
    {CSV, "a\nb", "a\\x0ab"},
    {CSV, " a", "\" a\""},
    {CSV, "a ", "\"a \""},
    {CSV, "a b", "a b"},
    {CSV, "=1+2", "\\x3d1+2"},
    {CSV, "+1", "\\x2b1"},
    {CSV, "-1", "\\x2d1"},
    {CSV, "@a", "\\x40a"},
    {CSV, "a=b", "a=b"},
    {CSV, "=a,\"", "\"\\x3da,\"\"\""},
    {CSV, "\t=1", "\\x09=1"},
    {CSV, "\xff\\", "\\xff\\x5c"},
    {CSV, "\xc3\xa9", "\xc3\xa9"},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		check(rows[i].form, rows[i].text, strlen(rows[i].text),
		      rows[i].expected);
}

static void test_nul(void **state)
{
	(void)state;
	check(TERMINAL, "a\0b", 3, "a\\x00b");
	check(ASCII, "\0", 1, "\\x00");
	check(JSON, "\0", 1, "\\u0000");
	check(CSV, "\0a", 2, "\\x00a");
	check(TERMINAL, NULL, 0, "");
	check(CSV, NULL, 0, "");
}

/* UTF-8 of a code point; the size. */
static size_t encode(uint32_t point, char *bytes)
{
	if (point < 0x80) {
		bytes[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		bytes[0] = (char)(0xc0 | point >> 6);
		bytes[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		bytes[0] = (char)(0xe0 | point >> 12);
		bytes[1] = (char)(0x80 | (point >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | point >> 18);
	bytes[1] = (char)(0x80 | (point >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (point >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}

static const uint32_t disguises[] = {
    0x00ad, 0x034f, 0x061c, 0x115f, 0x1160, 0x17b4,  0x180e,  0x200b,  0x200c,
    0x200d, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a,  0x202b,  0x202c,  0x202d,
    0x202e, 0x2060, 0x2061, 0x2064, 0x2066, 0x2067,  0x2068,  0x2069,  0x206f,
    0x3164, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0x1d173, 0xe0001, 0xe0020, 0xe007f,
};

/* Neighbours of those, which are ordinary characters or spaces. */
static const uint32_t harmless[] = {
    0x20,   0x7e,   0xa0,   0xae,   0x034e, 0x0350,  0x061b,   0x061d,
    0x200a, 0x2010, 0x2027, 0x202f, 0x205f, 0x2070,  0x3163,   0x3165,
    0xfe0f, 0xff9f, 0xffa1, 0xfffc, 0xfffd, 0xe0100, 0x10ffff,
};

static void test_disguises(void **state)
{
	char bytes[4];
	char escaped[64];

	(void)state;
	for (size_t i = 0; i < COUNT(disguises); i++) {
		plim_bytes text = {bytes, encode(disguises[i], bytes)};

		for (int form = TERMINAL; form <= ASCII; form++) {
			plim_escape(form, text, escaped, sizeof(escaped));
			assert_int_equal(escaped[0], '\\');
			for (size_t j = 0; escaped[j] != '\0'; j++)
				assert_true((unsigned char)escaped[j] < 0x7f);
		}
	}
	for (size_t i = 0; i < COUNT(harmless); i++) {
		size_t size = encode(harmless[i], bytes);

		plim_escape(TERMINAL, (plim_bytes){bytes, size}, escaped,
			    sizeof(escaped));
		assert_int_equal(strlen(escaped), size);
		assert_memory_equal(escaped, bytes, size);
	}
}

/* The way back from the terminal form: it is unambiguous. */
static size_t unescape(const char *text, char *bytes)
{
	size_t size = 0;

	while (*text != '\0') {
		unsigned byte;

		if (*text != '\\') {
			bytes[size++] = *text++;
			continue;
		}
		assert_int_equal(sscanf(text, "\\x%2x", &byte), 1);
		bytes[size++] = (char)byte;
		text += 4;
	}
	return size;
}

/* Every pair of bytes, behind and before an ordinary one. */
static void test_every_pair(void **state)
{
	static const int forms[] = {TERMINAL, ASCII};
	char escaped[64];
	char back[16];

	(void)state;
	for (unsigned pair = 0; pair < 0x10000; pair++) {
		char bytes[4] = {'a', (char)(pair >> 8), (char)(pair & 255),
				 'z'};
		plim_bytes text = {bytes, sizeof(bytes)};

		for (size_t i = 0; i < COUNT(forms); i++) {
			plim_escape(forms[i], text, escaped, sizeof(escaped));
			assert_int_equal(unescape(escaped, back), 4);
			assert_memory_equal(back, bytes, 4);
		}
		for (int form = TERMINAL; form <= ASCII; form++) {
			size_t length =
			    plim_escape(form, text, escaped, sizeof(escaped));
			plim_bytes result = {escaped, length};

			assert_int_equal(strlen(escaped), length);
			assert_true(plim_is_utf8(result));
			for (size_t j = 0; j < length; j++) {
				unsigned char byte = (unsigned char)escaped[j];

				assert_true(byte >= 0x20 && byte != 0x7f);
			}
		}
	}
}

static void test_cut_is_final(void **state)
{
	char cut[8];

	(void)state;
	/* The escape does not fit; the letter behind it would. */
	assert_int_equal(
	    plim_escape(TERMINAL, (plim_bytes){"ab\nc", 4}, cut, 6), 7);
	assert_string_equal(cut, "ab");
	assert_int_equal(
	    plim_escape(TERMINAL, (plim_bytes){"a\xe2\x82\xac", 4}, cut, 4), 4);
	assert_string_equal(cut, "a");
	assert_int_equal(
	    plim_escape(JSON, (plim_bytes){"\"\xf3\xa0\x81\x81", 5}, cut, 8),
	    14);
	assert_string_equal(cut, "\\\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_nul),
	    cmocka_unit_test(test_disguises),
	    cmocka_unit_test(test_every_pair),
	    cmocka_unit_test(test_cut_is_final),
	};

	return cmocka_run_group_tests_name("escape", tests, NULL, NULL);
}
