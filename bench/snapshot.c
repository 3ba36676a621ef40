/*
 * snapshot.c - what one look at every process costs, beside the peers.
 *
 * packages: libproc2-dev procps python3-psutil golang-go
 * packages: golang-github-shirou-gopsutil-dev
 * libraries: -lproc2
 *
 * Processes that sleep are started, and then every round lets each method look
 * once with cold caches (64 MiB are swept through before) and once more right
 * after, warm. So the methods alternate, and what disturbs the machine disturbs
 * all of them. Counted is CPU time, over all threads: what a tool takes away
 * from what it watches. All run on one CPU, whose caches they share. Medians
 * and minima are in microseconds for each process that is there. The ratios,
 * all of cold looks, are the median of those of each round, which a target is
 * held against, that of the medians, and that of the minima.
 *
 * BENCH_QUICK=1 leaves out the large populations and takes few rounds.
 */
#include "snapshot/bench.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SWEEP_BYTES ((size_t)64 << 20)

static char plim_path[4096], pauser_path[4096];
static char psutil_path[4096], gopsutil_path[4096];

static const char *const ps_rows[] = {
    "ps", "-eo", "pid,ppid,lstart,comm,cputimes,rss,nlwp,rbytes,wbytes", NULL};
static const char *const ps_plain[] = {"ps", "-e", NULL};
static const char *const top_once[] = {"top", "-b", "-n", "1", NULL};
static const char *const plim_ps[] = {plim_path, "ps", NULL};
static const char *const psutil_look[] = {"/usr/bin/python3", psutil_path,
					  NULL};
static const char *const gopsutil_look[] = {gopsutil_path, NULL};

enum row {
	ROW_FULL,
	ROW_LIGHT,
	ROW_CPU,
	ROW_LIBPROC2,
	ROW_LIBPROC2_STAT,
	ROW_PSUTIL,
	ROW_GOPSUTIL,
	ROW_PS,
	ROW_TOP,
	ROW_PLIM_PS,
	ROW_PS_PLAIN,
	ROWS
};

/* clang-format off */
static struct method methods[ROWS] = {
	[ROW_FULL] = {"plimsoll, full set", ours_run, ours_begin, ours_end,
		      NULL, OURS_FULL},
	[ROW_LIGHT] = {"plimsoll, light set", ours_run, ours_begin, ours_end,
		       NULL, OURS_LIGHT},
	[ROW_CPU] = {"plimsoll, CPU of a watch", ours_run, ours_begin,
		     ours_end, NULL, OURS_CPU},
	[ROW_LIBPROC2] = {"libproc2, full set", libproc2_run, libproc2_begin,
			  libproc2_end, NULL, LIBPROC2_FULL},
	[ROW_LIBPROC2_STAT] = {"libproc2, stat only", libproc2_run,
			       libproc2_begin, libproc2_end, NULL,
			       LIBPROC2_STAT},
	[ROW_PSUTIL] = {"psutil", coprocess_run, coprocess_begin,
			coprocess_end, psutil_look},
	[ROW_GOPSUTIL] = {"gopsutil", coprocess_run, coprocess_begin,
			  coprocess_end, gopsutil_look},
	[ROW_PS] = {"ps -eo pid,...,wbytes", command_run, command_begin, NULL,
		    ps_rows},
	[ROW_TOP] = {"top -b -n 1", command_run, command_begin, NULL,
		     top_once},
	[ROW_PLIM_PS] = {"plim ps", command_run, command_begin, NULL, plim_ps},
	[ROW_PS_PLAIN] = {"ps -e", command_run, command_begin, NULL, ps_plain},
};

struct population {
	const char *name;
	size_t count;
	int threads;
	size_t rounds, quick_rounds; /* 0: left out */
};

static const struct population populations[] = {
	{"200 processes", 200, 1, 21, 7},
	{"2000 processes", 2000, 1, 11, 5},
	{"10000 processes", 10000, 1, 11, 0},
	{"200 processes of 50 threads", 200, 50, 9, 0},
};

