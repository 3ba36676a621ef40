/*
 * test_idle_tree.c - a quiet window of a tree: descendants that start, end and
 * are charged to their parents, who woke in which of them, and an observer who
 * is a descendant himself.
 */
#include "idle.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t family_child(struct spawn *spawn, const char *command)
{
	spawn_ask(spawn, command);
	return spawn_truth(spawn, "child");
}

static void family_end(struct spawn *spawn, uint64_t pid)
{
	char command[64];

	snprintf(command, sizeof(command), "end %llu", (unsigned long long)pid);
	spawn_ask(spawn, command);
	spawn_ask(spawn, "reap");
}

static uint64_t truth_ns;
static uint64_t stays_pid;
static uint64_t ends_pid;

/* One that stays burns 30 ms, one that was there before ends, and one comes,
 * burns 20 ms and goes. */
static int act_family(struct scene *scene, unsigned sleep)
{
	uint64_t pid;

	if (sleep != 0)
		return 0;
	stays_pid = family_child(&scene->spawn, "child 30");
	truth_ns = spawn_truth(&scene->spawn, "cpu_ns");
	pid = family_child(&scene->spawn, "child 20");
	truth_ns += spawn_truth(&scene->spawn, "cpu_ns");
	family_end(&scene->spawn, pid);
	family_end(&scene->spawn, ends_pid);
	return 0;
}

static void test_members(void **state)
{
	struct scene scene;
	plim_idle_facts facts;
	plim_threads_facts threads;
	int found = 0;

	(void)state;
	scene_begin(&scene, (const char *const[]){"family", NULL}, act_family);
	scene.options.tree = 1;
	scene.options.threads = 1;
	ends_pid = family_child(&scene.spawn, "child 5");
	scene_observe(&scene);
	facts = scene_facts(&scene);
	assert_int_equal(facts.members, 2);
	assert_int_equal(facts.members_born, 1);
	assert_int_equal(facts.members_ended, 1);
	/* Children-time comes in ticks of 10 ms, and the family itself has
	 * forked. */
	assert_in_range(scene_change(&scene, PLIM_FIELD_CPU),
			truth_ns - 20 * MS, truth_ns + 20 * MS);
	threads = plim_idle_thread_facts(scene.idle);
	assert_int_equal(threads.first, 2);
	assert_int_equal(threads.last, 2);
	assert_int_equal(threads.born, 1);
	assert_int_equal(threads.exited, 1);
	assert_true(threads.live_total_change.state == PLIM_STATE_KNOWN);
	assert_true((double)threads.listed_wakeups.value -
			(double)threads.exited_wakeups_at_start.value ==
		    threads.live_total_change.value);
	assert_int_equal(plim_idle_thread_count(scene.idle), 2);
	for (size_t i = 0; i < 2; i++) {
		plim_idle_thread thread = plim_idle_thread_at(scene.idle, i);

		if ((uint64_t)thread.pid != stays_pid)
			continue;
		found = 1;
		assert_int_equal(thread.change.born, 1);
		assert_true(thread.change.cpu_ns.value >= 30 * MS);
		assert_int_equal(thread.change.wakeups.value,
				 proc_number(thread.pid, "status",
					     "voluntary_ctxt_switches"));
	}
	assert_true(found);
	scene_end(&scene);
}

/* Short-lived children load a tree in which nobody is ever seen at work. */
static int act_flashes(struct scene *scene, unsigned sleep)
{
	(void)sleep;
	if (scene->last.phase == PLIM_IDLE_WINDOW)
		return 0;
	family_end(&scene->spawn, family_child(&scene->spawn, "child 60"));
	return 0;
}

static void quiet_options(struct scene *scene)
{
	scene->options.tree = 1;
	scene->options.quiet_cpu_percent = 10;
	scene->options.step_ns = 100 * MS;
	scene->options.quiet_for_ns = 1500 * MS;
	scene->options.quiet_limit_ns = 3000 * MS;
}

static void test_flashes(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene, (const char *const[]){"family", NULL}, act_flashes);
	quiet_options(&scene);
	scene_observe(&scene);
	assert_int_equal(scene_facts(&scene).quiet, -1);
	assert_true(scene_facts(&scene).busiest_step.value > 10);
	scene_end(&scene);
}

