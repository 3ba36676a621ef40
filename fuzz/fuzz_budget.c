/*
 * fuzz_budget.c - any bytes as a budget: it is read, or the mistake has its
 * place in the text. What is read keeps what plimsoll/budget.h promises of
 * it, is explained, and judges any reading with a verdict and words.
 */
#include "promise.h"

#include <plimsoll.h>

#include <stdlib.h>
#include <string.h>

static int count_bytes(const char *data, size_t size, void *user)
{
	plim_bytes text = {data, size};

	PROMISE(plim_is_utf8(text));
	*(size_t *)user += size;
	return 0;
}

/* Readings on all sides of the limit, and one that is missing. */
static void judge_limit(const plim_budget_limit *limit, int aggregate)
{
	static const double factors[] = {0, 0.5, 1, 1.5};

	for (size_t i = 0; i < 16; i++) {
		plim_budget_reading readings[2] = {
		    {.window_ns = UINT64_C(1000000000)}, {.window_ns = 0}};
		plim_budget_baseline baseline = {
		    .value = plim_real_known(1, PLIM_METHOD_WAIT4)};
		plim_budget_judgement out;

		readings[0].value = plim_real_known(limit->max * factors[i % 4],
						    PLIM_METHOD_WAIT4);
		readings[0].value.bound = (uint8_t)(i / 4 % 3);
		readings[1].value =
		    i / 4 == 3 ? plim_real_missing(PLIM_REASON_NOT_PERMITTED, 0)
			       : readings[0].value;
		PROMISE(plim_budget_judge(limit, aggregate, readings, 2,
					  &baseline, &out) == PLIM_OK);
		PROMISE(plim_verdict_word(out.verdict) != NULL);
		PROMISE(out.text[0] != '\0' &&
			strlen(out.text) < sizeof(out.text));
		PROMISE(out.readings == 2);
		PROMISE(plim_budget_judge(limit, aggregate, NULL, 0, &baseline,
					  &out) == PLIM_OK);
		PROMISE(out.verdict == PLIM_VERDICT_UNAVAILABLE);
	}
}

static void check_limit(const plim_budget_limit *limit, int aggregate)
{
	PROMISE(plim_budget_figure_get(limit->figure) != NULL);
	PROMISE(limit->has != 0 && limit->slack_warning >= 1);
	PROMISE(limit->max >= 0 && limit->min >= 0);
	if ((limit->has & PLIM_LIMIT_MAX) && (limit->has & PLIM_LIMIT_MIN))
		PROMISE(limit->min <= limit->max);
	PROMISE(((limit->has & PLIM_LIMIT_VERSUS) != 0) ==
		(limit->versus != NULL));
	PROMISE(limit->skip == NULL || limit->skip[0] != '\0');
	PROMISE(limit->until == 0 || limit->until >= 20260101);
	for (size_t i = 0; i < limit->method_count; i++)
		PROMISE(plim_method_word(limit->methods[i]) != NULL &&
			limit->methods[i] != PLIM_METHOD_NONE);
	judge_limit(limit, aggregate);
}

static void check_target(const plim_budget *budget,
			 const plim_budget_target *target)
{
	PROMISE(plim_budget_find(budget, target->name) == target);
	PROMISE((target->run != NULL) + (target->attach != NULL) +
		    (target->report != NULL) ==
		1);
	PROMISE(target->scope != NULL && target->load_statement != NULL &&
		target->load_unit != NULL);
	PROMISE(target->repeats >= 1 &&
		target->repeats <= PLIM_BUDGET_REPEAT_LIMIT);
	PROMISE(target->window_ns > 0 &&
		target->window_ns >= target->longest_period_ns);
	PROMISE(target->quiet_limit_ns >= target->quiet_for_ns);
	PROMISE(target->limit_count >= 1 &&
		target->limit_count <= PLIM_BUDGET_FIGURE_LAST);
	for (size_t i = 0; i < target->limit_count; i++)
		check_limit(&target->limits[i], target->aggregate);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const plim_budget_place place = {
	    .size = sizeof(place),
	    .os = "linux",
	    .arch = "x86_64",
	    .kernel = "6.18.5",
	    .is_virtual = 1,
	    .cores = 2,
	    .today = 20260101,
	};
	plim_bytes text = {(const char *)data, size};
	plim_budget *budget = NULL;
	plim_budget_position where = {0};
	plim_error error = {0};
	size_t written = 0;
	int code = plim_budget_parse(&budget, "b.toml", text, &place, NULL,
				     &where, &error);

	if (code != PLIM_OK) {
		PROMISE(code == PLIM_ESYNTAX || code == PLIM_ELIMIT ||
			code == PLIM_ENAME || code == PLIM_EBUDGET);
		PROMISE(error.code == code && error.detail[0] != '\0');
		PROMISE(strncmp(error.path, "b.toml:", 7) == 0);
		PROMISE(where.offset <= size && where.line >= 1);
		PROMISE(budget == NULL);
		return 0;
	}
	PROMISE(error.code == 0 && where.line == 0);
	PROMISE(plim_budget_count(budget) >= 1);
	for (size_t i = 0; i < plim_budget_count(budget); i++)
		check_target(budget, plim_budget_at(budget, i));
	PROMISE(plim_budget_explain(budget, NULL, count_bytes, &written) ==
		PLIM_OK);
	PROMISE(written > 0);
	plim_budget_free(budget);
	return 0;
}
