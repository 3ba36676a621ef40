/*
 * tree_groups.c - plim tree --cgroup, --unit, --container, --user: what the
 * processes that have something in common cost together.
 *
 * Who belongs together is the library's (plim_groups). Of control groups the
 * members include those of every group below. A rate is what common members
 * added between two rounds, and all of those that started since; where any
 * process ended, it is a lower bound.
 */
#include "term.h"
#include "tree_page.h"
#include "user.h"

#include <stdlib.h>
#include <string.h>

struct groups_view {
	const struct options *options;
	plim_host *host;
	plim_snapshot *snapshots[2];
	plim_snapshot *now;
	plim_snapshot *before; /* NULL in the first round */
	plim_filter *filter;
	plim_groups *groups;
	const plim_field *by;
	struct columns columns;
	struct column sort;
	int sorted;
	int rounds;
	int ended; /* processes between the rounds */
	plim_field_set fields;
	struct branches list; /* a branch for each group */
};

static const char groups_columns[] =
    "threads,cpu,resident,private,disk_read,disk_write,wakeups";
static const char groups_rate_columns[] =
    "threads,cpu_percent,resident,private,disk_read_per_second,"
    "disk_write_per_second,wakeups_per_second";

static int groups_refuse(plim_bytes name, plim_error *error)
{
	memset(error, 0, sizeof *error);
	error->code = PLIM_ENAME;
	snprintf(error->operation, sizeof error->operation, "column");
	snprintf(error->path, sizeof error->path, "%.*s",
		 (int)(name.size < 63 ? name.size : 63), name.data);
	snprintf(error->detail, sizeof error->detail,
		 "groups show what can be summed");
	return PLIM_ENAME;
}

/* Its sum is what is shown of it. */
static int groups_add_column(struct groups_view *view, struct column *column,
			     plim_bytes name, plim_error *error)
{
	struct columns *summed = &view->list.summed;

	if (!column_is_sum(column) || column->subtree)
		return groups_refuse(name, error);
	column->subtree = 1;
	plim_field_set_add(&view->fields, column->field->id);
	if (summed->count < COLUMN_MOST &&
	    branches_summed(&view->list, column) < 0)
		summed->items[summed->count++] = *column;
	return PLIM_OK;
}

/* JSON and CSV have every sum unless some are asked for. */
static int groups_all_columns(struct groups_view *view, plim_error *error)
{
	plim_field_set full = plim_field_set_preset(PLIM_FIELDS_FULL);
	char name[80];
	size_t i;
	int rate;

	for (i = 0; i < plim_field_count(); i++)
		for (rate = 0; rate <= view->rounds; rate++) {
			const plim_field *field = plim_field_at(i);
			struct column *column =
			    &view->columns.items[view->columns.count];

			*column = (struct column){.field = field, .rate = rate};
			if (!plim_field_set_has(&full, field->id) ||
			    !column_is_sum(column) ||
			    view->columns.count == COLUMN_MOST - 1)
				continue;
			if (rate && (field->kind != PLIM_KIND_COUNTER ||
				     (field->unit == PLIM_UNIT_NS &&
				      field->id != PLIM_FIELD_CPU)))
				continue;
			column_json_name(column, name, sizeof name);
			if (groups_add_column(view, column,
					      (plim_bytes){name, strlen(name)},
					      error) != PLIM_OK)
				return error->code;
			view->columns.count++;
		}
	return PLIM_OK;
}

static int groups_some_columns(struct groups_view *view, plim_error *error)
{
	const char *list = view->options->columns;
	int code = PLIM_OK;
	int i;

	if (list == NULL)
		list = view->rounds ? groups_rate_columns : groups_columns;
	code = columns_parse(&view->columns, list, error);
	for (i = 0; code == PLIM_OK && i < view->columns.count; i++) {
		plim_bytes name = {list, strcspn(list, ",")};

		view->rounds |= view->columns.items[i].rate;
		code = groups_add_column(view, &view->columns.items[i], name,
					 error);
		list += name.size + (list[name.size] == ',');
	}
	return code;
}

