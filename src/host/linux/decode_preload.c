/*
 * decode_preload.c - an entry of the memory that is shared with a preloaded
 * object, judged. It is a copy: the target may write to its own at any time.
 *
 * Who takes it asks whose the numbers of processes and threads are, and bounds
 * the times: none lies in the future.
 */
#include "host/linux/decode.h"
#include "core/preload_shared.h"

#include <assert.h>
#include <string.h>

static_assert(sizeof(struct plimp_preload_entry) <= PLIMP_PRELOAD_STACK,
	      "the stack follows the entry");
static_assert(sizeof(struct plimp_preload_head) <= PLIMP_PRELOAD_FIRST,
	      "the entries follow the head");

/* Of these registers all are to be known that a walk begins with. */
static uint64_t preload_mask(uint32_t machine)
{
	return machine == PLIMP_MACHINE_X86 ? UINT64_C(0x1ffff)
					    : UINT64_C(0x1ffffffff);
}

int plimp_decode_preload(uint32_t machine, plim_bytes bytes,
			 struct plimp_preload_told *told)
{
	struct plimp_preload_entry entry;
	int is_sample;

	if (bytes.size < sizeof entry)
		return PLIM_EMALFORMED;
	memcpy(&entry, bytes.data, sizeof entry);
	is_sample = entry.kind == PLIMP_PRELOAD_SAMPLE;
	if (entry.kind < PLIMP_PRELOAD_LOADED ||
	    entry.kind > PLIMP_PRELOAD_TAKEN || entry.pid <= 0 ||
	    entry.tid <= 0 || entry.parent < 0 ||
	    entry.stack_size > PLIMP_PRELOAD_STACK_MOST ||
	    (!is_sample && entry.stack_size != 0) ||
	    (is_sample && entry.registers.known != preload_mask(machine)))
		return PLIM_EMALFORMED;
	*told = (struct plimp_preload_told){
	    .kind = (int)entry.kind,
	    .pid = entry.pid,
	    .tid = entry.tid,
	    .parent = entry.parent,
	    .stack_size = entry.stack_size,
	    .time_ns = entry.time_ns,
	    .cpu_ns = entry.cpu_ns,
	    .spent_ns = entry.spent_ns,
	};
	if (is_sample)
		told->registers = entry.registers;
	return PLIM_OK;
}
