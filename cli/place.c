/*
 * place.c - the machine as a budget compares it: what the host knows of it,
 * what place_*.c adds, and the day.
 */
#include "gate_run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static char *place_text(plim_text text)
{
	char *copy;

	if (text.state != PLIM_STATE_KNOWN)
		return NULL;
	copy = malloc(text.bytes.size + 1);
	if (copy != NULL) {
		memcpy(copy, text.bytes.data, text.bytes.size);
		copy[text.bytes.size] = '\0';
	}
	return copy;
}

static int32_t place_today(void)
{
	time_t now = time(NULL);
	struct tm day;

	if (gmtime_r(&now, &day) == NULL)
		return 0;
	return (day.tm_year + 1900) * 10000 + (day.tm_mon + 1) * 100 +
	       day.tm_mday;
}

void place_read(plim_budget_place *place, plim_host *host)
{
	plim_count cpus = plim_host_count(host, PLIM_HOST_CPUS);

	memset(place, 0, sizeof *place);
	place->size = sizeof *place;
	place->is_virtual = -1;
	place->os = place_text(plim_host_text(host, PLIM_HOST_SYSTEM));
	place->arch = place_text(plim_host_text(host, PLIM_HOST_MACHINE));
	place->kernel = place_text(plim_host_text(host, PLIM_HOST_KERNEL));
	if (cpus.state == PLIM_STATE_KNOWN && cpus.value <= UINT32_MAX)
		place->cores = (uint32_t)cpus.value;
	place_machine(place);
	place->today = place_today();
}

void place_free(plim_budget_place *place)
{
	free((char *)(uintptr_t)place->os);
	free((char *)(uintptr_t)place->arch);
	free((char *)(uintptr_t)place->kernel);
	free((char *)(uintptr_t)place->processor);
	memset(place, 0, sizeof *place);
}
