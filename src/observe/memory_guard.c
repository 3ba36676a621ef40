/*
 * memory_guard.c - the stall guard: whether page tables may be walked now.
 *
 * A walk is predicted from figures that cost nothing, and not begun when that
 * is more than the limit, nor when it cannot be predicted. After one that was
 * made the target is left alone for a multiple of the time that it took, so
 * that no pace of sampling can hold it up for more than that share.
 */
#include "observe/memory_guard.h"
#include "core/fail.h"

#include <plimsoll/fields.h>

#include <string.h>

int plimp_guard_set(struct plimp_memory_guard *guard,
		    const plim_memory_options *given, plim_error *error)
{
	plim_memory_options options;

	memset(&options, 0, sizeof(options));
	if (given != NULL && given->size < sizeof(given->size))
		return plimp_fail(error, PLIM_EINVAL, 0, "sample memory",
				  "options.size",
				  "set it to sizeof(plim_memory_options)");
	if (given != NULL)
		memcpy(&options, given,
		       given->size < sizeof(options) ? given->size
						     : sizeof(options));
	guard->parts = options.parts != 0 ? options.parts : UINT32_MAX;
	guard->force = options.force != 0;
	guard->stall_ns =
	    options.stall_ns != 0 ? options.stall_ns : PLIM_MEMORY_STALL_NS;
	guard->rest = options.rest != 0 || options.rest_set ? options.rest
							    : PLIM_MEMORY_REST;
	return PLIM_OK;
}

int plimp_guard_ask(const struct plimp_memory_guard *guard,
		    plim_count predicted_ns, uint64_t now_ns)
{
	if (guard->force)
		return PLIMP_GUARD_WALK;
	if (predicted_ns.state != PLIM_STATE_KNOWN ||
	    predicted_ns.bound == PLIM_BOUND_AT_LEAST ||
	    predicted_ns.value > guard->stall_ns)
		return PLIMP_GUARD_STALL;
	return now_ns < guard->rest_until ? PLIMP_GUARD_REST : PLIMP_GUARD_WALK;
}

void plimp_guard_walked(struct plimp_memory_guard *guard, uint64_t began_ns,
			uint64_t ended_ns)
{
	uint64_t took = ended_ns > began_ns ? ended_ns - began_ns : 0;
	uint64_t rest;

	if (guard->rest > 0 && took > UINT64_MAX / guard->rest)
		rest = UINT64_MAX;
	else
		rest = took * guard->rest;
	guard->rest_until =
	    rest > UINT64_MAX - ended_ns ? UINT64_MAX : ended_ns + rest;
}

int plimp_guard_reason(int answer)
{
	return answer == PLIMP_GUARD_REST ? PLIM_REASON_RECENT_WALK
					  : PLIM_REASON_STALL;
}
