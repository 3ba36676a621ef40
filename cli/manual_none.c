/*
 * manual_none.c - a system without manual pages.
 */
#include "manual.h"

int manual_show(void)
{
	return 0;
}
