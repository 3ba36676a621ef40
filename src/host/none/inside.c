/*
 * inside.c - a host that knows nothing starts no thread and samples nobody. It
 * is a whole implementation of host/inside.h.
 */
#include "core/fail.h"
#include "host/inside.h"

int plimp_system_runner_start(struct plimp_runner **runner,
			      const plim_allocator *allocator,
			      plimp_runner_fn *body, void *user,
			      plim_error *error)
{
	(void)runner;
	(void)allocator;
	(void)body;
	(void)user;
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "profile", NULL,
			  "profiles are taken on Linux alone so far");
}

void plimp_system_runner_tell(struct plimp_runner *runner)
{
	(void)runner;
}

void plimp_system_runner_await(struct plimp_runner *runner)
{
	(void)runner;
}

void plimp_system_runner_join(struct plimp_runner *runner)
{
	(void)runner;
}

int32_t plimp_system_own_pid(void)
{
	return 0;
}

int32_t plimp_system_own_tid(void)
{
	return 0;
}

int plimp_system_inside_claim(void)
{
	return 1;
}

void plimp_system_inside_release(void)
{
}
