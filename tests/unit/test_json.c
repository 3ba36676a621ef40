/*
 * test_json.c - the JSON stream and the objects of the schema, byte by byte.
 * The host object is tested in test_json_host.c, with a host made by hand.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sample.h"

#include <math.h>

static plim_json *start(struct sample_output *output, int indent)
{
	plim_json *json = NULL;

	memset(output, 0, sizeof(*output));
	assert_int_equal(
	    plim_json_new(&json, sample_write, output, indent, NULL, NULL),
	    PLIM_OK);
	return json;
}

/* Ends the stream and compares all that came out. */
static void finish(plim_json *json, const struct sample_output *output,
		   const char *expected)
{
	plim_error error = {0};

	assert_int_equal(plim_json_finish(json, &error), PLIM_OK);
	assert_int_equal(error.code, 0);
	plim_json_free(json);
	assert_string_equal(output->text, expected);
	assert_int_equal(output->size, strlen(expected));
}

static void every_value(plim_json *json)
{
	plim_json_object(json, NULL);
	plim_json_string(json, "text", "a");
	plim_json_whole(json, "whole", 18446744073709551615U);
	plim_json_number(json, "number", 0.5);
	plim_json_boolean(json, "yes", 7);
	plim_json_boolean(json, "no", 0);
	plim_json_null(json, "null");
	plim_json_string(json, "none", NULL);
	plim_json_array(json, "list");
	plim_json_whole(json, NULL, 0);
	plim_json_object(json, NULL);
	plim_json_end(json);
	plim_json_array(json, NULL);
	plim_json_end(json);
	plim_json_end(json);
	plim_json_end(json);
}

static void one_line(void **state)
{
	static struct sample_output output;
	plim_json *json = start(&output, 0);

	(void)state;
	every_value(json);
	finish(json, &output,
	       "{\"text\":\"a\",\"whole\":18446744073709551615,"
	       "\"number\":0.5,\"yes\":true,\"no\":false,\"null\":null,"
	       "\"none\":null,\"list\":[0,{},[]]}\n");
}

static void indented(void **state)
{
	static struct sample_output output;
	plim_json *json = start(&output, 2);

	(void)state;
	every_value(json);
	finish(json, &output,
	       "{\n"
	       "  \"text\": \"a\",\n"
	       "  \"whole\": 18446744073709551615,\n"
	       "  \"number\": 0.5,\n"
	       "  \"yes\": true,\n"
	       "  \"no\": false,\n"
	       "  \"null\": null,\n"
	       "  \"none\": null,\n"
	       "  \"list\": [\n"
	       "    0,\n"
	       "    {},\n"
	       "    []\n"
	       "  ]\n"
	       "}\n");
}

static void scalars_alone(void **state)
{
	static struct sample_output output;
	plim_json *json = start(&output, 4);

	(void)state;
	plim_json_whole(json, NULL, 12);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	plim_json_number(json, NULL, (double)NAN);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	plim_json_number(json, NULL, (double)INFINITY);
	finish(json, &output, "12\nnull\nnull\n");
}

static void hostile_text(void **state)
{
	static const char name[] =
	    "a\n\x1b[31m\"\\/\xff\xc3\xe2\x80\xae\x7f\0b";
	static struct sample_output output;
	plim_json *json = start(&output, 0);
	plim_bytes bytes = {name, sizeof(name) - 1};

	(void)state;
	plim_json_array(json, NULL);
	plim_json_text(json, NULL, bytes);
	plim_json_string(json, NULL, "\xc3\xa9\xf0\x9f\x98\x80");
	bytes.size = 0;
	plim_json_text(json, NULL, bytes);
	bytes.data = NULL;
	plim_json_text(json, NULL, bytes);
	plim_json_end(json);
	finish(json, &output,
	       "[\"a\\n\\u001b[31m\\\"\\\\/\\\\xff\\\\xc3\\u202e\\u007f\\u0000b"
	       "\",\"\xc3\xa9\xf0\x9f\x98\x80\",\"\",\"\"]\n");
}

/* A long text is escaped in pieces; no piece may split a character. Every
 * offset of a four-byte character to the pieces' ends is tried. */
