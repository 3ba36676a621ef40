/*
 * profile.c - the steps that the tests of profiles share.
 */
#include "profile.h"

#include <stdio.h>
#include <string.h>

void profiled_start_with(struct profiled *of, const char *const *argv)
{
	memset(of, 0, sizeof(*of));
	of->host = open_host(0);
	spawn_start(&of->workload, argv);
	of->target = open_target(of->host, of->workload.pid);
}

void profiled_start(struct profiled *of, const char *mode)
{
	profiled_start_with(of, (const char *const[]){"profiled", mode, NULL});
}

void profiled_end(struct profiled *of)
{
	plim_profile_free(of->profile);
	plim_target_close(of->target);
	spawn_end(&of->workload);
	plim_host_close(of->host);
}

void profiled_open(struct profiled *of, plim_profile_request request)
{
	plim_error error = {0};
	char text[700];

	plim_profile_free(of->profile);
	of->profile = NULL;
	request.size = sizeof(request);
	if (plim_profile_open(&of->profile, of->target, &request, &error) !=
	    PLIM_OK) {
		plim_error_message(&error, text, sizeof(text));
		fail_msg("plim_profile_open: %s", text);
	}
}

void profiled_run(struct profiled *of)
{
	plim_error error = {0};
	char text[700];

	if (plim_profile_run(of->profile, &error) != PLIM_OK) {
		plim_error_message(&error, text, sizeof(text));
		fail_msg("plim_profile_run: %s", text);
	}
	profiled_holds(of);
}

void profiled_needs(struct profiled *of, int tier)
{
	for (size_t i = 0; i < plim_profile_tier_count(of->profile); i++) {
		const plim_profile_tier *row =
		    plim_profile_tier_at(of->profile, i);

		if (row->tier != tier || row->works.state == PLIM_STATE_KNOWN)
			continue;
		profiled_end(of);
		if (tier == PLIM_TIER_PERF)
			SKIP_BECAUSE("perf events are refused");
		SKIP_BECAUSE("the memory of processes may not be read");
	}
}

static int stack_in(const struct profiled *of, const plim_profile_stack *stack,
		    uint64_t start, uint64_t end, int leaf)
{
	for (size_t i = 0; i < stack->frame_count && (i == 0 || !leaf); i++) {
		const plim_profile_frame *frame =
		    plim_profile_frame_at(of->profile, stack->frames[i]);

		assert_non_null(frame);
		if (frame->address >= start && frame->address < end)
			return 1;
	}
	return 0;
}

uint64_t profiled_weight(struct profiled *of, int activity, uint32_t thread,
			 uint64_t start, uint64_t end, int leaf)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < plim_profile_stack_count(of->profile); i++) {
		const plim_profile_stack *stack =
		    plim_profile_stack_at(of->profile, i);

		if ((activity == 0 || stack->activity == activity) &&
		    (thread == PLIM_NO_INDEX || stack->thread == thread) &&
		    stack_in(of, stack, start, end, leaf))
			sum += stack->weight_ns;
	}
	return sum;
}

uint64_t profiled_samples(struct profiled *of, uint32_t thread, uint64_t start,
			  uint64_t end)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < plim_profile_stack_count(of->profile); i++) {
		const plim_profile_stack *stack =
		    plim_profile_stack_at(of->profile, i);

		if (stack->activity == PLIM_ACTIVITY_RUNNING &&
		    (thread == PLIM_NO_INDEX || stack->thread == thread) &&
		    stack_in(of, stack, start, end, 0))
			sum += stack->samples;
	}
	return sum;
}

uint64_t profiled_metric(struct profiled *of, int metric)
{
	plim_count count = plim_profile_metric(of->profile, metric);

	if (count.state != PLIM_STATE_KNOWN)
		fail_msg("%s is %s", plim_profile_metric_name(metric),
			 plim_state_word(count.state));
	return count.value;
}

