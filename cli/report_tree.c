/*
 * report_tree.c - the part of plim report that looks at descendants: what the
 * whole tree costs, how much of it through children that have ended, and who
 * in it costs most.
 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#define REPORT_BIGGEST	5
#define REPORT_IN_SHORT 3
#define REPORT_ON_SHEET 20

static const int report_tree_ids[] = {
    PLIM_FIELD_CPU,	   PLIM_FIELD_WAKEUPS,	PLIM_FIELD_DISK_READ,
    PLIM_FIELD_DISK_WRITE, PLIM_FIELD_RESIDENT, PLIM_FIELD_PRIVATE,
    PLIM_FIELD_ANONYMOUS,  PLIM_FIELD_SWAP,	PLIM_FIELD_PID,
    PLIM_FIELD_NAME,	   PLIM_FIELD_IDENTITY};

static const struct column report_tree_share = {.rate = 1};

static struct column report_cpu_column(void)
{
	struct column column = report_tree_share;

	column.field = plim_field_get(PLIM_FIELD_CPU);
	return column;
}

int report_tree_open(struct report *report, plim_error *error)
{
	struct tree_view *view = &report->tree;
	size_t i;

	view->options = report->options;
	view->host = report->host;
	view->root = report->target;
	view->rounds = 1;
	for (i = 0; i < sizeof report_tree_ids / sizeof report_tree_ids[0]; i++)
		plim_field_set_add(&view->fields, report_tree_ids[i]);
	view->shown = view->fields;
	return plim_tree_new(&report->whole, report->host, error);
}

void report_tree_release(struct report *report)
{
	branches_release(&report->tree.members);
	plim_tree_free(report->whole);
}

/* What ended before it could be seen has no tree to tell of. */
int report_tree_take(struct report *report, plim_error *error)
{
	struct tree_view *view = &report->tree;
	const plim_tree_options take = {.size = sizeof take,
					.fields = &view->fields,
					.threads = 1,
					.sticky = 1};
	int code;

	if (!report->sampled)
		return PLIM_OK;
	view->tree = report->whole;
	code = plim_tree_usage(view->tree, view->root, &take, error);
	if (code == PLIM_EHIDDEN || code == PLIM_ECANNOTTELL)
		return PLIM_OK;
	if (code == PLIM_OK &&
	    plim_tree_interval(view->tree, &view->interval, NULL) == PLIM_OK)
		report->tree_rounds = 2;
	return code;
}

/* Nothing that is done with a view changes its tree. */
void report_tree_of_window(struct report *report)
{
	struct tree_view *view = &report->tree;
	const plim_tree *tree = plim_idle_tree(report->idle);

	if (tree == NULL ||
	    plim_tree_interval(tree, &view->interval, NULL) != PLIM_OK)
		return;
	view->tree = (plim_tree *)tree;
	report->tree_rounds = 2;
}

/* In per cent over the window; of a member that was born in it all it has. */
static plim_real report_share(const struct branch *branch, uint64_t interval_ns)
{
	struct column column = report_cpu_column();
	plim_real real;

	if (branch->earlier != NULL)
		return column_real(&column, branch->process, branch->earlier);
	real = plim_change_rate(
	    plim_process_count(branch->process, PLIM_FIELD_CPU), interval_ns);
	real.value /= 1e7;
	return real;
}

/* qsort has no argument for us. */
static uint64_t report_sorting_ns;

static int report_bigger(const void *left, const void *right)
{
	const struct branch *a = left;
	const struct branch *b = right;
	int order = plim_real_order(report_share(a, report_sorting_ns),
				    report_share(b, report_sorting_ns), 1);
	int32_t i = plim_process_pid(a->process);
	int32_t j = plim_process_pid(b->process);

	return order != 0 ? order : (i > j) - (i < j);
}

/* The members, the biggest first; how many they are without the root. */
int report_tree_members(struct report *report, size_t *descendants)
{
	struct tree_view *view = &report->tree;
	int32_t root = plim_target_identity(view->root).pid;
	size_t i;

	if (report->tree_rounds < 2 || tree_view_members(view) != 0 ||
	    view->members.count == 0)
		return 0;
	*descendants = view->members.count;
	for (i = 0; i < view->members.count; i++)
		if (plim_process_pid(view->members.items[i].process) == root)
			*descendants -= 1;
	report_sorting_ns = view->interval.elapsed_ns;
	qsort(view->members.items, view->members.count,
	      sizeof *view->members.items, report_bigger);
	return 1;
}

/* A figure of the tree, and of how many members it is not known. */
static void report_tree_figure(const struct report *report, const char *before,
			       plim_real real, int field, int unit)
{
	uint32_t missing = plim_tree_sum(report->tree.tree, field).missing;

	output_format("%s%s", before, show_real(report->options, real, unit));
	if (missing > 0)
		output_format(" (%u unknown)", missing);
}

static void report_tree_rate(const struct report *report, const char *before,
			     int field, int unit)
{
	report_tree_figure(report, before,
			   plim_tree_rate(report->tree.tree, field), field,
			   unit);
}

static void report_tree_gauge(const struct report *report, const char *before,
			      int field)
{
	plim_sum sum = plim_tree_sum(report->tree.tree, field);

	report_tree_figure(report, before, plim_real_of(plim_sum_total(&sum)),
			   field, PLIM_UNIT_BYTES);
}

/* CPU time of the tree beyond what its living members used themselves: of
 * children that have ended and were waited for. */
