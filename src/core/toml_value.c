/*
 * toml_value.c - the values of TOML that hold no others: strings, numbers,
 * truth values, dates and times.
 *
 * A string is read twice: first its end is found, then it is taken apart into
 * memory of its raw length, which no escape exceeds. Everything else is one
 * token, the longest run of characters that can belong to it, and must match
 * one form whole.
 */
#include "core/toml_scan.h"
#include "core/hex.h"

#include "core/decimal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static int toml_is_digit(int byte)
{
	return byte >= '0' && byte <= '9';
}

/* A string that is being read: its raw part, and where the next byte of what
 * it means goes. */
struct toml_quote {
	char quote;
	int multiline;
	size_t begin; /* its first quote */
	size_t end;   /* of the raw part */
	char *out;
};

/* Finds the end of the string whose content begins at the cursor. */
static int toml_find_end(struct plimp_toml_cursor *cursor,
			 struct toml_quote *string)
{
	const char *three = string->quote == '"' ? "\"\"\"" : "'''";
	struct plimp_toml_cursor ahead = *cursor;

	for (;;) {
		int byte = plimp_toml_peek(&ahead, 0);

		if (byte < 0 || (!string->multiline && byte == '\n'))
			return plimp_toml_fail(
			    cursor, PLIM_ESYNTAX, string->begin,
			    "the string is not closed; expected %.*s",
			    string->multiline ? 3 : 1, three);
		if (byte == string->quote &&
		    (!string->multiline || plimp_toml_sees(&ahead, three)))
			break;
		ahead.at++;
		if (byte == '\\' && string->quote == '"' &&
		    plimp_toml_peek(&ahead, 0) >= 0 &&
		    plimp_toml_peek(&ahead, 0) != '\n')
			ahead.at++;
	}
	/* Two more quotes may stand before the three that close it. */
	for (int i = 0; string->multiline && i < 2; i++)
		if (plimp_toml_peek(&ahead, 3) == string->quote)
			ahead.at++;
	string->end = ahead.at;
	return PLIM_OK;
}

static void toml_put_point(struct toml_quote *string, uint32_t point)
{
	if (point < 0x80) {
		*string->out++ = (char)point;
		return;
	}
	if (point < 0x800) {
		*string->out++ = (char)(0xc0 | point >> 6);
	} else if (point < 0x10000) {
		*string->out++ = (char)(0xe0 | point >> 12);
		*string->out++ = (char)(0x80 | (point >> 6 & 0x3f));
	} else {
		*string->out++ = (char)(0xf0 | point >> 18);
		*string->out++ = (char)(0x80 | (point >> 12 & 0x3f));
		*string->out++ = (char)(0x80 | (point >> 6 & 0x3f));
	}
	*string->out++ = (char)(0x80 | (point & 0x3f));
}

/* \uXXXX or \UXXXXXXXX; the cursor stands before the backslash. */
static int toml_unicode(struct plimp_toml_cursor *cursor,
			struct toml_quote *string)
{
	size_t digits = plimp_toml_peek(cursor, 1) == 'u' ? 4 : 8;
	size_t start = cursor->at;
	uint32_t point = 0;

	for (size_t i = 0; i < digits; i++) {
		int digit = -1;

		if (start + 2 + i < string->end)
			digit = plimp_hex_digit(plimp_toml_peek(cursor, 2 + i));
		if (digit < 0)
			return plimp_toml_fail(
			    cursor, PLIM_ESYNTAX, start,
			    "expected %d hexadecimal digits in the escape",
			    (int)digits);
		point = point << 4 | (uint32_t)digit;
	}
	if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return plimp_toml_fail(cursor, PLIM_ESYNTAX, start,
				       "the escape is no Unicode character");
	toml_put_point(string, point);
	cursor->at += 2 + digits;
	return PLIM_OK;
}

/* A backslash at a line's end: takes all blanks and line ends after it, and
 * returns 1, if one stands here. */
static int toml_line_ending(struct plimp_toml_cursor *cursor)
{
	struct plimp_toml_cursor ahead = *cursor;

	ahead.at++;
	while (plimp_toml_peek(&ahead, 0) == ' ' ||
	       plimp_toml_peek(&ahead, 0) == '\t')
		ahead.at++;
	if (plimp_toml_newline(&ahead) == 0)
		return 0;
	while (plimp_toml_peek(&ahead, 0) == ' ' ||
	       plimp_toml_peek(&ahead, 0) == '\t' ||
	       plimp_toml_newline(&ahead) > 0)
		ahead.at++;
	cursor->at = ahead.at;
	return 1;
}

static int toml_escape(struct plimp_toml_cursor *cursor,
		       struct toml_quote *string)
{
	static const char names[] = "btnfr\"\\";
	static const char values[] = "\b\t\n\f\r\"\\";
	int byte = plimp_toml_peek(cursor, 1);
	const char *found;

