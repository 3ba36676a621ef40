/*
 * test_threads.c - tens of thousands of threads in one process: all of them
 * are read, their wake-ups add up to what the kernel's files hold, and one
 * more than PLIM_THREAD_LIMIT is an error, never a shorter list.
 */
#include "scale.h"

#include "fixture.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS_COUNT 32000
#define THREADS_LEAST 20000

struct threads_truth {
	uint64_t count;
	uint64_t voluntary;
	uint64_t involuntary;
};

/* Every status file below task/, read without the library. */
static struct threads_truth threads_truth(int32_t pid)
{
	struct threads_truth truth = {0};
	char path[64];
	DIR *folder;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder)) != NULL) {
		char file[64];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "task/%.20s/status",
			 entry->d_name);
		truth.count++;
		truth.voluntary +=
		    proc_number(pid, file, "voluntary_ctxt_switches");
		truth.involuntary +=
		    proc_number(pid, file, "nonvoluntary_ctxt_switches");
	}
	closedir(folder);
	return truth;
}

/* The same once so many are left and all of them have come to rest: of those
 * that a broadcast wakes most wait for a lock first. */
static struct threads_truth threads_rest(int32_t pid, uint64_t count)
{
	struct threads_truth truth = {0};

	for (int tries = 0; tries < 200; tries++) {
		uint64_t before = truth.voluntary;

		child_sleep_ms(50);
		if (proc_number(pid, "status", "Threads") != count)
			continue;
		truth = threads_truth(pid);
		if (truth.voluntary == before)
			return truth;
	}
	fail_msg("the threads do not come to rest");
	return truth;
}

static int threads_take(plim_snapshot *snapshot, plim_error *error)
{
	plim_snapshot_options options = {
	    .size = sizeof(options),
	    .threads = 1,
	};

	return plim_snapshot_take(snapshot, &options, error);
}

static void threads_expect(const plim_process *it,
			   const struct threads_truth *truth)
{
	assert_non_null(it);
	assert_int_equal(known(it, PLIM_FIELD_THREADS), truth->count);
	assert_int_equal(known(it, PLIM_FIELD_WAKEUPS), truth->voluntary);
	assert_int_equal(known(it, PLIM_FIELD_INVOLUNTARY), truth->involuntary);
	expect_method(it, PLIM_FIELD_WAKEUPS, PLIM_METHOD_THREAD_SUM);
}

/* The last sample of a plim_threads is of these. */
static void threads_expect_sample(const plim_threads *threads,
				  const struct threads_truth *truth)
{
	const plim_thread *last = NULL;
	uint64_t voluntary = 0;

	for (size_t i = 0; i < plim_threads_count(threads); i++) {
		last = plim_threads_at(threads, i);
		assert_int_equal(last->wakeups.state, PLIM_STATE_KNOWN);
		voluntary += last->wakeups.value;
	}
	assert_non_null(last);
	assert_true(voluntary == truth->voluntary);
}

