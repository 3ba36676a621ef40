/*
 * accounts.c - differences of the kernel's counters, laid on samples.
 */
#include "profile/accounts.h"

#include <assert.h>

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The clock of a thread's CPU time fires once per period, also where the
 * kernel excludes itself and keeps no sample: then the distance of two samples
 * tells how many of them fell into it. A sample that comes late by less than
 * half a period is one.
 */
uint64_t plimp_account_running(struct plimp_account *account,
			       const struct plimp_sampling *sampling,
			       uint64_t cpu_ns, uint64_t *lost)
{
	uint64_t period = sampling->period_ns;
	uint64_t weight = period;
	uint64_t missed = 0;
	uint64_t mine;

	assert(period > 0);
	if (cpu_ns > account->event_cpu) {
		weight = cpu_ns - account->event_cpu;
		account->event_cpu = cpu_ns;
		missed = (weight + period / 2) / period;
		missed = missed > 0 ? missed - 1 : 0;
		if (sampling->kernel_seen)
			missed = least(missed, *lost);
		if (weight < missed * period)
			missed = weight / period;
	} else if (cpu_ns != 0 && account->event_cpu - cpu_ns > 16 * period) {
		account->event_cpu = cpu_ns; /* another counter, after exec */
	} else if (cpu_ns != 0) {
		weight = 0; /* told late, behind a newer one */
	}
	mine = least(missed, *lost);
	*lost -= mine;
	account->lost_ns += mine * period;
	account->kernel_ns += (missed - mine) * period;
	weight -= missed * period;
	account->sampled_ns += weight;
	return weight;
}

uint64_t plimp_account_look(struct plimp_account *account, uint64_t time_ns,
			    uint64_t cpu_ns, uint64_t wait_ns, int blocked)
{
	uint64_t weight;

	if (!account->has_first) {
		account->has_first = 1;
		account->first_cpu = cpu_ns;
		account->first_wait = wait_ns;
		account->last_ns = time_ns;
		account->last_cpu = cpu_ns;
		account->last_wait = wait_ns;
		if (account->begin_ns == 0)
			account->begin_ns = time_ns;
		return 0;
	}
	if (time_ns <= account->last_ns || cpu_ns < account->last_cpu ||
	    wait_ns < account->last_wait)
		return 0;
	/* Each is below 2^63: nanoseconds of one session. */
	account->balance += (int64_t)(time_ns - account->last_ns) -
			    (int64_t)(cpu_ns - account->last_cpu) -
			    (int64_t)(wait_ns - account->last_wait);
	account->last_ns = time_ns;
	account->last_cpu = cpu_ns;
	account->last_wait = wait_ns;
	if (!blocked || account->balance <= 0)
		return 0;
	weight = (uint64_t)account->balance;
	account->balance = 0;
	account->blocked_ns += weight;
	return weight;
}

/* What of the CPU time no sample stands for, in parts. */
static void settle_cpu(const struct plimp_account *account,
		       const struct plimp_sampling *sampling,
		       plim_profile_times *times)
{
	uint64_t rest;
	uint64_t tail = 0;

	times->sampled_ns = account->sampled_ns;
	if (times->cpu_ns < account->sampled_ns)
		times->cpu_ns = account->sampled_ns;
	rest = times->cpu_ns - account->sampled_ns;
	times->system_ns = least(rest, account->kernel_ns);
	rest -= times->system_ns;
	/* Behind the last sample: whole periods were in the kernel, too. */
	if (!sampling->kernel_seen && !account->has_gaps &&
	    rest > account->lost_ns)
		tail = rest - account->lost_ns;
	tail -= tail % sampling->period_ns;
	times->system_ns += tail;
	times->unsampled_ns = rest - tail;
}

struct plimp_settlement
plimp_account_settle(const struct plimp_account *account,
		     const struct plimp_sampling *sampling, uint64_t end_ns)
{
	struct plimp_settlement settled = {0};
	plim_profile_times *times = &settled.times;
	uint64_t looked = account->last_cpu - account->first_cpu;

	if (account->end_ns != 0 && account->end_ns < end_ns)
		end_ns = account->end_ns;
	if (account->event_end > account->event_base)
		times->cpu_ns = account->event_end - account->event_base;
	if (times->cpu_ns < looked)
		times->cpu_ns = looked;
	settle_cpu(account, sampling, times);
	if (account->begin_ns != 0 && end_ns > account->begin_ns)
		times->wall_ns = end_ns - account->begin_ns;
	if (times->wall_ns < times->cpu_ns)
		times->wall_ns = times->cpu_ns;
	/* A running thread's counters lag; the clock does not. */
	times->waiting_ns = least(account->last_wait - account->first_wait,
				  times->wall_ns - times->cpu_ns);
	times->blocked_ns = times->wall_ns - times->cpu_ns - times->waiting_ns;
	if (times->blocked_ns > account->blocked_ns)
		settled.blocked_unknown_ns =
		    times->blocked_ns - account->blocked_ns;
	else
		settled.blocked_debt_ns =
		    account->blocked_ns - times->blocked_ns;
	return settled;
}