/* A descendant that starts while quiet is awaited is noticed. */
static int act_newcomer(struct scene *scene, unsigned sleep)
{
	if (sleep == 8) {
		spawn_ask(&scene->spawn, "child 300");
		truth_ns = child_monotonic_ns();
	}
	return 0;
}

static void test_newcomer(void **state)
{
	struct scene scene;
	uint64_t begin = child_monotonic_ns();
	plim_idle_facts facts;

	(void)state;
	scene_begin(&scene, (const char *const[]){"family", NULL},
		    act_newcomer);
	quiet_options(&scene);
	scene.options.quiet_limit_ns = 20000 * MS;
	scene_observe(&scene);
	facts = scene_facts(&scene);
	assert_int_equal(facts.quiet, 1);
	assert_true(begin + facts.quiet_after_ns >= truth_ns + 1400 * MS);
	assert_int_equal(facts.members, 2);
	scene_end(&scene);
}

/* It is its parent's child, burns, wakes and observes it: it is left out. */
static int act_below(struct scene *scene, unsigned sleep)
{
	struct timespec time;
	uint64_t begin;
	uint64_t now;

	(void)scene;
	if (sleep != 0)
		return 0;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	begin = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	do {
		usleep(100);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
		now = (uint64_t)time.tv_sec * 1000000000u +
		      (uint64_t)time.tv_nsec;
		for (volatile int i = 0; i < 100000; i++)
			;
	} while (now - begin < 60 * MS);
	return 0;
}

#define BELOW_KEY "voluntary_ctxt_switches"

static void below_body(void *user)
{
	struct scene scene;
	plim_idle_facts facts;
	pid_t root = *(pid_t *)user;
	uint64_t before = proc_number(root, "status", BELOW_KEY);

	scene_begin(&scene, NULL, act_below);
	scene.target = open_target(scene.host, root);
	scene.options.tree = 1;
	scene.options.threads = 1;
	scene_observe(&scene);
	facts = scene_facts(&scene);
	assert_int_equal(facts.place, PLIM_IDLE_BELOW);
	assert_int_equal(facts.samples, 2);
	assert_true(facts.own_cpu_ns.value >= 60 * MS);
	assert_true(facts.own_wakeups.value > 10);
	assert_true(scene_change(&scene, PLIM_FIELD_CPU) < 10 * MS);
	/* The root waits for us, a look at a time. */
	assert_true(scene_change(&scene, PLIM_FIELD_WAKEUPS) <=
		    proc_number(root, "status", BELOW_KEY) - before);
	assert_int_equal(facts.members,
			 plim_tree_size(plim_idle_tree(scene.idle)) - 1);
	for (size_t i = 0; i < plim_idle_thread_count(scene.idle); i++)
		assert_int_not_equal(plim_idle_thread_at(scene.idle, i).pid,
				     getpid());
	scene_end(&scene);
}

static void test_below(void **state)
{
	pid_t root = getpid();

	(void)state;
	child_run(below_body, &root);
}

/* Quiet is awaited at the price of a clock for each member and look, and of a
 * round at its beginning and its end. */
static void test_price(void **state)
{
	struct scene scene;
	plim_cost cost;
	uint32_t rounds;

	(void)state;
	scene_begin(&scene, (const char *const[]){"family", NULL}, NULL);
	for (int i = 0; i < 9; i++)
		family_child(&scene.spawn, "child 0");
	quiet_options(&scene);
	scene.options.step_ns = 50 * MS;
	scene.options.quiet_for_ns = 900 * MS;
	assert_int_equal(plim_idle_await_quiet(scene.idle, scene.target,
					       &scene.options, NULL),
			 PLIM_OK);
	assert_int_equal(scene_facts(&scene).quiet, 1);
	cost = plim_idle_cost(scene.idle);
	assert_int_equal(cost.cpu_ns.state, PLIM_STATE_KNOWN);
	assert_true(cost.system_calls > 0);
	rounds = (cost.read - (scene.looks + 1) * 10) / 10;
	assert_in_range(rounds, 2, 3);
	assert_int_equal(cost.read, (scene.looks + 1 + rounds) * 10);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members),  cmocka_unit_test(test_flashes),
	    cmocka_unit_test(test_newcomer), cmocka_unit_test(test_below),
	    cmocka_unit_test(test_price),
	};

	return cmocka_run_group_tests_name("idle_tree", tests, NULL, NULL);
}
