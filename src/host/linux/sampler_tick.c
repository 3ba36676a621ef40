/*
 * sampler_tick.c - threads that sleep, looked at from outside.
 *
 * The proof that a copy is of one moment has two parts. The syscall file of a
 * thread gives its stack pointer only while it is off every CPU
 * (task_current_syscall() in lib/syscall.c waits until the scheduler says so).
 * And its schedstat counts how often it was put on one: sched_info_arrive() in
 * kernel/sched/stats.h adds to the third number before the thread runs. So the
 * accounts are read, then the syscall file, then the stack, and both files
 * again; where nothing has changed the thread has not run since the first
 * reading. The same numbers at the next tick say that it still has not, so
 * that its stack need not be copied again: one read of 360 ns then.
 *
 * Of a thread of the own process its CPU clock says the same, at half of that:
 * the kernel brings it up to the nanosecond, also of one that runs, so that
 * whoever has run since has another one. It is read before the accounts, and
 * again behind the stack.
 *
 * Where the kernel keeps no schedstat the two counts of context switches in
 * status take its place: each rises when the thread leaves a CPU, and one that
 * has not left one since cannot sleep now.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/inside.h"
#include "host/linux/sampler.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* How old the account of a thread that runs can be: a scheduler's tick, with
 * CONFIG_HZ no less than 100. */
#define TICK_ACCOUNT_NS UINT64_C(10000000)

/* Of the own process, where the time of the thread that asks is left out: it
 * goes on for so long between two readings of clocks; who wakes runs longer. */
#define TICK_NOBODY_NS 2000u

int plimp_sampled_account(struct plimp_sampler *sampler,
			  struct plimp_sampled_process *process,
			  struct plimp_sampled *thread,
			  struct plimp_schedstat *now)
{
	const uint32_t both = PLIMP_STATUS_VOLUNTARY | PLIMP_STATUS_INVOLUNTARY;
	struct plimp_status status;
	plim_bytes text;
	int problem = plimp_sampled_read(
	    sampler, process, thread, &thread->schedstat,
	    sampler->by_switches ? "status" : "schedstat", &text);

	if (problem != 0)
		return problem;
	if (!sampler->by_switches)
		return plimp_decode_schedstat(text, now) == PLIM_OK ? 0
								    : EBADMSG;
	if (plimp_decode_status_parts(text, both, &status) != PLIM_OK ||
	    status.has != both)
		return EBADMSG;
	memset(now, 0, sizeof *now);
	now->wait_ns = status.involuntary;
	now->switches_in = status.voluntary;
	return 0;
}

static int tick_is_same(const struct plimp_schedstat *a,
			const struct plimp_schedstat *b)
{
	return a->run_ns == b->run_ns && a->wait_ns == b->wait_ns &&
	       a->switches_in == b->switches_in;
}

/* 0: not known. */
static uint64_t tick_clock(struct plimp_sampler *sampler,
			   const struct plimp_sampled *thread)
{
	uint64_t ns = 0;

	if (!sampler->by_clocks ||
	    plimp_thread_clock(sampler->host, thread->tid, &ns) != 0)
		return 0;
	return ns;
}

int plimp_sampled_is_still(struct plimp_sampler *sampler,
			   struct plimp_sampled_process *process,
			   struct plimp_sampled *thread)
{
	struct plimp_schedstat now;

	if (thread->clock_ns != 0)
		return tick_clock(sampler, thread) == thread->clock_ns;
	return plimp_sampled_account(sampler, process, thread, &now) == 0 &&
	       tick_is_same(&now, &thread->last);
}

void plimp_sampled_denied(struct plimp_sampler *sampler,
			  struct plimp_sampled_process *process, int problem)
{
	struct plimp_tiers *tiers = &sampler->tiers;

	process->denied = problem;
	if (problem == ENOENT) {
		tiers->no_stop =
		    plim_count_missing(PLIM_REASON_NO_FILE, problem);
		tiers->no_stop_remedy =
		    "a kernel with CONFIG_HAVE_ARCH_TRACEHOOK";
		return;
	}
	tiers->no_stop = plim_count_missing(PLIM_REASON_NO_TRACE, problem);
	tiers->no_stop_remedy =
	    "run it as the target's user; for kernel.yama.ptrace_scope 1 let "
	    "plim start the program, or let it call plim_allow_attach()";
}

