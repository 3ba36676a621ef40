/*
 * idle_page.c - what plim idle found out, as RESULT lines, a page, JSON or
 * CSV. The lines are those of plim_result(3), byte for byte; what went
 * otherwise than planned is one line more, `RESULT window`.
 */
#include "idle.h"

#include "branch.h"

#include <string.h>

static const int idle_shown[] = {
    PLIM_FIELD_CPU,	     PLIM_FIELD_CPU_USER,     PLIM_FIELD_CPU_SYSTEM,
    PLIM_FIELD_WAKEUPS,	     PLIM_FIELD_INVOLUNTARY,  PLIM_FIELD_RUNQUEUE,
    PLIM_FIELD_DISK_READ,    PLIM_FIELD_DISK_WRITE,   PLIM_FIELD_DISK_CANCELLED,
    PLIM_FIELD_DISK_BLOCKS,  PLIM_FIELD_DISK_OPS,     PLIM_FIELD_IO_CALLS,
    PLIM_FIELD_FAULTS_MINOR, PLIM_FIELD_FAULTS_MAJOR, PLIM_FIELD_RESIDENT,
    PLIM_FIELD_PRIVATE,	     PLIM_FIELD_ANONYMOUS,    PLIM_FIELD_FILE,
    PLIM_FIELD_SHMEM,	     PLIM_FIELD_SWAP,	      PLIM_FIELD_PEAK_RESIDENT,
    PLIM_FIELD_THREADS,	     PLIM_FIELD_DESCRIPTORS};
#define IDLE_SHOWN (sizeof idle_shown / sizeof idle_shown[0])

static uint64_t idle_most(const struct idle_view *view)
{
	return view->options->limit > 0 ? view->options->limit : WAKERS_TOLD;
}

/* --- RESULT lines --------------------------------------------------------- */

/* `--scale "200 open connections"`: the number is the count, what stands
 * behind it the statement, and its last word the unit. */
static plim_result_load idle_load(const struct options *options)
{
	plim_result_load load = {.size = sizeof load,
				 .scope = options->scope,
				 .crate = options->crate,
				 .version = options->crate_version,
				 .blocks_as_ops = options->blocks_as_ops};

	if (options->scale_text != NULL) {
		const char *last = strrchr(options->scale_text, ' ');

		load.scale_count = options->scale_count;
		load.statement = options->scale_text;
		load.scale_unit = last != NULL ? last + 1 : load.statement;
	}
	return load;
}

static plim_real idle_seconds(uint64_t ns)
{
	return plim_real_known((double)ns / 1e9, PLIM_METHOD_SYSTEM);
}

static const char *idle_yes(int yes)
{
	return yes ? "yes" : "no";
}

static int idle_result_window(const struct idle_view *view)
{
	plim_idle_facts facts = plim_idle_about(view->idle);
	const char *ended = idle_phase_word(facts.ended);
	plim_real own_cpu = plim_real_of(facts.own_cpu_ns);
	plim_result_line line;

	own_cpu.value /= 1e6;
	plim_result_begin(&line, "window", output_write, &standard_output);
	plim_result_add_word(&line, "quiet", idle_quiet_word(&facts));
	plim_result_add_real(&line, "quiet_after_seconds",
			     idle_seconds(facts.quiet_after_ns), 1);
	plim_result_add_real(&line, "asked_seconds",
			     idle_seconds(facts.window_asked_ns), 1);
	plim_result_add_word(&line, "raised", idle_yes(facts.raised));
	plim_result_add_real(&line, "suspended_seconds",
			     idle_seconds(facts.interval.suspended_ns), 3);
	plim_result_add_word(&line, "ended", ended != NULL ? ended : "no");
	plim_result_add_word(&line, "replaced", idle_yes(facts.replaced));
	plim_result_add_word(&line, "image_changed",
			     idle_yes(facts.image_changed));
	plim_result_add_word(&line, "interrupted", idle_yes(facts.stopped));
	plim_result_add_whole(&line, "processes", facts.members);
	plim_result_add_whole(&line, "processes_born", facts.members_born);
	plim_result_add_whole(&line, "processes_ended", facts.members_ended);
	plim_result_add_count(&line, "observer_wakeups", facts.own_wakeups);
	plim_result_add_real(&line, "observer_cpu_ms", own_cpu, 3);
	plim_result_add_whole(&line, "threads_ended", facts.threads_ended);
	return plim_result_end(&line);
}

