/*
 * cmd_idle.c - plim idle: what a process costs while it has nothing to do.
 *
 * It waits until the process, or the tree of it, is quiet, and observes a
 * window then. A command is started for that and ended afterwards. What did
 * not go as planned stands in the line `RESULT window` and, in words, on
 * standard error; the figures that were measured are printed in any case.
 */
#include "idle.h"
#include "term.h"

#include <string.h>

#define IDLE_FOR_NS UINT64_C(10000000000)

/* An interruption stops the observation. That what we started has ended we are
 * told also where the library has no descriptor for it. */
static int idle_sleep(uint64_t ns, int descriptor, void *user)
{
	const struct idle_view *view = user;

	if (view->started)
		descriptor = child_descriptor(&view->child, view->target);
	return interrupt_sleep(ns, descriptor) == 1;
}

const char *idle_quiet_word(const plim_idle_facts *facts)
{
	if (facts->quiet > 0)
		return "reached";
	/* It ended, or we were interrupted, before it was known. */
	if (facts->quiet < 0 || facts->ended == PLIM_IDLE_QUIESCENCE ||
	    facts->stopped == PLIM_IDLE_QUIESCENCE)
		return "not_reached";
	return "not_awaited";
}

const char *idle_phase_word(int phase)
{
	if (phase == PLIM_IDLE_QUIESCENCE)
		return "loading";
	return phase == PLIM_IDLE_WINDOW ? "window" : NULL;
}

/* On a terminal a person is told what is waited for, once a phase. */
static void idle_progress(const plim_idle_progress *progress, void *user)
{
	struct idle_view *view = user;

	if (progress->phase == view->told || !term_is(TERM_ERROR))
		return;
	view->told = progress->phase;
	if (progress->phase == PLIM_IDLE_QUIESCENCE)
		fprintf(stderr, "plim: idle: waiting for quiet, at most %s\n",
			show_count(view->options,
				   plim_count_known(progress->whole_ns,
						    PLIM_METHOD_SYSTEM),
				   PLIM_UNIT_NS));
	else if (progress->elapsed_ns < progress->whole_ns)
		fprintf(stderr, "plim: idle: observing for %s\n",
			show_count(view->options,
				   plim_count_known(progress->whole_ns,
						    PLIM_METHOD_SYSTEM),
				   PLIM_UNIT_NS));
}

static plim_idle_options idle_plan(struct idle_view *view)
{
	const struct options *options = view->options;

	return (plim_idle_options){
	    .size = sizeof(plim_idle_options),
	    .window_ns = options->for_given ? options->for_ns : IDLE_FOR_NS,
	    .longest_period_ns = options->longest_ns,
	    .quiet_cpu_percent = options->quiet_cpu,
	    .quiet_for_ns = options->quiet_for_ns,
	    .quiet_limit_ns = options->quiet_limit_ns,
	    .sample_ns = options->every_given ? options->every_ns : 0,
	    .tree = !options->no_tree,
	    .threads = options->threads,
	    .sleep = idle_sleep,
	    .progress = idle_progress,
	    .user = view,
	};
}

static void idle_note(const char *format, const char *value)
{
	fputs("plim: idle: ", stderr);
	fprintf(stderr, format, value);
	fputs("\n", stderr);
}

static const char *idle_duration(const struct idle_view *view, uint64_t ns)
{
	return show_count(view->options,
			  plim_count_known(ns, PLIM_METHOD_SYSTEM),
			  PLIM_UNIT_NS);
}

