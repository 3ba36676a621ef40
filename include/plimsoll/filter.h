/*
 * filter.h - a small language that selects processes.
 *
 *   expression := term { ("or" | "||") term }
 *   term       := factor { ("and" | "&&") factor }
 *   factor     := ("not" | "!") factor | "(" expression ")"
 *               | comparison | selector
 *   comparison := NAME OP QUANTITY | NAME OP TEXT | "known" "(" NAME ")"
 *   OP         := "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~"
 *   selector   := ("cgroup" | "unit" | "container" | "user") ":" TEXT
 *
 * NAME is a field (fields.h; the suffixes _bytes and _ns may be left out), or
 * cpu_percent, or a counter with _per_second; the last two need two rounds.
 * QUANTITY carries the unit of the field (units.h): resident > 100MiB; a time
 * per second is a share (10%) or a duration (100ms, 100ms/s).
 * TEXT is a word or a "quoted string" with \" \\ and \xNN; `~` matches a
 * pattern with * and ? against the whole text.
 *
 * cgroup:PATH selects who is in that group or below it, by whole components;
 * the first slash may be left out. unit:NAME takes the patterns of `~`; a
 * name without them and without a type is that of a service. container:ID
 * takes an id, its first digits (6 at least), or a whole name. user:NAME is
 * the effective user, by name or number; the name is looked up once, when the
 * filter is compiled, in the user data base of this machine, whatever proc
 * root is read.
 *
 * Logic has three values: a comparison with an unavailable figure is neither
 * true nor false, `not` of it neither, and only what is true is selected. A
 * selector is false of a process that has no such thing (not_applicable).
 */
#ifndef PLIMSOLL_FILTER_H
#define PLIMSOLL_FILTER_H

#include <plimsoll/base.h>
#include <plimsoll/fields.h>
#include <plimsoll/process.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plim_filter plim_filter;

/* A filter is at most this long, and nested at most 64 deep. */
#define PLIM_FILTER_LIMIT 4096

/* Compiles. PLIM_ESYNTAX or PLIM_ENAME with the position in the text and what
 * was expected or meant; PLIM_ELIMIT; PLIM_ENOMEM. A filter is read-only from
 * then on and may be shared by threads. `allocator` may be NULL. For a user's
 * name it asks the C library (getpwnam_r), which may read files, load modules
 * and ask a service of the machine; where that fails it is PLIM_ESYSTEM, or
 * PLIM_EUNSUPPORTED where there is no such data base. */
PLIM_API int plim_filter_new(plim_filter **filter, const char *text,
			     const plim_allocator *allocator,
			     plim_error *error);
PLIM_API void plim_filter_free(plim_filter *filter);

/* The fields it looks at, to be added to what is read. */
PLIM_API plim_field_set plim_filter_fields(const plim_filter *filter);

/* 1 if it asks for a rate, so that it needs two rounds. */
PLIM_API int plim_filter_needs_rates(const plim_filter *filter);

enum plim_truth { PLIM_FALSE = 0, PLIM_TRUE = 1, PLIM_UNKNOWN = 2 };

/* Judges `process`; `earlier` is the same process one round before, or
 * NULL. */
PLIM_API int plim_filter_match(const plim_filter *filter,
			       const plim_process *process,
			       const plim_process *earlier);

#ifdef __cplusplus
}
#endif
#endif