/* The ratio to be reached with each population; 0 where none was set. */
struct target {
	const char *name;
	enum row ours, peer;
	double ratio[sizeof(populations) / sizeof(populations[0])];
};

static const struct target targets[] = {
	{"full set : libproc2, full set", ROW_FULL, ROW_LIBPROC2,
	 {0, 1.2, 1.2, 0}},
	{"full set : ps -eo", ROW_FULL, ROW_PS, {0, 2, 2, 0}},
	{"full set : psutil", ROW_FULL, ROW_PSUTIL, {4, 5, 5, 0}},
	{"light set : libproc2, full set", ROW_LIGHT, ROW_LIBPROC2,
	 {1.8, 1.8, 1.8, 0}},
	{"light set : ps -eo", ROW_LIGHT, ROW_PS, {3, 3, 3, 0}},
	{"CPU of a watch : libproc2, full set", ROW_CPU, ROW_LIBPROC2,
	 {6, 6, 6, 0}},
	{"plim ps : ps -e", ROW_PLIM_PS, ROW_PS_PLAIN, {0, 2, 0, 0}},
};
/* clang-format on */

double bench_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* What a program finds that wakes once a second: caches full of others. */
static void sweep(void)
{
	static volatile char *memory;

	if (!memory && !(memory = malloc(SWEEP_BYTES)))
		exit(1);
	for (size_t i = 0; i < SWEEP_BYTES; i += 64)
		memory[i]++;
}

/* Once cold and once warm. Others come and go on a machine that is not ours
 * alone, so it is counted each time how many there are. */
static int look_twice(struct method *method)
{
	double present = (double)population_present();

	for (int i = 0; i < TEMPERATURES; i++) {
		struct look *look = &method->looks[i][method->count];

		if (i == COLD)
			sweep();
		if (!method->run(method, look)) {
			method->missing = "failed";
			return 0;
		}
		look->each_ns = look->cpu_ns / present;
	}
	return 1;
}

static void look_all(size_t rounds)
{
	for (int row = 0; row < ROWS; row++)
		if (!methods[row].missing)
			look_twice(&methods[row]); /* not counted */
	for (size_t round = 0; round < rounds; round++)
		for (int row = 0; row < ROWS; row++)
			if (!methods[row].missing && look_twice(&methods[row]))
				methods[row].count++;
}

static int order(const void *left, const void *right)
{
	double a = ((const struct look *)left)->each_ns;
	double b = ((const struct look *)right)->each_ns;

	return (a > b) - (a < b);
}

/* CPU time for a process by rank: 0 the least, 0.5 the median; the looks are
 * sorted. */
static const struct look *ranked(const struct method *method,
				 enum temperature temperature, double rank)
{
	size_t at = (size_t)(rank * (double)(method->count - 1));

	return &method->looks[temperature][at];
}

