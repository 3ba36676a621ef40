/*
 * scan.c - the few steps that every decoder is made of.
 *
 * A scan is two pointers into bytes that somebody else owns. Every step looks
 * at `end` before it looks at a byte, and one that fails moves nothing and
 * stores nothing, so that a decoder can try the next shape from where it
 * stood. A number that does not fit fails like one that is not there: a
 * wrapped count would be a wrong answer that looks like a right one.
 */
#include "host/linux/scan.h"

#include <assert.h>
#include <string.h>

struct plimp_scan plimp_scan_of(plim_bytes text)
{
	/* Arithmetic on a null pointer is undefined, even by nothing. */
	const char *data = text.data ? text.data : "";
	size_t size = text.data ? text.size : 0;

	return (struct plimp_scan){.at = data, .end = data + size};
}

int plimp_scan_line(struct plimp_scan *scan, plim_bytes *line)
{
	assert(scan->at <= scan->end);
	size_t left = (size_t)(scan->end - scan->at);
	if (!left)
		return 0;

	const char *newline = memchr(scan->at, '\n', left);
	line->data = scan->at;
	line->size = newline ? (size_t)(newline - scan->at) : left;
	scan->at = newline ? newline + 1 : scan->end;
	return 1;
}

int plimp_scan_long(struct plimp_scan *scan, const char *at, uint64_t sum,
		    uint64_t *value)
{
	for (; at < scan->end && plimp_scan_digit(*at) <= 9; at++) {
		unsigned digit = plimp_scan_digit(*at);
		if (sum > UINT64_MAX / 10 ||
		    (sum == UINT64_MAX / 10 && digit > UINT64_MAX % 10))
			return 0;
		sum = sum * 10 + digit;
	}
	scan->at = at;
	*value = sum;
	return 1;
}

int plimp_scan_i64(struct plimp_scan *scan, int64_t *value)
{
	struct plimp_scan rest = *scan;
	int minus = plimp_scan_literal(&rest, "-");
	uint64_t size;

	if (!plimp_scan_u64(&rest, &size) ||
	    size > (uint64_t)INT64_MAX + (uint64_t)minus)
		return 0;
	/* -2^63 has no positive twin to be negated. */
	if (size > INT64_MAX)
		*value = INT64_MIN;
	else
		*value = minus ? -(int64_t)size : (int64_t)size;
	*scan = rest;
	return 1;
}

int plimp_scan_word(struct plimp_scan *scan, plim_bytes *word)
{
	const char *at = scan->at;

	while (at < scan->end && *at != ' ' && *at != '\t')
		at++;
	if (at == scan->at)
		return 0;
	word->data = scan->at;
	word->size = (size_t)(at - scan->at);
	scan->at = at;
	return 1;
}
