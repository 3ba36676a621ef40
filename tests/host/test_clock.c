/*
 * test_clock.c - the wall clock is set while a process is watched: it stays
 * who it is, and its start does not move.
 *
 * The clock of the machine is left alone. This program's clock_gettime()
 * stands before that of the C library, and so the library gets a clock that
 * somebody has set.
 */
#include "common.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int64_t clock_step_seconds;

int clock_gettime(clockid_t clock, struct timespec *time)
{
	long result = syscall(SYS_clock_gettime, clock, time);

	if (result == 0 && clock == CLOCK_REALTIME)
		time->tv_sec += clock_step_seconds;
	return (int)result;
}

static void clock_stepped(uint32_t flags, int64_t seconds)
{
	plim_host *before;
	plim_host *after;
	plim_target *target;
	plim_target *found = NULL;
	plim_usage *usage;
	plim_identity identity;
	plim_identity later;
	uint64_t start;
	uint64_t boot;

	clock_step_seconds = 0;
	before = open_host(flags);
	target = open_target(before, getpid());
	identity = plim_target_identity(target);
	usage = new_usage(before);
	start = known(measure(usage, target), PLIM_FIELD_START_UNIX_MS);
	boot = plim_host_count(before, PLIM_HOST_BOOT_UNIX_MS).value;

	clock_step_seconds = seconds;
	expect_fate(target, PLIM_FATE_SAME, 0, 0);
	assert_int_equal(
	    known(measure(usage, target), PLIM_FIELD_START_UNIX_MS), start);
	/* A host that is opened now sees the new clock, and the same process.
	 */
	after = open_host(flags);
	assert_int_equal(
	    plim_target_open_identity(&found, after, &identity, NULL), PLIM_OK);
	later = plim_target_identity(found);
	assert_int_equal(plim_identity_compare(&identity, &later), PLIM_SAME);
	assert_int_equal(later.start_ticks, identity.start_ticks);
	/* The step did reach the library. */
	expect_near(plim_host_count(after, PLIM_HOST_BOOT_UNIX_MS).value,
		    (uint64_t)((int64_t)boot + seconds * 1000), 0, 1000);
	plim_usage_free(usage);
	plim_target_close(target);
	plim_target_close(found);
	plim_host_close(before);
	plim_host_close(after);
	clock_step_seconds = 0;
}

static void test_step(void **state)
{
	static const uint32_t flags[] = {0, PLIM_HOST_NO_INODE,
					 PLIM_HOST_NO_PIDFD};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		clock_stepped(flags[i], 7200);
		clock_stepped(flags[i], -7200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_step)};

	return cmocka_run_group_tests_name("a clock that is set", tests, NULL,
					   NULL);
}
