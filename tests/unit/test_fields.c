/*
 * test_fields.c - the three tables, and sets of fields.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <plimsoll/fields.h>

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static plim_bytes bytes_of(const char *string)
{
	return (plim_bytes){string, strlen(string)};
}

static int is_name(const char *name)
{
	return name[0] != '\0' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") ==
		   strlen(name);
}

/* The suffix tells the unit wherever it could be mistaken. */
static int ends_with(const char *name, const char *end)
{
	size_t size = strlen(name);

	return size >= strlen(end) &&
	       strcmp(name + size - strlen(end), end) == 0;
}

static void test_rows(void **state)
{
	(void)state;
	assert_int_equal(plim_field_count(), PLIM_FIELD_LAST);
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *row = plim_field_at(i);

		assert_int_equal(row->id, i + 1);
		assert_ptr_equal(plim_field_get(row->id), row);
		assert_ptr_equal(plim_field_find(bytes_of(row->name)), row);
		assert_true(is_name(row->name));
		assert_true(row->kind >= PLIM_KIND_COUNTER &&
			    row->kind <= PLIM_KIND_TEXT);
		assert_int_equal(ends_with(row->name, "_bytes"),
				 row->unit == PLIM_UNIT_BYTES);
		assert_int_equal(ends_with(row->name, "_ns"),
				 row->unit == PLIM_UNIT_NS);
		assert_string_equal(row->since, "0.1");
		assert_true(strlen(row->text) > 0);
		assert_true(row->linux_source != NULL ||
			    row->macos_source != NULL ||
			    row->windows_source != NULL);
	}
	assert_null(plim_field_at(PLIM_FIELD_LAST));
	assert_null(plim_field_at(SIZE_MAX));
	assert_null(plim_field_get(0));
	assert_null(plim_field_get(-1));
	assert_null(plim_field_get(PLIM_FIELD_LAST + 1));
	assert_null(plim_field_get(INT32_MAX));
}

static void test_some_rows(void **state)
{
	const plim_field *cpu = plim_field_get(PLIM_FIELD_CPU);

	(void)state;
	assert_string_equal(cpu->name, "cpu_ns");
	assert_int_equal(cpu->kind, PLIM_KIND_COUNTER);
	assert_int_equal(cpu->unit, PLIM_UNIT_NS);
	assert_non_null(cpu->linux_source);
	assert_null(plim_field_get(PLIM_FIELD_COMMIT)->linux_source);
	assert_null(plim_field_get(PLIM_FIELD_COMMIT)->macos_source);
	assert_non_null(plim_field_get(PLIM_FIELD_COMMIT)->windows_source);
	assert_int_equal(plim_field_get(PLIM_FIELD_NAME)->kind, PLIM_KIND_TEXT);
	assert_int_equal(plim_field_get(PLIM_FIELD_DISK_BLOCKS)->unit,
			 PLIM_UNIT_BLOCKS);
}

static void test_find(void **state)
{
	(void)state;
	assert_int_equal(plim_field_find((plim_bytes){"pidfd", 3})->id,
			 PLIM_FIELD_PID);
	assert_null(plim_field_find(bytes_of("PID")));
	assert_null(plim_field_find(bytes_of("pi")));
	assert_null(plim_field_find(bytes_of("pids")));
	assert_null(plim_field_find(bytes_of("")));
	assert_null(plim_field_find((plim_bytes){NULL, 0}));
	assert_null(plim_field_find((plim_bytes){"pid\0", 4}));
}

/* Rows of the lists: numbers that leave no gap end where the rows do. */
#define ONE_MORE(...) +1
#define METHODS	      (PLIM_METHOD_LIST(ONE_MORE))
#define REASONS	      (PLIM_REASON_LIST(ONE_MORE))

static void test_methods_and_reasons(void **state)
{
	int method = 0;
	int reason = 0;

	(void)state;
	for (; plim_method_word(method) != NULL; method++) {
		assert_true(is_name(plim_method_word(method)));
		assert_non_null(plim_method_text(method));
	}
	assert_int_equal(method, METHODS);
	assert_null(plim_method_text(method));
	assert_null(plim_method_word(-1));
	for (; plim_reason_word(reason) != NULL; reason++) {
		assert_true(is_name(plim_reason_word(reason)));
		assert_non_null(plim_reason_text(reason));
		assert_int_not_equal(plim_reason_state(reason),
				     PLIM_STATE_KNOWN);
		assert_non_null(plim_state_word(plim_reason_state(reason)));
	}
	assert_int_equal(reason, REASONS);
	assert_null(plim_reason_text(reason));
	assert_null(plim_reason_word(-1));
	assert_int_equal(plim_reason_state(reason), PLIM_STATE_UNREAD);
	assert_int_equal(plim_reason_state(-1), PLIM_STATE_UNREAD);
	assert_int_equal(plim_reason_state(PLIM_REASON_NOT_PERMITTED),
			 PLIM_STATE_DENIED);
	assert_string_equal(plim_method_word(PLIM_METHOD_THREAD_SUM),
			    "thread_sum");
	assert_string_equal(plim_reason_word(PLIM_REASON_WENT_BACK),
			    "counter_went_back");
}

