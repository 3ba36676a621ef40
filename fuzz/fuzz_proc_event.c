/*
 * fuzz_proc_event.c - any bytes as messages of the process connector: the walk
 * always ends, offsets go up and stay inside, what is told stands in the
 * bytes, and a failure moves and stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

static int32_t number_at(plim_bytes bytes, size_t at)
{
	int32_t number;

	PROMISE(at + sizeof(number) <= bytes.size);
	memcpy(&number, bytes.data + at, sizeof(number));
	return number;
}

static void check(plim_bytes bytes, size_t at,
		  const struct plimp_proc_event *event)
{
	switch (event->type) {
	case PLIMP_PROC_FORK:
		PROMISE(number_at(bytes, at + 56) == event->ppid);
		PROMISE(number_at(bytes, at + 60) == event->tid);
		PROMISE(number_at(bytes, at + 64) == event->pid);
		break;
	case PLIMP_PROC_EXIT:
		PROMISE(number_at(bytes, at + 52) == event->tid);
		PROMISE(number_at(bytes, at + 56) == event->pid);
		PROMISE(event->ppid == 0);
		break;
	case PLIMP_PROC_ANSWER:
		PROMISE((uint32_t)number_at(bytes, at + 52) == event->error);
		break;
	default:
		PROMISE(event->type == PLIMP_PROC_OTHER ||
			event->type == PLIMP_PROC_OVERRUN);
		PROMISE(event->pid == 0 && event->tid == 0 &&
			event->ppid == 0 && event->error == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {.data = (const char *)data, .size = size};
	struct plimp_proc_event event = {.type = 77};
	size_t offset = 0;
	size_t before = 0;
	int result;

	while ((result = plimp_decode_proc_event(bytes, &offset, &event)) ==
	       1) {
		PROMISE(offset >= before + 16 && offset <= size);
		check(bytes, before, &event);
		before = offset;
		event = (struct plimp_proc_event){.type = 77};
	}
	PROMISE(result == 0 || result == PLIM_EMALFORMED);
	PROMISE(event.type == 77 && offset == before);
	PROMISE(result != 0 || offset == size);
	return 0;
}
