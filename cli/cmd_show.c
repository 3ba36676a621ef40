/*
 * cmd_show.c - plim show PID: every field of one process with its source, or
 * the reason why there is none; with --for, what it did per second.
 */
#include "cmd.h"
#include "term.h"

#include <string.h>

struct show {
	const struct options *options;
	plim_host *host;
	plim_target *target;
	plim_usage *first;
	plim_usage *last;
	plim_table *table;
	plim_field_set all;
	int ended;
};

static plim_bytes show_bytes(const char *text)
{
	plim_bytes bytes = {text, strlen(text)};

	return bytes;
}

static void show_source(struct show *show, uint8_t state, uint16_t method,
			int32_t code)
{
	char source[320];

	if (state == PLIM_STATE_KNOWN)
		snprintf(source, sizeof source, "%s", plim_method_word(method));
	else
		snprintf(source, sizeof source, "%s: %s",
			 plim_state_word(state),
			 show_reason(state, method, code));
	plim_table_text(show->table, show_bytes(source));
}

static void show_text_row(struct show *show, const plim_process *process,
			  const plim_field *field)
{
	plim_text text = plim_process_text(process, field->id);

	plim_table_text(show->table, show_bytes(field->name));
	plim_table_text(show->table, text.state == PLIM_STATE_KNOWN
					 ? text.bytes
					 : show_bytes("-"));
	if (show->first != NULL)
		plim_table_text(show->table, show_bytes(""));
	show_source(show, text.state, text.method, text.code);
}

/* The rate of a counter; CPU time as a share of one core. */
static const char *show_rate(struct show *show, const plim_field *field)
{
	const plim_process *first = plim_usage_process(show->first);
	const plim_process *last = plim_usage_process(show->last);
	int unit = field->unit == PLIM_UNIT_BYTES ? PLIM_UNIT_BYTES_PER_SECOND
						  : PLIM_UNIT_PER_SECOND;
	plim_real rate = plim_process_rate(first, last, field->id);

	if (field->kind != PLIM_KIND_COUNTER)
		return "";
	if (field->unit == PLIM_UNIT_NS) {
		rate.value /= 1e7;
		unit = PLIM_UNIT_PERCENT;
	}
	return show_real(show->options, rate, unit);
}

static void show_count_row(struct show *show, const plim_process *process,
			   const plim_field *field)
{
	plim_count count = plim_process_count(process, field->id);

	plim_table_text(show->table, show_bytes(field->name));
	plim_table_count(show->table, count, field->unit);
	if (show->first != NULL)
		plim_table_text(show->table,
				show_bytes(show_rate(show, field)));
	show_source(show, count.state, count.method, count.code);
}

static int show_table(struct show *show)
{
	const plim_process *process = plim_usage_process(show->last);
	plim_error error;
	size_t i;

	if (plim_table_new(&show->table, NULL, &error) != PLIM_OK)
		return fail_with(show->options, &error);
	plim_table_ascii(show->table, show->options->ascii);
	plim_table_column(show->table, "FIELD", 0);
	plim_table_column(show->table, "VALUE", 1);
	if (show->first != NULL)
		plim_table_column(show->table, "RATE", 1);
	plim_table_column(show->table, "SOURCE, OR WHY NOT", 0);
	for (i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (field->kind == PLIM_KIND_TEXT)
			show_text_row(show, process, field);
		else
			show_count_row(show, process, field);
	}
	output_bold(show->options);
	plim_table_print(show->table, term_width(), 1, output_write,
			 &standard_output, NULL);
	plim_table_free(show->table);
	if (show->ended)
		output_text("the process has ended; this is its last live "
			    "state\n");
	output_cost(show->options, show->host, 0);
	return EXIT_DONE;
}

static int show_output(struct show *show)
{
	const plim_process *last = plim_usage_process(show->last);
	const plim_process *first =
	    show->first != NULL ? plim_usage_process(show->first) : NULL;
	plim_json *json;

	switch (show->options->format) {
	case FORMAT_JSON:
		json =
		    json_begin(show->options, show->host, show->options->watch);
		if (json == NULL)
			return fail_memory();
		plim_json_process(json, "process", last, first, &show->all);
		if (show->ended) {
			plim_json_array(json, "events");
			json_event(json, "gone", last, NULL);
			plim_json_end(json);
		}
		return json_finish(json, show->host);
	case FORMAT_CSV:
		plim_csv_process(last, first, &show->all, first != NULL,
				 output_write, &standard_output);
		return EXIT_DONE;
	default:
		return show_table(show);
	}
}

/* Measures again; the older record becomes the spare. */
static int show_again(struct show *show, plim_error *error)
{
	plim_usage *oldest = show->first;
	int code;

	show->first = show->last;
	show->last = oldest;
	code = plim_usage_refresh(show->last, show->target, &show->all, error);
	if (code == PLIM_ENOPROCESS || code == PLIM_EREPLACED) {
		show->last = show->first;
		show->first = oldest;
		show->ended = 1;
		return PLIM_OK;
	}
	return code;
}

static int show_run(struct show *show, plim_usage *spare)
{
	const struct options *options = show->options;
	int wait_for = plim_target_poll_descriptor(show->target);
	uint64_t pause = options->watch ? options->every_ns : options->for_ns;
	uint64_t end =
	    options->watch && options->for_given
		? plim_host_now(show->host).monotonic.ns + options->for_ns
		: UINT64_MAX;
	uint64_t round = 0;
	plim_error error;
	int status = EXIT_DONE;

	if (plim_usage_refresh(show->last, show->target, &show->all, &error) !=
	    PLIM_OK)
		return fail_with(options, &error);
	if (options->format == FORMAT_CSV)
		plim_csv_header(&show->all,
				options->for_given || options->watch,
				output_write, &standard_output);
	if (!options->for_given && !options->watch)
		return show_output(show);
	show->first = spare;
	do {
		int woken = interrupt_sleep(pause, wait_for);

		if (show_again(show, &error) != PLIM_OK)
			return fail_with(options, &error);
		if (woken == 2)
			show->ended = 1;
		if (options->watch && options->format == FORMAT_TABLE)
			output_clear_screen(options);
		status = show_output(show);
		round++;
	} while (options->watch && !interrupted && !show->ended &&
		 status == EXIT_DONE && output_flush() == 0 &&
		 (options->rounds == 0 || round < options->rounds) &&
		 plim_host_now(show->host).monotonic.ns < end);
	return interrupted ? EXIT_INTERRUPTED : status;
}

int cmd_show(const struct options *options)
{
	struct show show = {.options = options,
			    .all = plim_field_set_preset(PLIM_FIELDS_ALL)};
	plim_usage *usages[2] = {NULL, NULL};
	plim_error error;
	int status;

	if (host_open(options, &show.host, &error) != PLIM_OK)
		return fail_with(options, &error);
	if (target_resolve(show.host, options->operands[0], &show.target,
			   &error) != PLIM_OK ||
	    plim_usage_new(&usages[0], show.host, &error) != PLIM_OK ||
	    plim_usage_new(&usages[1], show.host, &error) != PLIM_OK) {
		status = fail_with(options, &error);
	} else {
		show.last = usages[0];
		status = show_run(&show, usages[1]);
	}
	plim_usage_free(usages[0]);
	plim_usage_free(usages[1]);
	plim_target_close(show.target);
	plim_host_close(show.host);
	return status;
}