/* The words behind the options are one filter, as those of plim ps. */
static int groups_filter(struct groups_view *view, plim_error *error)
{
	char text[PLIM_FILTER_LIMIT + 2];
	int code;

	if (view->options->operand_count == 0)
		return PLIM_OK;
	options_filter(view->options, text, sizeof text);
	code = plim_filter_new(&view->filter, text, NULL, error);
	if (code == PLIM_OK && plim_filter_needs_rates(view->filter)) {
		memset(error, 0, sizeof *error);
		error->code = PLIM_ENAME;
		snprintf(error->operation, sizeof error->operation, "filter");
		snprintf(error->detail, sizeof error->detail,
			 "who belongs to a group is judged without rates");
		code = PLIM_ENAME;
	}
	return code;
}

static int groups_prepare(struct groups_view *view, plim_error *error)
{
	const struct options *options = view->options;
	const char *name = options->sort;
	int code = groups_filter(view, error);
	int i;

	view->rounds = options->watch || options->for_given;
	if (code == PLIM_OK && name != NULL) {
		plim_bytes bytes = {name, strlen(name)};

		code = column_parse(&view->sort, bytes, error);
		if (code == PLIM_OK)
			code =
			    groups_add_column(view, &view->sort, bytes, error);
		view->sorted = 1;
		view->rounds |= view->sort.rate;
	}
	if (code == PLIM_OK)
		code =
		    options->format != FORMAT_TABLE && options->columns == NULL
			? groups_all_columns(view, error)
			: groups_some_columns(view, error);
	view->by = plim_field_find(
	    (plim_bytes){options->group, strlen(options->group)});
	if (code == PLIM_OK && view->by == NULL)
		code = groups_refuse(
		    (plim_bytes){options->group, strlen(options->group)},
		    error);
	if (code != PLIM_OK)
		return code;
	plim_field_set_add(&view->fields, view->by->id);
	for (i = 1; view->filter != NULL && i < PLIM_FIELD_LIMIT; i++) {
		plim_field_set asked = plim_filter_fields(view->filter);

		if (plim_field_set_has(&asked, i))
			plim_field_set_add(&view->fields, i);
	}
	return PLIM_OK;
}

/* --- one round ------------------------------------------------------------ */

static int groups_event(int event, const plim_process *first,
			const plim_process *last, void *user)
{
	(void)first;
	(void)last;
	((struct groups_view *)user)->ended += event == PLIM_EVENT_ENDED;
	return 0;
}

/* What one member added to a counter since the round before. */
static plim_count groups_change(const struct groups_view *view,
				const plim_process *process, int field)
{
	const plim_process *earlier =
	    plim_snapshot_find(view->before, plim_process_pid(process));
	plim_interval interval;

	if (earlier != NULL &&
	    plim_process_interval(earlier, process, &interval, NULL) == PLIM_OK)
		return plim_process_change(earlier, process, field);
	return plim_process_count(process, field);
}

static plim_sum groups_sum(const struct groups_view *view, size_t index,
			   const struct column *column)
{
	size_t members = plim_groups_at(view->groups, index)->members;
	int id = column->field->id;
	plim_sum sum = {{0}, {0}, 0, 0};
	size_t i;

	if (!column->rate)
		return plim_groups_sum(view->groups, index, id);
	for (i = 0; i < members; i++) {
		const plim_process *process =
		    plim_groups_member(view->groups, index, i);

		plim_sum_add(&sum, view->before != NULL
				       ? groups_change(view, process, id)
				       : plim_count_missing(
					     PLIM_REASON_FIRST_SAMPLE, 0));
	}
	if (view->ended > 0)
		sum.total_known.bound = PLIM_BOUND_AT_LEAST;
	return sum;
}

