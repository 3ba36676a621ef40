/*
 * decimal.h - the double that is nearest to a decimal number, in any locale.
 */
#ifndef PLIMP_DECIMAL_H
#define PLIMP_DECIMAL_H

#include <plimsoll/base.h>

/*
 * Reads digits, optionally a point and digits, optionally e or E, a sign and
 * digits; no sign in front. Rounds to the nearest double, ties to even, as
 * IEEE 754 has it: what is too large is an infinity, what is too small a
 * denormal or 0. Returns how many bytes belong to the number, 0 if none do;
 * then `value` is untouched.
 */
size_t plimp_decimal_read(plim_bytes text, double *value);

#endif
