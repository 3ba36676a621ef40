/*
 * test_inside_session.c - a process that samples itself: where its threads'
 * time went, by their own CPU clocks; starting, stopping, doing it again.
 */
#include "crew.h"

#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect_near(uint64_t got, uint64_t truth, unsigned percent,
			uint64_t slack)
{
	uint64_t bound = truth / 100 * percent + slack;

	if (got > truth + bound || got + bound < truth)
		fail_msg("%llu ns instead of %llu", (unsigned long long)got,
			 (unsigned long long)truth);
}

/* Four threads with shares of 1:2:4:8; a thread's time is its clock's. */
static void test_shares(void **state)
{
	struct crew crew = {0};
	struct member *members[4];
	uint64_t first[4];
	uint64_t truth[4];
	uint64_t samples[4];
	double all_truth = 0;
	double all_samples = 0;
	plim_profile *profile = self_open((plim_profile_request){.hz = 500});

	(void)state;
	for (int i = 0; i < 4; i++)
		members[i] = crew_add(&crew, MS << i, (16 - (1u << i)) * MS, 0);
	for (int i = 0; i < 4; i++)
		first[i] = crew_cpu(members[i]);
	self_for(profile, 2 * SECOND);
	NEEDS_RUNNING(&crew, profile);
	for (int i = 0; i < 4; i++) {
		const plim_profile_thread *row =
		    self_thread(profile, members[i]->tid);

		truth[i] = crew_cpu(members[i]) - first[i];
		samples[i] = row->samples;
		all_truth += (double)truth[i];
		all_samples += (double)samples[i];
		expect_near(row->times.cpu_ns, truth[i], 5, 30 * MS);
	}
	crew_end(&crew);
	assert_true(all_samples > 20);
	for (int i = 0; i < 4; i++) {
		double got = (double)samples[i] / all_samples;
		double share = (double)truth[i] / all_truth;
		double error = sqrt(share * (1 - share) / all_samples);

		if (fabs(got - share) > 4 * error + 0.02)
			fail_msg("a share of %.3f instead of %.3f", got, share);
	}
	self_holds(profile);
	assert_int_equal(plim_profile_about(profile).end,
			 PLIM_PROFILE_END_STOPPED);
	plim_profile_free(profile);
}

/* Neither the thread that samples nor anything but this process is in it. */
static void test_not_the_sampler(void **state)
{
	struct crew crew = {0};
	plim_profile *profile = self_open((plim_profile_request){.hz = 100});
	struct member *member = crew_add(&crew, MS, MS, 0);
	int32_t own = (int32_t)syscall(SYS_gettid);

	(void)state;
	self_for(profile, SECOND / 4);
	crew_end(&crew);
	assert_int_equal(plim_profile_thread_count(profile), 2);
	assert_true(self_thread(profile, own)->blocked_samples > 0);
	assert_true(self_thread(profile, member->tid)->times.cpu_ns > 0);
	assert_int_equal(plim_profile_process_count(profile), 1);
	assert_int_equal(plim_profile_about(profile).target.pid, getpid());
	assert_true(self_metric(profile, PLIM_METRIC_SAMPLER_CPU) > 0);
	plim_profile_free(profile);
}

/* Run in the calling thread it is the same, and that thread is left out. */
static void test_run(void **state)
{
	struct crew crew = {0};
	plim_profile *profile = self_open(
	    (plim_profile_request){.hz = 200, .duration_ns = SECOND / 4});
	struct member *member = crew_add(&crew, MS, 0, 0);
	struct member *sleeper = crew_add(&crew, 0, MS, 0);

	(void)state;
	assert_int_equal(plim_profile_run(profile, NULL), PLIM_OK);
	crew_end(&crew);
	assert_int_equal(plim_profile_thread_count(profile), 2);
	assert_true(self_thread(profile, member->tid)->times.cpu_ns > 0);
	assert_true(self_thread(profile, sleeper->tid)->blocked_samples > 0);
	assert_int_equal(plim_profile_about(profile).end,
			 PLIM_PROFILE_END_DURATION);
	self_holds(profile);
	plim_profile_free(profile);
}

