/*
 * test_forest.c - records of any claims in preorder: every one once, under the
 * parent that start times prove, circles cut at their lowest pid.
 *
 * The truth is a slow and plain search: who is whose parent by the public
 * question, who stands in a circle by walking up as often as there are
 * records, and then the walk down by recursion over all.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/forest.h"
#include "core/record.h"

#include <stdlib.h>
#include <string.h>

#define MOST 100000
#define NONE PLIM_NO_PARENT

static plim_process *records;
static const plim_process *pointers[MOST];
static struct plimp_forest forest;
static size_t count;

static int forest_setup(void **state)
{
	(void)state;
	records = calloc(MOST, sizeof *records);
	assert_non_null(records);
	for (size_t i = 0; i < MOST; i++)
		pointers[i] = &records[i];
	return 0;
}

static int forest_teardown(void **state)
{
	(void)state;
	plimp_forest_release(&forest, NULL);
	free(records);
	return 0;
}

/* The next record; ticks 0 is an unknown start, ppid -1 an unknown parent. */
static void add(int32_t pid, int64_t ppid, uint64_t ticks)
{
	plim_process *record = &records[count++];

	assert_true(count <= MOST);
	record->identity = (plim_identity){.pid = pid};
	if (ticks > 0) {
		record->identity.has = PLIM_IDENTITY_START;
		record->identity.start_ticks = ticks;
	}
	record->figures[PLIM_FIELD_PPID] =
	    ppid < 0 ? plim_count_missing(PLIM_REASON_NOT_PERMITTED, 1)
		     : plim_count_known((uint64_t)ppid, PLIM_METHOD_STAT);
	record->ignores_children = PLIMP_IGNORES_UNREAD;
}

static void begin(void)
{
	count = 0;
}

static void plant(size_t first)
{
	assert_int_equal(plimp_forest_reserve(&forest, NULL, count), PLIM_OK);
	plimp_forest_plant(&forest, pointers, count, first);
	assert_int_equal(forest.count, count);
}

/* The branch at this place: whose, under whom, how deep, how large. */
static void expect(size_t at, int32_t pid, size_t parent, size_t depth,
		   size_t size)
{
	const plim_branch *branch = &forest.branches[at];

	assert_int_equal(branch->process->identity.pid, pid);
	assert_int_equal(branch->parent, parent);
	assert_int_equal(branch->depth, depth);
	assert_int_equal(branch->size, size);
}

static void test_empty(void **state)
{
	(void)state;
	begin();
	plant(NONE);
	assert_int_equal(forest.count, 0);
}

/* Siblings by pid, a parent before its children, whatever the pids are. */
static void test_order(void **state)
{
	(void)state;
	begin();
	add(1, 0, 1);
	add(5, 90, 30);
	add(7, 90, 30);
	add(20, 1, 5);
	add(90, 20, 20);
	add(91, 1, 21);
	plant(NONE);
	expect(0, 1, NONE, 0, 6);
	expect(1, 20, 0, 1, 4);
	expect(2, 90, 1, 2, 3);
	expect(3, 5, 2, 3, 1);
	expect(4, 7, 2, 3, 1);
	expect(5, 91, 0, 1, 1);
}

static void test_proof(void **state)
{
	(void)state;
	begin();
	add(1, 0, 0);  /* parent of pid 0, start unknown */
	add(2, 1, 9);  /* nothing speaks against the first */
	add(3, 2, 8);  /* its parent started later: another one's pid */
	add(4, 2, 9);  /* in the same tick: can be */
	add(5, -1, 9); /* parent unknown */
	add(6, 77, 9); /* parent not there */
	add(7, 7, 9);  /* nobody is his own parent */
	plant(NONE);
	expect(0, 1, NONE, 0, 3);
	expect(1, 2, 0, 1, 2);
	expect(2, 4, 1, 2, 1);
	expect(3, 3, NONE, 0, 1);
	expect(4, 5, NONE, 0, 1);
	expect(5, 6, NONE, 0, 1);
	expect(6, 7, NONE, 0, 1);
}

/* A parent that is no pid at all. */
static void test_no_pid(void **state)
{
	(void)state;
	begin();
	add(1, 0, 1);
	add(2, INT64_C(4294967297), 2);
	add(3, INT64_C(2147483648), 2);
	plant(NONE);
	for (size_t i = 0; i < 3; i++)
		expect(i, (int32_t)i + 1, NONE, 0, 1);
}

static void test_chain(void **state)
{
	(void)state;
	begin();
	for (int32_t i = 1; i <= MOST; i++)
		add(i, i - 1, (uint64_t)i);
	plant(NONE);
	for (size_t i = 0; i < MOST; i++)
		expect(i, (int32_t)i + 1, i == 0 ? NONE : i - 1, i, MOST - i);
}

/* The same upside down: the parent of each has the next pid. */
static void test_chain_down(void **state)
{
	(void)state;
	begin();
	for (int32_t i = 1; i <= MOST; i++)
		add(i, i + 1, 5);
	plant(NONE);
	for (size_t i = 0; i < MOST; i++)
		expect(i, MOST - (int32_t)i, i == 0 ? NONE : i - 1, i,
		       MOST - i);
}

static void test_wide(void **state)
{
	(void)state;
	begin();
	add(1, 0, 1);
	for (int32_t i = 2; i <= MOST; i++)
		add(i, 1, 1);
	plant(NONE);
	expect(0, 1, NONE, 0, MOST);
	for (size_t i = 1; i < MOST; i++)
		expect(i, (int32_t)i + 1, 0, 1, 1);
}

