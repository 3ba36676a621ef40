/*
 * request.c - defaults and bounds. What is outside is brought inside and told,
 * never refused: a request is a wish, and a profile at 1,000 Hz is more use
 * than a message that 5,000 are too many.
 */
#include "profile/request.h"

/* A sample, and what stacks and frames add to it on the average. */
#define REQUEST_SAMPLE_BYTES 64u
#define REQUEST_FLOOR_BYTES  0x1000000u

static uint64_t request_within(uint64_t value, uint64_t low, uint64_t high,
			       uint32_t bit, uint32_t *clamped)
{
	if (value < low) {
		*clamped |= bit;
		return low;
	}
	if (value > high) {
		*clamped |= bit;
		return high;
	}
	return value;
}

/* hz x seconds x threads, within the bound. */
static uint64_t request_memory(const struct plimp_effective *effective,
			       size_t threads)
{
	double wanted = (double)effective->hz *
			((double)effective->duration_ns / 1e9) *
			(double)(threads + 4) * REQUEST_SAMPLE_BYTES;

	if (wanted < REQUEST_FLOOR_BYTES)
		return REQUEST_FLOOR_BYTES;
	if (wanted > PLIMP_PROFILE_MEMORY_MOST)
		return PLIMP_PROFILE_MEMORY_MOST;
	return (uint64_t)wanted;
}

static void settle_times(const plim_profile_request *request,
			 struct plimp_effective *effective)
{
	uint64_t ceiling = request->duration_ceiling_ns != 0
			       ? request->duration_ceiling_ns
			       : PLIM_PROFILE_DEFAULT_CEILING_NS;
	uint64_t wanted = request->duration_ns != 0 ? request->duration_ns
						    : PLIM_PROFILE_DEFAULT_NS;

	/* A day: times of a session are added up in 63 bits. */
	ceiling =
	    request_within(ceiling, PLIMP_PROFILE_NS_LEAST, 86400000000000u,
			   PLIM_CLAMPED_CEILING, &effective->clamped);
	if (request->duration_ns == 0 && wanted > ceiling)
		wanted = ceiling;
	effective->duration_ns =
	    request_within(wanted, PLIMP_PROFILE_NS_LEAST, ceiling,
			   PLIM_CLAMPED_DURATION, &effective->clamped);
}

static void settle_rate(const plim_profile_request *request,
			struct plimp_effective *effective)
{
	uint32_t ceiling = request->hz_ceiling != 0
			       ? request->hz_ceiling
			       : PLIM_PROFILE_DEFAULT_CEILING_HZ;
	uint32_t wanted =
	    request->hz != 0 ? request->hz : PLIM_PROFILE_DEFAULT_HZ;

	ceiling =
	    (uint32_t)request_within(ceiling, 1, PLIM_PROFILE_LIMIT_HZ,
				     PLIM_CLAMPED_CEILING, &effective->clamped);
	if (request->hz == 0 && wanted > ceiling)
		wanted = ceiling;
	effective->hz_ceiling = ceiling;
	effective->hz = (uint32_t)request_within(
	    wanted, 1, ceiling, PLIM_CLAMPED_HZ, &effective->clamped);
	effective->period_ns = UINT64_C(1000000000) / effective->hz;
}

void plimp_request_settle(const plim_profile_request *request, size_t threads,
			  struct plimp_effective *effective)
{
	uint32_t bytes = request->stack_bytes != 0 ? request->stack_bytes
						   : PLIMP_PROFILE_STACK_BYTES;

	*effective = (struct plimp_effective){0};
	settle_rate(request, effective);
	settle_times(request, effective);
	effective->stack_bytes =
	    (uint32_t)request_within(bytes, PLIMP_PROFILE_STACK_LEAST,
				     PLIMP_PROFILE_STACK_MOST,
				     PLIM_CLAMPED_STACK, &effective->clamped) /
	    8 * 8;
	effective->memory_bytes =
	    request->memory_bytes != 0
		? request_within(request->memory_bytes,
				 PLIMP_PROFILE_MEMORY_LEAST, UINT64_MAX,
				 PLIM_CLAMPED_MEMORY, &effective->clamped)
		: request_memory(effective, threads);
	effective->is_budget =
	    request->budget_percent > 0 || request->budget_pause_ns > 0;
}
