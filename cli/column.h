/*
 * column.h - what a column of plim ps shows: a field, a rate of one, or the
 * name that a user id has on this machine.
 */
#ifndef PLIM_COLUMN_H
#define PLIM_COLUMN_H

#include <plimsoll.h>

/* Every field, its rate, and a few that are none. */
#define COLUMN_MOST (2 * PLIM_FIELD_LIMIT + 8)

struct column {
	const plim_field *field;
	int rate;    /* 0: the field; 1: per second, of CPU time per cent */
	int subtree; /* of a process and its descendants: branch.h */
	int members; /* of a subtree: how many they are */
	int user;    /* 1: the uid, shown as a name */
	char title[40];
};

struct columns {
	struct column items[COLUMN_MOST];
	int count;
};

/* Reads one name: a field (the suffixes _bytes and _ns may be left out),
 * cpu_percent, a counter with _per_second, or one of these behind tree_; also
 * tree_processes, and user. PLIM_ENAME with the nearest. */
int column_parse(struct column *column, plim_bytes name, plim_error *error);

/* What is shown where nothing is asked for. */
const char *column_list(int rates, int tree);

/* Can it be summed over processes? */
int column_is_sum(const struct column *column);

/* The name that it has in JSON and CSV. */
const char *column_json_name(const struct column *column, char *name,
			     size_t size);

/* Reads a list with commas. */
int columns_parse(struct columns *columns, const char *list, plim_error *error);

/* The figure of a column; `earlier` is the round before or NULL. */
plim_real column_real(const struct column *column, const plim_process *process,
		      const plim_process *earlier);
int column_unit(const struct column *column);
int column_is_text(const struct column *column);

/* For sorting: below, at or above 0. Unavailable ones stand last. */
int column_order(const struct column *column, const plim_process *a,
		 const plim_process *a_earlier, const plim_process *b,
		 const plim_process *b_earlier, int descending);

void column_cell(const struct column *column, plim_table *table,
		 const plim_process *process, const plim_process *earlier);

#endif
