/*
 * draw.c - trees for the eye: lines from a parent to its children before the
 * name, and sums that say of how many members they lack something.
 */
#include "branch.h"

#include <string.h>

#define DRAW_NAME_SIZE 512

static size_t draw_put(char *text, size_t used, const char *piece, size_t size)
{
	if (size > DRAW_NAME_SIZE - used)
		size = DRAW_NAME_SIZE - used;
	memcpy(text + used, piece, size);
	return used + size;
}

void draw_name(struct draw *draw, plim_table *table, size_t depth, int more,
	       plim_bytes name)
{
	static const char *const pieces[2][4] = {{"\xe2\x94\x9c\xe2\x94\x80 ",
						  "\xe2\x94\x94\xe2\x94\x80 ",
						  "\xe2\x94\x82  ", "   "},
						 {"|- ", "`- ", "|  ", "   "}};
	const char *const *piece = pieces[draw->ascii != 0];
	char text[DRAW_NAME_SIZE];
	char number[40];
	size_t used = 0;
	size_t k;

	if (depth < DRAW_DEPTH)
		draw->more[depth] = (char)more;
	for (k = 1; k < depth && k < DRAW_DEPTH; k++) {
		const char *line = piece[draw->more[k] ? 2 : 3];

		used = draw_put(text, used, line, strlen(line));
	}
	if (depth >= DRAW_DEPTH) {
		snprintf(number, sizeof number, "(%zu deep) ", depth);
		used = draw_put(text, used, number, strlen(number));
	} else if (depth > 0) {
		used = draw_put(text, used, piece[more ? 0 : 1],
				strlen(piece[more ? 0 : 1]));
	}
	used = draw_put(text, used, name.data, name.size);
	plim_table_text(table, (plim_bytes){text, used});
}

int sum_cell(const struct options *options, plim_table *table, plim_real value,
	     uint32_t missing, int unit)
{
	char text[80];

	if (missing > 0)
		snprintf(text, sizeof text, "%s (%u)",
			 show_real(options, value, unit), missing);
	else
		snprintf(text, sizeof text, "%s",
			 show_real(options, value, unit));
	plim_table_text(table, (plim_bytes){text, strlen(text)});
	return missing > 0;
}

void draw_lacking(const struct draw *draw)
{
	if (draw->lacking)
		output_text("(N): a sum without N processes, of which the "
			    "figure is not known\n");
}
