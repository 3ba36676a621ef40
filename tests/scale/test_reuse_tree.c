/*
 * test_reuse_tree.c - the storm of reused pids (reuse.h) as a tree: every
 * member is a generation of the driver's, and the CPU time of the tree is in
 * the end what the driver was charged for.
 */
#include "reuse.h"

#include <inttypes.h>
#include <stdio.h>

/* The members are the driver and generations, each in its own place. */
static void storm_members(plim_tree *tree)
{
	for (size_t i = 0; i < plim_tree_size(tree); i++) {
		const plim_branch *branch = plim_tree_at(tree, i);
		uint32_t number;

		if (i == 0) {
			assert_int_equal(plim_process_pid(branch->process),
					 reuse.log->driver);
			continue;
		}
		assert_int_equal(branch->parent, 0);
		number = reuse_who(branch->process);
		if (number == REUSE_NOBODY)
			reuse_fail(branch->process, number, "no member");
		reuse_figures(branch->process, number);
		reuse.records++;
	}
}

static uint64_t storm_tree_round(plim_tree *tree, plim_target *root,
				 uint64_t before)
{
	plim_tree_options options = {
	    .size = sizeof(options),
	    .sticky = 1,
	};
	plim_count total;

	reuse.round++;
	reuse.begin[0] = reuse.begin[1];
	reuse.begin[1] = child_monotonic_ns();
	assert_int_equal(plim_tree_usage(tree, root, &options, NULL), PLIM_OK);
	reuse.end = child_monotonic_ns();
	reuse_settled();
	storm_members(tree);
	total = plim_tree_total(tree, PLIM_FIELD_CPU);
	assert_int_equal(total.state, PLIM_STATE_KNOWN);
	assert_true(total.value >= before);
	reuse.ended += plim_tree_about(tree).ended;
	reuse.started += plim_tree_about(tree).born;
	return total.value;
}

/* The storm as a tree: its members, and in the end what wait4() has charged
 * for tens of times as many as ever live. */
static void storm_tree_body(void *user)
{
	plim_host *host = open_host(0);
	plim_target *root;
	plim_tree *tree = NULL;
	uint64_t begin;
	uint64_t total = 0;
	uint64_t truth;

	(void)user;
	reuse_start();
	root = open_target(host, reuse.driver.pid);
	assert_int_equal(plim_tree_new(&tree, host, NULL), PLIM_OK);
	begin = child_monotonic_ns();
	while (!reuse_is_over(begin))
		total = storm_tree_round(tree, root, total);
	spawn_ask(&reuse.driver, "stop");
	spawn_ask(&reuse.driver, "end");
	truth = spawn_truth(&reuse.driver, "cpu_ns");
	total = storm_tree_round(tree, root, total);
	assert_int_equal(plim_tree_size(tree), 1);
	snprintf(reuse.told, REUSE_TOLD,
		 "%u rounds, %" PRIu64 " members read, %" PRIu64
		 " ended, %" PRIu64 " born, %u kept: %" PRIu64
		 " ns of CPU, truth %" PRIu64 " (%+.2f %%)",
		 reuse.round, reuse.records, reuse.ended, reuse.started,
		 plim_tree_about(tree).kept, total, truth,
		 100.0 * ((double)total - (double)truth) / (double)truth);
	expect_near(total, truth, 3, 40000000);
	assert_true(reuse.ended > REUSE_EVENTS);
	assert_true(reuse.started > REUSE_EVENTS);
	spawn_finish(&reuse.driver);
	plim_tree_free(tree);
	plim_target_close(root);
	plim_host_close(host);
}

static void test_tree(void **state)
{
	(void)state;
	reuse_run(storm_tree_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tree),
	};

	return cmocka_run_group_tests_name("a tree of reused pids", tests, NULL,
					   NULL);
}
