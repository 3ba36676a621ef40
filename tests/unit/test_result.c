/*
 * test_result.c - RESULT lines byte by byte: every key, order, format and
 * count of decimals that is documented, written out here; what is missing is a
 * word; no name breaks a line; every line reads back as what was written.
 */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "comma.h"
#include "sample.h"
#include "skip.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MIB	     (UINT64_C(1) << 20)

static struct sample_output output;

static void expect(int code, const char *expected)
{
	assert_int_equal(code, PLIM_OK);
	assert_string_equal(output.text, expected);
	memset(&output, 0, sizeof(output));
}

static plim_count known(uint64_t value)
{
	return plim_count_known(value, PLIM_METHOD_STATM);
}

static plim_real real(double value, int method)
{
	return plim_real_known(value, method);
}

static plim_result_figures figures_of_example(void)
{
	plim_result_figures figures = {.size = sizeof(figures)};

	figures.warm_resident = known(90 * MIB);
	figures.idle_resident = known(80 * MIB);
	figures.warm_footprint = plim_count_known(50 * MIB, PLIM_METHOD_STATUS);
	figures.idle_footprint = plim_count_known(60 * MIB, PLIM_METHOD_STATUS);
	figures.window_ns = 10 * SAMPLE_SECOND;
	figures.samples = 2;
	figures.cpu_percent = real(0.5128, PLIM_METHOD_PROCESS_CPU_CLOCK);
	figures.wakeups = real(12.3456, PLIM_METHOD_THREAD_SUM);
	figures.wakeups.bound = PLIM_BOUND_AT_LEAST;
	figures.disk_ops = plim_real_missing(PLIM_REASON_SHARED_CGROUP, 0);
	figures.disk_read = real(0, PLIM_METHOD_IO_WITH_CHILDREN);
	figures.disk_write = real(409.6, PLIM_METHOD_IO_WITH_CHILDREN);
	figures.disk_blocks = plim_real_missing(PLIM_REASON_SELF_ONLY, 0);
	figures.io_calls = real(3, PLIM_METHOD_IO_WITH_CHILDREN);
	return figures;
}

static plim_result_load load_of_example(void)
{
	plim_result_load load = {.size = sizeof(load)};

	load.scale_count = 1000;
	load.scale_unit = "connections";
	load.statement = "1,000 idle connections, none sending";
	load.scope = "synthetic";
	load.crate = "echo-server";
	load.version = "1.4.2";
	load.verdict = "pass";
	return load;
}

static const char whole_block[] =
    "RESULT warm_resident_bytes=94371840 bytes\n"
    "RESULT idle_resident_bytes=83886080 bytes\n"
    "RESULT resident_memory_bytes=94371840 bytes\n"
    "RESULT footprint_bytes=62914560 bytes\n"
    "RESULT idle_window_seconds=10.0 seconds\n"
    "RESULT idle_cpu_percent=0.513 percent\n"
    "RESULT wakeups_per_second=12.346 per_second\n"
    "RESULT disk_ops_per_second=unavailable shared_cgroup\n"
    "RESULT disk_read_bytes_per_second=0.000 bytes_per_second\n"
    "RESULT disk_write_bytes_per_second=409.600 bytes_per_second\n"
    "RESULT scale=1000 1,000 idle connections, none sending\n"
    "RESULT scope=synthetic\n"
    "RESULT budget crate=echo-server version=1.4.2 resident_bytes=94371840 "
    "idle_cpu_percent=0.513 wakeups_per_s=12.346 disk_ops_per_s=unavailable "
    "scale_unit=connections scale_count=1000 "
    "method=resident:statm,idle_cpu:process_cpu_clock,"
    "wakeups:thread_sum:at_least,disk_ops:none window=10.0 samples=2 "
    "verdict=pass disk_blocks_per_s=unavailable io_calls_per_s=3.000\n";

static void observation(void **state)
{
	plim_result_figures figures = figures_of_example();
	plim_result_load load = load_of_example();

	(void)state;
	memset(&output, 0, sizeof(output));
	expect(plim_result_observation(&figures, &load, sample_write, &output),
	       whole_block);
}

