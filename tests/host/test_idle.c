/*
 * test_idle.c - a quiet window: its figures against the counts of who was
 * observed, and what the observer itself did, which is in none of them.
 *
 * The sleeper of the observation is the test: it has the workload do a known
 * amount while the observer sleeps, so that the window holds that amount and
 * nothing else.
 */
#include "idle.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_of(clockid_t clock)
{
	struct timespec time;

	assert_int_equal(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t cpu_clock(pid_t pid)
{
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	return clock_of(clock);
}

static int act_spin(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		spawn_ask(&scene->spawn, "spin 40");
	return 0;
}

/* CPU time in the window is what the process's own clock says of it. */
static void test_cpu(void **state)
{
	struct scene scene;
	uint64_t before;
	uint64_t truth;
	uint64_t got;
	plim_idle_facts facts;
	plim_real percent;

	(void)state;
	scene_begin(&scene, (const char *const[]){"spin", NULL}, act_spin);
	before = cpu_clock(scene.spawn.pid);
	scene_observe(&scene);
	truth = cpu_clock(scene.spawn.pid) - before;
	got = scene_change(&scene, PLIM_FIELD_CPU);
	facts = scene_facts(&scene);
	assert_true(truth >= 40 * MS);
	assert_int_equal(got, truth);
	assert_int_equal(facts.quiet, 0);
	assert_int_equal(facts.ended, 0);
	assert_int_equal(facts.stopped, 0);
	assert_int_equal(facts.raised, 0);
	assert_int_equal(facts.image_changed, 0);
	assert_int_equal(facts.place, PLIM_IDLE_OUTSIDE);
	assert_int_equal(facts.samples, 2);
	assert_int_equal(facts.members, 1);
	assert_int_equal(facts.window_ns, 100 * MS);
	assert_int_equal(facts.window_asked_ns, 100 * MS);
	assert_true(facts.interval.elapsed_ns >= 100 * MS);
	assert_int_equal(facts.interval.suspended_ns, 0);
	assert_int_equal(scene.samples, 2);
	assert_int_equal(scene.looks, 0);
	percent = plim_idle_cpu_percent(scene.idle);
	expect_near(
	    (uint64_t)(percent.value / 100 * (double)facts.interval.elapsed_ns),
	    got, 0, 1);
	assert_true(scene.last.cpu_percent.value == percent.value);
	scene_end(&scene);
}

static int act_one_ms(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		spawn_ask(&scene->spawn, "spin 1");
	return 0;
}

/* One ten-thousandth of a core, in ten seconds: to the nanosecond. */
static void test_small(void **state)
{
	struct scene scene;
	uint64_t before;
	uint64_t truth;
	double percent;
	double elapsed;

	(void)state;
	scene_begin(&scene, (const char *const[]){"spin", NULL}, act_one_ms);
	scene.options.window_ns = 10000 * MS;
	scene.options.tree = 1;
	scene.options.threads = 1;
	before = cpu_clock(scene.spawn.pid);
	scene_observe(&scene);
	truth = cpu_clock(scene.spawn.pid) - before;
	percent = plim_idle_cpu_percent(scene.idle).value;
	elapsed = (double)scene_facts(&scene).interval.elapsed_ns;
	assert_in_range(truth, 1 * MS, 3 * MS);
	assert_int_equal(scene_change(&scene, PLIM_FIELD_CPU), truth);
	expect_near((uint64_t)(percent / 100 * elapsed), truth, 1, 0);
	assert_true(percent > 0.005 && percent < 0.03);
	scene_end(&scene);
}

static int act_pulse(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		spawn_ask(&scene->spawn, "pulse 50");
	return 0;
}

struct pulses {
	uint64_t total;
	uint64_t wakeups[8];
	uint64_t tids[8];
};

static void pulses_take(struct spawn *spawn, struct pulses *pulses, int count)
{
	pulses->total = spawn_truth(spawn, "wakeups");
	for (int i = 0; i < count; i++) {
		char key[32];

		snprintf(key, sizeof(key), "wakeups_%d", i);
		pulses->wakeups[i] = spawn_truth(spawn, key);
		snprintf(key, sizeof(key), "tid_%d", i);
		pulses->tids[i] = spawn_truth(spawn, key);
	}
}

static void expect_name(const plim_thread_change *change, const char *name)
{
	assert_int_equal(change->name.state, PLIM_STATE_KNOWN);
	assert_int_equal(change->name.bytes.size, strlen(name));
	assert_memory_equal(change->name.bytes.data, name, strlen(name));
}

/* The ranking: every thread's own count, and their sum is the process's. */
static void expect_ranking(const struct scene *scene,
			   const struct pulses *before,
			   const struct pulses *after, int count)
{
	plim_threads_facts about = plim_idle_thread_facts(scene->idle);
	uint64_t sum = 0;
	size_t i;

	assert_int_equal(plim_idle_thread_count(scene->idle), count + 1);
	for (i = 0; i < plim_idle_thread_count(scene->idle); i++)
		sum += plim_idle_thread_at(scene->idle, i).change.wakeups.value;
	assert_int_equal(sum, scene_change(scene, PLIM_FIELD_WAKEUPS));
	assert_int_equal(about.listed_wakeups.value, sum);
	assert_int_equal(about.first, count + 1);
	assert_int_equal(about.last, count + 1);
	/* The last one pulses most, and the main thread waits for all. */
	for (int thread = 0; thread < count; thread++) {
		plim_idle_thread found = {0};
		char name[16];

		for (i = 0; i < plim_idle_thread_count(scene->idle); i++) {
			found = plim_idle_thread_at(scene->idle, i);
			if ((uint64_t)found.change.last->tid ==
			    after->tids[thread])
				break;
		}
		snprintf(name, sizeof(name), "pulse-%d", thread);
		expect_name(&found.change, name);
		assert_int_equal(found.pid, scene->spawn.pid);
		assert_int_equal(found.change.wakeups.value,
				 after->wakeups[thread] -
				     before->wakeups[thread]);
		assert_int_equal(found.change.born, 0);
		assert_int_equal(found.process.bytes.size, 6);
		assert_memory_equal(found.process.bytes.data, "pulses", 6);
	}
	for (i = 1; i < plim_idle_thread_count(scene->idle); i++)
		assert_true(
		    plim_idle_thread_at(scene->idle, i - 1)
			.change.wakeups.value >=
		    plim_idle_thread_at(scene->idle, i).change.wakeups.value);
}

static void wakeups_run(int threads, int tree)
{
	struct pulses before;
	struct pulses after;
	struct scene scene;

	scene_begin(&scene, (const char *const[]){"pulses", "3", NULL},
		    act_pulse);
	scene.options.threads = threads;
	scene.options.tree = tree;
	spawn_ask(&scene.spawn, "truth");
	pulses_take(&scene.spawn, &before, 3);
	scene_settle(&scene);
	scene_observe(&scene);
	pulses_take(&scene.spawn, &after, 3);
	assert_true(after.total - before.total >= 300);
	assert_int_equal(scene_change(&scene, PLIM_FIELD_WAKEUPS),
			 after.total - before.total);
	assert_int_equal(plim_idle_change(scene.idle, PLIM_FIELD_WAKEUPS).bound,
			 PLIM_BOUND_AT_LEAST);
	if (threads)
		expect_ranking(&scene, &before, &after, 3);
	else
		assert_int_equal(plim_idle_thread_count(scene.idle), 0);
	assert_true((plim_idle_threads(scene.idle) != NULL) ==
		    (threads && !tree));
	assert_true((plim_idle_tree(scene.idle) != NULL) == tree);
	scene_end(&scene);
}

static void test_wakeups(void **state)
{
	(void)state;
	wakeups_run(0, 0);
	wakeups_run(1, 0);
	wakeups_run(0, 1);
	wakeups_run(1, 1);
}

static int act_finish(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		spawn_ask(&scene->spawn, "pulse 50");
	if (sleep == 1)
		spawn_ask(&scene->spawn, "finish 10");
	return 0;
}

/* What a thread that ended had counted by a sample in between stays in the
 * figure; with the two ends alone it is lost. */
static void finish_run(int tree, uint64_t sample_ns, uint64_t *got,
		       uint64_t *truth, uint64_t *lost)
{
	struct scene scene;
	uint64_t before;
	uint64_t last;

	scene_begin(&scene, (const char *const[]){"pulses", "3", NULL},
		    act_finish);
	scene.options.tree = tree;
	scene.options.threads = 1;
	scene.options.window_ns = sample_ns ? 2 * sample_ns : 100 * MS;
	scene.options.sample_ns = sample_ns;
	if (sample_ns == 0)
		scene.act = act_pulse;
	spawn_ask(&scene.spawn, "truth");
	before = spawn_truth(&scene.spawn, "wakeups");
	last = spawn_truth(&scene.spawn, "wakeups_2");
	scene_settle(&scene);
	scene_observe(&scene);
	*got = scene_change(&scene, PLIM_FIELD_WAKEUPS);
	*truth = spawn_truth(&scene.spawn, "wakeups") - before;
	*lost = last;
	assert_int_equal(scene_facts(&scene).samples, sample_ns ? 3 : 2);
	if (sample_ns != 0)
		assert_int_equal(plim_idle_thread_facts(scene.idle).exited, 1);
	assert_int_equal(scene_facts(&scene).threads_ended, sample_ns != 0);
	scene_end(&scene);
}

static void test_between(void **state)
{
	uint64_t got;
	uint64_t truth;
	uint64_t lost;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		/* It pulsed 150 times before the sample, 10 times behind it,
		 * and was woken once more to end. */
		finish_run(tree, 1000 * MS, &got, &truth, &lost);
		assert_in_range(truth - got, 10, 13);
		finish_run(tree, 0, &got, &truth, &lost);
		assert_int_equal(got, truth);
	}
}

static int act_born(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		spawn_ask(&scene->spawn, "born 70");
	return 0;
}

/* A thread that was born in the window brings all that it has. */
static void test_born(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene, (const char *const[]){"pulses", "1", NULL},
		    act_born);
	scene.options.threads = 1;
	scene_observe(&scene);
	assert_int_equal(plim_idle_thread_facts(scene.idle).born, 1);
	for (size_t i = 0; i < plim_idle_thread_count(scene.idle); i++) {
		plim_thread_change change =
		    plim_idle_thread_at(scene.idle, i).change;

		if ((uint64_t)change.last->tid !=
		    spawn_truth(&scene.spawn, "tid_1"))
			continue;
		assert_int_equal(change.born, 1);
		/* And the one that brings it to where it waits. */
		assert_int_equal(change.wakeups.value,
				 spawn_truth(&scene.spawn, "wakeups_1") + 1);
	}
	scene_end(&scene);
}

