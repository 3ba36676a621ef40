/*
 * branch.h - processes in their places, as plim tree and plim ps --tree show
 * them: drawn, sorted among their siblings, left out with what is below them,
 * and summed. What the library hands out as a plim_branch is copied here, so
 * that it can be put in another order.
 */
#ifndef PLIM_BRANCH_H
#define PLIM_BRANCH_H

#include "cmd.h"
#include "column.h"

enum branch_shown {
	BRANCH_LEFT_OUT = 0,
	BRANCH_ON_THE_WAY = 1, /* not selected, but above one that is */
	BRANCH_SELECTED = 2
};

struct branch {
	const plim_process *process;
	const plim_process *earlier; /* the round before, or NULL */
	size_t parent;		     /* index, or PLIM_NO_PARENT */
	int32_t parent_pid;	     /* 0: none */
	size_t depth;
	size_t size; /* of the subtree, itself included */
	uint32_t flags;
	size_t group; /* of a group: its index */
	int shown;
	int more;	/* a sibling that is shown stands below */
	plim_sum *sums; /* of the subtree, one for each of the columns */
};

struct branches {
	struct branch *items; /* in preorder */
	size_t count;
	size_t capacity;
	struct columns summed; /* what the sums are of */
	plim_sum *sums;
	size_t sum_capacity;
	uint64_t interval_ns; /* between the rounds, for sums of rates */
};

void branches_release(struct branches *branches);
/* Room for one more; NULL if there is none to be had. */
struct branch *branches_add(struct branches *branches);
/* Sums of every subtree, of everything in it. 0, or PLIM_ENOMEM. */
int branches_sum(struct branches *branches);
/* The place of a column among those that are summed, or -1. */
int branches_summed(const struct branches *branches,
		    const struct column *column);
/* Siblings by a column, the subtrees with them. `column` NULL: as they are. 0,
 * or PLIM_ENOMEM. */
int branches_sort(struct branches *branches, const struct column *column,
		  int descending, int reverse);
/* The sizes of subtrees, of branches in preorder. */
void branches_measure(struct branches *branches);
/* Room for the sums of all, zeroed. 0, or PLIM_ENOMEM. */
int branches_reserve_sums(struct branches *branches);
/* Who is above a selected one is shown, too; then who has a sibling below. */
void branches_connect(struct branches *branches);

/* What one process adds to the sum of a column. */
plim_count branch_part(const struct branch *branch,
		       const struct column *column);
/* A sum as the column shows it: a count, or a rate. */
plim_real branch_sum_real(const struct branches *branches, plim_sum sum,
			  const struct column *column);

/*
 * Lines drawn from a parent to its children. Rows come in preorder. What is
 * deeper than the lines go has its depth as a number.
 */
#define DRAW_DEPTH 32
struct draw {
	int ascii;
	char more[DRAW_DEPTH];
	int lacking; /* a sum lacks members: draw_lacking() says what that is */
};
void draw_lacking(const struct draw *draw);
/* A cell with a name in its place. */
void draw_name(struct draw *draw, plim_table *table, size_t depth, int more,
	       plim_bytes name);

/* A cell with a sum: its bound, and how many members lack the figure. 1 if
 * some do. */
int sum_cell(const struct options *options, plim_table *table, plim_real value,
	     uint32_t missing, int unit);

/* JSON of a figure, with its method or why there is none; of a sum also how
 * many members it is of, and how many lack it. */
void json_why(plim_json *json, uint8_t state, uint16_t reason, int32_t code);
void json_figure(plim_json *json, const char *key, plim_real real);
void json_count_figure(plim_json *json, const char *key, plim_count count);
void json_sum(plim_json *json, const char *key, plim_sum sum,
	      const struct column *column, uint64_t interval_ns);
/* Bytes in hexadecimal. 0, or PLIM_ENOMEM. */
int json_hex(plim_json *json, const char *key, plim_bytes bytes);
/* depth and parent, as members of an object, or as two fields of CSV. */
void json_parent(plim_json *json, const struct branch *branch);
void csv_parent(const struct branch *branch);
/* A sum and how many lack it: two fields of CSV, each with a comma behind. */
void csv_sum(plim_sum sum, const struct column *column, uint64_t interval_ns);

#endif
