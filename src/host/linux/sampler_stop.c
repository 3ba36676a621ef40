/*
 * sampler_stop.c - the last resort from outside: threads that run are stopped
 * by ptrace for a moment, where perf events are refused and the caller allowed
 * it.
 *
 * One thread at a time: seized (which stops nothing), interrupted, its
 * registers and its stack copied, let go. That disturbs: a thread that enters
 * a system call just then has it restarted, and some calls then fail with
 * EINTR; so only those are stopped that were seen to run, 99 times a second at
 * most. A stop that another signal has caused first is that signal's: it is
 * passed on. A thread that was stopped for job control stays so.
 *
 * The kernel lets go of whatever a tracer held when it dies, however it dies
 * (exit_ptrace() in kernel/ptrace.c), and none is killed, since no option is
 * set. A thread that does not stop at once, as one in a sleep that cannot be
 * interrupted, is owed: it is let go as soon as it has stopped. Only the
 * thread that seized may do so, hence one thread uses a sampler throughout.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/sampler.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long a thread is waited for that was interrupted: it needs a CPU to
 * stop, and is not stopped before it has one. */
#define STOPS_WAIT_NS  UINT64_C(50000000)
#define STOPS_NAP_NS   20000
#define STOPS_SPINS    64
#define STOPS_WORDS    40
#define STOPS_X86_CODE 0x33 /* cs of 64-bit code */

static long stops_call(struct plimp_sampler *sampler, int request, int32_t tid,
		       uintptr_t address, uintptr_t data)
{
	sampler->host->bill.system_calls++;
	return syscall(SYS_ptrace, request, tid, address, data);
}

/*
 * Has it stopped? 1 and the signal that is to be passed on, 0 not yet, -1 it
 * has ended. The end of our own child is its waiter's to take, not ours.
 */
static int stops_poll(struct plimp_sampler *sampler, int32_t tid, int is_child,
		      int *passed)
{
	int flags = WSTOPPED | WNOHANG | __WALL | (is_child ? 0 : WEXITED);
	siginfo_t info;

	memset(&info, 0, sizeof info);
	sampler->host->bill.system_calls++;
	if (waitid(P_PID, (id_t)tid, &info, flags) != 0)
		return errno == EINTR ? 0 : -1;
	if (info.si_pid == 0)
		return 0;
	if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
	    info.si_code == CLD_DUMPED)
		return -1;
	*passed = info.si_status >> 8 == PTRACE_EVENT_STOP
		      ? 0
		      : info.si_status & 0x7f;
	return 1;
}

static int stops_is_child(struct plimp_sampler *sampler,
			  const struct plimp_sampled *thread)
{
	struct plimp_sampled_process *process =
	    plimp_sampled_process_of(sampler, thread->pid);
	struct plimp_stat stat;
	plim_bytes text;
	char path[PLIMP_THREAD_PATH];

	if (thread->tid != thread->pid || process == NULL)
		return 0;
	plimp_thread_path(path, thread->tid, "stat");
	return plimp_read_file(sampler->host, process->task, path, &text) ==
		   0 &&
	       plimp_decode_stat(text, &stat) == PLIM_OK &&
	       stat.ppid == sampler->host->system->self.pid;
}

static void stops_nap(void)
{
	const struct timespec nap = {0, STOPS_NAP_NS};

	nanosleep(&nap, NULL);
}

/* Waits for the stop, not for long: as stops_poll(). */
static int stops_wait(struct plimp_sampler *sampler, int32_t tid, int is_child,
		      uint64_t begin, int *passed)
{
	int spins;

	for (spins = 0;; spins++) {
		int stopped = stops_poll(sampler, tid, is_child, passed);

		if (stopped != 0 ||
		    plimp_system_monotonic() - begin > STOPS_WAIT_NS)
			return stopped;
		if (spins >= STOPS_SPINS)
			stops_nap();
	}
}

/* struct user_regs_struct of arch/x86/include/asm/user_64.h, by the places of
 * its members. */
static void stops_take_x86(const uint64_t *words, struct plimp_registers *to)
{
	static const uint8_t at[17] = {10, 12, 11, 5, 13, 14, 4, 19, 9,
				       8,  7,  6,  3, 2,  1,  0, 16};
	unsigned i;

	if (words[17] != STOPS_X86_CODE)
		return;
	for (i = 0; i < 17; i++)
		to->value[i] = words[at[i]];
	to->known = (UINT64_C(1) << 17) - 1;
}

