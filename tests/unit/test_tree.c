/*
 * test_tree.c - a tree before its first round, and calls that are mistakes; on
 * any host, also on one that reads no processes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include <string.h>

static plim_host *host;
static plim_tree *tree;

static int tree_setup(void **state)
{
	(void)state;
	assert_int_equal(plim_host_open(&host, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_tree_new(&tree, host, NULL), PLIM_OK);
	return 0;
}

static int tree_teardown(void **state)
{
	(void)state;
	plim_tree_free(tree);
	plim_host_close(host);
	return 0;
}

static void test_before(void **state)
{
	plim_tree_facts facts = plim_tree_about(tree);
	plim_interval interval = {7, 7, {7, 7}};

	(void)state;
	assert_int_equal(plim_tree_size(tree), 0);
	assert_null(plim_tree_at(tree, 0));
	assert_null(plim_tree_earlier(tree, 0));
	assert_int_equal(facts.members + facts.kept + facts.ended, 0);
	assert_int_equal(plim_tree_sum(tree, PLIM_FIELD_CPU).known, 0);
	assert_int_equal(plim_tree_total(tree, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_tree_change(tree, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_tree_rate(tree, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_tree_cpu_percent(tree).state, PLIM_STATE_UNREAD);
	assert_int_equal(plim_tree_total(tree, PLIM_FIELD_NAME).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_tree_total(tree, 9999).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_tree_interval(tree, &interval, NULL),
			 PLIM_ECANNOTTELL);
	assert_int_equal(interval.elapsed_ns, 7);
	assert_int_equal(plim_tree_cost(tree).system_calls, 0);
}

static void test_mistakes(void **state)
{
	plim_tree *made = NULL;
	plim_error error = {0};

	(void)state;
	assert_int_equal(plim_tree_new(NULL, host, NULL), PLIM_EINVAL);
	assert_int_equal(plim_tree_new(&made, NULL, &error), PLIM_EINVAL);
	assert_int_equal(error.code, PLIM_EINVAL);
	assert_null(made);
	assert_int_equal(plim_tree_usage(tree, NULL, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_tree_usage(NULL, NULL, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_forest_new(NULL, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_forest_plant(NULL, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_groups_new(NULL, NULL, NULL), PLIM_EINVAL);
	plim_tree_free(NULL);
	plim_forest_free(NULL);
	plim_groups_free(NULL);
}

/* Where processes are read, one's own tree; else the call says so. */
static void test_self(void **state)
{
	plim_count own = plim_host_count(host, PLIM_HOST_OWN_PID);
	plim_target *target = NULL;
	plim_tree_options options = {.size = 1};

	(void)state;
	if (own.state != PLIM_STATE_KNOWN) {
		assert_int_equal(plim_target_open(&target, host, 1, NULL),
				 PLIM_EUNSUPPORTED);
		return;
	}
	assert_int_equal(
	    plim_target_open(&target, host, (int32_t)own.value, NULL), PLIM_OK);
	assert_int_equal(plim_tree_usage(tree, target, &options, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_tree_size(tree), 0);
	assert_int_equal(plim_tree_usage(tree, target, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_tree_size(tree), 1);
	plim_target_close(target);
}

int main(void)
{
#define TREE(test) \
	cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)
	const struct CMUnitTest tests[] = {
	    TREE(test_before),
	    TREE(test_mistakes),
	    TREE(test_self),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
