/*
 * result.c - reading RESULT lines. Writing them is in export/result.c.
 *
 * A line is taken apart in place, left to right, without memory: what is found
 * is a part of the line. It is strict, because a gate stands on what is read:
 * one space where the grammar has one, no control character anywhere, quotes
 * that are closed, escapes that are known. A record is checked whole when it
 * is parsed, so that walking its pairs cannot fail later.
 */
#include "core/result.h"
#include "core/hex.h"
#include "core/fail.h"
#include "core/text.h"

#include <assert.h>
#include <string.h>

static int result_fail(plim_error *error, size_t position, const char *expected)
{
	return plimp_fail_at(error, PLIM_ESYNTAX, "result line", NULL, position,
			     "expected %s", expected);
}

static plim_bytes result_from(plim_bytes text, size_t start)
{
	assert(start <= text.size);
	return (plim_bytes){text.data + start, text.size - start};
}

static int result_equals(plim_bytes text, const char *word)
{
	return text.size == strlen(word) &&
	       (text.size == 0 || memcmp(text.data, word, text.size) == 0);
}

static int result_is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static int result_is_key_byte(char byte)
{
	return result_is_letter(byte) || (byte >= '0' && byte <= '9') ||
	       byte == '_' || byte == '.' || byte == '-';
}

size_t plimp_result_key_size(plim_bytes text)
{
	size_t size = 0;

	if (text.size == 0 || !result_is_letter(text.data[0]))
		return 0;
	while (size < text.size && result_is_key_byte(text.data[size]))
		size++;
	return size;
}

/* A bare value ends at a space; a quote in it would make it two things. */
static int result_is_word_byte(char byte)
{
	return byte > ' ' && byte <= '~' && byte != '"' && byte != '\\';
}

static size_t result_word_size(plim_bytes text)
{
	size_t size = 0;

	while (size < text.size && result_is_word_byte(text.data[size]))
		size++;
	return size;
}

int plimp_result_is_word(plim_bytes text)
{
	return text.size > 0 && result_word_size(text) == text.size &&
	       !result_equals(text, PLIMP_RESULT_MISSING);
}

/* The length of the escape that the text begins with and the byte it stands
 * for; 0 if it begins with none. */
static size_t result_escape(plim_bytes text, char *byte)
{
	if (text.size < 2 || text.data[0] != '\\')
		return 0;
	if (text.data[1] == '\\' || text.data[1] == '"') {
		*byte = text.data[1];
		return 2;
	}
	if (text.size < 4 || text.data[1] != 'x' ||
	    plimp_hex_digit(text.data[2]) < 0 ||
	    plimp_hex_digit(text.data[3]) < 0)
		return 0;
	*byte = (char)(plimp_hex_digit(text.data[2]) << 4 |
		       plimp_hex_digit(text.data[3]));
	return 4;
}

size_t plim_result_unescape(plim_bytes text, char *buffer, size_t size)
{
	size_t length = 0;

	while (text.size > 0) {
		char byte = text.data[0];
		size_t step = result_escape(text, &byte);

		if (length < size)
			buffer[length] = byte;
		length++;
		text = result_from(text, step > 0 ? step : 1);
	}
	return length;
}

/*
 * How far the text goes that `text` begins with: characters that are printable
 * in UTF-8, and escapes. It stops before a quote, a control character, a byte
 * that is no UTF-8 and a backslash that begins no escape.
 */
static size_t result_text_size(plim_bytes text, int stop_at_quote)
{
	size_t size = 0;

	while (size < text.size) {
		plim_bytes rest = result_from(text, size);
		uint32_t point = 0;
		char byte;
		size_t step = result_escape(rest, &byte);

		if (step == 0) {
			step = plimp_utf8_decode(rest, &point);
			if (step == 0 || point == '\\' || point < ' ' ||
			    (point >= 0x7f && point <= 0x9f))
				break;
			if (point == '"' && stop_at_quote)
				break;
		}
		size += step;
	}
	return size;
}

/*
 * A quoted text that starts at `*at` with its quote; `*inside` is what stands
 * between the quotes, `*at` is moved behind them.
 */
static int result_quoted(plim_bytes line, size_t *at, plim_bytes *inside,
			 plim_error *error)
{
	plim_bytes rest = result_from(line, *at + 1);
	size_t size = result_text_size(rest, 1);

	if (size == rest.size)
		return result_fail(error, line.size, "a closing quote");
	if (rest.data[size] != '"')
		return result_fail(error, *at + 1 + size,
				   "printable text or an escape");
	*inside = (plim_bytes){rest.data, size};
	*at += size + 2;
	return PLIM_OK;
}

/* One pair at `*at`, which is moved behind it. */
static int result_pair_at(plim_bytes line, size_t *at, plim_result_pair *pair,
			  plim_error *error)
{
	plim_bytes rest = result_from(line, *at);
	size_t size = plimp_result_key_size(rest);

	memset(pair, 0, sizeof(*pair));
	if (size == 0)
		return result_fail(error, *at, "a key");
	if (size == rest.size || rest.data[size] != '=')
		return result_fail(error, *at + size, "=");
	pair->key = (plim_bytes){rest.data, size};
	*at += size + 1;
	rest = result_from(line, *at);
	if (rest.size > 0 && rest.data[0] == '"') {
		pair->quoted = 1;
		return result_quoted(line, at, &pair->value, error);
	}
	size = result_word_size(rest);
	if (size == 0)
		return result_fail(error, *at, "a value");
	pair->value = (plim_bytes){rest.data, size};
	pair->unavailable = result_equals(pair->value, PLIMP_RESULT_MISSING);
	*at += size;
	return PLIM_OK;
}