static void holds_threads(struct profiled *of)
{
	plim_profile_times sum = {0};
	plim_profile_times total = plim_profile_total(of->profile);

	for (size_t i = 0; i < plim_profile_thread_count(of->profile); i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(of->profile, i);
		const plim_profile_times *times = &thread->times;
		uint64_t parts[4] = {0};

		assert_non_null(
		    plim_profile_process_at(of->profile, thread->process));
		assert_int_equal(times->wall_ns, times->cpu_ns +
						     times->waiting_ns +
						     times->blocked_ns);
		assert_int_equal(times->cpu_ns, times->sampled_ns +
						    times->system_ns +
						    times->unsampled_ns);
		for (int activity = 1; activity <= 3; activity++)
			parts[activity] = profiled_weight(
			    of, activity, (uint32_t)i, 0, UINT64_MAX, 0);
		assert_int_equal(parts[PLIM_ACTIVITY_RUNNING], times->cpu_ns);
		assert_int_equal(parts[PLIM_ACTIVITY_WAITING],
				 times->waiting_ns);
		assert_int_equal(parts[PLIM_ACTIVITY_BLOCKED],
				 times->blocked_ns);
		sum.wall_ns += times->wall_ns;
		sum.cpu_ns += times->cpu_ns;
	}
	assert_int_equal(sum.wall_ns, total.wall_ns);
	assert_int_equal(sum.cpu_ns, total.cpu_ns);
}

static void holds_samples(struct profiled *of)
{
	const plim_profile_facts facts = plim_profile_about(of->profile);
	uint64_t last = 0;
	uint64_t looks = 0;

	for (size_t i = 0; i < plim_profile_sample_count(of->profile); i++) {
		const plim_profile_sample *sample =
		    plim_profile_sample_at(of->profile, i);

		assert_non_null(
		    plim_profile_stack_at(of->profile, sample->stack));
		assert_true(sample->time_ns >= last || i == 0);
		assert_true(sample->looks >= 1);
		/* What it tells of is the window that it tells. */
		assert_true(sample->time_ns <=
			    facts.start_ns + facts.duration_ns);
		last = sample->time_ns;
		looks += sample->looks;
	}
	assert_int_equal(looks, profiled_metric(of, PLIM_METRIC_CAPTURED));
	assert_int_equal(profiled_metric(of, PLIM_METRIC_CAPTURED) +
			     profiled_metric(of, PLIM_METRIC_DROPPED),
			 profiled_metric(of, PLIM_METRIC_OFFERED));
}

/* Each frame has a line, and each line a function with a name. */
static void holds_names(struct profiled *of)
{
	for (size_t i = 0; i < plim_profile_frame_count(of->profile); i++) {
		const plim_profile_frame *frame =
		    plim_profile_frame_at(of->profile, i);

		assert_true(frame->line_count > 0);
		for (uint32_t j = 0; j < frame->line_count; j++) {
			const plim_profile_line *line = plim_profile_line_at(
			    of->profile, frame->first_line + j);

			assert_non_null(line);
			assert_non_null(plim_profile_function_at(
			    of->profile, line->function));
			assert_true(plim_profile_function_at(of->profile,
							     line->function)
					->name.size > 0);
		}
	}
}

static void holds_views(struct profiled *of)
{
	plim_profile_times total = plim_profile_total(of->profile);
	uint64_t views[4] = {0};

	for (int view = PLIM_VIEW_CPU; view <= PLIM_VIEW_WALL; view++) {
		plim_fold_options options = {.size = sizeof(options),
					     .view = view,
					     .flags = PLIM_FOLD_INLINES};
		plim_fold *fold = NULL;

		assert_int_equal(
		    plim_profile_fold(of->profile, &options, &fold, NULL),
		    PLIM_OK);
		views[view] = plim_fold_about(fold).weight_ns;
		plim_fold_free(fold);
	}
	assert_int_equal(views[PLIM_VIEW_CPU], total.cpu_ns);
	assert_int_equal(views[PLIM_VIEW_OFF],
			 total.waiting_ns + total.blocked_ns);
	assert_int_equal(views[PLIM_VIEW_WALL], total.wall_ns);
}

void profiled_holds(struct profiled *of)
{
	holds_threads(of);
	holds_samples(of);
	holds_names(of);
	holds_views(of);
}
