/*
 * units_format.c - writing quantities for people and numbers for programs.
 *
 * A quantity is rounded first and its unit chosen afterwards, so that what is
 * shown never reaches the next unit: 1023.99 KiB is 1 MiB, not 1024 KiB.
 * Digits are made from whole numbers, because printf's %f would ask the
 * locale for its point. A quantity too small to show is written as less than
 * the least, not as a zero.
 */
#include <plimsoll/units.h>

#include "core/text.h"

#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers up to here are exact in a double and are written in full;
 * larger ones have an exponent. */
#define UNITS_LARGE 1e15

/* Room for any number of this file: a sign, 17 digits, a point, an exponent of
 * three digits, or a word. */
#define UNITS_NUMBER 48

struct units_step {
	double scale; /* in units of the base; ascending */
	const char *suffix;
};

static const struct units_step units_steps_bytes[] = {
    {1, " B"},
    {1024.0, " KiB"},
    {1024.0 * 1024, " MiB"},
    {1024.0 * 1024 * 1024, " GiB"},
    {1024.0 * 1024 * 1024 * 1024, " TiB"},
    {0, NULL},
};

static const struct units_step units_steps_byte_rate[] = {
    {1, " B/s"},
    {1024.0, " KiB/s"},
    {1024.0 * 1024, " MiB/s"},
    {1024.0 * 1024 * 1024, " GiB/s"},
    {1024.0 * 1024 * 1024 * 1024, " TiB/s"},
    {0, NULL},
};

static const struct units_step units_steps_percent[] = {{1, " %"}, {0, NULL}};
static const struct units_step units_steps_rate[] = {{1, "/s"}, {0, NULL}};
static const struct units_step units_steps_plain[] = {{1, ""}, {0, NULL}};

/* Up to the minute; from there on two units are written. */
static const struct units_step units_steps_time[] = {
    {1, " ns"}, {1e3, " us"}, {1e6, " ms"}, {1e9, " s"}, {0, NULL},
};

/* For durations of more hours than a number shows. */
static const struct units_step units_steps_days[] = {{86400e9, " d"},
						     {0, NULL}};

struct units_pair {
	double scale;
	const char *suffix;
	double small_scale;
	const char *small_suffix;
};

static const struct units_pair units_pairs[] = {
    {60e9, "min", 1e9, "s"},
    {3600e9, "h", 60e9, "min"},
    {86400e9, "d", 3600e9, "h"},
    {0, NULL, 0, NULL},
};

/* How many parts of one are shown: three digits in all, and none behind the
 * point from 100 on. */
static unsigned units_precision(double magnitude)
{
	if (magnitude >= 100)
		return 1;
	if (magnitude >= 10)
		return 10;
	return magnitude >= 1 ? 100 : 1000;
}

static uint64_t units_rounded(double magnitude)
{
	assert(magnitude >= 0 && magnitude < UNITS_LARGE);
	return (uint64_t)(magnitude * units_precision(magnitude) + 0.5);
}

/* What is left of a magnitude once it is shown. */
static double units_shown(double magnitude)
{
	if (magnitude >= UNITS_LARGE)
		return magnitude;
	return (double)units_rounded(magnitude) / units_precision(magnitude);
}

/* "1.23e+30": one digit, two behind the point. */
static void units_write_large(double magnitude, char number[UNITS_NUMBER])
{
	int exponent = 0;
	uint64_t hundredths;

	while (magnitude >= 10) {
		magnitude /= 10;
		exponent++;
	}
	hundredths = (uint64_t)(magnitude * 100 + 0.5);
	if (hundredths >= 1000) {
		hundredths /= 10;
		exponent++;
	}
	snprintf(number, UNITS_NUMBER, "%" PRIu64 ".%02" PRIu64 "e+%d",
		 hundredths / 100, hundredths % 100, exponent);
}

static void units_write(double magnitude, char number[UNITS_NUMBER])
{
	unsigned precision = units_precision(magnitude);
	uint64_t rounded;
	size_t size;

	if (magnitude >= UNITS_LARGE) {
		units_write_large(magnitude, number);
		return;
	}
	rounded = units_rounded(magnitude);
	size = plimp_digits(rounded / precision, number);
	number[size] = '\0';
	if (rounded % precision == 0)
		return;
	number[size++] = '.';
	for (rounded %= precision; rounded != 0; rounded %= precision) {
		precision /= 10;
		number[size++] = (char)('0' + rounded / precision);
	}
	number[size] = '\0';
}

/* Joins three words as snprintf would, at a tenth of the price: cut to the
 * buffer, and the length of the whole. */
static size_t units_join(char *buffer, size_t size, const char *const words[3])
{
	size_t length = 0;

	for (int i = 0; i < 3; i++)
		for (const char *at = words[i]; *at != '\0'; at++, length++)
			if (length + 1 < size)
				buffer[length] = *at;
	if (size > 0)
		buffer[length < size ? length : size - 1] = '\0';
	return length;
}

