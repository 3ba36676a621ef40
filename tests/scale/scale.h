/*
 * scale.h - what the tests with very many processes share: how many fit on
 * this machine, a crowd of them (tests/workloads/crowd.c), and the truth about
 * one process, read from the kernel's files without the library.
 */
#ifndef TESTS_SCALE_H
#define TESTS_SCALE_H

#include "common.h"

#include "crowd.h"

/* How many more processes or threads this user may start, some left over for
 * everybody else. `*limit` (may be NULL) names what says so. */
unsigned scale_room(const char **limit);

/* `wanted`, or as many as fit, which it prints; the test is skipped where
 * fewer than `least` do. */
unsigned scale_fit(const char *what, unsigned wanted, unsigned least);

struct crowd {
	struct spawn spawn;
	int table;
	unsigned count;
	const struct crowd_member *members;
};

/* Starts that many. `more` is the last argument of the workload, or NULL. */
void crowd_start(struct crowd *crowd, unsigned count, const char *more);
void crowd_end(struct crowd *crowd);

/* What the files of a process that sleeps say, each number as it stands. */
struct truth {
	char name[64];
	uint64_t ppid;
	uint64_t uid;
	uint64_t start_ticks;
	uint64_t threads;
	uint64_t faults_minor;
	uint64_t cpu_ns;
	uint64_t resident_kib;
	uint64_t anonymous_kib;
	uint64_t peak_kib;
	uint64_t wakeups;
	uint64_t involuntary;
	uint64_t io_calls;
	uint64_t disk_write;
};

void truth_read(int32_t pid, struct truth *truth);

/* Fails unless every figure of the record is known and the truth. */
void truth_expect(const plim_process *record, const struct truth *truth);

/* In ascending order of pids, none twice, and the bill adds up. */
void scale_expect_order(const plim_snapshot *snapshot);

/* Takes the fields of the full set that truth_expect() looks at. */
int scale_take(plim_snapshot *snapshot, const plim_snapshot *previous,
	       plim_error *error);

#endif
