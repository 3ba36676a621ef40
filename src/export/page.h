/*
 * page.h - lines of a page for people, cut where a terminal ends.
 *
 * A line is put together piece by piece and ends once. What others wrote is
 * escaped as it comes; every line has either a label of the page's margin or
 * its room.
 */
#ifndef PLIMP_PAGE_H
#define PLIMP_PAGE_H

#include "export/profiles.h"
#include "export/sink.h"
#include "core/buffer.h"
#include "core/fail.h"

/* Columns of the margin. */
#define PLIMP_PAGE_MARGIN 13

struct plimp_text_page {
	const plim_profile *profile;
	plim_profile_export options;
	struct plimp_sink sink;
	struct plimp_buffer line;
};

/* Begins a line: a label, or "" for none. */
void plimp_page_begin(struct plimp_text_page *page, const char *label);
void plimp_page_string(struct plimp_text_page *page, const char *text);
void plimp_page_format(struct plimp_text_page *page, const char *format, ...)
    PLIMP_PRINTF(2, 3);
void plimp_page_text(struct plimp_text_page *page, plim_bytes text);
/* A value with its unit; a figure that is missing is "-". */
void plimp_page_value(struct plimp_text_page *page, double value, int unit);
void plimp_page_count(struct plimp_text_page *page, plim_count count, int unit);
/* So many columns to the right: texts of one of the values above. */
void plimp_page_right(struct plimp_text_page *page, double value, int unit,
		      int columns);
/* A share with its error: "12.3 % ± 0.4". */
void plimp_page_share(struct plimp_text_page *page, double share, double error);
/* Ends a line of a table, which is cut to the terminal. */
void plimp_page_end(struct plimp_text_page *page);
/* Ends a line of words, which goes on below the first where it is too long. */
void plimp_page_end_prose(struct plimp_text_page *page);

/* text_stacks.c: the heaviest stacks of the page. */
int plimp_page_stacks(struct plimp_text_page *page, plim_error *error);

#endif
