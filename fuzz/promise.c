/*
 * promise.c - what fuzz targets are made of; see promise.h.
 */
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void promise_check(int holds, const char *text, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, text);
	abort();
}

int promise_inside(plim_bytes whole, plim_bytes part)
{
	uintptr_t start = (uintptr_t)whole.data;
	uintptr_t at = (uintptr_t)part.data;

	return at >= start && at - start <= whole.size &&
	       part.size <= whole.size - (at - start);
}

/* The next line from `*at` on; 0 at the end. */
static int next_line(plim_bytes text, size_t *at, plim_bytes *line)
{
	size_t end = *at;

	if (*at >= text.size)
		return 0;
	while (end < text.size && text.data[end] != '\n')
		end++;
	*line = (plim_bytes){.data = text.data + *at, .size = end - *at};
	*at = end + 1;
	return 1;
}

/* What follows the key, or NULL. */
static const char *behind_key(plim_bytes line, const char *key)
{
	size_t size = strlen(key);

	if (line.size < size || memcmp(line.data, key, size) != 0)
		return NULL;
	return line.data + size;
}

int promise_says(plim_bytes text, const char *key, uint64_t value)
{
	char digits[32];
	size_t size =
	    (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, value);
	plim_bytes line;
	size_t next = 0;

	while (next_line(text, &next, &line)) {
		const char *at = behind_key(line, key);
		const char *end = line.data + line.size;
		if (!at)
			continue;
		while (at < end && (*at == ' ' || *at == '\t'))
			at++;
		while (at + 1 < end && at[0] == '0' && at[1] >= '0' &&
		       at[1] <= '9')
			at++;
		if ((size_t)(end - at) < size || memcmp(at, digits, size) != 0)
			continue;
		at += size;
		if (at == end || *at < '0' || *at > '9')
			return 1;
	}
	return 0;
}

size_t promise_count(plim_bytes text, const char *key)
{
	plim_bytes line;
	size_t next = 0, count = 0;

	while (next_line(text, &next, &line))
		count += behind_key(line, key) != NULL;
	return count;
}

char *promise_string(const uint8_t *data, size_t size)
{
	char *string = malloc(size + 1);

	if (!string)
		abort();
	if (size)
		memcpy(string, data, size);
	string[size] = '\0';
	return string;
}
