/*
 * decode_cpumax.c - cpu.max of a version 2 control group.
 *
 * The format is cpu_period_quota_print() in the kernel's kernel/sched/core.c:
 * "QUOTA PERIOD" in microseconds, or "max PERIOD" where there is no limit. The
 * kernel takes neither a quota nor a period of 0, so these are malformed, and
 * the quotient of the two can be taken without a further look.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

int plimp_decode_cpu_max(plim_bytes text, uint64_t *quota_us,
			 uint64_t *period_us)
{
	struct plimp_scan scan = plimp_scan_of(text);
	int unlimited = plimp_scan_literal(&scan, "max");
	uint64_t quota = 0, period;

	if (!unlimited && (!plimp_scan_u64(&scan, &quota) || !quota))
		return PLIM_EMALFORMED;
	if (!plimp_scan_literal(&scan, " ") ||
	    !plimp_scan_u64(&scan, &period) || !period)
		return PLIM_EMALFORMED;
	(void)plimp_scan_literal(&scan, "\n");
	if (scan.at != scan.end)
		return PLIM_EMALFORMED;
	if (unlimited)
		return 0;
	*quota_us = quota;
	*period_us = period;
	return 1;
}
