/*
 * report_facts.c - the second half of the page of plim report: what its
 * answers were found by. Memory part by part with what would return it,
 * figures with the method of each, what is missing and why, and how and by
 * whom it was measured, with what that cost.
 */
#include "given.h"
#include "report.h"
#include "user.h"

/* --- memory --------------------------------------------------------------- */

static void sheet_allocators(const struct report *report, struct sheet *sheet)
{
	size_t i;

	for (i = 0; i < plim_heaps_count(report->heaps); i++) {
		const plim_heap_facts facts =
		    plim_heap_about(plim_heaps_at(report->heaps, i));

		sheet_text(sheet, "<p>");
		sheet_string(sheet, plim_heap_kind_text(facts.kind));
		if (facts.version != NULL && facts.version[0] != '\0') {
			sheet_text(sheet, " ");
			sheet_string(sheet, facts.version);
		}
		sheet_format(sheet, ": %s", plim_heap_depth_word(facts.depth));
		if (facts.depth == PLIM_DEPTH_REFUSED) {
			sheet_text(sheet, ": ");
			sheet_string(sheet, facts.why);
		}
		sheet_text(sheet, "</p>\n");
	}
}

void report_sheet_memory(const struct report *report, struct sheet *sheet)
{
	sheet_text(sheet, "<section><h2>Memory: live or retained</h2>\n");
	if (report->memory == REPORT_MEMORY_KNOWN) {
		report_memory_sheet(report, sheet);
		sheet_allocators(report, sheet);
	} else {
		sheet_text(sheet, "<p>");
		sheet_safe(sheet, report->answers[REPORT_RETAINED].text);
		sheet_text(sheet, "</p>\n");
	}
	sheet_text(sheet, "</section>\n");
}

/* --- figures -------------------------------------------------------------- */

static void sheet_rate(const struct report *report, struct sheet *sheet,
		       int field)
{
	const plim_field *row = plim_field_get(field);
	plim_real rate;

	if (row->kind != PLIM_KIND_COUNTER) {
		sheet_text(sheet, "<td></td>");
		return;
	}
	rate = report_field_rate(report, field);
	if (row->unit == PLIM_UNIT_NS) {
		rate.value /= 1e7;
		sheet_real(sheet, rate, PLIM_UNIT_PERCENT);
	} else {
		sheet_real(sheet, rate,
			   row->unit == PLIM_UNIT_BYTES
			       ? PLIM_UNIT_BYTES_PER_SECOND
			       : PLIM_UNIT_PER_SECOND);
	}
}

static void sheet_source(const struct report *report, struct sheet *sheet,
			 int field)
{
	const plim_count figure = report_count(report, field);

	sheet_text(sheet, "<td>");
	if (figure.state == PLIM_STATE_KNOWN) {
		sheet_string(sheet, plim_method_word(figure.method));
		if (figure.bound != PLIM_BOUND_EXACT)
			sheet_format(sheet, " (%s)",
				     figure.bound == PLIM_BOUND_AT_LEAST
					 ? "at least"
					 : "at most");
	} else {
		sheet_string(sheet, plim_state_word(figure.state));
		sheet_text(sheet, ": ");
		sheet_string(sheet, show_reason(figure.state, figure.method,
						figure.code));
	}
	sheet_text(sheet, "</td>");
}

void report_sheet_figures(const struct report *report, struct sheet *sheet)
{
	int i;

	sheet_text(sheet,
		   "<section><h2>What it costs: figures of the process</h2>\n"
		   "<div class=\"wide\"><table class=\"t4\"><thead><tr><th>"
		   "Figure</th><th class=\"n\">Value</th><th class=\"n\">In "
		   "the window</th>"
		   "<th>Method</th><th>What it is</th></tr></thead><tbody>\n");
	for (i = 0; report_fields[i] != 0; i++) {
		const plim_field *row = plim_field_get(report_fields[i]);

		sheet_text(sheet, "<tr><td>");
		sheet_string(sheet, row->name);
		sheet_text(sheet, "</td>");
		sheet_count(sheet, report_count(report, report_fields[i]),
			    row->unit);
		sheet_rate(report, sheet, report_fields[i]);
		sheet_source(report, sheet, report_fields[i]);
		sheet_text(sheet, "<td class=\"soft\">");
		sheet_string(sheet, row->text);
		sheet_text(sheet, "</td></tr>\n");
	}
	sheet_text(sheet, "</tbody></table></div></section>\n");
}

/* --- what is missing ------------------------------------------------------ */

static void sheet_lacks(const struct report *report, struct sheet *sheet)
{
	const struct report_stacks *stacks = report->stacks;
	size_t i;

	if (stacks == NULL || stacks->profile == NULL)
		return;
	for (i = 0; i < plim_profile_lack_count(stacks->profile); i++) {
		sheet_text(sheet, "<dt>samples</dt><dd>");
		sheet_string(sheet, plim_profile_lack(stacks->profile, i));
		sheet_text(sheet, "</dd>\n");
	}
}

static void sheet_missing_figures(const struct report *report,
				  struct sheet *sheet)
{
	char names[1024];
	int field;

	for (field = 1; field <= PLIM_FIELD_LAST; field++) {
		const plim_count figure = report_count(report, field);

		if (!report_is_missing(report, field) ||
		    report_missing_again(report, field))
			continue;
		report_missing_names(report, field, names, sizeof names);
		sheet_text(sheet, "<dt>");
		sheet_string(sheet, names);
		sheet_format(sheet,
			     "</dt><dd>%s: ", plim_state_word(figure.state));
		sheet_string(sheet, show_reason(figure.state, figure.method,
						figure.code));
		sheet_text(sheet, "</dd>\n");
	}
}

