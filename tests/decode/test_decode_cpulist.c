/*
 * test_decode_cpulist.c - lists of CPUs such as "0-3,8".
 */
#include "numbers.h"

/* clang-format off */
static const struct number_row texts[] = {
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

static void test_texts(void **state)
{
	(void)state;
	NUMBER_ROWS(plimp_decode_cpu_list, texts, text_string);
}

static void test_files(void **state)
{
	(void)state;
	NUMBER_ROWS(plimp_decode_cpu_list, files, text_fixture);
}

/* Each CPU of a list in turn, and none that is not on it. */
static void test_next(void **state)
{
	static const uint64_t expected[] = {0, 1, 3, 8, 11, UINT64_MAX};
	plim_bytes text = text_string("0-1,3,8,11,18446744073709551615\n");
	uint64_t cpu = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_int_equal(plimp_decode_cpu_next(text, &cpu), 1);
		assert_int_equal(cpu, expected[i]);
		cpu += i < 5;
	}
	text_free(text);
	text = text_string("2-5\n");
	cpu = 4;
	assert_int_equal(plimp_decode_cpu_next(text, &cpu), 1);
	assert_int_equal(cpu, 4);
	cpu = 6;
	assert_int_equal(plimp_decode_cpu_next(text, &cpu), 0);
	assert_int_equal(cpu, 6);
	text_free(text);
	text = text_string("2-5,");
	cpu = 3;
	assert_int_equal(plimp_decode_cpu_next(text, &cpu), PLIM_EMALFORMED);
	assert_int_equal(cpu, 3);
	text_free(text);
}

/* The newline is optional here: a cut list names fewer. */
static int prefix_pleases(plim_bytes text, uint64_t value)
{
	(void)text;
	return value > 0 && value <= 7;
}

/* A million zeros are CPU 0. */
static int nonsense_pleases(plim_bytes text, uint64_t value)
{
	return text.data[0] == '0' && value == 1;
}

static void test_hostile(void **state)
{
	(void)state;
	number_hostile(plimp_decode_cpu_list, "synthetic-cpulist/gaps",
		       prefix_pleases, nonsense_pleases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_next),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_cpulist", tests, NULL, NULL);
}
