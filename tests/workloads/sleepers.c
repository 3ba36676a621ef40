/*
 * sleepers.c - threads that sleep 1 ms again and again, and count each sleep.
 *
 * Usage: sleepers [THREADS]. The main thread only waits for commands, so a
 * reader that takes the leader's file for the process sees next to nothing.
 * `truth` adds `sleeps`, the sum of the threads' own counts, and `threads`;
 * `end N` lets N of the threads end one after another, and `gone_sleeps` is
 * what those had counted: it is lost for who sums over live threads.
 */
#include "workload.h"

#include <pthread.h>
#include <stdatomic.h>

#define SLEEPERS_MOST 64

struct sleeper {
	pthread_t thread;
	_Atomic uint64_t sleeps;
	_Atomic int stop;
};

static struct sleeper sleepers[SLEEPERS_MOST];

static void *sleeper_run(void *user)
{
	struct sleeper *me = user;

	while (!atomic_load(&me->stop)) {
		workload_sleep_ns(1000000);
		atomic_fetch_add(&me->sleeps, 1);
	}
	return NULL;
}

static void sleepers_truth(size_t ended, size_t count)
{
	uint64_t sleeps = 0;
	uint64_t gone = 0;

	workload_account();
	for (size_t i = 0; i < count; i++) {
		uint64_t own = atomic_load(&sleepers[i].sleeps);

		sleeps += own;
		if (i < ended)
			gone += own;
	}
	workload_number("sleeps", sleeps);
	workload_number("gone_sleeps", gone);
	workload_number("threads", count - ended + 1);
	workload_done();
}

int main(int argc, char **argv)
{
	size_t count = argc > 1 ? (size_t)workload_parse(argv[1]) : 4;
	size_t ended = 0;
	uint64_t number;
	char line[64];

	workload_begin(120);
	if (count > SLEEPERS_MOST)
		return 2;
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&sleepers[i].thread, NULL, sleeper_run,
				   &sleepers[i]) != 0)
			workload_fail("pthread_create");
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "truth", &number)) {
			sleepers_truth(ended, count);
		} else if (workload_is(line, "end", &number)) {
			for (; number > 0 && ended < count; number--) {
				atomic_store(&sleepers[ended].stop, 1);
				pthread_join(sleepers[ended].thread, NULL);
				ended++;
			}
			sleepers_truth(ended, count);
		} else {
			workload_otherwise(line);
		}
	}
}
