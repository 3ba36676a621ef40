/*
 * units.h - quantities with units: "100 MiB", "1.5s", "5 %", "100/s".
 *
 * Reading is strict and independent of the locale; writing always uses a
 * point. Both are pure functions, safe in any thread.
 */
#ifndef PLIMSOLL_UNITS_H
#define PLIMSOLL_UNITS_H

#include <plimsoll/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum plim_unit {
	PLIM_UNIT_NONE = 0,	  /* a plain number */
	PLIM_UNIT_BYTES = 1,	  /* B, kB, MB, GB, TB; KiB, MiB, GiB, TiB */
	PLIM_UNIT_NS = 2,	  /* ns, us, ms, s, m (or min), h, d */
	PLIM_UNIT_PERCENT = 3,	  /* % */
	PLIM_UNIT_PER_SECOND = 4, /* /s, /min, /h: a count per second */
	PLIM_UNIT_BYTES_PER_SECOND = 5, /* any of bytes, then /s, /min, /h */
	PLIM_UNIT_BLOCKS = 6,  /* of 512 bytes; read as a plain number */
	PLIM_UNIT_TICKS = 7,   /* of the host's clock; a plain number */
	PLIM_UNIT_UNIX_MS = 8, /* ms since 1970; a plain number */
	PLIM_UNIT_ID = 9,      /* a pid, a uid: a number to compare only */
	PLIM_UNIT_SIGNED = 10  /* a plain number that may be negative: a
				* plim_count has it in two's complement, see
				* plim_real_in_unit() */
};

/* The word of a unit as the field table prints it: "bytes", "ns", "percent",
 * "per_second", ...; "" for a plain number. Static storage. */
PLIM_API const char *plim_unit_word(int unit);

/*
 * Reads the whole of `text` as a quantity of `unit` and stores it in the
 * unit's base (bytes, ns, per cent, per second). The number is decimal, with
 * an optional point and fraction; a space may stand before the suffix; K, M,
 * G, T alone mean KiB ... TiB, as `ps`, `ulimit` and systemd have it. A
 * duration and a percentage need their suffix unless the number is 0; bytes
 * and rates do not. PLIM_ESYNTAX with the position and what was expected;
 * PLIM_EINVAL if it does not fit or is negative and the unit is not
 * PLIM_UNIT_SIGNED.
 */
PLIM_API int plim_quantity_parse(const char *text, int unit, double *value,
				 plim_error *error);

/* The same, rounded to the nearest whole unit of the base; whole bytes and
 * nanoseconds up to 2^64-1 are exact. A PLIM_UNIT_SIGNED is stored as a
 * plim_count has it. */
PLIM_API int plim_quantity_parse_whole(const char *text, int unit,
				       uint64_t *value, plim_error *error);

/* Writes a quantity for people: "1.5 MiB", "320 ms", "12.3 %", "940/s". The
 * result has at most 3 significant digits beyond the integer part and at most
 * 24 characters. A duration of a minute or more has two parts ("1 h 5 min"),
 * and what is too small to show is written as such ("<0.001 %"). Returns the
 * length, as snprintf does. */
PLIM_API size_t plim_quantity_format(double value, int unit, char *buffer,
				     size_t size);

/* A number in the shortest form that reads back as the same double, always
 * with a point if it has a fraction, never with a thousands mark; NaN and
 * infinities, which no figure of this library holds, give "null". */
PLIM_API size_t plim_number_format(double value, char *buffer, size_t size);

/* A number with `decimals` digits, 0 to 9, behind the point: the nearest to
 * the value of the double, and the even one of two that are equally near, as
 * printf("%.*f") has it where the point is a point. What rounds to zero has no
 * sign. 320 bytes hold any. NaN and infinities give "null". Returns the
 * length, as snprintf does. */
PLIM_API size_t plim_fixed_format(double value, int decimals, char *buffer,
				  size_t size);

#ifdef __cplusplus
}
#endif
#endif
