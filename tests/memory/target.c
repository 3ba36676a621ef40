/*
 * target.c - starts, asks and ends a program that is looked at (target.h).
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TARGET_DEADLINE_NS 60000000000u

uint64_t target_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void target_sleep_ms(unsigned ms)
{
	struct timespec left = {
	    .tv_sec = (time_t)(ms / 1000),
	    .tv_nsec = (long)(ms % 1000) * 1000000,
	};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

__attribute__((format(printf, 2, 3))) static int
target_fail(struct target *target, const char *format, ...)
{
	va_list arguments;

	/* The first failure is the one that tells. */
	if (target->error[0] != '\0')
		return -1;
	va_start(arguments, format);
	vsnprintf(target->error, sizeof(target->error), format, arguments);
	va_end(arguments);
	return -1;
}

const char *target_program(const char *name)
{
	static char path[4096];
	const char *folder = getenv("PLIM_TEST_WORKLOADS");
	ssize_t size;
	char *slash;

	if (folder != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		return path;
	}
	size = readlink("/proc/self/exe", path, sizeof(path) / 2);
	if (size <= 0)
		return name;
	path[size] = '\0';
	slash = strrchr(path, '/');
	snprintf(slash, sizeof(path) / 2, "/../workloads/%s", name);
	return path;
}

/* The words of the command line, behind those of another system's loader. */
static size_t target_words(const struct target_plan *plan, char **words)
{
	static char loader[512];
	static char libraries[512];
	static char option[] = "--library-path";
	size_t count = 0;

	if (plan->root != NULL) {
		snprintf(loader, sizeof(loader),
			 "%s/lib64/ld-linux-x86-64.so.2", plan->root);
		snprintf(libraries, sizeof(libraries),
			 "%s/lib/x86_64-linux-gnu", plan->root);
		words[count++] = loader;
		words[count++] = option;
		words[count++] = libraries;
	}
	memcpy(&words[count++], &plan->program, sizeof(char *));
	for (size_t i = 0; plan->words[i] != NULL; i++)
		memcpy(&words[count++], &plan->words[i], sizeof(char *));
	words[count] = NULL;
	return count;
}

static void target_environment(const char *name, const char *value)
{
	if (value != NULL)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void target_exec(const struct target_plan *plan, int in, int out)
{
	char *words[TARGET_ARGUMENTS + 8];
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	target_words(plan, words);
	target_environment("GLIBC_TUNABLES", plan->tunables);
	target_environment("LD_PRELOAD", plan->preload);
	dup2(in, 0);
	dup2(out, 1);
	execv(words[0], words);
	_exit(127);
}

/* One line without its newline, NUL-terminated, valid until the next call. */
static int target_line(struct target *target, char *line, size_t size)
{
	uint64_t end = target_monotonic_ns() + TARGET_DEADLINE_NS;

	for (;;) {
		char *newline = memchr(target->buffer, '\n', target->used);
		struct pollfd wait = {target->out, POLLIN, 0};
		ssize_t got;

		if (newline != NULL) {
			size_t length = (size_t)(newline - target->buffer);

			if (length >= size)
				return target_fail(target, "a long line");
			memcpy(line, target->buffer, length);
			line[length] = '\0';
			target->used -= length + 1;
			memmove(target->buffer, newline + 1, target->used);
			return 0;
		}
		if (target->used == sizeof(target->buffer))
			return target_fail(target, "a long line");
		if (target_monotonic_ns() > end)
			return target_fail(target, "no answer");
		if (poll(&wait, 1, 1000) <= 0)
			continue;
		got = read(target->out, target->buffer + target->used,
			   sizeof(target->buffer) - target->used);
		if (got == 0)
			return target_fail(target, "the target has ended");
		if (got > 0)
			target->used += (size_t)got;
	}
}

int target_start(struct target *target, const struct target_plan *plan)
{
	char expected[64];
	char line[256];
	int in[2];
	int out[2];

	memset(target, 0, sizeof(*target));
	if (pipe2(in, O_CLOEXEC) != 0)
		return target_fail(target, "pipe2: %s", strerror(errno));
	if (pipe2(out, O_CLOEXEC) != 0) {
		close(in[0]);
		close(in[1]);
		return target_fail(target, "pipe2: %s", strerror(errno));
	}
	target->in = in[1];
	target->out = out[0];
	fflush(stdout);
	target->pid = fork();
	if (target->pid == 0)
		target_exec(plan, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	if (target->pid < 0)
		return target_fail(target, "fork: %s", strerror(errno));
	if (target_line(target, line, sizeof(line)) != 0)
		return -1;
	snprintf(expected, sizeof(expected), "pid=%ld ready",
		 (long)target->pid);
	if (strcmp(line, expected) != 0)
		return target_fail(target, "it began with '%s'", line);
	return 0;
}

static int target_answer(struct target *target)
{
	char line[256];

	target->count = 0;
	for (;;) {
		char *equals;

		if (target_line(target, line, sizeof(line)) != 0)
			return -1;
		if (strcmp(line, "end") == 0)
			return 0;
		equals = strchr(line, '=');
		if (equals == NULL || target->count == TARGET_TRUTHS ||
		    equals - line >= (ptrdiff_t)sizeof(target->truths[0].key))
			return target_fail(target, "it says '%s'", line);
		*equals = '\0';
		strcpy(target->truths[target->count].key, line);
		target->truths[target->count].value =
		    strtoull(equals + 1, NULL, 10);
		target->count++;
	}
}

int target_ask(struct target *target, const char *command)
{
	char line[256];
	int size = snprintf(line, sizeof(line), "%s\n", command);

	if (target->error[0] != '\0')
		return -1;
	/* Whoever reads no more has ended, and the answer says so. */
	signal(SIGPIPE, SIG_IGN);
	if (size < 0 || (size_t)size >= sizeof(line) ||
	    write(target->in, line, (size_t)size) != size)
		return target_fail(target, "'%s' cannot be sent", command);
	return target_answer(target);
}

uint64_t target_truth(struct target *target, const char *key)
{
	for (size_t i = 0; i < target->count; i++)
		if (strcmp(target->truths[i].key, key) == 0)
			return target->truths[i].value;
	target_fail(target, "it does not tell '%s'", key);
	return 0;
}

void target_end(struct target *target)
{
	if (target->pid > 0) {
		kill(target->pid, SIGKILL);
		while (waitpid(target->pid, NULL, 0) < 0 && errno == EINTR)
			;
		close(target->in);
		close(target->out);
	}
	target->pid = 0;
}
