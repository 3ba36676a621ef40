/*
 * toml.h - TOML 1.0 (https://toml.io/en/v1.0.0), read strictly and whole.
 *
 * A document is a tree of nodes in the order of the text. Each node knows
 * where its key and its value begin, so that whoever reads it can point at a
 * mistake. Every rule of TOML holds, those of redefinition too; numbers do
 * not depend on the locale. Size, depth and the number of nodes are bounded,
 * and nothing is taken from the text but bytes, so that it may come from
 * anybody.
 *
 * What the specification leaves open: a line end is LF in a multi-line
 * string, however it was written; fractions of a second are cut after nine
 * digits; a second may be 60 (RFC 3339) and a year 0000; a float that is too
 * large is an infinity; an integer beyond 64 bits is an error; a byte order
 * mark at the beginning is passed over; an implicit table, one that only a
 * longer [header] named, may still be extended by a dotted key of the table
 * that holds it.
 */
#ifndef PLIMP_TOML_H
#define PLIMP_TOML_H

#include <plimsoll/base.h>
#include <plimsoll/budget.h>

#include "core/pool.h"

#define PLIMP_TOML_SIZE	 1048576
#define PLIMP_TOML_DEPTH 64    /* of tables and arrays */
#define PLIMP_TOML_NODES 10000 /* keys and elements */

enum plimp_toml_kind {
	PLIMP_TOML_STRING = 1,
	PLIMP_TOML_INTEGER,
	PLIMP_TOML_FLOAT,
	PLIMP_TOML_BOOLEAN,
	PLIMP_TOML_OFFSET_DATE_TIME,
	PLIMP_TOML_LOCAL_DATE_TIME,
	PLIMP_TOML_LOCAL_DATE,
	PLIMP_TOML_LOCAL_TIME,
	PLIMP_TOML_ARRAY,
	PLIMP_TOML_TABLE
};

struct plimp_toml_time {
	int16_t year;
	uint8_t month, day, hour, minute, second;
	uint32_t ns;
	int16_t offset; /* minutes east of UTC */
};

/* How a table or an array came to be: what may still be added to it. */
enum plimp_toml_origin {
	PLIMP_TOML_IMPLICIT = 0, /* by a longer header; it may be defined */
	PLIMP_TOML_HEADER,	 /* by its own [header] */
	PLIMP_TOML_DOTTED,	 /* by dotted keys; those may add to it */
	PLIMP_TOML_INLINE,	 /* { } or [ ]: closed */
	PLIMP_TOML_TABLES	 /* an array, by [[header]] */
};

struct plimp_toml_node {
	struct plimp_toml_node *next; /* in the table or array */
	plim_bytes key;		      /* empty in an array */
	plim_budget_position key_at;  /* as value_at in an array */
	plim_budget_position value_at;
	uint32_t hash;
	uint8_t kind;	/* enum plimp_toml_kind */
	uint8_t origin; /* enum plimp_toml_origin; of tables and arrays */
	union {
		plim_bytes string;
		int64_t integer;
		double real;
		int boolean;
		struct plimp_toml_time time;
		struct {
			struct plimp_toml_node *first;
			struct plimp_toml_node *last;
			size_t count;
		} list; /* of a table or an array */
	} is;
};

struct plimp_toml {
	struct plimp_pool pool;
	struct plimp_toml_node root; /* a table */
	size_t count;
};

/*
 * Reads a document into a zeroed struct. PLIM_ESYNTAX, PLIM_ELIMIT or
 * PLIM_ENOMEM: then `where` is the place (untouched by PLIM_ENOMEM), the error
 * has what was found wrong, and there is nothing to release.
 */
int plimp_toml_parse(struct plimp_toml *document, plim_bytes text,
		     const plim_allocator *allocator,
		     plim_budget_position *where, plim_error *error);
void plimp_toml_release(struct plimp_toml *document);

/* The node with this key in a table, or NULL. */
struct plimp_toml_node *plimp_toml_find(const struct plimp_toml_node *table,
					plim_bytes key);

/* "a string", "an integer", ...: for messages. */
const char *plimp_toml_kind_word(int kind);

#endif
