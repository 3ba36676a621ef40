/*
 * child.c - a command that plim starts, and how it ends: its own status is
 * ours, and what we started does not outlive us unless asked.
 */
#include "cmd.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define CHILD_POLITE_NS 2000000000u

/* posix_spawn returns once the command has been executed, so that the first
 * sample is the command's and not ours. */
int child_start(struct child *child, char **command)
{
	posix_spawnattr_t attributes;
	sigset_t fatal;
	int problem;

	memset(child, 0, sizeof *child);
	posix_spawnattr_init(&attributes);
	sigemptyset(&fatal);
	sigaddset(&fatal, SIGPIPE); /* which we ignore, and it may not */
	posix_spawnattr_setsigdefault(&attributes, &fatal);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	output_flush();
	problem = posix_spawnp(&child->pid, command[0], NULL, &attributes,
			       command, environ);
	posix_spawnattr_destroy(&attributes);
	if (problem == 0)
		return EXIT_DONE;
	child->ended = 1;
	fail_usage("%s: %s", command[0],
		   problem == ENOENT ? "no such command"
				     : plim_system_error_name(problem));
	return problem == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* SIGTERM, two seconds, SIGKILL; through the pidfd where there is one. A
 * child that is not reaped keeps its pid, so the number is safe, too. */
void child_end(struct child *child, plim_target *target, plim_usage *usage)
{
	if (child->ended)
		return;
	if (target == NULL ||
	    plim_target_signal(target, SIGTERM, NULL) == PLIM_EUNSUPPORTED)
		kill(child->pid, SIGTERM);
	if (target == NULL ||
	    plim_target_wait(target, CHILD_POLITE_NS, NULL) != PLIM_OK)
		kill(child->pid, SIGKILL);
	if (plim_usage_reap(usage, child->pid, &child->status, NULL) == PLIM_OK)
		child->ended = 1;
}

int child_exit_status(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return EXIT_OWN_FAILURE;
}
