/*
 * decode_stat.c - /proc/PID/stat, one line of 44 to 52 fields.
 *
 * The format is do_task_stat() in the kernel's fs/proc/array.c. Its second
 * field is the name, in parentheses and not escaped: it may hold blanks,
 * newlines and parentheses, so it ends at the last ")" of the text, after
 * which the kernel writes numbers only. A field counts once the blank or the
 * newline behind it is there: a number at a cut end would be a wrong one.
 * Fields that nobody here uses are stepped over, whatever they hold.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <string.h>

/* The last ")"; the search runs forwards, because memchr() is quick and its
 * twin for the other direction is not ISO C. */
static const char *stat_name_end(const struct plimp_scan *scan)
{
	const char *last = NULL;
	const char *at = scan->at;

	while ((at = memchr(at, ')', (size_t)(scan->end - at)))) {
		last = at++;
		if (at == scan->end)
			break;
	}
	return last;
}

/* Steps over the blank or the newline that ends a field; 0 if it was cut. */
static int stat_field_ends(struct plimp_scan *scan)
{
	if (scan->at == scan->end || (*scan->at != ' ' && *scan->at != '\n'))
		return 0;
	scan->at++;
	return 1;
}

static int stat_u64(struct plimp_scan *scan, uint64_t *value)
{
	return plimp_scan_u64(scan, value) && stat_field_ends(scan);
}

/* A pid: the kernel numbers up to 2^22, the type holds more. */
static int stat_pid(struct plimp_scan *scan, int32_t *pid)
{
	uint64_t value;

	if (!plimp_scan_u64(scan, &value) || value > INT32_MAX)
		return 0;
	*pid = (int32_t)value;
	return 1;
}

static int stat_i32(struct plimp_scan *scan, int32_t *value)
{
	int64_t wide;

	if (!plimp_scan_i64(scan, &wide) || wide < INT32_MIN ||
	    wide > INT32_MAX)
		return 0;
	*value = (int32_t)wide;
	return stat_field_ends(scan);
}

/* How many of these eight bytes are blanks: each that is becomes 0, and only a
 * 0 has no bit set once its lower seven were added to 0x7f. */
static int stat_blanks(const char *at)
{
	const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	word ^= UINT64_C(0x2020202020202020);
	word = ~(((word & low) + low) | word | low);
	return (int)((word >> 7) * UINT64_C(0x0101010101010101) >> 56);
}

/* Steps over so many fields, signed ones among them. That one blank ends
 * each is all that is asked of them: counting blanks takes no branch a byte. */
static int stat_skip(struct plimp_scan *scan, int count)
{
	const char *at = scan->at;

	while (scan->end - at >= 8) {
		int blanks = stat_blanks(at);

		if (blanks >= count)
			break;
		count -= blanks;
		at += 8;
	}
	while (count && at < scan->end)
		count -= *at++ == ' ';
	scan->at = at;
	return !count;
}

/* Fields 1 and 2, and the blank before field 3. */
static int stat_head(struct plimp_scan *scan, struct plimp_stat *stat)
{
	if (!stat_pid(scan, &stat->pid) || !plimp_scan_literal(scan, " ("))
		return 0;
	const char *end = stat_name_end(scan);
	if (!end)
		return 0;
	stat->name.data = scan->at;
	stat->name.size = (size_t)(end - scan->at);
	scan->at = end + 1;
	if (!plimp_scan_literal(scan, " "))
		return 0;
	/* The line ends the text: no field is looked for behind it. */
	const char *newline =
	    memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
	if (newline)
		scan->end = newline + 1;
	return 1;
}

/* The kernel's letters are R, S, D, T, t, X, Z, P, I; older ones had more. */
static int stat_is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* Fields 3 to 22. */
static int stat_body(struct plimp_scan *scan, struct plimp_stat *stat)
{
	if (scan->at == scan->end || !stat_is_letter(*scan->at))
		return 0;
	stat->state = *scan->at++;
	return stat_field_ends(scan) && stat_pid(scan, &stat->ppid) &&
	       stat_field_ends(scan) &&
	       stat_skip(scan, 4) && /* pgrp, session, tty_nr, tpgid */
	       stat_u64(scan, &stat->flags) &&
	       stat_u64(scan, &stat->faults_minor) &&
	       stat_skip(scan, 1) && /* cminflt */
	       stat_u64(scan, &stat->faults_major) &&
	       stat_skip(scan, 1) && /* cmajflt */
	       stat_u64(scan, &stat->user_ticks) &&
	       stat_u64(scan, &stat->system_ticks) &&
	       stat_u64(scan, &stat->children_user_ticks) &&
	       stat_u64(scan, &stat->children_system_ticks) &&
	       stat_skip(scan, 1) && /* priority */
	       stat_i32(scan, &stat->nice) && stat_u64(scan, &stat->threads) &&
	       stat_skip(scan, 1) && /* itrealvalue, always 0 */
	       stat_u64(scan, &stat->start_ticks);
}

/*
 * Fields 28, 42, 48, 49 and 52, from field 23 on. The kernel writes 0 for all
 * but 42 to a reader who may not trace the process: neither stack nor arguments
 * lie at 0, so that is told apart; an exit code of 0 is not.
 */
static void stat_tail(struct plimp_scan *scan, struct plimp_stat *stat)
{
	uint64_t stack, block_io, start, end;
	int32_t code;

	if (!stat_skip(scan, 5) || !stat_u64(scan, &stack))
		return;
	if (stack) {
		stat->stack_start = stack;
		stat->has |= PLIMP_STAT_STACK;
	}
	if (!stat_skip(scan, 13))
		return;
	if (stat_u64(scan, &block_io)) {
		stat->block_io_ticks = block_io;
		stat->has |= PLIMP_STAT_BLOCK_IO;
	} else if (!stat_skip(scan, 1))
		return;
	if (!stat_skip(scan, 5) || !stat_u64(scan, &start) ||
	    !stat_u64(scan, &end))
		return;
	if (start && end) {
		stat->arguments_start = start;
		stat->arguments_end = end;
		stat->has |= PLIMP_STAT_ARGUMENTS;
	}
	if (stat_skip(scan, 2) && stat_i32(scan, &code)) {
		stat->exit_code = code;
		stat->has |= PLIMP_STAT_EXIT_CODE;
	}
}

int plimp_decode_stat(plim_bytes text, struct plimp_stat *stat)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct plimp_stat found = {.has = 0};

	if (!stat_head(&scan, &found) || !stat_body(&scan, &found))
		return PLIM_EMALFORMED;
	stat_tail(&scan, &found);
	*stat = found;
	return PLIM_OK;
}
