/*
 * gate_figures.c - the figures of one repeat as readings: gate_sources.c says
 * in words where each comes from.
 *
 * A figure that the repeat did not come to is missing with the reason that the
 * library has for it. A job is a target of which only whole runs are limited:
 * it may end by itself, and then the kernel's account of it counts.
 */
#include "gate_run.h"

#include <string.h>

#define FIGURES_BLOCK 512

int gate_is_job(const plim_budget_target *target)
{
	size_t i;

	if (target->way != PLIM_BUDGET_RUN)
		return 0;
	for (i = 0; i < target->limit_count; i++) {
		const plim_budget_figure *figure =
		    plim_budget_figure_get(target->limits[i].figure);

		if (figure == NULL || (figure->kind != PLIM_BUDGET_TOTAL &&
				       figure->kind != PLIM_BUDGET_STARTS))
			return 0;
	}
	return 1;
}

/* Both directions, in blocks, as the kernel makes ru_inblock and ru_oublock of
 * the same two counters (include/linux/task_io_accounting_ops.h). */
static plim_count figures_blocks(const plim_idle *idle)
{
	plim_count in = plim_idle_change(idle, PLIM_FIELD_DISK_READ);
	plim_count out = plim_idle_change(idle, PLIM_FIELD_DISK_WRITE);
	int bound;

	if (in.state != PLIM_STATE_KNOWN)
		return in;
	if (out.state != PLIM_STATE_KNOWN)
		return out;
	bound = in.bound != PLIM_BOUND_EXACT ? in.bound : out.bound;
	if (in.bound != PLIM_BOUND_EXACT && out.bound != PLIM_BOUND_EXACT &&
	    in.bound != out.bound)
		return plim_count_missing(PLIM_REASON_SAME_BOUND, 0);
	return plim_count_bounded(
	    in.value / FIGURES_BLOCK + out.value / FIGURES_BLOCK,
	    in.method == out.method ? in.method : PLIM_METHOD_MIXED, bound);
}

static plim_count figures_peak(const struct gate_session *session)
{
	if (session->in_window && !session->ended)
		return plim_idle_last(session->idle, PLIM_FIELD_PEAK_RESIDENT);
	if (session->peak.state == PLIM_STATE_KNOWN)
		return session->peak;
	return plim_count_missing(PLIM_REASON_ENDED, 0);
}

static plim_count figures_cpu(const struct gate_session *session)
{
	if (session->reaped)
		return child_cpu(
		    &session->orphans,
		    plim_process_count(plim_usage_process(session->total),
				       PLIM_FIELD_CPU),
		    session->asked->tree, session->repeat->ignoring > 0);
	if (session->in_window)
		return plim_idle_last(session->idle, PLIM_FIELD_CPU);
	return plim_count_missing(PLIM_REASON_ENDED, 0);
}

static plim_count figures_wall(const struct gate_session *session)
{
	if (!session->started)
		return plim_count_missing(PLIM_REASON_SELF_ONLY, 0);
	if (session->end_ns <= session->begin_ns)
		return plim_count_missing(PLIM_REASON_ENDED, 0);
	return plim_count_known(session->end_ns - session->begin_ns,
				PLIM_METHOD_SYSTEM);
}

/* A rate over the window, with what stands behind it. */
static void figures_rate(const struct gate_session *session, plim_count change,
			 plim_budget_reading *reading)
{
	reading->counted = change;
	reading->value =
	    plim_change_rate(change, session->facts.interval.elapsed_ns);
}

static void figures_counter(const plim_idle *idle, int field,
			    plim_budget_reading *reading)
{
	reading->counted = plim_idle_change(idle, field);
	reading->value = plim_idle_rate(idle, field);
}

