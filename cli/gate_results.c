/*
 * gate_results.c - what plim gate found out as RESULT lines: the machine,
 * then of each target the lines of the observation, each reading of each
 * figure, each verdict and who woke, and the verdict of all. A file of these
 * lines is a baseline, and what `report` of a budget judges: the library
 * reads the records gate_host and gate_figure (budget.h).
 */
#include "gate_say.h"

#include <string.h>

/* What is known, or the word. */
static void results_fact(plim_result_line *line, const char *key,
			 const char *text)
{
	plim_result_add_word(line, key,
			     text != NULL && text[0] != '\0' ? text : NULL);
}

static int results_host(const struct gate *gate, plim_write_fn *write,
			void *user)
{
	const plim_budget_place *place = &gate->place;
	plim_result_line line;

	plim_result_begin(&line, "gate_host", write, user);
	results_fact(&line, "system", place->os);
	results_fact(&line, "machine", place->arch);
	results_fact(&line, "kernel", place->kernel);
	if (place->is_virtual < 0)
		plim_result_add_word(&line, "virtual", NULL);
	else
		plim_result_add_whole(&line, "virtual", place->is_virtual != 0);
	if (place->cores == 0)
		plim_result_add_word(&line, "cpus", NULL);
	else
		plim_result_add_whole(&line, "cpus", place->cores);
	if (place->processor == NULL || place->processor[0] == '\0')
		plim_result_add_word(&line, "processor", NULL);
	else
		plim_result_add_text(&line, "processor",
				     gate_bytes(place->processor));
	return plim_result_end(&line);
}

/* `unavailable` bare, as a script looks for it. */
static void results_verdict_word(plim_result_line *line, const char *word)
{
	plim_result_add_word(line, "verdict",
			     strcmp(word, "unavailable") != 0 ? word : NULL);
}

static plim_real results_real(double value)
{
	return plim_real_known(value, PLIM_METHOD_NONE);
}

static void results_unit(plim_result_line *line, int unit)
{
	const char *word = plim_unit_word(unit);

	plim_result_add_word(line, "unit", word[0] != '\0' ? word : "count");
}

static int results_reading(const struct gate_target *target,
			   const struct gate_figure *figure, size_t repeat,
			   plim_write_fn *write, void *user)
{
	const plim_budget_reading *reading = &figure->readings[repeat];
	plim_real value = reading->value;
	plim_result_line line;

	plim_result_begin(&line, "gate_figure", write, user);
	plim_result_add_word(&line, "target", target->target->name);
	plim_result_add_word(&line, "figure", figure->figure->word);
	plim_result_add_whole(&line, "repeat", repeat + 1);
	plim_result_add_real(&line, "value", value, -1);
	results_unit(&line, figure->figure->unit);
	if (value.state == PLIM_STATE_KNOWN) {
		plim_result_add_word(&line, "method",
				     plim_method_word(value.method));
		plim_result_add_word(&line, "bound",
				     value.bound == PLIM_BOUND_EXACT
					 ? "exact"
					 : plim_bound_word(value.bound));
	} else {
		plim_result_add_word(&line, "reason",
				     plim_reason_word(value.method));
	}
	if (reading->window_ns > 0)
		plim_result_add_real(
		    &line, "window_seconds",
		    results_real((double)reading->window_ns / 1e9), 3);
	if (reading->counted.state == PLIM_STATE_KNOWN)
		plim_result_add_count(&line, "counted", reading->counted);
	if (reading->note != NULL && reading->note[0] != '\0')
		plim_result_add_text(&line, "note", gate_bytes(reading->note));
	return plim_result_end(&line);
}

static void results_limits(plim_result_line *line,
			   const plim_budget_limit *limit)
{
	if ((limit->has & PLIM_LIMIT_MAX) != 0)
		plim_result_add_real(line, "max", results_real(limit->max), -1);
	if ((limit->has & PLIM_LIMIT_MIN) != 0)
		plim_result_add_real(line, "min", results_real(limit->min), -1);
	if ((limit->has & PLIM_LIMIT_VERSUS) == 0)
		return;
	plim_result_add_text(line, "versus", gate_bytes(limit->versus));
	plim_result_add_real(line, "rise_percent",
			     results_real(limit->rise_percent), -1);
	plim_result_add_real(line, "also_above",
			     results_real(limit->also_above), -1);
}

