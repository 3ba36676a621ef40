/*
 * json_read.c - the grammar of JSON, one value a call.
 *
 * State is a bit for each open object or array and where we are in the text:
 * a comma is due before every value but the first, a key before every value
 * of an object. Each call moves on by at least a byte or ends, so that the
 * work is linear in the text whoever wrote it.
 */
#include "core/json_read.h"

#include "core/decimal.h"

#include <assert.h>
#include <string.h>

void plimp_jread_init(struct plimp_jread *reader, plim_bytes text)
{
	memset(reader, 0, sizeof(*reader));
	reader->text = text;
}

static int jread_wrong(struct plimp_jread *reader,
		       struct plimp_jread_value *value, const char *wrong)
{
	if (reader->wrong == NULL)
		reader->wrong = wrong;
	value->kind = PLIMP_JREAD_BAD;
	return PLIMP_JREAD_BAD;
}

/* The byte that is next, blanks passed over; 0 at the end, which is no byte
 * of any JSON either. */
static char jread_peek(struct plimp_jread *reader)
{
	while (reader->at < reader->text.size) {
		const char byte = reader->text.data[reader->at];

		if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r')
			return byte;
		reader->at++;
	}
	return '\0';
}

static int jread_is_hex(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
	       (byte >= 'A' && byte <= 'F');
}

/* The size of an escape behind its backslash; 0: it is none. */
static size_t jread_escape(plim_bytes rest)
{
	if (rest.size == 0 || rest.data[0] == '\0' ||
	    strchr("\"\\/bfnrtu", rest.data[0]) == NULL)
		return 0;
	if (rest.data[0] != 'u')
		return 1;
	for (size_t i = 1; i <= 4; i++)
		if (i >= rest.size || !jread_is_hex(rest.data[i]))
			return 0;
	return 5;
}

/* A string, from its first quote on; 0 if it is broken. */
static int jread_string(struct plimp_jread *reader, plim_bytes *raw)
{
	const plim_bytes text = reader->text;
	size_t at = reader->at + 1;
	const size_t start = at;

	assert(text.data[reader->at] == '"');
	while (at < text.size && text.data[at] != '"') {
		size_t escape;

		if ((unsigned char)text.data[at] < 0x20)
			return 0;
		if (text.data[at++] != '\\')
			continue;
		escape =
		    jread_escape((plim_bytes){text.data + at, text.size - at});
		if (escape == 0)
			return 0;
		at += escape;
	}
	if (at >= text.size)
		return 0;
	*raw = (plim_bytes){text.data + start, at - start};
	reader->at = at + 1;
	return 1;
}

/* RFC 8259 wants no zero in front and a digit behind a point, which
 * plimp_decimal_size() has as well. */
static int jread_number(struct plimp_jread *reader, plim_bytes *raw)
{
	const size_t start = reader->at;
	size_t at = start + (reader->text.data[start] == '-');
	const plim_bytes rest = {reader->text.data + at,
				 reader->text.size - at};
	const size_t size = plimp_decimal_size(rest);

	if (size == 0 || (size > 1 && rest.data[0] == '0' &&
			  rest.data[1] >= '0' && rest.data[1] <= '9'))
		return 0;
	*raw = (plim_bytes){reader->text.data + start, at + size - start};
	reader->at = at + size;
	return 1;
}

static int jread_word(struct plimp_jread *reader, const char *word)
{
	const size_t size = strlen(word);

	if (reader->text.size - reader->at < size ||
	    memcmp(reader->text.data + reader->at, word, size) != 0)
		return 0;
	reader->at += size;
	return 1;
}

static int jread_open(struct plimp_jread *reader,
		      struct plimp_jread_value *value, int is_object)
{
	if (reader->depth == PLIMP_JREAD_DEPTH) {
		reader->is_deep = reader->wrong == NULL;
		return jread_wrong(reader, value, "nested too deeply");
	}
	reader->at++;
	reader->is_object[reader->depth] = (uint8_t)is_object;
	reader->has_items[reader->depth] = 0;
	reader->depth++;
	value->kind = is_object ? PLIMP_JREAD_OBJECT : PLIMP_JREAD_ARRAY;
	return value->kind;
}

static int jread_value(struct plimp_jread *reader,
		       struct plimp_jread_value *value)
{
	int good = 1;

	switch (jread_peek(reader)) {
	case '{':
		return jread_open(reader, value, 1);
	case '[':
		return jread_open(reader, value, 0);
	case '"':
		value->kind = PLIMP_JREAD_STRING;
		good = jread_string(reader, &value->raw);
		break;
	case 't':
		value->kind = PLIMP_JREAD_TRUE;
		good = jread_word(reader, "true");
		break;
	case 'f':
		value->kind = PLIMP_JREAD_FALSE;
		good = jread_word(reader, "false");
		break;
	case 'n':
		value->kind = PLIMP_JREAD_NULL;
		good = jread_word(reader, "null");
		break;
	case '\0':
		return jread_wrong(reader, value, "it ends in the middle");
	default:
		value->kind = PLIMP_JREAD_NUMBER;
		good = jread_number(reader, &value->raw);
	}
	return good ? value->kind
		    : jread_wrong(reader, value, "this is no value of JSON");
}

