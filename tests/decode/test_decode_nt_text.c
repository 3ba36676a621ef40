/*
 * test_decode_nt_text.c - UTF-16, strings and where they lie, and command
 * lines as Microsoft's C runtime splits them.
 */
#include "fixture.h"
#include "nt.h"

#include "host/windows/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void test_utf8(void **state)
{
	static const struct {
		uint16_t units[8];
		size_t count;
		const char *text;
	} rows[] = {
	    {{'a', 0x7f, 0x80, 0x7ff}, 4, "a\x7f\xc2\x80\xdf\xbf"},
	    {{0x800, 0xffff}, 2, "\xe0\xa0\x80\xef\xbf\xbf"},
	    {{0xd83d, 0xde00}, 2, "\xf0\x9f\x98\x80"},
	    {{0xdbff, 0xdfff}, 2, "\xf4\x8f\xbf\xbf"},
	    /* Halves of pairs keep what they are. */
	    {{0xd83d}, 1, "\xed\xa0\xbd"},
	    {{0xde00, 'x'}, 2, "\xed\xb8\x80x"},
	    {{0xd83d, 0xd83d, 0xde00}, 3, "\xed\xa0\xbd\xf0\x9f\x98\x80"},
	    {{0xd83d, 'x'}, 2, "\xed\xa0\xbdx"},
	    {{0}, 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char bytes[16];
		char text[32];
		const size_t length = strlen(rows[i].text);

		for (size_t j = 0; j < rows[i].count; j++)
			nt_put(bytes, 2 * j, 2, rows[i].units[j]);
		plim_bytes utf16 = text_copy(bytes, 2 * rows[i].count);
		assert_int_equal(plimp_nt_utf8(utf16, text, sizeof(text)),
				 length);
		assert_memory_equal(text, rows[i].text, length);
		/* Cut between characters, for every room. */
		for (size_t room = 0; room < length; room++) {
			char *exact = malloc(room + 1);
			size_t size;

			assert_non_null(exact);
			exact[room] = 0x55;
			size = plimp_nt_utf8(utf16, exact, room);
			assert_true(size <= room);
			assert_memory_equal(exact, rows[i].text, size);
			assert_true(size == length ||
				    (rows[i].text[size] & 0xc0) != 0x80);
			assert_int_equal(exact[room], 0x55);
			free(exact);
		}
		text_free(utf16);
	}
}

/* An odd byte is no character; one NUL is. */
static void test_utf8_edges(void **state)
{
	char text[8];

	(void)state;
	assert_int_equal(plimp_nt_utf8((plim_bytes){"a\0b", 3}, text, 8), 1);
	assert_int_equal(plimp_nt_utf8((plim_bytes){"\0\0b\0", 4}, text, 8), 2);
	assert_memory_equal(text, "\0b", 2);
}

static void test_string(void **state)
{
	struct plimp_nt_string string = {7, 7};
	char bytes[16] = {0};

	(void)state;
	nt_put(bytes, 0, 2, 10);
	nt_put(bytes, 2, 2, 12);
	nt_put(bytes, 8, 8, NT_BASE);
	assert_int_equal(
	    plimp_decode_nt_string((plim_bytes){bytes, 16}, 8, &string),
	    PLIM_OK);
	assert_int_equal(string.size, 10);
	assert_true(string.address == NT_BASE);
	nt_put(bytes, 4, 4, 0x12345678);
	assert_int_equal(
	    plimp_decode_nt_string((plim_bytes){bytes, 8}, 4, &string),
	    PLIM_OK);
	assert_true(string.address == 0x12345678);
	string.size = 7;
	assert_int_equal(
	    plimp_decode_nt_string((plim_bytes){bytes, 15}, 8, &string),
	    PLIM_EMALFORMED);
	assert_int_equal(
	    plimp_decode_nt_string((plim_bytes){bytes, 16}, 16, &string),
	    PLIM_EMALFORMED);
	nt_put(bytes, 2, 2, 8); /* longer than its room */
	assert_int_equal(
	    plimp_decode_nt_string((plim_bytes){bytes, 16}, 8, &string),
	    PLIM_EMALFORMED);
	nt_put(bytes, 0, 2, 7); /* half a character */
	assert_int_equal(
	    plimp_decode_nt_string((plim_bytes){bytes, 16}, 8, &string),
	    PLIM_EMALFORMED);
	assert_int_equal(string.size, 7);
}

/* ProcessCommandLineInformation: a string and its characters. */
static void test_answer(void **state)
{
	char bytes[32] = {0};
	plim_bytes utf16 = {NULL, 0};
	static const uint64_t wrong[] = {NT_BASE - 2, NT_BASE + 30,
					 NT_BASE + 33, UINT64_MAX - 1, 0};

	(void)state;
	nt_put(bytes, 0, 2, 4);
	nt_put(bytes, 2, 2, 6);
	nt_put(bytes, 8, 8, NT_BASE + 16);
	nt_utf16(bytes + 16, "hi");
	assert_int_equal(
	    plimp_decode_nt_answer((plim_bytes){bytes, 32}, 8, NT_BASE, &utf16),
	    PLIM_OK);
	assert_int_equal(utf16.size, 4);
	assert_ptr_equal(utf16.data, bytes + 16);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		nt_put(bytes, 8, 8, wrong[i]);
		assert_int_equal(plimp_decode_nt_answer((plim_bytes){bytes, 32},
							8, NT_BASE, &utf16),
				 PLIM_EMALFORMED);
	}
	/* Nothing is at no place. */
	nt_put(bytes, 0, 2, 0);
	assert_int_equal(
	    plimp_decode_nt_answer((plim_bytes){bytes, 32}, 8, NT_BASE, &utf16),
	    PLIM_OK);
	assert_int_equal(utf16.size, 0);
}

