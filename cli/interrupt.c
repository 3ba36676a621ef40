/*
 * interrupt.c - an interruption ends the measurement, not the report of it:
 * the handler sets a flag, and every wait looks at it.
 */
#include "cmd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

volatile int interrupted;
volatile int interrupted_by;
volatile int interrupted_by_user;
volatile int interrupt_lost;

static interrupt_fn *volatile interrupt_told;
static void *volatile interrupt_user;
static volatile int interrupt_loss; /* the signal, 0: none */
static volatile pid_t interrupt_front;

/* The terminal's signals come from the kernel and reach a command that we
 * started as well; another user's kill reaches us alone. */
static void interrupt_note(int number, siginfo_t *info, void *context)
{
	(void)context;
	interrupted = 1;
	interrupted_by = number;
	interrupted_by_user = info->si_code == SI_USER;
	if (interrupt_told != NULL)
		interrupt_told(number, interrupt_user);
}

void interrupt_tell(interrupt_fn *tell, void *user)
{
	interrupt_told = NULL;
	interrupt_user = user;
	interrupt_told = tell;
}

/* No SA_RESTART: a blocking call ends. A signal that was ignored when we
 * started (nohup) stays ignored. A closed pipe shows itself as an error. */
void interrupt_catch(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;
	struct sigaction before;
	size_t i;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = interrupt_note;
	action.sa_flags = SA_SIGINFO;
	sigemptyset(&action.sa_mask);
	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		sigaction(numbers[i], NULL, &before);
		if (before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	action.sa_flags = 0;
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	/* Our children are ours to reap, whatever we inherited. */
	action.sa_handler = SIG_DFL;
	sigaction(SIGCHLD, &action, NULL);
}

static void interrupt_note_loss(int number)
{
	(void)number;
	if (getppid() == interrupt_front)
		return; /* somebody else sent it */
	interrupt_lost = 1;
	interrupted = 1;
	interrupted_by = SIGTERM;
	interrupted_by_user = 0;
}

void interrupt_on_loss(int number, pid_t front)
{
	struct sigaction action;

	interrupt_front = front;
	interrupt_loss = number;
	memset(&action, 0, sizeof action);
	action.sa_handler = interrupt_note_loss;
	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

/*
 * The flag is looked at with the signals blocked, and ppoll opens them: one
 * that comes in between is not slept through. A time that has passed already
 * is not an interruption.
 */
int interrupt_poll(uint64_t ns, struct pollfd *entries, size_t count)
{
	struct timespec time = {(time_t)(ns / 1000000000u),
				(long)(ns % 1000000000u)};
	sigset_t caught;
	sigset_t before;
	int ready = 0;

	if (guard_is_on())
		reaper_sweep();
	sigemptyset(&caught);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGHUP);
	if (interrupt_loss != 0)
		sigaddset(&caught, interrupt_loss);
	sigprocmask(SIG_BLOCK, &caught, &before);
	if (!interrupted)
		ready = ppoll(entries, (nfds_t)count, &time, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (interrupted)
		return -1;
	return ready > 0 ? ready : 0;
}

int interrupt_sleep(uint64_t ns, int descriptor)
{
	struct pollfd entry = {descriptor, POLLIN, 0};
	int ready = interrupt_poll(ns, &entry, 1);

	return ready < 0 ? 1 : ready > 0 ? 2 : 0;
}
