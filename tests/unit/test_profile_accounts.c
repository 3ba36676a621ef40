/*
 * test_profile_accounts.c - the time of one thread: weights of samples from
 * the counters of an invented kernel, whose truth is known.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/accounts.h"

#include <stdlib.h>

#define PERIOD UINT64_C(10000000)
#define MS     UINT64_C(1000000)

static const struct plimp_sampling user_only = {PERIOD, 0};
static const struct plimp_sampling both = {PERIOD, 1};

static void expect_sum(const struct plimp_settlement *settled)
{
	const plim_profile_times *times = &settled->times;

	assert_int_equal(times->wall_ns,
			 times->cpu_ns + times->waiting_ns + times->blocked_ns);
	assert_int_equal(times->cpu_ns, times->sampled_ns + times->system_ns +
					    times->unsampled_ns);
}

/* A thread that computes for one second, sampled each period. */
static void test_busy(void **state)
{
	struct plimp_account account = {.begin_ns = 1};
	struct plimp_settlement settled;
	uint64_t lost = 0;
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 1; i <= 99; i++) {
		/* Up to 1 ms late, each time otherwise. */
		uint64_t at = i * PERIOD + i % 7 * MS / 7;

		sum += plimp_account_running(&account, &user_only, at, &lost);
	}
	assert_in_range(sum, 99 * PERIOD, 99 * PERIOD + MS);
	account.event_end = 1000 * MS;
	settled = plimp_account_settle(&account, &user_only, 1 + 1000 * MS);
	expect_sum(&settled);
	assert_int_equal(settled.times.cpu_ns, 1000 * MS);
	assert_int_equal(settled.times.sampled_ns, sum);
	/* The last period had no sample yet; it is not the kernel's. */
	assert_int_equal(settled.times.system_ns, 0);
	assert_int_equal(settled.times.blocked_ns, 0);
}

/* Half of the clock's ticks fall into the kernel, which has no samples. */
static void test_system(void **state)
{
	struct plimp_account account = {.begin_ns = 1};
	struct plimp_settlement settled;
	uint64_t lost = 0;
	uint64_t expected = 0;

	(void)state;
	srand(1);
	for (uint64_t i = 1; i <= 1000; i++) {
		uint64_t at = i * PERIOD + (uint64_t)rand() % MS;
		int in_kernel = rand() % 2;

		if (in_kernel && i < 1000) {
			expected += PERIOD;
			continue;
		}
		plimp_account_running(&account, &user_only, at, &lost);
	}
	account.event_end = 1000 * PERIOD + MS;
	settled =
	    plimp_account_settle(&account, &user_only, 1 + 1000 * PERIOD + MS);
	expect_sum(&settled);
	assert_int_equal(settled.times.system_ns, expected);
	assert_in_range(settled.times.sampled_ns, 1000 * PERIOD - expected,
			1000 * PERIOD - expected + MS);
}

/* Where the kernel is sampled, a gap belongs to the next sample. */
static void test_kernel_seen(void **state)
{
	struct plimp_account account = {.begin_ns = 1};
	uint64_t lost = 0;

	(void)state;
	assert_int_equal(plimp_account_running(&account, &both, PERIOD, &lost),
			 PERIOD);
	assert_int_equal(
	    plimp_account_running(&account, &both, 4 * PERIOD, &lost),
	    3 * PERIOD);
	assert_int_equal(account.kernel_ns, 0);
}

/* Samples that are known to be lost are not the kernel's time. */
static void test_lost(void **state)
{
	struct plimp_account account = {.begin_ns = 1};
	struct plimp_settlement settled;
	uint64_t lost = 2;

	(void)state;
	plimp_account_running(&account, &user_only, PERIOD, &lost);
	assert_int_equal(lost, 2);
	assert_int_equal(
	    plimp_account_running(&account, &user_only, 5 * PERIOD, &lost),
	    PERIOD);
	assert_int_equal(lost, 0);
	assert_int_equal(account.lost_ns, 2 * PERIOD);
	assert_int_equal(account.kernel_ns, PERIOD);
	account.event_end = 5 * PERIOD;
	settled = plimp_account_settle(&account, &user_only, 1 + 5 * PERIOD);
	expect_sum(&settled);
	assert_int_equal(settled.times.sampled_ns, 2 * PERIOD);
	assert_int_equal(settled.times.system_ns, PERIOD);
	assert_int_equal(settled.times.unsampled_ns, 2 * PERIOD);
}

/* A sample that comes late, one without a counter, and another counter. */
static void test_odd(void **state)
{
	struct plimp_account account = {.begin_ns = 1};
	uint64_t lost = 0;

	(void)state;
	plimp_account_running(&account, &user_only, 3 * PERIOD, &lost);
	assert_int_equal(
	    plimp_account_running(&account, &user_only, 2 * PERIOD, &lost), 0);
	assert_int_equal(plimp_account_running(&account, &user_only, 0, &lost),
			 PERIOD);
	account.event_cpu = 100 * PERIOD;
	assert_int_equal(
	    plimp_account_running(&account, &user_only, PERIOD, &lost), PERIOD);
	assert_int_equal(
	    plimp_account_running(&account, &user_only, 2 * PERIOD, &lost),
	    PERIOD);
}

