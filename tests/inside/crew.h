/*
 * crew.h - threads of the test's own process, which know what they do: each
 * computes by its own CPU clock, or sleeps and counts what disturbs it. And the
 * profile that the process takes of itself.
 */
#ifndef TESTS_INSIDE_CREW_H
#define TESTS_INSIDE_CREW_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <plimsoll.h>

#include "skip.h"

#include <pthread.h>
#include <stdatomic.h>

#define MS     UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

struct crew;

struct member {
	struct crew *crew;
	pthread_t thread;
	int32_t tid;
	uint64_t busy_ns; /* computes so long, then sleeps so long */
	uint64_t idle_ns;
	int blocks; /* every signal */
	_Atomic uint64_t turns;
	_Atomic uint64_t disturbed; /* sleeps that failed or were short */
};

#define CREW_MOST 32
struct crew {
	struct member members[CREW_MOST];
	int count;
	_Atomic int ready;
	_Atomic int over;
};

/* Adds one; it runs at once. */
struct member *crew_add(struct crew *crew, uint64_t busy_ns, uint64_t idle_ns,
			int blocks);
/* All end and are joined. */
void crew_end(struct crew *crew);
/* CPU time of a member, by its clock. */
uint64_t crew_cpu(const struct member *member);

/* Computes so long by the calling thread's clock. */
void crew_compute(uint64_t ns);
uint64_t crew_now(void);
void crew_sleep(uint64_t ns);

plim_profile *self_open(plim_profile_request request);
/* Started; sleeps so long; stopped and joined. */
void self_for(plim_profile *profile, uint64_t ns);
/* The same, until the crew has had so much CPU time: on a machine that has
 * much else to do that is later. */
void self_until(plim_profile *profile, const struct crew *crew, uint64_t ns);
/* The thread's row; fails where there is none. */
const plim_profile_thread *self_thread(const plim_profile *profile,
				       int32_t tid);
/* Views, rows and threads add up to the nanosecond. */
void self_holds(const plim_profile *profile);
/* Flags of every request: how a test program is called says which. "timers":
 * no perf events; "ticks": no timers either; "suspend": the classic way. */
extern uint32_t self_flags;
void self_arguments(int argc, char **argv);
/* Was it sampled by a signal handler? By the tier that was asked for. */
int self_by_signal(const plim_profile *profile);
/* Where threads that run could not be sampled: all ends, and the test. */
#define NEEDS_RUNNING(crew, profile)                                          \
	do {                                                                  \
		if (self_tier(profile, PLIM_TIER_PERF) == 0 &&                \
		    !self_by_signal(profile)) {                               \
			crew_end(crew);                                       \
			plim_profile_free(profile);                           \
			SKIP_BECAUSE("perf events are refused to this user"); \
		}                                                             \
	} while (0)
uint64_t self_metric(const plim_profile *profile, int metric);
int self_tier(const plim_profile *profile, int tier);
/* The number of the reason, METHOD or REASON, that the tier works or not. */
int self_reason(const plim_profile *profile, int tier);
/* Does it say that it lacks something with these words? */
int self_lacks(const plim_profile *profile, const char *words);

#endif
