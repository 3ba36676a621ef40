/*
 * metrics.c - what a profile tells about itself: metrics, ratios, tiers, what
 * it lacks, and why it is empty.
 */
#include "profile/session.h"

#include "core/views.h"
#include "core/fail.h"
#include "profile/fold.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define PRELOAD_LEFT                                                   \
	"it executed another program, which was not sampled while it " \
	"ran; --tree does that, too"

#define PRELOAD_SILENT                                                       \
	"the object that was preloaded did not tell of itself: the program " \
	"ended before, its loader left it out, or SIGURG was taken"

static uint64_t metric_of(const plim_profile *profile, int metric)
{
	return profile->metrics[metric];
}

/* Looks at sleeping threads: those that were had and those that were not, and
 * as many again for each tick that was left out. */
static uint64_t looks_offered(const plim_profile *profile)
{
	uint64_t looks = metric_of(profile, PLIM_METRIC_BLOCKED) +
			 metric_of(profile, PLIM_METRIC_FAILED_MOVED) +
			 metric_of(profile, PLIM_METRIC_FAILED_DENIED) +
			 metric_of(profile, PLIM_METRIC_FAILED_ENDED) +
			 metric_of(profile, PLIM_METRIC_FAILED_UNREADABLE);
	uint64_t skipped = profile->schedule.skipped;
	uint64_t taken = profile->schedule.planned - skipped;

	if (taken == 0)
		return looks;
	return looks +
	       (uint64_t)((double)looks * (double)skipped / (double)taken);
}

static uint64_t running_offered(const plim_profile *profile)
{
	uint64_t captured = metric_of(profile, PLIM_METRIC_RUNNING);
	uint64_t offered = captured;

	if (!(profile->request.flags & PLIM_PROFILE_NO_RUNNING))
		offered = profile->total.cpu_ns / profile->sampling.period_ns;
	return offered > captured ? offered : captured;
}

void plimp_metrics_finish(plim_profile *profile)
{
	uint64_t *to = profile->metrics;
	const struct plimp_sampler_bill *bill = &profile->bill;

	to[PLIM_METRIC_CAPTURED] =
	    to[PLIM_METRIC_RUNNING] + to[PLIM_METRIC_BLOCKED];
	to[PLIM_METRIC_OFFERED] =
	    running_offered(profile) + looks_offered(profile);
	to[PLIM_METRIC_DROPPED] =
	    to[PLIM_METRIC_OFFERED] - to[PLIM_METRIC_CAPTURED];
	to[PLIM_METRIC_THREADS_SEEN] = profile->task_count;
	to[PLIM_METRIC_THREADS_PRESENT] = profile->present_at_start;
	to[PLIM_METRIC_PAUSE_SUM] = bill->stop_sum_ns;
	to[PLIM_METRIC_PAUSE_LONGEST] = bill->stop_longest_ns;
	to[PLIM_METRIC_STOPS] = bill->stops;
	to[PLIM_METRIC_SIGNALS] = bill->signals_sent;
	to[PLIM_METRIC_OVERRUNS] = bill->overruns;
	to[PLIM_METRIC_CALLS_DISTURBED] = bill->calls_disturbed;
	to[PLIM_METRIC_BYTES_COPIED] = bill->bytes_copied;
	to[PLIM_METRIC_SAMPLER_MEMORY] =
	    profile->store.used + bill->ring_bytes +
	    plimp_module_store_bill(profile->objects).rules_bytes;
	to[PLIM_METRIC_DURATION] = profile->facts.duration_ns;
	to[PLIM_METRIC_HZ_ASKED] = profile->request.hz != 0
				       ? profile->request.hz
				       : PLIM_PROFILE_DEFAULT_HZ;
	to[PLIM_METRIC_HZ_EFFECTIVE] =
	    (UINT64_C(1000000000) + profile->facts.period_ns / 2) /
	    profile->facts.period_ns;
	to[PLIM_METRIC_CLAMPED] = profile->facts.clamped != 0;
	to[PLIM_METRIC_BUFFER_FULL] =
	    profile->facts.end == PLIM_PROFILE_END_FULL;
	to[PLIM_METRIC_TICKS_PLANNED] = profile->schedule.planned;
	to[PLIM_METRIC_TICKS_LATE] = profile->schedule.late;
	to[PLIM_METRIC_TICKS_SKIPPED] = profile->schedule.skipped;
	to[PLIM_METRIC_DESCRIPTORS] = bill->descriptors;
}

