/*
 * tree_page.c - one round of a tree as a table, JSON or CSV: the members in
 * their places, the sums with how many members lack the figure, and who came
 * and who went.
 */
#include "term.h"
#include "tree_page.h"

#include <stdlib.h>
#include <string.h>

#define TREE_EVENTS_TOLD 20

int tree_view_members(struct tree_view *view)
{
	size_t count = plim_tree_size(view->tree);
	size_t i;

	view->members.count = 0;
	view->members.interval_ns = view->interval.elapsed_ns;
	for (i = 0; i < count; i++) {
		const plim_branch *place = plim_tree_at(view->tree, i);
		struct branch *branch = branches_add(&view->members);

		if (branch == NULL)
			return PLIM_ENOMEM;
		branch->process = place->process;
		branch->earlier = plim_tree_earlier(view->tree, i);
		branch->parent = place->parent;
		if (place->parent != PLIM_NO_PARENT)
			branch->parent_pid = plim_process_pid(
			    plim_tree_at(view->tree, place->parent)->process);
		branch->depth = place->depth;
		branch->size = place->size;
		branch->flags = place->flags;
		branch->shown = BRANCH_SELECTED;
	}
	if (branches_sum(&view->members) != 0)
		return PLIM_ENOMEM;
	if ((view->sorted || view->options->reverse) &&
	    branches_sort(&view->members, view->sorted ? &view->sort : NULL,
			  view->descending, view->options->reverse) != 0)
		return PLIM_ENOMEM;
	branches_connect(&view->members);
	return 0;
}

/* --- who came and went ---------------------------------------------------- */

static int tree_past_order(const void *left, const void *right)
{
	int32_t a = ((const struct tree_past *)left)->identity.pid;
	int32_t b = ((const struct tree_past *)right)->identity.pid;

	return (a > b) - (a < b);
}

int tree_view_remember(struct tree_view *view)
{
	size_t count = plim_tree_size(view->tree);
	struct tree_past *past = calloc(count + 1, sizeof *past);
	size_t i;

	if (past == NULL)
		return PLIM_ENOMEM;
	for (i = 0; i < count; i++) {
		const plim_process *process =
		    plim_tree_at(view->tree, i)->process;
		plim_text name = plim_process_text(process, PLIM_FIELD_NAME);

		past[i].identity = plim_process_identity(process);
		past[i].name_size = name.bytes.size < sizeof past[i].name
					? name.bytes.size
					: sizeof past[i].name;
		if (past[i].name_size > 0)
			memcpy(past[i].name, name.bytes.data,
			       past[i].name_size);
	}
	if (count > 0)
		qsort(past, count, sizeof *past, tree_past_order);
	free(view->past);
	view->past = past;
	view->past_count = count;
	return 0;
}

/* Those of the round before that are no members now have ended. */
static void tree_mark_present(struct tree_view *view)
{
	size_t i;

	for (i = 0; i < view->members.count; i++) {
		struct branch *branch = &view->members.items[i];
		struct tree_past wanted = {
		    .identity.pid = plim_process_pid(branch->process)};
		struct tree_past *past;

		if ((branch->flags & PLIM_BRANCH_BORN) != 0 ||
		    view->past_count == 0)
			continue;
		past = bsearch(&wanted, view->past, view->past_count,
			       sizeof *view->past, tree_past_order);
		if (past != NULL)
			past->present = 1;
	}
}

/* --- the table ------------------------------------------------------------ */

static const char *tree_note(uint32_t flags)
{
	static const char *const notes[] = {"",
					    "other parent",
					    "new",
					    "new, other parent",
					    "reaps unseen",
					    "other parent, reaps unseen",
					    "new, reaps unseen",
					    "new, other parent, reaps unseen"};

	return notes[flags & 7];
}

static int tree_has_notes(const struct tree_view *view)
{
	size_t i;

	for (i = 0; i < view->members.count; i++)
		if (view->members.items[i].flags != 0)
			return 1;
	return 0;
}

static void tree_blank(plim_table *table)
{
	plim_table_text(table, (plim_bytes){"", 0});
}

static void tree_cell(struct tree_view *view, plim_table *table,
		      struct draw *draw, const struct branch *branch,
		      const struct column *column)
{
	const plim_sum *sum;

	if (column->field->id == PLIM_FIELD_NAME) {
		draw_name(
		    draw, table, branch->depth, branch->more,
		    plim_process_text(branch->process, PLIM_FIELD_NAME).bytes);
	} else if (column->subtree) {
		sum = &branch->sums[branches_summed(&view->members, column)];
		sum_cell(
		    view->options, table,
		    branch_sum_real(&view->members, *sum, column), sum->missing,
		    column->members ? PLIM_UNIT_NONE : column_unit(column));
	} else {
		column_cell(column, table, branch->process, branch->earlier);
	}
}

