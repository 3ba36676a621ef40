/*
 * bench.h - what the parts of the snapshot benchmark share: a method is one
 * way to look at every process, and can say what one look cost in CPU time.
 */
#ifndef BENCH_SNAPSHOT_H
#define BENCH_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_ROUNDS_MOST 64

enum temperature { COLD, WARM, TEMPERATURES };

/* What one look cost, how many processes it saw (0: it does not say), and
 * the cost for each process that was there. */
struct look {
	double cpu_ns;
	size_t processes;
	double each_ns;
};

struct method {
	const char *name;
	/* 1 and `*look`; 0 if it cannot be done here. */
	int (*run)(const struct method *method, struct look *look);
	/* Before and after a population; may be NULL. 0 if it is not to be had
	 * here, and then `missing` says why. */
	int (*begin)(struct method *method);
	void (*end)(struct method *method);
	const char *const *command; /* of those that are one */
	int variant;
	const char *missing;
	pid_t pid; /* of a co-process */
	int to, from;
	struct look looks[TEMPERATURES][BENCH_ROUNDS_MOST];
	size_t count;
};

/* ours.c */
enum ours { OURS_FULL, OURS_LIGHT, OURS_CPU };
int ours_begin(struct method *method);
int ours_run(const struct method *method, struct look *look);
void ours_end(struct method *method);

/* libproc2.c */
enum libproc2 { LIBPROC2_STAT, LIBPROC2_FULL };
int libproc2_begin(struct method *method);
int libproc2_run(const struct method *method, struct look *look);
void libproc2_end(struct method *method);

/* outside.c: commands, and peers that live in a process of their own */
int command_begin(struct method *method);
int command_run(const struct method *method, struct look *look);
int coprocess_begin(struct method *method);
int coprocess_run(const struct method *method, struct look *look);
void coprocess_end(struct method *method);

/* population.c */
/* Starts `count` processes of `threads` threads each that sleep: 0 if not all
 * could be started. */
int population_begin(const char *program, size_t count, int threads);
/* Ends all of them, by their pids. */
void population_end(void);

/* How many processes there are. */
size_t population_present(void);

/* CPU time of this process, all threads. */
double bench_cpu_ns(void);

#endif
