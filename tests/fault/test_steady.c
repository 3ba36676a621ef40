/*
 * test_steady.c - what is done again and again asks for no memory.
 *
 * The population stands still: a pid namespace of our own with processes of
 * one thread and of many, and a made-up proc root. After the first round, or
 * the second where two halves change places, a hundred more must not ask the
 * allocator once: snapshots of every kind, usages, a meter.
 */
#include "fault.h"

#include "fixture.h"
#include "ns.h"

#include <string.h>
#include <unistd.h>

#define STEADY_ROUNDS 100

struct steady {
	struct fault_memory memory;
	plim_host *host;
	plim_snapshot *snapshot;
	plim_usage *usage;
	plim_target *target;
	plim_meter *meter;
	plim_tree *tree;
	plim_forest *forest;
	plim_groups *groups;
	plim_watch *watch;
	plim_births *births;
	plim_threads *threads;
	plim_snapshot_options options;
	plim_field_set fields;
};

typedef void steady_round(struct steady *steady);

/* The first `warm` rounds may ask for memory, no other. */
static void steady_run(struct steady *steady, steady_round *round, int warm)
{
	size_t calls;

	for (int i = 0; i < warm; i++)
		round(steady);
	calls = steady->memory.calls;
	for (int i = 0; i < STEADY_ROUNDS; i++) {
		round(steady);
		assert_int_equal(steady->memory.calls, calls);
	}
}

static void steady_begin(struct steady *steady, const char *root)
{
	memset(steady, 0, sizeof(*steady));
	steady->host = fault_host(&steady->memory, root);
}

static void steady_end(struct steady *steady)
{
	plim_meter_free(steady->meter);
	plim_tree_free(steady->tree);
	plim_forest_free(steady->forest);
	plim_groups_free(steady->groups);
	plim_watch_free(steady->watch);
	plim_births_free(steady->births);
	plim_threads_free(steady->threads);
	plim_snapshot_free(steady->snapshot);
	plim_usage_free(steady->usage);
	plim_target_close(steady->target);
	plim_host_close(steady->host);
	assert_int_equal(steady->memory.live, 0);
}

static void round_self(struct steady *steady)
{
	measure_self(steady->usage);
}

static void round_basic(struct steady *steady)
{
	plim_field_set basic = plim_usage_basic();

	assert_int_equal(plim_usage_refresh_self(steady->usage, &basic, NULL),
			 PLIM_OK);
}

static void test_self(void **state)
{
	struct steady steady;

	(void)state;
	steady_begin(&steady, NULL);
	steady.usage = new_usage(steady.host);
	steady_run(&steady, round_basic, 0);
	steady_run(&steady, round_self, 0);
	steady_end(&steady);
}

static void round_other(struct steady *steady)
{
	measure(steady->usage, steady->target);
}

static void steady_other(const char *const *argv)
{
	struct steady steady;
	struct spawn spawn;

	spawn_start(&spawn, argv);
	steady_begin(&steady, NULL);
	steady.usage = new_usage(steady.host);
	steady.target = open_target(steady.host, spawn.pid);
	steady_run(&steady, round_other, 1);
	known(plim_usage_process(steady.usage), PLIM_FIELD_WAKEUPS);
	steady_end(&steady);
	spawn_end(&spawn);
}

static void test_other(void **state)
{
	(void)state;
	steady_other((const char *const[]){"idle", NULL});
	steady_other((const char *const[]){"threads", "300", NULL});
}

/* A usage that is filled by turns, by itself and by another process. */
static void round_mixed(struct steady *steady)
{
	measure_self(steady->usage);
	measure(steady->usage, steady->target);
	measure(steady->usage, steady->target);
}

static void test_mixed(void **state)
{
	struct steady steady;
	struct spawn spawn;

	(void)state;
	spawn_start(&spawn, (const char *const[]){"threads", "100", NULL});
	steady_begin(&steady, NULL);
	steady.usage = new_usage(steady.host);
	steady.target = open_target(steady.host, spawn.pid);
	steady_run(&steady, round_mixed, 1);
	steady_end(&steady);
	spawn_end(&spawn);
}

