/*
 * test_profile_request.c - bounds of a profile's request, and the frequency
 * that follows a budget.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/request.h"

static struct plimp_effective settle(plim_profile_request request)
{
	struct plimp_effective effective;

	request.size = sizeof(request);
	plimp_request_settle(&request, 1, &effective);
	return effective;
}

static void test_defaults(void **state)
{
	struct plimp_effective got = settle((plim_profile_request){0});

	(void)state;
	assert_int_equal(got.hz, 99);
	assert_int_equal(got.hz_ceiling, 1000);
	assert_int_equal(got.period_ns, 10101010);
	assert_int_equal(got.duration_ns, UINT64_C(10000000000));
	assert_int_equal(got.stack_bytes, 16384);
	assert_int_equal(got.clamped, 0);
	assert_int_equal(got.is_budget, 0);
}

static void test_clamps(void **state)
{
	static const struct {
		uint32_t hz, ceiling;
		uint32_t effective, clamped;
	} rates[] = {
	    {1, 0, 1, 0},
	    {1000, 0, 1000, 0},
	    {1001, 0, 1000, PLIM_CLAMPED_HZ},
	    {UINT32_MAX, 0, 1000, PLIM_CLAMPED_HZ},
	    {5000, 10000, 5000, 0},
	    {20000, 10000, 10000, PLIM_CLAMPED_HZ},
	    {20000, 20000, 10000, PLIM_CLAMPED_HZ | PLIM_CLAMPED_CEILING},
	    {0, 50, 50, 0},
	};
	static const struct {
		uint64_t duration, ceiling, effective;
		uint32_t clamped;
	} times[] = {
	    {1, 0, 1000000, PLIM_CLAMPED_DURATION},
	    {UINT64_C(60000000000), 0, UINT64_C(60000000000), 0},
	    {UINT64_C(60000000001), 0, UINT64_C(60000000000),
	     PLIM_CLAMPED_DURATION},
	    {UINT64_C(90000000000), UINT64_C(90000000000),
	     UINT64_C(90000000000), 0},
	    {UINT64_MAX, UINT64_MAX, UINT64_C(86400000000000),
	     PLIM_CLAMPED_DURATION | PLIM_CLAMPED_CEILING},
	    {0, UINT64_C(2000000000), UINT64_C(2000000000), 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++) {
		struct plimp_effective got = settle((plim_profile_request){
		    .hz = rates[i].hz, .hz_ceiling = rates[i].ceiling});

		assert_int_equal(got.hz, rates[i].effective);
		assert_int_equal(got.period_ns, 1000000000 / got.hz);
		assert_int_equal(got.clamped, rates[i].clamped);
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct plimp_effective got = settle((plim_profile_request){
		    .duration_ns = times[i].duration,
		    .duration_ceiling_ns = times[i].ceiling});

		assert_int_equal(got.duration_ns, times[i].effective);
		assert_int_equal(got.clamped, times[i].clamped);
	}
}

static void test_memory(void **state)
{
	plim_profile_request request = {
	    .size = sizeof(request), .hz = 1000, .memory_bytes = 4096};
	struct plimp_effective few;
	struct plimp_effective many;

	(void)state;
	assert_int_equal(settle(request).memory_bytes, 0x10000);
	assert_int_equal(settle(request).clamped, PLIM_CLAMPED_MEMORY);
	request.memory_bytes = 0;
	plimp_request_settle(&request, 100, &few);
	plimp_request_settle(&request, 200, &many);
	assert_int_equal(few.memory_bytes, UINT64_C(1000) * 10 * 104 * 64);
	assert_true(many.memory_bytes > few.memory_bytes);
	plimp_request_settle(&request, 1000000, &many);
	assert_int_equal(many.memory_bytes, 256 << 20);
	/* A dump of a kernel is a multiple of 8. */
	assert_int_equal(
	    settle((plim_profile_request){.stack_bytes = 1}).stack_bytes, 1024);
	assert_int_equal(
	    settle((plim_profile_request){.stack_bytes = 70000}).stack_bytes,
	    64000);
	assert_int_equal(
	    settle((plim_profile_request){.stack_bytes = 20001}).stack_bytes,
	    20000);
}

/* A target of which each sample costs 10 us: at 1 % it bears 1,000 Hz. */
static void test_budget(void **state)
{
	plim_profile_request request = {.size = sizeof(request),
					.hz = 99,
					.hz_ceiling = 5000,
					.budget_percent = 1};
	struct plimp_effective effective = settle(request);
	struct plimp_budget_state budget;
	uint64_t now = 0;
	uint64_t cost = 0;
	uint32_t last = effective.hz;

	(void)state;
	assert_int_equal(effective.is_budget, 1);
	plimp_budget_begin(&budget, &request, &effective);
	for (int i = 0; i < 10; i++) {
		uint32_t next;

		now += 1000000000;
		cost += last * UINT64_C(10000);
		next = plimp_budget_adjust(&budget, now, cost, 0);
		assert_true(next <= 2 * last);
		last = next;
	}
	assert_in_range(last, 999, 1000);
	/* Ten times as dear: a tenth, by halves. */
	for (int i = 0; i < 10; i++) {
		now += 1000000000;
		cost += last * UINT64_C(100000);
		last = plimp_budget_adjust(&budget, now, cost, 0);
	}
	assert_in_range(last, 98, 100);
}

static void test_budget_pause(void **state)
{
	plim_profile_request request = {
	    .size = sizeof(request), .hz = 800, .budget_pause_ns = 2000000};
	struct plimp_effective effective = settle(request);
	struct plimp_budget_state budget;

	(void)state;
	plimp_budget_begin(&budget, &request, &effective);
	assert_int_equal(plimp_budget_adjust(&budget, 1000, 0, 2000001), 400);
	assert_int_equal(plimp_budget_adjust(&budget, 2000, 0, 2000000), 800);
	assert_int_equal(plimp_budget_adjust(&budget, 3000, 0, 0), 1000);
	/* Time stands still: nothing follows from it. */
	assert_int_equal(plimp_budget_adjust(&budget, 3000, 0, 9000000), 1000);
	for (int i = 0; i < 40; i++)
		plimp_budget_adjust(&budget, 4000 + (uint64_t)i, 0, 9000000);
	assert_int_equal(plimp_budget_adjust(&budget, 9000, 0, 9000000), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_defaults),	 cmocka_unit_test(test_clamps),
	    cmocka_unit_test(test_memory),	 cmocka_unit_test(test_budget),
	    cmocka_unit_test(test_budget_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
