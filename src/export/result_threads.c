/*
 * result_threads.c - the RESULT lines of a plim_threads: the summary, then who
 * woke, most first. A thread that did not wake has no line; one of which that
 * is not known has.
 */
#include <plimsoll/result.h>

#include <string.h>

static int threads_row(const plim_thread_change *change, uint32_t rank,
		       uint64_t window_ns, plim_write_fn *write, void *user)
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
	return plim_result_thread(&row, write, user);
}

int plim_result_threads(const plim_threads *threads, size_t top,
			plim_write_fn *write, void *user)
{
	plim_threads_facts facts = plim_threads_about(threads);
	plim_result_threads_summary summary;
	plim_interval interval;
	uint32_t rank = 0;
	int code;

	memset(&summary, 0, sizeof(summary));
	memset(&interval, 0, sizeof(interval));
	/* Without two samples there is no interval, and no change either. */
	plim_threads_interval(threads, &interval, NULL);
	summary.size = sizeof(summary);
	summary.threads = facts.last;
	summary.born = facts.born;
	summary.exited = facts.exited;
	summary.listed_wakeups = facts.listed_wakeups;
	summary.exited_wakeups_at_start = facts.exited_wakeups_at_start;
	summary.window_ns = interval.elapsed_ns;
	code = plim_result_thread_summary(&summary, write, user);
	for (size_t i = 0;
	     i < plim_threads_changes(threads) && rank < top && code == PLIM_OK;
	     i++) {
		plim_thread_change change = plim_threads_change(threads, i);

		if (change.wakeups.state != PLIM_STATE_KNOWN ||
		    change.wakeups.value > 0)
			code = threads_row(&change, ++rank, interval.elapsed_ns,
					   write, user);
	}
	return code;
}
