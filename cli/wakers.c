/*
 * wakers.c - who woke in a quiet window: the threads of a process or of a
 * whole tree, the most awake first, with what each of them computed, waited
 * for a CPU, and blocks in.
 *
 * Names are hostile and escaped; those of threads and of processes are what
 * they call themselves.
 */
#include "idle.h"

#include "column.h"

#include <string.h>

static int wakers_several(const plim_idle *idle)
{
	plim_idle_thread first = plim_idle_thread_at(idle, 0);
	size_t i;

	for (i = 1; i < plim_idle_thread_count(idle); i++)
		if (plim_idle_thread_at(idle, i).pid != first.pid)
			return 1;
	return 0;
}

static plim_real wakers_rate(const plim_idle *idle, plim_count change)
{
	return plim_change_rate(change,
				plim_idle_about(idle).interval.elapsed_ns);
}

static plim_real wakers_percent(const plim_idle *idle, plim_count change)
{
	plim_real rate = wakers_rate(idle, change);

	rate.value /= 1e7;
	return rate;
}

/* One that neither woke nor computed is none of those to be told of; one of
 * which it is not known, is. */
static int wakers_is_told(const plim_thread_change *change)
{
	return change->wakeups.state != PLIM_STATE_KNOWN ||
	       change->wakeups.value > 0 ||
	       (change->cpu_ns.state == PLIM_STATE_KNOWN &&
		change->cpu_ns.value > 0);
}

static void wakers_text(const struct options *options, plim_text text)
{
	if (text.state == PLIM_STATE_KNOWN)
		output_escaped(options, text.bytes);
	else
		output_text("-");
}

static void wakers_row(const struct options *options, const plim_idle *idle,
		       const plim_idle_thread *thread, int several)
{
	const plim_thread_change *change = &thread->change;

	output_format("             %10s %9s %10s %8d  ",
		      show_real(options, wakers_rate(idle, change->wakeups),
				PLIM_UNIT_PER_SECOND),
		      show_real(options, wakers_percent(idle, change->cpu_ns),
				PLIM_UNIT_PERCENT),
		      show_count(options, change->runqueue_ns, PLIM_UNIT_NS),
		      (int)change->last->tid);
	wakers_text(options, change->name);
	if (several) {
		output_format(" of %d ", (int)thread->pid);
		wakers_text(options, thread->process);
	}
	output_text(change->born ? " (new)" : "");
	if (change->last->state == 'R') {
		output_text(", running\n");
		return;
	}
	output_text(", in ");
	wakers_text(options, change->last->blocked_in);
	output_text("\n");
}

void wakers_page(const struct options *options, const plim_idle *idle,
		 uint64_t most, wakers_fn *below, void *user)
{
	size_t count = plim_idle_thread_count(idle);
	int several = wakers_several(idle);
	uint64_t told = 0;
	size_t i;

	if (plim_idle_about(idle).samples < 2)
		return;
	for (i = 0; i < count; i++) {
		plim_idle_thread thread = plim_idle_thread_at(idle, i);

		if (!wakers_is_told(&thread.change))
			continue;
		if (told == 0)
			output_format("who wakes    %10s %9s %10s %8s  %s\n",
				      "wake-ups", "CPU", "waited", "tid",
				      "name, blocked in");
		if (told < most)
			wakers_row(options, idle, &thread, several);
		if (told < most && below != NULL)
			below(&thread, user);
		told++;
	}
	if (count == 0)
		output_text("who wakes    no thread could be read\n");
	else if (told == 0)
		output_format("who wakes    none of %zu thread%s\n", count,
			      count == 1 ? "" : "s");
	else if (told > most)
		output_format("             and %llu more\n",
			      (unsigned long long)(told - most));
}

/* The object of a thread, and whose it is. */
static void wakers_json_thread(plim_json *json, const plim_idle_thread *thread)
{
	plim_json_object(json, NULL);
	plim_json_whole(json, "pid", (uint64_t)thread->pid);
	if (thread->process.state == PLIM_STATE_KNOWN)
		plim_json_text(json, "process", thread->process.bytes);
	else
		plim_json_null(json, "process");
	plim_json_thread_members(json, thread->change.last, &thread->change);
	plim_json_end(json);
}

void wakers_json(plim_json *json, const plim_idle *idle, uint64_t most)
{
	size_t i;

	plim_json_array(json, "threads");
	for (i = 0; i < plim_idle_thread_count(idle) && i < most; i++) {
		plim_idle_thread thread = plim_idle_thread_at(idle, i);

		wakers_json_thread(json, &thread);
	}
	plim_json_end(json);
}
