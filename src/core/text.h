/*
 * text.h - the one reader of UTF-8, for everybody who must not trust it, and
 * the one writer of plain numbers.
 */
#ifndef PLIMP_TEXT_H
#define PLIMP_TEXT_H

#include <plimsoll/base.h>

/*
 * The length, 1 to 4, of the character that `text` begins with, and its code
 * point; 0 if the first byte begins no well-formed one (RFC 3629: no overlong
 * form, no surrogate, nothing above U+10FFFF) or the text is empty. The way
 * on from a 0 is one byte.
 */
size_t plimp_utf8_decode(plim_bytes text, uint32_t *point);

/* How many bytes the text begins with that every form shows as they are, each
 * in one column: printable ASCII but the quote and the backslash. Nearly all
 * text is nothing else, and need not be taken apart. */
size_t plimp_text_plain(plim_bytes text);

/* Decimal digits without the price of printf, which a snapshot would pay for
 * each process. Not terminated; the result is their number, at least 1. */
#define PLIMP_DIGITS 20
size_t plimp_digits(uint64_t value, char digits[PLIMP_DIGITS]);

#endif
