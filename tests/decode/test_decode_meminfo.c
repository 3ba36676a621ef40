/*
 * test_decode_meminfo.c - one figure of /proc/meminfo.
 */
#include "numbers.h"

static int swap_total(plim_bytes text, uint64_t *value)
{
	return plimp_decode_meminfo(text, "SwapTotal", value);
}

/* clang-format off */
static const struct number_row texts[] = {
		{"SwapTotal:  5 kB\n", PLIM_OK, 5120},
		{"SwapTotal:5 kB\n", PLIM_OK, 5120},
		{"SwapTotal:\t5 kB\n", PLIM_OK, 5120},
		{"A: 1 kB\nSwapTotal: 0 kB\n", PLIM_OK, 0},
		{"SwapTotal: 5 kB\nSwapTotal: 6 kB\n", PLIM_OK, 5120},
		{"SwapTotal: 18014398509481983 kB\n", PLIM_OK, UINT64_MAX - 1023},
		{"SwapTotal: 18014398509481984 kB\n", PLIM_EMALFORMED, 0},
		{"SwapTotal: 18446744073709551616 kB\n", PLIM_EMALFORMED, 0},
		{"SwapTotal: 5 kB", PLIM_EMALFORMED, 0},
		{"SwapTotal: 5\n", PLIM_EMALFORMED, 0},
		{"SwapTotal: 5 MB\n", PLIM_EMALFORMED, 0},
		{"SwapTotal: 5 kB \n", PLIM_EMALFORMED, 0},
		{"SwapTotal: 5 kB\r\n", PLIM_EMALFORMED, 0},
		{"SwapTotal: -5 kB\n", PLIM_EMALFORMED, 0},
		{"SwapTotal:\n5 kB\n", PLIM_EMALFORMED, 0},
		{"SwapTotal 5 kB\n", PLIM_EMALFORMED, 0},
		{"SwapTotals: 5 kB\n", PLIM_EMALFORMED, 0},
		{"XSwapTotal: 5 kB\n", PLIM_EMALFORMED, 0},
		{" SwapTotal: 5 kB\n", PLIM_EMALFORMED, 0},
		{"", PLIM_EMALFORMED, 0},
}, files[] = {
		{"linux-6.18-meminfo/host", PLIM_OK, 0},
		{"synthetic-meminfo/old", PLIM_OK, 0},
};
/* clang-format on */

static void test_texts(void **state)
{
	(void)state;
	NUMBER_ROWS(swap_total, texts, text_string);
}

static void test_files(void **state)
{
	(void)state;
	NUMBER_ROWS(swap_total, files, text_fixture);
}

static int prefix_pleases(plim_bytes text, uint64_t value)
{
	(void)text;
	return value == 0;
}

static void test_hostile(void **state)
{
	(void)state;
	number_hostile(swap_total, "linux-6.18-meminfo/host", prefix_pleases,
		       NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_meminfo", tests, NULL, NULL);
}