static int idle_results(const struct idle_view *view)
{
	plim_result_load load = idle_load(view->options);
	int code =
	    plim_result_idle(view->idle, &load, output_write, &standard_output);

	if (code == PLIM_OK)
		code = idle_result_window(view);
	if (code == PLIM_OK && view->options->threads)
		code = plim_result_idle_threads(view->idle,
						(size_t)idle_most(view),
						output_write, &standard_output);
	/* What could not be written is told at the end. */
	return code == PLIM_OK || code == PLIM_EOUTPUT ? EXIT_DONE
						       : EXIT_FAILED;
}

/* --- the page ------------------------------------------------------------- */

static const char *idle_time(const struct idle_view *view, uint64_t ns)
{
	return show_count(view->options,
			  plim_count_known(ns, PLIM_METHOD_SYSTEM),
			  PLIM_UNIT_NS);
}

static void idle_page_who(const struct idle_view *view)
{
	const plim_process *last = plim_idle_end(view->idle);
	plim_idle_facts facts = plim_idle_about(view->idle);
	plim_text identity;

	if (last == NULL) {
		output_text("process      it ended before it could be "
			    "observed\n");
		return;
	}
	identity = plim_process_text(last, PLIM_FIELD_IDENTITY);
	output_bold(view->options);
	output_text("process      ");
	output_escaped(view->options,
		       plim_process_text(last, PLIM_FIELD_NAME).bytes);
	output_format("  %.*s", (int)identity.bytes.size, identity.bytes.data);
	output_bold_end();
	if (!view->options->no_tree)
		output_format("tree         %u process%s; %u started and %u "
			      "ended in the window\n",
			      facts.members, facts.members == 1 ? "" : "es",
			      facts.members_born, facts.members_ended);
}

static void idle_page_window(const struct idle_view *view)
{
	plim_idle_facts facts = plim_idle_about(view->idle);

	output_text("quiet        ");
	if (facts.quiet > 0)
		output_format("after %s\n",
			      idle_time(view, facts.quiet_after_ns));
	else if (strcmp(idle_quiet_word(&facts), "not_reached") == 0)
		output_format("not within %s\n",
			      idle_time(view, facts.quiet_after_ns));
	else
		output_text("not awaited\n");
	output_format("window       %s, %u sample%s",
		      idle_time(view, facts.interval.elapsed_ns), facts.samples,
		      facts.samples == 1 ? "" : "s");
	if (facts.raised)
		output_format("; raised from %s to the longest period",
			      idle_time(view, facts.window_asked_ns));
	if (facts.interval.suspended_ns > 0)
		output_format("; the machine slept %s meanwhile",
			      idle_time(view, facts.interval.suspended_ns));
	output_text("\n");
}

static const char *idle_show_rate(const struct idle_view *view, int field,
				  int unit)
{
	return show_real(view->options, plim_idle_rate(view->idle, field),
			 unit);
}

static const char *idle_show_last(const struct idle_view *view, int field)
{
	return show_count(view->options, plim_idle_last(view->idle, field),
			  plim_field_get(field)->unit);
}

