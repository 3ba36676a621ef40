/*
 * decode_mac_ticks.c - Mach ticks and nanoseconds. A tick is 1 ns on Intel and
 * 125/3 ns on Apple's own processors; what a machine says may be anything.
 *
 * value * a / b of three numbers of 64, 32 and 32 bits: the quotient of
 * value / b times a, and the remainder, which is below 2^32, times a, which
 * fits 64 bits. Nothing overflows but the answer itself, which then stops at
 * the largest.
 */
#include "host/macos/decode.h"

#include <assert.h>

#define TICKS_SECOND UINT64_C(1000000000)

static uint64_t ticks_scale(uint64_t value, uint32_t a, uint32_t b)
{
	uint64_t whole = value / b;
	uint64_t rest = value % b * a / b;

	if (whole > UINT64_MAX / a)
		return UINT64_MAX;
	whole *= a;
	return rest > UINT64_MAX - whole ? UINT64_MAX : whole + rest;
}

int plimp_mac_scale_is_sound(struct plimp_mac_scale scale)
{
	return scale.numerator != 0 && scale.denominator != 0 &&
	       TICKS_SECOND * scale.denominator / scale.numerator > 0;
}

uint64_t plimp_mac_ticks_to_ns(struct plimp_mac_scale scale, uint64_t ticks)
{
	assert(plimp_mac_scale_is_sound(scale));
	return ticks_scale(ticks, scale.numerator, scale.denominator);
}

uint64_t plimp_mac_ns_to_ticks(struct plimp_mac_scale scale, uint64_t ns)
{
	assert(plimp_mac_scale_is_sound(scale));
	return ticks_scale(ns, scale.denominator, scale.numerator);
}

uint64_t plimp_mac_ticks_per_second(struct plimp_mac_scale scale)
{
	assert(plimp_mac_scale_is_sound(scale));
	return TICKS_SECOND * scale.denominator / scale.numerator;
}
