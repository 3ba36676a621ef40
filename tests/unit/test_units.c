/*
 * test_units.c - quantities and numbers, read and written, in any locale.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll/units.h>

#include "comma.h"
#include "skip.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum {
	NONE = PLIM_UNIT_NONE,
	BYTES = PLIM_UNIT_BYTES,
	NS = PLIM_UNIT_NS,
	PERCENT = PLIM_UNIT_PERCENT,
	RATE = PLIM_UNIT_PER_SECOND,
	BYTE_RATE = PLIM_UNIT_BYTES_PER_SECOND
};

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(plim_unit_word(NONE), "");
	assert_string_equal(plim_unit_word(BYTES), "bytes");
	assert_string_equal(plim_unit_word(NS), "ns");
	assert_string_equal(plim_unit_word(PERCENT), "percent");
	assert_string_equal(plim_unit_word(RATE), "per_second");
	assert_string_equal(plim_unit_word(BYTE_RATE), "bytes_per_second");
	assert_string_equal(plim_unit_word(PLIM_UNIT_BLOCKS), "blocks");
	assert_string_equal(plim_unit_word(PLIM_UNIT_TICKS), "ticks");
	assert_string_equal(plim_unit_word(PLIM_UNIT_UNIX_MS), "unix_ms");
	assert_string_equal(plim_unit_word(PLIM_UNIT_ID), "id");
	assert_string_equal(plim_unit_word(PLIM_UNIT_SIGNED), "signed");
	assert_string_equal(plim_unit_word(-1), "");
	assert_string_equal(plim_unit_word(11), "");
}

static const struct {
	const char *text;
	int unit;
	uint64_t value;
} wholes[] = {
    {"0", NONE, 0},
    {"42", NONE, 42},
    {"007", NONE, 7},
    {"0.5", NONE, 1},
    {"0.4999999999999999999999999999999999", NONE, 0},
    {"18446744073709551615", NONE, UINT64_MAX},
    {"9007199254740993", NONE, UINT64_C(9007199254740993)},
    {"18446744073709551615", BYTES, UINT64_MAX},
    {"18446744073709551615 B", BYTES, UINT64_MAX},
    {"18446744073709551614.5 B", BYTES, UINT64_MAX},
    {"18446744073709551615 ns", NS, UINT64_MAX},
    {"100MiB", BYTES, 104857600},
    {"100 MiB", BYTES, 104857600},
    {"1 kB", BYTES, 1000},
    {"1 MB", BYTES, 1000000},
    {"1.5 GB", BYTES, 1500000000},
    {"1 TB", BYTES, UINT64_C(1000000000000)},
    {"1 KiB", BYTES, 1024},
    {"1 GiB", BYTES, 1073741824},
    {"1 TiB", BYTES, UINT64_C(1099511627776)},
    {"3K", BYTES, 3072},
    {"3M", BYTES, 3145728},
    {"3 G", BYTES, UINT64_C(3221225472)},
    {"3T", BYTES, UINT64_C(3298534883328)},
    {"0.1 KiB", BYTES, 102},
    {"1.0005 kB", BYTES, 1001},
    {"1.00049999999999999999999 kB", BYTES, 1000},
    {"16777215.999999999999 TiB", BYTES, UINT64_MAX},
    {"16777215.99999999999 TiB", BYTES, UINT64_C(18446744073709551605)},
    {"0", NS, 0},
    {"0.00", NS, 0},
    {"1.5s", NS, 1500000000},
    {"320 ms", NS, 320000000},
    {"20us", NS, 20000},
    {"7ns", NS, 7},
    {"2m", NS, UINT64_C(120000000000)},
    {"2 min", NS, UINT64_C(120000000000)},
    {"1h", NS, UINT64_C(3600000000000)},
    {"0.5d", NS, UINT64_C(43200000000000)},
    {"213503d", NS, UINT64_C(18446659200000000000)},
    {"0.000000001s", NS, 1},
    {"0", PERCENT, 0},
    {"5%", PERCENT, 5},
    {"5 %", PERCENT, 5},
    {"100", RATE, 100},
    {"100/s", RATE, 100},
    {"100 /s", RATE, 100},
    {"120/min", RATE, 2},
    {"89/min", RATE, 1},
    {"90/min", RATE, 2},
    {"89.99/min", RATE, 1},
    {"7200/h", RATE, 2},
    {"18446744073709551615/h", RATE, UINT64_C(5124095576030431)},
    {"5 MiB/s", BYTE_RATE, 5242880},
    {"5MiB", BYTE_RATE, 5242880},
    {"5", BYTE_RATE, 5},
    {"5/s", BYTE_RATE, 5},
    {"3600 kB/h", BYTE_RATE, 1000},
    {"1 MiB/min", BYTE_RATE, 17476},
    {"60000000000 TiB/h", BYTE_RATE, UINT64_C(18325193796266666667)},
    {"12", PLIM_UNIT_BLOCKS, 12},
    {"12", PLIM_UNIT_TICKS, 12},
    {"1700000000000", PLIM_UNIT_UNIX_MS, UINT64_C(1700000000000)},
    {"4194304", PLIM_UNIT_ID, 4194304},
};

static void test_parse_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(wholes); i++) {
		uint64_t value = 12345;

		if (plim_quantity_parse_whole(wholes[i].text, wholes[i].unit,
					      &value, NULL) != PLIM_OK)
			fail_msg("\"%s\" is refused", wholes[i].text);
		if (value != wholes[i].value)
			fail_msg("\"%s\" gives %llu", wholes[i].text,
				 (unsigned long long)value);
	}
}

static const struct {
	const char *text;
	int unit;
	double value;
} reals[] = {
    {"0", NONE, 0},
    {"0.1", NONE, 0.1},
    {"12.3 %", PERCENT, 12.3},
    {"0.30000000000000004", NONE, 0.30000000000000004},
    {"1.1 ms", NS, 1100000},
    {"0.0000000015 s", NS, 1.5},
    {"100/min", RATE, 100.0 / 60},
    {"1/h", RATE, 1.0 / 3600},
    {"1.5 KiB/s", BYTE_RATE, 1536},
    {"1 kB/min", BYTE_RATE, 1000.0 / 60},
    {"18446744073709551615", BYTES, 18446744073709551616.0},
    {"0.000000000000000000000000000001", NONE, 1e-30},
    {"3.14159265358979323846264338327950288", NONE, 3.14159265358979323846},
    {"99999.99999999999999999999999999999", NONE, 100000},
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(reals); i++) {
		double value = -1;

		assert_int_equal(plim_quantity_parse(reals[i].text,
						     reals[i].unit, &value,
						     NULL),
				 PLIM_OK);
		/* Two roundings at most. */
		if (fabs(value - reals[i].value) >
		    fabs(reals[i].value) * 2 * DBL_EPSILON)
			fail_msg("\"%s\" gives %.17g", reals[i].text, value);
	}
	for (size_t i = 0; i < COUNT(wholes); i++) {
		double value = -1;

		assert_int_equal(plim_quantity_parse(wholes[i].text,
						     wholes[i].unit, &value,
						     NULL),
				 PLIM_OK);
		assert_true(fabs(value - (double)wholes[i].value) <=
			    0.5 + value * 2 * DBL_EPSILON);
	}
}