static void idle_page_figures(const struct idle_view *view)
{
	plim_idle_facts facts = plim_idle_about(view->idle);

	output_format("CPU          %s of one core\n",
		      show_real(view->options,
				plim_idle_cpu_percent(view->idle),
				PLIM_UNIT_PERCENT));
	output_format(
	    "wake-ups     %s; put off its CPU %s\n",
	    idle_show_rate(view, PLIM_FIELD_WAKEUPS, PLIM_UNIT_PER_SECOND),
	    idle_show_rate(view, PLIM_FIELD_INVOLUNTARY, PLIM_UNIT_PER_SECOND));
	output_format(
	    "disk         read %s, written %s; %s read and write "
	    "calls\n",
	    idle_show_rate(view, PLIM_FIELD_DISK_READ,
			   PLIM_UNIT_BYTES_PER_SECOND),
	    idle_show_rate(view, PLIM_FIELD_DISK_WRITE,
			   PLIM_UNIT_BYTES_PER_SECOND),
	    idle_show_rate(view, PLIM_FIELD_IO_CALLS, PLIM_UNIT_PER_SECOND));
	output_format("memory       private %s, resident %s, at most %s\n",
		      idle_show_last(view, PLIM_FIELD_PRIVATE),
		      idle_show_last(view, PLIM_FIELD_RESIDENT),
		      idle_show_last(view, PLIM_FIELD_PEAK_RESIDENT));
	if (view->options->threads)
		wakers_page(view->options, view->idle, idle_most(view), NULL,
			    NULL);
	output_format(
	    "observer     wake-ups %s, CPU time %s; %s\n",
	    show_count(view->options, facts.own_wakeups, PLIM_UNIT_NONE),
	    show_count(view->options, facts.own_cpu_ns, PLIM_UNIT_NS),
	    facts.place == PLIM_IDLE_OUTSIDE
		? "it is no part of what was observed"
		: "none of it is in the figures");
}

static int idle_table(const struct idle_view *view)
{
	idle_page_who(view);
	idle_page_window(view);
	if (plim_idle_about(view->idle).samples > 0)
		idle_page_figures(view);
	output_cost(view->options, view->host,
		    view->started && !view->options->leave);
	return EXIT_DONE;
}

/* --- JSON ----------------------------------------------------------------- */

static void idle_json_phase(plim_json *json, const char *key, int phase)
{
	const char *word = idle_phase_word(phase);

	if (word != NULL)
		plim_json_string(json, key, word);
	else
		plim_json_null(json, key);
}

void idle_json_window(plim_json *json, const plim_idle *idle, int tree)
{
	static const char *const places[] = {"outside", "self", "below"};
	plim_idle_facts facts = plim_idle_about(idle);

	plim_json_object(json, "window");
	plim_json_string(json, "quiet", idle_quiet_word(&facts));
	plim_json_whole(json, "quiet_after_ns", facts.quiet_after_ns);
	json_figure(json, "busiest_step_percent", facts.busiest_step);
	plim_json_whole(json, "asked_ns", facts.window_asked_ns);
	plim_json_boolean(json, "raised", facts.raised != 0);
	plim_json_whole(json, "interval_ns", facts.interval.elapsed_ns);
	plim_json_whole(json, "suspended_ns", facts.interval.suspended_ns);
	plim_json_whole(json, "samples", facts.samples);
	idle_json_phase(json, "ended", facts.ended);
	plim_json_boolean(json, "replaced", facts.replaced != 0);
	idle_json_phase(json, "image_changed", facts.image_changed);
	idle_json_phase(json, "interrupted", facts.stopped);
	plim_json_boolean(json, "tree", tree);
	plim_json_whole(json, "processes", facts.members);
	plim_json_whole(json, "processes_born", facts.members_born);
	plim_json_whole(json, "processes_ended", facts.members_ended);
	plim_json_whole(json, "threads_ended", facts.threads_ended);
	plim_json_object(json, "observer");
	plim_json_string(json, "place", places[facts.place]);
	json_count_figure(json, "wakeups", facts.own_wakeups);
	json_count_figure(json, "involuntary_switches", facts.own_involuntary);
	json_count_figure(json, "cpu_ns", facts.own_cpu_ns);
	plim_json_end(json);
	plim_json_end(json);
}

