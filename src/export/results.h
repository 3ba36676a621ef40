/*
 * results.h - what is under the writers of RESULT lines: shared by single
 * lines (result.c) and by the blocks of them (result_block.c).
 */
#ifndef PLIMP_RESULTS_H
#define PLIMP_RESULTS_H

#include "core/result.h"
#include "export/sink.h"

/* "unavailable REASON" for a reason that is in no table. */
#define PLIMP_RESULT_ZERO	  "zero_reported"
#define PLIMP_RESULT_NOT_NUMBER	  "not_a_number"
#define PLIMP_RESULT_NOT_STATED	  "not_stated"
#define PLIMP_RESULT_NOT_MEASURED "not_measured"

/* Single lines into a sink that the caller flushes. */
void plimp_results_count(struct plimp_sink *sink, const char *key,
			 plim_count count, const char *unit);
void plimp_results_real(struct plimp_sink *sink, const char *key,
			plim_real real, int decimals, const char *unit);
void plimp_results_missing(struct plimp_sink *sink, const char *key,
			   const char *reason);
void plimp_results_text(struct plimp_sink *sink, const char *key,
			plim_bytes text);

/* The key and what stands before it. */
void plimp_results_key(struct plimp_sink *sink, const char *key);
/* Free text to the end of a line: escaped, quotes as they are. */
void plimp_results_free(struct plimp_sink *sink, plim_bytes text);

void plimp_results_quoted(struct plimp_sink *sink, plim_bytes text);

/* A number with so many digits behind the point, or, below 0, in the shortest
 * form; the length. A double has at most 309 digits before the point. */
#define PLIMP_RESULT_NUMBER 328
size_t plimp_results_number(double value, int decimals,
			    char digits[PLIMP_RESULT_NUMBER]);

/* 1 for a known number that is finite. */
int plimp_results_has(plim_real real);

#endif