static uint64_t frames_unnamed(const plim_profile *profile)
{
	uint64_t count = 0;

	for (size_t i = 0; i < profile->store.frames.count; i++) {
		const plim_profile_frame *frame =
		    plim_profile_frame_at(profile, i);
		const plim_profile_line *line =
		    plim_profile_line_at(profile, frame->first_line);

		if (line != NULL &&
		    plim_profile_function_at(profile, line->function)
			->is_unnamed)
			count++;
	}
	return count;
}

plim_count plim_profile_metric(const plim_profile *profile, int metric)
{
	uint64_t value;

	if (plim_profile_metric_name(metric) == NULL)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (!profile->has_run)
		return plim_count_missing(PLIM_REASON_NONE, 0);
	value = profile->metrics[metric];
	switch (metric) {
	case PLIM_METRIC_TARGET_CPU:
		return profile->target_cpu;
	case PLIM_METRIC_SAMPLER_CPU:
		return profile->sampler_cpu;
	case PLIM_METRIC_PAUSE_P99:
		/* Of one stop and of none the longest is it. */
		return plim_count_bounded(
		    profile->bill.stop_longest_ns, PLIM_METHOD_PROFILE,
		    profile->bill.stops > 1 ? PLIM_BOUND_AT_MOST
					    : PLIM_BOUND_EXACT);
	case PLIM_METRIC_FRAMES:
		value = profile->store.frames.count;
		break;
	case PLIM_METRIC_FRAMES_UNNAMED:
		value = frames_unnamed(profile);
		break;
	case PLIM_METRIC_STACKS:
		value = profile->store.stacks.count;
		break;
	case PLIM_METRIC_PROCESSES:
		value = profile->store.processes.count;
		break;
	}
	return plim_count_known(value, PLIM_METHOD_PROFILE);
}

static double share_of(uint64_t part, uint64_t whole, double none)
{
	return whole == 0 ? none : (double)part / (double)whole;
}

plim_real plim_profile_ratio(const plim_profile *profile, int ratio)
{
	const uint64_t *of = profile->metrics;
	double value;

	if (plim_profile_ratio_name(ratio) == NULL)
		return plim_real_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (!profile->has_run)
		return plim_real_missing(PLIM_REASON_NONE, 0);
	switch (ratio) {
	case PLIM_PROFILE_RATIO_COVERAGE:
		value = share_of(of[PLIM_METRIC_THREADS_SEEN],
				 of[PLIM_METRIC_THREADS_PRESENT], 0);
		break;
	case PLIM_PROFILE_RATIO_OVERHEAD:
		value = share_of(of[PLIM_METRIC_PAUSE_SUM],
				 of[PLIM_METRIC_DURATION], 0);
		break;
	case PLIM_PROFILE_RATIO_FIDELITY:
		value = share_of(of[PLIM_METRIC_CAPTURED],
				 of[PLIM_METRIC_OFFERED], 1);
		break;
	default:
		value = share_of(of[PLIM_METRIC_STACKS_ROOT],
				 of[PLIM_METRIC_CAPTURED], 1);
	}
	return plim_real_known(value, PLIM_METHOD_PROFILE);
}

static plim_profile_tier tier_row(int tier, int used, plim_count works,
				  const char *remedy)
{
	static const char *const words[] = {
#define PLIM_X(name, number, word, text) [number] = word,
	    PLIM_TIER_LIST(PLIM_X)
#undef PLIM_X
	};
	static const char *const texts[] = {
#define PLIM_X(name, number, word, text) [number] = text,
	    PLIM_TIER_LIST(PLIM_X)
#undef PLIM_X
	};

	return (plim_profile_tier){.tier = tier,
				   .used = used,
				   .works = works,
				   .word = words[tier],
				   .text = texts[tier],
				   .remedy = remedy != NULL ? remedy : ""};
}

static int is_known(plim_count count)
{
	return count.state == PLIM_STATE_KNOWN;
}

