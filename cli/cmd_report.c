/*
 * cmd_report.c - plim report: the main job. One page on one process: who in it
 * wakes, what memory it retains, where its time goes, what it costs now, and
 * what finding out cost.
 *
 * Its window is a quiet one (plim_idle): at both ends the tree and its threads
 * are read. The process itself is sampled in between, too, so that one that
 * ends leaves its last live sample. A command is started, watched until it is
 * quiet and then for the time asked for, or until it ends; its exact totals
 * then come from the kernel's account, and what was started is ended.
 */
#include "report.h"

#define REPORT_STEP_NS	      250000000u
#define REPORT_LOADING_NS     1000000000u
#define REPORT_COMMAND_FOR_NS 10000000000u
/* Longer than anything is waited for until it is quiet. */
#define REPORT_LOAD_NS UINT64_C(130000000000)

/* Samples into `usage`. A process that is no more sets `ended`, and the last
 * live sample stays; one that was a zombie from the start is sampled once. */
static int report_sample(struct report *report, plim_usage *usage,
			 plim_error *error)
{
	plim_check check;
	int code;

	if (plim_target_check(report->target, &check, NULL) == PLIM_OK) {
		report->changes |= check.changes;
		if (check.zombie)
			report->ended = 1;
		if (check.zombie && report->sampled)
			return PLIM_OK;
	}
	code = plim_usage_refresh(usage, report->target, NULL, error);
	if (code == PLIM_ENOPROCESS || code == PLIM_EREPLACED) {
		report->ended = 1;
		return PLIM_OK;
	}
	if (code == PLIM_OK)
		report->sampled = 1;
	return code;
}

/* How far apart the samples are. */
static uint64_t report_step(const struct report *report, uint64_t ns)
{
	if (report->awaited && !report->quiet)
		return REPORT_LOADING_NS;
	return report->options->every_ns < ns ? report->options->every_ns
					      : REPORT_STEP_NS;
}

static uint64_t report_now(const struct report *report)
{
	return plim_host_now(report->host).monotonic.ns;
}

/* The sleep of the observation: it takes samples of its own, so that one that
 * ends meanwhile leaves the last of its life. */
static int report_sleep(uint64_t ns, int descriptor, void *user)
{
	struct report *report = user;
	uint64_t step = report_step(report, ns);
	uint64_t begin = report_now(report);
	uint64_t now = begin;

	/* Also where the library has no descriptor for it. */
	if (report->started)
		descriptor = child_descriptor(&report->child, report->target);
	while (now - begin < ns) {
		uint64_t rest = ns - (now - begin);
		int woken =
		    interrupt_sleep(rest < step ? rest : step, descriptor);

		if (woken != 0)
			return woken == 1;
		now = report_now(report);
		if (now - report->sample_ns < step && now - begin < ns)
			continue;
		if (now - report->sample_ns < REPORT_STEP_NS)
			continue;
		/* What is wrong with it the observation finds, too. */
		if (report_sample(report, report->last, NULL) != PLIM_OK ||
		    report->ended)
			return 0;
		report->sample_ns = now;
	}
	return 0;
}

static plim_idle_options report_plan(struct report *report, uint64_t ns)
{
	return (plim_idle_options){
	    .size = sizeof(plim_idle_options),
	    .fields = &report->tree.fields,
	    .window_ns = ns,
	    .tree = 1,
	    .threads = 1,
	    .sleep = report_sleep,
	    .user = report,
	};
}

static void report_note(struct report *report)
{
	plim_idle_facts facts = plim_idle_about(report->idle);

	report->ended |= facts.ended != 0;
	if (facts.image_changed)
		report->changes |= PLIM_CHANGE_IMAGE;
	if (facts.name_changed)
		report->changes |= PLIM_CHANGE_NAME;
}

/* Until it has used little CPU for a while: what it costs while it loads is
 * not what it costs. */
static int report_await_quiet(struct report *report, plim_error *error)
{
	plim_idle_options plan = report_plan(report, 0);
	plim_idle_facts facts;
	int code;

	report->awaited = 1;
	report_stacks_begin(report, REPORT_LOAD_NS);
	code =
	    plim_idle_await_quiet(report->idle, report->target, &plan, error);
	report_stacks_end(report);
	if (code != PLIM_OK)
		return code;
	report_note(report);
	facts = plim_idle_about(report->idle);
	report->quiet = facts.quiet > 0;
	report->quiet_after_ns = facts.quiet_after_ns;
	/* The window begins where the load ended. */
	if (report->quiet && !report->ended)
		code = report_sample(report, report->first, error);
	return code;
}

