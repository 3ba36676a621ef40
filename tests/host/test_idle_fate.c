/*
 * test_idle_fate.c - what does not go as planned in an observation: a target
 * that is never quiet, ends, is replaced, executes another program; an
 * observer who stops. Each is a fact, never an error, and what was measured
 * stays.
 */
#include "idle.h"

#include "ns.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void quiet_options(struct scene *scene)
{
	scene->options.quiet_cpu_percent = 10;
	scene->options.step_ns = 50 * MS;
	scene->options.quiet_for_ns = 300 * MS;
	scene->options.quiet_limit_ns = 20000 * MS;
}

static int act_load(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		spawn_ask(&scene->spawn, "spin 400");
	return 0;
}

/* Quiet begins where the load ended, and not before. */
static void test_quiet(void **state)
{
	struct scene scene;
	plim_idle_facts facts;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		scene_begin(&scene, (const char *const[]){"spin", NULL},
			    act_load);
		quiet_options(&scene);
		scene.options.tree = tree;
		scene_observe(&scene);
		facts = scene_facts(&scene);
		assert_int_equal(facts.quiet, 1);
		assert_true(facts.quiet_after_ns >= 700 * MS);
		assert_true(facts.busiest_step.value > 10);
		assert_true(scene.looks > 0);
		assert_int_equal(facts.samples, 2);
		assert_int_equal(facts.ended, 0);
		/* The load is in no figure of the window. */
		assert_int_equal(scene_change(&scene, PLIM_FIELD_CPU), 0);
		scene_end(&scene);
	}
}

static int act_busy(struct scene *scene, unsigned sleep)
{
	(void)sleep;
	if (scene->last.phase != PLIM_IDLE_WINDOW)
		spawn_ask(&scene->spawn, "spin 25");
	return 0;
}

/* Never quiet: told, and the window follows all the same. */
static void test_never_quiet(void **state)
{
	struct scene scene;
	plim_idle_facts facts;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		scene_begin(&scene, (const char *const[]){"spin", NULL},
			    act_busy);
		quiet_options(&scene);
		scene.options.tree = tree;
		scene.options.quiet_limit_ns = 700 * MS;
		scene_observe(&scene);
		facts = scene_facts(&scene);
		assert_int_equal(facts.quiet, -1);
		assert_true(facts.quiet_after_ns >= 700 * MS);
		assert_int_equal(facts.samples, 2);
		assert_int_equal(facts.ended, 0);
		assert_int_equal(
		    plim_idle_change(scene.idle, PLIM_FIELD_CPU).state,
		    PLIM_STATE_KNOWN);
		scene_end(&scene);
	}
}

static void expect_nothing(const struct scene *scene)
{
	assert_int_equal(plim_idle_first(scene->idle, PLIM_FIELD_CPU).state,
			 PLIM_STATE_GONE);
	assert_int_equal(plim_idle_change(scene->idle, PLIM_FIELD_CPU).state,
			 PLIM_STATE_GONE);
	assert_int_equal(plim_idle_cpu_percent(scene->idle).state,
			 PLIM_STATE_GONE);
	assert_null(plim_idle_warm(scene->idle));
	assert_null(plim_idle_end(scene->idle));
	assert_int_equal(scene_facts(scene).samples, 0);
	assert_int_equal(plim_idle_thread_count(scene->idle), 0);
}

static int act_end_second(struct scene *scene, unsigned sleep)
{
	if (sleep == 1)
		assert_int_equal(kill(scene->spawn.pid, SIGKILL), 0);
	return 0;
}

/* In quiescence: there is no window, and every figure is gone. */
static void test_ends_loading(void **state)
{
	struct scene scene;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		scene_begin(&scene, (const char *const[]){"idle", NULL},
			    act_end_second);
		quiet_options(&scene);
		scene.options.quiet_for_ns = 5000 * MS;
		scene.options.tree = tree;
		scene.options.threads = 1;
		scene_observe(&scene);
		assert_int_equal(scene_facts(&scene).ended,
				 PLIM_IDLE_QUIESCENCE);
		assert_int_equal(scene_facts(&scene).quiet, 0);
		assert_int_equal(scene_facts(&scene).replaced, 0);
		assert_int_equal(scene.sleeps, 2);
		expect_nothing(&scene);
		/* And of one that had ended before, reaped or not. */
		scene_observe(&scene);
		assert_int_equal(scene_facts(&scene).ended,
				 PLIM_IDLE_QUIESCENCE);
		assert_int_equal(scene.sleeps, 2);
		expect_nothing(&scene);
		scene_end(&scene);
	}
}

