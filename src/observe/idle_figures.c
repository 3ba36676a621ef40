/*
 * idle_figures.c - what a sample of a quiet window adds to its figures, and
 * what they are in the end.
 *
 * Changes are added up from sample to sample, because what a thread or a
 * process counted by its last sample stays true when it has ended. The
 * observer's share is kept beside them and taken off when they are asked for:
 * of our own process, what the observing thread did, by its own clock and its
 * own count; of a tree that we are in, what the record of our process says,
 * which is just what the sum over the members holds of it.
 */
#include "observe/idle.h"

#include "core/rates.h"
#include "observe/tree.h"

#include <assert.h>
#include <string.h>

plim_count plimp_idle_less(plim_count a, plim_count b)
{
	if (a.state != PLIM_STATE_KNOWN)
		return a;
	if (b.state != PLIM_STATE_KNOWN) {
		if (a.bound == PLIM_BOUND_AT_LEAST)
			return b;
		a.bound = PLIM_BOUND_AT_MOST;
		return a;
	}
	a.value -= b.value < a.value ? b.value : a.value;
	return a;
}

size_t plimp_idle_own_branch(const plim_idle *idle)
{
	size_t i;

	for (i = 0; idle->own_pid != 0 && i < plim_tree_size(idle->tree); i++)
		if (plim_process_pid(plim_tree_at(idle->tree, i)->process) ==
		    idle->own_pid)
			return i;
	return PLIM_NO_PARENT;
}

/* As the tree counts a member: what it added, or all that a newborn has. */
static plim_count figures_of_branch(const plim_idle *idle, size_t index,
				    int field)
{
	const plim_process *now = plim_tree_at(idle->tree, index)->process;
	const plim_process *earlier = plim_tree_earlier(idle->tree, index);

	if (earlier != NULL)
		return plim_process_change(earlier, now, field);
	if (plimp_tree_is_newborn(plimp_tree_before(idle->tree), now))
		return plim_process_count(now, field);
	return plim_count_known(0, PLIM_METHOD_NONE);
}

/* CPU of our own process from one look to another, without this thread. */
static plim_count figures_others_cpu(const struct plimp_own *before,
				     const struct plimp_own *now)
{
	return plimp_idle_less(
	    plim_counter_change(before->process_cpu_ns, now->process_cpu_ns),
	    plim_counter_change(before->cpu_ns, now->cpu_ns));
}

/* What a tree used, of which our process as a member used `own`, without the
 * observer; of a tree that is our own the other threads are put back. */
static plim_count figures_without_own(const plim_idle *idle, plim_count change,
				      plim_count own,
				      const struct plimp_own *before,
				      const struct plimp_own *now)
{
	plim_sum sum = {0};

	change = plimp_idle_less(change, own);
	if (!plimp_idle_is_self(idle))
		return change;
	plim_sum_add(&sum, change);
	plim_sum_add(&sum, figures_others_cpu(before, now));
	return plim_sum_total(&sum);
}

plim_count plimp_idle_round_cpu(const plim_idle *idle,
				const struct plimp_own *before,
				const struct plimp_own *now)
{
	plim_count change = plim_tree_change(idle->tree, PLIM_FIELD_CPU);
	size_t own = plimp_idle_own_branch(idle);

	if (own == PLIM_NO_PARENT)
		return change;
	return figures_without_own(idle, change,
				   figures_of_branch(idle, own, PLIM_FIELD_CPU),
				   before, now);
}

/* Added to a change: the first that is missing says why all of it is. */
static void figures_add(plim_count *change, plim_count more)
{
	plim_sum sum = {0};

	if (change->state != PLIM_STATE_KNOWN)
		return;
	if (more.state != PLIM_STATE_KNOWN) {
		*change = more;
		return;
	}
	/* As long as nothing was added the method is the other's. */
	if (change->method != PLIM_METHOD_NONE)
		plim_sum_add(&sum, *change);
	plim_sum_add(&sum, more);
	*change = plim_sum_total(&sum);
}

void plimp_idle_columns_clear(plim_idle *idle)
{
	const plim_count none = plim_count_known(0, PLIM_METHOD_NONE);
	int field;

	memset(idle->columns, 0, sizeof idle->columns);
	for (field = 1; field <= PLIM_FIELD_LAST; field++) {
		idle->columns[field].change = none;
		idle->columns[field].own = none;
	}
}

/* One figure of this sample. A peak is a lower bound, but for the one that the
 * kernel itself keeps. */
