/*
 * test_profile.c - profiles of programs that know where their time goes: by
 * their own CPU clocks, by the addresses of their functions, and by the
 * kernel's account of the whole process.
 */
#include "profile.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Four standard errors, and 2 in 100 for what is not chance. */
static void expect_share(double got, double truth, double count)
{
	double error = sqrt(truth * (1 - truth) / count);

	if (fabs(got - truth) > 4 * error + 0.02)
		fail_msg("a share of %.3f instead of %.3f, of %.0f samples",
			 got, truth, count);
}

static uint32_t thread_called(struct profiled *of, const char *name)
{
	for (size_t i = 0; i < plim_profile_thread_count(of->profile); i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(of->profile, i);

		if (thread->name.size == strlen(name) &&
		    memcmp(thread->name.data, name, thread->name.size) == 0)
			return (uint32_t)i;
	}
	fail_msg("no thread is called %s", name);
	return 0;
}

static uint64_t where(struct profiled *of, const char *key)
{
	spawn_ask(&of->workload, "where");
	return spawn_truth(&of->workload, key);
}

/* hot() has three times the CPU time of cool(), by the addresses of both. */
static void test_hot(void **state)
{
	struct profiled of;
	uint64_t hot;
	uint64_t cool;
	double samples;

	(void)state;
	profiled_start(&of, "hot");
	profiled_open(&of,
		      (plim_profile_request){.hz = 500, .duration_ns = SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	hot = profiled_samples(&of, PLIM_NO_INDEX, where(&of, "hot_start"),
			       where(&of, "hot_end"));
	cool = profiled_samples(&of, PLIM_NO_INDEX, where(&of, "cool_start"),
				where(&of, "cool_end"));
	samples = (double)profiled_metric(&of, PLIM_METRIC_RUNNING);
	assert_true(samples >= 30);
	expect_share((double)hot / samples, 0.75, samples);
	expect_share((double)cool / samples, 0.25, samples);
	assert_int_equal(profiled_metric(&of, PLIM_METRIC_SIGNALS), 0);
	assert_int_equal(profiled_metric(&of, PLIM_METRIC_STOPS), 0);
	assert_int_equal(plim_profile_about(of.profile).end,
			 PLIM_PROFILE_END_DURATION);
	profiled_end(&of);
}

static void expect_function(struct profiled *of, const char *name, double truth,
			    double samples)
{
	plim_fold_options options = {.size = sizeof(options)};
	plim_fold *fold = NULL;
	double share = -1;

	assert_int_equal(plim_profile_fold(of->profile, &options, &fold, NULL),
			 PLIM_OK);
	for (size_t i = 0; i < plim_fold_function_count(fold); i++) {
		const plim_fold_function *row = plim_fold_function_at(fold, i);
		plim_bytes own =
		    plim_profile_function_at(of->profile, row->function)->name;

		if (own.size == strlen(name) &&
		    memcmp(own.data, name, own.size) == 0)
			share = row->self_share;
	}
	plim_fold_free(fold);
	expect_share(share, truth, samples);
}

/* The same by name; looking up changes no figure. */
static void test_names(void **state)
{
	struct profiled of;
	plim_profile_times before;
	double samples;

	(void)state;
	profiled_start(&of, "hot");
	profiled_open(&of,
		      (plim_profile_request){.hz = 500, .duration_ns = SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	before = plim_profile_total(of.profile);
	assert_int_equal(plim_profile_resolve(of.profile, NULL), PLIM_OK);
	assert_int_equal(plim_profile_resolve(of.profile, NULL), PLIM_OK);
	profiled_holds(&of);
	assert_int_equal(plim_profile_total(of.profile).cpu_ns, before.cpu_ns);
	samples = (double)profiled_metric(&of, PLIM_METRIC_RUNNING);
	expect_function(&of, "hot", 0.75, samples);
	expect_function(&of, "cool", 0.25, samples);
	profiled_end(&of);
}

/* Without symbols: all that lies in hot() is of one function, which is called
 * by where hot() starts, and the same of cool(). */
static void expect_nameless(struct profiled *of, uint64_t start, uint64_t end)
{
	uint32_t function = PLIM_NO_INDEX;
	size_t places = 0;

	for (size_t i = 0; i < plim_profile_frame_count(of->profile); i++) {
		const plim_profile_frame *frame =
		    plim_profile_frame_at(of->profile, i);
		const plim_profile_function *row;
		const plim_profile_module *module;
		char name[64];

		if (frame->address < start || frame->address >= end)
			continue;
		assert_int_equal(frame->line_count, 1);
		if (places++ == 0)
			function =
			    plim_profile_line_at(of->profile, frame->first_line)
				->function;
		assert_int_equal(
		    plim_profile_line_at(of->profile, frame->first_line)
			->function,
		    function);
		row = plim_profile_function_at(of->profile, function);
		module = plim_profile_module_at(of->profile, frame->module);
		snprintf(name, sizeof(name), "profiled-stripped+0x%llx",
			 (unsigned long long)(start - module->bias));
		assert_int_equal(row->name.size, strlen(name));
		assert_memory_equal(row->name.data, name, strlen(name));
		assert_int_equal(row->start, start - module->bias);
		assert_int_equal(row->is_unnamed, 1);
	}
	/* A loop is more than one instruction. */
	assert_true(places > 1);
}

static void test_stripped(void **state)
{
	struct profiled of;
	double samples;

	(void)state;
	profiled_start_with(
	    &of, (const char *const[]){"profiled-stripped", "hot", NULL});
	profiled_open(&of,
		      (plim_profile_request){.hz = 500, .duration_ns = SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	assert_int_equal(plim_profile_resolve(of.profile, NULL), PLIM_OK);
	profiled_holds(&of);
	samples = (double)profiled_metric(&of, PLIM_METRIC_RUNNING);
	assert_true(samples >= 30);
	expect_nameless(&of, where(&of, "hot_start"), where(&of, "hot_end"));
	expect_nameless(&of, where(&of, "cool_start"), where(&of, "cool_end"));
	profiled_end(&of);
}

/* Four threads with shares of 1:2:4:8, by their clocks and by samples. */
static void test_shares(void **state)
{
	struct profiled of;
	uint64_t first[4];
	double truth[4];
	double samples[4];
	double all_truth = 0;
	double all_samples = 0;
	char key[16];

	(void)state;
	profiled_start(&of, "shares");
	profiled_open(
	    &of, (plim_profile_request){.hz = 500, .duration_ns = 2 * SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	spawn_ask(&of.workload, "where");
	for (int i = 0; i < 4; i++) {
		snprintf(key, sizeof(key), "cpu_%d", i);
		first[i] = spawn_truth(&of.workload, key);
	}
	profiled_run(&of);
	spawn_ask(&of.workload, "where");
	for (int i = 0; i < 4; i++) {
		uint32_t thread;

		snprintf(key, sizeof(key), "cpu_%d", i);
		truth[i] = (double)(spawn_truth(&of.workload, key) - first[i]);
		all_truth += truth[i];
		snprintf(key, sizeof(key), "share-%d", i);
		thread = thread_called(&of, key);
		samples[i] =
		    (double)plim_profile_thread_at(of.profile, thread)->samples;
		all_samples += samples[i];
		/* Its CPU time is its clock's, to 5 % and two turns. */
		expect_near(
		    plim_profile_thread_at(of.profile, thread)->times.cpu_ns,
		    (uint64_t)truth[i], 5, 30000000);
	}
	assert_true(all_samples > 50);
	for (int i = 0; i < 4; i++) {
		expect_share(samples[i] / all_samples, truth[i] / all_truth,
			     all_samples);
		expect_share(truth[i] / all_truth, (1 << i) / 15.0, 1000);
	}
	profiled_end(&of);
}

/* The CPU view is the kernel's account of the process, to 5 %. */
static void expect_cpu(struct profiled *of)
{
	plim_profile_times total = plim_profile_total(of->profile);
	uint64_t truth = profiled_metric(of, PLIM_METRIC_TARGET_CPU);

	assert_true(truth > SECOND / 50);
	expect_near(total.cpu_ns, truth, 5, 4000000);
}

static void test_process_cpu(void **state)
{
	struct profiled of;

	(void)state;
	profiled_start(&of, "hot");
	profiled_open(&of, (plim_profile_request){.duration_ns = SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	expect_cpu(&of);
	profiled_end(&of);
}

/* Half of its time is in read(): what was not sampled is a row of its own. */
static void test_reads(void **state)
{
	struct profiled of;
	plim_profile_times total;
	uint64_t hot;

	(void)state;
	profiled_start(&of, "reads");
	profiled_open(
	    &of, (plim_profile_request){.hz = 500, .duration_ns = 2 * SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	expect_cpu(&of);
	total = plim_profile_total(of.profile);
	hot =
	    profiled_weight(&of, PLIM_ACTIVITY_RUNNING, PLIM_NO_INDEX,
			    where(&of, "hot_start"), where(&of, "hot_end"), 0);
	expect_share((double)hot / (double)total.cpu_ns, 0.5, 500);
	if (!plim_profile_about(of.profile).kernel_seen)
		expect_share((double)total.system_ns / (double)total.cpu_ns,
			     0.5, 500);
	else
		assert_int_equal(total.system_ns, 0);
	profiled_end(&of);
}

/* A thread that sleeps: all of its time is in that system call. */
static void test_blocked(void **state)
{
	struct profiled of;
	const plim_profile_thread *thread;
	uint64_t in_read = 0;

	(void)state;
	profiled_start(&of, "idle");
	profiled_open(&of, (plim_profile_request){.duration_ns = SECOND});
	profiled_needs(&of, PLIM_TIER_NO_STOP);
	profiled_run(&of);
	assert_int_equal(plim_profile_thread_count(of.profile), 1);
	thread = plim_profile_thread_at(of.profile, 0);
	assert_int_equal(thread->tid, of.workload.pid);
	expect_near(thread->times.wall_ns, SECOND, 5, 0);
	expect_near(thread->times.blocked_ns, SECOND, 5, 0);
	for (size_t i = 0; i < plim_profile_stack_count(of.profile); i++) {
		const plim_profile_stack *stack =
		    plim_profile_stack_at(of.profile, i);

		if (stack->call_name.size == 4 &&
		    memcmp(stack->call_name.data, "read", 4) == 0) {
			in_read += stack->weight_ns;
			assert_int_equal(stack->end, PLIM_STACK_ROOT);
			assert_true(stack->frame_count > 3);
		}
	}
	expect_near(in_read, thread->times.blocked_ns, 5, 0);
	/* One entry stands for all the looks that found it there. */
	assert_true(plim_profile_sample_count(of.profile) < 10);
	assert_true(thread->blocked_samples > 80);
	profiled_end(&of);
}

/* At 1,000 Hz a thread that sleeps on is not looked at each time; it was there
 * at every tick all the same, but for those of the last 10 ms. */
static void test_quiet(void **state)
{
	struct profiled of;
	const plim_profile_thread *thread;
	uint64_t taken;

	(void)state;
	profiled_start(&of, "idle");
	profiled_open(
	    &of, (plim_profile_request){.duration_ns = SECOND / 2, .hz = 1000});
	profiled_needs(&of, PLIM_TIER_NO_STOP);
	profiled_run(&of);
	thread = plim_profile_thread_at(of.profile, 0);
	taken = profiled_metric(&of, PLIM_METRIC_TICKS_PLANNED) -
		profiled_metric(&of, PLIM_METRIC_TICKS_SKIPPED);
	expect_near(profiled_metric(&of, PLIM_METRIC_TICKS_PLANNED), 500, 5, 0);
	assert_true(thread->blocked_samples <= taken + 2);
	assert_true(thread->blocked_samples + 12 >= taken);
	expect_near(thread->times.blocked_ns, SECOND / 2, 5, 0);
	profiled_end(&of);
}

/* Executing another program in place begins another one in the profile. */
static void *exec_later(void *user)
{
	struct profiled *of = user;

	child_sleep_ms(700);
	spawn_send(&of->workload, "exec");
	return NULL;
}

static void test_exec(void **state)
{
	struct profiled of;
	pthread_t later;
	uint64_t hot[2];
	uint64_t weights[2] = {0};
	const plim_profile_process *second;

	(void)state;
	profiled_start(&of, "again");
	profiled_open(
	    &of, (plim_profile_request){.hz = 500, .duration_ns = 2 * SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	hot[0] = where(&of, "hot_start");
	hot[1] = where(&of, "hot_end");
	assert_int_equal(pthread_create(&later, NULL, exec_later, &of), 0);
	profiled_run(&of);
	pthread_join(later, NULL);
	assert_int_equal(plim_profile_process_count(of.profile), 2);
	second = plim_profile_process_at(of.profile, 1);
	assert_int_equal(second->previous, 0);
	assert_int_equal(second->pid, of.workload.pid);
	assert_true(second->since_ns != 0);
	assert_int_equal(plim_profile_process_at(of.profile, 0)->until_ns,
			 second->since_ns);
	for (size_t i = 0; i < plim_profile_thread_count(of.profile); i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(of.profile, i);

		assert_true(thread->process < 2);
		weights[thread->process] += thread->times.sampled_ns;
	}
	assert_true(weights[0] > SECOND / 50);
	assert_true(weights[1] > SECOND / 50);
	/* What was in hot() was of the first program alone. */
	assert_true(profiled_weight(&of, PLIM_ACTIVITY_RUNNING, PLIM_NO_INDEX,
				    hot[0], hot[1], 1) > SECOND / 100);
	for (size_t i = 0; i < plim_profile_frame_count(of.profile); i++) {
		const plim_profile_frame *frame =
		    plim_profile_frame_at(of.profile, i);

		if (frame->address >= hot[0] && frame->address < hot[1])
			assert_int_equal(frame->process, 0);
	}
	profiled_end(&of);
}

/* Children that were there before are found, and each is told apart. */
static void test_tree(void **state)
{
	struct profiled of;
	uint64_t cpu[3] = {0};

	(void)state;
	profiled_start(&of, "tree");
	profiled_open(&of, (plim_profile_request){.hz = 500,
						  .duration_ns = SECOND,
						  .flags = PLIM_PROFILE_TREE});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	assert_int_equal(plim_profile_process_count(of.profile), 3);
	for (uint32_t i = 1; i < 3; i++) {
		const plim_profile_process *process =
		    plim_profile_process_at(of.profile, i);

		assert_int_equal(process->parent, 0);
		assert_true(process->has_modules);
	}
	for (size_t i = 0; i < plim_profile_thread_count(of.profile); i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(of.profile, i);

		cpu[thread->process] += thread->times.cpu_ns;
	}
	assert_true(cpu[0] < SECOND / 20);
	assert_true(cpu[1] > SECOND / 50);
	assert_true(cpu[2] > SECOND / 50);
	profiled_end(&of);
}

/* Threads that come and go, some 400 in a second. */
static void test_churn(void **state)
{
	struct profiled of;
	uint64_t before;
	uint64_t born;

	(void)state;
	profiled_start(&of, "churn");
	profiled_open(
	    &of, (plim_profile_request){.hz = 1000, .duration_ns = SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	before = where(&of, "cpu_0");
	profiled_run(&of);
	born = where(&of, "cpu_0") - before;
	/* Where the kernel tells of each, none is missed. */
	assert_true(profiled_metric(&of, PLIM_METRIC_THREADS_BORN) >= born / 2);
	assert_true(profiled_metric(&of, PLIM_METRIC_THREADS_BORN) <=
		    born + 20);
	assert_true(profiled_metric(&of, PLIM_METRIC_THREADS_ENDED) <=
		    profiled_metric(&of, PLIM_METRIC_THREADS_SEEN));
	profiled_end(&of);
}

/* Two objects that are loaded in turn at the same address are told apart. */
static void test_swap(void **state)
{
	struct profiled of;
	const plim_profile_module *modules[2] = {NULL, NULL};
	uint64_t weights[2] = {0};
	uint64_t unknown = 0;
	char paths[2][4096];
	uint64_t address;

	(void)state;
	snprintf(paths[0], sizeof(paths[0]), "%s", spawn_path("plugin_a.so"));
	snprintf(paths[1], sizeof(paths[1]), "%s", spawn_path("plugin_b.so"));
	profiled_start_with(&of,
			    (const char *const[]){"profiled", "swap", paths[0],
						  paths[1], NULL});
	profiled_open(
	    &of, (plim_profile_request){.hz = 500, .duration_ns = 2 * SECOND});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	address = where(&of, "swap_0");
	if (address != where(&of, "swap_1")) {
		profiled_end(&of);
		SKIP_BECAUSE("the loader took another address");
	}
	for (size_t i = 0; i < plim_profile_stack_count(of.profile); i++) {
		const plim_profile_stack *stack =
		    plim_profile_stack_at(of.profile, i);
		const plim_profile_frame *frame =
		    plim_profile_frame_at(of.profile, stack->frames[0]);
		const plim_profile_module *module =
		    plim_profile_module_at(of.profile, frame->module);
		plim_bytes path;
		int which;

		if (frame->address < address || frame->address > address + 256)
			continue;
		/* A sample between two looks at the map, where nobody knows
		 * which of the two it was. */
		if (module == NULL) {
			unknown += stack->weight_ns;
			continue;
		}
		path = module->path;
		assert_true(path.size > 11);
		which = path.data[path.size - 4] == 'b';
		assert_memory_equal(path.data + path.size - 11,
				    which ? "plugin_b.so" : "plugin_a.so", 11);
		modules[which] = module;
		weights[which] += stack->weight_ns;
	}
	assert_non_null(modules[0]);
	assert_non_null(modules[1]);
	assert_true(weights[0] > SECOND / 20);
	assert_true(weights[1] > SECOND / 20);
	assert_true(unknown < (weights[0] + weights[1]) / 4);
	profiled_end(&of);
}

/* Who is stopped is stopped 99 times a second, whatever was asked for: each
 * sample is worth the CPU time since the one before. */
static void test_stopped(void **state)
{
	struct profiled of;
	plim_profile_times total;

	(void)state;
	profiled_start(&of, "hot");
	profiled_open(&of,
		      (plim_profile_request){.hz = 1000,
					     .flags = PLIM_PROFILE_NO_PERF |
						      PLIM_PROFILE_PTRACE,
					     .duration_ns = SECOND});
	profiled_needs(&of, PLIM_TIER_PTRACE);
	profiled_run(&of);
	total = plim_profile_total(of.profile);
	assert_in_range(profiled_metric(&of, PLIM_METRIC_RUNNING), 3, 105);
	assert_true(total.cpu_ns > SECOND / 50);
	assert_true(total.sampled_ns > total.cpu_ns / 2);
	profiled_end(&of);
}

/* Full memory ends the session: what it covers is what it tells. */
static void test_full(void **state)
{
	struct profiled of;
	plim_profile_facts facts;

	(void)state;
	profiled_start(&of, "hot");
	profiled_open(&of, (plim_profile_request){.hz = 10000,
						  .hz_ceiling = 10000,
						  .memory_bytes = 1});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	facts = plim_profile_about(of.profile);
	assert_int_equal(facts.end, PLIM_PROFILE_END_FULL);
	assert_int_equal(profiled_metric(&of, PLIM_METRIC_BUFFER_FULL), 1);
	assert_int_equal(facts.clamped, PLIM_CLAMPED_MEMORY);
	assert_true(facts.duration_ns < 8 * SECOND);
	assert_true(profiled_metric(&of, PLIM_METRIC_RUNNING) > 500);
	expect_cpu(&of);
	profiled_end(&of);
}

static void *stop_later(void *user)
{
	child_sleep_ms(200);
	plim_profile_stop(user);
	return NULL;
}

/* From another thread; and before it has begun. */
static void test_stop(void **state)
{
	struct profiled of;
	pthread_t later;
	plim_error error = {0};

	(void)state;
	profiled_start(&of, "hot");
	profiled_open(&of, (plim_profile_request){.hz = 500});
	profiled_needs(&of, PLIM_TIER_PERF);
	assert_int_equal(pthread_create(&later, NULL, stop_later, of.profile),
			 0);
	profiled_run(&of);
	pthread_join(later, NULL);
	assert_int_equal(plim_profile_about(of.profile).end,
			 PLIM_PROFILE_END_STOPPED);
	assert_in_range(plim_profile_about(of.profile).duration_ns, SECOND / 10,
			2 * SECOND);
	assert_int_equal(plim_profile_run(of.profile, &error), PLIM_EINVAL);
	profiled_open(
	    &of, (plim_profile_request){.flags = PLIM_PROFILE_NO_SLEEPERS});
	plim_profile_stop(of.profile);
	assert_int_equal(plim_profile_run(of.profile, &error), PLIM_ENOSAMPLES);
	assert_non_null(strstr(error.detail, "stopped"));
	assert_true(plim_profile_about(of.profile).duration_ns < SECOND);
	profiled_end(&of);
}

static void *end_later(void *user)
{
	struct profiled *of = user;

	child_sleep_ms(300);
	spawn_send(&of->workload, "quit");
	return NULL;
}

/* The target ends: the profile has what it did until then. */
static void test_ended(void **state)
{
	struct profiled of;
	pthread_t later;

	(void)state;
	profiled_start(&of, "hot");
	profiled_open(&of, (plim_profile_request){.hz = 500});
	profiled_needs(&of, PLIM_TIER_PERF);
	assert_int_equal(pthread_create(&later, NULL, end_later, &of), 0);
	profiled_run(&of);
	pthread_join(later, NULL);
	assert_int_equal(plim_profile_about(of.profile).end,
			 PLIM_PROFILE_END_TARGET);
	assert_true(plim_profile_about(of.profile).duration_ns < 3 * SECOND);
	assert_true(profiled_metric(&of, PLIM_METRIC_RUNNING) > 5);
	assert_int_equal(plim_profile_resolve(of.profile, NULL), PLIM_OK);
	profiled_holds(&of);
	profiled_end(&of);
}

/* Nothing sampled is an error that says why. */
static void test_nothing(void **state)
{
	struct profiled of;
	plim_error error = {0};

	(void)state;
	profiled_start(&of, "idle");
	profiled_open(
	    &of, (plim_profile_request){.duration_ns = SECOND / 5,
					.flags = PLIM_PROFILE_NO_SLEEPERS});
	profiled_needs(&of, PLIM_TIER_PERF);
	assert_int_equal(plim_profile_run(of.profile, &error), PLIM_ENOSAMPLES);
	assert_string_equal(error.detail,
			    "no thread used the CPU for long enough");
	profiled_holds(&of);
	profiled_open(&of, (plim_profile_request){.duration_ns = SECOND / 5});
	profiled_needs(&of, PLIM_TIER_NO_STOP);
	profiled_run(&of);
	assert_int_equal(plim_profile_check(of.profile, PLIM_VIEW_OFF, NULL),
			 PLIM_OK);
	assert_int_equal(plim_profile_check(of.profile, PLIM_VIEW_CPU, &error),
			 PLIM_ENOSAMPLES);
	profiled_end(&of);
}

/* One thread, by name and by id. */
static void test_filter(void **state)
{
	struct profiled of;
	int32_t tid;

	(void)state;
	profiled_start(&of, "shares");
	profiled_open(&of, (plim_profile_request){.duration_ns = SECOND / 2,
						  .thread_name = "share-3"});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	assert_int_equal(plim_profile_thread_count(of.profile), 1);
	tid = plim_profile_thread_at(of.profile, 0)->tid;
	assert_int_equal(thread_called(&of, "share-3"), 0);
	profiled_open(&of, (plim_profile_request){.duration_ns = SECOND / 2,
						  .tids = &tid,
						  .tid_count = 1});
	profiled_run(&of);
	assert_int_equal(plim_profile_thread_count(of.profile), 1);
	assert_int_equal(plim_profile_thread_at(of.profile, 0)->tid, tid);
	profiled_end(&of);
}

/* A budget of a thousandth: of 1,000 Hz at some 7 us little more than 100
 * are left. */
static void test_budget(void **state)
{
	struct profiled of;
	plim_profile_facts facts;

	(void)state;
	profiled_start(&of, "hot");
	profiled_open(&of, (plim_profile_request){.hz = 1000,
						  .duration_ns = 4 * SECOND,
						  .budget_percent = 0.1});
	profiled_needs(&of, PLIM_TIER_PERF);
	profiled_run(&of);
	facts = plim_profile_about(of.profile);
	assert_int_equal(facts.is_budget, 1);
	assert_in_range(facts.period_ns, SECOND / 300, SECOND / 40);
	/* The weights follow the rate: time stays what it was. */
	expect_cpu(&of);
	assert_true(profiled_metric(&of, PLIM_METRIC_RUNNING) < 2500);
	profiled_end(&of);
}

static void test_invalid(void **state)
{
	struct profiled of;
	plim_profile *made = NULL;
	plim_profile_request request = {.size = sizeof(request)};
	plim_fold *fold = NULL;

	(void)state;
	profiled_start(&of, "idle");
	assert_int_equal(plim_profile_open(NULL, of.target, NULL, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_profile_open(&made, NULL, NULL, NULL),
			 PLIM_EINVAL);
	request.flags = PLIM_PROFILE_NO_RUNNING | PLIM_PROFILE_NO_SLEEPERS;
	assert_int_equal(plim_profile_open(&made, of.target, &request, NULL),
			 PLIM_EINVAL);
	request.flags = 0;
	request.budget_percent = 101;
	assert_int_equal(plim_profile_open(&made, of.target, &request, NULL),
			 PLIM_EINVAL);
	request.budget_percent = 0;
	request.size = 1;
	assert_int_equal(plim_profile_open(&made, of.target, &request, NULL),
			 PLIM_EINVAL);
	assert_null(made);
	assert_int_equal(plim_profile_open(&made, of.target, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_profile_resolve(made, NULL), PLIM_EINVAL);
	assert_int_equal(plim_profile_check(made, PLIM_VIEW_CPU, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_profile_metric(made, PLIM_METRIC_CAPTURED).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(
	    plim_profile_fold(made,
			      &(plim_fold_options){
				  .size = sizeof(plim_fold_options), .view = 9},
			      &fold, NULL),
	    PLIM_EINVAL);
	plim_profile_free(made);
	profiled_end(&of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_hot),	     cmocka_unit_test(test_names),
	    cmocka_unit_test(test_shares),   cmocka_unit_test(test_process_cpu),
	    cmocka_unit_test(test_reads),    cmocka_unit_test(test_blocked),
	    cmocka_unit_test(test_quiet),    cmocka_unit_test(test_exec),
	    cmocka_unit_test(test_tree),     cmocka_unit_test(test_churn),
	    cmocka_unit_test(test_swap),     cmocka_unit_test(test_full),
	    cmocka_unit_test(test_stop),     cmocka_unit_test(test_ended),
	    cmocka_unit_test(test_nothing),  cmocka_unit_test(test_filter),
	    cmocka_unit_test(test_budget),   cmocka_unit_test(test_invalid),
	    cmocka_unit_test(test_stripped), cmocka_unit_test(test_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
