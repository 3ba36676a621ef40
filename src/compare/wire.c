/*
 * wire.c - fields of a protobuf message. A field is a varint of its number and
 * type, then its value; types 3 and 4 (groups) are of no use here and wrong.
 * Every step takes at least a byte.
 */
#include "compare/wire.h"

#include <assert.h>

int plimp_wire_number(struct plimp_wire *wire, uint64_t *number)
{
	uint64_t value = 0;

	if (wire->is_wrong || wire->rest.size == 0)
		return 0;
	for (unsigned i = 0; i < 10 && i < wire->rest.size; i++) {
		const unsigned byte = (unsigned char)wire->rest.data[i];

		/* The tenth byte has one bit of 64 left. */
		if (i == 9 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte >= 0x80)
			continue;
		wire->rest.data += i + 1;
		wire->rest.size -= i + 1;
		*number = value;
		return 1;
	}
	wire->is_wrong = 1;
	return 0;
}

static int wire_take(struct plimp_wire *wire, uint64_t size, plim_bytes *bytes)
{
	if (size > wire->rest.size) {
		wire->is_wrong = 1;
		return 0;
	}
	*bytes = (plim_bytes){wire->rest.data, (size_t)size};
	wire->rest.data += size;
	wire->rest.size -= (size_t)size;
	return 1;
}

int plimp_wire_next(struct plimp_wire *wire, struct plimp_wire_field *field)
{
	uint64_t key;

	*field = (struct plimp_wire_field){0, 0, 0, {wire->rest.data, 0}};
	if (!plimp_wire_number(wire, &key))
		return 0;
	if (key >> 3 == 0 || key >> 3 > 0x1fffffff) {
		wire->is_wrong = 1;
		return 0;
	}
	field->number = (uint32_t)(key >> 3);
	field->type = (int)(key & 7);
	switch (field->type) {
	case PLIMP_WIRE_VARINT:
		if (!plimp_wire_number(wire, &field->whole))
			break;
		field->bytes.data = wire->rest.data;
		return 1;
	case PLIMP_WIRE_FIXED64:
		return wire_take(wire, 8, &field->bytes);
	case PLIMP_WIRE_FIXED32:
		return wire_take(wire, 4, &field->bytes);
	case PLIMP_WIRE_BYTES:
		if (plimp_wire_number(wire, &key))
			return wire_take(wire, key, &field->bytes);
		break;
	default:
		break;
	}
	wire->is_wrong = 1; /* also where it ends behind the key */
	return 0;
}
