/*
 * starter.c - starts processes and threads that end at once, and says how
 * many.
 *
 * Usage: starter [THREADS], which keeps so many threads besides the main one;
 * `by-thread` makes the last of them, not the main one, do the next command.
 * Commands, each with a number: `fork`, `vfork`; `ignored` (SIGCHLD ignored:
 * the kernel reaps them unseen); `orphans` (each starts another and ends
 * before it); `threads`; `programs` (each executes /proc/self/exe, which
 * starts one thread and ends). `branch` starts one child that stays and does
 * the next commands in the caller's stead until `back`. Each answer says
 * `processes` and `threads`, started and ended by now, since the beginning.
 */
#include "workload.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static uint64_t starter_processes;
static uint64_t starter_threads;

static void *starter_nothing(void *user)
{
	return user;
}

static void *starter_stay(void *user)
{
	while (pause() != 0)
		;
	return user;
}

static void starter_thread(void *(*body)(void *), int join)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, NULL) != 0)
		workload_fail("pthread_create");
	if (join && pthread_join(thread, NULL) != 0)
		workload_fail("pthread_join");
}

static void starter_wait(pid_t child)
{
	if (child < 0)
		workload_fail("fork");
	if (waitpid(child, NULL, 0) != child)
		workload_fail("waitpid");
}

static void starter_fork(uint64_t number)
{
	for (uint64_t i = 0; i < number; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		starter_wait(child);
		starter_processes++;
	}
}

/* Apart, so that nothing of the caller's can be lost when it comes back. */
static void starter_vfork_one(void)
{
	pid_t child = vfork();

	if (child == 0)
		_exit(0);
	starter_wait(child);
}

static void starter_vfork(uint64_t number)
{
	for (uint64_t i = 0; i < number; i++) {
		starter_vfork_one();
		starter_processes++;
	}
}

/* The end of the pipe tells that all of them have ended. */
static void starter_ignored(uint64_t number)
{
	int ends[2];
	char byte;

	signal(SIGCHLD, SIG_IGN);
	if (pipe(ends) != 0)
		workload_fail("pipe");
	for (uint64_t i = 0; i < number; i++) {
		pid_t child = fork();

		if (child < 0)
			workload_fail("fork");
		if (child == 0)
			_exit(0);
		starter_processes++;
	}
	close(ends[1]);
	while (read(ends[0], &byte, 1) > 0)
		;
	close(ends[0]);
	/* With SIGCHLD ignored it waits for all, and then has no child. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	signal(SIGCHLD, SIG_DFL);
}

/* The caller adopts them, so that it knows when they have ended. */
static void starter_orphans(uint64_t number)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (uint64_t i = 0; i < number; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(fork() < 0);
		if (child < 0)
			workload_fail("fork");
		starter_processes += 2;
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
}

static void starter_programs(uint64_t number)
{
	static char name[] = "starter";
	static char option[] = "--thread";
	char *arguments[] = {name, option, NULL};

	for (uint64_t i = 0; i < number; i++) {
		pid_t child = 0;

		if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments,
				environ) != 0)
			workload_fail("posix_spawn");
		starter_wait(child);
		starter_processes++;
		starter_threads++;
	}
}

static void starter_answer(void)
{
	workload_number("processes", starter_processes);
	workload_number("threads", starter_threads);
	workload_done();
}

/* One command; 0 if it is none. */
static int starter_do(const char *line)
{
	uint64_t number;

	if (workload_is(line, "fork", &number)) {
		starter_fork(number);
	} else if (workload_is(line, "vfork", &number)) {
		starter_vfork(number);
	} else if (workload_is(line, "ignored", &number)) {
		starter_ignored(number);
	} else if (workload_is(line, "orphans", &number)) {
		starter_orphans(number);
	} else if (workload_is(line, "programs", &number)) {
		starter_programs(number);
	} else if (workload_is(line, "threads", &number)) {
		for (uint64_t i = 0; i < number; i++)
			starter_thread(starter_nothing, 1);
		starter_threads += number;
	} else {
		return 0;
	}
	starter_answer();
	return 1;
}

static pthread_mutex_t starter_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t starter_change = PTHREAD_COND_INITIALIZER;
static char starter_line[64];
static int starter_has_line;

/* The last thread: does what it is given. */
static void *starter_serve(void *user)
{
	pthread_mutex_lock(&starter_lock);
	for (;;) {
		while (!starter_has_line)
			pthread_cond_wait(&starter_change, &starter_lock);
		if (!starter_do(starter_line))
			exit(2);
		starter_has_line = 0;
		pthread_cond_broadcast(&starter_change);
	}
	return user;
}

static void starter_give(const char *line)
{
	pthread_mutex_lock(&starter_lock);
	memcpy(starter_line, line, sizeof(starter_line));
	starter_has_line = 1;
	pthread_cond_broadcast(&starter_change);
	while (starter_has_line)
		pthread_cond_wait(&starter_change, &starter_lock);
	pthread_mutex_unlock(&starter_lock);
}

/* The child takes over until `back`; its counts are passed on. */
static void starter_branch(void)
{
	uint64_t counts[2];
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0)
		workload_fail("pipe");
	child = fork();
	if (child < 0)
		workload_fail("fork");
	if (child > 0) {
		close(ends[1]);
		if (read(ends[0], counts, sizeof(counts)) !=
		    (ssize_t)sizeof(counts))
			workload_fail("read");
		close(ends[0]);
		starter_wait(child);
		starter_processes = counts[0];
		starter_threads = counts[1];
		starter_answer();
		return;
	}
	workload_begin(120);
	starter_processes++;
	workload_number("child", (uint64_t)getpid());
	starter_answer();
	for (;;) {
		char line[64];

		workload_command(line, sizeof(line));
		if (strcmp(line, "back") == 0)
			break;
		if (!starter_do(line))
			_exit(2);
	}
	counts[0] = starter_processes;
	counts[1] = starter_threads;
	if (write(ends[1], counts, sizeof(counts)) != (ssize_t)sizeof(counts))
		_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t keep;
	char line[64] = "";
	int by_thread = 0;

	if (argc > 1 && strcmp(argv[1], "--thread") == 0) {
		starter_thread(starter_nothing, 1);
		return 0;
	}
	keep = argc > 1 ? workload_parse(argv[1]) : 0;
	if (keep > 1000)
		return 2;
	workload_begin(120);
	for (uint64_t i = 0; i < keep; i++)
		starter_thread(i + 1 < keep ? starter_stay : starter_serve, 0);
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (strcmp(line, "by-thread") == 0 && keep > 0) {
			by_thread = 1;
			workload_done();
		} else if (strcmp(line, "branch") == 0) {
			starter_branch();
		} else if (by_thread) {
			by_thread = 0;
			starter_give(line);
		} else if (!starter_do(line)) {
			workload_otherwise(line);
		}
	}
}
