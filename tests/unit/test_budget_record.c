/*
 * test_budget_record.c - recorded results: which lines become which readings,
 * what is refused, and of which machine a baseline may be.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll.h>

#include "counting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HOST                                                          \
	"RESULT gate_host system=linux machine=x86_64 kernel=6.18.5 " \
	"virtual=1 cpus=2 processor=\"a \\\"b\\\"\"\n"

static const plim_budget_place place = {
    .size = sizeof(plim_budget_place),
    .os = "linux",
    .arch = "x86_64",
    .kernel = "6.19.0",
    .processor = "a \"b\"",
    .is_virtual = 1,
    .cores = 2,
};

static plim_bytes bytes_of(const char *text)
{
	plim_bytes bytes = {text, strlen(text)};

	return bytes;
}

static plim_budget_record *parse(const char *text)
{
	plim_budget_record *record = NULL;
	plim_error error = {0};
	int code = plim_budget_record_parse(&record, "r.txt", bytes_of(text),
					    NULL, NULL, &error);

	if (code != PLIM_OK)
		fail_msg("%s: %s", error.path, error.detail);
	return record;
}

static plim_budget_reading only(const plim_budget_record *record,
				const char *target, int figure)
{
	plim_budget_reading reading;

	assert_int_equal(
	    plim_budget_record_readings(record, target, figure, &reading, 1),
	    1);
	return reading;
}

/* A whole observation, as plim idle prints it. */
static void test_observation(void **state)
{
	static const char text[] =
	    "something else\n"
	    "RESULT warm_resident_bytes=2097152 bytes\r\n"
	    "RESULT idle_resident_bytes=1048576 bytes\n"
	    "RESULT resident_memory_bytes=2097152 bytes\n"
	    "RESULT footprint_bytes=524288 bytes\n"
	    "RESULT idle_window_seconds=10.0 seconds\n"
	    "RESULT idle_cpu_percent=0.125 percent\n"
	    "RESULT wakeups_per_second=1.500 per_second\n"
	    "RESULT disk_ops_per_second=unavailable shared_cgroup\n"
	    "RESULT disk_read_bytes_per_second=0.000 bytes_per_second\n"
	    "RESULT disk_write_bytes_per_second=4096.000 bytes_per_second\n"
	    "RESULT scale=100 100 connections\n"
	    "RESULT scope=real\n"
	    "RESULT budget crate=a version=1 resident_bytes=2097152 "
	    "idle_cpu_percent=0.125 wakeups_per_s=1.500 "
	    "disk_ops_per_s=unavailable scale_unit=connections "
	    "scale_count=100 "
	    "method=resident:statm,idle_cpu:process_cpu_clock,"
	    "wakeups:thread_sum:at_least,disk_ops:none window=10.0 samples=2 "
	    "verdict=not_judged disk_blocks_per_s=8.000 "
	    "io_calls_per_s=3.000\n";
	static const struct {
		int figure;
		double value;
		int method, bound;
	} rows[] = {
	    {PLIM_BUDGET_RESIDENT_WARM, 2097152, PLIM_METHOD_STATM, 0},
	    {PLIM_BUDGET_RESIDENT_END, 1048576, PLIM_METHOD_STATM, 0},
	    {PLIM_BUDGET_PRIVATE_WARM, 524288, PLIM_METHOD_NONE,
	     PLIM_BOUND_AT_MOST},
	    {PLIM_BUDGET_IDLE_CPU, 0.125, PLIM_METHOD_PROCESS_CPU_CLOCK, 0},
	    {PLIM_BUDGET_WAKEUPS, 1.5, PLIM_METHOD_THREAD_SUM,
	     PLIM_BOUND_AT_LEAST},
	    {PLIM_BUDGET_DISK_READ, 0, PLIM_METHOD_NONE, 0},
	    {PLIM_BUDGET_DISK_WRITE, 4096, PLIM_METHOD_NONE, 0},
	    {PLIM_BUDGET_DISK_BLOCKS, 8, PLIM_METHOD_NONE, 0},
	    {PLIM_BUDGET_IO_CALLS, 3, PLIM_METHOD_NONE, 0},
	};
	plim_budget_record *record = parse(text);
	plim_budget_reading reading;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		reading = only(record, "any", rows[i].figure);
		assert_int_equal(reading.value.state, PLIM_STATE_KNOWN);
		assert_true(reading.value.value == rows[i].value);
		assert_int_equal(reading.value.method, rows[i].method);
		assert_int_equal(reading.value.bound, rows[i].bound);
	}
	assert_int_equal(only(record, NULL, PLIM_BUDGET_WAKEUPS).window_ns,
			 UINT64_C(10000000000));
	assert_int_equal(only(record, NULL, PLIM_BUDGET_IO_CALLS).window_ns,
			 UINT64_C(10000000000));
	reading = only(record, NULL, PLIM_BUDGET_DISK_OPS);
	assert_int_equal(reading.value.method, PLIM_REASON_SHARED_CGROUP);
	assert_int_equal(reading.value.state, PLIM_STATE_UNSUPPORTED);
	reading = only(record, NULL, PLIM_BUDGET_THREADS);
	assert_int_equal(reading.value.state, PLIM_STATE_SKIPPED);
	assert_non_null(strstr(reading.note, "does not have it"));
	plim_budget_record_free(record);
}