/* Whole numbers as a plim_count has them. */
static void test_parse_signed(void **state)
{
	static const struct {
		const char *text;
		int64_t whole;
		double value;
	} rows[] = {
	    {"0", 0, 0},
	    {"-0", 0, 0},
	    {"19", 19, 19},
	    {"-20", -20, -20},
	    {"-1.25", -1, -1.25},
	    {"-1.5", -2, -1.5},
	    {"9223372036854775807", INT64_MAX, 9223372036854775808.0},
	    {"-9223372036854775808", INT64_MIN, -9223372036854775808.0},
	};
	uint64_t whole = 7;
	double value;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(plim_quantity_parse_whole(rows[i].text,
							   PLIM_UNIT_SIGNED,
							   &whole, NULL),
				 PLIM_OK);
		assert_true((int64_t)whole == rows[i].whole);
		assert_int_equal(plim_quantity_parse(rows[i].text,
						     PLIM_UNIT_SIGNED, &value,
						     NULL),
				 PLIM_OK);
		assert_true(value == rows[i].value);
		assert_true(value != 0 || !signbit(value));
	}
	whole = 7;
	assert_int_equal(plim_quantity_parse_whole("9223372036854775808",
						   PLIM_UNIT_SIGNED, &whole,
						   NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_quantity_parse_whole("-9223372036854775809",
						   PLIM_UNIT_SIGNED, &whole,
						   NULL),
			 PLIM_EINVAL);
	assert_int_equal(whole, 7);
}

