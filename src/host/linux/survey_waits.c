/*
 * survey_waits.c - what this user can learn of the waits of threads: how long
 * they wait for a CPU and for storage, and what they block in.
 *
 * The system call (task/TID/syscall) takes the right to trace the process
 * (PTRACE_MODE_ATTACH), the place in the kernel (wchan) that to read it. To
 * ask ourselves would tell nothing: one may always trace oneself. So the
 * parent is asked, which is none of our descendants and thereby what Yama
 * refuses where it restricts tracing; and somebody else's process.
 */
#include "host/linux/gnu.h"

#include "host/linux/system.h"

#include <errno.h>
#include <unistd.h>

plim_finding plimp_survey_runqueue(plim_host *host)
{
	plim_count counted = plimp_runqueue_counted(host);

	return (plim_finding){"waits for a CPU", counted.state,
			      counted.state == PLIM_STATE_KNOWN
				  ? "counted of every thread"
				  : plim_reason_text(counted.method),
			      "runqueue_wait_ns", ""};
}

plim_finding plimp_survey_storage(plim_host *host)
{
	plim_count counted = plimp_delays_counted(host);

	return (plim_finding){
	    "waits for storage", counted.state,
	    counted.state == PLIM_STATE_KNOWN
		? "counted of threads that started since it was switched on"
		: plim_reason_text(counted.method),
	    "block_io_delay_ns",
	    counted.method == PLIM_REASON_NO_DELAYS
		? "sysctl kernel.task_delayacct=1, before what is to be "
		  "measured starts"
		: ""};
}

/* 0 if the thread blocks in a call and the kernel tells no place for it. */
static int survey_has_place(plim_host *host, int directory,
			    const struct plimp_syscall *call)
{
	plim_bytes text;
	plim_bytes name;

	return call->kind != PLIMP_SYSCALL_CALL ||
	       (plimp_read_file(host, directory, "wchan", &text) == 0 &&
		plimp_decode_wchan(text, &name) == 1);
}

/* The main thread stands for all: the same is asked of the kernel for each. */
static plim_finding survey_places(plim_host *host, const char *subject,
				  int directory, const char *remedy)
{
	plim_finding finding = {subject, PLIM_STATE_KNOWN,
				"the system call and the place in the kernel",
				"", ""};
	struct plimp_syscall call;
	plim_count missing;
	plim_bytes text;
	int problem = plimp_read_file(host, directory, "syscall", &text);

	if (problem == 0 && plimp_decode_syscall(text, &call) != PLIM_OK)
		problem = EBADMSG;
	if (problem == 0) {
		if (!survey_has_place(host, directory, &call))
			finding.text = "the system call; the kernel tells no "
				       "place for it";
		return finding;
	}
	missing = plimp_missing_file(problem);
	finding.state = missing.state;
	finding.text = plim_reason_text(missing.method);
	if (missing.state == PLIM_STATE_DENIED) {
		finding.text = "the kernel tells it only to who may trace the "
			       "process";
		finding.remedy = remedy;
	}
	return finding;
}

plim_finding plimp_survey_own_places(plim_host *host)
{
	plim_finding finding = {
	    "where own threads wait", PLIM_STATE_PENDING,
	    "the parent, of which it would be asked, is not this user's", "",
	    ""};
	struct stat status;
	int parent = -1;

	if (host->system->live) {
		parent = plimp_open_process(host, getppid());
		if (parent < 0 && plimp_is_starved(errno)) {
			plim_count missing = plimp_missing_file(errno);

			finding.state = missing.state;
			finding.text = plim_reason_text(missing.method);
		}
	}
	if (parent >= 0 && plimp_call_fstat(host, parent, &status) == 0 &&
	    status.st_uid == geteuid())
		finding = survey_places(
		    host, finding.subject, parent,
		    "ask as root, or where Yama restricts tracing: sysctl "
		    "kernel.yama.ptrace_scope=0");
	plimp_call_close(host, parent);
	return finding;
}

plim_finding plimp_survey_others_places(plim_host *host, int directory)
{
	static const char subject[] = "where others' threads wait";

	if (directory < 0)
		return (plim_finding){subject, PLIM_STATE_PENDING,
				      "no process of another user is visible",
				      "", ""};
	return survey_places(host, subject, directory,
			     "ask as the owner of the process, or as root");
}
