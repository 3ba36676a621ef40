/*
 * target.h - a program that is looked at: the workload `heap`, started, asked
 * and ended.
 *
 * Needs no test framework, since bench/memory.c takes it as well. What fails
 * leaves a sentence in `error` and makes every later call of that target fail.
 * Every wait has a deadline. A target ends with the process that started it,
 * with the thread that did, to be exact.
 */
#ifndef TESTS_MEMORY_TARGET_H
#define TESTS_MEMORY_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TARGET_TRUTHS	 40
#define TARGET_ARGUMENTS 48

struct target {
	pid_t pid;
	int in;
	int out;
	size_t used;
	char buffer[4096];
	size_t count; /* of the last answer */
	struct {
		char key[32];
		uint64_t value;
	} truths[TARGET_TRUTHS];
	char error[256];
};

/* How it is started; start from zeros. */
struct target_plan {
	const char *program;  /* path of the workload */
	const char *root;     /* another system's folder: its libc; or NULL */
	const char *tunables; /* GLIBC_TUNABLES; or NULL */
	const char *preload;  /* LD_PRELOAD; or NULL */
	const char *words[TARGET_ARGUMENTS]; /* its command line */
};

/* Starts it and waits until it is ready: 0 or -1. */
int target_start(struct target *target, const struct target_plan *plan);

/* Sends a command; waits for its answer: 0 or -1. */
int target_ask(struct target *target, const char *command);

/* A number of the last answer; without it 0, and `error` is set. */
uint64_t target_truth(struct target *target, const char *key);

/* Ends it, whatever it does. */
void target_end(struct target *target);

/* The workload `heap` of this build: PLIM_TEST_WORKLOADS, else beside the
 * folder of this program. Static storage. */
const char *target_program(const char *name);

uint64_t target_monotonic_ns(void);
void target_sleep_ms(unsigned ms);

#endif
