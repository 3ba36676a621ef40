/*
 * stacks.c PID HZ SECONDS - a profile by the library, with bare addresses, for
 * who compares them: a line for each stack,
 *
 *     stack TID ACTIVITY END SAMPLES CALL ADDRESS...
 *
 * leaf first, in the order in which they were last begun; lines `tier` and
 * `metric` besides. Callers' addresses are inside their calls.
 */
#include <plimsoll.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void stack_line(const plim_profile *profile,
		       const plim_profile_stack *stack)
{
	const plim_profile_thread *thread =
	    plim_profile_thread_at(profile, stack->thread);
	size_t i;

	printf("stack %d %s %s %" PRIu64 " %.*s", (int)thread->tid,
	       plim_activity_word(stack->activity),
	       plim_stack_end_word(stack->end) != NULL
		   ? plim_stack_end_word(stack->end)
		   : "none",
	       stack->samples,
	       stack->call_name.size > 0 ? (int)stack->call_name.size : 1,
	       stack->call_name.size > 0 ? stack->call_name.data : "-");
	for (i = 0; i < stack->frame_count; i++)
		printf(
		    " %" PRIx64,
		    plim_profile_frame_at(profile, stack->frames[i])->address);
	printf("\n");
}

static void metric_lines(const plim_profile *profile)
{
	const plim_profile_tier *tier;
	size_t i;
	int metric;

	for (i = 0; (tier = plim_profile_tier_at(profile, i)) != NULL; i++)
		printf("tier %s %d\n", tier->word, tier->used);
	for (metric = 1; plim_profile_metric_name(metric) != NULL; metric++) {
		plim_count value = plim_profile_metric(profile, metric);

		if (value.state == PLIM_STATE_KNOWN)
			printf("metric %s %" PRIu64 "\n",
			       plim_profile_metric_name(metric), value.value);
	}
}

int main(int count, char **words)
{
	plim_profile_request request = {.size = sizeof(request)};
	plim_host *host = NULL;
	plim_target *target = NULL;
	plim_profile *profile = NULL;
	plim_error error = {0};
	int status;
	size_t i;

	if (count != 4)
		return 2;
	request.hz = (uint32_t)atoi(words[2]);
	request.hz_ceiling = PLIM_PROFILE_LIMIT_HZ;
	request.duration_ns = (uint64_t)(atof(words[3]) * 1e9);
	if (plim_host_open(&host, NULL, &error) != PLIM_OK ||
	    plim_target_open(&target, host, atoi(words[1]), &error) !=
		PLIM_OK ||
	    plim_profile_open(&profile, target, &request, &error) != PLIM_OK) {
		printf("error %s\n", error.detail);
		return 1;
	}
	status = plim_profile_run(profile, &error);
	if (status != PLIM_OK)
		printf("error %s\n", error.detail);
	metric_lines(profile);
	for (i = 0; i < plim_profile_stack_count(profile); i++)
		stack_line(profile, plim_profile_stack_at(profile, i));
	plim_profile_free(profile);
	plim_target_close(target);
	plim_host_close(host);
	return status == PLIM_OK ? 0 : 1;
}
