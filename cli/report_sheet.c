/*
 * report_sheet.c - the page of plim report -o: what a team attaches to a
 * ticket. The same answers in the same order as on the terminal, then what
 * they were found by, as tables, with the flame graph of the window, and at
 * the end how and by whom it was measured, what is missing, and what it cost.
 *
 * It is one file, loads nothing, and can be read without a script and on
 * paper: only the flame graph needs one. That is the page of
 * plim_flame_profile(), whole, in a frame that may do nothing but draw.
 */
#include "given.h"
#include "report.h"
#include "user.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHEET_STACKS 12
#define SHEET_FRAMES 16
#define SHEET_GROUPS 60

/* report_style.c */
extern const char report_style[];

/* --- the head ------------------------------------------------------------- */

static void sheet_name(const struct report *report, struct sheet *sheet)
{
	const plim_process *process =
	    plim_usage_process(report->sampled ? report->last : report->total);
	const plim_text name = plim_process_text(process, PLIM_FIELD_NAME);

	if (name.state == PLIM_STATE_KNOWN)
		sheet_escaped(sheet, name.bytes);
	else if (report->started)
		sheet_string(sheet, report->child.name);
	else
		sheet_text(sheet, "process");
	sheet_format(sheet, " %d", (int)plim_process_pid(process));
}

static void sheet_begin(const struct report *report, struct sheet *sheet)
{
	sheet_text(sheet,
		   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		   "<meta charset=\"utf-8\"/>\n"
		   "<meta name=\"viewport\" content=\"width=device-width, "
		   "initial-scale=1\"/>\n"
		   "<meta http-equiv=\"Content-Security-Policy\" "
		   "content=\"default-src 'none'; style-src 'unsafe-inline'; "
		   "script-src 'unsafe-inline'; base-uri 'none'; form-action "
		   "'none'\"/>\n"
		   "<meta name=\"referrer\" content=\"no-referrer\"/>\n"
		   "<meta name=\"generator\" content=\"plim ");
	sheet_string(sheet, plim_version());
	sheet_text(sheet, "\"/>\n<title>");
	sheet_name(report, sheet);
	sheet_text(sheet, ": what it costs</title>\n");
	sheet_text(sheet, report_style);
	sheet_text(sheet, "</head>\n<body>\n");
}

/* From UTC, with what strftime() calls %z, which not every system gives in
 * digits. */
static void sheet_when(char *text, size_t size)
{
	const time_t now = time(NULL);
	struct tm here;
	struct tm there;
	int minutes;
	size_t used;

	text[0] = '\0';
	if (localtime_r(&now, &here) == NULL || gmtime_r(&now, &there) == NULL)
		return;
	minutes =
	    (here.tm_hour - there.tm_hour) * 60 + here.tm_min - there.tm_min;
	if (here.tm_yday != there.tm_yday) /* at most one day apart */
		minutes += (here.tm_year != there.tm_year
				? here.tm_year > there.tm_year
				: here.tm_yday > there.tm_yday)
			       ? 1440
			       : -1440;
	used = strftime(text, size, "%Y-%m-%d %H:%M:%S ", &here);
	snprintf(text + used, size - used, "%c%02d%02d",
		 minutes < 0 ? '-' : '+', abs(minutes) / 60, abs(minutes) % 60);
}

static void sheet_header(const struct report *report, struct sheet *sheet)
{
	char window[400];
	char when[64];
	char host[256] = "";

	user_machine(host, sizeof host);
	report_window(report, window, sizeof window);
	sheet_when(when, sizeof when);
	sheet_text(sheet, "<header>\n<h1>");
	sheet_name(report, sheet);
	sheet_text(sheet, "</h1>\n<p>Observed ");
	if (report->sampled && report->first != report->last)
		sheet_text(sheet, "for ");
	sheet_safe(sheet, window[0] != '\0' ? window : "until it ended");
	sheet_text(sheet, " on <b>");
	sheet_string(sheet, host[0] != '\0' ? host : "a host without a name");
	sheet_format(sheet, "</b>, until %s. Measuring took ", when);
	sheet_string(sheet, show_count(report->options,
				       command_cost(report->host).cpu_ns,
				       PLIM_UNIT_NS));
	sheet_format(sheet, " of CPU time; %s.</p>\n</header>\n",
		     report_signalled(report)
			 ? "nothing was stopped meanwhile"
			 : "nothing was stopped or signalled");
}

/* --- the answers ---------------------------------------------------------- */

/* Words in which no line ends before a unit. */
static void sheet_words(struct sheet *sheet, const char *text)
{
	for (; *text != '\0'; text++) {
		const char one[2] = {*text, '\0'};

		if (text[0] == ' ' &&
		    (text[1] == '%' ||
		     (text[1] != '\0' && strchr("KMG", text[1]) != NULL &&
		      text[2] == 'i')))
			sheet_text(sheet, "&#160;");
		else
			sheet_safe(sheet, one);
	}
}

