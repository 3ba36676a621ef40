/*
 * churn.c - walks of targets that go on replacing random blocks at full speed.
 *
 * The error is of the bytes in use, against what the target holds once it has
 * stopped, right after the walk: what changed in between is part of it. The
 * walk's own uncertainty covers it or does not.
 */
#include "bench.h"

#include <stdio.h>

#define CHURN_WALKS_MOST 128

struct churn_one {
	double errors[CHURN_WALKS_MOST];
	double signs[CHURN_WALKS_MOST];
	double bounds[CHURN_WALKS_MOST];
	double walked[CHURN_WALKS_MOST];
	size_t count;
	size_t covered;
	size_t failed;
	double operations;
	double seconds;
};

static void churn_walk(const struct bench *bench, struct target *target,
		       struct churn_one *one)
{
	struct trial_walk walk;
	char error[256];
	double held;
	double off;
	int looked;

	bench_ask(target, "churn");
	target_sleep_ms(50);
	looked = trial_look(bench->heaps, bench->host, target->pid, &walk,
			    error, sizeof(error));
	bench_ask(target, "stop");
	one->operations += (double)target_truth(target, "operations");
	one->seconds += (double)target_truth(target, "churn_ns") / 1e9;
	held = (double)(target_truth(target, "own_bytes") +
			target_truth(target, "held_bytes"));
	if (looked != 0) {
		printf("   refused: %s\n", error);
		one->failed++;
		return;
	}
	off = (double)walk.in_use - held;
	one->signs[one->count] = off / held * 100;
	one->errors[one->count] = (off < 0 ? -off : off) / held * 100;
	one->bounds[one->count] = (double)walk.uncertain / held * 100;
	one->walked[one->count] = (double)walk.walked / (double)walk.system;
	one->covered += (off < 0 ? -off : off) <= (double)walk.uncertain;
	one->count++;
}

static void churn_row(struct bench *bench, const char *what,
		      const struct churn_one *one)
{
	double median = bench_quantile(one->errors, one->count, 500);

	printf("churn, %s: %.1f M operations/s, %zu walks\n", what,
	       one->operations / one->seconds / 1e6, one->count + one->failed);
	bench_row(bench, one->failed == 0 ? MET : MISSED, "  walks refused",
		  "none", "%zu", one->failed);
	bench_row(bench, one->count > 0 && median <= 1 ? MET : MISSED,
		  "  error of the bytes in use, median", "1 %",
		  "%.2f %% (%+.2f ... %+.2f)", median,
		  bench_quantile(one->signs, one->count, 0),
		  bench_quantile(one->signs, one->count, 1000));
	bench_row(bench,
		  one->count > 0 && one->covered * 20 >= one->count * 19
		      ? MET
		      : MISSED,
		  "  covered by its own uncertainty", "95 %",
		  "%zu of %zu (median +-%.2f %%)", one->covered, one->count,
		  bench_quantile(one->bounds, one->count, 500));
	bench_row(bench, INFORMATION, "  walked of system, worst", "",
		  "%.5f ... %.5f", bench_quantile(one->walked, one->count, 0),
		  bench_quantile(one->walked, one->count, 1000));
}

void bench_churn(struct bench *bench)
{
	static const struct {
		const char *what;
		const char *line;
	} targets[] = {
	    {"1 thread x 64 MiB", "threads 1 kib 65536"},
	    {"2 threads x 64 MiB", "threads 2 kib 65536 touch 0"},
	    {"4 threads x 64 MiB", "threads 4 kib 65536"},
	    {"4 threads x 16 MiB", "threads 4 kib 16384 touch 0"},
	    {"4 threads x 16 MiB, 16-116 B",
	     "threads 4 kib 16384 least 16 most 116"},
	    {"4 threads x 256 MiB", "threads 4 kib 262144"},
	};
	size_t walks = bench->quick ? 10 : 40;

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		struct churn_one one = {0};
		struct target target;
		char line[128];

		if (bench->quick && i == 5)
			continue;
		snprintf(line, sizeof(line), "pattern none %s",
			 targets[i].line);
		bench_start(&target, NULL, line);
		for (size_t j = 0; j < walks; j++)
			churn_walk(bench, &target, &one);
		target_end(&target);
		churn_row(bench, targets[i].what, &one);
	}
}
