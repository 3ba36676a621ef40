/*
 * memory_series.c - samples of memory over time, in bounded room.
 *
 * Every sample moves the extremes and the moments of each figure; those are
 * exact however long it goes on. The samples themselves are kept up to
 * PLIM_MEMORY_KEPT: then every second is dropped and one of twice as many is
 * kept from there on, so that the timeline stays even. The last sample is
 * always there, behind those that stay. Invariant: point i of those that stay
 * is sample i * stride.
 *
 * Whether a figure drifts is decided by statistics that memory.h describes.
 * The line comes from the moments of all samples; the step that it has to beat
 * from those that are kept, since any of them may be where the step is.
 */
#include "observe/memory_series.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

#define SERIES_START 16

/* A figure is flat within so much, and drifts if it goes so far. */
#define SERIES_FLAT_BYTES  65536
#define SERIES_FLAT_SHARE  256
#define SERIES_DRIFT_BYTES 16384
#define SERIES_DRIFT_LEAST 4 /* samples */
#define SERIES_DRIFT_SURE  4 /* standard errors of the slope */

void plimp_memory_series_clear(struct plimp_memory_series *series)
{
	series->kept = 0;
	series->has_loose = 0;
	series->taken = 0;
	series->stride = 1;
	memset(&series->first, 0, sizeof(series->first));
	memset(series->traces, 0, sizeof(series->traces));
}

void plimp_memory_series_release(struct plimp_memory_series *series)
{
	plimp_release(&series->allocator, series->points, series->capacity,
		      sizeof(*series->points));
	series->points = NULL;
	series->capacity = 0;
	plimp_memory_series_clear(series);
}

int plimp_memory_series_reserve(struct plimp_memory_series *series)
{
	void *array = series->points;
	int code = plimp_reserve(&series->allocator, &array, &series->capacity,
				 series->kept + 2, SERIES_START,
				 sizeof(*series->points));

	series->points = array;
	return code;
}

/* Seconds since the first sample. */
static double series_time(const struct plimp_memory_series *series,
			  plim_stamp stamp)
{
	uint64_t first = series->first.monotonic.ns;
	uint64_t now = stamp.monotonic.ns;

	return now > first ? (double)(now - first) / 1e9 : 0.0;
}

static void series_trace(struct plimp_memory_trace *trace, plim_stamp stamp,
			 double t, plim_count figure)
{
	double v = (double)figure.value;
	double n;
	double dt;
	double dv;

	if (figure.state != PLIM_STATE_KNOWN) {
		trace->missing++;
		if (trace->known == 0)
			trace->last = figure;
		return;
	}
	if (trace->known == 0) {
		trace->lowest = figure;
		trace->highest = figure;
		trace->method = figure.method;
	}
	if (figure.value < trace->lowest.value)
		trace->lowest = figure;
	if (figure.value > trace->highest.value)
		trace->highest = figure;
	if (trace->method != figure.method)
		trace->method = PLIM_METHOD_MIXED;
	trace->last = figure;
	trace->last_at = stamp;
	trace->bounded += figure.bound != PLIM_BOUND_EXACT;
	trace->known++;
	n = (double)trace->known;
	dt = t - trace->mean_t;
	dv = v - trace->mean_v;
	trace->mean_t += dt / n;
	trace->mean_v += dv / n;
	trace->tt += dt * (t - trace->mean_t);
	trace->tv += dt * (v - trace->mean_v);
	trace->vv += dv * (v - trace->mean_v);
}

/* Drops every second of those that stay; the newest becomes loose. */
static void series_thin(struct plimp_memory_series *series)
{
	size_t newest = series->kept - 1;
	size_t at;

	for (at = 1; 2 * at < series->kept; at++)
		series->points[at] = series->points[2 * at];
	series->kept = (series->kept + 1) / 2;
	series->has_loose = newest % 2 == 1;
	if (series->has_loose)
		series->points[series->kept] = series->points[newest];
	series->stride *= 2;
}

void plimp_memory_series_add(struct plimp_memory_series *series,
			     const struct plimp_memory_point *point)
{
	double t;
	int figure;

	assert(series->kept < series->capacity && series->stride > 0);
	if (series->taken == 0)
		series->first = point->stamp;
	t = series_time(series, point->stamp);
	for (figure = 1; figure < PLIM_MEMORY_COUNT; figure++)
		series_trace(&series->traces[figure], point->stamp, t,
			     point->figures[figure]);
	series->points[series->kept] = *point;
	series->has_loose = series->taken % series->stride != 0;
	series->taken++;
	if (series->has_loose)
		return;
	series->kept++;
	if (series->kept == PLIM_MEMORY_KEPT)
		series_thin(series);
}

size_t plimp_memory_series_count(const struct plimp_memory_series *series)
{
	return series->kept + (size_t)series->has_loose;
}

const struct plimp_memory_point *
plimp_memory_series_at(const struct plimp_memory_series *series, size_t index)
{
	if (index >= plimp_memory_series_count(series))
		return NULL;
	return &series->points[index];
}

static uint64_t series_ns(const struct plimp_memory_series *series,
			  size_t index)
{
	return series->points[index].stamp.monotonic.ns;
}

/* The sample from `from` up to `last` that is nearest to the time; samples are
 * in the order of time. */
static size_t series_nearest(const struct plimp_memory_series *series,
			     size_t from, size_t last, uint64_t when)
{
	size_t at = from;

	while (at < last && series_ns(series, at) < when)
		at++;
	if (at > from && when >= series_ns(series, at - 1) &&
	    series_ns(series, at) >= when &&
	    when - series_ns(series, at - 1) < series_ns(series, at) - when)
		at--;
	return at;
}

