/*
 * test_decode_btime.c - when the machine was booted, in /proc/stat.
 */
#include "numbers.h"

/* clang-format off */
static const struct number_row texts[] = {
		{"btime 5\n", PLIM_OK, 5},
		{"cpu 1\nbtime 5\n", PLIM_OK, 5},
		{"btime 5\nbtime 6\n", PLIM_OK, 5},
		{"btime 18446744073709551615\n", PLIM_OK, UINT64_MAX},
		{"btime 18446744073709551616\n", PLIM_EMALFORMED, 0},
		{"btime 5", PLIM_EMALFORMED, 0},
		{"btime 5 \n", PLIM_EMALFORMED, 0},
		{"btime 5\r\n", PLIM_EMALFORMED, 0},
		{"btime  5\n", PLIM_EMALFORMED, 0},
		{"btime -5\n", PLIM_EMALFORMED, 0},
		{"btime\t5\n", PLIM_EMALFORMED, 0},
		{"xbtime 5\n", PLIM_EMALFORMED, 0},
		{" btime 5\n", PLIM_EMALFORMED, 0},
		{"btime\n5\n", PLIM_EMALFORMED, 0},
		{"btime x\nbtime 5\n", PLIM_EMALFORMED, 0},
		{"cpu 1\n", PLIM_EMALFORMED, 0},
}, files[] = {
		{"linux-6.18-btime/host", PLIM_OK, 1795976830},
		{"synthetic-btime/two-cpus", PLIM_OK, 1700000000},
};
/* clang-format on */

static void test_texts(void **state)
{
	(void)state;
	NUMBER_ROWS(plimp_decode_btime, texts, text_string);
}

static void test_files(void **state)
{
	(void)state;
	NUMBER_ROWS(plimp_decode_btime, files, text_fixture);
}

static int prefix_pleases(plim_bytes text, uint64_t value)
{
	(void)text;
	return value == 1795976830;
}

static void test_hostile(void **state)
{
	(void)state;
	number_hostile(plimp_decode_btime, "linux-6.18-btime/host",
		       prefix_pleases, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_btime", tests, NULL, NULL);
}
