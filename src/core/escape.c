/*
 * escape.c - hostile bytes into text that is safe to show.
 *
 * The text is walked character by character. Each becomes one unit: itself,
 * or an escape. A unit is written whole or not at all, and nothing is written
 * after the first that does not fit; the length goes on being counted. The
 * forms differ in how they spell a unit and in little else.
 *
 * What disguises a line is escaped in every form: characters that show
 * nothing or change the direction. That includes the zero-width joiners:
 * some emoji and scripts need them, but in the name of a process they are
 * more often there to make two names look alike. Variation selectors stay;
 * they pick a shape and hide nothing.
 */
#include "core/text.h"

#include <assert.h>
#include <string.h>

/* The longest unit: four bytes as \xNN. */
#define ESCAPE_UNIT 16

struct escape_range {
	uint32_t first;
	uint32_t last;
};

/* Controls, directional marks, and what Unicode calls default ignorable
 * (DerivedCoreProperties) short of the variation selectors; ascending. */
static const struct escape_range escape_unsafe[] = {
    {0x0000, 0x001f},	/* C0 */
    {0x007f, 0x009f},	/* DEL, C1: U+009B starts a terminal sequence */
    {0x00ad, 0x00ad},	/* soft hyphen */
    {0x034f, 0x034f},	/* combining grapheme joiner */
    {0x061c, 0x061c},	/* Arabic letter mark */
    {0x115f, 0x1160},	/* Hangul fillers */
    {0x17b4, 0x17b5},	/* invisible Khmer vowels */
    {0x180e, 0x180e},	/* Mongolian vowel separator */
    {0x200b, 0x200f},	/* zero-width characters, LRM, RLM */
    {0x2028, 0x202e},	/* line and paragraph separator, embeddings */
    {0x2060, 0x206f},	/* word joiner, isolates, invisible operators */
    {0x3164, 0x3164},	/* Hangul filler */
    {0xfeff, 0xfeff},	/* byte order mark */
    {0xffa0, 0xffa0},	/* half-width Hangul filler */
    {0xfff0, 0xfffb},	/* interlinear annotation */
    {0x1bca0, 0x1bca3}, /* shorthand format controls */
    {0x1d173, 0x1d17a}, /* musical format controls */
    {0xe0000, 0xe00ff}, /* tags: a whole hidden ASCII */
};

static int escape_is_unsafe(uint32_t point)
{
	size_t count = sizeof(escape_unsafe) / sizeof(escape_unsafe[0]);

	for (size_t i = 0; i < count; i++)
		if (point <= escape_unsafe[i].last)
			return point >= escape_unsafe[i].first;
	return 0;
}

struct escape_sink {
	char *buffer;
	size_t size;
	size_t used;
	size_t length;
};

static void escape_put(struct escape_sink *sink, const char *unit, size_t size)
{
	int cut = sink->used < sink->length;

	assert(size > 0 && size <= ESCAPE_UNIT);
	sink->length += size;
	if (cut || sink->size - sink->used <= size)
		return;
	memcpy(sink->buffer + sink->used, unit, size);
	sink->used += size;
}

static const char escape_digits[] = "0123456789abcdef";

/* `prefix` is what the form writes before two digits: \x, or \\x in JSON. */
static void escape_put_hex(struct escape_sink *sink, const char *prefix,
			   plim_bytes bytes)
{
	char unit[ESCAPE_UNIT];
	size_t length = 0;

	for (size_t i = 0; i < bytes.size; i++) {
		unsigned char byte = (unsigned char)bytes.data[i];

		assert(length + strlen(prefix) + 2 <= sizeof(unit));
		memcpy(unit + length, prefix, strlen(prefix));
		length += strlen(prefix);
		unit[length++] = escape_digits[byte >> 4];
		unit[length++] = escape_digits[byte & 15];
	}
	escape_put(sink, unit, length);
}

