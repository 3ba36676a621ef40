/*
 * reaper_none.c - where orphans cannot be inherited: the command ends, what it
 * detached is left to itself.
 */
#include "cmd.h"

void reaper_start(void)
{
}

void reaper_keep(pid_t pid)
{
	(void)pid;
}

void reaper_sweep(void)
{
}

void reaper_kill(void)
{
}

struct reaper_account reaper_end_all(plim_host *host)
{
	const struct reaper_account none = {.unseen = 1};

	(void)host;
	return none;
}

void reaper_end(plim_host *host)
{
	(void)host;
}
