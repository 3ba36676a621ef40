/*
 * wait_poll.c - waiting by ppoll(), which Linux has.
 */
#include "wait_posix.h"

#include <poll.h>
#include <time.h>

#define WAIT_ENTRIES 8

int wait_ready(uint64_t ns, struct wait_entry *entries, size_t count,
	       const sigset_t *mask)
{
	struct timespec time = {(time_t)(ns / 1000000000u),
				(long)(ns % 1000000000u)};
	struct pollfd polled[WAIT_ENTRIES];
	size_t i;
	int ready;

	for (i = 0; i < count && i < WAIT_ENTRIES; i++)
		polled[i] = (struct pollfd){entries[i].descriptor, POLLIN, 0};
	ready = ppoll(polled, (nfds_t)i, &time, mask);
	while (ready > 0 && i-- > 0)
		entries[i].is_ready = polled[i].revents != 0;
	return ready > 0 ? ready : 0;
}
