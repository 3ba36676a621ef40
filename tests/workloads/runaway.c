/*
 * runaway.c - a program that is hard to be rid of.
 *
 * Usage: runaway FD SECONDS WAY... Every process of it writes its pid (four
 * bytes) to the descriptor FD, which all of them hold open: whoever has the
 * other end sees the end of it once none is left. Each WAY is one thing it
 * starts: `child` a plain one; `session` one in a session of its own whose
 * parent has ended; `deaf` one that ignores the polite signals; `adopter` a
 * subreaper with an orphan below; `spawner` one that starts short-lived ones;
 * `chain` one that forks and ends, as does its child, and so on. `ignore` makes
 * the program itself deaf, `leave` makes it end at once. Nothing of it lives
 * longer than
 * SECONDS, of a chain 3: each link takes a pid.
 */
#include "workload.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int tell;
static uint64_t end_ns;

/* Written whole or, where the pipe is full, not at all. */
static void announce(void)
{
	pid_t pid = getpid();

	alarm(20);
	if (write(tell, &pid, sizeof pid) < 0)
		return;
}

static void deaf(void)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

static _Noreturn void stay(void)
{
	announce();
	while (workload_monotonic_ns() < end_ns)
		usleep(200000);
	_exit(0);
}

static void session(void)
{
	setsid();
	if (fork() == 0)
		stay();
	_exit(0);
}

static void adopter(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (fork() == 0)
		session();
	stay();
}

static void spawner(void)
{
	announce();
	signal(SIGCHLD, SIG_IGN);
	while (workload_monotonic_ns() < end_ns) {
		if (fork() == 0) {
			usleep(3000);
			_exit(0);
		}
		usleep(2000);
	}
	_exit(0);
}

static void chain(void)
{
	uint64_t end = workload_monotonic_ns() + 3000000000u;

	deaf();
	announce();
	while (workload_monotonic_ns() < end)
		if (fork() > 0)
			_exit(0);
	_exit(0);
}

static void way(const char *name)
{
	if (strcmp(name, "ignore") == 0)
		deaf();
	if (strcmp(name, "ignore") == 0 || strcmp(name, "leave") == 0 ||
	    fork() != 0)
		return;
	if (strcmp(name, "session") == 0)
		session();
	else if (strcmp(name, "adopter") == 0)
		adopter();
	else if (strcmp(name, "spawner") == 0)
		spawner();
	else if (strcmp(name, "chain") == 0)
		chain();
	else if (strcmp(name, "deaf") == 0)
		deaf();
	stay();
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	tell = (int)workload_parse(argv[1]);
	end_ns = workload_monotonic_ns() + workload_parse(argv[2]) * 1000000000;
	announce();
	for (int i = 3; i < argc; i++)
		way(argv[i]);
	if (strcmp(argv[argc - 1], "leave") != 0)
		stay();
	return 0;
}
