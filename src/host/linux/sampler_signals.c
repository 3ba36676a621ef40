/*
 * sampler_signals.c - threads of our own process that are sampled by signals:
 * who may get them, and who has a ring instead, or nothing.
 *
 * Whoever blocks the signal must never find one of ours waiting, and whoever
 * waits in a call with a mask of its own (sampler_masks.c) must not be
 * disturbed. So a thread is asked before it is armed, and again while it runs;
 * of one that has just been born, or may be on its way out of such a call, it
 * is not known yet: it is asked at each tick until it is. Where perf events are
 * what signals (PLIMP_INSIDE_EVENTS), who does not hear gets a ring for good;
 * the other ways have no rings, and ask again. Who is asked at each tick anyway
 * (PLIMP_INSIDE_TICKS) is so in inside_ticks.c.
 */
#include "host/linux/gnu.h"

#include "host/linux/inside.h"
#include "host/linux/sampler.h"

#include <signal.h>

/* A thread that runs is asked so often whether it blocks the signal. */
#define SIGNALS_ASK_NS UINT64_C(50000000)

/* Not held: it is read seldom. 1, or 0 where it cannot be. */
static int signals_status(struct plimp_sampler *sampler,
			  const struct plimp_sampled_process *process,
			  const struct plimp_sampled *thread, plim_bytes *text)
{
	char path[PLIMP_THREAD_PATH];

	plimp_thread_path(path, thread->tid, "status");
	return plimp_read_file(sampler->host, process->task, path, text) == 0;
}

/* So often in a row it is none. */
#define SIGNALS_MOMENTS 10
/* More than a thread needs to come back from a call. */
#define SIGNALS_COMPUTED_NS UINT64_C(50000)

enum signals_deaf { SIGNALS_HEARS, SIGNALS_IS_DEAF, SIGNALS_FOR_A_MOMENT };

int plimp_signals_moment(uint64_t blocked)
{
	const uint64_t never =
	    UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGSTOP - 1);

	return (blocked | never) == UINT64_MAX;
}

/* Who runs may just be coming back from a call with a mask of its own, for as
 * long as no CPU is free for it. Not so who has computed since he was asked
 * before, and has not gone to sleep: 1. */
static int signals_has_computed(struct plimp_sampler *sampler,
				struct plimp_sampled *thread, uint64_t slept)
{
	uint64_t before_ns = thread->asked_cpu_ns;
	int is_awake = before_ns != 0 && thread->asked_slept == slept;

	thread->asked_slept = slept;
	thread->asked_cpu_ns = plimp_inside_cpu(sampler, thread->tid);
	return is_awake &&
	       thread->asked_cpu_ns > before_ns + SIGNALS_COMPUTED_NS;
}

/* Does it block the signal, as far as is known? What cannot be read does, to be
 * safe; and who is in a call with a mask of its own, which hides the other. */
static enum signals_deaf signals_deafness(struct plimp_sampler *sampler,
					  struct plimp_sampled *thread)
{
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, thread->pid);
	struct plimp_status status;
	struct plimp_syscall call;
	uint64_t blocked;
	plim_bytes text;

	if (process == NULL ||
	    !signals_status(sampler, process, thread, &text) ||
	    plimp_decode_blocked(text, &blocked) != PLIM_OK ||
	    plimp_decode_status_parts(text, PLIMP_STATUS_VOLUNTARY, &status) !=
		PLIM_OK)
		return SIGNALS_IS_DEAF;
	if (plimp_signals_moment(blocked))
		return SIGNALS_FOR_A_MOMENT;
	if ((blocked >> (PLIMP_INSIDE_SIGNAL - 1) & 1) != 0 ||
	    plimp_sampled_call(sampler, process, thread, &call) != 0 ||
	    plimp_masks_hide(&call))
		return SIGNALS_IS_DEAF;
	if (call.kind == PLIMP_SYSCALL_RUNNING && thread->slot == 0 &&
	    !signals_has_computed(sampler, thread, status.voluntary))
		return SIGNALS_FOR_A_MOMENT;
	return SIGNALS_HEARS;
}

/* Where there are no rings it is asked again, once it has run. */
static void signals_is_unheard(struct plimp_sampler *sampler,
			       struct plimp_sampled *thread)
{
	thread->flags |= PLIMP_SAMPLED_BY_RING;
	if (sampler->inside->way != PLIMP_INSIDE_EVENTS)
		thread->asked_ns = 0;
}

