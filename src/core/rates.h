/*
 * rates.h - the time between two rounds of anything.
 */
#ifndef PLIMP_RATES_H
#define PLIMP_RATES_H

#include <plimsoll/usage.h>

/* From one stamp to a later one; 0 where the clock was said to go back. */
plim_interval plimp_interval(plim_stamp first, plim_stamp last);

#endif