/* Nothing measured, nothing stated: no number but the count of samples. */
static void nothing_known(void **state)
{
	plim_result_figures figures = {.size = sizeof(figures)};
	plim_result_load load = {.size = sizeof(load)};

	(void)state;
	memset(&output, 0, sizeof(output));
	expect(plim_result_observation(&figures, &load, sample_write, &output),
	       "RESULT warm_resident_bytes=unavailable not_read\n"
	       "RESULT idle_resident_bytes=unavailable not_read\n"
	       "RESULT resident_memory_bytes=unavailable not_read\n"
	       "RESULT footprint_bytes=unavailable not_read\n"
	       "RESULT idle_window_seconds=unavailable not_measured\n"
	       "RESULT idle_cpu_percent=unavailable not_read\n"
	       "RESULT wakeups_per_second=unavailable not_read\n"
	       "RESULT disk_ops_per_second=unavailable not_read\n"
	       "RESULT disk_read_bytes_per_second=unavailable not_read\n"
	       "RESULT disk_write_bytes_per_second=unavailable not_read\n"
	       "RESULT scale=unavailable not_stated\n"
	       "RESULT scope=unavailable not_stated\n"
	       "RESULT budget crate=unavailable version=unavailable "
	       "resident_bytes=unavailable idle_cpu_percent=unavailable "
	       "wakeups_per_s=unavailable disk_ops_per_s=unavailable "
	       "scale_unit=unavailable scale_count=unavailable "
	       "method=resident:none,idle_cpu:none,wakeups:none,disk_ops:none "
	       "window=unavailable samples=0 verdict=not_judged "
	       "disk_blocks_per_s=unavailable io_calls_per_s=unavailable\n");
}

static const char *line_of(const char *key)
{
	static char line[1024];
	const char *start = strstr(output.text, key);
	const char *end;

	assert_non_null(start);
	end = strchr(start, '\n');
	assert_non_null(end);
	assert_true((size_t)(end - start) < sizeof(line));
	memcpy(line, start, (size_t)(end - start));
	line[end - start] = '\0';
	return line;
}

static void write_observation(const plim_result_figures *figures,
			      const plim_result_load *load)
{
	memset(&output, 0, sizeof(output));
	assert_int_equal(
	    plim_result_observation(figures, load, sample_write, &output),
	    PLIM_OK);
}

/* The larger of the two, whichever it is; nothing where one is missing; zero
 * is no size. */
static void resident(void **state)
{
	static const struct {
		plim_count warm, idle;
		const char *warm_line, *idle_line, *larger, *pair;
	} rows[] = {
	    {{7, PLIM_STATE_KNOWN, 0, PLIM_METHOD_STATM, 0},
	     {9, PLIM_STATE_KNOWN, 0, PLIM_METHOD_STATM, 0},
	     "=7 bytes",
	     "=9 bytes",
	     "=9 bytes",
	     " resident_bytes=9 "},
	    {{7, PLIM_STATE_KNOWN, 0, PLIM_METHOD_STATM, 0},
	     {0, PLIM_STATE_GONE, 0, PLIM_REASON_ENDED, 0},
	     "=7 bytes",
	     "=unavailable ended",
	     "=unavailable ended",
	     " resident_bytes=unavailable "},
	    {{0, PLIM_STATE_NOT_APPLICABLE, 0, PLIM_REASON_ZOMBIE, 0},
	     {7, PLIM_STATE_KNOWN, 0, PLIM_METHOD_STATM, 0},
	     "=unavailable zombie",
	     "=7 bytes",
	     "=unavailable zombie",
	     " resident_bytes=unavailable "},
	    {{0, PLIM_STATE_KNOWN, 0, PLIM_METHOD_STATM, 0},
	     {0, PLIM_STATE_KNOWN, 0, PLIM_METHOD_STATM, 0},
	     "=unavailable zero_reported",
	     "=unavailable zero_reported",
	     "=unavailable zero_reported",
	     " resident_bytes=unavailable "},
	    {{7, PLIM_STATE_KNOWN, 0, PLIM_METHOD_STATM, 0},
	     {0, PLIM_STATE_KNOWN, 0, PLIM_METHOD_STATM, 0},
	     "=7 bytes",
	     "=unavailable zero_reported",
	     "=7 bytes",
	     " resident_bytes=7 "},
	};
	plim_result_load load = load_of_example();

	(void)state;
	memset(&output, 0, sizeof(output));
	for (size_t i = 0; i < COUNT(rows); i++) {
		plim_result_figures figures = figures_of_example();

		figures.warm_resident = rows[i].warm;
		figures.idle_resident = rows[i].idle;
		write_observation(&figures, &load);
		assert_string_equal(line_of("warm_resident_bytes") + 19,
				    rows[i].warm_line);
		assert_string_equal(line_of("idle_resident_bytes") + 19,
				    rows[i].idle_line);
		assert_string_equal(line_of("resident_memory_bytes") + 21,
				    rows[i].larger);
		assert_non_null(strstr(line_of("budget"), rows[i].pair));
	}
}

