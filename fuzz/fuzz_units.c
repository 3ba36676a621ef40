/*
 * fuzz_units.c - a byte that picks the unit, then any bytes as a quantity, and
 * as a double. Both readers agree on what is a quantity and, within the
 * precision of a double, on its value; a failure stores nothing and says
 * where; what is written is short, printable, and reads back.
 */
#include <plimsoll/fields.h>
#include <plimsoll/units.h>

#include "promise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LAST_UNIT PLIM_UNIT_SIGNED

static void check_error(int code, const plim_error *error, const char *text)
{
	PROMISE(code == PLIM_ESYNTAX || code == PLIM_EINVAL);
	PROMISE(error->code == code);
	PROMISE(error->position >= -1 &&
		error->position <= (int64_t)strlen(text));
	PROMISE(code != PLIM_ESYNTAX || error->position >= 0);
}

static double real_of(uint64_t whole, int unit)
{
	return plim_real_in_unit(plim_count_known(whole, PLIM_METHOD_STAT),
				 unit)
	    .value;
}

static void read_text(const char *text, int unit)
{
	plim_error error, untouched;
	double value = -77;
	uint64_t whole = 77;

	memset(&untouched, 0xa5, sizeof(untouched));
	error = untouched;
	int code = plim_quantity_parse(text, unit, &value, &error);
	if (code == PLIM_OK) {
		PROMISE(!memcmp(&error, &untouched, sizeof(error)));
		PROMISE(isfinite(value));
		PROMISE(value < 0 ? unit == PLIM_UNIT_SIGNED : !signbit(value));
	} else {
		PROMISE(value < -76 && value > -78);
		check_error(code, &error, text);
	}

	error = untouched;
	int whole_code = plim_quantity_parse_whole(text, unit, &whole, &error);
	if (whole_code == PLIM_OK) {
		PROMISE(code == PLIM_OK);
		PROMISE(!memcmp(&error, &untouched, sizeof(error)));
		PROMISE(fabs(real_of(whole, unit) - value) <=
			0.5 + fabs(value) * 1e-15);
	} else {
		PROMISE(whole == 77);
		check_error(whole_code, &error, text);
		/* Both refuse, or it only just does not fit. */
		PROMISE(code == whole_code ||
			fabs(value) >= (unit == PLIM_UNIT_SIGNED
					    ? 9223372036854775000.0
					    : 18446744073709550000.0));
	}
}

/* Written in full, and cut to each size. */
static void check_text(size_t (*format)(double, int, char *, size_t),
		       double value, int unit, size_t most)
{
	char whole[64], cut[64];
	size_t length = format(value, unit, whole, sizeof(whole));

	PROMISE(length > 0 && length <= most && strlen(whole) == length);
	for (size_t i = 0; i < length; i++)
		PROMISE(whole[i] >= ' ' && whole[i] < 0x7f);
	PROMISE(format(value, unit, NULL, 0) == length);
	for (size_t size = 1; size <= length + 1; size++) {
		memset(cut, 0x5a, sizeof(cut));
		PROMISE(format(value, unit, cut, size) == length);
		PROMISE(strlen(cut) == size - 1);
		PROMISE(!memcmp(cut, whole, size - 1));
		PROMISE(cut[size] == 0x5a);
	}
}

static size_t format_number(double value, int unit, char *buffer, size_t size)
{
	(void)unit;
	return plim_number_format(value, buffer, size);
}

static void write_value(double value, int unit)
{
	char text[64];

	check_text(plim_quantity_format, value, unit, 24);
	check_text(format_number, value, unit, 32);
	plim_number_format(value, text, sizeof(text));
	if (isfinite(value)) {
		char *end;
		double again = strtod(text, &end);
		PROMISE(!*end && again <= value && again >= value);
	} else {
		PROMISE(!strcmp(text, "null"));
	}
}

/* A plain number that was written is one that can be read. */
static void read_back(double value, int unit)
{
	char text[64];
	double again;

	if (!(fabs(value) < 1e15) || (value < 0 && unit != PLIM_UNIT_SIGNED))
		return;
	plim_number_format(value, text, sizeof(text));
	if (strchr(text, 'e'))
		return;
	if (unit != PLIM_UNIT_NONE && unit < PLIM_UNIT_BLOCKS)
		unit = PLIM_UNIT_NONE;
	PROMISE(plim_quantity_parse(text, unit, &again, NULL) == PLIM_OK);
	PROMISE(fabs(again - value) <= fabs(value) * 4e-16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	double value;

	if (!size)
		return 0;
	int unit = data[0] % (LAST_UNIT + 1);
	char *text = promise_string(data + 1, size - 1);
	read_text(text, unit);
	free(text);
	PROMISE(plim_unit_word(unit) && plim_unit_word(data[0]));
	if (size > sizeof(value)) {
		memcpy(&value, data + 1, sizeof(value));
		write_value(value, unit);
		read_back(value, unit);
	}
	return 0;
}
