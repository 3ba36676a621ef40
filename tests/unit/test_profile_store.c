/*
 * test_profile_store.c - tables of a profile: what was seen before is found
 * again, and the bound holds.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/store.h"

#include <string.h>

static struct plimp_store store;

static uint32_t frame_at(uint32_t module, uint64_t address)
{
	uint32_t index;

	assert_int_equal(
	    plimp_store_find_frame(&store, 0, module, address, 0, &index),
	    PLIM_OK);
	return index;
}

static void test_frames(void **state)
{
	(void)state;
	plimp_store_begin(&store, NULL, 0);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(frame_at(i % 3, i * UINT64_C(16)), i);
	for (uint32_t i = 0; i < 10000; i++)
		assert_int_equal(frame_at(i % 3, i * UINT64_C(16)), i);
	/* The same address in another module is another frame. */
	assert_int_equal(frame_at(7, 16), 10000);
	assert_int_equal(store.frames.count, 10001);
	plimp_store_end(&store);
}

static void test_stacks(void **state)
{
	uint32_t frames[] = {0, 1, 2};
	uint32_t other[] = {0, 2, 1};
	plim_profile_stack stack = {.thread = 1,
				    .activity = PLIM_ACTIVITY_BLOCKED,
				    .end = 1,
				    .call = 7,
				    .frames = frames,
				    .frame_count = 3};
	plim_profile_stack changed;
	uint32_t first;
	uint32_t index;

	(void)state;
	plimp_store_begin(&store, NULL, 0);
	assert_int_equal(plimp_store_find_stack(&store, &stack, &first),
			 PLIM_OK);
	plimp_store_weigh(&store, first, 3, 1);
	plimp_store_weigh(&store, first, 4, 1);
	assert_int_equal(plimp_store_find_stack(&store, &stack, &index),
			 PLIM_OK);
	assert_int_equal(index, first);
	assert_int_equal(plimp_store_stack(&store, first)->samples, 2);
	assert_int_equal(plimp_store_stack(&store, first)->weight_ns, 7);
	assert_true(plimp_store_stack(&store, first)->weight_square == 25);
	/* Its frames are a copy. */
	assert_ptr_not_equal(plimp_store_stack(&store, first)->frames, frames);
	for (int i = 0; i < 7; i++) {
		changed = stack;
		changed.thread += i == 0;
		changed.activity -= i == 1;
		changed.end += i == 2;
		changed.call += i == 3;
		changed.frame_count -= i == 4;
		changed.is_counted = i == 5;
		changed.frames = i == 6 ? other : frames;
		assert_int_equal(
		    plimp_store_find_stack(&store, &changed, &index), PLIM_OK);
		assert_int_equal(index, first + 1 + (uint32_t)i);
	}
	plimp_store_end(&store);
}

/* The bound ends it once and for all; what is there stays. */
static void test_bound(void **state)
{
	plim_profile_sample sample = {.stack = 0, .looks = 1};
	uint32_t index;
	uint32_t count = 0;
	int code;

	(void)state;
	plimp_store_begin(&store, NULL, 100 * sizeof(sample));
	while ((code = plimp_store_add_sample(&store, &sample, &index)) ==
	       PLIM_OK)
		count++;
	assert_int_equal(code, PLIM_ELIMIT);
	assert_int_equal(count, 100);
	assert_int_equal(store.samples.count, 100);
	assert_int_equal(store.is_full, 1);
	assert_int_equal(plimp_store_find_frame(&store, 0, 0, 1, 0, &index),
			 PLIM_ELIMIT);
	assert_int_equal(store.frames.count, 0);
	plimp_store_end(&store);
}

/* A frame that did not fit is not half there. */
static void test_bound_of_stacks(void **state)
{
	uint32_t frames[200] = {0};
	plim_profile_stack stack = {
	    .frames = frames, .frame_count = 200, .call = -1};
	uint32_t index;

	(void)state;
	plimp_store_begin(&store, NULL, 1500);
	assert_int_equal(plimp_store_find_stack(&store, &stack, &index),
			 PLIM_OK);
	frames[0] = 1;
	assert_int_equal(plimp_store_find_stack(&store, &stack, &index),
			 PLIM_ELIMIT);
	frames[0] = 0;
	assert_int_equal(plimp_store_find_stack(&store, &stack, &index),
			 PLIM_OK);
	assert_int_equal(store.stacks.count, 1);
	plimp_store_end(&store);
}

static void test_functions(void **state)
{
	plim_profile_function one = {.name = {"f", 1}, .linkage = {"_f", 2}};
	plim_profile_function two = {.name = {"f", 1}, .linkage = {"_g", 2}};
	plim_bytes here = {"here", 4};
	plim_bytes there = {"there", 5};
	uint32_t index;

	(void)state;
	plimp_store_begin(&store, NULL, 0);
	assert_int_equal(plimp_store_function(&store, &one, here, &index),
			 PLIM_OK);
	assert_int_equal(index, 0);
	plimp_store_function(&store, &two, here, &index);
	assert_int_equal(index, 1);
	plimp_store_function(&store, &one, there, &index);
	assert_int_equal(index, 2);
	plimp_store_function(&store, &one, here, &index);
	assert_int_equal(index, 0);
	assert_int_equal(store.functions.count, 3);
	plimp_store_end(&store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_frames),
	    cmocka_unit_test(test_stacks),
	    cmocka_unit_test(test_bound),
	    cmocka_unit_test(test_bound_of_stacks),
	    cmocka_unit_test(test_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
