/*
 * inside_runner.c - the thread of a session inside a process, and the claim
 * that there is but one.
 *
 * The thread is born with every signal blocked, so that a signal to the process
 * goes where it went without us. Its stack is 1 MiB of address space, of which
 * it uses some tens of KiB. The claim is the number of the process that has
 * it: what a forked child finds there is its parent's, and counts for nothing.
 */
#include "host/linux/gnu.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/inside.h"
#include "host/linux/inside.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RUNNER_STACK ((size_t)1 << 20)

struct plimp_runner {
	plim_allocator allocator;
	plimp_runner_fn *body;
	void *user;
	pthread_t thread;
	sem_t go;
	sem_t begun;
	int32_t pid; /* whose thread it is */
};

static _Atomic int32_t inside_claimed;

static void *runner_main(void *user)
{
	struct plimp_runner *runner = user;

	pthread_setname_np(pthread_self(), "plimsoll");
	/* The starter lets signals through again first: it is sampled, too. */
	while (sem_wait(&runner->go) != 0 && errno == EINTR)
		;
	runner->body(runner->user);
	sem_post(&runner->begun);
	return NULL;
}

/* 0, or the error. */
static int runner_create(struct plimp_runner *runner)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;
	int problem = pthread_attr_init(&attributes);

	if (problem != 0)
		return problem;
	problem = pthread_attr_setstacksize(&attributes, RUNNER_STACK);
	sigfillset(&all);
	if (problem == 0)
		problem = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (problem == 0) {
		problem = pthread_create(&runner->thread, &attributes,
					 runner_main, runner);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		sem_post(&runner->go);
	}
	pthread_attr_destroy(&attributes);
	return problem;
}

int plimp_system_runner_start(struct plimp_runner **runner,
			      const plim_allocator *allocator,
			      plimp_runner_fn *body, void *user,
			      plim_error *error)
{
	struct plimp_runner *made = plimp_allocate(allocator, 1, sizeof *made);
	int problem;

	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "profile", NULL, NULL);
	made->allocator = *allocator;
	made->body = body;
	made->user = user;
	made->pid = plimp_system_own_pid();
	/* The body may look at it at once. */
	*runner = made;
	/* Neither fails for such a value. */
	sem_init(&made->go, 0, 0);
	sem_init(&made->begun, 0, 0);
	problem = runner_create(made);
	if (problem == 0)
		return PLIM_OK;
	sem_destroy(&made->go);
	sem_destroy(&made->begun);
	*runner = NULL;
	plimp_release(allocator, made, 1, sizeof *made);
	return plimp_fail(error, PLIM_ESYSTEM, problem, "start thread", NULL,
			  NULL);
}

void plimp_system_runner_tell(struct plimp_runner *runner)
{
	sem_post(&runner->begun);
}

void plimp_system_runner_await(struct plimp_runner *runner)
{
	while (sem_wait(&runner->begun) != 0 && errno == EINTR)
		;
}

void plimp_system_runner_join(struct plimp_runner *runner)
{
	plim_allocator allocator;

	if (runner == NULL)
		return;
	allocator = runner->allocator;
	if (runner->pid == plimp_system_own_pid()) {
		pthread_join(runner->thread, NULL);
		sem_destroy(&runner->go);
		sem_destroy(&runner->begun);
	}
	plimp_release(&allocator, runner, 1, sizeof *runner);
}

int32_t plimp_system_own_pid(void)
{
	return (int32_t)getpid();
}

int32_t plimp_system_own_tid(void)
{
	return (int32_t)syscall(SYS_gettid);
}

int plimp_system_inside_claim(void)
{
	int32_t own = plimp_system_own_pid();
	int32_t has = atomic_load(&inside_claimed);

	while (has != own) {
		if (!atomic_compare_exchange_weak(&inside_claimed, &has, own))
			continue;
		/* A parent's: its handlers went on there alone. */
		if (has != 0)
			plimp_inside_forked();
		return 1;
	}
	return 0;
}

void plimp_system_inside_release(void)
{
	int32_t own = plimp_system_own_pid();

	/* Another process's stays: it is no claim here. */
	(void)atomic_compare_exchange_strong(&inside_claimed, &own, 0);
}