/* Alone, the larger of two bounds both; the line budget stands in. */
static void test_stand_ins(void **state)
{
	plim_budget_record *record =
	    parse("RESULT resident_memory_bytes=100 bytes\n"
		  "RESULT idle_resident_bytes=unavailable zero_reported\n"
		  "RESULT budget wakeups_per_s=2.000 disk_ops_per_s=9.000 "
		  "resident_bytes=100\n");
	plim_budget_reading reading =
	    only(record, NULL, PLIM_BUDGET_RESIDENT_WARM);

	(void)state;
	assert_true(reading.value.value == 100);
	assert_int_equal(reading.value.bound, PLIM_BOUND_AT_MOST);
	/* The line of the figure itself comes first, though it has none. */
	reading = only(record, NULL, PLIM_BUDGET_RESIDENT_END);
	assert_int_equal(reading.value.state, PLIM_STATE_UNSUPPORTED);
	assert_string_equal(reading.note, "zero_reported");
	assert_true(only(record, NULL, PLIM_BUDGET_WAKEUPS).value.value == 2);
	plim_budget_record_free(record);
	/* Operations that are blocks are none. */
	record = parse("RESULT disk_ops_per_second=8.000 per_second\n"
		       "RESULT budget method=disk_ops:disk_blocks:getrusage\n");
	reading = only(record, NULL, PLIM_BUDGET_DISK_OPS);
	assert_int_equal(reading.value.state, PLIM_STATE_UNLIKE);
	assert_non_null(strstr(reading.note, "limit disk_blocks"));
	plim_budget_record_free(record);
}

static void test_repeats(void **state)
{
	plim_budget_record *record =
	    parse("RESULT idle_window_seconds=10.0 seconds\n"
		  "RESULT wakeups_per_second=1.000 per_second\n"
		  "RESULT budget window=10.0 method=wakeups:wait4\n"
		  "RESULT wakeups_per_second=2.000 per_second\n"
		  "RESULT wakeups_per_second=unavailable ended\n");
	plim_budget_reading readings[4];

	(void)state;
	memset(readings, 0, sizeof(readings));
	assert_int_equal(plim_budget_record_readings(
			     record, NULL, PLIM_BUDGET_WAKEUPS, readings, 2),
			 3);
	assert_int_equal(readings[2].value.state, PLIM_STATE_UNREAD);
	assert_int_equal(plim_budget_record_readings(
			     record, NULL, PLIM_BUDGET_WAKEUPS, readings, 4),
			 3);
	assert_true(readings[0].value.value == 1);
	assert_int_equal(readings[0].value.method, PLIM_METHOD_WAIT4);
	assert_true(readings[1].value.value == 2);
	assert_int_equal(readings[1].value.method, PLIM_METHOD_NONE);
	assert_int_equal(readings[1].window_ns, 0);
	assert_int_equal(readings[2].value.state, PLIM_STATE_GONE);
	plim_budget_record_free(record);
}

#define FIGURE(rest) "RESULT gate_figure target=\"a b\" " rest "\n"

