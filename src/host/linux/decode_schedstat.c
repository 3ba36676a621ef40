/*
 * decode_schedstat.c - /proc/PID/schedstat and /proc/PID/task/TID/schedstat,
 * three numbers and a newline: proc_pid_schedstat() in the kernel's
 * fs/proc/base.c. The times are in ns.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

int plimp_decode_schedstat(plim_bytes text, struct plimp_schedstat *schedstat)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct plimp_schedstat found;

	if (!plimp_scan_u64(&scan, &found.run_ns) ||
	    !plimp_scan_literal(&scan, " ") ||
	    !plimp_scan_u64(&scan, &found.wait_ns) ||
	    !plimp_scan_literal(&scan, " ") ||
	    !plimp_scan_u64(&scan, &found.switches_in) ||
	    !plimp_scan_literal(&scan, "\n") || scan.at != scan.end)
		return PLIM_EMALFORMED;
	*schedstat = found;
	return PLIM_OK;
}
