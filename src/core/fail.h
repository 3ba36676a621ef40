/*
 * fail.h - filling an error record.
 */
#ifndef PLIMP_FAIL_H
#define PLIMP_FAIL_H

#include <plimsoll/base.h>

/* gcc checks a format by what the target's C library means by "printf", and
 * for Windows that is not C11's; clang knows one meaning, by that name. */
#if defined(__clang__)
#define PLIMP_PRINTF(text, first) \
	__attribute__((__format__(__printf__, text, first)))
#elif defined(__GNUC__)
#define PLIMP_PRINTF(text, first) \
	__attribute__((__format__(__gnu_printf__, text, first)))
#else
#define PLIMP_PRINTF(text, first)
#endif

/*
 * Fills `error` where there is one, and returns `code`, so that a failure is
 * one line: return plimp_fail(error, PLIM_EROOT, errno, "open", path, NULL).
 * `detail` is a printf format, or NULL.
 */
int plimp_fail(plim_error *error, int code, int system, const char *operation,
	       const char *path, const char *detail, ...) PLIMP_PRINTF(6, 7);

/* The same for parsed text: `position` is the byte where it went wrong. */
int plimp_fail_at(plim_error *error, int code, const char *operation,
		  const char *text, size_t position, const char *detail, ...)
    PLIMP_PRINTF(6, 7);

#endif
