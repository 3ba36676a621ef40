/*
 * proto.h - protobuf's wire format, as much of it as a writer needs.
 *
 * A message is a run of fields in a buffer; a message within one is made in a
 * buffer of its own and put as bytes. A field that is 0 or empty is left out,
 * which readers take for 0 (proto3). Formats: the "Encoding" page of the
 * protobuf documentation.
 */
#ifndef PLIMP_PROTO_H
#define PLIMP_PROTO_H

#include "core/buffer.h"

/* The bytes that a varint of 64 bits may take. */
#define PLIMP_VARINT_LIMIT 10

/* The number in base 128, its low digits first; the result is its size. */
size_t plimp_proto_varint(uint64_t number, char bytes[PLIMP_VARINT_LIMIT]);

void plimp_proto_number(struct plimp_buffer *message, unsigned field,
			uint64_t number);
/* A text, or a message that was made elsewhere; `always` even if empty. */
void plimp_proto_bytes(struct plimp_buffer *message, unsigned field,
		       plim_bytes bytes, int always);
/* A repeated number, packed; zeros among them stay. */
void plimp_proto_numbers(struct plimp_buffer *message, unsigned field,
			 const uint64_t *numbers, size_t count);

#endif
