/*
 * reaper_none.c - where orphans cannot be inherited: the command ends, what it
 * detached is left to itself.
 */
#include "cmd.h"

void reaper_start(void)
{
}

void reaper_end(plim_host *host)
{
	(void)host;
}