	if (string->multiline && toml_line_ending(cursor))
		return PLIM_OK;
	if (byte == 'u' || byte == 'U')
		return toml_unicode(cursor, string);
	found = byte > 0 ? strchr(names, byte) : NULL;
	if (found == NULL)
		return plimp_toml_fail(
		    cursor, PLIM_ESYNTAX, cursor->at,
		    "no such escape; write \\\\ for a backslash, or the "
		    "string in 'single quotes'");
	*string->out++ = values[found - names];
	cursor->at += 2;
	return PLIM_OK;
}

/* One character of the raw part, or one escape. */
static int toml_character(struct plimp_toml_cursor *cursor,
			  struct toml_quote *string)
{
	int byte = plimp_toml_peek(cursor, 0);
	size_t newline = plimp_toml_newline(cursor);

	if (byte == '\\' && string->quote == '"')
		return toml_escape(cursor, string);
	if (newline > 0 && string->multiline) {
		*string->out++ = '\n';
		cursor->at += newline;
		return PLIM_OK;
	}
	if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
		return plimp_toml_fail(
		    cursor, PLIM_ESYNTAX, cursor->at,
		    "a control character in a string; escape it");
	*string->out++ = (char)byte;
	cursor->at++;
	return PLIM_OK;
}

int plimp_toml_string(struct plimp_toml_cursor *cursor, int multiline,
		      plim_bytes *result)
{
	struct toml_quote string = {
	    .quote = cursor->text[cursor->at],
	    .begin = cursor->at,
	};
	size_t quotes = 1;
	char *text;
	int code;

	if (plimp_toml_sees(cursor, string.quote == '"' ? "\"\"\"" : "'''")) {
		if (!multiline)
			return plimp_toml_fail(
			    cursor, PLIM_ESYNTAX, cursor->at,
			    "a key stands on one line; use one quote");
		string.multiline = 1;
		quotes = 3;
	}
	cursor->at += quotes;
	/* A line end right behind the quotes is no part of it. */
	if (string.multiline)
		cursor->at += plimp_toml_newline(cursor);
	code = toml_find_end(cursor, &string);
	if (code != PLIM_OK)
		return code;
	assert(string.end >= cursor->at);
	text = plimp_pool_take(&cursor->document->pool,
			       string.end - cursor->at + 1);
	if (text == NULL)
		return plimp_toml_fail_memory(cursor);
	string.out = text;
	while (cursor->at < string.end) {
		code = toml_character(cursor, &string);
		if (code != PLIM_OK)
			return code;
	}
	assert(cursor->at == string.end);
	result->data = text;
	result->size = (size_t)(string.out - text);
	cursor->at += quotes;
	return PLIM_OK;
}

/* Digits of `base` with single underscores between them; the value, or 0 if
 * it is none, has a wrong underscore or exceeds `most`. */
static int toml_digits(plim_bytes text, uint64_t base, uint64_t most,
		       uint64_t *value, int *too_large)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < text.size; i++) {
		int digit = plimp_hex_digit((unsigned char)text.data[i]);

		if (text.data[i] == '_') {
			if (i == 0 || i + 1 == text.size ||
			    text.data[i - 1] == '_')
				return 0;
			continue;
		}
		if (digit < 0 || (uint64_t)digit >= base)
			return 0;
		if (sum > (most - (uint64_t)digit) / base)
			*too_large = 1;
		else
			sum = sum * base + (uint64_t)digit;
	}
	*value = sum;
	return text.size > 0;
}

static plim_bytes toml_after(plim_bytes text, size_t count)
{
	text.data += count;
	text.size -= count;
	return text;
}

/* 1 an integer, 0 none, -1 one that does not fit. */
static int toml_integer(plim_bytes token, struct plimp_toml_node *node)
{
	uint64_t most = INT64_MAX;
	uint64_t value = 0;
	int too_large = 0, negative = 0, found = 0;

	if (token.size > 2 && token.data[0] == '0' && token.data[1] == 'x') {
		found = toml_digits(toml_after(token, 2), 16, most, &value,
				    &too_large);
	} else if (token.size > 2 && token.data[0] == '0' &&
		   token.data[1] == 'o') {
		found = toml_digits(toml_after(token, 2), 8, most, &value,
				    &too_large);
	} else if (token.size > 2 && token.data[0] == '0' &&
		   token.data[1] == 'b') {
		found = toml_digits(toml_after(token, 2), 2, most, &value,
				    &too_large);
	} else {
		if (token.data[0] == '+' || token.data[0] == '-') {
			negative = token.data[0] == '-';
			token = toml_after(token, 1);
		}
		if (token.size > 1 && token.data[0] == '0')
			return 0;
		found = toml_digits(token, 10, most + (uint64_t)negative,
				    &value, &too_large);
	}
	if (!found || too_large)
		return found ? -1 : 0;
	node->kind = PLIMP_TOML_INTEGER;
	/* -2^63 has no positive counterpart. */
	node->is.integer =
	    negative && value > 0 ? -(int64_t)(value - 1) - 1 : (int64_t)value;
	return 1;
}

