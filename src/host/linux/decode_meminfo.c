/*
 * decode_meminfo.c - one figure of /proc/meminfo.
 *
 * The format is meminfo_proc_show() in the kernel's fs/proc/meminfo.c: lines
 * "Key:", blanks, the number, " kB", where kB is 1024 bytes. A key that is not
 * there, a line without the unit (the counts of huge pages) and a size that
 * does not fit in bytes are malformed. The first line with the key decides.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

int plimp_decode_meminfo(plim_bytes text, const char *key, uint64_t *bytes)
{
	struct plimp_scan scan = plimp_scan_of(text);
	plim_bytes line;

	while (plimp_scan_line(&scan, &line)) {
		struct plimp_scan at = plimp_scan_of(line);
		uint64_t number;

		if (!plimp_scan_literal(&at, key) ||
		    !plimp_scan_literal(&at, ":"))
			continue;
		plimp_scan_blanks(&at);
		/* A last line without its newline was cut. */
		if (!plimp_scan_u64(&at, &number) ||
		    !plimp_scan_literal(&at, " kB") || at.at != at.end ||
		    at.end == scan.end || number > UINT64_MAX / 1024)
			return PLIM_EMALFORMED;
		*bytes = number * 1024;
		return PLIM_OK;
	}
	return PLIM_EMALFORMED;
}
