/*
 * result_number.c - the numbers of a RESULT line, read without the locale.
 *
 * number = ["-"] digits ["." digits] [("e" | "E") ["+" | "-"] digits]
 * whole  = digits | "0x" hexadecimal digits
 *
 * The first 19 digits are gathered as one whole number, the point and the
 * exponent as a power of ten. The product is computed in whole numbers of some
 * 1,300 bits and rounded once, so that what a shortest form (17 digits) prints
 * comes back as the same double.
 */
#include "core/fail.h"
#include "core/result.h"

#include <assert.h>
#include <float.h>

#define NUMBER_OPERATION "result number"

/* 10^310 is above every double, and 2^64 * 10^-344 below half of the least. */
#define NUMBER_EXPONENT_MOST  309
#define NUMBER_EXPONENT_LEAST (-344)

/* 2^64 * 10^309 has 1,091 bits; 2^64 made larger by 2^1216 has 1,280. */
#define NUMBER_LIMBS	 40
#define NUMBER_LIMBS_UP	 38 /* 2^1216 is above 10^344 * 2^64 */
#define NUMBER_LIMB_BITS 32

static int number_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

size_t plimp_result_number_size(plim_bytes text)
{
	size_t at = text.size > 0 && text.data[0] == '-';
	size_t start = at;
	size_t size;

	while (at < text.size && number_is_digit(text.data[at]))
		at++;
	if (at == start)
		return 0;
	size = at;
	if (at < text.size && text.data[at] == '.') {
		start = ++at;
		while (at < text.size && number_is_digit(text.data[at]))
			at++;
		if (at == start)
			return size;
		size = at;
	}
	if (at < text.size && (text.data[at] == 'e' || text.data[at] == 'E')) {
		at++;
		if (at < text.size &&
		    (text.data[at] == '+' || text.data[at] == '-'))
			at++;
		start = at;
		while (at < text.size && number_is_digit(text.data[at]))
			at++;
		if (at > start)
			size = at;
	}
	return size;
}

/* A number as it is written: mantissa * 10^exponent. */
struct number_parts {
	uint64_t mantissa;
	int exponent;
	int negative;
};

/* Bounded: what is far outside is only known to be so. */
static int number_bounded(int64_t exponent)
{
	if (exponent > NUMBER_EXPONENT_MOST)
		return NUMBER_EXPONENT_MOST + 1;
	if (exponent < NUMBER_EXPONENT_LEAST)
		return NUMBER_EXPONENT_LEAST - 1;
	return (int)exponent;
}

static int64_t number_exponent(plim_bytes text, size_t at)
{
	int64_t exponent = 0;
	int negative = text.data[at] == '-';

	if (!number_is_digit(text.data[at]))
		at++;
	for (; at < text.size; at++)
		if (exponent < INT32_MAX)
			exponent = exponent * 10 + (text.data[at] - '0');
	return negative ? -exponent : exponent;
}

/* `text` is a number as a whole. */
static struct number_parts number_take(plim_bytes text)
{
	struct number_parts parts = {0, 0, text.data[0] == '-'};
	int64_t exponent = 0;
	int behind = 0;

	for (size_t at = (size_t)parts.negative; at < text.size; at++) {
		char byte = text.data[at];

		if (byte == 'e' || byte == 'E') {
			exponent += number_exponent(text, at + 1);
			break;
		}
		if (byte == '.') {
			behind = 1;
		} else if (parts.mantissa <= (UINT64_MAX - 9) / 10) {
			parts.mantissa =
			    parts.mantissa * 10 + (uint64_t)(byte - '0');
			exponent -= behind;
		} else {
			exponent += !behind;
		}
	}
	parts.exponent = number_bounded(exponent);
	return parts;
}

/* A large whole number, the least limb first, no leading zeros; and whether
 * something smaller than one was lost. */
struct number_big {
	uint32_t limbs[NUMBER_LIMBS];
	size_t count;
	int lost;
};

static void number_multiply(struct number_big *big, uint32_t factor)
{
	uint64_t carry = 0;

	for (size_t i = 0; i < big->count; i++) {
		carry += (uint64_t)big->limbs[i] * factor;
		big->limbs[i] = (uint32_t)carry;
		carry >>= NUMBER_LIMB_BITS;
	}
	if (carry != 0) {
		assert(big->count < NUMBER_LIMBS);
		big->limbs[big->count++] = (uint32_t)carry;
	}
}

