/*
 * threads.c - what it costs to sample the threads of a process.
 *
 * A child of 1,000 threads that wait is looked at in rounds. In each the
 * methods alternate. Plain is what a program does that reads threads: list
 * them with readdir(3), and open, read and close `status` and `stat` of each
 * by its whole path, /proc/PID/task/TID/...; it does not look at what it has
 * read. Ours find the threads, prove, decode and order: a full sample of
 * threads that were never seen (status, stat, schedstat, names as in stat), a
 * repeat of known ones (status and schedstat), and one without `status` (CPU
 * time and times put on a CPU). Counted is CPU time; all run on one CPU. A
 * target is held against the median of the rounds' own ratios. The last rows
 * are for information: plain files alone, of a reader who is told the ids of
 * the threads, with names and what each thread blocks in, and what a plain
 * reader of all that would pay.
 */
#include <plimsoll.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS 1000
#define ROUNDS	61

enum subject {
	PLAIN,
	FULL,
	REPEAT,
	TIMES,
	FILES_ALONE,
	BLOCKED,
	PLAIN_BLOCKED,
	SUBJECTS
};

struct row {
	const char *name;
	double target; /* at most this part of PLAIN; 0: none */
};

static const struct row rows[SUBJECTS] = {
    [PLAIN] = {"plain status + stat", 0},
    [FULL] = {"full sample", 1.25},
    [REPEAT] = {"repeat of known threads", 0.90},
    [TIMES] = {"times put on a CPU", 0.65},
    [FILES_ALONE] = {"plain, without the list", 0},
    [BLOCKED] = {"repeat, names and waits", 0},
    [PLAIN_BLOCKED] = {"plain, all five files", 0},
};

static plim_host *host;
static plim_target *target;
static plim_threads *known;
static plim_threads *timed;
static plim_threads *waiting;
static int32_t tids[THREADS + 1];
static size_t tid_count;
static double times[SUBJECTS][ROUNDS];

static void *wait_for_ever(void *user)
{
	(void)user;
	for (;;)
		pause();
	return NULL;
}

static pid_t start_child(void)
{
	int ready[2];
	char byte;
	pid_t child;

	if (pipe(ready) != 0)
		exit(1);
	child = fork();
	if (child < 0)
		exit(1);
	if (child == 0) {
		pthread_attr_t attributes;
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, 65536);
		for (int i = 0; i < THREADS - 1; i++)
			if (pthread_create(&thread, &attributes, wait_for_ever,
					   NULL) != 0)
				_exit(1);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		wait_for_ever(NULL);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	close(ready[0]);
	return child;
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void plain_file(pid_t pid, int32_t tid, const char *name)
{
	static char buffer[65536];
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid,
		 name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0 || read(file, buffer, sizeof(buffer)) <= 0)
		exit(1);
	close(file);
}

static void plain_list(pid_t pid)
{
	const struct dirent *entry;
	char path[64];
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	if (folder == NULL)
		exit(1);
	tid_count = 0;
	while ((entry = readdir(folder)) != NULL)
		if (entry->d_name[0] != '.' && tid_count < THREADS)
			tids[tid_count++] = atoi(entry->d_name);
	closedir(folder);
}

static void plain(pid_t pid, int all)
{
	for (size_t i = 0; i < tid_count; i++) {
		plain_file(pid, tids[i], "status");
		plain_file(pid, tids[i], "stat");
		if (!all)
			continue;
		plain_file(pid, tids[i], "schedstat");
		plain_file(pid, tids[i], "syscall");
		plain_file(pid, tids[i], "wchan");
	}
}

static void sample(plim_threads *threads, uint32_t parts)
{
	const plim_threads_options options = {.size = sizeof(options),
					      .parts = parts};

	if (plim_threads_sample(threads, target, &options, NULL) != PLIM_OK ||
	    plim_threads_count(threads) != THREADS)
		exit(1);
}

static double look(pid_t pid, int subject)
{
	const uint32_t both = PLIM_THREAD_SWITCHES | PLIM_THREAD_TIMES;
	plim_threads *fresh = NULL;
	double begin;

	if (subject == FULL && plim_threads_new(&fresh, host, NULL) != PLIM_OK)
		exit(1);
	begin = now_ns();
	if (subject == PLAIN || subject == PLAIN_BLOCKED)
		plain_list(pid);
	if (subject == PLAIN || subject == FILES_ALONE ||
	    subject == PLAIN_BLOCKED)
		plain(pid, subject == PLAIN_BLOCKED);
	else if (subject == FULL)
		sample(fresh, both | PLIM_THREAD_NAME);
	else if (subject == REPEAT)
		sample(known, both);
	else if (subject == TIMES)
		sample(timed, PLIM_THREAD_TIMES);
	else
		sample(waiting, PLIM_THREAD_ALL);
	begin = now_ns() - begin;
	plim_threads_free(fresh);
	return begin;
}

static int order(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median(const double *values)
{
	double sorted[ROUNDS];

	memcpy(sorted, values, sizeof(sorted));
	qsort(sorted, ROUNDS, sizeof(double), order);
	return sorted[ROUNDS / 2];
}

static void print_row(int subject)
{
	double ratios[ROUNDS];
	double ratio;

	for (int i = 0; i < ROUNDS; i++)
		ratios[i] = times[subject][i] / times[PLAIN][i];
	ratio = median(ratios);
	printf("%-26s %9.0f %8.1f %%", rows[subject].name,
	       median(times[subject]) / THREADS, ratio * 100);
	if (rows[subject].target > 0)
		printf(" %7.0f %%  %s\n", rows[subject].target * 100,
		       ratio <= rows[subject].target ? "met" : "missed");
	else
		printf(" %9s\n", "-");
}

static void stay_here(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(void)
{
	pid_t child = start_child();

	stay_here();
	if (plim_host_open(&host, NULL, NULL) != PLIM_OK ||
	    plim_target_open(&target, host, child, NULL) != PLIM_OK ||
	    plim_threads_new(&known, host, NULL) != PLIM_OK ||
	    plim_threads_new(&timed, host, NULL) != PLIM_OK ||
	    plim_threads_new(&waiting, host, NULL) != PLIM_OK)
		return 1;
	sample(known, 0);
	sample(waiting, 0);
	plain_list(child);
	for (int subject = 0; subject < SUBJECTS; subject++)
		look(child, subject); /* not counted */
	for (int i = 0; i < ROUNDS; i++)
		for (int subject = 0; subject < SUBJECTS; subject++)
			times[subject][i] = look(child, subject);
	printf("%d threads, %d rounds\n", THREADS, ROUNDS);
	printf("%-26s %9s %10s %9s\n", "", "ns/thread", "of plain", "target");
	for (int subject = 0; subject < SUBJECTS; subject++)
		print_row(subject);
	plim_threads_free(waiting);
	plim_threads_free(timed);
	plim_threads_free(known);
	plim_target_close(target);
	plim_host_close(host);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