/* A key and its colon. */
static int jread_key(struct plimp_jread *reader,
		     struct plimp_jread_value *value)
{
	if (jread_peek(reader) != '"' || !jread_string(reader, &value->key) ||
	    jread_peek(reader) != ':')
		return 0;
	reader->at++;
	return 1;
}

int plimp_jread_next(struct plimp_jread *reader,
		     struct plimp_jread_value *value)
{
	const int level = reader->depth - 1;
	char byte;

	*value = (struct plimp_jread_value){PLIMP_JREAD_BAD, {"", 0}, {"", 0}};
	if (reader->wrong != NULL)
		return PLIMP_JREAD_BAD;
	byte = jread_peek(reader);
	if (level < 0) {
		if (!reader->has_value) {
			reader->has_value = 1;
			return jread_value(reader, value);
		}
		if (reader->at < reader->text.size)
			return jread_wrong(reader, value,
					   "something stands behind its end");
		return value->kind = PLIMP_JREAD_END;
	}
	if (byte == (reader->is_object[level] ? '}' : ']')) {
		reader->at++;
		reader->depth--;
		return value->kind = PLIMP_JREAD_END;
	}
	if (reader->at == reader->text.size)
		return jread_wrong(reader, value, "it ends in the middle");
	if (reader->has_items[level]) {
		if (byte != ',')
			return jread_wrong(reader, value,
					   "a comma or an end is missing");
		reader->at++;
	}
	reader->has_items[level] = 1;
	if (reader->is_object[level] && !jread_key(reader, value))
		return jread_wrong(reader, value, "a key is missing");
	return jread_value(reader, value);
}

void plimp_jread_skip(struct plimp_jread *reader,
		      const struct plimp_jread_value *value)
{
	struct plimp_jread_value inner;
	const int depth = reader->depth;

	if (value->kind != PLIMP_JREAD_OBJECT &&
	    value->kind != PLIMP_JREAD_ARRAY)
		return;
	do {
		if (plimp_jread_next(reader, &inner) == PLIMP_JREAD_BAD)
			return;
	} while (reader->depth >= depth);
}

int plimp_jread_is(const struct plimp_jread_value *value, const char *key)
{
	return value->key.size == strlen(key) &&
	       memcmp(value->key.data, key, value->key.size) == 0;
}

/* --- what was read ------------------------------------------------------- */

static uint32_t jread_hex(const char *digits)
{
	uint32_t number = 0;

	for (int i = 0; i < 4; i++) {
		const char byte = digits[i];
		int digit = byte - '0';

		if (byte > '9')
			digit = (byte | 0x20) - 'a' + 10;
		assert(digit >= 0 && digit < 16);
		number = number << 4 | (uint32_t)digit;
	}
	return number;
}

static size_t jread_utf8(uint32_t point, char *to)
{
	size_t count = point < 0x80 ? 1 : point < 0x800 ? 2 : 3;

	if (point >= 0x10000)
		count = 4;
	if (count == 1) {
		to[0] = (char)point;
		return 1;
	}
	for (size_t i = count; i-- > 1; point >>= 6)
		to[i] = (char)(0x80 | (point & 0x3f));
	to[0] = (char)((0xf00u >> count & 0xf0u) | point);
	return count;
}

/* \uXXXX at `at`, and its other half where it has one; steps on. */
static uint32_t jread_point(plim_bytes raw, size_t *at)
{
	const uint32_t high = jread_hex(raw.data + *at + 2);

	*at += 6;
	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high < 0xdc00 && raw.size - *at >= 6 && raw.data[*at] == '\\' &&
	    raw.data[*at + 1] == 'u') {
		const uint32_t low = jread_hex(raw.data + *at + 2);

		if (low >= 0xdc00 && low <= 0xdfff) {
			*at += 6;
			return 0x10000 + ((high - 0xd800) << 10) +
			       (low - 0xdc00);
		}
	}
	return 0xfffd;
}

size_t plimp_jread_text(plim_bytes raw, char *text)
{
	static const char named[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	size_t used = 0;

	for (size_t at = 0; at < raw.size;) {
		size_t i = 0;

		if (raw.data[at] != '\\') {
			text[used++] = raw.data[at++];
			continue;
		}
		if (raw.data[at + 1] == 'u') {
			used += jread_utf8(jread_point(raw, &at), text + used);
			continue;
		}
		while (named[i] != raw.data[at + 1])
			i += 2;
		text[used++] = named[i + 1];
		at += 2;
	}
	assert(used <= raw.size);
	return used;
}

int plimp_jread_whole(const struct plimp_jread_value *value, uint64_t *number)
{
	uint64_t whole = 0;
	double real = 0;
	size_t i;

	if (value->kind != PLIMP_JREAD_NUMBER || value->raw.data[0] == '-')
		return 0;
	for (i = 0; i < value->raw.size; i++) {
		const unsigned digit = (unsigned char)value->raw.data[i] - '0';

		if (digit > 9)
			break;
		if (whole > (UINT64_MAX - digit) / 10)
			return 0;
		whole = whole * 10 + digit;
	}
	if (i < value->raw.size) {
		plimp_decimal_read(value->raw, &real);
		if (!(real < 18446744073709549568.0))
			return 0;
		whole = (uint64_t)real;
		if ((double)whole < real || (double)whole > real)
			return 0;
	}
	*number = whole;
	return 1;
}
