/*
 * test_error.c - the error table, filling a record, and the line for people.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/fail.h"

#include <errno.h>
#include <string.h>

/* Words and numbers are an interface: the list is repeated here on purpose. */
static const struct {
	int code;
	const char *word;
} codes[] = {
    {0, "ok"},
    {-1, "invalid_argument"},
    {-2, "out_of_memory"},
    {-3, "unsupported"},
    {-4, "no_such_process"},
    {-5, "denied"},
    {-6, "hidden"},
    {-7, "replaced"},
    {-8, "thread_not_process"},
    {-9, "ambiguous"},
    {-10, "not_procfs"},
    {-11, "syntax"},
    {-12, "unknown_name"},
    {-13, "timeout"},
    {-14, "over_limit"},
    {-15, "malformed"},
    {-16, "unlike"},
    {-17, "output"},
    {-18, "system"},
    {-19, "cannot_tell"},
    {-20, "wrong_budget"},
    {-21, "other_program"},
    {-22, "no_samples"},
    {-23, "busy"},
};

static void test_table(void **state)
{
	size_t count = sizeof(codes) / sizeof(codes[0]);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(plim_error_word(codes[i].code),
				    codes[i].word);
		assert_true(strlen(plim_error_text(codes[i].code)) > 0);
	}
	assert_string_equal(plim_error_word(1), "unknown");
	assert_string_equal(plim_error_word(-1 - (int)count), "unknown");
	assert_string_equal(plim_error_word(INT32_MIN), "unknown");
	assert_string_equal(plim_error_text(PLIM_ENOPROCESS),
			    "there is no such process");
	assert_string_equal(plim_error_text(99), "unknown error");
	assert_string_equal(plim_version(), PLIM_VERSION);
}

static void test_system_names(void **state)
{
	(void)state;
	assert_string_equal(plim_system_error_name(EACCES), "EACCES");
	assert_string_equal(plim_system_error_name(ENOENT), "ENOENT");
	assert_string_equal(plim_system_error_name(ESRCH), "ESRCH");
	assert_string_equal(plim_system_error_name(EAGAIN), "EAGAIN");
	assert_string_equal(plim_system_error_name(EDOM), "EDOM");
	assert_string_equal(plim_system_error_name(0), "E?");
	assert_string_equal(plim_system_error_name(-EACCES), "E?");
	assert_string_equal(plim_system_error_name(1 << 20), "E?");
}

static void test_fail(void **state)
{
	plim_error error;

	(void)state;
	memset(&error, 'x', sizeof(error));
	assert_int_equal(plimp_fail(&error, PLIM_EDENIED, EACCES, "open",
				    "/proc/1/io", "uid %d, %s", 7, "not root"),
			 PLIM_EDENIED);
	assert_int_equal(error.code, PLIM_EDENIED);
	assert_int_equal(error.system, EACCES);
	assert_int_equal(error.position, -1);
	assert_string_equal(error.operation, "open");
	assert_string_equal(error.path, "/proc/1/io");
	assert_string_equal(error.detail, "uid 7, not root");

	memset(&error, 'x', sizeof(error));
	assert_int_equal(
	    plimp_fail_at(&error, PLIM_ESYNTAX, "filter", "a >", 3, NULL),
	    PLIM_ESYNTAX);
	assert_int_equal(error.system, 0);
	assert_int_equal(error.position, 3);
	assert_string_equal(error.path, "a >");
	assert_string_equal(error.detail, "");

	plimp_fail(&error, PLIM_ENOMEM, 0, "take", NULL, NULL);
	assert_string_equal(error.path, "");
	assert_int_equal(plimp_fail(NULL, PLIM_ENOMEM, 0, "take", NULL, NULL),
			 PLIM_ENOMEM);
	assert_int_equal(
	    plimp_fail_at(NULL, PLIM_ESYNTAX, "take", "x", 0, NULL),
	    PLIM_ESYNTAX);
}

static void test_fail_cuts(void **state)
{
	plim_error error;
	char text[1000];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	plimp_fail(&error, PLIM_ESYSTEM, 0, text, text, "%s", text);
	assert_int_equal(strlen(error.operation), sizeof(error.operation) - 1);
	assert_int_equal(strlen(error.path), sizeof(error.path) - 1);
	assert_int_equal(strlen(error.detail), sizeof(error.detail) - 1);
}

