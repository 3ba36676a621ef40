/*
 * wire.h - protobuf's wire format, as a reader meets it: field after field of
 * a message that anybody may have written. Formats: the "Encoding" page of the
 * protobuf documentation. Writing is src/export/proto.h.
 */
#ifndef PLIMP_COMPARE_WIRE_H
#define PLIMP_COMPARE_WIRE_H

#include <plimsoll/base.h>

enum plimp_wire_type {
	PLIMP_WIRE_VARINT = 0,
	PLIMP_WIRE_FIXED64 = 1,
	PLIMP_WIRE_BYTES = 2,
	PLIMP_WIRE_FIXED32 = 5
};

/* What is left of a message. */
struct plimp_wire {
	plim_bytes rest;
	int is_wrong; /* kept: nothing is read after it */
};

struct plimp_wire_field {
	uint32_t number;
	int type;	  /* enum plimp_wire_type */
	uint64_t whole;	  /* of a varint */
	plim_bytes bytes; /* of bytes; else empty, within the message */
};

/* 1: there was one; 0: the message is over, or wrong. */
int plimp_wire_next(struct plimp_wire *wire, struct plimp_wire_field *field);

/* The next number of a packed run of varints. */
int plimp_wire_number(struct plimp_wire *wire, uint64_t *number);

#endif
