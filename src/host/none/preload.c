/*
 * preload.c - of the host that knows nothing: nothing can be preloaded. It is a
 * whole implementation of host/preload.h.
 */
#include "host/preload.h"

#include "core/fail.h"

int plimp_system_preload_open(struct plimp_preload_memory **memory,
			      plim_host *host, plim_error *error)
{
	(void)memory;
	(void)host;
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "preload", NULL,
			  "profiles are taken on Linux alone so far");
}

void plimp_system_preload_close(struct plimp_preload_memory *memory)
{
	(void)memory;
}

const char *
plimp_system_preload_setting(const struct plimp_preload_memory *memory)
{
	(void)memory;
	return NULL;
}

int plimp_system_gives_privileges(plim_host *host, const char *path)
{
	(void)host;
	(void)path;
	return 0;
}