/* The observer sleeps once for each sample but the first, and the observed
 * process is not woken: nothing but what the kernel says of both. */
static void test_own_wakeups(void **state)
{
	struct scene scene;
	plim_idle_facts facts;
	uint64_t before;

	(void)state;
	scene_begin(&scene, (const char *const[]){"pulses", "4", NULL}, NULL);
	scene.options.sleep = NULL;
	scene.options.threads = 1;
	scene.options.window_ns = 400 * MS;
	scene.options.sample_ns = 40 * MS;
	scene_settle(&scene);
	before =
	    proc_number(scene.spawn.pid, "status", "voluntary_ctxt_switches");
	for (int tree = 0; tree < 2; tree++) {
		scene.options.tree = tree;
		scene_observe(&scene);
		facts = scene_facts(&scene);
		/* One that comes late is left out. */
		assert_in_range(facts.samples, 2, 11);
		assert_int_equal(facts.own_wakeups.state, PLIM_STATE_KNOWN);
		assert_in_range(facts.own_wakeups.value, 1, facts.samples);
		assert_true(facts.own_cpu_ns.value > 0);
		assert_int_equal(scene_change(&scene, PLIM_FIELD_WAKEUPS), 0);
		assert_int_equal(scene_change(&scene, PLIM_FIELD_CPU), 0);
	}
	assert_int_equal(
	    proc_number(scene.spawn.pid, "status", "voluntary_ctxt_switches"),
	    before);
	scene_end(&scene);
}