static void long_text(void **state)
{
	static struct sample_output output;
	static char text[3000];
	static char expected[3100];

	(void)state;
	for (size_t shift = 0; shift < 5; shift++) {
		plim_json *json = start(&output, 0);
		plim_bytes bytes = {text, shift};

		memset(text, 'x', shift);
		while (bytes.size + 4 < sizeof(text)) {
			memcpy(text + bytes.size, "\xf0\x9f\x98\x80", 4);
			bytes.size += 4;
		}
		expected[0] = '"';
		memcpy(expected + 1, text, bytes.size);
		memcpy(expected + 1 + bytes.size, "\"\n", 3);
		plim_json_text(json, NULL, bytes);
		finish(json, &output, expected);
	}
}

/* The same for bytes that belong to no character. */
static void long_garbage(void **state)
{
	static struct sample_output output;
	static char text[1000];
	plim_json *json = start(&output, 0);
	plim_bytes bytes = {text, sizeof(text)};

	(void)state;
	memset(text, 0x80, sizeof(text));
	plim_json_text(json, NULL, bytes);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	plim_json_free(json);
	assert_int_equal(output.size, 3 + 5 * sizeof(text));
	for (size_t i = 0; i < sizeof(text); i++)
		assert_memory_equal(output.text + 1 + 5 * i, "\\\\x80", 5);
}

static void many_documents(void **state)
{
	static struct sample_output output;
	plim_json *json = start(&output, 0);

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		plim_json_object(json, NULL);
		plim_json_whole(json, "n", i);
		plim_json_end(json);
		assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
		/* Each line is handed out when it is finished. */
		assert_int_equal(output.calls, (int)i + 1);
	}
	plim_json_free(json);
	assert_string_equal(output.text, "{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n");
}

static void misuse_end(plim_json *json)
{
	plim_json_end(json);
}

static void misuse_unbalanced(plim_json *json)
{
	plim_json_object(json, NULL);
}

static void misuse_nothing(plim_json *json)
{
	(void)json;
}

static void misuse_key_outside(plim_json *json)
{
	plim_json_null(json, "key");
}

static void misuse_key_in_array(plim_json *json)
{
	plim_json_array(json, NULL);
	plim_json_null(json, "key");
	plim_json_end(json);
}

static void misuse_no_key(plim_json *json)
{
	plim_json_object(json, NULL);
	plim_json_null(json, NULL);
	plim_json_end(json);
}

static void misuse_two_values(plim_json *json)
{
	plim_json_null(json, NULL);
	plim_json_null(json, NULL);
}

static void misuse_depth(plim_json *json)
{
	for (int i = 0; i < 33; i++)
		plim_json_array(json, NULL);
	for (int i = 0; i < 33; i++)
		plim_json_end(json);
}

static void misuse(void **state)
{
	static void (*const mistakes[])(plim_json *) = {
	    misuse_end,		misuse_unbalanced,   misuse_nothing,
	    misuse_key_outside, misuse_key_in_array, misuse_no_key,
	    misuse_two_values,	misuse_depth,
	};
	static struct sample_output output;

	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		plim_json *json = start(&output, 0);
		plim_error error = {0};

		mistakes[i](json);
		assert_int_equal(plim_json_finish(json, &error), PLIM_EINVAL);
		assert_int_equal(error.code, PLIM_EINVAL);
		/* Kept: what comes after is not written either. */
		plim_json_null(json, NULL);
		assert_int_equal(plim_json_finish(json, NULL), PLIM_EINVAL);
		assert_int_equal(output.size, 0);
		plim_json_free(json);
	}
}

static void deepest(void **state)
{
	static struct sample_output output;
	plim_json *json = start(&output, 0);
	char expected[66];

	(void)state;
	for (int i = 0; i < 32; i++)
		plim_json_array(json, NULL);
	for (int i = 0; i < 32; i++)
		plim_json_end(json);
	memset(expected, '[', 32);
	memset(expected + 32, ']', 32);
	memcpy(expected + 64, "\n", 2);
	finish(json, &output, expected);
}

