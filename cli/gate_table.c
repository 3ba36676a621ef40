/*
 * gate_table.c - what plim gate found out, for people: each figure beside its
 * limit, then what is to be done about those that failed.
 *
 * A runner of workflows takes what is printed for commands: a line that begins
 * with `::`, and `##[...]` anywhere in one. No line begins with a name of
 * somebody else, and where GitHub runs us it is told not to listen until it
 * sees a word that nobody can guess.
 */
#include "file.h"
#include "gate_say.h"
#include "term.h"

#include <stdlib.h>
#include <string.h>

/* A line of two columns: a word, then text of ours. */
static void table_head(const char *word)
{
	output_format("  %-12s ", word);
}

static void table_escaped(const struct gate *gate, const char *text)
{
	output_escaped(gate->options, gate_bytes(text));
}

static void table_load(const struct gate *gate,
		       const struct gate_target *target)
{
	table_head("load");
	table_escaped(gate, target->target->scope);
	output_format(", %llu ",
		      (unsigned long long)target->target->load_count);
	table_escaped(gate, target->target->load_unit);
	output_text(": ");
	table_escaped(gate, target->target->load_statement);
	output_text("\n");
}

static void table_command(const struct gate *gate,
			  const struct gate_target *target)
{
	const plim_budget_target *asked = target->target;

	table_head(gate_way_word(asked->way));
	if (asked->way == PLIM_BUDGET_RUN)
		for (const char *const *word = asked->run; *word != NULL;
		     word++) {
			output_text(word == asked->run ? "" : " ");
			table_escaped(gate, *word);
		}
	else if (asked->way == PLIM_BUDGET_ATTACH)
		table_escaped(gate, asked->attach);
	else
		table_escaped(gate, asked->report);
	output_text(asked->tree && asked->way != PLIM_BUDGET_REPORT
			? ", with its descendants\n"
			: "\n");
}

static const char *table_time(uint64_t ns)
{
	return gate_quantity((double)ns, PLIM_UNIT_NS);
}

static void table_window(const struct gate_target *target)
{
	if (target->target->way == PLIM_BUDGET_REPORT)
		return;
	table_head("window");
	output_format("%s, %zu of %u repeat%s, the %s counts%s\n",
		      table_time(target->window_ns), target->repeat_count,
		      target->repeats, target->repeats == 1 ? "" : "s",
		      plim_budget_aggregate_word(target->target->aggregate),
		      target->overridden ? "; asked for on the command line"
					 : "");
}

/* What was seen of it, and what of that is less than it seems. */
static void table_observed(const struct gate_repeat *repeat)
{
	output_format("ready after %s, quiet %s later, observed %s, %u samples",
		      table_time(repeat->ready_ns),
		      table_time(repeat->quiet_ns),
		      table_time(repeat->window_ns), repeat->samples);
	if (repeat->members > 1)
		output_format(", %u processes", repeat->members);
	if (repeat->children_started.state == PLIM_STATE_KNOWN)
		output_format(
		    ", %llu started",
		    (unsigned long long)repeat->children_started.value);
	if (repeat->processes_ended > 0 || repeat->threads_ended > 0)
		output_format("; %u processes and %u threads that were seen "
			      "ended, and what they woke since is not known",
			      repeat->processes_ended, repeat->threads_ended);
	if (repeat->suspended_ns > 0)
		output_format("; the machine slept %s",
			      table_time(repeat->suspended_ns));
	if (repeat->kept > 0)
		output_format("; %u ended and were charged to nobody",
			      repeat->kept);
	if (repeat->ignoring > 0)
		output_format("; children of %u are charged to nobody",
			      repeat->ignoring);
}

static void table_repeat(const struct gate *gate,
			 const struct gate_repeat *repeat, size_t number)
{
	table_head("repeat");
	output_format("%zu: ", number);
	if (repeat->samples > 0)
		table_observed(repeat);
	if (repeat->reason[0] != '\0') {
		output_text(repeat->samples > 0 ? "; " : "");
		table_escaped(gate, repeat->reason);
	}
	if (repeat->left_running)
		output_text("; something of it could not be ended");
	output_text("\n");
}

