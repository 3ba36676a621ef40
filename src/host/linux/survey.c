/*
 * survey.c - what this user can learn here: each row asks the kernel by doing
 * the thing once, on ourselves, on the first process of all, or on another
 * user's, and says what came. No version number is consulted.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "host/linux/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What can fail is asked before the first finding is told: half a survey
 * would be taken for a whole one. */
struct survey {
	plim_host *host;
	plim_finding_fn *callback;
	void *user;
	int stopped;
	int stranger; /* a directory of another user's process, or -1 */
	int exit;     /* state of our own exit status, 0 without pidfds */
	int births;   /* the method that would count our own, or NONE */
	plim_count no_births;
};

static void survey_found(struct survey *survey, plim_finding finding)
{
	if (!survey->stopped)
		survey->stopped = survey->callback(&finding, survey->user) != 0;
}

static void survey_tell(struct survey *survey, const char *subject, int state,
			const char *text, const char *figures,
			const char *remedy)
{
	survey_found(survey,
		     (plim_finding){subject, state, text, figures, remedy});
}

static void survey_root(struct survey *survey)
{
	if (survey->host->system->live)
		survey_tell(survey, "proc root", PLIM_STATE_KNOWN,
			    "it shows our own pids: every source may be asked",
			    "", "");
	else
		survey_tell(survey, "proc root", PLIM_STATE_UNSUPPORTED,
			    "it is a recording, or shows another pid "
			    "namespace: only its files are read",
			    "cpu_ns, identity, disk_ops",
			    "use the proc root of the namespace you are in");
}

static void survey_visibility(struct survey *survey)
{
	plim_count hidepid = plimp_system_hidepid(survey->host);
	char text[96];

	if (hidepid.state != PLIM_STATE_KNOWN) {
		survey_tell(survey, "visibility", hidepid.state,
			    "how /proc is mounted could not be told", "", "");
		return;
	}
	snprintf(text, sizeof text, "/proc is mounted with hidepid=%u%s",
		 (unsigned)hidepid.value,
		 hidepid.value == 0 ? ": every process is visible"
				    : ": other users' processes may be hidden");
	survey_tell(survey, "visibility",
		    hidepid.value == 0 ? PLIM_STATE_KNOWN : PLIM_STATE_HIDDEN,
		    text, "",
		    hidepid.value == 0 ? ""
				       : "ask as root, or as a member of the "
					 "group that /proc is mounted with");
}

static void survey_identity(struct survey *survey)
{
	const struct plimp_system *system = survey->host->system;

	if (system->has_inode)
		survey_tell(survey, "identity", PLIM_STATE_KNOWN,
			    "rung 1: pidfd inodes, never used twice",
			    "identity", "");
	else
		survey_tell(survey, "identity", PLIM_STATE_KNOWN,
			    "rung 2: start ticks; a pid that is used again "
			    "within one tick of 10 ms looks the same",
			    "identity", "Linux 6.9 or newer gives rung 1");
	if (system->has_pidfd)
		survey_tell(survey, "waiting and signals", PLIM_STATE_KNOWN,
			    "pidfds: any process can be waited for, and a "
			    "signal reaches no other",
			    "", "");
	else
		survey_tell(survey, "waiting and signals",
			    PLIM_STATE_UNSUPPORTED,
			    "no pidfds: nothing is signalled by number", "",
			    "Linux 5.3 or newer has them");
}

static void survey_clock(struct survey *survey)
{
	uint64_t ns;
	int problem = survey->host->system->live
			  ? plimp_process_clock(survey->host, 1, &ns)
			  : ENOSYS;

	if (problem == 0)
		survey_tell(survey, "CPU time", PLIM_STATE_KNOWN,
			    "in nanoseconds, of any process, ended threads "
			    "included",
			    "cpu_ns", "");
	else
		survey_tell(survey, "CPU time", PLIM_STATE_KNOWN,
			    "in clock ticks, rounded down: the process CPU "
			    "clock does not answer",
			    "cpu_ns", "");
}

static void survey_wakeups(struct survey *survey)
{
	survey_tell(survey, "wake-ups", PLIM_STATE_KNOWN,
		    "exact for this process and for reaped children; of "
		    "others the sum over live threads, a lower bound",
		    "wakeups, involuntary_switches", "");
}

/* The first process that belongs to somebody else, as an open directory. */
static int survey_find_stranger(struct survey *survey, plim_error *error)
{
	plim_host *host = survey->host;
	struct plimp_pids pids = {NULL, 0, 0};
	struct stat status;
	uint64_t position = 0;
	int code = plimp_system_list(host, &pids, &position, error);
	size_t i;

	survey->stranger = -1;
	for (i = 0; code == PLIM_OK && i < pids.count; i++) {
		int directory = plimp_open_process(host, pids.items[i]);

		if (directory < 0 && plimp_is_starved(errno))
			code = plimp_fail(error, PLIM_ESYSTEM, errno, "survey",
					  host->proc_root,
					  "raise the limit of open files");
		else if (directory >= 0 &&
			 plimp_call_fstat(host, directory, &status) == 0 &&
			 status.st_uid != geteuid()) {
			survey->stranger = directory;
			break;
		}
		plimp_call_close(host, directory);
		if (code == PLIM_OK && i + 1 == pids.count)
			code = plimp_system_list(host, &pids, &position, error);
	}
	plimp_pids_release(host, &pids);
	return code;
}

static int survey_find_exit(struct survey *survey, plim_error *error)
{
	plim_host *host = survey->host;
	plim_target target = {.host = host};
	int code;

	survey->exit = PLIM_STATE_UNREAD;
	if (!host->system->has_pidfd)
		return PLIM_OK;
	code = plimp_system_grip(&target, host->system->self.pid, error);
	if (code != PLIM_OK)
		return code;
	survey->exit = plimp_system_exit_status(&target).state;
	plimp_system_release(&target);
	return PLIM_OK;
}