/* Blocked but for 1 ms of CPU and 2 ms of waiting in each period. */
static void test_blocked(void **state)
{
	struct plimp_account account = {.begin_ns = MS};
	struct plimp_settlement settled;
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 0; i <= 100; i++)
		sum += plimp_account_look(&account, MS + i * PERIOD, i * MS,
					  i * 2 * MS, 1);
	assert_int_equal(sum, 100 * 7 * MS);
	settled = plimp_account_settle(&account, &user_only, MS + 100 * PERIOD);
	expect_sum(&settled);
	assert_int_equal(settled.times.wall_ns, 1000 * MS);
	assert_int_equal(settled.times.waiting_ns, 200 * MS);
	assert_int_equal(settled.times.blocked_ns, 700 * MS);
	assert_int_equal(settled.blocked_unknown_ns, 0);
	assert_int_equal(settled.blocked_debt_ns, 0);
}

/* While it runs its counters lag by up to 4 ms: nothing is given out, and at
 * the end there is no blocked time that was not there. */
static void test_lag(void **state)
{
	struct plimp_account account = {.begin_ns = MS};
	struct plimp_settlement settled;

	(void)state;
	for (uint64_t i = 0; i <= 100; i++) {
		uint64_t ran = i * PERIOD;

		assert_int_equal(plimp_account_look(&account, MS + ran,
						    ran / (4 * MS) * (4 * MS),
						    0, 0),
				 0);
	}
	account.event_end = 100 * PERIOD;
	settled = plimp_account_settle(&account, &user_only, MS + 100 * PERIOD);
	expect_sum(&settled);
	assert_int_equal(settled.times.blocked_ns, 0);
	assert_int_equal(settled.blocked_unknown_ns, 0);
}

/* Time before and between looks that nobody saw blocked is on no stack. */
static void test_unknown(void **state)
{
	struct plimp_account account = {.begin_ns = MS};
	struct plimp_settlement settled;

	(void)state;
	assert_int_equal(plimp_account_look(&account, MS, 0, 0, 0), 0);
	assert_int_equal(plimp_account_look(&account, 11 * MS, 2 * MS, 0, 0),
			 0);
	/* Carried, and given to the next blocked look. */
	assert_int_equal(plimp_account_look(&account, 21 * MS, 2 * MS, 0, 1),
			 18 * MS);
	settled = plimp_account_settle(&account, &user_only, 31 * MS);
	expect_sum(&settled);
	assert_int_equal(settled.times.blocked_ns, 28 * MS);
	assert_int_equal(settled.blocked_unknown_ns, 10 * MS);
	/* It ended earlier. */
	account.end_ns = 26 * MS;
	settled = plimp_account_settle(&account, &user_only, 31 * MS);
	assert_int_equal(settled.times.wall_ns, 25 * MS);
	assert_int_equal(settled.blocked_unknown_ns, 5 * MS);
}

/* The events count more than the looks: what was given too much is a debt. */
static void test_debt(void **state)
{
	struct plimp_account account = {.begin_ns = MS};
	struct plimp_settlement settled;

	(void)state;
	plimp_account_look(&account, MS, 0, 0, 1);
	assert_int_equal(plimp_account_look(&account, 11 * MS, 0, 0, 1),
			 10 * MS);
	account.event_end = 3 * MS;
	settled = plimp_account_settle(&account, &user_only, 11 * MS);
	expect_sum(&settled);
	assert_int_equal(settled.times.blocked_ns, 7 * MS);
	assert_int_equal(settled.blocked_debt_ns, 3 * MS);
	/* More CPU time than there was time: two clocks. */
	account.event_end = 20 * MS;
	settled = plimp_account_settle(&account, &user_only, 11 * MS);
	expect_sum(&settled);
	assert_int_equal(settled.times.wall_ns, 20 * MS);
}

/* Counters that go back are not believed, and break nothing. */
static void test_back(void **state)
{
	struct plimp_account account = {.begin_ns = MS};

	(void)state;
	plimp_account_look(&account, 10 * MS, 5 * MS, MS, 1);
	assert_int_equal(plimp_account_look(&account, 9 * MS, 6 * MS, MS, 1),
			 0);
	assert_int_equal(plimp_account_look(&account, 11 * MS, 4 * MS, MS, 1),
			 0);
	assert_int_equal(plimp_account_look(&account, 11 * MS, 5 * MS, 0, 1),
			 0);
	assert_int_equal(plimp_account_look(&account, 12 * MS, 5 * MS, MS, 1),
			 2 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_busy),	cmocka_unit_test(test_system),
	    cmocka_unit_test(test_kernel_seen), cmocka_unit_test(test_lost),
	    cmocka_unit_test(test_odd),		cmocka_unit_test(test_blocked),
	    cmocka_unit_test(test_lag),		cmocka_unit_test(test_unknown),
	    cmocka_unit_test(test_debt),	cmocka_unit_test(test_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