/* Off by default; on, the figure comes from the blocks and says so. */
static void blocks_as_ops(void **state)
{
	plim_result_figures figures = figures_of_example();
	plim_result_load load = load_of_example();

	(void)state;
	memset(&output, 0, sizeof(output));
	figures.disk_ops = real(2, PLIM_METHOD_CGROUP_IO_STAT);
	figures.disk_blocks = real(16.5, PLIM_METHOD_GETRUSAGE);
	write_observation(&figures, &load);
	assert_string_equal(line_of("disk_ops_per_second"),
			    "disk_ops_per_second=2.000 per_second");
	assert_non_null(strstr(line_of("budget"), " disk_ops_per_s=2.000 "));
	assert_non_null(
	    strstr(line_of("budget"), ",disk_ops:cgroup_io_stat window"));
	load.blocks_as_ops = 1;
	write_observation(&figures, &load);
	assert_string_equal(line_of("disk_ops_per_second"),
			    "disk_ops_per_second=16.500 per_second");
	assert_non_null(strstr(line_of("budget"), " disk_ops_per_s=16.500 "));
	assert_non_null(strstr(line_of("budget"),
			       ",disk_ops:disk_blocks:getrusage window"));
	assert_non_null(
	    strstr(line_of("budget"), " disk_blocks_per_s=16.500 "));
	/* The switch makes no figure of a missing one. */
	figures.disk_blocks = plim_real_missing(PLIM_REASON_SELF_ONLY, 0);
	write_observation(&figures, &load);
	assert_string_equal(
	    line_of("disk_ops_per_second"),
	    "disk_ops_per_second=unavailable self_or_reaped_child_only");
	assert_non_null(
	    strstr(line_of("budget"), ",disk_ops:disk_blocks:none window"));
	memset(&output, 0, sizeof(output));
}

