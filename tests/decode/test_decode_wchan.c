/*
 * test_decode_wchan.c - /proc/PID/task/TID/wchan: a symbol, or "0".
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static int decode(plim_bytes text, plim_bytes *name)
{
	plim_bytes poison = {(const char *)&poison, 12345};
	int result;

	*name = poison;
	result = plimp_decode_wchan(text, name);
	if (result != 1) {
		assert_true(result == 0 || result == PLIM_EMALFORMED);
		assert_memory_equal(name, &poison, sizeof(poison));
	} else {
		assert_ptr_equal(name->data, text.data);
		assert_in_range(name->size, 1, text.size);
	}
	return result;
}

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		int result;
		const char *name;
	} rows[] = {
	    {"hrtimer_nanosleep", 1, "hrtimer_nanosleep"},
	    {"futex_do_wait\n", 1, "futex_do_wait"},
	    {"do_wait.constprop.0", 1, "do_wait.constprop.0"},
	    {"0x", 1, "0x"},
	    {"00", 1, "00"},
	    {"0", 0, NULL},
	    {"0\n", 0, NULL},
	    {"", PLIM_EMALFORMED, NULL},
	    {"\n", PLIM_EMALFORMED, NULL},
	    {"two words", PLIM_EMALFORMED, NULL},
	    {"a\nb", PLIM_EMALFORMED, NULL},
	    {"\x1b[31m", PLIM_EMALFORMED, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		plim_bytes name;

		assert_int_equal(decode(text, &name), rows[i].result);
		if (rows[i].name != NULL)
			assert_true(text_is(name, rows[i].name));
		text_free(text);
	}
}

static void test_length(void **state)
{
	plim_bytes name;
	plim_bytes most = text_repeat('a', PLIMP_WCHAN_SIZE);
	plim_bytes more = text_repeat('a', PLIMP_WCHAN_SIZE + 1);

	(void)state;
	assert_int_equal(decode(most, &name), 1);
	assert_int_equal(name.size, PLIMP_WCHAN_SIZE);
	assert_int_equal(decode(more, &name), PLIM_EMALFORMED);
	text_free(most);
	text_free(more);
}

static void check_any(plim_bytes text)
{
	plim_bytes name;

	decode(text, &name);
}

static void check_refused(plim_bytes text)
{
	plim_bytes name;

	assert_int_equal(decode(text, &name), PLIM_EMALFORMED);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_string("hrtimer_nanosleep");

	(void)state;
	text_every_prefix(text, check_any);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_length),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_wchan", tests, NULL, NULL);
}
