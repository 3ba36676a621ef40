/*
 * zombie.c - a child that ends when told, and a parent that reaps when told.
 *
 * `child` forks one, which waits; `end STATUS` lets it exit with that status
 * and answers when it is a zombie; `kill SIGNAL` ends it by a signal instead;
 * `reap` waits for it. Each answer names the `child`, and `reap` its status as
 * wait() gave it.
 */
#include "workload.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t zombie_child;
static int zombie_pipe[2];

static void zombie_fork(void)
{
	if (pipe(zombie_pipe) != 0)
		workload_fail("pipe");
	zombie_child = fork();
	if (zombie_child < 0)
		workload_fail("fork");
	if (zombie_child == 0) {
		unsigned char status;

		workload_begin(120);
		close(zombie_pipe[1]);
		if (read(zombie_pipe[0], &status, 1) != 1)
			_exit(0);
		_exit(status);
	}
	close(zombie_pipe[0]);
}

static void zombie_await(void)
{
	siginfo_t info;

	close(zombie_pipe[1]);
	if (waitid(P_PID, (id_t)zombie_child, &info, WEXITED | WNOWAIT) != 0)
		workload_fail("waitid");
}

int main(void)
{
	uint64_t number;
	char line[64];

	workload_begin(120);
	workload_ready();
	for (;;) {
		int status = 0;

		workload_command(line, sizeof(line));
		if (workload_is(line, "child", &number)) {
			zombie_fork();
		} else if (workload_is(line, "end", &number)) {
			unsigned char byte = (unsigned char)number;

			if (write(zombie_pipe[1], &byte, 1) != 1)
				workload_fail("write");
			zombie_await();
		} else if (workload_is(line, "kill", &number)) {
			kill(zombie_child, (int)number);
			zombie_await();
		} else if (workload_is(line, "reap", &number)) {
			if (waitpid(zombie_child, &status, 0) != zombie_child)
				workload_fail("waitpid");
		} else {
			workload_otherwise(line);
			continue;
		}
		workload_number("child", (uint64_t)zombie_child);
		workload_number("status", (uint64_t)status);
		workload_done();
	}
}
