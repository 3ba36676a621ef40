/*
 * report_page.c - what plim report found out, on a terminal. One screen: the
 * answers first, below them what they were found by, last what is missing and
 * what finding out cost. With --all every thread, figure and reason.
 *
 * What this user was refused is always told with its reason; what no user is
 * told of on this host is named, and --all says why.
 */
#include "prose.h"
#include "report.h"

#include <string.h>

#define PAGE_GROUPS   4
#define PAGE_STACKS   3
#define PAGE_ALL      12 /* stacks with --all */
#define PAGE_FRAMES   6
#define PAGE_COLUMN   13
#define PAGE_INDENT   17 /* of a thread's stack */
#define PAGE_HOT_ROOM 16

static const char *page_value(const struct report *report, int field)
{
	return show_count(report->options, report_count(report, field),
			  plim_field_get(field)->unit);
}

static const char *page_rate(const struct report *report, int field)
{
	const int unit = plim_field_get(field)->unit == PLIM_UNIT_BYTES
			     ? PLIM_UNIT_BYTES_PER_SECOND
			     : PLIM_UNIT_PER_SECOND;

	return show_real(report->options, report_field_rate(report, field),
			 unit);
}

/* --- who and when --------------------------------------------------------- */

static void page_who(const struct report *report)
{
	const plim_process *last = plim_usage_process(report->last);
	const plim_count threads = report_count(report, PLIM_FIELD_THREADS);
	struct prose prose = {.options = report->options};
	char when[32];

	report_started(report, when, sizeof when);
	prose_begin(&prose, "process");
	prose.bold = 1;
	prose_quote(&prose, plim_process_text(last, PLIM_FIELD_NAME).bytes);
	prose_format(&prose, "  ");
	prose_quote(&prose, plim_process_text(last, PLIM_FIELD_IDENTITY).bytes);
	prose_end(&prose);
	prose_line(&prose, "",
		   "user %s, started %s, %s thread%s, %s descriptors",
		   page_value(report, PLIM_FIELD_UID), when,
		   page_value(report, PLIM_FIELD_THREADS),
		   threads.value == 1 ? "" : "s",
		   page_value(report, PLIM_FIELD_DESCRIPTORS));
	if ((report->changes & PLIM_CHANGE_IMAGE) != 0)
		prose_line(&prose, "",
			   "it executed another program while it was watched");
}

static void page_window(const struct report *report)
{
	struct prose prose = {.options = report->options};
	char text[400];

	report_window(report, text, sizeof text);
	if (text[0] != '\0')
		prose_line(&prose, "observed", "%s", text);
}

/* --- the answers ---------------------------------------------------------- */

static void page_answers(const struct report *report)
{
	static const char *const labels[] = {"who wakes", "retained",
					     "time goes to"};
	struct prose prose = {.options = report->options};
	int i;

	output_text("\n");
	for (i = 0; i < REPORT_QUESTIONS; i++) {
		const struct report_answer *answer = &report->answers[i];

		prose_begin(&prose, labels[i]);
		prose.bold = 1;
		prose_format(&prose, "%s", answer->text);
		prose_end(&prose);
		if (answer->where[0] == '\0')
			continue;
		prose_begin(&prose, "");
		prose_format(&prose, "%s", answer->where);
		prose_end(&prose);
	}
	output_text("\n");
}

/* --- threads -------------------------------------------------------------- */

