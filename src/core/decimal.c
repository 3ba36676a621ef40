/*
 * decimal.c - from decimal digits to the nearest double.
 *
 * strtod() would ask the locale which character is the point. The number is
 * held as decimal digits 0.d1d2d3... x 10^point and shifted by powers of two,
 * on paper, until its whole part has the 53 bits of a double; then it is
 * rounded once, exactly. (The method is that of Ken Thompson's and Russ Cox's
 * decimal conversions; it is slow and has no special cases.) Between two
 * neighbouring doubles the half-way point has at most 767 digits, so 800 are
 * kept, and whether anything but zeros followed them.
 */
#include "core/decimal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define DECIMAL_DIGITS 800
/* Ten digits and what is carried fit into 64 bits after a shift of 59. */
#define DECIMAL_SHIFT 59
/* Beyond these powers of ten nothing is finite, or nothing is left. */
#define DECIMAL_LARGEST	 310
#define DECIMAL_SMALLEST (-330)

struct decimal {
	int count;
	int point; /* the value is 0.d0 d1 d2 ... x 10^point */
	int rest;  /* something other than zeros was cut off */
	uint8_t digit[DECIMAL_DIGITS];
};

static void decimal_trim(struct decimal *number)
{
	while (number->count > 0 && number->digit[number->count - 1] == 0)
		number->count--;
	if (number->count == 0)
		number->point = 0;
}

/* Divides by 2^shift: long division from the first digit on. */
static void decimal_shift_right(struct decimal *number, int shift)
{
	uint64_t mask = (UINT64_C(1) << shift) - 1;
	uint64_t carry = 0;
	int read = 0, write = 0;

	assert(shift > 0 && shift <= DECIMAL_SHIFT);
	while (carry >> shift == 0) {
		if (read >= number->count && carry == 0) {
			number->count = 0;
			number->point = 0;
			return;
		}
		carry = carry * 10 +
			(read < number->count ? number->digit[read] : 0);
		read++;
	}
	number->point -= read - 1;
	for (;;) {
		uint8_t digit = (uint8_t)(carry >> shift);

		if (write < DECIMAL_DIGITS)
			number->digit[write++] = digit;
		else if (digit != 0)
			number->rest = 1;
		carry &= mask;
		if (read >= number->count && carry == 0)
			break;
		carry = carry * 10 +
			(read < number->count ? number->digit[read] : 0);
		read++;
	}
	number->count = write;
	decimal_trim(number);
}

/* Multiplies by 2^shift: from the last digit on, into a buffer that has room
 * for the digits that the product has more. */
static void decimal_shift_left(struct decimal *number, int shift)
{
	uint8_t product[DECIMAL_DIGITS + 20];
	int size = (int)sizeof(product);
	int write = size;
	uint64_t carry = 0;
	int more;

	assert(shift > 0 && shift <= DECIMAL_SHIFT);
	for (int read = number->count - 1; read >= 0 || carry > 0; read--) {
		if (read >= 0)
			carry += (uint64_t)number->digit[read] << shift;
		assert(write > 0);
		product[--write] = (uint8_t)(carry % 10);
		carry /= 10;
	}
	more = size - write;
	number->point += more - number->count;
	if (more > DECIMAL_DIGITS) {
		for (int i = write + DECIMAL_DIGITS; i < size; i++)
			number->rest |= product[i] != 0;
		more = DECIMAL_DIGITS;
	}
	memcpy(number->digit, product + write, (size_t)more);
	number->count = more;
	decimal_trim(number);
}

/* The whole part, rounded to the nearest, ties to even. */
static uint64_t decimal_round(const struct decimal *number)
{
	uint64_t whole = 0;
	int point = number->point;
	int at_half;

	assert(point <= 18);
	if (point < 0)
		return 0;
	for (int i = 0; i < point; i++)
		whole = whole * 10 + (i < number->count ? number->digit[i] : 0);
	if (point >= number->count)
		return whole;
	at_half = number->digit[point] == 5 && point + 1 == number->count &&
		  !number->rest;
	if (at_half)
		return whole + (whole & 1);
	return whole + (number->digit[point] >= 5);
}

/* The number is not 0: brings it into [1/2, 1), and returns the power of two
 * that it lost. */
