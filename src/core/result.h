/*
 * result.h - what the reader and the writers of RESULT lines share: the small
 * pieces of the grammar (docs/design/result-lines.md).
 */
#ifndef PLIMP_RESULT_H
#define PLIMP_RESULT_H

#include <plimsoll/result.h>

/* What a line begins with, and the word for what cannot be had. */
#define PLIMP_RESULT_MARK    "RESULT "
#define PLIMP_RESULT_MISSING "unavailable"

/* The length of the number that the text begins with; 0 if with none. */
size_t plimp_result_number_size(plim_bytes text);

/* The length of the key that the text begins with; 0 if with none. */
size_t plimp_result_key_size(plim_bytes text);

/* 1 if the whole text can stand as a value without quotes and is not taken
 * for anything else: a word of printable ASCII, not `unavailable`. */
int plimp_result_is_word(plim_bytes text);

#endif
