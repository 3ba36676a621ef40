/*
 * text.c - reading UTF-8 that may be none, the last part of a path, the name
 * that a slip of the fingers was meant to be, and decimal digits. Nothing
 * here asks the locale.
 */
#include "core/text.h"

#include <assert.h>
#include <string.h>

/*
 * The well-formed sequences by their first byte (Unicode 15, table 3-7). The
 * bounds of the second byte exclude overlong forms, surrogates and what is
 * above U+10FFFF; all later bytes are 80..BF.
 */
struct text_lead {
	unsigned char first;
	unsigned char last;
	unsigned char length;
	unsigned char second_low;
	unsigned char second_high;
};

static const struct text_lead text_leads[] = {
    {0x00, 0x7f, 1, 0, 0},	 {0xc2, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf}, {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},
};

static const struct text_lead *text_lead_of(unsigned char byte)
{
	for (size_t i = 0; i < sizeof(text_leads) / sizeof(text_leads[0]); i++)
		if (byte >= text_leads[i].first && byte <= text_leads[i].last)
			return &text_leads[i];
	return NULL;
}

size_t plimp_utf8_decode(plim_bytes text, uint32_t *point)
{
	/* The bits that the first byte has, by the length it announces. */
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *bytes = (const unsigned char *)text.data;
	const struct text_lead *lead;
	uint32_t value;

	if (text.size == 0)
		return 0;
	lead = text_lead_of(bytes[0]);
	if (lead == NULL || lead->length > text.size)
		return 0;
	if (lead->length > 1 &&
	    (bytes[1] < lead->second_low || bytes[1] > lead->second_high))
		return 0;
	value = bytes[0] & masks[lead->length];
	for (size_t i = 1; i < lead->length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3f);
	}
	assert(value <= 0x10ffff);
	*point = value;
	return lead->length;
}

int plim_is_utf8(plim_bytes text)
{
	while (text.size > 0) {
		uint32_t point;
		size_t length = plimp_utf8_decode(text, &point);

		if (length == 0)
			return 0;
		text.data += length;
		text.size -= length;
	}
	return 1;
}

/* Where a path begins at a root of POSIX, a backslash is a letter of a name. */
static int text_is_separator(char byte, int is_rooted)
{
	return byte == '/' || (byte == '\\' && !is_rooted);
}

plim_bytes plim_base_name(plim_bytes path)
{
	const int is_rooted = path.size > 0 && path.data[0] == '/';
	size_t start;

	while (path.size > 0 &&
	       text_is_separator(path.data[path.size - 1], is_rooted))
		path.size--;
	start = path.size;
	while (start > 0 && !text_is_separator(path.data[start - 1], is_rooted))
		start--;
	if (start == 0)
		return path;
	return (plim_bytes){path.data + start, path.size - start};
}

/* Longer words are not looked at: none of the names is as long. */
#define TEXT_WORD_LIMIT 48
#define TEXT_FAR	(TEXT_WORD_LIMIT + 1)

static char text_lower(char byte)
{
	return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static size_t text_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * How many slips make `b` of `a`: a letter left out, added, taken for
 * another, or two neighbours swapped (optimal string alignment). Case costs
 * nothing. Three rows of the table are enough: a swap looks two rows back.
 */
static size_t text_slips(const char *a, const char *b)
{
	size_t rows[3][TEXT_WORD_LIMIT + 1];
	size_t a_size = strlen(a);
	size_t b_size = strlen(b);

	if (a_size > TEXT_WORD_LIMIT || b_size > TEXT_WORD_LIMIT)
		return TEXT_FAR;
	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t *row = rows[i % 3];
		const size_t *above = rows[(i - 1) % 3];
		const size_t *twice = rows[(i + 1) % 3];
		char x = text_lower(a[i - 1]);

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			char y = text_lower(b[j - 1]);

			row[j] = text_least(above[j], row[j - 1]) + 1;
			row[j] = text_least(row[j], above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == text_lower(b[j - 2]) &&
			    y == text_lower(a[i - 2]))
				row[j] = text_least(row[j], twice[j - 2] + 1);
		}
	}
	return rows[a_size % 3][b_size];
}

/* One slip in three letters, three at most. */
static size_t text_slips_allowed(const char *word)
{
	return text_least(strlen(word) / 3, 3);
}

/* A word of three letters or more may also be a name broken off. */
#define TEXT_PREFIX_LEAST 3

const char *plim_nearest_name(const char *word, const char *const *names)
{
	size_t size = strlen(word);
	size_t least = text_slips_allowed(word) + 1;
	const char *nearest = NULL;
	const char *longer = NULL;

	for (; *names != NULL; names++) {
		size_t slips = text_slips(word, *names);

		if (slips < least) {
			least = slips;
			nearest = *names;
		}
		if (longer == NULL && size >= TEXT_PREFIX_LEAST &&
		    strncmp(word, *names, size) == 0)
			longer = *names;
	}
	return nearest != NULL ? nearest : longer;
}

size_t plimp_text_plain(plim_bytes text)
{
	size_t size = 0;

	while (size < text.size) {
		unsigned char byte = (unsigned char)text.data[size];

		if (byte < 0x20 || byte > 0x7e || byte == '"' || byte == '\\')
			break;
		size++;
	}
	return size;
}

size_t plimp_digits(uint64_t value, char digits[PLIMP_DIGITS])
{
	char reversed[PLIMP_DIGITS];
	size_t count = 0;
	size_t i;

	do {
		reversed[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	for (i = 0; i < count; i++)
		digits[i] = reversed[count - 1 - i];
	return count;
}
