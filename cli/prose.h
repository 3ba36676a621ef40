/*
 * prose.h - sentences on a terminal: a label in the margin, words that are
 * broken where the terminal ends, or at 80 columns where there is none.
 */
#ifndef PLIM_PROSE_H
#define PLIM_PROSE_H

#include "cmd.h"

#define PROSE_MARGIN 13 /* columns of the label */

struct prose {
	const struct options *options;
	size_t size;
	size_t hang; /* further columns of the lines after the first */
	int bold;    /* the label is */
	char label[PROSE_MARGIN];
	char text[3072];
};

/* Columns that a line may take. */
size_t prose_width(void);
void prose_begin(struct prose *prose, const char *label);
/* A paragraph goes on: nothing that somebody else wrote may be in it
 * unescaped. What does not fit is cut off. */
void prose_format(struct prose *prose, const char *format, ...) FORMATS(2, 3);
/* What somebody else wrote. */
void prose_quote(struct prose *prose, plim_bytes text);
void prose_end(struct prose *prose);
/* All three at once, without anything of others. */
void prose_line(struct prose *prose, const char *label, const char *format, ...)
    FORMATS(3, 4);

#endif
