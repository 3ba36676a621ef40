/*
 * test_decode_proc_event.c - messages of the process connector, one and many;
 * those that are somebody else's, cut, or say a wrong size.
 */
#include "fixture.h"
#include "host/linux/decode.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#define HEADERS 36
#define MESSAGE 76 /* as the kernel sends them: 40 bytes of an event */
#define EXIT	0x80000000u

static void put_word(char *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
}

static void put_half(char *at, uint16_t half)
{
	memcpy(at, &half, sizeof(half));
}

/* The parts are 101, 102 and so on. */
static size_t put_event(char *at, uint32_t what)
{
	memset(at, 0, MESSAGE);
	put_word(at, MESSAGE);
	put_half(at + 4, 3);
	put_word(at + 16, 1);
	put_word(at + 20, 1);
	put_half(at + 32, MESSAGE - HEADERS);
	put_word(at + HEADERS, what);
	for (uint32_t i = 0; i < 6; i++)
		put_word(at + 52 + i * 4, 101 + i);
	return MESSAGE;
}

static int decode(const char *data, size_t size, size_t *offset,
		  struct plimp_proc_event *event)
{
	plim_bytes bytes = text_copy(data, size);
	size_t before = *offset;
	int result;

	memset(event, 0x77, sizeof(*event));
	result = plimp_decode_proc_event(bytes, offset, event);
	if (result != 1) {
		assert_int_equal(*offset, before);
		assert_int_equal(event->type, 0x77777777);
	}
	text_free(bytes);
	return result;
}

static void expect_event(const char *data, size_t size, int type, int32_t tid,
			 int32_t pid, int32_t ppid, uint32_t error)
{
	struct plimp_proc_event event;
	size_t offset = 0;

	assert_int_equal(decode(data, size, &offset, &event), 1);
	assert_int_equal(event.type, type);
	assert_int_equal(event.tid, tid);
	assert_int_equal(event.pid, pid);
	assert_int_equal(event.ppid, ppid);
	assert_int_equal(event.error, error);
	assert_int_equal(offset, size);
}

static void test_events(void **state)
{
	char data[MESSAGE];

	(void)state;
	put_event(data, 1);
	expect_event(data, MESSAGE, PLIMP_PROC_FORK, 103, 104, 102, 0);
	put_event(data, EXIT);
	expect_event(data, MESSAGE, PLIMP_PROC_EXIT, 101, 102, 0, 0);
	put_event(data, 0);
	expect_event(data, MESSAGE, PLIMP_PROC_ANSWER, 0, 0, 0, 101);
	put_event(data, 2); /* exec */
	expect_event(data, MESSAGE, PLIMP_PROC_OTHER, 0, 0, 0, 0);
}

/* Of another connector, of another type, or shorter than its parts. */
static void test_others(void **state)
{
	char data[MESSAGE];

	(void)state;
	for (size_t at = 16; at <= 20; at += 4) {
		put_event(data, 1);
		put_word(data + at, 2);
		expect_event(data, MESSAGE, PLIMP_PROC_OTHER, 0, 0, 0, 0);
	}
	put_event(data, 1);
	put_half(data + 4, 2);
	expect_event(data, MESSAGE, PLIMP_PROC_OTHER, 0, 0, 0, 0);
	put_half(data + 4, 4);
	expect_event(data, MESSAGE, PLIMP_PROC_OVERRUN, 0, 0, 0, 0);
	for (uint16_t size = 0; size < 70; size++) {
		put_event(data, 1);
		put_half(data + 32, size);
		expect_event(data, MESSAGE,
			     size >= 32 && size <= 40 ? PLIMP_PROC_FORK
						      : PLIMP_PROC_OTHER,
			     size >= 32 && size <= 40 ? 103 : 0,
			     size >= 32 && size <= 40 ? 104 : 0,
			     size >= 32 && size <= 40 ? 102 : 0, 0);
	}
	put_event(data, 1);
	put_word(data, 16);
	expect_event(data, 16, PLIMP_PROC_OTHER, 0, 0, 0, 0);
}

static void test_many(void **state)
{
	struct plimp_proc_event event;
	char data[3 * MESSAGE + 2];
	size_t size = 0;
	size_t offset = 0;

	(void)state;
	size += put_event(data, 1);
	size += put_event(data + size, 2);
	size += put_event(data + size, EXIT);
	/* The last one need not be padded, nor have its padding. */
	put_word(data + 2 * MESSAGE, MESSAGE - 2);
	put_half(data + 2 * MESSAGE + 32, 38);
	assert_int_equal(decode(data, size - 2, &offset, &event), 1);
	assert_int_equal(event.type, PLIMP_PROC_FORK);
	assert_int_equal(decode(data, size - 2, &offset, &event), 1);
	assert_int_equal(event.type, PLIMP_PROC_OTHER);
	assert_int_equal(decode(data, size - 2, &offset, &event), 1);
	assert_int_equal(event.type, PLIMP_PROC_EXIT);
	assert_int_equal(offset, size - 2);
	assert_int_equal(decode(data, size - 2, &offset, &event), 0);
}

static void test_malformed(void **state)
{
	struct plimp_proc_event event;
	char data[MESSAGE];
	size_t offset = 0;

	(void)state;
	put_event(data, 1);
	assert_int_equal(decode(data, 0, &offset, &event), 0);
	for (size_t size = 1; size < MESSAGE; size++)
		assert_int_equal(decode(data, size, &offset, &event),
				 PLIM_EMALFORMED);
	for (uint32_t size = 0; size < 16; size++) {
		put_word(data, size);
		assert_int_equal(decode(data, MESSAGE, &offset, &event),
				 PLIM_EMALFORMED);
	}
	put_word(data, MESSAGE + 1);
	assert_int_equal(decode(data, MESSAGE, &offset, &event),
			 PLIM_EMALFORMED);
	put_word(data, UINT32_MAX);
	assert_int_equal(decode(data, MESSAGE, &offset, &event),
			 PLIM_EMALFORMED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_events),
	    cmocka_unit_test(test_others),
	    cmocka_unit_test(test_many),
	    cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests_name("decode process events", tests, NULL,
					   NULL);
}
