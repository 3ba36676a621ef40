/*
 * child_posix.c - a command that plim starts, and how it ends: its own status
 * is ours, and what we started does not outlive us unless asked.
 *
 * A command can be held before it is executed, so that what counts it from
 * its first instruction on can be attached to it; it is then released. Whether
 * it could be executed comes back through a pipe that exec closes.
 */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_POLITE_NS 2000000000u
#define CHILD_SETTINGS	16384

enum child_end_of_pipe { CHILD_READS, CHILD_WRITES };

/* What a handler of ours caught is caught by none there; a closed pipe, which
 * we ignore, is not ignored. What was ignored when we started stays so. */
static void child_signals(const sigset_t *mask)
{
	struct sigaction action;
	struct sigaction standard;
	int number;

	memset(&standard, 0, sizeof standard);
	standard.sa_handler = SIG_DFL;
	sigemptyset(&standard.sa_mask);
	for (number = 1; number < NSIG; number++)
		if (sigaction(number, NULL, &action) == 0 &&
		    action.sa_handler != SIG_DFL &&
		    action.sa_handler != SIG_IGN)
			sigaction(number, &standard, NULL);
	sigaction(SIGPIPE, &standard, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* Until it is released: texts for the environment, of which an empty one is
 * the last. 0: nobody wants it any more. */
static int child_await(int hold)
{
	static char texts[CHILD_SETTINGS];
	char *text = texts;
	char *end = texts;

	while (end < texts + sizeof texts && read(hold, end, 1) == 1) {
		if (*end++ != '\0')
			continue;
		if (end - text == 1)
			return 1;
		putenv(text);
		text = end;
	}
	return 0;
}

/* In the child. An end of the pipe `hold` that is closed instead of written
 * to means that nobody wants it any more. */
static void child_run(const struct child_plan *plan, const intptr_t *hold,
		      const intptr_t *told, pid_t parent, const sigset_t *mask)
{
	ssize_t sent;
	int problem;

	static const int signals[] = {[CHILD_STAYS] = 0,
				      [CHILD_IS_ASKED] = SIGTERM,
				      [CHILD_IS_KILLED] = SIGKILL};

	if (!guard_bind(signals[plan->fate], parent))
		_exit(EXIT_OWN_FAILURE);
	child_signals(mask);
	if (plan->output > 0)
		dup2(plan->output, STDOUT_FILENO);
	if (plan->error > 0)
		dup2(plan->error, STDERR_FILENO);
	if (plan->hold) {
		close((int)hold[CHILD_WRITES]);
		if (!child_await((int)hold[CHILD_READS]))
			_exit(EXIT_OWN_FAILURE);
	}
	execvp(plan->command[0], plan->command);
	problem = errno;
	do {
		sent = write((int)told[CHILD_WRITES], &problem, sizeof problem);
	} while (sent < 0 && errno == EINTR);
	_exit(EXIT_NOT_FOUND);
}

static int child_pipe(intptr_t *ends)
{
	int made[2];

	if (pipe(made) != 0)
		return -1;
	ends[CHILD_READS] = made[0];
	ends[CHILD_WRITES] = made[1];
	if (fcntl(made[0], F_SETFD, FD_CLOEXEC) != 0 ||
	    fcntl(made[1], F_SETFD, FD_CLOEXEC) != 0)
		return -1;
	return 0;
}

static void child_close(intptr_t *descriptor)
{
	if (*descriptor >= 0)
		close((int)*descriptor);
	*descriptor = -1;
}

static void child_wait(struct child *child)
{
	while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
		continue;
	child->ended = 1;
}

/* No signal is handled between the fork and the exec: one that comes in
 * between is the command's. */
int child_launch(struct child *child, const struct child_plan *plan)
{
	intptr_t hold[2] = {-1, -1};
	intptr_t told[2] = {-1, -1};
	pid_t parent = getpid();
	sigset_t all;
	sigset_t mask;

	memset(child, 0, sizeof *child);
	child->pid = -1;
	child->hold = child->told = -1;
	child->name = plan->command[0];
	output_flush();
	if ((!plan->hold || child_pipe(hold) == 0) && child_pipe(told) == 0) {
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, &mask);
		child->pid = fork();
		if (child->pid == 0)
			child_run(plan, hold, told, parent, &mask);
		sigprocmask(SIG_SETMASK, &mask, NULL);
	}
	if (child->pid < 0) {
		child->problem = errno;
		child->ended = 1;
		child_close(&hold[CHILD_WRITES]);
		child_close(&told[CHILD_READS]);
	}
	child_close(&hold[CHILD_READS]);
	child_close(&told[CHILD_WRITES]);
	reaper_keep(child->pid);
	child->hold = hold[CHILD_WRITES];
	child->told = told[CHILD_READS];
	if (child->pid < 0)
		return EXIT_OWN_FAILURE;
	return plan->hold ? EXIT_DONE : child_release(child);
}

/* With its NUL. Who cannot take it ends, which the other pipe tells. */
static void child_write(int hold, const char *text)
{
	size_t size = strlen(text) + 1;

	while (size > 0) {
		ssize_t written = write(hold, text, size);

		if (written < 0 && errno != EINTR)
			return;
		if (written > 0) {
			text += written;
			size -= (size_t)written;
		}
	}
}

/* Returns once the command has been executed, so that the first sample is the
 * command's and not ours. */
int child_release_with(struct child *child, const char *const *settings)
{
	int problem = 0;
	ssize_t got;

	if (child->hold >= 0) {
		for (; settings != NULL && *settings != NULL; settings++)
			child_write((int)child->hold, *settings);
		child_write((int)child->hold, "");
	}
	child_close(&child->hold);
	do {
		got = read((int)child->told, &problem, sizeof problem);
	} while (got < 0 && errno == EINTR);
	child_close(&child->told);
	if (got != (ssize_t)sizeof problem)
		return EXIT_DONE;
	child_wait(child);
	child->problem = problem;
	return problem == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

void child_drop(struct child *child)
{
	child_close(&child->hold);
	child_close(&child->told);
	if (child->pid > 0 && !child->ended) {
		kill(child->pid, SIGKILL);
		child_wait(child);
	}
}

/* SIGTERM, two seconds, SIGKILL; through the pidfd where there is one. A
 * child that is not reaped keeps its pid, so the number is safe, too. */
void child_end(struct child *child, plim_target *target, plim_usage *usage)
{
	if (child->ended)
		return;
	if (!interrupt_lost &&
	    (target == NULL ||
	     plim_target_signal(target, SIGTERM, NULL) == PLIM_EUNSUPPORTED))
		kill(child->pid, SIGTERM);
	if (interrupt_lost || target == NULL ||
	    plim_target_wait(target, CHILD_POLITE_NS, NULL) != PLIM_OK)
		kill(child->pid, SIGKILL);
	if (plim_usage_reap(usage, child->pid, &child->status, NULL) == PLIM_OK)
		child->ended = 1;
}

int child_ask(const struct child *child, plim_target *target)
{
	(void)child;
	return plim_target_signal(target, SIGTERM, NULL) == PLIM_OK;
}

void child_kill(const struct child *child, plim_target *target)
{
	(void)child;
	plim_target_signal(target, SIGKILL, NULL);
}

int child_descriptor(const struct child *child, const plim_target *target)
{
	(void)child;
	return plim_target_poll_descriptor(target);
}

/* A child that is not reaped keeps its number. */
void child_hand_on(const struct child *child, int number)
{
	if (child->pid > 0)
		kill(child->pid, number);
}

int child_reap_has_children(void)
{
	return 1;
}

/* wait4 tells of those that were waited for; whoever ignores SIGCHLD waits for
 * nobody, and where orphans are not ours nobody tells what they used. Of one
 * process alone it tells at most, with its children. */
plim_count child_cpu(const struct reaper_account *account, plim_count own,
		     int tree, int ignoring)
{
	int bound = PLIM_BOUND_EXACT;

	if (own.state != PLIM_STATE_KNOWN)
		return own;
	if (!tree)
		bound = PLIM_BOUND_AT_MOST;
	else if (ignoring || account->unseen)
		bound = PLIM_BOUND_AT_LEAST;
	return plim_count_bounded(own.value + (tree ? account->cpu_ns : 0),
				  own.method, bound);
}

int child_signal(int status)
{
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int child_exit_status(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return EXIT_OWN_FAILURE;
}
