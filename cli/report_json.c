/*
 * report_json.c - what plim report found out, as the object of the documented
 * schema: the answers as they stand on the page, and every figure that they
 * were found by, each with its method, bound, or the reason why there is none.
 */
#include "given.h"
#include "report.h"

#define JSON_STACKS    10
#define JSON_FUNCTIONS 20

static const char *const json_questions[REPORT_QUESTIONS] = {
    "wakes", "retained", "time"};

static void json_answers(const struct report *report, plim_json *json)
{
	int i;

	plim_json_array(json, "answers");
	for (i = 0; i < REPORT_QUESTIONS; i++) {
		const struct report_answer *answer = &report->answers[i];

		plim_json_object(json, NULL);
		plim_json_string(json, "question", json_questions[i]);
		plim_json_boolean(json, "known", answer->is_known);
		plim_json_string(json, "figure", answer->figure);
		plim_json_string(json, "text", answer->text);
		plim_json_string(json, "where", answer->where);
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void json_events(const struct report *report, plim_json *json)
{
	const plim_process *last =
	    plim_usage_process(report->sampled ? report->last : report->total);

	plim_json_array(json, "events");
	if ((report->changes & PLIM_CHANGE_IMAGE) != 0)
		json_event(json, "image_changed", last, NULL);
	if ((report->changes & PLIM_CHANGE_NAME) != 0)
		json_event(json, "name_changed", last, NULL);
	if (report->ended)
		json_event(json, "gone", last, NULL);
	plim_json_end(json);
}

/* --- stacks --------------------------------------------------------------- */

static void json_stack(plim_json *json, const plim_fold *fold,
		       const plim_fold_row *row)
{
	size_t i;

	plim_json_array(json, "functions");
	for (i = row->item_count; i > 0; i--)
		plim_json_text(json, NULL,
			       plim_fold_item_name(fold, row->items[i - 1]));
	plim_json_end(json);
}

static void json_row(plim_json *json, const plim_fold *fold,
		     const plim_fold_row *row)
{
	plim_json_whole(json, "weight_ns", row->weight_ns);
	plim_json_whole(json, "samples", row->samples);
	plim_json_number(json, "share", row->share);
	plim_json_number(json, "share_error", row->share_error);
	json_stack(json, fold, row);
}

static void json_hot(plim_json *json, const struct report_stacks *stacks)
{
	size_t told = 0;
	size_t i;

	plim_json_array(json, "hot_stacks");
	for (i = 0; i < plim_fold_row_count(stacks->cpu) && told < JSON_STACKS;
	     i++) {
		const plim_fold_row *row = plim_fold_row_at(stacks->cpu, i);

		if (!report_stacks_is_stack(stacks, row))
			continue;
		plim_json_object(json, NULL);
		json_row(json, stacks->cpu, row);
		plim_json_end(json);
		told++;
	}
	plim_json_end(json);
}

static void json_functions(plim_json *json, const struct report_stacks *stacks)
{
	size_t i;

	plim_json_array(json, "functions");
	for (i = 0;
	     i < plim_fold_function_count(stacks->cpu) && i < JSON_FUNCTIONS;
	     i++) {
		const plim_fold_function *row =
		    plim_fold_function_at(stacks->cpu, i);
		const plim_profile_function *function =
		    plim_profile_function_at(stacks->profile, row->function);

		plim_json_object(json, NULL);
		plim_json_text(json, "name", function->name);
		plim_json_whole(json, "self_ns", row->self_ns);
		plim_json_number(json, "self_share", row->self_share);
		plim_json_number(json, "self_error", row->self_error);
		plim_json_whole(json, "total_ns", row->total_ns);
		plim_json_number(json, "total_share", row->total_share);
		plim_json_number(json, "total_error", row->total_error);
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void json_sleeping(plim_json *json, const struct report *report)
{
	size_t i;

	plim_json_array(json, "sleeping");
	for (i = 0; i < plim_idle_thread_count(report->idle); i++) {
		const plim_idle_thread thread =
		    plim_idle_thread_at(report->idle, i);
		const plim_fold_row *row = report_stacks_sleep(
		    report, thread.pid, thread.change.last->tid);

		if (row == NULL)
			continue;
		plim_json_object(json, NULL);
		plim_json_whole(json, "pid", (uint64_t)thread.pid);
		plim_json_whole(json, "tid", (uint64_t)thread.change.last->tid);
		json_row(json, report->stacks->off, row);
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void json_lacks(plim_json *json, const struct report_stacks *stacks)
{
	size_t i;

	plim_json_array(json, "lacks");
	for (i = 0; i < plim_profile_lack_count(stacks->profile); i++)
		plim_json_string(json, NULL,
				 plim_profile_lack(stacks->profile, i));
	plim_json_end(json);
}

static void json_stacks(const struct report *report, plim_json *json)
{
	const struct report_stacks *stacks = report->stacks;
	plim_profile_facts facts;

	if (!report_stacks_are_there(report)) {
		if (stacks != NULL && stacks->code != PLIM_OK)
			plim_json_error(json, "stacks_error", &stacks->error);
		return;
	}
	facts = plim_profile_about(stacks->profile);
	plim_json_object(json, "stacks");
	plim_json_whole(json, "duration_ns", facts.duration_ns);
	plim_json_whole(json, "hz_effective", facts.hz_effective);
	json_lacks(json, stacks);
	json_count_figure(
	    json, "sampler_cpu_ns",
	    plim_profile_metric(stacks->profile, PLIM_METRIC_SAMPLER_CPU));
	json_count_figure(
	    json, "stops",
	    plim_profile_metric(stacks->profile, PLIM_METRIC_STOPS));
	json_functions(json, stacks);
	json_hot(json, stacks);
	json_sleeping(json, report);
	plim_json_end(json);
}

/* --- who wakes ------------------------------------------------------------ */

static void json_group(const struct report *report, plim_json *json,
		       const struct report_group *group)
{
	plim_json_object(json, NULL);
	plim_json_text(json, "name", group->name);
	plim_json_boolean(json, "names_differ", group->is_shortened);
	plim_json_text(json, "process", group->process);
	plim_json_whole(json, "processes", group->processes);
	plim_json_whole(json, "threads", group->threads);
	plim_json_whole(json, "pid", (uint64_t)group->pid);
	plim_json_whole(json, "tid", (uint64_t)group->tid);
	json_count_figure(json, "wakeups", plim_sum_total(&group->wakeups));
	json_figure(json, "wakeups_per_second",
		    report_groups_rate(report, group->wakeups));
	json_count_figure(json, "cpu_ns", plim_sum_total(&group->cpu_ns));
	json_figure(json, "cpu_percent",
		    report_groups_percent(report, group->cpu_ns));
	json_count_figure(json, "runqueue_wait_ns",
			  plim_sum_total(&group->runqueue_ns));
	if (group->row != NULL)
		json_stack(json, report->stacks->off, group->row);
	plim_json_end(json);
}

static void json_wakers(const struct report *report, plim_json *json)
{
	size_t i;

	plim_json_array(json, "wakers");
	for (i = 0; i < report->groups.count; i++)
		json_group(report, json, &report->groups.items[i]);
	plim_json_end(json);
}

/* --- all of it ------------------------------------------------------------ */

static void json_command(plim_json *json)
{
	plim_json_string(json, "command_line", given_text());
	plim_json_whole(json, "arguments_left_out", (uint64_t)given_left_out());
}

int report_json(struct report *report)
{
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_json *json = json_begin(report->options, report->host, 0);

	if (json == NULL)
		return fail_memory();
	json_command(json);
	json_answers(report, json);
	if (report->sampled)
		plim_json_process(json, "process",
				  plim_usage_process(report->last),
				  plim_usage_process(report->first), &all);
	else
		plim_json_null(json, "process");
	report_tree_json(report, json);
	report_memory_json(report, json);
	if (report->started && report->child.ended) {
		plim_json_process(json, "total",
				  plim_usage_process(report->total), NULL,
				  &all);
		json_exit(json, report->child.status);
	}
	if (report->awaited)
		plim_json_boolean(json, "became_quiet", report->quiet);
	idle_json_window(json, report->idle, 1);
	json_wakers(report, json);
	wakers_json(json, report->idle, UINT64_MAX);
	json_stacks(report, json);
	json_events(report, json);
	return json_finish(json, report->host);
}