/* How many bytes of the text are digits with single underscores between. */
static size_t toml_digit_run(plim_bytes text)
{
	size_t at = 0;

	while (at < text.size &&
	       (toml_is_digit(text.data[at]) ||
		(text.data[at] == '_' && at > 0 && text.data[at - 1] != '_' &&
		 at + 1 < text.size && toml_is_digit(text.data[at + 1]))))
		at++;
	return at;
}

/* 1 if the token, without a sign, has the form of a float. */
static int toml_is_float(plim_bytes token)
{
	size_t at = toml_digit_run(token);
	size_t run;

	if (at == 0 || (at > 1 && token.data[0] == '0') || at == token.size)
		return 0;
	token = toml_after(token, at);
	if (token.data[0] == '.') {
		run = toml_digit_run(toml_after(token, 1));
		if (run == 0)
			return 0;
		token = toml_after(token, 1 + run);
	}
	if (token.size == 0)
		return 1;
	if ((token.data[0] | 0x20) != 'e')
		return 0;
	token = toml_after(token, 1);
	if (token.size > 0 && (token.data[0] == '+' || token.data[0] == '-'))
		token = toml_after(token, 1);
	return token.size > 0 && toml_digit_run(token) == token.size;
}

static int toml_equals(plim_bytes text, const char *word)
{
	return text.size == strlen(word) &&
	       memcmp(text.data, word, text.size) == 0;
}

/* The value of what toml_is_float() has seen. */
static int toml_read_float(struct plimp_toml_cursor *cursor, plim_bytes token,
			   double *value)
{
	char *copy = plimp_pool_copy(&cursor->document->pool, token);
	plim_bytes digits = {copy, 0};
	size_t used;

	if (copy == NULL)
		return plimp_toml_fail_memory(cursor);
	for (size_t i = 0; i < token.size; i++)
		if (token.data[i] != '_')
			copy[digits.size++] = token.data[i];
	used = plimp_decimal_read(digits, value);
	assert(used == digits.size);
	(void)used;
	return PLIM_OK;
}

/* 1 a float, 0 none; a failure is negative. */
static int toml_float(struct plimp_toml_cursor *cursor, plim_bytes token,
		      struct plimp_toml_node *node)
{
	int negative = token.data[0] == '-';
	double value = 0;
	int code;

	if (negative || token.data[0] == '+')
		token = toml_after(token, 1);
	if (toml_equals(token, "inf")) {
		value = (double)INFINITY;
	} else if (toml_equals(token, "nan")) {
		value = (double)NAN;
	} else {
		if (!toml_is_float(token))
			return 0;
		code = toml_read_float(cursor, token, &value);
		if (code != PLIM_OK)
			return code;
	}
	node->kind = PLIMP_TOML_FLOAT;
	node->is.real = negative ? -value : value;
	return 1;
}

/* `count` digits at `at`, or -1. */
static int toml_number_at(plim_bytes text, size_t at, size_t count)
{
	int value = 0;

	if (at > text.size || text.size - at < count)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!toml_is_digit(text.data[at + i]))
			return -1;
		value = value * 10 + (text.data[at + i] - '0');
	}
	return value;
}

static int toml_byte_is(plim_bytes text, size_t at, char byte)
{
	return at < text.size && text.data[at] == byte;
}

static int toml_month_days(int year, int month)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30,
				       31, 31, 30, 31, 30, 31};
	int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

/* YYYY-MM-DD; returns its length, or 0. */
static size_t toml_date(plim_bytes text, struct plimp_toml_time *time)
{
	int year = toml_number_at(text, 0, 4);
	int month = toml_number_at(text, 5, 2);
	int day = toml_number_at(text, 8, 2);

	if (year < 0 || month < 1 || month > 12 || day < 1 ||
	    !toml_byte_is(text, 4, '-') || !toml_byte_is(text, 7, '-') ||
	    day > toml_month_days(year, month))
		return 0;
	time->year = (int16_t)year;
	time->month = (uint8_t)month;
	time->day = (uint8_t)day;
	return 10;
}

