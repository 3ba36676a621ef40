/*
 * test_result_threads.c - the RESULT lines of threads that live: read back,
 * they say what plim_threads says, which test_threads.c holds against the
 * threads' own counts. A name that breaks lines breaks none here.
 */
#include "common.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

static atomic_int stop;

static const char hostile[] = "a\"\\\n\x1b\xff=1";

static void *naps(void *user)
{
	struct timespec nap = {0, 2000000};

	prctl(PR_SET_NAME, user);
	while (!atomic_load(&stop))
		nanosleep(&nap, NULL);
	return NULL;
}

static void *waits(void *user)
{
	struct timespec nap = {0, 300000000};

	(void)user;
	while (!atomic_load(&stop))
		nanosleep(&nap, NULL);
	return NULL;
}

struct lines {
	char text[16384];
	size_t size;
};

static int gather(const char *data, size_t size, void *user)
{
	struct lines *lines = user;

	if (size >= sizeof(lines->text) - lines->size)
		return 1;
	memcpy(lines->text + lines->size, data, size);
	lines->size += size;
	lines->text[lines->size] = '\0';
	return 0;
}

/* The next line, as a record of this name. */
static plim_result next_record(const char **at, const char *name)
{
	plim_bytes line = {*at, strcspn(*at, "\n") + 1};
	plim_result result;

	assert_int_equal(plim_result_parse(line, &result, NULL), PLIM_OK);
	assert_int_equal(result.kind, PLIM_RESULT_RECORD);
	assert_int_equal(result.key.size, strlen(name));
	assert_memory_equal(result.key.data, name, result.key.size);
	*at += line.size;
	return result;
}

static uint64_t whole(const plim_result *record, const char *key)
{
	plim_result_pair pair;
	uint64_t value = 0;

	assert_int_equal(plim_result_find(record, key, &pair, NULL), 1);
	assert_int_equal(plim_result_whole(pair.value, &value, NULL), PLIM_OK);
	return value;
}

static double number(const plim_result *record, const char *key)
{
	plim_result_pair pair;
	double value = 0;

	assert_int_equal(plim_result_find(record, key, &pair, NULL), 1);
	assert_int_equal(plim_result_number(pair.value, &value, NULL), PLIM_OK);
	return value;
}

static void expect_name(const plim_result *record, plim_text name)
{
	plim_result_pair pair;
	char bytes[64];

	assert_int_equal(plim_result_find(record, "name", &pair, NULL), 1);
	assert_int_equal(pair.quoted, 1);
	assert_int_equal(plim_result_unescape(pair.value, bytes, sizeof(bytes)),
			 name.bytes.size);
	assert_memory_equal(bytes, name.bytes.data, name.bytes.size);
}

static void expect_rounded(double got, double wanted, double most)
{
	if (got < wanted - most || got > wanted + most)
		fail_msg("%f is not %f", got, wanted);
}

static void expect_row(const plim_threads *threads, const plim_result *row,
		       uint32_t rank, uint64_t elapsed_ns)
{
	plim_thread_change change = plim_threads_change(threads, rank - 1);

	assert_int_equal(whole(row, "rank"), rank);
	assert_int_equal(whole(row, "tid"), change.last->tid);
	assert_int_equal(whole(row, "born"), change.born);
	assert_int_equal(whole(row, "wakeups"), change.wakeups.value);
	expect_rounded(number(row, "per_second"),
		       (double)change.wakeups.value * 1e9 / (double)elapsed_ns,
		       0.0006);
	expect_rounded(number(row, "cpu_ms"), (double)change.cpu_ns.value / 1e6,
		       0.051);
	expect_name(row, change.name);
}

static void expect_summary(const plim_threads *threads,
			   const plim_result *summary, uint64_t elapsed_ns)
{
	plim_threads_facts facts = plim_threads_about(threads);

	assert_int_equal(whole(summary, "threads"), facts.last);
	assert_int_equal(whole(summary, "born"), 1);
	assert_int_equal(whole(summary, "exited"), facts.exited);
	assert_int_equal(whole(summary, "listed_wakeups"),
			 facts.listed_wakeups.value);
	assert_int_equal(whole(summary, "exited_wakeups_at_start"),
			 facts.exited_wakeups_at_start.value);
	expect_rounded(number(summary, "window_seconds"),
		       (double)elapsed_ns / 1e9, 0.051);
}

static void lines_of_threads(void **state)
{
	struct timespec window = {0, 200000000};
	static struct lines lines;
	plim_host *host = open_host(0);
	plim_threads *threads = NULL;
	pthread_t living, waiting, later;
	plim_interval interval;
	plim_result record;
	uint32_t rows = 0;
	const char *at;

	(void)state;
	atomic_store(&stop, 0);
	assert_int_equal(plim_threads_new(&threads, host, NULL), PLIM_OK);
	pthread_create(&living, NULL, naps, (void *)(uintptr_t)hostile);
	pthread_create(&waiting, NULL, waits, NULL);
	nanosleep(&window, NULL);
	assert_int_equal(plim_threads_sample(threads, NULL, NULL, NULL),
			 PLIM_OK);
	/* One sample: a summary of nothing. */
	assert_int_equal(plim_result_threads(threads, 10, gather, &lines),
			 PLIM_OK);
	at = lines.text;
	record = next_record(&at, "thread_wakeups_summary");
	assert_int_equal(*at, '\0');
	assert_int_equal(whole(&record, "threads"), 3);
	assert_non_null(strstr(lines.text, " listed_wakeups=unavailable "));
	assert_non_null(strstr(lines.text, " window_seconds=unavailable\n"));

	pthread_create(&later, NULL, naps, (void *)(uintptr_t) "later");
	nanosleep(&window, NULL);
	assert_int_equal(plim_threads_sample(threads, NULL, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(plim_threads_interval(threads, &interval, NULL),
			 PLIM_OK);
	memset(&lines, 0, sizeof(lines));
	assert_int_equal(plim_result_threads(threads, 10, gather, &lines),
			 PLIM_OK);
	at = lines.text;
	record = next_record(&at, "thread_wakeups_summary");
	expect_summary(threads, &record, interval.elapsed_ns);
	while (*at != '\0') {
		record = next_record(&at, "thread_wakeups");
		expect_row(threads, &record, ++rows, interval.elapsed_ns);
	}
	/* Those that woke have a line, the others have none. */
	assert_true(rows >= 3 && rows <= plim_threads_changes(threads));
	for (size_t i = 0; i < plim_threads_changes(threads); i++)
		assert_int_equal(plim_threads_change(threads, i).wakeups.value >
				     0,
				 i < rows);

	/* As many as were asked for, and no more. */
	memset(&lines, 0, sizeof(lines));
	assert_int_equal(plim_result_threads(threads, 1, gather, &lines),
			 PLIM_OK);
	at = lines.text;
	next_record(&at, "thread_wakeups_summary");
	next_record(&at, "thread_wakeups");
	assert_int_equal(*at, '\0');
	atomic_store(&stop, 1);
	pthread_join(living, NULL);
	pthread_join(waiting, NULL);
	pthread_join(later, NULL);
	plim_threads_free(threads);
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_of_threads),
	};

	return cmocka_run_group_tests_name("result_threads", tests, NULL, NULL);
}
