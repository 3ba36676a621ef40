/*
 * interrupt.c - an interruption ends the measurement, not the report of it:
 * the handler (interrupt_*.c) sets a flag, and every wait looks at it.
 */
#include "cmd.h"

#include <string.h>

volatile int interrupted;
volatile int interrupted_by;
volatile int interrupted_by_user;
volatile int interrupt_lost;

static interrupt_fn *volatile interrupt_told;
static void *volatile interrupt_user;

void interrupt_note(int number, int by_user)
{
	interrupted = 1;
	interrupted_by = number;
	interrupted_by_user = by_user;
	if (interrupt_told != NULL)
		interrupt_told(number, interrupt_user);
}

void interrupt_tell(interrupt_fn *tell, void *user)
{
	interrupt_told = NULL;
	interrupt_user = user;
	interrupt_told = tell;
}

int interrupt_sleep(uint64_t ns, int descriptor)
{
	struct wait_entry entry = {.descriptor = descriptor};
	int ready = interrupt_wait(ns, &entry, 1);

	return ready < 0 ? 1 : ready > 0 ? 2 : 0;
}
