/*
 * mem_plot.c - the pictures of plim mem, as SVG inside its page: the figures
 * over time, and of what the resident memory consists.
 *
 * A sample that does not know a figure is a gap in its line, never 0 and never
 * a bridge. The scale begins at 0. Of more samples than there is room for, the
 * lowest and the highest of each step are drawn. Coordinates are thousandths
 * of a pixel in whole numbers, so that the page does not depend on how a
 * machine rounds; the attributes data-* have what a reader needs to get bytes
 * back.
 */
#include "mem.h"

#include <string.h>

#define PLOT_LEFT   80000 /* thousandths of a pixel, as all of these */
#define PLOT_TOP    14000
#define PLOT_WIDTH  620000
#define PLOT_HEIGHT 250000
#define PLOT_LABEL  15000 /* between two labels */
#define PLOT_STEPS  600	  /* across the width, two points each */
#define PLOT_GAP    15000 /* a gap as wide as that is marked */
#define PLOT_MOST   6	  /* lines */

struct plot_series {
	int figure;
	const char *name;
	int label; /* where its label stands, from the top */
};

struct plot {
	struct sheet *sheet;
	const plim_memory *memory;
	uint64_t first;
	uint64_t ns;	/* from the first sample to the last, at least 1 */
	uint64_t bytes; /* at the top */
	uint64_t step;	/* between two lines of the grid */
	struct plot_series series[PLOT_MOST];
	size_t count;
};

/* part / whole of a length, for numbers of any size. */
static int plot_share(uint64_t part, uint64_t whole, int length)
{
	double share = (double)part / (double)whole;

	if (share > 1)
		share = 1;
	return (int)(share * length + 0.5);
}

static int plot_x(const struct plot *plot, size_t index)
{
	uint64_t at = plim_memory_stamp(plot->memory, index).monotonic.ns;

	return PLOT_LEFT + plot_share(at > plot->first ? at - plot->first : 0,
				      plot->ns, PLOT_WIDTH);
}

static int plot_y(const struct plot *plot, uint64_t bytes)
{
	return PLOT_TOP + PLOT_HEIGHT -
	       plot_share(bytes, plot->bytes, PLOT_HEIGHT);
}

static void plot_number(struct sheet *sheet, const char *before, int value)
{
	sheet_format(sheet, "%s%d.%03d", before, value / 1000, value % 1000);
}

/* --- what is drawn, and how large ----------------------------------------- */

static void plot_choose(struct plot *plot)
{
	static const struct plot_series all[PLOT_MOST] = {
	    {PLIM_MEMORY_RESIDENT, "resident", 0},
	    {PLIM_MEMORY_PSS, "PSS", 0},
	    {PLIM_MEMORY_ANONYMOUS, "anonymous", 0},
	    {PLIM_MEMORY_PRIVATE_DIRTY, "private dirty", 0},
	    {PLIM_MEMORY_EXCLUSIVE_ANONYMOUS, "exclusive anonymous", 0},
	    {PLIM_MEMORY_SWAP, "swap", 0},
	};
	size_t i;

	plot->bytes = 0;
	for (i = 0; i < PLOT_MOST; i++) {
		plim_memory_steady steady =
		    plim_memory_range(plot->memory, all[i].figure);

		if (steady.known == 0 || (all[i].figure == PLIM_MEMORY_SWAP &&
					  steady.highest.value == 0))
			continue;
		plot->series[plot->count++] = all[i];
		if (steady.highest.value > plot->bytes)
			plot->bytes = steady.highest.value;
	}
}

/* A power of two, of which at most five make the height. */
static void plot_scale(struct plot *plot)
{
	plot->step = 4096;
	while (plot->step < (UINT64_C(1) << 60) &&
	       plot->bytes / plot->step >= 5)
		plot->step *= 2;
	plot->bytes = (plot->bytes / plot->step + 1) * plot->step;
}

static uint64_t plot_time_step(uint64_t ns)
{
	static const uint64_t seconds[] = {1,	 2,    5,     10,    20,   30,
					   60,	 120,  300,   600,   1200, 1800,
					   3600, 7200, 21600, 43200, 86400};
	uint64_t step = 1000;
	size_t i;

	for (; step < 1000000000; step *= 10)
		for (i = 0; i < 3; i++)
			if (ns / (step * seconds[i]) <= 6)
				return step * seconds[i];
	for (i = 0; i < sizeof seconds / sizeof seconds[0]; i++)
		if (ns / (seconds[i] * 1000000000) <= 6)
			return seconds[i] * 1000000000;
	return ns / 6;
}

