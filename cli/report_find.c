/*
 * report_find.c - the three answers that a report begins with, in plain words:
 * who wakes, what memory is retained, where the time goes. Each has a figure,
 * a sentence, and behind it the place, the remedy or the reason; all that
 * stands below them on a page is what they were found by.
 *
 * A sentence never says more than its figures: what is not known is told with
 * the reason, and "nobody" and "nothing" are said of what was measured alone.
 */
#include "report.h"

#include <string.h>

#define FIND_FRAMES  6
#define FIND_COLUMNS 300

/* "73 %" */
static void find_share(char *text, size_t size, double share)
{
	char number[24];

	plim_fixed_format(100 * share, 0, number, sizeof number);
	if (share < 0.005 && share > 0)
		snprintf(text, size, "less than 1 %%");
	else
		snprintf(text, size, "%s %%", number);
}

plim_real report_cpu(const struct report *report)
{
	if (plim_idle_about(report->idle).samples >= 2)
		return plim_idle_cpu_percent(report->idle);
	return plim_process_cpu_percent(plim_usage_process(report->first),
					plim_usage_process(report->last));
}

static const char *find_reason(plim_real real)
{
	return show_reason(real.state, real.method, real.code);
}

/* --- who wakes ------------------------------------------------------------ */

static void find_unseen(const struct report *report,
			struct report_answer *answer)
{
	const plim_process *total = plim_usage_process(report->total);
	const int counted = report->started && report->child.ended;

	snprintf(answer->text, sizeof answer->text,
		 report->ended
		     ? "not known: it ended before a window was observed"
		     : "not known: no window was observed");
	if (!counted)
		return;
	snprintf(answer->figure, sizeof answer->figure, "%s",
		 show_count(report->options,
			    plim_process_count(total, PLIM_FIELD_WAKEUPS),
			    PLIM_UNIT_NONE));
	snprintf(answer->where, sizeof answer->where,
		 "%s wake-ups in all, of which threads the kernel does not "
		 "tell of what has ended",
		 answer->figure);
}

/* "3584 times", without the unit's sign. */
static void find_times(const struct report *report, char *text, size_t size,
		       plim_real rate)
{
	const char *shown =
	    show_real(report->options, rate, PLIM_UNIT_PER_SECOND);
	const size_t length = strlen(shown);
	const int cut = length > 2 && strcmp(shown + length - 2, "/s") == 0;

	snprintf(text, size, "%.*s times a second",
		 (int)(cut ? length - 2 : length), shown);
}

static void find_place(const struct report *report,
		       const struct report_group *group,
		       struct report_answer *answer)
{
	const int form =
	    report->options->ascii ? PLIM_ESCAPE_ASCII : PLIM_ESCAPE_TERMINAL;
	char place[96];

	if (group->stack[0] != '\0') {
		snprintf(answer->where, sizeof answer->where, "sleeping in %s",
			 group->stack);
	} else if (group->blocked_in.state == PLIM_STATE_KNOWN &&
		   !group->is_running) {
		plim_escape(form, group->blocked_in.bytes, place, sizeof place);
		snprintf(answer->where, sizeof answer->where, "sleeping in %s",
			 place);
	}
}

static void find_lead(const struct report *report, struct report_answer *answer,
		      plim_count total)
{
	const struct report_group *lead = &report->groups.items[0];
	const plim_count most = plim_sum_total(&lead->wakeups);
	char share[40];
	char times[64];

	find_share(share, sizeof share,
		   most.state == PLIM_STATE_KNOWN && total.value > 0
		       ? (double)most.value / (double)total.value
		       : 0);
	find_times(report, times, sizeof times,
		   report_groups_rate(report, lead->wakeups));
	snprintf(answer->text, sizeof answer->text, "%s, %s", lead->label,
		 times);
	if (report->groups.count > 1) {
		const size_t used = strlen(answer->text);

		snprintf(answer->text + used, sizeof answer->text - used,
			 ": %s of all wake-ups", share);
	}
	find_place(report, lead, answer);
}

