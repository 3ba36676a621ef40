/*
 * gate_judge.c - from readings to the verdict of a target.
 *
 * Only repeats that can be judged as a whole count. Where none can, the target
 * has the verdict of the first that cannot, and its figures are shown without
 * one of their own; where some can, a limit that these cross is crossed.
 */
#include "gate_run.h"
#include "gate_say.h"

#include <stdlib.h>
#include <string.h>

int gate_target_open(struct gate_target *target, const struct gate *gate,
		     const plim_budget_target *asked)
{
	const struct options *options = gate->options;
	size_t i;

	memset(target, 0, sizeof *target);
	target->target = asked;
	target->window_ns =
	    options->for_given ? options->for_ns : asked->window_ns;
	target->repeats =
	    options->rounds > 0 ? (uint32_t)options->rounds : asked->repeats;
	if (asked->way == PLIM_BUDGET_REPORT)
		target->repeats = PLIM_BUDGET_REPEAT_LIMIT;
	else
		target->overridden = options->for_given || options->rounds > 0;
	target->repeat = calloc(target->repeats, sizeof *target->repeat);
	target->threads = calloc(GATE_THREADS_MOST, sizeof *target->threads);
	target->figures = calloc(asked->limit_count, sizeof *target->figures);
	if (target->repeat == NULL || target->threads == NULL ||
	    target->figures == NULL)
		return -1;
	for (i = 0; i < asked->limit_count; i++) {
		struct gate_figure *figure = &target->figures[i];

		figure->limit = &asked->limits[i];
		figure->figure = plim_budget_figure_get(figure->limit->figure);
		figure->readings =
		    calloc(target->repeats, sizeof *figure->readings);
		target->figure_count++;
		if (figure->readings == NULL)
			return -1;
	}
	target->observed.size = sizeof target->observed;
	target->threads_summary.size = sizeof target->threads_summary;
	target->load =
	    (plim_result_load){.size = sizeof target->load,
			       .scale_count = asked->load_count,
			       .scale_unit = asked->load_unit,
			       .statement = asked->load_statement,
			       .scope = asked->scope,
			       .crate = asked->name,
			       .blocks_as_ops = options->blocks_as_ops};
	return 0;
}

void gate_target_close(struct gate_target *target)
{
	size_t i;

	for (i = 0; i < target->figure_count; i++)
		free(target->figures[i].readings);
	free(target->figures);
	free(target->threads);
	free(target->repeat);
	memset(target, 0, sizeof *target);
}

/* The readings of the repeats that count, first ones first. */
static size_t judge_valid(const struct gate_target *target,
			  const struct gate_figure *figure,
			  plim_budget_reading *valid)
{
	size_t count = 0;
	size_t i;

	for (i = 0; i < figure->reading_count; i++)
		if (i >= target->repeat_count ||
		    target->repeat[i].verdict == PLIM_VERDICT_PASS)
			valid[count++] = figure->readings[i];
	return count;
}

static void judge_baseline(const struct gate *gate,
			   const struct gate_target *target,
			   const plim_budget_limit *limit,
			   const struct gate_files *files,
			   plim_budget_baseline *baseline)
{
	const struct gate_file *file = gate_file_of(files, limit->versus);

	memset(baseline, 0, sizeof *baseline);
	if (file == NULL || file->record == NULL)
		snprintf(baseline->refused, sizeof baseline->refused, "%s",
			 file == NULL ? "no file" : file->problem);
	else
		plim_budget_record_baseline(
		    file->record, target->target->name, limit->figure,
		    target->target->aggregate, &gate->place, baseline);
}

/* 1 if there was a repeat to judge. */
static int judge_figure(const struct gate *gate, struct gate_target *target,
			struct gate_figure *figure,
			const struct gate_files *files,
			plim_budget_reading *room)
{
	const plim_budget_limit *limit = figure->limit;
	plim_budget_baseline baseline;
	size_t count = judge_valid(target, figure, room);
	int judged = count > 0;

	if (!judged) {
		count = figure->reading_count;
		if (count > 0)
			memcpy(room, figure->readings, count * sizeof *room);
	}
	if (limit->has & PLIM_LIMIT_VERSUS)
		judge_baseline(gate, target, limit, files, &baseline);
	if (plim_budget_judge(limit, target->target->aggregate, room, count,
			      (limit->has & PLIM_LIMIT_VERSUS) ? &baseline
							       : NULL,
			      &figure->judgement) != PLIM_OK) {
		memset(&figure->judgement, 0, sizeof figure->judgement);
		figure->judgement.verdict = PLIM_VERDICT_UNAVAILABLE;
		snprintf(figure->judgement.text, sizeof figure->judgement.text,
			 "it cannot be judged");
	}
	return judged;
}

