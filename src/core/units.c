/*
 * units.c - reading quantities. Writing them is in units_format.c.
 *
 * A quantity is a decimal number and a suffix that stands for a fraction,
 * multiply / divide, of the unit's base. The product is computed in whole
 * numbers, whatever the length of the text, so whole bytes and nanoseconds
 * are exact up to 2^64 - 1 and halves are rounded as written, not as a double
 * has them. Which suffixes a unit takes stands in a table. The locale has no
 * part in it.
 */
#include <plimsoll/units.h>

#include "core/fail.h"

#include <assert.h>
#include <string.h>

struct units_suffix {
	const char *text;
	uint64_t multiply;
};

static const struct units_suffix units_none[] = {
    {"", 1},
    {NULL, 0},
};

static const struct units_suffix units_bytes[] = {
    {"", 1},
    {"B", 1},
    {"kB", UINT64_C(1000)},
    {"MB", UINT64_C(1000000)},
    {"GB", UINT64_C(1000000000)},
    {"TB", UINT64_C(1000000000000)},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"K", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {NULL, 0},
};

static const struct units_suffix units_time[] = {
    {"ns", 1},
    {"us", UINT64_C(1000)},
    {"ms", UINT64_C(1000000)},
    {"s", UINT64_C(1000000000)},
    {"m", UINT64_C(60000000000)},
    {"min", UINT64_C(60000000000)},
    {"h", UINT64_C(3600000000000)},
    {"d", UINT64_C(86400000000000)},
    {NULL, 0},
};

static const struct units_suffix units_percent[] = {
    {"%", 1},
    {NULL, 0},
};

/* What stands behind the slash of a rate; here the number divides. */
static const struct units_suffix units_per[] = {
    {"s", 1},
    {"min", 60},
    {"h", 3600},
    {NULL, 0},
};

/* `is_rate`: a slash and a row of units_per may follow. */
struct units_row {
	const char *word;
	const struct units_suffix *suffixes;
	int is_rate;
	const char *expected;
};

static const struct units_row units_rows[] = {
    [PLIM_UNIT_NONE] = {"", units_none, 0, "a plain number"},
    [PLIM_UNIT_BYTES] = {"bytes", units_bytes, 0,
			 "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"},
    [PLIM_UNIT_NS] = {"ns", units_time, 0, "ns, us, ms, s, m, h or d"},
    [PLIM_UNIT_PERCENT] = {"percent", units_percent, 0, "%"},
    [PLIM_UNIT_PER_SECOND] = {"per_second", units_none, 1, "/s, /min or /h"},
    [PLIM_UNIT_BYTES_PER_SECOND] = {"bytes_per_second", units_bytes, 1,
				    "bytes, and /s, /min or /h"},
    [PLIM_UNIT_BLOCKS] = {"blocks", units_none, 0, "a plain number"},
    [PLIM_UNIT_TICKS] = {"ticks", units_none, 0, "a plain number"},
    [PLIM_UNIT_UNIX_MS] = {"unix_ms", units_none, 0, "a plain number"},
    [PLIM_UNIT_ID] = {"id", units_none, 0, "a plain number"},
    [PLIM_UNIT_SIGNED] = {"signed", units_none, 0, "a plain number"},
};

static const struct units_row *units_row_of(int unit)
{
	size_t count = sizeof(units_rows) / sizeof(units_rows[0]);

	if (unit < 0 || (size_t)unit >= count)
		return NULL;
	return &units_rows[unit];
}

const char *plim_unit_word(int unit)
{
	const struct units_row *row = units_row_of(unit);

	return row != NULL ? row->word : "";
}

/* A number as it was written, and what its suffix makes of it. */
struct units_quantity {
	int negative;
	uint64_t whole;
	const char *fraction; /* digits */
	size_t fraction_size;
	uint64_t multiply;
	uint64_t divide;
};

static size_t units_digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* 0 if it does not fit. */
static int units_whole(const char *digits, size_t size, uint64_t *whole)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++) {
		uint64_t digit = (uint64_t)(digits[i] - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return 0;
		value = value * 10 + digit;
	}
	*whole = value;
	return 1;
}

static int units_find(const struct units_suffix *suffixes, const char *text,
		      size_t size, uint64_t *number)
{
	for (; suffixes->text != NULL; suffixes++) {
		if (strlen(suffixes->text) == size &&
		    memcmp(suffixes->text, text, size) == 0) {
			*number = suffixes->multiply;
			return 1;
		}
	}
	return 0;
}

static int units_is_zero(const struct units_quantity *quantity)
{
	return quantity->whole == 0 &&
	       strspn(quantity->fraction, "0") >= quantity->fraction_size;
}

/* Takes all of `text`: nothing, or a suffix of the row. */
static int units_scan_suffix(const char *text, const struct units_row *row,
			     struct units_quantity *quantity)
{
	size_t size = strcspn(text, "/");

	quantity->multiply = 1;
	quantity->divide = 1;
	if (*text == '\0' && units_is_zero(quantity))
		return 1;
	if (!units_find(row->suffixes, text, size, &quantity->multiply))
		return 0;
	if (text[size] == '\0')
		return 1;
	return row->is_rate &&
	       units_find(units_per, text + size + 1, strlen(text + size + 1),
			  &quantity->divide);
}

static int units_fail(plim_error *error, const char *text, const char *at,
		      const char *expected)
{
	return plimp_fail_at(error, PLIM_ESYNTAX, "quantity", text,
			     (size_t)(at - text), "expected %s", expected);
}

