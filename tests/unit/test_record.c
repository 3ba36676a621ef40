/*
 * test_record.c - what a record says of what is in it and of what is not.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/record.h"

#include <string.h>

static plim_process record;

static void clear(int field)
{
	plim_field_set asked = {{0}};

	plim_field_set_add(&asked, field);
	/* As left by a process that was read before: its identity stays. */
	memset(&record, 'x', sizeof(record));
	memset(&record.identity, 0, sizeof(record.identity));
	record.identity.pid = 7;
	record.identity_size = 1;
	record.identity_text[0] = '7';
	plimp_record_clear(&record, &asked);
}

static void is_missing(plim_count figure, int state, int reason)
{
	assert_int_equal(figure.state, state);
	assert_int_equal(figure.method, reason);
	assert_int_equal(figure.value, 0);
}

static int is_always_read(int field)
{
	return field == PLIM_FIELD_PID || field == PLIM_FIELD_NAME ||
	       field == PLIM_FIELD_STATE || field == PLIM_FIELD_IDENTITY ||
	       field == PLIM_FIELD_IDENTITY_RUNG;
}

static void test_empty(void **state)
{
	(void)state;
	clear(PLIM_FIELD_CPU);
	assert_true(plimp_record_is_sound(&record));
	for (int field = 1; field <= PLIM_FIELD_LAST; field++) {
		plim_count figure = plim_process_count(&record, field);
		plim_text text = plim_process_text(&record, field);
		int is_text = plim_field_get(field)->kind == PLIM_KIND_TEXT;

		if (is_text) {
			is_missing(figure, PLIM_STATE_UNSUPPORTED,
				   PLIM_REASON_UNKNOWN_FIELD);
			assert_int_equal(text.state, is_always_read(field)
							 ? PLIM_STATE_UNREAD
							 : PLIM_STATE_SKIPPED);
			assert_int_equal(text.bytes.size, 0);
			continue;
		}
		assert_int_equal(text.state, PLIM_STATE_UNSUPPORTED);
		assert_int_equal(text.method, PLIM_REASON_UNKNOWN_FIELD);
		assert_int_equal(text.bytes.size, 0);
		if (field == PLIM_FIELD_CPU || is_always_read(field))
			is_missing(figure, PLIM_STATE_UNREAD, PLIM_REASON_NONE);
		else
			is_missing(figure, PLIM_STATE_SKIPPED,
				   PLIM_REASON_NOT_ASKED);
	}
	/* It stays until the next reading replaces it. */
	assert_int_equal(plim_process_pid(&record), 7);
	assert_false(plim_process_is_measured(&record));
	/* One that was never read has no figure that was not asked for. */
	memset(&record, 0, sizeof(record));
	is_missing(plim_process_count(&record, PLIM_FIELD_RESIDENT),
		   PLIM_STATE_UNREAD, PLIM_REASON_NONE);
}

static void test_unknown_fields(void **state)
{
	static const int fields[] = {0,	  -1,	     PLIM_FIELD_LAST + 1,
				     127, INT32_MAX, INT32_MIN};

	(void)state;
	clear(PLIM_FIELD_LAST + 1);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		is_missing(plim_process_count(&record, fields[i]),
			   PLIM_STATE_UNSUPPORTED, PLIM_REASON_UNKNOWN_FIELD);
		assert_int_equal(plim_process_text(&record, fields[i]).state,
				 PLIM_STATE_UNSUPPORTED);
	}
}

static void test_figures(void **state)
{
	plim_count figure;

	(void)state;
	clear(PLIM_FIELD_CPU);
	plimp_record_set(&record, PLIM_FIELD_CPU,
			 plim_count_known(123, PLIM_METHOD_STAT_TICKS));
	plimp_record_set(&record, PLIM_FIELD_SWAP,
			 plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13));
	figure = plim_process_count(&record, PLIM_FIELD_CPU);
	assert_int_equal(figure.state, PLIM_STATE_KNOWN);
	assert_int_equal(figure.value, 123);
	assert_int_equal(figure.method, PLIM_METHOD_STAT_TICKS);
	/* What is there is told, asked for or not. */
	figure = plim_process_count(&record, PLIM_FIELD_SWAP);
	assert_int_equal(figure.state, PLIM_STATE_DENIED);
	assert_int_equal(figure.code, 13);
	assert_true(plimp_record_is_sound(&record));
}

