/*
 * plimsoll-result.h - print RESULT lines from any program.
 *
 * One header, no library: C99 or later, C++11 or later, nothing but stdio.h,
 * stdint.h and string.h. What is printed here is read by `plim gate`, by
 * plim_result_parse() of the library, and by a script with a split at `=` and
 * at spaces. Numbers have a point in every locale, texts are quoted and
 * escaped, a figure that could not be had is the word `unavailable` and why,
 * never a number. The grammar stands in plim_result(3).
 *
 *     #include <plimsoll-result.h>
 *
 *     plim_print_count(stdout, "requests", 1200, NULL);
 *     plim_print_real(stdout, "latency_p99", 12.75, 3, "ms");
 *     plim_print_unavailable(stdout, "gpu_bytes", "no_gpu");
 *     plim_print_text(stdout, "scope", "synthetic");
 *
 * prints
 *
 *     RESULT requests=1200
 *     RESULT latency_p99=12.750 ms
 *     RESULT gpu_bytes=unavailable no_gpu
 *     RESULT scope=synthetic
 *
 * A record of several pairs is begun, filled, and ended:
 *
 *     struct plim_print_line line;
 *     plim_print_begin(&line, "cache");
 *     plim_print_add_text(&line, "name", "the \"hot\" one");
 *     plim_print_add_count(&line, "hits", 17);
 *     plim_print_end(&line, stdout);
 *
 * A line is made whole and handed to one fwrite(), so that lines of several
 * threads that share a stream do not mix. What is printed returns 0, or -1 if
 * the stream failed, a key is none (it begins with a letter; letters, digits,
 * `_`, `.` and `-` follow), or the line is longer than PLIM_PRINT_LIMIT;
 * then nothing of the line was printed.
 */
#ifndef PLIMSOLL_RESULT_PRINT_H
#define PLIMSOLL_RESULT_PRINT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a line, its end included. A text takes up to four times its size. */
#define PLIM_PRINT_LIMIT 4096

/* The members belong to the functions below. */
struct plim_print_line {
	size_t size;
	int failed;
	char data[PLIM_PRINT_LIMIT];
};

static inline void plim_print_put(struct plim_print_line *line,
				  const char *data, size_t size)
{
	if (line->failed || size > sizeof(line->data) - line->size) {
		line->failed = 1;
		return;
	}
	memcpy(line->data + line->size, data, size);
	line->size += size;
}

static inline void plim_print_put_string(struct plim_print_line *line,
					 const char *string)
{
	plim_print_put(line, string, strlen(string));
}

static inline int plim_print_is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static inline int plim_print_is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static inline void plim_print_put_key(struct plim_print_line *line,
				      const char *key)
{
	size_t i;

	if (!plim_print_is_letter(key[0]))
		line->failed = 1;
	for (i = 0; key[i] != '\0'; i++)
		if (!plim_print_is_letter(key[i]) &&
		    !plim_print_is_digit(key[i]) && key[i] != '_' &&
		    key[i] != '.' && key[i] != '-')
			line->failed = 1;
	plim_print_put_string(line, key);
}

/* At least `width` digits. */
static inline void plim_print_put_whole(struct plim_print_line *line,
					uint64_t value, int width)
{
	char digits[24];
	size_t at = sizeof(digits);

	while (value != 0 || width > 0) {
		digits[--at] = (char)('0' + (int)(value % 10));
		value /= 10;
		width--;
	}
	plim_print_put(line, digits + at, sizeof(digits) - at);
}

/* 1 for a number that can be printed: below 2^64 either way. A NaN fails both
 * comparisons. */
static inline int plim_print_has(double value)
{
	return value > -18446744073709551616.0 &&
	       value < 18446744073709551616.0;
}

/*
 * fraction * scale, a fraction below 1 and a scale below 2^30, to the nearest
 * and ties to even, as the library has it. Doubling is exact; the product of
 * 128 bits, in two halves, is shifted to the right bit by bit.
 */
static inline uint64_t plim_print_scaled(double fraction, uint64_t scale)
{
	const uint64_t half_mask = 0xffffffffu;
	uint64_t whole, low, middle, high;
	int bits = 0, half = 0, more = 0;

	while (fraction > (double)(uint64_t)fraction) {
		fraction *= 2;
		bits++;
	}
	whole = (uint64_t)fraction;
	low = (whole & half_mask) * scale;
	middle = (whole >> 32) * scale + (low >> 32);
	high = middle >> 32;
	low = middle << 32 | (low & half_mask);
	for (; bits > 0; bits--) {
		more |= half;
		half = (int)(low & 1);
		low = low >> 1 | high << 63;
		high >>= 1;
	}
	return low + (half && (more || (low & 1) != 0) ? 1u : 0u);
}

