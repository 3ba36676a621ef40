/*
 * json_writer.h - what is under a plim_json: shared by the stream (json.c)
 * and by the objects that are more than one value (json_process.c).
 */
#ifndef PLIMP_JSON_WRITER_H
#define PLIMP_JSON_WRITER_H

#include "export/sink.h"

#define PLIMP_JSON_DEPTH 32

struct plim_json {
	plim_allocator allocator;
	int indent;
	int failed; /* PLIM_EINVAL for misuse; the sink keeps its own */
	int depth;
	int complete; /* the outermost value stands */
	uint8_t is_object[PLIMP_JSON_DEPTH];
	uint8_t has_items[PLIMP_JSON_DEPTH];
	struct plimp_sink sink;
};

/* A key that is composed, such as cpu_ns and _per_second. */
struct plimp_json_key {
	char text[96];
};
struct plimp_json_key plimp_json_key(const char *name, const char *suffix);

/* Bytes as hexadecimal digits. */
void plimp_json_hex(plim_json *json, const char *key, plim_bytes bytes);

#endif
