/*
 * test_decode_mac_ticks.c - Mach ticks and nanoseconds: exact as long as the
 * result fits, the largest number where it does not, and never a wrap.
 */
#include "host/macos/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

static const struct plimp_mac_scale intel = {1, 1};
static const struct plimp_mac_scale apple = {125, 3};

static void test_known(void **state)
{
	(void)state;
	assert_true(plimp_mac_ticks_to_ns(intel, UINT64_MAX) == UINT64_MAX);
	assert_true(plimp_mac_ticks_to_ns(apple, 0) == 0);
	assert_true(plimp_mac_ticks_to_ns(apple, 1) == 41);
	assert_true(plimp_mac_ticks_to_ns(apple, 2) == 83);
	assert_true(plimp_mac_ticks_to_ns(apple, 3) == 125);
	assert_true(plimp_mac_ticks_to_ns(apple, 24000000) == 1000000000);
	/* 100 years: the product of ticks and 125 takes more than 64 bits at
	 * 194 years, and here it must not matter. */
	assert_true(plimp_mac_ticks_to_ns(apple, UINT64_C(24000000) * 86400 *
						     365 * 100) ==
		    UINT64_C(1000000000) * 86400 * 365 * 100);
	assert_true(plimp_mac_ns_to_ticks(apple, 1000000000) == 24000000);
	assert_true(plimp_mac_ns_to_ticks(apple, 125) == 3);
	assert_true(plimp_mac_ns_to_ticks(apple, 124) == 2);
	assert_true(plimp_mac_ticks_per_second(apple) == 24000000);
	assert_true(plimp_mac_ticks_per_second(intel) == 1000000000);
}

/* The largest that fits, and the next one. */
static void test_edge(void **state)
{
	const uint64_t most = UINT64_MAX / 125 * 3 + UINT64_MAX % 125 * 3 / 125;

	(void)state;
	assert_true(plimp_mac_ticks_to_ns(apple, most) >
		    UINT64_MAX - UINT64_C(126));
	assert_true(plimp_mac_ticks_to_ns(apple, most) < UINT64_MAX);
	assert_true(plimp_mac_ticks_to_ns(apple, most + 3) == UINT64_MAX);
	assert_true(plimp_mac_ticks_to_ns(apple, UINT64_MAX) == UINT64_MAX);
	assert_true(plimp_mac_ns_to_ticks(apple, UINT64_MAX) == most);
}

/* Against 128 bits, over numbers that look random. */
static void test_against_wide(void **state)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;
	uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct plimp_mac_scale scale;
		uint64_t ticks;
		wide exact;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		ticks = seed >> (i % 64);
		scale.numerator = (uint32_t)(seed >> 3) | 1;
		scale.denominator = (uint32_t)(seed >> 29) | 1;
		exact = (wide)ticks * scale.numerator / scale.denominator;
		if (!plimp_mac_scale_is_sound(scale))
			continue;
		assert_true(
		    plimp_mac_ticks_to_ns(scale, ticks) ==
		    (exact > UINT64_MAX ? UINT64_MAX : (uint64_t)exact));
	}
#else
	(void)state;
#endif
}

static void test_sound(void **state)
{
	(void)state;
	assert_true(plimp_mac_scale_is_sound(apple));
	assert_true(plimp_mac_scale_is_sound(intel));
	assert_false(plimp_mac_scale_is_sound((struct plimp_mac_scale){0, 1}));
	assert_false(plimp_mac_scale_is_sound((struct plimp_mac_scale){1, 0}));
	assert_false(
	    plimp_mac_scale_is_sound((struct plimp_mac_scale){UINT32_MAX, 1}));
	assert_true(plimp_mac_scale_is_sound(
	    (struct plimp_mac_scale){UINT32_MAX, UINT32_MAX}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_known),
	    cmocka_unit_test(test_edge),
	    cmocka_unit_test(test_against_wide),
	    cmocka_unit_test(test_sound),
	};

	return cmocka_run_group_tests_name("decode_mac_ticks", tests, NULL,
					   NULL);
}