static int groups_list(struct groups_view *view)
{
	struct branches *list = &view->list;
	size_t count = plim_groups_size(view->groups);
	size_t i;
	int k;

	list->count = 0;
	for (i = 0; i < count; i++) {
		const plim_group *group = plim_groups_at(view->groups, i);
		struct branch *branch = branches_add(list);

		if (branch == NULL)
			return PLIM_ENOMEM;
		branch->parent = group->parent;
		branch->depth = group->depth;
		branch->group = i;
		branch->shown = BRANCH_SELECTED;
	}
	if (branches_reserve_sums(list) != 0)
		return PLIM_ENOMEM;
	for (i = 0; i < count; i++)
		for (k = 0; k < list->summed.count; k++)
			list->items[i].sums[k] =
			    groups_sum(view, i, &list->summed.items[k]);
	if (branches_sort(list, view->sorted ? &view->sort : NULL,
			  !view->options->reverse, view->options->reverse) != 0)
		return PLIM_ENOMEM;
	branches_measure(list);
	branches_connect(list);
	return 0;
}

static int groups_take(struct groups_view *view, plim_error *error)
{
	plim_snapshot *next =
	    view->snapshots[view->now == view->snapshots[0] ? 1 : 0];
	const plim_snapshot_options take = {.size = sizeof take,
					    .fields = &view->fields,
					    .threads = view->options->threads,
					    .previous = view->now};
	int code = plim_snapshot_take(next, &take, error);

	if (code != PLIM_OK)
		return code;
	view->before = view->now;
	view->now = next;
	view->ended = 0;
	if (view->before != NULL) {
		plim_snapshot_compare(view->before, view->now, groups_event,
				      view);
		view->list.interval_ns =
		    plim_snapshot_begin(view->now).monotonic.ns -
		    plim_snapshot_begin(view->before).monotonic.ns;
	}
	return plim_groups_fill(view->groups, view->now, view->by->id,
				view->filter, error);
}

/* --- what is shown -------------------------------------------------------- */

/* A user by name, but not one of another machine; of a path the last part; of
 * others the whole; or why there is none. */
static plim_bytes groups_name(const struct groups_view *view,
			      const plim_group *group, char *text, size_t size)
{
	plim_bytes name = group->key.bytes;
	plim_bytes last = plim_base_name(name);

	if (group->key.state != PLIM_STATE_KNOWN) {
		snprintf(text, size, "not known: %s",
			 show_reason(group->key.state, group->key.method,
				     group->key.code));
		return (plim_bytes){text, strlen(text)};
	}
	if (view->by->id == PLIM_FIELD_UID &&
	    plim_host_count(view->host, PLIM_HOST_IS_LIVE).value == 1) {
		const char *user;

		snprintf(text, size, "%.*s", (int)name.size, name.data);
		user = user_name((uint32_t)strtoul(text, NULL, 10));
		return (plim_bytes){user, strlen(user)};
	}
	return group->depth > 0 && last.size > 0 ? last : name;
}

static void groups_row(struct groups_view *view, plim_table *table,
		       struct draw *draw, const struct branch *branch)
{
	const plim_group *group = plim_groups_at(view->groups, branch->group);
	char text[320];
	int c;

	plim_table_count(table,
			 plim_count_known(group->members, PLIM_METHOD_LISTING),
			 PLIM_UNIT_NONE);
	if (view->by->kind == PLIM_KIND_TEXT)
		plim_table_count(
		    table, plim_count_known(group->own, PLIM_METHOD_LISTING),
		    PLIM_UNIT_NONE);
	for (c = 0; c < view->columns.count; c++) {
		const struct column *column = &view->columns.items[c];
		plim_sum sum =
		    branch->sums[branches_summed(&view->list, column)];

		draw->lacking |=
		    sum_cell(view->options, table,
			     branch_sum_real(&view->list, sum, column),
			     sum.missing, column_unit(column));
	}
	draw_name(draw, table, branch->depth, branch->more,
		  groups_name(view, group, text, sizeof text));
}

