/*
 * test_threads.c - what the headers promise of threads: two hosts in two
 * threads need no lock, and a filter may be shared by all of them. Every
 * thread works through the whole of a host's life at the same time as the
 * others; the thread sanitizer (`./dev check`) sees whether anything is
 * shared that should not be, the assertions see whether a figure of one ends
 * up with another. cmocka's own assertions belong to the main thread alone, so
 * the threads count what is wrong.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS	10

struct worker {
	pthread_t thread;
	const plim_filter *filter;
	int rounds; /* that went through to the end */
	int wrong;
	size_t matched;
};

static int all_known(const plim_process *process)
{
	plim_count cpu = plim_process_count(process, PLIM_FIELD_CPU);
	plim_count resident = plim_process_count(process, PLIM_FIELD_RESIDENT);
	plim_count threads = plim_process_count(process, PLIM_FIELD_THREADS);

	return cpu.state == PLIM_STATE_KNOWN && cpu.value > 0 &&
	       resident.state == PLIM_STATE_KNOWN && resident.value > 65536 &&
	       threads.state == PLIM_STATE_KNOWN &&
	       threads.value <= THREADS + 8;
}

static void work_on_all(struct worker *worker, plim_host *host)
{
	plim_snapshot *snapshot = NULL;
	const plim_process *self;
	size_t matched = 0;

	if (plim_snapshot_new(&snapshot, host, NULL) != PLIM_OK ||
	    plim_snapshot_take(snapshot, NULL, NULL) != PLIM_OK) {
		worker->wrong++;
		plim_snapshot_free(snapshot);
		return;
	}
	self = plim_snapshot_find(snapshot, (int32_t)getpid());
	if (self == NULL || !all_known(self))
		worker->wrong++;
	for (size_t i = 0; i < plim_snapshot_size(snapshot); i++)
		matched += plim_filter_match(worker->filter,
					     plim_snapshot_at(snapshot, i),
					     NULL) == PLIM_TRUE;
	worker->matched = matched;
	plim_snapshot_free(snapshot);
}

static void work_on_one(struct worker *worker, plim_host *host)
{
	plim_usage *usage = NULL;
	plim_target *target = NULL;
	plim_check check;

	if (plim_usage_new(&usage, host, NULL) != PLIM_OK ||
	    plim_usage_refresh_self(usage, NULL, NULL) != PLIM_OK ||
	    !all_known(plim_usage_process(usage)))
		worker->wrong++;
	if (plim_target_open(&target, host, (int32_t)getpid(), NULL) !=
		PLIM_OK ||
	    plim_target_check(target, &check, NULL) != PLIM_OK ||
	    check.fate != PLIM_FATE_SAME ||
	    plim_usage_refresh(usage, target, NULL, NULL) != PLIM_OK ||
	    !all_known(plim_usage_process(usage)))
		worker->wrong++;
	plim_target_close(target);
	plim_usage_free(usage);
}

static void *work(void *user)
{
	struct worker *worker = user;

	for (int i = 0; i < ROUNDS; i++) {
		plim_host *host = NULL;

		if (plim_host_open(&host, NULL, NULL) != PLIM_OK) {
			worker->wrong++;
			return NULL;
		}
		work_on_all(worker, host);
		work_on_one(worker, host);
		plim_host_close(host);
		worker->rounds++;
	}
	return NULL;
}

static void test_a_host_each(void **state)
{
	struct worker workers[THREADS];
	plim_filter *filter = NULL;
	char text[64];

	(void)state;
	snprintf(text, sizeof(text), "pid = %ld and resident > 0",
		 (long)getpid());
	assert_int_equal(plim_filter_new(&filter, text, NULL, NULL), PLIM_OK);
	memset(workers, 0, sizeof(workers));
	for (int i = 0; i < THREADS; i++) {
		workers[i].filter = filter;
		assert_int_equal(
		    pthread_create(&workers[i].thread, NULL, work, &workers[i]),
		    0);
	}
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(workers[i].wrong, 0);
		assert_int_equal(workers[i].rounds, ROUNDS);
		assert_int_equal(workers[i].matched, 1);
	}
	plim_filter_free(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_host_each),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
