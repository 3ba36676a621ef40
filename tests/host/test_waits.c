/*
 * test_waits.c - nice value, OOM score and what threads waited for, against
 * the files of the kernel, read here, and against two processes that have one
 * CPU between them.
 */
#include "common.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct waits {
	plim_host *host;
	plim_usage *first;
	plim_usage *last;
};

static int setup(void **state)
{
	static struct waits waits;

	waits.host = open_host(0);
	waits.first = new_usage(waits.host);
	waits.last = new_usage(waits.host);
	*state = &waits;
	return 0;
}

static int teardown(void **state)
{
	struct waits *waits = *state;

	plim_usage_free(waits->first);
	plim_usage_free(waits->last);
	plim_host_close(waits->host);
	return 0;
}

/* The second number of a schedstat, or of any file its only one. */
static uint64_t number_in(const char *path, int place)
{
	uint64_t numbers[2] = {0, 0};
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_true(fscanf(file, "%" SCNu64 " %" SCNu64, &numbers[0],
			   &numbers[1]) > place);
	fclose(file);
	return numbers[place];
}

static uint64_t runqueue_of_threads(pid_t pid)
{
	char path[400];
	struct dirent *entry;
	uint64_t sum = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat",
			 (int)pid, entry->d_name);
		sum += number_in(path, 1);
	}
	closedir(folder);
	return sum;
}

static void test_nice(void **state)
{
	struct waits *waits = *state;
	plim_snapshot *snapshot = new_snapshot(waits->host);
	struct spawn spawn;
	plim_target *target;
	/* Whoever runs this may be nice already. */
	int more = getpriority(PRIO_PROCESS, 0) < 7 ? 7 : 19;

	spawn_start(&spawn, (const char *const[]){"idle", NULL});
	target = open_target(waits->host, spawn.pid);
	assert_int_equal(setpriority(PRIO_PROCESS, (id_t)spawn.pid, more), 0);
	assert_int_equal(known(measure(waits->last, target), PLIM_FIELD_NICE),
			 more);
	take(snapshot);
	assert_int_equal(
	    known(plim_snapshot_find(snapshot, spawn.pid), PLIM_FIELD_NICE),
	    more);
	errno = 0;
	assert_int_equal(known(measure_self(waits->last), PLIM_FIELD_NICE),
			 (uint64_t)getpriority(PRIO_PROCESS, 0));
	assert_int_equal(errno, 0);
	if (setpriority(PRIO_PROCESS, (id_t)spawn.pid, -5) == 0) {
		plim_count nice;

		measure(waits->last, target);
		nice = plim_process_count(plim_usage_process(waits->last),
					  PLIM_FIELD_NICE);
		assert_true(plim_real_in_unit(nice, PLIM_UNIT_SIGNED).value ==
			    -5);
	} else {
		assert_int_not_equal(geteuid(), 0);
	}
	plim_target_close(target);
	spawn_end(&spawn);
	plim_snapshot_free(snapshot);
}

static void set_oom_adjustment(pid_t pid, int value)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fprintf(file, "%d", value) > 0);
	assert_int_equal(fclose(file), 0);
}

