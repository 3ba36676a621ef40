/*
 * decode_cpulist.c - a list of CPUs such as "0-3,8,10-11".
 *
 * The format is the kernel's %*pbl (lib/vsprintf.c, bitmap_list_string):
 * ranges in ascending order, none touching the one before, and a newline in
 * most files. A list that names no CPU is malformed: nobody here asks for one
 * that may be empty, and a count of 0 would end as a divisor.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <assert.h>

#define CPULIST_MOST ((uint64_t)1 << 20)

/* "N" or "N-M" with M above N. */
static int cpulist_range(struct plimp_scan *scan, uint64_t *first,
			 uint64_t *last)
{
	if (!plimp_scan_u64(scan, first))
		return 0;
	*last = *first;
	if (!plimp_scan_literal(scan, "-"))
		return 1;
	return plimp_scan_u64(scan, last) && *last > *first;
}

int plimp_decode_cpu_list(plim_bytes text, uint64_t *count)
{
	struct plimp_scan scan = plimp_scan_of(text);
	uint64_t sum = 0, first, last, before = 0;

	do {
		if (!cpulist_range(&scan, &first, &last))
			return PLIM_EMALFORMED;
		if ((sum && first <= before) || last - first >= CPULIST_MOST)
			return PLIM_EMALFORMED;
		sum += last - first + 1;
		if (sum > CPULIST_MOST)
			return PLIM_EMALFORMED;
		before = last;
	} while (plimp_scan_literal(&scan, ","));

	(void)plimp_scan_literal(&scan, "\n");
	if (scan.at != scan.end)
		return PLIM_EMALFORMED;
	assert(sum > 0);
	*count = sum;
	return PLIM_OK;
}

int plimp_decode_cpu_next(plim_bytes text, uint64_t *cpu)
{
	struct plimp_scan scan = plimp_scan_of(text);
	uint64_t count, first, last;

	if (plimp_decode_cpu_list(text, &count) != PLIM_OK)
		return PLIM_EMALFORMED;
	do {
		if (!cpulist_range(&scan, &first, &last))
			return PLIM_EMALFORMED;
		if (last < *cpu)
			continue;
		if (first > *cpu)
			*cpu = first;
		return 1;
	} while (plimp_scan_literal(&scan, ","));
	return 0;
}