static void failing_output(void **state)
{
	static struct sample_output output;

	(void)state;
	for (int at = 1; at <= 3; at++) {
		plim_json *json = start(&output, 0);
		plim_error error = {0};

		output.fail_at = at;
		output.fail_with = 28;
		plim_json_array(json, NULL);
		for (uint64_t i = 0; i < 5000; i++)
			plim_json_whole(json, NULL, i);
		plim_json_end(json);
		assert_int_equal(plim_json_finish(json, &error), PLIM_EOUTPUT);
		assert_int_equal(error.code, PLIM_EOUTPUT);
		assert_int_equal(error.system, 28);
		/* The failed call is the last one. */
		assert_int_equal(output.calls, at);
		plim_json_null(json, NULL);
		assert_int_equal(plim_json_finish(json, &error), PLIM_EOUTPUT);
		assert_int_equal(output.calls, at);
		plim_json_free(json);
	}
}

static void bad_arguments(void **state)
{
	static struct sample_output output;
	plim_json *json = NULL;
	plim_error error = {0};

	(void)state;
	assert_int_equal(
	    plim_json_new(&json, sample_write, &output, 9, NULL, &error),
	    PLIM_EINVAL);
	assert_int_equal(
	    plim_json_new(&json, sample_write, &output, -1, NULL, &error),
	    PLIM_EINVAL);
	assert_int_equal(plim_json_new(&json, NULL, NULL, 0, NULL, &error),
			 PLIM_EINVAL);
	assert_int_equal(
	    plim_json_new(NULL, sample_write, &output, 0, NULL, &error),
	    PLIM_EINVAL);
	assert_int_equal(error.code, PLIM_EINVAL);
	assert_null(json);
	plim_json_free(NULL);
}

/* The stream allocates once; nothing after that can fail for memory. */
static void failing_allocations(void **state)
{
	static struct sample_output output;
	struct sample_memory memory = {0, 1, 0};
	plim_allocator allocator = sample_allocator(&memory);
	plim_json *json = NULL;
	plim_error error = {0};
	plim_process record;
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);

	(void)state;
	assert_int_equal(
	    plim_json_new(&json, sample_write, &output, 0, &allocator, &error),
	    PLIM_ENOMEM);
	assert_int_equal(error.code, PLIM_ENOMEM);
	assert_null(json);
	memory.calls = 0;
	memory.fail_at = 2;
	assert_int_equal(
	    plim_json_new(&json, sample_write, &output, 0, &allocator, NULL),
	    PLIM_OK);
	sample_record(&record);
	plim_json_process(json, NULL, &record, &record, &all);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	assert_int_equal(memory.calls, 1);
	plim_json_free(json);
	assert_int_equal(memory.held, 0);
}

/* The members alone, and one more behind them. */
static void members_of_a_process(void **state)
{
	static struct sample_output output;
	plim_field_set fields = sample_fields("pid");
	plim_json *json = start(&output, 0);
	plim_process record;

	(void)state;
	sample_record(&record);
	plim_json_object(json, NULL);
	plim_json_process_members(json, &record, NULL, &fields);
	plim_json_whole(json, "depth", 3);
	plim_json_end(json);
	finish(json, &output,
	       "{\"pid\":4242,\"unavailable\":{},\"method\":{\"pid\":"
	       "\"listing\"},\"bound\":{},\"depth\":3}\n");
}

static void below_zero(void **state)
{
	static struct sample_output output;
	plim_field_set fields = sample_fields("nice");
	plim_json *json = start(&output, 0);
	plim_process record;

	(void)state;
	sample_record(&record);
	sample_known(&record, PLIM_FIELD_NICE, (uint64_t)(int64_t)-20,
		     PLIM_METHOD_STAT);
	plim_json_process(json, NULL, &record, NULL, &fields);
	finish(json, &output,
	       "{\"nice\":-20,\"unavailable\":{},\"method\":{\"nice\":"
	       "\"stat\"},\"bound\":{}}\n");
}

