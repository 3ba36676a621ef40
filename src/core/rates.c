/*
 * rates.c - what happened to one process between two records of it.
 *
 * Every answer first asks whether the two are of one process; where that is
 * not proven there is no change. Time is CLOCK_MONOTONIC, which stands still
 * while the machine sleeps; how long it slept is the change of the distance
 * between the two clocks of a stamp.
 */
#include <plimsoll/usage.h>

#include "core/fail.h"
#include "core/rates.h"
#include "core/record.h"

#include <assert.h>

/*
 * The clocks of a stamp are read one after the other, so their distance
 * varies by the time between the two reads: some 100 ns, more if the thread
 * was put off its CPU in between. Nothing sleeps and wakes in a millisecond,
 * so less than that is no sleep.
 */
#define RATES_JITTER_NS UINT64_C(1000000)

static uint64_t rates_past(uint64_t first, uint64_t last)
{
	return last > first ? last - first : 0;
}

static uint64_t rates_elapsed(const plim_process *first,
			      const plim_process *last)
{
	return rates_past(first->stamp.monotonic.ns, last->stamp.monotonic.ns);
}

plim_interval plimp_interval(plim_stamp first, plim_stamp last)
{
	uint64_t elapsed = rates_past(first.monotonic.ns, last.monotonic.ns);
	uint64_t boottime = rates_past(first.boottime.ns, last.boottime.ns);
	uint64_t slept = rates_past(elapsed, boottime);

	return (plim_interval){
	    .elapsed_ns = elapsed,
	    .suspended_ns = slept < RATES_JITTER_NS ? 0 : slept,
	};
}

int plim_process_interval(const plim_process *first, const plim_process *last,
			  plim_interval *interval, plim_error *error)
{
	assert(first != NULL && last != NULL && interval != NULL);
	if (first == NULL || last == NULL || interval == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "interval", NULL,
				  NULL);
	switch (plim_identity_compare(&first->identity, &last->identity)) {
	case PLIM_SAME:
		*interval = plimp_interval(first->stamp, last->stamp);
		return PLIM_OK;
	case PLIM_DIFFERENT:
		return plimp_fail(error, PLIM_EUNLIKE, 0, "interval",
				  last->identity_text, "earlier it was %s",
				  first->identity_text);
	default:
		return plimp_fail(error, PLIM_ECANNOTTELL, 0, "interval",
				  last->identity_text, NULL);
	}
}

static int rates_order_threads(const struct plimp_thread *a,
			       const struct plimp_thread *b)
{
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->start_ticks > b->start_ticks) -
	       (a->start_ticks < b->start_ticks);
}

/* NULL for a field that is not summed over threads. */
static const uint64_t *rates_of_thread(const struct plimp_thread *thread,
				       int field)
{
	switch (field) {
	case PLIM_FIELD_WAKEUPS:
		return &thread->voluntary;
	case PLIM_FIELD_INVOLUNTARY:
		return &thread->involuntary;
	case PLIM_FIELD_RUNQUEUE:
		return &thread->runqueue_ns;
	case PLIM_FIELD_BLOCK_IO_DELAY:
		return &thread->block_io_ns;
	default:
		return NULL;
	}
}

uint32_t plimp_threads_ended(const plim_process *first,
			     const plim_process *last)
{
	const struct plimp_threads *now = &last->threads;
	uint32_t ended = 0;
	size_t at = 0;
	size_t i;

	if (!first->threads.known || !now->known)
		return 0;
	for (i = 0; i < first->threads.count; i++) {
		const struct plimp_thread *thread = &first->threads.items[i];

		while (at < now->count &&
		       rates_order_threads(&now->items[at], thread) < 0)
			at++;
		if (at == now->count ||
		    rates_order_threads(&now->items[at], thread) != 0)
			ended++;
	}
	return ended;
}

int plimp_thread_is_newborn(const plim_process *first,
			    const struct plimp_thread *thread)
{
	return thread->start_ticks + 1 >= first->stamp_ticks;
}

int plimp_thread_may_be_other(const plim_process *first,
			      const plim_process *last)
{
	return first->threads.count > 1 && first->image != 0 &&
	       last->image != 0 && first->image != last->image;
}

/*
 * Walks both lists of threads, which ascend by (tid, start), in step. A
 * thread of both adds its change, one that was born since adds all it has,
 * and one that ended adds nothing: what it still did is not known. So are
 * threads that came and went in between, hence "at least"; that is also what
 * a sum is that stopped at 2^64 - 1.
 */
static plim_count rates_thread_change(const plim_process *from,
				      const plim_process *to, int field)
{
	const struct plimp_threads *first = &from->threads;
	const struct plimp_threads *last = &to->threads;
	uint64_t total = 0;
	size_t j = 0;

	if (plimp_thread_may_be_other(from, to))
		return plim_count_missing(PLIM_REASON_OTHER_IMAGE, 0);
	for (size_t i = 0; i < last->count; i++) {
		const struct plimp_thread *thread = &last->items[i];
		uint64_t added = *rates_of_thread(thread, field);
		uint64_t before = 0;

		while (j < first->count &&
		       rates_order_threads(&first->items[j], thread) < 0)
			j++;
		if (j < first->count &&
		    rates_order_threads(&first->items[j], thread) == 0)
			before = *rates_of_thread(&first->items[j], field);
		else if (!plimp_thread_is_newborn(from, thread))
			continue;
		if (added < before)
			return plim_count_missing(PLIM_REASON_WENT_BACK, 0);
		added -= before;
		total = added > UINT64_MAX - total ? UINT64_MAX : total + added;
	}
	return plim_count_bounded(total, to->figures[field].method,
				  PLIM_BOUND_AT_LEAST);
}

static int rates_is_thread_sum(const plim_process *process, int field)
{
	const struct plimp_thread none = {0};
	plim_count figure = plim_process_count(process, field);

	assert(!process->threads.known || plimp_record_is_sound(process));
	return rates_of_thread(&none, field) != NULL &&
	       process->threads.known && figure.state == PLIM_STATE_KNOWN &&
	       (figure.method == PLIM_METHOD_THREAD_SUM ||
		figure.method == PLIM_METHOD_SWITCH_SUM);
}

plim_count plim_process_change(const plim_process *first,
			       const plim_process *last, int field)
{
	const plim_field *row = plim_field_get(field);

	if (row == NULL)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (row->kind != PLIM_KIND_COUNTER)
		return plim_count_missing(PLIM_REASON_NOT_A_RATE, 0);
	if (plim_identity_compare(&first->identity, &last->identity) !=
	    PLIM_SAME)
		return plim_count_missing(PLIM_REASON_OTHER_PROCESS, 0);
	if (rates_is_thread_sum(first, field) &&
	    rates_is_thread_sum(last, field) &&
	    first->figures[field].method == last->figures[field].method)
		return rates_thread_change(first, last, field);
	return plim_counter_change(plim_process_count(first, field),
				   plim_process_count(last, field));
}

plim_real plim_process_rate(const plim_process *first, const plim_process *last,
			    int field)
{
	return plim_change_rate(plim_process_change(first, last, field),
				rates_elapsed(first, last));
}

/* Nanoseconds of CPU per second of time, of which 1e9 are 100 %. */
plim_real plim_process_cpu_percent(const plim_process *first,
				   const plim_process *last)
{
	plim_real rate = plim_process_rate(first, last, PLIM_FIELD_CPU);

	rate.value /= 1e7;
	return rate;
}
