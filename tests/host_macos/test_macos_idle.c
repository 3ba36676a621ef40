/*
 * test_macos_idle.c - a quiet window of a process, and of a tree, on a made-up
 * Mac, whose time goes by when the observer sleeps. What the process does
 * meanwhile is known, so are its rates.
 */
#include "fake.h"

#include <plimsoll/idle.h>
#include <plimsoll/tree.h>

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#define SECOND UINT64_C(24000000) /* Mach ticks */

static plim_host *host;
static plim_target *target;
static plim_idle *idle;
static struct fake_thread worker = {.id = 4000, .state = 3, .name = "worker"};
static uint64_t began;

/* 10 wake-ups a second, 1 % of a core, 4096 bytes a second to the disk. */
static void lives(void)
{
	uint64_t ticks = fake.absolute - began;
	size_t i;

	for (i = 0; i < fake.count; i++) {
		struct fake_process *one = &fake.processes[i];

		if (one->pid < 200)
			continue;
		one->rusage.interrupt_wakeups = ticks * 10 / SECOND;
		one->rusage.package_idle_wakeups = 3;
		one->rusage.user_ticks = ticks / 100;
		one->rusage.disk_written = ticks * 4096 / SECOND;
	}
	worker.user_ns = ticks / 3 * 125 / 100;
}

static int set_up(void **state)
{
	(void)state;
	fake_reset();
	began = fake.absolute;
	fake_add(200, 1, "quiet")->threads = &worker;
	fake_find(200)->thread_count = 1;
	fake.asleep = lives;
	return plim_host_open(&host, NULL, NULL) ||
	       plim_target_open(&target, host, 200, NULL) ||
	       plim_idle_new(&idle, host, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	plim_idle_free(idle);
	plim_target_close(target);
	plim_host_close(host);
	return 0;
}

static void near(plim_real rate, double expected)
{
	assert_int_equal(rate.state, PLIM_STATE_KNOWN);
	assert_true(fabs(rate.value - expected) <= expected / 50);
}

static void observe(int tree, int threads)
{
	plim_idle_options options = {
	    .size = sizeof options,
	    .window_ns = UINT64_C(10000000000),
	    .tree = tree,
	    .threads = threads,
	};
	plim_error error;

	assert_int_equal(plim_idle_observe(idle, target, &options, &error),
			 PLIM_OK);
}

static void test_process(void **state)
{
	plim_idle_facts facts;
	plim_count wakeups;

	(void)state;
	observe(0, 1);
	facts = plim_idle_about(idle);
	assert_int_equal(facts.quiet, 1);
	assert_int_equal(facts.ended, 0);
	assert_int_equal(facts.samples, 2);
	assert_int_equal(facts.interval.suspended_ns, 0);
	assert_int_equal(facts.own_wakeups.state, PLIM_STATE_UNSUPPORTED);
	near(plim_idle_rate(idle, PLIM_FIELD_WAKEUPS), 10);
	near(plim_idle_rate(idle, PLIM_FIELD_DISK_WRITE), 4096);
	near(plim_idle_cpu_percent(idle), 1);
	wakeups = plim_idle_change(idle, PLIM_FIELD_WAKEUPS);
	assert_int_equal(wakeups.method, PLIM_METHOD_MAC_WAKEUPS);
	assert_int_equal(wakeups.bound, PLIM_BOUND_EXACT);
	assert_int_equal(plim_idle_rate(idle, PLIM_FIELD_INVOLUNTARY).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_idle_rate(idle, PLIM_FIELD_DISK_OPS).state,
			 PLIM_STATE_UNSUPPORTED);
	/* Who woke cannot be told: the count does not decompose. */
	assert_int_equal(plim_idle_thread_count(idle), 1);
	assert_int_equal(plim_idle_thread_at(idle, 0).change.wakeups.state,
			 PLIM_STATE_UNSUPPORTED);
	near(plim_real_of(plim_idle_thread_at(idle, 0).change.cpu_ns), 1e8);
}

/* The machine sleeps in the window: told, and in no rate. */
static void sleeps(void)
{
	lives();
	fake.continuous += 1;
	if (fake.continuous - fake.absolute < SECOND * 560)
		fake.continuous += SECOND;
}

static void test_suspended(void **state)
{
	plim_idle_facts facts;

	(void)state;
	fake.asleep = sleeps;
	observe(0, 0);
	facts = plim_idle_about(idle);
	assert_true(facts.interval.suspended_ns > 0);
	near(plim_idle_rate(idle, PLIM_FIELD_WAKEUPS), 10);
}

static void test_tree(void **state)
{
	(void)state;
	fake_add(201, 200, "child");
	fake_add(202, 201, "grandchild");
	fake_add(203, 1, "stranger");
	observe(1, 0);
	assert_int_equal(plim_idle_about(idle).members, 3);
	near(plim_idle_rate(idle, PLIM_FIELD_WAKEUPS), 30);
	near(plim_idle_cpu_percent(idle), 3);
}

static void ends(void)
{
	lives();
	if (fake.absolute - began > 12 * SECOND && fake_find(200) != NULL)
		fake_remove(200);
}

static void test_ended(void **state)
{
	(void)state;
	fake.asleep = ends;
	observe(0, 0);
	assert_int_equal(plim_idle_about(idle).ended, PLIM_IDLE_WINDOW);
	assert_int_equal(plim_idle_rate(idle, PLIM_FIELD_WAKEUPS).state ==
			     PLIM_STATE_KNOWN,
			 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
	    TEST(test_process),
	    TEST(test_suspended),
	    TEST(test_tree),
	    TEST(test_ended),
	};

	return cmocka_run_group_tests_name("macos_idle", tests, NULL, NULL);
}