static void one_process(void **state)
{
	static struct sample_output output;
	plim_field_set fields = sample_fields(
	    "pid,name,state,identity,cpu_ns,resident_bytes,wakeups,"
	    "disk_read_bytes,uid");
	plim_json *json = start(&output, 2);
	plim_process record;

	(void)state;
	sample_record(&record);
	plim_json_process(json, NULL, &record, NULL, &fields);
	finish(json, &output,
	       "{\n"
	       "  \"pid\": 4242,\n"
	       "  \"name\": \"worker\",\n"
	       "  \"state\": \"S\",\n"
	       "  \"identity\": \"4242@t777\",\n"
	       "  \"uid\": null,\n"
	       "  \"cpu_ns\": 2000000000,\n"
	       "  \"resident_bytes\": 104857600,\n"
	       "  \"wakeups\": 500,\n"
	       "  \"disk_read_bytes\": null,\n"
	       "  \"unavailable\": {\n"
	       "    \"uid\": {\n"
	       "      \"state\": \"unread\",\n"
	       "      \"reason\": \"not_read\"\n"
	       "    },\n"
	       "    \"disk_read_bytes\": {\n"
	       "      \"state\": \"denied\",\n"
	       "      \"reason\": \"not_permitted\",\n"
	       "      \"code\": \"EACCES\"\n"
	       "    }\n"
	       "  },\n"
	       "  \"method\": {\n"
	       "    \"pid\": \"listing\",\n"
	       "    \"name\": \"stat\",\n"
	       "    \"state\": \"stat\",\n"
	       "    \"identity\": \"identity\",\n"
	       "    \"cpu_ns\": \"process_cpu_clock\",\n"
	       "    \"resident_bytes\": \"statm\",\n"
	       "    \"wakeups\": \"thread_sum\"\n"
	       "  },\n"
	       "  \"bound\": {\n"
	       "    \"wakeups\": \"at_least\"\n"
	       "  }\n"
	       "}\n");
}

static void hostile_name(void **state)
{
	static struct sample_output output;
	plim_field_set fields = sample_fields("name");
	plim_json *json = start(&output, 0);
	plim_process record;

	(void)state;
	sample_record(&record);
	plimp_record_name(&record, sample_bytes("a\"\n\xff\xe2\x82"));
	plim_json_array(json, NULL);
	plim_json_process(json, NULL, &record, NULL, &fields);
	/* Valid UTF-8, however odd, needs no second spelling. */
	plimp_record_name(&record, sample_bytes("\xe2\x80\xae\\"));
	plim_json_process(json, NULL, &record, NULL, &fields);
	record.figures[PLIM_FIELD_NAME] =
	    plim_count_missing(PLIM_REASON_ENDED, 3);
	plim_json_process(json, NULL, &record, NULL, &fields);
	plim_json_end(json);
	finish(json, &output,
	       "[{\"name\":\"a\\\"\\n\\\\xff\\\\xe2\\\\x82\","
	       "\"name_bytes\":\"61220affe282\",\"unavailable\":{},"
	       "\"method\":{\"name\":\"stat\"},\"bound\":{}},"
	       "{\"name\":\"\\u202e\\\\\",\"unavailable\":{},"
	       "\"method\":{\"name\":\"stat\"},\"bound\":{}},"
	       "{\"name\":null,\"unavailable\":{\"name\":{\"state\":\"gone\","
	       "\"reason\":\"ended\",\"code\":\"ESRCH\"}},"
	       "\"method\":{},\"bound\":{}}]\n");
}

static void process_with_rates(void **state)
{
	static struct sample_output output;
	plim_field_set fields =
	    sample_fields("pid,resident_bytes,cpu_ns,disk_write_bytes,"
			  "disk_read_bytes,faults_minor");
	plim_json *json = start(&output, 0);
	plim_process earlier, later;

	(void)state;
	sample_pair(&earlier, &later);
	later.stamp.boottime.ns += 5 * SAMPLE_SECOND;
	plim_json_object(json, NULL);
	plim_json_process(json, "process", &later, &earlier, &fields);
	plim_json_end(json);
	finish(json, &output,
	       "{\"process\":{\"pid\":4242,\"cpu_ns\":2500000000,"
	       "\"resident_bytes\":104857600,\"disk_read_bytes\":null,"
	       "\"disk_write_bytes\":2097152,\"faults_minor\":101,"
	       "\"unavailable\":{\"disk_read_bytes\":{\"state\":\"denied\","
	       "\"reason\":\"not_permitted\",\"code\":\"EACCES\"}},"
	       "\"method\":{\"pid\":\"listing\","
	       "\"cpu_ns\":\"process_cpu_clock\","
	       "\"resident_bytes\":\"statm\","
	       "\"disk_write_bytes\":\"io_reaped_children_included\","
	       "\"faults_minor\":\"stat\"},\"bound\":{},"
	       "\"rates\":{\"interval_ns\":2000000000,"
	       "\"suspended_ns\":5000000000,\"cpu_percent\":25,"
	       "\"cpu_ns_per_second\":250000000,"
	       "\"disk_read_bytes_per_second\":null,"
	       "\"disk_write_bytes_per_second\":1048576,"
	       "\"faults_minor_per_second\":0.5,"
	       "\"unavailable\":{\"disk_read_bytes_per_second\":"
	       "{\"state\":\"denied\",\"reason\":\"not_permitted\","
	       "\"code\":\"EACCES\"}},"
	       "\"method\":{\"cpu_percent\":\"process_cpu_clock\","
	       "\"cpu_ns_per_second\":\"process_cpu_clock\","
	       "\"disk_write_bytes_per_second\":"
	       "\"io_reaped_children_included\","
	       "\"faults_minor_per_second\":\"stat\"},"
	       "\"bound\":{}}}}\n");
}

