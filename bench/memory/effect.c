/*
 * effect.c - what the kernel has for a target before and after walks: pages
 * present, in swap, mapped by it alone.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct effect_state {
	struct pages pages;
	uint64_t tables;
	uint64_t pss;
};

static struct effect_state effect_of(pid_t pid)
{
	struct effect_state state;

	if (pages_count(pid, &state.pages) != 0)
		exit(1);
	state.tables = pages_bytes(pid, "status", "VmPTE");
	state.pss = pages_bytes(pid, "smaps_rollup", "Pss_Anon");
	return state;
}

static long long effect_apart(uint64_t after, uint64_t before)
{
	return (long long)(after - before);
}

static void effect_rows(struct bench *bench, pid_t pid,
			const struct effect_state *before)
{
	struct effect_state after = effect_of(pid);
	long long present =
	    effect_apart(after.pages.present, before->pages.present);
	long long swapped =
	    effect_apart(after.pages.swapped, before->pages.swapped);
	long long alone =
	    effect_apart(after.pages.exclusive, before->pages.exclusive);
	long long pss = effect_apart(after.pss, before->pss);

	bench_row(bench, present == 0 ? MET : MISSED,
		  "  pages mapped, zero pages included", "none",
		  "%+lld of %llu (page tables %+lld B)", present,
		  (unsigned long long)before->pages.present,
		  effect_apart(after.tables, before->tables));
	/* Where nothing is in swap that shows nothing. */
	if (before->pages.swapped > 0 || swapped != 0)
		bench_row(bench, swapped == 0 ? MET : MISSED,
			  "  pages swapped in", "none", "%lld of %llu",
			  -swapped, (unsigned long long)before->pages.swapped);
	bench_row(bench, alone == 0 && pss == 0 ? MET : MISSED,
		  "  pages unshared", "none", "%lld (Pss_Anon %+lld B)", alone,
		  pss);
}

/* One walk, whatever it says. */
static void effect_walk(const struct bench *bench, pid_t pid)
{
	struct trial_walk walk;
	char error[256];

	trial_look(bench->heaps, bench->host, pid, &walk, error, sizeof(error));
}

static void effect_one(struct bench *bench, const char *what, const char *line,
		       const char *command)
{
	struct effect_state before;
	struct target target;
	pid_t pid;

	bench_start(&target, NULL, line);
	bench_ask(&target, command);
	pid = target.pid;
	/* What it has just started, a child, say, comes to rest. */
	target_sleep_ms(500);
	before = effect_of(pid);
	printf("effect on %s\n", what);
	if (strcmp(command, "pageout") == 0 && before.pages.swapped == 0)
		printf("  there is no swap: it is where it was\n");
	effect_walk(bench, pid);
	effect_walk(bench, pid);
	effect_rows(bench, pid, &before);
	target_end(&target);
}

void bench_effect(struct bench *bench)
{
	effect_one(bench, "a heap with holes, never touched or given back",
		   "threads 3 join 1 kib 65536 most 30000 touch 2", "trim");
	effect_one(bench, "a parent that shares 250 MiB with its child",
		   "threads 4 kib 64000", "fork");
	effect_one(bench, "a heap asked to leave for swap",
		   "threads 4 kib 64000", "pageout");
}
