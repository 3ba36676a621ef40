/*
 * worker_posix.c - a thread of POSIX, with all signals blocked: they are the
 * main thread's.
 */
#include "worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct worker {
	pthread_t thread;
	worker_fn *run;
	void *user;
};

static void *worker_run(void *user)
{
	const struct worker *worker = user;

	worker->run(worker->user);
	return NULL;
}

int worker_start(struct worker **worker, worker_fn *run, void *user)
{
	struct worker *made = calloc(1, sizeof *made);
	sigset_t all;
	sigset_t before;
	int number;

	if (made == NULL)
		return ENOMEM;
	made->run = run;
	made->user = user;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	number = pthread_create(&made->thread, NULL, worker_run, made);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (number == 0)
		*worker = made;
	else
		free(made);
	return number;
}

void worker_join(struct worker *worker)
{
	pthread_join(worker->thread, NULL);
	free(worker);
}
