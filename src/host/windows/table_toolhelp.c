/*
 * table_toolhelp.c - the table by documented calls alone, for who may not use
 * the native one (-Dwindows_snapshot=toolhelp): products against viruses have
 * taken that for an attack.
 *
 * A Toolhelp snapshot tells pid, parent, name and the number of threads; the
 * rest is asked of each process by a handle, so that a pass takes six calls a
 * process, tells less of those that refuse one, and nothing of switches, hard
 * faults and, before Windows 10 22H2, the private working set. A handle is
 * opened by number after the snapshot: who was created since the pass began
 * may have taken the number over, and is left out.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/windows/system.h"

#include <tlhelp32.h>

#include <string.h>

#define TOOLHELP_NAME sizeof(((PROCESSENTRY32W *)NULL)->szExeFile)

const char plimp_nt_table_source[] = "CreateToolhelp32Snapshot";

const uint16_t plimp_nt_table_methods[PLIMP_NT_TABLE_GROUPS] = {
    [PLIMP_NT_TABLE_TIMES] = PLIM_METHOD_PROCESS_TIMES,
    [PLIMP_NT_TABLE_MEMORY] = PLIM_METHOD_MEMORY_COUNTERS,
    [PLIMP_NT_TABLE_PRIVATE] = PLIM_METHOD_MEMORY_COUNTERS,
    [PLIMP_NT_TABLE_FAULTS] = PLIM_METHOD_MEMORY_COUNTERS,
    [PLIMP_NT_TABLE_IO] = PLIM_METHOD_ALL_IO,
    [PLIMP_NT_TABLE_HANDLES] = PLIM_METHOD_QUERY,
    [PLIMP_NT_TABLE_SWITCHES] = PLIM_METHOD_SWITCH_SUM,
};

/* Room for the names, before entries point into it. */
static int toolhelp_room(plim_host *host, HANDLE snapshot, plim_error *error)
{
	struct plimp_nt_table *table = &host->system->table;
	PROCESSENTRY32W entry = {.dwSize = sizeof entry};
	void *bytes = table->bytes;
	size_t count = 0;
	BOOL more;

	for (more = Process32FirstW(snapshot, &entry); more;
	     more = Process32NextW(snapshot, &entry)) {
		host->bill.system_calls++;
		count++;
	}
	if (count > PLIM_SNAPSHOT_LIMIT)
		return plimp_fail(error, PLIM_ELIMIT, 0, "list processes", NULL,
				  NULL);
	if (plimp_reserve(&host->allocator, &bytes, &table->capacity,
			  count * TOOLHELP_NAME, TOOLHELP_NAME, 1) != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "list processes", NULL,
				  NULL);
	table->bytes = bytes;
	table->size = 0;
	return PLIM_OK;
}

static void toolhelp_lacks(struct plimp_nt_entry *entry, int group, int problem)
{
	entry->lacks[group] = plimp_nt_missing(problem).method;
}

/* What the documented counters tell of a process that gave a handle. */
static void toolhelp_figures(plim_host *host, HANDLE process,
			     struct plimp_nt_entry *entry)
{
	struct plimp_nt_process *to = &entry->process;
	struct plimp_nt_memory memory = {.has = 0};
	IO_COUNTERS counters;
	DWORD handles = 0;
	int problem = plimp_nt_memory_ask(host, process, &memory);

	if (problem != 0)
		toolhelp_lacks(entry, PLIMP_NT_TABLE_MEMORY, problem);
	to->resident = memory.resident;
	to->peak_resident = memory.peak_resident;
	to->commit = (memory.has & PLIMP_NT_PRIVATE) != 0 ? memory.private_bytes
							  : memory.pagefile;
	to->private_resident = memory.private_resident;
	if ((memory.has & PLIMP_NT_PRIVATE_RESIDENT) != 0)
		entry->lacks[PLIMP_NT_TABLE_PRIVATE] = 0;
	host->bill.system_calls += 2;
	if (!GetProcessIoCounters(process, &counters))
		toolhelp_lacks(entry, PLIMP_NT_TABLE_IO, (int)GetLastError());
	else
		(void)plimp_decode_nt_io(
		    (plim_bytes){(const char *)&counters, sizeof counters},
		    &to->io);
	if (!GetProcessHandleCount(process, &handles))
		toolhelp_lacks(entry, PLIMP_NT_TABLE_HANDLES,
			       (int)GetLastError());
	to->handles = handles;
}

