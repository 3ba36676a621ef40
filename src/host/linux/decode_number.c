/*
 * decode_number.c - a file that holds one number, such as
 * /proc/sys/kernel/pid_max.
 *
 * Digits, then at most one newline, then nothing. Whoever wants "max", a sign
 * or a unit needs another decoder.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

int plimp_decode_number(plim_bytes text, uint64_t *number)
{
	struct plimp_scan scan = plimp_scan_of(text);
	uint64_t found;

	if (!plimp_scan_u64(&scan, &found))
		return PLIM_EMALFORMED;
	(void)plimp_scan_literal(&scan, "\n");
	if (scan.at != scan.end)
		return PLIM_EMALFORMED;
	*number = found;
	return PLIM_OK;
}
