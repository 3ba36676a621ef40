/*
 * fuzz_io.c - any bytes as /proc/PID/io: every figure stands in its line,
 * digit by digit; written again it decodes to the same; a failure stores
 * nothing; a text that was cut before its seventh newline is refused.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int decode(plim_bytes text, struct plimp_io *io)
{
	struct plimp_io poison;

	memset(&poison, 0xa5, sizeof(poison));
	*io = poison;
	int result = plimp_decode_io(text, io);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result)
		PROMISE(!memcmp(io, &poison, sizeof(poison)));
	return result == PLIM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	struct plimp_io io, again;
	char line[512];

	if (!decode(text, &io))
		return 0;
	PROMISE(promise_says(text, "rchar: ", io.read_chars));
	PROMISE(promise_says(text, "wchar: ", io.written_chars));
	PROMISE(promise_says(text, "syscr: ", io.read_calls));
	PROMISE(promise_says(text, "syscw: ", io.write_calls));
	PROMISE(promise_says(text, "read_bytes: ", io.read_bytes));
	PROMISE(promise_says(text, "write_bytes: ", io.write_bytes));
	PROMISE(
	    promise_says(text, "cancelled_write_bytes: ", io.cancelled_bytes));
	int used = snprintf(
	    line, sizeof(line),
	    "rchar: %" PRIu64 "\nwchar: %" PRIu64 "\nsyscr: %" PRIu64
	    "\nsyscw: %" PRIu64 "\nread_bytes: %" PRIu64
	    "\nwrite_bytes: %" PRIu64 "\ncancelled_write_bytes: %" PRIu64 "\n",
	    io.read_chars, io.written_chars, io.read_calls, io.write_calls,
	    io.read_bytes, io.write_bytes, io.cancelled_bytes);
	PROMISE(decode((plim_bytes){line, (size_t)used}, &again));
	PROMISE(!memcmp(&io, &again, sizeof(io)));
	PROMISE(!decode((plim_bytes){line, (size_t)used - 1}, &again));
	return 0;
}
