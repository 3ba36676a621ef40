/*
 * threads_change.c - what each thread did between two samples, in order, and
 * the sums over them.
 *
 * Both lists ascend by (tid, start) and are walked in step: a thread of both
 * makes a pair, one of the last alone was born in the window, one of the first
 * alone exited. The sums are strict: one thread that lacks a figure leaves
 * nothing to be said of all. Nothing here reads a system or needs memory.
 */
#include "observe/threads.h"

#include "core/rates.h"

#include <assert.h>
#include <string.h>

/* A figure of a thread by its place: the five that change. */
enum change_figure {
	CHANGE_WAKEUPS,
	CHANGE_INVOLUNTARY,
	CHANGE_SWITCHES_IN,
	CHANGE_CPU,
	CHANGE_RUNQUEUE
};

static plim_count change_figure_of(const plim_thread *thread, int figure)
{
	switch (figure) {
	case CHANGE_WAKEUPS:
		return thread->wakeups;
	case CHANGE_INVOLUNTARY:
		return thread->involuntary;
	case CHANGE_SWITCHES_IN:
		return thread->switches_in;
	case CHANGE_CPU:
		return thread->cpu_ns;
	default:
		return thread->runqueue_ns;
	}
}

static plim_count change_of(const struct plimp_threads_pair *pair, int figure)
{
	if (pair->last == NULL)
		return plim_count_missing(PLIM_REASON_THREAD_ENDED, 0);
	if (pair->other)
		return plim_count_missing(PLIM_REASON_OTHER_IMAGE, 0);
	if (pair->born)
		return change_figure_of(pair->last, figure);
	if (pair->first == NULL)
		return plim_count_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	return plim_counter_change(change_figure_of(pair->first, figure),
				   change_figure_of(pair->last, figure));
}

static int change_order_threads(const struct plimp_thread *a,
				const struct plimp_thread *b)
{
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return (a->start_ticks > b->start_ticks) -
	       (a->start_ticks < b->start_ticks);
}

static void change_exited(plim_threads *threads, size_t from, size_t to)
{
	const struct plimp_threads_side *first =
	    &threads->sides[threads->first];

	for (; from < to; from++)
		threads
		    ->pairs[threads->change_count + threads->exited_count++] =
		    (struct plimp_threads_pair){.first = &first->shown[from]};
}

/* The pairs of the last sample, in the order of its list. Where those that
 * exited will stand is known: behind as many as the last sample has. */
static void change_pair(plim_threads *threads)
{
	const struct plimp_threads_side *first =
	    &threads->sides[threads->first];
	const struct plimp_threads_side *last = &threads->sides[threads->last];
	const int other =
	    plimp_thread_may_be_other(&first->record, &last->record);
	size_t at = 0;
	size_t i;

	threads->change_count = last->list.count;
	threads->exited_count = 0;
	for (i = 0; i < last->list.count; i++) {
		const struct plimp_thread *thread = &last->list.items[i];
		struct plimp_threads_pair *pair = &threads->pairs[i];
		size_t skipped = at;

		while (at < first->list.count &&
		       change_order_threads(&first->list.items[at], thread) < 0)
			at++;
		change_exited(threads, skipped, at);
		*pair = (struct plimp_threads_pair){.last = &last->shown[i]};
		if (at < first->list.count &&
		    change_order_threads(&first->list.items[at], thread) == 0) {
			pair->first = &first->shown[at++];
			pair->other = other && pair->last->is_main;
		} else {
			pair->born =
			    plimp_thread_is_newborn(&first->record, thread);
		}
		pair->wakeups = change_of(pair, CHANGE_WAKEUPS);
	}
	change_exited(threads, at, first->list.count);
}

/* Most wake-ups first, unknown last, then by tid and start. */
static int change_before(const struct plimp_threads_pair *a,
			 const struct plimp_threads_pair *b)
{
	const int a_known = a->wakeups.state == PLIM_STATE_KNOWN;
	const int b_known = b->wakeups.state == PLIM_STATE_KNOWN;

	if (a_known != b_known)
		return a_known;
	if (a_known && a->wakeups.value != b->wakeups.value)
		return a->wakeups.value > b->wakeups.value;
	if (a->last->tid != b->last->tid)
		return a->last->tid < b->last->tid;
	return a->last->start_ticks.value < b->last->start_ticks.value;
}