static void check_name(const char *data, size_t size, size_t kept)
{
	plim_text name;

	clear(PLIM_FIELD_CPU);
	plimp_record_name(&record, (plim_bytes){data, size});
	name = plim_process_text(&record, PLIM_FIELD_NAME);
	assert_int_equal(name.state, PLIM_STATE_KNOWN);
	assert_int_equal(name.method, PLIM_METHOD_STAT);
	assert_int_equal(name.bytes.size, kept);
	assert_memory_equal(name.bytes.data, data, kept);
	assert_true(plimp_record_is_sound(&record));
}

static void test_name(void **state)
{
	char large[200];
	plim_text name;

	(void)state;
	memset(large, '\xff', sizeof(large));
	check_name("a ) \n\x1b", 6, 6);
	check_name("", 0, 0);
	check_name(NULL, 0, 0);
	check_name(large, PLIMP_NAME_SIZE, PLIMP_NAME_SIZE);
	check_name(large, sizeof(large), PLIMP_NAME_SIZE);

	/* A host may know better. */
	clear(PLIM_FIELD_CPU);
	plimp_record_set(&record, PLIM_FIELD_NAME,
			 plim_count_known(0, PLIM_METHOD_STATUS));
	plimp_record_name(&record, (plim_bytes){"n", 1});
	name = plim_process_text(&record, PLIM_FIELD_NAME);
	assert_int_equal(name.method, PLIM_METHOD_STATUS);
	plimp_record_set(&record, PLIM_FIELD_NAME,
			 plim_count_missing(PLIM_REASON_INVISIBLE, 2));
	name = plim_process_text(&record, PLIM_FIELD_NAME);
	assert_int_equal(name.state, PLIM_STATE_HIDDEN);
	assert_int_equal(name.method, PLIM_REASON_INVISIBLE);
	assert_int_equal(name.code, 2);
	assert_int_equal(name.bytes.size, 0);
}

/* "/a/b.service", whose unit is its end. */
static void test_texts(void **state)
{
	plim_text text;

	(void)state;
	clear(PLIM_FIELD_UNIT);
	record.texts.size = 12;
	plimp_record_text(&record, PLIMP_TEXT_CGROUP, 0, 12,
			  PLIM_METHOD_CGROUP_V2);
	plimp_record_text(&record, PLIMP_TEXT_UNIT, 3, 9,
			  PLIM_METHOD_CGROUP_V1);
	plimp_record_set(&record, PLIM_FIELD_CONTAINER,
			 plim_count_missing(PLIM_REASON_NO_CONTAINER, 0));
	assert_true(plimp_record_is_sound(&record));
	record.texts.data = "/a/b.service";
	text = plim_process_text(&record, PLIM_FIELD_CGROUP);
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_int_equal(text.method, PLIM_METHOD_CGROUP_V2);
	assert_int_equal(text.bytes.size, 12);
	assert_memory_equal(text.bytes.data, "/a/b.service", 12);
	text = plim_process_text(&record, PLIM_FIELD_UNIT);
	assert_int_equal(text.method, PLIM_METHOD_CGROUP_V1);
	assert_int_equal(text.bytes.size, 9);
	assert_memory_equal(text.bytes.data, "b.service", 9);
	text = plim_process_text(&record, PLIM_FIELD_CONTAINER);
	assert_int_equal(text.state, PLIM_STATE_NOT_APPLICABLE);
	assert_int_equal(text.method, PLIM_REASON_NO_CONTAINER);
	assert_int_equal(text.bytes.size, 0);
	/* The next process has none. */
	clear(PLIM_FIELD_CGROUP);
	assert_int_equal(record.texts.size, 0);
	assert_null(record.texts.data);
	assert_int_equal(plim_process_text(&record, PLIM_FIELD_CGROUP).state,
			 PLIM_STATE_UNREAD);
}

static void test_state(void **state)
{
	plim_text text;

	(void)state;
	clear(PLIM_FIELD_CPU);
	record.state = 'S';
	text = plim_process_text(&record, PLIM_FIELD_STATE);
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_int_equal(text.method, PLIM_METHOD_STAT);
	assert_int_equal(text.bytes.size, 1);
	assert_int_equal(text.bytes.data[0], 'S');
}

