/*
 * test_tree_account.c - the accounts of a tree against a world that counts for
 * itself.
 *
 * A made-up kernel forks, burns, ends, reaps and orphans processes at random,
 * also between the reading of one member and the next, by the rules of the
 * real one: who waits is charged, who ignores SIGCHLD is not, orphans go to
 * the nearest subreaper above, else outside. After each round the totals must
 * not have gone back and must not exceed what was ever used; and where
 * everybody is waited for inside the tree, nothing may be missing in the end
 * but the rounding of children-time. A second kernel charges nobody and has
 * no children-time: there all that was read of anybody is in the totals.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "observe/tree.h"

#include <stdlib.h>
#include <string.h>

#define WORLD_MOST 4096
#define TICK	   UINT64_C(10000000)
#define OUTSIDE	   1
#define ROOT	   100

enum life { DEAD, LIVING, ZOMBIE };

struct one {
	int life;
	int parent; /* index, or -1 outside */
	int ignores;
	int hides; /* SA_NOCLDWAIT: the same, and cannot be seen */
	int adopts;
	uint64_t own;
	uint64_t children[2]; /* user and system */
	uint64_t own_io;
	uint64_t io;   /* with reaped children's */
	uint64_t seen; /* own CPU time and I/O when it was last read */
	uint64_t seen_io;
};

struct rules {
	int ignoring; /* in a hundred forks */
	int hiding;
	int adopting;
	int root_adopts;
	int sticky;
	int calm;      /* nothing happens while members are read */
	int uncharged; /* the system has no children-time: Windows */
};

static struct one world[WORLD_MOST];
static int world_count;
static uint64_t world_cpu; /* all that was ever used */
static uint64_t world_io;
static const struct rules *world_rules;
static uint32_t world_state;

static uint32_t below(uint32_t limit)
{
	world_state = world_state * 1664525u + 1013904223u;
	return (world_state >> 8) % limit;
}

static int chance(int percent)
{
	return (int)below(100) < percent;
}

static void world_fork(int parent)
{
	struct one *one = &world[world_count];

	if (world_count == WORLD_MOST)
		return;
	memset(one, 0, sizeof(*one));
	one->life = LIVING;
	one->parent = parent;
	one->ignores = chance(world_rules->ignoring);
	one->hides = chance(world_rules->hiding);
	one->adopts = chance(world_rules->adopting);
	world_count++;
}

static void world_burn(int at)
{
	uint64_t cpu = below(3) == 0 ? below(2000000) : below(40000000);
	uint64_t io = below(2) == 0 ? 0 : below(100000);

	world[at].own += cpu;
	world[at].io += io;
	world_cpu += cpu;
	world_io += io;
}

static void world_reap(int at)
{
	struct one *one = &world[at];
	struct one *parent = &world[one->parent];

	one->life = DEAD;
	if (world_rules->uncharged)
		return;
	parent->children[0] += one->own * 3 / 10 + one->children[0];
	parent->children[1] += one->own - one->own * 3 / 10 + one->children[1];
	parent->io += one->io;
}

static int world_adopter(int at)
{
	for (at = world[at].parent; at >= 0; at = world[at].parent)
		if (world[at].adopts && world[at].life == LIVING)
			return at;
	return -1;
}

/* Nobody waits: init does, or the kernel does it unseen. */
static void world_settle(int at)
{
	int parent = world[at].parent;

	if (world[at].life == ZOMBIE &&
	    (parent < 0 || world[parent].ignores || world[parent].hides))
		world[at].life = DEAD;
}

static void world_end(int at)
{
	int adopter = world_adopter(at);

	world[at].life = ZOMBIE;
	for (int i = 0; i < world_count; i++) {
		if (world[i].parent != at || world[i].life == DEAD)
			continue;
		world[i].parent = adopter;
		world_settle(i);
	}
	world_settle(at);
}

/* Something happens to somebody; the root stays. */
static void world_step(void)
{
	int at = (int)below((uint32_t)world_count);

	for (int i = 0; i < 50 && world[at].life == DEAD; i++)
		at = (int)below((uint32_t)world_count);
	if (world[at].life == ZOMBIE) {
		if (world[world[at].parent].life == LIVING && chance(70))
			world_reap(at);
	} else if (world[at].life == LIVING) {
		uint32_t what = below(10);

		if (what < 4)
			world_burn(at);
		else if (what < 7)
			world_fork(at);
		else if (at != 0)
			world_end(at);
	}
}

static void world_steps(uint32_t count)
{
	while (count-- > 0)
		world_step();
}

static void world_begin(const struct rules *rules, uint32_t seed)
{
	world_rules = rules;
	world_state = seed;
	world_count = 0;
	world_cpu = 0;
	world_io = 0;
	world_fork(-1);
	world[0].ignores = 0;
	world[0].hides = 0;
	world[0].adopts = rules->root_adopts;
	world_burn(0);
}

/* --- the tree that watches it --------------------------------------------- */

static plim_host host;
static plim_tree tree;
static plim_process table[WORLD_MOST];

