/*
 * report_page.c - what plim report found out, as a page, JSON or CSV. A figure
 * that is missing is told with its reason; of a process that has ended the
 * last live sample stands beside the kernel's account.
 */
#include "report.h"

#include <string.h>
#include <time.h>

static plim_count report_count(const struct report *report, int field)
{
	return plim_process_count(plim_usage_process(report->last), field);
}

static const char *report_value(const struct report *report, int field)
{
	return show_count(report->options, report_count(report, field),
			  plim_field_get(field)->unit);
}

static const char *report_rate(const struct report *report, int field)
{
	int unit = plim_field_get(field)->unit == PLIM_UNIT_BYTES
		       ? PLIM_UNIT_BYTES_PER_SECOND
		       : PLIM_UNIT_PER_SECOND;

	return show_real(report->options,
			 plim_process_rate(plim_usage_process(report->first),
					   plim_usage_process(report->last),
					   field),
			 unit);
}

static void report_who(const struct report *report)
{
	const plim_process *last = plim_usage_process(report->last);
	plim_text identity = plim_process_text(last, PLIM_FIELD_IDENTITY);
	plim_count start = report_count(report, PLIM_FIELD_START_UNIX_MS);
	char when[32] = "-";

	if (start.state == PLIM_STATE_KNOWN) {
		time_t seconds = (time_t)(start.value / 1000);
		struct tm broken;

		if (localtime_r(&seconds, &broken) != NULL)
			strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S",
				 &broken);
	}
	output_bold(report->options);
	output_text("process      ");
	output_escaped(report->options,
		       plim_process_text(last, PLIM_FIELD_NAME).bytes);
	output_format("  %.*s", (int)identity.bytes.size, identity.bytes.data);
	output_bold_end();
	output_format("             user %s, started %s, state %.*s, "
		      "%s thread%s, %s descriptors\n",
		      report_value(report, PLIM_FIELD_UID), when,
		      (int)plim_process_text(last, PLIM_FIELD_STATE).bytes.size,
		      plim_process_text(last, PLIM_FIELD_STATE).bytes.data,
		      report_value(report, PLIM_FIELD_THREADS),
		      report_count(report, PLIM_FIELD_THREADS).value == 1 ? ""
									  : "s",
		      report_value(report, PLIM_FIELD_DESCRIPTORS));
	if ((report->changes & PLIM_CHANGE_IMAGE) != 0)
		output_text("             it executed another program while it "
			    "was watched\n");
}

static void report_window(const struct report *report)
{
	plim_interval interval;

	if (plim_process_interval(plim_usage_process(report->first),
				  plim_usage_process(report->last), &interval,
				  NULL) != PLIM_OK)
		return;
	output_format("observed     %s",
		      report->first == report->last
			  ? "once"
			  : show_count(report->options,
				       plim_count_known(interval.elapsed_ns,
							PLIM_METHOD_SYSTEM),
				       PLIM_UNIT_NS));
	if (interval.suspended_ns > 0)
		output_format(
		    "; the machine slept %s meanwhile, so the rates are of "
		    "little worth",
		    show_count(report->options,
			       plim_count_known(interval.suspended_ns,
						PLIM_METHOD_SYSTEM),
			       PLIM_UNIT_NS));
	if (report->quiet)
		output_format(
		    "; quiet after %s",
		    show_count(report->options,
			       plim_count_known(report->quiet_after_ns,
						PLIM_METHOD_SYSTEM),
			       PLIM_UNIT_NS));
	else if (report->awaited && !report->ended)
		output_text("; it did not become quiet first");
	if (report->ended && report->first == report->last)
		output_text(": it has ended");
	else if (report->ended)
		output_text("; then it ended");
	output_text("\n");
}

static void report_costs(const struct report *report)
{
	const plim_process *first = plim_usage_process(report->first);
	const plim_process *last = plim_usage_process(report->last);

	output_format("CPU          %s of one core; %s since its start (user "
		      "%s, system %s)\n",
		      show_real(report->options,
				plim_process_cpu_percent(first, last),
				PLIM_UNIT_PERCENT),
		      report_value(report, PLIM_FIELD_CPU),
		      report_value(report, PLIM_FIELD_CPU_USER),
		      report_value(report, PLIM_FIELD_CPU_SYSTEM));
	output_format("wake-ups     %s; put off its CPU %s\n",
		      report_rate(report, PLIM_FIELD_WAKEUPS),
		      report_rate(report, PLIM_FIELD_INVOLUNTARY));
	output_format("disk         read %s, written %s; since its start %s "
		      "and %s\n",
		      report_rate(report, PLIM_FIELD_DISK_READ),
		      report_rate(report, PLIM_FIELD_DISK_WRITE),
		      report_value(report, PLIM_FIELD_DISK_READ),
		      report_value(report, PLIM_FIELD_DISK_WRITE));
	output_format("calls        %s read and write calls, %s minor and %s "
		      "major page faults\n",
		      report_rate(report, PLIM_FIELD_IO_CALLS),
		      report_rate(report, PLIM_FIELD_FAULTS_MINOR),
		      report_rate(report, PLIM_FIELD_FAULTS_MAJOR));
	output_format("memory       anonymous %s, swapped out %s, files %s, "
		      "shared %s\n             resident %s, at most %s\n",
		      report_value(report, PLIM_FIELD_ANONYMOUS),
		      report_value(report, PLIM_FIELD_SWAP),
		      report_value(report, PLIM_FIELD_FILE),
		      report_value(report, PLIM_FIELD_SHMEM),
		      report_value(report, PLIM_FIELD_RESIDENT),
		      report_value(report, PLIM_FIELD_PEAK_RESIDENT));
}