int plimp_sampled_call(struct plimp_sampler *sampler,
		       const struct plimp_sampled_process *process,
		       struct plimp_sampled *thread, struct plimp_syscall *call)
{
	plim_bytes text;
	int problem = plimp_sampled_read(sampler, process, thread,
					 &thread->call_file, "syscall", &text);

	if (problem == 0 && plimp_decode_syscall(text, call) != PLIM_OK)
		problem = EBADMSG;
	return problem;
}

static int tick_failure(int problem)
{
	if (problem == EACCES || problem == EPERM)
		return PLIMP_FAILED_DENIED;
	return plimp_is_gone(problem) ? PLIMP_FAILED_ENDED
				      : PLIMP_FAILED_SYSTEM;
}

static int tick_is_same_call(const struct plimp_syscall *a,
			     const struct plimp_syscall *b)
{
	return a->kind == b->kind && a->number == b->number &&
	       a->stack == b->stack && a->program == b->program;
}

static void tick_place(const struct plimp_sampler *sampler,
		       const struct plimp_syscall *call,
		       struct plimp_registers *registers)
{
	int is_x86 = sampler->layout.machine == PLIMP_MACHINE_X86;
	unsigned sp = is_x86 ? PLIMP_X86_RSP : PLIMP_ARM_SP;
	unsigned pc = is_x86 ? PLIMP_X86_RIP : PLIMP_ARM_PC;

	registers->value[sp] = call->stack;
	registers->value[pc] = call->program;
	registers->known = UINT64_C(1) << sp | UINT64_C(1) << pc;
}

/* Most threads sleep a page or two deep. Those of which more was asked once
 * get more at once, and so do all where what is missing cannot be had later. */
static size_t tick_size(const struct plimp_sampler *sampler,
			const struct plimp_sampled *thread)
{
	return (thread->flags & PLIMP_SAMPLED_TALL) != 0 || sampler->by_switches
		   ? PLIMP_COPY_FIRST
		   : PLIMP_COPY_SHORT;
}

/* A thread that sleeps: its copy, proven, or enum plimp_capture_failure. */
static int tick_copy(struct plimp_sampler *sampler,
		     struct plimp_sampled_process *process,
		     struct plimp_sampled *thread,
		     const struct plimp_syscall *call)
{
	struct plimp_syscall again;
	int failed;
	int problem;

	if (!call->has_place)
		return PLIMP_FAILED_SYSTEM;
	failed = plimp_copy_begin(&sampler->copy, process, thread, call->stack,
				  tick_size(sampler, thread));
	if (failed != 0)
		return failed;
	again = *call;
	problem = thread->clock_ns != 0
		      ? 0
		      : plimp_sampled_call(sampler, process, thread, &again);
	if (problem != 0)
		return tick_failure(problem);
	if (!tick_is_same_call(call, &again) ||
	    !plimp_sampled_is_still(sampler, process, thread))
		return PLIMP_FAILED_MOVED;
	return 0;
}

static void tick_failed(struct plimp_sampler *sampler,
			struct plimp_sampled_process *process, int failed,
			int problem)
{
	switch (failed) {
	case PLIMP_FAILED_DENIED:
		sampler->bill.denied++;
		plimp_sampled_denied(sampler, process, problem);
		break;
	case PLIMP_FAILED_MOVED:
		sampler->bill.copies_inconsistent++;
		break;
	case PLIMP_FAILED_MEMORY:
		sampler->bill.unreadable++;
		break;
	default:
		break;
	}
}

/* What it does, beyond its accounts. */
static void tick_look(struct plimp_sampler *sampler,
		      struct plimp_sampled_process *process,
		      struct plimp_sampled *thread,
		      struct plimp_capture *capture)
{
	struct plimp_syscall call;
	int problem = plimp_sampled_call(sampler, process, thread, &call);
	int failed = 0;