static void test_identity(void **state)
{
	plim_identity identity = {
	    .pid = 42,
	    .has = PLIM_IDENTITY_INODE | PLIM_IDENTITY_START,
	    .start_ticks = 9,
	    .inode = UINT64_MAX,
	};
	plim_count figure;
	plim_text text;

	(void)state;
	clear(PLIM_FIELD_CPU);
	plimp_record_identity(&record, &identity);
	assert_true(plimp_record_is_sound(&record));
	assert_int_equal(plim_process_pid(&record), 42);
	assert_int_equal(plim_process_identity(&record).inode, UINT64_MAX);
	text = plim_process_text(&record, PLIM_FIELD_IDENTITY);
	assert_int_equal(text.state, PLIM_STATE_KNOWN);
	assert_int_equal(text.bytes.size, strlen("42@i18446744073709551615"));
	assert_memory_equal(text.bytes.data, "42@i18446744073709551615",
			    text.bytes.size);
	figure = plim_process_count(&record, PLIM_FIELD_IDENTITY_RUNG);
	assert_int_equal(figure.value, PLIM_RUNG_INODE);
	assert_int_equal(figure.method, PLIM_METHOD_PIDFD_INODE);
	figure = plim_process_count(&record, PLIM_FIELD_PID);
	assert_int_equal(figure.state, PLIM_STATE_KNOWN);
	assert_int_equal(figure.value, 42);

	identity.has = PLIM_IDENTITY_START;
	plimp_record_identity(&record, &identity);
	figure = plim_process_count(&record, PLIM_FIELD_IDENTITY_RUNG);
	assert_int_equal(figure.value, PLIM_RUNG_START);
	identity.has = 0;
	plimp_record_identity(&record, &identity);
	figure = plim_process_count(&record, PLIM_FIELD_IDENTITY_RUNG);
	assert_int_equal(figure.value, PLIM_RUNG_NONE);
	text = plim_process_text(&record, PLIM_FIELD_IDENTITY);
	assert_int_equal(text.bytes.size, 2);
}

/* The text is made anew whenever the identity is another. */
static void test_identity_again(void **state)
{
	plim_identity identity = {
	    .pid = 42, .has = PLIM_IDENTITY_START, .start_ticks = 9};
	plim_field_set asked = {{0}};
	plim_text text;

	(void)state;
	clear(PLIM_FIELD_CPU);
	plimp_record_identity(&record, &identity);
	plimp_record_clear(&record, &asked);
	assert_int_equal(plim_process_text(&record, PLIM_FIELD_IDENTITY).state,
			 PLIM_STATE_UNREAD);
	plimp_record_identity(&record, &identity);
	text = plim_process_text(&record, PLIM_FIELD_IDENTITY);
	assert_int_equal(text.bytes.size, 5);
	assert_memory_equal(text.bytes.data, "42@t9", 5);
	identity.start_ticks = 10;
	plimp_record_identity(&record, &identity);
	text = plim_process_text(&record, PLIM_FIELD_IDENTITY);
	assert_int_equal(text.bytes.size, 6);
	assert_memory_equal(text.bytes.data, "42@t10", 6);
}

static void test_refused(void **state)
{
	(void)state;
	clear(PLIM_FIELD_CPU);
	plimp_record_set(&record, PLIM_FIELD_CPU,
			 plim_count_missing(PLIM_REASON_ENDED, 3));
	assert_false(plimp_record_is_refused(&record));
	plimp_record_set(&record, PLIM_FIELD_LAST,
			 plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13));
	assert_true(plimp_record_is_refused(&record));
}

static void test_stamp(void **state)
{
	(void)state;
	clear(PLIM_FIELD_CPU);
	record.stamp.monotonic.ns = 5;
	record.stamp.boottime.ns = 6;
	assert_int_equal(plim_process_stamp(&record).monotonic.ns, 5);
	assert_int_equal(plim_process_stamp(&record).boottime.ns, 6);
}

static void test_measured(void **state)
{
	(void)state;
	clear(PLIM_FIELD_CPU);
	plimp_record_set(&record, PLIM_FIELD_RESIDENT,
			 plim_count_known(1, PLIM_METHOD_STATM));
	plimp_record_set(&record, PLIM_FIELD_CPU,
			 plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13));
	assert_false(plim_process_is_measured(&record));
	plimp_record_set(&record, PLIM_FIELD_PRIVATE,
			 plim_count_known(0, PLIM_METHOD_STATUS));
	assert_true(plim_process_is_measured(&record));
	clear(PLIM_FIELD_CPU);
	plimp_record_set(&record, PLIM_FIELD_CPU,
			 plim_count_known(0, PLIM_METHOD_STAT_TICKS));
	assert_true(plim_process_is_measured(&record));
}