static void lack_add(plim_profile *profile, const char *what, plim_count why,
		     const char *remedy)
{
	const char *reason = is_known(why) ? "" : plim_reason_text(why.method);

	assert(profile->lack_count <
	       sizeof(profile->lacks) / sizeof(profile->lacks[0]));
	snprintf(profile->lacks[profile->lack_count++],
		 sizeof(profile->lacks[0]), "%s%s%s%s%s", what,
		 reason != NULL && reason[0] != '\0' ? ": " : "",
		 reason != NULL ? reason : "",
		 remedy != NULL && remedy[0] != '\0' ? "; " : "",
		 remedy != NULL ? remedy : "");
}

static int tier_is_own(int tier)
{
	return tier == PLIMP_TIER_CPU_TIMER ||
	       tier == PLIMP_TIER_THREAD_SIGNAL || tier == PLIMP_TIER_SUSPEND;
}

/* Of threads that run, some have no event; or, where a signal is all that there
 * is, they block it, or have no stack for it. */
static void lack_cover(plim_profile *profile)
{
	const struct plimp_tiers *tiers = &profile->tiers;
	char what[96];

	if ((tiers->running != PLIMP_TIER_PERF &&
	     !tier_is_own(tiers->running)) ||
	    tiers->threads_covered >= tiers->threads_present)
		return;
	snprintf(what, sizeof(what),
		 "%lu of %lu threads at a time are sampled while they run",
		 (unsigned long)tiers->threads_covered,
		 (unsigned long)tiers->threads_present);
	if (tier_is_own(tiers->running))
		lack_add(profile, what,
			 plim_count_missing(PLIM_REASON_SIGNAL_BLOCKED, 0),
			 tiers->perf_remedy);
	else
		lack_add(profile, what, tiers->perf, tiers->perf_remedy);
}

/* What a tier says of its rate. */
static void lack_rate(plim_profile *profile)
{
	const struct plimp_tiers *tiers = &profile->tiers;
	char what[160];

	if (tiers->running == PLIMP_TIER_CPU_TIMER &&
	    tiers->timer_ns > profile->sampling.period_ns) {
		snprintf(
		    what, sizeof(what),
		    "timers are looked at once in a tick of the kernel: "
		    "%lu samples per second of CPU time at most, each for "
		    "the periods since the one before",
		    (unsigned long)(UINT64_C(1000000000) / tiers->timer_ns));
		lack_add(profile, what, tiers->perf, tiers->perf_remedy);
	}
	if (tiers->running == PLIMP_TIER_PTRACE &&
	    profile->sampling.period_ns < PLIMP_PTRACE_PERIOD_NS)
		lack_add(profile,
			 "a running thread is stopped at most 99 times a "
			 "second, and each sample stands for the time since "
			 "the one before",
			 tiers->perf, tiers->perf_remedy);
	if (tiers->running == PLIMP_TIER_SUSPEND)
		lack_add(profile,
			 "every thread was held for each sample, and the "
			 "system call that it slept in interrupted",
			 plim_count_known(0, PLIM_METHOD_PROFILE), NULL);
	if (tiers->running == PLIMP_TIER_THREAD_SIGNAL ||
	    tiers->threads_by_tick > 0)
		lack_add(profile,
			 "threads that run got a signal at each tick, which "
			 "may interrupt a system call",
			 tiers->running == PLIMP_TIER_THREAD_SIGNAL
			     ? tiers->timer
			     : plim_count_known(0, PLIM_METHOD_PROFILE),
			 tiers->running == PLIMP_TIER_THREAD_SIGNAL
			     ? tiers->timer_remedy
			     : NULL);
}

static void lack_running(plim_profile *profile)
{
	const struct plimp_tiers *tiers = &profile->tiers;

	if (profile->request.preload == NULL)
		lack_add(profile, "running threads are not sampled",
			 tiers->perf, tiers->perf_remedy);
	else
		lack_add(profile,
			 "running threads are not sampled: " PRELOAD_SILENT,
			 plim_count_known(0, PLIM_METHOD_PROFILE), NULL);
}

