/*
 * cmd_ps.c - plim ps: every process, filtered, sorted, once or in rounds.
 *
 * Two snapshots alternate. A row knows its process in the round before, if it
 * is still the same one; only then does it have rates. What the columns, the
 * filter and the order need decides what is read.
 */
#include "ps.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>

/* qsort has no argument for us; this is the command's one sort. */
static const struct ps *sorting;

/* A rate anywhere takes two rounds. */
int ps_has_rounds(const struct ps *ps)
{
	int i;

	for (i = 0; i < ps->columns.count; i++)
		if (ps->columns.items[i].rate)
			return 1;
	return ps->options->watch || ps->options->for_given ||
	       (ps->filter != NULL && plim_filter_needs_rates(ps->filter)) ||
	       (ps->sorted && ps->sort.rate);
}

static int ps_filter(struct ps *ps, plim_error *error)
{
	char text[PLIM_FILTER_LIMIT + 2];

	if (ps->options->operand_count == 0)
		return PLIM_OK;
	options_filter(ps->options, text, sizeof text);
	return plim_filter_new(&ps->filter, text, NULL, error);
}

static void ps_fields(struct ps *ps)
{
	int i;

	if (ps->options->format != FORMAT_TABLE && ps->options->columns == NULL)
		ps->shown = plim_field_set_preset(PLIM_FIELDS_FULL);
	else
		for (i = 0; i < ps->columns.count; i++)
			if (!ps->columns.items[i].members)
				plim_field_set_add(
				    &ps->shown, ps->columns.items[i].field->id);
	if (ps->filter != NULL)
		ps->fields = plim_filter_fields(ps->filter);
	for (i = 1; i <= PLIM_FIELD_LAST; i++)
		if (plim_field_set_has(&ps->shown, i))
			plim_field_set_add(&ps->fields, i);
	if (ps->sorted)
		plim_field_set_add(&ps->fields, ps->sort.field->id);
}

/* Quantities are shown largest first, names and numbers of identity not. */
static int ps_sort(struct ps *ps, plim_error *error)
{
	const char *name = ps->options->sort;
	int code;

	if (name == NULL)
		return PLIM_OK;
	code = column_parse(&ps->sort, (plim_bytes){name, strlen(name)}, error);
	ps->sorted = code == PLIM_OK;
	if (ps->sorted)
		ps->descending = (ps->sort.field->kind != PLIM_KIND_TEXT &&
				  ps->sort.field->kind != PLIM_KIND_KEY) !=
				 ps->options->reverse;
	return code;
}

static int ps_prepare(struct ps *ps, plim_error *error)
{
	const char *list = ps->options->columns;
	int code = ps_filter(ps, error);

	if (code == PLIM_OK)
		code = ps_sort(ps, error);
	if (code != PLIM_OK)
		return code;
	if (list == NULL)
		list = column_list(ps_has_rounds(ps), ps->options->tree);
	code = columns_parse(&ps->columns, list, error);
	if (code == PLIM_OK)
		ps_fields(ps);
	return code == PLIM_OK ? ps_tree_prepare(ps, error) : code;
}

/* Could the filter not judge it because something is withheld, and not only
 * because such a process has no such figure? */
static int ps_is_withheld(const struct ps *ps, const plim_process *process)
{
	plim_field_set asked = plim_filter_fields(ps->filter);
	int field;

	for (field = 1; field <= PLIM_FIELD_LAST; field++) {
		int state = plim_field_get(field)->kind == PLIM_KIND_TEXT
				? plim_process_text(process, field).state
				: plim_process_count(process, field).state;

		if (plim_field_set_has(&asked, field) &&
		    state != PLIM_STATE_KNOWN &&
		    state != PLIM_STATE_NOT_APPLICABLE)
			return 1;
	}
	return 0;
}

static int ps_row(int event, const plim_process *first,
		  const plim_process *last, void *user)
{
	struct ps *ps = user;
	const plim_process *earlier = event == PLIM_EVENT_STAYED ? first : NULL;
	int truth = PLIM_TRUE;

	if (event == PLIM_EVENT_ENDED)
		return 0;
	if (ps->filter != NULL) {
		truth = plim_filter_match(ps->filter, last, earlier);
		ps->unknown +=
		    truth == PLIM_UNKNOWN && ps_is_withheld(ps, last);
	}
	/* In a forest who is above a selected one is shown, too. */
	if (truth != PLIM_TRUE && !ps->options->tree)
		return 0;
	if (ps->row_count == ps->row_capacity) {
		size_t capacity = ps->row_capacity * 2 + 256;
		struct row *rows = realloc(ps->rows, capacity * sizeof *rows);

		if (rows == NULL)
			return PLIM_ENOMEM;
		ps->rows = rows;
		ps->row_capacity = capacity;
	}
	ps->rows[ps->row_count] =
	    (struct row){last, earlier, ps->row_count, truth == PLIM_TRUE};
	ps->row_count++;
	return 0;
}

