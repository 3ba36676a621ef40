/*
 * test_churn.c - a target that goes on allocating while it is walked: the walk
 * says by how much it may be off, and the heap at rest right after says
 * whether it was.
 *
 * Here the bounds are such as hold on a loaded machine; bench/memory.c has
 * the statistics.
 */
#include "common.h"

#include <stdlib.h>

struct churn {
	unsigned walks;
	unsigned covered;
	unsigned racing; /* walks that say they are uncertain */
	double worst;	 /* part of the truth */
};

static uint64_t churn_off(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Walks once while it churns, then asks the target at rest. */
static void churn_once(const struct look *look, struct target *target,
		       struct churn *churn)
{
	struct trial_walk walk;
	struct trial_truth truth;
	uint64_t held;
	uint64_t off;

	look_ask(target, "churn");
	target_sleep_ms(20);
	walk = look_walk(look, target->pid);
	look_ask(target, "stop");
	assert_true(look_truth(target, "operations") > 0);
	assert_int_equal(trial_ask(target, &truth), 0);
	held = truth.own + truth.held;
	off = churn_off(walk.in_use, held);
	churn->walks++;
	churn->covered += off <= walk.uncertain;
	churn->racing += walk.uncertain > 0;
	if ((double)off / (double)held > churn->worst)
		churn->worst = (double)off / (double)held;
	/* What is walked twice or lost would show here. */
	assert_true(walk.walked <= walk.system + walk.system / 10);
	assert_true(walk.in_use + walk.tcache + walk.fastbin + walk.free +
			walk.top <=
		    walk.walked + walk.walked / 10);
}

static void churn_target(const struct look *look, const char *line,
			 unsigned walks)
{
	struct churn churn = {0};
	struct target target;
	struct trial_walk walk;

	look_start(&target, "heap", NULL, line);
	for (unsigned i = 0; i < walks; i++)
		churn_once(look, &target, &churn);
	printf("%s: %u walks, %u covered, %u uncertain, worst %.2f %%\n", line,
	       churn.walks, churn.covered, churn.racing, churn.worst * 100);
	/* One in ten may be off by more than it says; none by much. */
	assert_true(churn.covered * 10 >= churn.walks * 9);
	assert_true(churn.worst < 0.10);
	assert_true(churn.racing > 0);
	/* At rest it is exact again. */
	walk = look_walk(look, target.pid);
	look_compare(&target, &walk, 0);
	target_end(&target);
}

static void one_thread(void **state)
{
	look_can(state);
	churn_target(*state, "pattern none threads 1 kib 16384", 10);
}

static void four_threads(void **state)
{
	look_can(state);
	churn_target(*state, "pattern none threads 4 kib 8192", 10);
}

static void small_blocks(void **state)
{
	look_can(state);
	churn_target(*state, "pattern none threads 2 kib 2048 most 116", 10);
}

/* Blocks beyond the mmap threshold come and go as mappings. */
static void mapped_blocks(void **state)
{
	look_can(state);
	churn_target(*state,
		     "pattern none threads 2 kib 16384 least 60000 "
		     "most 400000",
		     10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_thread),
	    cmocka_unit_test(four_threads),
	    cmocka_unit_test(small_blocks),
	    cmocka_unit_test(mapped_blocks),
	};

	return cmocka_run_group_tests(tests, look_open, look_close);
}