/* As many as fit, asleep all of them: four readers agree. */
static void test_many(void **state)
{
	unsigned count = scale_fit("threads", THREADS_COUNT, THREADS_LEAST);
	char number[16];
	const char *const argv[] = {"threads", number, NULL};
	plim_host *host = open_host(0);
	plim_snapshot *snapshot = new_snapshot(host);
	plim_usage *usage = new_usage(host);
	plim_threads *threads = NULL;
	struct spawn spawn;
	struct threads_truth truth;
	plim_target *target;

	(void)state;
	assert_int_equal(plim_threads_new(&threads, host, NULL), PLIM_OK);
	snprintf(number, sizeof(number), "%u", count);
	spawn_start(&spawn, argv);
	spawn_ask(&spawn, "truth");
	truth = threads_rest(spawn.pid, count + 1);
	assert_int_equal(truth.count, count + 1);
	/* The account was made one answer, and so one sleep, earlier. */
	expect_near(truth.voluntary, spawn_truth(&spawn, "wakeups"), 0, 3);
	assert_int_equal(threads_take(snapshot, NULL), PLIM_OK);
	threads_expect(plim_snapshot_find(snapshot, spawn.pid), &truth);
	target = open_target(host, spawn.pid);
	threads_expect(measure(usage, target), &truth);
	assert_int_equal(plim_threads_sample(threads, target, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_threads_count(threads), truth.count);
	threads_expect_sample(threads, &truth);
	printf("%llu threads, %llu wake-ups: %llu system calls\n",
	       (unsigned long long)truth.count,
	       (unsigned long long)truth.voluntary,
	       (unsigned long long)plim_usage_cost(usage).system_calls);
	/* Half of them end: who is left is counted, and only they. */
	snprintf(number, sizeof(number), "end %u", count / 2);
	spawn_ask(&spawn, number);
	truth = threads_rest(spawn.pid, count - count / 2 + 1);
	assert_int_equal(truth.count, count - count / 2 + 1);
	threads_expect(measure(usage, target), &truth);
	assert_int_equal(plim_threads_sample(threads, target, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_threads_count(threads), truth.count);
	threads_expect_sample(threads, &truth);
	assert_int_equal(plim_threads_exited(threads), count / 2);
	assert_int_equal(plim_threads_about(threads).born, 0);
	plim_threads_free(threads);
	plim_target_close(target);
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
	spawn_finish(&spawn);
}

/* Recorded threads: a folder each, whose files are one file's other names. A
 * file has at most 65,000 names on some file systems. */
static void threads_record(struct fixture *fixture, int32_t pid, int first,
			   int last)
{
	static const char *const files[] = {"stat", "status"};
	char from[512];
	char to[512];

	for (int tid = first; tid <= last; tid++) {
		snprintf(to, sizeof(to), "%s/%d/task/%d", fixture->root,
			 (int)pid, tid);
		assert_int_equal(mkdir(to, 0755), 0);
		for (int i = 0; i < 2; i++) {
			snprintf(from, sizeof(from), "%s/%d/%d-%s",
				 fixture->root, (int)pid, tid / 32768,
				 files[i]);
			snprintf(to, sizeof(to), "%s/%d/task/%d/%s",
				 fixture->root, (int)pid, tid, files[i]);
			assert_int_equal(link(from, to), 0);
		}
	}
}

static void threads_sources(struct fixture *fixture, int32_t pid)
{
	char path[64];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%d/%d-status", (int)pid, i);
		fixture_text(fixture, path,
			     "Name:\tx\nTgid:\t1\nPid:\t1\nThreads:\t7\n"
			     "voluntary_ctxt_switches:\t3\n"
			     "nonvoluntary_ctxt_switches:\t2\n");
		snprintf(path, sizeof(path), "%d/%d-stat", (int)pid, i);
		fixture_text(
		    fixture, path,
		    "1 (x) S 1 1 1 0 -1 4194304 1 0 1 0 1 1 0 0 20 0 7 0 99 1 "
		    "1 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 "
		    "0 0 0 1 1 1 1 1 1 1 0\n");
	}
}

/* The bound itself is whole; one more is refused, and what was known stays. */
static void test_limit(void **state)
{
	const int32_t pid = 1;
	struct fixture fixture;
	plim_error error = {0};
	plim_host *host;
	plim_snapshot *snapshot;
	plim_usage *usage;
	plim_threads *threads = NULL;
	plim_target *target;
	struct threads_truth truth = {
	    .count = 7, /* by its stat, which the fixture makes */
	    .voluntary = (PLIM_THREAD_LIMIT - 1) * 3ull + 77,
	    .involuntary = (PLIM_THREAD_LIMIT - 1) * 2ull + 8,
	};

	(void)state;
	/* Where there is one, a file system that writes nothing. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 1);
	fixture_new(&fixture);
	fixture_host(&fixture, 0);
	fixture_process(&fixture, pid, "many", 4);
	fixture_process(&fixture, 2, "few", 3);
	threads_sources(&fixture, pid);
	threads_record(&fixture, pid, 2, PLIM_THREAD_LIMIT);
	host = open_root(fixture.root, 0);
	snapshot = new_snapshot(host);
	usage = new_usage(host);
	target = open_target(host, pid);
	assert_int_equal(threads_take(snapshot, NULL), PLIM_OK);
	threads_expect(plim_snapshot_find(snapshot, pid), &truth);
	assert_int_equal(
	    known(plim_snapshot_find(snapshot, 2), PLIM_FIELD_WAKEUPS), 77);
	threads_expect(measure(usage, target), &truth);
	assert_int_equal(plim_threads_new(&threads, host, NULL), PLIM_OK);
	assert_int_equal(plim_threads_sample(threads, target, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_threads_count(threads), PLIM_THREAD_LIMIT);
	threads_expect_sample(threads, &truth);
	threads_record(&fixture, pid, PLIM_THREAD_LIMIT + 1,
		       PLIM_THREAD_LIMIT + 1);
	assert_int_equal(threads_take(snapshot, &error), PLIM_ELIMIT);
	assert_int_equal(error.code, PLIM_ELIMIT);
	assert_non_null(strstr(error.detail, "65536"));
	threads_expect(plim_snapshot_find(snapshot, pid), &truth);
	assert_int_equal(plim_usage_refresh(usage, target, NULL, &error),
			 PLIM_ELIMIT);
	threads_expect(plim_usage_process(usage), &truth);
	assert_int_equal(plim_threads_sample(threads, target, NULL, &error),
			 PLIM_ELIMIT);
	assert_non_null(strstr(error.detail, "65536"));
	assert_int_equal(plim_threads_count(threads), PLIM_THREAD_LIMIT);
	threads_expect_sample(threads, &truth);
	plim_threads_free(threads);
	/* Who does not ask for them is not bothered. */
	take(snapshot);
	expect_state(plim_snapshot_find(snapshot, pid), PLIM_FIELD_WAKEUPS,
		     PLIM_STATE_SKIPPED);
	plim_target_close(target);
	plim_usage_free(usage);
	plim_snapshot_free(snapshot);
	plim_host_close(host);
	fixture_free(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests_name("very many threads", tests, NULL,
					   NULL);
}