static void sheet_answer(struct sheet *sheet, const char *title,
			 const char *unit, const struct report_answer *answer)
{
	const int known = answer->figure[0] != '-';

	sheet_format(sheet, "<div class=\"answer\"><h2>%s</h2><p class=\"%s\">",
		     title, known ? "figure" : "figure none");
	sheet_words(sheet, known ? answer->figure : "not known");
	if (known)
		sheet_format(sheet, " <small>%s</small>", unit);
	sheet_text(sheet, "</p><p>");
	sheet_words(sheet, answer->text);
	sheet_text(sheet, "</p>");
	if (answer->where[0] != '\0') {
		sheet_text(sheet, "<p class=\"where\">");
		sheet_words(sheet, answer->where);
		sheet_text(sheet, "</p>");
	}
	sheet_text(sheet, "</div>\n");
}

static void sheet_answers(const struct report *report, struct sheet *sheet)
{
	const int window = plim_idle_about(report->idle).samples >= 2;

	sheet_text(sheet, "<div class=\"answers\">\n");
	sheet_answer(sheet, "Who wakes", "wake-ups",
		     &report->answers[REPORT_WAKES]);
	sheet_answer(sheet, "What is retained", "of freed memory",
		     &report->answers[REPORT_RETAINED]);
	sheet_answer(sheet, "Where the time goes",
		     window ? "of one core" : "of CPU time",
		     &report->answers[REPORT_TIME]);
	sheet_text(sheet, "</div>\n");
}

/* --- who wakes ------------------------------------------------------------ */

static void sheet_stack(const struct report *report, struct sheet *sheet,
			const plim_fold *fold, const plim_fold_row *row)
{
	char text[900];

	report_stacks_text(report, fold, row, REPORT_WHOLE, SHEET_FRAMES,
			   sizeof text - 1, text, sizeof text);
	sheet_text(sheet, "<td class=\"stack\">");
	sheet_safe(sheet, text);
	sheet_text(sheet, "</td>");
}

static void sheet_group(const struct report *report, struct sheet *sheet,
			const struct report_group *group)
{
	const plim_count all = plim_sum_total(&report->groups.wakeups);
	const plim_count part = plim_sum_total(&group->wakeups);

	sheet_text(sheet, "<tr>");
	sheet_real(sheet, report_groups_rate(report, group->wakeups),
		   PLIM_UNIT_PER_SECOND);
	sheet_text(sheet, "<td class=\"bar\">");
	if (part.state == PLIM_STATE_KNOWN && all.value > 0)
		sheet_format(sheet,
			     "<i class=\"wakes\" style=\"width:%u%%\"></i>",
			     (unsigned)(part.value * 100 / all.value));
	sheet_text(sheet, "</td>");
	sheet_real(sheet, report_groups_percent(report, group->cpu_ns),
		   PLIM_UNIT_PERCENT);
	sheet_count(sheet, plim_sum_total(&group->runqueue_ns), PLIM_UNIT_NS);
	sheet_text(sheet, "<td class=\"who\">");
	sheet_safe(sheet, group->label);
	sheet_text(sheet, "</td>");
	if (group->row != NULL) {
		sheet_stack(report, sheet, report->stacks->off, group->row);
	} else {
		sheet_text(sheet, "<td class=\"stack\">");
		if (group->is_running)
			sheet_text(sheet, "(it runs)");
		else if (group->blocked_in.state == PLIM_STATE_KNOWN)
			sheet_escaped(sheet, group->blocked_in.bytes);
		sheet_text(sheet, "</td>");
	}
	sheet_text(sheet, "</tr>\n");
}

static void sheet_wakes(const struct report *report, struct sheet *sheet)
{
	const struct report_groups *groups = &report->groups;
	size_t i;

	if (groups->count == 0)
		return;
	sheet_format(sheet,
		     "<section><h2>Who wakes, and where it sleeps</h2>\n"
		     "<p>%zu thread%s; those that neither woke nor computed "
		     "are left out, alike ones stand together. A stack is read "
		     "from the left: a &lt; b is a, called by b.</p>\n"
		     "<div class=\"wide\"><table class=\"t1\"><thead><tr>"
		     "<th class=\"n\">Wake-ups</th><th>of all</th>"
		     "<th class=\"n\">CPU</th><th class=\"n\">Waited for a CPU"
		     "</th><th>Threads</th><th>Sleeps in</th></tr></thead>"
		     "<tbody>\n",
		     groups->threads, groups->threads == 1 ? "" : "s");
	for (i = 0; i < groups->count && i < SHEET_GROUPS; i++)
		sheet_group(report, sheet, &groups->items[i]);
	sheet_text(sheet, "</tbody></table></div>\n");
	if (groups->count > SHEET_GROUPS)
		sheet_format(sheet,
			     "<p>and %zu more, which plim report --json "
			     "lists</p>\n",
			     groups->count - SHEET_GROUPS);
	sheet_text(sheet, "</section>\n");
}

/* --- where the time goes -------------------------------------------------- */

