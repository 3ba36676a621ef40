/*
 * scan.h - the few steps that every decoder is made of. No system header, no
 * locale: strtol and its kin are neither.
 */
#ifndef PLIMP_SCAN_H
#define PLIMP_SCAN_H

#include <plimsoll/base.h>

/* A place in a run of bytes; never past `end`. */
struct plimp_scan {
	const char *at;
	const char *end;
};

struct plimp_scan plimp_scan_of(plim_bytes text);

/* The next line without its newline; 0 at the end. */
int plimp_scan_line(struct plimp_scan *scan, plim_bytes *line);

/* Skips blanks and tabs. */
void plimp_scan_blanks(struct plimp_scan *scan);

/* Takes this literal and returns 1, or moves nothing and returns 0. */
int plimp_scan_literal(struct plimp_scan *scan, const char *literal);

/* Decimal digits; 0 if there is none or the value does not fit. */
int plimp_scan_u64(struct plimp_scan *scan, uint64_t *value);

/* The same with an optional minus. */
int plimp_scan_i64(struct plimp_scan *scan, int64_t *value);

/* Everything up to a blank, tab or the end; 0 if that is empty. */
int plimp_scan_word(struct plimp_scan *scan, plim_bytes *word);

#endif
