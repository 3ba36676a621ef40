/*
 * finish.c - the end of a session: every thread's time is settled, so that
 * CPU, waiting and blocked are its wall time to the nanosecond, and what is on
 * no stack gets a row of its own.
 */
#include "profile/session.h"

#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

/* The row of CPU time in the kernel is as sure as the samples that fell there,
 * of which each stands for a period. */
static int finish_specials(plim_profile *profile, uint32_t thread,
			   const struct plimp_settlement *settled)
{
	const plim_profile_times *times = &settled->times;
	struct plimp_store *store = &profile->store;
	int code = PLIM_OK;

	if (times->system_ns > 0)
		code = plimp_store_special(
		    store, thread, PLIM_ACTIVITY_RUNNING, PLIM_SPECIAL_SYSTEM,
		    times->system_ns,
		    (double)times->system_ns *
			(double)profile->sampling.period_ns);
	if (code == PLIM_OK && times->unsampled_ns > 0)
		code = plimp_store_special(store, thread, PLIM_ACTIVITY_RUNNING,
					   PLIM_SPECIAL_UNSAMPLED,
					   times->unsampled_ns, 0);
	if (code == PLIM_OK && times->waiting_ns > 0)
		code = plimp_store_special(store, thread, PLIM_ACTIVITY_WAITING,
					   PLIM_SPECIAL_WAITING,
					   times->waiting_ns, 0);
	if (code == PLIM_OK && settled->blocked_unknown_ns > 0)
		code = plimp_store_special(store, thread, PLIM_ACTIVITY_BLOCKED,
					   PLIM_SPECIAL_BLOCKED,
					   settled->blocked_unknown_ns, 0);
	return code;
}

static void times_add(plim_profile_times *total, const plim_profile_times *part)
{
	total->wall_ns += part->wall_ns;
	total->cpu_ns += part->cpu_ns;
	total->waiting_ns += part->waiting_ns;
	total->blocked_ns += part->blocked_ns;
	total->sampled_ns += part->sampled_ns;
	total->system_ns += part->system_ns;
	total->unsampled_ns += part->unsampled_ns;
}

static uint64_t pay(uint64_t *debt, uint64_t *from)
{
	uint64_t paid = *debt < *from ? *debt : *from;

	*debt -= paid;
	*from -= paid;
	return paid;
}

/* What was given to blocked samples too much is taken back: first from time
 * without a stack, then from the last samples. `debts` is by thread. */
static void finish_debts(struct plimp_store *store, uint64_t *debts)
{
	for (size_t i = 0; i < store->stacks.count; i++) {
		plim_profile_stack *stack =
		    plimp_store_stack(store, (uint32_t)i);

		if (stack->is_counted &&
		    stack->activity == PLIM_ACTIVITY_BLOCKED)
			pay(&debts[stack->thread], &stack->weight_ns);
	}
	for (size_t i = store->samples.count; i-- > 0;) {
		plim_profile_sample *sample =
		    plimp_store_sample(store, (uint32_t)i);
		plim_profile_stack *stack =
		    plimp_store_stack(store, sample->stack);

		if (stack->activity == PLIM_ACTIVITY_BLOCKED)
			stack->weight_ns -=
			    pay(&debts[stack->thread], &sample->weight_ns);
	}
}

static int finish_tasks(plim_profile *profile, uint64_t end_ns, uint64_t *debts)
{
	int code = PLIM_OK;

	for (size_t i = 0; i < profile->task_count && code == PLIM_OK; i++) {
		struct plimp_task *task = profile->tasks + i;
		struct plimp_settlement settled = plimp_account_settle(
		    &task->account, &profile->sampling, end_ns);

		plimp_store_thread(&profile->store, task->thread)->times =
		    settled.times;
		times_add(&profile->total, &settled.times);
		debts[task->thread] = settled.blocked_debt_ns;
		profile->metrics[PLIM_METRIC_UNSEEN] +=
		    settled.times.system_ns / profile->sampling.period_ns;
		code = finish_specials(profile, task->thread, &settled);
	}
	return code;
}

/* Samples come in the order of time but for some that were told late: merged
 * from runs that are in order, so that most of the time it is one look. */
static void samples_merge(const plim_profile_sample *from,
			  plim_profile_sample *to, size_t first, size_t middle,
			  size_t end)
{
	size_t left = first;
	size_t right = middle;

	for (size_t i = first; i < end; i++) {
		int take_right =
		    left == middle ||
		    (right < end && from[right].time_ns < from[left].time_ns);

		to[i] = take_right ? from[right++] : from[left++];
	}
}

static int samples_in_order(const plim_profile_sample *samples, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (samples[i].time_ns < samples[i - 1].time_ns)
			return 0;
	}
	return 1;
}

static int finish_samples(struct plimp_store *store)
{
	plim_profile_sample *from = store->samples.items;
	size_t count = store->samples.count;
	plim_profile_sample *to;
	plim_profile_sample *room;

	if (samples_in_order(from, count))
		return PLIM_OK;
	room = plimp_allocate(&store->allocator, count, sizeof(*room));
	if (room == NULL)
		return PLIM_ENOMEM;
	to = room;
	for (size_t width = 1; width < count; width *= 2) {
		plim_profile_sample *swapped = from;

		for (size_t i = 0; i < count; i += 2 * width)
			samples_merge(
			    from, to, i, i + width < count ? i + width : count,
			    i + 2 * width < count ? i + 2 * width : count);
		from = to;
		to = swapped;
	}
	if (from == room)
		memcpy(to, from, count * sizeof(*room));
	plimp_release(&store->allocator, room, count, sizeof(*room));
	return PLIM_OK;
}

