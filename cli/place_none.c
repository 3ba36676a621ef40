/*
 * place_none.c - a machine of which nothing is known: no `when` matches, no
 * baseline can be compared, and no day is known.
 */
#include "gate_run.h"

#include <string.h>

void place_read(plim_budget_place *place, plim_host *host)
{
	(void)host;
	memset(place, 0, sizeof *place);
	place->size = sizeof *place;
	place->is_virtual = -1;
}

void place_free(plim_budget_place *place)
{
	memset(place, 0, sizeof *place);
}