/* HH:MM:SS with a fraction; returns its length, or 0. */
static size_t toml_time(plim_bytes text, struct plimp_toml_time *time)
{
	int hour = toml_number_at(text, 0, 2);
	int minute = toml_number_at(text, 3, 2);
	int second = toml_number_at(text, 6, 2);
	uint32_t unit = 100000000;
	size_t at = 8;

	if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
	    second > 60 || !toml_byte_is(text, 2, ':') ||
	    !toml_byte_is(text, 5, ':'))
		return 0;
	time->hour = (uint8_t)hour;
	time->minute = (uint8_t)minute;
	time->second = (uint8_t)second;
	if (!toml_byte_is(text, at, '.'))
		return at;
	at++;
	if (toml_number_at(text, at, 1) < 0)
		return 0;
	for (; toml_number_at(text, at, 1) >= 0; at++, unit /= 10)
		time->ns += (uint32_t)toml_number_at(text, at, 1) * unit;
	return at;
}

/* Z or +HH:MM to the end of the text; 0 if it is none. */
static int toml_offset(plim_bytes text, struct plimp_toml_time *time)
{
	int hour = toml_number_at(text, 1, 2);
	int minute = toml_number_at(text, 4, 2);

	if (text.size == 1)
		return (text.data[0] | 0x20) == 'z';
	if (text.size != 6 || (text.data[0] != '+' && text.data[0] != '-') ||
	    hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
	    text.data[3] != ':')
		return 0;
	time->offset = (int16_t)(hour * 60 + minute);
	if (text.data[0] == '-')
		time->offset = (int16_t)-time->offset;
	return 1;
}

/* 1 a date, a time, or both; 0 none. */
static int toml_date_time(plim_bytes token, struct plimp_toml_node *node)
{
	struct plimp_toml_time time = {0};
	size_t size = toml_time(token, &time);

	if (size > 0) {
		node->kind = PLIMP_TOML_LOCAL_TIME;
		node->is.time = time;
		return size == token.size;
	}
	size = toml_date(token, &time);
	if (size == 0)
		return 0;
	node->kind = PLIMP_TOML_LOCAL_DATE;
	token = toml_after(token, size);
	if (token.size > 0) {
		/* T, t or a blank: the token ends where it is none. */
		if ((token.data[0] | 0x20) != 't' && token.data[0] != ' ')
			return 0;
		token = toml_after(token, 1);
		size = toml_time(token, &time);
		if (size == 0)
			return 0;
		node->kind = PLIMP_TOML_LOCAL_DATE_TIME;
		token = toml_after(token, size);
	}
	if (token.size > 0) {
		if (node->kind != PLIMP_TOML_LOCAL_DATE_TIME ||
		    !toml_offset(token, &time))
			return 0;
		node->kind = PLIMP_TOML_OFFSET_DATE_TIME;
	}
	node->is.time = time;
	return 1;
}

static int toml_is_token(int byte)
{
	return toml_is_digit(byte) ||
	       ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') || byte == '_' ||
	       byte == '+' || byte == '-' || byte == '.' || byte == ':';
}

/* The longest token at the cursor; a date may have its time behind a blank. */
static plim_bytes toml_token(const struct plimp_toml_cursor *cursor)
{
	struct plimp_toml_cursor ahead = *cursor;
	plim_bytes token = {cursor->text + cursor->at, 0};

	while (toml_is_token(plimp_toml_peek(&ahead, 0)))
		ahead.at++;
	if (ahead.at - cursor->at == 10 &&
	    cursor->text[cursor->at + 4] == '-' &&
	    plimp_toml_peek(&ahead, 0) == ' ' &&
	    toml_is_digit(plimp_toml_peek(&ahead, 1)) &&
	    toml_is_digit(plimp_toml_peek(&ahead, 2)) &&
	    plimp_toml_peek(&ahead, 3) == ':') {
		ahead.at++;
		while (toml_is_token(plimp_toml_peek(&ahead, 0)))
			ahead.at++;
	}
	token.size = ahead.at - cursor->at;
	return token;
}

int plimp_toml_scalar(struct plimp_toml_cursor *cursor,
		      struct plimp_toml_node *node)
{
	plim_bytes token = toml_token(cursor);
	int found;

	if (token.size == 0)
		return plimp_toml_fail(cursor, PLIM_ESYNTAX, cursor->at,
				       "expected a value");
	if (toml_equals(token, "true") || toml_equals(token, "false")) {
		node->kind = PLIMP_TOML_BOOLEAN;
		node->is.boolean = token.size == 4;
		cursor->at += token.size;
		return PLIM_OK;
	}
	found = toml_integer(token, node);
	if (found < 0)
		return plimp_toml_fail(cursor, PLIM_ESYNTAX, cursor->at,
				       "the integer does not fit into 64 bits");
	if (found == 0)
		found = toml_date_time(token, node);
	if (found == 0)
		found = toml_float(cursor, token, node);
	if (found < 0)
		return found;
	if (found == 0)
		return plimp_toml_fail(
		    cursor, PLIM_ESYNTAX, cursor->at,
		    "%.*s is no value; a text stands in \"quotes\"",
		    (int)(token.size < 64 ? token.size : 64), token.data);
	cursor->at += token.size;
	return PLIM_OK;
}