static void test_second(void **state)
{
	struct crew crew = {0};
	plim_profile *first = self_open((plim_profile_request){.hz = 100});
	plim_profile *second = self_open(
	    (plim_profile_request){.hz = 100, .duration_ns = SECOND / 20});
	plim_error error = {0};

	(void)state;
	crew_add(&crew, MS, 0, 0);
	crew_add(&crew, 0, MS, 0);
	assert_int_equal(plim_profile_join(first, NULL), PLIM_EINVAL);
	assert_int_equal(plim_profile_start(first, NULL), PLIM_OK);
	assert_int_equal(plim_profile_start(second, &error), PLIM_EBUSY);
	assert_int_equal(error.code, PLIM_EBUSY);
	assert_true(strlen(error.detail) > 0);
	assert_int_equal(plim_profile_run(second, NULL), PLIM_EBUSY);
	assert_int_equal(plim_profile_start(first, NULL), PLIM_EINVAL);
	crew_sleep(SECOND / 20);
	plim_profile_stop(first);
	assert_int_equal(plim_profile_join(first, NULL), PLIM_OK);
	assert_int_equal(plim_profile_run(second, NULL), PLIM_OK);
	self_for(first, SECOND / 20);
	crew_end(&crew);
	plim_profile_free(first);
	plim_profile_free(second);
}

/* Freed while it samples: it ends first. */
static void test_freed(void **state)
{
	plim_profile *profile = self_open((plim_profile_request){.hz = 100});

	(void)state;
	assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
	plim_profile_free(profile);
	profile = self_open((plim_profile_request){.hz = 100});
	assert_int_equal(plim_profile_start(profile, NULL), PLIM_OK);
	plim_profile_free(profile);
}

/* Each run tells of itself alone. */
static void test_again(void **state)
{
	struct crew crew = {0};
	plim_profile *profile = self_open((plim_profile_request){.hz = 200});
	struct member *member = crew_add(&crew, MS, 0, 0);

	(void)state;
	for (int i = 0; i < 100; i++) {
		uint64_t begin = crew_now();
		uint64_t cpu = crew_cpu(member);

		self_for(profile, 2 * MS);
		assert_true(plim_profile_about(profile).start_ns >= begin);
		assert_true(plim_profile_about(profile).duration_ns <=
			    crew_now() - begin);
		assert_true(self_thread(profile, member->tid)->times.cpu_ns <=
			    crew_cpu(member) - cpu + 10 * MS);
		self_holds(profile);
	}
	self_for(profile, SECOND / 4);
	NEEDS_RUNNING(&crew, profile);
	/* One each 5 ms of its CPU time. */
	assert_true(self_thread(profile, member->tid)->samples + 2 >=
		    self_thread(profile, member->tid)->times.cpu_ns / (6 * MS));
	assert_int_equal(plim_profile_resolve(profile, NULL), PLIM_OK);
	self_holds(profile);
	crew_end(&crew);
	plim_profile_free(profile);
}

static void test_refused(void **state)
{
	plim_profile *profile = NULL;
	plim_profile_request request = {.size = sizeof(request)};

	(void)state;
	request.flags = PLIM_PROFILE_TREE;
	assert_int_equal(plim_profile_open_self(&profile, NULL, &request, NULL),
			 PLIM_EINVAL);
	request.flags = PLIM_PROFILE_PTRACE;
	assert_int_equal(plim_profile_open_self(&profile, NULL, &request, NULL),
			 PLIM_EINVAL);
	assert_null(profile);
	plim_profile_stop(self_open((plim_profile_request){.hz = 1}));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_shares),
	    cmocka_unit_test(test_not_the_sampler),
	    cmocka_unit_test(test_run),
	    cmocka_unit_test(test_second),
	    cmocka_unit_test(test_freed),
	    cmocka_unit_test(test_again),
	    cmocka_unit_test(test_refused),
	};

	self_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
