/*
 * decode_iostat.c - io.stat of a version 2 control group.
 *
 * The format is blkcg_print_stat() in the kernel's block/blk-cgroup.c: a line
 * per device, "MAJOR:MINOR" and then keys with values, of which only rios and
 * wios are read here; what other keys hold (dbytes, cost.usage, ...) is not
 * looked at. Some kernels write a device that has no figures, alone or in
 * front of the next one ("7:1 7:0 8:0 rbytes=..."): such a device adds
 * nothing. A sum that does not fit is malformed.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

static int iostat_device(plim_bytes word)
{
	struct plimp_scan scan = plimp_scan_of(word);
	uint64_t number;

	return plimp_scan_u64(&scan, &number) &&
	       plimp_scan_literal(&scan, ":") &&
	       plimp_scan_u64(&scan, &number) && scan.at == scan.end;
}

/* Adds a word such as "rios=12"; one with another key adds nothing. */
static int iostat_add(plim_bytes word, uint64_t *sum)
{
	struct plimp_scan scan = plimp_scan_of(word);
	uint64_t number;

	if (!plimp_scan_literal(&scan, "rios=") &&
	    !plimp_scan_literal(&scan, "wios="))
		return 1;
	if (!plimp_scan_u64(&scan, &number) || scan.at != scan.end ||
	    number > UINT64_MAX - *sum)
		return 0;
	*sum += number;
	return 1;
}

static int iostat_line(plim_bytes line, uint64_t *sum)
{
	struct plimp_scan scan = plimp_scan_of(line);
	plim_bytes word;

	if (!plimp_scan_word(&scan, &word) || !iostat_device(word))
		return 0;
	for (;;) {
		plimp_scan_blanks(&scan);
		if (!plimp_scan_word(&scan, &word))
			return 1;
		if (!iostat_add(word, sum))
			return 0;
	}
}

int plimp_decode_io_stat(plim_bytes text, uint64_t *operations)
{
	struct plimp_scan scan = plimp_scan_of(text);
	plim_bytes line;
	uint64_t sum = 0;

	while (plimp_scan_line(&scan, &line)) {
		/* A last line without its newline was cut. */
		if (line.data + line.size == scan.end ||
		    !iostat_line(line, &sum))
			return PLIM_EMALFORMED;
	}
	*operations = sum;
	return PLIM_OK;
}