static void record_of(int at, plim_process *record)
{
	const struct one *one = &world[at];
	int64_t parent = one->parent < 0 ? OUTSIDE : ROOT + one->parent;
	uint64_t children =
	    one->children[0] / TICK * TICK + one->children[1] / TICK * TICK;

	memset(record, 0, sizeof(*record));
	record->identity = (plim_identity){
	    .pid = ROOT + at,
	    .has = PLIM_IDENTITY_START,
	    .start_ticks = (uint64_t)at + 1,
	};
	record->identity_size = 1;
	record->state = one->life == ZOMBIE ? 'Z' : 'S';
	record->ignores_children =
	    one->ignores ? PLIMP_IGNORES_YES : PLIMP_IGNORES_NO;
	plimp_record_set(record, PLIM_FIELD_PPID,
			 plim_count_known((uint64_t)parent, PLIM_METHOD_STAT));
	plimp_record_set(
	    record, PLIM_FIELD_CPU,
	    plim_count_known(one->own, PLIM_METHOD_PROCESS_CPU_CLOCK));
	plimp_record_set(
	    record, PLIM_FIELD_CPU_CHILDREN,
	    world_rules->uncharged
		? plim_count_missing(PLIM_REASON_HOST_NEVER, 0)
		: plim_count_known(children, PLIM_METHOD_STAT_TICKS));
	plimp_record_set(
	    record, PLIM_FIELD_DISK_WRITE,
	    plim_count_known(one->io, PLIM_METHOD_IO_WITH_CHILDREN));
}

static int compare_pids(const void *a, const void *b)
{
	const plim_process *const *x = a;
	const plim_process *const *y = b;

	return ((*x)->identity.pid > (*y)->identity.pid) -
	       ((*x)->identity.pid < (*y)->identity.pid);
}

/* All processes as they are now; who is below the root, or was a member. */
static void scan_table(const struct plimp_tree_side *before)
{
	size_t count = 0;

	for (int i = 0; i < world_count; i++) {
		if (world[i].life == DEAD)
			continue;
		record_of(i, &table[count]);
		tree.records[count] = &table[count];
		count++;
	}
	plimp_forest_plant(&tree.forest, tree.records, count, 0);
	for (size_t i = 0; i < count; i++) {
		plim_branch *branch = &tree.forest.branches[i];

		branch->reserved = i == 0;
		if (branch->parent != PLIM_NO_PARENT)
			branch->reserved |=
			    tree.forest.branches[branch->parent].reserved;
		if (world_rules->sticky && before != NULL &&
		    plimp_tree_seek(before, &branch->process->identity) !=
			PLIM_NO_PARENT)
			branch->reserved = 1;
	}
}

/* The members one after another, while the world goes on. */
static void scan_members(struct plimp_tree_side *side,
			 const struct plimp_tree_side *before)
{
	size_t count = 0;

	for (size_t i = 0; i < tree.forest.count; i++) {
		const plim_branch *branch = &tree.forest.branches[i];
		int at = branch->process->identity.pid - ROOT;

		if (branch->reserved == 0)
			continue;
		if (!world_rules->calm)
			world_steps(below(4));
		if (world[at].life == DEAD)
			continue;
		record_of(at, &side->pass.records[count]);
		world[at].seen = world[at].own;
		world[at].seen_io = world[at].io;
		side->records[count] = &side->pass.records[count];
		count++;
	}
	side->pass.count = count;
	qsort(side->records, count, sizeof(*side->records), compare_pids);
	plimp_forest_plant(&side->forest, side->records, count, 0);
	for (size_t i = 0; i < count; i++)
		side->earlier[i] =
		    before == NULL
			? PLIM_NO_PARENT
			: plimp_tree_seek(
			      before,
			      &side->forest.branches[i].process->identity);
}

static uint64_t total(int charge)
{
	return plimp_tree_now(&tree)->books.total[charge];
}

/* All CPU time that was ever read of anybody is in the total, whoever was
 * charged. (I/O of one that is charged to nobody can hide behind what its
 * parent does itself.) */
static void expect_seen(const struct plimp_tree_side *side)
{
	uint64_t cpu = total(PLIMP_CHARGE_CPU);
	uint64_t seen = 0;

	for (int i = 0; i < world_count; i++)
		seen += world[i].seen;
	assert_true(cpu + (side->forest.count + 1) * 2 * TICK >= seen);
}

/* Where nobody is charged every amount that was read is there to the byte. */
static void expect_exactly_seen(void)
{
	uint64_t cpu = 0;
	uint64_t io = 0;

	for (int i = 0; i < world_count; i++) {
		cpu += world[i].seen;
		io += world[i].seen_io;
	}
	assert_int_equal(total(PLIMP_CHARGE_CPU), cpu);
	assert_int_equal(total(PLIMP_CHARGE_WRITE), io);
}

