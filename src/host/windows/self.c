/*
 * self.c - this process, and a child that has ended.
 *
 * Times, memory and I/O of ourselves come from the documented calls, which the
 * pseudo handle may always ask; what they do not tell comes from the table.
 * The memory counters are trusted only as far as the call says that it filled
 * them (decode_nt_memory.c). The I/O counters are of everything: files, pipes,
 * sockets and devices. A child is told of alone, without those that it had
 * waited for: Windows adds no child to its parent.
 */
#include "core/fail.h"
#include "host/windows/system.h"

#include <string.h>

#define NT_SELF_MEMORY_SIZE 96 /* PROCESS_MEMORY_COUNTERS_EX2, 64 bits */

static void nt_self_set(plim_process *record, const plim_field_set *fields,
			int field, plim_count figure)
{
	if (plimp_set_has(fields, field))
		plimp_record_set(record, field, figure);
}

static plim_count nt_self_units(uint64_t units)
{
	return plimp_known(plimp_nt_ns(units), PLIM_METHOD_PROCESS_TIMES);
}

static int nt_self_times(plim_host *host, HANDLE process,
			 const plim_field_set *fields, plim_process *record,
			 struct plimp_nt_times *times)
{
	plim_count user;
	plim_count kernel;
	plim_count both;
	int problem = plimp_nt_process_times(host, process, times);

	if (problem == 0) {
		user = nt_self_units(times->user_time);
		kernel = nt_self_units(times->kernel_time);
		both = nt_self_units(times->user_time + times->kernel_time);
	} else {
		both = user = kernel = plimp_nt_missing(problem);
	}
	nt_self_set(record, fields, PLIM_FIELD_CPU, both);
	nt_self_set(record, fields, PLIM_FIELD_CPU_USER, user);
	nt_self_set(record, fields, PLIM_FIELD_CPU_SYSTEM, kernel);
	return problem;
}

/* The largest structure first; an older Windows may refuse its size. */
int plimp_nt_memory_ask(plim_host *host, HANDLE process,
			struct plimp_nt_memory *memory)
{
	static const DWORD sizes_64[] = {96, 80, 72};
	static const DWORD sizes_32[] = {56, 44, 40};
	const DWORD *sizes = PLIMP_NT_WORD == 8 ? sizes_64 : sizes_32;
	char bytes[NT_SELF_MEMORY_SIZE];
	size_t i;

	if (host->system->calls.memory_info == NULL)
		return ERROR_CALL_NOT_IMPLEMENTED;
	for (i = 0; i < 3; i++) {
		memset(bytes, 0, sizeof bytes);
		memcpy(bytes, &sizes[i], sizeof sizes[i]);
		host->bill.system_calls++;
		if (!host->system->calls.memory_info(process, bytes, sizes[i]))
			continue;
		return plimp_decode_nt_memory((plim_bytes){bytes, sizes[i]},
					      PLIMP_NT_WORD, memory) == PLIM_OK
			   ? 0
			   : ERROR_INVALID_DATA;
	}
	return (int)GetLastError();
}

static plim_count nt_self_word(const struct plimp_nt_memory *memory,
			       uint32_t part, uint64_t value)
{
	return (memory->has & part) != 0
		   ? plimp_known(value, PLIM_METHOD_MEMORY_COUNTERS)
		   : plim_count_missing(PLIM_REASON_KERNEL_LACKS, 0);
}

/* Commit is PrivateUsage; what the oldest structure calls PagefileUsage is the
 * same number. */