/* It hears: signals come from now on. */
static void signals_send(struct plimp_sampler *sampler,
			 struct plimp_sampled *thread)
{
	int problem = plimp_inside_arm(sampler, thread);

	if (problem == 0) {
		thread->flags |= PLIMP_SAMPLED_COVERED;
		thread->armed_ns = plimp_system_monotonic();
	} else if (!plimp_is_gone(problem)) {
		thread->flags |= PLIMP_SAMPLED_REFUSED;
	}
}

int plimp_signals_arm(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread)
{
	enum signals_deaf deaf = SIGNALS_HEARS;

	if (thread->slot != 0)
		return 1;
	if (sampler->inside->is_lost ||
	    (thread->flags & PLIMP_SAMPLED_BY_RING) != 0)
		return 0;
	thread->asked_ns = plimp_system_monotonic();
	/* The classic mode signals whoever there is. */
	if (sampler->inside->way != PLIMP_INSIDE_SUSPENDS)
		deaf = signals_deafness(sampler, thread);
	/* Which mask it will have in the end is not known yet. */
	if (deaf == SIGNALS_FOR_A_MOMENT &&
	    thread->was_deaf < SIGNALS_MOMENTS) {
		thread->was_deaf++;
		thread->flags |= PLIMP_SAMPLED_UNDECIDED;
		return 1;
	}
	thread->flags &= ~(uint32_t)PLIMP_SAMPLED_UNDECIDED;
	thread->was_deaf = 0;
	if (deaf != SIGNALS_HEARS) {
		signals_is_unheard(sampler, thread);
		return 0;
	}
	signals_send(sampler, thread);
	return 1;
}

void plimp_signals_to_ring(struct plimp_sampler *sampler,
			   struct plimp_sampled *thread)
{
	uint64_t told;

	plimp_inside_take(sampler, thread);
	plimp_inside_disarm(sampler, thread);
	plimp_inside_unqueue(sampler, thread);
	thread->flags |= PLIMP_SAMPLED_BY_RING;
	thread->flags &= ~(uint32_t)PLIMP_SAMPLED_COVERED;
	/* Without rings nobody samples it until it is armed again. */
	if (sampler->inside->way != PLIMP_INSIDE_EVENTS)
		return;
	/* Its new events count from 0: their counts go on from there. */
	told = thread->counted_ns - thread->ignored_ns;
	thread->ignored_ns = 0 - told;
	thread->counted_ns = 0;
	plimp_events_arm(sampler, thread);
}

/* Without rings: does it hear the signal by now? */
static void signals_ask_again(struct plimp_sampler *sampler,
			      struct plimp_sampled *thread, uint64_t now_ns)
{
	if ((thread->flags & PLIMP_SAMPLED_BY_RING) == 0 ||
	    sampler->inside == NULL || sampler->inside->is_lost ||
	    sampler->inside->way == PLIMP_INSIDE_EVENTS || sampler->halted ||
	    thread->is_unfit || now_ns - thread->asked_ns < SIGNALS_ASK_NS)
		return;
	thread->asked_ns = now_ns;
	if (signals_deafness(sampler, thread) != SIGNALS_HEARS)
		return;
	thread->flags &= ~(uint32_t)PLIMP_SAMPLED_BY_RING;
	thread->was_deaf = 0;
	signals_send(sampler, thread);
}

void plimp_signals_ask(struct plimp_sampler *sampler,
		       struct plimp_sampled *thread, uint64_t now_ns)
{
	enum signals_deaf deaf;
	uint64_t taken;

	if ((thread->flags & PLIMP_SAMPLED_UNDECIDED) != 0)
		plimp_events_arm(sampler, thread);
	else if (thread->slot == 0)
		signals_ask_again(sampler, thread, now_ns);
	if (thread->slot == 0 || thread->way >= PLIMP_INSIDE_TICKS ||
	    now_ns - thread->asked_ns < SIGNALS_ASK_NS)
		return;
	thread->asked_ns = now_ns;
	deaf = signals_deafness(sampler, thread);
	/* In our handler it blocks everything, too: then it has samples. */
	taken = plimp_inside_written(sampler, thread);
	if (deaf == SIGNALS_HEARS || thread->deaf_taken != taken)
		thread->was_deaf = 0;
	thread->deaf_taken = taken;
	if (deaf == SIGNALS_HEARS)
		return;
	if (thread->was_deaf >= (deaf == SIGNALS_IS_DEAF ? 1 : SIGNALS_MOMENTS))
		plimp_signals_to_ring(sampler, thread);
	else
		thread->was_deaf++;
}
