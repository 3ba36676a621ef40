/*
 * toml_scan.h - what the two halves of the TOML reader share: the cursor
 * (toml.c has the structure, toml_value.c the values that hold no others).
 */
#ifndef PLIMP_TOML_SCAN_H
#define PLIMP_TOML_SCAN_H

#include "core/fail.h"
#include "core/toml.h"

struct plimp_toml_cursor {
	struct plimp_toml *document;
	const char *text;
	size_t size;
	size_t start; /* 3 behind a byte order mark, else 0 */
	size_t at;
	int depth;
	plim_budget_position mark; /* of some place before, to count on from */
	plim_budget_position *where;
	plim_error *error;
};

/* The byte at `ahead` of the cursor, -1 beyond the end. */
int plimp_toml_peek(const struct plimp_toml_cursor *cursor, size_t ahead);

/* 1 if the cursor stands before these characters. */
int plimp_toml_sees(const struct plimp_toml_cursor *cursor, const char *word);

/* The length of a line end at the cursor: 0, 1 or 2. */
size_t plimp_toml_newline(const struct plimp_toml_cursor *cursor);

plim_budget_position plimp_toml_position(struct plimp_toml_cursor *cursor,
					 size_t offset);

/* Fails at a byte of the text; returns `code`. */
int plimp_toml_fail(struct plimp_toml_cursor *cursor, int code, size_t offset,
		    const char *detail, ...) PLIMP_PRINTF(4, 5);
int plimp_toml_fail_memory(struct plimp_toml_cursor *cursor);

/* A string at the cursor, which stands before its quote. `multiline` allows
 * the two forms with three quotes; a key has neither. */
int plimp_toml_string(struct plimp_toml_cursor *cursor, int multiline,
		      plim_bytes *string);

/* Any other value that holds no others. */
int plimp_toml_scalar(struct plimp_toml_cursor *cursor,
		      struct plimp_toml_node *node);

#endif
