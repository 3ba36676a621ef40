/*
 * decode_statm.c - /proc/PID/statm, seven numbers of pages on one line.
 *
 * The format is proc_pid_statm() in the kernel's fs/proc/array.c: size,
 * resident, shared, text, lib (0 since 2.6), data, dt (0 since 2.6). A process
 * without memory, a zombie or a kernel thread, shows seven zeros. The first
 * three are read; that the text ends with its newline, and holds six blanks
 * before it, shows that it was not cut. A program that measures itself pays
 * for every digit here.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

/* Are there so many more fields, the last ended by the text's newline? No
 * branch a byte. */
static int statm_is_whole(const struct plimp_scan *scan, int fields)
{
	const char *end = scan->end - 1;
	unsigned odd = 0;
	const char *at;

	if (scan->at == scan->end || *end != '\n' || end == scan->at ||
	    end[-1] == ' ')
		return 0;
	for (at = scan->at; at < end; at++) {
		fields -= *at == ' ';
		odd |= (unsigned char)(*at - '0') > 9 && *at != ' ';
	}
	return fields <= 1 && odd == 0;
}

/* A number and the blank behind it; what is short is read here, in line. */
static int statm_number(struct plimp_scan *scan, uint64_t *value)
{
	const char *at = scan->at;
	const char *sure = scan->end - at > 18 ? at + 18 : scan->end;
	uint64_t sum = 0;

	while (at < sure && (unsigned char)(*at - '0') <= 9)
		sum = sum * 10 + (unsigned char)(*at++ - '0');
	if (at == scan->at || at == scan->end || *at != ' ')
		return plimp_scan_u64(scan, value) &&
		       plimp_scan_literal(scan, " ");
	scan->at = at + 1;
	*value = sum;
	return 1;
}

int plimp_decode_statm(plim_bytes text, struct plimp_statm *statm)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct plimp_statm found;

	if (!statm_number(&scan, &found.size_pages) ||
	    !statm_number(&scan, &found.resident_pages) ||
	    !statm_number(&scan, &found.shared_pages) ||
	    !statm_is_whole(&scan, 4))
		return PLIM_EMALFORMED;
	*statm = found;
	return PLIM_OK;
}