static void page_group(const struct report *report,
		       const struct report_group *group)
{
	const struct options *options = report->options;
	const size_t width = prose_width();
	char stack[REPORT_GROUP_STACK];

	output_format(
	    "%-*s%10s %9s %9s  ", PAGE_COLUMN, "",
	    show_real(options, report_groups_rate(report, group->wakeups),
		      PLIM_UNIT_PER_SECOND),
	    show_real(options, report_groups_percent(report, group->cpu_ns),
		      PLIM_UNIT_PERCENT),
	    show_count(options, plim_sum_total(&group->runqueue_ns),
		       PLIM_UNIT_NS));
	output_format("%s\n", group->label);
	if (group->row != NULL) {
		report_stacks_text(report, report->stacks->off, group->row,
				   REPORT_NAMED, PAGE_FRAMES,
				   width - PAGE_INDENT, stack, sizeof stack);
		output_format("%-*s%s\n", PAGE_INDENT, "", stack);
	} else if (group->is_running) {
		output_format("%-*srunning\n", PAGE_INDENT, "");
	} else if (group->blocked_in.state == PLIM_STATE_KNOWN) {
		output_format("%-*s", PAGE_INDENT, "");
		output_escaped(options, group->blocked_in.bytes);
		output_text("\n");
	}
}

static void page_groups(const struct report *report)
{
	const struct report_groups *groups = &report->groups;
	const size_t most =
	    groups->count < PAGE_GROUPS + 1 ? PAGE_GROUPS + 1 : PAGE_GROUPS;
	size_t i;

	if (groups->count == 0)
		return;
	output_format("%-*s%10s %9s %9s  %s\n", PAGE_COLUMN, "threads",
		      "wake-ups", "CPU", "waited",
		      "name, and below it where it sleeps");
	for (i = 0; i < groups->count && i < most; i++)
		page_group(report, &groups->items[i]);
	if (groups->count > most)
		output_format("%-*sand %zu more; --all lists them\n",
			      PAGE_COLUMN, "", groups->count - most);
}

/* With --all: below each thread its stack. */
static void page_thread(const plim_idle_thread *thread, void *user)
{
	const struct report *report = user;
	const plim_fold_row *row =
	    report_stacks_sleep(report, thread->pid, thread->change.last->tid);
	struct prose prose = {.options = report->options};
	char stack[1000];

	if (row == NULL)
		return;
	report_stacks_text(report, report->stacks->off, row, REPORT_WHOLE,
			   PAGE_ALL, sizeof stack - 1, stack, sizeof stack);
	prose_begin(&prose, "");
	prose_format(&prose, "    %s", stack);
	prose.hang = 4;
	prose_end(&prose);
}

/* --- stacks --------------------------------------------------------------- */

static void page_hot(const struct report *report)
{
	const struct report_stacks *stacks = report->stacks;
	struct prose prose = {.options = report->options};
	const int all = report->options->all;
	const size_t most = all ? PAGE_ALL : PAGE_STACKS;
	const char *label = "hot stacks";
	size_t told = 0;
	size_t i;

	if (!report_stacks_are_there(report))
		return;
	for (i = 0; i < plim_fold_row_count(stacks->cpu) && told < most; i++) {
		const plim_fold_row *row = plim_fold_row_at(stacks->cpu, i);
		char share[40];
		char text[1000];

		/* One sample proves little; the hottest is told all the same.
		 */
		if (!report_stacks_is_stack(stacks, row) ||
		    (told > 0 && row->samples < 2))
			continue;
		plim_fixed_format(100 * row->share, 0, share, sizeof share);
		report_stacks_text(
		    report, stacks->cpu, row, all ? REPORT_WHOLE : REPORT_NAMED,
		    all ? PAGE_ALL : PAGE_FRAMES,
		    all ? sizeof text - 1 : prose_width() - PAGE_COLUMN - 8,
		    text, sizeof text);
		prose_begin(&prose, label);
		prose.hang = 8;
		prose_format(&prose, "%4s %%  %s", share, text);
		prose_end(&prose);
		label = "";
		told++;
	}
}

/* What the sampling lacks: what was refused, with its remedy. */
static void page_lacks(const struct report *report)
{
	const struct report_stacks *stacks = report->stacks;
	struct prose prose = {.options = report->options};
	size_t i;

	/* Where nothing was sampled, the answer has the reason. */
	if (stacks == NULL || stacks->profile == NULL ||
	    (stacks->code != PLIM_OK && !report->options->all))
		return;
	for (i = 0; i < plim_profile_lack_count(stacks->profile); i++) {
		prose_begin(&prose, i == 0 ? "not sampled" : "");
		prose_quote(&prose,
			    (plim_bytes){
				plim_profile_lack(stacks->profile, i),
				strlen(plim_profile_lack(stacks->profile, i))});
		prose_end(&prose);
	}
}

