/*
 * fixture.h - texts for the tests of decoders.
 *
 * Every text is a heap block of exactly its size, so that a read past its end
 * is seen by a sanitizer and by valgrind. The helpers abort the test when they
 * cannot do their work.
 */
#ifndef DECODE_FIXTURE_H
#define DECODE_FIXTURE_H

#include <plimsoll/base.h>

/* A copy of these bytes. */
plim_bytes text_copy(const char *data, size_t size);

/* A copy of a string without its NUL. */
plim_bytes text_string(const char *string);

/* The file FOLDER/FILE of tests/decode/fixtures. */
plim_bytes text_fixture(const char *name);

/* So many times this byte. */
plim_bytes text_repeat(char byte, size_t size);

/* So many bytes that look random and are the same in every run. */
plim_bytes text_noise(size_t size);

/* The text with the first `from` replaced by `to`; frees the text. */
plim_bytes text_replace(plim_bytes text, const char *from, const char *to);

void text_free(plim_bytes text);

/* Calls `check` with a copy of every prefix, the empty and the whole one too.
 */
void text_every_prefix(plim_bytes text, void (*check)(plim_bytes prefix));

/* Calls `check` with the text, each byte in turn replaced by each of a few
 * bytes that mean something to decoders. */
void text_every_change(plim_bytes text, void (*check)(plim_bytes changed));

/* Calls `check` with what no decoder may take for its file: nothing, one
 * newline, 1 MiB of one byte (of several), 1 MiB of noise. */
void text_every_nonsense(void (*check)(plim_bytes text));

/* 1 if the text is this string. */
int text_is(plim_bytes text, const char *string);

#define MIB ((size_t)1 << 20)

#endif
