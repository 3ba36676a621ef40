/*
 * test_tree.c - trees of real processes: who is in, who was charged, and that
 * nothing is counted twice or lost. The truth comes from the workloads: their
 * own clocks, wait4(), and what they wrote.
 */
#include "tree.h"

#include "fixture.h"

#include <signal.h>
#include <stdio.h>
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

/* What another user may not read is missing, counted, and not zero. */
static void unreadable_body(void *user)
{
	struct tree *tree = user;
	plim_sum written;
	plim_sum cpu;

	child_become(65534);
	tree->host = open_host(0);
	tree->root = open_target(tree->host, tree->family.pid);
	assert_int_equal(plim_tree_new(&tree->tree, tree->host, NULL), PLIM_OK);
	tree_round(tree);
	tree_round(tree);
	assert_int_equal(plim_tree_size(tree->tree), 2);
	assert_int_equal(plim_tree_about(tree->tree).unreadable, 2);
	assert_int_equal(plim_tree_cost(tree->tree).refused >= 2, 1);
	written = plim_tree_sum(tree->tree, PLIM_FIELD_DISK_WRITE);
	assert_int_equal(written.known, 0);
	assert_int_equal(written.missing, 2);
	assert_int_equal(
	    plim_tree_total(tree->tree, PLIM_FIELD_DISK_WRITE).state,
	    PLIM_STATE_DENIED);
	assert_int_equal(
	    plim_tree_change(tree->tree, PLIM_FIELD_DISK_WRITE).state,
	    PLIM_STATE_DENIED);
	cpu = plim_tree_sum(tree->tree, PLIM_FIELD_CPU);
	assert_int_equal(cpu.known, 2);
	assert_int_equal(cpu.missing, 0);
	assert_int_equal(plim_tree_total(tree->tree, PLIM_FIELD_CPU).state,
			 PLIM_STATE_KNOWN);
	plim_tree_free(tree->tree);
	plim_target_close(tree->root);
	plim_host_close(tree->host);
}

static void test_unreadable(void **state)
{
	struct tree tree;

	(void)state;
	if (geteuid() != 0)
		SKIP_BECAUSE("only root can become another user");
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	tree_fork(&tree, "child 0");
	child_run(unreadable_body, &tree);
	tree_end(&tree);
}

/* With the fields that were asked for, and what the accounts need. */
static void test_fields(void **state)
{
	struct tree tree;
	const plim_process *process;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	tree.fields = (plim_field_set){{0}};
	plim_field_set_add(&tree.fields, PLIM_FIELD_RESIDENT);
	tree_round(&tree);
	process = plim_tree_at(tree.tree, 0)->process;
	known(process, PLIM_FIELD_RESIDENT);
	known(process, PLIM_FIELD_CPU);
	expect_state(process, PLIM_FIELD_DISK_WRITE, PLIM_STATE_SKIPPED);
	assert_int_equal(
	    plim_tree_total(tree.tree, PLIM_FIELD_DISK_WRITE).state,
	    PLIM_STATE_SKIPPED);
	assert_int_equal(plim_tree_total(tree.tree, 9999).state,
			 PLIM_STATE_UNSUPPORTED);
	tree_end(&tree);
}

/* Wake-ups of several threads where they are asked for; the change holds what
 * the newborn had in all. */
static void test_wakeups(void **state)
{
	struct tree tree;
	plim_count change;
	uint64_t child;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	tree_round(&tree);
	child = tree_fork(&tree, "child 0");
	tree_round(&tree);
	change = plim_tree_change(tree.tree, PLIM_FIELD_WAKEUPS);
	assert_int_equal(change.state, PLIM_STATE_KNOWN);
	assert_int_equal(change.bound, PLIM_BOUND_AT_LEAST);
	assert_int_equal(
	    change.value,
	    known(plim_tree_at(tree.tree, 1)->process, PLIM_FIELD_WAKEUPS) +
		plim_process_change(plim_tree_earlier(tree.tree, 0),
				    plim_tree_at(tree.tree, 0)->process,
				    PLIM_FIELD_WAKEUPS)
		    .value);
	change = plim_tree_total(tree.tree, PLIM_FIELD_WAKEUPS);
	assert_int_equal(change.bound, PLIM_BOUND_AT_LEAST);
	tree_kill(&tree, child);
	tree_round(&tree);
	assert_true(plim_tree_total(tree.tree, PLIM_FIELD_WAKEUPS).value >=
		    change.value);
	tree_end(&tree);
}

