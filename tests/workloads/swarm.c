/*
 * swarm.c - threads that are born and end as fast as it goes.
 *
 * Usage: swarm MAKERS. Each maker starts threads one after another and waits
 * for each; a thread computes for some 20 us and ends. `truth` adds `births`.
 */
#include "workload.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#define SWARM_MAKERS  8
#define SWARM_SECONDS 60

static _Atomic uint64_t swarm_births;
static volatile uint64_t swarm_sink;

static void *swarm_one(void *user)
{
	(void)user;
	for (unsigned i = 0; i < 10000; i++)
		swarm_sink += i;
	return NULL;
}

static void *swarm_make(void *user)
{
	pthread_t thread;

	(void)user;
	prctl(PR_SET_NAME, "maker");
	for (;;) {
		int problem = pthread_create(&thread, NULL, swarm_one, NULL);

		if (problem == EAGAIN) {
			workload_sleep_ns(1000000);
			continue;
		}
		errno = problem;
		if (problem != 0)
			workload_fail("pthread_create");
		atomic_fetch_add(&swarm_births, 1);
		pthread_join(thread, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t makers = argc > 1 ? workload_parse(argv[1]) : 2;
	pthread_t thread;
	uint64_t number;
	char line[64];

	workload_begin(SWARM_SECONDS);
	if (makers == 0 || makers > SWARM_MAKERS)
		return 2;
	for (uint64_t i = 0; i < makers; i++) {
		if (pthread_create(&thread, NULL, swarm_make, NULL) != 0)
			workload_fail("pthread_create");
	}
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (!workload_is(line, "truth", &number)) {
			workload_otherwise(line);
			continue;
		}
		workload_account();
		workload_number("births", atomic_load(&swarm_births));
		workload_done();
	}
}
