/*
 * invented.h - a profile that nobody sampled, for tests of what is made of
 * one: every number in it is chosen, and some of its names are hostile.
 */
#ifndef SUPPORT_INVENTED_H
#define SUPPORT_INVENTED_H

#include <plimsoll/profile.h>

/*
 * 500 ms on a CPU, 20 ms waiting for one and 1,480 ms blocked, of two threads
 * over one second (the fold of each view has these totals):
 *
 *   main    running  _start main work hot          20 samples, 200 ms
 *   main    running  _start main work fast+hot     10 samples, 100 ms
 *   main    running  [system, not sampled]                     50 ms
 *   main    blocked  _start main poll              65 samples, 650 ms, in poll
 *   worker  running  start evil std::vector<...>    9 samples,  90 ms
 *   worker  running  libhot.so.1+0x1234             6 samples,  60 ms, cut
 *   worker  waiting  [waiting for a CPU]                       20 ms
 *   worker  blocked  start evil futex              83 samples, 830 ms, in futex
 *
 * `fast` is inlined into `hot`; the two names of `evil` have a newline, a
 * semicolon, an escape and a byte that is no UTF-8, and so has the worker's.
 */
plim_profile *invented_profile(void);
void invented_free(plim_profile *profile);

#endif
