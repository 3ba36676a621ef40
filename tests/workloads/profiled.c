/*
 * profiled.c - a program whose profile is known: where its time goes it knows
 * by its threads' own CPU clocks, and each of its two functions lies alone in
 * a block of 256 bytes, whose bounds it tells.
 *
 *   profiled shares        four threads that compute 1, 2, 4 and 8 ms of CPU
 *                          time in turn, the others wait
 *   profiled hot           one thread, three parts in hot(), one in cool()
 *   profiled reads         half of the CPU time in read(), half in hot()
 *   profiled churn         threads that live for 2 ms each
 *   profiled swap A B      loads A, calls its work(), unloads it, loads B
 *   profiled again         hot; on the command `exec` executes itself: cool
 *   profiled cool          computes in cool() alone
 *   profiled tree          two children: one in hot(), one in cool()
 *   profiled idle          sleeps
 */
#include "workload.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MS	1000000u
#define SECONDS 60
#define WORKERS 4

#define BLOCK	    256
#define ALONE(name) __attribute__((noinline, section(name), aligned(BLOCK)))

static volatile uint64_t profiled_sink;
static _Atomic uint64_t profiled_cpu[WORKERS];
static sem_t profiled_turn[WORKERS];
static sem_t profiled_named;
static const char *profiled_self;

static uint64_t thread_cpu(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Some 10 us. */
ALONE("hot_code") static void hot(void)
{
	for (unsigned i = 0; i < 10000; i++)
		profiled_sink += i;
}

ALONE("cool_code") static void cool(void)
{
	for (unsigned i = 0; i < 10000; i++)
		profiled_sink += i;
}

/* Computes so long by the thread's own clock, which is asked rarely: that is
 * not where the time is to go. */
static void compute(void (*work)(void), uint64_t ns)
{
	uint64_t end = thread_cpu() + ns;

	do {
		for (int i = 0; i < 20; i++)
			work();
	} while (thread_cpu() < end);
}

static void *shares_worker(void *number)
{
	size_t me = (size_t)number;
	char name[16];

	snprintf(name, sizeof(name), "share-%zu", me);
	prctl(PR_SET_NAME, name);
	sem_post(&profiled_named);
	for (;;) {
		while (sem_wait(&profiled_turn[me]) != 0)
			;
		compute(hot, (uint64_t)MS << me);
		profiled_cpu[me] = thread_cpu();
		sem_post(&profiled_turn[(me + 1) % WORKERS]);
	}
	return NULL;
}

static void start_thread(void *(*body)(void *), void *user)
{
	pthread_attr_t detached;
	pthread_t thread;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &detached, body, user) != 0)
		workload_fail("pthread_create");
	pthread_attr_destroy(&detached);
}

static void start_shares(void)
{
	for (size_t i = 0; i < WORKERS; i++)
		sem_init(&profiled_turn[i], 0, i == 0);
	for (size_t i = 0; i < WORKERS; i++)
		start_thread(shares_worker, (void *)i);
	/* Whoever looks for one by name finds it. */
	for (size_t i = 0; i < WORKERS; i++)
		while (sem_wait(&profiled_named) != 0)
			;
}

/* Nearly a whole number of periods of 500 or 1,000 Hz would let every sample
 * fall into the same places of the round. */
#define PART 1300000u

static void *hot_worker(void *user)
{
	(void)user;
	for (;;) {
		compute(hot, 3 * PART);
		compute(cool, PART);
	}
	return NULL;
}

static void *cool_worker(void *user)
{
	(void)user;
	for (;;)
		compute(cool, MS);
	return NULL;
}

static void *reads_worker(void *user)
{
	static char buffer[1 << 20];
	int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	(void)user;
	if (file < 0)
		workload_fail("/dev/zero");
	for (;;) {
		uint64_t end = thread_cpu() + 4 * PART;

		compute(hot, 4 * PART);
		end += 4 * PART;
		while (thread_cpu() < end) {
			if (read(file, buffer, sizeof(buffer)) < 0)
				workload_fail("read");
		}
	}
	return NULL;
}

static void *short_worker(void *user)
{
	(void)user;
	compute(hot, MS);
	workload_sleep_ns(MS);
	return NULL;
}

static void *churn_worker(void *user)
{
	(void)user;
	for (;;) {
		start_thread(short_worker, NULL);
		profiled_cpu[0]++;
		workload_sleep_ns(2 * MS);
	}
	return NULL;
}

static const char *const *swap_paths;
static _Atomic uint64_t swap_address[2];

static void *swap_worker(void *user)
{
	(void)user;
	for (unsigned turn = 0;; turn = 1 - turn) {
		void *object = dlopen(swap_paths[turn], RTLD_NOW);
		void (*work)(void) = NULL;
		void *symbol;

		if (object == NULL)
			workload_fail(swap_paths[turn]);
		symbol = dlsym(object, "work");
		if (symbol == NULL)
			workload_fail("work");
		memcpy(&work, &symbol, sizeof(work));
		swap_address[turn] = (uint64_t)(uintptr_t)symbol;
		compute(work, 150 * MS);
		dlclose(object);
	}
	return NULL;
}

static void start_tree(void)
{
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child < 0)
			workload_fail("fork");
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			workload_begin(SECONDS);
			if (i == 0)
				hot_worker(NULL);
			cool_worker(NULL);
		}
		profiled_cpu[i] = (uint64_t)child;
	}
}

static void say_truth(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	workload_number("hot_start", (uint64_t)(uintptr_t)hot);
	workload_number("hot_end", (uint64_t)(uintptr_t)hot + BLOCK);
	workload_number("cool_start", (uint64_t)(uintptr_t)cool);
	workload_number("cool_end", (uint64_t)(uintptr_t)cool + BLOCK);
	workload_number("cpu_0", profiled_cpu[0]);
	workload_number("cpu_1", profiled_cpu[1]);
	workload_number("cpu_2", profiled_cpu[2]);
	workload_number("cpu_3", profiled_cpu[3]);
	workload_number("swap_0", swap_address[0]);
	workload_number("swap_1", swap_address[1]);
	workload_number("process_cpu_ns", workload_cpu_ns());
	workload_number("system_ns",
			(uint64_t)usage.ru_stime.tv_sec * 1000000000u +
			    (uint64_t)usage.ru_stime.tv_usec * 1000u);
	workload_done();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "idle";
	char line[64];
	uint64_t number;

	profiled_self = argv[0];
	workload_begin(SECONDS);
	if (strcmp(mode, "shares") == 0)
		start_shares();
	else if (strcmp(mode, "hot") == 0 || strcmp(mode, "again") == 0)
		start_thread(hot_worker, NULL);
	else if (strcmp(mode, "cool") == 0)
		start_thread(cool_worker, NULL);
	else if (strcmp(mode, "reads") == 0)
		start_thread(reads_worker, NULL);
	else if (strcmp(mode, "churn") == 0)
		start_thread(churn_worker, NULL);
	else if (strcmp(mode, "tree") == 0)
		start_tree();
	else if (strcmp(mode, "swap") == 0 && argc == 4) {
		swap_paths = (const char *const *)argv + 2;
		start_thread(swap_worker, NULL);
	}
	workload_ready();
	for (;;) {
		workload_command(line, sizeof(line));
		if (workload_is(line, "where", &number)) {
			say_truth();
		} else if (workload_is(line, "exec", &number)) {
			execl("/proc/self/exe", profiled_self, "cool",
			      (char *)NULL);
			workload_fail("exec");
		} else {
			workload_otherwise(line);
		}
	}
}
