/*
 * cmd_report.c - plim report: the main job. One page on one process: who it
 * is, what it costs now, and what finding out cost.
 *
 * A process is sampled several times, so that one that ends in between leaves
 * its last live sample. A command is started, watched until it is quiet and
 * then for the time asked for, or until it ends; its exact totals then come
 * from the kernel's account, and what was started is ended.
 */
#include "report.h"

#define REPORT_STEP_NS	      250000000u
#define REPORT_COMMAND_FOR_NS 10000000000u
#define REPORT_QUIET_PERCENT  2.0
#define REPORT_QUIET_FOR_NS   UINT64_C(5000000000)
#define REPORT_QUIET_LIMIT_NS UINT64_C(120000000000)

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

/* Watches for so long; takes a sample at every step. */
static int report_watch(struct report *report, uint64_t ns, plim_error *error)
{
	int descriptor = plim_target_poll_descriptor(report->target);
	uint64_t step = report->options->every_ns < ns
			    ? report->options->every_ns
			    : REPORT_STEP_NS;
	uint64_t begin = plim_host_now(report->host).monotonic.ns;
	uint64_t spent = 0;

	while (spent < ns && !report->ended && !interrupted) {
		uint64_t rest = ns - spent;
		int woken =
		    interrupt_sleep(rest < step ? rest : step, descriptor);
		int code;

		/* A zombie's last figures are no longer those of its life. */
		if (woken == 2) {
			report->ended = 1;
			break;
		}
		code = report_sample(report, report->last, error);
		if (code != PLIM_OK)
			return code;
		spent = plim_host_now(report->host).monotonic.ns - begin;
	}
	return PLIM_OK;
}

/* CPU since `*before`, in per cent of one core; remembers the new state. */
static plim_real report_cpu_since(const struct report *report,
				  plim_count *before, uint64_t *when)
{
	const plim_process *last = plim_usage_process(report->last);
	plim_count now = plim_process_count(last, PLIM_FIELD_CPU);
	uint64_t stamp = plim_process_stamp(last).monotonic.ns;
	plim_real rate = plim_counter_rate(*before, now, stamp - *when);

	*before = now;
	*when = stamp;
	rate.value /= 1e7; /* ns per second to per cent */
	return rate;
}

/* Until it has used little CPU for a while: what it costs while it loads is
 * not what it costs. */
static int report_await_quiet(struct report *report, plim_error *error)
{
	int descriptor = plim_target_poll_descriptor(report->target);
	uint64_t begin = plim_host_now(report->host).monotonic.ns;
	uint64_t calm = begin;
	uint64_t now = begin;
	plim_count cpu = {0};
	uint64_t when = 0;

	report->quiet = -1;
	while (!report->ended && !interrupted &&
	       now - begin < REPORT_QUIET_LIMIT_NS) {
		plim_real percent;
		int code;

		if (interrupt_sleep(REPORT_STEP_NS, descriptor) == 2) {
			report->ended = 1;
			break;
		}
		code = report_sample(report, report->last, error);
		if (code != PLIM_OK)
			return code;
		now = plim_host_now(report->host).monotonic.ns;
		percent = report_cpu_since(report, &cpu, &when);
		if (percent.state != PLIM_STATE_KNOWN ||
		    percent.value > REPORT_QUIET_PERCENT)
			calm = now;
		if (now - calm >= REPORT_QUIET_FOR_NS) {
			report->quiet = 1;
			break;
		}
	}
	return PLIM_OK;
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
	if (code == PLIM_OK)
		code = report_tree_take(report, error);
	if (code == PLIM_OK && report->started)
		code = report_await_quiet(report, error);
	/* The window begins where the load ended. */
	if (code == PLIM_OK && report->quiet > 0) {
		code = report_sample(report, report->first, error);
		if (code == PLIM_OK)
			code = report_tree_take(report, error);
	}
	if (code == PLIM_OK)
		code = report_watch(report, ns, error);
	if (code == PLIM_OK)
		code = report_tree_take(report, error);
	return code;
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
	int status = EXIT_DONE;

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
			status = report_page(&report);
			if (interrupted && status == EXIT_DONE)
				status = EXIT_INTERRUPTED;
		}
	}
	if (report.last != report.first)
		plim_usage_free(report.last);
	plim_usage_free(report.first);
	plim_usage_free(report.total);
	report_tree_release(&report);
	plim_target_close(report.target);
	plim_host_close(report.host);
	return status;
}
