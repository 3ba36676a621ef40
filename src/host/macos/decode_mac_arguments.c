/*
 * decode_mac_arguments.c - KERN_PROCARGS2: sysctl_procargsx() in XNU's
 * bsd/kern/kern_sysctl.c.
 *
 * The number of arguments is the kernel's, taken at exec; the texts lie on the
 * process's own stack, where it may have written over them. So the number is a
 * claim: it may be larger than there are texts, and texts may lack their NUL.
 *
 * The path is padded with NULs to a multiple of 8 bytes (exec_extract_strings()
 * in bsd/kern/kern_exec.c), and by no more: a NUL behind that is an empty first
 * argument. To skip it as well would fill the count with the first text of the
 * environment.
 */
#include "host/macos/decode.h"

#include "host/macos/read.h"

#include <limits.h>

#define ARGUMENTS_PATH 4 /* behind the number */
#define ARGUMENTS_STEP 8

/* Behind the NUL of the text that begins there; 0 if it has none. */
static size_t arguments_behind(plim_bytes bytes, size_t at)
{
	const char *end = memchr(bytes.data + at, '\0', bytes.size - at);

	return end != NULL ? (size_t)(end - bytes.data) + 1 : 0;
}

int plimp_decode_mac_arguments(plim_bytes bytes,
			       struct plimp_mac_arguments *arguments)
{
	struct plimp_mac_arguments found = {.is_whole = 0};
	uint64_t claimed;
	size_t at;
	size_t next;

	if (bytes.size < ARGUMENTS_PATH)
		return PLIM_EMALFORMED;
	claimed = plimp_mac_number(bytes, 0, ARGUMENTS_PATH);
	if (claimed > INT32_MAX)
		return PLIM_EMALFORMED;
	at = arguments_behind(bytes, ARGUMENTS_PATH);
	if (at == 0)
		return PLIM_EMALFORMED;
	found.program =
	    (plim_bytes){bytes.data + ARGUMENTS_PATH, at - 1 - ARGUMENTS_PATH};
	while ((at - ARGUMENTS_PATH) % ARGUMENTS_STEP != 0 && at < bytes.size &&
	       bytes.data[at] == '\0')
		at++;
	found.arguments = (plim_bytes){bytes.data + at, 0};
	while (found.count < claimed && at < bytes.size) {
		next = arguments_behind(bytes, at);
		if (next == 0)
			break;
		found.arguments.size += next - at;
		found.count++;
		at = next;
	}
	found.is_whole = found.count == claimed;
	*arguments = found;
	return PLIM_OK;
}
