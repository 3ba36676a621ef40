/*
 * sigtrap.c - the two ways in which a perf event can signal the thread that it
 * counts, side by side: by its descriptor (F_SETSIG, as a session inside a
 * process does), and by attr.sigtrap (Linux 5.13; async where blocked since
 * 5.19). The handlers are the same and do nothing but count.
 *
 * What one sample costs is the CPU time that a piece of work takes more while
 * samples come, at 10,000 Hz, in windows that alternate within one process.
 * The pause is what a loop that reads the clock misses, at 1,000 Hz. Then what
 * each does to a program that sets the signal back to its default while samples
 * are due, and to one that blocks it.
 */
#define _GNU_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WINDOWS	    16
#define WINDOW_NS   UINT64_C(20000000)
#define PAUSES	    300
#define GAP_NS	    300
#define GAP_MOST_NS 150000

enum way { BY_DESCRIPTOR, BY_SIGTRAP, WAYS };
static const char *const names[WAYS] = {"F_SETSIG, SIGURG", "attr.sigtrap"};
static const int signals[WAYS] = {SIGURG, SIGTRAP};

static volatile sig_atomic_t samples;
static volatile uint64_t sink;

static void handle(int number)
{
	(void)number;
	samples++;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)now.tv_nsec;
}

/* An event of the calling thread, off; -1 and errno. */
static int event_open(enum way way, unsigned hz)
{
	const struct f_owner_ex owner = {F_OWNER_TID, gettid()};
	struct perf_event_attr attr;
	int descriptor;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = 1000000000 / hz;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.wakeup_events = 1;
	attr.disabled = 1;
	attr.remove_on_exec = 1;
	attr.sigtrap = way == BY_SIGTRAP;
	descriptor = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
				  PERF_FLAG_FD_CLOEXEC);
	if (descriptor < 0 || way == BY_SIGTRAP)
		return descriptor;
	fcntl(descriptor, F_SETOWN_EX, &owner);
	fcntl(descriptor, F_SETSIG, SIGURG);
	fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_ASYNC);
	return descriptor;
}

static void event_on(enum way way, int descriptor)
{
	if (way == BY_SIGTRAP)
		ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0);
	else
		ioctl(descriptor, PERF_EVENT_IOC_REFRESH, INT_MAX);
}

static void event_off(int descriptor)
{
	ioctl(descriptor, PERF_EVENT_IOC_DISABLE, 0);
}

static void handler_set(enum way way, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler,
				   .sa_flags = SA_RESTART};

	sigaction(signals[way], &action, NULL);
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
	if (count == 0)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

/* CPU time for a turn of the work, over one window. */
static double window(void)
{
	uint64_t turns = 0;
	uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t end;

	do {
		for (unsigned i = 0; i < 20000; i++)
			sink += i;
		turns++;
		end = now_ns(CLOCK_THREAD_CPUTIME_ID);
	} while (end - begin < WINDOW_NS);
	return (double)(end - begin) / (double)turns;
}

/* us of CPU time for a sample: the median of pairs of windows. */
static double cost(enum way way)
{
	double costs[WINDOWS];
	int descriptor = event_open(way, 10000);

	if (descriptor < 0)
		return -1;
	for (int i = 0; i < WINDOWS; i++) {
		double off = window();
		double on;

		samples = 0;
		event_on(way, descriptor);
		on = window();
		event_off(descriptor);
		costs[i] = samples == 0 ? 0
					: (on - off) / on * (double)WINDOW_NS /
					      (double)samples / 1000;
	}
	close(descriptor);
	return median(costs, WINDOWS);
}

/* us for which the loop stood still for a sample: the median. */
static double pause_of(enum way way)
{
	static double gaps[PAUSES];
	size_t count = 0;
	int descriptor = event_open(way, 1000);
	uint64_t before = now_ns(CLOCK_MONOTONIC);
	sig_atomic_t seen = 0;

	if (descriptor < 0)
		return -1;
	samples = 0;
	event_on(way, descriptor);
	while (count < PAUSES) {
		uint64_t now = now_ns(CLOCK_MONOTONIC);

		/* What is longer is another process's turn. */
		if (samples != seen && now - before > GAP_NS &&
		    now - before < GAP_MOST_NS)
			gaps[count++] = (double)(now - before) / 1000;
		seen = samples;
		before = now;
	}
	event_off(descriptor);
	close(descriptor);
	return median(gaps, count);
}

/* A program that does this while samples come: its exit status. */
static int child(enum way way, int blocks)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		int descriptor = event_open(way, 1000);
		sigset_t set;
		sigset_t waiting;

		event_on(way, descriptor);
		if (!blocks)
			handler_set(way, SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, signals[way]);
		if (blocks)
			sigprocmask(SIG_BLOCK, &set, NULL);
		window();
		event_off(descriptor);
		sigpending(&waiting);
		_exit(sigismember(&waiting, signals[way]) == 1 ? 1 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return -1;
	return status;
}

static const char *outcome(int status)
{
	static char text[64];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "killed by %s",
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, sizeof(text), "%s",
			 WEXITSTATUS(status) ? "goes on, one signal waits"
					     : "goes on");
	return text;
}

int main(void)
{
	double costs[WAYS];
	double pauses[WAYS];

	for (enum way way = 0; way < WAYS; way++)
		handler_set(way, handle);
	for (enum way way = 0; way < WAYS; way++) {
		costs[way] = cost(way);
		pauses[way] = pause_of(way);
		if (costs[way] < 0) {
			printf("%s: %s\n", names[way], strerror(errno));
			return 77;
		}
	}
	for (enum way way = 0; way < WAYS; way++) {
		printf("%-18s %5.2f us CPU a sample, pause %5.2f us median\n",
		       names[way], costs[way], pauses[way]);
		printf("%-18s   set back to its default: %s\n", "",
		       outcome(child(way, 0)));
		printf("%-18s   blocked: %s\n", "", outcome(child(way, 1)));
	}
	return 0;
}