static void change_sift(struct plimp_threads_pair *pairs, size_t root,
			size_t count)
{
	struct plimp_threads_pair moved = pairs[root];
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count &&
		    change_before(&pairs[child], &pairs[child + 1]))
			child++;
		if (!change_before(&moved, &pairs[child]))
			break;
		pairs[root] = pairs[child];
		root = child;
	}
	pairs[root] = moved;
}

/* A heap sort, since qsort() may allocate. */
static void change_sort(struct plimp_threads_pair *pairs, size_t count)
{
	size_t at = 1;

	/* Where nobody wakes they are in order already. */
	while (at < count && !change_before(&pairs[at], &pairs[at - 1]))
		at++;
	if (at >= count)
		return;
	for (at = count / 2; at > 0; at--)
		change_sift(pairs, at - 1, count);
	for (at = count; at > 1; at--) {
		struct plimp_threads_pair last = pairs[at - 1];

		pairs[at - 1] = pairs[0];
		pairs[0] = last;
		change_sift(pairs, 0, at - 1);
	}
}

/* A sum that one missing member takes away. Starts from a known 0. */
static void change_add(plim_count *sum, plim_count member)
{
	if (sum->state != PLIM_STATE_KNOWN)
		return;
	if (member.state != PLIM_STATE_KNOWN) {
		*sum = member;
		return;
	}
	if (sum->method != PLIM_METHOD_THREAD_SUM &&
	    sum->method != member.method)
		member.method = PLIM_METHOD_MIXED;
	if (member.value > UINT64_MAX - sum->value) {
		sum->value = UINT64_MAX;
		sum->bound = PLIM_BOUND_AT_LEAST;
	} else {
		sum->value += member.value;
	}
	if (member.bound != PLIM_BOUND_EXACT)
		sum->bound = member.bound;
	sum->method = member.method;
}

static plim_count change_sum(const plim_threads *threads, int figure)
{
	plim_count sum = plimp_known(0, PLIM_METHOD_THREAD_SUM);
	size_t i;

	for (i = 0; i < threads->change_count; i++)
		change_add(&sum, change_of(&threads->pairs[i], figure));
	return sum;
}

/* Wake-ups of all threads of a sample. */
static plim_count change_total(const struct plimp_threads_side *side)
{
	plim_count sum = plimp_known(0, PLIM_METHOD_THREAD_SUM);
	size_t i;

	for (i = 0; i < side->list.count; i++)
		change_add(&sum, side->shown[i].wakeups);
	return sum;
}

/*
 * The process's own count was read before and after its threads: had nothing
 * switched meanwhile the two are one. From the first one before to the last
 * one after is the most that can have been added, from the first after to the
 * last before the least.
 */
static plim_count change_in_window(const plim_threads *threads,
				   plim_count listed)
{
	const plim_process *first = &threads->sides[threads->first].record;
	const plim_process *last = &threads->sides[threads->last].record;
	const plim_count figures[] = {
	    listed,
	    first->threads.wakeups_after,
	    last->threads.wakeups_after,
	    plim_process_count(first, PLIM_FIELD_WAKEUPS),
	    plim_process_count(last, PLIM_FIELD_WAKEUPS),
	};
	uint64_t least;
	uint64_t most;
	size_t i;

	for (i = 0; i < sizeof figures / sizeof figures[0]; i++) {
		if (figures[i].state == PLIM_STATE_UNREAD)
			return plim_count_missing(PLIM_REASON_SELF_ONLY, 0);
		if (figures[i].state != PLIM_STATE_KNOWN)
			return figures[i];
	}
	most = figures[2].value - figures[3].value;
	least = figures[4].value - figures[1].value;
	if (figures[2].value < figures[3].value || most < listed.value)
		return plim_count_missing(PLIM_REASON_WENT_BACK, 0);
	if (figures[4].value < figures[1].value || least < listed.value)
		least = listed.value;
	return plim_count_bounded(least - listed.value, PLIM_METHOD_GETRUSAGE,
				  least == most ? PLIM_BOUND_EXACT
						: PLIM_BOUND_AT_LEAST);
}

static plim_real change_unlisted_cpu(const plim_threads *threads,
				     plim_count listed)
{
	plim_count whole = plim_process_change(
	    &threads->sides[threads->first].record,
	    &threads->sides[threads->last].record, PLIM_FIELD_CPU);

	if (listed.state != PLIM_STATE_KNOWN)
		return plim_real_of(listed);
	if (whole.state != PLIM_STATE_KNOWN)
		return plim_real_of(whole);
	return plim_real_known(plim_real_of(whole).value -
				   plim_real_of(listed).value,
			       PLIM_METHOD_MIXED);
}