static void find_wakes(const struct report *report,
		       struct report_answer *answer)
{
	const struct report_groups *groups = &report->groups;
	const plim_count total = plim_sum_total(&groups->wakeups);
	const plim_real rate = report_groups_rate(report, groups->wakeups);
	const uint64_t ns = plim_idle_about(report->idle).interval.elapsed_ns;

	if (plim_idle_about(report->idle).samples < 2) {
		find_unseen(report, answer);
		return;
	}
	if (groups->threads == 0 || rate.state != PLIM_STATE_KNOWN) {
		snprintf(answer->text, sizeof answer->text, "not known: %s",
			 groups->threads == 0 ? "no thread could be read"
					      : find_reason(rate));
		return;
	}
	answer->is_known = 1;
	snprintf(answer->figure, sizeof answer->figure, "%s",
		 show_real(report->options, rate, PLIM_UNIT_PER_SECOND));
	if (total.value == 0 || groups->count == 0) {
		snprintf(answer->text, sizeof answer->text,
			 "nobody: none of %zu thread%s woke in %s",
			 groups->threads, groups->threads == 1 ? "" : "s",
			 report_time(report, ns));
		return;
	}
	find_lead(report, answer, total);
}

/* --- where the time goes -------------------------------------------------- */

/* Time that is no function's is told of by its own words. */
static const plim_fold_function *
find_hottest(const struct report_stacks *stacks, double *in_kernel,
	     double *too_short)
{
	const plim_fold_function *hottest = NULL;
	size_t i;

	*in_kernel = 0;
	*too_short = 0;
	for (i = 0; i < plim_fold_function_count(stacks->cpu); i++) {
		const plim_fold_function *row =
		    plim_fold_function_at(stacks->cpu, i);
		const plim_profile_function *function =
		    plim_profile_function_at(stacks->profile, row->function);

		if (function == NULL || row->self_ns == 0)
			continue;
		if (function->special == PLIM_SPECIAL_SYSTEM)
			*in_kernel = row->self_share;
		if (function->special == PLIM_SPECIAL_UNSAMPLED)
			*too_short = row->self_share;
		if (function->special == 0 && hottest == NULL)
			hottest = row;
	}
	return hottest;
}

static const plim_fold_row *find_stack(const struct report_stacks *stacks,
				       uint32_t function)
{
	size_t i;

	for (i = 0; i < plim_fold_row_count(stacks->cpu); i++) {
		const plim_fold_row *row = plim_fold_row_at(stacks->cpu, i);

		if (row->item_count > 0 &&
		    row->items[row->item_count - 1] == function)
			return row;
	}
	return NULL;
}

/* Whose CPU time it is, where the stack says no more than the function. */
static void find_thread(const struct report *report,
			struct report_answer *answer)
{
	const struct report_stacks *stacks = report->stacks;
	const uint64_t all = plim_profile_total(stacks->profile).cpu_ns;
	const plim_profile_thread *most = NULL;
	char name[80];
	char share[40];
	size_t i;

	answer->where[0] = '\0';
	for (i = 0; i < plim_profile_thread_count(stacks->profile); i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(stacks->profile, i);

		if (most == NULL || thread->times.cpu_ns > most->times.cpu_ns)
			most = thread;
	}
	if (most == NULL || all == 0 || most->tid == 0)
		return;
	plim_escape(report->options->ascii ? PLIM_ESCAPE_ASCII
					   : PLIM_ESCAPE_TERMINAL,
		    most->name, name, sizeof name);
	find_share(share, sizeof share,
		   (double)most->times.cpu_ns / (double)all);
	snprintf(answer->where, sizeof answer->where,
		 "%s of all CPU time is that of thread %s %d", share, name,
		 (int)most->tid);
}

