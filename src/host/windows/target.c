/*
 * target.c - a process that is kept an eye on, by a handle.
 *
 * While a handle is open the process object stays, and nobody else gets its
 * pid: it can be asked whether it has ended, waited for, and how it ended,
 * whoever its parent is. A process that refuses a handle to this user (of the
 * system, or protected) is known by the table alone: its creation time tells
 * it from a successor; waiting takes a handle.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/windows/system.h"

#include <stdio.h>
#include <string.h>

struct plimp_grip {
	HANDLE process; /* NULL: refused */
};

static int nt_target_fail(const plim_target *target, int code, int problem,
			  const char *operation, plim_error *error)
{
	char name[16];

	snprintf(name, sizeof name, "%d", (int)target->identity.pid);
	return plimp_fail(error, code, problem, operation, name, NULL);
}

/* 1 ended, 0 lives, -1 cannot be told. */
static int nt_target_has_ended(plim_target *target)
{
	if (target->grip->process == NULL)
		return -1;
	target->host->bill.system_calls++;
	switch (WaitForSingleObject(target->grip->process, 0)) {
	case WAIT_OBJECT_0:
		return 1;
	case WAIT_TIMEOUT:
		return 0;
	default:
		return -1;
	}
}

static void nt_target_name(plim_target *target,
			   const struct plimp_nt_entry *entry)
{
	target->name_size = (uint8_t)plimp_nt_utf8(
	    entry->process.name, target->name, sizeof target->name);
}

/* There is no process with this number; a thread may have it. */
static int nt_target_no_process(plim_target *target, int32_t pid,
				plim_error *error)
{
	char name[16];
	HANDLE thread;
	DWORD owner = 0;

	snprintf(name, sizeof name, "%d", (int)pid);
	target->host->bill.system_calls++;
	thread =
	    OpenThread(THREAD_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)pid);
	if (thread != NULL && GetThreadId(thread) == (DWORD)pid)
		owner = GetProcessIdOfThread(thread);
	plimp_nt_close(target->host, thread);
	if (owner != 0)
		return plimp_fail(error, PLIM_ETHREAD, 0, "open process", name,
				  "it is a thread of process %lu",
				  (unsigned long)owner);
	return plimp_fail(error, PLIM_ENOPROCESS, 0, "open process", name,
			  NULL);
}

/* The table says who it is, whether or not there is a handle. */
static int nt_target_describe(plim_target *target, int32_t pid,
			      plim_error *error)
{
	const struct plimp_nt_entry *entry;
	struct plimp_nt_times times;
	int code;

	plimp_system_begin(target->host);
	code = plimp_nt_table_take(target->host, error);
	if (code != PLIM_OK)
		return code;
	entry = plimp_nt_table_find(target->host, pid);
	if (entry == NULL)
		return nt_target_no_process(target, pid, error);
	plimp_windows_identity(&target->identity, entry->process.pid,
			       entry->process.create_time);
	nt_target_name(target, entry);
	/* Where the table cannot date it (Toolhelp) the handle does. */
	if (target->grip->process != NULL &&
	    plimp_nt_process_times(target->host, target->grip->process,
				   &times) == 0)
		plimp_windows_identity(&target->identity, (uint64_t)pid,
				       times.create_time);
	return PLIM_OK;
}

int plimp_system_grip(plim_target *target, int32_t pid, plim_error *error)
{
	plim_host *host = target->host;
	int problem;
	int code = PLIM_OK;

	target->grip =
	    plimp_allocate(&host->allocator, 1, sizeof *target->grip);
	if (target->grip == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "open process", NULL,
				  NULL);
	target->grip->process = plimp_nt_open(
	    host, pid, SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION,
	    &problem);
	if (target->grip->process == NULL && problem != ERROR_ACCESS_DENIED)
		code = nt_target_no_process(target, pid, error);
	/* Its object may be kept by somebody's handle although it ended. */
	else if (nt_target_has_ended(target) == 1)
		code = nt_target_no_process(target, pid, error);
	else
		code = nt_target_describe(target, pid, error);
	if (code != PLIM_OK)
		plimp_system_release(target);
	return code;
}

void plimp_system_release(plim_target *target)
{
	if (target->grip == NULL)
		return;
	plimp_nt_close(target->host, target->grip->process);
	plimp_release(&target->host->allocator, target->grip, 1,
		      sizeof *target->grip);
	target->grip = NULL;
}

static int nt_target_fate(plim_target *target)
{
	const struct plimp_nt_entry *entry;
	int ended = nt_target_has_ended(target);

	if (ended >= 0)
		return ended ? PLIM_FATE_GONE : PLIM_FATE_SAME;
	plimp_system_begin(target->host);
	if (plimp_nt_table_take(target->host, NULL) != PLIM_OK)
		return PLIM_FATE_CANNOT_TELL;
	entry = plimp_nt_table_find(target->host, target->identity.pid);
	if (entry == NULL)
		return PLIM_FATE_GONE;
	if (entry->process.create_time == 0 ||
	    (target->identity.has & PLIM_IDENTITY_START) == 0)
		return PLIM_FATE_CANNOT_TELL;
	return entry->process.create_time == target->identity.start_ticks
		   ? PLIM_FATE_SAME
		   : PLIM_FATE_REPLACED;
}

