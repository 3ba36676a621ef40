/*
 * idle_window.c - the second half of an observation: samples at both ends of
 * the window, more in between if they are asked for, and sleep.
 *
 * A sample is read first and taken only if the target still lives behind it:
 * what is read of a process while it ends is the state of a corpse. What the
 * observing thread did is read right before each sample, at both ends alike,
 * so that its reading falls out of the difference. What a sample adds to the
 * figures is in idle_figures.c.
 */
#include "observe/idle.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/rates.h"
#include "host/bill.h"
#include "observe/tree.h"

#include <assert.h>
#include <string.h>

int plimp_idle_round(plim_idle *idle, const plim_field_set *fields, int threads,
		     plim_error *error)
{
	const plim_tree_options take = {.size = sizeof take,
					.fields = fields,
					.threads = threads,
					.sticky = 1};
	int code = plim_tree_usage(idle->tree, idle->target, &take, error);
	plim_cost cost;

	if (code == PLIM_OK) {
		cost = plim_tree_cost(idle->tree);
		plimp_cost_add(&idle->cost, &cost);
	}
	return code;
}

static int window_keep(plim_idle *idle, struct plimp_idle_kept *kept,
		       const plim_process *record, plim_error *error)
{
	const struct plimp_threads *threads = &record->threads;
	void *items = kept->threads;
	int code =
	    plimp_reserve(&idle->host->allocator, &items, &kept->capacity,
			  threads->count, 64, sizeof *kept->threads);

	kept->threads = items;
	if (code != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "observe", NULL, NULL);
	kept->record = *record;
	if (threads->count > 0)
		memcpy(kept->threads, threads->items,
		       threads->count * sizeof *kept->threads);
	kept->record.threads.items = kept->threads;
	if (record->texts.size > 0 && record->texts.data != NULL) {
		assert(record->texts.size <= sizeof kept->texts);
		memcpy(kept->texts, record->texts.data, record->texts.size);
	}
	kept->record.texts.data = kept->texts;
	return PLIM_OK;
}

/* A reading of a single process, of ourselves. */
static int window_read_usage(plim_idle *idle, const plim_process **record,
			     plim_cost *cost, plim_error *error)
{
	int code =
	    idle->target == NULL
		? plim_usage_refresh_self(idle->usage, &idle->fields, error)
		: plim_usage_refresh(idle->usage, idle->target, &idle->fields,
				     error);

	*cost = plim_usage_cost(idle->usage);
	*record = plim_usage_process(idle->usage);
	return code;
}

/* The same with its threads, in one pass. What each of them waits in is of
 * interest at the end alone. */
static int window_read_threads(plim_idle *idle, const plim_process **record,
			       plim_cost *cost, plim_error *error)
{
	plim_threads_options options = {.size = sizeof options,
					.fields = &idle->fields};
	int code;

	if (idle->facts.samples == 0) {
		options.parts =
		    PLIM_THREAD_SWITCHES | PLIM_THREAD_TIMES | PLIM_THREAD_NAME;
		code = plim_threads_sample(idle->threads, idle->target,
					   &options, error);
	} else {
		code = plim_threads_extend(idle->threads, idle->target,
					   &options, error);
	}
	*cost = plim_threads_cost(idle->threads);
	*record = plim_threads_last(idle->threads);
	return code;
}

static int window_sample_process(plim_idle *idle, plim_error *error)
{
	const plim_process *record;
	plim_cost cost;
	int code = idle->options.threads
		       ? window_read_threads(idle, &record, &cost, error)
		       : window_read_usage(idle, &record, &cost, error);

	if (code != PLIM_OK)
		return code;
	plimp_cost_add(&idle->cost, &cost);
	if (plimp_idle_has_ended(idle, PLIM_IDLE_WINDOW))
		return PLIM_OK;
	if (idle->facts.samples == 0)
		code = window_keep(idle, &idle->first, record, error);
	if (code != PLIM_OK)
		return code;
	plimp_idle_take_process(idle, record);
	idle->end = plim_process_stamp(record);
	idle->root_first = 1;
	idle->root_last = 1;
	return window_keep(idle, &idle->last, record, error);
}

/* The record of the root, if it is there. */
static int window_keep_root(plim_idle *idle, plim_error *error)
{
	const plim_branch *root = plim_tree_at(idle->tree, 0);
	int code = PLIM_OK;

	if (root == NULL ||
	    plim_process_pid(root->process) != idle->identity.pid)
		return PLIM_OK;
	if (idle->facts.samples == 0) {
		code = window_keep(idle, &idle->first, root->process, error);
		idle->root_first = code == PLIM_OK;
	}
	if (code == PLIM_OK)
		code = window_keep(idle, &idle->last, root->process, error);
	idle->root_last |= code == PLIM_OK;
	return code;
}

/* Operations are counted by cgroup: what can be told of a tree is what its
 * root's says, which holds no other process, or else why that is not known. */
static int window_operations(plim_idle *idle, plim_error *error)
{
	plim_field_set fields = {{0}};
	plim_cost cost;
	int code;

	idle->operations = plim_count_missing(PLIM_REASON_NOT_ASKED, 0);
	if (!plim_field_set_has(&idle->fields, PLIM_FIELD_DISK_OPS))
		return PLIM_OK;
	plim_field_set_add(&fields, PLIM_FIELD_DISK_OPS);
	code = plim_usage_refresh(idle->usage, idle->target, &fields, error);
	if (code != PLIM_OK)
		return code;
	cost = plim_usage_cost(idle->usage);
	plimp_cost_add(&idle->cost, &cost);
	idle->operations = plim_process_count(plim_usage_process(idle->usage),
					      PLIM_FIELD_DISK_OPS);
	/* Other members are in other cgroups then. */
	if (plim_tree_size(idle->tree) > 1 &&
	    idle->operations.state == PLIM_STATE_KNOWN)
		idle->operations.bound = PLIM_BOUND_AT_LEAST;
	return PLIM_OK;
}

