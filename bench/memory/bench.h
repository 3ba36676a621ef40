/*
 * bench.h - what the parts of the memory benchmark share: rows of one table,
 * and order statistics.
 */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include "../../tests/memory/pages.h"
#include "../../tests/memory/trial.h"

/* What everything is measured with. */
struct bench {
	plim_host *host;
	plim_heaps *heaps;
	int quick; /* BENCH_QUICK=1: smaller, fewer */
	int missed;
};

enum verdict { MISSED = 0, MET = 1, INFORMATION = 2 };

/* A row: what, target, measured; the measured text as printf has it. */
__attribute__((format(printf, 5, 6))) void
bench_row(struct bench *bench, enum verdict verdict, const char *what,
	  const char *target, const char *format, ...);

/* Starts the workload; ends the benchmark with its words if it fails. */
void bench_start(struct target *target, const char *tunables, const char *line);
void bench_ask(struct target *target, const char *command);
struct trial_walk bench_walk(const struct bench *bench, pid_t pid);

/* A value of `count`, ordered, at this part of 1,000: 500 is the median. */
double bench_quantile(const double *values, size_t count, unsigned permille);

/* CPU time of this process, all threads. */
double bench_cpu_ns(void);

void bench_trials(struct bench *bench); /* in trials_rows.c */
void bench_pair(struct bench *bench);	/* in pair.c */
void bench_churn(struct bench *bench);	/* in churn.c */
void bench_time(struct bench *bench);	/* in speed.c */
void bench_effect(struct bench *bench); /* in effect.c */
void bench_stall(struct bench *bench);	/* in stall.c */

#endif