/* struct user_pt_regs of arch/arm64/include/uapi/asm/ptrace.h: x0 to x30, sp,
 * pc, which is DWARF's order. */
static void stops_take_arm(const uint64_t *words, struct plimp_registers *to)
{
	memcpy(to->value, words, PLIMP_PERF_ARM_COUNT * sizeof *words);
	to->known = (UINT64_C(1) << PLIMP_PERF_ARM_COUNT) - 1;
}

static int stops_registers(struct plimp_sampler *sampler, int32_t tid,
			   struct plimp_registers *registers)
{
	uint64_t words[STOPS_WORDS] = {0};
	struct iovec vector = {words, sizeof words};

	if (stops_call(sampler, PTRACE_GETREGSET, tid, NT_PRSTATUS,
		       (uintptr_t)&vector) != 0)
		return errno;
	if (sampler->layout.machine == PLIMP_MACHINE_ARM) {
		stops_take_arm(words, registers);
		return 0;
	}
	stops_take_x86(words, registers);
	/* orig_rax: it had entered a system call. */
	sampler->bill.calls_disturbed += (uint64_t)((int64_t)words[15] >= 0);
	return 0;
}

static void stops_let_go(struct plimp_sampler *sampler,
			 struct plimp_sampled *thread, int passed)
{
	stops_call(sampler, PTRACE_DETACH, thread->tid, 0, (uintptr_t)passed);
	if ((thread->flags & PLIMP_SAMPLED_STOPPED) != 0) {
		thread->flags &= ~(uint32_t)PLIMP_SAMPLED_STOPPED;
		sampler->owed--;
	}
}

static void stops_denied(struct plimp_sampler *sampler, int problem)
{
	sampler->tiers.ptrace = plim_count_missing(
	    problem == EPERM || problem == EACCES ? PLIM_REASON_NO_TRACE
						  : PLIM_REASON_READ_FAILED,
	    problem);
	sampler->tiers.ptrace_remedy =
	    "run it as the target's user, with no debugger at the target; for "
	    "kernel.yama.ptrace_scope 1 let plim start the program, or let it "
	    "call plim_allow_attach()";
}

void plimp_stops_begin(struct plimp_sampler *sampler)
{
	const uint32_t flags = sampler->options.flags;

	/* Perf events have it better. */
	if (sampler->is_armed &&
	    sampler->tiers.perf.state == PLIM_STATE_KNOWN) {
		sampler->tiers.ptrace =
		    plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
		return;
	}
	if ((flags & PLIMP_SAMPLER_NO_RUNNING) != 0) {
		sampler->tiers.ptrace =
		    plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
		return;
	}
	if ((flags & PLIMP_SAMPLER_PTRACE) == 0 ||
	    sampler->options.preload != NULL)
		return;
	/* Who may read the files of its sleepers may seize it, unless a filter
	 * refuses all of it, as the answer for a thread that cannot be tells,
	 * or somebody else has it: that the first stop tells. */
	if (sampler->tiers.no_stop.state == PLIM_STATE_DENIED)
		stops_denied(sampler, EPERM);
	else if (stops_call(sampler, PTRACE_SEIZE, 0, 0, 0) != 0 &&
		 errno != ESRCH)
		stops_denied(sampler, errno);
	else
		sampler->tiers.ptrace =
		    plimp_known(1, PLIM_METHOD_PTRACE_STOPS);
}

void plimp_stops_settle(struct plimp_sampler *sampler, uint64_t until_ns)
{
	while (sampler->owed > 0) {
		size_t i;

		for (i = 0; i < sampler->thread_count; i++) {
			struct plimp_sampled *thread = sampler->threads[i];
			int passed = 0;

			if ((thread->flags & PLIMP_SAMPLED_STOPPED) == 0)
				continue;
			if (stops_poll(sampler, thread->tid,
				       stops_is_child(sampler, thread),
				       &passed) != 0)
				stops_let_go(sampler, thread, passed);
		}
		if (sampler->owed == 0 || plimp_system_monotonic() >= until_ns)
			break;
		stops_nap();
	}
}

static void stops_bill(struct plimp_sampler *sampler, uint64_t ns)
{
	sampler->bill.stops++;
	sampler->bill.stop_sum_ns += ns;
	if (ns > sampler->bill.stop_longest_ns)
		sampler->bill.stop_longest_ns = ns;
}