static int window_sample_tree(plim_idle *idle, plim_error *error)
{
	int code = plimp_idle_round(idle, &idle->fields, 1, error);

	if (code == PLIM_OK)
		code = window_operations(idle, error);
	if (code != PLIM_OK || plimp_idle_has_ended(idle, PLIM_IDLE_WINDOW))
		return code;
	if (idle->options.threads)
		code = plimp_idle_members_sample(idle, error);
	if (code == PLIM_OK)
		code = window_keep_root(idle, error);
	if (code != PLIM_OK)
		return code;
	plimp_idle_take_tree(idle);
	idle->end = plimp_tree_now(idle->tree)->pass.begin;
	return PLIM_OK;
}

static void window_facts(plim_idle *idle)
{
	const struct plimp_own *begin = &idle->own_begin;
	const struct plimp_own *end = &idle->own_end;
	plim_idle_facts *facts = &idle->facts;

	facts->interval = plimp_interval(idle->begin, idle->end);
	facts->own_wakeups = plim_counter_change(begin->wakeups, end->wakeups);
	facts->own_involuntary =
	    plim_counter_change(begin->involuntary, end->involuntary);
	facts->own_cpu_ns = plim_counter_change(begin->cpu_ns, end->cpu_ns);
}

static void window_tell(plim_idle *idle)
{
	plim_idle_progress progress = {
	    .phase = PLIM_IDLE_WINDOW,
	    .elapsed_ns = idle->facts.interval.elapsed_ns,
	    .whole_ns = idle->facts.window_ns,
	    .cpu_percent = plim_idle_cpu_percent(idle),
	};

	progress.calm =
	    progress.cpu_percent.state == PLIM_STATE_KNOWN &&
	    progress.cpu_percent.value <= idle->options.quiet_cpu_percent;
	if (idle->options.progress != NULL)
		idle->options.progress(&progress, idle->options.user);
}

/* One sample, if the target lives. */
static int window_sample(plim_idle *idle, plim_error *error)
{
	struct plimp_own own;
	int code;

	if (plimp_idle_has_ended(idle, PLIM_IDLE_WINDOW))
		return PLIM_OK;
	plimp_idle_look(idle, PLIM_IDLE_WINDOW);
	plimp_system_own(idle->host, &own);
	code = idle->options.tree ? window_sample_tree(idle, error)
				  : window_sample_process(idle, error);
	if (plimp_idle_is_end(idle, code, PLIM_IDLE_WINDOW))
		return PLIM_OK;
	if (code != PLIM_OK || idle->facts.ended)
		return code;
	if (idle->facts.samples == 0) {
		idle->own_begin = own;
		idle->begin = idle->end;
	}
	idle->own_end = own;
	idle->facts.samples++;
	window_facts(idle);
	window_tell(idle);
	return PLIM_OK;
}

/* When the next sample is due: by the beginning, so that a slow one does not
 * move those behind it. */
static uint64_t window_next(const plim_idle *idle, uint64_t now_ns)
{
	uint64_t begin = idle->begin.monotonic.ns;
	uint64_t end = begin + idle->facts.window_ns;
	uint64_t step = idle->options.sample_ns;
	uint64_t past = now_ns > begin ? now_ns - begin : 0;

	if (step == 0 || idle->facts.window_ns <= past ||
	    idle->facts.window_ns - past <= step - past % step)
		return end;
	return now_ns + step - past % step;
}

static void window_reset(plim_idle *idle)
{
	const plim_idle_options *options = &idle->options;
	plim_idle_facts *facts = &idle->facts;

	facts->place =
	    plimp_idle_is_self(idle) ? PLIM_IDLE_SELF : PLIM_IDLE_OUTSIDE;
	facts->window_asked_ns = options->window_ns;
	facts->raised = options->longest_period_ns > options->window_ns;
	facts->window_ns =
	    facts->raised ? options->longest_period_ns : options->window_ns;
	facts->members = 0;
	facts->members_born = 0;
	facts->members_ended = 0;
	facts->threads_ended = 0;
	facts->samples = 0;
	facts->interval = (plim_interval){0};
	facts->own_wakeups = plim_count_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	facts->own_involuntary = facts->own_wakeups;
	facts->own_cpu_ns = facts->own_wakeups;
	idle->root_first = 0;
	idle->root_last = 0;
	plimp_idle_members_clear(idle);
	plimp_idle_columns_clear(idle);
}

int plimp_idle_watch_window(plim_idle *idle, plim_error *error)
{
	int code;

	window_reset(idle);
	if (idle->facts.ended)
		return PLIM_OK;
	code = window_sample(idle, error);
	while (code == PLIM_OK && !idle->facts.ended && !idle->facts.stopped &&
	       idle->facts.interval.elapsed_ns < idle->facts.window_ns) {
		plimp_idle_sleep(idle,
				 window_next(idle, plimp_system_monotonic()),
				 PLIM_IDLE_WINDOW);
		if (!idle->facts.ended)
			code = window_sample(idle, error);
	}
	if (code == PLIM_OK && idle->options.threads)
		code = plimp_idle_rank(idle, error);
	return code;
}
