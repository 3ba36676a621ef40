/*
 * inside_suspend.c - the classic way to sample one's own process, to compare
 * the others with: every thread, asleep or not, is signalled at each tick; the
 * handler shows its registers and waits; the session thread copies a bounded
 * piece of its stack, lets it go, and walks the copy at leisure.
 *
 * One thread at a time. While one is held nothing is done but copying: it may
 * hold any lock, the allocator's too. A word that both change by comparison
 * says how far it is (enum plimp_inside_hold): who comes late, thread or
 * handler, finds that the other has gone on, and nobody waits longer than
 * PLIMP_HOLD_NS. What a thread slept in fails with EINTR where the kernel does
 * not restart it, which the handler counts.
 */
#include "host/linux/gnu.h"

#include "host/linux/inside.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SUSPEND_NAP_NS 10000000

int plimp_suspends(const struct plimp_sampler *sampler)
{
	return sampler->inside != NULL &&
	       sampler->inside->way == PLIMP_INSIDE_SUSPENDS;
}

int plimp_suspends_begin(struct plimp_sampler *sampler)
{
	int can = plimp_ticks_begin(sampler);

	sampler->tiers.suspend =
	    can ? plimp_known(1, PLIM_METHOD_SUSPENSIONS) : sampler->tiers.tick;
	sampler->tiers.tick = plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
	return can;
}

/* Until it is held, or for too long: then it is told that it is over. */
static int suspend_await(struct plimp_sampler *sampler,
			 struct plimp_inside_slot *slot, uint32_t asked)
{
	const struct timespec most = {.tv_nsec = SUSPEND_NAP_NS};
	uint64_t end = plimp_system_monotonic() + PLIMP_HOLD_NS;

	while (atomic_load(&slot->hold) == asked) {
		uint32_t still = asked;

		if (plimp_system_monotonic() > end) {
			(void)atomic_compare_exchange_strong(
			    &slot->hold, &still, asked | PLIMP_HOLD_OVER);
			continue;
		}
		sampler->host->bill.system_calls++;
		syscall(SYS_futex, &slot->hold, FUTEX_WAIT_PRIVATE, asked,
			&most, NULL, 0);
	}
	return (atomic_load(&slot->hold) & 3) == PLIMP_HOLD_HELD;
}

/* Was it held until now? */
static int suspend_release(struct plimp_sampler *sampler,
			   struct plimp_inside_slot *slot)
{
	uint32_t held = atomic_load(&slot->hold);
	int was_held = (held & 3) == PLIMP_HOLD_HELD &&
		       atomic_compare_exchange_strong(&slot->hold, &held,
						      held | PLIMP_HOLD_OVER);

	sampler->host->bill.system_calls++;
	syscall(SYS_futex, &slot->hold, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return was_held;
}

/* Holds it and copies: 1 and its registers and stack, or 0. */
static int suspend_copy(struct plimp_sampler *sampler,
			struct plimp_sampled_process *process,
			struct plimp_sampled *thread,
			struct plimp_capture *capture)
{
	int is_x86 = sampler->layout.machine == PLIMP_MACHINE_X86;
	unsigned sp = is_x86 ? PLIMP_X86_RSP : PLIMP_ARM_SP;
	struct plimp_inside_slot *slot =
	    sampler->inside->slots + (thread->slot - 1);
	uint32_t asked =
	    ((atomic_load(&slot->hold) | 3u) + 1) | PLIMP_HOLD_ASKED;
	int was_read;

