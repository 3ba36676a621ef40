/*
 * test_decode_iostat.c - io.stat of a control group: sums over devices.
 */
#include "numbers.h"

/* clang-format off */
static const struct number_row texts[] = {
		{"", PLIM_OK, 0},
		{"8:0 rios=1 wios=2\n", PLIM_OK, 3},
		{"8:0\trios=1\twios=2 \n", PLIM_OK, 3},
		{"8:0 rios=1 wios=2\n8:16 rios=4 wios=8\n", PLIM_OK, 15},
		{"8:0\n", PLIM_OK, 0},
		{"8:0 \n", PLIM_OK, 0},
		{"8:0 rbytes=1 dios=9\n", PLIM_OK, 0},
		{"8:0 xrios=9 rios2=9 rios=1\n", PLIM_OK, 1},
		{"8:0 cost.usage=x y= = wios=1\n", PLIM_OK, 1},
		{"8:0 7:1 rios=1\n", PLIM_OK, 1},
		{"8:0 rios=18446744073709551614 wios=1\n", PLIM_OK, UINT64_MAX},
		{"8:0 rios=18446744073709551615 wios=1\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=18446744073709551616\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=1", PLIM_EMALFORMED, 0},
		{"\n", PLIM_EMALFORMED, 0},
		{"rios=1\n", PLIM_EMALFORMED, 0},
		{" 8:0 rios=1\n", PLIM_EMALFORMED, 0},
		{"8-0 rios=1\n", PLIM_EMALFORMED, 0},
		{"8: rios=1\n", PLIM_EMALFORMED, 0},
		{":0 rios=1\n", PLIM_EMALFORMED, 0},
		{"8:0x rios=1\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=x\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=1x\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=-1\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=1\nwios=2\n", PLIM_EMALFORMED, 0},
}, files[] = {
		{"synthetic-iostat/devices", PLIM_OK, 10747},
		{"synthetic-iostat/cost", PLIM_OK, 7},
		{"synthetic-iostat/without-figures", PLIM_OK, 1},
		{"synthetic-iostat/too-large", PLIM_EMALFORMED, 0},
};
/* clang-format on */

static void test_texts(void **state)
{
	(void)state;
	NUMBER_ROWS(plimp_decode_io_stat, texts, text_string);
}

static void test_files(void **state)
{
	(void)state;
	NUMBER_ROWS(plimp_decode_io_stat, files, text_fixture);
}

static int prefix_pleases(plim_bytes text, uint64_t value)
{
	(void)text;
	return value == 0 || value == 545 || value == 10747;
}

/* No device at all is what an idle group shows. */
static int nonsense_pleases(plim_bytes text, uint64_t value)
{
	return text.size == 0 && value == 0;
}

static void test_hostile(void **state)
{
	(void)state;
	number_hostile(plimp_decode_io_stat, "synthetic-iostat/devices",
		       prefix_pleases, nonsense_pleases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_iostat", tests, NULL, NULL);
}
