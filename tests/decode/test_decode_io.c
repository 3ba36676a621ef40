/*
 * test_decode_io.c - /proc/PID/io: seven lines in their order, or none.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static int decode(plim_bytes text, struct plimp_io *io)
{
	struct plimp_io poison;

	memset(&poison, 0xa5, sizeof(poison));
	*io = poison;
	int result = plimp_decode_io(text, io);
	if (result) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_memory_equal(io, &poison, sizeof(poison));
	}
	return result;
}

static void test_worker(void **state)
{
	static const char *const files[] = {"linux-6.18-io/worker",
					    "synthetic-io/eight-lines"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		plim_bytes text = text_fixture(files[i]);
		struct plimp_io io;
		assert_int_equal(decode(text, &io), PLIM_OK);
		assert_int_equal(io.read_chars, 1365940);
		assert_int_equal(io.written_chars, 19660809);
		assert_int_equal(io.read_calls, 160);
		assert_int_equal(io.write_calls, 303);
		assert_int_equal(io.read_bytes, 24576);
		assert_int_equal(io.write_bytes, 19660800);
		assert_int_equal(io.cancelled_bytes, 0);
		text_free(text);
	}
}

static void test_files(void **state)
{
	static const struct {
		const char *file;
		int result;
		uint64_t read_chars, cancelled;
	} rows[] = {
	    {"linux-6.18-io/kthreadd", PLIM_OK, 0, 0},
	    {"linux-6.18-io/zombie", PLIM_OK, 3980, 0},
	    {"synthetic-io/largest", PLIM_OK, UINT64_MAX, UINT64_MAX},
	    {"synthetic-io/six-lines", PLIM_EMALFORMED, 0, 0},
	    {"synthetic-io/other-order", PLIM_EMALFORMED, 0, 0},
	    {"synthetic-io/negative", PLIM_EMALFORMED, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		plim_bytes text = text_fixture(rows[i].file);
		struct plimp_io io;
		assert_int_equal(decode(text, &io), rows[i].result);
		if (!rows[i].result) {
			assert_true(io.read_chars == rows[i].read_chars);
			assert_true(io.cancelled_bytes == rows[i].cancelled);
		}
		text_free(text);
	}
}

static void check_refused(plim_bytes text)
{
	struct plimp_io io;

	assert_int_equal(decode(text, &io), PLIM_EMALFORMED);
}

static void check_any(plim_bytes text)
{
	struct plimp_io io;

	(void)decode(text, &io);
}

static void test_malformed(void **state)
{
	static const char *const changes[][2] = {
	    {"syscr: 160\n", ""},
	    {"syscr: 160\n", "syscr: 160\nsyscr: 160\n"},
	    {"syscr: 160", "syscr: -160"},
	    {"syscr: 160", "syscr: 160 "},
	    {"syscr: 160", "syscr: 160\r"},
	    {"syscr: 160", "syscr:160"},
	    {"syscr: 160", "syscr: "},
	    {"syscr: 160", "syscr: 18446744073709551616"},
	    {"syscr:", "syscR:"},
	    {"rchar:", " rchar:"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		plim_bytes text =
		    text_replace(text_fixture("linux-6.18-io/worker"),
				 changes[i][0], changes[i][1]);
		check_refused(text);
		text_free(text);
	}
}

static void test_hostile(void **state)
{
	plim_bytes text = text_fixture("linux-6.18-io/worker");
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
	    cmocka_unit_test(test_worker),
	    cmocka_unit_test(test_files),
	    cmocka_unit_test(test_malformed),
	    cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests_name("decode_io", tests, NULL, NULL);
}