static void test_oom_score(void **state)
{
	struct waits *waits = *state;
	plim_snapshot *snapshot = new_snapshot(waits->host);
	const plim_process *thread;
	struct spawn spawn;
	plim_target *target;
	uint64_t before;
	uint64_t after;
	char path[64];

	spawn_start(&spawn, (const char *const[]){"idle", NULL});
	snprintf(path, sizeof(path), "/proc/%d/oom_score", (int)spawn.pid);
	target = open_target(waits->host, spawn.pid);
	before = known(measure(waits->last, target), PLIM_FIELD_OOM_SCORE);
	expect_near(before, number_in(path, 0), 0, 2);
	set_oom_adjustment(spawn.pid, 600);
	after = known(measure(waits->last, target), PLIM_FIELD_OOM_SCORE);
	expect_near(after, number_in(path, 0), 0, 2);
	/* Two thirds of it (fs/proc/base.c). */
	assert_true(after > before + 350 && after < before + 450);
	take(snapshot);
	expect_near(known(plim_snapshot_find(snapshot, spawn.pid),
			  PLIM_FIELD_OOM_SCORE),
		    after, 0, 2);
	thread = plim_snapshot_find(snapshot, 2);
	if (thread != NULL && known(thread, PLIM_FIELD_KERNEL_THREAD))
		expect_state(thread, PLIM_FIELD_OOM_SCORE,
			     PLIM_STATE_NOT_APPLICABLE);
	expect_near(known(measure_self(waits->last), PLIM_FIELD_OOM_SCORE),
		    number_in("/proc/self/oom_score", 0), 0, 2);
	kill(spawn.pid, SIGKILL);
	waitid(P_PID, (id_t)spawn.pid, &(siginfo_t){0}, WEXITED | WNOWAIT);
	expect_state(measure(waits->last, target), PLIM_FIELD_OOM_SCORE,
		     PLIM_STATE_NOT_APPLICABLE);
	plim_target_close(target);
	spawn_end(&spawn);
	plim_snapshot_free(snapshot);
}

static int has_runqueue(void)
{
	return access("/proc/self/schedstat", R_OK) == 0 &&
	       number_in("/proc/self/schedstat", 0) > 0;
}

#define NO_RUNQUEUE "this kernel does not count waits for a CPU"

/* One of the CPUs that this process may use. */
static cpu_set_t one_cpu(void)
{
	cpu_set_t cpus;

	assert_int_equal(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	for (size_t cpu = 0, kept = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &cpus) && kept)
			CPU_CLR(cpu, &cpus);
		kept |= CPU_ISSET(cpu, &cpus) != 0;
	}
	return cpus;
}

/* All that stand still are read to the nanosecond. A thread that is started
 * while its starter has the only CPU waits for it; on an idle one it need not
 * wait a nanosecond. */
static void test_runqueue_of_many(void **state)
{
	struct waits *waits = *state;
	plim_snapshot *snapshot = new_snapshot(waits->host);
	cpu_set_t one = one_cpu();
	plim_count figure;
	struct spawn spawn;
	plim_target *target;
	cpu_set_t all;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	spawn_start(&spawn, (const char *const[]){"threads", "8", NULL});
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	target = open_target(waits->host, spawn.pid);
	child_sleep_ms(50);
	figure = plim_process_count(measure(waits->last, target),
				    PLIM_FIELD_RUNQUEUE);
	if (has_runqueue()) {
		assert_int_equal(figure.state, PLIM_STATE_KNOWN);
		assert_int_equal(figure.bound, PLIM_BOUND_AT_LEAST);
		assert_int_equal(figure.method, PLIM_METHOD_THREAD_SUM);
		assert_int_equal(figure.value, runqueue_of_threads(spawn.pid));
		assert_true(figure.value > 0);
		take(snapshot);
		figure =
		    plim_process_count(plim_snapshot_find(snapshot, spawn.pid),
				       PLIM_FIELD_RUNQUEUE);
		assert_int_equal(figure.method, PLIM_REASON_THREAD_PASS);
		/* What ended threads had waited does not come back as less. */
		measure(waits->first, target);
		spawn_ask(&spawn, "end 6");
		child_sleep_ms(50);
		figure = plim_process_change(plim_usage_process(waits->first),
					     measure(waits->last, target),
					     PLIM_FIELD_RUNQUEUE);
		assert_int_equal(figure.state, PLIM_STATE_KNOWN);
		assert_int_equal(figure.bound, PLIM_BOUND_AT_LEAST);
	} else {
		assert_int_equal(figure.state, PLIM_STATE_UNSUPPORTED);
		SKIP_BECAUSE(NO_RUNQUEUE);
	}
	plim_target_close(target);
	spawn_end(&spawn);
	plim_snapshot_free(snapshot);
}

