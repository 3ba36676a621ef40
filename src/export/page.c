/*
 * page.c - lines of a page for people (page.h).
 */
#include "export/page.h"
#include "export/width.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PAGE_PIECE 512
/* A narrower terminal is not broken lines for. */
#define PAGE_WRAPPED 40

void plimp_page_string(struct plimp_text_page *page, const char *text)
{
	plimp_buffer_string(&page->line, text);
}

void plimp_page_begin(struct plimp_text_page *page, const char *label)
{
	size_t size = strlen(label);

	assert(size < PLIMP_PAGE_MARGIN && page->line.size == 0);
	plimp_page_string(page, label);
	for (; size < PLIMP_PAGE_MARGIN; size++)
		plimp_page_string(page, " ");
}

/* For texts of ours with numbers in them, none of which is near the bound. */
void plimp_page_format(struct plimp_text_page *page, const char *format, ...)
{
	char text[PAGE_PIECE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	plimp_page_string(page, text);
}

void plimp_page_text(struct plimp_text_page *page, plim_bytes text)
{
	const int ascii = (page->options.flags & PLIM_EXPORT_ASCII) != 0;

	plimp_buffer_escaped(&page->line,
			     ascii ? PLIM_ESCAPE_ASCII : PLIM_ESCAPE_TERMINAL,
			     text);
}

void plimp_page_right(struct plimp_text_page *page, double value, int unit,
		      int columns)
{
	char text[64];

	plim_quantity_format(value, unit, text, sizeof text);
	plimp_page_format(page, "%*s", columns, text);
}

void plimp_page_value(struct plimp_text_page *page, double value, int unit)
{
	plimp_page_right(page, value, unit, 0);
}

void plimp_page_count(struct plimp_text_page *page, plim_count count, int unit)
{
	const plim_real real = plim_real_of(count);

	if (real.state != PLIM_STATE_KNOWN) {
		plimp_page_string(page, "-");
		return;
	}
	plimp_page_value(page, real.value, unit);
}

void plimp_page_share(struct plimp_text_page *page, double share, double error)
{
	const int ascii = (page->options.flags & PLIM_EXPORT_ASCII) != 0;
	char number[340];
	char off[340];

	plim_fixed_format(100 * share, 1, number, sizeof number);
	plim_fixed_format(100 * error, 1, off, sizeof off);
	plimp_page_format(page, "%5.32s %s %4.32s %%", number,
			  ascii ? "+-" : "\xc2\xb1", off);
}

/* How many bytes of a text fit into so many columns. */
static size_t page_fits(plim_bytes text, size_t room)
{
	plim_bytes rest = text;
	size_t column = 0;

	while (rest.size > 0) {
		size_t columns = 0;
		const size_t step = plimp_width_step(rest, &columns);

		if (column + columns > room)
			break;
		column += columns;
		rest.data += step;
		rest.size -= step;
	}
	return text.size - rest.size;
}

static plim_bytes page_line(const struct plimp_text_page *page)
{
	if (page->line.size == 0)
		return (plim_bytes){"", 0};
	return (plim_bytes){page->line.data, page->line.size};
}

void plimp_page_end(struct plimp_text_page *page)
{
	const plim_bytes line = page_line(page);

	plimp_sink_put(&page->sink, line.data,
		       page->options.width > 0
			   ? page_fits(line, page->options.width)
			   : line.size);
	plimp_sink_put(&page->sink, "\n", 1);
	page->line.size = 0; /* a failure is kept */
}

/* Where a text that does not fit is broken: at the last blank that does. */
static size_t page_break(plim_bytes text, size_t room)
{
	const size_t fits = page_fits(text, room);

	for (size_t at = fits; at > 0; at--)
		if (text.data[at] == ' ')
			return at;
	return fits;
}

void plimp_page_end_prose(struct plimp_text_page *page)
{
	const size_t width = page->options.width;
	plim_bytes rest = page_line(page);

	if (width < PAGE_WRAPPED || rest.size <= PLIMP_PAGE_MARGIN) {
		plimp_page_end(page);
		return;
	}
	plimp_sink_put(&page->sink, rest.data, PLIMP_PAGE_MARGIN);
	rest.data += PLIMP_PAGE_MARGIN;
	rest.size -= PLIMP_PAGE_MARGIN;
	while (page_fits(rest, width - PLIMP_PAGE_MARGIN) < rest.size) {
		size_t size = page_break(rest, width - PLIMP_PAGE_MARGIN);

		plimp_sink_put(&page->sink, rest.data, size);
		plimp_sink_put(&page->sink, "\n", 1);
		plimp_sink_fill(&page->sink, ' ', PLIMP_PAGE_MARGIN);
		size += rest.data[size] == ' ';
		rest.data += size;
		rest.size -= size;
	}
	plimp_sink_put(&page->sink, rest.data, rest.size);
	plimp_sink_put(&page->sink, "\n", 1);
	page->line.size = 0; /* a failure is kept */
}
