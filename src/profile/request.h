/*
 * request.h - what is asked for, brought inside its bounds; and a budget that
 * the rate follows.
 */
#ifndef PLIMP_PROFILE_REQUEST_H
#define PLIMP_PROFILE_REQUEST_H

#include <plimsoll/profile.h>

#define PLIMP_PROFILE_STACK_BYTES  16384u
#define PLIMP_PROFILE_STACK_LEAST  1024u
#define PLIMP_PROFILE_STACK_MOST   64000u
#define PLIMP_PROFILE_MEMORY_LEAST 0x10000u
#define PLIMP_PROFILE_MEMORY_MOST  0x10000000u /* by default */
#define PLIMP_PROFILE_NS_LEAST	   1000000u

struct plimp_effective {
	uint32_t hz;
	uint32_t hz_ceiling;
	uint64_t period_ns;
	uint64_t duration_ns;
	uint32_t stack_bytes;
	uint64_t memory_bytes;
	uint32_t clamped; /* enum plim_profile_clamp */
	int is_budget;
};

/* `threads`: how many there are, for the default of the memory. Never fails. */
void plimp_request_settle(const plim_profile_request *request, size_t threads,
			  struct plimp_effective *effective);

/*
 * A budget. It is told what sampling has cost the target so far, and gives the
 * frequency that keeps it: at most double or half of the last at a time.
 */
struct plimp_budget_state {
	double share;	   /* of the target's CPU time, 0: no such bound */
	uint64_t pause_ns; /* longest allowed, 0: no such bound */
	uint32_t hz;
	uint32_t hz_ceiling;
	uint64_t last_cpu;
	uint64_t last_cost;
};
void plimp_budget_begin(struct plimp_budget_state *state,
			const plim_profile_request *request,
			const struct plimp_effective *effective);

/* `cpu_ns`: the target's CPU time until now, `cost_ns`: what of it sampling has
 * taken; `pause_ns`: the longest single pause. The frequency from now on. */
uint32_t plimp_budget_adjust(struct plimp_budget_state *state, uint64_t cpu_ns,
			     uint64_t cost_ns, uint64_t pause_ns);

#endif
