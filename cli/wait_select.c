/*
 * wait_select.c - waiting by pselect(), which every system of POSIX has. A
 * descriptor beyond its sets is not waited for; we have few.
 */
#include "wait_posix.h"

#include <sys/select.h>
#include <time.h>

int wait_ready(uint64_t ns, struct wait_entry *entries, size_t count,
	       const sigset_t *mask)
{
	struct timespec time = {(time_t)(ns / 1000000000u),
				(long)(ns % 1000000000u)};
	fd_set set;
	int most = -1;
	int ready;
	size_t i;

	FD_ZERO(&set);
	for (i = 0; i < count; i++) {
		const int descriptor = entries[i].descriptor;

		if (descriptor < 0 || descriptor >= FD_SETSIZE)
			continue;
		FD_SET(descriptor, &set);
		if (descriptor > most)
			most = descriptor;
	}
	ready = pselect(most + 1, &set, NULL, NULL, &time, mask);
	for (i = 0; i < count && ready > 0; i++)
		entries[i].is_ready = entries[i].descriptor >= 0 &&
				      entries[i].descriptor < FD_SETSIZE &&
				      FD_ISSET(entries[i].descriptor, &set);
	return ready > 0 ? ready : 0;
}
