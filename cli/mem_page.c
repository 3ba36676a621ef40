/*
 * mem_page.c - what plim mem tells, in its order: the timeline, the steady
 * state, the high water, what counts first and why, the verdict and the
 * allocators (mem_heaps.c), the largest mappings, and what it cost the target.
 * Once for the terminal and once for a page of HTML (telling.h).
 */
#include "mem.h"

#include <string.h>
#include <time.h>

const char *mem_bytes(const struct telling *telling, plim_count count)
{
	return show_count(telling->options, count, PLIM_UNIT_BYTES);
}

const char *mem_time(const struct telling *telling, uint64_t ns)
{
	return show_count(telling->options,
			  plim_count_known(ns, PLIM_METHOD_SYSTEM),
			  PLIM_UNIT_NS);
}

int mem_is_known(plim_count count)
{
	return count.state == PLIM_STATE_KNOWN;
}

size_t mem_rows(const struct mem_view *view, size_t count)
{
	size_t most =
	    view->options->limit > 0 && view->options->limit < SIZE_MAX
		? (size_t)view->options->limit
		: MEM_ROWS;

	return count < most ? count : most;
}

void mem_rows_more(struct telling *telling, size_t shown, size_t count)
{
	if (shown < count)
		tell_aside(telling, "and %zu more", count - shown);
}

/* --- who, and for how long ------------------------------------------------ */

static void mem_who(struct telling *telling, const struct mem_view *view)
{
	const plim_process *process = plim_usage_process(view->usage);
	plim_text name = plim_process_text(process, PLIM_FIELD_NAME);
	plim_text identity = plim_process_text(process, PLIM_FIELD_IDENTITY);
	char after[64];

	snprintf(after, sizeof after, "  %.*s", (int)identity.bytes.size,
		 identity.bytes.data);
	if (telling->sheet != NULL) {
		sheet_text(telling->sheet, "<h1>Memory of ");
		sheet_escaped(telling->sheet, name.bytes);
		sheet_string(telling->sheet, after);
		sheet_text(telling->sheet, "</h1>\n");
		return;
	}
	output_bold(telling->options);
	output_text("process      ");
	output_escaped(telling->options, name.bytes);
	output_text(after);
	output_bold_end();
}

uint64_t mem_at(const struct mem_view *view, plim_stamp stamp)
{
	uint64_t first = plim_memory_stamp(view->memory, 0).monotonic.ns;

	return stamp.monotonic.ns > first ? stamp.monotonic.ns - first : 0;
}

static void mem_end(struct telling *telling, const struct mem_view *view)
{
	plim_memory_end end = plim_memory_ended(view->memory);

	if (end.how == PLIM_MEMORY_END_ALIVE)
		return;
	tell_line(
	    telling,
	    "%s between %s and %s after the first sample%s%s; what "
	    "follows is the last of its life",
	    plim_memory_end_text(end.how),
	    mem_time(telling, mem_at(view, end.last_alive)),
	    mem_time(telling, mem_at(view, end.seen)),
	    mem_is_known(end.exit_status) ? ", with status " : "",
	    mem_is_known(end.exit_status)
		? show_count(telling->options, end.exit_status, PLIM_UNIT_NONE)
		: "");
}

static void mem_window_told(struct telling *telling,
			    const struct mem_view *view)
{
	const size_t kept = plim_memory_samples(view->memory);
	const uint64_t taken = plim_memory_taken(view->memory);

	if (telling->sheet == NULL)
		output_text("observed     ");
	else
		sheet_text(telling->sheet, "<p>");
	if (taken < 2) {
		if (telling->sheet == NULL)
			output_text("once\n");
		else
			sheet_text(telling->sheet, "observed once</p>\n");
		return;
	}
	if (telling->sheet == NULL)
		output_format(
		    "%s, %llu samples\n",
		    mem_time(telling,
			     mem_at(view,
				    plim_memory_stamp(view->memory, kept - 1))),
		    (unsigned long long)taken);
	else
		sheet_format(
		    telling->sheet, "observed for %s, %llu samples</p>\n",
		    mem_time(telling,
			     mem_at(view,
				    plim_memory_stamp(view->memory, kept - 1))),
		    (unsigned long long)taken);
}

/* --- the timeline --------------------------------------------------------- */

/* A figure of the timeline: by its number, under its title. */
struct mem_column {
	int figure;
	const char *title;
};

static int mem_is_ever_known(const struct mem_view *view, int figure)
{
	return plim_memory_range(view->memory, figure).known > 0;
}

/* What was left out in every sample has no column, but for the first two. */
static size_t mem_columns(const struct mem_view *view,
			  struct mem_column *columns)
{
	static const struct mem_column all[] = {
	    {PLIM_MEMORY_ANONYMOUS, "ANONYMOUS"},
	    {PLIM_MEMORY_PRIVATE_DIRTY, "PRIVATE DIRTY"},
	    {PLIM_MEMORY_EXCLUSIVE_ANONYMOUS, "EXCLUSIVE ANON"},
	    {PLIM_MEMORY_RESIDENT, "RESIDENT"},
	    {PLIM_MEMORY_FILE, "FILE"},
	    {PLIM_MEMORY_SWAP, "SWAP"},
	    {PLIM_MEMORY_PSS, "PSS"},
	};
	size_t count = 0;
	size_t i;

