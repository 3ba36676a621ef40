/*
 * test_decode_bootid.c - the boot id, a UUID, as 16 bytes.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static int decode(plim_bytes text, uint8_t id[16])
{
	uint8_t poison[16];

	memset(poison, 0xa5, sizeof(poison));
	memset(id, 0xa5, sizeof(poison));
	int result = plimp_decode_boot_id(text, id);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(id, poison, sizeof(poison));
	}
	return result;
}

static const uint8_t recorded[16] = {0x67, 0x6b, 0x5a, 0xa8, 0xc8, 0x62,
				     0x40, 0xba, 0x85, 0x1f, 0x72, 0x9a,
				     0x37, 0x7d, 0x39, 0x33};

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		int result;
	} rows[] = {
	    {"676b5aa8-c862-40ba-851f-729a377d3933", PLIM_OK},
	    {"676b5aa8-c862-40ba-851f-729a377d3933\n", PLIM_OK},
	    {"676B5AA8-C862-40BA-851F-729A377D3933\n", PLIM_OK},
	    {"676b5aa8-c862-40ba-851f-729a377d3933\n\n", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d3933 ", PLIM_EMALFORMED},
	    {" 676b5aa8-c862-40ba-851f-729a377d3933", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d393\n", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d39333", PLIM_EMALFORMED},
	    {"676b5aa8c862-40ba-851f-729a377d39333-", PLIM_EMALFORMED},
	    {"676b5aa-8c862-40ba-851f-729a377d3933", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f0729a377d3933", PLIM_EMALFORMED},
	    {"g76b5aa8-c862-40ba-851f-729a377d3933", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d393G", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d39 3", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d39/3", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d39:3", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d39@3", PLIM_EMALFORMED},
	    {"676b5aa8-c862-40ba-851f-729a377d39`3", PLIM_EMALFORMED},
	    {"676b5aa8c86240ba851f729a377d3933", PLIM_EMALFORMED},
	    {"", PLIM_EMALFORMED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		uint8_t id[16];
		int result = decode(text, id);
		if (result != rows[i].result)
			fail_msg("%d for %s", result, rows[i].text);
		if (!result)
			assert_memory_equal(id, recorded, sizeof(id));
		text_free(text);
	}
}

static void test_all_digits(void **state)
{
	plim_bytes text = text_string("00112233-4455-6677-8899-aabbccddeeff");
	uint8_t id[16];

	(void)state;
	assert_int_equal(decode(text, id), PLIM_OK);
	for (int i = 0; i < 16; i++)
		assert_int_equal(id[i], i << 4 | i);
	text_free(text);
}

static void check_refused(plim_bytes text)
{
	uint8_t id[16];

	assert_int_equal(decode(text, id), PLIM_EMALFORMED);
}

static void check_any(plim_bytes text)
{
	uint8_t id[16];

	(void)decode(text, id);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-bootid/host");
	plim_bytes cut = {.data = text.data, .size = text.size - 2};
	uint8_t id[16];

	(void)state;
	assert_int_equal(decode(text, id), PLIM_OK);
	assert_memory_equal(id, recorded, sizeof(id));
	text_every_prefix(cut, check_refused);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_texts),
	    cmocka_unit_test(test_all_digits),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_bootid", tests, NULL, NULL);
}