/* While one runs the other waits. */
static void test_one_cpu_for_two(void **state)
{
	struct waits *waits = *state;
	struct spawn spawns[2];
	plim_target *targets[2];
	uint64_t waited = 0;
	cpu_set_t cpus = one_cpu();

	if (!has_runqueue()) {
		SKIP_BECAUSE(NO_RUNQUEUE);
		return;
	}
	for (int i = 0; i < 2; i++) {
		spawn_start(&spawns[i], (const char *const[]){"spin", NULL});
		targets[i] = open_target(waits->host, spawns[i].pid);
		assert_int_equal(
		    sched_setaffinity(spawns[i].pid, sizeof(cpus), &cpus), 0);
	}
	measure(waits->first, targets[0]);
	spawn_send(&spawns[0], "spin 200");
	spawn_send(&spawns[1], "spin 200");
	spawn_await_answer(&spawns[0]);
	spawn_await_answer(&spawns[1]);
	for (int i = 0; i < 2; i++) {
		char path[64];
		uint64_t value = known(measure(waits->last, targets[i]),
				       PLIM_FIELD_RUNQUEUE);

		snprintf(path, sizeof(path), "/proc/%d/schedstat",
			 (int)spawns[i].pid);
		assert_int_equal(value, number_in(path, 1));
		waited += value;
		if (i == 0)
			assert_int_equal(
			    plim_process_change(
				plim_usage_process(waits->first),
				plim_usage_process(waits->last),
				PLIM_FIELD_RUNQUEUE)
				.value,
			    value - known(plim_usage_process(waits->first),
					  PLIM_FIELD_RUNQUEUE));
	}
	/* Whoever of the two came second waited for most of the other. */
	assert_true(waited > 100000000);
	for (int i = 0; i < 2; i++) {
		plim_target_close(targets[i]);
		spawn_end(&spawns[i]);
	}
}

static sem_t waits_end;

static void *waits_thread(void *user)
{
	(void)user;
	while (sem_wait(&waits_end) != 0)
		;
	return NULL;
}

/* Of ourselves, alone and with a thread. */
static void test_self(void **state)
{
	struct waits *waits = *state;
	pthread_t thread;
	uint64_t low;
	uint64_t high;
	uint64_t value;

	if (!has_runqueue()) {
		SKIP_BECAUSE(NO_RUNQUEUE);
		return;
	}
	low = number_in("/proc/self/schedstat", 1);
	value = known(measure_self(waits->first), PLIM_FIELD_RUNQUEUE);
	high = number_in("/proc/self/schedstat", 1);
	assert_in_range(value, low, high);
	sem_init(&waits_end, 0, 0);
	pthread_create(&thread, NULL, waits_thread, NULL);
	child_sleep_ms(20);
	low = runqueue_of_threads(getpid());
	value = known(measure_self(waits->last), PLIM_FIELD_RUNQUEUE);
	high = runqueue_of_threads(getpid());
	assert_in_range(value, low, high);
	assert_int_equal(plim_process_change(plim_usage_process(waits->first),
					     plim_usage_process(waits->last),
					     PLIM_FIELD_RUNQUEUE)
			     .state,
			 PLIM_STATE_KNOWN);
	sem_post(&waits_end);
	pthread_join(thread, NULL);
	sem_destroy(&waits_end);
}

/* Counted or not: what the switch says. */
static void test_block_io(void **state)
{
	struct waits *waits = *state;
	const char *path = "/proc/sys/kernel/task_delayacct";
	int on = access(path, R_OK) == 0 && number_in(path, 0) == 1;
	plim_count figure = plim_process_count(measure_self(waits->last),
					       PLIM_FIELD_BLOCK_IO_DELAY);

	if (on) {
		assert_int_equal(figure.state, PLIM_STATE_KNOWN);
		assert_int_equal(figure.bound, PLIM_BOUND_AT_LEAST);
	} else {
		assert_int_equal(figure.state, PLIM_STATE_UNSUPPORTED);
		assert_int_equal(figure.method, PLIM_REASON_NO_DELAYS);
	}
}

#define WAITS(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    WAITS(test_nice),
	    WAITS(test_oom_score),
	    WAITS(test_runqueue_of_many),
	    WAITS(test_one_cpu_for_two),
	    WAITS(test_self),
	    WAITS(test_block_io),
	};

	return cmocka_run_group_tests_name("waits", tests, NULL, NULL);
}