/* A thread of this process that does a known amount. */
static struct {
	int ends[2];
	uint64_t wakeups;
	uint64_t cpu_ns;
	int tid;
} inner;

static void *inner_run(void *user)
{
	struct rusage before;
	struct rusage after;
	uint64_t cpu;
	char byte;

	(void)user;
	prctl(PR_SET_NAME, "inner");
	inner.tid = (int)syscall(SYS_gettid);
	while (read(inner.ends[0], &byte, 1) == 1) {
		getrusage(RUSAGE_THREAD, &before);
		cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < 100; i++)
			usleep(200);
		while (clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu < 5 * MS)
			continue;
		inner.cpu_ns = clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
		getrusage(RUSAGE_THREAD, &after);
		inner.wakeups = (uint64_t)(after.ru_nvcsw - before.ru_nvcsw);
		__atomic_store_n(&inner.ends[1], -1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* The observing thread wakes twice as often as the other, and burns more. */
static int act_inner(struct scene *scene, unsigned sleep)
{
	uint64_t cpu = clock_of(CLOCK_THREAD_CPUTIME_ID);
	int end = inner.ends[1];

	(void)scene;
	if (sleep != 0)
		return 0;
	assert_int_equal(write(end, "x", 1), 1);
	for (int i = 0; i < 200; i++)
		usleep(200);
	while (clock_of(CLOCK_THREAD_CPUTIME_ID) - cpu < 30 * MS)
		continue;
	while (__atomic_load_n(&inner.ends[1], __ATOMIC_SEQ_CST) != -1)
		usleep(1000);
	inner.ends[1] = end;
	usleep(20000);
	return 0;
}

static void expect_inner(const struct scene *scene)
{
	plim_idle_facts facts = scene_facts(scene);
	plim_idle_thread first = plim_idle_thread_at(scene->idle, 0);
	uint64_t cpu = scene_change(scene, PLIM_FIELD_CPU);

	assert_int_equal(facts.place, PLIM_IDLE_SELF);
	/* And the wake-up that the byte was. */
	assert_int_equal(scene_change(scene, PLIM_FIELD_WAKEUPS),
			 inner.wakeups + 1);
	assert_true(facts.own_wakeups.value >= 200);
	assert_true(facts.own_cpu_ns.value >= 30 * MS);
	assert_in_range(cpu, inner.cpu_ns, inner.cpu_ns + MS / 2);
	/* Of the observing thread nothing is told. */
	assert_int_equal(plim_idle_thread_count(scene->idle), 1);
	assert_int_equal(first.change.last->tid, inner.tid);
	expect_name(&first.change, "inner");
	assert_int_equal(first.change.wakeups.value, inner.wakeups + 1);
	assert_int_equal(plim_idle_thread_facts(scene->idle).last, 1);
	assert_int_equal(
	    plim_idle_thread_facts(scene->idle).listed_wakeups.value,
	    inner.wakeups + 1);
}

static void test_self(void **state)
{
	struct scene scene;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(inner.ends), 0);
	assert_int_equal(pthread_create(&thread, NULL, inner_run, NULL), 0);
	usleep(20000);
	scene_begin(&scene, NULL, act_inner);
	scene.options.threads = 1;
	scene.options.window_ns = 200 * MS;
	scene_observe(&scene);
	expect_inner(&scene);
	/* Who names himself is observed in the same way, his tree likewise. */
	scene.target = open_target(scene.host, getpid());
	scene.sleeps = 0;
	scene_observe(&scene);
	expect_inner(&scene);
	scene.options.tree = 1;
	scene.sleeps = 0;
	scene_observe(&scene);
	expect_inner(&scene);
	scene_end(&scene);
	close(inner.ends[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(inner.ends[0]);
}

static int act_hold(struct scene *scene, unsigned sleep)
{
	if (sleep == 0)
		spawn_ask(&scene->spawn, "anonymous 16");
	if (sleep == 1)
		spawn_ask(&scene->spawn, "drop");
	return 0;
}

/* First, last and peak of a gauge: what was held for a moment is in the peak
 * alone. */
static void test_peak(void **state)
{
	struct scene scene;
	plim_count first;
	plim_count last;
	plim_count peak;

	(void)state;
	for (int tree = 0; tree < 2; tree++) {
		scene_begin(&scene,
			    (const char *const[]){"holder", "/tmp", NULL},
			    act_hold);
		scene.options.tree = tree;
		scene.options.window_ns = 2000 * MS;
		scene.options.sample_ns = 1000 * MS;
		scene_observe(&scene);
		first = plim_idle_first(scene.idle, PLIM_FIELD_PRIVATE);
		last = plim_idle_last(scene.idle, PLIM_FIELD_PRIVATE);
		peak = plim_idle_peak(scene.idle, PLIM_FIELD_PRIVATE);
		assert_int_equal(first.state, PLIM_STATE_KNOWN);
		assert_in_range(peak.value - first.value, 16 * MIB,
				16 * MIB + 65536);
		assert_true(last.value < first.value + MIB);
		assert_int_equal(peak.bound, PLIM_BOUND_AT_LEAST);
		assert_int_equal(first.bound, PLIM_BOUND_EXACT);
		assert_int_equal(
		    known(plim_idle_warm(scene.idle), PLIM_FIELD_PRIVATE),
		    first.value);
		assert_int_equal(
		    known(plim_idle_end(scene.idle), PLIM_FIELD_PRIVATE),
		    last.value);
		assert_int_equal(
		    plim_idle_change(scene.idle, PLIM_FIELD_PRIVATE).state,
		    PLIM_STATE_NOT_APPLICABLE);
		scene_end(&scene);
	}
}

static int act_count(struct scene *scene, unsigned sleep)
{
	(void)scene;
	(void)sleep;
	return 0;
}

/* A window that is shorter than the slowest timer is raised to it. */
static void test_raised(void **state)
{
	struct scene scene;
	plim_idle_facts facts;

	(void)state;
	scene_begin(&scene, (const char *const[]){"idle", NULL}, act_count);
	scene.options.longest_period_ns = 250 * MS;
	scene_observe(&scene);
	facts = scene_facts(&scene);
	assert_int_equal(facts.raised, 1);
	assert_int_equal(facts.window_asked_ns, 100 * MS);
	assert_int_equal(facts.window_ns, 250 * MS);
	assert_true(facts.interval.elapsed_ns >= 250 * MS);
	scene.options.longest_period_ns = 100 * MS;
	scene_observe(&scene);
	assert_int_equal(scene_facts(&scene).raised, 0);
	assert_int_equal(scene_facts(&scene).window_ns, 100 * MS);
	scene_end(&scene);
}

/* What is not known is not made up: figures before there is a sample, a field
 * that was not asked for, one that no list has. */
static void test_unknown(void **state)
{
	struct scene scene;
	plim_field_set few = {{0}};

	(void)state;
	scene_begin(&scene, (const char *const[]){"idle", NULL}, act_count);
	assert_int_equal(plim_idle_first(scene.idle, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_idle_change(scene.idle, PLIM_FIELD_CPU).state,
			 PLIM_STATE_UNREAD);
	assert_int_equal(plim_idle_cpu_percent(scene.idle).state,
			 PLIM_STATE_UNREAD);
	assert_null(plim_idle_warm(scene.idle));
	assert_null(plim_idle_end(scene.idle));
	assert_null(plim_idle_tree(scene.idle));
	assert_null(plim_idle_threads(scene.idle));
	assert_int_equal(scene_facts(&scene).samples, 0);
	plim_field_set_add(&few, PLIM_FIELD_CPU);
	scene.options.fields = &few;
	scene_observe(&scene);
	assert_int_equal(scene_change(&scene, PLIM_FIELD_CPU), 0);
	assert_int_equal(plim_idle_change(scene.idle, PLIM_FIELD_WAKEUPS).state,
			 PLIM_STATE_SKIPPED);
	assert_int_equal(plim_idle_last(scene.idle, PLIM_FIELD_RESIDENT).state,
			 PLIM_STATE_SKIPPED);
	assert_int_equal(plim_idle_last(scene.idle, 0).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(plim_idle_change(scene.idle, PLIM_FIELD_NAME).state,
			 PLIM_STATE_UNSUPPORTED);
	assert_int_equal(
	    plim_idle_change(scene.idle, PLIM_FIELD_DISK_BLOCKS).state,
	    PLIM_STATE_SKIPPED);
	scene.options.fields = NULL;
	scene_observe(&scene);
	assert_int_equal(
	    plim_idle_change(scene.idle, PLIM_FIELD_DISK_BLOCKS).state,
	    PLIM_STATE_UNSUPPORTED);
	assert_null(plim_idle_thread_at(scene.idle, 0).change.last);
	scene_end(&scene);
}

static void test_refused(void **state)
{
	struct scene scene;
	plim_idle_options options;
	plim_host *other = open_host(0);
	plim_target *strange = open_target(other, getpid());

	(void)state;
	scene_begin(&scene, (const char *const[]){"idle", NULL}, act_count);
	options = scene.options;
	assert_int_equal(plim_idle_new(NULL, scene.host, NULL), PLIM_EINVAL);
	assert_int_equal(plim_idle_new(&scene.idle, NULL, NULL), PLIM_EINVAL);
	assert_int_equal(plim_idle_observe(NULL, NULL, NULL, NULL),
			 PLIM_EINVAL);
	assert_int_equal(plim_idle_observe(scene.idle, strange, &options, NULL),
			 PLIM_EINVAL);
	options.size = 1;
	assert_int_equal(
	    plim_idle_observe(scene.idle, scene.target, &options, NULL),
	    PLIM_EINVAL);
	options = scene.options;
	options.quiet_cpu_percent = strtod("nan", NULL);
	assert_int_equal(
	    plim_idle_observe(scene.idle, scene.target, &options, NULL),
	    PLIM_EINVAL);
	options = scene.options;
	options.tree = 1;
	assert_int_equal(plim_idle_observe(scene.idle, NULL, &options, NULL),
			 PLIM_EINVAL);
	plim_idle_free(NULL);
	plim_target_close(strange);
	plim_host_close(other);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cpu),	    cmocka_unit_test(test_small),
	    cmocka_unit_test(test_wakeups), cmocka_unit_test(test_between),
	    cmocka_unit_test(test_born),    cmocka_unit_test(test_own_wakeups),
	    cmocka_unit_test(test_self),    cmocka_unit_test(test_peak),
	    cmocka_unit_test(test_raised),  cmocka_unit_test(test_unknown),
	    cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("idle", tests, NULL, NULL);
}