/* Who may not be found any more has no tree. */
static int report_watch(struct report *report, uint64_t ns, plim_error *error)
{
	plim_idle_options plan = report_plan(report, ns);
	int code;

	/* What was sampled while it loaded is not where its time goes. */
	report_stacks_release(report);
	report_stacks_begin(report, ns);
	code = plim_idle_window(report->idle, report->target, &plan, error);
	report_stacks_end(report);
	if (code == PLIM_EHIDDEN || code == PLIM_ECANNOTTELL)
		return PLIM_OK;
	if (code != PLIM_OK)
		return code;
	report_note(report);
	report_tree_of_window(report);
	return report->ended ? PLIM_OK
			     : report_sample(report, report->last, error);
}

static int report_measure(struct report *report, plim_error *error)
{
	const struct options *options = report->options;
	uint64_t ns = options->for_ns;
	int code;

	/* A command that ends while it loads is reported from its start. */
	if (report->started && !options->for_given)
		ns = REPORT_COMMAND_FOR_NS;
	code = report_sample(report, report->first, error);
	if (code == PLIM_OK && report->sampled)
		code = report_sample(report, report->last, error);
	/* It ended between the two: the first is also the last. */
	if (code == PLIM_OK && report->sampled &&
	    plim_process_pid(plim_usage_process(report->last)) == 0) {
		plim_usage_free(report->last);
		report->last = report->first;
	}
	report->sample_ns = report_now(report);
	if (code == PLIM_OK)
		code = report_tree_take(report, error);
	if (code == PLIM_OK && report->started && !report->ended)
		code = report_await_quiet(report, error);
	if (code == PLIM_OK && !report->ended && !interrupted)
		code = report_watch(report, ns, error);
	if (code == PLIM_OK && report->tree_rounds < 2)
		code = report_tree_take(report, error);
	if (code == PLIM_OK)
		report_memory_take(report);
	if (code == PLIM_OK)
		report_stacks_resolve(report);
	return code;
}

/* From what was measured to what is told. */
static int report_tell(struct report *report)
{
	if (report_groups_make(report) != PLIM_OK)
		return fail_memory();
	report_find(report);
	return report_page(report);
}

/* What was started ends with the report, unless it was to be left: the command
 * and what it left running. */
static void report_settle(struct report *report)
{
	if (!report->started || report->options->leave)
		return;
	if (report->ended) {
		if (plim_usage_reap(report->total, (int32_t)report->child.pid,
				    &report->child.status, NULL) == PLIM_OK)
			report->child.ended = 1;
	} else {
		child_end(&report->child, report->target, report->total);
	}
	reaper_end(report->host);
}

static int report_open(struct report *report, plim_error *error)
{
	const struct options *options = report->options;
	int code = plim_usage_new(&report->first, report->host, error);

	if (code == PLIM_OK)
		code = plim_usage_new(&report->last, report->host, error);
	if (code == PLIM_OK)
		code = plim_usage_new(&report->total, report->host, error);
	if (code == PLIM_OK)
		code = plim_idle_new(&report->idle, report->host, error);
	if (code == PLIM_OK)
		code = report_memory_open(report, error);
	if (code != PLIM_OK)
		return code;
	if (!report->started)
		code = target_resolve(report->host, options->operands[0],
				      &report->target, error);
	else
		code = plim_target_open(&report->target, report->host,
					(int32_t)report->child.pid, error);
	return code == PLIM_OK ? report_tree_open(report, error) : code;
}

int cmd_report(const struct options *options)
{
	struct report report = {.options = options};
	plim_error error;
	int status = sheet_check(options->page);

	if (status != EXIT_DONE)
		return status;
	if (host_open(options, &report.host, &error) != PLIM_OK)
		return fail_with(options, &error);
	if (options->command != NULL &&
	    plim_host_count(report.host, PLIM_HOST_IS_LIVE).value != 1) {
		status = fail_usage(
		    "report: a command runs here, and %s does "
		    "not show the processes of here; mount "
		    "a proc file system for this pid namespace",
		    options->proc_root != NULL ? options->proc_root : "/proc");
		plim_host_close(report.host);
		return status;
	}
	if (options->command != NULL) {
		if (!options->leave)
			reaper_start();
		status = child_start(&report.child, options->command);
		report.started = status == EXIT_DONE;
	}
	if (status == EXIT_DONE) {
		if (report_open(&report, &error) != PLIM_OK ||
		    report_measure(&report, &error) != PLIM_OK) {
			status = fail_with(options, &error);
			report_settle(&report);
		} else {
			report_settle(&report);
			status = report_tell(&report);
			if (interrupted && status == EXIT_DONE)
				status = EXIT_INTERRUPTED;
		}
	}
	if (report.last != report.first)
		plim_usage_free(report.last);
	plim_usage_free(report.first);
	plim_usage_free(report.total);
	report_groups_release(&report);
	report_stacks_release(&report);
	report_tree_release(&report);
	report_memory_release(&report);
	plim_idle_free(report.idle);
	plim_target_close(report.target);
	plim_host_close(report.host);
	return status;
}
