/*
 * cmocka.h - a stand-in for the part of cmocka that our tests use.
 *
 * Debian has cmocka for the machine that it runs on, and for no target of a
 * cross compiler. The tests of what reads no system are to run on Windows,
 * too, so the names, the meaning and the printed lines of cmocka 1.1.5 are
 * given here once more: groups with fixtures, assertions, skips. Nothing of
 * mocks, and no handler of signals: a crash ends the program, which the
 * driver of the tests (tools/run-tests) counts as a failure.
 *
 * Like the original it is included behind stdarg.h, stddef.h, setjmp.h and
 * stdint.h. Wherever cmocka itself is there it is used instead.
 */
#ifndef PLIMT_CMOCKA_H
#define PLIMT_CMOCKA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t LargestIntegralType;
typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
	const char *name;
	CMUnitTestFunction test_func;
	CMFixtureFunction setup_func;
	CMFixtureFunction teardown_func;
	void *initial_state;
};

#define cmocka_unit_test(f)             \
	{                               \
#f, f, NULL, NULL, NULL \
	}
#define cmocka_unit_test_setup(f, setup) \
	{                                \
#f, f, setup, NULL, NULL \
	}
#define cmocka_unit_test_teardown(f, teardown) \
	{                                      \
#f, f, NULL, teardown, NULL    \
	}
#define cmocka_unit_test_setup_teardown(f, setup, teardown) \
	{                                                   \
#f, f, setup, teardown, NULL                \
	}
#define cmocka_unit_test_prestate(f, state) \
	{                                   \
#f, f, NULL, NULL, state    \
	}

/* The number of tests that failed. */
int cmocka_stand_in_run(const struct CMUnitTest *tests, size_t count,
			CMFixtureFunction setup, CMFixtureFunction teardown);

#define cmocka_run_group_tests(tests, setup, teardown)                        \
	cmocka_stand_in_run(tests, sizeof(tests) / sizeof((tests)[0]), setup, \
			    teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
	((void)(name), cmocka_run_group_tests(tests, setup, teardown))

/* Each returns where the assertion holds, and else ends the test. */
void cmocka_stand_in_true(int holds, const char *text, const char *file,
			  int line);
void cmocka_stand_in_same(LargestIntegralType one, LargestIntegralType other,
			  int wanted, const char *file, int line);
void cmocka_stand_in_strings(const char *one, const char *other, int wanted,
			     const char *file, int line);
void cmocka_stand_in_memory(const void *one, const void *other, size_t size,
			    int wanted, const char *file, int line);
void cmocka_stand_in_range(LargestIntegralType value, LargestIntegralType least,
			   LargestIntegralType most, const char *file,
			   int line);
_Noreturn void cmocka_stand_in_fail(const char *file, int line);
_Noreturn void cmocka_stand_in_skip(void);

#define CMOCKA_VALUE(value)   ((LargestIntegralType)(value))
#define CMOCKA_POINTER(value) ((LargestIntegralType)(uintptr_t)(value))

#define assert_true(c) \
	cmocka_stand_in_true(CMOCKA_VALUE(c) != 0, #c, __FILE__, __LINE__)
#define assert_false(c) \
	cmocka_stand_in_true(CMOCKA_VALUE(c) == 0, #c, __FILE__, __LINE__)
#define assert_non_null(c) \
	cmocka_stand_in_true(CMOCKA_POINTER(c) != 0, #c, __FILE__, __LINE__)
#define assert_null(c) \
	cmocka_stand_in_true(CMOCKA_POINTER(c) == 0, #c, __FILE__, __LINE__)
#define assert_int_equal(a, b)                                              \
	cmocka_stand_in_same(CMOCKA_VALUE(a), CMOCKA_VALUE(b), 1, __FILE__, \
			     __LINE__)
#define assert_int_not_equal(a, b)                                          \
	cmocka_stand_in_same(CMOCKA_VALUE(a), CMOCKA_VALUE(b), 0, __FILE__, \
			     __LINE__)
#define assert_ptr_equal(a, b)                                        \
	cmocka_stand_in_same(CMOCKA_POINTER(a), CMOCKA_POINTER(b), 1, \
			     __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b)                                    \
	cmocka_stand_in_same(CMOCKA_POINTER(a), CMOCKA_POINTER(b), 0, \
			     __FILE__, __LINE__)
#define assert_string_equal(a, b) \
	cmocka_stand_in_strings(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) \
	cmocka_stand_in_strings(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) \
	cmocka_stand_in_memory(a, b, size, 1, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) \
	cmocka_stand_in_memory(a, b, size, 0, __FILE__, __LINE__)
#define assert_in_range(value, least, most)                             \
	cmocka_stand_in_range(CMOCKA_VALUE(value), CMOCKA_VALUE(least), \
			      CMOCKA_VALUE(most), __FILE__, __LINE__)

#define fail() cmocka_stand_in_fail(__FILE__, __LINE__)
#define skip() cmocka_stand_in_skip()
#define fail_msg(...)                     \
	do {                              \
		print_error("ERROR: ");   \
		print_error(__VA_ARGS__); \
		print_error("\n");        \
		fail();                   \
	} while (0)

/* gcc checks a format by what the target's C library means by "printf". */
#if defined(__clang__)
#define CMOCKA_PRINTF __attribute__((__format__(__printf__, 1, 2)))
#elif defined(__GNUC__)
#define CMOCKA_PRINTF __attribute__((__format__(__gnu_printf__, 1, 2)))
#else
#define CMOCKA_PRINTF
#endif
void print_message(const char *format, ...) CMOCKA_PRINTF;
void print_error(const char *format, ...) CMOCKA_PRINTF;

#endif
