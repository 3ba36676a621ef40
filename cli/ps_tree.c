/*
 * ps_tree.c - plim ps --tree: every process under its parent, with sums of
 * what is below.
 *
 * A link counts only where start times prove it (plim_forest). A process that
 * the filter does not select is shown where one below it is selected, with its
 * pid and name alone, so that every place in the drawing is the true one. Sums
 * are of whole subtrees, whatever the filter selects.
 */
#include "ps.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>

static int ps_tree_refuse(const struct column *column, plim_error *error)
{
	char name[80];

	memset(error, 0, sizeof *error);
	error->code = PLIM_ENAME;
	snprintf(error->operation, sizeof error->operation, "column");
	snprintf(error->path, sizeof error->path, "tree_%s",
		 column_json_name(column, name, sizeof name));
	snprintf(error->detail, sizeof error->detail,
		 "sums of subtrees are there with --tree");
	return PLIM_ENAME;
}

static void ps_tree_sum(struct ps *ps, const struct column *column)
{
	struct columns *summed = &ps->tree.summed;

	if (summed->count < COLUMN_MOST &&
	    branches_summed(&ps->tree, column) < 0)
		summed->items[summed->count++] = *column;
}

static void ps_tree_sum_named(struct ps *ps, const char *name, const char *end)
{
	char text[80];
	struct column column;
	plim_error error;
	int size = snprintf(text, sizeof text, "tree_%s%s", name, end);

	if (column_parse(&column, (plim_bytes){text, (size_t)size}, &error) ==
	    PLIM_OK)
		ps_tree_sum(ps, &column);
}

/* JSON has a sum of every figure that it has. */
static void ps_tree_sum_all(struct ps *ps)
{
	int rates = ps_has_rounds(ps);
	size_t i;

	ps_tree_sum_named(ps, "processes", "");
	for (i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (!plim_field_set_has(&ps->shown, field->id))
			continue;
		ps_tree_sum_named(ps, field->name, "");
		if (rates && field->id == PLIM_FIELD_CPU)
			ps_tree_sum_named(ps, "cpu_percent", "");
		else if (rates && field->kind == PLIM_KIND_COUNTER &&
			 field->unit != PLIM_UNIT_NS)
			ps_tree_sum_named(ps, field->name, "_per_second");
	}
}

int ps_tree_prepare(struct ps *ps, plim_error *error)
{
	int i;

	for (i = 0; i < ps->columns.count; i++) {
		if (!ps->columns.items[i].subtree)
			continue;
		if (!ps->options->tree)
			return ps_tree_refuse(&ps->columns.items[i], error);
		ps_tree_sum(ps, &ps->columns.items[i]);
	}
	if (ps->sorted && ps->sort.subtree) {
		if (!ps->options->tree)
			return ps_tree_refuse(&ps->sort, error);
		ps_tree_sum(ps, &ps->sort);
	}
	if (!ps->options->tree)
		return PLIM_OK;
	if (ps->options->format == FORMAT_JSON)
		ps_tree_sum_all(ps);
	plim_field_set_add(&ps->fields, PLIM_FIELD_PPID);
	plim_field_set_add(&ps->fields, PLIM_FIELD_START_TICKS);
	return plim_forest_new(&ps->forest, NULL, error);
}

void ps_tree_release(struct ps *ps)
{
	branches_release(&ps->tree);
	plim_forest_free(ps->forest);
}

static int ps_tree_by_pid(const void *key, const void *item)
{
	int32_t wanted = *(const int32_t *)key;
	int32_t pid = plim_process_pid(((const struct row *)item)->process);

	return (wanted > pid) - (wanted < pid);
}

/* The rows are gathered in the order of pids. */
static int ps_tree_add(struct ps *ps, const plim_branch *place)
{
	int32_t pid = plim_process_pid(place->process);
	const struct row *row = bsearch(&pid, ps->rows, ps->row_count,
					sizeof *ps->rows, ps_tree_by_pid);
	struct branch *branch = branches_add(&ps->tree);

	if (branch == NULL)
		return PLIM_ENOMEM;
	branch->process = place->process;
	branch->parent = place->parent;
	if (place->parent != PLIM_NO_PARENT)
		branch->parent_pid = plim_process_pid(
		    plim_forest_at(ps->forest, place->parent)->process);
	branch->depth = place->depth;
	branch->size = place->size;
	branch->earlier = row != NULL ? row->earlier : NULL;
	branch->shown =
	    row != NULL && row->selected ? BRANCH_SELECTED : BRANCH_LEFT_OUT;
	return PLIM_OK;
}

static int ps_tree_grow(struct ps *ps, plim_error *error)
{
	int code = plim_forest_plant(ps->forest, ps->now, error);
	size_t i;

	ps->tree.count = 0;
	if (ps->before != NULL)
		ps->tree.interval_ns =
		    plim_snapshot_begin(ps->now).monotonic.ns -
		    plim_snapshot_begin(ps->before).monotonic.ns;
	for (i = 0; code == PLIM_OK && i < plim_forest_size(ps->forest); i++)
		code = ps_tree_add(ps, plim_forest_at(ps->forest, i));
	if (code == PLIM_OK)
		code = branches_sum(&ps->tree);
	if (code == PLIM_OK && (ps->sorted || ps->options->reverse))
		code = branches_sort(&ps->tree, ps->sorted ? &ps->sort : NULL,
				     ps->descending, ps->options->reverse);
	if (code == PLIM_OK)
		branches_connect(&ps->tree);
	return code;
}