/* The limit that decided, or the first that there is. */
static void table_limit(plim_table *table, const struct gate_figure *figure)
{
	const plim_budget_limit *limit = figure->limit;
	int unit = figure->figure->unit;
	unsigned which = figure->judgement.decided;
	char text[64];

	if (gate_has_limit(&figure->judgement))
		snprintf(text, sizeof text, "%s %s",
			 which == PLIM_LIMIT_MIN ? "min" : "max",
			 gate_quantity(figure->judgement.limit, unit));
	else if (which == 0 && (limit->has & PLIM_LIMIT_MAX) != 0)
		snprintf(text, sizeof text, "max %s",
			 gate_quantity(limit->max, unit));
	else if (which == 0 && (limit->has & PLIM_LIMIT_MIN) != 0)
		snprintf(text, sizeof text, "min %s",
			 gate_quantity(limit->min, unit));
	else
		snprintf(text, sizeof text, "relative");
	plim_table_text(table, gate_bytes(text));
}

static void table_spread(const struct gate *gate, plim_table *table,
			 const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;
	int unit = figure->figure->unit;
	char text[128] = "-";

	if (judged->least.state == PLIM_STATE_KNOWN &&
	    judged->most.state == PLIM_STATE_KNOWN)
		snprintf(text, sizeof text, "%s to %s",
			 gate_value(gate, judged->least, unit),
			 gate_value(gate, judged->most, unit));
	plim_table_text(table, gate_bytes(text));
}

/* The count behind a rate, and how far off it may be by chance alone. */
static void table_error(const struct gate *gate, plim_table *table,
			const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;
	char text[96] = "-";

	if (judged->error > 0 && judged->counted.state == PLIM_STATE_KNOWN)
		snprintf(text, sizeof text, "%s%s, n %llu",
			 gate->options->ascii ? "+-" : "\xc2\xb1",
			 gate_quantity(judged->error, figure->figure->unit),
			 (unsigned long long)judged->counted.value);
	plim_table_text(table, gate_bytes(text));
}

static void table_row(const struct gate *gate, const struct gate_target *target,
		      plim_table *table, const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;
	int unit = figure->figure->unit;

	plim_table_text(table, gate_bytes(gate_figure_word(target, figure)));
	plim_table_text(table, gate_bytes(figure->figure->word));
	plim_table_text(table,
			gate_bytes(gate_value(gate, judged->value, unit)));
	table_limit(table, figure);
	plim_table_text(table,
			gate_bytes(judged->value.state == PLIM_STATE_KNOWN &&
					   judged->decided != 0
				       ? gate_quantity(judged->headroom, unit)
				       : "-"));
	table_spread(gate, table, figure);
	table_error(gate, table, figure);
	plim_table_text(table, gate_bytes(gate_method(figure)));
}

static void table_indent(const char *line, size_t size)
{
	output_text("  ");
	output_write(line, size, &standard_output);
}

struct table_lines {
	int at_start;
};

/* Two blanks before each line of a plim_table. */
static int table_write(const char *data, size_t size, void *user)
{
	struct table_lines *lines = user;

	while (size > 0) {
		const char *end = memchr(data, '\n', size);
		size_t part = end != NULL ? (size_t)(end - data) + 1 : size;

		if (lines->at_start)
			table_indent(data, part);
		else
			output_write(data, part, &standard_output);
		lines->at_start = end != NULL;
		data += part;
		size -= part;
	}
	return standard_output.failed;
}

static void table_print(const struct gate *gate, plim_table *table)
{
	struct table_lines lines = {1};
	size_t width = term_width();

	(void)gate;
	plim_table_print(table, width > 2 ? width - 2 : 0, 1, table_write,
			 &lines, NULL);
}