static void threads(void **state)
{
	plim_result_threads_summary summary = {.size = sizeof(summary)};
	plim_result_thread_row row = {.size = sizeof(row)};

	(void)state;
	memset(&output, 0, sizeof(output));
	summary.threads = 12;
	summary.born = 2;
	summary.exited = 1;
	summary.listed_wakeups = known(4711);
	summary.exited_wakeups_at_start = known(17);
	summary.window_ns = 3 * SAMPLE_SECOND;
	expect(plim_result_thread_summary(&summary, sample_write, &output),
	       "RESULT thread_wakeups_summary threads=12 born=2 exited=1 "
	       "listed_wakeups=4711 exited_wakeups_at_start=17 "
	       "window_seconds=3.0\n");
	summary.listed_wakeups = plim_count_missing(PLIM_REASON_ENDED, 0);
	summary.exited_wakeups_at_start = summary.listed_wakeups;
	summary.window_ns = 0;
	expect(plim_result_thread_summary(&summary, sample_write, &output),
	       "RESULT thread_wakeups_summary threads=12 born=2 exited=1 "
	       "listed_wakeups=unavailable exited_wakeups_at_start=unavailable "
	       "window_seconds=unavailable\n");

	row.rank = 1;
	row.tid = 4243;
	row.born = 1;
	row.wakeups = known(1000);
	row.cpu_ns = known(12345678);
	row.start_address = known(UINT64_C(0x7fff12345678));
	row.window_ns = 3 * SAMPLE_SECOND;
	row.name.bytes = sample_bytes("tokio \"worker\"");
	row.name.state = PLIM_STATE_KNOWN;
	expect(plim_result_thread(&row, sample_write, &output),
	       "RESULT thread_wakeups rank=1 tid=4243 wakeups=1000 "
	       "per_second=333.333 cpu_ms=12.3 born=1 start=0x7fff12345678 "
	       "name=\"tokio \\\"worker\\\"\"\n");
	row.born = 0;
	row.start_address = known(0);
	expect(plim_result_thread(&row, sample_write, &output),
	       "RESULT thread_wakeups rank=1 tid=4243 wakeups=1000 "
	       "per_second=333.333 cpu_ms=12.3 born=0 start=0x0 "
	       "name=\"tokio \\\"worker\\\"\"\n");
	/* Of several processes: appended. */
	row.pid = 4242;
	row.process.bytes = sample_bytes("echo server");
	row.process.state = PLIM_STATE_KNOWN;
	row.runqueue_ns = known(123456);
	row.blocked_in.bytes = sample_bytes("futex");
	row.blocked_in.state = PLIM_STATE_KNOWN;
	expect(plim_result_thread(&row, sample_write, &output),
	       "RESULT thread_wakeups rank=1 tid=4243 wakeups=1000 "
	       "per_second=333.333 cpu_ms=12.3 born=0 start=0x0 "
	       "name=\"tokio \\\"worker\\\"\" pid=4242 "
	       "process=\"echo server\" waited_ms=0.1 "
	       "blocked_in=\"futex\"\n");
	row.process.state = PLIM_STATE_GONE;
	row.blocked_in.state = PLIM_STATE_DENIED;
	row.runqueue_ns = plim_count_missing(PLIM_REASON_NO_FILE, 2);
	expect(plim_result_thread(&row, sample_write, &output),
	       "RESULT thread_wakeups rank=1 tid=4243 wakeups=1000 "
	       "per_second=333.333 cpu_ms=12.3 born=0 start=0x0 "
	       "name=\"tokio \\\"worker\\\"\" pid=4242 "
	       "process=unavailable waited_ms=unavailable "
	       "blocked_in=unavailable\n");
	row.pid = 0;
	row.wakeups = plim_count_missing(PLIM_REASON_ENDED, 0);
	row.cpu_ns = row.wakeups;
	row.start_address = plim_count_missing(PLIM_REASON_HOST_NEVER, 0);
	row.name.state = PLIM_STATE_GONE;
	expect(plim_result_thread(&row, sample_write, &output),
	       "RESULT thread_wakeups rank=1 tid=4243 wakeups=unavailable "
	       "per_second=unavailable cpu_ms=unavailable born=0 "
	       "start=unavailable name=unavailable\n");
}

static void single_lines(void **state)
{
	plim_bytes word = sample_bytes("real");
	/* As no function of the library makes it. */
	plim_real not_a_number = {.value = NAN, .state = PLIM_STATE_KNOWN};

	(void)state;
	memset(&output, 0, sizeof(output));
	expect(plim_result_count("a", known(UINT64_MAX), "bytes", sample_write,
				 &output),
	       "RESULT a=18446744073709551615 bytes\n");
	expect(plim_result_count("a", known(0), NULL, sample_write, &output),
	       "RESULT a=0\n");
	expect(plim_result_count(
		   "a", plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13),
		   "bytes", sample_write, &output),
	       "RESULT a=unavailable not_permitted\n");
	expect(
	    plim_result_real("a", real(-2.5, 0), 0, "x", sample_write, &output),
	    "RESULT a=-2 x\n");
	expect(plim_result_real("a", real(1e20, 0), 1, NULL, sample_write,
				&output),
	       "RESULT a=100000000000000000000.0\n");
	expect(
	    plim_result_real("a", not_a_number, 1, "x", sample_write, &output),
	    "RESULT a=unavailable not_a_number\n");
	expect(plim_result_real("a",
				plim_real_missing(PLIM_REASON_WENT_BACK, 0), 1,
				"x", sample_write, &output),
	       "RESULT a=unavailable counter_went_back\n");
	expect(plim_result_unavailable("a", "no load\n", sample_write, &output),
	       "RESULT a=unavailable no load\\x0a\n");
	expect(plim_result_unavailable("a", NULL, sample_write, &output),
	       "RESULT a=unavailable\n");
	expect(plim_result_text("scope", word, sample_write, &output),
	       "RESULT scope=real\n");
}