static void round_threads(struct steady *steady)
{
	plim_threads_options options = {.size = sizeof(options)};

	assert_int_equal(plim_threads_sample(steady->threads, steady->target,
					     &options, NULL),
			 PLIM_OK);
	options.parts = PLIM_THREAD_SWITCHES | PLIM_THREAD_TIMES;
	assert_int_equal(plim_threads_extend(steady->threads, steady->target,
					     &options, NULL),
			 PLIM_OK);
	assert_int_equal(plim_threads_changes(steady->threads),
			 steady->target != NULL ? 301 : 1);
}

/* Three sides take turns, two of them in a round. */
static void test_threads(void **state)
{
	struct steady steady;
	struct spawn spawn;

	(void)state;
	spawn_start(&spawn, (const char *const[]){"threads", "300", NULL});
	steady_begin(&steady, NULL);
	assert_int_equal(plim_threads_new(&steady.threads, steady.host, NULL),
			 PLIM_OK);
	steady_run(&steady, round_threads, 2);
	steady.target = open_target(steady.host, spawn.pid);
	steady_run(&steady, round_threads, 2);
	steady_end(&steady);
	spawn_end(&spawn);
}

static void round_watch(struct steady *steady)
{
	assert_int_equal(plim_watch_refresh(steady->watch, NULL), PLIM_OK);
}

static void test_watch(void **state)
{
	struct steady steady;

	(void)state;
	steady_begin(&steady, NULL);
	steady.snapshot = new_snapshot(steady.host);
	take(steady.snapshot);
	assert_int_equal(plim_watch_new(&steady.watch, steady.host, NULL),
			 PLIM_OK);
	assert_int_equal(plim_watch_follow(steady.watch, steady.snapshot, NULL),
			 PLIM_OK);
	steady_run(&steady, round_watch, 0);
	assert_true(plim_watch_cost(steady.watch).read > 1);
	steady_end(&steady);
}

static void round_births(struct steady *steady)
{
	plim_births_counts counts;

	assert_int_equal(plim_births_read(steady->births, &counts, NULL),
			 PLIM_OK);
	assert_int_equal(plim_births_mark(steady->births, NULL), PLIM_OK);
}

static void test_births(void **state)
{
	struct steady steady;

	(void)state;
	steady_begin(&steady, NULL);
	assert_int_equal(
	    plim_births_open(&steady.births, steady.host, NULL, NULL, NULL),
	    PLIM_OK);
	steady_run(&steady, round_births, 0);
	steady_end(&steady);
}

static void round_take(struct steady *steady)
{
	assert_int_equal(
	    plim_snapshot_take(steady->snapshot, &steady->options, NULL),
	    PLIM_OK);
}

/* All kinds of passes over the processes of a root. */
static void steady_passes(const char *root, size_t least)
{
	static const int presets[] = {PLIM_FIELDS_LIGHT, PLIM_FIELDS_FULL,
				      PLIM_FIELDS_ALL};
	struct steady steady;

	for (int kind = 0; kind < 12; kind++) {
		steady_begin(&steady, root);
		steady.snapshot = new_snapshot(steady.host);
		steady.fields = plim_field_set_preset(presets[kind % 3]);
		steady.options = (plim_snapshot_options){
		    .size = sizeof(steady.options),
		    .fields = &steady.fields,
		    .threads = kind / 3 % 2,
		    .strong_identity = kind / 6,
		};
		steady_run(&steady, round_take, 2);
		assert_true(plim_snapshot_size(steady.snapshot) >= least);
		steady_end(&steady);
	}
}

static void passes_in_namespace(void *user)
{
	struct spawn spawns[6];

	(void)user;
	for (int i = 0; i < 5; i++)
		spawn_start(&spawns[i], (const char *const[]){"idle", NULL});
	spawn_start(&spawns[5], (const char *const[]){"threads", "150", NULL});
	steady_passes(NULL, 7);
	for (int i = 0; i < 6; i++)
		spawn_end(&spawns[i]);
}

static void test_snapshot_live(void **state)
{
	(void)state;
	ns_run(NULL, passes_in_namespace, NULL);
}