static void table_figures(const struct gate *gate,
			  const struct gate_target *target)
{
	static const struct {
		const char *title;
		int right;
	} columns[] = {
	    {"verdict", 0},  {"figure", 0},  {"value", 1},     {"limit", 1},
	    {"headroom", 1}, {"repeats", 1}, {"by chance", 1}, {"source", 0},
	};
	plim_table *table = NULL;

	if (target->figure_count == 0 ||
	    plim_table_new(&table, NULL, NULL) != PLIM_OK)
		return;
	plim_table_ascii(table, gate->options->ascii);
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		plim_table_column(table, columns[i].title, columns[i].right);
	for (size_t i = 0; i < target->figure_count; i++)
		table_row(gate, target, table, &target->figures[i]);
	table_print(gate, table);
	plim_table_free(table);
}

static void table_note(const struct gate *gate, const char *word,
		       const char *text)
{
	if (text == NULL || text[0] == '\0')
		return;
	table_head(word);
	table_escaped(gate, text);
	output_text("\n");
}

/* One that failed: why, whose it is, and where it stands. */
static void table_failure(const struct gate *gate,
			  const struct gate_target *target,
			  const struct gate_figure *figure)
{
	const plim_budget_limit *limit = figure->limit;
	char date[16];

	table_head(gate_figure_word(target, figure));
	output_format("%s: ", figure->figure->word);
	/* The library has escaped it. */
	output_text(figure->judgement.text);
	output_text("\n");
	if (figure->judgement.value.state != PLIM_STATE_KNOWN &&
	    strstr(figure->judgement.text, gate_why_not(figure)) == NULL)
		table_note(gate, "", gate_why_not(figure));
	table_note(gate, "  why", limit->why);
	table_note(gate, "  owner", limit->owner);
	if (limit->until != 0) {
		gate_date(limit->until, date);
		table_note(gate, "  until", date);
	}
	table_head("  at");
	table_escaped(gate, gate->file);
	output_format(":%u:%u\n", limit->at.line, limit->at.column);
}

static void table_remarks(const struct gate *gate,
			  const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;

	if (gate_figure_skipped(figure)) {
		table_head("skipped");
		output_format("%s: ", figure->figure->word);
		table_escaped(gate, figure->limit->skip != NULL
					? figure->limit->skip
					: "no reason given");
		output_text("\n");
		table_note(gate, "", gate_why_not(figure));
	}
	if (judged->slack) {
		table_head("slack");
		output_format(
		    "%s: the limit is %s times what was measured; "
		    "line %u may say less\n",
		    figure->figure->word,
		    gate_quantity(judged->slack_factor, PLIM_UNIT_NONE),
		    figure->limit->at.line);
	}
}

static void table_thread(const struct gate *gate, plim_table *table,
			 const struct gate_thread *thread, size_t rank)
{
	const struct options *options = gate->options;

	plim_table_count(table, plim_count_known(rank, PLIM_METHOD_NONE),
			 PLIM_UNIT_NONE);
	plim_table_text(table, gate_bytes(show_real(options, thread->per_second,
						    PLIM_UNIT_PER_SECOND)));
	plim_table_text(table, gate_bytes(show_count(options, thread->cpu_ns,
						     PLIM_UNIT_NS)));
	plim_table_text(
	    table,
	    gate_bytes(show_count(options, thread->runqueue_ns, PLIM_UNIT_NS)));
	plim_table_count(
	    table, plim_count_known((uint64_t)thread->tid, PLIM_METHOD_NONE),
	    PLIM_UNIT_ID);
	plim_table_text(table,
			gate_bytes(thread->name[0] ? thread->name : "-"));
	plim_table_text(table,
			gate_bytes(thread->process[0] ? thread->process : "-"));
	plim_table_text(
	    table,
	    gate_bytes(thread->blocked_in[0] ? thread->blocked_in : "-"));
	plim_table_text(table, gate_bytes(thread->born ? "in the window" : ""));
}

/* Who woke: as many as fit on a screen. */
#define TABLE_THREADS 10

