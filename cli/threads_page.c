/*
 * threads_page.c - what plim threads has found out, as a page, JSON or CSV.
 *
 * With two samples the threads are ranked by their wake-ups in the window and
 * figures are of the window; with one they stand by their ids and figures are
 * totals. Threads that exited stand apart: as they were at the first sample.
 */
#include "threads_page.h"

#include "branch.h"
#include "term.h"

#include <string.h>

static plim_bytes page_bytes(const char *text)
{
	return (plim_bytes){text, strlen(text)};
}

static int page_has_window(const struct threads_view *view)
{
	return plim_threads_first(view->threads) != NULL;
}

static plim_interval page_interval(const struct threads_view *view)
{
	plim_interval interval = {0};

	plim_threads_interval(view->threads, &interval, NULL);
	return interval;
}

static size_t page_rows(const struct threads_view *view, size_t count)
{
	return view->options->limit > 0 && view->options->limit < count
		   ? (size_t)view->options->limit
		   : count;
}

static void page_who(const struct threads_view *view)
{
	const plim_process *last = plim_threads_last(view->threads);
	plim_text identity = plim_process_text(last, PLIM_FIELD_IDENTITY);
	const struct options *options = view->options;

	output_bold(options);
	output_text("process      ");
	output_escaped(options, plim_process_text(last, PLIM_FIELD_NAME).bytes);
	output_format("  %.*s", (int)identity.bytes.size, identity.bytes.data);
	output_bold_end();
}

static void page_window(const struct threads_view *view)
{
	plim_interval interval = page_interval(view);
	const struct options *options = view->options;

	if (!page_has_window(view))
		output_text("observed     once; figures are totals");
	else
		output_format("observed     %s",
			      show_count(options,
					 plim_count_known(interval.elapsed_ns,
							  PLIM_METHOD_SYSTEM),
					 PLIM_UNIT_NS));
	if (interval.suspended_ns > 0)
		output_format("; the machine slept %s meanwhile, so the rates "
			      "are of little worth",
			      show_count(options,
					 plim_count_known(interval.suspended_ns,
							  PLIM_METHOD_SYSTEM),
					 PLIM_UNIT_NS));
	if (view->ended)
		output_text("; then it ended");
	output_text("\n\n");
}

static void page_tail(plim_table *table, const plim_thread *thread)
{
	char state[2] = {thread->state, '\0'};

	plim_table_text(table, page_bytes(thread->state != '\0' ? state : "-"));
	plim_table_text(table, thread->blocked_in.state == PLIM_STATE_KNOWN
				   ? thread->blocked_in.bytes
				   : page_bytes("-"));
}

static void page_name(plim_table *table, int32_t tid, plim_text name)
{
	plim_table_count(table,
			 plim_count_known((uint64_t)tid, PLIM_METHOD_LISTING),
			 PLIM_UNIT_ID);
	plim_table_text(table, name.state == PLIM_STATE_KNOWN
				   ? name.bytes
				   : page_bytes("-"));
}

static void page_totals(plim_table *table, const plim_thread *thread)
{
	page_name(table, thread->tid, thread->name);
	plim_table_count(table, thread->wakeups, PLIM_UNIT_NONE);
	plim_table_count(table, thread->cpu_ns, PLIM_UNIT_NS);
	plim_table_count(table, thread->runqueue_ns, PLIM_UNIT_NS);
	plim_table_count(table, thread->switches_in, PLIM_UNIT_NONE);
}

static void page_change(plim_table *table, const plim_thread_change *change,
			uint64_t elapsed_ns)
{
	plim_real cpu = plim_change_rate(change->cpu_ns, elapsed_ns);

	cpu.value /= 1e7;
	page_name(table, change->last->tid, change->name);
	plim_table_real(table, plim_change_rate(change->wakeups, elapsed_ns),
			PLIM_UNIT_PER_SECOND);
	plim_table_real(table, cpu, PLIM_UNIT_PERCENT);
	plim_table_count(table, change->runqueue_ns, PLIM_UNIT_NS);
	plim_table_real(table,
			plim_change_rate(change->switches_in, elapsed_ns),
			PLIM_UNIT_PER_SECOND);
	page_tail(table, change->last);
	plim_table_text(table, page_bytes(change->born ? "born" : ""));
}

static int page_table_new(const struct threads_view *view, plim_table **table,
			  const char *const *titles, size_t count)
{
	plim_error error;
	size_t i;

	if (plim_table_new(table, NULL, &error) != PLIM_OK)
		return fail_with(view->options, &error);
	plim_table_ascii(*table, view->options->ascii);
	for (i = 0; i < count; i++)
		plim_table_column(*table, titles[i], i != 1 && i < 6);
	return EXIT_DONE;
}

static void page_table_end(const struct threads_view *view, plim_table *table,
			   size_t shown, size_t count)
{
	output_bold(view->options);
	plim_table_print(table, term_width(), 1, output_write, &standard_output,
			 NULL);
	plim_table_free(table);
	if (shown < count)
		output_format("and %zu more\n", count - shown);
}

