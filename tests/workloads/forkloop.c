/*
 * forkloop.c - a process whose memory lock is held most of the time.
 *
 * Usage: forkloop MIB SECONDS. It touches MIB of memory in 4 KiB pages and
 * then forks again and again: each fork copies the page tables under the lock
 * that a reader of its command line needs. It prints its start-up line before
 * the first fork, and ends by itself after SECONDS.
 */
#include "workload.h"

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	uint64_t mib;
	uint64_t end;

	if (argc != 3)
		return 2;
	mib = workload_parse(argv[1]);
	end = workload_parse(argv[2]);
	if (mib > 8192 || end > 60)
		return 2;
	workload_begin((unsigned)end + 5);
	workload_touched((size_t)mib << 20);
	workload_ready();
	end = workload_monotonic_ns() + end * 1000000000u;
	while (workload_monotonic_ns() < end) {
		pid_t child = fork();

		if (child < 0)
			workload_fail("fork");
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return 0;
}