static const struct {
	const char *text;
	size_t size;
	const char *quoted;
} hostile[] = {
    {"", 0, "\"\""},
    {"plain name", 10, "\"plain name\""},
    {"a\"b", 3, "\"a\\\"b\""},
    {"a\\b", 3, "\"a\\\\b\""},
    {"\\\"", 2, "\"\\\\\\\"\""},
    {"a\nRESULT budget x=1", 19, "\"a\\x0aRESULT budget x=1\""},
    {"\r\t\0", 3, "\"\\x0d\\x09\\x00\""},
    {"\x1b[31m", 5, "\"\\x1b[31m\""},
    {"\xff\xc3", 2, "\"\\xff\\xc3\""},
    {"\xc3\"", 2, "\"\\xc3\\\"\""},
    {"\xc3\xa9", 2, "\"\xc3\xa9\""},
    {"\xc2\x9b", 2, "\"\\xc2\\x9b\""},
    {"\xe2\x80\xae", 3, "\"\\xe2\\x80\\xae\""},
    {"\\x41", 4, "\"\\\\x41\""},
    {"unavailable", 11, "\"unavailable\""},
};

/* Bytes, quotes and all, and back to the same bytes. */
static void hostile_names(void **state)
{
	(void)state;
	memset(&output, 0, sizeof(output));
	for (size_t i = 0; i < COUNT(hostile); i++) {
		plim_bytes text = {hostile[i].text, hostile[i].size};
		plim_result_line line;
		plim_result_pair pair;
		plim_result result;
		char expected[128], back[64];
		size_t size;

		memset(&output, 0, sizeof(output));
		plim_result_begin(&line, "r", sample_write, &output);
		plim_result_add_text(&line, "name", text);
		plim_result_add_whole(&line, "n", 1);
		assert_int_equal(plim_result_end(&line), PLIM_OK);
		snprintf(expected, sizeof(expected), "RESULT r name=%s n=1\n",
			 hostile[i].quoted);
		assert_string_equal(output.text, expected);
		assert_int_equal(
		    plim_result_parse(sample_bytes(output.text), &result, NULL),
		    PLIM_OK);
		assert_int_equal(plim_result_find(&result, "name", &pair, NULL),
				 1);
		assert_int_equal(pair.quoted, 1);
		assert_int_equal(pair.unavailable, 0);
		size = plim_result_unescape(pair.value, back, sizeof(back));
		assert_int_equal(size, text.size);
		assert_memory_equal(back, text.data, size);
	}
}

/* What stands bare, and what would be taken for something else. */
static void words(void **state)
{
	static const struct {
		const char *word, *as_pair, *as_text;
	} rows[] = {
	    {"real", "real", "real"},
	    {"a-b_c.d", "a-b_c.d", "a-b_c.d"},
	    {"1.4.2", "1.4.2", "1.4.2"},
	    {"1.4", "1.4", "\"1.4\""},
	    {"12", "12", "\"12\""},
	    {"a=b", "a=b", "a=b"},
	    {"", "\"\"", "\"\""},
	    {"two words", "\"two words\"", "\"two words\""},
	    {"unavailable", "\"unavailable\"", "\"unavailable\""},
	    {"\"x", "\"\\\"x\"", "\"\\\"x\""},
	    {"\xc3\xa9", "\"\xc3\xa9\"", "\"\xc3\xa9\""},
	};

	(void)state;
	memset(&output, 0, sizeof(output));
	for (size_t i = 0; i < COUNT(rows); i++) {
		plim_result_line line;
		char expected[128];

		plim_result_begin(&line, "r", sample_write, &output);
		plim_result_add_word(&line, "w", rows[i].word);
		snprintf(expected, sizeof(expected), "RESULT r w=%s\n",
			 rows[i].as_pair);
		expect(plim_result_end(&line), expected);
		snprintf(expected, sizeof(expected), "RESULT w=%s\n",
			 rows[i].as_text);
		expect(plim_result_text("w", sample_bytes(rows[i].word),
					sample_write, &output),
		       expected);
	}
}