/* Of those that are shown, the first so many. */
static int ps_tree_next(struct ps *ps, size_t *at, size_t *shown)
{
	uint64_t limit = ps->options->limit;

	while (*at < ps->tree.count &&
	       ps->tree.items[*at].shown == BRANCH_LEFT_OUT)
		(*at)++;
	if (*at == ps->tree.count || (limit > 0 && *shown == limit))
		return 0;
	(*shown)++;
	return 1;
}

static void ps_tree_cell(struct ps *ps, plim_table *table, struct draw *draw,
			 const struct branch *branch,
			 const struct column *column)
{
	int id = column->field->id;
	const plim_sum *sum;

	if (id == PLIM_FIELD_NAME) {
		draw_name(draw, table, branch->depth, branch->more,
			  plim_process_text(branch->process, id).bytes);
	} else if (column->subtree) {
		sum = &branch->sums[branches_summed(&ps->tree, column)];
		draw->lacking |= sum_cell(
		    ps->options, table,
		    branch_sum_real(&ps->tree, *sum, column), sum->missing,
		    column->members ? PLIM_UNIT_NONE : column_unit(column));
	} else if (branch->shown == BRANCH_ON_THE_WAY && id != PLIM_FIELD_PID) {
		plim_table_text(table, (plim_bytes){"", 0});
	} else {
		column_cell(column, table, branch->process, branch->earlier);
	}
}

static int ps_tree_table(struct ps *ps)
{
	struct draw draw = {.ascii = ps->options->ascii};
	plim_table *table;
	plim_error error;
	size_t shown = 0;
	size_t i;
	int c;

	if (plim_table_new(&table, NULL, &error) != PLIM_OK)
		return fail_with(ps->options, &error);
	plim_table_ascii(table, ps->options->ascii);
	for (c = 0; c < ps->columns.count; c++)
		plim_table_column(table, ps->columns.items[c].title,
				  !column_is_text(&ps->columns.items[c]));
	for (i = 0; ps_tree_next(ps, &i, &shown); i++)
		for (c = 0; c < ps->columns.count; c++)
			ps_tree_cell(ps, table, &draw, &ps->tree.items[i],
				     &ps->columns.items[c]);
	ps_clear(ps);
	output_bold(ps->options);
	plim_table_print(table, term_width(), 1, output_write, &standard_output,
			 NULL);
	plim_table_free(table);
	/* The footer counts what was selected. */
	ps->row_count = 0;
	for (i = 0; i < ps->tree.count; i++)
		ps->row_count += ps->tree.items[i].shown == BRANCH_SELECTED;
	draw_lacking(&draw);
	ps_footer(ps);
	return EXIT_DONE;
}

static void ps_tree_json_process(struct ps *ps, const struct branch *branch)
{
	char name[80];
	int k;

	plim_json_object(ps->json, NULL);
	plim_json_process_members(ps->json, branch->process, branch->earlier,
				  &ps->shown);
	json_parent(ps->json, branch);
	plim_json_boolean(ps->json, "selected",
			  branch->shown == BRANCH_SELECTED);
	plim_json_object(ps->json, "tree_sums");
	for (k = 0; k < ps->tree.summed.count; k++) {
		const struct column *column = &ps->tree.summed.items[k];

		json_sum(ps->json, column_json_name(column, name, sizeof name),
			 branch->sums[k], column, ps->tree.interval_ns);
	}
	plim_json_end(ps->json);
	plim_json_end(ps->json);
}

static int ps_tree_json(struct ps *ps)
{
	size_t shown = 0;
	size_t i;

	if (ps_json_begin(ps) != EXIT_DONE)
		return EXIT_FAILED;
	for (i = 0; ps_tree_next(ps, &i, &shown); i++)
		ps_tree_json_process(ps, &ps->tree.items[i]);
	return ps_json_end(ps);
}

static void ps_tree_csv_header(struct ps *ps)
{
	char name[80];
	int k;

	output_text("depth,parent,selected,");
	for (k = 0; k < ps->tree.summed.count; k++) {
		column_json_name(&ps->tree.summed.items[k], name, sizeof name);
		output_format("tree_%s,tree_%s_missing,", name, name);
	}
	plim_csv_header(&ps->shown, ps_has_rounds(ps), output_write,
			&standard_output);
}

static void ps_tree_csv_row(struct ps *ps, const struct branch *branch)
{
	int k;

	csv_parent(branch);
	output_format("%d,", branch->shown == BRANCH_SELECTED);
	for (k = 0; k < ps->tree.summed.count; k++)
		csv_sum(branch->sums[k], &ps->tree.summed.items[k],
			ps->tree.interval_ns);
	plim_csv_process(branch->process, branch->earlier, &ps->shown,
			 ps_has_rounds(ps), output_write, &standard_output);
}

static int ps_tree_csv(struct ps *ps, int first)
{
	size_t shown = 0;
	size_t i;

	if (first)
		ps_tree_csv_header(ps);
	for (i = 0; ps_tree_next(ps, &i, &shown); i++)
		ps_tree_csv_row(ps, &ps->tree.items[i]);
	return EXIT_DONE;
}

int ps_tree_output(struct ps *ps, int first)
{
	plim_error error;
	int code = ps_tree_grow(ps, &error);

	if (code == PLIM_ENOMEM)
		return fail_memory();
	if (code != PLIM_OK)
		return fail_with(ps->options, &error);
	switch (ps->options->format) {
	case FORMAT_JSON:
		return ps_tree_json(ps);
	case FORMAT_CSV:
		return ps_tree_csv(ps, first);
	default:
		return ps_tree_table(ps);
	}
}