/* What makes the target as a whole one that cannot be judged. */
static int judge_whole(struct gate_target *target)
{
	size_t i;

	if (target->target->way == PLIM_BUDGET_REPORT || !target->done) {
		if (target->reason[0] == '\0')
			return PLIM_VERDICT_PASS;
		return target->done ? PLIM_VERDICT_UNAVAILABLE
				    : PLIM_VERDICT_INCONCLUSIVE;
	}
	for (i = 0; i < target->repeat_count; i++)
		if (target->repeat[i].verdict != PLIM_VERDICT_PASS) {
			snprintf(target->reason, sizeof target->reason, "%s",
				 target->repeat[i].reason);
			return target->repeat[i].verdict;
		}
	if (target->repeat_count == target->repeats)
		return PLIM_VERDICT_PASS;
	snprintf(target->reason, sizeof target->reason,
		 "%zu of %u repeats were done", target->repeat_count,
		 target->repeats);
	return PLIM_VERDICT_INCONCLUSIVE;
}

void gate_judge(struct gate *gate, struct gate_target *target,
		const struct gate_files *files)
{
	plim_budget_reading *room = calloc(target->repeats, sizeof *room);
	int whole = judge_whole(target);
	int judged = PLIM_VERDICT_PASS;
	int any = 0;
	size_t counted = 0;
	size_t i;

	for (i = 0; i < target->figure_count && room != NULL; i++) {
		struct gate_figure *figure = &target->figures[i];
		int has = judge_figure(gate, target, figure, files, room);

		any |= has;
		counted += !figure->judgement.skipped;
		judged = plim_verdict_join(judged, figure->judgement.verdict);
		if (!has && whole != PLIM_VERDICT_PASS) {
			figure->judgement.verdict = whole;
			figure->judgement.slack = 0;
			/* Escaped, as the library's own texts are. */
			plim_escape(PLIM_ESCAPE_TERMINAL,
				    gate_bytes(target->reason),
				    figure->judgement.text,
				    sizeof figure->judgement.text);
		}
	}
	free(room);
	if (room == NULL || (counted == 0 && judged == PLIM_VERDICT_PASS))
		judged = PLIM_VERDICT_UNAVAILABLE;
	if (room == NULL)
		snprintf(target->reason, sizeof target->reason,
			 "no memory to judge it");
	else if (counted == 0 && target->reason[0] == '\0')
		snprintf(target->reason, sizeof target->reason,
			 "every limit was skipped, so nothing was judged");
	target->verdict = judged;
	if (whole != PLIM_VERDICT_PASS &&
	    (!any || judged != PLIM_VERDICT_EXCEEDED))
		target->verdict = whole;
	target->load.verdict = plim_verdict_word(target->verdict);
}

/* All that is recorded counts: the worst may be the last. */
static int recall_figure(struct gate_target *target, struct gate_figure *figure,
			 const plim_budget_record *record)
{
	const char *name = target->target->name;
	int which = figure->limit->figure;
	size_t count =
	    plim_budget_record_readings(record, name, which, NULL, 0);

	if (count > UINT32_MAX)
		return -1;
	if (count > target->repeats)
		target->repeats = (uint32_t)count;
	free(figure->readings);
	figure->readings = calloc(count + 1, sizeof *figure->readings);
	if (figure->readings == NULL)
		return -1;
	figure->reading_count = plim_budget_record_readings(
	    record, name, which, figure->readings, count);
	return 0;
}

void gate_recall(struct gate_target *target, const plim_budget_record *record)
{
	size_t i;

	target->done = 1;
	for (i = 0; i < target->figure_count; i++)
		if (recall_figure(target, &target->figures[i], record) != 0)
			snprintf(target->reason, sizeof target->reason,
				 "no memory to judge it");
}