static int act_end_first(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		assert_int_equal(kill(scene->spawn.pid, SIGKILL), 0);
	return 0;
}

/* In the window, with one sample: the state of its life stays, no change. */
static void test_ends_in_window(void **state)
{
	struct scene scene;
	uint64_t begin;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		scene_begin(&scene, (const char *const[]){"idle", NULL},
			    act_end_first);
		scene.options.tree = tree;
		scene.options.threads = 1;
		scene.options.window_ns = 60000 * MS;
		begin = child_monotonic_ns();
		scene_observe(&scene);
		/* The sleeper was woken by the end. */
		assert_true(child_monotonic_ns() - begin < 30000 * MS);
		assert_int_equal(scene_facts(&scene).ended, PLIM_IDLE_WINDOW);
		assert_int_equal(scene_facts(&scene).samples, 1);
		assert_int_equal(
		    plim_idle_last(scene.idle, PLIM_FIELD_RESIDENT).state,
		    PLIM_STATE_KNOWN);
		assert_true(
		    known(plim_idle_end(scene.idle), PLIM_FIELD_RESIDENT) > 0);
		assert_int_equal(
		    plim_idle_change(scene.idle, PLIM_FIELD_CPU).state,
		    PLIM_STATE_GONE);
		assert_int_equal(scene_facts(&scene).interval.elapsed_ns, 0);
		scene_end(&scene);
	}
}

static int act_end_third(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		spawn_ask(&scene->spawn, "pulse 20");
	if (sleep == 2)
		assert_int_equal(kill(scene->spawn.pid, SIGKILL), 0);
	return 0;
}

/* With samples in between: what was measured of its life. */
static void test_ends_after_samples(void **state)
{
	struct scene scene;
	uint64_t before;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		scene_begin(&scene, (const char *const[]){"pulses", "2", NULL},
			    act_end_third);
		scene.options.tree = tree;
		scene.options.threads = 1;
		scene.options.window_ns = 60000 * MS;
		scene.options.sample_ns = 200 * MS;
		spawn_ask(&scene.spawn, "truth");
		before = spawn_truth(&scene.spawn, "wakeups");
		scene_settle(&scene);
		scene_observe(&scene);
		assert_int_equal(scene_facts(&scene).ended, PLIM_IDLE_WINDOW);
		assert_int_equal(scene_facts(&scene).samples, 3);
		assert_true(scene_facts(&scene).interval.elapsed_ns <
			    30000 * MS);
		assert_int_equal(scene_change(&scene, PLIM_FIELD_WAKEUPS),
				 spawn_truth(&scene.spawn, "wakeups") - before);
		assert_int_equal(plim_idle_thread_count(scene.idle), 3);
		scene_end(&scene);
	}
}

/* A memory hook that ends the process the first time that it is asked, which
 * is in the middle of a sample: for more threads than there was room for. */
static pid_t hook_victim;

static void *hook_resize(void *memory, size_t old_size, size_t new_size,
			 void *user)
{
	siginfo_t info;

	(void)old_size;
	(void)user;
	if (hook_victim > 0 && new_size > 0) {
		kill(hook_victim, SIGKILL);
		waitid(P_PID, (id_t)hook_victim, &info, WEXITED | WNOWAIT);
		hook_victim = 0;
	}
	if (new_size == 0) {
		free(memory);
		return NULL;
	}
	return realloc(memory, new_size);
}

/* A sample that it does not live through is not taken. */
static void test_ends_in_sample(void **state)
{
	const plim_host_options hooked = {.size = sizeof(hooked),
					  .allocator = {hook_resize, NULL}};
	struct scene scene;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		scene_begin(&scene,
			    (const char *const[]){"threads", "100", NULL},
			    NULL);
		plim_target_close(scene.target);
		plim_idle_free(scene.idle);
		plim_host_close(scene.host);
		assert_int_equal(plim_host_open(&scene.host, &hooked, NULL),
				 PLIM_OK);
		assert_int_equal(plim_idle_new(&scene.idle, scene.host, NULL),
				 PLIM_OK);
		scene.target = open_target(scene.host, scene.spawn.pid);
		scene.options.tree = tree;
		hook_victim = scene.spawn.pid;
		scene_observe(&scene);
		assert_int_equal(hook_victim, 0);
		assert_int_equal(scene_facts(&scene).ended, PLIM_IDLE_WINDOW);
		expect_nothing(&scene);
		scene_end(&scene);
	}
}

