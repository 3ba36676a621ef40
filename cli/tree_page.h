/*
 * tree_page.h - what plim tree has found out, between measuring (cmd_tree.c)
 * and telling (tree_page.c).
 */
#ifndef PLIM_TREE_PAGE_H
#define PLIM_TREE_PAGE_H

#include "branch.h"

/* Of a member of the round before: enough to tell its end. */
struct tree_past {
	plim_identity identity;
	size_t name_size;
	char name[64];
	int present; /* in this round, too */
};

struct tree_view {
	const struct options *options;
	plim_host *host;
	plim_target *root;
	plim_tree *tree;
	struct columns columns;
	struct column sort;
	int sorted;
	int descending;
	int rounds; /* there are rates */
	uint64_t round;
	plim_field_set shown; /* in JSON and CSV */
	plim_field_set fields;
	struct branches members;
	plim_interval interval;
	struct tree_past *past; /* by pid */
	size_t past_count;
};

/* Fills `members` from the round that was taken. 0, or PLIM_ENOMEM. */
int tree_view_members(struct tree_view *view);
/* Remembers this round for the events of the next. 0, or PLIM_ENOMEM. */
int tree_view_remember(struct tree_view *view);
/* The object `tree`, with the first members (0: all) in a list of that name. */
void tree_view_json(struct tree_view *view, plim_json *json, const char *list,
		    uint64_t most);
int tree_view_output(struct tree_view *view, int first);

/* tree_groups.c: plim tree --cgroup and its like. */
int tree_groups(const struct options *options);

#endif
