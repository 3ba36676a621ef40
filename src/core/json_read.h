/*
 * json_read.h - JSON (RFC 8259) read value by value, without a tree.
 *
 * Whoever reads asks for the next value of the object or array that is open;
 * what he does not know he skips. Nothing is copied or allocated: keys and
 * strings are the bytes between the quotes, escapes and all, until they are
 * asked for. The first mistake is kept, and every later call answers with it,
 * so that a reader may look once, at the end. The grammar is checked whole;
 * that strings are UTF-8 is not.
 */
#ifndef PLIMP_JSON_READ_H
#define PLIMP_JSON_READ_H

#include <plimsoll/base.h>

#define PLIMP_JREAD_DEPTH 64 /* of objects and arrays */

enum plimp_jread_kind {
	PLIMP_JREAD_BAD = 0, /* see `wrong` */
	PLIMP_JREAD_END,     /* of the object or array; of the text */
	PLIMP_JREAD_OBJECT,
	PLIMP_JREAD_ARRAY,
	PLIMP_JREAD_STRING,
	PLIMP_JREAD_NUMBER,
	PLIMP_JREAD_TRUE,
	PLIMP_JREAD_FALSE,
	PLIMP_JREAD_NULL
};

struct plimp_jread_value {
	int kind;
	plim_bytes key; /* in an object: as it is written, without quotes */
	plim_bytes raw; /* of a string without its quotes, or of a number */
};

struct plimp_jread {
	plim_bytes text;
	size_t at;
	const char *wrong; /* NULL: nothing yet */
	int is_deep;	   /* what is wrong is the depth */
	int depth;
	int has_value; /* the outermost value was read */
	uint8_t is_object[PLIMP_JREAD_DEPTH];
	uint8_t has_items[PLIMP_JREAD_DEPTH];
};

void plimp_jread_init(struct plimp_jread *reader, plim_bytes text);

/* The next value, or END: then what was open is closed. The kind is also the
 * result. */
int plimp_jread_next(struct plimp_jread *reader,
		     struct plimp_jread_value *value);

/* The rest of an object or array; nothing for any other value. */
void plimp_jread_skip(struct plimp_jread *reader,
		      const struct plimp_jread_value *value);

/* 1 if the key is that word. */
int plimp_jread_is(const struct plimp_jread_value *value, const char *key);

/*
 * The text of a string that was read, into room for as many bytes as its raw
 * form has; returns its size. Half of a surrogate pair becomes U+FFFD.
 */
size_t plimp_jread_text(plim_bytes raw, char *text);

/* A number that is whole, not below 0, and fits; else 0 and `number` is
 * untouched. 1e3 and 12.0 are whole, too: some tools write so. */
int plimp_jread_whole(const struct plimp_jread_value *value, uint64_t *number);

#endif
