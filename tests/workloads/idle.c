/*
 * idle.c - a process that does nothing but wait for commands, whatever its
 * arguments are. It is the stranger of the tests: what is exec'ed, whose
 * command line is read, who takes over a pid. `signals` tells how many times
 * SIGUSR2 has reached it.
 */
#include "workload.h"

#include <signal.h>

static volatile sig_atomic_t idle_signals;

static void idle_count(int signal)
{
	(void)signal;
	idle_signals++;
}

int main(void)
{
	struct sigaction action = {.sa_handler = idle_count};
	char line[64];
	uint64_t number;

	workload_begin(600);
	sigaction(SIGUSR2, &action, NULL);
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "signals", &number)) {
			workload_number("signals", (uint64_t)idle_signals);
			workload_done();
		} else {
			workload_otherwise(line);
		}
	}
}
