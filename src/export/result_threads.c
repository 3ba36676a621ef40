/*
 * result_threads.c - the RESULT lines of a plim_threads and of a plim_idle:
 * what was measured becomes plain figures, which result_block.c writes. A
 * thread that did not wake has no line; one of which that is not known has.
 */
#include <plimsoll/result.h>

#include <string.h>

static plim_result_threads_summary threads_summary(plim_threads_facts facts,
						   uint64_t window_ns)
{
	plim_result_threads_summary summary;

	memset(&summary, 0, sizeof(summary));
	summary.size = sizeof(summary);
	summary.threads = facts.last;
	summary.born = facts.born;
	summary.exited = facts.exited;
	summary.listed_wakeups = facts.listed_wakeups;
	summary.exited_wakeups_at_start = facts.exited_wakeups_at_start;
	summary.window_ns = window_ns;
	return summary;
}

static plim_result_thread_row threads_row(const plim_thread_change *change,
					  uint32_t rank, uint64_t window_ns)
{
	plim_result_thread_row row;

	memset(&row, 0, sizeof(row));
	row.size = sizeof(row);
	row.rank = rank;
	row.tid = change->last->tid;
	row.born = change->born;
	row.wakeups = change->wakeups;
	row.cpu_ns = change->cpu_ns;
	row.start_address = change->last->start_address;
	row.window_ns = window_ns;
	row.name = change->name;
	return row;
}

static int threads_woke(const plim_thread_change *change)
{
	return change->wakeups.state != PLIM_STATE_KNOWN ||
	       change->wakeups.value > 0;
}

int plim_result_threads(const plim_threads *threads, size_t top,
			plim_write_fn *write, void *user)
{
	plim_result_threads_summary summary;
	plim_interval interval;
	uint32_t rank = 0;
	int code;

	memset(&interval, 0, sizeof(interval));
	/* Without two samples there is no interval, and no change either. */
	plim_threads_interval(threads, &interval, NULL);
	summary =
	    threads_summary(plim_threads_about(threads), interval.elapsed_ns);
	code = plim_result_thread_summary(&summary, write, user);
	for (size_t i = 0;
	     i < plim_threads_changes(threads) && rank < top && code == PLIM_OK;
	     i++) {
		plim_thread_change change = plim_threads_change(threads, i);
		plim_result_thread_row row;

		if (!threads_woke(&change))
			continue;
		row = threads_row(&change, ++rank, interval.elapsed_ns);
		code = plim_result_thread(&row, write, user);
	}
	return code;
}

int plim_result_idle_threads(const plim_idle *idle, size_t top,
			     plim_write_fn *write, void *user)
{
	uint64_t window_ns = plim_idle_about(idle).interval.elapsed_ns;
	plim_result_threads_summary summary =
	    threads_summary(plim_idle_thread_facts(idle), window_ns);
	uint32_t rank = 0;
	int code = plim_result_thread_summary(&summary, write, user);

	for (size_t i = 0;
	     i < plim_idle_thread_count(idle) && rank < top && code == PLIM_OK;
	     i++) {
		plim_idle_thread thread = plim_idle_thread_at(idle, i);
		plim_result_thread_row row;

		if (!threads_woke(&thread.change))
			continue;
		row = threads_row(&thread.change, ++rank, window_ns);
		row.pid = thread.pid;
		row.process = thread.process;
		row.runqueue_ns = thread.change.runqueue_ns;
		row.blocked_in = thread.change.last->blocked_in;
		code = plim_result_thread(&row, write, user);
	}
	return code;
}

plim_result_figures plim_result_idle_figures(const plim_idle *idle)
{
	plim_idle_facts facts = plim_idle_about(idle);
	plim_result_figures figures;

	memset(&figures, 0, sizeof(figures));
	figures.size = sizeof(figures);
	figures.warm_resident = plim_idle_first(idle, PLIM_FIELD_RESIDENT);
	figures.idle_resident = plim_idle_last(idle, PLIM_FIELD_RESIDENT);
	figures.warm_footprint = plim_idle_first(idle, PLIM_FIELD_PRIVATE);
	figures.idle_footprint = plim_idle_last(idle, PLIM_FIELD_PRIVATE);
	figures.window_ns = facts.interval.elapsed_ns;
	figures.samples = facts.samples;
	figures.cpu_percent = plim_idle_cpu_percent(idle);
	figures.wakeups = plim_idle_rate(idle, PLIM_FIELD_WAKEUPS);
	figures.disk_ops = plim_idle_rate(idle, PLIM_FIELD_DISK_OPS);
	figures.disk_read = plim_idle_rate(idle, PLIM_FIELD_DISK_READ);
	figures.disk_write = plim_idle_rate(idle, PLIM_FIELD_DISK_WRITE);
	figures.disk_blocks = plim_idle_rate(idle, PLIM_FIELD_DISK_BLOCKS);
	figures.io_calls = plim_idle_rate(idle, PLIM_FIELD_IO_CALLS);
	return figures;
}

int plim_result_idle(const plim_idle *idle, const plim_result_load *load,
		     plim_write_fn *write, void *user)
{
	plim_result_figures figures = plim_result_idle_figures(idle);
	plim_result_load none;

	memset(&none, 0, sizeof(none));
	none.size = sizeof(none);
	return plim_result_observation(&figures, load != NULL ? load : &none,
				       write, user);
}