static void number_divide(struct number_big *big, uint32_t divisor)
{
	uint64_t rest = 0;

	for (size_t i = big->count; i > 0; i--) {
		rest = rest << NUMBER_LIMB_BITS | big->limbs[i - 1];
		big->limbs[i - 1] = (uint32_t)(rest / divisor);
		rest %= divisor;
	}
	while (big->count > 0 && big->limbs[big->count - 1] == 0)
		big->count--;
	big->lost |= rest != 0;
}

/* The 53 highest bits, rounded to the nearest, ties to even; the number is
 * about so many times 2^twos. */
static double number_top(struct number_big *big, int *twos)
{
	uint64_t top;
	uint64_t rest;
	size_t i;
	int shift = 0;

	assert(big->count > 0 && big->limbs[big->count - 1] != 0);
	while (big->limbs[big->count - 1] >> (NUMBER_LIMB_BITS - 1) == 0) {
		number_multiply(big, 2);
		shift++;
	}
	top = (uint64_t)big->limbs[big->count - 1] << NUMBER_LIMB_BITS;
	i = big->count - 1;
	if (i > 0)
		top |= big->limbs[--i];
	*twos = ((int)big->count - 2) * NUMBER_LIMB_BITS - shift + 11;
	while (i > 0)
		big->lost |= big->limbs[--i] != 0;
	rest = (top & 0x7ff) * 2 + (uint64_t)(big->lost != 0);
	top >>= 11;
	if (rest > 0x800 || (rest == 0x800 && (top & 1) != 0))
		top++;
	return (double)top;
}

/* Infinite where it does not fit, 0 where it is too small. */
static double number_make(struct number_parts parts)
{
	struct number_big big = {{0}, 0, 0};
	double value;
	int exponent = parts.exponent;
	int twos;
	int more = 0;

	if (parts.mantissa == 0 || exponent < NUMBER_EXPONENT_LEAST)
		return 0;
	if (exponent > NUMBER_EXPONENT_MOST)
		return DBL_MAX * 2;
	if (exponent < 0) {
		more = -NUMBER_LIMBS_UP * NUMBER_LIMB_BITS;
		big.count = NUMBER_LIMBS_UP;
	}
	big.limbs[big.count++] = (uint32_t)parts.mantissa;
	big.limbs[big.count++] = (uint32_t)(parts.mantissa >> NUMBER_LIMB_BITS);
	while (big.limbs[big.count - 1] == 0)
		big.count--;
	for (; exponent > 0; exponent--)
		number_multiply(&big, 10);
	for (; exponent < 0; exponent++)
		number_divide(&big, 10);
	value = number_top(&big, &twos);
	for (twos += more; twos > 0; twos--)
		value *= 2;
	for (; twos < 0; twos++)
		value /= 2;
	return value;
}

int plim_result_number(plim_bytes text, double *number, plim_error *error)
{
	size_t size = plimp_result_number_size(text);
	struct number_parts parts;
	double value;

	if (size == 0 || size != text.size)
		return plimp_fail_at(error, PLIM_ESYNTAX, NUMBER_OPERATION,
				     NULL, size, "expected a number");
	parts = number_take(text);
	value = number_make(parts);
	if (value > DBL_MAX)
		return plimp_fail_at(error, PLIM_EINVAL, NUMBER_OPERATION, NULL,
				     0, "it is too large");
	/* There is one zero. */
	*number = parts.negative && value > 0 ? -value : value;
	return PLIM_OK;
}

/* The value of a digit of this base, or the base. */
static unsigned number_digit(char byte, unsigned base)
{
	unsigned digit = base;

	if (number_is_digit(byte))
		digit = (unsigned)(byte - '0');
	else if (byte >= 'a' && byte <= 'f')
		digit = (unsigned)(byte - 'a') + 10;
	else if (byte >= 'A' && byte <= 'F')
		digit = (unsigned)(byte - 'A') + 10;
	return digit < base ? digit : base;
}

int plim_result_whole(plim_bytes text, uint64_t *whole, plim_error *error)
{
	int is_hex =
	    text.size > 2 && text.data[0] == '0' && text.data[1] == 'x';
	unsigned base = is_hex ? 16 : 10;
	size_t start = is_hex ? 2 : 0;
	uint64_t value = 0;
	size_t at;

	for (at = start; at < text.size; at++) {
		unsigned digit = number_digit(text.data[at], base);

		if (digit == base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return plimp_fail_at(error, PLIM_EINVAL,
					     NUMBER_OPERATION, NULL, 0,
					     "it is too large");
		value = value * base + digit;
	}
	if (at == start || at < text.size)
		return plimp_fail_at(error, PLIM_ESYNTAX, NUMBER_OPERATION,
				     NULL, at, "expected a whole number");
	*whole = value;
	return PLIM_OK;
}