/* Pairs up to the end of the line, a space before each. */
static int result_check_pairs(plim_bytes line, size_t at, plim_error *error)
{
	plim_result_pair pair;
	int code;

	while (at < line.size) {
		if (line.data[at] != ' ')
			return result_fail(error, at, "a space");
		at++;
		code = result_pair_at(line, &at, &pair, error);
		if (code != PLIM_OK)
			return code;
	}
	return PLIM_OK;
}

int plim_result_next(const plim_result *record, size_t *offset,
		     plim_result_pair *pair)
{
	plim_result_pair found;
	size_t at = *offset;

	assert(record->kind == PLIM_RESULT_RECORD);
	if (record->kind != PLIM_RESULT_RECORD || at >= record->value.size)
		return 0;
	/* The first begins the value, each other has its space before it. */
	at += at > 0;
	if (result_pair_at(record->value, &at, &found, NULL) != PLIM_OK)
		return 0;
	assert(at > *offset);
	*pair = found;
	*offset = at;
	return 1;
}

int plim_result_find(const plim_result *record, const char *key,
		     plim_result_pair *pair, plim_error *error)
{
	plim_result_pair found;
	plim_result_pair first;
	size_t offset = 0;
	int count = 0;

	while (plim_result_next(record, &offset, &found)) {
		if (!result_equals(found.key, key))
			continue;
		if (count++ > 0)
			return plimp_fail_at(
			    error, PLIM_ESYNTAX, "result line", key,
			    record->start +
				(size_t)(found.key.data - record->value.data),
			    "the key stands there twice");
		first = found;
	}
	if (count > 0)
		*pair = first;
	return count;
}

/* What stands behind a number or behind `unavailable`: nothing, or a space and
 * text to the end. */
static int result_unit(plim_bytes line, size_t at, plim_result *result,
		       plim_error *error)
{
	plim_bytes rest = result_from(line, at);
	size_t size;

	result->unit = rest;
	if (rest.size == 0)
		return PLIM_OK;
	assert(rest.data[0] == ' ');
	rest = result_from(rest, 1);
	if (rest.size == 0)
		return result_fail(error, at + 1, "a unit");
	size = result_text_size(rest, 0);
	if (size < rest.size)
		return result_fail(error, at + 1 + size,
				   "printable text or an escape");
	result->unit = rest;
	return PLIM_OK;
}

/* A text to the end of the line, quoted or not. */
static int result_read_text(plim_bytes line, size_t at, plim_result *result,
			    plim_error *error)
{
	size_t size;
	int code;

	result->kind = PLIM_RESULT_TEXT;
	result->value = result_from(line, at);
	assert(result->value.size > 0);
	if (result->value.data[0] == '"') {
		result->quoted = 1;
		result->start = at + 1;
		code = result_quoted(line, &at, &result->value, error);
		if (code == PLIM_OK && at < line.size)
			return result_fail(error, at, "the end of the line");
		return code;
	}
	size = result_text_size(result->value, 0);
	if (size < result->value.size)
		return result_fail(error, at + size,
				   "printable text or an escape");
	return PLIM_OK;
}

/* KEY=..., from behind the `=` on. */
static int result_read_value(plim_bytes line, size_t at, plim_result *result,
			     plim_error *error)
{
	plim_bytes rest = result_from(line, at);
	const char *space =
	    rest.size > 0 ? memchr(rest.data, ' ', rest.size) : NULL;
	plim_bytes word = {
	    rest.data, space != NULL ? (size_t)(space - rest.data) : rest.size};

	result->start = at;
	if (result_equals(word, PLIMP_RESULT_MISSING)) {
		result->kind = PLIM_RESULT_UNAVAILABLE;
		result->value = word;
		return result_unit(line, at + word.size, result, error);
	}
	if (word.size == 0)
		return result_fail(error, at, "a value");
	if (plimp_result_number_size(word) < word.size)
		return result_read_text(line, at, result, error);
	result->kind = PLIM_RESULT_VALUE;
	result->value = word;
	if (plim_result_number(word, &result->number, NULL) != PLIM_OK)
		return plimp_fail_at(error, PLIM_EINVAL, "result line", NULL,
				     at, "the number is too large");
	return result_unit(line, at + word.size, result, error);
}

/* Both line ends are taken for one. */
static plim_bytes result_without_end(plim_bytes line)
{
	if (line.size > 0 && line.data[line.size - 1] == '\n') {
		line.size--;
		if (line.size > 0 && line.data[line.size - 1] == '\r')
			line.size--;
	}
	return line;
}

static int result_read(plim_bytes line, plim_result *result, plim_error *error)
{
	size_t at = strlen(PLIMP_RESULT_MARK);
	size_t size = plimp_result_key_size(result_from(line, at));

	if (size == 0)
		return result_fail(error, at, "a key");
	result->key = (plim_bytes){line.data + at, size};
	result->unit = result_from(line, line.size);
	at += size;
	if (at < line.size && line.data[at] == '=')
		return result_read_value(line, at + 1, result, error);
	if (at < line.size && line.data[at] != ' ')
		return result_fail(error, at, "= or a space");
	result->kind = PLIM_RESULT_RECORD;
	result->start = at + (at < line.size);
	result->value = result_from(line, result->start);
	return result_check_pairs(line, at, error);
}

int plim_result_parse(plim_bytes line, plim_result *result, plim_error *error)
{
	size_t mark = strlen(PLIMP_RESULT_MARK);
	plim_result read;
	int code = PLIM_OK;

	memset(&read, 0, sizeof(read));
	line = result_without_end(line);
	if (line.size >= mark &&
	    memcmp(line.data, PLIMP_RESULT_MARK, mark) == 0)
		code = result_read(line, &read, error);
	if (code == PLIM_OK)
		*result = read;
	return code;
}
