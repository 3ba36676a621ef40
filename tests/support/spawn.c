/*
 * spawn.c - starts a workload, asks it, and ends it (spawn.h).
 *
 * The workloads lie in the folder that the environment names
 * (PLIM_TEST_WORKLOADS), else beside the folder of the test program.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"

#define SPAWN_DEADLINE_MS 30000

const char *spawn_path(const char *name)
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
	assert_true(size > 0);
	path[size] = '\0';
	slash = strrchr(path, '/');
	assert_non_null(slash);
	snprintf(slash, sizeof(path) / 2, "/../workloads/%s", name);
	return path;
}

static void spawn_exec(const char *path, const char *const *argv, int in,
		       int out, int failed)
{
	int error;
	char *arguments[64];
	size_t count = 0;

	while (argv[count] != NULL && count < 63) {
		memcpy(&arguments[count], &argv[count], sizeof(char *));
		count++;
	}
	arguments[count] = NULL;
	child_bind();
	dup2(in, 0);
	dup2(out, 1);
	execv(path, arguments);
	error = errno;
	if (write(failed, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

void spawn_program(struct spawn *spawn, const char *path,
		   const char *const *argv)
{
	int in[2];
	int out[2];
	int failed[2];
	int error = 0;

	memset(spawn, 0, sizeof(*spawn));
	spawn->pidfd = -1;
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	assert_int_equal(pipe2(failed, O_CLOEXEC), 0);
	fflush(stdout);
	spawn->pid = fork();
	assert_true(spawn->pid >= 0);
	if (spawn->pid == 0)
		spawn_exec(path, argv, in[0], out[1], failed[1]);
	close(in[0]);
	close(out[1]);
	close(failed[1]);
	spawn->in = in[1];
	spawn->out = out[0];
	if (read(failed[0], &error, sizeof(error)) != 0)
		fail_msg("%s: %s", path, strerror(error));
	close(failed[0]);
	spawn->pidfd = (int)syscall(SYS_pidfd_open, spawn->pid, 0);
	spawn_await_ready(spawn);
}

void spawn_start(struct spawn *spawn, const char *const *argv)
{
	spawn_program(spawn, spawn_path(argv[0]), argv);
}

/* One line without its newline; fails at the deadline and at the end. */
static void spawn_line(struct spawn *spawn, char *line, size_t size)
{
	uint64_t end = child_monotonic_ns() + SPAWN_DEADLINE_MS * 1000000ull;

	for (;;) {
		char *newline = memchr(spawn->buffer, '\n', spawn->used);
		struct pollfd wait = {spawn->out, POLLIN, 0};
		ssize_t got;

		if (newline != NULL) {
			size_t length = (size_t)(newline - spawn->buffer);

			assert_true(length < size);
			memcpy(line, spawn->buffer, length);
			line[length] = '\0';
			spawn->used -= length + 1;
			memmove(spawn->buffer, newline + 1, spawn->used);
			return;
		}
		assert_true(spawn->used < sizeof(spawn->buffer));
		if (child_monotonic_ns() > end)
			fail_msg("the workload %ld does not answer",
				 (long)spawn->pid);
		if (poll(&wait, 1, 1000) <= 0)
			continue;
		got = read(spawn->out, spawn->buffer + spawn->used,
			   sizeof(spawn->buffer) - spawn->used);
		if (got == 0)
			fail_msg("the workload %ld has ended",
				 (long)spawn->pid);
		if (got > 0)
			spawn->used += (size_t)got;
	}
}

void spawn_await_ready(struct spawn *spawn)
{
	char expected[64];
	char line[256];

	snprintf(expected, sizeof(expected), "pid=%ld ready", (long)spawn->pid);
	spawn_line(spawn, line, sizeof(line));
	assert_string_equal(line, expected);
}

void spawn_send(struct spawn *spawn, const char *command)
{
	char line[256];
	int size = snprintf(line, sizeof(line), "%s\n", command);

	assert_true(size > 0 && (size_t)size < sizeof(line));
	assert_int_equal(write(spawn->in, line, (size_t)size), size);
}

void spawn_await_answer(struct spawn *spawn)
{
	spawn->count = 0;
	for (;;) {
		char line[256];
		char *equals;

		spawn_line(spawn, line, sizeof(line));
		if (strcmp(line, "end") == 0)
			return;
		equals = strchr(line, '=');
		assert_non_null(equals);
		assert_true(spawn->count < SPAWN_TRUTHS);
		*equals = '\0';
		assert_true(strlen(line) < sizeof(spawn->truths[0].key));
		strcpy(spawn->truths[spawn->count].key, line);
		spawn->truths[spawn->count].value =
		    strtoull(equals + 1, NULL, 10);
		spawn->count++;
	}
}

void spawn_ask(struct spawn *spawn, const char *command)
{
	spawn_send(spawn, command);
	spawn_await_answer(spawn);
}

uint64_t spawn_truth(const struct spawn *spawn, const char *key)
{
	for (size_t i = 0; i < spawn->count; i++)
		if (strcmp(spawn->truths[i].key, key) == 0)
			return spawn->truths[i].value;
	fail_msg("the workload does not tell '%s'", key);
	return 0;
}

static void spawn_close(struct spawn *spawn)
{
	if (spawn->in >= 0)
		close(spawn->in);
	if (spawn->out >= 0)
		close(spawn->out);
	if (spawn->pidfd >= 0)
		close(spawn->pidfd);
	spawn->in = -1;
	spawn->out = -1;
	spawn->pidfd = -1;
	spawn->pid = 0;
}

static void spawn_kill(const struct spawn *spawn)
{
	if (spawn->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, spawn->pidfd, SIGKILL, NULL, 0);
	else
		kill(spawn->pid, SIGKILL);
}

int spawn_finish(struct spawn *spawn)
{
	int status = 0;

	if (spawn->pid <= 0)
		return 0;
	close(spawn->in);
	spawn->in = -1;
	if (child_wait(spawn->pid, &status, 10000) != 0 && errno != ECHILD) {
		spawn_kill(spawn);
		child_wait(spawn->pid, &status, 10000);
	}
	spawn_close(spawn);
	return status;
}

void spawn_end(struct spawn *spawn)
{
	int status;

	if (spawn->pid <= 0)
		return;
	spawn_kill(spawn);
	child_wait(spawn->pid, &status, 10000);
	spawn_close(spawn);
}
