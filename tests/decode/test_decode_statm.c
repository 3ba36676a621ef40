/*
 * test_decode_statm.c - /proc/PID/statm: seven numbers, none missing, none cut.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static int decode(plim_bytes text, struct plimp_statm *statm)
{
	struct plimp_statm poison;

	memset(&poison, 0xa5, sizeof(poison));
	*statm = poison;
	int result = plimp_decode_statm(text, statm);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(statm, &poison, sizeof(poison));
	}
	return result;
}

static void test_recorded(void **state)
{
	static const struct {
		const char *file;
		int result;
		uint64_t size, resident, shared;
	} rows[] = {
	    {"linux-6.18-statm/worker", PLIM_OK, 92782, 18294, 3736},
	    {"linux-6.18-statm/kthreadd", PLIM_OK, 0, 0, 0},
	    {"linux-6.18-statm/zombie", PLIM_OK, 0, 0, 0},
	    {"synthetic-statm/largest", PLIM_OK, UINT64_MAX, UINT64_MAX,
	     UINT64_MAX},
	    {"synthetic-statm/too-large", PLIM_EMALFORMED, 0, 0, 0},
	    {"synthetic-statm/six", PLIM_EMALFORMED, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_fixture(rows[i].file);
		struct plimp_statm statm;
		assert_int_equal(decode(text, &statm), rows[i].result);
		if (!rows[i].result) {
			assert_true(statm.size_pages == rows[i].size);
			assert_true(statm.resident_pages == rows[i].resident);
			assert_true(statm.shared_pages == rows[i].shared);
		}
		text_free(text);
	}
}

static void test_malformed(void **state)
{
	static const struct {
		const char *text;
		int result;
	} rows[] = {
	    {"1 2 3 4 5 6 7\n", PLIM_OK},
	    {"1 2 3 4 5 6 7 8\n", PLIM_OK},
	    {"1 2 3 4 5 6 7", PLIM_EMALFORMED},
	    {"1 2 3 4 5 6\n7\n", PLIM_EMALFORMED},
	    {"1 2 3 4 5 6 -7\n", PLIM_EMALFORMED},
	    {"1  2 3 4 5 6 7\n", PLIM_EMALFORMED},
	    {" 1 2 3 4 5 6 7\n", PLIM_EMALFORMED},
	    {"1 2 3x 4 5 6 7\n", PLIM_EMALFORMED},
	    {"1 2 3 4 5 6 7x\n", PLIM_EMALFORMED},
	    {"1\t2\t3\t4\t5\t6\t7\n", PLIM_EMALFORMED},
	    {"1 2 18446744073709551616 4 5 6 7\n", PLIM_EMALFORMED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_string(rows[i].text);
		struct plimp_statm statm;
		if (decode(text, &statm) != rows[i].result)
			fail_msg("wrong for %s", rows[i].text);
		text_free(text);
	}
}

static void check_refused(plim_bytes text)
{
	struct plimp_statm statm;

	assert_int_equal(decode(text, &statm), PLIM_EMALFORMED);
}

static void check_any(plim_bytes text)
{
	struct plimp_statm statm;

	(void)decode(text, &statm);
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-statm/worker");
	plim_bytes cut = {.data = text.data, .size = text.size - 1};

	(void)state;
	text_every_prefix(cut, check_refused);
	text_every_change(text, check_any);
	text_every_nonsense(check_refused);
	text_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_recorded),
	    cmocka_unit_test(test_malformed),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_statm", tests, NULL, NULL);
}
