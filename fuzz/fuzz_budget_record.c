/*
 * fuzz_budget_record.c - any bytes as a recorded result: it is read, or the
 * mistake has its place. Readings of any figure are known numbers not below 0,
 * or have a state; a baseline is refused or can be judged by.
 */
#include "promise.h"

#include <plimsoll.h>

#include <float.h>
#include <string.h>

static void check_figure(const plim_budget_record *record, int figure)
{
	plim_budget_place place = {
	    .size = sizeof(place), .os = "linux", .is_virtual = -1};
	plim_budget_limit limit = {
	    .figure = figure,
	    .has = PLIM_LIMIT_MAX | PLIM_LIMIT_VERSUS,
	    .max = 1,
	    .slack_warning = 3,
	};
	plim_budget_reading readings[4];
	plim_budget_baseline baseline;
	plim_budget_judgement out;
	size_t count =
	    plim_budget_record_readings(record, "a", figure, readings, 4);

	PROMISE(plim_budget_record_readings(record, "a", figure, NULL, 0) ==
		count);
	for (size_t i = 0; i < count && i < 4; i++) {
		if (readings[i].value.state == PLIM_STATE_KNOWN)
			PROMISE(readings[i].value.value >= 0 &&
				readings[i].value.value <= DBL_MAX);
		PROMISE(readings[i].note == NULL ||
			strlen(readings[i].note) > 0);
	}
	for (int aggregate = 0; aggregate <= PLIM_AGGREGATE_BEST; aggregate++) {
		plim_budget_record_baseline(record, "a", figure, aggregate,
					    &place, &baseline);
		PROMISE(memchr(baseline.refused, '\0',
			       sizeof(baseline.refused)) != NULL);
		PROMISE(plim_budget_judge(&limit, aggregate, readings,
					  count < 4 ? count : 4, &baseline,
					  &out) == PLIM_OK);
		PROMISE(plim_verdict_word(out.verdict) != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {(const char *)data, size};
	plim_budget_record *record = NULL;
	plim_budget_position where = {0};
	plim_error error = {0};
	int code = plim_budget_record_parse(&record, "r.txt", text, NULL,
					    &where, &error);

	if (code != PLIM_OK) {
		PROMISE(code == PLIM_ESYNTAX || code == PLIM_ELIMIT);
		PROMISE(error.code == code && error.detail[0] != '\0');
		PROMISE(where.offset <= size && where.line >= 1);
		PROMISE(record == NULL);
		return 0;
	}
	PROMISE(error.code == 0 && where.line == 0);
	for (int id = 1; id <= PLIM_BUDGET_FIGURE_LAST; id++)
		check_figure(record, id);
	plim_budget_record_free(record);
	return 0;
}
