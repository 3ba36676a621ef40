/*
 * ns.h - a part of a test in a pid namespace of its own.
 *
 * There pids are ours to choose: one can be used again at once, which is how
 * every confusion of two processes comes about. /proc is mounted anew, with
 * the options of the caller. Root gets the namespaces directly, another user
 * inside a user namespace of its own; where that is refused the test is
 * skipped. When the function ends, all of its processes end.
 */
#ifndef SUPPORT_NS_H
#define SUPPORT_NS_H

#include <stdint.h>
#include <sys/types.h>

#include "child.h"

/* Runs `function` in a new pid namespace, as a child of its init.
 * `proc_options` are mount options of its /proc ("hidepid=2"), or NULL. */
void ns_run(const char *proc_options, child_fn *function, void *user);

/* Mounts another /proc of this namespace, with options, over the one there
 * is; skips the test where it is refused. Only inside ns_run(). */
void ns_mount_proc(const char *proc_options);

/* fork() whose child gets this pid. -1 and errno (EEXIST) as fork() does;
 * skips the test where no pid can be chosen. Only inside ns_run(). */
pid_t ns_fork_as(pid_t pid);

/* A pid that was never used in the namespace, another one each time. */
pid_t ns_fresh_pid(void);

/* Field 22 of /proc/PID/stat, read without the library; 0 if it is gone. */
uint64_t ns_start_ticks(pid_t pid);

#endif