/* What counts our own counts those of whatever is this user's. */
static int survey_find_births(struct survey *survey, plim_error *error)
{
	const plim_births_options options = {
	    .size = sizeof options,
	    .flags = PLIM_BIRTHS_ROOT_ALONE,
	    .ring_bytes = 1, /* the least */
	};
	struct plimp_births *births = NULL;
	int code = plimp_system_births_open(
	    survey->host, &options, &survey->host->system->self, &births,
	    &survey->births, &survey->no_births, error);

	if (code == PLIM_OK)
		plimp_system_births_close(births);
	return code;
}

static void survey_births(struct survey *survey)
{
	static const char subject[] = "short-lived children";

	if (survey->births == PLIM_METHOD_PERF_RECORDS)
		survey_tell(survey, subject, PLIM_STATE_KNOWN,
			    "perf records count what your own processes start",
			    "", "");
	else if (survey->births == PLIM_METHOD_PROCESS_CONNECTOR)
		survey_tell(survey, subject, PLIM_STATE_KNOWN,
			    "the process connector counts what any process "
			    "starts; perf events are refused",
			    "", "");
	else
		survey_tell(survey, subject, survey->no_births.state,
			    plim_reason_text(survey->no_births.method), "",
			    survey->no_births.method == PLIM_REASON_PERF_REFUSED
				? "sysctl kernel.perf_event_paranoid=2, or "
				  "allow perf_event_open in the container"
				: "");
}

static void survey_others(struct survey *survey)
{
	plim_host *host = survey->host;
	plim_bytes text;
	int stranger = survey->stranger;
	int problem =
	    stranger < 0 ? 0 : plimp_read_file(host, stranger, "io", &text);
	plim_count missing = plimp_missing_file(problem);

	if (stranger < 0)
		survey_tell(survey, "other users' storage traffic",
			    PLIM_STATE_PENDING,
			    "no process of another user is visible", "", "");
	else if (problem == 0)
		survey_tell(survey, "other users' storage traffic",
			    PLIM_STATE_KNOWN, "this user may read it",
			    "disk_read_bytes, disk_write_bytes, io_calls", "");
	else if (missing.state == PLIM_STATE_DENIED)
		survey_tell(survey, "other users' storage traffic",
			    PLIM_STATE_DENIED,
			    "the kernel refuses it to this user",
			    "disk_read_bytes, disk_write_bytes, "
			    "disk_cancelled_write_bytes, io_calls",
			    "ask as the owner of the process, or as root");
	else
		survey_tell(survey, "other users' storage traffic",
			    missing.state, plim_reason_text(missing.method), "",
			    "ask again");
}

static void survey_counts(struct survey *survey)
{
	plim_host *host = survey->host;
	plim_count operations;

	if (host->system->has_fd_count)
		survey_tell(survey, "descriptors", PLIM_STATE_KNOWN,
			    "the kernel tells their number, of any process",
			    "descriptors", "");
	else
		survey_tell(survey, "descriptors", PLIM_STATE_DENIED,
			    "counted by listing, which is for the owner only",
			    "descriptors", "Linux 6.2 or newer tells it");
	operations = plimp_cgroup_operations(host, host->system->self_directory,
					     host->system->self.pid);
	if (operations.state == PLIM_STATE_KNOWN)
		survey_tell(survey, "disk operations", PLIM_STATE_KNOWN,
			    "this process has a cgroup of its own", "disk_ops",
			    "");
	else
		survey_tell(survey, "disk operations", operations.state,
			    plim_reason_text(operations.method), "disk_ops",
			    "run it alone in a cgroup: systemd-run --scope");
}

static void survey_exit(struct survey *survey)
{
	if (!survey->host->system->has_pidfd)
		survey_tell(survey, "exit status of others",
			    PLIM_STATE_UNSUPPORTED, "it takes a pidfd", "", "");
	else if (survey->exit == PLIM_STATE_PENDING)
		survey_tell(survey, "exit status of others", PLIM_STATE_KNOWN,
			    "told once the parent has reaped the process "
			    "(Linux 6.15)",
			    "", "");
	else
		survey_tell(survey, "exit status of others",
			    PLIM_STATE_UNSUPPORTED,
			    "this kernel tells it to the parent alone", "",
			    "Linux 6.15 or newer");
}

static void survey_all(struct survey *survey)
{
	plim_host *host = survey->host;

	survey_root(survey);
	survey_visibility(survey);
	survey_identity(survey);
	survey_exit(survey);
	survey_clock(survey);
	survey_wakeups(survey);
	survey_found(survey, plimp_survey_runqueue(host));
	survey_found(survey, plimp_survey_storage(host));
	survey_found(survey, plimp_survey_own_places(host));
	survey_found(survey,
		     plimp_survey_others_places(host, survey->stranger));
	survey_others(survey);
	survey_counts(survey);
	survey_births(survey);
	survey_found(survey, plimp_survey_running(host));
	survey_found(survey, plimp_survey_room(host));
	survey_found(survey, plimp_survey_tracing(host));
}

int plimp_system_survey(plim_host *host, plim_finding_fn *callback, void *user,
			plim_error *error)
{
	struct survey survey = {
	    .host = host,
	    .callback = callback,
	    .user = user,
	};
	int code = survey_find_exit(&survey, error);

	if (code == PLIM_OK)
		code = survey_find_births(&survey, error);
	if (code == PLIM_OK)
		code = survey_find_stranger(&survey, error);
	if (code != PLIM_OK)
		return code;
	survey_all(&survey);
	plimp_call_close(host, survey.stranger);
	return PLIM_OK;
}