/* --- figures -------------------------------------------------------------- */

static void page_costs(const struct report *report)
{
	const struct options *options = report->options;
	struct prose prose = {.options = options};
	const plim_real cpu =
	    plim_process_cpu_percent(plim_usage_process(report->first),
				     plim_usage_process(report->last));

	prose_begin(&prose, "CPU");
	prose_format(&prose, "%s of one core; %s since its start",
		     show_real(options, cpu, PLIM_UNIT_PERCENT),
		     page_value(report, PLIM_FIELD_CPU));
	if (options->all)
		prose_format(&prose, " (user %s, system %s)",
			     page_value(report, PLIM_FIELD_CPU_USER),
			     page_value(report, PLIM_FIELD_CPU_SYSTEM));
	prose_end(&prose);
	if (options->all)
		prose_line(&prose, "wake-ups", "%s; put off its CPU %s",
			   page_rate(report, PLIM_FIELD_WAKEUPS),
			   page_rate(report, PLIM_FIELD_INVOLUNTARY));
	if (options->all)
		prose_line(&prose, "disk",
			   "read %s, written %s; since its start %s and %s",
			   page_rate(report, PLIM_FIELD_DISK_READ),
			   page_rate(report, PLIM_FIELD_DISK_WRITE),
			   page_value(report, PLIM_FIELD_DISK_READ),
			   page_value(report, PLIM_FIELD_DISK_WRITE));
	else
		prose_line(&prose, "disk",
			   "read %s, written %s; %s read and write calls",
			   page_rate(report, PLIM_FIELD_DISK_READ),
			   page_rate(report, PLIM_FIELD_DISK_WRITE),
			   page_rate(report, PLIM_FIELD_IO_CALLS));
	if (options->all)
		prose_line(&prose, "calls",
			   "%s read and write calls, %s minor and %s major "
			   "page faults",
			   page_rate(report, PLIM_FIELD_IO_CALLS),
			   page_rate(report, PLIM_FIELD_FAULTS_MINOR),
			   page_rate(report, PLIM_FIELD_FAULTS_MAJOR));
	if (options->all)
		prose_line(&prose, "resident",
			   "%s, at most %s: anonymous %s, files %s, shared "
			   "%s; swapped out %s",
			   page_value(report, PLIM_FIELD_RESIDENT),
			   page_value(report, PLIM_FIELD_PEAK_RESIDENT),
			   page_value(report, PLIM_FIELD_ANONYMOUS),
			   page_value(report, PLIM_FIELD_FILE),
			   page_value(report, PLIM_FIELD_SHMEM),
			   page_value(report, PLIM_FIELD_SWAP));
}

/* --- what is missing ------------------------------------------------------ */

/* Each reason once. In short, what nobody is told here is only named. */
static void page_missing(const struct report *report)
{
	struct prose prose = {.options = report->options};
	struct prose rest = {.options = report->options};
	char names[1024];
	int field;

	prose_begin(&rest, "unavailable");
	for (field = 1; field <= PLIM_FIELD_LAST; field++) {
		const plim_count figure = report_count(report, field);

		if (!report_is_missing(report, field) ||
		    report_missing_again(report, field))
			continue;
		report_missing_names(report, field, names, sizeof names);
		if (!report->options->all &&
		    figure.state == PLIM_STATE_UNSUPPORTED) {
			prose_format(&rest, "%s%s", rest.size > 0 ? ", " : "",
				     names);
			continue;
		}
		prose_line(&prose, "unavailable", "%s", names);
		prose_line(
		    &prose, "", "%s: %s", plim_state_word(figure.state),
		    show_reason(figure.state, figure.method, figure.code));
	}
	if (rest.size == 0)
		return;
	prose_format(&rest, " (--all says why)");
	prose_end(&rest);
}

