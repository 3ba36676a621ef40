/*
 * test_proto.c - varints and fields, byte by byte as the protobuf
 * documentation has them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/proto.h"

#include <string.h>

static void same(struct plimp_buffer *message, const char *bytes, size_t size)
{
	assert_int_equal(message->failed, PLIM_OK);
	assert_int_equal(message->size, size);
	assert_memory_equal(message->data, bytes, size);
	plimp_buffer_clear(message);
}

static void varints(void **state)
{
	static const struct {
		uint64_t number;
		const char *bytes;
		size_t size;
	} rows[] = {
	    {0, "\x00", 1},
	    {1, "\x01", 1},
	    {127, "\x7f", 1},
	    {128, "\x80\x01", 2},
	    {150, "\x96\x01", 2},
	    {16384, "\x80\x80\x01", 3},
	    {UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10},
	};
	char bytes[PLIMP_VARINT_LIMIT];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(plimp_proto_varint(rows[i].number, bytes),
				 rows[i].size);
		assert_memory_equal(bytes, rows[i].bytes, rows[i].size);
	}
}

static void fields(void **state)
{
	static const uint64_t numbers[] = {3, 270, 86942, 0};
	struct plimp_buffer message;

	(void)state;
	plimp_buffer_init(&message, NULL);
	plimp_proto_number(&message, 1, 150);
	same(&message, "\x08\x96\x01", 3);
	plimp_proto_number(&message, 1, 0);
	same(&message, "", 0);
	plimp_proto_bytes(&message, 2, (plim_bytes){"testing", 7}, 0);
	same(&message, "\x12\x07testing", 9);
	plimp_proto_bytes(&message, 16, (plim_bytes){"", 0}, 1);
	same(&message, "\x82\x01\x00", 3);
	plimp_proto_bytes(&message, 16, (plim_bytes){"", 0}, 0);
	same(&message, "", 0);
	plimp_proto_numbers(&message, 6, numbers, 4);
	same(&message, "\x32\x07\x03\x8e\x02\x9e\xa7\x05\x00", 9);
	plimp_proto_numbers(&message, 6, numbers, 0);
	same(&message, "", 0);
	plimp_buffer_release(&message);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(varints),
	    cmocka_unit_test(fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
