/*
 * grandchildren.c - a program whose cost lies in children that it reaps.
 *
 * Usage: grandchildren [CHILDREN [SLEEPS]]. It forks one child after another,
 * each sleeps 1 ms once and is waited for; then it sleeps SLEEPS times itself
 * and ends with status 7. Before the end it prints `wakeups_least`: a sleep is
 * one voluntary switch of who sleeps, a wait at most one more. What it costs
 * is told by wait4 to the one who started it.
 */
#include "workload.h"

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	uint64_t children = argc > 1 ? workload_parse(argv[1]) : 500;
	uint64_t sleeps = argc > 2 ? workload_parse(argv[2]) : 100;

	workload_begin(120);
	workload_ready();
	for (uint64_t i = 0; i < children; i++) {
		pid_t child = fork();

		if (child < 0)
			workload_fail("fork");
		if (child == 0) {
			workload_sleep_ns(1000000);
			_exit(0);
		}
		if (waitpid(child, NULL, 0) != child)
			workload_fail("waitpid");
	}
	for (uint64_t i = 0; i < sleeps; i++)
		workload_sleep_ns(1000000);
	workload_number("wakeups_least", children + sleeps);
	workload_done();
	return 7;
}
