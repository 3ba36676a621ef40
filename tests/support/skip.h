/*
 * skip.h - a test that cannot run here says why, and does not pass.
 *
 * The reason stands on a line of its own, which the test driver collects; in
 * CI a reason that is not on its list fails. Include <cmocka.h> first.
 */
#ifndef SUPPORT_SKIP_H
#define SUPPORT_SKIP_H

#include <stdio.h>

#define SKIP_BECAUSE(reason)                            \
	do {                                            \
		printf("SKIP_BECAUSE: %s\n", (reason)); \
		fflush(stdout);                         \
		skip();                                 \
	} while (0)

#endif