/* 0 if the number has another owner by now, or none. Creations are dated by
 * the last tick, as `taken` is: who was created in that very tick may be either
 * of two, and is left out as well. */
static int toolhelp_ask(plim_host *host, uint64_t taken,
			struct plimp_nt_entry *entry)
{
	struct plimp_nt_times times = {0};
	int problem;
	HANDLE process =
	    plimp_nt_open(host, (int32_t)entry->process.pid,
			  PROCESS_QUERY_LIMITED_INFORMATION, &problem);

	if (process == NULL && problem == ERROR_INVALID_PARAMETER)
		return 0;
	if (process != NULL)
		problem = plimp_nt_process_times(host, process, &times);
	if (problem == 0 && times.exit_time == 0 && times.create_time < taken)
		toolhelp_figures(host, process, entry);
	plimp_nt_close(host, process);
	if (times.exit_time != 0 || times.create_time >= taken)
		return 0;
	if (problem != 0) {
		toolhelp_lacks(entry, PLIMP_NT_TABLE_TIMES, problem);
		toolhelp_lacks(entry, PLIMP_NT_TABLE_MEMORY, problem);
		toolhelp_lacks(entry, PLIMP_NT_TABLE_IO, problem);
		toolhelp_lacks(entry, PLIMP_NT_TABLE_HANDLES, problem);
	}
	entry->process.create_time = times.create_time;
	entry->process.kernel_time = times.kernel_time;
	entry->process.user_time = times.user_time;
	return 1;
}

static plim_bytes toolhelp_name(struct plimp_nt_table *table,
				const PROCESSENTRY32W *from)
{
	const size_t size = wcsnlen(from->szExeFile, MAX_PATH) * sizeof(WCHAR);
	char *to = table->bytes + table->size;

	if (size > table->capacity - table->size)
		return (plim_bytes){"", 0};
	memcpy(to, from->szExeFile, size);
	table->size += size;
	return (plim_bytes){to, size};
}

static int toolhelp_take(plim_host *host, HANDLE snapshot, uint64_t taken,
			 plim_error *error)
{
	PROCESSENTRY32W from = {.dwSize = sizeof from};
	BOOL more;

	for (more = Process32FirstW(snapshot, &from); more;
	     more = Process32NextW(snapshot, &from)) {
		struct plimp_nt_entry entry = {
		    .layout = plimp_nt_layout,
		    .methods = plimp_nt_table_methods,
		    .lacks =
			{
			    [PLIMP_NT_TABLE_PRIVATE] = PLIM_REASON_TABLE_LACKS,
			    [PLIMP_NT_TABLE_FAULTS] = PLIM_REASON_TABLE_LACKS,
			    [PLIMP_NT_TABLE_SWITCHES] = PLIM_REASON_TABLE_LACKS,
			},
		};
		int code;

		host->bill.system_calls++;
		entry.process.pid = from.th32ProcessID;
		entry.process.parent = from.th32ParentProcessID;
		entry.process.thread_count = from.cntThreads;
		entry.process.name = toolhelp_name(&host->system->table, &from);
		if (entry.process.pid == 0 || entry.process.pid > INT32_MAX ||
		    !toolhelp_ask(host, taken, &entry))
			continue;
		code = plimp_nt_table_add(host, &entry);
		if (code != PLIM_OK)
			return plimp_fail(error, code, 0, "list processes",
					  NULL, NULL);
	}
	return PLIM_OK;
}

int plimp_nt_table_fill(plim_host *host, plim_error *error)
{
	int code;
	HANDLE snapshot;

	host->bill.system_calls++;
	plimp_nt_table_stamp(host);
	snapshot = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
	if (snapshot == INVALID_HANDLE_VALUE)
		return plimp_fail(error, PLIM_ESYSTEM, (int)GetLastError(),
				  "list processes", "CreateToolhelp32Snapshot",
				  NULL);
	code = toolhelp_room(host, snapshot, error);
	if (code == PLIM_OK)
		code = toolhelp_take(host, snapshot,
				     host->system->table.stamp_ticks, error);
	plimp_nt_close(host, snapshot);
	return code;
}
