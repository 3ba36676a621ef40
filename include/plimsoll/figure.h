/*
 * figure.h - a number that may be missing, and the arithmetic that keeps it so.
 *
 * A figure is known, or it says why not. It is 16 bytes: a value, a state, a
 * bound, the method that found it (or the reason why there is none) and the
 * system's error. State 0 is UNREAD, so zeroed memory is already unavailable;
 * `value` of an unavailable figure is 0 and means nothing.
 *
 * Two types share one pattern: plim_count for what is counted in whole units,
 * plim_real for rates, ratios and signed changes. All functions here are
 * total: they take any pair of states and never trap, overflow or clip.
 * A figure is a plain value; everything here is safe in any thread.
 */
#ifndef PLIMSOLL_FIGURE_H
#define PLIMSOLL_FIGURE_H

#include <plimsoll/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a figure is. X(NAME, NUMBER, "word", "sentence"). Every state but
 * KNOWN is called unavailable. Words are stable, numbers append-only.
 */
#define PLIM_STATE_LIST(X)                                                     \
	X(UNREAD, 0, "unread", "nothing has been read yet")                    \
	X(KNOWN, 1, "known", "the value holds")                                \
	X(UNSUPPORTED, 2, "unsupported", "this host never reports it")         \
	X(DENIED, 3, "denied", "the host would report it, not to this user")   \
	X(GONE, 4, "gone", "the process ended meanwhile")                      \
	X(HIDDEN, 5, "hidden", "the process is not visible to this user")      \
	X(NOT_APPLICABLE, 6, "not_applicable",                                 \
	  "such a process has no such figure")                                 \
	X(PENDING, 7, "pending", "something must happen before it is known")   \
	X(NO_INTERVAL, 8, "no_interval", "no time passed between the samples") \
	X(RESET, 9, "reset", "the counter went back")                          \
	X(SKIPPED, 10, "skipped", "not asked for, or left out for its cost")   \
	X(TIMEOUT, 11, "timeout", "the deadline passed first")                 \
	X(TRUNCATED, 12, "truncated", "less came than there is")               \
	X(UNLIKE, 13, "unlike", "the two figures cannot be compared")          \
	X(MALFORMED, 14, "malformed", "the host's text cannot be understood")

enum plim_state {
#define PLIM_X(name, number, word, text) PLIM_STATE_##name = number,
	PLIM_STATE_LIST(PLIM_X)
#undef PLIM_X
};

/* How the value stands to the truth. The words in JSON are "at_least" and
 * "at_most"; an exact figure has none. */
enum plim_bound {
	PLIM_BOUND_EXACT = 0,
	PLIM_BOUND_AT_LEAST = 1,
	PLIM_BOUND_AT_MOST = 2
};

typedef struct plim_count {
	uint64_t value;
	uint8_t state;	 /* enum plim_state */
	uint8_t bound;	 /* enum plim_bound */
	uint16_t method; /* known: enum plim_method; else: enum plim_reason */
	int32_t code;	 /* the system's error where there was one, else 0 */
} plim_count;

typedef struct plim_real {
	double value;
	uint8_t state;
	uint8_t bound;
	uint16_t method;
	int32_t code;
} plim_real;

/* A text figure: bytes as the host has them, not NUL-terminated, borrowed
 * from the record they were asked of. */
typedef struct plim_text {
	plim_bytes bytes;
	uint8_t state;
	uint8_t bound; /* always PLIM_BOUND_EXACT */
	uint16_t method;
	int32_t code;
} plim_text;

/* The stable word of a state ("denied"), and its sentence. NULL for a number
 * that is no state. Static storage. */
PLIM_API const char *plim_state_word(int state);
PLIM_API const char *plim_state_text(int state);

/* "at_least", "at_most", or "" for exact. */
PLIM_API const char *plim_bound_word(int bound);

/* Makers. `reason` is a row of the table of reasons (fields.h), which fixes
 * the state; `code` is the system's error or 0. */
PLIM_API plim_count plim_count_known(uint64_t value, int method);
PLIM_API plim_count plim_count_bounded(uint64_t value, int method, int bound);
PLIM_API plim_count plim_count_missing(int reason, int32_t code);
PLIM_API plim_real plim_real_known(double value, int method);
PLIM_API plim_real plim_real_missing(int reason, int32_t code);

/* The same figure as a plim_real. A value above 2^53 is rounded. */
PLIM_API plim_real plim_real_of(plim_count count);

/* The same of a figure of this unit (units.h): the value of one that may be
 * negative (PLIM_UNIT_SIGNED) is in two's complement. Who shows, sorts or
 * compares figures of any field goes through here. */
PLIM_API plim_real plim_real_in_unit(plim_count count, int unit);

/*
 * Differences of two samples of one figure. In all of them the first
 * unavailable operand in the order (last, first) gives state, reason and code
 * of the result; two known figures of different methods are UNLIKE.
 *
 * The bound of `last - first`: at least if `last` is at least and `first` is
 * exact or at most; at most in the mirrored cases; two bounds that point the
 * same way bound nothing, so that their difference is UNLIKE.
 */

/* Of a counter: RESET where it went back. */
PLIM_API plim_count plim_counter_change(plim_count first, plim_count last);

/* Of a gauge: signed. */
PLIM_API plim_real plim_gauge_change(plim_count first, plim_count last);

/* A counter's change per second. NO_INTERVAL for an interval of 0. */
PLIM_API plim_real plim_counter_rate(plim_count first, plim_count last,
				     uint64_t interval_ns);

/* A change that is already known, per second. */
PLIM_API plim_real plim_change_rate(plim_count change, uint64_t interval_ns);

/* part / whole. NOT_APPLICABLE where whole is 0. The method is `part`'s if
 * both agree, else PLIM_METHOD_MIXED. */
PLIM_API plim_real plim_ratio(plim_count part, plim_count whole);

/* The larger. One unavailable operand makes the other a lower bound; where
 * nothing can be said of the maximum it is UNLIKE. */
PLIM_API plim_count plim_count_max(plim_count a, plim_count b);

/*
 * A sum over members of which some may be unavailable. Start from a zeroed
 * plim_sum, add each member, then read the total: known if at least one
 * member was (or none was added: then 0), a lower bound if any was missing or
 * the sum saturated at 2^64-1; else the state of the first missing one. A
 * figure that is NOT_APPLICABLE to a member (the memory of a zombie) adds
 * nothing and is not missing; where it is so for all, it is for the total.
 * Members of different methods give PLIM_METHOD_MIXED.
 */
typedef struct plim_sum {
	plim_count total_known; /* of the known members */
	plim_count first_missing;
	uint32_t known;
	uint32_t missing;
} plim_sum;
PLIM_API void plim_sum_add(plim_sum *sum, plim_count member);
PLIM_API plim_count plim_sum_total(const plim_sum *sum);

/*
 * The order of figures in a table: known ones by value, unavailable ones last
 * whether `descending` or not. Below, at or above zero as for qsort; equal
 * figures give 0, so a stable sort keeps their order.
 */
PLIM_API int plim_count_order(plim_count a, plim_count b, int descending);
PLIM_API int plim_real_order(plim_real a, plim_real b, int descending);

#ifdef __cplusplus
}
#endif
#endif
