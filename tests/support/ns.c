/*
 * ns.c - a part of a test in a pid namespace of its own (ns.h).
 *
 * Three processes: the first makes the namespaces, the second is init there
 * and mounts /proc, the third runs the function, so that it is killed and
 * gets its signals like any other process. Each is bound to the life of the
 * one before; the kernel ends a namespace with its init.
 */
#include "ns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"

struct ns_job {
	const char *options;
	child_fn *function;
	void *user;
};

/* For the caller's side of child_supervise(): a reason, and success. */
static int ns_refused(const char *what)
{
	printf("SKIP_BECAUSE: %s is refused here\n", what);
	return 0;
}

static int ns_write(const char *path, const char *text)
{
	size_t size = strlen(text);
	int file = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t put;

	if (file < 0)
		return -1;
	put = write(file, text, size);
	close(file);
	return put == (ssize_t)size ? 0 : -1;
}

/* Root of a user namespace, with this user as its only one. */
static int ns_user(void)
{
	char uids[64];
	char gids[64];

	snprintf(uids, sizeof(uids), "0 %lu 1", (unsigned long)geteuid());
	snprintf(gids, sizeof(gids), "0 %lu 1", (unsigned long)getegid());
	if (unshare(CLONE_NEWUSER) != 0)
		return -1;
	if (ns_write("/proc/self/uid_map", uids) != 0 ||
	    ns_write("/proc/self/setgroups", "deny") != 0 ||
	    ns_write("/proc/self/gid_map", gids) != 0)
		return -1;
	return 0;
}

static int ns_status(pid_t child)
{
	int status;
	pid_t got;

	/* Whatever is orphaned in the namespace is reaped on the way. */
	do
		got = wait(&status);
	while (got != child && (got > 0 || errno == EINTR));
	if (got != child)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int ns_init(const struct ns_job *job)
{
	pid_t child;

	child_bind();
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return ns_refused("a private mount namespace");
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  job->options) != 0)
		return ns_refused("mounting proc in a pid namespace");
	fflush(stdout);
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0) {
		int status;

		child_bind();
		status = child_group(job->function, job->user);
		fflush(stdout);
		_exit(status);
	}
	return ns_status(child);
}

static int ns_body(void *user)
{
	const struct ns_job *job = user;
	pid_t child;

	if (geteuid() != 0 && ns_user() != 0)
		return ns_refused("a user namespace");
	if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0)
		return ns_refused("a pid namespace");
	fflush(stdout);
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0) {
		int status = ns_init(job);

		fflush(stdout);
		_exit(status);
	}
	return ns_status(child);
}

void ns_run(const char *proc_options, child_fn *function, void *user)
{
	struct ns_job job = {proc_options, function, user};

	child_supervise(ns_body, &job);
}

void ns_mount_proc(const char *proc_options)
{
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  proc_options) != 0)
		SKIP_BECAUSE("mounting proc with these options is refused");
}

/* The older way: the kernel counts on from the last pid. */
static pid_t ns_fork_after(pid_t pid)
{
	char text[32];
	pid_t child;

	snprintf(text, sizeof(text), "%ld", (long)pid - 1);
	if (ns_write("/proc/sys/kernel/ns_last_pid", text) != 0) {
		SKIP_BECAUSE("choosing the next pid is refused here");
		return -1;
	}
	child = fork();
	if (child > 0 && child != pid) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		errno = EEXIST;
		return -1;
	}
	if (child == 0 && getpid() != pid)
		_exit(1);
	return child;
}

pid_t ns_fork_as(pid_t pid)
{
	struct clone_args arguments = {
	    .exit_signal = SIGCHLD,
	    .set_tid = (uint64_t)(uintptr_t)&pid,
	    .set_tid_size = 1,
	};
	pid_t child;

	fflush(stdout);
	child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
	if (child >= 0 || errno == EEXIST)
		return child;
	return ns_fork_after(pid);
}

pid_t ns_fresh_pid(void)
{
	static pid_t next = 2000;

	return next++;
}

uint64_t ns_start_ticks(pid_t pid)
{
	char path[64];
	char text[1024];
	const char *at;
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	got = read(file, text, sizeof(text) - 1);
	close(file);
	text[got > 0 ? got : 0] = '\0';
	at = strrchr(text, ')');
	/* Behind the name is a blank, and field 3. */
	for (int field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}