	if (problem == ENOENT && process->denied == 0 &&
	    plimp_sampled_is_still(sampler, process, thread))
		plimp_sampled_denied(sampler, process, ENOENT);
	if (problem != 0) {
		failed = tick_failure(problem);
	} else if (call.kind == PLIMP_SYSCALL_RUNNING) {
		return;
	} else {
		/* Before it goes on: a signal would be pending, or disturb.
		 * Ticks ask for its mask when it runs. */
		if (thread->slot != 0 && thread->way < PLIMP_INSIDE_TICKS &&
		    plimp_masks_hide(&call))
			plimp_signals_to_ring(sampler, thread);
		capture->state = PLIMP_THREAD_BLOCKED;
		capture->call =
		    call.kind == PLIMP_SYSCALL_CALL ? (long)call.number : -1;
		failed = tick_copy(sampler, process, thread, &call);
	}
	tick_failed(sampler, process, failed, problem);
	if (failed != 0) {
		capture->failed = failed;
		/* It may run by now. */
		if (failed == PLIMP_FAILED_MOVED)
			capture->state = PLIMP_THREAD_UNKNOWN;
		return;
	}
	sampler->bill.copies++;
	capture->kind = PLIMP_CAPTURE_BLOCKED;
	tick_place(sampler, &call, &capture->registers);
	plimp_copy_give(&sampler->copy, &capture->stack);
	thread->call = capture->call;
	thread->flags |= PLIMP_SAMPLED_PROVEN;
}

static void tick_same(const struct plimp_sampled *thread,
		      struct plimp_capture *capture)
{
	capture->kind = PLIMP_CAPTURE_SAME;
	capture->state = PLIMP_THREAD_BLOCKED;
	capture->call = thread->call;
}

static void tick_capture(const struct plimp_sampler *sampler,
			 const struct plimp_sampled *thread, uint64_t time_ns,
			 struct plimp_capture *capture)
{
	memset(capture, 0, sizeof *capture);
	capture->kind = PLIMP_CAPTURE_UNSAMPLED;
	capture->pid = thread->pid;
	capture->tid = thread->tid;
	capture->start_ticks = thread->start_ticks;
	capture->time_ns = time_ns;
	if (sampler->by_switches)
		return;
	capture->has_accounts = 1;
	capture->cpu_ns = thread->last.run_ns;
	capture->wait_ns = thread->last.wait_ns;
	capture->slices = thread->last.switches_in;
}

/* The accounts now: 0, or the error. Of one that is known not to have run they
 * are what they were. */
static int tick_accounts(struct plimp_sampler *sampler,
			 struct plimp_sampled_process *process,
			 struct plimp_sampled *thread,
			 struct plimp_schedstat *now)
{
	uint64_t clock = tick_clock(sampler, thread);

	if (clock != 0 && clock == thread->clock_ns &&
	    (thread->flags & PLIMP_SAMPLED_PROVEN) != 0) {
		*now = thread->last;
		return 0;
	}
	thread->clock_ns = clock;
	return plimp_sampled_account(sampler, process, thread, now);
}

static void tick_thread(struct plimp_sampler *sampler,
			struct plimp_sampled_process *process,
			struct plimp_sampled *thread)
{
	const uint32_t proven = PLIMP_SAMPLED_PROVEN;
	uint64_t time_ns = plimp_system_monotonic();
	struct plimp_schedstat now;
	struct plimp_capture capture;
	int had = (thread->flags & PLIMP_SAMPLED_ACCOUNTS) != 0;
	int problem = tick_accounts(sampler, process, thread, &now);
	int same;