	for (i = 0; i < sizeof all / sizeof all[0]; i++)
		if (i < 2 || mem_is_ever_known(view, all[i].figure))
			columns[count++] = all[i];
	return count;
}

static void mem_timeline(struct telling *telling, const struct mem_view *view)
{
	struct mem_column columns[8];
	const char *titles[9] = {"AT"};
	const size_t count = mem_columns(view, columns);
	size_t lines[MEM_LINES];
	size_t line_count;
	size_t i;
	size_t k;

	if (plim_memory_taken(view->memory) < 2)
		return;
	line_count = plim_memory_timeline(view->memory, MEM_LINES, lines);
	for (k = 0; k < count; k++)
		titles[k + 1] = columns[k].title;
	tell_section(telling, "timeline", "Timeline");
	if (telling->sheet != NULL)
		mem_plot_timeline(telling->sheet, view);
	tell_table(telling, titles, count + 1);
	for (i = 0; i < line_count; i++) {
		plim_stamp stamp = plim_memory_stamp(view->memory, lines[i]);

		tell_count(
		    telling,
		    plim_count_known(mem_at(view, stamp), PLIM_METHOD_SYSTEM),
		    PLIM_UNIT_NS);
		for (k = 0; k < count; k++)
			tell_count(telling,
				   plim_memory_at(view->memory, lines[i],
						  columns[k].figure),
				   PLIM_UNIT_BYTES);
	}
	tell_table_end(telling);
}

/* --- the steady state ----------------------------------------------------- */

static const char *mem_trend(const struct telling *telling,
			     plim_memory_steady steady, char *text, size_t size)
{
	plim_real slope = steady.slope;
	int falls = slope.value < 0;

	switch (steady.trend) {
	case PLIM_TREND_FLAT:
		snprintf(text, size, "flat: a floor");
		break;
	case PLIM_TREND_DRIFTING:
		slope.value = falls ? -slope.value : slope.value;
		snprintf(text, size, "drifts %s by %s; no floor",
			 falls ? "down" : "up",
			 show_real(telling->options, slope,
				   PLIM_UNIT_BYTES_PER_SECOND));
		break;
	case PLIM_TREND_MOVING:
		snprintf(text, size, "moves; no floor");
		break;
	default:
		snprintf(text, size, "%s",
			 steady.known == 0 ? "" : "known once");
	}
	return text;
}

/* Unavailable in every sample, and its reason is told below. */
static int mem_is_left_out(plim_memory_steady steady)
{
	return steady.known == 0;
}

/* What did not move has its last value alone. */
static void mem_moved(struct telling *telling, int moved, plim_count value)
{
	if (moved)
		tell_count(telling, value, PLIM_UNIT_BYTES);
	else
		tell_string(telling, "");
}

static void mem_steady_rows(struct telling *telling,
			    const struct mem_view *view)
{
	int figure;

	for (figure = 1; plim_memory_name(figure) != NULL; figure++) {
		plim_memory_steady steady =
		    plim_memory_range(view->memory, figure);
		int moved = steady.lowest.value != steady.highest.value;
		char trend[96];

		if (mem_is_left_out(steady))
			continue;
		tell_string(telling, plim_memory_name(figure));
		tell_count(telling, steady.last, PLIM_UNIT_BYTES);
		mem_moved(telling, moved, steady.lowest);
		mem_moved(telling, moved, steady.highest);
		tell_string(telling,
			    mem_trend(telling, steady, trend, sizeof trend));
	}
}

static void mem_figure_rows(struct telling *telling,
			    const struct mem_view *view)
{
	int figure;

	for (figure = 1; plim_memory_name(figure) != NULL; figure++) {
		plim_count value = plim_memory_last(view->memory, figure);

		if (!mem_is_known(value))
			continue;
		tell_string(telling, plim_memory_name(figure));
		tell_count(telling, value, PLIM_UNIT_BYTES);
		tell_string(telling, plim_memory_text(figure));
	}
}

/* Figures that nobody could tell, each reason once. */
static void mem_missing(struct telling *telling, const struct mem_view *view)
{
	uint16_t told[PLIM_MEMORY_COUNT + 1];
	size_t count = 0;
	int figure;
	int other;

	for (figure = 1; plim_memory_name(figure) != NULL; figure++) {
		plim_memory_steady steady =
		    plim_memory_range(view->memory, figure);
		char names[600] = "";
		size_t i;

		/* It only stands in for the walk. */
		if (steady.known > 0 ||
		    figure == PLIM_MEMORY_EXCLUSIVE_ANONYMOUS)
			continue;
		for (i = 0; i < count && told[i] != steady.last.method; i++)
			;
		if (i < count || count > PLIM_MEMORY_COUNT)
			continue;
		told[count++] = steady.last.method;
		for (other = figure; plim_memory_name(other) != NULL; other++) {
			plim_memory_steady also =
			    plim_memory_range(view->memory, other);
			size_t used = strlen(names);

			if (also.known == 0 &&
			    also.last.method == steady.last.method)
				snprintf(names + used, sizeof names - used,
					 "%s%s", used > 0 ? ", " : "",
					 plim_memory_name(other));
		}
		tell_aside(telling, "%s: %s: %s", names,
			   plim_state_word(steady.last.state),
			   show_reason(steady.last.state, steady.last.method,
				       steady.last.code));
	}
}

