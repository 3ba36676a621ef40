/*
 * before-exec.c - exec in place, and a child that waits between fork and exec.
 *
 * Usage: before-exec PROGRAM [ARGUMENT...]. `exec` replaces this process by
 * PROGRAM, which then serves the same pipes and prints its own start-up line.
 * `fork` forks a child that stays as it is, a copy of this process; `release`
 * lets the child exec PROGRAM and answers when that has happened. Answers name
 * the `child`.
 */
#include "workload.h"

#include <fcntl.h>
#include <unistd.h>

static pid_t before_child;
static int before_go[2];
static int before_done[2];

static void before_fork(char **program)
{
	if (pipe(before_go) != 0 || pipe2(before_done, O_CLOEXEC) != 0)
		workload_fail("pipe");
	before_child = fork();
	if (before_child < 0)
		workload_fail("fork");
	if (before_child == 0) {
		char byte;

		workload_begin(120);
		close(before_go[1]);
		if (read(before_go[0], &byte, 1) != 1)
			_exit(0);
		/* Its input is the pipe that is never written again. */
		dup2(before_go[0], 0);
		close(before_go[0]);
		dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), 1);
		execv(program[0], program);
		_exit(1);
	}
	close(before_go[0]);
	close(before_done[1]);
}

int main(int argc, char **argv)
{
	uint64_t number;
	char line[64];

	workload_begin(120);
	if (argc < 2)
		return 2;
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "exec", &number)) {
			execv(argv[1], argv + 1);
			workload_fail("execv");
		} else if (workload_is(line, "fork", &number)) {
			before_fork(argv + 1);
		} else if (workload_is(line, "release", &number)) {
			char byte = 1;

			if (write(before_go[1], &byte, 1) != 1)
				workload_fail("write");
			/* Close-on-exec: the end of the pipe is the exec. */
			if (read(before_done[0], &byte, 1) != 0)
				workload_fail("read");
		} else {
			workload_otherwise(line);
			continue;
		}
		workload_number("child", (uint64_t)before_child);
		workload_done();
	}
}
