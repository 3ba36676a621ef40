/*
 * survey.c - what this user can learn here: each row asks by doing the thing
 * once. No version number is consulted.
 */
#include "host/windows/system.h"

#include <stdio.h>
#include <string.h>

struct nt_survey {
	plim_host *host;
	plim_finding_fn *callback;
	void *user;
	int stopped;
	size_t processes;
	size_t opened; /* that gave a handle */
};

static void nt_survey_tell(struct nt_survey *nt_survey, const char *subject,
			   int state, const char *text, const char *figures,
			   const char *remedy)
{
	const plim_finding finding = {subject, state, text, figures, remedy};

	if (!nt_survey->stopped)
		nt_survey->stopped =
		    nt_survey->callback(&finding, nt_survey->user) != 0;
}

static void nt_survey_table(struct nt_survey *nt_survey)
{
	char text[128];

	snprintf(text, sizeof text,
		 "%zu processes by one call (%s), of all users",
		 nt_survey->processes, plimp_nt_table_source);
	nt_survey_tell(nt_survey, "processes", PLIM_STATE_KNOWN, text, "", "");
	nt_survey_tell(nt_survey, "identity", PLIM_STATE_KNOWN,
		       "rung 2: creation times in units of 100 ns", "identity",
		       "");
}

static void nt_survey_handles(struct nt_survey *nt_survey)
{
	char text[128];

	snprintf(text, sizeof text,
		 "%zu of %zu processes can be held by a handle: waited for, "
		 "and asked how they ended",
		 nt_survey->opened, nt_survey->processes);
	nt_survey_tell(
	    nt_survey, "waiting", PLIM_STATE_KNOWN, text, "",
	    nt_survey->opened < nt_survey->processes
		? "others are of the system or of other users: ask as "
		  "an administrator"
		: "");
	nt_survey_tell(nt_survey, "signals", PLIM_STATE_KNOWN,
		       "Windows has none: 9 and 15 end the process at once, 0 "
		       "asks whether it lives",
		       "", "");
}

static void nt_survey_figures(struct nt_survey *nt_survey)
{
	const struct plimp_nt_entry *self = plimp_nt_table_find(
	    nt_survey->host, nt_survey->host->system->self.pid);
	const uint16_t lacks =
	    self != NULL ? self->lacks[PLIMP_NT_TABLE_SWITCHES] : 0;

	nt_survey_tell(nt_survey, "CPU time", PLIM_STATE_KNOWN,
		       "of any process, ended threads included, as of the last "
		       "tick of the clock",
		       "cpu_ns", "");
	if (lacks != 0)
		nt_survey_tell(nt_survey, "wake-ups", PLIM_STATE_UNSUPPORTED,
			       plim_reason_text(lacks), "wakeups",
			       "use a build of 64 bits that reads the native "
			       "table");
	else
		nt_survey_tell(nt_survey, "wake-ups", PLIM_STATE_KNOWN,
			       "times that live threads were put on a CPU, a "
			       "lower bound; why they were off it is not told",
			       "wakeups", "");
	nt_survey_tell(nt_survey, "disk traffic", PLIM_STATE_KNOWN,
		       "all that a process reads and writes: files, pipes, "
		       "sockets and devices; storage alone is not told",
		       "disk_read_bytes, disk_write_bytes, disk_ops, io_calls",
		       "");
}

static void nt_survey_threads(struct nt_survey *nt_survey)
{
	if (nt_survey->host->system->calls.thread_description != NULL)
		nt_survey_tell(nt_survey, "thread names", PLIM_STATE_KNOWN,
			       "as programs describe their threads", "", "");
	else
		nt_survey_tell(
		    nt_survey, "thread names", PLIM_STATE_UNSUPPORTED,
		    "this Windows keeps none", "", "Windows 10, 1607 or newer");
}

static void nt_survey_command_line(struct nt_survey *nt_survey)
{
	plim_target target = {.host = nt_survey->host};
	plim_text text = {.state = PLIM_STATE_UNREAD};
	int by_memory;

	if (plimp_system_grip(&target, nt_survey->host->system->self.pid,
			      NULL) != PLIM_OK)
		return;
	(void)plimp_system_command_line(&target, &text, NULL);
	plimp_system_release(&target);
	by_memory = text.method == PLIM_METHOD_PROCESS_PARAMETERS;
	if (text.state != PLIM_STATE_KNOWN)
		nt_survey_tell(nt_survey, "command lines", text.state,
			       plim_reason_text(text.method), "", "");
	else
		nt_survey_tell(nt_survey, "command lines", PLIM_STATE_KNOWN,
			       by_memory ? "from the memory of the process, "
					   "where this user may read that"
					 : "the system tells them",
			       "", by_memory ? "Windows 8.1 or newer" : "");
}

static void nt_survey_births(struct nt_survey *nt_survey)
{
	nt_survey_tell(
	    nt_survey, "short-lived children", PLIM_STATE_UNSUPPORTED,
	    "starts and ends are traced for administrators only", "", "");
}

/* Who gives a handle, of all in the table. */
static void nt_survey_open(struct nt_survey *nt_survey)
{
	const struct plimp_nt_table *table = &nt_survey->host->system->table;
	size_t i;

	nt_survey->processes = table->count;
	for (i = 0; i < table->count; i++) {
		int problem;
		HANDLE process = plimp_nt_open(
		    nt_survey->host, (int32_t)table->items[i].process.pid,
		    SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION, &problem);

		nt_survey->opened += process != NULL;
		plimp_nt_close(nt_survey->host, process);
	}
}

int plimp_system_survey(plim_host *host, plim_finding_fn *callback, void *user,
			plim_error *error)
{
	struct nt_survey nt_survey = {
	    .host = host, .callback = callback, .user = user};
	int code;

	plimp_system_begin(host);
	code = plimp_nt_table_take(host, error);
	if (code != PLIM_OK)
		return code;
	nt_survey_open(&nt_survey);
	nt_survey_table(&nt_survey);
	nt_survey_handles(&nt_survey);
	nt_survey_figures(&nt_survey);
	nt_survey_threads(&nt_survey);
	nt_survey_command_line(&nt_survey);
	nt_survey_births(&nt_survey);
	return PLIM_OK;
}
