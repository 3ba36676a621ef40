/*
 * stall.c - what a target of 2 GiB feels: one of its threads maps, touches and
 * unmaps 8 KiB in a loop, which needs the lock that readers of its page tables
 * hold.
 *
 * In each round the target is left alone for as long as a walk takes, is
 * walked, is looked at by `plim mem`, and has its smaps_rollup read once, in
 * an order that turns. Told is the longest that the thread was blocked: wall
 * time of one operation less its CPU time and less what it waited for a CPU.
 * Operations below 60 us are not looked at: 0 is none above.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STALL_ROUNDS_MOST 64

enum stall_subject {
	STALL_NONE,
	STALL_WALK,
	STALL_COMMAND,
	STALL_ROLLUP,
	STALL_SUBJECTS
};

static const char *const stall_names[STALL_SUBJECTS] = {
    [STALL_NONE] = "left alone",
    [STALL_WALK] = "walked by the library",
    [STALL_COMMAND] = "looked at by `plim mem`",
    [STALL_ROLLUP] = "smaps_rollup read once, blindly",
};

struct stall {
	double blocked_us[STALL_SUBJECTS][STALL_ROUNDS_MOST];
	double rate[STALL_SUBJECTS][STALL_ROUNDS_MOST];
	size_t count[STALL_SUBJECTS];
	unsigned walk_ms;
};

extern char **environ;

/* Gives 0 if the command is there and succeeds. */
static int stall_command(pid_t pid)
{
	static char plim[] = "plim";
	static char mem[] = "mem";
	const char *build = getenv("PLIM_BUILD_DIR");
	posix_spawn_file_actions_t actions;
	char number[32];
	char path[4096];
	char *words[] = {plim, mem, number, NULL};
	pid_t child;
	int status = 1;

	if (build == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/cli/plim", build);
	snprintf(number, sizeof(number), "%ld", (long)pid);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&child, path, &actions, NULL, words, environ) == 0)
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
	posix_spawn_file_actions_destroy(&actions);
	return status == 0 ? 0 : -1;
}

static int stall_look(const struct bench *bench, struct target *target,
		      int subject, struct stall *stall)
{
	if (subject == STALL_WALK)
		stall->walk_ms =
		    (unsigned)bench_walk(bench, target->pid).ms + 1;
	else if (subject == STALL_COMMAND)
		return stall_command(target->pid);
	else if (subject == STALL_NONE)
		target_sleep_ms(stall->walk_ms);
	else
		pages_bytes(target->pid, "smaps_rollup", "Pss");
	return 0;
}

static void stall_round(const struct bench *bench, struct target *target,
			int subject, struct stall *stall)
{
	uint64_t begin;
	double seconds;
	size_t i = stall->count[subject];

	target_sleep_ms(100);
	bench_ask(target, "worst");
	begin = target_monotonic_ns();
	if (stall_look(bench, target, subject, stall) != 0)
		return;
	seconds = (double)(target_monotonic_ns() - begin) / 1e9;
	bench_ask(target, "worst");
	stall->blocked_us[subject][i] =
	    (double)target_truth(target, "probe_blocked_ns") / 1e3;
	stall->rate[subject][i] =
	    (double)target_truth(target, "probe_operations") / seconds;
	stall->count[subject]++;
}

static void stall_row(struct bench *bench, const struct stall *stall,
		      int subject)
{
	const double *blocked = stall->blocked_us[subject];
	size_t count = stall->count[subject];
	double median = bench_quantile(blocked, count, 500);
	char what[64];

	snprintf(what, sizeof(what), "  %s", stall_names[subject]);
	if (count == 0) {
		bench_row(bench, MISSED, what, "", "did not run");
		return;
	}
	/* Within what happens without: not above what one of four rounds had
	 * when the target was left alone, or above what is looked at. */
	if (subject == STALL_WALK || subject == STALL_COMMAND) {
		double noise = bench_quantile(stall->blocked_us[STALL_NONE],
					      stall->count[STALL_NONE], 750);

		bench_row(bench, median <= (noise > 60 ? noise : 60), what,
			  "within noise of none",
			  "%.0f (%.0f, %.0f) us, %.0f operations/s", median,
			  bench_quantile(blocked, count, 750),
			  bench_quantile(blocked, count, 1000),
			  bench_quantile(stall->rate[subject], count, 500));
		return;
	}
	bench_row(bench, INFORMATION, what, "",
		  "%.0f (%.0f, %.0f) us, %.0f operations/s", median,
		  bench_quantile(blocked, count, 750),
		  bench_quantile(blocked, count, 1000),
		  bench_quantile(stall->rate[subject], count, 500));
}

void bench_stall(struct bench *bench)
{
	static struct stall stall;
	size_t rounds = bench->quick ? 5 : 11;
	struct target target;
	int most;

	memset(&stall, 0, sizeof(stall));
	bench_start(&target, NULL,
		    bench->quick ? "pattern random keep 500 threads 2 "
				   "kib 131072 most 4080"
				 : "pattern random keep 500 threads 2 "
				   "kib 1048576 most 4080");
	bench_ask(&target, "probe");
	stall.walk_ms = (unsigned)bench_walk(bench, target.pid).ms + 1;
	/* A command that is not there is not asked for in each round. */
	most = stall_command(target.pid) == 0 ? STALL_SUBJECTS - 1
					      : STALL_COMMAND - 1;
	for (size_t i = 0; i < rounds * STALL_SUBJECTS; i++) {
		int turn = (int)((i + i / STALL_SUBJECTS) % STALL_SUBJECTS);

		if (turn != STALL_COMMAND || most > STALL_COMMAND)
			stall_round(bench, &target, turn, &stall);
	}
	bench_ask(&target, "memory");
	printf("longest stall in a target of %.1f GiB anonymous, median (third "
	       "quartile, most) of %zu rounds\n",
	       (double)target_truth(&target, "anonymous_bytes") / 1073741824,
	       rounds);
	target_end(&target);
	for (int subject = 0; subject < STALL_SUBJECTS; subject++)
		stall_row(bench, &stall, subject);
}