static void test_parse_exact(void **state)
{
	double value;

	(void)state;
	plim_quantity_parse("12.3 %", PERCENT, &value, NULL);
	assert_true(value == 12.3);
	plim_quantity_parse("1.1 ms", NS, &value, NULL);
	assert_true(value == 1100000);
	plim_quantity_parse("0.7 MB", BYTES, &value, NULL);
	assert_true(value == 700000);
	plim_quantity_parse("2.675", NONE, &value, NULL);
	assert_true(value == 2.675);
}

/* A thousand digits: no loss, no overflow, no long wait. */
static void test_parse_long(void **state)
{
	char text[1100] = "0.";
	uint64_t whole = 9;
	double value = 9;

	(void)state;
	memset(text + 2, '0', 1000);
	strcpy(text + 1002, "1");
	assert_int_equal(plim_quantity_parse_whole(text, NONE, &whole, NULL),
			 PLIM_OK);
	assert_int_equal(whole, 0);
	assert_int_equal(plim_quantity_parse(text, NONE, &value, NULL),
			 PLIM_OK);
	assert_true(value >= 0 && value < 1e-300);
	memset(text + 2, '9', 1000);
	assert_int_equal(plim_quantity_parse_whole(text, NONE, &whole, NULL),
			 PLIM_OK);
	assert_int_equal(whole, 1);
	/* A zero needs no suffix, however long. */
	memset(text + 2, '0', 1001);
	assert_int_equal(plim_quantity_parse_whole(text, NS, &whole, NULL),
			 PLIM_OK);
	memset(text, '0', 1000);
	strcpy(text + 1000, "5");
	assert_int_equal(plim_quantity_parse_whole(text, NONE, &whole, NULL),
			 PLIM_OK);
	assert_int_equal(whole, 5);
}

