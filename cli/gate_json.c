/*
 * gate_json.c - what plim gate found out as JSON: the place, each target with
 * its repeats, its figures with every reading, and who woke. The schema is
 * installed (data/schema); a number that there is none of is null, with why
 * beside it.
 */
#include "branch.h"
#include "gate_say.h"

static void json_gate_text(plim_json *json, const char *key, const char *text)
{
	if (text == NULL || text[0] == '\0')
		plim_json_null(json, key);
	else
		plim_json_string(json, key, text);
}

static void json_gate_number(plim_json *json, const char *key, int known,
			     double value)
{
	if (known)
		plim_json_number(json, key, value);
	else
		plim_json_null(json, key);
}

static void json_gate_position(plim_json *json, plim_budget_position at)
{
	plim_json_whole(json, "line", at.line);
	plim_json_whole(json, "column", at.column);
}

static void json_place(plim_json *json, const plim_budget_place *place)
{
	plim_json_object(json, "place");
	json_gate_text(json, "system", place->os);
	json_gate_text(json, "machine", place->arch);
	json_gate_text(json, "kernel", place->kernel);
	json_gate_text(json, "processor", place->processor);
	if (place->is_virtual < 0)
		plim_json_null(json, "virtual");
	else
		plim_json_boolean(json, "virtual", place->is_virtual != 0);
	if (place->cores == 0)
		plim_json_null(json, "cpus");
	else
		plim_json_whole(json, "cpus", place->cores);
	plim_json_end(json);
}

static void json_reading(plim_json *json, const plim_budget_reading *reading)
{
	plim_json_object(json, NULL);
	json_figure(json, "reading", reading->value);
	if (reading->counted.state == PLIM_STATE_KNOWN)
		plim_json_whole(json, "counted", reading->counted.value);
	else
		plim_json_null(json, "counted");
	plim_json_whole(json, "window_ns", reading->window_ns);
	json_gate_text(json, "note", reading->note);
	plim_json_end(json);
}

static void json_limit(plim_json *json, const plim_budget_limit *limit)
{
	char date[16] = "";
	int versus = (limit->has & PLIM_LIMIT_VERSUS) != 0;

	plim_json_object(json, "limit");
	json_gate_number(json, "max", (limit->has & PLIM_LIMIT_MAX) != 0,
			 limit->max);
	json_gate_number(json, "min", (limit->has & PLIM_LIMIT_MIN) != 0,
			 limit->min);
	json_gate_text(json, "versus", versus ? limit->versus : NULL);
	json_gate_number(json, "rise_percent", versus, limit->rise_percent);
	json_gate_number(json, "also_above", versus, limit->also_above);
	plim_json_array(json, "methods");
	for (size_t i = 0; i < limit->method_count; i++)
		plim_json_string(json, NULL,
				 plim_method_word(limit->methods[i]));
	plim_json_end(json);
	json_gate_text(json, "skip", limit->skip);
	json_gate_text(json, "why", limit->why);
	json_gate_text(json, "owner", limit->owner);
	if (limit->until != 0)
		gate_date(limit->until, date);
	json_gate_text(json, "until", date);
	json_gate_position(json, limit->at);
	if (limit->overridden_by != 0)
		plim_json_whole(json, "when_line", limit->overridden_by);
	else
		plim_json_null(json, "when_line");
	plim_json_end(json);
}

static const char *json_decided(unsigned decided)
{
	switch (decided) {
	case PLIM_LIMIT_MAX:
		return "max";
	case PLIM_LIMIT_MIN:
		return "min";
	case PLIM_LIMIT_VERSUS:
		return "versus";
	default:
		return NULL;
	}
}

static void json_judgement(plim_json *json, const plim_budget_judgement *judged)
{
	int decided = judged->decided != 0;

	json_gate_text(json, "decided_by", json_decided(judged->decided));
	json_gate_number(json, "decided_at", gate_has_limit(judged),
			 judged->limit);
	json_gate_number(json, "headroom",
			 decided && judged->value.state == PLIM_STATE_KNOWN,
			 judged->headroom);
	json_figure(json, "value", judged->value);
	json_gate_number(json, "least", judged->least.state == PLIM_STATE_KNOWN,
			 judged->least.value);
	json_gate_number(json, "most", judged->most.state == PLIM_STATE_KNOWN,
			 judged->most.value);
	json_gate_number(json, "error", judged->error > 0, judged->error);
	if (judged->counted.state == PLIM_STATE_KNOWN)
		plim_json_whole(json, "counted", judged->counted.value);
	else
		plim_json_null(json, "counted");
	json_gate_number(json, "baseline",
			 judged->baseline.state == PLIM_STATE_KNOWN,
			 judged->baseline.value);
	plim_json_whole(json, "missing_readings", judged->missing);
	plim_json_boolean(json, "skipped", judged->skipped);
	json_gate_number(json, "slack", judged->slack, judged->slack_factor);
	plim_json_string(json, "text", judged->text);
}

static void json_gate_figure(plim_json *json, const struct gate_target *target,
			     const struct gate_figure *figure)
{
	const char *unit = plim_unit_word(figure->figure->unit);

	plim_json_object(json, NULL);
	plim_json_string(json, "figure", figure->figure->word);
	plim_json_string(json, "unit", unit[0] != '\0' ? unit : "count");
	plim_json_string(json, "verdict",
			 target->done
			     ? gate_verdict_word(figure->judgement.verdict)
			     : gate_target_word(target));
	json_judgement(json, &figure->judgement);
	json_limit(json, figure->limit);
	plim_json_array(json, "readings");
	for (size_t i = 0; i < figure->reading_count; i++)
		json_reading(json, &figure->readings[i]);
	plim_json_end(json);
	plim_json_end(json);
}

