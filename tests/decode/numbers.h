/*
 * numbers.h - tests of the decoders that find one number in a text.
 *
 * Such a decoder is a plimp_decode_*() or a few lines around one; the helpers
 * see to it that a failure leaves the number as it was.
 */
#ifndef DECODE_NUMBERS_H
#define DECODE_NUMBERS_H

#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

typedef int number_decode_fn(plim_bytes text, uint64_t *number);

struct number_row {
	const char *text; /* or the name of a fixture */
	int result;
	uint64_t value;
};

/* Decodes; the only failure is PLIM_EMALFORMED, with the output untouched. */
int number_decode(number_decode_fn *decode, plim_bytes text, uint64_t *number);

/* Each row, its text read as text_string() or text_fixture() has it. */
void number_rows(number_decode_fn *decode, const struct number_row *rows,
		 size_t count, plim_bytes (*text)(const char *));
#define NUMBER_ROWS(decode, rows, text) \
	number_rows(decode, rows, sizeof(rows) / sizeof((rows)[0]), text)

/*
 * Cut, changed and nonsensical texts. Where a prefix of the fixture gives a
 * number it must please `prefix`, where nonsense gives one `nonsense`; NULL
 * means that none may.
 */
typedef int number_please_fn(plim_bytes text, uint64_t number);
void number_hostile(number_decode_fn *decode, const char *fixture,
		    number_please_fn *prefix, number_please_fn *nonsense);

#endif
