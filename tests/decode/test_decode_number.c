/*
 * test_decode_number.c - a file of one number.
 */
#include "numbers.h"

/* clang-format off */
static const struct number_row texts[] = {
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

static void test_texts(void **state)
{
	(void)state;
	NUMBER_ROWS(plimp_decode_number, texts, text_string);
}

static void test_files(void **state)
{
	(void)state;
	NUMBER_ROWS(plimp_decode_number, files, text_fixture);
}

/* The newline is optional here, so a cut number is a number. */
static int prefix_pleases(plim_bytes text, uint64_t value)
{
	(void)text;
	return value <= 32768;
}

/* A million zeros are a zero. */
static int nonsense_pleases(plim_bytes text, uint64_t value)
{
	return text.data[0] == '0' && value == 0;
}

static void test_hostile(void **state)
{
	(void)state;
	number_hostile(plimp_decode_number, "linux-6.18-number/pid-max",
		       prefix_pleases, nonsense_pleases);
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