static void test_gate(void **state)
{
	plim_budget_record *record = parse(
	    HOST "RESULT wakeups_per_second=77.000 per_second\n" FIGURE(
		"figure=wakeups value=1.5 unit=per_second "
		"method=wait4 bound=at_least window_seconds=60 "
		"counted=90 more=\"x\"")
		FIGURE("figure=wakeups value=unavailable unit=per_second "
		       "reason=not_permitted")
		    FIGURE("figure=threads value=8 unit=count method=status "
			   "bound=exact")
			FIGURE("figure=of_tomorrow value=1 unit=furlongs"));
	plim_budget_reading readings[2];

	(void)state;
	assert_int_equal(plim_budget_record_readings(
			     record, "a b", PLIM_BUDGET_WAKEUPS, readings, 2),
			 2);
	assert_true(readings[0].value.value == 1.5);
	assert_int_equal(readings[0].value.method, PLIM_METHOD_WAIT4);
	assert_int_equal(readings[0].value.bound, PLIM_BOUND_AT_LEAST);
	assert_int_equal(readings[0].window_ns, UINT64_C(60000000000));
	assert_int_equal(readings[0].counted.value, 90);
	assert_int_equal(readings[1].value.state, PLIM_STATE_DENIED);
	assert_true(only(record, "a b", PLIM_BUDGET_THREADS).value.value == 8);
	assert_int_equal(only(record, "a b", PLIM_BUDGET_WALL).value.state,
			 PLIM_STATE_SKIPPED);
	/* Of another target there are no samples, whatever plain lines say. */
	assert_int_equal(plim_budget_record_readings(
			     record, "b", PLIM_BUDGET_WAKEUPS, readings, 2),
			 0);
	plim_budget_record_free(record);
	record = parse("nothing\nRESULT other=1 bytes\nRESULT other a=b\n");
	assert_int_equal(plim_budget_record_readings(
			     record, "b", PLIM_BUDGET_WAKEUPS, readings, 2),
			 0);
	plim_budget_record_free(record);
	record = parse("");
	plim_budget_record_free(record);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text;
		uint32_t line, column;
		const char *says;
	} rows[] = {
	    {"\nRESULT 9x=1 bytes", 2, 8, ""},
	    {"RESULT wakeups_per_second=1 bytes", 1, 27, "another unit"},
	    {"RESULT wakeups_per_second=1", 1, 27, "another unit"},
	    {"RESULT wakeups_per_second=-1 per_second", 1, 27, "below 0"},
	    {"RESULT wakeups_per_second=many", 1, 27, "expected a number"},
	    {"RESULT budget wakeups_per_s=x", 1, 29, "expected a number"},
	    {"RESULT budget wakeups_per_s=1 wakeups_per_s=2", 1, 15, "twice"},
	    {"RESULT gate_figure target=a value=1", 1, 20, "without figure"},
	    {"RESULT gate_figure figure=wakeups value=1", 1, 20,
	     "without target"},
	    {"RESULT gate_figure figure=wakeups target=a", 1, 20,
	     "without value"},
	    {"RESULT gate_figure figure=wakeups target=a value=1 unit=bytes", 1,
	     57, "another unit"},
	    {HOST "RESULT gate_host system=linux cpus=4", 2, 1, "two machines"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct counting counting = {0};
		plim_allocator allocator = counting_allocator(&counting);
		plim_budget_record *record = NULL;
		plim_budget_position where = {0};
		plim_error error = {0};

		if (plim_budget_record_parse(&record, "r.txt",
					     bytes_of(rows[i].text), &allocator,
					     &where, &error) != PLIM_ESYNTAX ||
		    strstr(error.detail, rows[i].says) == NULL)
			fail_msg("%s: %s", rows[i].text, error.detail);
		assert_null(record);
		assert_int_equal(where.line, rows[i].line);
		if (rows[i].column != 0)
			assert_int_equal(where.column, rows[i].column);
		assert_int_equal(strncmp(error.path, "r.txt:", 6), 0);
		assert_int_equal(counting.live, 0);
	}
}

/* A name of 128 bytes, escaped, and one that no target has. */
static void test_long_name(void **state)
{
	char text[1024], name[200];
	plim_budget_record *record;
	plim_budget_reading reading;
	plim_error error = {0};

	(void)state;
	memset(name, '\xff', sizeof(name));
	name[128] = '\0';
	strcpy(text, "RESULT gate_figure target=\"");
	for (int i = 0; i < 128; i++)
		strcat(text, "\\xff");
	strcat(text, "\" figure=wakeups value=1");
	record = parse(text);
	assert_int_equal(plim_budget_record_readings(
			     record, name, PLIM_BUDGET_WAKEUPS, &reading, 1),
			 1);
	plim_budget_record_free(record);
	strcpy(text, "RESULT gate_figure target=");
	for (int i = 0; i < 513; i++)
		strcat(text, "a");
	strcat(text, " figure=wakeups value=1");
	assert_int_equal(plim_budget_record_parse(&record, NULL, bytes_of(text),
						  NULL, NULL, &error),
			 PLIM_ESYNTAX);
	assert_non_null(strstr(error.detail, "too long"));
}