/* --- the frame ------------------------------------------------------------ */

static void plot_label(struct plot *plot, int x, int y, const char *anchor,
		       double value, int unit)
{
	char text[40];

	plim_quantity_format(value, unit, text, sizeof text);
	plot_number(plot->sheet, "<text x=\"", x);
	plot_number(plot->sheet, "\" y=\"", y);
	sheet_format(plot->sheet, "\" text-anchor=\"%s\">%s</text>\n", anchor,
		     text);
}

static void plot_grid(struct plot *plot)
{
	const uint64_t step = plot_time_step(plot->ns);
	uint64_t at;

	for (at = 0; at <= plot->bytes; at += plot->step) {
		int y = plot_y(plot, at);

		plot_number(plot->sheet, "<path class=\"grid\" d=\"M",
			    PLOT_LEFT);
		plot_number(plot->sheet, " ", y);
		plot_number(plot->sheet, "h", PLOT_WIDTH);
		sheet_text(plot->sheet, "\"/>\n");
		plot_label(plot, PLOT_LEFT - 8000, y + 4000, "end", (double)at,
			   PLIM_UNIT_BYTES);
	}
	for (at = 0; at <= plot->ns; at += step) {
		int x = PLOT_LEFT + plot_share(at, plot->ns, PLOT_WIDTH);

		plot_number(plot->sheet, "<path class=\"tick\" d=\"M", x);
		plot_number(plot->sheet, " ", PLOT_TOP + PLOT_HEIGHT);
		sheet_text(plot->sheet, "v5\"/>\n");
		plot_label(plot, x, PLOT_TOP + PLOT_HEIGHT + 20000, "middle",
			   (double)at, PLIM_UNIT_NS);
	}
}

/* --- one line ------------------------------------------------------------- */

/* A line that is being drawn: broken where a sample does not know it. */
struct plot_pen {
	struct plot *plot;
	int is_down;
	int moved; /* a point that stands alone is drawn, too */
};

static void plot_point(struct plot_pen *pen, size_t index, uint64_t bytes)
{
	struct sheet *sheet = pen->plot->sheet;

	plot_number(sheet, pen->is_down ? "L" : "M", plot_x(pen->plot, index));
	plot_number(sheet, " ", plot_y(pen->plot, bytes));
	pen->moved = pen->is_down;
	pen->is_down = 1;
}

static void plot_lift(struct plot_pen *pen)
{
	if (pen->is_down && !pen->moved)
		sheet_text(pen->plot->sheet, "h0");
	pen->is_down = 0;
	pen->moved = 0;
}

static plim_count plot_at(const struct plot *plot, size_t index, int figure)
{
	return plim_memory_at(plot->memory, index, figure);
}

/* The samples of one step across the width: the lowest and the highest, in
 * their order. */
static void plot_step(struct plot_pen *pen, int figure, size_t from, size_t to)
{
	size_t low = from;
	size_t high = from;
	size_t i;

	for (i = from + 1; i < to; i++) {
		uint64_t value = plot_at(pen->plot, i, figure).value;

		if (value < plot_at(pen->plot, low, figure).value)
			low = i;
		if (value > plot_at(pen->plot, high, figure).value)
			high = i;
	}
	i = low < high ? low : high;
	plot_point(pen, i, plot_at(pen->plot, i, figure).value);
	if (low == high)
		return;
	i = low < high ? high : low;
	plot_point(pen, i, plot_at(pen->plot, i, figure).value);
}

static size_t plot_bucket(const struct plot *plot, size_t index)
{
	const size_t samples = plim_memory_samples(plot->memory);

	if (samples <= PLOT_STEPS * 2)
		return index;
	return index * PLOT_STEPS / samples;
}

static void plot_line(struct plot *plot, const struct plot_series *series)
{
	const size_t samples = plim_memory_samples(plot->memory);
	struct plot_pen pen = {.plot = plot};
	size_t from = 0;
	size_t to;

	sheet_format(plot->sheet,
		     "<path class=\"line f%d\" data-figure=\"%s\" d=\"",
		     series->figure, plim_memory_name(series->figure));
	while (from < samples) {
		if (plot_at(plot, from, series->figure).state !=
		    PLIM_STATE_KNOWN) {
			plot_lift(&pen);
			from++;
			continue;
		}
		for (to = from + 1;
		     to < samples &&
		     plot_bucket(plot, to) == plot_bucket(plot, from) &&
		     plot_at(plot, to, series->figure).state ==
			 PLIM_STATE_KNOWN;
		     to++)
			;
		plot_step(&pen, series->figure, from, to);
		from = to;
	}
	plot_lift(&pen);
	sheet_text(plot->sheet, "\"/>\n");
}

