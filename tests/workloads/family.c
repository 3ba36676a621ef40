/*
 * family.c - a tree of processes that is built and ended on command.
 *
 * Usage: family [FOLDER]. `child MS` forks one that burns MS of CPU time and
 * stays; `nested MS` one that forks another which does that; `orphan MS` one
 * whose parent forks it and ends at once; `writer PAGES` one that overwrites
 * so many pages of a file in FOLDER and fsyncs them. Each answer names the
 * last process that was born (`child`), and what wait4() is going to say of
 * its own CPU time (`cpu_ns`), or what it wrote (`written`).
 *
 * `end PID` kills that one, `reap` waits for all that have ended or been
 * killed and adds what wait4() says (`waited_ns`, since the beginning; CPU of
 * whoever the kernel reaped by itself is not in it). `ignore`, `nocldwait` and
 * `default` set what is done about SIGCHLD; `subreaper` adopts orphans.
 */
#include "workload.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *family_folder;
static uint64_t family_waited_ns;
static int family_life[2]; /* who reads from it lives as long as the root */

struct family_news {
	uint64_t pid;
	uint64_t cpu_ns;
	uint64_t written;
};

static void family_burn(uint64_t ms)
{
	uint64_t until = workload_cpu_ns() + ms * 1000000u;

	while (workload_cpu_ns() < until)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static uint64_t family_write(uint64_t pages)
{
	static char page[65536];
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int file = workload_file(family_folder, (size_t)pages * size);

	if (size > sizeof(page))
		_exit(2);
	memset(page, 0x5a, sizeof(page));
	for (uint64_t i = 0; i < pages; i++)
		if (write(file, page, size) != (ssize_t)size)
			workload_fail("write");
	if (fsync(file) != 0)
		workload_fail("fsync");
	close(file);
	return pages * size;
}

/* Until it is killed or the root has ended; its parent may end before. */
static _Noreturn void family_stay(void)
{
	char byte;

	close(family_life[1]);
	while (read(family_life[0], &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

/* The work of one, then its news, then nothing. */
static _Noreturn void family_member(int news, uint64_t ms, uint64_t pages)
{
	struct family_news told = {(uint64_t)getpid(), 0, 0};

	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, 0);
	alarm(120);
	if (pages > 0)
		told.written = family_write(pages);
	family_burn(ms);
	told.cpu_ns = workload_cpu_ns();
	if (write(news, &told, sizeof(told)) != (ssize_t)sizeof(told))
		_exit(1);
	close(news);
	family_stay();
}

/* `depth` 0: a child; 1: a grandchild. Orphaned, the one between ends. */
static void family_fork(int depth, int orphaned, uint64_t ms, uint64_t pages)
{
	struct family_news told;
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0)
		workload_fail("pipe");
	child = fork();
	if (child < 0)
		workload_fail("fork");
	if (child == 0) {
		close(ends[0]);
		if (depth > 0) {
			pid_t inner = fork();

			if (inner < 0)
				_exit(1);
			if (inner > 0) {
				close(ends[1]);
				alarm(120);
				if (orphaned)
					_exit(0);
				family_stay();
			}
		}
		family_member(ends[1], ms, pages);
	}
	close(ends[1]);
	if (orphaned)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	if (read(ends[0], &told, sizeof(told)) != (ssize_t)sizeof(told))
		workload_fail("a member has ended");
	close(ends[0]);
	workload_number("child", told.pid);
	workload_number("parent", (uint64_t)child);
	workload_number("cpu_ns", told.cpu_ns);
	workload_number("written", told.written);
}

static uint64_t family_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000u +
	       (uint64_t)time.tv_usec * 1000u;
}

/* All that have ended; those that were killed do so in a moment. */
static void family_reap(void)
{
	struct rusage usage;
	int status;

	workload_sleep_ns(20000000);
	while (wait4(-1, &status, WNOHANG, &usage) > 0)
		family_waited_ns +=
		    family_ns(usage.ru_utime) + family_ns(usage.ru_stime);
	workload_number("waited_ns", family_waited_ns);
}

static void family_sigchld(const char *how)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	if (strcmp(how, "ignore") == 0)
		action.sa_handler = SIG_IGN;
	if (strcmp(how, "nocldwait") == 0)
		action.sa_flags = SA_NOCLDWAIT;
	if (sigaction(SIGCHLD, &action, NULL) != 0)
		workload_fail("sigaction");
}

static int family_is_sigchld(const char *line)
{
	return strcmp(line, "ignore") == 0 || strcmp(line, "nocldwait") == 0 ||
	       strcmp(line, "default") == 0;
}

int main(int argc, char **argv)
{
	uint64_t number;
	char line[64];

	workload_begin(120);
	family_folder = argc > 1 ? argv[1] : "/tmp";
	if (pipe(family_life) != 0)
		workload_fail("pipe");
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "child", &number)) {
			family_fork(0, 0, number, 0);
		} else if (workload_is(line, "nested", &number)) {
			family_fork(1, 0, number, 0);
		} else if (workload_is(line, "orphan", &number)) {
			family_fork(1, 1, number, 0);
		} else if (workload_is(line, "writer", &number)) {
			family_fork(0, 0, 0, number);
		} else if (workload_is(line, "end", &number)) {
			if (kill((pid_t)number, SIGKILL) != 0)
				workload_fail("kill");
		} else if (strcmp(line, "reap") == 0) {
			family_reap();
		} else if (family_is_sigchld(line)) {
			family_sigchld(line);
		} else if (strcmp(line, "subreaper") == 0) {
			if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
				workload_fail("prctl");
		} else {
			workload_otherwise(line);
			continue;
		}
		workload_done();
	}
}