static void mem_steady(struct telling *telling, const struct mem_view *view)
{
	static const char *const over[] = {" FIGURE", "LAST", "LOWEST",
					   "HIGHEST", " OVER THE WINDOW"};
	static const char *const once[] = {" FIGURE", "NOW", " WHAT IT IS"};

	if (plim_memory_taken(view->memory) < 2) {
		tell_section(telling, "figures", "Figures");
		tell_table(telling, once, 3);
		mem_figure_rows(telling, view);
	} else {
		tell_section(telling, "steady state", "Steady state");
		tell_table(telling, over, 5);
		mem_steady_rows(telling, view);
	}
	tell_table_end(telling);
	mem_missing(telling, view);
}

static plim_count mem_known_last(const struct mem_view *view, int figure)
{
	return plim_memory_range(view->memory, figure).last;
}

static void mem_high_water(struct telling *telling, const struct mem_view *view)
{
	plim_count peak = mem_known_last(view, PLIM_MEMORY_PEAK_RESIDENT);
	plim_count now = mem_known_last(view, PLIM_MEMORY_RESIDENT);

	tell_section(telling, "high water", "High water");
	if (!mem_is_known(peak)) {
		tell_line(telling, "unknown: %s",
			  show_reason(peak.state, peak.method, peak.code));
		return;
	}
	tell_line(telling, "%s resident at most, since its last exec%s%s",
		  mem_bytes(telling, peak), mem_is_known(now) ? "; now " : "",
		  mem_is_known(now) ? mem_bytes(telling, now) : "");
}

/* Which figures to act on. */
static void mem_first(struct telling *telling, const struct mem_view *view)
{
	plim_count file = mem_known_last(view, PLIM_MEMORY_FILE);
	plim_count dirty = mem_known_last(view, PLIM_MEMORY_PRIVATE_DIRTY);

	tell_section(telling, "what counts", "What counts, and why");
	tell_line(
	    telling,
	    "anonymous %s: no file stands behind it, so that it is only "
	    "freed, or swapped; heap, stacks and every other private "
	    "page that was written",
	    mem_bytes(telling, mem_known_last(view, PLIM_MEMORY_ANONYMOUS)));
	if (mem_is_known(dirty))
		tell_line(telling,
			  "private dirty %s: what the process costs the "
			  "machine; shared with nobody, and not to be dropped",
			  mem_bytes(telling, dirty));
	tell_line(
	    telling,
	    "resident %s is what monitors show, and not what to act on: "
	    "%s of it are pages of files, which the kernel drops when "
	    "it needs room, and others may share",
	    mem_bytes(telling, mem_known_last(view, PLIM_MEMORY_RESIDENT)),
	    mem_is_known(file) ? mem_bytes(telling, file) : "an unknown part");
}

static void mem_core_told(struct telling *telling, const struct mem_view *view)
{
	plim_heaps_facts facts = plim_heaps_about(view->heaps);
	plim_bytes name = {facts.process, strlen(facts.process)};
	char after[96];

	snprintf(after, sizeof after, "  %d, from a core file%s",
		 (int)facts.pid, facts.is_cut ? " that ends too early" : "");
	if (telling->sheet != NULL)
		sheet_text(telling->sheet, "<h1>Memory in a core file</h1>\n");
	else
		output_text("process      ");
	telling->labelled = 1;
	tell_quote(telling, "", name, after);
	tell_line(telling,
		  "%s of its mappings are in the file, %s are not; what was "
		  "in RAM a core does not say",
		  mem_bytes(telling, facts.held_bytes),
		  mem_bytes(telling, facts.left_out_bytes));
}

void mem_tell(struct telling *telling, const struct mem_view *view)
{
	if (view->target == NULL) {
		mem_core_told(telling, view);
		mem_tell_verdict(telling, view);
		mem_tell_heaps(telling, view);
		return;
	}
	mem_who(telling, view);
	mem_window_told(telling, view);
	mem_end(telling, view);
	mem_timeline(telling, view);
	mem_steady(telling, view);
	mem_high_water(telling, view);
	mem_first(telling, view);
	mem_tell_verdict(telling, view);
	mem_tell_heaps(telling, view);
	mem_tell_mappings(telling, view);
	mem_tell_baseline(telling, view);
	mem_tell_tree(telling, view);
	mem_tell_cost(telling, view);
}
