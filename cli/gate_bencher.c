/*
 * gate_bencher.c - what plim gate measured, for those who keep charts: Bencher
 * Metric Format (one object: benchmark, measure, value), and the array of
 * github-action-benchmark.
 *
 * Both know numbers only. A figure that is unavailable is left out: a chart has
 * a gap then, never a zero. The values are in base units (bytes, nanoseconds,
 * per cent, per second), the lower and upper ones are the spread over the
 * repeats. The array is one of `customSmallerIsBetter`: a figure that has a
 * floor alone would raise an alarm when it gets better, so it is not in it.
 */
#include "gate_say.h"

#include <string.h>

static int chart_has(const struct gate_figure *figure)
{
	return figure->judgement.value.state == PLIM_STATE_KNOWN;
}

static int chart_any(const struct gate_target *target)
{
	for (size_t i = 0; i < target->figure_count; i++)
		if (chart_has(&target->figures[i]))
			return 1;
	return 0;
}

static int chart_end(plim_json *json)
{
	plim_error error;
	int code = plim_json_finish(json, &error);

	plim_json_free(json);
	return code;
}

static void bencher_figure(plim_json *json, const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;

	plim_json_object(json, figure->figure->word);
	plim_json_number(json, "value", judged->value.value);
	if (judged->least.state == PLIM_STATE_KNOWN)
		plim_json_number(json, "lower_value", judged->least.value);
	if (judged->most.state == PLIM_STATE_KNOWN)
		plim_json_number(json, "upper_value", judged->most.value);
	plim_json_end(json);
}

int gate_bencher(const struct gate *gate, plim_write_fn *write, void *user)
{
	plim_json *json = NULL;
	int code = plim_json_new(&json, write, user, 2, NULL, NULL);

	if (code != PLIM_OK)
		return code;
	plim_json_object(json, NULL);
	for (size_t i = 0; i < gate->target_count; i++) {
		const struct gate_target *target = &gate->targets[i];

		if (!chart_any(target))
			continue;
		plim_json_object(json, target->target->name);
		for (size_t j = 0; j < target->figure_count; j++)
			if (chart_has(&target->figures[j]))
				bencher_figure(json, &target->figures[j]);
		plim_json_end(json);
	}
	plim_json_end(json);
	return chart_end(json);
}

/* The name of a chart: "TARGET: FIGURE". */
static void action_name(plim_json *json, const struct gate_target *target,
			const struct gate_figure *figure)
{
	char name[1024];

	snprintf(name, sizeof name, "%.*s: %s", 960, target->target->name,
		 figure->figure->word);
	plim_json_string(json, "name", name);
}

/* "± 9 per_second", or the spread. */
static void action_range(plim_json *json, const struct gate_figure *figure)
{
	const plim_budget_judgement *judged = &figure->judgement;
	char least[40];
	char most[40];
	char text[128];

	if (judged->error > 0) {
		plim_number_format(judged->error, most, sizeof most);
		snprintf(text, sizeof text, "\xc2\xb1 %s", most);
	} else if (judged->least.state == PLIM_STATE_KNOWN &&
		   judged->most.state == PLIM_STATE_KNOWN) {
		plim_number_format(judged->least.value, least, sizeof least);
		plim_number_format(judged->most.value, most, sizeof most);
		snprintf(text, sizeof text, "%s to %s", least, most);
	} else {
		return;
	}
	plim_json_string(json, "range", text);
}

static void action_extra(plim_json *json, const struct gate_target *target,
			 const struct gate_figure *figure)
{
	char limit[512];
	char text[1024];

	gate_limit_words(figure, limit, sizeof limit);
	snprintf(text, sizeof text, "%s\nlimit: %s\nsource: %s%s%s",
		 gate_figure_word(target, figure), limit, gate_method(figure),
		 figure->judgement.value.bound != PLIM_BOUND_EXACT ? ", " : "",
		 plim_bound_word(figure->judgement.value.bound));
	plim_json_string(json, "extra", text);
}

static void action_figure(plim_json *json, const struct gate_target *target,
			  const struct gate_figure *figure)
{
	const char *unit = plim_unit_word(figure->figure->unit);

	plim_json_object(json, NULL);
	action_name(json, target, figure);
	plim_json_string(json, "unit", unit[0] != '\0' ? unit : "count");
	plim_json_number(json, "value", figure->judgement.value.value);
	action_range(json, figure);
	action_extra(json, target, figure);
	plim_json_end(json);
}

int gate_action_array(const struct gate *gate, plim_write_fn *write, void *user)
{
	plim_json *json = NULL;
	int code = plim_json_new(&json, write, user, 2, NULL, NULL);

	if (code != PLIM_OK)
		return code;
	plim_json_array(json, NULL);
	for (size_t i = 0; i < gate->target_count; i++) {
		const struct gate_target *target = &gate->targets[i];

		for (size_t j = 0; j < target->figure_count; j++)
			if (chart_has(&target->figures[j]) &&
			    target->figures[j].limit->has != PLIM_LIMIT_MIN)
				action_figure(json, target,
					      &target->figures[j]);
	}
	plim_json_end(json);
	return chart_end(json);
}
