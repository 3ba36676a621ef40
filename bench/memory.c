/*
 * memory.c - how exact a walk of heaps is, what it takes, and what the process
 * that is walked feels of it.
 *
 * The targets are heaps of known contents (tests/workloads/heap.c), which tell
 * mallinfo2, what they hold and what trimming returned. No peer tells live
 * memory from retained memory in a process that goes on running, so time is
 * told beside its floor, a plain copy of the same memory, and the target's
 * view beside nothing at all and beside one read of smaps_rollup, which is
 * what every other tool does. What is compared alternates.
 *
 * PLIM_ROOTS="DIR DIR" repeats the trials with the glibc of other systems
 * (docs/design/memory-trials.md); PLIM_TRIALS=COUNT,SEED takes other trials;
 * BENCH_QUICK=1 takes small heaps and few rounds. Ends with 1 if a target was
 * missed.
 */
#include "memory/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void bench_row(struct bench *bench, enum verdict verdict, const char *what,
	       const char *target, const char *format, ...)
{
	static const char *const words[] = {"MISSED", "met", ""};
	char measured[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(measured, sizeof(measured), format, arguments);
	va_end(arguments);
	if (verdict == MISSED)
		bench->missed++;
	printf("%-44s %-26s %-38s %s\n", what, target, measured,
	       words[verdict]);
	fflush(stdout);
}

void bench_start(struct target *target, const char *tunables, const char *line)
{
	static char words[512];
	struct target_plan plan = {
	    .program = target_program("heap"),
	    .tunables = tunables,
	};
	char *rest = words;
	char *word;
	size_t count = 0;

	snprintf(words, sizeof(words), "%s hold 1200", line);
	while ((word = strtok_r(rest, " ", &rest)) != NULL)
		plan.words[count++] = word;
	if (target_start(target, &plan) != 0) {
		fprintf(stderr, "heap %s: %s\n", line, target->error);
		exit(1);
	}
}

void bench_ask(struct target *target, const char *command)
{
	if (target_ask(target, command) != 0) {
		fprintf(stderr, "%s: %s\n", command, target->error);
		exit(1);
	}
}

struct trial_walk bench_walk(const struct bench *bench, pid_t pid)
{
	struct trial_walk walk;
	char error[256];

	if (trial_look(bench->heaps, bench->host, pid, &walk, error,
		       sizeof(error)) != 0) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	return walk;
}

static int bench_order(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

double bench_quantile(const double *values, size_t count, unsigned permille)
{
	double sorted[256];

	if (count == 0 || count > 256)
		return 0;
	memcpy(sorted, values, count * sizeof(double));
	qsort(sorted, count, sizeof(double), bench_order);
	return sorted[(count - 1) * permille / 1000];
}

double bench_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* The workload is a program of the build; the driver says which build. */
static void bench_workloads(void)
{
	const char *build = getenv("PLIM_BUILD_DIR");
	char path[4096];

	if (build == NULL)
		return;
	snprintf(path, sizeof(path), "%s/tests/workloads", build);
	setenv("PLIM_TEST_WORKLOADS", path, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(struct bench *bench);
	} parts[] = {
	    {"trials", bench_trials}, {"pair", bench_pair},
	    {"churn", bench_churn},   {"time", bench_time},
	    {"effect", bench_effect}, {"stall", bench_stall},
	};
	const char *quick = getenv("BENCH_QUICK");
	struct bench bench = {
	    .quick = quick != NULL && strcmp(quick, "1") == 0,
	};

	bench_workloads();
	if (plim_host_open(&bench.host, NULL, NULL) != PLIM_OK ||
	    plim_heaps_new(&bench.heaps, bench.host, NULL) != PLIM_OK)
		return 1;
	printf("%-44s %-26s %-38s\n", "", "target", "measured");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
			parts[i].run(&bench);
	plim_heaps_free(bench.heaps);
	plim_host_close(bench.host);
	return bench.missed > 0;
}
