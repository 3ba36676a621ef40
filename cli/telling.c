/*
 * telling.c - sections, lines and tables, on the terminal or as HTML. On a
 * terminal the label of a section stands at the left of its first line, and
 * lines are broken at words; into a file or a pipe they go whole. A table is
 * cut to a terminal, and never elsewhere.
 */
#include "telling.h"
#include "term.h"

#include <stdarg.h>
#include <string.h>

#define TELL_INDENT 13
#define TELL_LEAST  40 /* columns: a narrower terminal is not broken for */

static const char tell_blanks[] = "                    ";

static void tell_blank(int count)
{
	output_format("%.*s", count, tell_blanks);
}

/* What stands before a line: the label, or its room. */
static void tell_margin(struct telling *telling, int more)
{
	if (!telling->labelled)
		tell_blank(TELL_INDENT);
	telling->labelled = 0;
	tell_blank(more);
}

void tell_section(struct telling *telling, const char *label, const char *title)
{
	if (telling->sheet != NULL) {
		sheet_text(telling->sheet, "<h2>");
		sheet_string(telling->sheet, title);
		sheet_text(telling->sheet, "</h2>\n");
		return;
	}
	if (telling->labelled)
		output_text("\n");
	output_format("\n%-12s ", label);
	telling->labelled = 1;
}

/* Where a line of at most `room` bytes can be broken. */
static size_t tell_break(const char *text, size_t room)
{
	size_t size = strlen(text);
	size_t at;

	if (size <= room)
		return size;
	for (at = room; at > 0; at--)
		if (text[at] == ' ')
			return at;
	return strcspn(text, " ");
}

static void tell_wrapped(struct telling *telling, const char *text, int more)
{
	const size_t margin = TELL_INDENT + (size_t)more;
	size_t room = term_width();

	room = room >= TELL_LEAST ? room - margin : SIZE_MAX / 2;
	do {
		size_t size = tell_break(text, room);

		tell_margin(telling, more);
		while (size > 0) { /* output_format() has its own bound */
			int part = size > 500 ? 500 : (int)size;

			output_format("%.*s", part, text);
			text += part;
			size -= (size_t)part;
		}
		output_text("\n");
		text += strspn(text, " ");
	} while (*text != '\0');
}

static void tell_paragraph(struct telling *telling, const char *text,
			   const char *class, int more)
{
	if (telling->sheet == NULL) {
		tell_wrapped(telling, text, more);
		return;
	}
	sheet_format(telling->sheet, "<p%s>", class);
	sheet_string(telling->sheet, text);
	sheet_text(telling->sheet, "</p>\n");
}

void tell_line(struct telling *telling, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	tell_paragraph(telling, text, "", 0);
}

void tell_aside(struct telling *telling, const char *format, ...)
{
	char text[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	tell_paragraph(telling, text, " class=\"aside\"", 2);
}

void tell_quote(struct telling *telling, const char *before, plim_bytes text,
		const char *after)
{
	if (telling->sheet == NULL) {
		tell_margin(telling, 0);
		output_text(before);
		output_escaped(telling->options, text);
		output_text(after);
		output_text("\n");
		return;
	}
	sheet_text(telling->sheet, "<p>");
	sheet_string(telling->sheet, before);
	sheet_escaped(telling->sheet, text);
	sheet_string(telling->sheet, after);
	sheet_text(telling->sheet, "</p>\n");
}

static void tell_table_sheet(struct telling *telling, const char *const *titles,
			     size_t count)
{
	size_t i;

	sheet_text(telling->sheet, "<div class=\"wide\"><table><thead><tr>");
	for (i = 0; i < count; i++) {
		int text = titles[i][0] == ' ';

		sheet_text(telling->sheet, text ? "<th>" : "<th class=\"n\">");
		sheet_string(telling->sheet, titles[i] + text);
		sheet_text(telling->sheet, "</th>");
	}
	sheet_text(telling->sheet, "</tr></thead><tbody>\n");
}

void tell_table(struct telling *telling, const char *const *titles,
		size_t count)
{
	size_t i;

	telling->columns = count;
	telling->column = 0;
	if (telling->sheet != NULL) {
		tell_table_sheet(telling, titles, count);
		return;
	}
	if (telling->labelled)
		output_text("\n");
	telling->labelled = 0;
	if (plim_table_new(&telling->table, NULL, NULL) != PLIM_OK) {
		telling->failed = 1;
		return;
	}
	plim_table_ascii(telling->table, telling->options->ascii);
	for (i = 0; i < count; i++)
		plim_table_column(telling->table,
				  titles[i] + (titles[i][0] == ' '),
				  titles[i][0] != ' ');
}

/* The cell before has been written on a page: its row, too, if it was the
 * last. */
static void tell_cell_end(struct telling *telling)
{
	telling->column++;
	if (telling->column < telling->columns)
		return;
	telling->column = 0;
	sheet_text(telling->sheet, "</tr>\n");
}

/* 1 if the cell is one of a page, and has begun. */
static int tell_cell_begin(struct telling *telling)
{
	if (telling->sheet == NULL)
		return 0;
	if (telling->column == 0)
		sheet_text(telling->sheet, "<tr>");
	return 1;
}

void tell_count(struct telling *telling, plim_count count, int unit)
{
	if (tell_cell_begin(telling)) {
		sheet_count(telling->sheet, count, unit);
		tell_cell_end(telling);
	} else if (telling->table != NULL) {
		plim_table_count(telling->table, count, unit);
	}
}

void tell_real(struct telling *telling, plim_real real, int unit)
{
	if (tell_cell_begin(telling)) {
		sheet_real(telling->sheet, real, unit);
		tell_cell_end(telling);
	} else if (telling->table != NULL) {
		plim_table_real(telling->table, real, unit);
	}
}

void tell_text(struct telling *telling, plim_bytes text)
{
	if (tell_cell_begin(telling)) {
		sheet_text(telling->sheet, "<td>");
		sheet_escaped(telling->sheet, text);
		sheet_text(telling->sheet, "</td>");
		tell_cell_end(telling);
	} else if (telling->table != NULL) {
		plim_table_text(telling->table, text);
	}
}

void tell_string(struct telling *telling, const char *text)
{
	tell_text(telling, (plim_bytes){text, strlen(text)});
}

void tell_table_end(struct telling *telling)
{
	plim_error error;
	int code;

	if (telling->sheet != NULL) {
		sheet_text(telling->sheet, "</tbody></table></div>\n");
		return;
	}
	if (telling->table == NULL)
		return;
	output_bold(telling->options);
	code = plim_table_print(telling->table, term_width(), 1, output_write,
				&standard_output, &error);
	telling->failed |= code == PLIM_ENOMEM;
	plim_table_free(telling->table);
	telling->table = NULL;
}