static void test_peb(void **state)
{
	struct plimp_nt_string string = {0, 0};
	char bytes[PLIMP_NT_PARAMETERS_SIZE] = {0};
	uint64_t address = 7;

	(void)state;
	nt_put(bytes, 0x20, 8, NT_BASE + 5);
	nt_put(bytes, 0x10, 4, 0x12345);
	assert_int_equal(
	    plimp_decode_nt_peb((plim_bytes){bytes, PLIMP_NT_PEB_SIZE}, 8,
				&address),
	    PLIM_OK);
	assert_true(address == NT_BASE + 5);
	assert_int_equal(
	    plimp_decode_nt_peb((plim_bytes){bytes, PLIMP_NT_PEB_SIZE}, 4,
				&address),
	    PLIM_OK);
	assert_int_equal(address, 0x12345);
	assert_int_equal(
	    plimp_decode_nt_peb((plim_bytes){bytes, 0x27}, 8, &address),
	    PLIM_EMALFORMED);
	assert_int_equal(
	    plimp_decode_nt_peb((plim_bytes){bytes, 0x40}, 1, &address),
	    PLIM_EMALFORMED);
	assert_int_equal(address, 0x12345);
	nt_put(bytes, 0x70, 2, 8);
	nt_put(bytes, 0x72, 2, 10);
	nt_put(bytes, 0x78, 8, NT_BASE + 9);
	assert_int_equal(plimp_decode_nt_parameters(
			     (plim_bytes){bytes, sizeof(bytes)}, 8, &string),
			 PLIM_OK);
	assert_int_equal(string.size, 8);
	assert_true(string.address == NT_BASE + 9);
	assert_int_equal(
	    plimp_decode_nt_parameters((plim_bytes){bytes, sizeof(bytes) - 1},
				       8, &string),
	    PLIM_EMALFORMED);
	assert_int_equal(
	    plimp_decode_nt_parameters((plim_bytes){bytes, 3}, 8, &string),
	    PLIM_EMALFORMED);
}