static int page_threads(const struct threads_view *view)
{
	static const char *const totals[] = {"TID",   "NAME",	   "WAKEUPS",
					     "CPU",   "WAITED",	   "ON CPU",
					     "STATE", "BLOCKED IN"};
	static const char *const changes[] = {
	    "TID",	"NAME",	 "WAKEUPS/S",  "CPU", "WAITED",
	    "ON CPU/S", "STATE", "BLOCKED IN", "NOTE"};
	const int window = page_has_window(view);
	const size_t count = plim_threads_count(view->threads);
	const size_t rows = page_rows(view, count);
	const uint64_t elapsed = page_interval(view).elapsed_ns;
	plim_table *table;
	size_t i;
	int status = window ? page_table_new(view, &table, changes, 9)
			    : page_table_new(view, &table, totals, 8);

	if (status != EXIT_DONE)
		return status;
	for (i = 0; i < rows; i++) {
		if (window) {
			plim_thread_change change =
			    plim_threads_change(view->threads, i);

			page_change(table, &change, elapsed);
		} else {
			const plim_thread *thread =
			    plim_threads_at(view->threads, i);

			page_totals(table, thread);
			page_tail(table, thread);
		}
	}
	page_table_end(view, table, rows, count);
	return EXIT_DONE;
}

/* Those that exited, as they were at the first sample. */
static int page_exited(const struct threads_view *view)
{
	static const char *const titles[] = {"TID", "NAME",   "WAKEUPS",
					     "CPU", "WAITED", "ON CPU"};
	const size_t count = plim_threads_exited(view->threads);
	const size_t rows = page_rows(view, count);
	plim_table *table;
	size_t i;

	if (count == 0)
		return EXIT_DONE;
	output_format("\n%zu exited; as %s at the first sample:\n", count,
		      count == 1 ? "it was" : "they were");
	if (page_table_new(view, &table, titles, 6) != EXIT_DONE)
		return EXIT_FAILED;
	for (i = 0; i < rows; i++)
		page_totals(table,
			    plim_threads_exited_at(view->threads, i).last);
	page_table_end(view, table, rows, count);
	return EXIT_DONE;
}

static void page_figure(const struct options *options, plim_count figure,
			int unit)
{
	if (figure.state == PLIM_STATE_KNOWN)
		output_text(show_count(options, figure, unit));
	else
		output_format(
		    "unknown (%s)",
		    show_reason(figure.state, figure.method, figure.code));
}

/* The sums of the window, and why one is missing. */
static void page_sums(const struct threads_view *view)
{
	const struct options *options = view->options;
	plim_threads_facts facts = plim_threads_about(view->threads);

	output_format("\nthreads      %u: %u born, %u exited in the window\n",
		      facts.last, facts.born, facts.exited);
	output_text("wake-ups     ");
	page_figure(options, facts.listed_wakeups, PLIM_UNIT_NONE);
	output_format(
	    " in the window, %s",
	    show_real(options,
		      plim_change_rate(facts.listed_wakeups,
				       page_interval(view).elapsed_ns),
		      PLIM_UNIT_PER_SECOND));
	if (facts.exited > 0) {
		output_text("; those that exited had ");
		page_figure(options, facts.exited_wakeups_at_start,
			    PLIM_UNIT_NONE);
		output_text(" before; what they added is ");
		page_figure(options, facts.exited_wakeups_in_window,
			    PLIM_UNIT_NONE);
	}
	output_text("\nCPU          ");
	page_figure(options, facts.listed_cpu_ns, PLIM_UNIT_NS);
	output_text(" in the window\n");
	if (facts.vanished > 0)
		output_format("vanished     %u ended while they were read\n",
			      facts.vanished);
}

/* Whatever is refused is refused for all of them: said once. */
static void page_refused(const struct threads_view *view)
{
	size_t i;

	for (i = 0; i < plim_threads_count(view->threads); i++) {
		plim_count call =
		    plim_threads_at(view->threads, i)->system_call;

		if (call.state != PLIM_STATE_DENIED)
			continue;
		output_format("blocked in   unknown: %s\n",
			      show_reason(call.state, call.method, call.code));
		return;
	}
}

static int page_print(const struct threads_view *view)
{
	int status;

	page_who(view);
	page_window(view);
	status = page_threads(view);
	if (status == EXIT_DONE && page_has_window(view))
		status = page_exited(view);
	if (status != EXIT_DONE)
		return status;
	if (page_has_window(view))
		page_sums(view);
	else
		output_text("\n");
	page_refused(view);
	output_cost(view->options, view->host, 0);
	return EXIT_DONE;
}