static size_t units_put_steps(const struct units_step *step, double magnitude,
			      int negative, char *buffer, size_t size)
{
	char number[UNITS_NUMBER];
	const char *sign = negative ? "-" : "";

	while (step[1].suffix != NULL &&
	       units_shown(magnitude / step->scale) * step->scale >=
		   step[1].scale)
		step++;
	magnitude /= step->scale;
	if (magnitude > 0 && units_shown(magnitude) == 0) {
		sign = negative ? ">-" : "<";
		magnitude = 0.001;
	}
	units_write(magnitude, number);
	return units_join(buffer, size,
			  (const char *const[]){sign, number, step->suffix});
}

/* "1 h 5 min": the second unit is the one that is rounded. */
static size_t units_put_pair(double magnitude, int negative, char *buffer,
			     size_t size)
{
	const char *sign = negative ? "-" : "";
	const struct units_pair *pair = units_pairs;
	uint64_t total;
	uint64_t ratio;
	int length;

	if (magnitude / 3600e9 >= UNITS_LARGE)
		return units_put_steps(units_steps_days, magnitude, negative,
				       buffer, size);
	for (;; pair++) {
		total = (uint64_t)(magnitude / pair->small_scale + 0.5);
		if (pair[1].suffix == NULL ||
		    (double)total * pair->small_scale < pair[1].scale)
			break;
	}
	ratio = (uint64_t)(pair->scale / pair->small_scale);
	if (total % ratio == 0)
		length = snprintf(buffer, size, "%s%" PRIu64 " %s", sign,
				  total / ratio, pair->suffix);
	else
		length =
		    snprintf(buffer, size, "%s%" PRIu64 " %s %" PRIu64 " %s",
			     sign, total / ratio, pair->suffix, total % ratio,
			     pair->small_suffix);
	return length > 0 ? (size_t)length : 0;
}

static size_t units_put_time(double magnitude, int negative, char *buffer,
			     size_t size)
{
	if (units_shown(magnitude / 1e9) >= 60)
		return units_put_pair(magnitude, negative, buffer, size);
	return units_put_steps(units_steps_time, magnitude, negative, buffer,
			       size);
}

/* NaN fails both comparisons. */
static int units_is_finite(double value)
{
	return value >= -DBL_MAX && value <= DBL_MAX;
}

static size_t units_put_word(const char *word, char *buffer, size_t size)
{
	int length = snprintf(buffer, size, "%s", word);

	return length > 0 ? (size_t)length : 0;
}

size_t plim_quantity_format(double value, int unit, char *buffer, size_t size)
{
	int negative = value < 0;
	double magnitude = negative ? -value : value;
	const struct units_step *steps = units_steps_plain;

	if (!units_is_finite(value))
		return units_put_word("-", buffer, size);
	if (unit == PLIM_UNIT_NS)
		return units_put_time(magnitude, negative, buffer, size);
	if (unit == PLIM_UNIT_BYTES)
		steps = units_steps_bytes;
	else if (unit == PLIM_UNIT_BYTES_PER_SECOND)
		steps = units_steps_byte_rate;
	else if (unit == PLIM_UNIT_PERCENT)
		steps = units_steps_percent;
	else if (unit == PLIM_UNIT_PER_SECOND)
		steps = units_steps_rate;
	return units_put_steps(steps, magnitude, negative, buffer, size);
}

/* Puts a point where the locale's mark stands: whatever is no digit, sign or
 * exponent, which may be several bytes long. */
static void units_unlocalise(char *number)
{
	static const char plain[] = "0123456789+-e";
	size_t before = strspn(number, plain);
	size_t mark = strcspn(number + before, plain);

	if (mark == 0)
		return;
	number[before] = '.';
	memmove(number + before + 1, number + before + mark,
		strlen(number + before + mark) + 1);
}

/*
 * The first of 1 to 17 digits that reads back as the same double; 17 always
 * do. printf and strtod ask the locale alike, so the comparison holds in any;
 * the mark is replaced afterwards.
 */
static void units_write_shortest(double value, char number[UNITS_NUMBER])
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(number, UNITS_NUMBER, "%.*g", digits, value);
		if (strtod(number, NULL) == value)
			break;
	}
	units_unlocalise(number);
}

size_t plim_number_format(double value, char *buffer, size_t size)
{
	char number[UNITS_NUMBER];

	if (!units_is_finite(value))
		return units_put_word("null", buffer, size);
	/* Not as 1e+05, and not as -0. */
	if (value > -UNITS_LARGE && value < UNITS_LARGE &&
	    (double)(int64_t)value == value)
		snprintf(number, sizeof(number), "%" PRId64, (int64_t)value);
	else
		units_write_shortest(value, number);
	return units_put_word(number, buffer, size);
}