static void test_sets(void **state)
{
	plim_field_set set = {{0}};
	const plim_field_set empty = {{0}};

	(void)state;
	for (int id = 1; id < PLIM_FIELD_LIMIT; id++) {
		assert_false(plim_field_set_has(&set, id));
		plim_field_set_add(&set, id);
		assert_true(plim_field_set_has(&set, id));
		for (int other = 1; other < PLIM_FIELD_LIMIT; other++)
			assert_int_equal(plim_field_set_has(&set, other),
					 other == id);
		plim_field_set_remove(&set, id);
		assert_memory_equal(&set, &empty, sizeof(set));
	}
	plim_field_set_add(&set, 0);
	plim_field_set_add(&set, -1);
	plim_field_set_add(&set, PLIM_FIELD_LIMIT);
	plim_field_set_remove(&set, INT32_MIN);
	assert_memory_equal(&set, &empty, sizeof(set));
	assert_false(plim_field_set_has(&set, 0));
	assert_false(plim_field_set_has(&set, -64));
	assert_false(plim_field_set_has(&set, PLIM_FIELD_LIMIT));
}

static void test_presets(void **state)
{
	plim_field_set light = plim_field_set_preset(PLIM_FIELDS_LIGHT);
	plim_field_set full = plim_field_set_preset(PLIM_FIELDS_FULL);
	plim_field_set every = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_field_set none = plim_field_set_preset(0);

	(void)state;
	for (int id = 1; id < PLIM_FIELD_LIMIT; id++) {
		assert_int_equal(plim_field_set_has(&every, id),
				 id <= PLIM_FIELD_LAST);
		assert_false(plim_field_set_has(&none, id));
		if (plim_field_set_has(&light, id))
			assert_true(plim_field_set_has(&full, id));
	}
	/* What opens a file of its own is not light. */
	assert_true(plim_field_set_has(&light, PLIM_FIELD_CPU));
	assert_true(plim_field_set_has(&light, PLIM_FIELD_ANONYMOUS));
	assert_true(plim_field_set_has(&light, PLIM_FIELD_FAULTS_MAJOR));
	assert_false(plim_field_set_has(&light, PLIM_FIELD_UID));
	assert_false(plim_field_set_has(&light, PLIM_FIELD_PRIVATE));
	assert_false(plim_field_set_has(&light, PLIM_FIELD_WAKEUPS));
	assert_false(plim_field_set_has(&light, PLIM_FIELD_DISK_READ));
	assert_true(plim_field_set_has(&full, PLIM_FIELD_UID));
	assert_true(plim_field_set_has(&full, PLIM_FIELD_SWAP));
	assert_true(plim_field_set_has(&full, PLIM_FIELD_IO_CALLS));
	assert_true(plim_field_set_has(&full, PLIM_FIELD_INVOLUNTARY));
	assert_false(plim_field_set_has(&full, PLIM_FIELD_DISK_OPS));
	assert_false(plim_field_set_has(&full, PLIM_FIELD_DESCRIPTORS));
}

static void test_parse(void **state)
{
	plim_field_set set = {{0}};
	plim_field_set expected = {{0}};

	(void)state;
	plim_field_set_add(&set, PLIM_FIELD_UID);
	expected = set;
	plim_field_set_add(&expected, PLIM_FIELD_PID);
	plim_field_set_add(&expected, PLIM_FIELD_CPU);
	plim_field_set_add(&expected, PLIM_FIELD_KERNEL_THREAD);
	assert_int_equal(
	    plim_field_set_parse(&set, "pid,cpu_ns,kernel_thread,pid", NULL),
	    PLIM_OK);
	assert_memory_equal(&set, &expected, sizeof(set));
}

static void test_parse_errors(void **state)
{
	static const struct {
		const char *list;
		int position;
		const char *path;
		const char *detail;
	} rows[] = {
	    {"pid,nmae", 4, "nmae", "did you mean name?"},
	    {"cpu", 0, "cpu", "did you mean cpu_ns?"},
	    {"pid,,name", 4, "", "a field name was expected"},
	    {"", 0, "", "a field name was expected"},
	    {"pid,", 4, "", "a field name was expected"},
	    {"pid, name", 4, " name", "did you mean name?"},
	    {"name,zzzzzz,pid", 5, "zzzzzz", ""},
	};
	const plim_field_set before = plim_field_set_preset(PLIM_FIELDS_LIGHT);
	plim_field_set set = before;
	plim_error error;
	char large[1000];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(
		    plim_field_set_parse(&set, rows[i].list, &error),
		    PLIM_ENAME);
		assert_int_equal(error.code, PLIM_ENAME);
		assert_int_equal(error.position, rows[i].position);
		assert_string_equal(error.path, rows[i].path);
		assert_string_equal(error.detail, rows[i].detail);
		assert_memory_equal(&set, &before, sizeof(set));
	}
	memset(large, 'p', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	assert_int_equal(plim_field_set_parse(&set, large, NULL), PLIM_ENAME);
	for (size_t size = 60; size < 70; size++)
		assert_int_equal(plim_field_set_parse(
				     &set, large + sizeof(large) - size, NULL),
				 PLIM_ENAME);
	assert_memory_equal(&set, &before, sizeof(set));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_some_rows),
	    cmocka_unit_test(test_find),
	    cmocka_unit_test(test_methods_and_reasons),
	    cmocka_unit_test(test_sets),
	    cmocka_unit_test(test_presets),
	    cmocka_unit_test(test_parse),
	    cmocka_unit_test(test_parse_errors),
	};

	return cmocka_run_group_tests_name("fields", tests, NULL, NULL);
}
