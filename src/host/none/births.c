/*
 * births.c - the host that sees no starts and ends without a look for them,
 * and no numbers of system calls. On macOS the first take an entitlement
 * (Endpoint Security) or a trace of the whole machine (root), on Windows ETW
 * and a privilege; neither tells in which call a thread waits.
 */
#include "core/fail.h"
#include "host/host.h"

#include <string.h>

int plimp_system_births_open(plim_host *host,
			     const plim_births_options *options,
			     const plim_identity *root,
			     struct plimp_births **births, int *method,
			     plim_count *missing, plim_error *error)
{
	(void)host;
	(void)options;
	(void)root;
	(void)error;
	*births = NULL;
	*method = PLIM_METHOD_NONE;
	*missing = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
	return PLIM_OK;
}

int plimp_system_births_cover(struct plimp_births *births,
			      const plim_identity *member, size_t *added,
			      plim_error *error)
{
	(void)births;
	(void)member;
	(void)added;
	return plimp_fail(error, PLIM_EUNSUPPORTED, 0, "count births", NULL,
			  NULL);
}

void plimp_system_births_settle(struct plimp_births *births, int whole)
{
	(void)births;
	(void)whole;
}

void plimp_system_births_read(struct plimp_births *births,
			      struct plimp_birth_counts *counts)
{
	(void)births;
	memset(counts, 0, sizeof *counts);
}

int plimp_system_births_descriptor(const struct plimp_births *births)
{
	(void)births;
	return -1;
}

void plimp_system_births_close(struct plimp_births *births)
{
	(void)births;
}

const char *plimp_system_call_name(const plim_host *host, uint64_t number)
{
	(void)host;
	(void)number;
	return NULL;
}
