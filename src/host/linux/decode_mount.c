/*
 * decode_mount.c - /proc/self/mountinfo, one line after another.
 *
 * The format is show_mountinfo() in the kernel's fs/proc_namespace.c:
 *   ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAG[:N]]... - TYPE SOURCE OPTIONS
 * with one blank between two fields. Blanks, tabs, newlines and backslashes
 * inside a field are written as \ooo, so a blank always ends one; the source
 * may be empty. Any number of tags may stand before the "-". The escapes stay
 * as they are: what is returned points into the text.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <string.h>

/* Everything up to the next blank, and steps over that; may be empty. 0 if
 * there is no blank. */
static int mount_field(struct plimp_scan *scan, plim_bytes *field)
{
	size_t left = (size_t)(scan->end - scan->at);
	const char *blank = left ? memchr(scan->at, ' ', left) : NULL;

	if (!blank)
		return 0;
	field->data = scan->at;
	field->size = (size_t)(blank - scan->at);
	scan->at = blank + 1;
	return 1;
}

/* The same, never empty. */
static int mount_word(struct plimp_scan *scan, plim_bytes *word)
{
	return mount_field(scan, word) && word->size > 0;
}

/* "36 35 98:0 ", which nobody here uses. */
static int mount_numbers(struct plimp_scan *scan)
{
	uint64_t number;

	return plimp_scan_u64(scan, &number) && plimp_scan_literal(scan, " ") &&
	       plimp_scan_u64(scan, &number) && plimp_scan_literal(scan, " ") &&
	       plimp_scan_u64(scan, &number) && plimp_scan_literal(scan, ":") &&
	       plimp_scan_u64(scan, &number) && plimp_scan_literal(scan, " ");
}

/* Steps over the tags and the "-" behind them. */
static int mount_tags(struct plimp_scan *scan)
{
	plim_bytes tag;

	while (mount_word(scan, &tag)) {
		if (tag.size == 1 && tag.data[0] == '-')
			return 1;
	}
	return 0;
}

static int mount_line(plim_bytes line, struct plimp_mount *mount)
{
	struct plimp_scan scan = plimp_scan_of(line);
	struct plimp_mount found;
	plim_bytes skipped;

	if (!mount_numbers(&scan) || !mount_word(&scan, &found.root) ||
	    !mount_word(&scan, &found.point) || !mount_word(&scan, &skipped) ||
	    !mount_tags(&scan) || !mount_word(&scan, &found.type) ||
	    !mount_field(&scan, &skipped) || scan.at == scan.end)
		return 0;
	found.options.data = scan.at;
	found.options.size = (size_t)(scan.end - scan.at);
	*mount = found;
	return 1;
}

int plimp_decode_mount(plim_bytes text, size_t *offset,
		       struct plimp_mount *mount)
{
	if (*offset >= text.size)
		return 0;

	struct plimp_scan scan = plimp_scan_of(text);
	const char *start = scan.at;
	plim_bytes line = {NULL, 0};
	scan.at += *offset;
	plimp_scan_line(&scan, &line);
	*offset = (size_t)(scan.at - start);
	/* A last line without its newline was cut. */
	if (line.data + line.size == scan.end || !mount_line(line, mount))
		return PLIM_EMALFORMED;
	return 1;
}