static void test_parse_errors(void **state)
{
	static const struct {
		const char *text;
		int unit;
		int code;
		int position;
	} rows[] = {
	    {"", NONE, PLIM_ESYNTAX, 0},
	    {" 5", NONE, PLIM_ESYNTAX, 0},
	    {"5 ", NONE, PLIM_ESYNTAX, 1},
	    {"+5", NONE, PLIM_ESYNTAX, 0},
	    {"-", NONE, PLIM_ESYNTAX, 0},
	    {"-5", NONE, PLIM_EINVAL, 0},
	    {"-5 MiB", BYTES, PLIM_EINVAL, 0},
	    {"--5", PLIM_UNIT_SIGNED, PLIM_ESYNTAX, 0},
	    {"- 5", PLIM_UNIT_SIGNED, PLIM_ESYNTAX, 0},
	    {"-5x", PLIM_UNIT_SIGNED, PLIM_ESYNTAX, 2},
	    {"-5.", PLIM_UNIT_SIGNED, PLIM_ESYNTAX, 3},
	    {".5", NONE, PLIM_ESYNTAX, 0},
	    {"5.", NONE, PLIM_ESYNTAX, 2},
	    {"5.x", NONE, PLIM_ESYNTAX, 2},
	    {"5,5", NONE, PLIM_ESYNTAX, 1},
	    {"1e3", NONE, PLIM_ESYNTAX, 1},
	    {"0x10", NONE, PLIM_ESYNTAX, 1},
	    {"1'000", NONE, PLIM_ESYNTAX, 1},
	    {"nan", NONE, PLIM_ESYNTAX, 0},
	    {"inf", NONE, PLIM_ESYNTAX, 0},
	    {"5 MiB", NONE, PLIM_ESYNTAX, 2},
	    {"5 mib", BYTES, PLIM_ESYNTAX, 2},
	    {"5KB", BYTES, PLIM_ESYNTAX, 1},
	    {"5 k", BYTES, PLIM_ESYNTAX, 2},
	    {"5  MiB", BYTES, PLIM_ESYNTAX, 2},
	    {"5MiB ", BYTES, PLIM_ESYNTAX, 1},
	    {"5MiBB", BYTES, PLIM_ESYNTAX, 1},
	    {"5MiB/s", BYTES, PLIM_ESYNTAX, 1},
	    {"5", NS, PLIM_ESYNTAX, 1},
	    {"5M", NS, PLIM_ESYNTAX, 1},
	    {"5sec", NS, PLIM_ESYNTAX, 1},
	    {"5", PERCENT, PLIM_ESYNTAX, 1},
	    {"0 x", PERCENT, PLIM_ESYNTAX, 2},
	    {"5%%", PERCENT, PLIM_ESYNTAX, 1},
	    {"5/", RATE, PLIM_ESYNTAX, 1},
	    {"5/d", RATE, PLIM_ESYNTAX, 1},
	    {"5/s/s", RATE, PLIM_ESYNTAX, 1},
	    {"5 MiB/s", RATE, PLIM_ESYNTAX, 2},
	    {"5/s/s", BYTE_RATE, PLIM_ESYNTAX, 1},
	    {"18446744073709551616", NONE, PLIM_EINVAL, 0},
	    {"99999999999999999999999", BYTES, PLIM_EINVAL, 0},
	    {"16777216 TiB", BYTES, PLIM_EINVAL, 0},
	    {"213504 d", NS, PLIM_EINVAL, 0},
	    {"18446744073709551615.5 KiB", BYTES, PLIM_EINVAL, 0},
	    {"18446744073.709551616 s", NS, PLIM_EINVAL, 0},
	};
	plim_error error;
	uint64_t whole = 77;
	double value = 88;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		memset(&error, 0, sizeof(error));
		if (plim_quantity_parse_whole(rows[i].text, rows[i].unit,
					      &whole, &error) != rows[i].code)
			fail_msg("\"%s\" as whole", rows[i].text);
		assert_int_equal(error.code, rows[i].code);
		if (error.position != rows[i].position)
			fail_msg("\"%s\" at %d", rows[i].text,
				 (int)error.position);
		assert_string_equal(error.path, rows[i].text);
		assert_true(strlen(error.detail) > 0);
		assert_int_equal(plim_quantity_parse(rows[i].text, rows[i].unit,
						     &value, NULL),
				 rows[i].code);
	}
	/* Only rounding carries this one over the top. */
	assert_int_equal(plim_quantity_parse_whole("18446744073709551615.5",
						   NONE, &whole, NULL),
			 PLIM_EINVAL);
	assert_int_equal(whole, 77);
	assert_true(value == 88);
	plim_quantity_parse("5x", BYTES, &value, &error);
	assert_string_equal(error.detail,
			    "expected B, kB, MB, GB, TB, KiB, MiB, GiB or TiB");
}

