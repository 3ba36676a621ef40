/*
 * fuzz_escape.c - any bytes in each of the four forms: the result is UTF-8
 * without a control character; whoever undoes the escapes has the bytes back;
 * cut to any size it is the beginning of the whole, and ends where a unit of
 * the form ends. The JSON form is the inside of a JSON string.
 */
#include "promise.h"

#include <stdlib.h>
#include <string.h>

static int is_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static unsigned digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/* No control character: C0, DEL, or C1 as UTF-8. */
static void check_printable(plim_bytes text)
{
	PROMISE(plim_is_utf8(text));
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];
		PROMISE(c >= 0x20 && c != 0x7f);
		if (c == 0xc2 && i + 1 < text.size)
			PROMISE((unsigned char)text.data[i + 1] >= 0xa0);
	}
}

/* Undoes \xNN in `out`; returns the size. */
static size_t undo_hex(plim_bytes text, char *out)
{
	size_t size = 0;

	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] != '\\') {
			out[size++] = text.data[i];
			continue;
		}
		PROMISE(i + 3 < text.size && text.data[i + 1] == 'x');
		PROMISE(is_digit(text.data[i + 2]) &&
			is_digit(text.data[i + 3]));
		out[size++] = (char)(digit(text.data[i + 2]) << 4 |
				     digit(text.data[i + 3]));
		i += 3;
	}
	return size;
}

/* Undoes the quotes of RFC 4180 in place; returns the size. */
static size_t undo_quotes(char *text, size_t size)
{
	size_t used = 0;

	if (!size || text[0] != '"') {
		PROMISE(!memchr(text, '"', size) && !memchr(text, ',', size));
		return size;
	}
	PROMISE(size >= 2 && text[size - 1] == '"');
	for (size_t i = 1; i + 1 < size; i++) {
		if (text[i] == '"') {
			PROMISE(i + 2 < size && text[i + 1] == '"');
			i++;
		}
		text[used++] = text[i];
	}
	return used;
}

static unsigned read_u(plim_bytes text, size_t at)
{
	unsigned value = 0;

	PROMISE(at + 6 <= text.size);
	PROMISE(text.data[at] == '\\' && text.data[at + 1] == 'u');
	for (size_t i = at + 2; i < at + 6; i++) {
		PROMISE(is_digit(text.data[i]));
		value = value << 4 | digit(text.data[i]);
	}
	return value;
}

static size_t put_utf8(unsigned long c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	size_t count = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
	for (size_t i = count; --i;) {
		out[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	out[0] = (char)(marks[count] | c);
	return count;
}

/* Reads the inside of a JSON string (RFC 8259) as a parser does. */
static size_t undo_json(plim_bytes text, char *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	size_t size = 0;

	for (size_t i = 0; i < text.size; i++) {
		PROMISE(text.data[i] != '"');
		if (text.data[i] != '\\') {
			out[size++] = text.data[i];
			continue;
		}
		PROMISE(i + 1 < text.size && text.data[i + 1]);
		const char *known = strchr(from, text.data[i + 1]);
		if (known) {
			out[size++] = to[known - from];
			i++;
			continue;
		}
		unsigned long point = read_u(text, i);
		i += 5;
		PROMISE(point < 0xdc00 || point > 0xdfff);
		if (point >= 0xd800 && point < 0xdc00) {
			unsigned low = read_u(text, i + 1);
			PROMISE(low >= 0xdc00 && low <= 0xdfff);
			point =
			    0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
			i += 6;
		}
		size += put_utf8(point, out + size);
	}
	return size;
}

static void check_form(int form, plim_bytes text, plim_bytes escaped)
{
	char *out = malloc(escaped.size + 1);

	if (!out)
		return;
	check_printable(escaped);
	if (form == PLIM_ESCAPE_ASCII) {
		for (size_t i = 0; i < escaped.size; i++)
			PROMISE(escaped.data[i] > 0 && escaped.data[i] < 0x7f);
	}
	if (form == PLIM_ESCAPE_JSON) {
		size_t size = undo_json(escaped, out);
		PROMISE(plim_is_utf8((plim_bytes){out, size}));
		/* A stray byte can't be told from text that looks like its
		 * escape; all else comes back. */
		if (plim_is_utf8(text))
			PROMISE(size == text.size &&
				!memcmp(out, text.data, size));
	} else {
		char *copy = malloc(escaped.size + 1);
		if (copy) {
			size_t size = escaped.size;
			memcpy(copy, escaped.data, size);
			if (form == PLIM_ESCAPE_CSV) {
				PROMISE(!size || !strchr("=+-@", copy[0]));
				size = undo_quotes(copy, size);
			}
			size = undo_hex((plim_bytes){copy, size}, out);
			PROMISE(size == text.size);
			PROMISE(!size || !memcmp(out, text.data, size));
		}
		free(copy);
	}
	free(out);
}

/* Writing into `size` bytes: the beginning of the whole, with its NUL. */
static size_t check_cut(int form, plim_bytes text, plim_bytes whole,
			size_t size)
{
	char *cut = malloc(size);

	if (!cut)
		return 0;
	memset(cut, 0x5a, size);
	PROMISE(plim_escape(form, text, cut, size) == whole.size);
	const char *nul = memchr(cut, '\0', size);
	PROMISE(nul != NULL);
	size_t length = (size_t)(nul - cut);
	PROMISE(!memcmp(cut, whole.data, length));
	PROMISE(plim_is_utf8((plim_bytes){cut, length}));
	if (size > whole.size)
		PROMISE(length == whole.size);
	free(cut);
	return length;
}

/* Texts up to this are cut to every size. */
#define SHORT_TEXT 16

/*
 * Every size, and for each a cut at the end of a unit: at the length that some
 * beginning of the text has when it is escaped. Not for CSV, whose quotes are
 * of the whole text.
 */
static void check_cuts(int form, plim_bytes text, plim_bytes whole)
{
	size_t ends[SHORT_TEXT + 1];

	for (size_t size = 0; size <= text.size; size++)
		ends[size] =
		    plim_escape(form, (plim_bytes){text.data, size}, NULL, 0);
	for (size_t size = 1; size <= whole.size + 1; size++) {
		size_t length = check_cut(form, text, whole, size);
		int at_end = form == PLIM_ESCAPE_CSV;
		for (size_t i = 0; !at_end && i <= text.size; i++)
			at_end = ends[i] == length;
		PROMISE(at_end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};

	for (int form = 0; form < 4; form++) {
		size_t length = plim_escape(form, text, NULL, 0);
		char *escaped = malloc(length + 1);
		if (!escaped)
			return 0;
		PROMISE(plim_escape(form, text, escaped, length + 1) == length);
		PROMISE(strlen(escaped) == length);
		plim_bytes whole = {escaped, length};
		check_form(form, text, whole);
		if (size <= SHORT_TEXT)
			check_cuts(form, text, whole);
		else
			check_cut(form, text, whole, size % length + 1);
		free(escaped);
	}
	return 0;
}