/* Over the members, as each of them has it. */
static plim_sum tree_sum(const struct tree_view *view,
			 const struct column *column)
{
	plim_sum sum = {{0}, {0}, 0, 0};
	size_t i;

	if (!column->rate)
		return plim_tree_sum(view->tree, column->field->id);
	for (i = 0; i < view->members.count; i++)
		plim_sum_add(&sum,
			     branch_part(&view->members.items[i], column));
	return sum;
}

/* With what ended descendants have used. */
static plim_real tree_in_all(const struct tree_view *view,
			     const struct column *column)
{
	int id = column->field->id;
	plim_real rate;

	if (!column->rate)
		return plim_real_of(plim_tree_total(view->tree, id));
	rate = plim_tree_rate(view->tree, id);
	if (column->field->unit == PLIM_UNIT_NS)
		rate.value /= 1e7;
	return rate;
}

static void tree_sum_row(struct tree_view *view, plim_table *table,
			 struct draw *draw, int in_all)
{
	int c;

	for (c = 0; c < view->columns.count; c++) {
		const struct column *column = &view->columns.items[c];
		int counter = column->field->kind == PLIM_KIND_COUNTER;
		plim_sum sum;

		if (column->field->id == PLIM_FIELD_NAME) {
			plim_table_text(table, in_all
						   ? (plim_bytes){"in all", 6}
						   : (plim_bytes){"sum", 3});
		} else if (column->subtree || !column_is_sum(column) ||
			   (in_all && !counter)) {
			tree_blank(table);
		} else if (in_all) {
			plim_table_real(table, tree_in_all(view, column),
					column_unit(column));
		} else {
			sum = tree_sum(view, column);
			draw->lacking |= sum_cell(
			    view->options, table,
			    branch_sum_real(&view->members, sum, column),
			    sum.missing, column_unit(column));
		}
	}
	if (tree_has_notes(view))
		tree_blank(table);
}

static void tree_told(const struct tree_view *view, const char *what,
		      const plim_identity *identity, plim_bytes name)
{
	char text[64];

	plim_identity_format(identity, text, sizeof text);
	output_format("%s %s  ", what, text);
	output_escaped(view->options, name);
	output_text("\n");
}

/* Of a round in words; the first so many. */
static void tree_events(struct tree_view *view)
{
	size_t told = 0;
	size_t all = 0;
	size_t i;

	tree_mark_present(view);
	for (i = 0; i < view->past_count; i++)
		if (!view->past[i].present && ++all <= TREE_EVENTS_TOLD) {
			told++;
			tree_told(view, "ended  ", &view->past[i].identity,
				  (plim_bytes){view->past[i].name,
					       view->past[i].name_size});
		}
	for (i = 0; i < view->members.count; i++) {
		const struct branch *branch = &view->members.items[i];
		plim_identity identity;

		if ((branch->flags & PLIM_BRANCH_BORN) == 0 ||
		    ++all > TREE_EVENTS_TOLD)
			continue;
		told++;
		identity = plim_process_identity(branch->process);
		tree_told(
		    view, "started", &identity,
		    plim_process_text(branch->process, PLIM_FIELD_NAME).bytes);
	}
	if (all > told)
		output_format("and %zu more\n", all - told);
}

static int tree_shows(const struct tree_view *view, int field)
{
	int c;

	for (c = 0; c < view->columns.count; c++)
		if (view->columns.items[c].field->id == field)
			return 1;
	return 0;
}

static int tree_shows_kind(const struct tree_view *view, int kind)
{
	int c;

	for (c = 0; c < view->columns.count; c++)
		if (view->columns.items[c].field->kind == kind)
			return 1;
	return 0;
}

