/*
 * inside_timers.c - a timer of each thread's own CPU time, which signals the
 * thread: where perf events are refused.
 *
 * The kernel looks at such timers once in a tick of the thread that runs, so
 * that no more than CONFIG_HZ signals come per second of CPU time, whatever
 * was asked; how many periods were over by then comes with the signal. Since
 * 5.11 it does so on the way back to user mode (CONFIG_POSIX_CPU_TIMERS_TASK_
 * WORK): a system call has its result by then, and is not interrupted.
 *
 * A timer takes no descriptor, but one of the user's signals that may be
 * pending (RLIMIT_SIGPENDING). It is not inherited by a forked child, and exec
 * deletes it. By system calls: timer_create() of old C libraries is in another
 * library.
 */
#include "host/linux/gnu.h"

#include "host/inside.h"
#include "host/linux/inside.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* The CPU clock of a thread: CPUCLOCK_SCHED | CPUCLOCK_PERTHREAD of the
 * kernel's posix-timers_types.h. */
static clockid_t timer_clock(int32_t tid)
{
	return (clockid_t)((~(uint32_t)tid << 3) | 6);
}

/* The number of the timer, or -1. */
static int timer_create_for(struct plimp_sampler *sampler, int32_t tid,
			    uint32_t place)
{
	struct sigevent event;
	int timer = -1;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = PLIMP_INSIDE_SIGNAL;
	event.sigev_notify_thread_id = tid;
	event.sigev_value.sival_ptr =
	    (void *)(uintptr_t)(PLIMP_INSIDE_MAGIC << 32 | place);
	sampler->host->bill.system_calls++;
	return syscall(SYS_timer_create, timer_clock(tid), &event, &timer) == 0
		   ? timer
		   : -1;
}

static void timer_delete_it(struct plimp_sampler *sampler, int timer)
{
	sampler->host->bill.system_calls++;
	syscall(SYS_timer_delete, timer);
}

static void timers_refused(struct plimp_sampler *sampler, int problem)
{
	int is_used_up = problem == EAGAIN;

	sampler->tiers.timer =
	    plim_count_missing(is_used_up ? PLIM_REASON_TIMERS_USED_UP
					  : PLIM_REASON_TIMERS_REFUSED,
			       problem);
	sampler->tiers.timer_remedy =
	    is_used_up ? "raise the limit of pending signals (ulimit -i)" : "";
}

int plimp_timers_begin(struct plimp_sampler *sampler)
{
	struct timespec tick = {0};
	int timer;

	/* The coarse clock goes on by ticks, and says so. */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0)
		sampler->tiers.timer_ns = (uint64_t)tick.tv_nsec;
	if ((sampler->options.flags & PLIMP_SAMPLER_NO_TIMERS) != 0) {
		sampler->tiers.timer =
		    plim_count_missing(PLIM_REASON_NOT_WANTED, 0);
		return 0;
	}
	timer = timer_create_for(sampler, plimp_system_own_tid(), 0);
	if (timer < 0) {
		timers_refused(sampler, errno);
		return 0;
	}
	timer_delete_it(sampler, timer);
	sampler->tiers.timer = plimp_known(1, PLIM_METHOD_CPU_TIMERS);
	sampler->tiers.timer_remedy = "";
	return 1;
}

void plimp_timer_set(struct plimp_sampler *sampler,
		     const struct plimp_sampled *thread, uint64_t period_ns)
{
	const struct timespec period = {
	    .tv_sec = (time_t)(period_ns / UINT64_C(1000000000)),
	    .tv_nsec = (long)(period_ns % UINT64_C(1000000000))};
	const struct itimerspec time = {period, period};

	if (thread->timer < 0)
		return;
	sampler->host->bill.system_calls++;
	syscall(SYS_timer_settime, thread->timer, 0, &time, NULL);
}

int plimp_timer_start(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread)
{
	thread->timer = timer_create_for(sampler, thread->tid, thread->slot);
	if (thread->timer < 0) {
		int problem = errno;

		/* EINVAL: it has ended. */
		if (problem != EINVAL)
			timers_refused(sampler, problem);
		return problem == EINVAL ? ESRCH : problem;
	}
	plimp_timer_set(sampler, thread, sampler->options.period_ns);
	if (sampler->inside->way != PLIMP_INSIDE_TIMERS)
		sampler->tiers.timer = plimp_known(1, PLIM_METHOD_CPU_TIMERS);
	return 0;
}

void plimp_timer_stop(struct plimp_sampler *sampler,
		      struct plimp_sampled *thread)
{
	if (thread->timer >= 0)
		timer_delete_it(sampler, thread->timer);
	thread->timer = -1;
}