/* A sample that this line does not know. */
static int plot_lacks(const struct plot *plot, size_t series, size_t index)
{
	return plot_at(plot, index, plot->series[series].figure).state !=
	       PLIM_STATE_KNOWN;
}

/* Is the gap one of another line as well, which comes before? */
static int plot_is_told(const struct plot *plot, size_t series, size_t from,
			size_t to)
{
	const size_t samples = plim_memory_samples(plot->memory);
	size_t other;
	size_t i;

	for (other = 0; other < series; other++) {
		if ((from > 0 && plot_lacks(plot, other, from - 1)) ||
		    (to < samples && plot_lacks(plot, other, to)))
			continue;
		for (i = from; i < to && plot_lacks(plot, other, i); i++)
			;
		if (i == to)
			return 1;
	}
	return 0;
}

static void plot_gap(struct plot *plot, size_t series, size_t from, size_t to)
{
	const size_t last = plim_memory_samples(plot->memory) - 1;
	plim_count figure = plot_at(plot, from, plot->series[series].figure);
	int left = plot_x(plot, from > 0 ? from - 1 : 0);
	int right = plot_x(plot, to <= last ? to : last);

	if (right - left < PLOT_GAP)
		return;
	plot_number(plot->sheet, "<rect class=\"gap\" x=\"", left);
	plot_number(plot->sheet, "\" y=\"", PLOT_TOP);
	plot_number(plot->sheet, "\" width=\"", right - left);
	plot_number(plot->sheet, "\" height=\"", PLOT_HEIGHT);
	sheet_format(plot->sheet,
		     "\"><title>%s is not known: ", plot->series[series].name);
	sheet_string(plot->sheet, plim_state_word(figure.state));
	sheet_text(plot->sheet, ": ");
	sheet_string(plot->sheet,
		     show_reason(figure.state, figure.method, figure.code));
	sheet_text(plot->sheet, "</title></rect>\n");
}

/* Where a line is not known for a while that can be seen: from the last sample
 * that knew it to the next. */
static void plot_gaps(struct plot *plot, size_t series)
{
	const size_t samples = plim_memory_samples(plot->memory);
	size_t from;
	size_t to;

	for (from = 0; from < samples; from = to) {
		to = from + 1;
		if (!plot_lacks(plot, series, from))
			continue;
		while (to < samples && plot_lacks(plot, series, to))
			to++;
		if (!plot_is_told(plot, series, from, to))
			plot_gap(plot, series, from, to);
	}
}

/* Labels stand at the ends of their lines, and not over one another. */
static void plot_labels(struct plot *plot)
{
	struct plot_series *order[PLOT_MOST];
	size_t i;
	size_t k;

	for (i = 0; i < plot->count; i++) {
		struct plot_series *series = &plot->series[i];
		plim_memory_steady steady =
		    plim_memory_range(plot->memory, series->figure);

		series->label = plot_y(plot, steady.last.value);
		for (k = i; k > 0 && order[k - 1]->label > series->label; k--)
			order[k] = order[k - 1];
		order[k] = series;
	}
	for (i = 1; i < plot->count; i++)
		if (order[i]->label < order[i - 1]->label + PLOT_LABEL)
			order[i]->label = order[i - 1]->label + PLOT_LABEL;
	for (i = plot->count; i-- > 0;) {
		int lowest = i + 1 < plot->count
				 ? order[i + 1]->label - PLOT_LABEL
				 : PLOT_TOP + PLOT_HEIGHT;

		if (order[i]->label > lowest)
			order[i]->label = lowest;
		plot_number(plot->sheet, "<text x=\"",
			    PLOT_LEFT + PLOT_WIDTH + 8000);
		plot_number(plot->sheet, "\" y=\"", order[i]->label + 4000);
		sheet_format(plot->sheet, "\" class=\"name f%d\">%s</text>\n",
			     order[i]->figure, order[i]->name);
	}
}

static void plot_end(struct plot *plot)
{
	plim_memory_end end = plim_memory_ended(plot->memory);

	if (end.how == PLIM_MEMORY_END_ALIVE)
		return;
	plot_number(plot->sheet, "<path class=\"end\" d=\"M",
		    PLOT_LEFT + PLOT_WIDTH);
	plot_number(plot->sheet, " ", PLOT_TOP);
	plot_number(plot->sheet, "v", PLOT_HEIGHT);
	sheet_format(plot->sheet, "\"><title>%s</title></path>\n",
		     plim_memory_end_text(end.how));
}

