/*
 * test_lens_fields.c - PSS and private dirty memory as fields: what the kernel
 * says, when they were asked for of this process or tree, and never of every
 * process; a walk that is predicted to be long is left out.
 */
#include "owner.h"

#include "fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIELDS_USER 65534

static plim_field_set walk_fields(void)
{
	plim_field_set set = {{0}};

	plim_field_set_add(&set, PLIM_FIELD_PSS);
	plim_field_set_add(&set, PLIM_FIELD_PRIVATE_DIRTY);
	return set;
}

#define OWNED_PAGES 2000

static uint64_t owned_step(int step, void *user)
{
	static char *memory;

	(void)user;
	if (step == 0) {
		memory = mmap(NULL, OWNED_PAGES * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < OWNED_PAGES; i++)
			memory[i * PAGE] = 1;
	} else if (step == 1) {
		owner_share();
	}
	return (uint64_t)(uintptr_t)memory;
}

static void expect_missing(const plim_process *it, int reason)
{
	static const int fields[] = {PLIM_FIELD_PSS, PLIM_FIELD_PRIVATE_DIRTY};

	for (size_t i = 0; i < 2; i++) {
		plim_count count = plim_process_count(it, fields[i]);

		if (count.state == PLIM_STATE_KNOWN || count.method != reason)
			fail_msg("%s: %s", plim_field_get(fields[i])->name,
				 count.state == PLIM_STATE_KNOWN
				     ? "known"
				     : plim_reason_word(count.method));
		assert_int_equal(count.state, plim_reason_state(reason));
	}
}

static void test_one(void **state)
{
	const plim_field_set set = walk_fields();
	struct owner owner;
	struct view view;
	plim_usage *usage;
	const plim_process *it;
	uint64_t before, after;

	(void)state;
	owner_start(&owner, owned_step, NULL);
	owner_settle(&owner);
	view_open(&view, owner.pid);
	usage = new_usage(view.host);
	before = owner_private_dirty_kb(owner.pid);
	assert_int_equal(plim_usage_refresh(usage, view.target, &set, NULL),
			 PLIM_OK);
	it = plim_usage_process(usage);
	after = owner_private_dirty_kb(owner.pid);
	assert_in_range(known(it, PLIM_FIELD_PRIVATE_DIRTY) / 1024, before,
			after);
	assert_true(known(it, PLIM_FIELD_PRIVATE_DIRTY) >= OWNED_PAGES * PAGE);
	/* We, who share the rest, write to it meanwhile. */
	expect_near(known(it, PLIM_FIELD_PSS),
		    owner_sum_kb(owner.pid, "smaps_rollup", "Pss:") * 1024, 0,
		    65536);
	expect_method(it, PLIM_FIELD_PSS, PLIM_METHOD_SMAPS_ROLLUP);
	/* Every field is not these two. */
	assert_int_equal(plim_usage_refresh(usage, view.target, NULL, NULL),
			 PLIM_OK);
	expect_missing(plim_usage_process(usage), PLIM_REASON_NOT_ASKED);
	plim_usage_free(usage);
	view_close(&view);
	owner_end(&owner);
}

static void test_self(void **state)
{
	const plim_field_set set = walk_fields();
	plim_host *host = open_host(0);
	plim_usage *usage = new_usage(host);
	uint64_t kernel;

	(void)state;
	assert_int_equal(plim_usage_refresh_self(usage, &set, NULL), PLIM_OK);
	kernel = owner_sum_kb(getpid(), "smaps_rollup", "Private_Dirty:");
	expect_near(known(plim_usage_process(usage), PLIM_FIELD_PRIVATE_DIRTY),
		    kernel * 1024, 0, 128 * 1024);
	assert_true(known(plim_usage_process(usage), PLIM_FIELD_PSS) > 0);
	assert_int_equal(plim_usage_refresh_self(usage, NULL, NULL), PLIM_OK);
	expect_missing(plim_usage_process(usage), PLIM_REASON_NOT_ASKED);
	plim_usage_free(usage);
	plim_host_close(host);
}

/* Of a tree: member by member. What two share counts once in the sum of PSS
 * and for none in that of private memory. */
static void test_tree(void **state)
{
	const plim_field_set set = walk_fields();
	const plim_tree_options options = {.size = sizeof(options),
					   .fields = &set};
	uint64_t least = OWNED_PAGES * PAGE;
	struct owner owner;
	struct view view;
	plim_tree *tree = NULL;
	plim_sum sum;

	(void)state;
	owner_start(&owner, owned_step, NULL);
	owner_step(&owner);
	owner_settle(&owner);
	view_open(&view, owner.pid);
	assert_int_equal(plim_tree_new(&tree, view.host, NULL), PLIM_OK);
	assert_int_equal(plim_tree_usage(tree, view.target, &options, NULL),
			 PLIM_OK);
	sum = plim_tree_sum(tree, PLIM_FIELD_PSS);
	assert_int_equal(sum.known, 2);
	assert_int_equal(sum.missing, 0);
	assert_true(sum.total_known.value >= least);
	assert_true(sum.total_known.value < 2 * least);
	sum = plim_tree_sum(tree, PLIM_FIELD_PRIVATE_DIRTY);
	assert_int_equal(sum.known, 2);
	assert_true(sum.total_known.value < least);
	plim_tree_free(tree);
	view_close(&view);
	owner_end(&owner);
}

