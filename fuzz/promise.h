/*
 * promise.h - what fuzz targets are made of.
 *
 * A target checks what its function promises, not only that it does not
 * crash; a broken promise prints itself and aborts, whether assertions are
 * built in or not.
 */
#ifndef FUZZ_PROMISE_H
#define FUZZ_PROMISE_H

#include <plimsoll/base.h>

#define PROMISE(holds) promise_check(holds, #holds, __FILE__, __LINE__)

void promise_check(int holds, const char *text, const char *file, int line);

/* 1 if `part` lies within `whole`. */
int promise_inside(plim_bytes whole, plim_bytes part);

/* 1 if some line of the text is `key`, blanks, then the decimal digits of
 * `value`, whatever follows: an oracle for numbers that cannot wrap, since it
 * compares digits. */
int promise_says(plim_bytes text, const char *key, uint64_t value);

/* How many of `lines` begin with the key. */
size_t promise_count(plim_bytes text, const char *key);

/* A copy with a NUL behind it, for functions that take a string; free it. */
char *promise_string(const uint8_t *data, size_t size);

/* What libFuzzer and replay.c call. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
