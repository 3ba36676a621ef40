/*
 * test_fixed.c - numbers with a fixed count of digits behind the point. What
 * is right is what the C library prints in the C locale, which rounds the
 * exact value of the double, to the nearest and ties to even.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include "comma.h"
#include "skip.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(double value, int decimals, const char *expected)
{
	char buffer[400];
	size_t length =
	    plim_fixed_format(value, decimals, buffer, sizeof(buffer));

	assert_string_equal(buffer, expected);
	assert_int_equal(length, strlen(expected));
}

static void literal(void **state)
{
	(void)state;
	expect(0, 3, "0.000");
	expect(-0.0, 3, "0.000");
	expect(0, 0, "0");
	expect(1, 1, "1.0");
	expect(12.3456, 3, "12.346");
	expect(9.9996, 3, "10.000");
	expect(-1.5, 1, "-1.5");
	expect(-0.0004, 3, "0.000");
	expect(-0.0006, 3, "-0.001");
	/* Exact ties go to the even neighbour, */
	expect(0.5, 0, "0");
	expect(1.5, 0, "2");
	expect(2.5, 0, "2");
	expect(0.25, 1, "0.2");
	expect(0.75, 1, "0.8");
	expect(0.0625, 3, "0.062");
	expect(0.1875, 3, "0.188");
	/* and what only looks like one is none: the double is a little more,
	 * or a little less. */
	expect(0.0005, 3, "0.001");
	expect(0.0015, 3, "0.002");
	expect(1.0005, 3, "1.000");
	expect(2.0015, 3, "2.002");
	expect(1.005, 2, "1.00");
	expect(9007199254740993.0, 1, "9007199254740992.0");
	expect(18446744073709551615.0, 3, "18446744073709551616.000");
	expect(1e22, 0, "10000000000000000000000");
	expect(1e23, 1, "99999999999999991611392.0");
	expect(DBL_TRUE_MIN, 9, "0.000000000");
	expect(NAN, 3, "null");
	expect(INFINITY, 3, "null");
	expect(-INFINITY, 3, "null");
}

static void as_printf(double value, int decimals)
{
	char expected[400], buffer[400];

	snprintf(expected, sizeof(expected), "%.*f", decimals, value);
	if (value <= 0 && strspn(expected, "-0.") == strlen(expected))
		snprintf(expected, sizeof(expected), "%.*f", decimals, 0.0);
	plim_fixed_format(value, decimals, buffer, sizeof(buffer));
	if (strcmp(buffer, expected) != 0)
		fail_msg("%a with %d: %s, expected %s", value, decimals, buffer,
			 expected);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Every exponent with random digits, ties of every kind, and their
 * neighbours. */
static void against_printf(void **state)
{
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

	(void)state;
	for (int exponent = -1080; exponent < 1024; exponent++) {
		for (int decimals = 0; decimals <= 9; decimals++) {
			double value = ldexp((double)(next_random(&seed) >> 11),
					     exponent - 53);

			as_printf(value, decimals);
			as_printf(-value, decimals);
		}
	}
	for (int i = 0; i < 100000; i++) {
		int decimals = i % 10;
		double whole = (double)(next_random(&seed) >> (i % 50 + 14));
		double tie = whole + ldexp(1, -1 - i % 12);

		as_printf(tie, decimals);
		as_printf(tie * (1 + DBL_EPSILON), decimals);
		as_printf(tie * (1 - DBL_EPSILON), decimals);
		as_printf((double)(next_random(&seed) % 1000000) / 1000.0,
			  decimals);
	}
	as_printf(DBL_MAX, 9);
	as_printf(-DBL_MAX, 0);
	as_printf(DBL_MIN, 9);
}

/* Cut as snprintf cuts. */
static void cut(void **state)
{
	char buffer[16];

	(void)state;
	for (size_t size = 0; size < sizeof(buffer); size++) {
		memset(buffer, 'x', sizeof(buffer));
		assert_int_equal(plim_fixed_format(-12.5, 3, buffer, size), 7);
		if (size > 0)
			assert_int_equal(strlen(buffer),
					 size - 1 < 7 ? size - 1 : 7);
		assert_int_equal(buffer[size], 'x');
		if (size > 0)
			assert_memory_equal(buffer, "-12.500", strlen(buffer));
	}
	assert_int_equal(plim_fixed_format(NAN, 3, buffer, 3), 4);
	assert_string_equal(buffer, "nu");
}

static void comma_locale(void **state)
{
	(void)state;
	if (!set_comma_locale())
		SKIP_BECAUSE("no locale with a decimal comma is to be had");
	expect(1234567.5, 3, "1234567.500");
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(literal),
	    cmocka_unit_test(against_printf),
	    cmocka_unit_test(cut),
	    cmocka_unit_test(comma_locale),
	};

	return cmocka_run_group_tests_name("fixed", tests, NULL, NULL);
}