/* It is the last resort, and disturbs. */
static void lack_preload(plim_profile *profile)
{
	const struct plimp_tiers *tiers = &profile->tiers;
	char what[160];

	lack_add(profile,
		 "running threads sampled themselves, by an object that was "
		 "preloaded into the program",
		 tiers->perf.state == PLIM_STATE_SKIPPED
		     ? plim_count_known(0, PLIM_METHOD_PROFILE)
		     : tiers->perf,
		 tiers->perf_remedy);
	if (tiers->signal_taken)
		lack_add(profile,
			 "it was not sampled any more while it ran, from when "
			 "it took SIGURG for itself",
			 plim_count_known(0, PLIM_METHOD_PROFILE), NULL);
	if (tiers->is_left)
		lack_add(profile, PRELOAD_LEFT,
			 plim_count_known(0, PLIM_METHOD_PROFILE), NULL);
	if (tiers->threads_left_out == 0)
		return;
	snprintf(what, sizeof(what),
		 "%lu threads were not sampled while they ran, or not all the "
		 "time: they block SIGURG, or no timer could be had for them",
		 (unsigned long)tiers->threads_left_out);
	lack_add(profile, what, plim_count_known(0, PLIM_METHOD_PROFILE), NULL);
}

void plimp_tiers_tell(plim_profile *profile)
{
	struct plimp_tiers *tiers = &profile->tiers;
	uint32_t flags = profile->request.flags;

	if (profile->sampler != NULL && !profile->is_settling)
		*tiers = plimp_system_sampler_tiers(profile->sampler);
	profile->tier_rows[0] = tier_row(PLIM_TIER_PERF,
					 tiers->running == PLIMP_TIER_PERF ||
					     tiers->threads_by_ring > 0,
					 tiers->perf, tiers->perf_remedy);
	profile->tier_rows[1] =
	    tier_row(PLIM_TIER_PTRACE, tiers->running == PLIMP_TIER_PTRACE,
		     tiers->ptrace, tiers->ptrace_remedy);
	profile->tier_rows[2] =
	    tier_row(PLIM_TIER_NO_STOP, tiers->sleeping == PLIMP_TIER_NO_STOP,
		     tiers->no_stop, tiers->no_stop_remedy);
	profile->tier_rows[3] = tier_row(
	    PLIM_TIER_PERF_SIGNAL, tiers->running == PLIMP_TIER_PERF_SIGNAL,
	    tiers->signal, tiers->signal_remedy);
	profile->tier_rows[4] =
	    tier_row(PLIM_TIER_CPU_TIMER,
		     tiers->running == PLIMP_TIER_CPU_TIMER ||
			 tiers->threads_by_timer > 0,
		     tiers->timer, tiers->timer_remedy);
	profile->tier_rows[5] =
	    tier_row(PLIM_TIER_THREAD_SIGNAL,
		     tiers->running == PLIMP_TIER_THREAD_SIGNAL ||
			 tiers->threads_by_tick > 0,
		     tiers->tick, tiers->tick_remedy);
	profile->tier_rows[6] =
	    tier_row(PLIM_TIER_SUSPEND, tiers->running == PLIMP_TIER_SUSPEND,
		     tiers->suspend, NULL);
	if (profile->request.preload != NULL)
		profile->tier_rows[3] = tier_row(
		    PLIM_TIER_PRELOAD, tiers->running == PLIMP_TIER_PRELOAD,
		    tiers->preload, tiers->preload_remedy);
	profile->lack_count = 0;
	if (profile->sampler == NULL)
		return; /* it will be known when it runs */
	if (tiers->running == PLIMP_TIER_NONE &&
	    !(flags & PLIM_PROFILE_NO_RUNNING))
		lack_running(profile);
	if (tiers->sleeping == PLIMP_TIER_NONE &&
	    !(flags & PLIM_PROFILE_NO_SLEEPERS))
		lack_add(profile, "sleeping threads are not sampled",
			 tiers->no_stop, tiers->no_stop_remedy);
	if (tiers->running == PLIMP_TIER_PTRACE)
		lack_add(profile,
			 "running threads were stopped for each sample",
			 tiers->perf, tiers->perf_remedy);
	if ((tiers->running == PLIMP_TIER_PERF ||
	     tiers->running == PLIMP_TIER_PERF_SIGNAL) &&
	    !tiers->kernel_seen)
		lack_add(profile,
			 "time in the kernel is counted, and not sampled",
			 plim_count_known(0, PLIM_METHOD_PROFILE),
			 "sysctl kernel.perf_event_paranoid=1, or "
			 "CAP_PERFMON, samples it there, too");
	lack_rate(profile);
	if (tiers->running == PLIMP_TIER_PRELOAD)
		lack_preload(profile);
	lack_cover(profile);
	for (size_t i = 0; i < profile->image_count; i++) {
		if (!profile->images[i].is_narrow)
			continue;
		lack_add(profile, "stacks of programs of 32 bits are not read",
			 plim_count_known(0, PLIM_METHOD_PROFILE), NULL);
		break;
	}
}