static int decimal_normalize(struct decimal *number)
{
	int power = 0;

	while (number->point > 0) {
		/* 2^3 < 10: three bits for each digit at least. */
		int shift =
		    number->point >= 18 ? DECIMAL_SHIFT : number->point * 3;

		decimal_shift_right(number, shift);
		power += shift;
	}
	while (number->point < 0 || number->digit[0] < 5) {
		int shift = number->point <= -18 ? DECIMAL_SHIFT
			    : number->point < 0	 ? -number->point * 3
						 : 1;

		decimal_shift_left(number, shift);
		power -= shift;
	}
	return power;
}

/* value x 2^power. Each step is exact, for a value has no more bits than its
 * result can hold; an overflow gives an infinity. (ldexp() would do, but the
 * library needs no libm.) */
static double decimal_scale(double value, int power)
{
	for (; power > 0; power--)
		value *= 2;
	for (; power < 0; power++)
		value /= 2;
	return value;
}

static double decimal_value(struct decimal *number)
{
	int power, lost;
	uint64_t whole;

	if (number->count == 0 || number->point < DECIMAL_SMALLEST)
		return 0;
	if (number->point > DECIMAL_LARGEST)
		return (double)INFINITY;
	power = decimal_normalize(number);
	if (power > DBL_MAX_EXP)
		return (double)INFINITY;
	/* A denormal has fewer bits, the nearer to 0 the fewer. */
	lost = DBL_MIN_EXP - power;
	if (lost > DBL_MANT_DIG)
		return 0;
	if (lost < 0)
		lost = 0;
	if (lost < DBL_MANT_DIG)
		decimal_shift_left(number, DBL_MANT_DIG - lost);
	whole = decimal_round(number);
	return decimal_scale((double)whole, power - (DBL_MANT_DIG - lost));
}

static int decimal_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Where the digits that stand from `at` on end. */
static size_t decimal_digits(plim_bytes text, size_t at)
{
	while (at < text.size && decimal_is_digit(text.data[at]))
		at++;
	return at;
}

size_t plimp_decimal_size(plim_bytes text)
{
	size_t size = decimal_digits(text, 0);
	size_t start, end;

	if (size == 0)
		return 0;
	if (size < text.size && text.data[size] == '.') {
		end = decimal_digits(text, size + 1);
		if (end == size + 1)
			return size;
		size = end;
	}
	if (size < text.size && (text.data[size] | 0x20) == 'e') {
		start = size + 1;
		if (start < text.size &&
		    (text.data[start] == '+' || text.data[start] == '-'))
			start++;
		end = decimal_digits(text, start);
		if (end > start)
			size = end;
	}
	return size;
}

/* What stands behind the e. Bounded so that no count of digits in a memory
 * makes up for the rest, nor overflows with it. */
static int64_t decimal_exponent(plim_bytes text)
{
	int64_t exponent = 0;
	size_t at = !decimal_is_digit(text.data[0]);

	for (; at < text.size; at++)
		if (exponent < INT64_MAX / 100)
			exponent = exponent * 10 + (text.data[at] - '0');
	return text.data[0] == '-' ? -exponent : exponent;
}

static void decimal_add(struct decimal *number, char digit)
{
	if (number->count < DECIMAL_DIGITS)
		number->digit[number->count++] = (uint8_t)(digit - '0');
	else if (digit != '0')
		number->rest = 1;
}

/* Beyond the bounds it is only known to be so. */
static int decimal_bounded(int64_t point)
{
	if (point > DECIMAL_LARGEST)
		return DECIMAL_LARGEST + 1;
	if (point < DECIMAL_SMALLEST)
		return DECIMAL_SMALLEST - 1;
	return (int)point;
}

size_t plimp_decimal_read(plim_bytes text, double *value)
{
	/* Not all of it is set to zero: the digits are read up to count. */
	struct decimal number;
	size_t size = plimp_decimal_size(text);
	int64_t point = 0;
	int leading = 1, behind = 0;
	size_t at;

	if (size == 0)
		return 0;
	number.count = number.point = number.rest = 0;
	for (at = 0; at < size && (text.data[at] | 0x20) != 'e'; at++) {
		char byte = text.data[at];

		if (byte == '.') {
			behind = 1;
			continue;
		}
		leading = leading && byte == '0';
		if (!leading)
			decimal_add(&number, byte);
		point += !leading && !behind;
		point -= leading && behind;
	}
	if (at < size)
		point += decimal_exponent(
		    (plim_bytes){text.data + at + 1, size - at - 1});
	number.point = decimal_bounded(point);
	decimal_trim(&number);
	*value = decimal_value(&number);
	return size;
}