/* --- the end -------------------------------------------------------------- */

static void page_total(const struct report *report)
{
	const plim_process *total = plim_usage_process(report->total);
	const struct options *options = report->options;
	struct prose prose = {.options = options};
	char end[64];

	report_end(report, end, sizeof end);
	prose_line(
	    &prose, "ended",
	    "%s; in all: CPU %s (user %s, system %s), %s wake-ups, %s disk "
	    "blocks (%s)",
	    end,
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
		       PLIM_UNIT_NONE),
	    child_reap_has_children()
		? "the kernel's account of it and of every child it waited for"
		: "the system's account of it, without its children");
}

/* What the looking cost: with --all the sampler's part, too. */
static void page_sampler(const struct report *report)
{
	const struct report_stacks *stacks = report->stacks;
	const struct options *options = report->options;
	struct prose prose = {.options = options};
	plim_profile_facts facts;

	if (!options->all || !report_stacks_are_there(report))
		return;
	facts = plim_profile_about(stacks->profile);
	prose_line(
	    &prose, "stacks",
	    "sampled %u times a second for %s, %s stops: %s of our CPU time",
	    facts.hz_effective, report_time(report, facts.duration_ns),
	    show_count(options,
		       plim_profile_metric(stacks->profile, PLIM_METRIC_STOPS),
		       PLIM_UNIT_NONE),
	    show_count(
		options,
		plim_profile_metric(stacks->profile, PLIM_METRIC_SAMPLER_CPU),
		PLIM_UNIT_NS));
}

static void page_cost(const struct report *report)
{
	const plim_cost cost = command_cost(report->host);
	struct prose prose = {.options = report->options};
	char bytes[32];

	plim_quantity_format((double)cost.bytes_read, PLIM_UNIT_BYTES, bytes,
			     sizeof bytes);
	prose_begin(&prose, "cost");
	prose_format(&prose, "%s of CPU time",
		     show_count(report->options, cost.cpu_ns, PLIM_UNIT_NS));
	if (report->options->all)
		prose_format(&prose, ", %llu system calls, %s read",
			     (unsigned long long)cost.system_calls, bytes);
	prose_format(&prose, "; %s",
		     report_signalled(report)
			 ? "nothing was stopped while it was measured"
			 : "nothing was stopped or signalled");
	prose_end(&prose);
}

static void page_lived(struct report *report)
{
	page_who(report);
	page_window(report);
	page_answers(report);
	if (report->options->all)
		wakers_page(report->options, report->idle, UINT64_MAX,
			    page_thread, report);
	else
		page_groups(report);
	page_hot(report);
	report_memory_page(report);
	page_costs(report);
	report_tree_page(report);
	page_lacks(report);
	page_missing(report);
}

static void page_print(struct report *report)
{
	struct prose prose = {.options = report->options};

	if (report->sampled)
		page_lived(report);
	else
		prose_line(&prose, "observed",
			   "it ended before it could be observed");
	if (report->started && report->child.ended)
		page_total(report);
	page_sampler(report);
	page_cost(report);
}

int report_page(struct report *report)
{
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	int status = EXIT_DONE;

	switch (report->options->format) {
	case FORMAT_JSON:
		status = report_json(report);
		break;
	case FORMAT_CSV:
		plim_csv_header(&all, 1, output_write, &standard_output);
		plim_csv_process(plim_usage_process(report->last),
				 plim_usage_process(report->first), &all, 1,
				 output_write, &standard_output);
		break;
	case FORMAT_HTML:
		status = report_sheet(report, NULL);
		break;
	default:
		page_print(report);
	}
	if (status == EXIT_DONE && report->options->page != NULL)
		status = report_sheet(report, report->options->page);
	return status;
}
