/*
 * ours.c - the library, by its public interface alone, as a program that looks
 * again and again would use it.
 */
#include "bench.h"

#include <plimsoll.h>

static plim_host *host;
static int users;
static plim_snapshot *snapshots[3];
static plim_watch *watch;

int ours_begin(struct method *method)
{
	plim_snapshot **snapshot = &snapshots[method->variant];

	if (users++ == 0 && plim_host_open(&host, NULL, NULL) != PLIM_OK)
		method->missing = "plim_host_open() failed";
	else if (plim_snapshot_new(snapshot, host, NULL) != PLIM_OK)
		method->missing = "plim_snapshot_new() failed";
	else if (method->variant == OURS_CPU &&
		 (plim_snapshot_take(*snapshot, NULL, NULL) != PLIM_OK ||
		  plim_watch_new(&watch, host, NULL) != PLIM_OK ||
		  plim_watch_follow(watch, *snapshot, NULL) != PLIM_OK))
		method->missing = "plim_watch_follow() failed";
	return method->missing == NULL;
}

static int ours_snapshot(const struct method *method, struct look *look)
{
	plim_snapshot *snapshot = snapshots[method->variant];
	plim_field_set fields = plim_field_set_preset(
	    method->variant == OURS_FULL ? PLIM_FIELDS_FULL
					 : PLIM_FIELDS_LIGHT);
	plim_snapshot_options options = {
	    .size = sizeof(options), .fields = &fields, .previous = snapshot};
	double begin = bench_cpu_ns();

	if (plim_snapshot_take(snapshot, &options, NULL) != PLIM_OK)
		return 0;
	look->cpu_ns = bench_cpu_ns() - begin;
	look->processes = plim_snapshot_size(snapshot);
	return 1;
}

/* Seen is what is known: a figure that could not be proven is none. */
static int ours_watch(struct look *look)
{
	double begin = bench_cpu_ns();

	if (plim_watch_refresh(watch, NULL) != PLIM_OK)
		return 0;
	look->cpu_ns = bench_cpu_ns() - begin;
	look->processes = plim_watch_cost(watch).read;
	return 1;
}

int ours_run(const struct method *method, struct look *look)
{
	return method->variant == OURS_CPU ? ours_watch(look)
					   : ours_snapshot(method, look);
}

void ours_end(struct method *method)
{
	if (method->variant == OURS_CPU) {
		plim_watch_free(watch);
		watch = NULL;
	}
	plim_snapshot_free(snapshots[method->variant]);
	snapshots[method->variant] = NULL;
	if (--users == 0)
		plim_host_close(host);
}
