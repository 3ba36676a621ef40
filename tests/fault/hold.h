/*
 * hold.h - holds the helper that reads command lines at its system calls.
 *
 * The helper is there for a fraction of a millisecond, so a test that wants
 * to meet it must stop it. A seccomp filter on the thread that reads, which
 * the helper inherits, hands the calls that the helper alone makes over to
 * another thread: it learns the helper's pid, does what it likes, and lets
 * the call go or not. While it does not, the helper stays where it is: that
 * is a read that blocks. The filter is for ever, so this is for a process of
 * its own (child_run()).
 */
#ifndef TESTS_FAULT_HOLD_H
#define TESTS_FAULT_HOLD_H

#include "fault.h"

#include <pthread.h>
#include <stdatomic.h>

enum hold_answer {
	HOLD_GO,  /* the call is made */
	HOLD_KEEP /* never, or until hold_release() */
};

/* Called for each call, in a thread of its own: no assertions. `number` is
 * that of the call, SYS_close_range or SYS_sendto. */
struct hold;
typedef enum hold_answer hold_fn(struct hold *hold, pid_t helper, long number);

struct hold {
	hold_fn *function;
	void *user;
	pthread_t thread;
	atomic_int listener; /* -1 until the filter is set */
	atomic_int stop;
	atomic_uint calls;     /* that were held */
	_Atomic uint64_t kept; /* the last call */
};

/* Sets the filter on this thread; skips the test where that is refused. */
void hold_start(struct hold *hold, hold_fn *function, void *user);

/* Lets the call go that is kept. */
void hold_release(struct hold *hold);

/* The thread ends. The helper's calls fail from now on. */
void hold_end(struct hold *hold);

/* This call fails with this error in this thread and in its helpers. */
void hold_refuse(long number, int error);

/* The letter of the state of a process, 0 if it is gone; waits for it to
 * become `state`, for five seconds: 1 if it did. */
char hold_state(pid_t pid);
int hold_await_state(pid_t pid, char state);

/* A hold_fn that stops the helper with a signal, or merely keeps it, at its
 * first call of this number. Once: halt_arm() makes it ready again. */
struct halt {
	long number;
	int signal; /* or 0 */
	atomic_int armed;
	atomic_int helper;  /* that was met, else 0 */
	atomic_int stopped; /* 1: it is */
};

extern struct halt halt;

enum hold_answer halt_helper(struct hold *hold, pid_t helper, long number);
void halt_arm(long number, int signal);

#endif