static int finish_accounts(plim_profile *profile, uint64_t end_ns)
{
	const plim_allocator *allocator = &profile->host->allocator;
	size_t count = profile->store.threads.count;
	uint64_t *debts;
	int code;

	if (count == 0)
		return PLIM_OK;
	debts = plimp_allocate(allocator, count, sizeof(*debts));
	if (debts == NULL)
		return PLIM_ENOMEM;
	code = finish_tasks(profile, end_ns, debts);
	if (code == PLIM_OK)
		finish_debts(&profile->store, debts);
	plimp_release(allocator, debts, count, sizeof(*debts));
	return code;
}

/* Names of jitted code are in a file that may go with the process. It is by
 * the pid, so that another image which has that pid now has the file, too. */
int plimp_finish_namers(plim_profile *profile)
{
	uint32_t flags = profile->request.flags & PLIM_PROFILE_NO_LINES
			     ? 0
			     : PLIMP_NAMER_LINES;

	for (size_t i = 0; i < profile->image_count; i++) {
		struct plimp_program *image = profile->images + i;
		int code;

		if (image->modules == NULL || image->namer != NULL)
			continue;
		code =
		    plimp_namer_open(&image->namer, profile->host, image->lens,
				     image->modules, flags, NULL);
		if (code == PLIM_ENOMEM)
			return code;
		if (code == PLIM_OK &&
		    !plimp_program_has_followed(profile, image) &&
		    plimp_namer_refresh(image->namer, NULL) == PLIM_ENOMEM)
			return PLIM_ENOMEM;
	}
	return PLIM_OK;
}

/* A target that has ended has no tiers any more: what they were then counts. */
/* The tiers as they were while there was a thread: at the end of the target
 * none is covered any more, but what works still says so. */
static void finish_tiers(plim_profile *profile)
{
	struct plimp_tiers before = profile->tiers;
	struct plimp_tiers *tiers = &profile->tiers;

	*tiers = plimp_system_sampler_tiers(profile->sampler);
	/* Of a target that has ended, its first thread may still be listed. */
	if (profile->facts.end == PLIM_PROFILE_END_TARGET) {
		tiers->threads_covered = before.threads_covered;
		tiers->threads_present = before.threads_present;
	}
	if (before.running == PLIMP_TIER_PERF_SIGNAL ||
	    before.running == PLIMP_TIER_CPU_TIMER ||
	    before.running == PLIMP_TIER_THREAD_SIGNAL ||
	    before.running == PLIMP_TIER_SUSPEND) {
		tiers->running = before.running;
		return;
	}
	if (tiers->running == PLIMP_TIER_NONE &&
	    profile->metrics[PLIM_METRIC_RUNNING] > 0) {
		tiers->running = profile->bill.stops > 0 ? PLIMP_TIER_PTRACE
							 : PLIMP_TIER_PERF;
		tiers->perf = before.perf;
		tiers->ptrace = before.ptrace;
	}
	if (tiers->running == PLIMP_TIER_NONE &&
	    tiers->perf.state == PLIM_STATE_KNOWN)
		tiers->running = PLIMP_TIER_PERF;
	if (tiers->sleeping == PLIMP_TIER_NONE &&
	    profile->metrics[PLIM_METRIC_BLOCKED] > 0) {
		tiers->sleeping = PLIMP_TIER_NO_STOP;
		tiers->no_stop = before.no_stop;
	}
	if (tiers->sleeping == PLIMP_TIER_NONE &&
	    tiers->no_stop.state == PLIM_STATE_KNOWN)
		tiers->sleeping = PLIMP_TIER_NO_STOP;
}

static int finish_sampler(plim_profile *profile, plim_error *error)
{
	int code = PLIM_OK;

	if (profile->facts.end != PLIM_PROFILE_END_FULL)
		code = plimp_system_sampler_drain(profile->sampler, plimp_take,
						  profile, error);
	/* Full at the last moment is full all the same. */
	if (profile->store.is_full) {
		profile->facts.end = PLIM_PROFILE_END_FULL;
		profile->code = PLIM_OK;
	}
	profile->store.limit = 0;
	profile->store.is_full = 0;
	profile->is_settling = 1;
	if (code == PLIM_OK)
		code = plimp_system_sampler_totals(
		    profile->sampler, plimp_take_total, profile, error);
	profile->bill = plimp_system_sampler_bill(profile->sampler);
	finish_tiers(profile);
	return code;
}

int plimp_finish(plim_profile *profile, uint64_t end_ns, plim_error *error)
{
	int code = finish_sampler(profile, error);

	if (code != PLIM_OK)
		return code;
	profile->facts.duration_ns = end_ns - profile->facts.start_ns;
	profile->facts.kernel_seen = profile->tiers.kernel_seen;
	code = profile->code;
	if (code == PLIM_OK)
		code = finish_accounts(profile, end_ns);
	if (code == PLIM_OK)
		code = plimp_rest_add(profile);
	if (code == PLIM_OK)
		code = finish_samples(&profile->store);
	if (code == PLIM_OK)
		code = plimp_finish_namers(profile);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	plimp_programs_finish(profile);
	code = plimp_naming_plain(&profile->store);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "profile", NULL, NULL);
	plimp_metrics_finish(profile);
	plimp_tiers_tell(profile);
	return PLIM_OK;
}