size_t plimp_memory_series_timeline(const struct plimp_memory_series *series,
				    size_t most, size_t *indices)
{
	size_t count = plimp_memory_series_count(series);
	uint64_t start;
	uint64_t span;
	size_t lines = 0;
	size_t step;

	if (count <= most) {
		for (lines = 0; lines < count; lines++)
			indices[lines] = lines;
		return count;
	}
	if (most == 0)
		return 0;
	if (most == 1) {
		indices[0] = count - 1;
		return 1;
	}
	start = series_ns(series, 0);
	span = series_ns(series, count - 1) - start;
	for (step = 0; step + 1 < most; step++) {
		/* `most` is below the few that are kept: nothing overflows */
		uint64_t when = start + span / (most - 1) * step +
				span % (most - 1) * step / (most - 1);
		size_t from = lines > 0 ? indices[lines - 1] : 0;
		size_t at = series_nearest(series, from, count - 1, when);

		if ((lines == 0 || at > indices[lines - 1]) && at < count - 1)
			indices[lines++] = at;
	}
	indices[lines++] = count - 1;
	return lines;
}

/* How much of the sum of squares the best single step explains, over the
 * samples that are kept. */
static double series_step(const struct plimp_memory_series *series, int figure)
{
	size_t count = plimp_memory_series_count(series);
	double mean = series->traces[figure].mean_v;
	double whole = 0.0;
	double known = 0.0;
	double below = 0.0;
	double sum = 0.0;
	double best = 0.0;
	size_t at;

	for (at = 0; at < count; at++) {
		plim_count value = series->points[at].figures[figure];

		if (value.state != PLIM_STATE_KNOWN)
			continue;
		known += 1.0;
		whole += (double)value.value - mean;
	}
	for (at = 0; at < count && below + 1.0 < known; at++) {
		plim_count value = series->points[at].figures[figure];
		double gap;
		double explained;

		if (value.state != PLIM_STATE_KNOWN)
			continue;
		below += 1.0;
		sum += (double)value.value - mean;
		gap = sum / below - (whole - sum) / (known - below);
		explained = below * (known - below) / known * gap * gap;
		if (explained > best)
			best = explained;
	}
	return best;
}

/* How much of it a line explains, over the same samples. */
static double series_line(const struct plimp_memory_series *series, int figure)
{
	struct plimp_memory_trace line = {.mean_t = 0};
	size_t count = plimp_memory_series_count(series);
	size_t at;

	for (at = 0; at < count; at++)
		series_trace(&line, series->points[at].stamp,
			     series_time(series, series->points[at].stamp),
			     series->points[at].figures[figure]);
	return line.tt > 0.0 ? line.tv * line.tv / line.tt : 0.0;
}

static int series_is_drifting(const struct plimp_memory_series *series,
			      int figure)
{
	const struct plimp_memory_trace *trace = &series->traces[figure];
	double span = series_time(series, trace->last_at);
	double slope;
	double rest;
	double sure = SERIES_DRIFT_SURE * SERIES_DRIFT_SURE;

	if (trace->known < SERIES_DRIFT_LEAST || !(trace->tt > 0.0))
		return 0;
	slope = trace->tv / trace->tt;
	if (slope * span < SERIES_DRIFT_BYTES &&
	    slope * span > -SERIES_DRIFT_BYTES)
		return 0;
	/* slope >= 4 * sqrt(rest / (n - 2) / tt), squared */
	rest = trace->vv - trace->tv * slope;
	if (rest > 0.0 &&
	    slope * slope * trace->tt * ((double)trace->known - 2.0) <
		sure * rest)
		return 0;
	return series_line(series, figure) > series_step(series, figure);
}

static int series_is_flat(const struct plimp_memory_trace *trace)
{
	uint64_t most = trace->highest.value / SERIES_FLAT_SHARE;

	if (most < SERIES_FLAT_BYTES)
		most = SERIES_FLAT_BYTES;
	return trace->highest.value - trace->lowest.value <= most;
}

static int series_trend(const struct plimp_memory_series *series, int figure)
{
	const struct plimp_memory_trace *trace = &series->traces[figure];

	if (trace->known < 2 || trace->bounded > 0)
		return PLIM_TREND_UNKNOWN;
	if (series_is_drifting(series, figure))
		return PLIM_TREND_DRIFTING;
	return series_is_flat(trace) ? PLIM_TREND_FLAT : PLIM_TREND_MOVING;
}

static plim_real series_slope(const struct plimp_memory_trace *trace)
{
	if (trace->known == 0)
		return plim_real_of(trace->last);
	if (trace->bounded > 0)
		return plim_real_missing(PLIM_REASON_SAME_BOUND, 0);
	if (trace->known < 2)
		return plim_real_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	if (!(trace->tt > 0.0))
		return plim_real_missing(PLIM_REASON_ZERO_INTERVAL, 0);
	return plim_real_known(trace->tv / trace->tt, trace->method);
}

plim_memory_steady
plimp_memory_series_range(const struct plimp_memory_series *series, int figure)
{
	plim_memory_steady steady;
	const struct plimp_memory_trace *trace;

	memset(&steady, 0, sizeof(steady));
	if (figure < 1 || figure >= PLIM_MEMORY_COUNT) {
		steady.last = plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
		steady.lowest = steady.last;
		steady.highest = steady.last;
		steady.slope = plim_real_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
		return steady;
	}
	trace = &series->traces[figure];
	steady.last = trace->last;
	steady.lowest = trace->known > 0 ? trace->lowest : trace->last;
	steady.highest = trace->known > 0 ? trace->highest : trace->last;
	steady.slope = series_slope(trace);
	steady.known = trace->known;
	steady.missing = trace->missing;
	steady.last_at = trace->last_at;
	steady.trend = series_trend(series, figure);
	return steady;
}
