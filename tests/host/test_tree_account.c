/*
 * test_tree_account.c - what a tree of real processes has used, against what
 * wait4() says and what was written: nothing twice, nothing lost.
 */
#include "tree.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS	 UINT64_C(1000000)
#define TWO_TICK (20 * MS)

static uint64_t total(const struct tree *tree, int field)
{
	plim_count figure = plim_tree_total(tree->tree, field);

	assert_int_equal(figure.state, PLIM_STATE_KNOWN);
	return figure.value;
}

static int bound(const struct tree *tree, int field)
{
	return plim_tree_total(tree->tree, field).bound;
}

/* The clock of the workload itself. */
static uint64_t own(struct tree *tree)
{
	spawn_ask(&tree->family, "truth");
	return spawn_truth(&tree->family, "cpu_ns");
}

static uint64_t waited(struct tree *tree)
{
	spawn_ask(&tree->family, "reap");
	return spawn_truth(&tree->family, "waited_ns");
}

/* `got` is no more than `truth`, and no more below it than `slack`. The
 * workload itself burns a little between its answer and our reading. */
static void expect_total(uint64_t got, uint64_t truth, uint64_t slack)
{
	if (got > truth + 3 * MS || got + slack < truth)
		fail_msg("%llu, the truth is %llu", (unsigned long long)got,
			 (unsigned long long)truth);
}

/* A child's time moves into its parent's children-time, and is counted once
 * before, in between and after. */
static void test_reaped(void **state)
{
	struct tree tree;
	uint64_t child;
	uint64_t cpu;
	uint64_t before;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	tree_round(&tree);
	child = tree_fork(&tree, "child 300");
	cpu = spawn_truth(&tree.family, "cpu_ns");
	tree_round(&tree);
	before = total(&tree, PLIM_FIELD_CPU);
	expect_total(before, own(&tree) + cpu, 3 * MS);
	expect_total(plim_tree_change(tree.tree, PLIM_FIELD_CPU).value, cpu, 0);
	assert_int_equal(bound(&tree, PLIM_FIELD_CPU), PLIM_BOUND_EXACT);
	/* A zombie still stands for itself. */
	kill((pid_t)child, SIGKILL);
	child_sleep_ms(20);
	tree_round(&tree);
	assert_int_equal(plim_tree_size(tree.tree), 2);
	assert_true(total(&tree, PLIM_FIELD_CPU) >= before);
	cpu = waited(&tree);
	tree_round(&tree);
	assert_int_equal(plim_tree_size(tree.tree), 1);
	assert_true(total(&tree, PLIM_FIELD_CPU) >= before);
	expect_total(total(&tree, PLIM_FIELD_CPU), own(&tree) + cpu, TWO_TICK);
	assert_int_equal(plim_tree_about(tree.tree).kept, 0);
	tree_end(&tree);
}

/* In front of the first round: what was reaped long ago is in the total. */
static void test_reaped_before(void **state)
{
	struct tree tree;
	uint64_t cpu;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	tree_kill(&tree, tree_fork(&tree, "child 200"));
	cpu = spawn_truth(&tree.family, "waited_ns");
	tree_round(&tree);
	expect_total(total(&tree, PLIM_FIELD_CPU), own(&tree) + cpu, TWO_TICK);
	tree_end(&tree);
}

/* Loses its parent, then ends. To whom it is given and who reaps it is the
 * caller's; the test's process adopts whom nobody below it adopts. */
static uint64_t orphan(struct tree *tree, uint64_t *cpu)
{
	uint64_t inner = tree_fork(tree, "nested 300");
	uint64_t middle = spawn_truth(&tree->family, "parent");

	*cpu = spawn_truth(&tree->family, "cpu_ns");
	tree_round(tree);
	assert_int_equal(plim_tree_size(tree->tree), 3);
	tree_kill(tree, middle);
	tree_round(tree);
	return inner;
}

static void end_orphan(uint64_t pid)
{
	int status;

	assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
	assert_int_equal(waitpid((pid_t)pid, &status, 0), (pid_t)pid);
}

