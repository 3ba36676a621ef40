/*
 * account.h - the kernel's account of a cgroup of one's own: what all of its
 * processes have used, those that ended included. The truth about a tree while
 * it lives; to be had by root, where the cgroups can be written.
 */
#ifndef TESTS_SCALE_ACCOUNT_H
#define TESTS_SCALE_ACCOUNT_H

#include <stdint.h>

struct account {
	char folder[128]; /* empty: there is none */
	const char *file;
};

/* Makes a cgroup; 1 if it could be made. */
int account_open(struct account *account);

/* Puts the calling process into it, and so its children to come. */
int account_join(const struct account *account);

/* CPU time in ns, 0 without an account. What a process uses arrives a clock
 * tick later at most. */
uint64_t account_cpu_ns(const struct account *account);

/* Removes the cgroup, which must have no process any more. */
void account_close(struct account *account);

#endif