/* A snapshot is of every process: it walks none, whatever is asked. */
static void test_snapshot(void **state)
{
	const plim_field_set set = walk_fields();
	const plim_snapshot_options options = {.size = sizeof(options),
					       .fields = &set};
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	const plim_process *it;

	(void)state;
	assert_int_equal(plim_snapshot_take(snapshot, &options, NULL), PLIM_OK);
	it = plim_snapshot_find(snapshot, getpid());
	assert_non_null(it);
	expect_missing(it, PLIM_REASON_TOO_DEAR);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
}

/* 0.4 GiB and 2 MiB of page tables are predicted to take 5.3 ms, five times
 * as much is above the limit of 20. */
static void guarded(const char *status, int reason)
{
	const plim_field_set set = walk_fields();
	struct fixture fixture;
	plim_target *target;
	plim_usage *usage;
	plim_host *host;

	fixture_new(&fixture);
	fixture_host(&fixture, 0);
	fixture_process(&fixture, 42, "recorded", 8);
	fixture_text(&fixture, "42/status", status);
	fixture_text(&fixture, "42/smaps_rollup",
		     "1000-9000 ---p 00000000 00:00 0 [rollup]\n"
		     "Pss: 7 kB\nPrivate_Dirty: 3 kB\n");
	host = open_root(fixture.root, 0);
	target = open_target(host, 42);
	usage = new_usage(host);
	assert_int_equal(plim_usage_refresh(usage, target, &set, NULL),
			 PLIM_OK);
	if (reason != PLIM_REASON_NONE) {
		expect_missing(plim_usage_process(usage), reason);
	} else {
		assert_int_equal(
		    known(plim_usage_process(usage), PLIM_FIELD_PSS), 7 * 1024);
		assert_int_equal(
		    known(plim_usage_process(usage), PLIM_FIELD_PRIVATE_DIRTY),
		    3 * 1024);
	}
	plim_usage_free(usage);
	plim_target_close(target);
	plim_host_close(host);
	fixture_free(&fixture);
}

static void test_guard(void **state)
{
	(void)state;
	guarded("Tgid:\t42\nPid:\t42\nVmRSS:\t  419430 kB\n"
		"VmPTE:\t    2048 kB\n",
		PLIM_REASON_NONE);
	guarded("Tgid:\t42\nPid:\t42\nVmRSS:\t 2097152 kB\n"
		"VmPTE:\t    4096 kB\n",
		PLIM_REASON_STALL);
	/* Page tables alone, of what is mostly not there. */
	guarded("Tgid:\t42\nPid:\t42\nVmRSS:\t    1024 kB\n"
		"VmPTE:\t   65536 kB\n",
		PLIM_REASON_STALL);
	/* What cannot be predicted is not walked. */
	guarded("Tgid:\t42\nPid:\t42\nVmRSS:\t    1024 kB\n",
		PLIM_REASON_NO_LINE);
}

static void denied_inside(void *user)
{
	const struct owner *owner = user;
	const plim_field_set set = walk_fields();
	struct view view;
	plim_usage *usage;

	child_become(FIELDS_USER);
	view_open(&view, owner->pid);
	usage = new_usage(view.host);
	assert_int_equal(plim_usage_refresh(usage, view.target, &set, NULL),
			 PLIM_OK);
	expect_missing(plim_usage_process(usage), PLIM_REASON_NOT_PERMITTED);
	plim_usage_free(usage);
	view_close(&view);
}

static void test_denied(void **state)
{
	struct owner owner;

	(void)state;
	owner_start(&owner, owned_step, NULL);
	child_run(denied_inside, &owner);
	owner_end(&owner);
}

static void test_zombie(void **state)
{
	const plim_field_set set = walk_fields();
	struct owner owner;
	struct view view;
	plim_usage *usage;
	siginfo_t info;

	(void)state;
	owner_start(&owner, owned_step, NULL);
	view_open(&view, owner.pid);
	kill(owner.pid, SIGKILL);
	assert_int_equal(
	    waitid(P_PID, (id_t)owner.pid, &info, WEXITED | WNOWAIT), 0);
	usage = new_usage(view.host);
	assert_int_equal(plim_usage_refresh(usage, view.target, &set, NULL),
			 PLIM_OK);
	expect_missing(plim_usage_process(usage), PLIM_REASON_ZOMBIE);
	plim_usage_free(usage);
	view_close(&view);
	owner_end(&owner);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one),	   cmocka_unit_test(test_self),
	    cmocka_unit_test(test_tree),   cmocka_unit_test(test_snapshot),
	    cmocka_unit_test(test_guard),  cmocka_unit_test(test_denied),
	    cmocka_unit_test(test_zombie),
	};

	return cmocka_run_group_tests_name("lens_fields", tests, NULL, NULL);
}