static void scan(void)
{
	struct plimp_tree_side *side = &tree.sides[(tree.current + 1) % 3];
	const struct plimp_tree_side *before =
	    tree.rounds > 0 ? plimp_tree_now(&tree) : NULL;
	uint64_t cpu = tree.rounds > 0 ? total(PLIMP_CHARGE_CPU) : 0;
	uint64_t io = tree.rounds > 0 ? total(PLIMP_CHARGE_WRITE) : 0;

	memset(&side->facts, 0, sizeof(side->facts));
	scan_table(before);
	scan_members(side, before);
	assert_int_equal(plimp_tree_account(&tree, before, side), PLIM_OK);
	tree.current = (tree.current + 1) % 3;
	tree.rounds = before != NULL ? 2 : 1;
	assert_true(total(PLIMP_CHARGE_CPU) >= cpu);
	assert_true(total(PLIMP_CHARGE_WRITE) >= io);
	assert_true(total(PLIMP_CHARGE_CPU) <= world_cpu);
	assert_true(total(PLIMP_CHARGE_WRITE) <= world_io);
	expect_seen(side);
	if (world_rules->uncharged)
		expect_exactly_seen();
}

static int account_setup(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	memset(&tree, 0, sizeof(tree));
	host.facts[PLIM_HOST_TICKS_PER_SECOND] =
	    plim_count_known(100, PLIM_METHOD_SYSTEM);
	tree.host = &host;
	tree.records = calloc(WORLD_MOST, sizeof(*tree.records));
	assert_int_equal(plimp_forest_reserve(&tree.forest, NULL, WORLD_MOST),
			 PLIM_OK);
	for (int i = 0; i < 3; i++) {
		struct plimp_tree_side *side = &tree.sides[i];

		side->pass.records =
		    calloc(WORLD_MOST, sizeof(*side->pass.records));
		side->records = calloc(WORLD_MOST, sizeof(*side->records));
		side->earlier = calloc(WORLD_MOST, sizeof(*side->earlier));
		assert_int_equal(
		    plimp_forest_reserve(&side->forest, NULL, WORLD_MOST),
		    PLIM_OK);
	}
	return 0;
}

static int account_teardown(void **state)
{
	(void)state;
	free(tree.records);
	plimp_forest_release(&tree.forest, NULL);
	for (int i = 0; i < 3; i++) {
		free(tree.sides[i].pass.records);
		free(tree.sides[i].records);
		free(tree.sides[i].earlier);
		free(tree.sides[i].accounts);
		plimp_forest_release(&tree.sides[i].forest, NULL);
	}
	return 0;
}

static void watch(const struct rules *rules, uint32_t seed)
{
	tree.rounds = 0;
	world_begin(rules, seed);
	for (int round = 0; round < 60; round++) {
		world_steps(below(60));
		scan();
	}
}

/* Nothing moves any more: two rounds, and what is owed has been paid. */
static uint64_t living(void)
{
	static struct rules still;
	uint64_t count = 0;

	still = *world_rules;
	still.calm = 1;
	world_rules = &still;
	scan();
	scan();
	for (int i = 0; i < world_count; i++)
		count += world[i].life != DEAD;
	return count;
}

/* Everybody is waited for by a member: all is there, to the tick and byte. */
static void test_all_charged(void **state)
{
	static const struct rules rules[] = {
	    {.root_adopts = 1},
	    {.root_adopts = 1, .sticky = 1},
	    {.root_adopts = 1, .adopting = 20},
	    {.root_adopts = 1, .adopting = 50, .sticky = 1},
	    {.root_adopts = 1, .calm = 1},
	};

	(void)state;
	for (uint32_t seed = 1; seed <= 400; seed++) {
		uint64_t slack;

		watch(&rules[seed % 5], seed);
		slack = living() * 2 * TICK;
		assert_true(total(PLIMP_CHARGE_CPU) + slack >= world_cpu);
		assert_int_equal(total(PLIMP_CHARGE_WRITE), world_io);
	}
}

/* Some are charged to nobody: never too much, never back, and never less than
 * what was read of everybody (scan()). */
static void test_some_lost(void **state)
{
	static const struct rules rules[] = {
	    {.sticky = 1},
	    {.sticky = 1, .ignoring = 30},
	    {.sticky = 1, .hiding = 30},
	    {.sticky = 1, .ignoring = 20, .hiding = 20, .adopting = 20},
	    {.ignoring = 20, .hiding = 20, .adopting = 20},
	};

	(void)state;
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		watch(&rules[seed % 5], seed);
		living();
	}
}

static void test_nobody_charged(void **state)
{
	static const struct rules rules[] = {
	    {.uncharged = 1, .sticky = 1},
	    {.uncharged = 1, .sticky = 1, .calm = 1},
	};

	(void)state;
	for (uint32_t seed = 1; seed <= 200; seed++) {
		watch(&rules[seed % 2], seed);
		living();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_all_charged, account_setup,
					    account_teardown),
	    cmocka_unit_test_setup_teardown(test_some_lost, account_setup,
					    account_teardown),
	    cmocka_unit_test_setup_teardown(test_nobody_charged, account_setup,
					    account_teardown),
	};

	return cmocka_run_group_tests_name("tree accounts", tests, NULL, NULL);
}
