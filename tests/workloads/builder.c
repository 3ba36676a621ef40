/*
 * builder.c - a build tool: hundreds of short programs, some at a time.
 *
 * Usage: builder JOBS. `build N` runs N jobs, at most JOBS at once: each is a
 * shell that forks a compiler, which burns between 0 and 40 ms of CPU time,
 * and waits for it. The answer comes when all were waited for and tells what
 * the kernel has charged by then: `own_ns` (this process), `children_ns` (all
 * that it waited for, as getrusage tells it to the microsecond), `jobs`.
 */
#include "workload.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static uint32_t builder_state = 1;

static uint64_t builder_ms(void)
{
	builder_state = builder_state * 1664525u + 1013904223u;
	return (builder_state >> 8) % 41;
}

static _Noreturn void builder_job(uint64_t ms)
{
	pid_t compiler = fork();

	if (compiler < 0)
		_exit(1);
	if (compiler == 0) {
		uint64_t until = workload_cpu_ns() + ms * 1000000u;

		while (workload_cpu_ns() < until)
			for (volatile int i = 0; i < 1000; i++)
				;
		_exit(0);
	}
	if (waitpid(compiler, NULL, 0) != compiler)
		_exit(1);
	_exit(0);
}

static void builder_wait(void)
{
	int status;

	if (wait(&status) < 0 || status != 0)
		workload_fail("a job");
}

static void builder_build(uint64_t total, uint64_t jobs)
{
	uint64_t running = 0;

	for (uint64_t i = 0; i < total; i++) {
		uint64_t ms = builder_ms();
		pid_t child = fork();

		if (child < 0)
			workload_fail("fork");
		if (child == 0)
			builder_job(ms);
		if (++running == jobs) {
			builder_wait();
			running--;
		}
	}
	for (; running > 0; running--)
		builder_wait();
}

static uint64_t builder_ns(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) != 0)
		workload_fail("getrusage");
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
		   1000000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
		   1000u;
}

int main(int argc, char **argv)
{
	uint64_t jobs = argc > 1 ? workload_parse(argv[1]) : 4;
	uint64_t number;
	char line[64];

	workload_begin(120);
	if (jobs == 0)
		return 2;
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (!workload_is(line, "build", &number)) {
			workload_otherwise(line);
			continue;
		}
		builder_build(number, jobs);
		workload_number("own_ns", workload_cpu_ns());
		workload_number("children_ns", builder_ns(RUSAGE_CHILDREN));
		workload_number("jobs", number);
		workload_done();
	}
}