static void json_repeat(plim_json *json, const struct gate_repeat *repeat)
{
	plim_json_object(json, NULL);
	plim_json_string(json, "verdict", gate_verdict_word(repeat->verdict));
	json_gate_text(json, "reason", repeat->reason);
	plim_json_whole(json, "ready_ns", repeat->ready_ns);
	plim_json_whole(json, "quiet_ns", repeat->quiet_ns);
	plim_json_whole(json, "window_ns", repeat->window_ns);
	plim_json_whole(json, "suspended_ns", repeat->suspended_ns);
	plim_json_whole(json, "samples", repeat->samples);
	plim_json_whole(json, "processes_ended", repeat->processes_ended);
	plim_json_whole(json, "threads_ended", repeat->threads_ended);
	plim_json_whole(json, "members", repeat->members);
	plim_json_boolean(json, "ended", repeat->ended);
	if (repeat->ended && repeat->has_status) {
		json_exit(json, repeat->status);
	} else {
		plim_json_null(json, "exit_status");
		plim_json_null(json, "signal");
	}
	plim_json_whole(json, "kept", repeat->kept);
	plim_json_whole(json, "ignoring", repeat->ignoring);
	json_count_figure(json, "children_started", repeat->children_started);
	json_count_figure(json, "children_run", repeat->children_run);
	plim_json_boolean(json, "left_running", repeat->left_running);
	plim_json_end(json);
}

/* A name of a process, with its bytes beside it where it is no UTF-8. */
static void json_gate_name(plim_json *json, const char *key, const char *hex,
			   const char *name)
{
	json_gate_text(json, key, name);
	if (!plim_is_utf8(gate_bytes(name)))
		json_hex(json, hex, gate_bytes(name));
}

static void json_gate_thread(plim_json *json, const struct gate_thread *thread)
{
	plim_json_object(json, NULL);
	plim_json_whole(json, "tid", (uint64_t)thread->tid);
	plim_json_whole(json, "pid", (uint64_t)thread->pid);
	json_gate_name(json, "name", "name_bytes", thread->name);
	json_gate_name(json, "process", "process_bytes", thread->process);
	json_gate_text(json, "blocked_in", thread->blocked_in);
	plim_json_boolean(json, "born", thread->born);
	json_count_figure(json, "wakeups", thread->wakeups);
	json_figure(json, "wakeups_per_second", thread->per_second);
	json_count_figure(json, "cpu_ns", thread->cpu_ns);
	json_count_figure(json, "runqueue_wait_ns", thread->runqueue_ns);
	json_count_figure(json, "start_address", thread->start_address);
	plim_json_end(json);
}

static void json_load(plim_json *json, const plim_budget_target *target)
{
	plim_json_object(json, "load");
	plim_json_string(json, "statement", target->load_statement);
	plim_json_string(json, "unit", target->load_unit);
	plim_json_whole(json, "count", target->load_count);
	plim_json_end(json);
}

static void json_asked(plim_json *json, const plim_budget_target *target)
{
	json_gate_position(json, target->at);
	plim_json_string(json, "way", gate_way_word(target->way));
	if (target->run != NULL) {
		plim_json_array(json, "run");
		for (const char *const *word = target->run; *word != NULL;
		     word++)
			plim_json_string(json, NULL, *word);
		plim_json_end(json);
	} else {
		plim_json_null(json, "run");
	}
	json_gate_text(json, "attach", target->attach);
	json_gate_text(json, "report", target->report);
	plim_json_boolean(json, "tree", target->tree);
	plim_json_string(json, "scope", target->scope);
	json_load(json, target);
}

static void json_gate_target(plim_json *json, const struct gate_target *target)
{
	plim_json_object(json, NULL);
	plim_json_string(json, "name", target->target->name);
	plim_json_string(json, "verdict", gate_target_word(target));
	json_gate_text(json, "reason", target->reason);
	json_asked(json, target->target);
	plim_json_whole(json, "window_ns", target->window_ns);
	plim_json_whole(json, "repeats", target->repeats);
	plim_json_string(json, "aggregate",
			 plim_budget_aggregate_word(target->target->aggregate));
	plim_json_boolean(json, "overridden", target->overridden);
	plim_json_array(json, "runs");
	for (size_t i = 0; i < target->repeat_count; i++)
		json_repeat(json, &target->repeat[i]);
	plim_json_end(json);
	plim_json_array(json, "figures");
	for (size_t i = 0; i < target->figure_count; i++)
		json_gate_figure(json, target, &target->figures[i]);
	plim_json_end(json);
	plim_json_array(json, "threads");
	for (size_t i = 0; i < target->thread_count; i++)
		json_gate_thread(json, &target->threads[i]);
	plim_json_end(json);
	plim_json_end(json);
}

void gate_json(const struct gate *gate)
{
	plim_json *json = json_begin(gate->options, gate->host, 0);

	if (json == NULL)
		return;
	plim_json_string(json, "file", gate->file);
	plim_json_string(json, "verdict", gate_verdict_word(gate->verdict));
	plim_json_whole(json, "exit_status", (uint64_t)gate->status);
	plim_json_boolean(json, "allowed", gate->allowed);
	plim_json_boolean(json, "interrupted", gate->interrupted);
	json_place(json, &gate->place);
	plim_json_array(json, "targets");
	for (size_t i = 0; i < gate->target_count; i++)
		json_gate_target(json, &gate->targets[i]);
	plim_json_end(json);
	json_finish(json, gate->host);
}