static void figures_take(plim_idle *idle, int field, plim_count figure)
{
	struct plimp_idle_column *column = &idle->columns[field];

	column->last = figure;
	if (idle->facts.samples == 0) {
		column->first = figure;
		column->peak = figure;
	} else {
		column->peak = plim_count_max(column->peak, figure);
	}
	if (column->peak.state == PLIM_STATE_KNOWN &&
	    field != PLIM_FIELD_PEAK_RESIDENT &&
	    plim_field_get(field)->kind == PLIM_KIND_GAUGE &&
	    column->peak.bound == PLIM_BOUND_EXACT)
		column->peak.bound = PLIM_BOUND_AT_LEAST;
}

void plimp_idle_take_process(plim_idle *idle, const plim_process *now)
{
	const plim_process *before = &idle->last.record;
	int field;

	for (field = 1; field <= PLIM_FIELD_LAST; field++) {
		int kind = plim_field_get(field)->kind;

		if (kind == PLIM_KIND_TEXT)
			continue;
		figures_take(idle, field, plim_process_count(now, field));
		if (kind == PLIM_KIND_COUNTER && idle->facts.samples > 0)
			figures_add(&idle->columns[field].change,
				    plim_process_change(before, now, field));
	}
	idle->facts.members = 1;
	if (idle->facts.samples > 0)
		idle->facts.threads_ended += plimp_threads_ended(before, now);
}

/* The sum of a gauge without the observer's own process. The sum of peaks is
 * not the peak of the sum, and no less. */
static plim_count figures_gauge(const plim_idle *idle, int field,
				size_t left_out)
{
	plim_sum sum = {0};
	plim_count total;
	size_t i;

	for (i = 0; i < plim_tree_size(idle->tree); i++)
		if (i != left_out)
			plim_sum_add(
			    &sum,
			    plim_process_count(
				plim_tree_at(idle->tree, i)->process, field));
	total = plim_sum_total(&sum);
	if (field != PLIM_FIELD_PEAK_RESIDENT || sum.known < 2 ||
	    total.state != PLIM_STATE_KNOWN)
		return total;
	if (total.bound == PLIM_BOUND_AT_LEAST)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	total.bound = PLIM_BOUND_AT_MOST;
	return total;
}

/* What describes a process describes the root. */
static plim_count figures_tree(const plim_idle *idle, int field,
			       size_t left_out)
{
	plim_count figure;

	if (field == PLIM_FIELD_DISK_OPS)
		return idle->operations;
	switch (plim_field_get(field)->kind) {
	case PLIM_KIND_KEY:
		return plim_process_count(&idle->last.record, field);
	case PLIM_KIND_GAUGE:
		return figures_gauge(idle, field, left_out);
	default:
		figure = plim_tree_total(idle->tree, field);
		if (left_out == PLIM_NO_PARENT)
			return figure;
		return plimp_idle_less(
		    figure,
		    plim_process_count(
			plim_tree_at(idle->tree, left_out)->process, field));
	}
}

/* `before`: the figure at the last sample. */
static void figures_tree_change(plim_idle *idle, int field, size_t own,
				plim_count before)
{
	struct plimp_idle_column *column = &idle->columns[field];

	if (field == PLIM_FIELD_DISK_OPS) {
		plim_count change;

		/* What the cgroup counted is exact, whomever it lacks. */
		before.bound = PLIM_BOUND_EXACT;
		change = plim_counter_change(before, column->last);
		figures_add(&column->change, change);
		return;
	}
	figures_add(&column->change, plim_tree_change(idle->tree, field));
	if (own != PLIM_NO_PARENT)
		figures_add(&column->own, figures_of_branch(idle, own, field));
}

/* Of the members that live, since the sample before. */
static uint32_t figures_threads_ended(const plim_idle *idle, size_t left_out)
{
	uint32_t ended = 0;
	size_t i;

	for (i = 0; i < plim_tree_size(idle->tree); i++) {
		const plim_process *earlier = plim_tree_earlier(idle->tree, i);

		if (i != left_out && earlier != NULL)
			ended += plimp_threads_ended(
			    earlier, plim_tree_at(idle->tree, i)->process);
	}
	return ended;
}

void plimp_idle_take_tree(plim_idle *idle)
{
	plim_tree_facts about = plim_tree_about(idle->tree);
	size_t own = plimp_idle_own_branch(idle);
	size_t left_out = PLIM_NO_PARENT;
	int field;

	if (own != PLIM_NO_PARENT && !plimp_idle_is_self(idle)) {
		idle->facts.place = PLIM_IDLE_BELOW;
		left_out = own;
	}
	for (field = 1; field <= PLIM_FIELD_LAST; field++) {
		int kind = plim_field_get(field)->kind;
		plim_count before = idle->columns[field].last;

		if (kind == PLIM_KIND_TEXT)
			continue;
		figures_take(idle, field, figures_tree(idle, field, left_out));
		if (kind == PLIM_KIND_COUNTER && idle->facts.samples > 0)
			figures_tree_change(idle, field, own, before);
	}
	idle->facts.members = about.members - (left_out != PLIM_NO_PARENT);
	if (idle->facts.samples > 0) {
		idle->facts.members_born += about.born;
		idle->facts.members_ended += about.ended;
		idle->facts.threads_ended +=
		    figures_threads_ended(idle, left_out);
	}
}