static void test_snapshot_fixture(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_new(&fixture);
	fixture_host(&fixture, 1000);
	for (long pid = 100; pid < 140; pid++)
		fixture_process(&fixture, pid, "steady", 6);
	steady_passes(fixture.root, 40);
	fixture_free(&fixture);
}

static void round_tree(struct steady *steady)
{
	plim_tree_options options = {
	    .size = sizeof(options),
	    .threads = 1,
	    .sticky = 1,
	};

	assert_int_equal(
	    plim_tree_usage(steady->tree, steady->target, &options, NULL),
	    PLIM_OK);
	round_take(steady);
	assert_int_equal(
	    plim_forest_plant(steady->forest, steady->snapshot, NULL), PLIM_OK);
	assert_true(plim_forest_size(steady->forest) >= 8);
	assert_int_equal(plim_groups_fill(steady->groups, steady->snapshot,
					  PLIM_FIELD_CGROUP, NULL, NULL),
			 PLIM_OK);
	assert_true(plim_groups_size(steady->groups) >= 1);
}

/* Three sides take turns. */
static void tree_in_namespace(void *user)
{
	struct spawn spawns[7];
	plim_allocator allocator;
	struct steady steady;

	(void)user;
	for (int i = 0; i < 5; i++)
		spawn_start(&spawns[i], (const char *const[]){"idle", NULL});
	spawn_start(&spawns[5], (const char *const[]){"threads", "150", NULL});
	spawn_start(&spawns[6], (const char *const[]){"family", NULL});
	spawn_ask(&spawns[6], "nested 0");
	steady_begin(&steady, NULL);
	allocator = fault_allocator(&steady.memory);
	steady.options.size = sizeof(steady.options);
	steady.snapshot = new_snapshot(steady.host);
	steady.target = open_target(steady.host, getpid());
	assert_int_equal(plim_tree_new(&steady.tree, steady.host, NULL),
			 PLIM_OK);
	assert_int_equal(plim_forest_new(&steady.forest, &allocator, NULL),
			 PLIM_OK);
	assert_int_equal(plim_groups_new(&steady.groups, &allocator, NULL),
			 PLIM_OK);
	steady.fields = plim_field_set_preset(PLIM_FIELDS_LIGHT);
	plim_field_set_add(&steady.fields, PLIM_FIELD_CGROUP);
	steady.options.fields = &steady.fields;
	steady_run(&steady, round_tree, 3);
	assert_int_equal(plim_tree_size(steady.tree), 10);
	steady_end(&steady);
	for (int i = 0; i < 7; i++)
		spawn_end(&spawns[i]);
}

static void test_tree(void **state)
{
	(void)state;
	ns_run(NULL, tree_in_namespace, NULL);
}

/* The same keys each round, as of one population. */
static void round_meter(struct steady *steady)
{
	plim_meter_round(steady->meter, plim_host_now(steady->host));
	for (int32_t i = 1; i <= 1000; i++) {
		plim_identity key = {.pid = i};
		plim_real rate;

		assert_int_equal(
		    plim_meter_put(steady->meter, &key,
				   plim_count_known(1, PLIM_METHOD_STAT), &rate,
				   NULL),
		    PLIM_OK);
	}
}

static void test_meter(void **state)
{
	plim_allocator allocator;
	struct steady steady;

	(void)state;
	steady_begin(&steady, NULL);
	allocator = fault_allocator(&steady.memory);
	assert_int_equal(plim_meter_new(&steady.meter, &allocator, NULL),
			 PLIM_OK);
	steady_run(&steady, round_meter, 2);
	steady_end(&steady);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_self),
	    cmocka_unit_test(test_other),
	    cmocka_unit_test(test_mixed),
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_watch),
	    cmocka_unit_test(test_births),
	    cmocka_unit_test(test_snapshot_live),
	    cmocka_unit_test(test_snapshot_fixture),
	    cmocka_unit_test(test_tree),
	    cmocka_unit_test(test_meter),
	};

	return cmocka_run_group_tests_name("steady", tests, NULL, NULL);
}
