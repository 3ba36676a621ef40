/*
 * test_decode_schedstat.c - /proc/PID/schedstat: three numbers and a newline.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static int decode(plim_bytes text, struct plimp_schedstat *schedstat)
{
	struct plimp_schedstat poison;

	memset(&poison, 0xa5, sizeof(poison));
	*schedstat = poison;
	int result = plimp_decode_schedstat(text, schedstat);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(schedstat, &poison, sizeof(poison));
	}
	return result;
}

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t run, wait, switches;
	} rows[] = {
	    {"1540238 22851 17\n", PLIM_OK, 1540238, 22851, 17},
	    {"0 0 0\n", PLIM_OK, 0, 0, 0},
	    {"18446744073709551615 18446744073709551615 "
	     "18446744073709551615\n",
	     PLIM_OK, UINT64_MAX, UINT64_MAX, UINT64_MAX},
	    {"18446744073709551616 0 0\n", PLIM_EMALFORMED, 0, 0, 0},
	    {"1 2 3", PLIM_EMALFORMED, 0, 0, 0},
	    {"1 2\n", PLIM_EMALFORMED, 0, 0, 0},
	    {"1 2 3 4\n", PLIM_EMALFORMED, 0, 0, 0},
	    {"1  2 3\n", PLIM_EMALFORMED, 0, 0, 0},
	    {" 1 2 3\n", PLIM_EMALFORMED, 0, 0, 0},
	    {"1 -2 3\n", PLIM_EMALFORMED, 0, 0, 0},
	    {"1\t2 3\n", PLIM_EMALFORMED, 0, 0, 0},
	    {"1 2 3\n\n", PLIM_EMALFORMED, 0, 0, 0},
	    {"", PLIM_EMALFORMED, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		struct plimp_schedstat schedstat;

		assert_int_equal(decode(text, &schedstat), rows[i].result);
		if (!rows[i].result) {
			assert_true(schedstat.run_ns == rows[i].run);
			assert_true(schedstat.wait_ns == rows[i].wait);
			assert_true(schedstat.switches_in == rows[i].switches);
		}
		text_free(text);
	}
}

static void check_refused(plim_bytes text)
{
	struct plimp_schedstat schedstat;

	assert_int_equal(decode(text, &schedstat), PLIM_EMALFORMED);
}

static void check_prefix(plim_bytes text)
{
	struct plimp_schedstat schedstat;

	if (text.size < 19)
		check_refused(text);
	else
		assert_int_equal(decode(text, &schedstat), PLIM_OK);
}

static void check_any(plim_bytes text)
{
	struct plimp_schedstat schedstat;

	decode(text, &schedstat);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_string("1540238 228515 170\n");

	(void)state;
	text_every_prefix(text, check_prefix);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_schedstat", tests, NULL,
					   NULL);
}
