/*
 * sheet.c - the writing of a page of HTML (sheet.h): escaped where it is not
 * ours, in a file that gets its name when it is whole, so that nobody reads
 * half of one and a failure leaves the older page.
 */
#include "sheet.h"

#include "file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static int sheet_fail(const struct sheet *sheet, int number)
{
	fail_usage("%s: %s", sheet->path, plim_system_error_name(number));
	return EXIT_FAILED;
}

int sheet_open(struct sheet *sheet, const char *path)
{

	memset(sheet, 0, sizeof *sheet);
	/* What fails there is told at the end of all output. */
	if (path == NULL)
		return EXIT_DONE;
	sheet->path = path;
	sheet->made = file_beside(path);
	if (sheet->made == NULL)
		return fail_memory();
	sheet->file = file_stream(sheet->made, FILE_MAKE);
	if (sheet->file != NULL)
		return EXIT_DONE;
	sheet->failed = errno;
	free(sheet->made);
	sheet->made = NULL;
	return sheet_fail(sheet, sheet->failed);
}

void sheet_drop(struct sheet *sheet)
{
	if (sheet->file == NULL)
		return;
	fclose(sheet->file);
	file_remove(sheet->made);
	free(sheet->made);
	memset(sheet, 0, sizeof *sheet);
}

int sheet_close(struct sheet *sheet)
{
	int failed;

	if (sheet->file == NULL)
		return EXIT_DONE;
	if (fflush(sheet->file) != 0 && sheet->failed == 0)
		sheet->failed = errno;
	failed = sheet->failed;
	if (failed == 0 && file_rename(sheet->made, sheet->path) != 0)
		failed = errno;
	if (failed != 0) {
		int status = sheet_fail(sheet, failed);

		sheet_drop(sheet);
		return status;
	}
	fclose(sheet->file);
	free(sheet->made);
	memset(sheet, 0, sizeof *sheet);
	return EXIT_DONE;
}

int sheet_check(const char *path)
{
	const char *end = path != NULL ? strrchr(path, '.') : NULL;
	struct sheet sheet;
	int status;

	if (path != NULL &&
	    (end == NULL || end == path ||
	     (strcmp(end, ".html") != 0 && strcmp(end, ".htm") != 0)))
		return fail_usage("--output: '%s': a page is written to a "
				  "file that ends in .html",
				  path);
	status = sheet_open(&sheet, path);
	if (status == EXIT_DONE)
		sheet_drop(&sheet);
	return status;
}

void sheet_text(struct sheet *sheet, const char *text)
{
	if (sheet->file == NULL)
		output_text(text);
	else if (fputs(text, sheet->file) < 0 && sheet->failed == 0)
		sheet->failed = errno;
}

void sheet_format(struct sheet *sheet, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	sheet_text(sheet, text);
}

void sheet_safe(struct sheet *sheet, const char *text)
{
	for (; *text != '\0'; text++) {
		char one[2] = {*text, '\0'};

		switch (*text) {
		case '&':
			sheet_text(sheet, "&amp;");
			break;
		case '<':
			sheet_text(sheet, "&lt;");
			break;
		case '>':
			sheet_text(sheet, "&gt;");
			break;
		case '"':
			sheet_text(sheet, "&quot;");
			break;
		case '\'':
			sheet_text(sheet, "&#39;");
			break;
		default:
			sheet_text(sheet, one);
		}
	}
}

void sheet_escaped(struct sheet *sheet, plim_bytes text)
{
	char piece[512];

	while (text.size > 0) {
		plim_escape(PLIM_ESCAPE_TERMINAL, text_piece(&text), piece,
			    sizeof piece);
		sheet_safe(sheet, piece);
	}
}

void sheet_string(struct sheet *sheet, const char *text)
{
	sheet_escaped(sheet, (plim_bytes){text, strlen(text)});
}

static void sheet_missing(struct sheet *sheet, uint8_t state, uint16_t method,
			  int32_t code)
{
	sheet_text(sheet, "<td class=\"n none\" title=\"");
	sheet_string(sheet, plim_state_word(state));
	sheet_text(sheet, ": ");
	sheet_string(sheet, show_reason(state, method, code));
	sheet_text(sheet, "\">-</td>");
}

static const char *sheet_bound(int bound)
{
	return bound == PLIM_BOUND_AT_LEAST  ? "\xe2\x89\xa5"
	       : bound == PLIM_BOUND_AT_MOST ? "\xe2\x89\xa4"
					     : "";
}

void sheet_count(struct sheet *sheet, plim_count count, int unit)
{
	char text[40];

	if (count.state != PLIM_STATE_KNOWN) {
		sheet_missing(sheet, count.state, count.method, count.code);
		return;
	}
	plim_quantity_format(plim_real_in_unit(count, unit).value, unit, text,
			     sizeof text);
	sheet_format(sheet,
		     "<td class=\"n\"><data value=\"%llu\">%s%s</data>"
		     "</td>",
		     (unsigned long long)count.value, sheet_bound(count.bound),
		     text);
}

void sheet_real(struct sheet *sheet, plim_real real, int unit)
{
	char number[40];
	char text[40];

	if (real.state != PLIM_STATE_KNOWN) {
		sheet_missing(sheet, real.state, real.method, real.code);
		return;
	}
	plim_quantity_format(real.value, unit, text, sizeof text);
	plim_number_format(real.value, number, sizeof number);
	sheet_format(sheet,
		     "<td class=\"n\"><data value=\"%s\">%s%s</data>"
		     "</td>",
		     number, sheet_bound(real.bound), text);
}

void sheet_cell(struct sheet *sheet, const char *text)
{
	sheet_text(sheet, "<td>");
	sheet_string(sheet, text);
	sheet_text(sheet, "</td>");
}
