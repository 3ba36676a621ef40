/*
 * watch.c - CPU time of remembered processes.
 *
 * The resources go by pid, so each reading is proven by the unique id that is
 * read after it: who has the pid then has had it since he was born, hence also
 * when the time was read, for he was remembered before that. Nothing is held,
 * since nothing would be saved by it: two calls a process, each a microsecond
 * or two.
 */
#include "core/fail.h"
#include "host/macos/system.h"

#include <errno.h>

size_t plimp_system_watch_limit(plim_host *host)
{
	(void)host;
	return 0;
}

static int watch_mac_lost(int problem, plim_error *error)
{
	int code = problem == ESRCH			   ? PLIM_ENOPROCESS
		   : problem == EPERM || problem == EACCES ? PLIM_EHIDDEN
		   : problem == EBADMSG			   ? PLIM_EMALFORMED
							   : PLIM_ESYSTEM;

	return plimp_fail(error, code, code == PLIM_ESYSTEM ? problem : 0,
			  "watch process", NULL, NULL);
}

int plimp_system_watch(plim_host *host, const plim_identity *identity, int hold,
		       struct plimp_watched *watched, plim_error *error)
{
	plim_identity found;
	char text[48];
	int problem = plimp_mac_who(host, identity->pid, &found);
	int same;

	(void)hold;
	if (problem != 0)
		return watch_mac_lost(-problem, error);
	same = plim_identity_compare(identity, &found);
	if (same != PLIM_SAME) {
		plim_identity_format(identity, text, sizeof text);
		return plimp_fail(
		    error,
		    same == PLIM_DIFFERENT ? PLIM_EREPLACED : PLIM_ECANNOTTELL,
		    0, "watch process", text,
		    same == PLIM_DIFFERENT
			? NULL
			: "this host cannot prove such an identity");
	}
	*watched =
	    (struct plimp_watched){.identity = *identity, .descriptor = -1};
	watched->identity.inode = found.inode;
	watched->identity.has |= PLIM_IDENTITY_INODE;
	return PLIM_OK;
}

void plimp_system_unwatch(plim_host *host, struct plimp_watched *watched)
{
	(void)host;
	watched->descriptor = -1;
}

static void watch_mac_read(plim_host *host, struct plimp_watched *watched)
{
	struct plimp_mac_rusage rusage;
	struct plimp_mac_unique unique;
	int32_t pid = watched->identity.pid;
	int problem;

	watched->monotonic_ns = plimp_system_monotonic();
	problem = plimp_mac_rusage(host, pid, &rusage);
	watched->cpu =
	    problem == 0
		? plimp_mac_time(host, rusage.user_ticks + rusage.system_ticks,
				 PLIM_METHOD_MAC_RUSAGE)
		: plimp_mac_missing(-problem);
	problem = plimp_mac_unique(host, pid, &unique);
	if (problem == 0 && unique.id != watched->identity.inode)
		problem = -ESRCH;
	if (problem == 0)
		return;
	watched->cpu = plimp_mac_missing(-problem);
	watched->ended = problem == -ESRCH;
}

void plimp_system_watch_read(plim_host *host, struct plimp_watched *items,
			     size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!items[i].ended)
			watch_mac_read(host, &items[i]);
}
