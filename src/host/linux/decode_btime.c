/*
 * decode_btime.c - when the machine was booted, from /proc/stat.
 *
 * The format is show_stat() in the kernel's fs/proc/stat.c; the line is
 * "btime N". The "intr" line before it can be tens of thousands of bytes long,
 * and under subset=pid there is no /proc/stat at all. The first such line
 * decides.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

int plimp_decode_btime(plim_bytes text, uint64_t *seconds)
{
	struct plimp_scan scan = plimp_scan_of(text);
	plim_bytes line;

	while (plimp_scan_line(&scan, &line)) {
		struct plimp_scan at = plimp_scan_of(line);
		uint64_t number;

		if (!plimp_scan_literal(&at, "btime "))
			continue;
		/* A last line without its newline was cut. */
		if (!plimp_scan_u64(&at, &number) || at.at != at.end ||
		    at.end == scan.end)
			return PLIM_EMALFORMED;
		*seconds = number;
		return PLIM_OK;
	}
	return PLIM_EMALFORMED;
}