static void test_sticky(void **state)
{
	struct tree tree;
	uint64_t before;
	uint64_t inner;
	uint64_t cpu;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	tree_begin(&tree, (const char *const[]){"family", NULL}, 1);
	tree_round(&tree);
	inner = orphan(&tree, &cpu);
	assert_int_equal(plim_tree_size(tree.tree), 2);
	tree_expect(&tree, 1, (pid_t)inner, PLIM_NO_PARENT, 0, 1,
		    PLIM_BRANCH_REPARENTED);
	assert_int_equal(plim_tree_about(tree.tree).reparented, 1);
	before = total(&tree, PLIM_FIELD_CPU);
	expect_total(before, own(&tree) + cpu, TWO_TICK);
	end_orphan(inner);
	tree_round(&tree);
	assert_int_equal(plim_tree_size(tree.tree), 1);
	assert_int_equal(plim_tree_about(tree.tree).kept, 1);
	assert_true(total(&tree, PLIM_FIELD_CPU) >= before);
	expect_total(total(&tree, PLIM_FIELD_CPU), own(&tree) + cpu, TWO_TICK);
	assert_int_equal(bound(&tree, PLIM_FIELD_CPU), PLIM_BOUND_AT_LEAST);
	tree_end(&tree);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* Not sticky: it is a member no more; what it had used is the tree's. */
static void test_left(void **state)
{
	struct tree tree;
	uint64_t inner;
	uint64_t cpu;

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	inner = orphan(&tree, &cpu);
	assert_int_equal(plim_tree_size(tree.tree), 1);
	assert_int_equal(plim_tree_about(tree.tree).ended, 1);
	expect_total(total(&tree, PLIM_FIELD_CPU), own(&tree) + cpu, TWO_TICK);
	assert_int_equal(bound(&tree, PLIM_FIELD_CPU), PLIM_BOUND_AT_LEAST);
	end_orphan(inner);
	tree_end(&tree);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

/* The root adopts: it stays below the root, and the root is charged. */
static void test_subreaper(void **state)
{
	struct tree tree;
	uint64_t inner;
	uint64_t cpu;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 1);
	spawn_ask(&tree.family, "subreaper");
	inner = orphan(&tree, &cpu);
	tree_expect(&tree, 1, (pid_t)inner, 0, 1, 1, 0);
	tree_kill(&tree, inner);
	cpu = spawn_truth(&tree.family, "waited_ns");
	assert_true(cpu > 290 * MS);
	for (int i = 0; i < 2; i++) {
		tree_round(&tree);
		assert_int_equal(plim_tree_size(tree.tree), 1);
		assert_int_equal(plim_tree_about(tree.tree).kept, 0);
		expect_total(total(&tree, PLIM_FIELD_CPU), own(&tree) + cpu,
			     TWO_TICK);
	}
	tree_end(&tree);
}

/* Nobody is charged for a child of one that ignores SIGCHLD, or that set
 * SA_NOCLDWAIT, which cannot be seen: what was last known is kept. */
static void unseen_end(const char *how, uint32_t ignoring)
{
	struct tree tree;
	uint64_t child;
	uint64_t cpu;

	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	spawn_ask(&tree.family, how);
	child = tree_fork(&tree, "child 300");
	cpu = spawn_truth(&tree.family, "cpu_ns");
	tree_round(&tree);
	assert_int_equal(plim_tree_about(tree.tree).ignoring, ignoring);
	assert_int_equal(plim_tree_at(tree.tree, 0)->flags,
			 ignoring ? PLIM_BRANCH_IGNORES_CHILDREN : 0);
	assert_int_equal(bound(&tree, PLIM_FIELD_CPU),
			 ignoring ? PLIM_BOUND_AT_LEAST : PLIM_BOUND_EXACT);
	tree_kill(&tree, child);
	assert_int_equal(spawn_truth(&tree.family, "waited_ns"), 0);
	for (int i = 0; i < 3; i++) {
		tree_round(&tree);
		assert_int_equal(plim_tree_size(tree.tree), 1);
		expect_total(total(&tree, PLIM_FIELD_CPU), own(&tree) + cpu,
			     TWO_TICK);
		assert_int_equal(plim_tree_about(tree.tree).kept, 1);
		assert_int_equal(bound(&tree, PLIM_FIELD_CPU),
				 PLIM_BOUND_AT_LEAST);
	}
	tree_end(&tree);
}

static void test_ignoring(void **state)
{
	(void)state;
	unseen_end("ignore", 1);
}

static void test_nocldwait(void **state)
{
	(void)state;
	unseen_end("nocldwait", 0);
}

/* The same root, later on: charged children come on top of kept ones. */
static void test_kept_and_charged(void **state)
{
	struct tree tree;
	uint64_t kept;
	uint64_t cpu;

	(void)state;
	tree_begin(&tree, (const char *const[]){"family", NULL}, 0);
	spawn_ask(&tree.family, "nocldwait");
	tree_fork(&tree, "child 200");
	kept = spawn_truth(&tree.family, "cpu_ns");
	tree_round(&tree);
	tree_kill(&tree, spawn_truth(&tree.family, "child"));
	tree_round(&tree);
	spawn_ask(&tree.family, "default");
	tree_kill(&tree, tree_fork(&tree, "child 200"));
	cpu = spawn_truth(&tree.family, "waited_ns");
	tree_round(&tree);
	expect_total(total(&tree, PLIM_FIELD_CPU), own(&tree) + kept + cpu,
		     2 * TWO_TICK);
	tree_end(&tree);
}

/* --- bytes ---------------------------------------------------------------- */

/* A folder whose files reach storage, or a skipped test. */
static const char *folder(void)
{
	const char *name = getenv("PLIM_TEST_DISK");

	if (name == NULL)
		name = child_on_tmpfs(".") || access(".", W_OK) != 0
			   ? "/var/tmp"
			   : ".";
	if (child_on_tmpfs(name))
		SKIP_BECAUSE("every folder to write to is on a tmpfs");
	return name;
}

/* Two writers; whoever is charged, the bytes are there once. What a writer was
 * charged with itself (its data, now and then a page of the file system's own)
 * its own file says before it ends. */
static void written(const char *how)
{
	struct tree tree;
	uint64_t pid[2];
	uint64_t bytes = 0;
	uint64_t started;

	tree_begin(&tree, (const char *const[]){"family", folder(), NULL}, 0);
	spawn_ask(&tree.family, how);
	tree_round(&tree);
	started = total(&tree, PLIM_FIELD_DISK_WRITE);
	for (int i = 0; i < 2; i++) {
		pid[i] = tree_fork(&tree, i == 0 ? "writer 256" : "writer 64");
		assert_true(spawn_truth(&tree.family, "written") >=
			    (i == 0 ? 256 : 64) * 4096u);
		bytes += proc_number((pid_t)pid[i], "io", "write_bytes");
	}
	assert_true(bytes >= 320 * 4096);
	tree_round(&tree);
	assert_int_equal(total(&tree, PLIM_FIELD_DISK_WRITE) - started, bytes);
	assert_int_equal(
	    plim_tree_change(tree.tree, PLIM_FIELD_DISK_WRITE).value, bytes);
	for (int i = 0; i < 2; i++) {
		tree_kill(&tree, pid[i]);
		tree_round(&tree);
		assert_int_equal(total(&tree, PLIM_FIELD_DISK_WRITE) - started,
				 bytes);
		assert_int_equal(
		    plim_tree_change(tree.tree, PLIM_FIELD_DISK_WRITE).value,
		    0);
	}
	tree_end(&tree);
}

static void test_written(void **state)
{
	(void)state;
	written("default");
}

static void test_written_ignoring(void **state)
{
	(void)state;
	written("ignore");
}

/* --- a build tool --------------------------------------------------------- */

/* Hundreds of short programs, four at a time, each below a shell: never back,
 * changes that add up, and in the end what the kernel has charged, within three
 * per cent. */
static void build(const char *command, unsigned pause_ms, int sticky)
{
	struct tree tree;
	uint64_t last = 0;
	uint64_t changes = 0;
	uint64_t truth;
	uint64_t first;
	uint64_t end;
	int rounds = 0;
	int status;

	tree_begin(&tree, (const char *const[]){"builder", "4", NULL}, sticky);
	tree_round(&tree);
	first = total(&tree, PLIM_FIELD_CPU);
	spawn_send(&tree.family, command);
	end = child_monotonic_ns() + 60000 * MS;
	do {
		uint64_t now;

		child_sleep_ms(pause_ms);
		tree_round(&tree);
		now = total(&tree, PLIM_FIELD_CPU);
		assert_true(now >= last);
		last = now;
		changes += plim_tree_change(tree.tree, PLIM_FIELD_CPU).value;
		rounds++;
		assert_true(child_monotonic_ns() < end);
	} while (rounds < 10 || plim_tree_size(tree.tree) > 1);
	spawn_await_answer(&tree.family);
	tree_round(&tree);
	changes += plim_tree_change(tree.tree, PLIM_FIELD_CPU).value;
	tree_round(&tree);
	changes += plim_tree_change(tree.tree, PLIM_FIELD_CPU).value;
	truth = spawn_truth(&tree.family, "own_ns") +
		spawn_truth(&tree.family, "children_ns");
	last = total(&tree, PLIM_FIELD_CPU);
	print_message("%d rounds: %llu of %llu ns, %u kept\n", rounds,
		      (unsigned long long)last, (unsigned long long)truth,
		      plim_tree_about(tree.tree).kept);
	assert_true(last <= truth + truth / 100);
	assert_true(last >= truth - truth * 3 / 100);
	assert_true(changes <= last - first);
	assert_true(changes + truth / 1000 >= last - first);
	assert_int_equal(plim_tree_about(tree.tree).kept, 0);
	status = spawn_finish(&tree.family);
	assert_true(WIFEXITED(status));
	tree_round(&tree);
	assert_int_equal(plim_tree_size(tree.tree), 0);
	assert_int_equal(total(&tree, PLIM_FIELD_CPU), last);
	plim_tree_free(tree.tree);
	plim_target_close(tree.root);
	plim_host_close(tree.host);
}

static void test_build(void **state)
{
	(void)state;
	build("build 300", 100, 1);
}

static void test_build_closely(void **state)
{
	(void)state;
	build("build 150", 5, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_reaped),
	    cmocka_unit_test(test_reaped_before),
	    cmocka_unit_test(test_sticky),
	    cmocka_unit_test(test_left),
	    cmocka_unit_test(test_subreaper),
	    cmocka_unit_test(test_ignoring),
	    cmocka_unit_test(test_nocldwait),
	    cmocka_unit_test(test_kept_and_charged),
	    cmocka_unit_test(test_written),
	    cmocka_unit_test(test_written_ignoring),
	    cmocka_unit_test(test_build),
	    cmocka_unit_test(test_build_closely),
	};

	return cmocka_run_group_tests_name("tree accounts", tests, NULL, NULL);
}
