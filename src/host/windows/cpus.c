/*
 * cpus.c - the CPUs of the machine, over every processor group, and those
 * that this process may use: its groups, its affinity, and its job's rate.
 */
#include "host/windows/system.h"

#include <stdlib.h>

#define CPUS_ALL_GROUPS	 0xffff
#define CPUS_MOST_GROUPS 64

#define CPUS_SPANNING_BUILD 20348

/* JOBOBJECT_CPU_RATE_CONTROL_INFORMATION (Windows 8), class 15. */
#define CPUS_RATE_CLASS 15
#define CPUS_RATE_ON	0x1u
#define CPUS_RATE_HARD	0x4u

plim_count plimp_system_cpus(plim_host *host)
{
	DWORD count = GetActiveProcessorCount(CPUS_ALL_GROUPS);

	host->bill.system_calls++;
	if (count == 0)
		return plimp_nt_missing((int)GetLastError());
	return plimp_known(count, PLIM_METHOD_SYSTEM);
}

static uint64_t cpus_bits(uint64_t mask)
{
	uint64_t count = 0;

	for (; mask != 0; mask &= mask - 1)
		count++;
	return count;
}

/* From Windows Server 2022 and Windows 11 on a process is in all groups unless
 * it asks for less, and its mask is that of its primary group. From what is
 * known of them; compiled, and tried with several groups nowhere. */
static int cpus_span_groups(plim_host *host)
{
	OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};

	host->bill.system_calls++;
	if (GetActiveProcessorGroupCount() < 2 ||
	    host->system->calls.version == NULL)
		return 0;
	host->bill.system_calls++;
	return host->system->calls.version(&version) >= 0 &&
	       version.dwBuildNumber >= CPUS_SPANNING_BUILD;
}

/* The mask is of one group; a process in several has a mask of 0, and may run
 * on all CPUs of its groups. Where processes span groups the whole mask of one
 * is all of them: who restricted itself to just that is not told apart. */
plim_count plimp_windows_affinity(plim_host *host)
{
	USHORT groups[CPUS_MOST_GROUPS];
	USHORT count = CPUS_MOST_GROUPS;
	DWORD_PTR process = 0;
	DWORD_PTR system = 0;
	uint64_t total = 0;
	USHORT i;

	host->bill.system_calls += 2;
	if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system))
		return plimp_nt_missing((int)GetLastError());
	if (process == system && process != 0 && cpus_span_groups(host))
		return plimp_system_cpus(host);
	if (process != 0)
		return plimp_known(cpus_bits(process), PLIM_METHOD_SYSTEM);
	if (host->system->calls.group_affinity == NULL ||
	    !host->system->calls.group_affinity(GetCurrentProcess(), &count,
						groups))
		return plimp_system_cpus(host);
	for (i = 0; i < count; i++)
		total += GetActiveProcessorCount(groups[i]);
	return total > 0 ? plimp_known(total, PLIM_METHOD_SYSTEM)
			 : plimp_system_cpus(host);
}

/* Of the whole machine, in units of 1/10,000; 0 where no job limits it. */
static uint32_t cpus_rate(plim_host *host)
{
	DWORD control[2] = {0, 0};

	host->bill.system_calls++;
	if (!QueryInformationJobObject(NULL,
				       (JOBOBJECTINFOCLASS)CPUS_RATE_CLASS,
				       control, sizeof control, NULL) ||
	    (control[0] & (CPUS_RATE_ON | CPUS_RATE_HARD)) !=
		(CPUS_RATE_ON | CPUS_RATE_HARD))
		return 0;
	return control[1];
}

plim_real plimp_system_usable_cpus(plim_host *host)
{
	plim_count all = plimp_system_cpus(host);
	plim_real usable = plim_real_of(plimp_windows_affinity(host));
	uint32_t rate = cpus_rate(host);

	if (usable.state != PLIM_STATE_KNOWN || all.state != PLIM_STATE_KNOWN)
		return usable;
	if (rate > 0 && (double)all.value * rate / 10000 < usable.value)
		usable.value = (double)all.value * rate / 10000;
	if (usable.value > (double)all.value)
		usable.value = (double)all.value;
	return usable;
}
