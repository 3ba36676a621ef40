/*
 * outside.c - peers that are not called but run.
 *
 * A command is started and waited for; the kernel's account of it, wait4, is
 * its CPU time, from the start of the program to its exit. A co-process was
 * started long before, looks once for every line that it is sent, and answers
 * with the CPU time that it used for it and the number of processes: so
 * neither an interpreter's start nor imports are held against a library.
 */
#include "bench.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Is it a path to a program, or a name that the search path has? */
static int command_exists(const char *name)
{
	char paths[4096], file[4096];
	char *rest = NULL;

	if (strchr(name, '/'))
		return access(name, X_OK) == 0;
	snprintf(paths, sizeof(paths), "%s", getenv("PATH"));
	for (char *path = strtok_r(paths, ":", &rest); path;
	     path = strtok_r(NULL, ":", &rest)) {
		snprintf(file, sizeof(file), "%.2000s/%.2000s", path, name);
		if (access(file, X_OK) == 0)
			return 1;
	}
	return 0;
}

int command_begin(struct method *method)
{
	if (command_exists(method->command[0]))
		return 1;
	method->missing = "not installed";
	return 0;
}

int command_run(const struct method *method, struct look *look)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null",
					 O_WRONLY, 0);
	status = posix_spawnp(&pid, method->command[0], &actions, NULL,
			      (char *const *)method->command, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (status != 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
		return 0;
	look->cpu_ns = (double)usage.ru_utime.tv_sec * 1e9 +
		       (double)usage.ru_utime.tv_usec * 1e3 +
		       (double)usage.ru_stime.tv_sec * 1e9 +
		       (double)usage.ru_stime.tv_usec * 1e3;
	look->processes = 0;
	return 1;
}

int coprocess_begin(struct method *method)
{
	posix_spawn_file_actions_t actions;
	struct look look;
	int requests[2], answers[2];
	int failed;

	if (!command_begin(method))
		return 0;
	if (pipe2(requests, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0)
		return 0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, requests[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, answers[1], STDOUT_FILENO);
	failed = posix_spawnp(&method->pid, method->command[0], &actions, NULL,
			      (char *const *)method->command, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(requests[0]);
	close(answers[1]);
	method->to = requests[1];
	method->from = answers[0];
	/* The first look makes what later ones find made. */
	if (!failed && coprocess_run(method, &look))
		return 1;
	if (!failed)
		coprocess_end(method);
	method->missing = "not installed, or it does not run";
	return 0;
}

int coprocess_run(const struct method *method, struct look *look)
{
	char line[128];
	size_t size = 0;

	if (write(method->to, "\n", 1) != 1)
		return 0;
	while (size < sizeof(line) - 1 &&
	       read(method->from, line + size, 1) == 1)
		if (line[size++] == '\n') {
			line[size] = '\0';
			return sscanf(line, "%lf %zu", &look->cpu_ns,
				      &look->processes) == 2;
		}
	return 0;
}

void coprocess_end(struct method *method)
{
	close(method->to);
	close(method->from);
	kill(method->pid, SIGKILL);
	waitpid(method->pid, NULL, 0);
}