/* 0 to 9 digits behind the point. What rounds to zero has no sign. */
static inline void plim_print_put_real(struct plim_print_line *line,
				       double value, int decimals)
{
	double size = value < 0 ? -value : value;
	uint64_t whole = (uint64_t)size;
	uint64_t scale = 1, part;
	int i;

	decimals = decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
	for (i = 0; i < decimals; i++)
		scale *= 10;
	part = plim_print_scaled(size - (double)whole, scale);
	/* Without decimals the even neighbour of a half is one of the whole. */
	if (decimals == 0 && size - (double)whole >= 0.5 &&
	    size - (double)whole <= 0.5)
		part = whole & 1;
	if (part >= scale) {
		part -= scale;
		whole++;
	}
	if (value < 0 && (whole != 0 || part != 0))
		plim_print_put(line, "-", 1);
	plim_print_put_whole(line, whole, 1);
	if (decimals > 0) {
		plim_print_put(line, ".", 1);
		plim_print_put_whole(line, part, decimals);
	}
}

/* The length of the UTF-8 character (RFC 3629) that is printed as it is; 0 for
 * one that shows nothing or may reorder a line, and for what is none. */
static inline size_t plim_print_character(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = at[0] < 0x80   ? 1
			: at[0] < 0xc2 ? 0
			: at[0] < 0xe0 ? 2
			: at[0] < 0xf0 ? 3
			: at[0] < 0xf5 ? 4
				       : 0;
	unsigned long point = length < 2 ? at[0] : at[0] & (0x7fu >> length);
	size_t i;

	for (i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (at[i] & 0x3fu);
	}
	if (point < 0x20 || (point >= 0x7f && point <= 0x9f) ||
	    (length == 3 && point < 0x800) ||
	    (length == 4 && point < 0x10000) ||
	    (point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff ||
	    (point >= 0x200b && point <= 0x200f) ||
	    (point >= 0x2028 && point <= 0x202e) ||
	    (point >= 0x2060 && point <= 0x206f) || point == 0xfeff)
		return 0;
	return length;
}

/* Text that is safe in a line: a backslash before a backslash and, where it
 * is quoted, before a quote; \xNN for each byte that is not printable UTF-8. */
static inline void plim_print_put_escaped(struct plim_print_line *line,
					  const char *text, int quoted)
{
	static const char digits[] = "0123456789abcdef";

	while (*text != '\0') {
		size_t length = plim_print_character(text);
		char escape[4];

		if (*text == '\\' || (quoted && *text == '"'))
			plim_print_put(line, "\\", 1);
		if (length > 0) {
			plim_print_put(line, text, length);
			text += length;
			continue;
		}
		escape[0] = '\\';
		escape[1] = 'x';
		escape[2] = digits[(unsigned char)*text >> 4];
		escape[3] = digits[(unsigned char)*text & 15];
		plim_print_put(line, escape, sizeof(escape));
		text++;
	}
}

/* A value: bare where it is one word and cannot be taken for anything else,
 * which, where `alone`, includes a number. */
static inline void plim_print_put_text(struct plim_print_line *line,
				       const char *text, int alone)
{
	int bare = text[0] != '\0' && strcmp(text, "unavailable") != 0;
	size_t i;

	for (i = 0; text[i] != '\0'; i++)
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' ||
		    text[i] == '\\')
			bare = 0;
	/* Better quotes too many than a text that reads as a number. */
	if (alone && (text[0] == '-' || plim_print_is_digit(text[0])))
		bare = 0;
	if (bare) {
		plim_print_put_string(line, text);
		return;
	}
	plim_print_put(line, "\"", 1);
	plim_print_put_escaped(line, text, 1);
	plim_print_put(line, "\"", 1);
}

/* Begins a record. */
static inline void plim_print_begin(struct plim_print_line *line,
				    const char *record)
{
	line->size = 0;
	line->failed = 0;
	plim_print_put_string(line, "RESULT ");
	plim_print_put_key(line, record);
}

static inline void plim_print_pair(struct plim_print_line *line,
				   const char *key)
{
	plim_print_put_string(line, " ");
	plim_print_put_key(line, key);
	plim_print_put_string(line, "=");
}

static inline void plim_print_add_count(struct plim_print_line *line,
					const char *key, uint64_t count)
{
	plim_print_pair(line, key);
	plim_print_put_whole(line, count, 1);
}

/* `decimals` digits, 0 to 9, behind the point. `unavailable` for a NaN, an
 * infinity, and what is not below 2^64. */
static inline void plim_print_add_real(struct plim_print_line *line,
				       const char *key, double value,
				       int decimals)
{
	plim_print_pair(line, key);
	if (plim_print_has(value))
		plim_print_put_real(line, value, decimals);
	else
		plim_print_put_string(line, "unavailable");
}

/* Bare where it is one word, else quoted. */
static inline void plim_print_add_word(struct plim_print_line *line,
				       const char *key, const char *word)
{
	plim_print_pair(line, key);
	plim_print_put_text(line, word, 0);
}