static int ps_order(const void *left, const void *right)
{
	const struct row *a = left;
	const struct row *b = right;
	int order = column_order(&sorting->sort, a->process, a->earlier,
				 b->process, b->earlier, sorting->descending);

	if (order != 0)
		return order;
	return (a->index > b->index) - (a->index < b->index);
}

static int ps_rows(struct ps *ps)
{
	size_t i;
	int code = 0;

	ps->row_count = 0;
	ps->unknown = 0;
	if (ps->before != NULL)
		code = plim_snapshot_compare(ps->before, ps->now, ps_row, ps);
	for (i = 0;
	     ps->before == NULL && code == 0 && i < plim_snapshot_size(ps->now);
	     i++)
		code = ps_row(PLIM_EVENT_STARTED, NULL,
			      plim_snapshot_at(ps->now, i), ps);
	if (ps->options->tree)
		return code;
	sorting = ps;
	if (ps->sorted && ps->row_count > 0)
		qsort(ps->rows, ps->row_count, sizeof *ps->rows, ps_order);
	else if (ps->options->reverse)
		for (i = 0; i < ps->row_count / 2; i++) {
			struct row row = ps->rows[i];

			ps->rows[i] = ps->rows[ps->row_count - 1 - i];
			ps->rows[ps->row_count - 1 - i] = row;
		}
	if (ps->options->limit > 0 && ps->row_count > ps->options->limit)
		ps->row_count = (size_t)ps->options->limit;
	return code;
}

/* An end that the same pid's start follows is told as one replacement. */
static int ps_events(int event, const plim_process *first,
		     const plim_process *last, void *user)
{
	struct ps *ps = user;
	const plim_process *ended = ps->ended;
	const plim_process *told = last != NULL ? last : first;

	if (ps->filter != NULL &&
	    plim_filter_match(ps->filter, told, NULL) == PLIM_FALSE)
		return 0;
	ps->ended = NULL;
	if (event == PLIM_EVENT_STARTED && ended != NULL &&
	    plim_process_pid(ended) == plim_process_pid(last)) {
		json_event(ps->json, "replaced", last, ended);
		return 0;
	}
	if (ended != NULL)
		json_event(ps->json, "gone", ended, NULL);
	if (event == PLIM_EVENT_STARTED)
		json_event(ps->json, "started", last, NULL);
	if (event == PLIM_EVENT_ENDED)
		ps->ended = first;
	return 0;
}

int ps_json_begin(struct ps *ps)
{
	ps->json = json_begin(ps->options, ps->host, ps->options->watch);
	if (ps->json == NULL)
		return fail_memory();
	if (ps->filter != NULL)
		plim_json_whole(ps->json, "unknown", ps->unknown);
	plim_json_array(ps->json, "processes");
	return EXIT_DONE;
}

int ps_json_end(struct ps *ps)
{
	plim_json_end(ps->json);
	if (ps->before != NULL) {
		plim_json_array(ps->json, "events");
		ps->ended = NULL;
		plim_snapshot_compare(ps->before, ps->now, ps_events, ps);
		if (ps->ended != NULL)
			json_event(ps->json, "gone", ps->ended, NULL);
		plim_json_end(ps->json);
	}
	return json_finish(ps->json, ps->host);
}

static int ps_json(struct ps *ps)
{
	size_t i;

	if (ps_json_begin(ps) != EXIT_DONE)
		return EXIT_FAILED;
	for (i = 0; i < ps->row_count; i++)
		plim_json_process(ps->json, NULL, ps->rows[i].process,
				  ps->rows[i].earlier, &ps->shown);
	return ps_json_end(ps);
}

static int ps_csv(struct ps *ps, int header)
{
	int rates = ps_has_rounds(ps);
	int code = PLIM_OK;
	size_t i;

	if (header)
		code = plim_csv_header(&ps->shown, rates, output_write,
				       &standard_output);
	for (i = 0; i < ps->row_count && code == PLIM_OK; i++)
		code = plim_csv_process(ps->rows[i].process,
					ps->rows[i].earlier, &ps->shown, rates,
					output_write, &standard_output);
	return EXIT_DONE;
}

/* With --watch a round takes the place of the one before. */
void ps_clear(const struct ps *ps)
{
	if (ps->options->watch)
		output_clear_screen(ps->options);
}

