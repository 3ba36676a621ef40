/*
 * prose.c - paragraphs with a label in the margin (prose.h). They are put
 * together in a buffer of fixed size and printed once, since only then it is
 * known where a line ends. Columns are counted as terminals draw them.
 */
#include "prose.h"
#include "term.h"

#include <stdarg.h>
#include <string.h>

#define PROSE_WIDTH 80 /* of a file or a pipe: what is pasted is as wide */
#define PROSE_LEAST 40 /* a narrower terminal is not broken for */

size_t prose_width(void)
{
	const size_t width = term_width();

	return width >= PROSE_LEAST ? width : PROSE_WIDTH;
}

void prose_begin(struct prose *prose, const char *label)
{
	prose->size = 0;
	prose->hang = 0;
	prose->bold = 0;
	prose->text[0] = '\0';
	snprintf(prose->label, sizeof prose->label, "%s", label);
}

static void prose_put(struct prose *prose, const char *text)
{
	const size_t size = strlen(text);

	if (size >= sizeof prose->text - prose->size)
		return;
	memcpy(prose->text + prose->size, text, size + 1);
	prose->size += size;
}

void prose_format(struct prose *prose, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	prose_put(prose, text);
}

void prose_quote(struct prose *prose, plim_bytes text)
{
	const int form =
	    prose->options->ascii ? PLIM_ESCAPE_ASCII : PLIM_ESCAPE_TERMINAL;
	char piece[512];

	while (text.size > 0) {
		plim_escape(form, text_piece(&text), piece, sizeof piece);
		prose_put(prose, piece);
	}
}

/* How many bytes of the text make the next line: up to a blank, or a word that
 * is longer than the line. */
static size_t prose_break(const char *text, size_t room)
{
	size_t at = 0;

	for (;;) {
		const size_t word = at + strcspn(text + at, " ");

		if (at > 0 && plim_text_width((plim_bytes){text, word}) > room)
			return at - 1;
		if (text[word] == '\0')
			return word;
		at = word + 1;
	}
}

static void prose_out(const char *text, size_t size)
{
	while (size > 0) { /* output_format() has its own bound */
		const int part = size > 500 ? 500 : (int)size;

		output_format("%.*s", part, text);
		text += part;
		size -= (size_t)part;
	}
}

void prose_end(struct prose *prose)
{
	const size_t room = prose_width() - PROSE_MARGIN;
	const char *text = prose->text;
	size_t hang = 0;

	if (prose->bold && prose->options->color)
		output_format("\033[1m%-*s\033[0m", PROSE_MARGIN, prose->label);
	else
		output_format("%-*s", PROSE_MARGIN, prose->label);
	for (;;) {
		const size_t size = prose_break(text, room - hang);

		prose_out(text, size);
		output_text("\n");
		text += size;
		if (*text == '\0')
			break;
		text++;
		hang = prose->hang < room / 2 ? prose->hang : 0;
		output_format("%*s", (int)(PROSE_MARGIN + hang), "");
	}
	prose->size = 0;
}

void prose_line(struct prose *prose, const char *label, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	prose_begin(prose, label);
	prose_put(prose, text);
	prose_end(prose);
}