static void rates_of_another_process(void **state)
{
	static struct sample_output output;
	plim_field_set fields = sample_fields("pid");
	plim_json *json = start(&output, 0);
	plim_process earlier, later;

	(void)state;
	sample_pair(&earlier, &later);
	later.identity.start_ticks++;
	plim_json_process(json, NULL, &later, &earlier, &fields);
	finish(json, &output,
	       "{\"pid\":4242,\"unavailable\":{},"
	       "\"method\":{\"pid\":\"listing\"},\"bound\":{},"
	       "\"rates\":null}\n");
}

static void rates_are_bounded(void **state)
{
	static const struct plimp_thread before[] = {
	    {.tid = 4242, .start_ticks = 777, .voluntary = 100}};
	static const struct plimp_thread after[] = {
	    {.tid = 4242, .start_ticks = 777, .voluntary = 110}};
	static struct sample_output output;
	plim_field_set fields = sample_fields("wakeups");
	plim_json *json = start(&output, 0);
	plim_process earlier, later;

	(void)state;
	sample_pair(&earlier, &later);
	earlier.threads =
	    (struct plimp_threads){.items = before, .count = 1, .known = 1};
	later.threads =
	    (struct plimp_threads){.items = after, .count = 1, .known = 1};
	plim_json_process(json, NULL, &later, &earlier, &fields);
	finish(json, &output,
	       "{\"wakeups\":500,\"unavailable\":{},"
	       "\"method\":{\"wakeups\":\"thread_sum\"},"
	       "\"bound\":{\"wakeups\":\"at_least\"},"
	       "\"rates\":{\"interval_ns\":2000000000,\"suspended_ns\":0,"
	       "\"cpu_percent\":25,\"wakeups_per_second\":5,"
	       "\"unavailable\":{},"
	       "\"method\":{\"cpu_percent\":\"process_cpu_clock\","
	       "\"wakeups_per_second\":\"thread_sum\"},"
	       "\"bound\":{\"wakeups_per_second\":\"at_least\"}}}\n");
}

/* Every figure is a number, or a null with its entry: never neither. */
static void every_field_has_its_place(void **state)
{
	static struct sample_output output;
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_json *json = start(&output, 0);
	plim_process record;
	char entry[128];
	const char *side;

	(void)state;
	sample_record(&record);
	plim_json_process(json, NULL, &record, NULL, &all);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	plim_json_free(json);
	side = strstr(output.text, "\"unavailable\":{");
	assert_non_null(side);
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);
		int known = record.figures[field->id].state == PLIM_STATE_KNOWN;
		const char *value;

		strcpy(entry, "\"");
		strcat(entry, field->name);
		strcat(entry, "\":");
		value = strstr(output.text, entry);
		assert_non_null(value);
		assert_true(value < side);
		assert_int_equal(strncmp(value + strlen(entry), "null", 4) == 0,
				 !known);
		strcat(entry, "{\"state\":");
		assert_int_equal(strstr(side, entry) != NULL, !known);
	}
}