static plim_count report_tree_ended(const struct report *report)
{
	const struct tree_view *view = &report->tree;
	struct column column = report_cpu_column();
	plim_count all = plim_tree_change(view->tree, PLIM_FIELD_CPU);
	plim_sum own = {{0}, {0}, 0, 0};
	plim_count living;
	size_t i;

	for (i = 0; i < view->members.count; i++) {
		const struct branch *branch = &view->members.items[i];

		plim_sum_add(&own, branch->earlier != NULL
				       ? branch_part(branch, &column)
				       : plim_process_count(branch->process,
							    PLIM_FIELD_CPU));
	}
	living = plim_sum_total(&own);
	if (all.state == PLIM_STATE_KNOWN && living.state == PLIM_STATE_KNOWN)
		all.value -=
		    living.value < all.value ? living.value : all.value;
	return all;
}

static void report_tree_cpu(const struct report *report, plim_count ended)
{
	const struct tree_view *view = &report->tree;
	plim_real rate = plim_change_rate(ended, view->interval.elapsed_ns);

	report_tree_figure(report, "             CPU ",
			   plim_tree_cpu_percent(view->tree), PLIM_FIELD_CPU,
			   PLIM_UNIT_PERCENT);
	output_text(" of one core");
	rate.value /= 1e7;
	if (ended.state == PLIM_STATE_KNOWN && ended.value > 0)
		output_format(
		    " (%s by descendants that ended)",
		    show_real(report->options, rate, PLIM_UNIT_PERCENT));
	output_format("; %s since its start\n",
		      show_count(report->options,
				 plim_tree_total(view->tree, PLIM_FIELD_CPU),
				 PLIM_UNIT_NS));
}

static void report_tree_biggest(const struct report *report)
{
	const struct tree_view *view = &report->tree;
	const size_t most =
	    report->options->all ? REPORT_BIGGEST : REPORT_IN_SHORT;
	size_t i;

	for (i = 0; i < view->members.count && i < most; i++) {
		const struct branch *branch = &view->members.items[i];

		output_format(
		    "%s%-8s %7d  ", i == 0 ? "biggest      " : "             ",
		    show_real(report->options,
			      report_share(branch, view->interval.elapsed_ns),
			      PLIM_UNIT_PERCENT),
		    (int)plim_process_pid(branch->process));
		output_escaped(
		    report->options,
		    plim_process_text(branch->process, PLIM_FIELD_NAME).bytes);
		output_text("\n");
	}
	if (view->members.count > most)
		output_format("             and %zu more\n",
			      view->members.count - most);
}

void report_tree_page(struct report *report)
{
	plim_tree_facts facts;
	size_t descendants;
	plim_count ended;

	if (!report_tree_members(report, &descendants))
		return;
	facts = plim_tree_about(report->tree.tree);
	ended = report_tree_ended(report);
	if (descendants == 0 && facts.ended == 0 && ended.value == 0) {
		if (report->options->all)
			output_text("descendants  none\n");
		return;
	}
	output_format("descendants  %zu; %u started and %u ended meanwhile; "
		      "the whole tree:\n",
		      descendants, facts.born, facts.ended);
	report_tree_cpu(report, ended);
	report_tree_rate(report, "             wake-ups ", PLIM_FIELD_WAKEUPS,
			 PLIM_UNIT_PER_SECOND);
	report_tree_rate(report, ", disk read ", PLIM_FIELD_DISK_READ,
			 PLIM_UNIT_BYTES_PER_SECOND);
	report_tree_rate(report, ", written ", PLIM_FIELD_DISK_WRITE,
			 PLIM_UNIT_BYTES_PER_SECOND);
	output_text("\n");
	if (descendants == 0)
		return;
	report_tree_gauge(report, "             private ", PLIM_FIELD_PRIVATE);
	report_tree_gauge(report, ", resident ", PLIM_FIELD_RESIDENT);
	output_text(" with shared pages once for each\n");
	report_tree_biggest(report);
}

static void report_sheet_member(const struct report *report,
				struct sheet *sheet,
				const struct branch *branch)
{
	sheet_text(sheet, "<tr><td>");
	sheet_escaped(
	    sheet, plim_process_text(branch->process, PLIM_FIELD_NAME).bytes);
	sheet_format(sheet, "</td><td class=\"n\">%d</td>",
		     (int)plim_process_pid(branch->process));
	sheet_real(sheet,
		   report_share(branch, report->tree.interval.elapsed_ns),
		   PLIM_UNIT_PERCENT);
	sheet_count(sheet,
		    plim_process_count(branch->process, PLIM_FIELD_RESIDENT),
		    PLIM_UNIT_BYTES);
	sheet_text(sheet, "</tr>\n");
}

/* Members by the CPU time they used; nothing of a process without any. */
void report_tree_sheet(struct report *report, struct sheet *sheet)
{
	const struct tree_view *view = &report->tree;
	plim_tree_facts facts;
	size_t descendants;
	size_t i;

	if (!report_tree_members(report, &descendants) || descendants == 0)
		return;
	facts = plim_tree_about(view->tree);
	sheet_format(sheet,
		     "<h2>Descendants</h2>\n<p>%zu; %u started and %u ended "
		     "meanwhile. Figures of the whole tree are above; these "
		     "are the members that used most.</p>\n"
		     "<div class=\"wide\"><table><thead><tr><th>Process</th>"
		     "<th class=\"n\">pid</th><th class=\"n\">CPU</th><th "
		     "class=\"n\">Resident</th></tr></thead><tbody>\n",
		     descendants, facts.born, facts.ended);
	for (i = 0; i < view->members.count && i < REPORT_ON_SHEET; i++)
		report_sheet_member(report, sheet, &view->members.items[i]);
	sheet_text(sheet, "</tbody></table></div>\n");
}

void report_tree_json(struct report *report, plim_json *json)
{
	size_t descendants;

	if (report_tree_members(report, &descendants))
		tree_view_json(&report->tree, json, "biggest", REPORT_BIGGEST);
	else
		plim_json_null(json, "tree");
}
