/*
 * inside_ticks.c - a signal to each thread that runs, at each tick of the
 * session thread: where there are neither perf events nor timers.
 *
 * Who has not used the CPU since the tick before is asleep, or waits for a
 * CPU, and gets none: its clock says so. Who has is asked once more, at the
 * last moment: its system call file says whether it runs, its mask whether it
 * lets the signal through. And it must have the CPU just now, or have had it
 * since the tick before without going to sleep: who was woken and waits for a
 * CPU is still in its system call, and poll() fails with EINTR there.
 *
 * Between that look and the signal it may still go to sleep; then the call
 * that it sleeps in fails, where it is not one that the kernel restarts. The
 * handler sees that, and counts it: no other tier that signals does such harm.
 *
 * The handler says that it was there; before that no other signal is sent.
 */
#include "host/linux/gnu.h"

#include "host/inside.h"
#include "host/linux/inside.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Longer than the way out of a system call. */
#define TICKS_AWAKE_NS 2000

int plimp_ticks_signal(struct plimp_sampler *sampler, int32_t tid, int number)
{
	sampler->host->bill.system_calls++;
	return syscall(SYS_tgkill, sampler->pid, tid, number) == 0 ? 0 : errno;
}

static void ticks_refused(struct plimp_sampler *sampler, int problem)
{
	sampler->tiers.tick =
	    plim_count_missing(PLIM_REASON_SIGNALS_REFUSED, problem);
}

int plimp_ticks_begin(struct plimp_sampler *sampler)
{
	/* Number 0 asks whether one could be sent. */
	int problem = plimp_ticks_signal(sampler, plimp_system_own_tid(), 0);

	sampler->tiers.tick_remedy = "";
	if (problem != 0) {
		ticks_refused(sampler, problem);
		return 0;
	}
	sampler->tiers.tick = plimp_known(1, PLIM_METHOD_THREAD_SIGNALS);
	return 1;
}

/* Does it run, now? */
static int ticks_runs(struct plimp_sampler *sampler,
		      struct plimp_sampled_process *process,
		      struct plimp_sampled *thread)
{
	struct plimp_syscall call;

	return plimp_sampled_call(sampler, process, thread, &call) == 0 &&
	       call.kind == PLIMP_SYSCALL_RUNNING;
}

int plimp_ticks_hears(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread,
		      const struct plimp_signal_masks *masks,
		      uint64_t before_ns)
{
	const uint64_t bit = UINT64_C(1) << (PLIMP_INSIDE_SIGNAL - 1);
	struct plimp_inside_slot *slot =
	    sampler->inside->slots + (thread->slot - 1);

	if ((masks->blocked & bit) == 0) {
		thread->flags |= PLIMP_SAMPLED_COVERED;
		return 1;
	}
	/* In our handler it blocks everything: then it has been asked. */
	if (atomic_load(&slot->asked) != 0 && (masks->pending & bit) != 0)
		plimp_inside_unqueue(sampler, thread);
	if (atomic_load(&slot->asked) != 0)
		return 0;
	if (!plimp_signals_moment(masks->blocked))
		thread->open_looks = 0;
	thread->flags &= ~(uint32_t)PLIMP_SAMPLED_COVERED;
	thread->base_ns += thread->ticked_ns - before_ns;
	return 0;
}

/* Its mask, and how often it has gone to sleep. */
static int ticks_read(struct plimp_sampler *sampler,
		      struct plimp_sampled_process *process,
		      struct plimp_sampled *thread,
		      struct plimp_signal_masks *masks, uint64_t *slept)
{
	struct plimp_status status;
	plim_bytes text;

	if (plimp_sampled_read(sampler, process, thread, &thread->status,
			       "status", &text) != 0 ||
	    plimp_decode_signals(text, masks) != PLIM_OK ||
	    plimp_decode_status_parts(text, PLIMP_STATUS_VOLUNTARY, &status) !=
		PLIM_OK)
		return 0;
	*slept = status.voluntary;
	return 1;
}

/* It has slept since the tick before: it has the CPU, and has had it for long
 * enough to be out of the call in which it slept, whose mask may be another. */