/* A statement of the user is free text to the end of the line. */
static void hostile_load(void **state)
{
	plim_result_figures figures = figures_of_example();
	plim_result_load load = load_of_example();

	(void)state;
	memset(&output, 0, sizeof(output));
	load.statement = "a \"b\" \\ c\nRESULT x=1 \xff\x1b";
	load.scope = "re\nal";
	load.crate = "my crate";
	load.version = "1\n2";
	load.scale_unit = "unavailable";
	write_observation(&figures, &load);
	assert_string_equal(
	    line_of("scale="),
	    "scale=1000 a \"b\" \\\\ c\\x0aRESULT x=1 \\xff\\x1b");
	assert_string_equal(line_of("scope="), "scope=\"re\\x0aal\"");
	assert_non_null(
	    strstr(line_of("budget"),
		   "budget crate=\"my crate\" version=\"1\\x0a2\" "));
	assert_non_null(
	    strstr(line_of("budget"), " scale_unit=\"unavailable\" "));
	load.verdict = "unavailable";
	write_observation(&figures, &load);
	assert_non_null(strstr(line_of("budget"), " verdict=unavailable "));
	load.statement = "";
	write_observation(&figures, &load);
	assert_string_equal(line_of("scale="), "scale=1000");
}

/* Every pair of another kind of figure. */
static void pairs(void **state)
{
	plim_real infinite = {.value = INFINITY, .state = PLIM_STATE_KNOWN};
	plim_result_line line;

	(void)state;
	memset(&output, 0, sizeof(output));
	plim_result_begin(&line, "r", sample_write, &output);
	plim_result_add_count(&line, "a", known(UINT64_MAX));
	plim_result_add_count(&line, "b",
			      plim_count_missing(PLIM_REASON_ENDED, 0));
	plim_result_add_real(&line, "c", real(0.1, 0), -1);
	plim_result_add_real(&line, "d", real(1e-9, 0), -1);
	plim_result_add_real(&line, "e", infinite, -1);
	plim_result_add_real(&line, "f", real(2, 0), 3);
	plim_result_add_hex(&line, "g", known(UINT64_MAX));
	plim_result_add_hex(&line, "h",
			    plim_count_missing(PLIM_REASON_ENDED, 0));
	plim_result_add_word(&line, "i", NULL);
	expect(plim_result_end(&line),
	       "RESULT r a=18446744073709551615 b=unavailable c=0.1 d=1e-09 "
	       "e=unavailable f=2.000 g=0xffffffffffffffff h=unavailable "
	       "i=unavailable\n");
	plim_result_begin(&line, "empty", sample_write, &output);
	expect(plim_result_end(&line), "RESULT empty\n");
}

/* Each line of the block reads back as what was written. */
static void reads_back(void **state)
{
	static const struct {
		const char *key;
		int kind;
		double number;
		const char *unit;
	} rows[] = {
	    {"warm_resident_bytes", PLIM_RESULT_VALUE, 94371840, "bytes"},
	    {"idle_resident_bytes", PLIM_RESULT_VALUE, 83886080, "bytes"},
	    {"resident_memory_bytes", PLIM_RESULT_VALUE, 94371840, "bytes"},
	    {"footprint_bytes", PLIM_RESULT_VALUE, 62914560, "bytes"},
	    {"idle_window_seconds", PLIM_RESULT_VALUE, 10, "seconds"},
	    {"idle_cpu_percent", PLIM_RESULT_VALUE, 0.513, "percent"},
	    {"wakeups_per_second", PLIM_RESULT_VALUE, 12.346, "per_second"},
	    {"disk_ops_per_second", PLIM_RESULT_UNAVAILABLE, 0,
	     "shared_cgroup"},
	    {"disk_read_bytes_per_second", PLIM_RESULT_VALUE, 0,
	     "bytes_per_second"},
	    {"disk_write_bytes_per_second", PLIM_RESULT_VALUE, 409.6,
	     "bytes_per_second"},
	    {"scale", PLIM_RESULT_VALUE, 1000,
	     "1,000 idle connections, none sending"},
	    {"scope", PLIM_RESULT_TEXT, 0, ""},
	    {"budget", PLIM_RESULT_RECORD, 0, ""},
	};
	const char *at = whole_block;
	plim_result result;

	(void)state;
	memset(&output, 0, sizeof(output));
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t size = strcspn(at, "\n") + 1;
		plim_bytes line = {at, size};

		assert_int_equal(plim_result_parse(line, &result, NULL),
				 PLIM_OK);
		assert_int_equal(result.kind, rows[i].kind);
		assert_int_equal(result.key.size, strlen(rows[i].key));
		assert_memory_equal(result.key.data, rows[i].key,
				    result.key.size);
		assert_true(result.number == rows[i].number);
		assert_int_equal(result.unit.size, strlen(rows[i].unit));
		assert_memory_equal(result.unit.data, rows[i].unit,
				    result.unit.size);
		at += size;
	}
	assert_int_equal(*at, '\0');
}