	if (plimp_is_gone(problem)) {
		sampler->bill.vanished +=
		    (uint64_t)plimp_sampled_gone(sampler, thread, time_ns);
		return;
	}
	plimp_sampled_tell(sampler, thread, time_ns);
	same = had && problem == 0 && tick_is_same(&now, &thread->last);
	if (problem == 0)
		thread->last = now;
	tick_capture(sampler, thread, time_ns, &capture);
	if (problem != 0) {
		capture.has_accounts = 0;
		capture.failed = tick_failure(problem);
		sampler->callback(sampler->user, &capture);
		return;
	}
	thread->flags |= PLIMP_SAMPLED_ACCOUNTS;
	if (!same) {
		sampler->movers++;
		thread->ran_ns = time_ns;
		plimp_signals_ask(sampler, thread, time_ns);
	}
	capture.state = time_ns - thread->ran_ns > TICK_ACCOUNT_NS
			    ? PLIMP_THREAD_WAITING
			    : PLIMP_THREAD_RUNNING;
	if (same && (thread->flags & proven) != 0) {
		tick_same(thread, &capture);
	} else if ((sampler->options.flags & PLIMP_SAMPLER_NO_SLEEPERS) != 0 ||
		   process->denied != 0 || plimp_suspends(sampler)) {
		capture.state = PLIMP_THREAD_UNKNOWN;
		capture.failed = process->denied != 0 ? PLIMP_FAILED_DENIED : 0;
	} else {
		thread->flags &= ~proven;
		tick_look(sampler, process, thread, &capture);
	}
	thread->state = (uint8_t)capture.state;
	capture.needs_ticks = capture.kind == PLIMP_CAPTURE_UNSAMPLED &&
			      capture.state != PLIMP_THREAD_BLOCKED &&
			      thread->slot != 0 &&
			      thread->way >= PLIMP_INSIDE_TICKS;
	sampler->callback(sampler->user, &capture);
	if (capture.kind != PLIMP_CAPTURE_BLOCKED)
		return;
	if (sampler->copy.more_size != 0)
		thread->flags |= PLIMP_SAMPLED_TALL;
	/* What the callback still asked for may have shown it moved. */
	if (sampler->copy.moved)
		sampler->bill.copies_inconsistent++;
}

/* CPU time of all its threads, without the one that asks; 0: not known. The
 * kernel has brought up that one, and the others when they last left a CPU, or
 * at a tick of the scheduler. */
static uint64_t tick_process_cpu(struct plimp_sampler *sampler,
				 const struct plimp_sampled_process *process)
{
	plim_count own = {0};
	uint64_t ns = 0;

	if (sampler->is_own)
		own = plimp_system_thread_cpu(sampler->host);
	if (plimp_process_clock(sampler->host, process->pid, &ns) != 0)
		return 0;
	return ns > own.value ? ns - own.value : 0;
}

int plimp_system_sampler_has_moved(struct plimp_sampler *sampler)
{
	const uint64_t nobody = sampler->is_own ? TICK_NOBODY_NS : 0;
	size_t i;

	sampler->is_still = 0;
	for (i = 0; i < sampler->process_count; i++) {
		const struct plimp_sampled_process *process =
		    &sampler->processes[i];
		uint64_t now;

		if (process->target == NULL) /* given up */
			continue;
		/* One that executed a program waits to be taken over. */
		if (process->lens == NULL || process->cpu_ns == 0)
			return 1;
		now = tick_process_cpu(sampler, process);
		if (now == 0 || now > process->cpu_ns + nobody)
			return 1;
	}
	sampler->is_still = 1;
	return 0;
}

void plimp_system_sampler_rested(struct plimp_sampler *sampler,
				 uint64_t time_ns, plimp_capture_fn *callback,
				 void *user)
{
	struct plimp_capture capture;
	size_t i;

	for (i = 0; i < sampler->thread_count; i++) {
		const struct plimp_sampled *thread = sampler->threads[i];

		if ((thread->flags & PLIMP_SAMPLED_PROVEN) == 0)
			continue;
		tick_capture(sampler, thread, time_ns, &capture);
		tick_same(thread, &capture);
		callback(user, &capture);
	}
}

void plimp_sampled_tick(struct plimp_sampler *sampler)
{
	size_t i;

	/* After a tick at which somebody had run, there will be no rest. */
	for (i = 0; i < sampler->process_count; i++) {
		struct plimp_sampled_process *process = &sampler->processes[i];

		process->cpu_ns = sampler->movers == 0 && process->lens != NULL
				      ? tick_process_cpu(sampler, process)
				      : 0;
	}
	sampler->movers = 0;
	sampler->is_still = 0;
	i = 0;

	while (i < sampler->thread_count) {
		struct plimp_sampled *thread = sampler->threads[i];
		struct plimp_sampled_process *process =
		    plimp_sampled_process_of(sampler, thread->pid);

		if (process != NULL && process->lens != NULL)
			tick_thread(sampler, process, thread);
		/* Who has ended gave its place to another one. */
		if (i < sampler->thread_count && sampler->threads[i] == thread)
			i++;
	}
}
