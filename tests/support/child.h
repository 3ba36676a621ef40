/*
 * child.h - a part of a test in a process of its own.
 *
 * Whoever changes its user, its namespaces or its mounts does it in a child.
 * What fails or is skipped there fails or skips the test of the caller, with
 * the child's words; a child that does not end within a minute, or within the
 * time of child_patience(), is ended.
 */
#ifndef SUPPORT_CHILD_H
#define SUPPORT_CHILD_H

#include <stdint.h>
#include <sys/types.h>

typedef void child_fn(void *user);

/* Runs `function` in a forked child. It may use every assertion of cmocka. */
void child_run(child_fn *function, void *user);

/* The two halves of it, for who forks in between: `body` in a child, its
 * output kept, 0 expected; and `function` under cmocka in this very process,
 * giving 0 or 1. */
typedef int child_body_fn(void *user);
void child_supervise(child_body_fn *body, void *user);
int child_group(child_fn *function, void *user);

/* What all children after this call may take instead of a minute. */
void child_patience(unsigned ms);

/* Only in a child: gives up root for this user, without any group left, and
 * stays readable for itself. Skips the test if it is not root. */
void child_become(uid_t uid);

/* The life of this process ends with its parent's. */
void child_bind(void);

/* Waits for a child, `ms` at most: 0 and its status, else -1. */
int child_wait(pid_t pid, int *status, unsigned ms);

void child_sleep_ms(unsigned ms);
uint64_t child_monotonic_ns(void);

/* 1 if a folder is on a tmpfs, where nothing reaches storage. */
int child_on_tmpfs(const char *folder);

#endif
