/*
 * calls.c - functions that are looked up at run time, and those that every
 * file here asks by. ntdll has no promise of an import library, and half of
 * the rest is younger than Windows 7; a library that names them in its import
 * table would not start where one lacks.
 */
#include "host/windows/system.h"

#include <string.h>

static void calls_find(HMODULE module, const char *name, void *function)
{
	FARPROC found = module != NULL ? GetProcAddress(module, name) : NULL;

	memcpy(function, &found, sizeof found);
}

int plimp_nt_calls_find(struct plimp_nt_calls *calls)
{
	HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
	HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
	HMODULE base = GetModuleHandleW(L"kernelbase.dll");

	calls_find(ntdll, "NtQuerySystemInformation", &calls->query_system);
	calls_find(ntdll, "NtQueryInformationProcess", &calls->query_process);
	calls_find(ntdll, "NtQueryInformationThread", &calls->query_thread);
	calls_find(ntdll, "RtlGetVersion", &calls->version);
	/* Windows 10, 1607 (Server 2016) has it in kernelbase alone; from
	 * what is known of it, not tried there. */
	calls_find(base, "GetThreadDescription", &calls->thread_description);
	if (calls->thread_description == NULL)
		calls_find(kernel, "GetThreadDescription",
			   &calls->thread_description);
	calls_find(kernel, "K32GetProcessMemoryInfo", &calls->memory_info);
	calls_find(kernel, "GetSystemTimePreciseAsFileTime",
		   &calls->precise_time);
	calls_find(kernel, "GetProcessGroupAffinity", &calls->group_affinity);
	return calls->query_system != NULL && calls->query_process != NULL &&
	       calls->query_thread != NULL;
}

uint64_t plimp_nt_units(FILETIME time)
{
	return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

uint64_t plimp_nt_filetime_precise(const struct plimp_nt_calls *calls)
{
	FILETIME now;

	if (calls->precise_time == NULL)
		return plimp_nt_filetime();
	calls->precise_time(&now);
	return plimp_nt_units(now);
}

uint64_t plimp_nt_filetime(void)
{
	FILETIME now;

	GetSystemTimeAsFileTime(&now);
	return plimp_nt_units(now);
}

int plimp_nt_process_times(plim_host *host, HANDLE process,
			   struct plimp_nt_times *times)
{
	FILETIME create;
	FILETIME end;
	FILETIME kernel;
	FILETIME user;

	host->bill.system_calls++;
	if (!GetProcessTimes(process, &create, &end, &kernel, &user))
		return (int)GetLastError();
	times->create_time = plimp_nt_units(create);
	times->exit_time = plimp_nt_units(end);
	/* Of one that lives it is 0, and documented to be anything. */
	if (times->exit_time != 0 &&
	    WaitForSingleObject(process, 0) == WAIT_TIMEOUT)
		times->exit_time = 0;
	times->kernel_time = plimp_nt_units(kernel);
	times->user_time = plimp_nt_units(user);
	return 0;
}

/* The lowest two bits of a pid are ignored where a process is opened; whose
 * handle it is takes the least of rights to ask. */
HANDLE plimp_nt_open(plim_host *host, int32_t pid, DWORD rights, int *problem)
{
	HANDLE handle;

	host->bill.system_calls++;
	handle = OpenProcess(rights | PROCESS_QUERY_LIMITED_INFORMATION, FALSE,
			     (DWORD)pid);
	if (handle == NULL) {
		*problem = (int)GetLastError();
		return NULL;
	}
	if (GetProcessId(handle) != (DWORD)pid) {
		plimp_nt_close(host, handle);
		*problem = ERROR_INVALID_PARAMETER;
		return NULL;
	}
	*problem = 0;
	return handle;
}

void plimp_nt_close(plim_host *host, HANDLE handle)
{
	if (handle == NULL)
		return;
	host->bill.system_calls++;
	CloseHandle(handle);
}

plim_count plimp_nt_missing(int problem)
{
	return plim_count_missing(problem == ERROR_ACCESS_DENIED
				      ? PLIM_REASON_ACCESS_DENIED
				      : PLIM_REASON_READ_FAILED,
				  problem);
}

/* Any other question has that error for a parameter of ours. */
plim_count plimp_nt_not_opened(int problem)
{
	return problem == ERROR_INVALID_PARAMETER
		   ? plim_count_missing(PLIM_REASON_ENDED, problem)
		   : plimp_nt_missing(problem);
}
