/*
 * sampler_sources.c - what running threads are sampled by: which of the ways to
 * do it are there, which is the best one, and why the better ones are not.
 *
 * What this kernel can do is asked by opening events on ourselves, which needs
 * no right to look at anybody; what is refused after that is refused for the
 * target. From outside that is all. In our own process (PLIMP_SAMPLER_INSIDE)
 * events send signals, else they have rings; where events are refused timers
 * signal, and last the session thread itself (docs/design/inside.md). What is
 * asked for by name, a preloaded object or the classic way, is taken alone.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/inside.h"
#include "host/linux/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/resource.h>

#define SOURCES_DESCRIPTORS ((size_t)1 << 20)
#define SOURCES_SPARE	    16u

/* Would such events be opened? 0, or the error. */
static int sources_try(struct plimp_sampler *sampler)
{
	struct perf_event_attr attr = plimp_events_attr(sampler);
	int descriptor =
	    plimp_events_open(sampler, &attr, 0, sampler->rings[0].cpu);

	if (descriptor < 0)
		return errno;
	plimp_call_close(sampler->host, descriptor);
	return 0;
}

/* The kernel does not know what was asked for. */
static int sources_lacks(int problem)
{
	return problem == EINVAL || problem == E2BIG;
}

/*
 * What to ask for: samples in the kernel where that is allowed, counts in
 * inherited events (6.13) or without, what is lost (6.0) or not, inheritance
 * by threads alone (5.13) or by nobody. 0, or the error of the least.
 */
static int sources_probe(struct plimp_sampler *sampler)
{
	const uint32_t flags = sampler->options.flags;
	int inherits = (flags & PLIMP_SAMPLER_FOLLOW) != 0
			   ? PLIMP_INHERIT_ALL
			   : PLIMP_INHERIT_THREADS;
	int problem;

	/* Beside signals: for single threads, and of what those see. */
	if ((flags & PLIMP_SAMPLER_NO_INHERIT) != 0 || sampler->is_alone ||
	    sampler->options.tid_count > 0 || sampler->inside != NULL)
		inherits = 0;
	sampler->inherits = inherits;
	sampler->has_kernel = sampler->inside == NULL;
	sampler->layout.has_count = sampler->event == PLIMP_EVENT_TASK_CLOCK;
	sampler->layout.has_lost = 1;
	problem = sources_try(sampler);
	if (problem == EACCES || problem == EPERM) {
		sampler->has_kernel = 0;
		problem = sources_try(sampler);
	}
	if (sources_lacks(problem) && inherits != 0 &&
	    sampler->layout.has_count) {
		sampler->layout.has_count = 0;
		problem = sources_try(sampler);
	}
	if (sources_lacks(problem)) {
		sampler->layout.has_lost = 0;
		problem = sources_try(sampler);
	}
	if (sources_lacks(problem) && inherits != 0) {
		sampler->inherits = 0;
		sampler->layout.has_count =
		    sampler->event == PLIMP_EVENT_TASK_CLOCK;
		problem = sources_try(sampler);
	}
	return problem;
}

/* What an error of opening on ourselves says of the whole. */
static void sources_refused(struct plimp_sampler *sampler, int problem)
{
	struct plimp_tiers *tiers = &sampler->tiers;
	int reason = PLIM_REASON_PERF_LACKS;

	tiers->perf_remedy = "";
	if (problem == EACCES || problem == EPERM) {
		reason = PLIM_REASON_PERF_REFUSED;
		tiers->perf_remedy =
		    "sysctl kernel.perf_event_paranoid=2, or allow "
		    "perf_event_open in the container";
	} else if (problem == ENOBUFS || problem == ENOMEM) {
		reason = PLIM_REASON_PERF_MEMORY;
		tiers->perf_remedy =
		    "end other profilers, or raise RLIMIT_MEMLOCK or sysctl "
		    "kernel.perf_event_mlock_kb";
	} else if (plimp_is_starved(problem)) {
		reason = PLIM_REASON_TOO_MANY_DESCRIPTORS;
		tiers->perf_remedy =
		    "raise the limit of open files (ulimit -n)";
	}
	tiers->perf = plim_count_missing(reason, problem);
}