/* While it is stopped: its registers, its stack. 0 or the error. */
static int stops_copy(struct plimp_sampler *sampler,
		      struct plimp_sampled_process *process,
		      struct plimp_sampled *thread,
		      struct plimp_capture *capture)
{
	int is_x86 = sampler->layout.machine == PLIMP_MACHINE_X86;
	unsigned sp = is_x86 ? PLIMP_X86_RSP : PLIMP_ARM_SP;
	int problem =
	    stops_registers(sampler, thread->tid, &capture->registers);

	if (problem != 0 || capture->registers.known == 0)
		return problem;
	if (plimp_copy_begin(&sampler->copy, process, NULL,
			     capture->registers.value[sp],
			     sampler->stack_bytes) != 0)
		sampler->bill.unreadable++;
	plimp_copy_give(&sampler->copy, &capture->stack);
	return 0;
}

/* One thread: 1 and its capture, 0 where it gave none. */
static int stops_one(struct plimp_sampler *sampler,
		     struct plimp_sampled_process *process,
		     struct plimp_sampled *thread,
		     struct plimp_capture *capture)
{
	int is_child = stops_is_child(sampler, thread);
	uint64_t begin;
	int passed = 0;
	int stopped;
	int problem;

	if (stops_call(sampler, PTRACE_SEIZE, thread->tid, 0, 0) != 0) {
		if (errno != ESRCH)
			stops_denied(sampler, errno);
		return 0;
	}
	begin = plimp_system_monotonic();
	stops_call(sampler, PTRACE_INTERRUPT, thread->tid, 0, 0);
	stopped = stops_wait(sampler, thread->tid, is_child, begin, &passed);
	if (stopped <= 0) {
		thread->flags |= PLIMP_SAMPLED_STOPPED;
		sampler->owed++;
		if (stopped < 0)
			stops_let_go(sampler, thread, 0);
		return 0;
	}
	problem = stops_copy(sampler, process, thread, capture);
	stops_let_go(sampler, thread, passed);
	capture->time_ns = begin;
	stops_bill(sampler, plimp_system_monotonic() - begin);
	return problem == 0;
}

static void stops_thread(struct plimp_sampler *sampler,
			 struct plimp_sampled_process *process,
			 struct plimp_sampled *thread)
{
	struct plimp_capture capture;

	memset(&capture, 0, sizeof capture);
	if (!stops_one(sampler, process, thread, &capture))
		return;
	capture.kind = PLIMP_CAPTURE_RUNNING;
	capture.pid = thread->pid;
	capture.tid = thread->tid;
	capture.start_ticks = thread->start_ticks;
	capture.state = PLIMP_THREAD_RUNNING;
	capture.cpu_ns = thread->last.run_ns;
	capture.wait_ns = thread->last.wait_ns;
	capture.slices = thread->last.switches_in;
	capture.has_accounts = (thread->flags & PLIMP_SAMPLED_ACCOUNTS) != 0;
	/* A stop waits for the way out of a call. */
	capture.sees_kernel = 1;
	sampler->bill.samples++;
	sampler->callback(sampler->user, &capture);
}

void plimp_stops_tick(struct plimp_sampler *sampler)
{
	uint64_t now = plimp_system_monotonic();
	uint64_t period = sampler->options.period_ns > PLIMP_PTRACE_PERIOD_NS
			      ? sampler->options.period_ns
			      : PLIMP_PTRACE_PERIOD_NS;
	size_t i;

	plimp_stops_settle(sampler, 0);
	if (sampler->tiers.ptrace.state != PLIM_STATE_KNOWN ||
	    sampler->halted || sampler->start_ns == 0 ||
	    now - sampler->stopped_ns < period)
		return;
	sampler->stopped_ns = now;
	for (i = 0; i < sampler->thread_count; i++) {
		struct plimp_sampled *thread = sampler->threads[i];
		struct plimp_sampled_process *process =
		    plimp_sampled_process_of(sampler, thread->pid);

		if (process != NULL && process->lens != NULL &&
		    thread->state == PLIMP_THREAD_RUNNING &&
		    (thread->flags & PLIMP_SAMPLED_STOPPED) == 0)
			stops_thread(sampler, process, thread);
	}
}
