/*
 * survey_profile.c - what a profile can see here: whether perf events are
 * opened for this user, how much room their rings may have, and whose threads
 * may be looked at while they sleep, or stopped.
 *
 * As everywhere in a survey each is asked by doing it once, on ourselves: an
 * event that is opened and closed again counts nothing. The room is told by
 * what is allowed, since asking for it would take it from others.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROFILE_LOCK "/proc/sys/kernel/perf_event_mlock_kb"
#define PROFILE_YAMA "/proc/sys/kernel/yama/ptrace_scope"

/* What a CPU that is busy fills in a tenth of a second at 1,000 samples of 16
 * KiB a second, as a power of 2 (sampler_events.c). */
#define PROFILE_ROOM ((uint64_t)2 << 20)

/* 0, or the error of opening such an event on ourselves. */
static int profile_try(plim_host *host, int in_kernel)
{
	struct perf_event_attr attr;
	int descriptor;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 16384;
	attr.exclude_kernel = !in_kernel;
	attr.exclude_hv = 1;
	attr.disabled = 1;
	host->bill.system_calls++;
	descriptor = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
				  PERF_FLAG_FD_CLOEXEC);
	if (descriptor < 0)
		return errno;
	plimp_call_close(host, descriptor);
	return 0;
}

plim_finding plimp_survey_running(plim_host *host)
{
	plim_finding finding = {"profile of threads that run", PLIM_STATE_KNOWN,
				"perf events sample them, in system calls, too",
				"", ""};
	int problem = profile_try(host, 1);

	if (problem == EACCES || problem == EPERM) {
		problem = profile_try(host, 0);
		finding.text = "perf events sample them outside of system "
			       "calls, whose time is counted alone";
		finding.remedy = problem == 0
				     ? "sysctl kernel.perf_event_paranoid=1, "
				       "or CAP_PERFMON, for system calls, too"
				     : "";
	}
	if (problem == 0)
		return finding;
	finding.state = PLIM_STATE_UNSUPPORTED;
	finding.text = "this kernel has no such perf events";
	if (plimp_is_starved(problem)) {
		finding.state = PLIM_STATE_SKIPPED;
		finding.text =
		    plim_reason_text(PLIM_REASON_TOO_MANY_DESCRIPTORS);
		finding.remedy = "raise the limit of open files";
	} else if (problem == EACCES || problem == EPERM) {
		finding.state = PLIM_STATE_DENIED;
		finding.text = "perf events are refused to this user: threads "
			       "that run are stopped by ptrace, 99 times a "
			       "second at most, where that is allowed; else a "
			       "command samples itself (plim profile -- CMD)";
		finding.remedy =
		    "sysctl kernel.perf_event_paranoid=2, or allow "
		    "perf_event_open in the container";
	}
	return finding;
}

/* A number from a file of the system: 1, or 0 where there is none. */
static int profile_number(plim_host *host, const char *path, uint64_t *number)
{
	plim_bytes text;

	return plimp_read_file(host, AT_FDCWD, path, &text) == 0 &&
	       plimp_decode_number(text, number) == PLIM_OK;
}

plim_finding plimp_survey_room(plim_host *host)
{
	plim_finding finding = {
	    "room for samples", PLIM_STATE_KNOWN,
	    "enough to lock for 1,000 whole samples a second of every CPU", "",
	    ""};
	plim_count cpus = plimp_system_cpus(host);
	struct rlimit limit = {0, 0};
	uint64_t allowed = 0;

	host->bill.system_calls++;
	/* Root has CAP_IPC_LOCK but in a container that took it away, where
	 * more than this is counted as for everybody. */
	if (geteuid() == 0)
		return finding;
	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
	    cpus.state != PLIM_STATE_KNOWN ||
	    !profile_number(host, PROFILE_LOCK, &allowed)) {
		finding.state = PLIM_STATE_UNSUPPORTED;
		finding.text = "how much may be locked could not be told";
		return finding;
	}
	if (limit.rlim_cur == RLIM_INFINITY || allowed >= PROFILE_ROOM / 1024 ||
	    (PROFILE_ROOM - allowed * 1024) * cpus.value <= limit.rlim_cur)
		return finding;
	finding.text = "little may be locked: at high rates stacks are cut "
		       "shorter, and samples may be lost";
	finding.remedy = "raise RLIMIT_MEMLOCK, or sysctl "
			 "kernel.perf_event_mlock_kb";
	return finding;
}

plim_finding plimp_survey_tracing(plim_host *host)
{
	plim_finding finding = {
	    "profile of threads that sleep", PLIM_STATE_KNOWN,
	    "of any process of this user that is dumpable, without a stop", "",
	    ""};
	static const char *const texts[] = {
	    "of programs that plim starts, and of those that allow it",
	    "where CAP_SYS_PTRACE is held alone", "of nobody"};
	uint64_t scope = 0;

	if (!profile_number(host, PROFILE_YAMA, &scope) || scope == 0)
		return finding;
	if (geteuid() == 0 && scope < 3) {
		finding.text = "of any process, without a stop";
		return finding;
	}
	finding.state = PLIM_STATE_DENIED;
	finding.text = texts[scope < 3 ? scope - 1 : 2];
	finding.remedy = "sysctl kernel.yama.ptrace_scope=0, or let plim start "
			 "the program";
	return finding;
}
