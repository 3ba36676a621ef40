/*
 * test_csv.c - CSV byte by byte: header and rows agree, a missing figure is
 * empty, and no name can start a formula, end a line or leave its field.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample.h"

#include <stdio.h>

static void expect_rows(const plim_process *process,
			const plim_process *earlier, const char *list,
			int rates, const char *expected)
{
	static struct sample_output output;
	plim_field_set fields = sample_fields(list);

	memset(&output, 0, sizeof(output));
	assert_int_equal(plim_csv_header(&fields, rates, sample_write, &output),
			 PLIM_OK);
	assert_int_equal(plim_csv_process(process, earlier, &fields, rates,
					  sample_write, &output),
			 PLIM_OK);
	assert_string_equal(output.text, expected);
}

static void plain(void **state)
{
	plim_process record;

	(void)state;
	sample_record(&record);
	expect_rows(&record, NULL,
		    "wakeups,pid,name,state,identity,uid,resident_bytes,"
		    "disk_read_bytes",
		    0,
		    "pid,name,state,identity,uid,resident_bytes,wakeups,"
		    "disk_read_bytes\r\n"
		    "4242,worker,S,4242@t777,,104857600,500,\r\n");
	expect_rows(&record, NULL, "disk_read_bytes", 0,
		    "disk_read_bytes\r\n\r\n");
	sample_known(&record, PLIM_FIELD_CPU, UINT64_MAX, PLIM_METHOD_STAT);
	expect_rows(&record, NULL, "cpu_ns", 0,
		    "cpu_ns\r\n18446744073709551615\r\n");
}

static void rates(void **state)
{
	plim_process earlier, later;

	(void)state;
	sample_pair(&earlier, &later);
	expect_rows(&later, &earlier,
		    "pid,cpu_ns,resident_bytes,disk_read_bytes,faults_minor", 1,
		    "pid,cpu_ns,resident_bytes,disk_read_bytes,faults_minor,"
		    "cpu_percent,cpu_ns_per_second,disk_read_bytes_per_second,"
		    "faults_minor_per_second\r\n"
		    "4242,2500000000,104857600,,101,25,250000000,,0.5\r\n");
	/* Without an earlier sample, or with one of another process, the
	 * columns stay and are empty. */
	expect_rows(&later, NULL, "pid,faults_minor", 1,
		    "pid,faults_minor,cpu_percent,faults_minor_per_second\r\n"
		    "4242,101,,\r\n");
	earlier.identity.start_ticks++;
	expect_rows(&later, &earlier, "pid,faults_minor", 1,
		    "pid,faults_minor,cpu_percent,faults_minor_per_second\r\n"
		    "4242,101,,\r\n");
}

static void hostile_names(void **state)
{
	static const struct {
		const char *name;
		const char *field;
	} rows[] = {
	    {"", ""},
	    {"a,b", "\"a,b\""},
	    {"a\"b", "\"a\"\"b\""},
	    {"a\r\nb", "a\\x0d\\x0ab"},
	    {"\x1b[31m", "\\x1b[31m"},
	    {"=1+1", "\\x3d1+1"},
	    {"+1", "\\x2b1"},
	    {"-1", "\\x2d1"},
	    {"@a,b", "\"\\x40a,b\""},
	    {"\xff\xc3", "\\xff\\xc3"},
	    {"\xe2\x80\xae", "\\xe2\\x80\\xae"},
	    {"\xc3\xa9", "\xc3\xa9"},
	    {"a\\b", "a\\x5cb"},
	};
	plim_process record;
	char expected[256];

	(void)state;
	sample_record(&record);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plimp_record_name(&record, sample_bytes(rows[i].name));
		strcpy(expected, "name,threads\r\n");
		strcat(expected, rows[i].field);
		strcat(expected, ",3\r\n");
		expect_rows(&record, NULL, "name,threads", 0, expected);
	}
}

/* The longest name of the worst bytes comes out whole. */
static void longest_name(void **state)
{
	char name[PLIMP_NAME_SIZE], expected[512] = "name\r\n";
	plim_bytes bytes = {name, sizeof(name)};
	plim_process record;

	(void)state;
	sample_record(&record);
	memset(name, 0xff, sizeof(name));
	plimp_record_name(&record, bytes);
	for (size_t i = 0; i < sizeof(name); i++)
		strcat(expected, "\\xff");
	strcat(expected, "\r\n");
	expect_rows(&record, NULL, "name", 0, expected);
}

/* A path of the longest kind and the worst bytes; a number below zero. */
static void longest_text(void **state)
{
	static char path[PLIMP_TEXT_SIZE], expected[5 * PLIMP_TEXT_SIZE];
	plim_process record;
	char *at = expected;

	(void)state;
	sample_record(&record);
	memset(path, 0x1b, sizeof(path));
	record.texts.data = path;
	record.texts.size = sizeof(path);
	plimp_record_text(&record, PLIMP_TEXT_CGROUP, 0, sizeof(path),
			  PLIM_METHOD_CGROUP_V2);
	sample_known(&record, PLIM_FIELD_NICE, (uint64_t)(int64_t)-20,
		     PLIM_METHOD_STAT);
	at += sprintf(at, "cgroup,nice\r\n");
	for (size_t i = 0; i < sizeof(path); i++)
		at += sprintf(at, "\\x1b");
	sprintf(at, ",-20\r\n");
	expect_rows(&record, NULL, "cgroup,nice", 0, expected);
}

/* Every row has as many fields as the header. */
static void all_columns(void **state)
{
	static struct sample_output output;
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_process earlier, later;
	size_t commas[2] = {0, 0}, line = 0;

	(void)state;
	sample_pair(&earlier, &later);
	memset(&output, 0, sizeof(output));
	plim_csv_header(&all, 1, sample_write, &output);
	plim_csv_process(&later, &earlier, &all, 1, sample_write, &output);
	for (size_t i = 0; i < output.size; i++) {
		if (output.text[i] == ',')
			commas[line]++;
		if (output.text[i] == '\n')
			line++;
	}
	assert_int_equal(line, 2);
	assert_int_equal(commas[0], commas[1]);
	assert_true(commas[0] > plim_field_count());
}

static void failing_output(void **state)
{
	static struct sample_output output;
	plim_field_set fields = sample_fields("pid,name");
	plim_process record;

	(void)state;
	sample_record(&record);
	memset(&output, 0, sizeof(output));
	output.fail_at = 1;
	output.fail_with = 32;
	assert_int_equal(plim_csv_header(&fields, 0, sample_write, &output),
			 PLIM_EOUTPUT);
	output.fail_at = 2;
	assert_int_equal(
	    plim_csv_process(&record, NULL, &fields, 0, sample_write, &output),
	    PLIM_EOUTPUT);
	assert_int_equal(output.size, 0);
	assert_int_equal(
	    plim_csv_process(&record, NULL, &fields, 0, sample_write, &output),
	    PLIM_OK);
	assert_string_equal(output.text, "4242,worker\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain),	      cmocka_unit_test(rates),
	    cmocka_unit_test(hostile_names),  cmocka_unit_test(longest_name),
	    cmocka_unit_test(longest_text),   cmocka_unit_test(all_columns),
	    cmocka_unit_test(failing_output),
	};

	return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
