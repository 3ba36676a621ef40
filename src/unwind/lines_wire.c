/*
 * lines_wire.c - frames into bytes and back.
 *
 * The reading side trusts nothing: each row and each text must lie within what
 * came, and numbers are taken as they are. Which frame is inlined follows from
 * its place, so that no cell can say something else.
 */
#include "unwind/lines_wire.h"

#include <assert.h>
#include <string.h>

#define WIRE_TEXTS 4

struct wire_row {
	uint64_t start;
	uint32_t line;
	uint32_t column;
	uint32_t declared_line;
	uint32_t sizes[WIRE_TEXTS];
	uint32_t reserved;
};

static plim_bytes *wire_text(struct plimp_line *frame, int which)
{
	plim_bytes *texts[WIRE_TEXTS];

	texts[0] = &frame->function;
	texts[1] = &frame->linkage;
	texts[2] = &frame->file;
	texts[3] = &frame->declared_file;
	return texts[which];
}

size_t plimp_lines_write(const struct plimp_line *frames, size_t count,
			 uint8_t *bytes, size_t capacity)
{
	size_t used = count * sizeof(struct wire_row);
	size_t i;
	int k;

	assert(used <= capacity);
	for (i = 0; i < count; i++) {
		struct plimp_line frame = frames[i];
		struct wire_row row = {
		    .start = frame.start,
		    .line = frame.line,
		    .column = frame.column,
		    .declared_line = frame.declared_line,
		};

		for (k = 0; k < WIRE_TEXTS; k++) {
			const plim_bytes *text = wire_text(&frame, k);

			if (text->size == 0 || text->size > PLIMP_LINES_NAME ||
			    text->size > capacity - used)
				continue;
			memcpy(bytes + used, text->data, text->size);
			row.sizes[k] = (uint32_t)text->size;
			used += text->size;
		}
		memcpy(bytes + i * sizeof row, &row, sizeof row);
	}
	return used;
}

/* The texts of one row, from `*at` on: 0 where they do not lie within. */
static int wire_row_texts(const struct wire_row *row, const uint8_t *bytes,
			  size_t size, size_t *at, struct plimp_line *frame)
{
	int k;

	for (k = 0; k < WIRE_TEXTS; k++) {
		if (row->sizes[k] > size - *at ||
		    row->sizes[k] > PLIMP_LINES_NAME)
			return 0;
		wire_text(frame, k)->data = (const char *)bytes + *at;
		wire_text(frame, k)->size = row->sizes[k];
		*at += row->sizes[k];
	}
	return 1;
}

int plimp_lines_read(const uint8_t *bytes, size_t size, size_t rows,
		     struct plimp_line *frames, size_t capacity, size_t *count)
{
	size_t at = rows * sizeof(struct wire_row);
	size_t i;

	assert(capacity > 0);
	if (rows == 0 || rows > PLIMP_LINES_FRAMES || at > size)
		return PLIM_EMALFORMED;
	for (i = 0; i < rows; i++) {
		struct plimp_line frame;
		struct wire_row row;

		memcpy(&row, bytes + i * sizeof row, sizeof row);
		memset(&frame, 0, sizeof frame);
		if (!wire_row_texts(&row, bytes, size, &at, &frame))
			return PLIM_EMALFORMED;
		frame.start = row.start;
		frame.line = row.line;
		frame.column = row.column;
		frame.declared_line = row.declared_line;
		frame.is_inlined = i + 1 < rows;
		frames[i < capacity ? i : capacity - 1] = frame;
	}
	if (at != size)
		return PLIM_EMALFORMED;
	*count = rows < capacity ? rows : capacity;
	return PLIM_OK;
}