static void sheet_hot(const struct report *report, struct sheet *sheet)
{
	const struct report_stacks *stacks = report->stacks;
	char why[700];
	size_t told = 0;
	size_t i;

	for (i = 0; i < plim_fold_row_count(stacks->cpu) && told < SHEET_STACKS;
	     i++) {
		const plim_fold_row *row = plim_fold_row_at(stacks->cpu, i);
		char share[40];
		char error[40];

		if (!report_stacks_is_stack(stacks, row))
			continue;
		plim_fixed_format(100 * row->share, 1, share, sizeof share);
		plim_fixed_format(100 * row->share_error, 1, error,
				  sizeof error);
		if (told++ == 0)
			sheet_text(sheet,
				   "<div class=\"wide\"><table class=\"t2\">"
				   "<thead><tr><th class=\"n\">Share of "
				   "CPU</th><th></th><th "
				   "class=\"n\">Samples</th><th>Computes in"
				   "</th></tr></thead><tbody>\n");
		sheet_format(sheet,
			     "<tr><td class=\"n\">%s %% <small>\xc2\xb1 "
			     "%s</small></td><td class=\"bar\"><i "
			     "class=\"hot\" style=\"width:%s%%\"></i></td><td "
			     "class=\"n\">%llu</td>",
			     share, error, share,
			     (unsigned long long)row->samples);
		sheet_stack(report, sheet, stacks->cpu, row);
		sheet_text(sheet, "</tr>\n");
	}
	if (told > 0) {
		sheet_text(sheet, "</tbody></table></div>\n");
	} else if (report_stacks_why_none(report, why, sizeof why)) {
		sheet_text(sheet, "<p>No stack that computes: ");
		sheet_safe(sheet, why);
		sheet_text(sheet, "</p>\n");
	}
}

/* A page inside of an attribute. */
static int sheet_inside(const char *data, size_t size, void *user)
{
	struct sheet *sheet = user;

	while (size > 0) {
		char piece[1024];
		size_t used = 0;

		while (size > 0 && used < sizeof piece - 8) {
			const char *escape = *data == '&'   ? "&amp;"
					     : *data == '<' ? "&lt;"
					     : *data == '"' ? "&quot;"
							    : NULL;

			if (escape == NULL) {
				piece[used++] = *data;
			} else {
				memcpy(piece + used, escape, strlen(escape));
				used += strlen(escape);
			}
			data++;
			size--;
		}
		piece[used] = '\0';
		sheet_text(sheet, piece);
	}
	return 0;
}

/* The view that has something to show. */
static int sheet_view(const struct report_stacks *stacks)
{
	plim_error error;

	return plim_profile_check(stacks->profile, PLIM_VIEW_CPU, &error) ==
		       PLIM_OK
		   ? PLIM_VIEW_CPU
		   : PLIM_VIEW_OFF;
}

static int sheet_flame(const struct report *report, struct sheet *sheet)
{
	plim_profile_export how = {.size = sizeof how};
	plim_error error;
	int code;

	how.view = sheet_view(report->stacks);
	sheet_text(sheet,
		   "<h3 class=\"screen\">Flame graph: on a CPU, off it, all "
		   "time</h3>\n<iframe class=\"flame screen\" title=\"Flame "
		   "graph\" sandbox=\"allow-scripts\" srcdoc=\"");
	code = plim_flame_profile(report->stacks->profile, &how, sheet_inside,
				  sheet, &error);
	sheet_text(sheet, "\"></iframe>\n");
	return code == PLIM_OK ? EXIT_DONE : fail_with(report->options, &error);
}

static int sheet_time(const struct report *report, struct sheet *sheet)
{
	char why[700];
	int status = EXIT_DONE;

	sheet_text(sheet, "<section><h2>Where the time goes</h2>\n");
	if (report_stacks_why(report, why, sizeof why)) {
		sheet_text(sheet, "<p>No stacks: ");
		sheet_safe(sheet, why);
		sheet_text(sheet, "</p>\n");
	} else {
		sheet_hot(report, sheet);
		status = sheet_flame(report, sheet);
	}
	sheet_text(sheet, "</section>\n");
	return status;
}

/* --- all of it ------------------------------------------------------------ */

int report_sheet(struct report *report, const char *path)
{
	struct sheet sheet;
	int status = sheet_open(&sheet, path);

	if (status != EXIT_DONE)
		return status;
	sheet_begin(report, &sheet);
	sheet_header(report, &sheet);
	sheet_answers(report, &sheet);
	sheet_wakes(report, &sheet);
	status = sheet_time(report, &sheet);
	report_sheet_memory(report, &sheet);
	report_sheet_figures(report, &sheet);
	report_tree_sheet(report, &sheet);
	report_sheet_not_there(report, &sheet);
	report_sheet_how(report, &sheet);
	sheet_text(&sheet, "</body>\n</html>\n");
	if (status != EXIT_DONE) {
		sheet_drop(&sheet);
		return status;
	}
	return sheet_close(&sheet);
}