static int units_fail_range(plim_error *error, const char *text,
			    const char *why)
{
	return plimp_fail_at(error, PLIM_EINVAL, "quantity", text, 0, "%s",
			     why);
}

static int units_scan(const char *text, const struct units_row *row,
		      struct units_quantity *quantity, plim_error *error)
{
	const char *digits = text + (text[0] == '-');
	size_t size = units_digits(digits);
	const char *at = digits + size;

	quantity->negative = digits > text;
	if (size == 0)
		return units_fail(error, text, text, "a number");
	if (quantity->negative && row != &units_rows[PLIM_UNIT_SIGNED])
		return units_fail_range(error, text, "it is negative");
	if (!units_whole(digits, size, &quantity->whole))
		return units_fail_range(error, text, "it is too large");
	quantity->fraction = at;
	quantity->fraction_size = 0;
	if (*at == '.') {
		quantity->fraction = at + 1;
		quantity->fraction_size = units_digits(at + 1);
		if (quantity->fraction_size == 0)
			return units_fail(error, text, at + 1, "a digit");
		at += 1 + quantity->fraction_size;
	}
	if (*at == ' ' && at[1] != '\0')
		at++;
	if (!units_scan_suffix(at, row, quantity))
		return units_fail(error, text, at, row->expected);
	return PLIM_OK;
}

/* The value in the base: a whole part, and whether what is left of it rounds
 * up, or is nothing. */
struct units_value {
	uint64_t whole;
	int rounds_up;
	int is_whole;
};

/*
 * (whole + 0.fraction) * multiply / divide. The fraction is multiplied as on
 * paper, from its last digit on: each step yields one digit of the product,
 * of which only the first counts for rounding. The whole part is divided
 * before it is multiplied, so nothing overflows that would fit in the end.
 * Returns 0 if it does not fit.
 */
static int units_compute(const struct units_quantity *quantity,
			 struct units_value *value)
{
	uint64_t multiply = quantity->multiply;
	uint64_t divide = quantity->divide;
	uint64_t carry = 0;
	uint64_t digit = 0;
	uint64_t part;
	int rest = 0;

	/* A day is below 2^47 ns, so that ten of any factor fit. */
	assert(multiply >= 1 && multiply < UINT64_C(1) << 47);
	assert(divide >= 1 && divide <= 3600);
	for (size_t i = quantity->fraction_size; i > 0; i--) {
		carry += (uint64_t)(quantity->fraction[i - 1] - '0') * multiply;
		digit = carry % 10;
		carry /= 10;
		rest |= digit != 0;
	}
	part = quantity->whole % divide * multiply + carry;
	if (quantity->whole / divide > UINT64_MAX / multiply)
		return 0;
	value->whole = quantity->whole / divide * multiply;
	if (part / divide > UINT64_MAX - value->whole)
		return 0;
	value->whole += part / divide;
	value->rounds_up = part % divide * 2 + (digit >= 5) >= divide;
	value->is_whole = part % divide == 0 && !rest;
	return 1;
}

/*
 * What is not whole, as a double: all digits that fit as one number, then one
 * multiplication and one division, each of which rounds once at most.
 */
static double units_real(const struct units_quantity *quantity)
{
	uint64_t mantissa = quantity->whole;
	size_t size = 0;
	double value;
	double ten = 1;

	while (size < quantity->fraction_size &&
	       mantissa <= (UINT64_MAX - 9) / 10) {
		mantissa = mantissa * 10 +
			   (uint64_t)(quantity->fraction[size++] - '0');
	}
	value = (double)mantissa * (double)quantity->multiply;
	for (; size > 22; size -= 22)
		value /= 1e22; /* the largest power of ten without rounding */
	for (; size > 0; size--)
		ten *= 10;
	return value / (ten * (double)quantity->divide);
}

/* What both readers share. */
static int units_read(const char *text, int unit,
		      struct units_quantity *quantity,
		      struct units_value *value, plim_error *error)
{
	const struct units_row *row = units_row_of(unit);
	int code;

	assert(text != NULL && row != NULL);
	if (text == NULL || row == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "quantity", text,
				  NULL);
	code = units_scan(text, row, quantity, error);
	if (code != PLIM_OK)
		return code;
	if (!units_compute(quantity, value))
		return units_fail_range(error, text, "it is too large");
	return PLIM_OK;
}

int plim_quantity_parse(const char *text, int unit, double *value,
			plim_error *error)
{
	struct units_quantity quantity;
	struct units_value exact;
	int code = units_read(text, unit, &quantity, &exact, error);

	if (code != PLIM_OK)
		return code;
	*value = exact.is_whole ? (double)exact.whole : units_real(&quantity);
	/* There is one zero. */
	if (quantity.negative && *value > 0)
		*value = -*value;
	return PLIM_OK;
}

int plim_quantity_parse_whole(const char *text, int unit, uint64_t *value,
			      plim_error *error)
{
	struct units_quantity quantity;
	struct units_value exact;
	int code = units_read(text, unit, &quantity, &exact, error);

	if (code != PLIM_OK)
		return code;
	if (exact.rounds_up && exact.whole == UINT64_MAX)
		return units_fail_range(error, text, "it is too large");
	exact.whole += (uint64_t)exact.rounds_up;
	if (unit == PLIM_UNIT_SIGNED &&
	    exact.whole > (uint64_t)INT64_MAX + (uint64_t)quantity.negative)
		return units_fail_range(error, text, "it is too large");
	*value = quantity.negative ? UINT64_C(0) - exact.whole : exact.whole;
	return PLIM_OK;
}
