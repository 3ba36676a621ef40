/*
 * place_none.c - a machine that tells neither its processor's model nor
 * whether it is one: no `when` that asks for them matches.
 */
#include "gate_run.h"

void place_machine(plim_budget_place *place)
{
	(void)place;
}
