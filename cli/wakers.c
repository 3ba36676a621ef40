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
		 uint64_t most)
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

/* A figure, or null; what is missing is told once, below. */
static void wakers_json_count(plim_json *json, const char *key,
			      plim_count count)
{
	if (count.state == PLIM_STATE_KNOWN)
		plim_json_whole(json, key, count.value);
	else
		plim_json_null(json, key);
}

static void wakers_json_text(plim_json *json, const char *key, plim_text text)
{
	if (text.state == PLIM_STATE_KNOWN)
		plim_json_text(json, key, text.bytes);
	else
		plim_json_null(json, key);
}

static void wakers_json_why(plim_json *json, const char *key, uint8_t state,
			    uint16_t reason, int32_t code)
{
	if (state == PLIM_STATE_KNOWN)
		return;
	plim_json_object(json, key);
	plim_json_string(json, "state", plim_state_word(state));
	plim_json_string(json, "reason", plim_reason_word(reason));
	if (code != 0)
		plim_json_string(json, "code", plim_system_error_name(code));
	plim_json_end(json);
}

struct wakers_count {
	const char *key;
	plim_count count;
};

static void wakers_json_counts(plim_json *json, const struct wakers_count *rows,
			       size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		wakers_json_count(json, rows[i].key, rows[i].count);
	plim_json_object(json, "unavailable");
	for (i = 0; i < count; i++)
		wakers_json_why(json, rows[i].key, rows[i].count.state,
				rows[i].count.method, rows[i].count.code);
}

static void wakers_json_thread(plim_json *json, const plim_idle_thread *thread)
{
	const plim_thread_change *change = &thread->change;
	const plim_thread *last = change->last;
	const struct wakers_count whole[] = {
	    {"start_ticks", last->start_ticks},
	    {"cpu_ns", last->cpu_ns},
	    {"runqueue_wait_ns", last->runqueue_ns},
	    {"wakeups", last->wakeups},
	    {"involuntary_switches", last->involuntary},
	    {"switches_in", last->switches_in},
	};
	const struct wakers_count delta[] = {
	    {"cpu_ns", change->cpu_ns},
	    {"runqueue_wait_ns", change->runqueue_ns},
	    {"wakeups", change->wakeups},
	    {"involuntary_switches", change->involuntary},
	    {"switches_in", change->switches_in},
	};
	char state[2] = {last->state, '\0'};

	plim_json_object(json, NULL);
	plim_json_whole(json, "tid", (uint64_t)last->tid);
	plim_json_whole(json, "pid", (uint64_t)thread->pid);
	wakers_json_text(json, "process", thread->process);
	wakers_json_text(json, "name", change->name);
	if (last->state != 0)
		plim_json_string(json, "state", state);
	else
		plim_json_null(json, "state");
	wakers_json_text(json, "blocked_in", last->blocked_in);
	plim_json_boolean(json, "born", change->born != 0);
	wakers_json_counts(json, whole, sizeof whole / sizeof whole[0]);
	wakers_json_why(json, "name", change->name.state, change->name.method,
			change->name.code);
	wakers_json_why(json, "blocked_in", last->blocked_in.state,
			last->blocked_in.method, last->blocked_in.code);
	plim_json_end(json);
	plim_json_object(json, "delta");
	wakers_json_counts(json, delta, sizeof delta / sizeof delta[0]);
	plim_json_end(json);
	plim_json_end(json);
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