void gate_figures_now(const struct gate_session *session, int figure,
		      plim_budget_reading *reading)
{
	const plim_idle *idle = session->idle;

	switch (figure) {
	case PLIM_BUDGET_IDLE_CPU:
		reading->value = plim_idle_cpu_percent(idle);
		break;
	case PLIM_BUDGET_WAKEUPS:
		figures_counter(idle, PLIM_FIELD_WAKEUPS, reading);
		break;
	case PLIM_BUDGET_DISK_READ:
		figures_counter(idle, PLIM_FIELD_DISK_READ, reading);
		break;
	case PLIM_BUDGET_DISK_WRITE:
		figures_counter(idle, PLIM_FIELD_DISK_WRITE, reading);
		break;
	case PLIM_BUDGET_DISK_BLOCKS:
		figures_rate(session, figures_blocks(idle), reading);
		break;
	case PLIM_BUDGET_DISK_OPS:
		if (session->gate->options->blocks_as_ops) {
			figures_rate(session, figures_blocks(idle), reading);
			reading->note = "blocks of 512 bytes, as was asked for";
			break;
		}
		figures_counter(idle, PLIM_FIELD_DISK_OPS, reading);
		break;
	case PLIM_BUDGET_IO_CALLS:
		figures_counter(idle, PLIM_FIELD_IO_CALLS, reading);
		break;
	case PLIM_BUDGET_RESIDENT_WARM:
		reading->value =
		    plim_real_of(plim_idle_first(idle, PLIM_FIELD_RESIDENT));
		break;
	case PLIM_BUDGET_RESIDENT_END:
		reading->value =
		    plim_real_of(plim_idle_last(idle, PLIM_FIELD_RESIDENT));
		break;
	case PLIM_BUDGET_PRIVATE_WARM:
		reading->value =
		    plim_real_of(plim_idle_first(idle, PLIM_FIELD_PRIVATE));
		break;
	case PLIM_BUDGET_PRIVATE_DIRTY_END:
		reading->value = plim_real_of(session->private_dirty);
		if (session->private_dirty.method == PLIM_REASON_STALL &&
		    session->private_dirty.state != PLIM_STATE_KNOWN)
			reading->note = "too large to be walked without a "
					"stall; limit private_warm or "
					"resident_end instead";
		break;
	case PLIM_BUDGET_PEAK_RESIDENT:
		reading->value = plim_real_of(figures_peak(session));
		break;
	case PLIM_BUDGET_CPU_TOTAL:
		reading->value = plim_real_of(figures_cpu(session));
		break;
	case PLIM_BUDGET_WALL:
		reading->value = plim_real_of(figures_wall(session));
		if (!session->started)
			reading->note = "only of what the gate starts";
		break;
	case PLIM_BUDGET_THREADS:
		reading->value =
		    plim_real_of(plim_idle_last(idle, PLIM_FIELD_THREADS));
		break;
	case PLIM_BUDGET_DESCRIPTORS:
		reading->value =
		    plim_real_of(plim_idle_last(idle, PLIM_FIELD_DESCRIPTORS));
		break;
	case PLIM_BUDGET_CHILDREN_STARTED:
		reading->counted = session->job && session->ended
				       ? session->repeat->children_run
				       : session->born;
		reading->value = plim_real_of(reading->counted);
		break;
	case PLIM_BUDGET_RETAINED:
		reading->value = plim_real_of(session->retained);
		break;
	default:
		reading->value =
		    plim_real_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
		break;
	}
}

static void figures_name(char *to, size_t size, plim_text text)
{
	if (text.state != PLIM_STATE_KNOWN)
		return;
	snprintf(to, size, "%.*s", (int)text.bytes.size, text.bytes.data);
}

static void figures_thread(struct gate_thread *to, const plim_idle_thread *from,
			   uint64_t window_ns)
{
	const plim_thread *last = from->change.last;

	memset(to, 0, sizeof *to);
	to->pid = from->pid;
	to->born = from->change.born;
	to->wakeups = from->change.wakeups;
	to->cpu_ns = from->change.cpu_ns;
	to->runqueue_ns = from->change.runqueue_ns;
	to->per_second = plim_change_rate(to->wakeups, window_ns);
	figures_name(to->process, sizeof to->process, from->process);
	figures_name(to->name, sizeof to->name, from->change.name);
	if (last == NULL)
		return;
	to->tid = last->tid;
	to->start_address = last->start_address;
	figures_name(to->blocked_in, sizeof to->blocked_in, last->blocked_in);
}