static void find_hot(const struct report *report, struct report_answer *answer,
		     const plim_fold_function *hottest, double in_kernel,
		     double too_short)
{
	const struct report_stacks *stacks = report->stacks;
	const plim_fold_row *row = find_stack(stacks, hottest->function);
	plim_fold_row leaf;
	char spent[128];
	char name[128];
	char share[40];
	char error[40];

	if (row == NULL)
		return;
	find_share(share, sizeof share, hottest->self_share);
	plim_fixed_format(100 * hottest->self_error, 0, error, sizeof error);
	leaf = *row;
	leaf.items += leaf.item_count - 1;
	leaf.item_count = 1;
	report_stacks_text(report, stacks->cpu, &leaf, REPORT_NAMED, 1,
			   sizeof name - 1, name, sizeof name);
	snprintf(spent, sizeof spent, "%.120s", answer->text);
	snprintf(answer->text, sizeof answer->text, "%s: %s (%s %s) of %s",
		 name, share, report->options->ascii ? "+-" : "\xc2\xb1", error,
		 spent);
	report_stacks_text(report, stacks->cpu, row, REPORT_NAMED, FIND_FRAMES,
			   FIND_COLUMNS, answer->where, sizeof answer->where);
	if (strcmp(answer->where, name) == 0)
		find_thread(report, answer);
	if (too_short > 0.5) {
		find_share(share, sizeof share, too_short);
		snprintf(answer->where, sizeof answer->where,
			 "%s of that in stretches too short to be sampled",
			 share);
	}
	if (in_kernel > hottest->self_share) {
		find_share(share, sizeof share, in_kernel);
		snprintf(answer->where, sizeof answer->where,
			 "%s of that in the kernel, which this user may count "
			 "and not sample",
			 share);
	}
}

/* Its CPU time as such, where a window tells nothing of it. */
static void find_spent(const struct report *report,
		       struct report_answer *answer, plim_real cpu)
{
	const plim_process *total = plim_usage_process(report->total);

	if (cpu.state == PLIM_STATE_KNOWN) {
		answer->is_known = 1;
		snprintf(answer->figure, sizeof answer->figure, "%s",
			 show_real(report->options, cpu, PLIM_UNIT_PERCENT));
		snprintf(answer->text, sizeof answer->text, "%s of one core",
			 answer->figure);
	} else if (report->started && report->child.ended) {
		snprintf(answer->figure, sizeof answer->figure, "%s",
			 show_count(report->options,
				    plim_process_count(total, PLIM_FIELD_CPU),
				    PLIM_UNIT_NS));
		snprintf(answer->text, sizeof answer->text,
			 child_reap_has_children()
			     ? "%s in all"
			     : "%s in all, without its children",
			 answer->figure);
	} else {
		snprintf(answer->text, sizeof answer->text, "not known: %s",
			 find_reason(cpu));
	}
}

static void find_goes(const struct report *report, struct report_answer *answer)
{
	const struct report_stacks *stacks = report->stacks;
	const plim_fold_function *hottest;
	double in_kernel;
	double too_short;
	char why[700];

	find_spent(report, answer, report_cpu(report));
	if (report_stacks_why(report, why, sizeof why)) {
		const int idle =
		    stacks != NULL && stacks->code == PLIM_ENOSAMPLES;

		snprintf(answer->where, sizeof answer->where, "%s%s",
			 idle ? "" : "in which function is not known: ", why);
		return;
	}
	hottest = find_hottest(stacks, &in_kernel, &too_short);
	if (hottest != NULL)
		find_hot(report, answer, hottest, in_kernel, too_short);
	else if (report_stacks_why_none(report, why, sizeof why))
		snprintf(answer->where, sizeof answer->where, "%s", why);
	else
		snprintf(answer->where, sizeof answer->where,
			 "in which function is not known: what ran has no "
			 "stack");
}

void report_find(struct report *report)
{
	int i;

	for (i = 0; i < REPORT_QUESTIONS; i++)
		snprintf(report->answers[i].figure,
			 sizeof report->answers[i].figure, "-");
	find_wakes(report, &report->answers[REPORT_WAKES]);
	report_memory_answer(report, &report->answers[REPORT_RETAINED]);
	find_goes(report, &report->answers[REPORT_TIME]);
}