/* Figures of the page that are missing, each reason once. */
static void report_missing(const struct report *report)
{
	plim_count told[PLIM_FIELD_LAST + 1];
	int count = 0;
	int field;
	int other;

	for (field = 1; field <= PLIM_FIELD_LAST; field++) {
		plim_count figure = report_count(report, field);

		/* What the page does not ask for is not missing in it. */
		if (plim_field_get(field)->kind == PLIM_KIND_TEXT ||
		    figure.method == PLIM_REASON_NOT_ASKED ||
		    figure.state == PLIM_STATE_KNOWN ||
		    plim_field_get(field)->linux_source == NULL)
			continue;
		for (other = 0; other < count; other++)
			if (told[other].method == figure.method)
				break;
		if (other < count)
			continue;
		told[count++] = figure;
		output_format("unavailable  ");
		for (other = field; other <= PLIM_FIELD_LAST; other++)
			if (report_count(report, other).state !=
				PLIM_STATE_KNOWN &&
			    report_count(report, other).method == figure.method)
				output_format("%s%s", other > field ? ", " : "",
					      plim_field_get(other)->name);
		output_format(
		    "\n             %s: %s\n", plim_state_word(figure.state),
		    show_reason(figure.state, figure.method, figure.code));
	}
}

/* Did we end it? */
static int report_signalled(const struct report *report)
{
	return report->started && !report->ended && !report->options->leave;
}

static const char *report_end(const struct report *report, char *text,
			      size_t size)
{
	if (report_signalled(report))
		snprintf(text, size, "by us, after the report");
	else
		snprintf(text, size, "with status %d",
			 child_exit_status(report->child.status));
	return text;
}

static void report_total(const struct report *report)
{
	const plim_process *total = plim_usage_process(report->total);
	const struct options *options = report->options;
	char end[64];

	output_format(
	    "ended        %s; in all: CPU %s (user %s, system %s), %s "
	    "wake-ups, %s disk blocks\n             (the kernel's account of "
	    "it "
	    "and of every child it waited for)\n",
	    report_end(report, end, sizeof end),
	    show_count(options, plim_process_count(total, PLIM_FIELD_CPU),
		       PLIM_UNIT_NS),
	    show_count(options, plim_process_count(total, PLIM_FIELD_CPU_USER),
		       PLIM_UNIT_NS),
	    show_count(options,
		       plim_process_count(total, PLIM_FIELD_CPU_SYSTEM),
		       PLIM_UNIT_NS),
	    show_count(options, plim_process_count(total, PLIM_FIELD_WAKEUPS),
		       PLIM_UNIT_NONE),
	    show_count(options,
		       plim_process_count(total, PLIM_FIELD_DISK_BLOCKS),
		       PLIM_UNIT_NONE));
}

static void report_events(const struct report *report, plim_json *json)
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

static int report_json(struct report *report)
{
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_json *json = json_begin(report->options, report->host, 0);

	if (json == NULL)
		return fail_memory();
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
	wakers_json(json, report->idle, UINT64_MAX);
	report_events(report, json);
	return json_finish(json, report->host);
}

int report_page(struct report *report)
{
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);

	switch (report->options->format) {
	case FORMAT_JSON:
		return report_json(report);
	case FORMAT_CSV:
		plim_csv_header(&all, 1, output_write, &standard_output);
		plim_csv_process(plim_usage_process(report->last),
				 plim_usage_process(report->first), &all, 1,
				 output_write, &standard_output);
		return EXIT_DONE;
	default:
		if (report->sampled) {
			report_who(report);
			report_window(report);
			report_costs(report);
			report_memory_page(report);
			report_tree_page(report);
			wakers_page(report->options, report->idle, WAKERS_TOLD);
			report_missing(report);
		} else {
			output_text("observed     it ended before it could be "
				    "observed\n");
		}
		if (report->started && report->child.ended)
			report_total(report);
		output_cost(report->options, report->host,
			    report_signalled(report));
		return EXIT_DONE;
	}
}