static void change_sum_up(plim_threads *threads)
{
	plim_threads_facts *facts = &threads->facts;
	size_t i;

	facts->first = (uint32_t)threads->sides[threads->first].list.count;
	facts->exited = (uint32_t)threads->exited_count;
	facts->exited_wakeups_at_start = plimp_known(0, PLIM_METHOD_THREAD_SUM);
	for (i = 0; i < threads->exited_count; i++)
		change_add(
		    &facts->exited_wakeups_at_start,
		    threads->pairs[threads->change_count + i].first->wakeups);
	for (i = 0; i < threads->change_count; i++)
		facts->born += (uint32_t)threads->pairs[i].born;
	facts->listed_wakeups = change_sum(threads, CHANGE_WAKEUPS);
	facts->listed_cpu_ns = change_sum(threads, CHANGE_CPU);
	facts->listed_switches_in = change_sum(threads, CHANGE_SWITCHES_IN);
	facts->live_total_change =
	    plim_gauge_change(change_total(&threads->sides[threads->first]),
			      change_total(&threads->sides[threads->last]));
	facts->exited_wakeups_in_window =
	    change_in_window(threads, facts->listed_wakeups);
	facts->unlisted_cpu_ns =
	    change_unlisted_cpu(threads, facts->listed_cpu_ns);
}

static void change_pending(plim_threads_facts *facts)
{
	const plim_count pending =
	    plim_count_missing(PLIM_REASON_FIRST_SAMPLE, 0);

	facts->listed_wakeups = pending;
	facts->exited_wakeups_at_start = pending;
	facts->live_total_change = plim_real_of(pending);
	facts->exited_wakeups_in_window = pending;
	facts->listed_cpu_ns = pending;
	facts->unlisted_cpu_ns = plim_real_of(pending);
	facts->listed_switches_in = pending;
}

void plimp_threads_pair(plim_threads *threads)
{
	const struct plimp_threads_side *last = &threads->sides[threads->last];
	plim_threads_facts *facts = &threads->facts;

	assert(threads->samples > 0);
	memset(facts, 0, sizeof *facts);
	facts->last = (uint32_t)last->list.count;
	facts->vanished = last->record.threads.vanished;
	threads->change_count = 0;
	threads->exited_count = 0;
	if (threads->samples < 2) {
		change_pending(facts);
		return;
	}
	change_pair(threads);
	change_sort(threads->pairs, threads->change_count);
	change_sum_up(threads);
}

size_t plim_threads_changes(const plim_threads *threads)
{
	assert(threads != NULL);
	return threads->change_count;
}

size_t plim_threads_exited(const plim_threads *threads)
{
	assert(threads != NULL);
	return threads->exited_count;
}

static plim_thread_change change_shown(const struct plimp_threads_pair *pair)
{
	const plim_thread *last = pair->last != NULL ? pair->last : pair->first;
	plim_thread_change change = {
	    .last = last,
	    .born = pair->born,
	    .exited = pair->last == NULL,
	    .wakeups = change_of(pair, CHANGE_WAKEUPS),
	    .involuntary = change_of(pair, CHANGE_INVOLUNTARY),
	    .switches_in = change_of(pair, CHANGE_SWITCHES_IN),
	    .cpu_ns = change_of(pair, CHANGE_CPU),
	    .runqueue_ns = change_of(pair, CHANGE_RUNQUEUE),
	    .name = last->name,
	};

	if (change.name.state != PLIM_STATE_KNOWN && pair->first != NULL &&
	    pair->first->name.state == PLIM_STATE_KNOWN)
		change.name = pair->first->name;
	return change;
}

plim_thread_change plim_threads_change(const plim_threads *threads, size_t rank)
{
	assert(threads != NULL);
	if (rank >= threads->change_count)
		return (plim_thread_change){.last = NULL};
	return change_shown(&threads->pairs[rank]);
}

plim_thread_change plim_threads_exited_at(const plim_threads *threads,
					  size_t index)
{
	assert(threads != NULL);
	if (index >= threads->exited_count)
		return (plim_thread_change){.last = NULL};
	return change_shown(&threads->pairs[threads->change_count + index]);
}

plim_threads_facts plim_threads_about(const plim_threads *threads)
{
	plim_threads_facts facts;

	assert(threads != NULL);
	facts = threads->facts;
	if (threads->samples == 0)
		change_pending(&facts);
	return facts;
}