static void nt_self_memory(plim_host *host, HANDLE process,
			   const plim_field_set *fields, plim_process *record)
{
	struct plimp_nt_memory memory = {.has = 0};
	int problem = plimp_nt_memory_ask(host, process, &memory);
	plim_count figure = plimp_nt_missing(problem);

	nt_self_set(record, fields, PLIM_FIELD_RESIDENT,
		    problem != 0 ? figure
				 : nt_self_word(&memory, PLIMP_NT_RESIDENT,
						memory.resident));
	nt_self_set(record, fields, PLIM_FIELD_PEAK_RESIDENT,
		    problem != 0 ? figure
				 : nt_self_word(&memory, PLIMP_NT_PEAK_RESIDENT,
						memory.peak_resident));
	if (problem == 0 && (memory.has & PLIMP_NT_PRIVATE) == 0)
		figure =
		    nt_self_word(&memory, PLIMP_NT_PAGEFILE, memory.pagefile);
	else if (problem == 0)
		figure = nt_self_word(&memory, PLIMP_NT_PRIVATE,
				      memory.private_bytes);
	nt_self_set(record, fields, PLIM_FIELD_COMMIT, figure);
	/* Where it is not told, the table's stays. */
	if (problem == 0 && (memory.has & PLIMP_NT_PRIVATE_RESIDENT) != 0)
		nt_self_set(record, fields, PLIM_FIELD_PRIVATE,
			    nt_self_word(&memory, PLIMP_NT_PRIVATE_RESIDENT,
					 memory.private_resident));
}

static void nt_self_io(plim_host *host, HANDLE process,
		       const plim_field_set *fields, plim_process *record)
{
	static const int group[] = {PLIM_FIELD_DISK_READ, PLIM_FIELD_DISK_WRITE,
				    PLIM_FIELD_DISK_OPS, PLIM_FIELD_IO_CALLS};
	struct plimp_nt_io io = {0};
	uint64_t values[4];
	IO_COUNTERS counters;
	int problem = 0;
	size_t i;

	host->bill.system_calls++;
	if (!GetProcessIoCounters(process, &counters))
		problem = (int)GetLastError();
	else if (plimp_decode_nt_io(
		     (plim_bytes){(const char *)&counters, sizeof counters},
		     &io) != PLIM_OK)
		problem = ERROR_INVALID_DATA;
	values[0] = io.read_bytes;
	values[1] = io.write_bytes;
	values[2] = io.read_calls + io.write_calls;
	values[3] = values[2];
	for (i = 0; i < 4; i++)
		nt_self_set(record, fields, group[i],
			    problem != 0
				? plimp_nt_missing(problem)
				: plimp_known(values[i], PLIM_METHOD_ALL_IO));
}

/* What only the table tells. */
static int nt_self_wants_table(const plim_field_set *fields)
{
	static const uint8_t others[] = {
	    PLIM_FIELD_PPID,	      PLIM_FIELD_NAME,
	    PLIM_FIELD_STATE,	      PLIM_FIELD_PRIVATE,
	    PLIM_FIELD_WAKEUPS,	      PLIM_FIELD_FAULTS_MINOR,
	    PLIM_FIELD_FAULTS_MAJOR,  PLIM_FIELD_THREADS,
	    PLIM_FIELD_DESCRIPTORS,   PLIM_FIELD_START_TICKS,
	    PLIM_FIELD_START_UNIX_MS, PLIM_FIELD_EXE};
	size_t i;

	for (i = 0; i < sizeof others; i++)
		if (plimp_set_has(fields, others[i]))
			return 1;
	return 0;
}

static int nt_self_table(plim_host *host, const struct plimp_request *request,
			 plim_process *record,
			 struct plimp_thread_list *threads, plim_error *error)
{
	const struct plimp_nt_entry *entry;
	int code;

	plimp_system_begin(host);
	code = plimp_nt_table_take(host, error);
	if (code != PLIM_OK)
		return code;
	entry = plimp_nt_table_find(host, host->system->self.pid);
	if (entry == NULL)
		return plimp_fail(error, PLIM_ESYSTEM, 0, "measure self", NULL,
				  "the table of processes lacks us");
	return plimp_windows_capture(host, entry, request, record, threads,
				     error);
}

int plimp_system_read_self(plim_host *host, const struct plimp_request *request,
			   plim_process *record,
			   struct plimp_thread_list *threads, plim_error *error)
{
	const plim_field_set *fields = &request->fields;
	HANDLE self = GetCurrentProcess();
	struct plimp_nt_times times;
	int code = PLIM_OK;