static const struct {
	double value;
	int unit;
	const char *text;
} formats[] = {
    {0, BYTES, "0 B"},
    {1, BYTES, "1 B"},
    {1023, BYTES, "1023 B"},
    {1024, BYTES, "1 KiB"},
    {1536, BYTES, "1.5 KiB"},
    {1024 * 9.996, BYTES, "10 KiB"},
    {1024 * 99.96, BYTES, "100 KiB"},
    {1024 * 1023.4, BYTES, "1023 KiB"},
    {1024 * 1023.99, BYTES, "1 MiB"},
    {1048575, BYTES, "1 MiB"},
    {1048576, BYTES, "1 MiB"},
    {1572864, BYTES, "1.5 MiB"},
    {123.456 * 1048576, BYTES, "123 MiB"},
    {12.345 * 1073741824, BYTES, "12.3 GiB"},
    {1.05 * 1048576, BYTES, "1.05 MiB"},
    {18446744073709551615.0, BYTES, "16777216 TiB"},
    {-1572864, BYTES, "-1.5 MiB"},
    {1e300, BYTES, "9.09e+287 TiB"},
    {0.5, BYTE_RATE, "0.5 B/s"},
    {5242880, BYTE_RATE, "5 MiB/s"},
    {0.0001, BYTE_RATE, "<0.001 B/s"},
    {0, NS, "0 ns"},
    {999, NS, "999 ns"},
    {999.6, NS, "1 us"},
    {1000, NS, "1 us"},
    {1234, NS, "1.23 us"},
    {320e6, NS, "320 ms"},
    {999.4e6, NS, "999 ms"},
    {999.95e6, NS, "1 s"},
    {1.5e9, NS, "1.5 s"},
    {59.94e9, NS, "59.9 s"},
    {59.96e9, NS, "1 min"},
    {60e9, NS, "1 min"},
    {65.4e9, NS, "1 min 5 s"},
    {119.6e9, NS, "2 min"},
    {3599.4e9, NS, "59 min 59 s"},
    {3599.6e9, NS, "1 h"},
    {3900e9, NS, "1 h 5 min"},
    {86369e9, NS, "23 h 59 min"},
    {86399e9, NS, "1 d"},
    {100000e9, NS, "1 d 4 h"},
    {18446744073709551615.0, NS, "213504 d"}, /* 584 years */
    {18446740000e9, NS, "213503 d 22 h"},
    {-3900e9, NS, "-1 h 5 min"},
    {-5e5, NS, "-500 us"},
    {1e300, NS, "1.16e+286 d"},
    {12.3, PERCENT, "12.3 %"},
    {0.123456, PERCENT, "0.123 %"},
    {0.0004, PERCENT, "<0.001 %"},
    {0.0005, PERCENT, "0.001 %"},
    {-0.0001, PERCENT, ">-0.001 %"},
    {100, PERCENT, "100 %"},
    {1599.96, PERCENT, "1600 %"},
    {0, PERCENT, "0 %"},
    {-0.0, PERCENT, "0 %"},
    {940, RATE, "940/s"},
    {0.05, RATE, "0.05/s"},
    {123456.7, RATE, "123457/s"},
    {42, NONE, "42"},
    {4194304, PLIM_UNIT_ID, "4194304"},
    {-20, PLIM_UNIT_SIGNED, "-20"},
    {0, PLIM_UNIT_SIGNED, "0"},
    {19, PLIM_UNIT_SIGNED, "19"},
    {1700000000000.0, PLIM_UNIT_UNIX_MS, "1700000000000"},
    {12, PLIM_UNIT_BLOCKS, "12"},
    {999999999999999.0, NONE, "999999999999999"},
    {1e15, NONE, "1.00e+15"},
    {9.999e15, NONE, "1.00e+16"},
    {3, 99, "3"},
};

static void test_format(void **state)
{
	char text[64];

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		size_t length = plim_quantity_format(
		    formats[i].value, formats[i].unit, text, sizeof(text));

		assert_string_equal(text, formats[i].text);
		assert_int_equal(length, strlen(text));
	}
	assert_int_equal(plim_quantity_format(NAN, BYTES, text, sizeof(text)),
			 1);
	assert_string_equal(text, "-");
	plim_quantity_format(-INFINITY, NS, text, sizeof(text));
	assert_string_equal(text, "-");
	assert_int_equal(plim_quantity_format(1536, BYTES, text, 4), 7);
	assert_string_equal(text, "1.5");
	assert_int_equal(plim_quantity_format(1536, BYTES, NULL, 0), 7);
}

/* A cheap generator of bit patterns (xorshift64, Marsaglia 2003). */
static uint64_t random_bits(uint64_t *bits)
{
	*bits ^= *bits << 13;
	*bits ^= *bits >> 7;
	*bits ^= *bits << 17;
	return *bits;
}

static double random_double(uint64_t *bits)
{
	uint64_t pattern = random_bits(bits);
	double value;

	memcpy(&value, &pattern, sizeof(value));
	return value;
}

/* Any double: short enough, and no unit of which there are enough for the
 * next one. */
static void test_format_bounds(void **state)
{
	uint64_t bits = 88172645463325252;
	char text[64];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		double value = random_double(&bits);
		int unit = i % 10;

		assert_true(plim_quantity_format(value, unit, text,
						 sizeof(text)) <= 24);
		value = (double)(random_bits(&bits) >> (i % 64));
		assert_true(plim_quantity_format(value, unit, text,
						 sizeof(text)) <= 24);
		assert_null(strstr(text, "1024 B"));
		assert_null(strstr(text, "1024 K"));
		assert_null(strstr(text, "1024 M"));
		assert_null(strstr(text, "1024 G"));
		assert_null(strstr(text, "60 s"));
		assert_null(strstr(text, "60 min"));
		assert_null(strstr(text, " 24 h"));
		assert_null(strstr(text, "1000 n"));
		assert_null(strstr(text, "1000 u"));
	}
}

