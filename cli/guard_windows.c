/*
 * guard_windows.c - nothing that plim started is left running, whatever
 * becomes of plim (guard_start() and the reaper of cmd.h in one).
 *
 * A command is put into a job object before its first instruction; what it
 * starts is in it, too, and cannot leave. We hold the only handle, and the
 * job ends its processes when that is closed: the system closes it however we
 * end. So no second process of ours has to wait, and nobody is asked: Windows
 * has no way to that which programs without a window would hear. Where the
 * command is only to end with us (plim time), a regular end of ours takes that
 * from the job first, so that what it left in the background goes on.
 */
#include "job.h"
#include "wide.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define JOB_ENDS_MS  3000
#define JOB_PAUSE_MS 1

static HANDLE job;
static int job_fate;
static int guarded;

static int job_limit(HANDLE of, DWORD flags)
{
	JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits;

	memset(&limits, 0, sizeof limits);
	limits.BasicLimitInformation.LimitFlags = flags;
	return SetInformationJobObject(of, JobObjectExtendedLimitInformation,
				       &limits, sizeof limits);
}

static void job_at_exit(void)
{
	if (job != NULL && job_fate == CHILD_IS_ASKED)
		job_limit(job, 0);
}

int job_take(void *process, int fate)
{
	static int told;
	HANDLE made;
	int problem = 0;

	if (job != NULL)
		CloseHandle(job);
	job = NULL;
	if (fate == CHILD_STAYS)
		return 0;
	made = CreateJobObjectW(NULL, NULL);
	if (made == NULL)
		return wide_errno(GetLastError());
	if (!job_limit(made, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE) ||
	    !AssignProcessToJobObject(made, process)) {
		problem = wide_errno(GetLastError());
		CloseHandle(made);
		return problem;
	}
	job = made;
	job_fate = fate;
	if (!told)
		atexit(job_at_exit);
	told = 1;
	return 0;
}

/* 0: the system does not tell. */
static int job_tells(JOBOBJECT_BASIC_ACCOUNTING_INFORMATION *facts)
{
	memset(facts, 0, sizeof *facts);
	return QueryInformationJobObject(job,
					 JobObjectBasicAccountingInformation,
					 facts, sizeof *facts, NULL);
}

/* Times are in units of 100 ns, and of ended members, too (from what is known
 * of Windows; not tried there). Wine counts members, and tells 0 of any. */
static void job_account(const JOBOBJECT_BASIC_ACCOUNTING_INFORMATION *facts,
			struct reaper_account *account)
{
	const uint64_t units = (uint64_t)facts->TotalUserTime.QuadPart +
			       (uint64_t)facts->TotalKernelTime.QuadPart;

	account->whole_cpu_ns = units * 100;
	account->whole_members = facts->TotalProcesses;
}

int guard_start(int *status)
{
	(void)status;
	guarded = 1;
	return 0;
}

int guard_is_on(void)
{
	return guarded;
}

void reaper_start(void)
{
}

void reaper_sweep(void)
{
}

void reaper_keep(pid_t pid)
{
	(void)pid;
}

/* The command itself has ended by then: who is there is a descendant. Whether
 * anybody is left is known from the system alone: where it does not tell,
 * somebody may be. */
struct reaper_account reaper_end_all(plim_host *host)
{
	struct reaper_account account = {0};
	JOBOBJECT_BASIC_ACCOUNTING_INFORMATION facts;
	const ULONGLONG end = GetTickCount64() + JOB_ENDS_MS;
	int told;

	(void)host;
	if (job == NULL || job_fate != CHILD_IS_KILLED)
		return account;
	if (job_tells(&facts))
		account.signalled = facts.ActiveProcesses;
	TerminateJobObject(job, EXIT_FAILED);
	while ((told = job_tells(&facts)) != 0 && facts.ActiveProcesses > 0 &&
	       GetTickCount64() < end)
		Sleep(JOB_PAUSE_MS);
	account.left = !told || facts.ActiveProcesses > 0;
	if (!account.left) {
		account.reaped = account.signalled;
		job_account(&facts, &account);
	}
	CloseHandle(job);
	job = NULL;
	return account;
}

void reaper_end(plim_host *host)
{
	reaper_end_all(host);
}

void reaper_kill(void)
{
	reaper_end_all(NULL);
}