	if (nt_self_wants_table(fields) || request->thread_parts != 0) {
		code = nt_self_table(host, request, record, threads, error);
	} else {
		plimp_record_clear(record, fields);
		record->stamp = plimp_system_now();
		plimp_windows_never(record, fields);
		nt_self_set(record, fields, PLIM_FIELD_PID,
			    plimp_known((uint64_t)host->system->self.pid,
					PLIM_METHOD_SYSTEM));
	}
	if (code != PLIM_OK)
		return code;
	(void)nt_self_times(host, self, fields, record, &times);
	nt_self_memory(host, self, fields, record);
	nt_self_io(host, self, fields, record);
	plimp_windows_store_identity(record, &host->system->self,
				     PLIM_METHOD_PROCESS_TIMES);
	return PLIM_OK;
}

/* Is it a child of ours? 0, or the system's error. The parent that it has
 * recorded may be another by now: it started before the child, or is none. */
static int nt_self_is_parent(plim_host *host, HANDLE process,
			     const struct plimp_nt_times *times)
{
	ULONG_PTR basic[6] = {0}; /* PROCESS_BASIC_INFORMATION */
	int32_t status;

	host->bill.system_calls++;
	status = host->system->calls.query_process(process, 0, basic,
						   sizeof basic, NULL);
	return status >= 0 && basic[5] == GetCurrentProcessId() &&
	       host->system->self.start_ticks <= times->create_time;
}

int plimp_system_reap(plim_host *host, int32_t child, int *status,
		      plim_process *record, plim_error *error)
{
	const plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	struct plimp_nt_times times;
	plim_identity identity;
	DWORD exit_code = 0;
	int problem;
	int field;
	HANDLE process = plimp_nt_open(
	    host, child, SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION,
	    &problem);

	if (process == NULL)
		return plimp_fail(error,
				  problem == ERROR_ACCESS_DENIED
				      ? PLIM_ESYSTEM
				      : PLIM_ENOPROCESS,
				  problem, "wait for child", NULL, NULL);
	problem = plimp_nt_process_times(host, process, &times);
	if (problem != 0 || !nt_self_is_parent(host, process, &times)) {
		plimp_nt_close(host, process);
		return plimp_fail(error, PLIM_ENOPROCESS, problem,
				  "wait for child", NULL, NULL);
	}
	host->bill.system_calls += 2;
	WaitForSingleObject(process, INFINITE);
	GetExitCodeProcess(process, &exit_code);
	plimp_record_clear(record, &all);
	record->stamp = plimp_system_now();
	for (field = 1; field <= PLIM_FIELD_LAST; field++)
		plimp_record_set(record, field,
				 plim_count_missing(PLIM_REASON_ENDED, 0));
	plimp_windows_never(record, &all);
	(void)nt_self_times(host, process, &all, record, &times);
	nt_self_memory(host, process, &all, record);
	/* Of one that has ended only the peak still is one; none had none. */
	if (record->figures[PLIM_FIELD_PEAK_RESIDENT].value == 0)
		plimp_record_set(record, PLIM_FIELD_PEAK_RESIDENT,
				 plim_count_missing(PLIM_REASON_ENDED, 0));
	plimp_record_set(record, PLIM_FIELD_RESIDENT,
			 plim_count_missing(PLIM_REASON_ENDED, 0));
	plimp_record_set(record, PLIM_FIELD_COMMIT,
			 plim_count_missing(PLIM_REASON_ENDED, 0));
	plimp_record_set(record, PLIM_FIELD_PRIVATE,
			 plim_count_missing(PLIM_REASON_ENDED, 0));
	nt_self_io(host, process, &all, record);
	plimp_record_set(
	    record, PLIM_FIELD_PID,
	    plimp_known((uint64_t)child, PLIM_METHOD_PROCESS_TIMES));
	plimp_windows_identity(&identity, (uint64_t)child, times.create_time);
	plimp_windows_store_identity(record, &identity,
				     PLIM_METHOD_PROCESS_TIMES);
	plimp_nt_close(host, process);
	if (status != NULL)
		*status = (int)exit_code;
	return PLIM_OK;
}
