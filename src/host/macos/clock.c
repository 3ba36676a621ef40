/*
 * clock.c - the clocks of the host. Mach has two that count the same ticks:
 * one stands still while the machine sleeps, the other does not. A process's
 * start is told in ticks of the first.
 */
#include "host/macos/system.h"

#include <errno.h>

static uint64_t clock_mac_ns(uint64_t ticks)
{
	struct plimp_mac_scale scale = plimp_mac_call_scale();

	return plimp_mac_scale_is_sound(scale)
		   ? plimp_mac_ticks_to_ns(scale, ticks)
		   : 0;
}

plim_stamp plimp_system_now(void)
{
	plim_stamp now;

	now.monotonic.ns = clock_mac_ns(plimp_mac_call_absolute());
	now.boottime.ns = clock_mac_ns(plimp_mac_call_continuous());
	return now;
}

uint64_t plimp_system_monotonic(void)
{
	return clock_mac_ns(plimp_mac_call_absolute());
}

uint64_t plimp_system_unix_ns(void)
{
	return plimp_mac_call_unix_ns();
}

/*
 * Starts do not count the time that the machine has slept, boot time does; the
 * two clocks tell how long that was. Where the kernel's ticks are not known
 * nobody is young.
 */
uint64_t plimp_system_ticks(const plim_host *host, plim_boottime when)
{
	const struct plimp_system *system = host->system;
	plim_stamp now = plimp_system_now();
	uint64_t slept = now.boottime.ns > now.monotonic.ns
			     ? now.boottime.ns - now.monotonic.ns
			     : 0;

	if (system->no_scale)
		return UINT64_MAX;
	return plimp_mac_ns_to_ticks(system->scale,
				     when.ns > slept ? when.ns - slept : 0);
}

static plim_count clock_mac_cpu(int64_t ns)
{
	if (ns < 0)
		return plim_count_missing(PLIM_REASON_READ_FAILED,
					  (int32_t)-ns);
	return plimp_known((uint64_t)ns, PLIM_METHOD_SYSTEM);
}

plim_count plimp_system_thread_cpu(plim_host *host)
{
	return clock_mac_cpu(plimp_mac_call_thread_cpu(host));
}

/* Nothing tells the wake-ups of one thread. */
void plimp_system_own(plim_host *host, struct plimp_own *own)
{
	uint64_t id = plimp_mac_call_thread();

	own->tid = id <= INT32_MAX ? (int32_t)id : 0;
	own->wakeups = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
	own->involuntary = own->wakeups;
	own->process_cpu_ns = clock_mac_cpu(plimp_mac_call_process_cpu(host));
	own->cpu_ns = clock_mac_cpu(plimp_mac_call_thread_cpu(host));
}

void plimp_system_sleep(plim_host *host, uint64_t ns, int descriptor)
{
	plimp_mac_call_sleep(host, ns, descriptor);
}
