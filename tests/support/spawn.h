/*
 * spawn.h - starts a workload (tests/workloads), asks it, and ends it.
 *
 * Every step has a deadline, and every failure fails the test. A workload is
 * ended through its pidfd and reaped; if the test ends before that, the
 * workload ends with the test's process.
 */
#ifndef SUPPORT_SPAWN_H
#define SUPPORT_SPAWN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SPAWN_TRUTHS 32

struct spawn {
	pid_t pid;
	int pidfd; /* -1 where there is none */
	int in;	   /* its standard input */
	int out;   /* its standard output */
	size_t used;
	char buffer[4096]; /* read from `out`, not yet taken */
	size_t count;
	struct {
		char key[32];
		uint64_t value;
	} truths[SPAWN_TRUTHS]; /* the last answer */
};

/* The path of a workload; static storage, valid until the next call. */
const char *spawn_path(const char *name);

/* Starts the workload argv[0] and waits until it is ready. */
void spawn_start(struct spawn *spawn, const char *const *argv);

/* The same for a program of any path, with any argv[0]. */
void spawn_program(struct spawn *spawn, const char *path,
		   const char *const *argv);

/* Sends a command without waiting for its answer. */
void spawn_send(struct spawn *spawn, const char *command);

/* Waits for the line `pid=N ready`, for an answer. */
void spawn_await_ready(struct spawn *spawn);
void spawn_await_answer(struct spawn *spawn);

/* Sends a command and takes the answer. */
void spawn_ask(struct spawn *spawn, const char *command);

/* A number of the last answer. */
uint64_t spawn_truth(const struct spawn *spawn, const char *key);

/* Closes its input and waits for its end; gives the wait status. Ends it
 * after ten seconds. It may have been reaped already: then 0. */
int spawn_finish(struct spawn *spawn);

/* Kills it and reaps it. */
void spawn_end(struct spawn *spawn);

#endif