void mem_plot_timeline(struct sheet *sheet, const struct mem_view *view)
{
	const size_t samples = plim_memory_samples(view->memory);
	struct plot plot = {.sheet = sheet, .memory = view->memory};
	size_t i;

	plot_choose(&plot);
	if (samples < 2 || plot.count == 0)
		return;
	plot.first = plim_memory_stamp(view->memory, 0).monotonic.ns;
	plot.ns = plim_memory_stamp(view->memory, samples - 1).monotonic.ns -
		  plot.first;
	if (plot.ns == 0)
		plot.ns = 1;
	plot_scale(&plot);
	sheet_format(sheet,
		     "<svg viewBox=\"0 0 860 300\" role=\"img\" "
		     "aria-label=\"memory over time\" data-left=\"%d\" "
		     "data-top=\"%d\" data-width=\"%d\" data-height=\"%d\" "
		     "data-ns=\"%llu\" data-bytes=\"%llu\">\n",
		     PLOT_LEFT / 1000, PLOT_TOP / 1000, PLOT_WIDTH / 1000,
		     PLOT_HEIGHT / 1000, (unsigned long long)plot.ns,
		     (unsigned long long)plot.bytes);
	plot_grid(&plot);
	for (i = 0; i < plot.count; i++)
		plot_gaps(&plot, i);
	for (i = 0; i < plot.count; i++)
		plot_line(&plot, &plot.series[i]);
	plot_end(&plot);
	plot_labels(&plot);
	sheet_text(sheet, "</svg>\n");
}

/* --- the parts of the verdict --------------------------------------------- */

/* Those that are resident and add up. */
static int plot_is_part(int part)
{
	return part >= PLIM_RETENTION_LIVE && part <= PLIM_RETENTION_UNKNOWN;
}

static uint64_t plot_whole(const struct mem_view *view)
{
	uint64_t whole = 0;
	int part;

	for (part = 1; plot_is_part(part); part++)
		if (view->retention.parts[part].state == PLIM_STATE_KNOWN)
			whole += view->retention.parts[part].value;
	return whole;
}

static void plot_legend(struct sheet *sheet, const struct mem_view *view,
			uint64_t whole)
{
	int part;

	sheet_text(sheet, "<ul class=\"legend\">");
	for (part = 1; plot_is_part(part); part++) {
		plim_count bytes = view->retention.parts[part];
		char text[40];
		char share[40];

		if (bytes.state != PLIM_STATE_KNOWN || bytes.value == 0)
			continue;
		plim_quantity_format((double)bytes.value, PLIM_UNIT_BYTES, text,
				     sizeof text);
		plim_quantity_format((double)bytes.value * 100 / (double)whole,
				     PLIM_UNIT_PERCENT, share, sizeof share);
		sheet_format(sheet,
			     "<li><i class=\"part p%d\"></i>%s "
			     "<data value=\"%llu\">%s</data>, ",
			     part, plim_retention_word(part),
			     (unsigned long long)bytes.value, text);
		sheet_string(sheet, share); /* it may begin with < */
		sheet_text(sheet, "</li>\n");
	}
	sheet_text(sheet, "</ul>\n");
}

void mem_plot_parts(struct sheet *sheet, const struct mem_view *view)
{
	const uint64_t whole = plot_whole(view);
	uint64_t before = 0;
	int part;

	if (whole == 0)
		return;
	sheet_text(sheet,
		   "<svg class=\"bar\" viewBox=\"0 0 860 34\" role=\"img\" "
		   "aria-label=\"what the memory is\">\n");
	for (part = 1; plot_is_part(part); part++) {
		plim_count bytes = view->retention.parts[part];
		int left = plot_share(before, whole, 860000);
		int right;

		if (bytes.state != PLIM_STATE_KNOWN || bytes.value == 0)
			continue;
		before += bytes.value;
		right = plot_share(before, whole, 860000);
		sheet_format(sheet, "<rect class=\"part p%d\"", part);
		plot_number(sheet, " x=\"", left);
		plot_number(sheet, "\" y=\"2\" height=\"30\" width=\"",
			    right - left);
		sheet_format(sheet, "\"><title>%s: %llu bytes</title></rect>\n",
			     plim_retention_text(part),
			     (unsigned long long)bytes.value);
	}
	sheet_text(sheet, "</svg>\n");
	plot_legend(sheet, view, whole);
}