static plim_process relative(int32_t pid, uint64_t ppid, uint64_t start)
{
	plim_identity identity = {
	    .pid = pid, .has = PLIM_IDENTITY_START, .start_ticks = start};

	clear(PLIM_FIELD_PPID);
	plimp_record_identity(&record, &identity);
	plimp_record_set(&record, PLIM_FIELD_PPID,
			 plim_count_known(ppid, PLIM_METHOD_STAT));
	return record;
}

static void test_child(void **state)
{
	plim_process parent = relative(10, 1, 500);
	plim_process child = relative(20, 10, 600);

	(void)state;
	assert_true(plim_process_is_child_of(&child, &parent));
	assert_false(plim_process_is_child_of(&parent, &child));
	assert_false(plim_process_is_child_of(&child, &child));
	child = relative(20, 11, 600);
	assert_false(plim_process_is_child_of(&child, &parent));
	child = relative(20, 10, 500);
	assert_true(plim_process_is_child_of(&child, &parent));
	/* The pid of the parent was used again. */
	child = relative(20, 10, 499);
	assert_false(plim_process_is_child_of(&child, &parent));
	child.identity.has = 0;
	assert_true(plim_process_is_child_of(&child, &parent));
	child = relative(10, 10, 600);
	assert_false(plim_process_is_child_of(&child, &parent));
	child = relative(20, 10, 600);
	plimp_record_set(&child, PLIM_FIELD_PPID,
			 plim_count_missing(PLIM_REASON_NOT_PERMITTED, 0));
	assert_false(plim_process_is_child_of(&child, &parent));
	/* Nobody is the child of a record that was never filled. */
	clear(PLIM_FIELD_PPID);
	child = relative(20, 0, 600);
	clear(PLIM_FIELD_PPID);
	assert_false(plim_process_is_child_of(&child, &record));
	/* A pid that only looks right in 32 bits. */
	child = relative(20, UINT64_C(0x10000000a), 600);
	assert_false(plim_process_is_child_of(&child, &parent));
}

static void test_sound(void **state)
{
	struct plimp_thread threads[] = {{.tid = 5, .start_ticks = 1},
					 {.tid = 5, .start_ticks = 2},
					 {.tid = 6, .start_ticks = 0}};

	(void)state;
	clear(PLIM_FIELD_CPU);
	record.threads =
	    (struct plimp_threads){.items = threads, .count = 3, .known = 1};
	assert_true(plimp_record_is_sound(&record));
	threads[1].start_ticks = 1;
	assert_false(plimp_record_is_sound(&record));
	threads[1].tid = 7;
	assert_false(plimp_record_is_sound(&record));
	record.threads.known = 0;
	assert_true(plimp_record_is_sound(&record));
	record.figures[PLIM_FIELD_CPU].value = 1;
	assert_false(plimp_record_is_sound(&record));
	clear(PLIM_FIELD_CPU);
	record.figures[PLIM_FIELD_LAST].state = 99;
	assert_false(plimp_record_is_sound(&record));
	clear(PLIM_FIELD_CPU);
	record.figures[PLIM_FIELD_CPU] =
	    plim_count_bounded(1, PLIM_METHOD_STAT, 3);
	assert_false(plimp_record_is_sound(&record));
	record.figures[PLIM_FIELD_CPU] = plim_count_known(1, 9999);
	assert_false(plimp_record_is_sound(&record));
	record.figures[PLIM_FIELD_CPU] =
	    plim_count_missing(PLIM_REASON_ENDED, 0);
	assert_true(plimp_record_is_sound(&record));
	record.figures[PLIM_FIELD_CPU].state = PLIM_STATE_DENIED;
	assert_false(plimp_record_is_sound(&record));
	clear(PLIM_FIELD_CPU);
	record.name_size = PLIMP_NAME_SIZE + 1;
	assert_false(plimp_record_is_sound(&record));
	clear(PLIM_FIELD_CPU);
	record.texts.size = 5;
	record.texts.parts[PLIMP_TEXT_UNIT].start = 2;
	record.texts.parts[PLIMP_TEXT_UNIT].size = 3;
	assert_true(plimp_record_is_sound(&record));
	record.texts.parts[PLIMP_TEXT_UNIT].size = 4;
	assert_false(plimp_record_is_sound(&record));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_unknown_fields),
	    cmocka_unit_test(test_figures),
	    cmocka_unit_test(test_name),
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_state),
	    cmocka_unit_test(test_identity),
	    cmocka_unit_test(test_identity_again),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_stamp),
	    cmocka_unit_test(test_measured),
	    cmocka_unit_test(test_child),
	    cmocka_unit_test(test_sound),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
