/*
 * test_meter.c - rates of many keys, forgotten keys, and memory that ends.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll/usage.h>

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

/* Counts, and fails from a given call on. */
struct ration {
	int left; /* calls that get memory; -1 for all */
	int calls;
	size_t held;
};

static void *ration_resize(void *memory, size_t old_size, size_t new_size,
			   void *user)
{
	struct ration *ration = user;

	if (new_size == 0) {
		ration->held -= old_size;
		free(memory);
		return NULL;
	}
	ration->calls++;
	if (ration->left == 0)
		return NULL;
	if (ration->left > 0)
		ration->left--;
	ration->held += new_size - old_size;
	return realloc(memory, new_size);
}

static plim_meter *meter;

static int make_meter(void **state)
{
	(void)state;
	return plim_meter_new(&meter, NULL, NULL);
}

static int free_meter(void **state)
{
	(void)state;
	plim_meter_free(meter);
	return 0;
}

static void begin(uint64_t ns)
{
	plim_stamp stamp = {{ns}, {ns + 5}};

	plim_meter_round(meter, stamp);
}

static plim_identity key_of(int32_t pid, uint64_t start)
{
	return (plim_identity){
	    .pid = pid, .has = PLIM_IDENTITY_START, .start_ticks = start};
}

static plim_real put(plim_identity key, plim_count counter)
{
	plim_real rate = {0};

	assert_int_equal(plim_meter_put(meter, &key, counter, &rate, NULL),
			 PLIM_OK);
	return rate;
}

static plim_real put_value(int32_t pid, uint64_t value)
{
	return put(key_of(pid, 1),
		   plim_count_known(value, PLIM_METHOD_STAT_TICKS));
}

static void is_missing(plim_real rate, int state, int reason)
{
	assert_int_equal(rate.state, state);
	assert_int_equal(rate.method, reason);
	assert_true(rate.value == 0);
}

static void is_pending(plim_real rate)
{
	is_missing(rate, PLIM_STATE_PENDING, PLIM_REASON_FIRST_SAMPLE);
}

static void is_rate(plim_real rate, double value)
{
	assert_int_equal(rate.state, PLIM_STATE_KNOWN);
	assert_true(rate.value == value);
}

static void test_rounds(void **state)
{
	(void)state;
	begin(10 * SECOND);
	is_pending(put_value(7, 100));
	is_pending(put_value(8, 0));
	begin(12 * SECOND);
	is_rate(put_value(7, 300), 100);
	is_rate(put_value(8, 0), 0);
	is_pending(put_value(9, 5));
	begin(13 * SECOND);
	is_rate(put_value(9, 10), 5);
	is_rate(put_value(7, 301), 1);
}

static void test_forgotten(void **state)
{
	(void)state;
	begin(1 * SECOND);
	is_pending(put_value(7, 100));
	begin(2 * SECOND);
	begin(3 * SECOND);
	is_pending(put_value(7, 300));
	begin(4 * SECOND);
	is_rate(put_value(7, 301), 1);
}

static void test_no_rate(void **state)
{
	(void)state;
	begin(1 * SECOND);
	put_value(7, 100);
	put_value(8, 100);
	put(key_of(9, 1), plim_count_known(1, PLIM_METHOD_STAT_TICKS));
	is_missing(put(key_of(10, 1),
		       plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13)),
		   PLIM_STATE_DENIED, PLIM_REASON_NOT_PERMITTED);
	begin(2 * SECOND);
	is_missing(put_value(7, 99), PLIM_STATE_RESET, PLIM_REASON_WENT_BACK);
	is_missing(put(key_of(8, 1), plim_count_missing(PLIM_REASON_ENDED, 3)),
		   PLIM_STATE_GONE, PLIM_REASON_ENDED);
	is_missing(put(key_of(9, 1),
		       plim_count_known(5, PLIM_METHOD_PROCESS_CPU_CLOCK)),
		   PLIM_STATE_UNLIKE, PLIM_REASON_OTHER_METHOD);
	is_missing(put_value(10, 5), PLIM_STATE_DENIED,
		   PLIM_REASON_NOT_PERMITTED);
	begin(2 * SECOND);
	is_missing(put_value(7, 200), PLIM_STATE_NO_INTERVAL,
		   PLIM_REASON_ZERO_INTERVAL);
	begin(1 * SECOND);
	is_missing(put_value(7, 300), PLIM_STATE_NO_INTERVAL,
		   PLIM_REASON_ZERO_INTERVAL);
}