void plimp_sources_denied(struct plimp_sampler *sampler, int problem)
{
	if (problem != EACCES && problem != EPERM) {
		sources_refused(sampler, problem);
		return;
	}
	sampler->tiers.perf = plim_count_missing(PLIM_REASON_NO_TRACE, problem);
	sampler->tiers.perf_remedy =
	    "run it as the target's user; for kernel.yama.ptrace_scope 1 let "
	    "plim start the program, or let it call plim_allow_attach()";
}

/* Of the descriptors that are free, as the newest one tells, half may be
 * events and a quarter files of threads; the caller has the rest. Where that
 * is too little for one event per thread and CPU, three quarters may be, one
 * per thread. */
static void sources_budget(struct plimp_sampler *sampler, size_t threads)
{
	size_t used = (size_t)sampler->stop + 1 + SOURCES_SPARE;
	size_t most = 1024;
	struct rlimit limit;

	sampler->host->bill.system_calls++;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
		most = limit.rlim_cur > SOURCES_DESCRIPTORS
			   ? SOURCES_DESCRIPTORS
			   : (size_t)limit.rlim_cur;
	most = most > used ? most - used : 0;
	sampler->event_limit = most / 2;
	sampler->file_limit = most / 4;
	if (sampler->cpu_count < 2 ||
	    threads <= sampler->event_limit / sampler->cpu_count)
		return;
	sampler->is_alone = 1;
	sampler->event_limit = most - most / 4;
	sampler->file_limit = most / 8;
}

static int sources_setup(struct plimp_sampler *sampler, size_t threads)
{
	int problem = sources_probe(sampler);

	if (problem != 0 && sampler->event == PLIMP_EVENT_CYCLES) {
		sampler->event = PLIMP_EVENT_TASK_CLOCK;
		problem = sources_probe(sampler);
	}
	if (problem == 0 && !sampler->is_alone)
		problem = plimp_rings_open(sampler);
	/* Also for those that are born when no more than that is left. */
	if (problem == 0)
		problem =
		    plimp_rings_share(sampler, sampler->is_alone ? threads : 0);
	return problem;
}

static void sources_are_better(struct plimp_sampler *sampler)
{
	sampler->tiers.timer = plim_count_missing(PLIM_REASON_BETTER_SOURCE, 0);
	sampler->tiers.tick = sampler->tiers.timer;
}

/* No events: by timers, or by a signal to each thread that runs. */
static void sources_lower(struct plimp_sampler *sampler)
{
	struct plimp_tiers *tiers = &sampler->tiers;
	int way = PLIMP_INSIDE_TIMERS;
	int problem;

	if ((sampler->options.flags & PLIMP_SAMPLER_INSIDE) == 0)
		return;
	if (plimp_timers_begin(sampler))
		tiers->tick = plim_count_missing(PLIM_REASON_BETTER_SOURCE, 0);
	else if (plimp_ticks_begin(sampler))
		way = PLIMP_INSIDE_TICKS;
	else
		return;
	problem = plimp_inside_begin(sampler, way);
	if (problem == 0)
		return;
	tiers->timer =
	    plim_count_missing(problem == EBUSY ? PLIM_REASON_SIGNAL_TAKEN
						: PLIM_REASON_READ_FAILED,
			       problem == EBUSY ? 0 : problem);
	tiers->timer_remedy =
	    problem == EBUSY ? "leave SIGURG alone while it samples" : "";
	tiers->tick = tiers->timer;
	tiers->tick_remedy = tiers->timer_remedy;
}

/* What is asked for by name: nothing else is tried. */
static void sources_suspend(struct plimp_sampler *sampler)
{
	struct plimp_tiers *tiers = &sampler->tiers;
	int problem;

	tiers->perf = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	if (!plimp_suspends_begin(sampler))
		return;
	problem = plimp_inside_begin(sampler, PLIMP_INSIDE_SUSPENDS);
	if (problem != 0)
		tiers->suspend = plim_count_missing(
		    problem == EBUSY ? PLIM_REASON_SIGNAL_TAKEN
				     : PLIM_REASON_READ_FAILED,
		    problem == EBUSY ? 0 : problem);
}