static int order_real(const void *left, const void *right)
{
	double a = *(const double *)left;
	double b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The median of what each round says by itself: a phase in which the machine
 * is slow lasts longer than a round, and slows both. Looks are not yet sorted.
 */
static double paired(const struct target *target)
{
	const struct method *ours = &methods[target->ours];
	const struct method *peer = &methods[target->peer];
	double ratios[BENCH_ROUNDS_MOST] = {0};
	size_t count = ours->count < peer->count ? ours->count : peer->count;

	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		ratios[i] =
		    peer->looks[COLD][i].each_ns / ours->looks[COLD][i].each_ns;
	qsort(ratios, count, sizeof(ratios[0]), order_real);
	return ratios[(count - 1) / 2];
}

static void print_row(struct method *method)
{
	for (int i = 0; i < TEMPERATURES; i++)
		qsort(method->looks[i], method->count, sizeof(struct look),
		      order);
	printf("%-24s", method->name);
	for (int i = 0; i < TEMPERATURES; i++)
		printf(" %9.2f %9.2f",
		       ranked(method, (enum temperature)i, 0.5)->each_ns / 1e3,
		       ranked(method, (enum temperature)i, 0)->each_ns / 1e3);
	printf(" %10.2f", ranked(method, COLD, 0.5)->cpu_ns / 1e6);
	if (ranked(method, COLD, 0.5)->processes)
		printf(" %7zu", ranked(method, COLD, 0.5)->processes);
	printf("\n");
}

static void print_rows(void)
{
	printf("%-24s %9s %9s %9s %9s %10s %7s\n", "us per process", "cold",
	       "least", "warm", "least", "cold, ms", "saw");
	for (int row = 0; row < ROWS; row++)
		if (methods[row].missing)
			printf("%-24s %s\n", methods[row].name,
			       methods[row].missing);
		else
			print_row(&methods[row]);
}

static void print_target(const struct target *target, double ratio,
			 double wanted)
{
	const struct method *ours = &methods[target->ours];
	const struct method *peer = &methods[target->peer];

	if (ours->missing || peer->missing) {
		printf("%-36s %s\n", target->name, "unavailable");
		return;
	}
	printf("%-36s %7.2f %7.2f %7.2f", target->name, ratio,
	       ranked(peer, COLD, 0.5)->each_ns /
		   ranked(ours, COLD, 0.5)->each_ns,
	       ranked(peer, COLD, 0)->each_ns / ranked(ours, COLD, 0)->each_ns);
	if (wanted > 0)
		printf(" %7.1f %s", wanted, ratio >= wanted ? "met" : "missed");
	printf("\n");
}

/* Rows and targets; the rows sort the looks. */
static void print_all(size_t population)
{
	double ratios[sizeof(targets) / sizeof(targets[0])];

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		ratios[i] = paired(&targets[i]);
	print_rows();
	printf("\n%-36s %7s %7s %7s %7s\n", "times faster, cold", "rounds",
	       "medians", "least", "target");
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		print_target(&targets[i], ratios[i],
			     targets[i].ratio[population]);
	printf("\n");
}

static void measure(const struct population *population, size_t rounds)
{
	for (int row = 0; row < ROWS; row++) {
		struct method *method = &methods[row];

		method->missing = NULL;
		method->count = 0;
		if (!method->begin(method) && !method->missing)
			method->missing = "could not be started";
	}
	look_all(rounds);
	printf("%s, %zu rounds\n", population->name, rounds);
	print_all((size_t)(population - populations));
	for (int row = 0; row < ROWS; row++)
		if (methods[row].end)
			methods[row].end(&methods[row]);
}

/* Methods and co-processes share one CPU and its caches. */
static void stay_here(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(void)
{
	int quick = getenv("BENCH_QUICK") != NULL;
	const char *build = getenv("PLIM_BUILD_DIR");
	const char *bench = getenv("PLIM_BENCH_DIR");

	if (!build || !bench)
		return 1;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(plim_path, sizeof(plim_path), "%s/cli/plim", build);
	snprintf(pauser_path, sizeof(pauser_path), "%s/snapshot-pauser", bench);
	snprintf(psutil_path, sizeof(psutil_path), "%s/snapshot-psutil_look",
		 bench);
	snprintf(gopsutil_path, sizeof(gopsutil_path),
		 "%s/snapshot-gopsutil_look", bench);
	stay_here();
	for (size_t i = 0; i < sizeof(populations) / sizeof(populations[0]);
	     i++) {
		const struct population *population = &populations[i];
		size_t rounds =
		    quick ? population->quick_rounds : population->rounds;

		if (rounds == 0)
			continue;
		if (population_begin(pauser_path, population->count,
				     population->threads))
			measure(population, rounds);
		else
			printf("%s: could not be started\n", population->name);
		population_end();
	}
	return 0;
}
