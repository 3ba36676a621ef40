/*
 * inside.h - THE contract with an operating system, fifth part: a session
 * inside the process that it samples (docs/design/inside.md).
 *
 * A runner is a thread of ours in the caller's process, started for one
 * session and joined at its end. It takes no signal of the application's. The
 * claim says that a session samples this process: there is one at a time, and
 * a forked child, which has no session, may claim for itself.
 */
#ifndef PLIMP_INSIDE_H
#define PLIMP_INSIDE_H

#include <plimsoll/base.h>

struct plimp_runner;
typedef void plimp_runner_fn(void *user);

/* Runs body(user) in a thread of its own, after `*runner` was set; NULL on
 * failure: PLIM_ENOMEM, PLIM_ESYSTEM, PLIM_EUNSUPPORTED. */
int plimp_system_runner_start(struct plimp_runner **runner,
			      const plim_allocator *allocator,
			      plimp_runner_fn *body, void *user,
			      plim_error *error);
/* The body tells that it has begun; whoever waits for that goes on. Once. */
void plimp_system_runner_tell(struct plimp_runner *runner);
/* Until it was told, or the body has returned. */
void plimp_system_runner_await(struct plimp_runner *runner);
/* Until the body has returned; frees it. In a forked child, where the thread
 * is none, it frees alone. NULL is allowed. */
void plimp_system_runner_join(struct plimp_runner *runner);

/* Who is calling. 0: a system without such numbers. */
int32_t plimp_system_own_pid(void);
int32_t plimp_system_own_tid(void);

/* 1: this process is ours to sample until it is released; 0: another session
 * has claimed it. */
int plimp_system_inside_claim(void);
void plimp_system_inside_release(void);

#endif
