/*
 * guard_linux.c - nothing that plim started is left running, whatever becomes
 * of plim.
 *
 * The command forks once before it does anything: the front, whose pid the
 * caller knows, only waits, hands signals and the exit status on; the worker
 * measures. Both are child subreapers, so that every descendant of what is
 * started, however it was detached, is below them. The worker ends what it
 * started. If the worker is killed, its descendants fall to the front, which
 * ends them; if the front is killed, the kernel tells the worker, which ends
 * them and itself. What was started is bound to the worker besides (the kernel
 * kills it when the worker ends). Left over is one case: both are killed in
 * the same moment, and the started command has descendants of its own.
 */
#include "cmd.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The signal by which the worker learns that it is alone: one that nothing
 * else uses. */
#define GUARD_LOSS SIGRTMAX

static int guarded;

int guard_is_on(void)
{
	return guarded;
}

/* A parent that ended before this call sent nothing. */
int guard_bind(int number, pid_t parent)
{
	if (number != 0)
		prctl(PR_SET_PDEATHSIG, number, 0, 0, 0);
	return getppid() == parent;
}

/* What the front waits for: everything but the signals that stop and continue
 * a job, and those that were ignored before. The kernel sends the terminal's
 * to the worker as well. */
static sigset_t guard_set(void)
{
	static const int left[] = {SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGSEGV,
				   SIGBUS,  SIGILL,  SIGFPE,  SIGTRAP, SIGSYS};
	struct sigaction action;
	sigset_t set;
	size_t i;
	int number;

	sigfillset(&set);
	for (i = 0; i < sizeof left / sizeof left[0]; i++)
		sigdelset(&set, left[i]);
	for (number = 1; number <= SIGRTMAX; number++)
		if (number != SIGCHLD &&
		    sigaction(number, NULL, &action) == 0 &&
		    action.sa_handler == SIG_IGN)
			sigdelset(&set, number);
	return set;
}

/* Waits for the worker; the number is its own until it is reaped here. */
static int guard_wait(pid_t worker, pid_t above, const sigset_t *set)
{
	siginfo_t info;
	pid_t reaped;
	int status;
	int number;

	for (;;) {
		while ((reaped = waitpid(-1, &status, WNOHANG)) > 0)
			if (reaped == worker)
				return status;
		number = sigwaitinfo(set, &info);
		if (above != 0 && getppid() != above) {
			reaper_kill();
			_exit(EXIT_OWN_FAILURE);
		}
		if (number > 0 && number != SIGCHLD && info.si_code <= 0)
			kill(worker, number);
	}
}

/* A worker that ended by itself has ended what it started, and nothing is
 * found here. */
static int guard_front(pid_t worker, pid_t above, const sigset_t *set)
{
	int status = guard_wait(worker, above, set);

	reaper_kill();
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fail_usage("ended by signal %d; what it had started was ended, too",
		   WTERMSIG(status));
	return EXIT_OWN_FAILURE;
}

/* Children that we had before we were plim (a shell that put something behind
 * and then called exec) are nobody's to end. */
static int guard_has_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/*
 * Forks with the signals of `set` held back on both sides. 0 in the child,
 * which is told by GUARD_LOSS when its parent ends; -1 on failure.
 */
static pid_t guard_fork(void)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child != 0)
		return child;
	if (!guard_bind(GUARD_LOSS, parent))
		_exit(EXIT_OWN_FAILURE);
	return 0;
}

int guard_start(int *status)
{
	sigset_t set = guard_set();
	sigset_t before;
	pid_t above = 0;
	pid_t front;
	pid_t child;

	output_flush();
	sigprocmask(SIG_BLOCK, &set, &before);
	if (guard_has_children()) {
		above = getpid();
		child = guard_fork();
		if (child > 0) {
			/* Not a subreaper: only the worker's front is. */
			int ended = guard_wait(child, 0, &set);

			*status = WIFEXITED(ended) ? WEXITSTATUS(ended)
						   : EXIT_OWN_FAILURE;
			return 1;
		}
		if (child < 0)
			goto failed;
	}
	reaper_start();
	front = getpid();
	child = guard_fork();
	if (child < 0)
		goto failed;
	if (child > 0) {
		*status = guard_front(child, above, &set);
		return 1;
	}
	reaper_start();
	interrupt_on_loss(GUARD_LOSS, front);
	guarded = 1;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
failed:
	sigprocmask(SIG_SETMASK, &before, NULL);
	fail_usage("cannot start a process: %s", plim_system_error_name(errno));
	*status = EXIT_OWN_FAILURE;
	return 1;
}
