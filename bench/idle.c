/*
 * idle.c - what an observation of a quiet window costs its observer.
 *
 * Children that sleep are one process, a tree of ten and a tree of a hundred.
 * Quiet is awaited for ten seconds, then a window of ten seconds is observed
 * with every thread; BENCH_QUICK=1 makes both two seconds. Counted is the CPU
 * time of the observing thread, by its own clock, in per cent of one core, and
 * its wake-ups. Targets: awaiting quiet at most 0.5 %, a window at most 0.1 %
 * of a core in a tree of ten, and no more wake-ups than samples.
 */
#define _GNU_SOURCE

#include <plimsoll.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int missed;

static double clock_seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A process that has `count - 1` children, all asleep; its pid. */
static pid_t start_tree(int count)
{
	pid_t root = fork();
	int i;

	if (root != 0)
		return root;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 1; i < count; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			break;
		}
	for (;;)
		pause();
}

static void must(int code, const char *what)
{
	if (code != PLIM_OK) {
		fprintf(stderr, "%s: %s\n", what, plim_error_word(code));
		exit(1);
	}
}

static void tell(const char *what, int count, double cpu, double elapsed,
		 double most)
{
	double percent = cpu / elapsed * 100;

	missed |= most > 0 && percent > most;
	printf("%-9s %3d processes: %.2f ms of CPU time in %.1f s, %.3f %%",
	       what, count, cpu * 1e3, elapsed, percent);
	if (most > 0)
		printf(" (target %.1f %%%s)", most,
		       percent > most ? ", MISSED" : "");
	printf("\n");
}

static void observe(plim_host *host, int count, uint64_t ns)
{
	plim_idle_options options = {.size = sizeof options,
				     .window_ns = ns,
				     .quiet_cpu_percent = 1e6,
				     .quiet_for_ns = ns,
				     .tree = count > 1,
				     .threads = 1};
	plim_target *target = NULL;
	plim_idle *idle = NULL;
	pid_t root = start_tree(count);
	plim_idle_facts facts;
	double cpu;
	double now;

	usleep(200000);
	must(plim_idle_new(&idle, host, NULL), "plim_idle_new");
	must(plim_target_open(&target, host, root, NULL), "plim_target_open");
	cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
	now = clock_seconds(CLOCK_MONOTONIC);
	must(plim_idle_await_quiet(idle, target, &options, NULL),
	     "plim_idle_await_quiet");
	tell("quiet,", count, clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu,
	     clock_seconds(CLOCK_MONOTONIC) - now, count == 10 ? 0.5 : 0);
	cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
	now = clock_seconds(CLOCK_MONOTONIC);
	must(plim_idle_window(idle, target, &options, NULL),
	     "plim_idle_window");
	tell("window,", count, clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu,
	     clock_seconds(CLOCK_MONOTONIC) - now, count == 10 ? 0.1 : 0);
	facts = plim_idle_about(idle);
	missed |= facts.own_wakeups.value > facts.samples;
	printf("          %llu wake-up%s of the observer, %u samples, "
	       "%zu threads\n",
	       (unsigned long long)facts.own_wakeups.value,
	       facts.own_wakeups.value == 1 ? "" : "s", facts.samples,
	       plim_idle_thread_count(idle));
	plim_idle_free(idle);
	plim_target_close(target);
	kill(root, SIGKILL);
	waitpid(root, NULL, 0);
}

int main(void)
{
	uint64_t ns = getenv("BENCH_QUICK") != NULL ? UINT64_C(2000000000)
						    : UINT64_C(10000000000);
	plim_snapshot *snapshot = NULL;
	plim_host *host = NULL;

	must(plim_host_open(&host, NULL, NULL), "plim_host_open");
	must(plim_snapshot_new(&snapshot, host, NULL), "plim_snapshot_new");
	must(plim_snapshot_take(snapshot, NULL, NULL), "plim_snapshot_take");
	printf("%zu processes on this machine\n", plim_snapshot_size(snapshot));
	plim_snapshot_free(snapshot);
	observe(host, 1, ns);
	observe(host, 10, ns);
	observe(host, 100, ns);
	plim_host_close(host);
	return missed;
}
