/*
 * ours.c - the library, by its public interface alone, as a program that looks
 * again and again would use it.
 */
#include "bench.h"

#include <plimsoll.h>

static plim_host *host;
static int users;
static plim_snapshot *snapshots[2];

int ours_begin(struct method *method)
{
	if (users == 0 && plim_host_open(&host, NULL, NULL) != PLIM_OK) {
		method->missing = "plim_host_open() failed";
		return 0;
	}
	users++;
	if (plim_snapshot_new(&snapshots[method->variant], host, NULL) ==
	    PLIM_OK)
		return 1;
	method->missing = "plim_snapshot_new() failed";
	return 0;
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

int ours_run(const struct method *method, struct look *look)
{
	return ours_snapshot(method, look);
}

void ours_end(struct method *method)
{
	plim_snapshot_free(snapshots[method->variant]);
	snapshots[method->variant] = NULL;
	if (--users == 0)
		plim_host_close(host);
}