/* Why there are no figures at all; KNOWN if there are. */
static plim_count figures_missing(const plim_idle *idle, int field)
{
	const plim_field *row = plim_field_get(field);

	if (row == NULL || row->kind == PLIM_KIND_TEXT)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (idle->facts.samples > 0)
		return plim_count_known(0, PLIM_METHOD_NONE);
	return plim_count_missing(
	    idle->facts.ended ? PLIM_REASON_ENDED : PLIM_REASON_NONE, 0);
}

plim_count plim_idle_first(const plim_idle *idle, int field)
{
	plim_count missing;

	assert(idle != NULL);
	missing = figures_missing(idle, field);
	return missing.state == PLIM_STATE_KNOWN ? idle->columns[field].first
						 : missing;
}

plim_count plim_idle_last(const plim_idle *idle, int field)
{
	plim_count missing;

	assert(idle != NULL);
	missing = figures_missing(idle, field);
	return missing.state == PLIM_STATE_KNOWN ? idle->columns[field].last
						 : missing;
}

plim_count plim_idle_peak(const plim_idle *idle, int field)
{
	plim_count missing;

	assert(idle != NULL);
	missing = figures_missing(idle, field);
	return missing.state == PLIM_STATE_KNOWN ? idle->columns[field].peak
						 : missing;
}

/* Takes off what the observer did. */
static plim_count figures_of_others(const plim_idle *idle, int field)
{
	const struct plimp_idle_column *column = &idle->columns[field];
	const plim_idle_facts *facts = &idle->facts;

	if (facts->place == PLIM_IDLE_BELOW)
		return plimp_idle_less(column->change, column->own);
	if (facts->place == PLIM_IDLE_OUTSIDE)
		return column->change;
	switch (field) {
	case PLIM_FIELD_WAKEUPS:
		return plimp_idle_less(column->change, facts->own_wakeups);
	case PLIM_FIELD_INVOLUNTARY:
		return plimp_idle_less(column->change, facts->own_involuntary);
	case PLIM_FIELD_CPU:
		if (column->own.method == PLIM_METHOD_NONE)
			return plimp_idle_less(column->change,
					       facts->own_cpu_ns);
		return plimp_idle_less(
		    column->change,
		    plimp_idle_less(
			column->own,
			figures_others_cpu(&idle->own_begin, &idle->own_end)));
	default:
		return column->change;
	}
}

plim_count plim_idle_change(const plim_idle *idle, int field)
{
	plim_count missing;

	assert(idle != NULL);
	missing = figures_missing(idle, field);
	if (missing.state != PLIM_STATE_KNOWN)
		return missing;
	if (plim_field_get(field)->kind != PLIM_KIND_COUNTER)
		return plim_count_missing(PLIM_REASON_NOT_A_RATE, 0);
	if (idle->facts.samples < 2)
		return plim_count_missing(idle->facts.ended
					      ? PLIM_REASON_ENDED
					      : PLIM_REASON_FIRST_SAMPLE,
					  0);
	return figures_of_others(idle, field);
}

plim_real plim_idle_rate(const plim_idle *idle, int field)
{
	assert(idle != NULL);
	return plim_change_rate(plim_idle_change(idle, field),
				idle->facts.interval.elapsed_ns);
}

/* Nanoseconds of CPU per second of time, of which 1e9 are 100 %. */
plim_real plim_idle_cpu_percent(const plim_idle *idle)
{
	plim_real rate = plim_idle_rate(idle, PLIM_FIELD_CPU);

	rate.value /= 1e7;
	return rate;
}

const plim_process *plim_idle_warm(const plim_idle *idle)
{
	assert(idle != NULL);
	return idle->root_first ? &idle->first.record : NULL;
}

const plim_process *plim_idle_end(const plim_idle *idle)
{
	assert(idle != NULL);
	return idle->root_last ? &idle->last.record : NULL;
}

const plim_tree *plim_idle_tree(const plim_idle *idle)
{
	assert(idle != NULL);
	return idle->options.tree && idle->facts.samples > 0 ? idle->tree
							     : NULL;
}
