/*
 * brief.c - very many very short processes, whose CPU time is known.
 *
 * Usage: brief [WAY COUNT]. COUNT processes are started, four at a time; each
 * computes 4 ms of CPU time in brief_work(), and ends 20 ms after its birth.
 * WAY is `exec`, where each executes this program anew, or `fork`, where it
 * computes in the copy. With arguments that is done at once, and told, and
 * the program ends: so it is a command. Without, the commands `exec N` and
 * `fork N` do it. The answer is `children_ns`, what the kernel has charged for
 * those that were waited for, and `own_ns`.
 */
#include "workload.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define BRIEF_JOBS    4
#define BRIEF_CPU_NS  4000000u
#define BRIEF_LIFE_NS 20000000u
#define BRIEF_SECONDS 120

static volatile uint64_t brief_sink;

__attribute__((noinline)) static void brief_work(void)
{
	uint64_t until = workload_cpu_ns() + BRIEF_CPU_NS;

	do {
		for (unsigned i = 0; i < 20000; i++)
			brief_sink += i;
	} while (workload_cpu_ns() < until);
}

static _Noreturn void brief_live(uint64_t born_ns)
{
	uint64_t now;

	brief_work();
	now = workload_monotonic_ns();
	if (now < born_ns + BRIEF_LIFE_NS)
		workload_sleep_ns(born_ns + BRIEF_LIFE_NS - now);
	_exit(0);
}

static _Noreturn void brief_child(int execute)
{
	char born[32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!execute)
		brief_live(workload_monotonic_ns());
	snprintf(born, sizeof(born), "%llu",
		 (unsigned long long)workload_monotonic_ns());
	execl("/proc/self/exe", "brief", "child", born, (char *)NULL);
	_exit(1);
}

static void brief_wait(void)
{
	int status;
	pid_t child;

	do
		child = wait(&status);
	while (child < 0 && errno == EINTR);
	if (child < 0 || status != 0)
		workload_fail("a child");
}

static void brief_start(int execute, uint64_t count)
{
	uint64_t alive = 0;

	for (uint64_t i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			workload_fail("fork");
		if (child == 0)
			brief_child(execute);
		if (++alive < BRIEF_JOBS)
			continue;
		brief_wait();
		alive--;
	}
	for (; alive > 0; alive--)
		brief_wait();
}

static uint64_t brief_ns(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage) != 0)
		workload_fail("getrusage");
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) *
		   1000000000u +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) *
		   1000u;
}

static void brief_tell(void)
{
	workload_number("children_ns", brief_ns(RUSAGE_CHILDREN));
	workload_number("own_ns", brief_ns(RUSAGE_SELF));
	workload_done();
}

int main(int argc, char **argv)
{
	uint64_t number;
	char line[64];

	if (argc == 3 && strcmp(argv[1], "child") == 0)
		brief_live(workload_parse(argv[2]));
	workload_begin(BRIEF_SECONDS);
	if (argc == 3) {
		brief_start(strcmp(argv[1], "exec") == 0,
			    workload_parse(argv[2]));
		brief_tell();
		return 0;
	}
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "exec", &number))
			brief_start(1, number);
		else if (workload_is(line, "fork", &number))
			brief_start(0, number);
		else
			workload_otherwise(line);
		brief_tell();
	}
}