/* A process executes one program for life, and keeps its name. */
void plimp_system_check(plim_target *target, plim_check *check)
{
	memset(check, 0, sizeof *check);
	check->fate = nt_target_fate(target);
}

int plimp_system_read_target(plim_target *target,
			     const struct plimp_request *request,
			     plim_process *record,
			     struct plimp_thread_list *threads,
			     plim_error *error)
{
	static const char operation[] = "measure process";
	const struct plimp_nt_entry *entry;
	int code = plimp_nt_table_take(target->host, error);

	if (code != PLIM_OK)
		return code;
	entry = plimp_nt_table_find(target->host, target->identity.pid);
	/* What the table lacks has ended; what has ended may stand in it. */
	if (entry == NULL || nt_target_has_ended(target) == 1)
		return nt_target_fail(target, PLIM_ENOPROCESS, 0, operation,
				      error);
	code = plimp_windows_capture(target->host, entry, request, record,
				     threads, error);
	if (code != PLIM_OK)
		return code;
	switch (plim_identity_compare(&record->identity, &target->identity)) {
	case PLIM_SAME:
		return PLIM_OK;
	case PLIM_DIFFERENT:
		return nt_target_fail(target, PLIM_EREPLACED, 0, operation,
				      error);
	default:
		return nt_target_fail(target, PLIM_ECANNOTTELL, 0, operation,
				      error);
	}
}

static int nt_target_refused(const plim_target *target, const char *operation,
			     plim_error *error)
{
	return nt_target_fail(target, PLIM_EDENIED, ERROR_ACCESS_DENIED,
			      operation, error);
}

int plimp_system_wait(plim_target *target, uint64_t timeout_ns,
		      plim_error *error)
{
	const uint64_t begin = plimp_system_monotonic();
	const uint64_t most_ms = 0x7ffffffe;
	DWORD ended;

	if (target->grip->process == NULL)
		return nt_target_refused(target, "wait for the end", error);
	do {
		uint64_t spent = plimp_system_monotonic() - begin;
		uint64_t rest = spent < timeout_ns ? timeout_ns - spent : 0;
		uint64_t ms = rest / 1000000 + (rest % 1000000 != 0);

		target->host->bill.system_calls++;
		ended =
		    WaitForSingleObject(target->grip->process,
					(DWORD)(ms < most_ms ? ms : most_ms));
	} while (ended == WAIT_TIMEOUT &&
		 plimp_system_monotonic() - begin < timeout_ns);
	if (ended == WAIT_OBJECT_0)
		return PLIM_OK;
	if (ended == WAIT_TIMEOUT)
		return nt_target_fail(target, PLIM_ETIMEOUT, 0,
				      "wait for the end", error);
	return nt_target_fail(target, PLIM_ESYSTEM, (int)GetLastError(),
			      "wait for the end", error);
}

/* 259 is what a live one has, and may be how one ended: that it ended is
 * asked first. */
plim_count plimp_system_exit_status(plim_target *target)
{
	DWORD code = 0;
	int ended = nt_target_has_ended(target);

	if (ended < 0)
		return plimp_nt_missing(ERROR_ACCESS_DENIED);
	if (ended == 0)
		return plim_count_missing(PLIM_REASON_STILL_LIVES, 0);
	target->host->bill.system_calls++;
	if (!GetExitCodeProcess(target->grip->process, &code))
		return plimp_nt_missing((int)GetLastError());
	return plimp_known(code, PLIM_METHOD_QUERY);
}

int plimp_system_poll_descriptor(const plim_target *target)
{
	(void)target;
	return -1;
}

/* Windows has no signals. Ending a process at once is what SIGKILL means, and
 * the only thing of that kind that can be done to one from outside. */
int plimp_system_signal(plim_target *target, int number, plim_error *error)
{
	enum { ASK = 0, KILL = 9, TERMINATE = 15, MOST = 64 };
	plim_host *host = target->host;
	HANDLE process;
	int problem = 0;
	int ended = nt_target_has_ended(target);

	if (number > MOST)
		return nt_target_fail(target, PLIM_EINVAL, 0, "signal", error);
	if (number != ASK && number != KILL && number != TERMINATE)
		return nt_target_fail(target, PLIM_EUNSUPPORTED, 0, "signal",
				      error);
	if (ended < 0)
		return nt_target_refused(target, "signal", error);
	if (ended == 1)
		return nt_target_fail(target, PLIM_ENOPROCESS, 0, "signal",
				      error);
	if (number == ASK)
		return PLIM_OK;
	/* The pid is its own while it is held. */
	process = plimp_nt_open(host, target->identity.pid, PROCESS_TERMINATE,
				&problem);
	if (process != NULL) {
		host->bill.system_calls++;
		if (!TerminateProcess(process, 1))
			problem = (int)GetLastError();
		plimp_nt_close(host, process);
	}
	if (problem == 0)
		return PLIM_OK;
	if (nt_target_has_ended(target) == 1)
		return nt_target_fail(target, PLIM_ENOPROCESS, problem,
				      "signal", error);
	return nt_target_fail(target,
			      problem == ERROR_ACCESS_DENIED ? PLIM_EDENIED
							     : PLIM_ESYSTEM,
			      problem, "signal", error);
}
