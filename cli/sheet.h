/*
 * sheet.h - a file of HTML that stands for itself: no script, nothing from
 * elsewhere. It is also well-formed XML, so that a test can read it.
 */
#ifndef PLIM_SHEET_H
#define PLIM_SHEET_H

#include "cmd.h"

struct sheet {
	FILE *file;
	char *made; /* its name until it is whole */
	const char *path;
	int failed; /* the error number of the first write that failed */
};

/* Can a page be written there? Asked before anything is measured: 0, or the
 * exit status, and then says why. `path` NULL: nowhere. */
int sheet_check(const char *path);
/* Makes a file beside the one that is wanted. 0, or the exit status, and then
 * says why. `path` NULL: standard output. */
int sheet_open(struct sheet *sheet, const char *path);
/* Gives it the name that was wanted, whatever had it before. 0, or the exit
 * status. */
int sheet_close(struct sheet *sheet);
/* Leaves nothing behind. */
void sheet_drop(struct sheet *sheet);

/* Markup of ours. */
void sheet_text(struct sheet *sheet, const char *text);
void sheet_format(struct sheet *sheet, const char *format, ...) FORMATS(2, 3);
/* The same of what is escaped for a terminal already. */
void sheet_safe(struct sheet *sheet, const char *text);
/* What somebody else wrote: what a terminal would obey or a browser take for
 * markup is made visible. */
void sheet_escaped(struct sheet *sheet, plim_bytes text);
void sheet_string(struct sheet *sheet, const char *text);
/* A cell of a table, right or left; the figure's exact value stands in the
 * markup, and of one that is missing the reason. */
void sheet_count(struct sheet *sheet, plim_count count, int unit);
void sheet_real(struct sheet *sheet, plim_real real, int unit);
void sheet_cell(struct sheet *sheet, const char *text);

#endif
