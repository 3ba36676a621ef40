/*
 * population.c - processes to look at.
 *
 * Each is the program `pauser`, which sleeps until it is killed. Their pids
 * are kept and each is ended by its own; nothing else is ever signalled. Who
 * kills the benchmark kills them, too: they ask for a signal when their
 * parent dies, and end by themselves after a while.
 */
#include "bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static pid_t *population;
static size_t population_size;

/* Each pauser writes one byte when it is ready; ends when all did. */
static int population_ready(int from, size_t count)
{
	char bytes[4096];
	ssize_t got;

	while (count > 0 && (got = read(from, bytes, sizeof(bytes))) > 0)
		count -= (size_t)got < count ? (size_t)got : count;
	return count == 0;
}

int population_begin(const char *program, size_t count, int threads)
{
	char parent[16], each[16];
	char *const arguments[] = {(char *)program, parent, each, NULL};
	posix_spawn_file_actions_t actions;
	int ends[2];
	int ready;

	population = calloc(count, sizeof(*population));
	if (!population || pipe2(ends, O_CLOEXEC) != 0)
		return 0;
	snprintf(parent, sizeof(parent), "%d", (int)getpid());
	snprintf(each, sizeof(each), "%d", threads);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	for (population_size = 0; population_size < count; population_size++)
		if (posix_spawn(&population[population_size], program, &actions,
				NULL, arguments, environ) != 0)
			break;
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	ready = population_size == count && population_ready(ends[0], count);
	close(ends[0]);
	return ready;
}

size_t population_present(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	while (proc && (entry = readdir(proc)))
		count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	if (proc)
		closedir(proc);
	return count > 0 ? count : 1;
}

void population_end(void)
{
	for (size_t i = 0; i < population_size; i++)
		kill(population[i], SIGKILL);
	for (size_t i = 0; i < population_size; i++)
		waitpid(population[i], NULL, 0);
	free(population);
	population = NULL;
	population_size = 0;
}
