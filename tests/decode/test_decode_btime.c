/*
 * test_decode_btime.c - when the machine was booted, in /proc/stat.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

/* Decodes; on failure the output must be as it was, and is so told. */
static int decode(plim_bytes text, uint64_t *number)
{
	uint64_t value = 0xa5a5a5a5a5a5a5a5u;
	int result = plimp_decode_btime(text, &value);

	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_true(value == 0xa5a5a5a5a5a5a5a5u);
	}
	*number = value;
	return result;
}

/* clang-format off */
static const struct row {
	const char *text; /* or the name of a fixture */
	int result;
	uint64_t value;
} texts[] = {
		{"btime 5\n", PLIM_OK, 5},
		{"cpu 1\nbtime 5\n", PLIM_OK, 5},
		{"btime 5\nbtime 6\n", PLIM_OK, 5},
		{"btime 18446744073709551615\n", PLIM_OK, UINT64_MAX},
		{"btime 18446744073709551616\n", PLIM_EMALFORMED, 0},
		{"btime 5", PLIM_EMALFORMED, 0},
		{"btime 5 \n", PLIM_EMALFORMED, 0},
		{"btime 5\r\n", PLIM_EMALFORMED, 0},
		{"btime  5\n", PLIM_EMALFORMED, 0},
		{"btime -5\n", PLIM_EMALFORMED, 0},
		{"btime\t5\n", PLIM_EMALFORMED, 0},
		{"xbtime 5\n", PLIM_EMALFORMED, 0},
		{" btime 5\n", PLIM_EMALFORMED, 0},
		{"btime\n5\n", PLIM_EMALFORMED, 0},
		{"btime x\nbtime 5\n", PLIM_EMALFORMED, 0},
		{"cpu 1\n", PLIM_EMALFORMED, 0},
}, files[] = {
		{"linux-6.18-btime/host", PLIM_OK, 1795976830},
		{"synthetic-btime/two-cpus", PLIM_OK, 1700000000},
};
/* clang-format on */

static void check_row(const struct row *row, plim_bytes text)
{
	uint64_t value;
	int result = decode(text, &value);

	if (result != row->result || (!result && value != row->value))
		fail_msg("%d for %s", result, row->text);
	text_free(text);
}

static void test_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check_row(&texts[i], text_string(texts[i].text));
}

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		check_row(&files[i], text_fixture(files[i].text));
}

static void check_prefix(plim_bytes text)
{
	uint64_t value;

	if (!decode(text, &value))
		assert_true(value == 1795976830);
}

static void check_any(plim_bytes text)
{
	uint64_t value;

	(void)decode(text, &value);
}

static void check_nonsense(plim_bytes text)
{
	uint64_t value;

	assert_int_equal(decode(text, &value), PLIM_EMALFORMED);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-btime/host");

	(void)state;
	text_every_prefix(text, check_prefix);
	text_every_change(text, check_any);
	text_every_nonsense(check_nonsense);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_btime", tests, NULL, NULL);
}
