/*
 * schedule.h - when to look: ticks on a fixed grid from the session's start.
 *
 * A tick's time depends on the start alone, never on how long the last one
 * took, so that the cost of looking does not stretch the period. Who is behind
 * skips what has passed: there is no burst to catch up. Each tick is late by a
 * part of the jitter that its number gives, so that it does not keep step with
 * a program that wakes at the same rate.
 *
 * While nobody moves, ticks are left out, as many as make a tenth of the rate
 * but no less than 100 Hz: a thread whose accounts are the same at two looks
 * has slept in the same place at every tick between. The first that has moved
 * brings the full rate back. Where the whole process is known to have stood
 * still, as many more are left out as make a quarter of a second.
 */
#ifndef PLIMP_PROFILE_SCHEDULE_H
#define PLIMP_PROFILE_SCHEDULE_H

#include <stdint.h>

struct plimp_schedule {
	uint64_t start_ns;
	uint64_t period_ns;
	uint64_t jitter_ns; /* at most; below the period */
	uint64_t number;    /* of the next tick, since start_ns */
	uint64_t ahead;	    /* how many are left out before the next one */
	uint64_t rhythm;    /* how many at least, while nobody moves */
	uint64_t quiet;	    /* ticks in a row at which nobody had moved */
	uint64_t planned;   /* ticks that are past, skipped ones included */
	uint64_t late;	    /* taken, more than half a period late */
	uint64_t skipped;
};

/* Ticks from `start_ns` on; the first is one period behind. A jitter of a
 * tenth of the period. */
void plimp_schedule_begin(struct plimp_schedule *schedule, uint64_t start_ns,
			  uint64_t period_ns);

/* When the next tick is due. */
uint64_t plimp_schedule_due(const struct plimp_schedule *schedule);

/* The tick that is due is taken at `now_ns`; what passed besides is skipped.
 * Gives how many periods it stands for, with those that were left out and the
 * skipped ones. */
uint64_t plimp_schedule_take(struct plimp_schedule *schedule, uint64_t now_ns);

/* The tick that is due is left out, too: 1; 0 where it is time to look. */
int plimp_schedule_leave(struct plimp_schedule *schedule);

/* Those that were left out and are past are taken: gives how many. */
uint64_t plimp_schedule_past(struct plimp_schedule *schedule, uint64_t now_ns);

/* Had nobody moved at the last tick? */
void plimp_schedule_settle(struct plimp_schedule *schedule, int quiet);

/* Another period from now on. */
void plimp_schedule_change(struct plimp_schedule *schedule, uint64_t now_ns,
			   uint64_t period_ns);

#endif
