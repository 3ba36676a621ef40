/*
 * ps.h - one round of plim ps, between taking it (cmd_ps.c) and showing it as
 * a list (there) or as a forest (ps_tree.c).
 */
#ifndef PLIM_PS_H
#define PLIM_PS_H

#include "branch.h"

struct row {
	const plim_process *process;
	const plim_process *earlier;
	size_t index;
	int selected;
};

struct ps {
	const struct options *options;
	plim_host *host;
	plim_snapshot *snapshots[2];
	plim_snapshot *now;
	plim_snapshot *before; /* NULL in the first round */
	plim_filter *filter;
	struct columns columns;
	struct column sort;
	int sorted;
	int descending;
	plim_field_set shown;  /* in JSON and CSV */
	plim_field_set fields; /* to read: filter and order ask more */
	struct row *rows;
	size_t row_count;
	size_t row_capacity;
	size_t unknown;	 /* left out because the filter could not judge them */
	plim_json *json; /* of the round that is written */
	plim_forest *forest; /* with --tree */
	struct branches tree;
	const plim_process *ended; /* the last one, to pair a replacement */
};

int ps_has_rounds(const struct ps *ps);
/* Ends a round in words, or begins the JSON of one. */
void ps_footer(struct ps *ps);
void ps_clear(const struct ps *ps);
int ps_json_begin(struct ps *ps);
int ps_json_end(struct ps *ps);

/* ps_tree.c: what the columns and the order of a forest need besides. */
int ps_tree_prepare(struct ps *ps, plim_error *error);
/* Shows the rows that ps_row() has gathered, in the order of pids. */
int ps_tree_output(struct ps *ps, int first);
void ps_tree_release(struct ps *ps);

#endif
