/*
 * test_decode_iostat.c - io.stat of a control group: sums over devices.
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
	int result = plimp_decode_io_stat(text, &value);

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
		{"", PLIM_OK, 0},
		{"8:0 rios=1 wios=2\n", PLIM_OK, 3},
		{"8:0\trios=1\twios=2 \n", PLIM_OK, 3},
		{"8:0 rios=1 wios=2\n8:16 rios=4 wios=8\n", PLIM_OK, 15},
		{"8:0\n", PLIM_OK, 0},
		{"8:0 \n", PLIM_OK, 0},
		{"8:0 rbytes=1 dios=9\n", PLIM_OK, 0},
		{"8:0 xrios=9 rios2=9 rios=1\n", PLIM_OK, 1},
		{"8:0 cost.usage=x y= = wios=1\n", PLIM_OK, 1},
		{"8:0 7:1 rios=1\n", PLIM_OK, 1},
		{"8:0 rios=18446744073709551614 wios=1\n", PLIM_OK, UINT64_MAX},
		{"8:0 rios=18446744073709551615 wios=1\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=18446744073709551616\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=1", PLIM_EMALFORMED, 0},
		{"\n", PLIM_EMALFORMED, 0},
		{"rios=1\n", PLIM_EMALFORMED, 0},
		{" 8:0 rios=1\n", PLIM_EMALFORMED, 0},
		{"8-0 rios=1\n", PLIM_EMALFORMED, 0},
		{"8: rios=1\n", PLIM_EMALFORMED, 0},
		{":0 rios=1\n", PLIM_EMALFORMED, 0},
		{"8:0x rios=1\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=x\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=1x\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=-1\n", PLIM_EMALFORMED, 0},
		{"8:0 rios=1\nwios=2\n", PLIM_EMALFORMED, 0},
}, files[] = {
		{"synthetic-iostat/devices", PLIM_OK, 10747},
		{"synthetic-iostat/cost", PLIM_OK, 7},
		{"synthetic-iostat/without-figures", PLIM_OK, 1},
		{"synthetic-iostat/too-large", PLIM_EMALFORMED, 0},
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
		assert_true(value == 0 || value == 545 || value == 10747);
}

static void check_any(plim_bytes text)
{
	uint64_t value;

	(void)decode(text, &value);
}

static void check_nonsense(plim_bytes text)
{
	uint64_t value;

	/* No device at all is what an idle group shows. */
	if (!decode(text, &value))
		assert_true(text.size == 0 && value == 0);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("synthetic-iostat/devices");

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

	return cmocka_run_group_tests_name("decode_iostat", tests, NULL, NULL);
}
