/*
 * schedule.c - ticks on a fixed grid.
 */
#include "profile/schedule.h"

#include <assert.h>

/* Any constant will do: the same session has the same ticks. */
#define SCHEDULE_SEED UINT64_C(0x9e3779b97f4a7c15)

/* So many quiet ticks, and then as few as one in so long. */
#define SCHEDULE_QUIET	 8u
#define SCHEDULE_REST_NS 10000000u
#define SCHEDULE_MOST	 10u
#define SCHEDULE_LONG_NS 250000000u

void plimp_schedule_begin(struct plimp_schedule *schedule, uint64_t start_ns,
			  uint64_t period_ns)
{
	assert(period_ns > 0);
	*schedule = (struct plimp_schedule){.start_ns = start_ns,
					    .period_ns = period_ns,
					    .jitter_ns = period_ns / 10,
					    .number = 1};
}

/* splitmix64 of the tick's number, below the jitter. */
static uint64_t schedule_jitter(const struct plimp_schedule *schedule)
{
	uint64_t x = (schedule->number + schedule->planned) * SCHEDULE_SEED;

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	x ^= x >> 31;
	return schedule->jitter_ns == 0 ? 0 : x % schedule->jitter_ns;
}

uint64_t plimp_schedule_due(const struct plimp_schedule *schedule)
{
	return schedule->start_ns +
	       (schedule->number + schedule->ahead) * schedule->period_ns +
	       schedule_jitter(schedule);
}

uint64_t plimp_schedule_take(struct plimp_schedule *schedule, uint64_t now_ns)
{
	uint64_t due = plimp_schedule_due(schedule);
	uint64_t behind = now_ns > due ? now_ns - due : 0;
	uint64_t skipped = behind / schedule->period_ns;
	uint64_t taken = 1 + schedule->ahead;

	if (behind > schedule->period_ns / 2)
		schedule->late++;
	schedule->skipped += skipped;
	schedule->planned += taken + skipped;
	schedule->number += taken + skipped;
	return taken + skipped;
}

int plimp_schedule_leave(struct plimp_schedule *schedule)
{
	if ((schedule->ahead + 2) * schedule->period_ns > SCHEDULE_LONG_NS)
		return 0;
	schedule->ahead++;
	return 1;
}

uint64_t plimp_schedule_past(struct plimp_schedule *schedule, uint64_t now_ns)
{
	uint64_t last =
	    now_ns > schedule->start_ns
		? (now_ns - schedule->start_ns) / schedule->period_ns
		: 0;
	uint64_t past =
	    last >= schedule->number ? last - schedule->number + 1 : 0;

	if (past > schedule->ahead)
		past = schedule->ahead;
	schedule->planned += past;
	schedule->number += past;
	schedule->ahead -= past;
	return past;
}

void plimp_schedule_settle(struct plimp_schedule *schedule, int quiet)
{
	uint64_t most = SCHEDULE_REST_NS / schedule->period_ns;

	schedule->quiet = quiet ? schedule->quiet + 1 : 0;
	if (most > SCHEDULE_MOST)
		most = SCHEDULE_MOST;
	if (schedule->quiet < SCHEDULE_QUIET || most < 2)
		schedule->rhythm = 0;
	else
		schedule->rhythm = 2 * schedule->rhythm + 1;
	if (schedule->rhythm > 0 && schedule->rhythm > most - 1)
		schedule->rhythm = most - 1;
	schedule->ahead = schedule->rhythm;
}

void plimp_schedule_change(struct plimp_schedule *schedule, uint64_t now_ns,
			   uint64_t period_ns)
{
	assert(period_ns > 0);
	schedule->start_ns = now_ns;
	schedule->period_ns = period_ns;
	schedule->jitter_ns = period_ns / 10;
	schedule->number = 1;
	schedule->ahead = 0;
	schedule->rhythm = 0;
	schedule->quiet = 0;
}
