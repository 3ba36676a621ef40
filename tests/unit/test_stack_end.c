/*
 * test_stack_end.c - the reasons why a stack ends: words that exports rely on,
 * numbers without a gap.
 */
#include <plimsoll/unwind.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void test_words(void **state)
{
	(void)state;
	assert_string_equal(plim_stack_end_word(PLIM_STACK_ROOT), "root");
	assert_string_equal(plim_stack_end_word(PLIM_STACK_DEPTH), "depth_cap");
	assert_string_equal(plim_stack_end_word(PLIM_STACK_CUT), "copy_cap");
	assert_string_equal(plim_stack_end_word(PLIM_STACK_NO_RULES),
			    "no_rules");
	assert_string_equal(plim_stack_end_word(PLIM_STACK_BAD_MEMORY),
			    "bad_memory");
	assert_string_equal(plim_stack_end_word(PLIM_STACK_UNKNOWN_CODE),
			    "unknown_code");
	assert_string_equal(plim_stack_end_word(PLIM_STACK_BAD_RULES),
			    "bad_rules");
	assert_string_equal(plim_stack_end_word(PLIM_STACK_NO_POINTER),
			    "no_frame_pointer");
	assert_string_equal(plim_stack_end_word(PLIM_STACK_NO_STACK),
			    "no_stack");
	assert_string_equal(plim_stack_end_text(PLIM_STACK_ROOT),
			    "the walk reached the thread's first function");
}

static void test_numbers(void **state)
{
	int last = 0;

	(void)state;
	while (plim_stack_end_word(last + 1))
		last++;
	assert_int_equal(last, 9);
	assert_true(last < PLIM_STACK_END_LIMIT);
	assert_null(plim_stack_end_word(0));
	assert_null(plim_stack_end_text(0));
	assert_null(plim_stack_end_word(-1));
	for (int i = 1; i <= last; i++) {
		assert_non_null(plim_stack_end_text(i));
		for (int j = 1; j < i; j++)
			assert_string_not_equal(plim_stack_end_word(i),
						plim_stack_end_word(j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
