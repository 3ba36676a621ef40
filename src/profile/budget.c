/*
 * budget.c - a frequency that follows what sampling costs the target.
 *
 * The cost of a window is divided by the CPU time that the target had in it,
 * so that a loaded machine changes nothing; the next frequency is the
 * last one, times what is allowed by what was paid. It changes by a factor of
 * at most two at a time, so that one odd window does not decide.
 */
#include "profile/request.h"

void plimp_budget_begin(struct plimp_budget_state *state,
			const plim_profile_request *request,
			const struct plimp_effective *effective)
{
	*state = (struct plimp_budget_state){
	    .share =
		request->budget_percent > 0 ? request->budget_percent / 100 : 0,
	    .pause_ns = request->budget_pause_ns,
	    .hz = effective->hz,
	    .hz_ceiling = effective->hz_ceiling,
	};
}

uint32_t plimp_budget_adjust(struct plimp_budget_state *state, uint64_t cpu_ns,
			     uint64_t cost_ns, uint64_t pause_ns)
{
	double window = (double)(cpu_ns - state->last_cpu);
	double paid = (double)(cost_ns - state->last_cost);
	double factor = 2;

	if (cpu_ns <= state->last_cpu || cost_ns < state->last_cost)
		return state->hz;
	if (state->share > 0 && paid > 0 &&
	    factor > state->share * window / paid)
		factor = state->share * window / paid;
	/* A pause is as long as it is; fewer of them are the only remedy. */
	if (state->pause_ns > 0 && pause_ns > state->pause_ns)
		factor = 0.5;
	if (factor < 0.5)
		factor = 0.5;
	factor *= (double)state->hz;
	if (factor < 1)
		factor = 1;
	if (factor > (double)state->hz_ceiling)
		factor = (double)state->hz_ceiling;
	state->hz = (uint32_t)factor;
	state->last_cpu = cpu_ns;
	state->last_cost = cost_ns;
	return state->hz;
}
