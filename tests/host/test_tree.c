/*
 * test_tree.c - trees of real processes: who is in, who was charged, and that
 * nothing is counted twice or lost. The truth comes from the workloads: their
 * own clocks, wait4(), and what they wrote.
 */
#include "tree.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The root, a child, and a grandchild below another child, in preorder. */
static void test_members(void **state)
{
	struct tree tree;
	uint64_t child;
	uint64_t middle;
	uint64_t inner;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	child = tree_fork(&tree, "child 0");
	inner = tree_fork(&tree, "nested 0");
	middle = spawn_truth(&tree.family, "parent");
	tree_round(&tree);
	assert_int_equal(plim_tree_size(tree.tree), 4);
	tree_expect(&tree, 0, tree.family.pid, PLIM_NO_PARENT, 0, 4, 0);
	tree_expect(&tree, 1, (pid_t)child, 0, 1, 1, 0);
	tree_expect(&tree, 2, (pid_t)middle, 0, 1, 2, 0);
	tree_expect(&tree, 3, (pid_t)inner, 2, 2, 1, 0);
	assert_null(plim_tree_at(tree.tree, 4));
	assert_null(plim_tree_earlier(tree.tree, 0));
	assert_int_equal(plim_tree_about(tree.tree).members, 4);
	assert_int_equal(plim_tree_about(tree.tree).born, 0);
	tree_end(&tree);
}

/* A sum is that of the members' records, and says how many there are. */
static void test_sum(void **state)
{
	struct tree tree;
	uint64_t resident = 0;
	plim_sum sum;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	tree_fork(&tree, "child 0");
	tree_fork(&tree, "nested 0");
	tree_round(&tree);
	for (size_t i = 0; i < 4; i++)
		resident += known(plim_tree_at(tree.tree, i)->process,
				  PLIM_FIELD_RESIDENT);
	sum = plim_tree_sum(tree.tree, PLIM_FIELD_RESIDENT);
	assert_int_equal(sum.known, 4);
	assert_int_equal(sum.missing, 0);
	assert_int_equal(plim_sum_total(&sum).value, resident);
	assert_int_equal(plim_tree_total(tree.tree, PLIM_FIELD_RESIDENT).value,
			 resident);
	assert_int_equal(plim_tree_change(tree.tree, PLIM_FIELD_RESIDENT).state,
			 PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(plim_tree_change(tree.tree, PLIM_FIELD_CPU).state,
			 PLIM_STATE_PENDING);
	assert_int_equal(plim_tree_rate(tree.tree, PLIM_FIELD_CPU).state,
			 PLIM_STATE_PENDING);
	tree_end(&tree);
}

/* Born, stayed, ended; and the same record one round before. */
static void test_rounds(void **state)
{
	struct tree tree;
	uint64_t first;
	uint64_t second;
	plim_interval interval;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	first = tree_fork(&tree, "child 0");
	tree_round(&tree);
	assert_int_equal(plim_tree_interval(tree.tree, &interval, NULL),
			 PLIM_ECANNOTTELL);
	second = tree_fork(&tree, "child 0");
	tree_kill(&tree, first);
	tree_round(&tree);
	assert_int_equal(plim_tree_size(tree.tree), 2);
	tree_expect(&tree, 1, (pid_t)second, 0, 1, 1, PLIM_BRANCH_BORN);
	assert_null(plim_tree_earlier(tree.tree, 1));
	assert_int_equal(plim_process_pid(plim_tree_earlier(tree.tree, 0)),
			 tree.family.pid);
	assert_int_equal(plim_tree_about(tree.tree).born, 1);
	assert_int_equal(plim_tree_about(tree.tree).ended, 1);
	assert_int_equal(plim_tree_interval(tree.tree, &interval, NULL),
			 PLIM_OK);
	assert_true(interval.elapsed_ns > 20000000u);
	tree_round(&tree);
	tree_expect(&tree, 1, (pid_t)second, 0, 1, 1, 0);
	assert_int_equal(plim_tree_about(tree.tree).ended, 0);
	tree_end(&tree);
}

/* The root has ended: no members, and that is no failure. */
static void test_root_ended(void **state)
{
	struct tree tree;
	plim_error error;
	int status;

	(void)state;
	memset(&error, 0x5a, sizeof(error));
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	tree_round(&tree);
	assert_int_equal(plim_tree_size(tree.tree), 1);
	kill(tree.family.pid, SIGKILL);
	assert_int_equal(waitpid(tree.family.pid, &status, 0), tree.family.pid);
	assert_int_equal(
	    plim_tree_usage(tree.tree, tree.root, &tree.options, &error),
	    PLIM_OK);
	assert_int_equal(error.code, 0x5a5a5a5a);
	assert_int_equal(plim_tree_size(tree.tree), 0);
	assert_int_equal(plim_tree_about(tree.tree).ended, 1);
	assert_int_equal(plim_tree_sum(tree.tree, PLIM_FIELD_CPU).known, 0);
	tree_end(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_sum),
	    cmocka_unit_test(test_rounds),
	    cmocka_unit_test(test_root_ended),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