/* A pid that is used again is another key; so is one with another inode. */
static void test_keys(void **state)
{
	plim_identity key = key_of(7, 1);
	plim_count ten = plim_count_known(10, PLIM_METHOD_STAT_TICKS);

	(void)state;
	begin(1 * SECOND);
	put(key, ten);
	begin(2 * SECOND);
	is_pending(put(key_of(7, 2), ten));
	is_pending(put(key_of(8, 1), ten));
	/* What `has` does not name means nothing. */
	key.inode = 99;
	is_rate(put(key, ten), 0);
	begin(3 * SECOND);
	key.has |= PLIM_IDENTITY_INODE;
	is_pending(put(key, ten));
	key.inode = 98;
	is_pending(put(key, ten));
	begin(4 * SECOND);
	is_rate(put(key, ten), 0);
	key.inode = 99;
	is_rate(put(key, ten), 0);
}

/* Put twice in one round: both against the round before, the last is kept. */
static void test_twice(void **state)
{
	(void)state;
	begin(1 * SECOND);
	put_value(7, 10);
	put_value(7, 20);
	begin(2 * SECOND);
	is_rate(put_value(7, 25), 5);
	is_rate(put_value(7, 26), 6);
	begin(3 * SECOND);
	is_rate(put_value(7, 30), 4);
}

static void test_before_any_round(void **state)
{
	(void)state;
	is_pending(put_value(7, 10));
	begin(2 * SECOND);
	is_rate(put_value(7, 30), 10);
}

#define MANY 10000

/* Keys that differ in little, over rounds of changing size. */
static void test_many(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 20; round++) {
		int32_t step = round % 2 == 0 ? 1 : 3;

		begin((round + 1) * SECOND);
		for (int32_t pid = 1; pid <= MANY; pid += step) {
			plim_real rate =
			    put_value(pid, (uint64_t)pid * round + round % 2);
			int seen =
			    round > 0 && (round % 2 == 1 || pid % 3 == 1);

			if (!seen)
				is_pending(rate);
			else if (round % 2 == 1)
				is_rate(rate, pid + 1);
			else
				is_rate(rate, pid - 1);
		}
	}
}

/* After two rounds of the largest size nothing is allocated any more. */
static void test_memory_is_reused(void **state)
{
	struct ration ration = {-1, 0, 0};
	const plim_allocator allocator = {ration_resize, &ration};
	int calls = 0;

	(void)state;
	assert_int_equal(plim_meter_new(&meter, &allocator, NULL), PLIM_OK);
	for (uint64_t round = 0; round < 10; round++) {
		begin((round + 1) * SECOND);
		for (int32_t pid = 1; pid <= 1000; pid++)
			put_value(pid, round);
		if (round == 1)
			calls = ration.calls;
	}
	assert_int_equal(ration.calls, calls);
	plim_meter_free(meter);
	assert_int_equal(ration.held, 0);
}

/* Every allocation fails once; the keys that were put stay right. */
static void test_failures(void **state)
{
	struct ration ration = {0, 0, 0};
	const plim_allocator allocator = {ration_resize, &ration};
	plim_meter *made = NULL;
	plim_error error;
	int left = 0;
	int failures = 1;

	(void)state;
	error.code = 0;
	assert_int_equal(plim_meter_new(&made, &allocator, &error),
			 PLIM_ENOMEM);
	assert_int_equal(error.code, PLIM_ENOMEM);
	assert_null(made);
	for (left = 1; failures > 0; left++) {
		failures = 0;
		ration.left = left;
		assert_int_equal(plim_meter_new(&meter, &allocator, NULL),
				 PLIM_OK);
		for (uint64_t round = 1; round <= 3; round++) {
			begin(round * SECOND);
			for (int32_t pid = 1; pid <= 300; pid++) {
				plim_identity key = key_of(pid, 1);
				plim_real rate = {.value = -1};
				int code = plim_meter_put(
				    meter, &key,
				    plim_count_known(round, PLIM_METHOD_STAT),
				    &rate, &error);

				if (code != PLIM_OK) {
					assert_int_equal(code, PLIM_ENOMEM);
					assert_int_equal(error.code,
							 PLIM_ENOMEM);
					assert_true(rate.value == -1);
					failures++;
				} else if (rate.state == PLIM_STATE_KNOWN) {
					assert_true(rate.value == 1);
				} else {
					is_pending(rate);
				}
			}
		}
		plim_meter_free(meter);
		assert_int_equal(ration.held, 0);
	}
	assert_true(left > 3);
}

static void test_free_nothing(void **state)
{
	(void)state;
	plim_meter_free(NULL);
}

#define METER_TEST(name) \
	cmocka_unit_test_setup_teardown(name, make_meter, free_meter)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    METER_TEST(test_rounds),
	    METER_TEST(test_forgotten),
	    METER_TEST(test_no_rate),
	    METER_TEST(test_keys),
	    METER_TEST(test_twice),
	    METER_TEST(test_before_any_round),
	    METER_TEST(test_many),
	    cmocka_unit_test(test_memory_is_reused),
	    cmocka_unit_test(test_failures),
	    cmocka_unit_test(test_free_nothing),
	};

	return cmocka_run_group_tests_name("meter", tests, NULL, NULL);
}
