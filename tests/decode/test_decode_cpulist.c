/*
 * test_decode_cpulist.c - lists of CPUs such as "0-3,8".
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
	int result = plimp_decode_cpu_list(text, &value);

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
		{"0", PLIM_OK, 1},
		{"0\n", PLIM_OK, 1},
		{"7\n", PLIM_OK, 1},
		{"0-3", PLIM_OK, 4},
		{"0-3,8,10-11\n", PLIM_OK, 7},
		{"0,2,4,6\n", PLIM_OK, 4},
		{"0,1\n", PLIM_OK, 2},
		{"0-1048575", PLIM_OK, 1048576},
		{"18446744073709551615", PLIM_OK, 1},
		{"18446744073709551614-18446744073709551615", PLIM_OK, 2},
		{"0-1048576", PLIM_EMALFORMED, 0},
		{"0-1048574,1048576", PLIM_OK, 1048576},
		{"0-1048575,1048577", PLIM_EMALFORMED, 0},
		{"0-18446744073709551615", PLIM_EMALFORMED, 0},
		{"1-18446744073709551615", PLIM_EMALFORMED, 0},
		{"0-18446744073709551616", PLIM_EMALFORMED, 0},
		{"", PLIM_EMALFORMED, 0},
		{"\n", PLIM_EMALFORMED, 0},
		{"0,", PLIM_EMALFORMED, 0},
		{",0", PLIM_EMALFORMED, 0},
		{"0,,1", PLIM_EMALFORMED, 0},
		{"0-", PLIM_EMALFORMED, 0},
		{"-3", PLIM_EMALFORMED, 0},
		{"3-1", PLIM_EMALFORMED, 0},
		{"3-3", PLIM_EMALFORMED, 0},
		{"0-3,3", PLIM_EMALFORMED, 0},
		{"0-3,2-5", PLIM_EMALFORMED, 0},
		{"5,1", PLIM_EMALFORMED, 0},
		{"1,1", PLIM_EMALFORMED, 0},
		{"0,0", PLIM_EMALFORMED, 0},
		{"0-3 ", PLIM_EMALFORMED, 0},
		{" 0", PLIM_EMALFORMED, 0},
		{"0\n\n", PLIM_EMALFORMED, 0},
		{"0\r\n", PLIM_EMALFORMED, 0},
		{"0-3-5", PLIM_EMALFORMED, 0},
		{"0-10:2/4", PLIM_EMALFORMED, 0},
		{"all", PLIM_EMALFORMED, 0},
}, files[] = {
		{"linux-6.18-cpulist/online", PLIM_OK, 2},
		{"linux-6.18-cpulist/offline", PLIM_EMALFORMED, 0},
		{"synthetic-cpulist/gaps", PLIM_OK, 7},
		{"synthetic-cpulist/most", PLIM_OK, 1048576},
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

/* The newline is optional here: a cut list names fewer. */
static void check_prefix(plim_bytes text)
{
	uint64_t value;

	if (!decode(text, &value))
		assert_true(value > 0 && value <= 7);
}

static void check_any(plim_bytes text)
{
	uint64_t value;

	(void)decode(text, &value);
}

static void check_nonsense(plim_bytes text)
{
	uint64_t value;

	/* A million zeros are CPU 0. */
	if (!decode(text, &value))
		assert_true(text.data[0] == '0' && value == 1);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("synthetic-cpulist/gaps");

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

	return cmocka_run_group_tests_name("decode_cpulist", tests, NULL, NULL);
}