static void page_json_sums(const struct threads_view *view, plim_json *json)
{
	plim_threads_facts facts = plim_threads_about(view->threads);
	plim_interval interval = page_interval(view);

	plim_json_whole(json, "interval_ns", interval.elapsed_ns);
	plim_json_whole(json, "suspended_ns", interval.suspended_ns);
	plim_json_object(json, "sums");
	plim_json_whole(json, "first", facts.first);
	plim_json_whole(json, "last", facts.last);
	plim_json_whole(json, "born", facts.born);
	plim_json_whole(json, "exited", facts.exited);
	plim_json_whole(json, "vanished", facts.vanished);
	json_count_figure(json, "listed_wakeups", facts.listed_wakeups);
	json_count_figure(json, "exited_wakeups_at_start",
			  facts.exited_wakeups_at_start);
	json_figure(json, "live_total_change", facts.live_total_change);
	json_count_figure(json, "exited_wakeups_in_window",
			  facts.exited_wakeups_in_window);
	json_count_figure(json, "listed_switches_in", facts.listed_switches_in);
	json_count_figure(json, "listed_cpu_ns", facts.listed_cpu_ns);
	json_figure(json, "unlisted_cpu_ns", facts.unlisted_cpu_ns);
	plim_json_end(json);
}

static void page_json_threads(const struct threads_view *view, plim_json *json)
{
	const size_t rows = page_rows(view, plim_threads_count(view->threads));
	const int window = page_has_window(view);
	size_t i;

	plim_json_array(json, "threads");
	for (i = 0; i < rows; i++) {
		plim_thread_change change =
		    plim_threads_change(view->threads, i);

		plim_json_thread(json, NULL,
				 window ? change.last
					: plim_threads_at(view->threads, i),
				 window ? &change : NULL);
	}
	plim_json_end(json);
	if (!window)
		return;
	plim_json_array(json, "exited");
	for (i = 0; i < plim_threads_exited(view->threads); i++) {
		plim_thread_change change =
		    plim_threads_exited_at(view->threads, i);

		plim_json_thread(json, NULL, change.last, &change);
	}
	plim_json_end(json);
	page_json_sums(view, json);
}

static int page_json(const struct threads_view *view)
{
	const plim_process *last = plim_threads_last(view->threads);
	plim_json *json =
	    json_begin(view->options, view->host, view->options->watch);

	if (json == NULL)
		return fail_memory();
	plim_json_process(json, "process", last,
			  plim_threads_first(view->threads), &view->fields);
	page_json_threads(view, json);
	if (view->ended) {
		plim_json_array(json, "events");
		json_event(json, "gone", last, NULL);
		plim_json_end(json);
	}
	return json_finish(json, view->host);
}

static void page_csv_count(plim_count count)
{
	if (count.state == PLIM_STATE_KNOWN)
		output_format(",%llu", (unsigned long long)count.value);
	else
		output_text(",");
}

static void page_csv_text(plim_text text)
{
	char field[512];

	output_text(",");
	if (text.state != PLIM_STATE_KNOWN)
		return;
	plim_escape(PLIM_ESCAPE_CSV, text.bytes, field, sizeof field);
	output_text(field);
}

static void page_csv_row(const plim_thread *thread,
			 const plim_thread_change *change)
{
	char state[2] = {thread->state, '\0'};

	output_format("%d", (int)thread->tid);
	page_csv_count(thread->start_ticks);
	page_csv_text(change != NULL ? change->name : thread->name);
	page_csv_count(thread->cpu_ns);
	page_csv_count(thread->runqueue_ns);
	page_csv_count(thread->wakeups);
	page_csv_count(thread->switches_in);
	output_format(",%s", state);
	page_csv_text(thread->blocked_in);
	if (change != NULL) {
		output_format(",%d,%d", change->born, change->exited);
		page_csv_count(change->cpu_ns);
		page_csv_count(change->runqueue_ns);
		page_csv_count(change->wakeups);
		page_csv_count(change->switches_in);
	}
	output_text("\r\n");
}

static int page_csv(const struct threads_view *view)
{
	const int window = page_has_window(view);
	const size_t rows = page_rows(view, plim_threads_count(view->threads));
	size_t i;

	if (view->round == 0) {
		output_text("tid,start_ticks,name,cpu_ns,runqueue_wait_ns,"
			    "wakeups,switches_in,state,blocked_in");
		output_text(window ? ",born,exited,delta_cpu_ns,"
				     "delta_runqueue_wait_ns,delta_wakeups,"
				     "delta_switches_in\r\n"
				   : "\r\n");
	}
	for (i = 0; i < rows; i++) {
		plim_thread_change change =
		    plim_threads_change(view->threads, i);

		page_csv_row(window ? change.last
				    : plim_threads_at(view->threads, i),
			     window ? &change : NULL);
	}
	for (i = 0; i < plim_threads_exited(view->threads); i++) {
		plim_thread_change change =
		    plim_threads_exited_at(view->threads, i);

		page_csv_row(change.last, &change);
	}
	return EXIT_DONE;
}

int threads_view_output(struct threads_view *view)
{
	switch (view->options->format) {
	case FORMAT_JSON:
		return page_json(view);
	case FORMAT_CSV:
		return page_csv(view);
	default:
		return page_print(view);
	}
}