static int results_verdict(const struct gate_target *target,
			   const struct gate_figure *figure,
			   plim_write_fn *write, void *user)
{
	const plim_budget_judgement *judged = &figure->judgement;
	int known = judged->value.state == PLIM_STATE_KNOWN;
	plim_result_line line;

	plim_result_begin(&line, "gate_verdict", write, user);
	plim_result_add_word(&line, "target", target->target->name);
	plim_result_add_word(&line, "figure", figure->figure->word);
	results_verdict_word(&line, gate_figure_word(target, figure));
	plim_result_add_real(&line, "value", judged->value, -1);
	results_unit(&line, figure->figure->unit);
	results_limits(&line, figure->limit);
	if (gate_has_limit(judged)) {
		plim_result_add_real(&line, "limit",
				     results_real(judged->limit), -1);
		if (known)
			plim_result_add_real(&line, "headroom",
					     results_real(judged->headroom),
					     -1);
	}
	plim_result_add_real(&line, "least", judged->least, -1);
	plim_result_add_real(&line, "most", judged->most, -1);
	if (judged->error > 0)
		plim_result_add_real(&line, "error",
				     results_real(judged->error), -1);
	if (judged->slack)
		plim_result_add_real(&line, "slack",
				     results_real(judged->slack_factor), 1);
	plim_result_add_whole(&line, "repeats", judged->readings);
	plim_result_add_text(&line, "text", gate_bytes(judged->text));
	return plim_result_end(&line);
}

/* Those that woke, or may have. */
static int results_woke(const struct gate_thread *thread)
{
	return thread->wakeups.state != PLIM_STATE_KNOWN ||
	       thread->wakeups.value > 0;
}

/* A text that is empty where it is unavailable. */
static plim_text results_name(const char *name)
{
	plim_text text = {.bytes = gate_bytes(name),
			  .state = name[0] != '\0' ? PLIM_STATE_KNOWN
						   : PLIM_STATE_UNREAD};

	return text;
}

static int results_threads(const struct gate_target *target,
			   plim_write_fn *write, void *user)
{
	plim_result_thread_row row = {.size = sizeof row};
	int code;

	if (target->thread_count == 0)
		return PLIM_OK;
	code =
	    plim_result_thread_summary(&target->threads_summary, write, user);
	for (size_t i = 0; i < target->thread_count && code == PLIM_OK; i++) {
		const struct gate_thread *thread = &target->threads[i];

		if (!results_woke(thread))
			continue;
		row.rank++;
		row.tid = thread->tid;
		row.born = thread->born;
		row.wakeups = thread->wakeups;
		row.cpu_ns = thread->cpu_ns;
		row.start_address = thread->start_address;
		row.window_ns = target->threads_summary.window_ns;
		row.name = results_name(thread->name);
		row.pid = thread->pid;
		row.process = results_name(thread->process);
		row.runqueue_ns = thread->runqueue_ns;
		row.blocked_in = results_name(thread->blocked_in);
		code = plim_result_thread(&row, write, user);
	}
	return code;
}

static int results_target(const struct gate_target *target,
			  plim_write_fn *write, void *user)
{
	plim_result_line line;

	plim_result_begin(&line, "gate_target", write, user);
	plim_result_add_word(&line, "target", target->target->name);
	results_verdict_word(&line, gate_target_word(target));
	plim_result_add_whole(&line, "repeats", target->repeat_count);
	if (target->reason[0] != '\0')
		plim_result_add_text(&line, "reason",
				     gate_bytes(target->reason));
	return plim_result_end(&line);
}

/* What was measured here and now. What comes from a record (`report`) is not
 * recorded again: it may be of another machine than gate_host says. */
static int results_measured(const struct gate_target *target,
			    plim_write_fn *write, void *user)
{
	int code = PLIM_OK;

	if (target->target->way == PLIM_BUDGET_REPORT)
		return code;
	if (target->repeat_count > 0)
		code = plim_result_observation(&target->observed, &target->load,
					       write, user);
	for (size_t i = 0; i < target->figure_count; i++)
		for (size_t j = 0;
		     code == PLIM_OK && j < target->figures[i].reading_count;
		     j++)
			code = results_reading(target, &target->figures[i], j,
					       write, user);
	return code;
}

static int results_of(const struct gate_target *target, plim_write_fn *write,
		      void *user)
{
	int code = results_measured(target, write, user);

	for (size_t i = 0; code == PLIM_OK && i < target->figure_count; i++)
		code =
		    results_verdict(target, &target->figures[i], write, user);
	if (code == PLIM_OK)
		code = results_threads(target, write, user);
	if (code == PLIM_OK)
		code = results_target(target, write, user);
	return code;
}

int gate_results(const struct gate *gate, plim_write_fn *write, void *user)
{
	plim_result_line line;
	int code = results_host(gate, write, user);

	for (size_t i = 0; i < gate->target_count && code == PLIM_OK; i++)
		code = results_of(&gate->targets[i], write, user);
	if (code != PLIM_OK)
		return code;
	plim_result_begin(&line, "gate", write, user);
	results_verdict_word(&line, gate_word(gate));
	plim_result_add_whole(&line, "exit_status", (uint64_t)gate->status);
	plim_result_add_whole(&line, "targets", gate->target_count);
	return plim_result_end(&line);
}