static size_t escape_write_u(char *unit, uint32_t half)
{
	unit[0] = '\\';
	unit[1] = 'u';
	for (int i = 0; i < 4; i++)
		unit[2 + i] = escape_digits[half >> (12 - 4 * i) & 15];
	return 6;
}

/* \uNNNN, above U+FFFF as two halves (RFC 8259, section 7). */
static void escape_put_u(struct escape_sink *sink, uint32_t point)
{
	char unit[ESCAPE_UNIT];
	size_t length = 0;

	if (point > 0xffff) {
		length = escape_write_u(unit, 0xd7c0 + (point >> 10));
		point = 0xdc00 + (point & 0x3ff);
	}
	length += escape_write_u(unit + length, point);
	escape_put(sink, unit, length);
}

static void escape_put_json(struct escape_sink *sink, plim_bytes character,
			    uint32_t point)
{
	static const char named[] = "\"\\\b\f\n\r\t";
	static const char letters[] = "\"\\bfnrt";
	const char *found = NULL;

	if (point > 0 && point < 0x80)
		found = strchr(named, (int)point);
	if (found != NULL) {
		char unit[2] = {'\\', letters[found - named]};

		escape_put(sink, unit, sizeof(unit));
	} else if (escape_is_unsafe(point)) {
		escape_put_u(sink, point);
	} else {
		escape_put(sink, character.data, character.size);
	}
}

static void escape_put_plain(struct escape_sink *sink, int form,
			     plim_bytes character, uint32_t point)
{
	if (form == PLIM_ESCAPE_CSV && point == '"')
		escape_put(sink, "\"\"", 2);
	else if (point == '\\' || escape_is_unsafe(point) ||
		 (form == PLIM_ESCAPE_ASCII && point > 0x7e))
		escape_put_hex(sink, "\\x", character);
	else
		escape_put(sink, character.data, character.size);
}

static void escape_put_all(struct escape_sink *sink, int form, plim_bytes text)
{
	while (text.size > 0) {
		uint32_t point = 0;
		size_t length = plimp_utf8_decode(text, &point);
		plim_bytes unit = {text.data, length > 0 ? length : 1};

		if (length == 0)
			escape_put_hex(
			    sink, form == PLIM_ESCAPE_JSON ? "\\\\x" : "\\x",
			    unit);
		else if (form == PLIM_ESCAPE_JSON)
			escape_put_json(sink, unit, point);
		else
			escape_put_plain(sink, form, unit, point);
		text.data += unit.size;
		text.size -= unit.size;
	}
}

/* Separators and quotes ask for quotes (RFC 4180); so do blanks at the ends,
 * which some readers strip. Line ends never come this far: they are escaped. */
static int escape_csv_needs_quotes(plim_bytes text)
{
	return text.size > 0 &&
	       (memchr(text.data, ',', text.size) != NULL ||
		memchr(text.data, '"', text.size) != NULL ||
		text.data[0] == ' ' || text.data[text.size - 1] == ' ');
}

static void escape_put_csv(struct escape_sink *sink, plim_bytes text)
{
	int quoted = escape_csv_needs_quotes(text);

	if (quoted)
		escape_put(sink, "\"", 1);
	if (text.size > 0 && text.data[0] != '\0' &&
	    strchr("=+-@", text.data[0]) != NULL) {
		escape_put_hex(sink, "\\x", (plim_bytes){text.data, 1});
		text.data++;
		text.size--;
	}
	escape_put_all(sink, PLIM_ESCAPE_CSV, text);
	if (quoted)
		escape_put(sink, "\"", 1);
}

size_t plim_escape(int form, plim_bytes text, char *buffer, size_t size)
{
	struct escape_sink sink = {buffer, size, 0, 0};

	if (form == PLIM_ESCAPE_CSV)
		escape_put_csv(&sink, text);
	else
		escape_put_all(&sink, form, text);
	assert(sink.used <= sink.length);
	assert(size == 0 ? sink.used == 0 : sink.used < size);
	if (size > 0)
		buffer[sink.used] = '\0';
	return sink.length;
}
