/*
 * fixture.c - texts for the tests of decoders; see fixture.h.
 */
#include "fixture.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

plim_bytes text_copy(const char *data, size_t size)
{
	/* malloc(0) may give NULL, which is a text of its own; a decoder must
	 * take both. */
	char *copy = malloc(size);

	assert_true(copy || !size);
	if (size)
		memcpy(copy, data, size);
	return (plim_bytes){.data = copy, .size = size};
}

plim_bytes text_string(const char *string)
{
	return text_copy(string, strlen(string));
}

plim_bytes text_fixture(const char *name)
{
	static char bytes[65536];
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", DECODE_FIXTURES, name);
	FILE *file = fopen(path, "rb");
	if (!file)
		fail_msg("no fixture %s", path);
	size_t size = fread(bytes, 1, sizeof(bytes), file);
	assert_true(feof(file) && !ferror(file));
	fclose(file);
	return text_copy(bytes, size);
}

plim_bytes text_repeat(char byte, size_t size)
{
	char *data = malloc(size);

	assert_non_null(data);
	memset(data, byte, size);
	return (plim_bytes){.data = data, .size = size};
}

plim_bytes text_noise(size_t size)
{
	char *data = malloc(size);
	uint32_t seed = 1;

	assert_non_null(data);
	for (size_t i = 0; i < size; i++) {
		seed = seed * 1664525u + 1013904223u;
		data[i] = (char)(seed >> 24);
	}
	return (plim_bytes){.data = data, .size = size};
}

plim_bytes text_replace(plim_bytes text, const char *from, const char *to)
{
	size_t from_size = strlen(from), to_size = strlen(to), at = 0;

	while (at + from_size <= text.size &&
	       memcmp(text.data + at, from, from_size))
		at++;
	if (at + from_size > text.size)
		fail_msg("nothing to replace: %s", from);
	size_t size = text.size - from_size + to_size;
	char *data = malloc(size);
	assert_non_null(data);
	memcpy(data, text.data, at);
	memcpy(data + at, to, to_size);
	memcpy(data + at + to_size, text.data + at + from_size,
	       text.size - at - from_size);
	text_free(text);
	return (plim_bytes){.data = data, .size = size};
}

void text_free(plim_bytes text)
{
	free((void *)(uintptr_t)text.data);
}

void text_every_prefix(plim_bytes text, void (*check)(plim_bytes prefix))
{
	for (size_t size = 0; size <= text.size; size++) {
		plim_bytes prefix = text_copy(text.data, size);
		check(prefix);
		text_free(prefix);
	}
}

void text_every_change(plim_bytes text, void (*check)(plim_bytes changed))
{
	static const char bytes[] = "\0 \n:()-,./09aZ\x7f\xff";
	char *data = malloc(text.size);

	assert_non_null(data);
	memcpy(data, text.data, text.size);
	for (size_t at = 0; at < text.size; at++) {
		for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
			data[at] = bytes[i];
			check((plim_bytes){.data = data, .size = text.size});
		}
		data[at] = text.data[at];
	}
	free(data);
}

void text_every_nonsense(void (*check)(plim_bytes text))
{
	static const char bytes[] = "\0 \n:(),-09a\xff";
	plim_bytes text = {.data = NULL, .size = 0};

	check(text);
	text = text_string("\n");
	check(text);
	text_free(text);
	for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
		text = text_repeat(bytes[i], MIB);
		check(text);
		text_free(text);
	}
	text = text_noise(MIB);
	check(text);
	text_free(text);
}

int text_is(plim_bytes text, const char *string)
{
	return text.size == strlen(string) &&
	       !memcmp(text.data, string, text.size);
}
