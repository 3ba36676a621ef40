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

/* What the side objects need of a figure, whatever its type. */
struct plimp_json_note {
	int state;
	int bound;
	int method;
	int32_t code;
};
struct plimp_json_note plimp_json_note_count(plim_count figure);
struct plimp_json_note plimp_json_note_real(plim_real figure);
struct plimp_json_note plimp_json_note_text(plim_text figure);

/* The side objects of an object with figures, in their order; their names. */
enum plimp_json_side {
	PLIMP_JSON_UNAVAILABLE = 0,
	PLIMP_JSON_METHOD = 1,
	PLIMP_JSON_BOUND = 2
};
extern const char *const plimp_json_side_names[];

/* The entry of one figure in one side object, if it has any. */
void plimp_json_side_entry(plim_json *json, enum plimp_json_side side,
			   const char *key, struct plimp_json_note note);

/* The number or null; the text or null, and its bytes where they are no
 * UTF-8. */
void plimp_json_count(plim_json *json, const char *key, plim_count count);
void plimp_json_real(plim_json *json, const char *key, plim_real real);
void plimp_json_bytes(plim_json *json, const char *key, plim_text text);

/* Counts under their keys, for an object that is made of a table's rows. */
#define PLIMP_JSON_LIST_ROOM 40
struct plimp_json_list {
	const char *keys[PLIMP_JSON_LIST_ROOM];
	plim_count counts[PLIMP_JSON_LIST_ROOM];
	size_t count;
};
void plimp_json_list_add(struct plimp_json_list *list, const char *key,
			 plim_count count);
/* The numbers, then the side objects; `method` only if asked for, where it is
 * not told once for many. */
void plimp_json_list_write(plim_json *json, const struct plimp_json_list *list,
			   int with_method);

#endif
