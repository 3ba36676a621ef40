/*
 * budget_record.h - a recorded result, between budget_record_read.c, which
 * reads its lines, and budget_record.c, which answers from it.
 */
#ifndef PLIMP_OBSERVE_BUDGET_RECORD_H
#define PLIMP_OBSERVE_BUDGET_RECORD_H

#include "observe/budget.h"

/* How near a line is to a figure. */
enum plimp_record_rank {
	PLIMP_RECORD_ITSELF = 0, /* by plim gate, or in a line of its own */
	PLIMP_RECORD_BUDGET = 1, /* in the line `budget` */
	PLIMP_RECORD_LARGER = 2, /* the larger of it and another */
	PLIMP_RECORD_BUDGET_LARGER = 3,
	PLIMP_RECORD_RANKS = 4
};

/* One figure of one target, from lines of one rank. */
struct plimp_record_group {
	const char *target; /* NULL: plain lines */
	int figure;
	int rank;
	plim_budget_reading *readings;
	size_t count;
	size_t capacity;
};

/* The machine; NULL, 0 and -1 are unknown. */
struct plimp_record_host {
	const char *system, *machine, *processor;
	int is_virtual;
	uint32_t cpus;
};

struct plim_budget_record {
	struct plimp_pool pool;
	struct plimp_record_group *groups;
	size_t count;
	size_t capacity;
	size_t figures;
	int has_gate; /* some group has a target */
	int has_host;
	struct plimp_record_host host;
};

/* The group, or NULL. `target` NULL: of plain lines. */
struct plimp_record_group *plimp_record_find(const plim_budget_record *record,
					     const char *target, int figure,
					     int rank);

/* One more reading; PLIM_ELIMIT, PLIM_ENOMEM. The target is not copied. */
int plimp_record_add(plim_budget_record *record, const char *target, int figure,
		     int rank, const plim_budget_reading *reading);

/* Bounds, for messages. */
#define PLIMP_RECORD_SIZE    16777216
#define PLIMP_RECORD_FIGURES 16384
#define PLIMP_RECORD_NAME    128  /* of a target, before it was escaped */
#define PLIMP_RECORD_GROUPS  4608 /* 256 targets of 18 figures */

#endif
