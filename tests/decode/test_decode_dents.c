/*
 * test_decode_dents.c - entries of getdents64: which names are pids, records
 * that leave the buffer, and a recorded /proc.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define NAME_AT 19

/* Writes one record as the kernel does, and returns its size. The length that
 * the record tells is `length`, or its real one for 0. */
static size_t put_record(char *at, const char *name, uint16_t length)
{
	size_t size = (NAME_AT + strlen(name) + 1 + 7) / 8 * 8;
	uint16_t told = length ? length : (uint16_t)size;

	memset(at, 0, size);
	memcpy(at + 16, &told, sizeof(told));
	at[18] = 4;
	memcpy(at + NAME_AT, name, strlen(name) + 1);
	return size;
}

/* One step; on failure and at the end no number is stored, and on failure the
 * offset stays too. */
static int step(plim_bytes records, size_t *offset, int32_t *number)
{
	size_t before = *offset;

	*number = -77;
	int result = plimp_decode_dents(records, offset, number);
	if (result != 1)
		assert_int_equal(*number, -77);
	if (result < 0) {
		assert_int_equal(result, PLIM_EMALFORMED);
		assert_int_equal(*offset, before);
	}
	return result;
}

static void test_names(void **state)
{
	static const char *const names[] = {
	    ".",
	    "..",
	    "1",
	    "self",
	    "4194304",
	    "2147483647",
	    "0",
	    "007",
	    "-1",
	    "+1",
	    "2147483648",
	    "12a",
	    "a12",
	    "1 ",
	    " 1",
	    "",
	    "\xff\xfe",
	    "1\n",
	    "99999999999999999999",
	    "thread-self",
	    "17",
	};
	static const int32_t expected[] = {1, 4194304, 2147483647, 17};
	char buffer[1024];
	size_t size = 0, offset = 0, seen = 0;
	int32_t number;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		size += put_record(buffer + size, names[i], 0);
	plim_bytes records = text_copy(buffer, size);
	while (step(records, &offset, &number) == 1) {
		assert_true(seen < 4);
		assert_int_equal(number, expected[seen++]);
	}
	assert_int_equal(seen, 4);
	assert_int_equal(step(records, &offset, &number), 0);
	assert_int_equal(offset, size);
	assert_int_equal(step(records, &offset, &number), 0);
	text_free(records);
}

static void test_empty(void **state)
{
	plim_bytes nothing = {.data = NULL, .size = 0};
	size_t offset = 0;
	int32_t number;

	(void)state;
	assert_int_equal(step(nothing, &offset, &number), 0);
	assert_int_equal(offset, 0);
}

/* Whatever length the second record tells, the first is found; then the walk
 * goes on, or ends as malformed. */
static void test_lengths(void **state)
{
	char buffer[256];
	size_t first = put_record(buffer, "5", 0);
	size_t size = first + put_record(buffer + first, "12345", 0);

	(void)state;
	for (unsigned length = 0; length <= UINT16_MAX; length++) {
		uint16_t told = (uint16_t)length;
		size_t offset = 0;
		int32_t number;
		memcpy(buffer + first + 16, &told, sizeof(told));
		plim_bytes records = text_copy(buffer, size);
		assert_int_equal(step(records, &offset, &number), 1);
		assert_int_equal(number, 5);
		assert_int_equal(offset, first);
		/* Room for "12345" and its NUL, and inside the buffer. */
		if (length >= NAME_AT + 6 && length <= size - first) {
			assert_int_equal(step(records, &offset, &number), 1);
			assert_int_equal(number, 12345);
			assert_int_equal(offset, first + length);
		} else {
			assert_int_equal(step(records, &offset, &number),
					 PLIM_EMALFORMED);
		}
		text_free(records);
	}
}

static void check_walk(plim_bytes records)
{
	size_t offset = 0, before = 0;
	int32_t number;

	while (step(records, &offset, &number) == 1) {
		assert_true(number > 0);
		assert_true(offset > before && offset <= records.size);
		before = offset;
	}
}

static void test_hostile(void **state)
{
	char buffer[256];
	size_t size = put_record(buffer, "5", 0);

	(void)state;
	size += put_record(buffer + size, "self", 0);
	size += put_record(buffer + size, "4194304", 0);
	plim_bytes records = text_copy(buffer, size);
	text_every_prefix(records, check_walk);
	text_every_change(records, check_walk);
	text_every_nonsense(check_walk);
	text_free(records);
}

static void test_recorded(void **state)
{
	const uint16_t one = 1;
	plim_bytes records = text_fixture("linux-6.18-dents/proc");
	size_t offset = 0;
	int32_t number;

	(void)state;
	/* The recording has the byte order of x86. */
	if (*(const char *)&one == 1) {
		for (int32_t i = 0; i < 13; i++) {
			assert_int_equal(step(records, &offset, &number), 1);
			/* The first process, and 12 of its children. */
			assert_int_equal(number, i ? 41 + i : 1);
		}
		assert_int_equal(step(records, &offset, &number), 0);
		assert_int_equal(offset, records.size);
	}
	text_every_prefix(records, check_walk);
	text_free(records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_names),    cmocka_unit_test(test_empty),
	    cmocka_unit_test(test_lengths),  cmocka_unit_test(test_hostile),
	    cmocka_unit_test(test_recorded),
	};

	return cmocka_run_group_tests_name("decode_dents", tests, NULL, NULL);
}
