/*
 * pair.c - the fixture pair: 8 threads that freed 200 MiB each hold nearly all
 * of it, those that freed 80 MiB each hold nothing; and what a trim returns.
 *
 * Blocks of 4 KiB, freed in the order in which they were allocated: glibc then
 * drops the second of two heaps of a thread, and keeps each of four.
 */
#include "bench.h"

#include <stdio.h>

static void pair_of(struct bench *bench, uint64_t mib)
{
	double retained;
	double unit = 1048576;
	struct target target;
	struct trial_walk walk;
	uint64_t before;
	uint64_t after;
	char line[96];
	char what[64];

	snprintf(line, sizeof(line),
		 "pattern all threads 8 kib %llu least 4096 most 4096",
		 (unsigned long long)mib * 1024);
	bench_start(&target, NULL, line);
	walk = bench_walk(bench, target.pid);
	bench_ask(&target, "trim");
	before = target_truth(&target, "before_bytes");
	after = target_truth(&target, "after_bytes");
	target_end(&target);
	retained = (double)(walk.free + walk.fastbin + walk.top) / unit;
	printf("8 threads x %llu MiB, all freed\n", (unsigned long long)mib);
	snprintf(what, sizeof(what), "  free, and held by the process");
	if (mib == 200)
		bench_row(bench, retained > 1450 && retained < 1640, what,
			  "about 1.5 GiB", "%.1f MiB (anonymous %.1f MiB)",
			  retained, (double)before / unit);
	else
		bench_row(bench, retained < 16, what, "nothing",
			  "%.1f MiB (anonymous %.1f MiB)", retained,
			  (double)before / unit);
	bench_row(bench,
		  walk.trim + 8192 >= before - after &&
		      walk.trim <= before - after + 8192,
		  "  forecast of what a trim returns", "what it returns",
		  "%.3f MiB, returned %.3f MiB", (double)walk.trim / unit,
		  (double)(before - after) / unit);
}

void bench_pair(struct bench *bench)
{
	/* The first takes 1.6 GiB. */
	if (!bench->quick)
		pair_of(bench, 200);
	pair_of(bench, 80);
}
