/*
 * telling.h - one account, told twice: on the terminal and as a page of HTML.
 * What is said, and in which order, is written once, against this; how it looks
 * is decided here. Sections have lines and tables.
 */
#ifndef PLIM_TELLING_H
#define PLIM_TELLING_H

#include "sheet.h"

struct telling {
	const struct options *options;
	struct sheet *sheet; /* NULL: standard output */
	plim_table *table;   /* the one that is being filled */
	size_t columns;
	size_t column; /* of the next cell */
	int labelled;  /* the label of the section stands, its line is open */
	int failed;    /* memory ran out */
};

/* `label` is of the terminal, at most 12 characters; `title` of the page. */
void tell_section(struct telling *telling, const char *label,
		  const char *title);
/* A line. Nothing that somebody else wrote may be in it unescaped. */
void tell_line(struct telling *telling, const char *format, ...) FORMATS(2, 3);
/* The same, with words of somebody else in the middle. */
void tell_quote(struct telling *telling, const char *before, plim_bytes text,
		const char *after);
/* A line of less weight that belongs to the one before. */
void tell_aside(struct telling *telling, const char *format, ...) FORMATS(2, 3);

/* A table: titles that begin with a blank are of columns of texts, the others
 * of numbers. The cells come row by row. */
void tell_table(struct telling *telling, const char *const *titles,
		size_t count);
void tell_count(struct telling *telling, plim_count count, int unit);
void tell_real(struct telling *telling, plim_real real, int unit);
void tell_text(struct telling *telling, plim_bytes text);
void tell_string(struct telling *telling, const char *text);
void tell_table_end(struct telling *telling);

#endif