void ps_footer(struct ps *ps)
{
	plim_cost cost = plim_snapshot_cost(ps->now);

	output_format("%zu of %u processes", ps->row_count, cost.present);
	if (cost.refused > 0)
		output_format(", %u with figures refused to this user",
			      cost.refused);
	if (ps->unknown > 0)
		output_format(", %zu left out because the filter asks what is "
			      "not known of them",
			      ps->unknown);
	if (cost.vanished > 0)
		output_format(", %u ended meanwhile", cost.vanished);
	output_format("; %llu system calls, %s of CPU time\n",
		      (unsigned long long)cost.system_calls,
		      show_count(ps->options, cost.cpu_ns, PLIM_UNIT_NS));
}

static int ps_table(struct ps *ps)
{
	plim_table *table;
	plim_error error;
	size_t i;
	int c;

	if (plim_table_new(&table, NULL, &error) != PLIM_OK)
		return fail_with(ps->options, &error);
	plim_table_ascii(table, ps->options->ascii);
	for (c = 0; c < ps->columns.count; c++)
		plim_table_column(table, ps->columns.items[c].title,
				  !column_is_text(&ps->columns.items[c]));
	for (i = 0; i < ps->row_count; i++)
		for (c = 0; c < ps->columns.count; c++)
			column_cell(&ps->columns.items[c], table,
				    ps->rows[i].process, ps->rows[i].earlier);
	ps_clear(ps);
	output_bold(ps->options);
	plim_table_print(table, term_width(), 1, output_write, &standard_output,
			 NULL);
	plim_table_free(table);
	ps_footer(ps);
	return EXIT_DONE;
}

static int ps_output(struct ps *ps, int first)
{
	if (ps_rows(ps) != 0)
		return fail_memory();
	if (ps->options->tree)
		return ps_tree_output(ps, first);
	switch (ps->options->format) {
	case FORMAT_JSON:
		return ps_json(ps);
	case FORMAT_CSV:
		return ps_csv(ps, first);
	default:
		return ps_table(ps);
	}
}

/* Takes the next round into the older of the two snapshots. */
static int ps_take(struct ps *ps, plim_error *error)
{
	plim_snapshot *next =
	    ps->snapshots[ps->now == ps->snapshots[0] ? 1 : 0];
	const plim_snapshot_options take = {
	    .size = sizeof take,
	    .fields = &ps->fields,
	    .threads = ps->options->threads,
	    .strong_identity = ps->options->strong,
	    .previous = ps->now,
	};
	int code = plim_snapshot_take(next, &take, error);

	if (code == PLIM_OK) {
		ps->before = ps->now;
		ps->now = next;
	}
	return code;
}

static int ps_run(struct ps *ps, plim_error *error)
{
	const struct options *options = ps->options;
	uint64_t pause =
	    options->for_given ? options->for_ns : options->every_ns;
	uint64_t end = UINT64_MAX;
	uint64_t round = 0;
	int status;

	if (options->watch) {
		pause = options->every_ns;
		if (options->for_given)
			end = plim_host_now(ps->host).monotonic.ns +
			      options->for_ns;
	}
	if (ps_take(ps, error) != PLIM_OK)
		return fail_with(options, error);
	if (!ps_has_rounds(ps))
		return ps_output(ps, 1);
	do {
		int stopped = interrupt_sleep(pause, -1);

		if (ps_take(ps, error) != PLIM_OK)
			return fail_with(options, error);
		status = ps_output(ps, round == 0);
		if (stopped)
			return EXIT_INTERRUPTED;
		round++;
	} while (options->watch && status == EXIT_DONE && output_flush() == 0 &&
		 (options->rounds == 0 || round < options->rounds) &&
		 plim_host_now(ps->host).monotonic.ns < end);
	return status;
}

int cmd_ps(const struct options *options)
{
	struct ps ps = {.options = options};
	plim_error error;
	int status;

	if (ps_prepare(&ps, &error) != PLIM_OK ||
	    host_open(options, &ps.host, &error) != PLIM_OK ||
	    plim_snapshot_new(&ps.snapshots[0], ps.host, &error) != PLIM_OK ||
	    plim_snapshot_new(&ps.snapshots[1], ps.host, &error) != PLIM_OK)
		status = fail_with(options, &error);
	else
		status = ps_run(&ps, &error);
	free(ps.rows);
	ps_tree_release(&ps);
	plim_snapshot_free(ps.snapshots[0]);
	plim_snapshot_free(ps.snapshots[1]);
	plim_filter_free(ps.filter);
	plim_host_close(ps.host);
	return status;
}