/* The callback fails at one call after another: that is told, and nothing
 * comes behind it. */
static void failing_output(void **state)
{
	plim_result_figures figures = figures_of_example();
	plim_result_load load = load_of_example();
	plim_result_line line;
	int calls;

	(void)state;
	memset(&output, 0, sizeof(output));
	write_observation(&figures, &load);
	calls = output.calls;
	assert_int_equal(calls, 2);
	for (int fail = 1; fail <= calls; fail++) {
		memset(&output, 0, sizeof(output));
		output.fail_at = fail;
		output.fail_with = 32;
		assert_int_equal(plim_result_observation(&figures, &load,
							 sample_write, &output),
				 PLIM_EOUTPUT);
		assert_int_equal(output.calls, fail);
	}
	memset(&output, 0, sizeof(output));
	output.fail_at = 2;
	output.fail_with = 32;
	plim_result_begin(&line, "r", sample_write, &output);
	for (int i = 0; i < 1000; i++)
		plim_result_add_text(&line, "k", sample_bytes("0123456789"));
	assert_int_equal(plim_result_end(&line), PLIM_EOUTPUT);
	assert_int_equal(output.calls, 2);
	assert_int_equal(output.size, sizeof(line.data));
}

/* A record of any length comes out whole. */
static void long_record(void **state)
{
	static char name[3000];
	plim_result_line line;
	plim_result_pair pair;
	plim_result result;
	size_t offset = 0;
	int count = 0;

	(void)state;
	memset(&output, 0, sizeof(output));
	memset(name, 0x1b, sizeof(name));
	memset(&output, 0, sizeof(output));
	plim_result_begin(&line, "r", sample_write, &output);
	for (int i = 0; i < 3; i++)
		plim_result_add_text(&line, "k",
				     (plim_bytes){name, sizeof(name)});
	assert_int_equal(plim_result_end(&line), PLIM_OK);
	assert_int_equal(output.size, 9 + 3 * (5 + 4 * sizeof(name)));
	assert_int_equal(
	    plim_result_parse(sample_bytes(output.text), &result, NULL),
	    PLIM_OK);
	while (plim_result_next(&result, &offset, &pair)) {
		assert_int_equal(plim_result_unescape(pair.value, NULL, 0),
				 sizeof(name));
		count++;
	}
	assert_int_equal(count, 3);
}

static void comma_locale(void **state)
{
	if (!set_comma_locale())
		SKIP_BECAUSE("no locale with a decimal comma is to be had");
	memset(&output, 0, sizeof(output));
	observation(state);
	threads(state);
	single_lines(state);
	reads_back(state);
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(observation),   cmocka_unit_test(nothing_known),
	    cmocka_unit_test(resident),	     cmocka_unit_test(blocks_as_ops),
	    cmocka_unit_test(threads),	     cmocka_unit_test(single_lines),
	    cmocka_unit_test(hostile_names), cmocka_unit_test(words),
	    cmocka_unit_test(hostile_load),  cmocka_unit_test(pairs),
	    cmocka_unit_test(reads_back),    cmocka_unit_test(failing_output),
	    cmocka_unit_test(long_record),   cmocka_unit_test(comma_locale),
	};

	return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