	atomic_store(&slot->hold, asked);
	atomic_store(&slot->asked, 1);
	if (plimp_ticks_signal(sampler, thread->tid, PLIMP_INSIDE_SIGNAL) !=
	    0) {
		atomic_store(&slot->asked, 0);
		return 0;
	}
	sampler->bill.signals_sent++;
	if (!suspend_await(sampler, slot, asked))
		return 0;
	capture->registers = slot->registers;
	was_read = plimp_copy_begin(&sampler->copy, process, NULL,
				    capture->registers.value[sp],
				    sampler->stack_bytes) == 0;
	if (!suspend_release(sampler, slot))
		return 0;
	sampler->bill.unreadable += !was_read;
	plimp_copy_give(&sampler->copy, &capture->stack);
	return 1;
}

/* May one that sleeps be signalled? One that waits for signals would take ours,
 * and its mask is another while it does. */
static int suspend_may(struct plimp_sampler *sampler,
		       struct plimp_sampled_process *process,
		       struct plimp_sampled *thread,
		       const struct plimp_syscall *call)
{
	struct plimp_signal_masks masks;
	struct plimp_syscall again;
	uint64_t before = thread->ticked_ns;

	if (plimp_masks_hide(call)) {
		thread->open_looks = 0;
		return 0;
	}
	if ((sampler->options.flags & PLIMP_SAMPLER_NO_SLEEPERS) != 0 ||
	    plimp_inside_masks(sampler, thread, &masks) != 0)
		return 0;
	thread->ticked_ns = plimp_inside_cpu(sampler, thread->tid);
	if (!plimp_ticks_hears(sampler, thread, &masks, before) ||
	    plimp_sampled_call(sampler, process, thread, &again) != 0 ||
	    again.kind != call->kind || again.number != call->number)
		return 0;
	/* In this call it shows its own mask. */
	thread->open_looks = PLIMP_TICKS_OPEN;
	return 1;
}

/* Where it was before the signal, and whether it may get one. */
static int suspend_look(struct plimp_sampler *sampler,
			struct plimp_sampled_process *process,
			struct plimp_sampled *thread,
			struct plimp_syscall *call)
{
	uint64_t cpu = plimp_inside_cpu(sampler, thread->tid);
	int may;

	if (plimp_sampled_call(sampler, process, thread, call) != 0)
		return 0;
	may = call->kind == PLIMP_SYSCALL_RUNNING
		  ? plimp_ticks_may(sampler, process, thread, cpu)
		  : suspend_may(sampler, process, thread, call);
	return may &&
	       atomic_load(&sampler->inside->slots[thread->slot - 1].asked) ==
		   0 &&
	       !plimp_inside_is_crowded(sampler, thread);
}

static void suspend_running(struct plimp_sampler *sampler,
			    struct plimp_sampled *thread,
			    struct plimp_capture *capture)
{
	uint64_t cpu = plimp_inside_cpu(sampler, thread->tid);

	capture->kind = PLIMP_CAPTURE_RUNNING;
	capture->state = PLIMP_THREAD_RUNNING;
	capture->sees_kernel = 1;
	capture->has_cpu = 1;
	capture->cpu_ns = cpu > thread->base_ns ? cpu - thread->base_ns : 0;
	thread->counted_ns = capture->cpu_ns;
}

/* Its accounts are those after the stop, so that the next look begins there. */
static void suspend_blocked(struct plimp_sampler *sampler,
			    struct plimp_sampled_process *process,
			    struct plimp_sampled *thread,
			    const struct plimp_syscall *call,
			    struct plimp_capture *capture)
{
	capture->kind = PLIMP_CAPTURE_BLOCKED;
	capture->state = PLIMP_THREAD_BLOCKED;
	capture->call =
	    call->kind == PLIMP_SYSCALL_CALL ? (long)call->number : -1;
	if (plimp_sampled_account(sampler, process, thread, &thread->last) !=
		0 ||
	    sampler->by_switches)
		return;
	capture->has_accounts = 1;
	capture->cpu_ns = thread->last.run_ns;
	capture->wait_ns = thread->last.wait_ns;
	capture->slices = thread->last.switches_in;
}

static void suspend_thread(struct plimp_sampler *sampler,
			   struct plimp_sampled *thread)
{
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, thread->pid);
	struct plimp_syscall call;
	struct plimp_capture capture;

	memset(&capture, 0, sizeof capture);
	if (process == NULL || process->lens == NULL ||
	    !suspend_look(sampler, process, thread, &call) ||
	    !suspend_copy(sampler, process, thread, &capture))
		return;
	capture.pid = thread->pid;
	capture.tid = thread->tid;
	capture.start_ticks = thread->start_ticks;
	if (call.kind == PLIMP_SYSCALL_RUNNING)
		suspend_running(sampler, thread, &capture);
	else
		suspend_blocked(sampler, process, thread, &call, &capture);
	capture.time_ns = plimp_system_monotonic();
	sampler->bill.samples += capture.kind == PLIMP_CAPTURE_RUNNING;
	sampler->bill.copies += capture.kind == PLIMP_CAPTURE_BLOCKED;
	sampler->callback(sampler->user, &capture);
}

void plimp_suspends_pass(struct plimp_sampler *sampler)
{
	if (!plimp_suspends(sampler) || sampler->inside->is_lost ||
	    sampler->halted || sampler->start_ns == 0)
		return;
	for (size_t i = 0; i < sampler->thread_count; i++)
		if (sampler->threads[i]->slot != 0)
			suspend_thread(sampler, sampler->threads[i]);
}
