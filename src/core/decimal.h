/*
 * decimal.h - the double that is nearest to a decimal number, in any locale.
 */
#ifndef PLIMP_DECIMAL_H
#define PLIMP_DECIMAL_H

#include <plimsoll/base.h>

/* How many bytes belong to the number that the text begins with, 0 if none do:
 * digits, optionally a point and digits, optionally e or E, a sign and digits;
 * no sign in front. */
size_t plimp_decimal_size(plim_bytes text);

/*
 * Reads such a number, however long. Rounds to the nearest double, ties to
 * even, as IEEE 754 has it: what is too large is an infinity, what is too small
 * a denormal or 0. Returns its size; where that is 0, `value` is untouched.
 */
size_t plimp_decimal_read(plim_bytes text, double *value);

#endif
