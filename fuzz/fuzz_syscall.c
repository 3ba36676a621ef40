/*
 * fuzz_syscall.c - any bytes as /proc/PID/task/TID/syscall: what is taken is
 * what it says when it is written again; a failure stores nothing; a number
 * has one name or none.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void check_again(const struct plimp_syscall *found)
{
	struct plimp_syscall again;
	char line[256];
	int size;

	if (found->kind == PLIMP_SYSCALL_RUNNING)
		size = snprintf(line, sizeof(line), "running\n");
	else if (found->kind == PLIMP_SYSCALL_OUTSIDE && found->has_place)
		size = snprintf(line, sizeof(line),
				"-1 0x%" PRIx64 " 0x%" PRIx64 "\n",
				found->stack, found->program);
	else if (found->kind == PLIMP_SYSCALL_OUTSIDE)
		size = snprintf(line, sizeof(line), "-1\n");
	else if (found->has_place)
		size = snprintf(line, sizeof(line),
				"%" PRIu64 " 0x1 0x2 0x3 0x4 0x5 0x6 0x%" PRIx64
				" 0x%" PRIx64 "\n",
				found->number, found->stack, found->program);
	else
		size = snprintf(line, sizeof(line), "%" PRIu64 "\n",
				found->number);
	PROMISE(plimp_decode_syscall((plim_bytes){line, (size_t)size},
				     &again) == PLIM_OK);
	PROMISE(again.kind == found->kind && again.number == found->number);
	PROMISE(again.has_place == found->has_place);
	PROMISE(again.stack == found->stack && again.program == found->program);
	PROMISE(plimp_decode_syscall((plim_bytes){line, (size_t)size - 1},
				     &again) == PLIM_EMALFORMED);
}

static void check_name(uint64_t number)
{
	static const char *const machines[] = {"x86_64", "aarch64", "vax"};

	for (size_t i = 0; i < 3; i++) {
		const char *name = plimp_syscall_name(machines[i], number);

		PROMISE(!name || (i < 2 && name[0] && strlen(name) < 32));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes text = {.data = (const char *)data, .size = size};
	struct plimp_syscall found, poison;

	memset(&poison, 0xa5, sizeof(poison));
	found = poison;
	int result = plimp_decode_syscall(text, &found);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result) {
		PROMISE(!memcmp(&found, &poison, sizeof(poison)));
		return 0;
	}
	PROMISE(found.kind >= PLIMP_SYSCALL_CALL &&
		found.kind <= PLIMP_SYSCALL_OUTSIDE);
	PROMISE(found.number <= INT32_MAX);
	PROMISE(found.kind == PLIMP_SYSCALL_CALL || found.number == 0);
	PROMISE(data[size - 1] == '\n');
	check_name(found.number);
	check_again(&found);
	return 0;
}
