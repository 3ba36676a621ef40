/*
 * deep.c - a thread that is so many calls deep.
 *
 * Usage: deep DEPTH [sleep]. The thread `deep` calls descend() DEPTH times in
 * one another, and the innermost calls bottom(), which computes, or sleeps
 * until the program ends. `where` tells `depth` and how many bytes of stack the
 * calls take, `stack_bytes`.
 */
#include "workload.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define DEEP_SECONDS 60
#define DEEP_STACK   (128u << 20)

static uint64_t deep_depth;
static int deep_sleeps;
static const char *deep_first;
static _Atomic uint64_t deep_bytes;
static sem_t deep_down;
static volatile uint64_t deep_sink;
static volatile int deep_left; /* 0 */

__attribute__((noinline)) static void bottom(void)
{
	const char here = 0;

	atomic_store(&deep_bytes, (uint64_t)(deep_first - &here));
	sem_post(&deep_down);
	while (deep_sleeps)
		pause();
	/* For ever: a compiler that could tell would warn of descend(). */
	while (deep_left == 0)
		deep_sink++;
}

/* What comes behind the call keeps it from becoming a loop. */
__attribute__((noinline)) static void descend(uint64_t left)
{
	if (left > 1)
		descend(left - 1);
	else
		bottom();
	deep_sink += left;
}

static void *deep_run(void *user)
{
	const char first = 0;

	(void)user;
	prctl(PR_SET_NAME, "deep");
	deep_first = &first;
	descend(deep_depth);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;
	uint64_t number;
	char line[64];

	workload_begin(DEEP_SECONDS);
	deep_depth = argc > 1 ? workload_parse(argv[1]) : 10;
	deep_sleeps = argc > 2 && strcmp(argv[2], "sleep") == 0;
	if (deep_depth == 0)
		return 2;
	sem_init(&deep_down, 0, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, DEEP_STACK);
	if (pthread_create(&thread, &attributes, deep_run, NULL) != 0)
		workload_fail("pthread_create");
	while (sem_wait(&deep_down) != 0)
		;
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (!workload_is(line, "where", &number)) {
			workload_otherwise(line);
			continue;
		}
		workload_number("depth", deep_depth);
		workload_number("stack_bytes", atomic_load(&deep_bytes));
		workload_done();
	}
}
