/*
 * self.c - what it costs a program to ask what it costs itself.
 *
 * Alternates, in short bursts, one getrusage() with plim_usage_refresh_self()
 * of the basic fields, of what a process costs (all fields but those on
 * request, such as its control group), and of every field, and prints the
 * ratios of the least and of the median burst: what disturbs a burst on a
 * shared machine only ever adds. Targets: basic at most 4, the whole cost at
 * most 30 times a getrusage().
 */
#define _POSIX_C_SOURCE 200809L

#include <plimsoll.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define BURSTS 501

enum subject { GETRUSAGE, BASIC, USUAL, EVERY, SUBJECTS };

static plim_usage *usage;
static plim_field_set basic;
static plim_field_set usual;

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double burst(int subject)
{
	const plim_field_set *const fields[SUBJECTS] = {NULL, &basic, &usual,
							NULL};
	const int count = subject >= USUAL ? 40 : 200;
	struct rusage plain;
	double begin = now_ns();
	int i;

	for (i = 0; i < count; i++) {
		if (subject == GETRUSAGE)
			getrusage(RUSAGE_SELF, &plain);
		else if (plim_usage_refresh_self(usage, fields[subject],
						 NULL) != PLIM_OK)
			exit(1);
	}
	return (now_ns() - begin) / count;
}

static int order(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

int main(void)
{
	static const char *const names[SUBJECTS] = {
	    "getrusage", "basic fields", "the whole cost", "every field"};
	static const double targets[SUBJECTS] = {1, 4, 30, 0};
	static double times[SUBJECTS][BURSTS];
	plim_host *host;
	int subject;
	int i;

	if (plim_host_open(&host, NULL, NULL) != PLIM_OK ||
	    plim_usage_new(&usage, host, NULL) != PLIM_OK)
		return 1;
	basic = plim_usage_basic();
	usual = plim_field_set_preset(PLIM_FIELDS_ALL);
	for (i = PLIM_FIELD_CGROUP; i <= PLIM_FIELD_BLOCK_IO_DELAY; i++)
		if (i != PLIM_FIELD_NICE)
			plim_field_set_remove(&usual, i);
	for (i = 0; i < BURSTS; i++)
		for (subject = 0; subject < SUBJECTS; subject++)
			times[subject][i] = burst(subject);
	printf("%-14s %10s %10s %8s %8s %8s\n", "", "least ns", "median ns",
	       "ratio", "median", "target");
	for (subject = 0; subject < SUBJECTS; subject++) {
		qsort(times[subject], BURSTS, sizeof(double), order);
		double ratio = times[subject][0] / times[0][0];

		printf("%-14s %10.0f %10.0f %8.2f %8.2f ", names[subject],
		       times[subject][0], times[subject][BURSTS / 2], ratio,
		       times[subject][BURSTS / 2] / times[0][BURSTS / 2]);
		if (targets[subject] > 0)
			printf("%8.0f%s\n", targets[subject],
			       ratio <= targets[subject] ? "" : "  missed");
		else
			printf("%8s\n", "-");
	}
	plim_usage_free(usage);
	plim_host_close(host);
	return 0;
}