/* In words what a reader of figures must know; JSON has it all. */
static void idle_notes(const struct idle_view *view)
{
	plim_idle_facts facts = plim_idle_about(view->idle);
	char text[32];

	if (view->options->format == FORMAT_JSON)
		return;
	if (facts.quiet < 0)
		idle_note("it did not become quiet within %s",
			  idle_duration(view, facts.quiet_after_ns));
	if (facts.raised)
		idle_note("the window was raised to the longest period, %s",
			  idle_duration(view, facts.window_ns));
	if (facts.interval.suspended_ns > 0)
		idle_note("the machine slept %s in the window",
			  idle_duration(view, facts.interval.suspended_ns));
	if (facts.image_changed)
		idle_note("it executed another program (%s)",
			  idle_phase_word(facts.image_changed));
	if (facts.ended == PLIM_IDLE_QUIESCENCE)
		idle_note("%s", "it ended before it could be observed");
	if (facts.ended == PLIM_IDLE_WINDOW)
		idle_note("%s", facts.samples < 2
				    ? "it ended in the window, before the "
				      "second sample"
				    : "it ended in the window");
	if (facts.replaced)
		idle_note("%s", "its pid has another owner by now");
	snprintf(text, sizeof text, "%u", view->left_behind);
	if (view->left_behind > 0)
		idle_note("it had left %s processes running, which were "
			  "ended; keep it in the foreground to observe it",
			  text);
}

/* What was started ends here, unless it was to be left. */
static void idle_settle(struct idle_view *view)
{
	plim_idle_facts facts = plim_idle_about(view->idle);
	struct reaper_account account;

	if (!view->started || view->options->leave)
		return;
	if (!facts.ended)
		child_end(&view->child, view->target, view->total);
	else if (plim_usage_reap(view->total, (int32_t)view->child.pid,
				 &view->child.status, NULL) == PLIM_OK)
		view->child.ended = 1;
	account = reaper_end_all(view->host);
	if (facts.ended)
		view->left_behind = account.reaped;
}

static int idle_open(struct idle_view *view, plim_error *error)
{
	int code = plim_idle_new(&view->idle, view->host, error);

	if (code == PLIM_OK)
		code = plim_usage_new(&view->total, view->host, error);
	if (code != PLIM_OK)
		return code;
	if (view->started)
		return plim_target_open(&view->target, view->host,
					(int32_t)view->child.pid, error);
	return target_resolve(view->host, view->options->operands[0],
			      &view->target, error);
}

/* A window with two samples was observed. */
static int idle_status(const struct idle_view *view)
{
	plim_idle_facts facts = plim_idle_about(view->idle);

	if (interrupted)
		return EXIT_INTERRUPTED;
	return facts.samples > 1 ? EXIT_DONE : EXIT_FAILED;
}

static int idle_observe(struct idle_view *view)
{
	plim_idle_options plan = idle_plan(view);
	plim_error error;
	int status;

	if (idle_open(view, &error) != PLIM_OK ||
	    plim_idle_observe(view->idle, view->target, &plan, &error) !=
		PLIM_OK) {
		status = fail_with(view->options, &error);
		if (view->idle != NULL)
			idle_settle(view);
		return status;
	}
	idle_settle(view);
	status = idle_page(view);
	output_flush();
	idle_notes(view);
	return status == EXIT_DONE ? idle_status(view) : status;
}

static int idle_start(struct idle_view *view)
{
	int status;

	if (view->options->command == NULL)
		return EXIT_DONE;
	if (plim_host_count(view->host, PLIM_HOST_IS_LIVE).value != 1)
		return fail_usage("idle: a command runs here, and %s does not "
				  "show the processes of here",
				  view->options->proc_root != NULL
				      ? view->options->proc_root
				      : "/proc");
	status = child_start(&view->child, view->options->command);
	view->started = status == EXIT_DONE;
	return status;
}

int cmd_idle(const struct options *options)
{
	struct idle_view view = {.options = options};
	plim_error error;
	int status;

	if (host_open(options, &view.host, &error) != PLIM_OK)
		return fail_with(options, &error);
	status = idle_start(&view);
	if (status == EXIT_DONE)
		status = idle_observe(&view);
	plim_idle_free(view.idle);
	plim_usage_free(view.total);
	plim_target_close(view.target);
	plim_host_close(view.host);
	return status;
}