static void tree_footer(struct tree_view *view)
{
	plim_tree_facts facts = plim_tree_about(view->tree);

	output_format("%u process%s", facts.members,
		      facts.members == 1 ? "" : "es");
	if (view->rounds)
		output_format(
		    " in %s: %u started, %u ended",
		    show_count(view->options,
			       plim_count_known(view->interval.elapsed_ns,
						PLIM_METHOD_SYSTEM),
			       PLIM_UNIT_NS),
		    facts.born, facts.ended);
	if (facts.unreadable > 0)
		output_format("; %u with figures refused to this user",
			      facts.unreadable);
	if (facts.reparented > 0)
		output_format("; %u given to a parent outside",
			      facts.reparented);
	if (facts.vanished > 0)
		output_format("; %u ended before they were read",
			      facts.vanished);
	if (facts.kept > 0)
		output_format("; of %u that ended no member was charged, and "
			      "their last known figures are in it",
			      facts.kept);
	if (facts.ignoring > 0)
		output_format("; %u ignore the end of their children, whose "
			      "cost is charged to nobody",
			      facts.ignoring);
	output_text("\n");
	if (tree_shows(view, PLIM_FIELD_RESIDENT) && facts.members > 1)
		output_text("a sum of resident memory counts a page that "
			    "several share once for each of them\n");
}

static int tree_table(struct tree_view *view)
{
	struct draw draw = {.ascii = view->options->ascii};
	int notes = tree_has_notes(view);
	uint64_t limit = view->options->limit;
	plim_table *table;
	plim_error error;
	size_t i;
	int c;

	if (plim_table_new(&table, NULL, &error) != PLIM_OK)
		return fail_with(view->options, &error);
	plim_table_ascii(table, view->options->ascii);
	for (c = 0; c < view->columns.count; c++)
		plim_table_column(table, view->columns.items[c].title,
				  !column_is_text(&view->columns.items[c]));
	if (notes)
		plim_table_column(table, "NOTE", 0);
	for (i = 0; i < view->members.count && (limit == 0 || i < limit); i++) {
		const struct branch *branch = &view->members.items[i];
		const char *note = tree_note(branch->flags);

		for (c = 0; c < view->columns.count; c++)
			tree_cell(view, table, &draw, branch,
				  &view->columns.items[c]);
		if (notes)
			plim_table_text(table,
					(plim_bytes){note, strlen(note)});
	}
	tree_sum_row(view, table, &draw, 0);
	if (tree_shows_kind(view, PLIM_KIND_COUNTER))
		tree_sum_row(view, table, &draw, 1);
	if (view->options->watch)
		output_clear_screen(view->options);
	output_bold(view->options);
	plim_table_print(table, term_width(), 1, output_write, &standard_output,
			 NULL);
	plim_table_free(table);
	draw_lacking(&draw);
	tree_footer(view);
	if (view->options->watch)
		tree_events(view);
	output_cost(view->options, view->host, 0);
	return EXIT_DONE;
}

/* --- JSON ----------------------------------------------------------------- */

static void tree_json_member(struct tree_view *view, plim_json *json,
			     const struct branch *branch)
{
	char name[80];
	int k;

	plim_json_object(json, NULL);
	plim_json_process_members(json, branch->process, branch->earlier,
				  &view->shown);
	json_parent(json, branch);
	plim_json_boolean(json, "born",
			  (branch->flags & PLIM_BRANCH_BORN) != 0);
	plim_json_boolean(json, "reparented",
			  (branch->flags & PLIM_BRANCH_REPARENTED) != 0);
	plim_json_boolean(json, "ignores_children",
			  (branch->flags & PLIM_BRANCH_IGNORES_CHILDREN) != 0);
	if (view->members.summed.count > 0) {
		plim_json_object(json, "tree_sums");
		for (k = 0; k < view->members.summed.count; k++) {
			const struct column *column =
			    &view->members.summed.items[k];

			json_sum(
			    json, column_json_name(column, name, sizeof name),
			    branch->sums[k], column, view->interval.elapsed_ns);
		}
		plim_json_end(json);
	}
	plim_json_end(json);
}

static int tree_json_has(const struct tree_view *view, const plim_field *field,
			 int counters)
{
	return plim_field_set_has(&view->shown, field->id) &&
	       (field->kind == PLIM_KIND_COUNTER ||
		(!counters && field->kind == PLIM_KIND_GAUGE));
}

static void tree_json_sums(struct tree_view *view, plim_json *json)
{
	size_t i;

	plim_json_object(json, "sums");
	for (i = 0; i < plim_field_count(); i++) {
		const struct column column = {.field = plim_field_at(i)};

		if (tree_json_has(view, column.field, 0))
			json_sum(json, column.field->name,
				 plim_tree_sum(view->tree, column.field->id),
				 &column, 0);
	}
	plim_json_end(json);
	plim_json_object(json, "totals");
	for (i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (tree_json_has(view, field, 1))
			json_count_figure(
			    json, field->name,
			    plim_tree_total(view->tree, field->id));
	}
	plim_json_end(json);
}