static void idle_json_figure(const struct idle_view *view, plim_json *json,
			     int field)
{
	const plim_field *row = plim_field_get(field);

	plim_json_object(json, row->name);
	json_count_figure(json, "first", plim_idle_first(view->idle, field));
	json_count_figure(json, "last", plim_idle_last(view->idle, field));
	if (row->kind == PLIM_KIND_GAUGE) {
		json_count_figure(json, "peak",
				  plim_idle_peak(view->idle, field));
	} else {
		json_count_figure(json, "change",
				  plim_idle_change(view->idle, field));
		json_figure(json, "per_second",
			    plim_idle_rate(view->idle, field));
	}
	plim_json_end(json);
}

static int idle_json(const struct idle_view *view)
{
	const plim_process *first = plim_idle_warm(view->idle);
	const plim_process *last = plim_idle_end(view->idle);
	plim_field_set fields = plim_idle_fields();
	plim_json *json = json_begin(view->options, view->host, 0);
	size_t i;

	if (json == NULL)
		return fail_memory();
	if (last != NULL)
		plim_json_process(json, "process", last, first, &fields);
	else
		plim_json_null(json, "process");
	idle_json_window(json, view->idle, !view->options->no_tree);
	plim_json_object(json, "figures");
	json_figure(json, "cpu_percent", plim_idle_cpu_percent(view->idle));
	for (i = 0; i < IDLE_SHOWN; i++)
		idle_json_figure(view, json, idle_shown[i]);
	plim_json_end(json);
	if (view->options->threads)
		wakers_json(json, view->idle, idle_most(view));
	if (view->started && view->child.ended)
		json_exit(json, view->child.status);
	return json_finish(json, view->host);
}

/* --- CSV ------------------------------------------------------------------ */

static void idle_csv_count(plim_count count)
{
	if (count.state == PLIM_STATE_KNOWN)
		output_format("%llu", (unsigned long long)count.value);
	output_text(",");
}

static void idle_csv_real(plim_real real)
{
	char number[40];

	if (real.state == PLIM_STATE_KNOWN) {
		plim_number_format(real.value, number, sizeof number);
		output_text(number);
	}
	output_text(",");
}

/* The state and bound of the figure that the row is about. */
static int idle_csv(const struct idle_view *view)
{
	const plim_idle *idle = view->idle;
	size_t i;

	output_text("figure,first,last,peak,change,per_second,bound,"
		    "unavailable\r\n");
	for (i = 0; i < IDLE_SHOWN; i++) {
		int field = idle_shown[i];
		int gauge = plim_field_get(field)->kind == PLIM_KIND_GAUGE;
		plim_count figure = gauge ? plim_idle_last(idle, field)
					  : plim_idle_change(idle, field);
		plim_count none = {0};

		output_format("%s,", plim_field_get(field)->name);
		idle_csv_count(plim_idle_first(idle, field));
		idle_csv_count(plim_idle_last(idle, field));
		idle_csv_count(gauge ? plim_idle_peak(idle, field) : none);
		idle_csv_count(gauge ? none : figure);
		idle_csv_real(gauge ? plim_real_of(none)
				    : plim_idle_rate(idle, field));
		output_format("%s,%s\r\n",
			      figure.state == PLIM_STATE_KNOWN
				  ? plim_bound_word(figure.bound)
				  : "",
			      figure.state == PLIM_STATE_KNOWN
				  ? ""
				  : plim_reason_word(figure.method));
	}
	return EXIT_DONE;
}

int idle_page(struct idle_view *view)
{
	switch (view->options->format) {
	case FORMAT_JSON:
		return idle_json(view);
	case FORMAT_CSV:
		return idle_csv(view);
	default:
		return view->options->table ? idle_table(view)
					    : idle_results(view);
	}
}
