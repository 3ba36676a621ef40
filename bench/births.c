/*
 * births.c - what a process pays for having its births counted.
 *
 * Three processes do the same in turn, in short bursts: one that is not
 * observed, one by perf records, one by the process connector. In a burst each
 * forks children that end at once and waits for them, or passes a byte to and
 * fro with a second process, which is nothing but context switches. Printed
 * are the least and the median of the bursts, for one fork and one switch, and
 * their ratios to those of the process that is not observed; at last what one
 * reading costs the observer.
 */
#define _POSIX_C_SOURCE 200809L

#include <plimsoll.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURSTS	 151
#define FORKS	 40
#define SWITCHES 400
#define READINGS 1000

enum subject { ALONE, PERF, CONNECTOR, SUBJECTS };
enum work { FORK, SWITCH, WORKS };

static const char *const subject_names[SUBJECTS] = {
    "not observed", "perf records", "process connector"};

struct observed {
	pid_t pid;
	int in;	 /* one byte: what to do */
	int out; /* ns, a double */
	plim_target *target;
	plim_births *births;
	double ns[WORKS][BURSTS];
};

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static _Noreturn void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static void transfer(int is_write, int descriptor, void *data, size_t size)
{
	ssize_t done = is_write ? write(descriptor, data, size)
				: read(descriptor, data, size);

	if (done != (ssize_t)size)
		_exit(0); /* the other side has ended */
}

static void work_fork(void)
{
	for (int i = 0; i < FORKS; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			give_up("fork");
	}
}

static void work_switch(const int there[2], const int back[2])
{
	char byte = 0;

	for (int i = 0; i < SWITCHES / 2; i++) {
		transfer(1, there[1], &byte, 1);
		transfer(0, back[0], &byte, 1);
	}
}

static void partner(const int there[2], const int back[2])
{
	char byte;

	close(there[1]);
	close(back[0]);
	for (;;) {
		transfer(0, there[0], &byte, 1);
		transfer(1, back[1], &byte, 1);
	}
}

static _Noreturn void serve(int in, int out)
{
	int there[2];
	int back[2];
	char command;

	if (pipe(there) != 0 || pipe(back) != 0)
		give_up("pipe");
	switch (fork()) {
	case -1:
		give_up("fork");
	case 0:
		close(in);
		close(out);
		partner(there, back);
	}
	for (;;) {
		double ns;

		transfer(0, in, &command, 1);
		ns = now_ns();
		if (command == FORK)
			work_fork();
		else
			work_switch(there, back);
		ns = (now_ns() - ns) / (command == FORK ? FORKS : SWITCHES);
		transfer(1, out, &ns, sizeof(ns));
	}
}

static void start(struct observed *it)
{
	int in[2];
	int out[2];

	if (pipe(in) != 0 || pipe(out) != 0)
		give_up("pipe");
	it->pid = fork();
	if (it->pid < 0)
		give_up("fork");
	if (it->pid == 0) {
		close(in[1]);
		close(out[0]);
		serve(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	it->in = in[1];
	it->out = out[0];
}

static double burst(struct observed *it, int work)
{
	char command = (char)work;
	double ns;

	transfer(1, it->in, &command, 1);
	transfer(0, it->out, &ns, sizeof(ns));
	return ns;
}

/* 0 if this user may not observe in this way. */
static int observe(struct observed *it, plim_host *host, uint32_t flags)
{
	plim_births_options options = {
	    .size = sizeof(options),
	    .flags = flags,
	};

	if (plim_target_open(&it->target, host, it->pid, NULL) != PLIM_OK ||
	    plim_births_open(&it->births, host, it->target, &options, NULL) !=
		PLIM_OK)
		give_up("observe");
	return plim_births_method(it->births) != PLIM_METHOD_NONE;
}

static int order(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

static void print(struct observed *all, const int *there)
{
	static const char *const works[WORKS] = {"fork", "switch"};

	for (int work = 0; work < WORKS; work++) {
		for (int i = 0; i < SUBJECTS; i++) {
			const double *base = all[ALONE].ns[work];
			double *ns = all[i].ns[work];

			if (!there[i])
				continue;
			qsort(ns, BURSTS, sizeof(*ns), order);
			printf("%-7s %-18s least %8.0f ns  median %8.0f ns  "
			       "ratio %.3f  %.3f\n",
			       works[work], subject_names[i], ns[0],
			       ns[BURSTS / 2], ns[0] / base[0],
			       ns[BURSTS / 2] / base[BURSTS / 2]);
		}
	}
}

static void print_reading(struct observed *it, const char *name)
{
	plim_births_counts counts;
	double begin = now_ns();

	for (int i = 0; i < READINGS; i++)
		plim_births_read(it->births, &counts, NULL);
	printf("reading %-18s %.0f ns, %llu processes%s\n", name,
	       (now_ns() - begin) / READINGS,
	       (unsigned long long)counts.processes_started.value,
	       counts.processes_started.bound == PLIM_BOUND_EXACT
		   ? ""
		   : " at least");
}

int main(void)
{
	static struct observed all[SUBJECTS];
	int there[SUBJECTS] = {1, 0, 0};
	plim_births_counts counts;
	plim_host *host;

	signal(SIGPIPE, SIG_IGN);
	if (plim_host_open(&host, NULL, NULL) != PLIM_OK)
		return 1;
	for (int i = 0; i < SUBJECTS; i++)
		start(&all[i]);
	there[PERF] = observe(&all[PERF], host, PLIM_BIRTHS_NO_CONNECTOR);
	there[CONNECTOR] = observe(&all[CONNECTOR], host, PLIM_BIRTHS_NO_PERF);
	for (int i = 0; i < BURSTS; i++)
		for (int work = 0; work < WORKS; work++)
			for (int k = 0; k < SUBJECTS; k++) {
				struct observed *it = &all[(i + k) % SUBJECTS];

				it->ns[work][i] = burst(it, work);
				if (it->births != NULL)
					plim_births_read(it->births, &counts,
							 NULL);
			}
	print(all, there);
	for (int i = PERF; i < SUBJECTS; i++)
		if (there[i])
			print_reading(&all[i], subject_names[i]);
	for (int i = 0; i < SUBJECTS; i++) {
		plim_births_free(all[i].births);
		plim_target_close(all[i].target);
		kill(all[i].pid, SIGKILL);
		waitpid(all[i].pid, NULL, 0);
	}
	plim_host_close(host);
	return 0;
}
