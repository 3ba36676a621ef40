/*
 * test_idle_suspend.c - a machine that sleeps in a window. The clock of this
 * program is the test's: it lets the time since boot run on by an hour, as it
 * does when a machine was suspended, while monotonic time stands still.
 */
#include "idle.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static time_t suspended_s;

/* It takes the place of the C library's, for the library too. */
int clock_gettime(clockid_t clock, struct timespec *time)
{
	int code = (int)syscall(SYS_clock_gettime, clock, time);

	if (code == 0 && clock == CLOCK_BOOTTIME)
		time->tv_sec += suspended_s;
	return code;
}

static int act_suspend(struct scene *scene, unsigned sleep)
{
	(void)scene;
	if (sleep == 0)
		suspended_s += 3600;
	return 0;
}

static void suspend_run(const char *const *argv, int tree)
{
	struct scene scene;
	plim_idle_facts facts;

	scene_begin(&scene, argv, act_suspend);
	scene.options.tree = tree;
	scene_observe(&scene);
	facts = scene_facts(&scene);
	/* To a millisecond, which is how far apart two clocks are read. */
	assert_in_range(facts.interval.suspended_ns, 3599999 * MS,
			3600001 * MS);
	/* Rates divide by the time that the machine was awake. */
	assert_in_range(facts.interval.elapsed_ns, 100 * MS, 60000 * MS);
	assert_int_equal(plim_idle_cpu_percent(scene.idle).state,
			 PLIM_STATE_KNOWN);
	scene.act = NULL;
	scene_observe(&scene);
	assert_int_equal(scene_facts(&scene).interval.suspended_ns, 0);
	scene_end(&scene);
}

static void test_suspended(void **state)
{
	(void)state;
	suspend_run((const char *const[]){"idle", NULL}, 0);
	suspend_run((const char *const[]){"idle", NULL}, 1);
	suspend_run(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_suspended),
	};

	return cmocka_run_group_tests_name("idle_suspend", tests, NULL, NULL);
}