static void test_limit(void **state)
{
	static const char line[] = "RESULT wakeups_per_second=1 per_second\n";
	size_t size = sizeof(line) - 1, count = 16384;
	char *text = malloc((count + 1) * size);
	plim_bytes bytes = {text, count * size};
	plim_budget_record *record = NULL;

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i <= count; i++)
		memcpy(text + i * size, line, size);
	assert_int_equal(
	    plim_budget_record_parse(&record, NULL, bytes, NULL, NULL, NULL),
	    PLIM_OK);
	assert_int_equal(plim_budget_record_readings(
			     record, NULL, PLIM_BUDGET_WAKEUPS, NULL, 0),
			 count);
	plim_budget_record_free(record);
	bytes.size += size;
	assert_int_equal(
	    plim_budget_record_parse(&record, NULL, bytes, NULL, NULL, NULL),
	    PLIM_ELIMIT);
	free(text);
}

static plim_budget_baseline baseline_of(const plim_budget_record *record,
					const plim_budget_place *here,
					int figure)
{
	plim_budget_baseline baseline;

	memset(&baseline, 0x5a, sizeof(baseline));
	plim_budget_record_baseline(record, "a b", figure, PLIM_AGGREGATE_WORST,
				    here, &baseline);
	return baseline;
}

static void test_baseline(void **state)
{
	plim_budget_record *record = parse(
	    HOST FIGURE("figure=wakeups value=1.5 unit=per_second method=wait4")
		FIGURE("figure=wakeups value=2.5 unit=per_second method=wait4 "
		       "bound=at_least")
		    FIGURE("figure=threads value=unavailable reason=ended"));
	plim_budget_baseline baseline =
	    baseline_of(record, &place, PLIM_BUDGET_WAKEUPS);

	(void)state;
	/* The kernel is another, which is no matter. */
	assert_string_equal(baseline.refused, "");
	assert_true(baseline.value.value == 2.5);
	assert_int_equal(baseline.value.method, PLIM_METHOD_WAIT4);
	assert_int_equal(baseline.value.bound, PLIM_BOUND_AT_LEAST);
	baseline = baseline_of(record, &place, PLIM_BUDGET_THREADS);
	assert_string_equal(baseline.refused, "");
	assert_int_equal(baseline.value.state, PLIM_STATE_GONE);
	baseline = baseline_of(record, &place, PLIM_BUDGET_WALL);
	assert_non_null(strstr(baseline.refused, "does not have the figure"));
	plim_budget_record_baseline(record, "b", PLIM_BUDGET_WAKEUPS,
				    PLIM_AGGREGATE_BEST, &place, &baseline);
	assert_non_null(strstr(baseline.refused, "nor any of this target"));
	plim_budget_record_baseline(record, "a b", PLIM_BUDGET_WAKEUPS,
				    PLIM_AGGREGATE_BEST, &place, &baseline);
	assert_true(baseline.value.value == 1.5);
	plim_budget_record_free(record);
}

static void test_other_machine(void **state)
{
	plim_budget_record *record = parse(HOST FIGURE(
	    "figure=wakeups value=1.5 unit=per_second method=wait4"));
	plim_budget_record *nowhere = parse(
	    FIGURE("figure=wakeups value=1.5 unit=per_second method=wait4"));
	plim_budget_place other;

	(void)state;
#define REFUSED(member, value_, says)                                         \
	do {                                                                  \
		other = place;                                                \
		other.member = value_;                                        \
		assert_non_null(strstr(                                       \
		    baseline_of(record, &other, PLIM_BUDGET_WAKEUPS).refused, \
		    says));                                                   \
	} while (0)
	REFUSED(os, "none", "another system");
	REFUSED(arch, "aarch64", "another architecture");
	REFUSED(processor, "c", "another processor");
	REFUSED(cores, 4, "another number of CPUs");
	REFUSED(is_virtual, 0, "it is of a virtual machine");
	assert_non_null(
	    strstr(baseline_of(nowhere, &place, PLIM_BUDGET_WAKEUPS).refused,
		   "does not say of which machine"));
	/* What is not known here is not compared. */
	other = (plim_budget_place){.size = sizeof(other), .is_virtual = -1};
	assert_string_equal(
	    baseline_of(record, &other, PLIM_BUDGET_WAKEUPS).refused, "");
	plim_budget_record_free(record);
	plim_budget_record_free(nowhere);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_observation),
	    cmocka_unit_test(test_stand_ins),
	    cmocka_unit_test(test_repeats),
	    cmocka_unit_test(test_gate),
	    cmocka_unit_test(test_mistakes),
	    cmocka_unit_test(test_long_name),
	    cmocka_unit_test(test_limit),
	    cmocka_unit_test(test_baseline),
	    cmocka_unit_test(test_other_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