/* Is a signal all that there is, and does no thread let it through? */
static int why_is_deaf(const plim_profile *profile)
{
	const struct plimp_tiers *tiers = &profile->tiers;

	return tier_is_own(tiers->running) && tiers->threads_present > 0 &&
	       tiers->threads_covered == 0 &&
	       profile->metrics[PLIM_METRIC_RUNNING] == 0;
}

/* Why nothing of the running threads, or of the sleeping ones, was had, and
 * what would help, where something would. */
static const char *why_half(const plim_profile *profile, int view,
			    const char **remedy)
{
	const struct plimp_tiers *tiers = &profile->tiers;

	*remedy = "";
	if (view != PLIM_VIEW_OFF && tiers->running == PLIMP_TIER_NONE &&
	    !(profile->request.flags & PLIM_PROFILE_NO_RUNNING)) {
		if (profile->request.preload != NULL)
			return PRELOAD_SILENT;
		*remedy = tiers->perf_remedy;
		return plim_reason_text(tiers->perf.method);
	}
	if (view != PLIM_VIEW_OFF && tiers->is_left)
		return PRELOAD_LEFT;
	if (view != PLIM_VIEW_OFF && tiers->running == PLIMP_TIER_PRELOAD &&
	    profile->metrics[PLIM_METRIC_RUNNING] == 0 &&
	    (tiers->signal_taken || tiers->threads_left_out > 0))
		return plim_reason_text(tiers->signal_taken
					    ? PLIM_REASON_SIGNAL_TAKEN
					    : PLIM_REASON_SIGNAL_BLOCKED);
	if (view != PLIM_VIEW_OFF && why_is_deaf(profile))
		return plim_reason_text(PLIM_REASON_SIGNAL_BLOCKED);
	if (view != PLIM_VIEW_CPU && tiers->sleeping == PLIMP_TIER_NONE &&
	    !(profile->request.flags & PLIM_PROFILE_NO_SLEEPERS)) {
		*remedy = tiers->no_stop_remedy;
		return plim_reason_text(tiers->no_stop.method);
	}
	/* One that has looked around has seen who is idle. */
	if (profile->facts.end == PLIM_PROFILE_END_STOPPED &&
	    profile->schedule.planned == 0)
		return "it was stopped before anything was sampled";
	if (profile->facts.end == PLIM_PROFILE_END_TARGET &&
	    profile->metrics[PLIM_METRIC_BLOCKED] == 0)
		return "the target ended before anything was sampled";
	if (profile->task_count == 0)
		return "no thread was selected";
	if (view == PLIM_VIEW_OFF)
		return "no thread was blocked when it was looked at";
	if (profile->total.system_ns >= profile->sampling.period_ns &&
	    !tiers->kernel_seen) {
		*remedy = "sysctl kernel.perf_event_paranoid=1, or "
			  "CAP_PERFMON, samples it there, too";
		return "it used the CPU in the kernel alone, which this user "
		       "may not sample";
	}
	return "no thread used the CPU for long enough";
}

int plimp_why_empty(const plim_profile *profile, int view, plim_error *error)
{
	const char *remedy;
	const char *why = why_half(profile, view, &remedy);
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)profile->facts.target.pid);
	return plimp_fail(error, PLIM_ENOSAMPLES, 0, "profile", pid, "%s%s%s",
			  why != NULL ? why : "no source could be used",
			  remedy[0] != '\0' ? "; " : "", remedy);
}

int plim_profile_check(const plim_profile *profile, int view, plim_error *error)
{
	if (profile == NULL || plim_view_word(view) == NULL ||
	    !profile->has_run)
		return plimp_fail(error, PLIM_EINVAL, 0, "profile", NULL, NULL);
	for (size_t i = 0; i < profile->store.stacks.count; i++) {
		const plim_profile_stack *stack =
		    plim_profile_stack_at(profile, i);

		if (plimp_view_has(view, stack->activity) && stack->samples > 0)
			return PLIM_OK;
	}
	return plimp_why_empty(profile, view, error);
}
