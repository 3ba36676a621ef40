/*
 * decode_nt_text.c - strings: UTF-16, where they lie, and command lines.
 *
 * A process's command line is one string. The system keeps it where the
 * process can write (its environment block points to it), so that what is
 * read there is what the process says: lengths are bounded by their type, and
 * nothing of it is taken for a NUL-terminated string.
 */
#include "host/windows/bytes.h"
#include "host/windows/decode.h"

#include <string.h>

static uint32_t text_unit(plim_bytes utf16, size_t index)
{
	return plimp_nt_u16(utf16, 2 * index);
}

static size_t text_encode(uint32_t code, char bytes[4])
{
	if (code < 0x80) {
		bytes[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		bytes[0] = (char)(0xc0 | code >> 6);
		bytes[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		bytes[0] = (char)(0xe0 | code >> 12);
		bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
		bytes[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	bytes[0] = (char)(0xf0 | code >> 18);
	bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
	bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
	bytes[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

size_t plimp_nt_utf8(plim_bytes utf16, char *text, size_t room)
{
	const size_t units = utf16.size / 2;
	size_t size = 0;
	size_t i;

	for (i = 0; i < units; i++) {
		uint32_t code = text_unit(utf16, i);
		char bytes[4];
		size_t length;

		if (code >= 0xd800 && code < 0xdc00 && i + 1 < units &&
		    text_unit(utf16, i + 1) >= 0xdc00 &&
		    text_unit(utf16, i + 1) < 0xe000)
			code = 0x10000 + ((code - 0xd800) << 10) +
			       (text_unit(utf16, ++i) - 0xdc00);
		length = text_encode(code, bytes);
		if (length > room - size)
			break;
		memcpy(text + size, bytes, length);
		size += length;
	}
	return size;
}

/* Length, room, and, at the alignment of a pointer, where. */
int plimp_decode_nt_string(plim_bytes bytes, unsigned word,
			   struct plimp_nt_string *string)
{
	uint16_t size;

	if ((word != 4 && word != 8) || bytes.size < 2 * (size_t)word)
		return PLIM_EMALFORMED;
	size = plimp_nt_u16(bytes, 0);
	if (size % 2 != 0 || size > plimp_nt_u16(bytes, 2))
		return PLIM_EMALFORMED;
	string->size = size;
	string->address = plimp_nt_number(bytes, word, word);
	return PLIM_OK;
}

int plimp_decode_nt_answer(plim_bytes bytes, unsigned word, uint64_t base,
			   plim_bytes *utf16)
{
	struct plimp_nt_string string;
	uint64_t at;

	if (plimp_decode_nt_string(bytes, word, &string) != PLIM_OK)
		return PLIM_EMALFORMED;
	at = string.address - base;
	if (string.size > 0 && (string.address < base || at > bytes.size ||
				string.size > bytes.size - at))
		return PLIM_EMALFORMED;
	*utf16 = string.size > 0 ? (plim_bytes){bytes.data + at, string.size}
				 : (plim_bytes){"", 0};
	return PLIM_OK;
}

/* PEB.ProcessParameters. */
int plimp_decode_nt_peb(plim_bytes bytes, unsigned word, uint64_t *parameters)
{
	const size_t at = word == 8 ? 0x20 : 0x10;

	if ((word != 4 && word != 8) || bytes.size < at + word)
		return PLIM_EMALFORMED;
	*parameters = plimp_nt_number(bytes, at, word);
	return PLIM_OK;
}

/* RTL_USER_PROCESS_PARAMETERS.CommandLine. */
int plimp_decode_nt_parameters(plim_bytes bytes, unsigned word,
			       struct plimp_nt_string *command_line)
{
	const size_t at = word == 8 ? 0x70 : 0x40;

	if (bytes.size < at)
		return PLIM_EMALFORMED;
	return plimp_decode_nt_string(
	    (plim_bytes){bytes.data + at, bytes.size - at}, word, command_line);
}

static int text_is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Where a command line is read, and where its arguments are written: never
 * further on, since quotes and blanks go away. */
struct text_split {
	char *text;
	size_t size;
	size_t from;
	size_t to;
};

static void text_put(struct text_split *split, char byte)
{
	assert(split->to <= split->from);
	split->text[split->to++] = byte;
}

/* The program's name: a quote begins and ends what blanks do not end, and
 * backslashes mean themselves. */
static void text_program(struct text_split *split)
{
	int quoted = 0;

	while (split->from < split->size) {
		char byte = split->text[split->from];

		if (text_is_blank(byte) && !quoted)
			break;
		if (byte == '"')
			quoted = !quoted;
		else
			text_put(split, byte);
		split->from++;
	}
}

/* Backslashes before a quote: half of them, and the quote itself if they were
 * odd. Returns 1 if it is to be looked at as a quote. */
static int text_backslashes(struct text_split *split)
{
	size_t count = 0;
	size_t kept;

	while (split->from < split->size && split->text[split->from] == '\\') {
		count++;
		split->from++;
	}
	kept = count;
	if (split->from < split->size && split->text[split->from] == '"')
		kept = count / 2;
	while (kept-- > 0)
		text_put(split, '\\');
	if (split->from == split->size || split->text[split->from] != '"')
		return 0;
	if (count % 2 == 0)
		return 1;
	text_put(split, '"');
	split->from++;
	return 0;
}

static void text_argument(struct text_split *split)
{
	int quoted = 0;

	while (split->from < split->size) {
		char byte = split->text[split->from];

		if (text_is_blank(byte) && !quoted)
			break;
		if (byte == '\\' && !text_backslashes(split))
			continue;
		/* text_backslashes() has moved on to a quote. */
		byte = split->text[split->from];
		if (byte != '"') {
			text_put(split, byte);
			split->from++;
			continue;
		}
		split->from++;
		/* Two within quotes are one. */
		if (quoted && split->from < split->size &&
		    split->text[split->from] == '"') {
			text_put(split, '"');
			split->from++;
			continue;
		}
		quoted = !quoted;
	}
}

size_t plimp_nt_arguments(char *text, size_t size, size_t room)
{
	struct text_split split = {.text = text};
	const char *end = size > 0 ? memchr(text, '\0', size) : NULL;

	assert(room > size);
	(void)room;
	split.size = end != NULL ? (size_t)(end - text) : size;
	if (split.size == 0)
		return 0;
	text_program(&split);
	for (;;) {
		size_t blanks = split.from;

		while (blanks < split.size && text_is_blank(text[blanks]))
			blanks++;
		/* The blank, or the byte behind all, makes room for it. */
		text[split.to++] = '\0';
		if (blanks == split.size)
			break;
		split.from = blanks;
		text_argument(&split);
	}
	return split.to;
}
