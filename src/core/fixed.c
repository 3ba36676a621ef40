/*
 * fixed.c - numbers with a fixed count of digits behind the point.
 *
 * printf would ask the locale for its point, and adding a half before cutting
 * rounds twice. So the double is taken apart exactly: below 2^53 into a whole
 * part and a fraction m / 2^k, whose product with a power of ten is a whole
 * number of 128 bits, to be rounded once; from 2^53 on a double is a whole
 * number itself, written out limb by limb.
 */
#include <plimsoll/units.h>

#include "core/text.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#define FIXED_DECIMALS 9

/* 2^53: every double from here on is whole, and below it the whole part fits
 * and leaves the fraction exact. */
#define FIXED_WHOLE 9007199254740992.0

/* A limb has nine digits; DBL_MAX has 309. */
#define FIXED_LIMB  UINT32_C(1000000000)
#define FIXED_LIMBS 35

/* A sign, 309 digits, a point and nine more. */
#define FIXED_SIZE 320

/*
 * a * b / 2^bits to the nearest, ties to even, for a below 2^53 and b below
 * 2^30, whose quotient is below 2^64. The product has 128 bits in two halves
 * and goes to the right bit by bit: the last one that left is the half, and
 * whether any before it was set tells a tie from more than one.
 */
static uint64_t fixed_scale(uint64_t a, uint64_t b, int bits)
{
	uint64_t low = (a & UINT32_MAX) * b;
	uint64_t middle = (a >> 32) * b + (low >> 32);
	uint64_t high = middle >> 32;
	int half = 0;
	int more = 0;

	assert(a < UINT64_C(1) << 53 && b < UINT64_C(1) << 30);
	low = middle << 32 | (low & UINT32_MAX);
	for (; bits > 0; bits--) {
		more |= half;
		half = (int)(low & 1);
		low = low >> 1 | high << 63;
		high >>= 1;
	}
	assert(high == 0);
	return low + (uint64_t)(half && (more || (low & 1) != 0));
}

/* fraction * scale for a fraction below 1. Doubling is exact, also of a
 * denormal number, and ends after at most 1,074 steps. */
static uint64_t fixed_fraction(double fraction, uint64_t scale)
{
	int bits = 0;

	assert(fraction >= 0 && fraction < 1);
	while (fraction != (double)(uint64_t)fraction) {
		fraction *= 2;
		bits++;
	}
	return fixed_scale((uint64_t)fraction, scale, bits);
}

static uint64_t fixed_power(int decimals)
{
	uint64_t power = 1;

	for (int i = 0; i < decimals; i++)
		power *= 10;
	return power;
}

static size_t fixed_put_padded(uint64_t value, int width, char *at)
{
	for (int i = width - 1; i >= 0; i--) {
		at[i] = (char)('0' + value % 10);
		value /= 10;
	}
	return (size_t)width;
}

/* A whole number of at least 2^53: mantissa * 2^twos. */
static size_t fixed_put_large(double value, char *at)
{
	uint32_t limbs[FIXED_LIMBS];
	uint64_t mantissa;
	size_t count = 0;
	size_t size;
	int twos = 0;

	while (value >= FIXED_WHOLE) {
		value /= 2;
		twos++;
	}
	/* The last halving may have left a half behind. */
	if (value != (double)(uint64_t)value) {
		value *= 2;
		twos--;
	}
	for (mantissa = (uint64_t)value; mantissa != 0; mantissa /= FIXED_LIMB)
		limbs[count++] = (uint32_t)(mantissa % FIXED_LIMB);
	for (; twos > 0; twos--) {
		uint32_t carry = 0;

		for (size_t i = 0; i < count; i++) {
			uint32_t twice = limbs[i] * 2 + carry;

			carry = twice >= FIXED_LIMB;
			limbs[i] = carry ? twice - FIXED_LIMB : twice;
		}
		if (carry) {
			assert(count < FIXED_LIMBS);
			limbs[count++] = carry;
		}
	}
	size = plimp_digits(limbs[count - 1], at);
	for (size_t i = count - 1; i > 0; i--)
		size += fixed_put_padded(limbs[i - 1], 9, at + size);
	return size;
}

static size_t fixed_put(double magnitude, int decimals, char *at)
{
	uint64_t scale = fixed_power(decimals);
	uint64_t whole;
	uint64_t part = 0;
	size_t size;

	if (magnitude >= FIXED_WHOLE) {
		size = fixed_put_large(magnitude, at);
	} else {
		whole = (uint64_t)magnitude;
		part = fixed_fraction(magnitude - (double)whole, scale);
		/* Without decimals the even neighbour is one of the whole. */
		if (decimals == 0 && magnitude - (double)whole == 0.5)
			part = whole & 1;
		whole += part / scale;
		part %= scale;
		size = plimp_digits(whole, at);
	}
	if (decimals > 0) {
		at[size++] = '.';
		size += fixed_put_padded(part, decimals, at + size);
	}
	return size;
}

/* "null" as plim_number_format() has it. */
static size_t fixed_copy(const char *text, size_t length, char *buffer,
			 size_t size)
{
	size_t part = length < size ? length : size - 1;

	if (size == 0)
		return length;
	memcpy(buffer, text, part);
	buffer[part] = '\0';
	return length;
}

static int fixed_is_zero(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] != '0' && text[i] != '.')
			return 0;
	return 1;
}

size_t plim_fixed_format(double value, int decimals, char *buffer, size_t size)
{
	char text[FIXED_SIZE];
	size_t length;

	assert(decimals >= 0 && decimals <= FIXED_DECIMALS);
	if (decimals < 0)
		decimals = 0;
	if (decimals > FIXED_DECIMALS)
		decimals = FIXED_DECIMALS;
	/* NaN fails both comparisons. */
	if (!(value >= -DBL_MAX && value <= DBL_MAX))
		return fixed_copy("null", 4, buffer, size);
	text[0] = '-';
	length = 1 + fixed_put(value < 0 ? -value : value, decimals, text + 1);
	assert(length <= sizeof(text));
	if (value < 0 && !fixed_is_zero(text + 1, length - 1))
		return fixed_copy(text, length, buffer, size);
	return fixed_copy(text + 1, length - 1, buffer, size);
}
