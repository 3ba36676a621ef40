/*
 * test_decode_number.c - a file of one number.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* Decodes; on failure the output must be as it was, and is so told. */
static int decode(plim_bytes text, uint64_t *number)
{
	uint64_t value = 0xa5a5a5a5a5a5a5a5u;
	int result = plimp_decode_number(text, &value);

	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_true(value == 0xa5a5a5a5a5a5a5a5u);
	}
	*number = value;
	return result;
}

/* clang-format off */
static const struct row {
	const char *text; /* or the name of a fixture */
	int result;
	uint64_t value;
} texts[] = {
		{"0", PLIM_OK, 0},
		{"0\n", PLIM_OK, 0},
		{"32768\n", PLIM_OK, 32768},
		{"9223372036854775807\n", PLIM_OK, INT64_MAX},
		{"18446744073709551615\n", PLIM_OK, UINT64_MAX},
		{"18446744073709551616\n", PLIM_EMALFORMED, 0},
		{"", PLIM_EMALFORMED, 0},
		{"\n", PLIM_EMALFORMED, 0},
		{"1\n\n", PLIM_EMALFORMED, 0},
		{"1\r\n", PLIM_EMALFORMED, 0},
		{" 1", PLIM_EMALFORMED, 0},
		{"1 ", PLIM_EMALFORMED, 0},
		{"1 2", PLIM_EMALFORMED, 0},
		{"-1", PLIM_EMALFORMED, 0},
		{"+1", PLIM_EMALFORMED, 0},
		{"0x1", PLIM_EMALFORMED, 0},
		{"max", PLIM_EMALFORMED, 0},
		{"1.0", PLIM_EMALFORMED, 0},
}, files[] = {
		{"linux-6.18-number/pid-max", PLIM_OK, 32768},
		{"linux-6.18-number/cap-last-cap", PLIM_OK, 40},
};
/* clang-format on */

static void check_row(const struct row *row, plim_bytes text)
{
	uint64_t value;
	int result = decode(text, &value);

	if (result != row->result || (!result && value != row->value))
		fail_msg("%d for %s", result, row->text);
	text_free(text);
}

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_row(&texts[i], text_string(texts[i].text));
}

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		check_row(&files[i], text_fixture(files[i].text));
}

/* The newline is optional here, so a cut number is a number. */
static void check_prefix(plim_bytes text)
{
	uint64_t value;

	if (!decode(text, &value))
		assert_true(value <= 32768);
}

static void check_any(plim_bytes text)
{
	uint64_t value;

	(void)decode(text, &value);
}

static void check_nonsense(plim_bytes text)
{
	uint64_t value;

	/* A million zeros are a zero. */
	if (!decode(text, &value))
		assert_true(text.data[0] == '0' && value == 0);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-number/pid-max");

	(void)state;
	text_every_prefix(text, check_prefix);
	text_every_change(text, check_any);
	text_every_nonsense(check_nonsense);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_number", tests, NULL, NULL);
}