static pid_t reuse_fork(pid_t pid)
{
	pid_t child = ns_fork_as(pid);

	if (child == 0) {
		child_bind();
		for (;;)
			pause();
	}
	return child;
}

static pid_t reuse_pid;

static int act_replace(struct scene *scene, unsigned sleep)
{
	int status;

	(void)scene;
	if (sleep != 0)
		return 0;
	assert_int_equal(kill(reuse_pid, SIGKILL), 0);
	assert_int_equal(child_wait(reuse_pid, &status, 5000), 0);
	assert_int_equal(reuse_fork(reuse_pid), reuse_pid);
	return 0;
}

/* Its pid has another owner by the end of the window, of whom nothing is
 * told. */
static void replaced_body(void *user)
{
	struct scene scene;

	(void)user;
	for (int tree = 0; tree < 2; tree++) {
		scene_begin(&scene, NULL, act_replace);
		do
			reuse_pid = reuse_fork(ns_fresh_pid());
		while (reuse_pid < 0 && errno == EEXIST);
		assert_true(reuse_pid > 0);
		scene.target = open_target(scene.host, reuse_pid);
		scene.options.tree = tree;
		scene.options.threads = 1;
		scene_observe(&scene);
		assert_int_equal(scene_facts(&scene).ended, PLIM_IDLE_WINDOW);
		assert_int_equal(scene_facts(&scene).replaced, 1);
		assert_int_equal(scene_facts(&scene).samples, 1);
		assert_int_equal(
		    plim_idle_change(scene.idle, PLIM_FIELD_CPU).state,
		    PLIM_STATE_GONE);
		scene_end(&scene);
	}
}

static void test_replaced(void **state)
{
	(void)state;
	ns_run(NULL, replaced_body, NULL);
}

static int act_exec(struct scene *scene, unsigned sleep)
{
	if (sleep == 0) {
		spawn_send(&scene->spawn, "exec");
		spawn_await_ready(&scene->spawn);
	}
	return 0;
}

/* It executes another program: the phase is told, and it is still the same
 * process. */
static void test_executes(void **state)
{
	static const int phases[] = {PLIM_IDLE_WINDOW, PLIM_IDLE_QUIESCENCE};
	struct scene scene;
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s", spawn_path("idle"));
	for (int i = 0; i < 2; i++) {
		scene_begin(&scene,
			    (const char *const[]){"before-exec", path, NULL},
			    act_exec);
		if (phases[i] == PLIM_IDLE_QUIESCENCE)
			quiet_options(&scene);
		scene_observe(&scene);
		assert_int_equal(scene_facts(&scene).image_changed, phases[i]);
		assert_int_equal(scene_facts(&scene).ended, 0);
		assert_int_equal(scene_facts(&scene).samples, 2);
		/* What changed before is not told of the next window. */
		assert_int_equal(plim_idle_window(scene.idle, scene.target,
						  &scene.options, NULL),
				 PLIM_OK);
		scene_end(&scene);
	}
}

static unsigned stop_at;

static int act_stop(struct scene *scene, unsigned sleep)
{
	(void)scene;
	return sleep == stop_at;
}

/* Told to stop while it waits for quiet it takes one sample, in the window
 * one more. */
static void test_stopped(void **state)
{
	struct scene scene;
	uint64_t begin = child_monotonic_ns();

	(void)state;
	scene_begin(&scene, (const char *const[]){"idle", NULL}, act_stop);
	quiet_options(&scene);
	scene.options.quiet_for_ns = 60000 * MS;
	scene.options.quiet_limit_ns = 60000 * MS;
	scene.options.threads = 1;
	stop_at = 2;
	scene_observe(&scene);
	assert_int_equal(scene_facts(&scene).stopped, PLIM_IDLE_QUIESCENCE);
	assert_int_equal(scene_facts(&scene).quiet, 0);
	assert_int_equal(scene_facts(&scene).samples, 1);
	assert_int_equal(plim_idle_last(scene.idle, PLIM_FIELD_RESIDENT).state,
			 PLIM_STATE_KNOWN);
	assert_int_equal(plim_idle_change(scene.idle, PLIM_FIELD_CPU).state,
			 PLIM_STATE_PENDING);
	scene.options.quiet_cpu_percent = -1;
	scene.options.window_ns = 60000 * MS;
	scene.options.sample_ns = 50 * MS;
	scene.sleeps = 0;
	scene_observe(&scene);
	assert_int_equal(scene_facts(&scene).stopped, PLIM_IDLE_WINDOW);
	assert_int_equal(scene_facts(&scene).samples, 4);
	assert_int_equal(scene_change(&scene, PLIM_FIELD_CPU), 0);
	assert_true(scene_facts(&scene).interval.elapsed_ns < 30000 * MS);
	assert_true(child_monotonic_ns() - begin < 30000 * MS);
	scene_end(&scene);
}

