/*
 * tree.h - a workload that makes children, and a tree that watches it.
 */
#ifndef TESTS_HOST_TREE_H
#define TESTS_HOST_TREE_H

#include "common.h"

#include <string.h>

struct tree {
	plim_host *host;
	struct spawn family;
	plim_target *root;
	plim_tree *tree;
	plim_tree_options options;
	plim_field_set fields;
};

/* Starts the workload and takes hold of it; the fields are the full set. */
static inline void tree_begin(struct tree *tree, const char *const *argv,
			      int sticky)
{
	memset(tree, 0, sizeof(*tree));
	tree->host = open_host(0);
	spawn_start(&tree->family, argv);
	tree->root = open_target(tree->host, tree->family.pid);
	assert_int_equal(plim_tree_new(&tree->tree, tree->host, NULL), PLIM_OK);
	tree->fields = plim_field_set_preset(PLIM_FIELDS_FULL);
	tree->options = (plim_tree_options){
	    .size = sizeof(tree->options),
	    .fields = &tree->fields,
	    .sticky = sticky,
	};
}

static inline void tree_round(struct tree *tree)
{
	plim_error error = {0};

	if (plim_tree_usage(tree->tree, tree->root, &tree->options, &error) !=
	    PLIM_OK)
		fail_msg("plim_tree_usage: %s", plim_error_word(error.code));
}

static inline void tree_end(struct tree *tree)
{
	spawn_end(&tree->family);
	plim_tree_free(tree->tree);
	plim_target_close(tree->root);
	plim_host_close(tree->host);
}

/* Asks the workload for another process; its pid. */
static inline uint64_t tree_fork(struct tree *tree, const char *command)
{
	spawn_ask(&tree->family, command);
	return spawn_truth(&tree->family, "child");
}

/* Kills one and lets the workload wait for it. */
static inline void tree_kill(struct tree *tree, uint64_t pid)
{
	char command[64];

	snprintf(command, sizeof(command), "end %llu", (unsigned long long)pid);
	spawn_ask(&tree->family, command);
	spawn_ask(&tree->family, "reap");
}

static inline void tree_expect(const struct tree *tree, size_t at, pid_t pid,
			       size_t parent, size_t depth, size_t size,
			       uint32_t flags)
{
	const plim_branch *branch = plim_tree_at(tree->tree, at);

	assert_non_null(branch);
	assert_int_equal(plim_process_pid(branch->process), pid);
	assert_int_equal(branch->parent, parent);
	assert_int_equal(branch->depth, depth);
	assert_int_equal(branch->size, size);
	assert_int_equal(branch->flags, flags);
	assert_int_equal(branch->reserved, 0);
}

#endif
