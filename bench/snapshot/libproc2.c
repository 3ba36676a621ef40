/*
 * libproc2.c - the library behind ps and top, by its own interface.
 *
 * Its full set is the nearest that it has to ours: it knows no context
 * switches, and its resident size is that of stat.
 */
#include "bench.h"

#include <libproc2/pids.h>

static enum pids_item stat_items[] = {
    PIDS_ID_PID, PIDS_ID_PPID,	 PIDS_TICS_BEGAN,  PIDS_CMD,
    PIDS_STATE,	 PIDS_TICS_USER, PIDS_TICS_SYSTEM, PIDS_NLWP,
    PIDS_RSS,	 PIDS_FLT_MIN,	 PIDS_FLT_MAJ,
};
static enum pids_item full_items[] = {
    PIDS_ID_PID,  PIDS_ID_PPID,	      PIDS_TICS_BEGAN,	   PIDS_CMD,
    PIDS_STATE,	  PIDS_TICS_USER,     PIDS_TICS_SYSTEM,	   PIDS_NLWP,
    PIDS_RSS,	  PIDS_FLT_MIN,	      PIDS_FLT_MAJ,	   PIDS_VM_RSS_ANON,
    PIDS_VM_SWAP, PIDS_IO_READ_BYTES, PIDS_IO_WRITE_BYTES,
};

static struct pids_info *infos[2];

int libproc2_begin(struct method *method)
{
	enum pids_item *items = stat_items;
	int count = (int)(sizeof(stat_items) / sizeof(stat_items[0]));

	if (method->variant == LIBPROC2_FULL) {
		items = full_items;
		count = (int)(sizeof(full_items) / sizeof(full_items[0]));
	}
	if (procps_pids_new(&infos[method->variant], items, count) == 0)
		return 1;
	method->missing = "procps_pids_new() failed";
	return 0;
}

int libproc2_run(const struct method *method, struct look *look)
{
	double begin = bench_cpu_ns();
	const struct pids_fetch *fetched =
	    procps_pids_reap(infos[method->variant], PIDS_FETCH_TASKS_ONLY);

	if (!fetched)
		return 0;
	look->cpu_ns = bench_cpu_ns() - begin;
	look->processes = (size_t)fetched->counts->total;
	return 1;
}

void libproc2_end(struct method *method)
{
	procps_pids_unref(&infos[method->variant]);
}
