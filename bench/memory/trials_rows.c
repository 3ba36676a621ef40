/*
 * trials_rows.c - random heaps, walked and held against what they say of
 * themselves: the rows on exactness and on the trim forecast.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trials_plan {
	unsigned count;
	uint64_t seed;
	uint64_t kib;
};

static struct trials_plan trials_plan(const struct bench *bench)
{
	struct trials_plan plan = {bench->quick ? 40 : 200, 1, 65536};
	const char *text = getenv("PLIM_TRIALS");
	char *end;

	if (text == NULL)
		return plan;
	plan.count = (unsigned)strtoul(text, &end, 10);
	if (*end == ',')
		plan.seed = strtoull(end + 1, &end, 10);
	if (*end == ',')
		plan.kib = strtoull(end + 1, &end, 10);
	return plan;
}

static void trials_exact(struct bench *bench, const struct trial_tally *tally)
{
	unsigned done = tally->trials - tally->failed;

	bench_row(bench, tally->failed == 0 ? MET : MISSED,
		  "  trials that took place", "all", "%u of %u", done,
		  tally->trials);
	for (unsigned bit = 0; bit < 7; bit++) {
		char what[64];

		snprintf(what, sizeof(what), "  %s",
			 trial_fault_name(1u << bit));
		bench_row(bench, tally->wrong[bit] == 0 && done > 0, what,
			  "equal to the byte, in all", "%u of %u",
			  done - tally->wrong[bit], done);
	}
	bench_row(bench,
		  (tally->exact + tally->one) * 20 >= done * 19 && done > 0,
		  "  trim forecast within one page", "95 %",
		  "%.1f %% (to the byte %.1f %%)",
		  100.0 * (tally->exact + tally->one) / (done + !done),
		  100.0 * tally->exact / (done + !done));
	bench_row(bench, tally->more == 0 && done > 0,
		  "  trim forecast within two pages", "all", "%u of %u",
		  done - tally->more, done);
}

/* `root` NULL: the glibc of this machine. */
static void trials_of(struct bench *bench, const char *root)
{
	struct trials_plan plan = trials_plan(bench);
	struct trial_tally tally = {0};
	char version[32] = "?";

	for (unsigned i = 0; i < plan.count; i++) {
		struct trial_result result;
		struct trial trial;

		trial_draw(&trial, plan.seed + i, plan.kib);
		trial_run(&trial, root, bench->heaps, bench->host, &result);
		trial_count(&tally, &result);
		if (result.error[0] == '\0')
			memcpy(version, result.walk.version, sizeof(version));
		if (result.error[0] == '\0' && result.faults == 0 &&
		    result.off >= -8192 && result.off <= 8192)
			continue;
		trial_print(&trial);
		trial_explain(&result);
	}
	printf("glibc %s%s%s, %u random heaps from seed %llu\n", version,
	       root != NULL ? " of " : "", root != NULL ? root : "", plan.count,
	       (unsigned long long)plan.seed);
	trials_exact(bench, &tally);
}

void bench_trials(struct bench *bench)
{
	const char *roots = getenv("PLIM_ROOTS");
	char *copy;
	char *rest;
	char *root;

	trials_of(bench, NULL);
	if (roots == NULL || (copy = strdup(roots)) == NULL)
		return;
	rest = copy;
	while ((root = strtok_r(rest, " ", &rest)) != NULL)
		trials_of(bench, root);
	free(copy);
}
