/*
 * test_decode_cpumax.c - cpu.max of a control group.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* Decodes; what is not stored must be as it was. */
static int decode(plim_bytes text, uint64_t *quota, uint64_t *period)
{
	*quota = 77;
	*period = 78;
	int result = plimp_decode_cpu_max(text, quota, period);
	if (result != 1) {
		assert_true(result == 0 || result == PLIM_EMALFORMED);
		assert_int_equal(*quota, 77);
		assert_int_equal(*period, 78);
	}
	return result;
}

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t quota, period;
	} rows[] = {
	    {"max 100000\n", 0, 0, 0},
	    {"max 100000", 0, 0, 0},
	    {"50000 100000\n", 1, 50000, 100000},
	    {"50000 100000", 1, 50000, 100000},
	    {"1 1\n", 1, 1, 1},
	    {"18446744073709551615 18446744073709551615\n", 1, UINT64_MAX,
	     UINT64_MAX},
	    {"18446744073709551616 100000\n", PLIM_EMALFORMED, 0, 0},
	    {"50000 18446744073709551616\n", PLIM_EMALFORMED, 0, 0},
	    {"", PLIM_EMALFORMED, 0, 0},
	    {"max", PLIM_EMALFORMED, 0, 0},
	    {"max\n", PLIM_EMALFORMED, 0, 0},
	    {"max \n", PLIM_EMALFORMED, 0, 0},
	    {"max 0\n", PLIM_EMALFORMED, 0, 0},
	    {"max max\n", PLIM_EMALFORMED, 0, 0},
	    {"max100000\n", PLIM_EMALFORMED, 0, 0},
	    {"maximum 100000\n", PLIM_EMALFORMED, 0, 0},
	    {"0 100000\n", PLIM_EMALFORMED, 0, 0},
	    {"50000 0\n", PLIM_EMALFORMED, 0, 0},
	    {"50000\n", PLIM_EMALFORMED, 0, 0},
	    {"-1 100000\n", PLIM_EMALFORMED, 0, 0},
	    {"50000  100000\n", PLIM_EMALFORMED, 0, 0},
	    {" 50000 100000\n", PLIM_EMALFORMED, 0, 0},
	    {"50000 100000 \n", PLIM_EMALFORMED, 0, 0},
	    {"50000 100000\n\n", PLIM_EMALFORMED, 0, 0},
	    {"50000 100000 1\n", PLIM_EMALFORMED, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		uint64_t quota, period;
		int result = decode(text, &quota, &period);
		if (result != rows[i].result)
			fail_msg("%d for %s", result, rows[i].text);
		if (result == 1) {
			assert_true(quota == rows[i].quota);
			assert_true(period == rows[i].period);
		}
		text_free(text);
	}
}

static void test_files(void **state)
{
	plim_bytes text = text_fixture("synthetic-cpumax/half");
	uint64_t quota, period;

	(void)state;
	assert_int_equal(decode(text, &quota, &period), 1);
	assert_int_equal(quota, 50000);
	assert_int_equal(period, 100000);
	text_free(text);
	text = text_fixture("synthetic-cpumax/max");
	assert_int_equal(decode(text, &quota, &period), 0);
	text_free(text);
}

static void check_refused(plim_bytes text)
{
	uint64_t quota, period;

	assert_int_equal(decode(text, &quota, &period), PLIM_EMALFORMED);
}

static void check_any(plim_bytes text)
{
	uint64_t quota, period;

	if (decode(text, &quota, &period) == 1)
		assert_true(quota && period);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("synthetic-cpumax/half");

	(void)state;
	text_every_prefix(text, check_any);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_cpumax", tests, NULL, NULL);
}