static int ticks_is_awake(struct plimp_sampler *sampler,
			  struct plimp_sampled_process *process,
			  struct plimp_sampled *thread, uint64_t slept,
			  uint64_t cpu)
{
	const uint64_t bit = UINT64_C(1) << (PLIMP_INSIDE_SIGNAL - 1);
	struct plimp_signal_masks masks;
	uint64_t still = 0;

	return ticks_read(sampler, process, thread, &masks, &still) &&
	       still == slept && (masks.blocked & bit) == 0 &&
	       plimp_inside_cpu(sampler, thread->tid) - cpu >= TICKS_AWAKE_NS;
}

/* A thread that blocks the signal may be on its way into or out of a call in
 * which it does not, and lose the CPU there: then it runs, and hears. So who
 * has once blocked it, or waited so, has to be found open a few times, and
 * never blocking it between. */
static int ticks_is_open(struct plimp_sampled *thread)
{
	if (thread->open_looks >= PLIMP_TICKS_OPEN)
		return 1;
	thread->open_looks++;
	return 0;
}

/* While it waits in sigtimedwait() or ppoll() its mask is that call's, so that
 * only the mask of one that runs before and after counts. */
int plimp_ticks_may(struct plimp_sampler *sampler,
		    struct plimp_sampled_process *process,
		    struct plimp_sampled *thread, uint64_t cpu)
{
	struct plimp_inside_slot *slot =
	    sampler->inside->slots + (thread->slot - 1);
	uint64_t before = thread->ticked_ns;
	struct plimp_signal_masks masks;
	uint64_t slept = 0;
	int has_slept;
	int is_awake;

	if (!ticks_runs(sampler, process, thread) ||
	    !ticks_read(sampler, process, thread, &masks, &slept))
		return 0;
	has_slept = slept != thread->slept;
	thread->ticked_ns = plimp_inside_cpu(sampler, thread->tid);
	if (!plimp_ticks_hears(sampler, thread, &masks, before) ||
	    atomic_load(&slot->asked) != 0)
		return 0;
	is_awake = has_slept
		       ? ticks_is_awake(sampler, process, thread, slept, cpu)
		       : cpu - before >= TICKS_AWAKE_NS;
	if (!ticks_runs(sampler, process, thread))
		return 0;
	thread->slept = slept;
	return is_awake && ticks_is_open(thread);
}

/* What it used since the tick before is no sample's if it was not covered. */
static void ticks_slept(struct plimp_sampled *thread)
{
	if ((thread->flags & PLIMP_SAMPLED_COVERED) == 0)
		thread->base_ns += thread->last.run_ns - thread->ticked_ns;
	thread->ticked_ns = thread->last.run_ns;
}

static void ticks_thread(struct plimp_sampler *sampler,
			 struct plimp_sampled *thread)
{
	struct plimp_inside_slot *slot =
	    sampler->inside->slots + (thread->slot - 1);
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, thread->pid);
	uint64_t cpu;
	int problem;

	if (process == NULL || process->lens == NULL)
		return;
	/* It has run before it went to sleep, and once it is woken that is no
	 * sign that it runs. While it sleeps both clocks are the same. */
	if (thread->state == PLIMP_THREAD_BLOCKED) {
		/* In these it has another mask, whatever it goes on with. */
		if (thread->call == SYS_rt_sigtimedwait ||
		    thread->call == SYS_rt_sigsuspend)
			thread->open_looks = 0;
		if (!sampler->by_switches)
			ticks_slept(thread);
		return;
	}
	cpu = plimp_inside_cpu(sampler, thread->tid);
	if (cpu == 0 || cpu == thread->ticked_ns)
		return;
	if (!plimp_ticks_may(sampler, process, thread, cpu) ||
	    plimp_inside_is_crowded(sampler, thread))
		return;
	atomic_store(&slot->asked, 1);
	problem = plimp_ticks_signal(sampler, thread->tid, PLIMP_INSIDE_SIGNAL);
	if (problem == 0) {
		sampler->bill.signals_sent++;
		return;
	}
	atomic_store(&slot->asked, 0);
	if (problem != ESRCH)
		ticks_refused(sampler, problem);
}

void plimp_ticks_pass(struct plimp_sampler *sampler)
{
	if (sampler->inside == NULL || sampler->inside->is_lost ||
	    sampler->halted || sampler->start_ns == 0)
		return;
	for (size_t i = 0; i < sampler->thread_count; i++)
		if (sampler->threads[i]->slot != 0 &&
		    sampler->threads[i]->way == PLIMP_INSIDE_TICKS)
			ticks_thread(sampler, sampler->threads[i]);
}
