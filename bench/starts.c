/*
 * starts.c - 10,000 sessions inside a process that begin and end under load.
 *
 * 2,000 in each of five tiers, of 0 to 1.5 ms of sampling each, while two
 * threads per CPU compute, one sleeps and wakes, and one makes threads that end
 * at once. Prints how long a session took from start to join without the time
 * in which it was to sample, and what the last one left behind; ends with 1
 * where that is anything: descriptors, timers, threads, a handler.
 *
 * libraries: -lz
 *
 * BENCH_QUICK=1 takes 100 of each. docs/design/inside.md has the figures.
 */
#include <plimsoll.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STARTS	     2000
#define STARTS_QUICK 100
#define LOAD_MOST    64

static const struct tier {
	const char *name;
	uint32_t flags;
} tiers[] = {
    {"A, perf_signal", 0},
    {"A', perf rings", PLIM_PROFILE_NO_SIGNALS},
    {"B, CPU timers", PLIM_PROFILE_NO_PERF},
    {"C, thread signals", PLIM_PROFILE_NO_PERF | PLIM_PROFILE_NO_TIMERS},
    {"classic suspension", PLIM_PROFILE_SUSPEND},
};

static _Atomic uint64_t sink;
static double took[STARTS];

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void sleep_ns(long ns)
{
	struct timespec time = {.tv_nsec = ns};

	while (nanosleep(&time, &time) != 0)
		;
}

static void work(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		sink = i;
}

static void *load_busy(void *user)
{
	(void)user;
	for (;;)
		work(100000);
	return NULL;
}

static void *load_wakes(void *user)
{
	(void)user;
	for (;;) {
		sleep_ns(1000000);
		work(10000);
	}
	return NULL;
}

static void *load_brief(void *user)
{
	work(1000);
	return user;
}

static void *load_births(void *user)
{
	pthread_t thread;

	for (;;) {
		if (pthread_create(&thread, NULL, load_brief, user) == 0)
			pthread_join(thread, NULL);
		sleep_ns(2000000);
	}
	return NULL;
}

static int load_begin(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread;
	int count = 0;

	while (count < 2 * cpus && count < LOAD_MOST &&
	       pthread_create(&thread, NULL, load_busy, NULL) == 0)
		count++;
	if (pthread_create(&thread, NULL, load_wakes, NULL) != 0 ||
	    pthread_create(&thread, NULL, load_births, NULL) != 0)
		return 0;
	return count;
}

static int entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;

	while (folder != NULL && readdir(folder) != NULL)
		count++;
	if (folder != NULL)
		closedir(folder);
	return count;
}

/* /proc/self/timers has a line "ID: N" for each. */
static int timers(void)
{
	FILE *file = fopen("/proc/self/timers", "re");
	char line[256];
	int count = 0;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		count += strncmp(line, "ID:", 3) == 0;
	if (file != NULL)
		fclose(file);
	return count;
}

static int has_handler(void)
{
	struct sigaction now;

	return sigaction(SIGURG, NULL, &now) != 0 || now.sa_handler != SIG_DFL;
}

static int by_time(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

/* One session: 1 unless it failed. So short a one may have no sample. */
static int one(plim_profile *profile, int turn)
{
	plim_error error = {0};
	double begin = now_ms();
	int code;

	if (plim_profile_start(profile, &error) != PLIM_OK) {
		printf("  start: %s\n", error.detail);
		return 0;
	}
	sleep_ns(turn % 4 * 500000L);
	begin += turn % 4 * 0.5;
	plim_profile_stop(profile);
	code = plim_profile_join(profile, &error);
	took[turn] = now_ms() - begin;
	if (code != PLIM_OK && code != PLIM_ENOSAMPLES)
		printf("  join: %s\n", error.detail);
	return code == PLIM_OK || code == PLIM_ENOSAMPLES;
}

static int measure(const struct tier *tier, int count)
{
	plim_profile_request request = {
	    .size = sizeof(request), .hz = 997, .flags = tier->flags};
	plim_profile *profile = NULL;
	plim_error error = {0};
	int files = 0;
	int left;
	int done = 0;

	if (plim_profile_open_self(&profile, NULL, &request, &error) !=
	    PLIM_OK) {
		printf("%-20s cannot be had: %s\n", tier->name, error.detail);
		return 1;
	}
	while (done < count && one(profile, done))
		/* The first one opens what stays until it is freed. */
		if (done++ == 0)
			files = entries("/proc/self/fd");
	left = entries("/proc/self/fd") - files;
	qsort(took, (size_t)done, sizeof(took[0]), by_time);
	printf("%-20s %5d %8.2f %8.2f %8.2f   %d descriptors, %d timers, "
	       "%s handler\n",
	       tier->name, done, took[done / 2], took[done * 99 / 100],
	       took[done > 0 ? done - 1 : 0], left, timers(),
	       has_handler() ? "a" : "no");
	fflush(stdout);
	plim_profile_free(profile);
	return done == count && left == 0 && timers() == 0 && !has_handler();
}

int main(void)
{
	const char *quick = getenv("BENCH_QUICK");
	int count = quick != NULL && quick[0] != '\0' && quick[0] != '0'
			? STARTS_QUICK
			: STARTS;
	int is_well = 1;
	int busy = load_begin();

	if (busy == 0)
		return 2;
	printf("%d threads compute, on %ld CPUs; each session from start to "
	       "join, less what it was to sample\n\n",
	       busy, sysconf(_SC_NPROCESSORS_ONLN));
	printf("%-20s %5s %8s %8s %8s   %s\n", "tier", "times", "median",
	       "99 %", "most, ms", "left behind");
	for (size_t i = 0; i < sizeof(tiers) / sizeof(tiers[0]); i++)
		is_well &= measure(&tiers[i], count);
	return is_well ? 0 : 1;
}
