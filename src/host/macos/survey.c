/*
 * survey.c - what this user can learn here: each row asks the kernel by doing
 * the thing once, on ourselves or on another user's process, and says what
 * came. No version number is consulted.
 */
#include "core/fail.h"
#include "host/macos/system.h"

#include <errno.h>
#include <stdio.h>

struct survey_mac {
	plim_host *host;
	plim_finding_fn *callback;
	void *user;
	int stopped;
	int found_stranger;
	int stranger_refused; /* the error, 0 if it was told */
};

static void survey_mac_tell(struct survey_mac *survey, const char *subject,
			    int state, const char *text, const char *figures,
			    const char *remedy)
{
	const plim_finding finding = {subject, state, text, figures, remedy};

	if (!survey->stopped)
		survey->stopped = survey->callback(&finding, survey->user) != 0;
}

/* Asks about the first process of another user. */
static int survey_mac_stranger(struct survey_mac *survey, plim_error *error)
{
	plim_host *host = survey->host;
	struct plimp_pids pids = {NULL, 0, 0};
	char bytes[sizeof(struct plimp_mac_bsdshort)];
	struct plimp_mac_process process;
	struct plimp_mac_rusage rusage;
	uint64_t position = 0;
	int code = plimp_system_list(host, &pids, &position, error);
	size_t i;

	for (i = 0; code == PLIM_OK && i < pids.count; i++) {
		int64_t size =
		    plimp_mac_call_info(host, pids.items[i], PLIMP_MAC_BSDSHORT,
					0, bytes, sizeof bytes);

		if (size < 0 ||
		    plimp_decode_mac_bsdshort((plim_bytes){bytes, (size_t)size},
					      &process) != PLIM_OK ||
		    process.uid == plimp_mac_call_uid())
			continue;
		survey->stranger_refused =
		    -plimp_mac_rusage(host, pids.items[i], &rusage);
		if (survey->stranger_refused == ESRCH)
			continue;
		survey->found_stranger = 1;
		break;
	}
	plimp_pids_release(host, &pids);
	return code;
}

static void survey_mac_unasked(struct survey_mac *survey, const char *subject,
			       const char *figures)
{
	const int problem = survey->stranger_refused;
	char text[64];

	snprintf(text, sizeof text, "could not be asked: %s",
		 plim_system_error_name(problem));
	survey_mac_tell(survey, subject, plimp_mac_missing(problem).state, text,
			figures, "");
}

/* Permission is what two errors say. */
static void survey_mac_others(struct survey_mac *survey)
{
	const int problem = survey->stranger_refused;
	static const char subject[] = "other users' processes";
	static const char figures[] =
	    "cpu_ns, private_bytes, resident_bytes, wakeups, disk_read_bytes, "
	    "disk_write_bytes, threads, faults_minor, faults_major";

	if (!survey->found_stranger)
		survey_mac_tell(survey, subject, PLIM_STATE_PENDING,
				"no process of another user was found", "", "");
	else if (problem == 0)
		survey_mac_tell(survey, subject, PLIM_STATE_KNOWN,
				"this user may read them", figures, "");
	else if (problem == EPERM || problem == EACCES)
		survey_mac_tell(survey, subject, PLIM_STATE_DENIED,
				"name, parent, user, path, identity and "
				"whether they are stopped or zombies alone; "
				"the kernel refuses their figures to this user",
				figures, "ask as root");
	else
		survey_mac_unasked(survey, subject, figures);
}

static void survey_mac_resources(struct survey_mac *survey)
{
	const struct plimp_system *system = survey->host->system;

	if (system->rusage_flavour == 0)
		survey_mac_tell(survey, "resources", PLIM_STATE_UNSUPPORTED,
				"proc_pid_rusage() answers in no version that "
				"is known",
				"cpu_ns, private_bytes, resident_bytes, "
				"wakeups",
				"");
	else if (system->rusage_flavour < 4)
		survey_mac_tell(survey, "resources", PLIM_STATE_KNOWN,
				"proc_pid_rusage() without the peak of the "
				"footprint",
				"peak_resident_bytes",
				"macOS 10.14 or newer tells it");
	else
		survey_mac_tell(survey, "resources", PLIM_STATE_KNOWN,
				"proc_pid_rusage(): ended threads are included",
				"", "");
	if (system->no_scale)
		survey_mac_tell(survey, "CPU time", PLIM_STATE_UNSUPPORTED,
				"this program is translated (Rosetta) and is "
				"not told the scale of the kernel's ticks",
				"cpu_ns, cpu_user_ns, cpu_system_ns, "
				"cpu_children_ns",
				"use the build for this machine's processor");
	else
		survey_mac_tell(survey, "CPU time", PLIM_STATE_KNOWN,
				"in Mach ticks, as nanoseconds", "cpu_ns", "");
}

static void survey_mac_all(struct survey_mac *survey)
{
	survey_mac_tell(survey, "identity", PLIM_STATE_KNOWN,
			"rung 1: the kernel's unique ids, never used twice",
			"identity", "");
	survey_mac_tell(survey, "waiting", PLIM_STATE_KNOWN,
			"kqueues: any process can be waited for", "", "");
	if (plimp_mac_call_has_signal())
		survey_mac_tell(survey, "signals", PLIM_STATE_KNOWN,
				"by the version of a pid: a signal reaches no "
				"other",
				"", "");
	else
		survey_mac_tell(survey, "signals", PLIM_STATE_UNSUPPORTED,
				"this system signals numbers, not processes: "
				"nothing is signalled",
				"", "macOS 14.4 or newer");
	survey_mac_resources(survey);
	survey_mac_tell(survey, "wake-ups", PLIM_STATE_KNOWN,
			"interrupt wake-ups of the whole process; they cannot "
			"be told thread by thread, nor compared with context "
			"switches of other systems",
			"wakeups", "");
	survey_mac_others(survey);
	survey_mac_tell(survey, "disk operations", PLIM_STATE_UNSUPPORTED,
			"this system counts bytes, no operations",
			"disk_ops, disk_blocks, io_calls", "");
	survey_mac_tell(survey, "short-lived children", PLIM_STATE_UNSUPPORTED,
			"starts are told to root and to entitled programs", "",
			"");
	survey_mac_tell(survey, "profiles", PLIM_STATE_UNSUPPORTED,
			"this build takes no samples on this system", "", "");
}

int plimp_system_survey(plim_host *host, plim_finding_fn *callback, void *user,
			plim_error *error)
{
	struct survey_mac survey = {
	    .host = host,
	    .callback = callback,
	    .user = user,
	};
	int code = survey_mac_stranger(&survey, error);

	if (code == PLIM_OK)
		survey_mac_all(&survey);
	return code;
}
