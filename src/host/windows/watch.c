/*
 * watch.c - processes that are remembered for their CPU time.
 *
 * One question, GetProcessTimes(), tells who a process is (its creation time),
 * whether it has ended and what it used: proof and figure are of one call. The
 * handle of one that is held stays open, of the others it is opened each time.
 * Handles have 32 significant bits on every Windows, so that one fits into the
 * descriptor of a plimp_watched.
 */
#include "core/fail.h"
#include "host/windows/system.h"

#include <string.h>

#define WATCH_RIGHTS (SYNCHRONIZE | PROCESS_QUERY_LIMITED_INFORMATION)

static HANDLE nt_watch_handle(int descriptor)
{
	return (HANDLE)(intptr_t)descriptor;
}

size_t plimp_system_watch_limit(plim_host *host)
{
	(void)host;
	return PLIM_WATCH_HELD;
}

static int nt_watch_lost(int problem, plim_error *error)
{
	int code = PLIM_ESYSTEM;

	if (problem == ERROR_INVALID_PARAMETER)
		code = PLIM_ENOPROCESS;
	else if (problem == ERROR_ACCESS_DENIED)
		code = PLIM_EHIDDEN;
	return plimp_fail(error, code, problem, "watch process", NULL, NULL);
}

int plimp_system_watch(plim_host *host, const plim_identity *identity, int hold,
		       struct plimp_watched *watched, plim_error *error)
{
	struct plimp_watched made = {.identity = *identity, .descriptor = -1};
	struct plimp_nt_times times = {0};
	plim_identity found;
	char text[48];
	int problem;
	int code = PLIM_OK;
	HANDLE process =
	    plimp_nt_open(host, identity->pid, WATCH_RIGHTS, &problem);

	if (process == NULL)
		return nt_watch_lost(problem, error);
	problem = plimp_nt_process_times(host, process, &times);
	if (problem == 0 && times.exit_time != 0)
		problem = ERROR_INVALID_PARAMETER;
	plim_identity_format(identity, text, sizeof text);
	plimp_windows_identity(&found, (uint64_t)identity->pid,
			       times.create_time);
	if (problem != 0)
		code = nt_watch_lost(problem, error);
	else if (plim_identity_compare(identity, &found) == PLIM_DIFFERENT)
		code = plimp_fail(error, PLIM_EREPLACED, 0, "watch process",
				  text, NULL);
	else if (plim_identity_compare(identity, &found) != PLIM_SAME)
		code =
		    plimp_fail(error, PLIM_ECANNOTTELL, 0, "watch process",
			       text, "this host cannot prove such an identity");
	if (code == PLIM_OK && hold) {
		made.descriptor = (int)(intptr_t)process;
		process = NULL;
	}
	plimp_nt_close(host, process);
	if (code == PLIM_OK)
		*watched = made;
	return code;
}

void plimp_system_unwatch(plim_host *host, struct plimp_watched *watched)
{
	if (watched->descriptor >= 0)
		plimp_nt_close(host, nt_watch_handle(watched->descriptor));
	watched->descriptor = -1;
}

static void nt_watch_end(plim_host *host, struct plimp_watched *watched)
{
	watched->cpu = plim_count_missing(PLIM_REASON_ENDED, 0);
	watched->ended = 1;
	plimp_system_unwatch(host, watched);
}

static void nt_watch_read(plim_host *host, struct plimp_watched *watched)
{
	struct plimp_nt_times times = {0};
	HANDLE opened = NULL;
	int problem = 0;
	int is_gone;

	if (watched->descriptor < 0)
		opened = plimp_nt_open(host, watched->identity.pid,
				       WATCH_RIGHTS, &problem);
	is_gone = problem == ERROR_INVALID_PARAMETER;
	watched->monotonic_ns = plimp_system_monotonic();
	if (problem == 0)
		problem = plimp_nt_process_times(
		    host,
		    opened != NULL ? opened
				   : nt_watch_handle(watched->descriptor),
		    &times);
	plimp_nt_close(host, opened);
	if (is_gone || (problem == 0 &&
			(times.exit_time != 0 ||
			 times.create_time != watched->identity.start_ticks)))
		nt_watch_end(host, watched);
	else if (problem != 0)
		watched->cpu = plimp_nt_missing(problem);
	else
		watched->cpu = plimp_known(
		    plimp_nt_ns(times.kernel_time + times.user_time),
		    PLIM_METHOD_PROCESS_TIMES);
}

void plimp_system_watch_read(plim_host *host, struct plimp_watched *items,
			     size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!items[i].ended)
			nt_watch_read(host, &items[i]);
}