static void groups_footer(const struct groups_view *view)
{
	plim_cost cost = plim_snapshot_cost(view->now);
	int c;

	output_format("%zu group%s of %u processes", view->list.count,
		      view->list.count == 1 ? "" : "s", cost.present);
	if (view->rounds)
		output_format(" in %s", show_count(view->options,
						   plim_count_known(
						       view->list.interval_ns,
						       PLIM_METHOD_SYSTEM),
						   PLIM_UNIT_NS));
	if (cost.refused > 0)
		output_format("; %u with figures refused to this user",
			      cost.refused);
	output_text("\n");
	for (c = 0; c < view->columns.count; c++)
		if (view->columns.items[c].field->id == PLIM_FIELD_RESIDENT)
			output_text("a sum of resident memory counts a page "
				    "that several share once for each of "
				    "them\n");
	output_cost(view->options, view->host, 0);
}

static int groups_table(struct groups_view *view)
{
	struct draw draw = {.ascii = view->options->ascii};
	uint64_t limit = view->options->limit;
	plim_table *table;
	plim_error error;
	size_t i;
	int c;

	if (plim_table_new(&table, NULL, &error) != PLIM_OK)
		return fail_with(view->options, &error);
	plim_table_ascii(table, view->options->ascii);
	plim_table_column(table, "PROCESSES", 1);
	if (view->by->kind == PLIM_KIND_TEXT)
		plim_table_column(table, "OWN", 1);
	for (c = 0; c < view->columns.count; c++)
		plim_table_column(table, view->columns.items[c].title, 1);
	plim_table_column(table, "GROUP", 0);
	for (i = 0; i < view->list.count && (limit == 0 || i < limit); i++)
		groups_row(view, table, &draw, &view->list.items[i]);
	if (view->options->watch)
		output_clear_screen(view->options);
	output_bold(view->options);
	plim_table_print(table, term_width(), 1, output_write, &standard_output,
			 NULL);
	plim_table_free(table);
	draw_lacking(&draw);
	groups_footer(view);
	return EXIT_DONE;
}

static void groups_json_key(plim_json *json, plim_text key)
{
	if (key.state == PLIM_STATE_KNOWN) {
		plim_json_text(json, "key", key.bytes);
		if (!plim_is_utf8(key.bytes))
			json_hex(json, "key_bytes", key.bytes);
		return;
	}
	plim_json_null(json, "key");
	json_why(json, key.state, key.method, key.code);
}

static void groups_json_group(struct groups_view *view, plim_json *json,
			      const struct branch *branch)
{
	const plim_group *group = plim_groups_at(view->groups, branch->group);
	char name[80];
	size_t i;
	int c;

	plim_json_object(json, NULL);
	groups_json_key(json, group->key);
	plim_json_whole(json, "depth", branch->depth);
	if (branch->parent != PLIM_NO_PARENT)
		plim_json_whole(json, "parent", branch->parent);
	else
		plim_json_null(json, "parent");
	plim_json_whole(json, "members", group->members);
	plim_json_whole(json, "own", group->own);
	plim_json_array(json, "pids");
	for (i = 0; i < group->members; i++)
		plim_json_whole(json, NULL,
				(uint64_t)plim_process_pid(plim_groups_member(
				    view->groups, branch->group, i)));
	plim_json_end(json);
	plim_json_object(json, "sums");
	for (c = 0; c < view->columns.count; c++) {
		const struct column *column = &view->columns.items[c];

		json_sum(json, column_json_name(column, name, sizeof name),
			 branch->sums[branches_summed(&view->list, column)],
			 column, view->list.interval_ns);
	}
	plim_json_end(json);
	plim_json_end(json);
}

static int groups_json(struct groups_view *view)
{
	plim_json *json =
	    json_begin(view->options, view->host, view->options->watch);
	uint64_t limit = view->options->limit;
	size_t i;

	if (json == NULL)
		return fail_memory();
	plim_json_string(json, "by", view->by->name);
	plim_json_array(json, "groups");
	for (i = 0; i < view->list.count && (limit == 0 || i < limit); i++)
		groups_json_group(view, json, &view->list.items[i]);
	plim_json_end(json);
	return json_finish(json, view->host);
}

