/*
 * result_number.c - the numbers of a RESULT line, read without the locale.
 *
 * number = ["-"] digits ["." digits] [("e" | "E") ["+" | "-"] digits]
 * whole  = digits | "0x" hexadecimal digits
 *
 * decimal.c knows what such digits are worth; here is the sign, and what is
 * none of them or too large is an error.
 */
#include "core/decimal.h"
#include "core/fail.h"
#include "core/result.h"

#include <float.h>

#define NUMBER_OPERATION "result number"

static size_t number_sign(plim_bytes text)
{
	return text.size > 0 && text.data[0] == '-';
}

static plim_bytes number_digits(plim_bytes text)
{
	if (number_sign(text) == 0)
		return text;
	return (plim_bytes){text.data + 1, text.size - 1};
}

size_t plimp_result_number_size(plim_bytes text)
{
	size_t digits = plimp_decimal_size(number_digits(text));

	return digits > 0 ? number_sign(text) + digits : 0;
}

int plim_result_number(plim_bytes text, double *number, plim_error *error)
{
	size_t size = plimp_result_number_size(text);
	double value = 0;

	if (size == 0 || size != text.size)
		return plimp_fail_at(error, PLIM_ESYNTAX, NUMBER_OPERATION,
				     NULL, size, "expected a number");
	plimp_decimal_read(number_digits(text), &value);
	if (value > DBL_MAX)
		return plimp_fail_at(error, PLIM_EINVAL, NUMBER_OPERATION, NULL,
				     0, "it is too large");
	/* There is one zero. */
	*number = number_sign(text) && value > 0 ? -value : value;
	return PLIM_OK;
}

/* The value of a digit of this base, or the base. */
static unsigned number_digit(char byte, unsigned base)
{
	unsigned digit = base;

	if (byte >= '0' && byte <= '9')
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
