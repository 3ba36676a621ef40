/*
 * proto.c - varints, and the two kinds of fields that are made of them:
 * numbers (wire type 0) and runs of bytes with their length (wire type 2).
 */
#include "export/proto.h"

#include <assert.h>

#define PROTO_VARINT 0
#define PROTO_BYTES  2

size_t plimp_proto_varint(uint64_t number, char bytes[PLIMP_VARINT_LIMIT])
{
	size_t size = 0;

	while (number > 0x7f) {
		bytes[size++] = (char)(unsigned char)((number & 0x7f) | 0x80);
		number >>= 7;
	}
	bytes[size++] = (char)number;
	assert(size <= PLIMP_VARINT_LIMIT);
	return size;
}

static void proto_put(struct plimp_buffer *message, uint64_t number)
{
	char bytes[PLIMP_VARINT_LIMIT];

	plimp_buffer_append(message, bytes, plimp_proto_varint(number, bytes));
}

static void proto_key(struct plimp_buffer *message, unsigned field,
		      unsigned type)
{
	assert(field > 0 && field < 1u << 29);
	proto_put(message, (uint64_t)field << 3 | type);
}

void plimp_proto_number(struct plimp_buffer *message, unsigned field,
			uint64_t number)
{
	if (number == 0)
		return;
	proto_key(message, field, PROTO_VARINT);
	proto_put(message, number);
}

void plimp_proto_bytes(struct plimp_buffer *message, unsigned field,
		       plim_bytes bytes, int always)
{
	if (bytes.size == 0 && !always)
		return;
	proto_key(message, field, PROTO_BYTES);
	proto_put(message, bytes.size);
	plimp_buffer_append(message, bytes.data, bytes.size);
}

void plimp_proto_numbers(struct plimp_buffer *message, unsigned field,
			 const uint64_t *numbers, size_t count)
{
	char bytes[PLIMP_VARINT_LIMIT];
	size_t size = 0;

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		size += plimp_proto_varint(numbers[i], bytes);
	proto_key(message, field, PROTO_BYTES);
	proto_put(message, size);
	for (size_t i = 0; i < count; i++)
		proto_put(message, numbers[i]);
}
