/*
 * spinners.c - threads that do nothing but compute, in known number.
 *
 * Usage: spinners COUNT (at most 64). Each of COUNT threads spins until the
 * process ends, at the lowest priority, so that whatever else runs is not held
 * up; the main thread answers `truth` with the account.
 */
#include "workload.h"

#include <pthread.h>
#include <unistd.h>

static void *spinners_spin(void *user)
{
	for (volatile unsigned i = 0;; i++)
		;
	return user;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? workload_parse(argv[1]) : 8;
	pthread_t thread;
	uint64_t number;
	char line[64];

	if (count > 64)
		return 2;
	workload_begin(60);
	if (nice(19) < 0)
		workload_fail("nice");
	for (uint64_t i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, spinners_spin, NULL) != 0)
			workload_fail("pthread_create");
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "truth", &number))
			workload_account();
		else
			workload_otherwise(line);
		workload_done();
	}
}