/* The same forest from a snapshot: every record once, and sums of a subtree. */
static void test_forest(void **state)
{
	struct tree tree;
	plim_snapshot *snapshot;
	plim_forest *forest = NULL;
	uint64_t inner;
	size_t at = 0;
	plim_sum sum;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	inner = tree_fork(&tree, "nested 0");
	snapshot = new_snapshot(tree.host);
	take(snapshot);
	assert_int_equal(plim_forest_new(&forest, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_forest_size(forest), 0);
	assert_int_equal(plim_forest_plant(forest, snapshot, NULL), PLIM_OK);
	assert_int_equal(plim_forest_size(forest),
			 plim_snapshot_size(snapshot));
	while (plim_process_pid(plim_forest_at(forest, at)->process) !=
	       tree.family.pid)
		at++;
	assert_int_equal(plim_forest_at(forest, at)->size, 3);
	assert_int_equal(
	    plim_process_pid(plim_forest_at(forest, at + 2)->process), inner);
	assert_int_equal(plim_forest_at(forest, at + 2)->depth,
			 plim_forest_at(forest, at)->depth + 2);
	sum = plim_forest_sum(forest, at, PLIM_FIELD_THREADS);
	assert_int_equal(plim_sum_total(&sum).value, 3);
	assert_int_equal(sum.known, 3);
	assert_null(plim_forest_at(forest, plim_forest_size(forest)));
	plim_forest_free(forest);
	plim_snapshot_free(snapshot);
	tree_end(&tree);
}

/* Another root: everything begins anew. */
static void test_another_root(void **state)
{
	struct tree tree;
	plim_target *self;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	self = open_target(tree.host, getpid());
	tree_round(&tree);
	tree_round(&tree);
	assert_int_equal(plim_tree_change(tree.tree, PLIM_FIELD_CPU).state,
			 PLIM_STATE_KNOWN);
	assert_int_equal(plim_tree_usage(tree.tree, self, &tree.options, NULL),
			 PLIM_OK);
	assert_int_equal(plim_tree_size(tree.tree), 2);
	assert_int_equal(plim_process_pid(plim_tree_at(tree.tree, 0)->process),
			 getpid());
	assert_int_equal(plim_tree_change(tree.tree, PLIM_FIELD_CPU).state,
			 PLIM_STATE_PENDING);
	assert_int_equal(plim_tree_about(tree.tree).ended, 0);
	plim_target_close(self);
	tree_end(&tree);
}

/* A recording whose processes claim each other in a circle, with figures that
 * overflow: every one once, and the root first. */
static void hostile_process(struct fixture *fixture, int pid, int parent)
{
	char path[64];
	char text[512];

	fixture_process(fixture, pid, "hostile", 7);
	snprintf(path, sizeof(path), "%d/stat", pid);
	snprintf(text, sizeof(text),
		 "%d (hostile) S %d %d %d 0 -1 4194304 1111 0 22 0 "
		 "9999999999999 9999999999999 9999999999999 9999999999999 20 0 "
		 "1 0 123456 10240000 100 18446744073709551615 1 1 0 0 0 0 0 0 "
		 "0 0 0 0 17 1 0 0 0 0 0 1 1 1 1000 1017 1 1 0\n",
		 pid, parent, pid, pid);
	fixture_text(fixture, path, text);
	snprintf(path, sizeof(path), "%d/io", pid);
	fixture_text(fixture, path,
		     "rchar: 1\nwchar: 2\nsyscr: 30\nsyscw: 40\n"
		     "read_bytes: 4096\nwrite_bytes: 18446744073709551615\n"
		     "cancelled_write_bytes: 0\n");
}

static void test_hostile(void **state)
{
	static const int pids[] = {11, 10, 13, 12};
	struct fixture fixture;
	struct tree tree = {0};
	plim_count written;

	(void)state;
	fixture_new(&fixture);
	fixture_host(&fixture, 0);
	hostile_process(&fixture, 10, 11);
	hostile_process(&fixture, 11, 12);
	hostile_process(&fixture, 12, 10);
	hostile_process(&fixture, 13, 10);
	hostile_process(&fixture, 14, 14);
	tree.host = open_root(fixture.root, 0);
	tree.root = open_target(tree.host, 11);
	assert_int_equal(plim_tree_new(&tree.tree, tree.host, NULL), PLIM_OK);
	tree.fields = plim_field_set_preset(PLIM_FIELDS_FULL);
	tree.options = (plim_tree_options){
	    .size = sizeof(tree.options),
	    .fields = &tree.fields,
	    .sticky = 1,
	};
	for (int round = 0; round < 3; round++) {
		tree_round(&tree);
		assert_int_equal(plim_tree_size(tree.tree), 4);
		tree_expect(&tree, 0, 11, PLIM_NO_PARENT, 0, 4, 0);
		tree_expect(&tree, 1, 10, 0, 1, 3, 0);
		tree_expect(&tree, 2, 12, 1, 2, 1, 0);
		tree_expect(&tree, 3, 13, 1, 2, 1, 0);
		written = plim_tree_total(tree.tree, PLIM_FIELD_DISK_WRITE);
		assert_true(written.value == UINT64_MAX);
		assert_int_equal(written.bound, PLIM_BOUND_AT_LEAST);
	}
	/* All but the root end, with more than a number holds. */
	for (int i = 1; i < 4; i++) {
		char from[300];
		char to[300];

		snprintf(from, sizeof(from), "%s/%d", fixture.root, pids[i]);
		snprintf(to, sizeof(to), "%s/gone%d", fixture.root, pids[i]);
		assert_int_equal(rename(from, to), 0);
	}
	tree_round(&tree);
	assert_int_equal(plim_tree_size(tree.tree), 1);
	assert_int_equal(plim_tree_about(tree.tree).ended, 3);
	assert_int_equal(
	    plim_tree_total(tree.tree, PLIM_FIELD_DISK_WRITE).bound,
	    PLIM_BOUND_AT_LEAST);
	plim_tree_free(tree.tree);
	plim_target_close(tree.root);
	plim_host_close(tree.host);
	fixture_free(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_members),
	    cmocka_unit_test(test_sum),
	    cmocka_unit_test(test_rounds),
	    cmocka_unit_test(test_root_ended),
	    cmocka_unit_test(test_unreadable),
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_wakeups),
	    cmocka_unit_test(test_forest),
	    cmocka_unit_test(test_another_root),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
