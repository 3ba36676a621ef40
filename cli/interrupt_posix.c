/*
 * interrupt_posix.c - interruptions are signals: the handler sets a flag, and
 * a wait cannot miss it.
 */
#include "cmd.h"
#include "wait_posix.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile int interrupt_loss; /* the signal, 0: none */
static volatile pid_t interrupt_front;

/* The terminal's signals come from the kernel and reach a command that we
 * started as well; another user's kill reaches us alone. */
static void interrupt_caught(int number, siginfo_t *info, void *context)
{
	(void)context;
	interrupt_note(number, info->si_code == SI_USER);
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
	action.sa_sigaction = interrupt_caught;
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
 * The flag is looked at with the signals blocked, and the wait opens them: one
 * that comes in between is not slept through. A time that has passed already
 * is not an interruption.
 */
int interrupt_wait(uint64_t ns, struct wait_entry *entries, size_t count)
{
	sigset_t caught;
	sigset_t before;
	int ready = 0;
	size_t i;

	if (guard_is_on())
		reaper_sweep();
	for (i = 0; i < count; i++)
		entries[i].is_ready = 0;
	sigemptyset(&caught);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGHUP);
	if (interrupt_loss != 0)
		sigaddset(&caught, interrupt_loss);
	sigprocmask(SIG_BLOCK, &caught, &before);
	if (!interrupted)
		ready = wait_ready(ns, entries, count, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (interrupted)
		return -1;
	return ready > 0 ? ready : 0;
}