static void cost(void **state)
{
	static struct sample_output output;
	plim_json *json = start(&output, 0);
	plim_cost bill = {0};

	(void)state;
	bill.system_calls = 12;
	bill.bytes_read = 3456;
	bill.cpu_ns = plim_count_known(789, PLIM_METHOD_PROCESS_CPU_CLOCK);
	bill.wall_ns = plim_count_known(1000, PLIM_METHOD_SYSTEM);
	bill.present = 9;
	bill.read = 6;
	bill.vanished = 2;
	bill.refused = 1;
	plim_json_cost(json, NULL, &bill);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	bill.cpu_ns = plim_count_missing(PLIM_REASON_TOO_DEAR, 0);
	bill.wall_ns = bill.cpu_ns;
	plim_json_cost(json, NULL, &bill);
	finish(json, &output,
	       "{\"system_calls\":12,\"bytes_read\":3456,\"cpu_ns\":789,"
	       "\"wall_ns\":1000,\"present\":9,\"read\":6,\"vanished\":2,"
	       "\"refused\":1,\"unavailable\":{}}\n"
	       "{\"system_calls\":12,\"bytes_read\":3456,\"cpu_ns\":null,"
	       "\"wall_ns\":null,\"present\":9,\"read\":6,\"vanished\":2,"
	       "\"refused\":1,\"unavailable\":{\"cpu_ns\":"
	       "{\"state\":\"skipped\",\"reason\":\"left_out_for_its_cost\"},"
	       "\"wall_ns\":"
	       "{\"state\":\"skipped\",\"reason\":\"left_out_for_its_cost\"}}"
	       "}\n");
}

static void errors(void **state)
{
	static struct sample_output output;
	plim_json *json = start(&output, 0);
	plim_error error = {0};

	(void)state;
	error.code = PLIM_EDENIED;
	error.system = 13;
	error.position = -1;
	strcpy(error.operation, "open");
	strcpy(error.path, "/proc/1\n\xff");
	plim_json_error(json, NULL, &error);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	memset(&error, 0, sizeof(error));
	error.code = PLIM_ESYNTAX;
	error.position = 4;
	strcpy(error.operation, "filter");
	strcpy(error.detail, "expected \"x\"");
	plim_json_object(json, NULL);
	plim_json_error(json, "error", &error);
	plim_json_end(json);
	finish(json, &output,
	       "{\"code\":\"denied\",\"message\":\"open /proc/1\\\\x0a\\\\xff: "
	       "the system refuses this to this user (EACCES)\","
	       "\"path\":\"/proc/1\\n\\\\xff\",\"system\":\"EACCES\"}\n"
	       "{\"error\":{\"code\":\"syntax\",\"message\":\"filter: the text "
	       "cannot be understood, at byte 4; expected \\\"x\\\"\","
	       "\"path\":null,\"system\":null,\"position\":4}}\n");
}

/* The longest message that a record can make still fits. */
static void longest_error(void **state)
{
	static struct sample_output output;
	plim_json *json = start(&output, 0);
	plim_error error = {0};

	(void)state;
	error.code = PLIM_EMALFORMED;
	error.system = 13;
	error.position = INT64_MAX;
	memset(error.operation, 0xff, sizeof(error.operation) - 1);
	memset(error.path, 0xff, sizeof(error.path) - 1);
	memset(error.detail, 0xff, sizeof(error.detail) - 2);
	error.detail[sizeof(error.detail) - 2] = 'Z';
	plim_json_error(json, NULL, &error);
	assert_int_equal(plim_json_finish(json, NULL), PLIM_OK);
	plim_json_free(json);
	assert_non_null(strstr(output.text, "\\\\xffZ\",\"path\":"));
	assert_non_null(strstr(output.text, "\"position\":9223372036854775807}"
					    "\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_line),
	    cmocka_unit_test(indented),
	    cmocka_unit_test(scalars_alone),
	    cmocka_unit_test(hostile_text),
	    cmocka_unit_test(long_text),
	    cmocka_unit_test(long_garbage),
	    cmocka_unit_test(many_documents),
	    cmocka_unit_test(misuse),
	    cmocka_unit_test(deepest),
	    cmocka_unit_test(failing_output),
	    cmocka_unit_test(bad_arguments),
	    cmocka_unit_test(failing_allocations),
	    cmocka_unit_test(members_of_a_process),
	    cmocka_unit_test(one_process),
	    cmocka_unit_test(below_zero),
	    cmocka_unit_test(hostile_name),
	    cmocka_unit_test(process_with_rates),
	    cmocka_unit_test(rates_of_another_process),
	    cmocka_unit_test(rates_are_bounded),
	    cmocka_unit_test(every_field_has_its_place),
	    cmocka_unit_test(cost),
	    cmocka_unit_test(errors),
	    cmocka_unit_test(longest_error),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