/* Always quoted. */
static inline void plim_print_add_text(struct plim_print_line *line,
				       const char *key, const char *text)
{
	plim_print_pair(line, key);
	plim_print_put(line, "\"", 1);
	plim_print_put_escaped(line, text, 1);
	plim_print_put(line, "\"", 1);
}

static inline void plim_print_add_unavailable(struct plim_print_line *line,
					      const char *key)
{
	plim_print_pair(line, key);
	plim_print_put_string(line, "unavailable");
}

/* Ends the line and prints it. */
static inline int plim_print_end(struct plim_print_line *line, FILE *out)
{
	plim_print_put(line, "\n", 1);
	if (line->failed)
		return -1;
	return fwrite(line->data, 1, line->size, out) == line->size ? 0 : -1;
}

static inline void plim_print_start(struct plim_print_line *line,
				    const char *key)
{
	plim_print_begin(line, key);
	plim_print_put_string(line, "=");
}

/* The unit, or the reason: text to the end of the line. NULL: none. */
static inline int plim_print_finish(struct plim_print_line *line,
				    const char *unit, FILE *out)
{
	if (unit != NULL && unit[0] != '\0') {
		plim_print_put(line, " ", 1);
		plim_print_put_escaped(line, unit, 0);
	}
	return plim_print_end(line, out);
}

/* `RESULT key=count unit`. `unit` may be NULL. */
static inline int plim_print_count(FILE *out, const char *key, uint64_t count,
				   const char *unit)
{
	struct plim_print_line line;

	plim_print_start(&line, key);
	plim_print_put_whole(&line, count, 1);
	return plim_print_finish(&line, unit, out);
}

/* `RESULT key=unavailable reason`. `reason` may be NULL. */
static inline int plim_print_unavailable(FILE *out, const char *key,
					 const char *reason)
{
	struct plim_print_line line;

	plim_print_start(&line, key);
	plim_print_put_string(&line, "unavailable");
	return plim_print_finish(&line, reason, out);
}

/* `RESULT key=value unit` with `decimals` digits, 0 to 9, behind the point;
 * `unavailable not_a_number` for a NaN, an infinity, and what is not below
 * 2^64. */
static inline int plim_print_real(FILE *out, const char *key, double value,
				  int decimals, const char *unit)
{
	struct plim_print_line line;

	if (!plim_print_has(value))
		return plim_print_unavailable(out, key, "not_a_number");
	plim_print_start(&line, key);
	plim_print_put_real(&line, value, decimals);
	return plim_print_finish(&line, unit, out);
}

/* `RESULT key=text`, quoted where it is not one word. */
static inline int plim_print_text(FILE *out, const char *key, const char *text)
{
	struct plim_print_line line;

	plim_print_start(&line, key);
	plim_print_put_text(&line, text, 1);
	return plim_print_finish(&line, NULL, out);
}

/* `RESULT scale=count statement`: the load, in a number and in words. */
static inline int plim_print_scale(FILE *out, uint64_t count,
				   const char *statement)
{
	return plim_print_count(out, "scale", count, statement);
}

/* A figure of the gate line, which a program may not have. */
struct plim_print_figure {
	int known;
	double value;
};

/* What the gate line says; `crate` names the program. */
struct plim_print_gate {
	const char *crate;
	const char *version;
	struct plim_print_figure resident_bytes;
	struct plim_print_figure idle_cpu_percent;
	struct plim_print_figure wakeups_per_s;
	struct plim_print_figure disk_ops_per_s;
	const char *scale_unit;
	uint64_t scale_count;
};

static inline void plim_print_add_figure(struct plim_print_line *line,
					 const char *key,
					 struct plim_print_figure figure,
					 int decimals)
{
	if (figure.known)
		plim_print_add_real(line, key, figure.value, decimals);
	else
		plim_print_add_unavailable(line, key);
}

/*
 * Begins the gate line `RESULT budget crate=... version=... resident_bytes=...
 * idle_cpu_percent=... wakeups_per_s=... disk_ops_per_s=... scale_unit=...
 * scale_count=...`. More pairs may be added, and a reader ignores what it does
 * not know; plim_print_end() prints it.
 */
static inline void plim_print_begin_gate(struct plim_print_line *line,
					 const struct plim_print_gate *gate)
{
	plim_print_begin(line, "budget");
	plim_print_add_word(line, "crate", gate->crate);
	plim_print_add_word(line, "version", gate->version);
	plim_print_add_figure(line, "resident_bytes", gate->resident_bytes, 0);
	plim_print_add_figure(line, "idle_cpu_percent", gate->idle_cpu_percent,
			      3);
	plim_print_add_figure(line, "wakeups_per_s", gate->wakeups_per_s, 3);
	plim_print_add_figure(line, "disk_ops_per_s", gate->disk_ops_per_s, 3);
	plim_print_add_word(line, "scale_unit", gate->scale_unit);
	plim_print_add_count(line, "scale_count", gate->scale_count);
}

#endif
