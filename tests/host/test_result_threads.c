/*
 * test_result_threads.c - the RESULT lines of threads that live, and of a quiet
 * window: read back, they say what plim_threads and plim_idle say, which
 * test_threads.c holds against the threads' own counts. A name that breaks
 * lines breaks none here.
 */
#include "common.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

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

/* The line `KEY=...` of a block. */
static plim_result line_of(const char *text, const char *key)
{
	plim_result result;
	size_t size = strlen(key);

	for (const char *at = text; *at != '\0';) {
		plim_bytes line = {at, strcspn(at, "\n") + 1};

		assert_int_equal(plim_result_parse(line, &result, NULL),
				 PLIM_OK);
		if (result.key.size == size &&
		    memcmp(result.key.data, key, size) == 0)
			return result;
		at += line.size;
	}
	fail_msg("no line %s", key);
	return result;
}

static void expect_count(const char *text, const char *key, plim_count count)
{
	plim_result result = line_of(text, key);

	assert_int_equal(count.state, PLIM_STATE_KNOWN);
	assert_int_equal(result.kind, PLIM_RESULT_VALUE);
	assert_true(result.number == (double)count.value);
}

static void expect_rate(const char *text, const char *key, plim_real rate)
{
	plim_result result = line_of(text, key);
	const char *reason;

	if (rate.state == PLIM_STATE_KNOWN) {
		assert_int_equal(result.kind, PLIM_RESULT_VALUE);
		expect_rounded(result.number, rate.value, 0.00051);
		return;
	}
	reason = plim_reason_word(rate.method);
	assert_int_equal(result.kind, PLIM_RESULT_UNAVAILABLE);
	assert_int_equal(result.unit.size, strlen(reason));
	assert_memory_equal(result.unit.data, reason, result.unit.size);
}

static void expect_idle_lines(const plim_idle *idle, const char *text)
{
	plim_result window = line_of(text, "idle_window_seconds");
	plim_count warm = plim_idle_first(idle, PLIM_FIELD_RESIDENT);
	plim_count end = plim_idle_last(idle, PLIM_FIELD_RESIDENT);

	expect_count(text, "warm_resident_bytes", warm);
	expect_count(text, "idle_resident_bytes", end);
	expect_count(text, "resident_memory_bytes",
		     warm.value > end.value ? warm : end);
	expect_rounded(window.number,
		       (double)plim_idle_about(idle).interval.elapsed_ns / 1e9,
		       0.051);
	expect_rate(text, "idle_cpu_percent", plim_idle_cpu_percent(idle));
	expect_rate(text, "wakeups_per_second",
		    plim_idle_rate(idle, PLIM_FIELD_WAKEUPS));
	expect_rate(text, "disk_ops_per_second",
		    plim_idle_rate(idle, PLIM_FIELD_DISK_OPS));
	expect_rate(text, "disk_read_bytes_per_second",
		    plim_idle_rate(idle, PLIM_FIELD_DISK_READ));
	expect_rate(text, "disk_write_bytes_per_second",
		    plim_idle_rate(idle, PLIM_FIELD_DISK_WRITE));
	assert_int_equal(line_of(text, "scale").kind, PLIM_RESULT_UNAVAILABLE);
}

static void expect_idle_threads(const plim_idle *idle, const char *text)
{
	const char *at = text;
	uint32_t rows = 0;
	plim_result record = next_record(&at, "thread_wakeups_summary");

	/* The observing thread is not among them. */
	assert_int_equal(whole(&record, "threads"), 2);
	while (*at != '\0') {
		plim_idle_thread thread = plim_idle_thread_at(idle, rows);

		record = next_record(&at, "thread_wakeups");
		assert_int_equal(whole(&record, "rank"), ++rows);
		assert_int_equal(whole(&record, "pid"), getpid());
		assert_int_equal(whole(&record, "tid"),
				 thread.change.last->tid);
		assert_int_equal(whole(&record, "wakeups"),
				 thread.change.wakeups.value);
		expect_name(&record, thread.change.name);
	}
	assert_true(rows >= 1);
}

/* A quiet window over this process: the lines say what plim_idle says, which
 * test_idle.c holds against the threads' own counts. */
static void lines_of_idle(void **state)
{
	static struct lines lines;
	plim_host *host = open_host(0);
	plim_idle_options options = {.size = sizeof(options)};
	plim_idle *idle = NULL;
	pthread_t living, waiting;

	(void)state;
	atomic_store(&stop, 0);
	pthread_create(&living, NULL, naps, (void *)(uintptr_t)hostile);
	pthread_create(&waiting, NULL, waits, NULL);
	options.window_ns = 200000000;
	options.quiet_cpu_percent = -1;
	options.threads = 1;
	assert_int_equal(plim_idle_new(&idle, host, NULL), PLIM_OK);
	assert_int_equal(plim_idle_observe(idle, NULL, &options, NULL),
			 PLIM_OK);
	memset(&lines, 0, sizeof(lines));
	assert_int_equal(plim_result_idle(idle, NULL, gather, &lines), PLIM_OK);
	expect_idle_lines(idle, lines.text);
	memset(&lines, 0, sizeof(lines));
	assert_int_equal(plim_result_idle_threads(idle, 10, gather, &lines),
			 PLIM_OK);
	expect_idle_threads(idle, lines.text);
	atomic_store(&stop, 1);
	pthread_join(living, NULL);
	pthread_join(waiting, NULL);
	plim_idle_free(idle);
	plim_host_close(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_of_threads),
	    cmocka_unit_test(lines_of_idle),
	};

	return cmocka_run_group_tests_name("result_threads", tests, NULL, NULL);
}
