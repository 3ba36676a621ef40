/*
 * forkstorm.c - processes that are born and end without a pause.
 *
 * Usage: forkstorm FORKERS SECONDS. Forker i is called forker-i; it starts
 * children and waits for them, a few at a time, so that some are zombies for a
 * while. A child calls itself e-i-N, touches an odd number of pages, and ends;
 * every 8th sleeps before that, and every 16th becomes another program. `stop`
 * ends it before the time, once all children have ended, and tells how many
 * there were and how many forks were refused.
 */
#include "workload.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STORM_FORKERS  16
#define STORM_CHILDREN 4 /* of one forker at a time */

struct storm_count {
	uint64_t births;
	uint64_t refused;
};

static struct storm_count *storm_counts;
static volatile int *storm_over;

static void storm_child(unsigned forker, uint64_t number)
{
	char name[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(name, sizeof(name), "e-%u-%u", forker,
		 (unsigned)(number % 100000000));
	prctl(PR_SET_NAME, name);
	workload_touched((1 + number % 8 * 2) * 4096);
	if (number % 8 == 1)
		workload_sleep_ns(20000000);
	if (number % 16 == 0)
		execl("/bin/true", "true", (char *)NULL);
	_exit(0);
}

static void storm_birth(unsigned forker, unsigned *children)
{
	uint64_t number = storm_counts[forker].births;
	pid_t child = fork();

	if (child == 0)
		storm_child(forker, number);
	if (child > 0) {
		storm_counts[forker].births++;
		(*children)++;
	} else {
		storm_counts[forker].refused++;
	}
}

static void storm_forker(unsigned forker, uint64_t end)
{
	unsigned children = 0;
	char name[16];

	workload_begin(120);
	snprintf(name, sizeof(name), "forker-%u", forker);
	prctl(PR_SET_NAME, name);
	while (!*storm_over && workload_monotonic_ns() < end) {
		storm_birth(forker, &children);
		while (children > 0 &&
		       waitpid(-1, NULL,
			       children < STORM_CHILDREN ? WNOHANG : 0) > 0)
			children--;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	_exit(0);
}

static void storm_tell(unsigned forkers)
{
	uint64_t births = 0;
	uint64_t refused = 0;

	*storm_over = 1;
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	for (unsigned i = 0; i < forkers; i++) {
		births += storm_counts[i].births;
		refused += storm_counts[i].refused;
	}
	workload_number("births", births);
	workload_number("refused", refused);
	workload_done();
}

int main(int argc, char **argv)
{
	unsigned forkers = argc == 3 ? (unsigned)workload_parse(argv[1]) : 0;
	uint64_t seconds = argc == 3 ? workload_parse(argv[2]) : 0;
	char line[64];

	if (forkers == 0 || forkers > STORM_FORKERS || seconds > 60)
		return 2;
	workload_begin(120);
	storm_counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (storm_counts == MAP_FAILED)
		workload_fail("mmap");
	storm_over = (volatile int *)(storm_counts + STORM_FORKERS);
	for (unsigned i = 0; i < forkers; i++) {
		uint64_t end = workload_monotonic_ns() + seconds * 1000000000u;
		pid_t child = fork();

		if (child < 0)
			workload_fail("fork");
		if (child == 0)
			storm_forker(i, end);
	}
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (strcmp(line, "stop") == 0)
			storm_tell(forkers);
		else
			workload_otherwise(line);
	}
}