static int groups_csv_key(plim_text key)
{
	size_t size = 4 * key.bytes.size + 8;
	char *text;

	if (key.state != PLIM_STATE_KNOWN)
		return EXIT_DONE;
	text = malloc(size);
	if (text == NULL)
		return fail_memory();
	plim_escape(PLIM_ESCAPE_CSV, key.bytes, text, size);
	output_text(text);
	free(text);
	return EXIT_DONE;
}

static int groups_csv(struct groups_view *view, int first)
{
	uint64_t limit = view->options->limit;
	int status = EXIT_DONE;
	char name[80];
	size_t i;
	int c;

	for (c = 0; first && c < view->columns.count; c++) {
		column_json_name(&view->columns.items[c], name, sizeof name);
		output_format("%s,%s_missing,", name, name);
	}
	if (first)
		output_format("members,own,depth,%s\r\n", view->by->name);
	for (i = 0; status == EXIT_DONE && i < view->list.count &&
		    (limit == 0 || i < limit);
	     i++) {
		const struct branch *branch = &view->list.items[i];
		const plim_group *group =
		    plim_groups_at(view->groups, branch->group);

		for (c = 0; c < view->columns.count; c++)
			csv_sum(branch->sums[branches_summed(
				    &view->list, &view->columns.items[c])],
				&view->columns.items[c],
				view->list.interval_ns);
		output_format("%zu,%zu,%zu,", group->members, group->own,
			      branch->depth);
		status = groups_csv_key(group->key);
		output_text("\r\n");
	}
	return status;
}

static int groups_output(struct groups_view *view, int first)
{
	if (groups_list(view) != 0)
		return fail_memory();
	switch (view->options->format) {
	case FORMAT_JSON:
		return groups_json(view);
	case FORMAT_CSV:
		return groups_csv(view, first);
	default:
		return groups_table(view);
	}
}

static int groups_run(struct groups_view *view, plim_error *error)
{
	const struct options *options = view->options;
	uint64_t pause = options->watch || !options->for_given
			     ? options->every_ns
			     : options->for_ns;
	uint64_t end =
	    options->watch && options->for_given
		? plim_host_now(view->host).monotonic.ns + options->for_ns
		: UINT64_MAX;
	uint64_t round = 0;
	int status;

	if (groups_take(view, error) != PLIM_OK)
		return fail_with(options, error);
	if (!view->rounds)
		return groups_output(view, 1);
	do {
		int stopped = interrupt_sleep(pause, -1);

		if (groups_take(view, error) != PLIM_OK)
			return fail_with(options, error);
		status = groups_output(view, round++ == 0);
		if (stopped)
			return EXIT_INTERRUPTED;
	} while (options->watch && status == EXIT_DONE && output_flush() == 0 &&
		 (options->rounds == 0 || round < options->rounds) &&
		 plim_host_now(view->host).monotonic.ns < end);
	return status;
}

int tree_groups(const struct options *options)
{
	struct groups_view view = {.options = options};
	plim_error error;
	int status;

	if (groups_prepare(&view, &error) != PLIM_OK ||
	    host_open(options, &view.host, &error) != PLIM_OK ||
	    plim_snapshot_new(&view.snapshots[0], view.host, &error) !=
		PLIM_OK ||
	    plim_snapshot_new(&view.snapshots[1], view.host, &error) !=
		PLIM_OK ||
	    plim_groups_new(&view.groups, NULL, &error) != PLIM_OK)
		status = fail_with(options, &error);
	else
		status = groups_run(&view, &error);
	branches_release(&view.list);
	plim_groups_free(view.groups);
	plim_snapshot_free(view.snapshots[0]);
	plim_snapshot_free(view.snapshots[1]);
	plim_filter_free(view.filter);
	plim_host_close(view.host);
	return status;
}
