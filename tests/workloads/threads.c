/*
 * threads.c - many threads that are blocked and nothing else.
 *
 * Usage: threads COUNT. Every thread waits once on a condition, so that each
 * has at least one wake-up of its own; `truth` adds `threads`, the main thread
 * included; `end N` lets N of them end.
 */
#include "workload.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t threads_started = PTHREAD_COND_INITIALIZER;
static pthread_cond_t threads_change = PTHREAD_COND_INITIALIZER;
static uint64_t threads_live;
static uint64_t threads_to_end;

static void *threads_wait(void *user)
{
	(void)user;
	pthread_mutex_lock(&threads_lock);
	threads_live++;
	pthread_cond_signal(&threads_started);
	while (threads_to_end == 0)
		pthread_cond_wait(&threads_change, &threads_lock);
	threads_to_end--;
	pthread_mutex_unlock(&threads_lock);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? workload_parse(argv[1]) : 1000;
	pthread_t *threads;
	pthread_attr_t attributes;
	uint64_t number;
	uint64_t ended = 0;
	char line[64];

	workload_begin(600);
	threads = calloc(count + 1, sizeof(*threads));
	if (count > 100000 || threads == NULL)
		return 2;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 65536);
	/* Stacks without gaps are one mapping: a process may have 65,530. */
	pthread_attr_setguardsize(&attributes, 0);
	for (uint64_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, threads_wait,
				   NULL) != 0)
			workload_fail("pthread_create");
	pthread_mutex_lock(&threads_lock);
	while (threads_live < count)
		pthread_cond_wait(&threads_started, &threads_lock);
	pthread_mutex_unlock(&threads_lock);
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "end", &number) && ended == 0) {
			/* Which of them end is not told: with all of them
			 * woken, the first to come take the places. */
			ended = number < count ? number : count;
			pthread_mutex_lock(&threads_lock);
			threads_to_end = ended;
			pthread_cond_broadcast(&threads_change);
			pthread_mutex_unlock(&threads_lock);
		} else if (!workload_is(line, "truth", &number)) {
			workload_otherwise(line);
			continue;
		}
		workload_account();
		workload_number("threads", count - ended + 1);
		workload_done();
	}
}
