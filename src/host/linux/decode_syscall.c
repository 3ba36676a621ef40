/*
 * decode_syscall.c - /proc/PID/task/TID/syscall, one line: proc_pid_syscall()
 * in the kernel's fs/proc/base.c.
 *
 * "running" of a thread that is on a CPU or could be; "-1 SP PC" of one that
 * waits outside of a system call; else the number of the call in decimal, its
 * six arguments, the stack pointer and the program counter, all hexadecimal.
 * A number that stands alone is a call, too: 0 is read(2). The arguments
 * may be addresses of the target.
 */
#include "host/linux/decode.h"

#include "host/linux/scan.h"

#include <assert.h>
#include <string.h>

/* " 0x" and 1 to 16 lower-case hexadecimal digits. */
static int syscall_hex(struct plimp_scan *scan, uint64_t *value)
{
	int digits = 0;

	if (!plimp_scan_literal(scan, " 0x"))
		return 0;
	*value = 0;
	for (; scan->at < scan->end && digits < 16; scan->at++, digits++) {
		char digit = *scan->at;

		if (digit >= '0' && digit <= '9')
			*value = *value << 4 | (uint64_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			*value = *value << 4 | (uint64_t)(digit - 'a' + 10);
		else
			break;
	}
	return digits > 0;
}

static int syscall_end(const struct plimp_scan *scan)
{
	return scan->end - scan->at == 1 && *scan->at == '\n';
}

int plimp_decode_syscall(plim_bytes text, struct plimp_syscall *call)
{
	struct plimp_scan scan = plimp_scan_of(text);
	struct plimp_syscall found = {.kind = PLIMP_SYSCALL_CALL};
	uint64_t words[8] = {0};
	int wanted = 8;
	int i;

	if (plimp_scan_literal(&scan, "running")) {
		if (!syscall_end(&scan))
			return PLIM_EMALFORMED;
		found.kind = PLIMP_SYSCALL_RUNNING;
		*call = found;
		return PLIM_OK;
	}
	if (plimp_scan_literal(&scan, "-1")) {
		found.kind = PLIMP_SYSCALL_OUTSIDE;
		wanted = 2;
	} else if (!plimp_scan_u64(&scan, &found.number) ||
		   found.number > INT32_MAX) {
		return PLIM_EMALFORMED;
	}
	for (i = 0; i < wanted && !syscall_end(&scan); i++)
		if (!syscall_hex(&scan, &words[i]))
			return PLIM_EMALFORMED;
	if (!syscall_end(&scan) || (i != 0 && i != wanted))
		return PLIM_EMALFORMED;
	found.has_place = i == wanted;
	found.stack = found.has_place ? words[wanted - 2] : 0;
	found.program = found.has_place ? words[wanted - 1] : 0;
	if (found.kind == PLIMP_SYSCALL_CALL && found.has_place)
		memcpy(found.arguments, words, sizeof(found.arguments));
	*call = found;
	return PLIM_OK;
}

const char *plimp_syscall_told(const char *machine,
			       const struct plimp_syscall *call)
{
	assert(call->kind == PLIMP_SYSCALL_CALL);
	if (call->has_place && call->stack <= UINT32_MAX &&
	    call->program <= UINT32_MAX)
		return NULL;
	return plimp_syscall_name(machine, call->number);
}
