/*
 * forkstorm.c - processes that are born and end without a pause.
 *
 * Usage: forkstorm FORKERS SECONDS. Forker i is called forker-i; for so many
 * seconds it starts children and waits for them, two at a time, so that some
 * are zombies for a while. A child calls itself e-i-N, touches an odd number
 * of pages, and ends; every 16th becomes another program first. `births`
 * tells how many there were, once all forkers have ended, and how many forks
 * were refused.
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

#define STORM_FORKERS 16

struct storm_count {
	uint64_t births;
	uint64_t refused;
};

static struct storm_count *storm_counts;

static void storm_child(unsigned forker, uint64_t number)
{
	char name[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(name, sizeof(name), "e-%u-%u", forker,
		 (unsigned)(number % 100000000));
	prctl(PR_SET_NAME, name);
	workload_touched((1 + number % 8 * 2) * 4096);
	if (number % 16 == 0)
		execl("/bin/true", "true", (char *)NULL);
	_exit(0);
}

static void storm_forker(unsigned forker, uint64_t end)
{
	char name[16];

	workload_begin(120);
	snprintf(name, sizeof(name), "forker-%u", forker);
	prctl(PR_SET_NAME, name);
	while (workload_monotonic_ns() < end) {
		for (int i = 0; i < 2; i++) {
			uint64_t number = storm_counts[forker].births;
			pid_t child = fork();

			if (child == 0)
				storm_child(forker, number);
			if (child > 0)
				storm_counts[forker].births++;
			else
				storm_counts[forker].refused++;
		}
		while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
			;
	}
	_exit(0);
}

static void storm_tell(unsigned forkers)
{
	uint64_t births = 0;
	uint64_t refused = 0;

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
	storm_counts =
	    mmap(NULL, STORM_FORKERS * sizeof(*storm_counts),
		 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (storm_counts == MAP_FAILED)
		workload_fail("mmap");
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
		if (strcmp(line, "births") == 0)
			storm_tell(forkers);
		else
			workload_otherwise(line);
	}
}
