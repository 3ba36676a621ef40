/*
 * idle_threads.c - who woke in a quiet window: the threads of one process, or
 * of every member of a tree, in one ranking.
 *
 * A single process has its two samples in one plim_threads, whose records are
 * those of the figures. Of a tree each member has one of its own, in ascending
 * order of pid, filled right behind the round that found it. A member that was
 * born in the window has only samples of it, so all that its threads have
 * counted is the window's; one that has ended leaves what its threads had
 * counted by the first sample, as a thread that exited does.
 */
#include "observe/idle.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"
#include "observe/tree.h"

#include <assert.h>
#include <string.h>

void plimp_idle_members_clear(plim_idle *idle)
{
	size_t i;

	for (i = 0; i < idle->members.count; i++)
		plim_threads_free(idle->members.items[i].threads);
	idle->members.count = 0;
	idle->waker_count = 0;
	memset(&idle->thread_facts, 0, sizeof idle->thread_facts);
}

/* Where the pid stands, or would stand. */
static size_t member_place(const struct plimp_idle_members *members,
			   int32_t pid)
{
	size_t low = 0;
	size_t high = members->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (members->items[middle].identity.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of several members that had one pid after another the last is found. */
static struct plimp_idle_member *
member_find(const struct plimp_idle_members *members,
	    const plim_identity *identity)
{
	size_t i = member_place(members, identity->pid);

	for (; i < members->count &&
	       members->items[i].identity.pid == identity->pid;
	     i++)
		if (plim_identity_compare(&members->items[i].identity,
					  identity) == PLIM_SAME)
			return &members->items[i];
	return NULL;
}

static int member_add(plim_idle *idle, const plim_process *process,
		      struct plimp_idle_member **member, plim_error *error)
{
	struct plimp_idle_members *members = &idle->members;
	struct plimp_idle_member made = {.identity =
					     plim_process_identity(process)};
	void *items = members->items;
	size_t place = member_place(members, made.identity.pid);
	int code =
	    plimp_reserve(&idle->host->allocator, &items, &members->capacity,
			  members->count + 1, 16, sizeof *members->items);

	members->items = items;
	if (code != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "observe", NULL, NULL);
	code = plim_threads_new(&made.threads, idle->host, error);
	if (code != PLIM_OK)
		return code;
	made.born =
	    idle->facts.samples > 0 &&
	    plimp_tree_is_newborn(plimp_tree_before(idle->tree), process);
	memmove(members->items + place + 1, members->items + place,
		(members->count - place) * sizeof *members->items);
	members->items[place] = made;
	members->count++;
	*member = &members->items[place];
	return PLIM_OK;
}

/* What its threads had counted when the window began. */
static void member_note_first(struct plimp_idle_member *member)
{
	size_t i;

	member->first_threads = (uint32_t)plim_threads_count(member->threads);
	for (i = 0; i < member->first_threads; i++)
		plim_sum_add(&member->first_wakeups,
			     plim_threads_at(member->threads, i)->wakeups);
}

static void member_name(struct plimp_idle_member *member,
			const plim_process *process)
{
	plim_text name = plim_process_text(process, PLIM_FIELD_NAME);

	if (name.state != PLIM_STATE_KNOWN)
		return;
	assert(name.bytes.size <= sizeof member->name);
	member->name_size = (uint8_t)name.bytes.size;
	memcpy(member->name, name.bytes.data, name.bytes.size);
}

static int member_read(plim_idle *idle, struct plimp_idle_member *member,
		       plim_target *target, plim_error *error)
{
	plim_threads_options options = {.size = sizeof options};
	plim_cost cost;
	int code;

	if (idle->facts.samples == 0)
		options.parts =
		    PLIM_THREAD_SWITCHES | PLIM_THREAD_TIMES | PLIM_THREAD_NAME;
	code =
	    member->samples == 0
		? plim_threads_sample(member->threads, target, &options, error)
		: plim_threads_extend(member->threads, target, &options, error);
	if (code != PLIM_OK)
		return code;
	cost = plim_threads_cost(member->threads);
	plimp_cost_add(&idle->cost, &cost);
	if (member->samples++ == 0)
		member_note_first(member);
	member->seen = idle->facts.samples + 1;
	return PLIM_OK;
}

/* What became of one since the round, or is refused of it, is no failure; what
 * is refused is missing in every sum. */
static int member_is_outcome(plim_idle *idle, int code)
{
	switch (code) {
	case PLIM_ENOPROCESS:
	case PLIM_EREPLACED:
		return 1;
	case PLIM_EHIDDEN:
	case PLIM_ECANNOTTELL:
		idle->unread = PLIM_REASON_INVISIBLE;
		return 1;
	/* A recording may hold none. */
	case PLIM_EUNSUPPORTED:
		idle->unread = PLIM_REASON_NO_FILE;
		return 1;
	case PLIM_EDENIED:
		idle->unread = PLIM_REASON_NOT_PERMITTED;
		return 1;
	default:
		return 0;
	}
}

static int member_sample(plim_idle *idle, const plim_process *process,
			 plim_error *error)
{
	plim_identity identity = plim_process_identity(process);
	struct plimp_idle_member *member =
	    member_find(&idle->members, &identity);
	plim_target *target = NULL;
	int code = PLIM_OK;

	if (member == NULL)
		code = member_add(idle, process, &member, error);
	if (code != PLIM_OK)
		return code;
	member_name(member, process);
	/* We are no target of our own: what is read of the root is exact. */
	if (identity.pid != idle->own_pid)
		code = plim_target_open_identity(&target, idle->host, &identity,
						 error);
	if (code == PLIM_OK)
		code = member_read(idle, member, target, error);
	plim_target_close(target);
	return code;
}

int plimp_idle_members_sample(plim_idle *idle, plim_error *error)
{
	size_t own = plimp_idle_own_branch(idle);
	plim_error problem;
	size_t i;

	idle->unread = 0;
	for (i = 0; i < plim_tree_size(idle->tree); i++) {
		int code;

		/* The observer, where it is not the root, is left out. */
		if (i == own && !plimp_idle_is_self(idle))
			continue;
		code = member_sample(idle, plim_tree_at(idle->tree, i)->process,
				     &problem);
		if (code == PLIM_OK || member_is_outcome(idle, code))
			continue;
		if (error != NULL)
			*error = problem;
		return code;
	}
	return PLIM_OK;
}

/* The observing thread is none of those that are told of. */
static int rank_is_observer(const plim_idle *idle, int32_t pid,
			    const plim_thread *thread)
{
	return pid == idle->own_pid && thread->tid == idle->own_end.tid;
}

static void rank_put(plim_idle *idle, int32_t pid, plim_text process,
		     const plim_thread_change *change)
{
	struct plimp_idle_waker *waker = &idle->wakers[idle->waker_count];

	if (rank_is_observer(idle, pid, change->last))
		return;
	assert(idle->waker_count < idle->waker_capacity);
	waker->pid = pid;
	waker->process = process;
	waker->change = *change;
	idle->waker_count++;
}

/* Of a process that was born in the window. */
static plim_thread_change rank_newborn(const plim_thread *thread)
{
	plim_thread_change change = {
	    .last = thread,
	    .born = 1,
	    .wakeups = thread->wakeups,
	    .involuntary = thread->involuntary,
	    .switches_in = thread->switches_in,
	    .cpu_ns = thread->cpu_ns,
	    .runqueue_ns = thread->runqueue_ns,
	    .name = thread->name,
	};

	return change;
}

static void rank_add_real(plim_real *sum, plim_real more)
{
	if (sum->state == PLIM_STATE_KNOWN && more.state == PLIM_STATE_KNOWN)
		sum->value += more.value;
	else if (sum->state == PLIM_STATE_KNOWN)
		*sum = more;
}

/* The sums of several processes: unavailable if one of them lacks it. */
static void rank_add(plim_count *sum, plim_count more)
{
	plim_sum both = {0};

	if (sum->state != PLIM_STATE_KNOWN)
		return;
	if (more.state != PLIM_STATE_KNOWN) {
		*sum = more;
		return;
	}
	if (sum->method != PLIM_METHOD_NONE)
		plim_sum_add(&both, *sum);
	plim_sum_add(&both, more);
	*sum = plim_sum_total(&both);
}

static void rank_facts_begin(plim_threads_facts *facts)
{
	const plim_count none = plim_count_known(0, PLIM_METHOD_NONE);

	memset(facts, 0, sizeof *facts);
	facts->listed_wakeups = none;
	facts->exited_wakeups_at_start = none;
	facts->listed_cpu_ns = none;
	facts->listed_switches_in = none;
	facts->live_total_change = plim_real_known(0, PLIM_METHOD_THREAD_SUM);
	facts->unlisted_cpu_ns =
	    plim_real_known(0, PLIM_METHOD_PROCESS_CPU_CLOCK);
	facts->exited_wakeups_in_window =
	    plim_count_missing(PLIM_REASON_SELF_ONLY, 0);
}

static void rank_facts_add(plim_threads_facts *facts,
			   const plim_threads_facts *more)
{
	facts->first += more->first;
	facts->last += more->last;
	facts->born += more->born;
	facts->exited += more->exited;
	facts->vanished += more->vanished;
	rank_add(&facts->listed_wakeups, more->listed_wakeups);
	rank_add(&facts->exited_wakeups_at_start,
		 more->exited_wakeups_at_start);
	rank_add(&facts->listed_cpu_ns, more->listed_cpu_ns);
	rank_add(&facts->listed_switches_in, more->listed_switches_in);
	rank_add_real(&facts->live_total_change, more->live_total_change);
	rank_add_real(&facts->unlisted_cpu_ns, more->unlisted_cpu_ns);
}

static void rank_add_unknown_total(plim_threads_facts *facts, plim_count count,
				   double sign)
{
	plim_real real = plim_real_of(count);

	real.value *= sign;
	rank_add_real(&facts->live_total_change, real);
}

/* A member that was there at both ends, was born, or has ended. */
static void rank_member(plim_idle *idle, struct plimp_idle_member *member)
{
	plim_threads_facts *facts = &idle->thread_facts;
	const plim_text name = {.bytes = {member->name, member->name_size},
				.state = PLIM_STATE_KNOWN,
				.method = PLIM_METHOD_STAT};
	plim_threads_facts about;
	size_t count;
	size_t i;

	if (member->seen != idle->facts.samples) {
		plim_count first = plim_sum_total(&member->first_wakeups);

		/* Born and ended in the window: it was in no first sample. */
		if (member->born || member->samples == 0)
			return;
		facts->first += member->first_threads;
		facts->exited += member->first_threads;
		rank_add(&facts->exited_wakeups_at_start, first);
		rank_add_unknown_total(facts, first, -1);
		return;
	}
	if (!member->born) {
		about = plim_threads_about(member->threads);
		rank_facts_add(facts, &about);
		for (i = 0; i < plim_threads_changes(member->threads); i++) {
			plim_thread_change change =
			    plim_threads_change(member->threads, i);

			rank_put(idle, member->identity.pid, name, &change);
		}
		return;
	}
	count = plim_threads_count(member->threads);
	facts->last += (uint32_t)count;
	facts->born += (uint32_t)count;
	for (i = 0; i < count; i++) {
		plim_thread_change change =
		    rank_newborn(plim_threads_at(member->threads, i));

		rank_add(&facts->listed_wakeups, change.wakeups);
		rank_add(&facts->listed_cpu_ns, change.cpu_ns);
		rank_add(&facts->listed_switches_in, change.switches_in);
		rank_add_unknown_total(facts, change.wakeups, 1);
		rank_put(idle, member->identity.pid, name, &change);
	}
}

static int rank_order(const struct plimp_idle_waker *a,
		      const struct plimp_idle_waker *b)
{
	int order = plim_count_order(a->change.wakeups, b->change.wakeups, 1);

	if (order == 0)
		order = (a->pid > b->pid) - (a->pid < b->pid);
	if (order == 0)
		order = (a->change.last->tid > b->change.last->tid) -
			(a->change.last->tid < b->change.last->tid);
	return order;
}

static void rank_sift(struct plimp_idle_waker *items, size_t at, size_t count)
{
	struct plimp_idle_waker item = items[at];

	while (2 * at + 1 < count) {
		size_t child = 2 * at + 1;

		if (child + 1 < count &&
		    rank_order(&items[child], &items[child + 1]) < 0)
			child++;
		if (rank_order(&item, &items[child]) >= 0)
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = item;
}

/* A heap sort; the C library's qsort() may allocate. */
static void rank_sort(struct plimp_idle_waker *items, size_t count)
{
	size_t i;

	for (i = count / 2; i-- > 0;)
		rank_sift(items, i, count);
	for (i = count; i-- > 1;) {
		struct plimp_idle_waker last = items[i];

		items[i] = items[0];
		items[0] = last;
		rank_sift(items, 0, i);
	}
}

static int rank_reserve(plim_idle *idle, size_t count, plim_error *error)
{
	void *items = idle->wakers;
	int code =
	    plimp_reserve(&idle->host->allocator, &items, &idle->waker_capacity,
			  count, 64, sizeof *idle->wakers);

	idle->wakers = items;
	if (code != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "observe", NULL, NULL);
	return PLIM_OK;
}

static void rank_process(plim_idle *idle)
{
	plim_text name = plim_process_text(&idle->last.record, PLIM_FIELD_NAME);
	int32_t pid = plim_process_pid(&idle->last.record);
	size_t i;

	idle->thread_facts = plim_threads_about(idle->threads);
	for (i = 0; i < plim_threads_changes(idle->threads); i++) {
		plim_thread_change change =
		    plim_threads_change(idle->threads, i);

		rank_put(idle, pid, name, &change);
	}
}

/* What is refused of a member is missing in every sum. */
static void rank_unread(plim_idle *idle)
{
	plim_threads_facts *facts = &idle->thread_facts;
	const plim_count why = plim_count_missing(idle->unread, 0);

	if (idle->unread == 0)
		return;
	facts->listed_wakeups = why;
	facts->listed_cpu_ns = why;
	facts->listed_switches_in = why;
	facts->live_total_change = plim_real_missing(idle->unread, 0);
	facts->unlisted_cpu_ns = facts->live_total_change;
}

/* Takes the observing thread out of the sums. */
static void rank_without_observer(plim_idle *idle)
{
	plim_threads_facts *facts = &idle->thread_facts;
	const plim_idle_facts *about = &idle->facts;

	if (about->place != PLIM_IDLE_SELF || facts->last == 0)
		return;
	facts->first--;
	facts->last--;
	facts->listed_wakeups =
	    plimp_idle_less(facts->listed_wakeups, about->own_wakeups);
	facts->listed_cpu_ns =
	    plimp_idle_less(facts->listed_cpu_ns, about->own_cpu_ns);
	if (facts->live_total_change.state == PLIM_STATE_KNOWN)
		facts->live_total_change.value -=
		    (double)about->own_wakeups.value;
}

int plimp_idle_rank(plim_idle *idle, plim_error *error)
{
	size_t count = plim_threads_count(idle->threads);
	size_t i;
	int code;

	idle->waker_count = 0;
	memset(&idle->thread_facts, 0, sizeof idle->thread_facts);
	if (idle->facts.samples < 2)
		return PLIM_OK;
	if (idle->options.tree)
		count = 0;
	for (i = 0; i < idle->members.count; i++)
		count += plim_threads_count(idle->members.items[i].threads);
	code = rank_reserve(idle, count, error);
	if (code != PLIM_OK)
		return code;
	if (idle->options.tree) {
		rank_facts_begin(&idle->thread_facts);
		for (i = 0; i < idle->members.count; i++)
			rank_member(idle, &idle->members.items[i]);
		rank_unread(idle);
	} else {
		rank_process(idle);
	}
	rank_without_observer(idle);
	rank_sort(idle->wakers, idle->waker_count);
	return PLIM_OK;
}

size_t plim_idle_thread_count(const plim_idle *idle)
{
	assert(idle != NULL);
	return idle->waker_count;
}

plim_idle_thread plim_idle_thread_at(const plim_idle *idle, size_t rank)
{
	plim_idle_thread thread = {0};

	assert(idle != NULL);
	if (rank >= idle->waker_count)
		return thread;
	thread.pid = idle->wakers[rank].pid;
	thread.process = idle->wakers[rank].process;
	thread.change = idle->wakers[rank].change;
	return thread;
}

plim_threads_facts plim_idle_thread_facts(const plim_idle *idle)
{
	assert(idle != NULL);
	return idle->thread_facts;
}

const plim_threads *plim_idle_threads(const plim_idle *idle)
{
	assert(idle != NULL);
	return idle->options.threads && !idle->options.tree &&
		       idle->facts.samples > 1
		   ? idle->threads
		   : NULL;
}
