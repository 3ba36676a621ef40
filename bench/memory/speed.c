/*
 * speed.c - time for each GiB of heap, beside its floor: a plain copy of the
 * same memory through the same file, 256 KiB a call. Both alternate. Wall time
 * is held against the target at its least over the rounds: what else runs on
 * the machine can only add to it. The medians, and CPU time, are beside it.
 */
#include "bench.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPEED_ROUNDS_MOST 32
#define SPEED_PIECE	  ((size_t)256 << 10)

/* Every private writable mapping, whole: for the heaps compared here all of
 * it is present. Gives the bytes. */
static uint64_t speed_copy(pid_t pid)
{
	static char piece[SPEED_PIECE];
	uint64_t bytes = 0;
	char path[64];
	char line[4352];
	FILE *maps;
	int mem;

	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)pid);
	maps = fopen(path, "re");
	snprintf(path, sizeof(path), "/proc/%ld/mem", (long)pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	if (maps == NULL || mem < 0)
		exit(1);
	while (fgets(line, sizeof(line), maps) != NULL) {
		uint64_t start;
		uint64_t end;
		char protection[5];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end,
			   protection) != 3 ||
		    strcmp(protection, "rw-p") != 0)
			continue;
		while (start < end) {
			size_t size = end - start < SPEED_PIECE
					  ? (size_t)(end - start)
					  : SPEED_PIECE;
			ssize_t got = pread(mem, piece, size, (off_t)start);

			if (got <= 0)
				break;
			bytes += (uint64_t)got;
			start += (uint64_t)got;
		}
	}
	fclose(maps);
	close(mem);
	return bytes;
}

struct speed_times {
	double walk_wall[SPEED_ROUNDS_MOST];
	double walk_cpu[SPEED_ROUNDS_MOST];
	double copy_wall[SPEED_ROUNDS_MOST];
	double copy_cpu[SPEED_ROUNDS_MOST];
	double ratio[SPEED_ROUNDS_MOST];
};

static void speed_round(const struct bench *bench, pid_t pid, double gib,
			struct speed_times *times, size_t i)
{
	double wall = (double)target_monotonic_ns();
	double cpu = bench_cpu_ns();

	bench_walk(bench, pid);
	times->walk_wall[i] =
	    ((double)target_monotonic_ns() - wall) / 1e9 / gib;
	times->walk_cpu[i] = (bench_cpu_ns() - cpu) / 1e9 / gib;
	wall = (double)target_monotonic_ns();
	cpu = bench_cpu_ns();
	speed_copy(pid);
	times->copy_wall[i] =
	    ((double)target_monotonic_ns() - wall) / 1e9 / gib;
	times->copy_cpu[i] = (bench_cpu_ns() - cpu) / 1e9 / gib;
	times->ratio[i] = times->walk_cpu[i] / times->copy_cpu[i];
}

static void speed_of(struct bench *bench, const char *what, const char *line,
		     double most, size_t rounds)
{
	struct speed_times times;
	struct target target;
	struct trial_walk walk;
	double wall;
	double gib;
	char goal[32] = "";

	bench_start(&target, NULL, line);
	walk = bench_walk(bench, target.pid);
	/* The copy's first pass fills the holes with zero pages. */
	speed_copy(target.pid);
	gib = (double)walk.walked / 1073741824;
	for (size_t i = 0; i < rounds; i++)
		speed_round(bench, target.pid, gib, &times, i);
	target_end(&target);
	wall = bench_quantile(times.walk_wall, rounds, 0);
	if (most > 0)
		snprintf(goal, sizeof(goal), "%.2f s/GiB", most);
	printf("time, %s, %.2f GiB, %zu rounds\n", what, gib, rounds);
	bench_row(bench, most > 0 ? wall <= most : INFORMATION,
		  "  walk: least, median (CPU)", goal,
		  "%.3f, %.3f (%.3f) s/GiB", wall,
		  bench_quantile(times.walk_wall, rounds, 500),
		  bench_quantile(times.walk_cpu, rounds, 500));
	bench_row(bench, INFORMATION, "  plain copy, the floor", "",
		  "%.3f, %.3f (%.3f) s/GiB",
		  bench_quantile(times.copy_wall, rounds, 0),
		  bench_quantile(times.copy_wall, rounds, 500),
		  bench_quantile(times.copy_cpu, rounds, 500));
	bench_row(bench, INFORMATION, "  walk / copy, CPU, median of rounds",
		  "", "%.2f", bench_quantile(times.ratio, rounds, 500));
}

void bench_time(struct bench *bench)
{
	size_t rounds = bench->quick ? 3 : 9;

	if (bench->quick) {
		speed_of(bench, "2 KiB mean chunks",
			 "pattern none threads 4 kib 32768 most 4080", 0.35,
			 rounds);
		return;
	}
	speed_of(bench, "2 KiB mean chunks, all in use",
		 "pattern none threads 4 kib 262144 most 4080", 0.35, rounds);
	speed_of(bench, "2 KiB mean chunks, half freed",
		 "pattern random keep 500 threads 4 kib 262144 most 4080", 0.35,
		 rounds);
	speed_of(bench, "16 KiB mean chunks",
		 "pattern none threads 4 kib 262144 most 32752", 0, rounds);
	speed_of(bench, "16-116 B chunks",
		 "pattern none threads 4 kib 65536 most 116", 0, rounds);
	speed_of(bench, "16-116 B chunks, half in fast bins",
		 "pattern random keep 500 threads 4 kib 65536 most 116", 0,
		 rounds);
}