/* The arguments may be parts of the record that they replace. */
static void test_fail_from_itself(void **state)
{
	plim_error error;

	(void)state;
	plimp_fail(&error, PLIM_ESYSTEM, 5, "read", "/one", "%s", "two");
	plimp_fail(&error, PLIM_EROOT, error.system, error.operation,
		   error.detail, "after %s", error.path);
	assert_int_equal(error.system, 5);
	assert_string_equal(error.operation, "read");
	assert_string_equal(error.path, "two");
	assert_string_equal(error.detail, "after /one");
}

static void test_message(void **state)
{
	plim_error error;
	char line[400];
	size_t length;

	(void)state;
	plimp_fail(&error, PLIM_EDENIED, EACCES, "open", "/proc/1/io",
		   "try root");
	length = plim_error_message(&error, line, sizeof(line));
	assert_int_equal(length, strlen(line));
	assert_string_equal(line,
			    "open /proc/1/io: the system refuses this to this "
			    "user (EACCES); try root");

	plimp_fail_at(&error, PLIM_ENAME, "fields", "nmae", 4,
		      "did you mean %s?", "name");
	plim_error_message(&error, line, sizeof(line));
	assert_string_equal(line, "fields nmae: no such name, at byte 4; did "
				  "you mean name?");

	plimp_fail_at(&error, PLIM_ESYNTAX, "filter", ")", 0, NULL);
	plim_error_message(&error, line, sizeof(line));
	assert_string_equal(
	    line, "filter ): the text cannot be understood, at byte 0");

	plimp_fail(&error, PLIM_ENOMEM, 0, NULL, NULL, NULL);
	plim_error_message(&error, line, sizeof(line));
	assert_string_equal(line, "memory could not be allocated");
}

static void test_message_escapes(void **state)
{
	plim_error error;
	char line[400];

	(void)state;
	plimp_fail(&error, PLIM_EROOT, 0, "open", "/\x1b[2J\xff\n",
		   "not \x9b%s", "\xe2\x80\xae");
	plim_error_message(&error, line, sizeof(line));
	assert_string_equal(
	    line, "open /\\x1b[2J\\xff\\x0a: the directory is not a proc file "
		  "system; not \\x9b\\xe2\\x80\\xae");
}

/* Whatever the room, the line is a beginning of the whole one, terminated,
 * and the length is that of the whole. */
static void test_message_cut(void **state)
{
	plim_error error;
	char whole[400];
	char line[400];
	size_t length;

	(void)state;
	plimp_fail_at(&error, PLIM_ENAME, "find", "\xc3\xa9\x01 e", 12,
		      "did you mean \xc3\xa9?");
	length = plim_error_message(&error, whole, sizeof(whole));
	assert_int_equal(plim_error_message(&error, NULL, 0), length);
	for (size_t size = 1; size <= length + 1; size++) {
		memset(line, 'x', sizeof(line));
		assert_int_equal(plim_error_message(&error, line, size),
				 length);
		assert_true(strlen(line) < size);
		assert_true(strlen(line) + 4 >= size);
		assert_memory_equal(line, whole, strlen(line));
		assert_true(plim_is_utf8((plim_bytes){line, strlen(line)}));
		for (size_t i = size; i < sizeof(line); i++)
			assert_int_equal(line[i], 'x');
	}
	assert_string_equal(line, whole);
}

/* Arrays that a caller filled to the last byte. */
static void test_message_unterminated(void **state)
{
	plim_error error;
	char line[1000];

	(void)state;
	memset(&error, 'a', sizeof(error));
	error.code = PLIM_ESYSTEM;
	error.system = 0;
	error.position = -1;
	assert_int_equal(plim_error_message(&error, line, sizeof(line)),
			 32 + 1 + 256 + 2 + strlen("a system call failed") + 2 +
			     256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_system_names),
	    cmocka_unit_test(test_fail),
	    cmocka_unit_test(test_fail_cuts),
	    cmocka_unit_test(test_fail_from_itself),
	    cmocka_unit_test(test_message),
	    cmocka_unit_test(test_message_escapes),
	    cmocka_unit_test(test_message_cut),
	    cmocka_unit_test(test_message_unterminated),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