/* The ranking of the repeat that woke most. */
static void figures_threads(const struct gate_session *session)
{
	struct gate_target *target = session->target;
	const plim_idle *idle = session->idle;
	plim_threads_facts facts = plim_idle_thread_facts(idle);
	size_t count = plim_idle_thread_count(idle);
	size_t i;

	target->threads_summary = (plim_result_threads_summary){
	    .size = sizeof target->threads_summary,
	    .threads = facts.last,
	    .born = facts.born,
	    .exited = facts.exited,
	    .listed_wakeups = facts.listed_wakeups,
	    .exited_wakeups_at_start = facts.exited_wakeups_at_start,
	    .window_ns = session->facts.interval.elapsed_ns};
	if (count > GATE_THREADS_MOST)
		count = GATE_THREADS_MOST;
	for (i = 0; i < count; i++) {
		plim_idle_thread thread = plim_idle_thread_at(idle, i);

		figures_thread(&target->threads[i], &thread,
			       session->facts.interval.elapsed_ns);
	}
	target->thread_count = count;
}

static void figures_observed(const struct gate_session *session)
{
	const plim_idle *idle = session->idle;
	const plim_count blocks = figures_blocks(idle);

	session->target->observed = (plim_result_figures){
	    .size = sizeof session->target->observed,
	    .warm_resident = plim_idle_first(idle, PLIM_FIELD_RESIDENT),
	    .idle_resident = plim_idle_last(idle, PLIM_FIELD_RESIDENT),
	    .warm_footprint = plim_idle_first(idle, PLIM_FIELD_PRIVATE),
	    .idle_footprint = plim_idle_last(idle, PLIM_FIELD_PRIVATE),
	    .window_ns = session->facts.interval.elapsed_ns,
	    .samples = session->facts.samples,
	    .cpu_percent = plim_idle_cpu_percent(idle),
	    .wakeups = plim_idle_rate(idle, PLIM_FIELD_WAKEUPS),
	    .disk_ops = plim_idle_rate(idle, PLIM_FIELD_DISK_OPS),
	    .disk_read = plim_idle_rate(idle, PLIM_FIELD_DISK_READ),
	    .disk_write = plim_idle_rate(idle, PLIM_FIELD_DISK_WRITE),
	    .disk_blocks =
		plim_change_rate(blocks, session->facts.interval.elapsed_ns),
	    .io_calls = plim_idle_rate(idle, PLIM_FIELD_IO_CALLS)};
}

void gate_figures_read(struct gate_session *session)
{
	struct gate_target *target = session->target;
	plim_real woken;
	size_t i;

	session->repeat->children_started = session->born;
	session->repeat->children_run = session->born_before;
	if (session->born.state == PLIM_STATE_KNOWN &&
	    session->born_before.state == PLIM_STATE_KNOWN) {
		plim_sum sum = {{0}, {0}, 0, 0};

		plim_sum_add(&sum, session->born_before);
		plim_sum_add(&sum, session->born);
		session->repeat->children_run = plim_sum_total(&sum);
	}
	for (i = 0; i < target->figure_count; i++) {
		struct gate_figure *figure = &target->figures[i];
		plim_budget_reading *reading =
		    &figure->readings[figure->reading_count++];

		memset(reading, 0, sizeof *reading);
		reading->counted = plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
		reading->window_ns = session->repeat->window_ns;
		reading->value = plim_real_missing(PLIM_REASON_NONE, 0);
		if (session->idle != NULL)
			gate_figures_now(session, figure->limit->figure,
					 reading);
	}
	if (session->repeat->samples < 2)
		return;
	woken = plim_idle_rate(session->idle, PLIM_FIELD_WAKEUPS);
	if (target->observed.window_ns != 0 &&
	    (woken.state != PLIM_STATE_KNOWN ||
	     (target->observed.wakeups.state == PLIM_STATE_KNOWN &&
	      woken.value <= target->observed.wakeups.value)))
		return;
	figures_observed(session);
	figures_threads(session);
}
