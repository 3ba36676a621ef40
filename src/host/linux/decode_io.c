/*
 * decode_io.c - /proc/PID/io, seven lines "key: N".
 *
 * The format is do_io_accounting() in the kernel's fs/proc/base.c, unchanged
 * since 2.6.20: the seven keys in this order, each once. That order is
 * demanded, since a text that has it not is not this file. Lines behind the
 * seven are allowed.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <string.h>

/* The value of one line; the literal's size comes from its type. */
#define IO_LINE(scan, key, value) io_line(scan, key, sizeof(key) - 1, value)

static int io_line(struct plimp_scan *scan, const char *key, size_t size,
		   uint64_t *value)
{
	if ((size_t)(scan->end - scan->at) < size ||
	    memcmp(scan->at, key, size))
		return 0;
	scan->at += size;
	if (!plimp_scan_u64(scan, value) || scan->at == scan->end)
		return 0;
	return *scan->at++ == '\n';
}

int plimp_decode_io(plim_bytes text, struct plimp_io *io)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct plimp_io found;

	if (!IO_LINE(&scan, "rchar: ", &found.read_chars) ||
	    !IO_LINE(&scan, "wchar: ", &found.written_chars) ||
	    !IO_LINE(&scan, "syscr: ", &found.read_calls) ||
	    !IO_LINE(&scan, "syscw: ", &found.write_calls) ||
	    !IO_LINE(&scan, "read_bytes: ", &found.read_bytes) ||
	    !IO_LINE(&scan, "write_bytes: ", &found.write_bytes) ||
	    !IO_LINE(&scan, "cancelled_write_bytes: ", &found.cancelled_bytes))
		return PLIM_EMALFORMED;
	*io = found;
	return PLIM_OK;
}
