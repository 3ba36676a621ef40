/*
 * clock.c - the clocks of the host, and those of processes.
 *
 * A process's CPU clock is named by its number
 * (kernel/time/posix-cpu-timers.c): the complement of the pid, shifted by
 * three, with 2 for "scheduler time". It counts nanoseconds of all threads,
 * ended ones included, and any user may read that of any process he can name.
 * clock_getcpuclockid() gives the same number at the price of a second system
 * call.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	if (clock_gettime(clock, &time) != 0)
		return 0;
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

plim_stamp plimp_system_now(void)
{
	plim_stamp now;

	now.monotonic.ns = clock_ns(CLOCK_MONOTONIC);
	now.boottime.ns = clock_ns(CLOCK_BOOTTIME);
	return now;
}

uint64_t plimp_system_monotonic(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t plimp_system_unix_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

plim_count plimp_system_thread_cpu(plim_host *host)
{
	struct timespec time;

	host->bill.system_calls++;
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0)
		return plim_count_missing(PLIM_REASON_READ_FAILED, errno);
	return plimp_known((uint64_t)time.tv_sec * 1000000000u +
			       (uint64_t)time.tv_nsec,
			   PLIM_METHOD_SYSTEM);
}

/* `kind` as in the kernel's posix-timers_types.h: CPUCLOCK_SCHED, which is
 * 2, and CPUCLOCK_PERTHREAD_MASK, 4. */
static int clock_of_id(plim_host *host, int32_t id, unsigned kind, uint64_t *ns)
{
	struct timespec time;
	clockid_t clock = (clockid_t)((~(uint32_t)id << 3) | kind);

	host->bill.system_calls++;
	if (clock_gettime(clock, &time) != 0)
		return errno;
	*ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	return 0;
}

int plimp_process_clock(plim_host *host, int32_t pid, uint64_t *ns)
{
	return clock_of_id(host, pid, 2, ns);
}

int plimp_thread_clock(plim_host *host, int32_t tid, uint64_t *ns)
{
	return clock_of_id(host, tid, 6, ns);
}

uint64_t plimp_ticks_to_ns(const plim_host *host, uint64_t ticks)
{
	uint64_t rate = host->system->ticks_per_second;

	return ticks / rate * 1000000000u + ticks % rate * 1000000000u / rate;
}

uint64_t plimp_system_ticks(const plim_host *host, plim_boottime when)
{
	uint64_t rate = host->system->ticks_per_second;

	return when.ns / 1000000000u * rate +
	       when.ns % 1000000000u * rate / 1000000000u;
}
