/*
 * child.c - a part of a test in a process of its own (child.h).
 *
 * The child runs a cmocka group of one test; its output goes to a file in
 * memory, so that the driver, which counts what cmocka prints, sees the test
 * of the caller alone. The caller repeats the output behind "| " if the child
 * has failed, and its reason if it has skipped.
 */
#include "child.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "skip.h"

#define CHILD_DEADLINE_MS 60000
#define CHILD_OUTPUT	  65536

static unsigned child_deadline_ms = CHILD_DEADLINE_MS;

void child_patience(unsigned ms)
{
	child_deadline_ms = ms;
}

struct child_job {
	child_fn *function;
	void *user;
};

static void child_test(void **state)
{
	const struct child_job *job = *state;

	job->function(job->user);
}

int child_group(child_fn *function, void *user)
{
	struct child_job job = {function, user};
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_prestate(child_test, &job),
	};

	return cmocka_run_group_tests_name("child", tests, NULL, NULL) != 0;
}

void child_bind(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
}

uint64_t child_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void child_sleep_ms(unsigned ms)
{
	struct timespec left = {
	    .tv_sec = (time_t)(ms / 1000),
	    .tv_nsec = (long)(ms % 1000) * 1000000,
	};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

int child_wait(pid_t pid, int *status, unsigned ms)
{
	uint64_t end = child_monotonic_ns() + (uint64_t)ms * 1000000u;
	unsigned pause = 1;

	for (;;) {
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid)
			return 0;
		if (got < 0 && errno != EINTR)
			return -1;
		if (child_monotonic_ns() >= end)
			return -1;
		child_sleep_ms(pause);
		if (pause < 8)
			pause++;
	}
}

/* The child's words, behind a mark that no driver takes for its own. */
static void child_repeat(const char *text)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");

		printf("| %.*s\n", (int)length, text);
		text += length;
		text += *text == '\n';
	}
	fflush(stdout);
}

static void child_collect(int file, char *text)
{
	ssize_t got = pread(file, text, CHILD_OUTPUT - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	close(file);
}

/* The reason behind the first SKIP_BECAUSE line, or NULL. */
static char *child_reason(char *text)
{
	static const char mark[] = "SKIP_BECAUSE: ";
	char *at = text;

	while ((at = strstr(at, mark)) != NULL) {
		if (at == text || at[-1] == '\n') {
			at += sizeof(mark) - 1;
			at[strcspn(at, "\n")] = '\0';
			return at;
		}
		at++;
	}
	return NULL;
}

void child_supervise(child_body_fn *body, void *user)
{
	static char output[CHILD_OUTPUT];
	int file = memfd_create("child", MFD_CLOEXEC);
	int status = 0;
	pid_t child;
	const char *reason;

	assert_true(file >= 0);
	fflush(stdout);
	fflush(stderr);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		child_bind();
		dup2(file, 1);
		dup2(file, 2);
		status = body(user);
		fflush(stdout);
		fflush(stderr);
		_exit(status);
	}
	if (child_wait(child, &status, child_deadline_ms) != 0) {
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		child_collect(file, output);
		child_repeat(output);
		fail_msg("the child did not end in time");
	}
	child_collect(file, output);
	if (status != 0) {
		child_repeat(output);
		fail_msg("the child failed (wait status 0x%x)",
			 (unsigned)status);
	}
	reason = child_reason(output);
	if (reason != NULL)
		SKIP_BECAUSE(reason);
}

static int child_body(void *user)
{
	const struct child_job *job = user;

	return child_group(job->function, job->user);
}

void child_run(child_fn *function, void *user)
{
	struct child_job job = {function, user};

	child_supervise(child_body, &job);
}

void child_become(uid_t uid)
{
	if (geteuid() != 0) {
		SKIP_BECAUSE("only root can become another user");
		return;
	}
	if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 ||
	    setresuid(uid, uid, uid) != 0) {
		SKIP_BECAUSE("a second user id is not to be had here");
		return;
	}
	/* The change has made it unreadable for itself and has forgotten the
	 * signal that binds it to its parent (kernel/cred.c). */
	prctl(PR_SET_DUMPABLE, 1);
	child_bind();
}

int child_on_tmpfs(const char *folder)
{
	struct statfs about;

	return statfs(folder, &about) == 0 && about.f_type == 0x01021994;
}
