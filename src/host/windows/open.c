/*
 * open.c - opening the live system, and its facts. There is nothing but the
 * live system: Windows has no tree of files that another machine's processes
 * could be read from.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/windows/system.h"

#include <psapi.h>

#include <stdio.h>
#include <string.h>

static void nt_open_version(plim_host *host)
{
	int32_t(WINAPI * version)(OSVERSIONINFOW *);
	HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
	FARPROC found =
	    ntdll != NULL ? GetProcAddress(ntdll, "RtlGetVersion") : NULL;
	OSVERSIONINFOW info = {.dwOSVersionInfoSize = sizeof info};

	memcpy(&version, &found, sizeof found);
	if (version == NULL || version(&info) < 0)
		return;
	snprintf(host->kernel, sizeof host->kernel, "%lu.%lu.%lu",
		 info.dwMajorVersion, info.dwMinorVersion, info.dwBuildNumber);
}

static const char *nt_open_machine(WORD architecture)
{
	enum { INTEL = 0, ARM = 5, AMD64 = 9, ARM64 = 12 };

	switch (architecture) {
	case AMD64:
		return "x86_64";
	case ARM64:
		return "aarch64";
	case INTEL:
		return "i686";
	case ARM:
		return "arm";
	default:
		return "";
	}
}

/* SystemTimeOfDayInformation: its first member is when the system started. */
static plim_count nt_open_boot(plim_host *host)
{
	LARGE_INTEGER answer[6] = {{.QuadPart = 0}};
	uint64_t ms = 0;
	int32_t status;

	host->bill.system_calls++;
	status =
	    host->system->calls.query_system(3, answer, sizeof answer, NULL);
	if (status < 0 ||
	    plimp_nt_unix_ms((uint64_t)answer[0].QuadPart, &ms) != 0)
		return plim_count_missing(PLIM_REASON_READ_FAILED, status);
	return plimp_known(ms, PLIM_METHOD_SYSTEM);
}

/* What can be promised beyond the memory that there is: page files. */
static plim_count nt_open_swap(plim_host *host)
{
	PERFORMANCE_INFORMATION info = {.cb = sizeof info};
	uint64_t pages;

	host->bill.system_calls++;
	if (!K32GetPerformanceInfo(&info, sizeof info))
		return plimp_nt_missing((int)GetLastError());
	pages = info.CommitLimit > info.PhysicalTotal
		    ? info.CommitLimit - info.PhysicalTotal
		    : 0;
	return plimp_known(pages * info.PageSize, PLIM_METHOD_SYSTEM);
}

static void nt_open_facts(plim_host *host)
{
	const plim_count never = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
	plim_count *facts = host->facts;
	SYSTEM_INFO info;

	GetNativeSystemInfo(&info);
	memcpy(host->system_name, "windows", 8);
	snprintf(host->machine, sizeof host->machine, "%s",
		 nt_open_machine(info.wProcessorArchitecture));
	nt_open_version(host);
	facts[PLIM_HOST_CPUS] = plimp_system_cpus(host);
	facts[PLIM_HOST_AFFINITY] = plimp_windows_affinity(host);
	facts[PLIM_HOST_PAGE_BYTES] =
	    plimp_known(info.dwPageSize, PLIM_METHOD_SYSTEM);
	facts[PLIM_HOST_TICKS_PER_SECOND] =
	    plimp_known(10000000, PLIM_METHOD_SYSTEM);
	facts[PLIM_HOST_BOOT_UNIX_MS] = nt_open_boot(host);
	facts[PLIM_HOST_SWAP_BYTES] = nt_open_swap(host);
	facts[PLIM_HOST_OWN_PID] =
	    plimp_known((uint64_t)host->system->self.pid, PLIM_METHOD_SYSTEM);
	facts[PLIM_HOST_PID_NAMESPACE] = never;
	facts[PLIM_HOST_HIDEPID] = never;
	facts[PLIM_HOST_IDENTITY_RUNG] =
	    plimp_known(PLIM_RUNG_START, PLIM_METHOD_SYSTEM);
	facts[PLIM_HOST_IS_LIVE] = plimp_known(1, PLIM_METHOD_SYSTEM);
}

int plimp_system_open(plim_host *host, plim_error *error)
{
	struct plimp_nt_times times = {0};
	int problem;

	if (strcmp(host->proc_root, "/proc") != 0)
		return plimp_fail(error, PLIM_EROOT, 0, "open", host->proc_root,
				  "Windows has no proc file system");
	host->system =
	    plimp_allocate(&host->allocator, 1, sizeof *host->system);
	if (host->system == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open", NULL, NULL);
	problem = plimp_nt_process_times(host, GetCurrentProcess(), &times);
	if (problem != 0 || !plimp_nt_calls_find(&host->system->calls)) {
		plimp_system_close(host);
		return plimp_fail(error, PLIM_ESYSTEM, problem, "open",
				  "ntdll.dll", NULL);
	}
	host->proc_root[0] = '\0'; /* there is none to tell of */
	plimp_windows_identity(&host->system->self, GetCurrentProcessId(),
			       times.create_time);
	nt_open_facts(host);
	return PLIM_OK;
}

void plimp_system_close(plim_host *host)
{
	struct plimp_system *system = host->system;

	if (system == NULL)
		return;
	plimp_release(&host->allocator, system->table.bytes,
		      system->table.capacity, 1);
	plimp_release(&host->allocator, system->table.items,
		      system->table.item_capacity, sizeof *system->table.items);
	plimp_release(&host->allocator, system->command,
		      PLIMP_COMMAND_ANSWER + PLIMP_COMMAND_TEXT, 1);
	plimp_release(&host->allocator, system, 1, sizeof *system);
	host->system = NULL;
}

plim_count plimp_system_hidepid(plim_host *host)
{
	return host->facts[PLIM_HOST_HIDEPID];
}