static void circle(int32_t size)
{
	begin();
	for (int32_t i = 0; i < size; i++)
		add(10 + i, 10 + (i + 1) % size, 5);
	add(10 + size, 10, 6); /* hangs on it */
	plant(NONE);
	assert_int_equal(forest.branches[0].process->identity.pid, 10);
	assert_int_equal(forest.branches[0].parent, NONE);
	assert_int_equal(forest.branches[0].size, size + 1);
}

/* Circles of one, two, three and many: cut above the lowest pid. */
static void test_circles(void **state)
{
	(void)state;
	begin();
	add(10, 10, 5);
	add(11, 12, 5);
	add(12, 11, 5);
	plant(NONE);
	expect(0, 10, NONE, 0, 1);
	expect(1, 11, NONE, 0, 2);
	expect(2, 12, 1, 1, 1);
	circle(2);
	circle(3);
	circle(1000);
	circle(MOST - 1);
}

/* Two circles, with tails that lead into them; unknown starts, too. */
static void test_circles_with_tails(void **state)
{
	(void)state;
	begin();
	add(1, 4, 0);
	add(2, 1, 0);
	add(3, 5, 0);
	add(4, 2, 0);
	add(5, 6, 0);
	add(6, 5, 0);
	add(7, 4, 0);
	plant(NONE);
	expect(0, 1, NONE, 0, 4);
	expect(1, 2, 0, 1, 3);
	expect(2, 4, 1, 2, 2);
	expect(3, 7, 2, 3, 1);
	expect(4, 5, NONE, 0, 3);
	expect(5, 3, 4, 1, 1);
	expect(6, 6, 4, 1, 1);
}

/* One that is wanted as a root comes first, circle or not. */
static void test_first(void **state)
{
	(void)state;
	begin();
	add(1, 0, 1);
	add(2, 1, 2);
	add(3, 4, 5);
	add(4, 3, 5);
	plant(3);
	expect(0, 4, NONE, 0, 2);
	expect(1, 3, 0, 1, 1);
	expect(2, 1, NONE, 0, 2);
	expect(3, 2, 2, 1, 1);
	plant(1);
	expect(0, 2, NONE, 0, 1);
	expect(1, 1, NONE, 0, 1);
	expect(2, 3, NONE, 0, 2);
}

static void test_ignoring(void **state)
{
	(void)state;
	begin();
	add(1, 0, 1);
	add(2, 1, 2);
	records[0].ignores_children = PLIMP_IGNORES_NO;
	records[1].ignores_children = PLIMP_IGNORES_YES;
	plant(NONE);
	assert_int_equal(forest.branches[0].flags, 0);
	assert_int_equal(forest.branches[1].flags,
			 PLIM_BRANCH_IGNORES_CHILDREN);
}

/* --- the plain truth ------------------------------------------------------ */

static size_t plain_parent[64];
static size_t plain_count;
static size_t plain_place[64]; /* of a record */

static void plain_links(void)
{
	for (size_t i = 0; i < count; i++) {
		plain_parent[i] = NONE;
		for (size_t j = 0; j < count; j++)
			if (plim_process_is_child_of(&records[i], &records[j]))
				plain_parent[i] = j;
	}
	for (size_t i = 0; i < count; i++) {
		size_t at = plain_parent[i];
		size_t lowest = i;

		for (size_t step = 0; step < count && at != NONE && at != i;
		     step++) {
			lowest = at < lowest ? at : lowest;
			at = plain_parent[at];
		}
		if (at == i && lowest == i)
			plain_parent[i] = NONE;
	}
}

static size_t plain_walk(size_t at, size_t parent, size_t depth)
{
	size_t size = 1;
	size_t place = plain_count++;

	assert_true(place < count);
	plain_place[at] = place;
	for (size_t i = 0; i < count; i++)
		if (plain_parent[i] == at)
			size += plain_walk(i, place, depth + 1);
	expect(place, records[at].identity.pid, parent, depth, size);
	return size;
}

static uint32_t random_state = 12345;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % limit;
}

/* Random links of few pids and fewer ticks, so that circles are common. */
static void test_random(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint32_t size = 1 + random_below(24);
		uint32_t ticks = 1 + random_below(3);
		int32_t pid = 0;

		begin();
		for (uint32_t i = 0; i < size; i++) {
			pid += 1 + (int32_t)random_below(2);
			add(pid, (int64_t)random_below(2 * size) - 1,
			    random_below(ticks + 1));
		}
		plant(NONE);
		plain_links();
		plain_count = 0;
		for (size_t i = 0; i < count; i++)
			if (plain_parent[i] == NONE)
				plain_walk(i, NONE, 0);
		assert_int_equal(plain_count, count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_order),
	    cmocka_unit_test(test_proof),
	    cmocka_unit_test(test_no_pid),
	    cmocka_unit_test(test_chain),
	    cmocka_unit_test(test_chain_down),
	    cmocka_unit_test(test_wide),
	    cmocka_unit_test(test_circles),
	    cmocka_unit_test(test_circles_with_tails),
	    cmocka_unit_test(test_first),
	    cmocka_unit_test(test_ignoring),
	    cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests_name("forest", tests, forest_setup,
					   forest_teardown);
}