/* `arguments` with | for the NUL behind each. */
static void split(const char *line, const char *arguments)
{
	const size_t length = strlen(line);
	char *text = malloc(length + 1);
	size_t size;

	assert_non_null(text);
	memcpy(text, line, length);
	size = plimp_nt_arguments(text, length, length + 1);
	assert_int_equal(size, strlen(arguments));
	for (size_t i = 0; i < size; i++)
		assert_int_equal(text[i] == '\0' ? '|' : text[i], arguments[i]);
	free(text);
}

/* The rows of "Parsing C command-line arguments" and some more. */
static void test_arguments(void **state)
{
	(void)state;
	split("", "");
	split("p", "p|");
	split("p a b", "p|a|b|");
	split("p  \t a ", "p|a|");
	split("p \"a b c\" d e", "p|a b c|d|e|");
	split("p \"ab\\\"c\" \"\\\\\" d", "p|ab\"c|\\|d|");
	split("p a\\\\\\b d\"e f\"g h", "p|a\\\\\\b|de fg|h|");
	split("p a\\\\\\\"b c d", "p|a\\\"b|c|d|");
	split("p a\\\\\\\\\"b c\" d e", "p|a\\\\b c|d|e|");
	split("p a\"b\"\" c d", "p|ab\" c d|");
	split("p \"\" x", "p||x|");
	split("p \"", "p||");
	split("p a\\", "p|a\\|");
	split("p \\\\server\\share\\ x", "p|\\\\server\\share\\|x|");
	/* The program: backslashes mean themselves. */
	split("\"C:\\a b\\p.exe\" x", "C:\\a b\\p.exe|x|");
	split("C:\\p\\ x", "C:\\p\\|x|");
	split("\"C:\\a\\\" x", "C:\\a\\|x|");
	split("a\"b c\"d e", "ab cd|e|");
	split("\"unfinished x", "unfinished x|");
	split(" x", "|x|");
	split("\xc3\xa9 \"\xe4\xb8\xad \"", "\xc3\xa9|\xe4\xb8\xad |");
}

/* What stands behind a NUL is not part of it. */
static void test_arguments_nul(void **state)
{
	char text[16];

	(void)state;
	memcpy(text, "p a\0 b", 7);
	assert_int_equal(plimp_nt_arguments(text, 7, 8), 4);
	assert_memory_equal(text, "p\0a\0", 4);
	memcpy(text, "\0p", 2);
	assert_int_equal(plimp_nt_arguments(text, 2, 3), 0);
}

static void check_any(plim_bytes bytes)
{
	struct plimp_nt_string string;
	plim_bytes utf16;
	uint64_t address;
	char *text = malloc(bytes.size + 1);
	size_t size;

	assert_non_null(text);
	(void)plimp_decode_nt_string(bytes, 8, &string);
	(void)plimp_decode_nt_answer(bytes, 8, NT_BASE, &utf16);
	(void)plimp_decode_nt_peb(bytes, 8, &address);
	(void)plimp_decode_nt_parameters(bytes, 8, &string);
	if (bytes.size > 0)
		memcpy(text, bytes.data, bytes.size);
	size = plimp_nt_arguments(text, bytes.size, bytes.size + 1);
	assert_true(size <= bytes.size + 1);
	assert_true(size == 0 || text[size - 1] == '\0');
	size = plimp_nt_utf8(bytes, text, bytes.size + 1);
	assert_true(size <= bytes.size + 1);
	free(text);
}

static void test_hostile(void **state)
{
	plim_bytes line =
	    text_string("\"C:\\a b\\p.exe\" a\\\\\\\"b \"c \"\" d\" \\\\ \"");

	(void)state;
	text_every_prefix(line, check_any);
	text_every_change(line, check_any);
	text_every_nonsense(check_any);
	text_free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_utf8),
	    cmocka_unit_test(test_utf8_edges),
	    cmocka_unit_test(test_string),
	    cmocka_unit_test(test_answer),
	    cmocka_unit_test(test_peb),
	    cmocka_unit_test(test_arguments),
	    cmocka_unit_test(test_arguments_nul),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