/* A window without an end is slept through, not spun through. */
static void test_endless(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene, (const char *const[]){"idle", NULL}, act_stop);
	quiet_options(&scene);
	scene.options.window_ns = UINT64_MAX;
	scene.options.longest_period_ns = UINT64_MAX;
	scene.options.sample_ns = UINT64_MAX;
	scene.options.step_ns = UINT64_MAX;
	scene.options.quiet_limit_ns = 200 * MS;
	stop_at = 1;
	scene_observe(&scene);
	assert_int_equal(scene_facts(&scene).quiet, -1);
	assert_int_equal(scene_facts(&scene).stopped, PLIM_IDLE_WINDOW);
	assert_int_equal(scene_facts(&scene).window_ns, UINT64_C(1) << 62);
	assert_int_equal(scene_facts(&scene).samples, 2);
	assert_int_equal(scene.sleeps, 2);
	scene_end(&scene);
}

/* The two halves by themselves: one quiet, then window after window. */
static void test_halves(void **state)
{
	struct scene scene;
	plim_target *other;

	(void)state;
	scene_begin(&scene, (const char *const[]){"spin", NULL}, NULL);
	quiet_options(&scene);
	assert_int_equal(plim_idle_await_quiet(scene.idle, scene.target,
					       &scene.options, NULL),
			 PLIM_OK);
	assert_int_equal(scene_facts(&scene).quiet, 1);
	assert_int_equal(scene_facts(&scene).samples, 0);
	assert_int_equal(scene.samples, 0);
	for (int i = 0; i < 2; i++) {
		scene.act = act_load;
		scene.sleeps = 0;
		scene.options.window_ns = (uint64_t)(i + 1) * 50 * MS;
		assert_int_equal(plim_idle_window(scene.idle, scene.target,
						  &scene.options, NULL),
				 PLIM_OK);
		/* What was found out about quiet stays. */
		assert_int_equal(scene_facts(&scene).quiet, 1);
		assert_int_equal(scene_facts(&scene).samples, 2);
		assert_int_equal(scene_facts(&scene).window_ns,
				 scene.options.window_ns);
		assert_in_range(scene_change(&scene, PLIM_FIELD_CPU), 400 * MS,
				420 * MS);
	}
	/* But not of another process. */
	other = open_target(scene.host, getpid());
	scene.act = NULL;
	assert_int_equal(
	    plim_idle_window(scene.idle, other, &scene.options, NULL), PLIM_OK);
	assert_int_equal(scene_facts(&scene).quiet, 0);
	assert_int_equal(scene_facts(&scene).place, PLIM_IDLE_SELF);
	plim_target_close(other);
	scene_end(&scene);
}

/* Without pidfds the end is seen when the sleep is over. */
static void test_without_pidfd(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene, (const char *const[]){"idle", NULL}, act_end_first);
	plim_target_close(scene.target);
	plim_idle_free(scene.idle);
	plim_host_close(scene.host);
	scene.host = open_host(PLIM_HOST_NO_PIDFD);
	assert_int_equal(plim_idle_new(&scene.idle, scene.host, NULL), PLIM_OK);
	scene.target = open_target(scene.host, scene.spawn.pid);
	scene_observe(&scene);
	assert_int_equal(scene_facts(&scene).ended, PLIM_IDLE_WINDOW);
	assert_int_equal(scene_facts(&scene).samples, 1);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_quiet),
	    cmocka_unit_test(test_never_quiet),
	    cmocka_unit_test(test_ends_loading),
	    cmocka_unit_test(test_ends_in_window),
	    cmocka_unit_test(test_ends_after_samples),
	    cmocka_unit_test(test_ends_in_sample),
	    cmocka_unit_test(test_replaced),
	    cmocka_unit_test(test_executes),
	    cmocka_unit_test(test_stopped),
	    cmocka_unit_test(test_endless),
	    cmocka_unit_test(test_halves),
	    cmocka_unit_test(test_without_pidfd),
	};

	return cmocka_run_group_tests_name("idle_fate", tests, NULL, NULL);
}
