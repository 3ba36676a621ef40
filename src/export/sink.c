/*
 * sink.c - gathering bytes, and writing numbers and escaped text into them.
 *
 * Nothing here allocates: text of any length is escaped a piece at a time,
 * and a piece never ends inside a UTF-8 character, so that the pieces escape
 * as the whole would.
 */
#include "export/sink.h"

#include "core/text.h"

#include <assert.h>
#include <string.h>

/* A byte becomes at most six (\u001b in JSON). */
#define SINK_PIECE   256
#define SINK_ESCAPED (SINK_PIECE * 6 + 1)

void plimp_sink_init(struct plimp_sink *sink, plim_write_fn *write, void *user)
{
	sink->write = write;
	sink->user = user;
	sink->failed = PLIM_OK;
	sink->system = 0;
	sink->used = 0;
}

int plimp_sink_flush(struct plimp_sink *sink)
{
	assert(sink->used <= PLIMP_SINK_SIZE);
	if (sink->failed == PLIM_OK && sink->used > 0) {
		sink->system = sink->write(sink->data, sink->used, sink->user);
		if (sink->system != 0)
			sink->failed = PLIM_EOUTPUT;
	}
	sink->used = 0;
	return sink->failed;
}

void plimp_sink_put(struct plimp_sink *sink, const char *data, size_t size)
{
	size_t part;

	while (size > 0 && sink->failed == PLIM_OK) {
		if (sink->used == PLIMP_SINK_SIZE)
			plimp_sink_flush(sink);
		part = PLIMP_SINK_SIZE - sink->used;
		if (part > size)
			part = size;
		memcpy(sink->data + sink->used, data, part);
		sink->used += part;
		data += part;
		size -= part;
	}
}

void plimp_sink_string(struct plimp_sink *sink, const char *string)
{
	plimp_sink_put(sink, string, strlen(string));
}

void plimp_sink_fill(struct plimp_sink *sink, char byte, size_t count)
{
	char bytes[64];
	size_t part;

	memset(bytes, byte, sizeof(bytes));
	for (; count > 0 && sink->failed == PLIM_OK; count -= part) {
		part = count < sizeof(bytes) ? count : sizeof(bytes);
		plimp_sink_put(sink, bytes, part);
	}
}

void plimp_sink_whole(struct plimp_sink *sink, uint64_t value)
{
	char digits[PLIMP_DIGITS];

	plimp_sink_put(sink, digits, plimp_digits(value, digits));
}

static int sink_is_inner(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * The largest size of at most SINK_PIECE at which the text can be cut. If a
 * continuation byte stands there, its character began at the nearest byte
 * before that is none; more than three of them are no character at all.
 */
static size_t sink_piece(plim_bytes text)
{
	size_t size = SINK_PIECE;

	if (text.size <= size)
		return text.size;
	for (size_t back = 0; back <= 3; back++)
		if (!sink_is_inner(text.data[size - back]))
			return size - back;
	return size;
}

void plimp_sink_escaped(struct plimp_sink *sink, int form, plim_bytes text)
{
	char buffer[SINK_ESCAPED];
	plim_bytes piece = text;
	size_t size;

	assert(form != PLIM_ESCAPE_CSV);
	if (plimp_text_plain(text) == text.size) {
		plimp_sink_put(sink, text.data, text.size);
		return;
	}
	while (text.size > 0 && sink->failed == PLIM_OK) {
		piece.data = text.data;
		piece.size = sink_piece(text);
		size = plim_escape(form, piece, buffer, sizeof(buffer));
		assert(size < sizeof(buffer));
		plimp_sink_put(sink, buffer, size);
		text.data += piece.size;
		text.size -= piece.size;
	}
}