static void table_threads(const struct gate *gate,
			  const struct gate_target *target)
{
	static const char *const titles[] = {
	    "rank", "wakes",   "CPU",	    "waited",  "tid",
	    "name", "process", "blocks in", "started",
	};
	plim_table *table = NULL;
	size_t shown = target->thread_count < TABLE_THREADS
			   ? target->thread_count
			   : TABLE_THREADS;

	if (shown == 0 || plim_table_new(&table, NULL, NULL) != PLIM_OK)
		return;
	output_text("  who woke, in the repeat with the most wake-ups\n");
	plim_table_ascii(table, gate->options->ascii);
	for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++)
		plim_table_column(table, titles[i], i < 5);
	for (size_t i = 0; i < shown; i++)
		table_thread(gate, table, &target->threads[i], i + 1);
	table_print(gate, table);
	plim_table_free(table);
	if (shown < target->thread_count)
		output_format("  and %zu more\n", target->thread_count - shown);
}

static int table_wants_threads(const struct gate_target *target)
{
	for (size_t i = 0; i < target->figure_count; i++)
		if (target->figures[i].limit->figure == PLIM_BUDGET_WAKEUPS &&
		    gate_figure_failed(&target->figures[i]))
			return 1;
	return 0;
}

static int table_memory_line(const plim_retention_line *line, void *user)
{
	const struct gate *gate = user;

	if (line->bytes.state != PLIM_STATE_KNOWN)
		return 0;
	table_head("");
	output_format(
	    "%s %s\n",
	    gate_value(gate, plim_real_of(line->bytes), PLIM_UNIT_BYTES),
	    line->text);
	table_head("");
	output_format("  %s\n", line->remedy);
	return 0;
}

/* What the memory is, when there is too much of it. */
static void table_memory(const struct gate *gate,
			 const struct gate_target *target)
{
	const plim_retention *retention = &target->retention;
	const char *text = plim_retention_text(retention->verdict);

	table_head("memory");
	output_format("%s\n", text != NULL ? text : "");
	plim_retention_tell(retention, table_memory_line,
			    (void *)(uintptr_t)gate);
}

static void table_target(const struct gate *gate,
			 const struct gate_target *target)
{
	output_bold(gate->options);
	output_text("target        ");
	table_escaped(gate, target->target->name);
	output_text("  ");
	output_text(target->done ? gate_verdict_word(target->verdict)
				 : "not measured");
	output_bold_end();
	table_note(gate, "because", target->reason);
	table_command(gate, target);
	table_load(gate, target);
	table_window(target);
	for (size_t i = 0; i < target->repeat_count; i++)
		table_repeat(gate, &target->repeat[i], i + 1);
	table_figures(gate, target);
	for (size_t i = 0; i < target->figure_count; i++)
		if (gate_figure_failed(&target->figures[i]) &&
		    gate_figure_speaks(target, &target->figures[i]))
			table_failure(gate, target, &target->figures[i]);
	for (size_t i = 0; i < target->figure_count; i++)
		table_remarks(gate, &target->figures[i]);
	if (table_wants_threads(target))
		table_threads(gate, target);
	if (gate_memory_is_shown(target))
		table_memory(gate, target);
	output_text("\n");
}

/* 128 bits as hexadecimal digits; "" where the system has none. */
static void table_token(char token[40])
{
	unsigned char bytes[16];

	token[0] = '\0';
	if (file_random(bytes, sizeof bytes))
		for (size_t i = 0; i < sizeof bytes; i++)
			snprintf(token + 2 * i, 3, "%02x", bytes[i]);
}

static int table_is_listened_to(void)
{
	const char *actions = term_setting("GITHUB_ACTIONS");

	return actions != NULL && strcmp(actions, "true") == 0;
}

void gate_table(const struct gate *gate)
{
	char token[40] = "";

	if (table_is_listened_to())
		table_token(token);
	if (token[0] != '\0')
		output_format("::stop-commands::%s\n", token);
	for (size_t i = 0; i < gate->target_count; i++)
		table_target(gate, &gate->targets[i]);
	output_bold(gate->options);
	output_text("verdict       ");
	output_text(gate_word(gate));
	if (gate->allowed)
		output_text(", which is allowed");
	output_bold_end();
	if (token[0] != '\0')
		output_format("::%s::\n", token);
}
