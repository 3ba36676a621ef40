/*
 * numbers.c - tests of the decoders that find one number; see numbers.h.
 */
#include "numbers.h"

#define NUMBER_BEFORE UINT64_C(0xa5a5a5a5a5a5a5a5)

/* What text_every_prefix() and its kin cannot hand on. */
static number_decode_fn *hostile_decode;
static number_please_fn *hostile_please;

int number_decode(number_decode_fn *decode, plim_bytes text, uint64_t *number)
{
	uint64_t value = NUMBER_BEFORE;
	int result = decode(text, &value);

	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_true(value == NUMBER_BEFORE);
	}
	*number = value;
	return result;
}

void number_rows(number_decode_fn *decode, const struct number_row *rows,
		 size_t count, plim_bytes (*text)(const char *))
{
	for (size_t i = 0; i < count; i++) {
		plim_bytes bytes = text(rows[i].text);
		uint64_t value;
		int result = number_decode(decode, bytes, &value);

		if (result != rows[i].result ||
		    (!result && value != rows[i].value))
			fail_msg("%d for %s", result, rows[i].text);
		text_free(bytes);
	}
}

static void hostile_check(plim_bytes text)
{
	uint64_t value;

	if (!number_decode(hostile_decode, text, &value))
		assert_true(hostile_please && hostile_please(text, value));
}

static void hostile_check_any(plim_bytes text)
{
	uint64_t value;

	(void)number_decode(hostile_decode, text, &value);
}

void number_hostile(number_decode_fn *decode, const char *fixture,
		    number_please_fn *prefix, number_please_fn *nonsense)
{
	plim_bytes text = text_fixture(fixture);

	hostile_decode = decode;
	hostile_please = prefix;
	text_every_prefix(text, hostile_check);
	text_every_change(text, hostile_check_any);
	hostile_please = nonsense;
	text_every_nonsense(hostile_check);
	text_free(text);
}
