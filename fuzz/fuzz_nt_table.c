/*
 * fuzz_nt_table.c - any bytes as Windows's table of processes, of both word
 * sizes: the walk goes forward and ends, what it points to lies in the table,
 * and a failure stores nothing.
 */
#include "host/windows/decode.h"
#include "promise.h"

#include <string.h>

/* All of it can be read: a sanitizer looks. */
static void touch(plim_bytes table, plim_bytes part)
{
	volatile char sum = 0;

	PROMISE(part.size == 0 ||
		(part.data >= table.data &&
		 part.data + part.size <= table.data + table.size));
	for (size_t i = 0; i < part.size; i++)
		sum = (char)(sum ^ part.data[i]);
}

static void check_threads(const struct plimp_nt_process *process,
			  const struct plimp_nt_layout *layout)
{
	struct plimp_nt_thread thread, poison;
	size_t i;

	PROMISE(process->threads.size ==
		(size_t)process->thread_count * layout->thread_size);
	for (i = 0; i < process->thread_count; i++)
		PROMISE(plimp_decode_nt_thread(process->threads, layout, i,
					       &thread) == PLIM_OK);
	memset(&poison, 0xa5, sizeof(poison));
	thread = poison;
	PROMISE(plimp_decode_nt_thread(process->threads, layout, i, &thread) ==
		PLIM_EMALFORMED);
	PROMISE(!memcmp(&thread, &poison, sizeof(poison)));
}

static void check(plim_bytes table, const struct plimp_nt_layout *layout,
		  uint64_t base)
{
	struct plimp_nt_process process, poison;
	size_t offset = 0;
	size_t before = 0;
	int more;

	memset(&poison, 0xa5, sizeof(poison));
	for (;;) {
		process = poison;
		more = plimp_decode_nt_process(table, layout, base, &offset,
					       &process);
		if (more != 1)
			break;
		PROMISE(offset >= before + layout->threads &&
			offset <= table.size);
		before = offset;
		PROMISE(process.name.size % 2 == 0);
		touch(table, process.name);
		touch(table, process.threads);
		check_threads(&process, layout);
	}
	PROMISE(more == 0 || more == -1);
	PROMISE(offset == before && (more != 0 || offset == table.size));
	PROMISE(!memcmp(&process, &poison, sizeof(poison)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes table = {.data = (const char *)data, .size = size};

	check(table, &plimp_nt_layout_64, 0x10000);
	check(table, &plimp_nt_layout_64, UINT64_MAX - 64);
	check(table, &plimp_nt_layout_32, 0x10000);
	for (uint32_t i = 0; i < 8; i++)
		(void)plimp_nt_state(i, (uint32_t)size);
	PROMISE(plimp_nt_wait_reason((uint32_t)size) != NULL);
	return 0;
}
