/*
 * own.c - the calling thread: what it has done itself, and its sleep.
 *
 * Who observes must be able to take off what observing did. The switches are
 * those of getrusage(RUSAGE_THREAD), which are exact. CPU time comes from the
 * two clocks, because ru_utime and ru_stime of a running thread are as old as
 * the last tick of the scheduler (kernel/sched/cputime.c, task_cputime), while
 * both clocks are brought up to date when they are read.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static plim_count own_switches(long value)
{
	return plimp_known(value > 0 ? (uint64_t)value : 0,
			   PLIM_METHOD_GETRUSAGE);
}

static plim_count own_clock(plim_host *host, clockid_t clock)
{
	struct timespec time;

	host->bill.system_calls++;
	if (clock_gettime(clock, &time) != 0)
		return plim_count_missing(PLIM_REASON_READ_FAILED, errno);
	return plimp_known((uint64_t)time.tv_sec * 1000000000u +
			       (uint64_t)time.tv_nsec,
			   PLIM_METHOD_SYSTEM);
}

void plimp_system_own(plim_host *host, struct plimp_own *own)
{
	struct rusage usage;

	host->bill.system_calls += 2;
	own->tid = (int32_t)syscall(SYS_gettid);
	if (getrusage(RUSAGE_THREAD, &usage) == 0) {
		own->wakeups = own_switches(usage.ru_nvcsw);
		own->involuntary = own_switches(usage.ru_nivcsw);
	} else {
		own->wakeups =
		    plim_count_missing(PLIM_REASON_READ_FAILED, errno);
		own->involuntary = own->wakeups;
	}
	own->process_cpu_ns = own_clock(host, CLOCK_PROCESS_CPUTIME_ID);
	own->cpu_ns = own_clock(host, CLOCK_THREAD_CPUTIME_ID);
}

void plimp_system_sleep(plim_host *host, uint64_t ns, int descriptor)
{
	struct pollfd entry = {descriptor, POLLIN, 0};
	uint64_t begin = plimp_system_monotonic();
	uint64_t spent = 0;
	int ready;

	do {
		uint64_t rest = ns - spent;
		struct timespec time = {(time_t)(rest / 1000000000u),
					(long)(rest % 1000000000u)};

		host->bill.system_calls++;
		ready = ppoll(&entry, descriptor >= 0, &time, NULL);
		spent = plimp_system_monotonic() - begin;
	} while (ready < 0 && errno == EINTR && spent < ns);
}
