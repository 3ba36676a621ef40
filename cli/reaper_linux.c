/*
 * reaper_linux.c - what a command started in the background ends with it.
 *
 * As a child subreaper we inherit the orphans of what we started, so that its
 * descendants can be found by their parent, however they were detached. They
 * are asked to end, and after two seconds made to, by pidfd.
 */
#include "cmd.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REAPER_ROUNDS 60 /* of 50 ms; SIGKILL from the fortieth on */
#define REAPER_POLITE 40

void reaper_start(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Signals our children: how many there are. */
static int reaper_round(plim_host *host, plim_snapshot *snapshot, int number)
{
	plim_field_set parent = {{0}};
	const plim_snapshot_options take = {.size = sizeof take,
					    .fields = &parent};
	int found = 0;
	size_t i;

	plim_field_set_add(&parent, PLIM_FIELD_PPID);
	if (plim_snapshot_take(snapshot, &take, NULL) != PLIM_OK)
		return 0;
	for (i = 0; i < plim_snapshot_size(snapshot); i++) {
		const plim_process *process = plim_snapshot_at(snapshot, i);
		plim_identity identity = plim_process_identity(process);
		plim_target *target;

		if (plim_process_count(process, PLIM_FIELD_PPID).value !=
			(uint64_t)getpid() ||
		    plim_target_open_identity(&target, host, &identity, NULL) !=
			PLIM_OK)
			continue;
		found++;
		plim_target_signal(target, number, NULL);
		plim_target_close(target);
	}
	return found;
}

/* The command itself is reaped by then; plim has no other children, except a
 * helper that reads command lines, which no report starts. */
void reaper_end(plim_host *host)
{
	const struct timespec pause = {0, 50000000};
	plim_snapshot *snapshot;
	int round;

	if (plim_snapshot_new(&snapshot, host, NULL) != PLIM_OK)
		return;
	for (round = 0; round < REAPER_ROUNDS; round++) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		if (reaper_round(host, snapshot,
				 round < REAPER_POLITE ? SIGTERM : SIGKILL) ==
		    0)
			break;
		nanosleep(&pause, NULL);
	}
	plim_snapshot_free(snapshot);
}
