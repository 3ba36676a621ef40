/*
 * cmd_tree.c - plim tree: a process with its descendants, measured together,
 * once, over a while or in rounds; or groups of processes (tree_groups.c).
 *
 * Who is a member, what the sums hold and what ended members leave behind is
 * the library's (plimsoll/tree.h). With several rounds membership sticks: a
 * descendant that is given to another parent stays one.
 */
#include "tree_page.h"

#include <stdlib.h>
#include <string.h>

static int tree_has_rounds(const struct tree_view *view)
{
	int i;

	for (i = 0; i < view->columns.count; i++)
		if (view->columns.items[i].rate)
			return 1;
	return view->options->watch || view->options->for_given ||
	       (view->sorted && view->sort.rate);
}

static void tree_need(struct tree_view *view, const struct column *column)
{
	struct columns *summed = &view->members.summed;

	plim_field_set_add(&view->fields, column->field->id);
	if (column->subtree && summed->count < COLUMN_MOST &&
	    branches_summed(&view->members, column) < 0)
		summed->items[summed->count++] = *column;
}

/* A tree is drawn in the column of names, so there is one. */
static int tree_columns(struct tree_view *view, plim_error *error)
{
	static const char totals[] = "pid,uid,state,threads,cpu,resident,"
				     "private,disk_read,disk_write,wakeups,"
				     "name";
	const char *list = view->options->columns;
	int code;
	int i;

	if (list == NULL)
		list = tree_has_rounds(view) ? column_list(1, 0) : totals;
	code = columns_parse(&view->columns, list, error);
	for (i = 0; code == PLIM_OK && i < view->columns.count; i++)
		if (view->columns.items[i].field->id == PLIM_FIELD_NAME)
			return PLIM_OK;
	if (code != PLIM_OK || view->columns.count == COLUMN_MOST)
		return code;
	return column_parse(&view->columns.items[view->columns.count++],
			    (plim_bytes){"name", 4}, error);
}

static int tree_prepare(struct tree_view *view, plim_error *error)
{
	const struct options *options = view->options;
	int code = PLIM_OK;
	int i;

	if (options->sort != NULL) {
		code = column_parse(
		    &view->sort,
		    (plim_bytes){options->sort, strlen(options->sort)}, error);
		view->sorted = 1;
		view->descending =
		    code == PLIM_OK &&
		    column_is_sum(&view->sort) != options->reverse;
	}
	if (code == PLIM_OK)
		code = tree_columns(view, error);
	if (code != PLIM_OK)
		return code;
	view->rounds = tree_has_rounds(view);
	if (options->format != FORMAT_TABLE && options->columns == NULL)
		view->shown = plim_field_set_preset(PLIM_FIELDS_FULL);
	else
		for (i = 0; i < view->columns.count; i++)
			if (!view->columns.items[i].members)
				plim_field_set_add(
				    &view->shown,
				    view->columns.items[i].field->id);
	view->fields = view->shown;
	for (i = 0; i < view->columns.count; i++)
		tree_need(view, &view->columns.items[i]);
	if (view->sorted)
		tree_need(view, &view->sort);
	return PLIM_OK;
}

static int tree_take(struct tree_view *view, plim_error *error)
{
	const plim_tree_options take = {
	    .size = sizeof take,
	    .fields = &view->fields,
	    .threads = view->options->threads,
	    .sticky = view->rounds,
	};
	int code = plim_tree_usage(view->tree, view->root, &take, error);

	memset(&view->interval, 0, sizeof view->interval);
	if (code == PLIM_OK)
		plim_tree_interval(view->tree, &view->interval, NULL);
	return code;
}

static int tree_show(struct tree_view *view, int first)
{
	int status = EXIT_DONE;

	if (tree_view_members(view) != 0)
		return fail_memory();
	status = tree_view_output(view, first);
	if (status == EXIT_DONE && tree_view_remember(view) != 0)
		return fail_memory();
	return status;
}

static int tree_run(struct tree_view *view, plim_error *error)
{
	const struct options *options = view->options;
	uint64_t pause = options->for_given ? options->for_ns : 0;
	uint64_t end = UINT64_MAX;
	int status = EXIT_DONE;

	if (tree_take(view, error) != PLIM_OK)
		return fail_with(options, error);
	if (!view->rounds)
		return tree_show(view, 1);
	if (tree_view_remember(view) != 0)
		return fail_memory();
	if (options->watch && options->for_given)
		end = plim_host_now(view->host).monotonic.ns + options->for_ns;
	if (options->watch || !options->for_given)
		pause = options->every_ns;
	do {
		int stopped = interrupt_sleep(pause, -1);

		if (tree_take(view, error) != PLIM_OK)
			return fail_with(options, error);
		status = tree_show(view, view->round++ == 0);
		if (stopped)
			return EXIT_INTERRUPTED;
	} while (options->watch && status == EXIT_DONE && output_flush() == 0 &&
		 plim_tree_size(view->tree) > 0 &&
		 (options->rounds == 0 || view->round < options->rounds) &&
		 plim_host_now(view->host).monotonic.ns < end);
	return status;
}

int cmd_tree(const struct options *options)
{
	struct tree_view view = {.options = options};
	plim_error error;
	int status;

	if (options->group != NULL)
		return tree_groups(options);
	if (options->operand_count == 0)
		return fail_usage("usage: plim %s", command_given()->usage);
	if (options->operand_count > 1)
		return fail_usage("tree: what is '%s' for? usage: plim %s",
				  options->operands[1], command_given()->usage);
	if (tree_prepare(&view, &error) != PLIM_OK ||
	    host_open(options, &view.host, &error) != PLIM_OK ||
	    target_resolve(view.host, options->operands[0], &view.root,
			   &error) != PLIM_OK ||
	    plim_tree_new(&view.tree, view.host, &error) != PLIM_OK)
		status = fail_with(options, &error);
	else
		status = tree_run(&view, &error);
	branches_release(&view.members);
	free(view.past);
	plim_tree_free(view.tree);
	plim_target_close(view.root);
	plim_host_close(view.host);
	return status;
}