static void tree_json_rates(struct tree_view *view, plim_json *json)
{
	char name[80];
	size_t i;

	if (!view->rounds)
		return;
	plim_json_object(json, "rates");
	plim_json_whole(json, "interval_ns", view->interval.elapsed_ns);
	plim_json_whole(json, "suspended_ns", view->interval.suspended_ns);
	json_figure(json, "cpu_percent", plim_tree_cpu_percent(view->tree));
	for (i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (!tree_json_has(view, field, 1))
			continue;
		snprintf(name, sizeof name, "%s_per_second", field->name);
		json_figure(json, name, plim_tree_rate(view->tree, field->id));
	}
	plim_json_end(json);
}

static void tree_json_facts(struct tree_view *view, plim_json *json)
{
	plim_tree_facts facts = plim_tree_about(view->tree);

	plim_json_object(json, "facts");
	plim_json_whole(json, "members", facts.members);
	plim_json_whole(json, "unreadable", facts.unreadable);
	plim_json_whole(json, "born", facts.born);
	plim_json_whole(json, "ended", facts.ended);
	plim_json_whole(json, "reparented", facts.reparented);
	plim_json_whole(json, "vanished", facts.vanished);
	plim_json_whole(json, "kept", facts.kept);
	plim_json_whole(json, "ignoring", facts.ignoring);
	plim_json_end(json);
}

static void tree_json_events(struct tree_view *view, plim_json *json)
{
	char text[64];
	size_t i;

	if (!view->rounds)
		return;
	plim_json_array(json, "events");
	tree_mark_present(view);
	for (i = 0; i < view->past_count; i++) {
		if (view->past[i].present)
			continue;
		plim_identity_format(&view->past[i].identity, text,
				     sizeof text);
		plim_json_object(json, NULL);
		plim_json_string(json, "event", "gone");
		plim_json_whole(json, "pid",
				(uint64_t)view->past[i].identity.pid);
		plim_json_string(json, "identity", text);
		plim_json_end(json);
	}
	for (i = 0; i < view->members.count; i++)
		if ((view->members.items[i].flags & PLIM_BRANCH_BORN) != 0)
			json_event(json, "started",
				   view->members.items[i].process, NULL);
	plim_json_end(json);
}

void tree_view_json(struct tree_view *view, plim_json *json, const char *list,
		    uint64_t most)
{
	size_t i;

	plim_json_object(json, "tree");
	plim_json_whole(json, "root",
			(uint64_t)plim_target_identity(view->root).pid);
	plim_json_array(json, list);
	for (i = 0; i < view->members.count && (most == 0 || i < most); i++)
		tree_json_member(view, json, &view->members.items[i]);
	plim_json_end(json);
	tree_json_sums(view, json);
	tree_json_rates(view, json);
	tree_json_facts(view, json);
	plim_json_end(json);
}

static int tree_json(struct tree_view *view)
{
	plim_json *json =
	    json_begin(view->options, view->host, view->options->watch);

	if (json == NULL)
		return fail_memory();
	tree_view_json(view, json, "processes", view->options->limit);
	tree_json_events(view, json);
	return json_finish(json, view->host);
}

static int tree_csv(struct tree_view *view, int first)
{
	uint64_t limit = view->options->limit;
	char name[80];
	size_t i;
	int k;

	if (first) {
		output_text("depth,parent,");
		for (k = 0; k < view->members.summed.count; k++) {
			column_json_name(&view->members.summed.items[k], name,
					 sizeof name);
			output_format("tree_%s,tree_%s_missing,", name, name);
		}
		plim_csv_header(&view->shown, view->rounds, output_write,
				&standard_output);
	}
	for (i = 0; i < view->members.count && (limit == 0 || i < limit); i++) {
		const struct branch *branch = &view->members.items[i];

		csv_parent(branch);
		for (k = 0; k < view->members.summed.count; k++)
			csv_sum(branch->sums[k], &view->members.summed.items[k],
				view->interval.elapsed_ns);
		plim_csv_process(branch->process, branch->earlier, &view->shown,
				 view->rounds, output_write, &standard_output);
	}
	return EXIT_DONE;
}

int tree_view_output(struct tree_view *view, int first)
{
	switch (view->options->format) {
	case FORMAT_JSON:
		return tree_json(view);
	case FORMAT_CSV:
		return tree_csv(view, first);
	default:
		return tree_table(view);
	}
}