void report_sheet_not_there(const struct report *report, struct sheet *sheet)
{
	char why[700];

	sheet_text(sheet, "<section><h2>What is missing, and why</h2>\n<dl>\n");
	if (report_stacks_why(report, why, sizeof why)) {
		sheet_text(sheet, "<dt>stacks</dt><dd>");
		sheet_safe(sheet, why);
		sheet_text(sheet, "</dd>\n");
	}
	sheet_lacks(report, sheet);
	sheet_missing_figures(report, sheet);
	sheet_text(sheet, "</dl></section>\n");
}

/* --- how ------------------------------------------------------------------ */

static void sheet_fact(struct sheet *sheet, const char *name, const char *text)
{
	sheet_format(sheet, "<dt>%s</dt><dd>", name);
	sheet_string(sheet, text);
	sheet_text(sheet, "</dd>\n");
}

static void sheet_host_text(const struct report *report, struct sheet *sheet,
			    const char *name, int id)
{
	const plim_text text = plim_host_text(report->host, id);

	sheet_format(sheet, "<dt>%s</dt><dd>", name);
	if (text.state == PLIM_STATE_KNOWN)
		sheet_escaped(sheet, text.bytes);
	else
		sheet_string(sheet,
			     show_reason(text.state, text.method, text.code));
	sheet_text(sheet, "</dd>\n");
}

static void sheet_tiers(const struct report *report, struct sheet *sheet)
{
	const struct report_stacks *stacks = report->stacks;
	size_t i;

	if (stacks == NULL || stacks->profile == NULL)
		return;
	for (i = 0; i < plim_profile_tier_count(stacks->profile); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(stacks->profile, i);

		if (tier->used)
			sheet_fact(sheet, "Sampled by", tier->text);
	}
}

static void sheet_command(struct sheet *sheet)
{
	sheet_text(sheet, "<dt>Command</dt><dd><code>");
	sheet_string(sheet, given_text());
	sheet_text(sheet, "</code>");
	if (given_left_out() > 0)
		sheet_format(sheet,
			     " and %d argument%s of the command, left out "
			     "since they may hold secrets",
			     given_left_out(),
			     given_left_out() == 1 ? "" : "s");
	sheet_text(sheet, "</dd>\n");
}

static void sheet_cost(const struct report *report, struct sheet *sheet)
{
	const plim_cost cost = command_cost(report->host);
	const struct report_stacks *stacks = report->stacks;
	char bytes[32];
	char text[400];

	plim_quantity_format((double)cost.bytes_read, PLIM_UNIT_BYTES, bytes,
			     sizeof bytes);
	snprintf(text, sizeof text,
		 "%s of CPU time, %llu system calls, %s read; %s",
		 show_count(report->options, cost.cpu_ns, PLIM_UNIT_NS),
		 (unsigned long long)cost.system_calls, bytes,
		 report_signalled(report)
		     ? "nothing was stopped while it was measured"
		     : "nothing was stopped or signalled");
	sheet_fact(sheet, "Cost of measuring", text);
	if (!report_stacks_are_there(report))
		return;
	snprintf(
	    text, sizeof text,
	    "%s of that CPU time, at %u samples a second; %s stops of the "
	    "process",
	    show_count(
		report->options,
		plim_profile_metric(stacks->profile, PLIM_METRIC_SAMPLER_CPU),
		PLIM_UNIT_NS),
	    plim_profile_about(stacks->profile).hz_effective,
	    show_count(report->options,
		       plim_profile_metric(stacks->profile, PLIM_METRIC_STOPS),
		       PLIM_UNIT_NONE));
	sheet_fact(sheet, "of it, sampling", text);
}

void report_sheet_how(const struct report *report, struct sheet *sheet)
{
	const plim_process *last = plim_usage_process(report->last);
	char self[128];
	char text[200];

	sheet_text(sheet, "<section><h2>How this was measured, and what that "
			  "cost</h2>\n<dl>\n");
	sheet_command(sheet);
	user_self(self, sizeof self);
	snprintf(text, sizeof text, "plim %s, as user %s", plim_version(),
		 self);
	sheet_fact(sheet, "By", text);
	if (report->sampled) {
		sheet_text(sheet, "<dt>Process</dt><dd>");
		sheet_escaped(
		    sheet, plim_process_text(last, PLIM_FIELD_IDENTITY).bytes);
		report_started(report, text, sizeof text);
		sheet_format(sheet, ", of user %s, started %s</dd>\n",
			     show_count(report->options,
					report_count(report, PLIM_FIELD_UID),
					PLIM_UNIT_ID),
			     text);
	}
	sheet_host_text(report, sheet, "Kernel", PLIM_HOST_KERNEL);
	sheet_host_text(report, sheet, "Machine", PLIM_HOST_MACHINE);
	sheet_fact(sheet, "CPUs",
		   show_count(report->options,
			      plim_host_count(report->host, PLIM_HOST_CPUS),
			      PLIM_UNIT_NONE));
	sheet_tiers(report, sheet);
	if (report->started && report->child.ended) {
		report_end(report, text, sizeof text);
		sheet_fact(sheet, "It ended", text);
	}
	sheet_cost(report, sheet);
	sheet_text(sheet, "</dl></section>\n");
}
