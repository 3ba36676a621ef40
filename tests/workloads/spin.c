/*
 * spin.c - CPU time in known amounts.
 *
 * `spin MS` burns that much of the process CPU clock in the main thread, and
 * `thread MS` does so in a thread that has ended before the answer comes;
 * both answer with the account. Between commands the process is blocked, so
 * every source of CPU time has settled when the answer has been read.
 */
#include "workload.h"

#include <pthread.h>

static void spin_for(uint64_t ms)
{
	uint64_t until = workload_cpu_ns() + ms * 1000000u;

	while (workload_cpu_ns() < until)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static void *spin_thread(void *user)
{
	spin_for(*(uint64_t *)user);
	return NULL;
}

int main(void)
{
	uint64_t number;
	char line[64];

	workload_begin(120);
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "spin", &number)) {
			spin_for(number);
		} else if (workload_is(line, "thread", &number)) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, spin_thread,
					   &number) != 0)
				workload_fail("pthread_create");
			pthread_join(thread, NULL);
		} else {
			workload_otherwise(line);
			continue;
		}
		workload_account();
		workload_done();
	}
}
