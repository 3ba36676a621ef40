/*
 * scan.h - the few steps that every decoder is made of. No system header, no
 * locale: strtol and its kin are neither. Those that are done for every number
 * of every process are inline.
 */
#ifndef PLIMP_SCAN_H
#define PLIMP_SCAN_H

#include <plimsoll/base.h>

#include <assert.h>

/* A place in a run of bytes; never past `end`. */
struct plimp_scan {
	const char *at;
	const char *end;
};

struct plimp_scan plimp_scan_of(plim_bytes text);

/* The next line without its newline; 0 at the end. */
int plimp_scan_line(struct plimp_scan *scan, plim_bytes *line);

/* Skips blanks and tabs. */
static inline void plimp_scan_blanks(struct plimp_scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

/* Takes this literal and returns 1, or moves nothing and returns 0. */
static inline int plimp_scan_literal(struct plimp_scan *scan,
				     const char *literal)
{
	const char *at = scan->at;

	for (; *literal; literal++, at++) {
		if (at == scan->end || *at != *literal)
			return 0;
	}
	scan->at = at;
	return 1;
}

/* Above 9 for what is no digit. */
static inline unsigned plimp_scan_digit(char c)
{
	return (unsigned char)c - (unsigned)'0';
}

/* What is left of a number of more than nineteen digits. */
int plimp_scan_long(struct plimp_scan *scan, const char *at, uint64_t sum,
		    uint64_t *value);

/*
 * Decimal digits; 0 if there is none or the value does not fit. Nineteen
 * digits always fit, so that only what is longer is looked at with care;
 * nearly all numbers are short, and this is where decoders spend their time.
 */
static inline int plimp_scan_u64(struct plimp_scan *scan, uint64_t *value)
{
	const char *at = scan->at;
	assert(at <= scan->end);
	const char *sure = scan->end - at > 19 ? at + 19 : scan->end;
	uint64_t sum = 0;

	for (; at < sure && plimp_scan_digit(*at) <= 9; at++)
		sum = sum * 10 + plimp_scan_digit(*at);
	if (at == scan->at)
		return 0;
	if (at == sure)
		return plimp_scan_long(scan, at, sum, value);
	scan->at = at;
	*value = sum;
	return 1;
}

/* The same with an optional minus. */
int plimp_scan_i64(struct plimp_scan *scan, int64_t *value);

/* Everything up to a blank, tab or the end; 0 if that is empty. */
int plimp_scan_word(struct plimp_scan *scan, plim_bytes *word);

#endif