/* What is written is read again as nearly the same. */
static void test_format_reads_back(void **state)
{
	static const int units[] = {BYTES, PERCENT, RATE, BYTE_RATE, NONE};
	uint64_t bits = 1234567;
	char text[64];

	(void)state;
	for (int i = 0; i < 100000; i++) {
		int unit = units[(size_t)i % COUNT(units)];
		double value = (double)(random_bits(&bits) >> (16 + i % 48));
		double back = -1;

		plim_quantity_format(value, unit, text, sizeof(text));
		assert_int_equal(plim_quantity_parse(text, unit, &back, NULL),
				 PLIM_OK);
		assert_true(fabs(back - value) <= value * 0.006);
	}
}

static const struct {
	double value;
	const char *text;
} numbers[] = {
    {0, "0"},
    {-0.0, "0"},
    {1, "1"},
    {-42, "-42"},
    {100000, "100000"},
    {123456789012345.0, "123456789012345"},
    {999999999999999.0, "999999999999999"},
    {1e15, "1e+15"},
    {0.1, "0.1"},
    {0.5, "0.5"},
    {-2.5, "-2.5"},
    {1.0 / 3, "0.3333333333333333"},
    {0.1 + 0.2, "0.30000000000000004"},
    {123456.5, "123456.5"},
    {1e-5, "1e-05"},
    {1e300, "1e+300"},
    {5e-324, "5e-324"},
    {DBL_MAX, "1.7976931348623157e+308"},
    {-DBL_MAX, "-1.7976931348623157e+308"},
    {18446744073709551616.0, "1.8446744073709552e+19"},
    {9007199254740993.0, "9007199254740992"},
};

static void check_numbers(void)
{
	char text[64];

	for (size_t i = 0; i < COUNT(numbers); i++) {
		size_t length =
		    plim_number_format(numbers[i].value, text, sizeof(text));

		assert_string_equal(text, numbers[i].text);
		assert_int_equal(length, strlen(text));
	}
	assert_int_equal(plim_number_format(NAN, text, sizeof(text)), 4);
	assert_string_equal(text, "null");
	plim_number_format(INFINITY, text, sizeof(text));
	assert_string_equal(text, "null");
	plim_number_format(-INFINITY, text, sizeof(text));
	assert_string_equal(text, "null");
}

static void test_numbers(void **state)
{
	char text[64];

	(void)state;
	check_numbers();
	assert_int_equal(plim_number_format(0.125, text, 3), 5);
	assert_string_equal(text, "0.");
	assert_int_equal(plim_number_format(0.125, NULL, 0), 5);
}

/* Any double reads back as itself, and one digit fewer would not. */
static void test_numbers_read_back(void **state)
{
	uint64_t bits = 987654321;
	char text[64];
	char shorter[400];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		double value = random_double(&bits);
		int digits = 0;

		if (!(fabs(value) <= DBL_MAX))
			continue;
		plim_number_format(value, text, sizeof(text));
		assert_true(strtod(text, NULL) == value);
		for (const char *at = text; *at != '\0' && *at != 'e'; at++)
			digits += *at >= '0' && *at <= '9';
		if (strchr(text, 'e') == NULL || digits == 1)
			continue;
		snprintf(shorter, sizeof(shorter), "%.*g", digits - 1, value);
		assert_true(strtod(shorter, NULL) != value);
	}
}

/* All that was asserted so far, where a comma is the point. */
static void test_locale(void **state)
{
	char text[16];

	if (!set_comma_locale())
		SKIP_BECAUSE("no locale with a decimal comma is to be had");
	snprintf(text, sizeof(text), "%.1f", 0.5);
	assert_string_equal(text, "0,5");
	check_numbers();
	test_format(state);
	test_parse(state);
	test_parse_exact(state);
	test_parse_errors(state);
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_parse_whole),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_parse_exact),
	    cmocka_unit_test(test_parse_signed),
	    cmocka_unit_test(test_parse_long),
	    cmocka_unit_test(test_parse_errors),
	    cmocka_unit_test(test_format),
	    cmocka_unit_test(test_format_bounds),
	    cmocka_unit_test(test_format_reads_back),
	    cmocka_unit_test(test_numbers),
	    cmocka_unit_test(test_numbers_read_back),
	    cmocka_unit_test(test_locale),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