/* Samples by signal: 0, or why rings are to do it. */
static int sources_inside(struct plimp_sampler *sampler)
{
	int problem = plimp_inside_begin(sampler, PLIMP_INSIDE_EVENTS);

	if (problem == EBUSY) {
		sampler->tiers.signal =
		    plim_count_missing(PLIM_REASON_SIGNAL_TAKEN, 0);
		sampler->tiers.signal_remedy =
		    "leave SIGURG alone while it samples";
	} else if (problem != 0) {
		sources_refused(sampler, problem);
		sampler->tiers.signal = sampler->tiers.perf;
		sampler->tiers.signal_remedy = sampler->tiers.perf_remedy;
	} else {
		sampler->tiers.signal =
		    plimp_known(1, PLIM_METHOD_PERF_SIGNALS);
		sampler->tiers.perf =
		    plim_count_missing(PLIM_REASON_BETTER_SOURCE, 0);
		sources_are_better(sampler);
	}
	return problem;
}

static int sources_fail(plim_error *error)
{
	return plimp_fail(error, PLIM_ENOMEM, 0, "profile", NULL, NULL);
}

/* By a preloaded object: whether events would be had is told all the same. */
static int sources_preload(struct plimp_sampler *sampler, int problem,
			   plim_error *error)
{
	const uint32_t none = PLIMP_SAMPLER_NO_RUNNING | PLIMP_SAMPLER_NO_PERF;
	int is_asked = (sampler->options.flags & none) == 0;

	if (problem == 0 && is_asked)
		problem = sources_probe(sampler);
	if (problem != 0)
		sources_refused(sampler, problem);
	else
		sampler->tiers.perf =
		    plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	return plimp_preloads_begin(sampler, error);
}

int plimp_sources_begin(struct plimp_sampler *sampler, size_t threads,
			plim_error *error)
{
	const uint32_t none = PLIMP_SAMPLER_NO_RUNNING | PLIMP_SAMPLER_NO_PERF;
	int problem = 0;

	sampler->event = sampler->options.event;
	sampler->tiers.perf_remedy = "";
	if ((sampler->options.flags & none) == 0)
		problem = plimp_rings_count(sampler);
	sources_budget(sampler, threads);
	if ((sampler->options.flags & PLIMP_SAMPLER_SUSPEND) != 0) {
		sources_suspend(sampler);
		return sampler->problem == PLIM_OK ? PLIM_OK
						   : sources_fail(error);
	}
	if (sampler->options.preload != NULL)
		return sources_preload(sampler, problem, error);
	if ((sampler->options.flags & none) != 0) {
		sampler->tiers.perf =
		    plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
		if ((sampler->options.flags & PLIMP_SAMPLER_NO_RUNNING) == 0)
			sources_lower(sampler);
		return sampler->problem == PLIM_OK ? PLIM_OK
						   : sources_fail(error);
	}
	if (problem == 0 &&
	    (sampler->options.flags & PLIMP_SAMPLER_INSIDE) != 0 &&
	    sources_inside(sampler) == 0)
		return PLIM_OK;
	if (problem == 0 && sampler->problem == PLIM_OK)
		problem = sources_setup(sampler, threads);
	if (sampler->problem == PLIM_OK && problem != 0) {
		sources_refused(sampler, problem);
		sources_lower(sampler);
	}
	if (sampler->problem != PLIM_OK)
		return sources_fail(error);
	if (problem != 0)
		return PLIM_OK;
	if ((sampler->options.flags & PLIMP_SAMPLER_INSIDE) != 0)
		sources_are_better(sampler);
	sampler->is_armed = 1;
	sampler->tiers.perf = plimp_known(1, PLIM_METHOD_PERF_SAMPLES);
	return PLIM_OK;
}

void plimp_sources_beside(struct plimp_sampler *sampler)
{
	int problem;

	if (sampler->is_armed ||
	    sampler->tiers.perf.method != PLIM_REASON_BETTER_SOURCE)
		return;
	problem = sources_setup(sampler, sampler->thread_count);
	if (problem == 0) {
		sampler->is_armed = 1;
		sampler->tiers.perf = plimp_known(1, PLIM_METHOD_PERF_SAMPLES);
	} else if (sampler->problem == PLIM_OK) {
		sources_refused(sampler, problem);
	}
}
