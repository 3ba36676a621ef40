/*
 * decode_nt_table.c - SystemProcessInformation: every process, and behind each
 * its threads, in one answer.
 *
 * The entries are a chain: each begins with the distance to the next, the last
 * one with 0. Distances are positive, so the walk ends with the table. What
 * belongs to an entry lies before the next one; the name is a pointer into
 * the same buffer. The layout has been the same since Windows 7.
 */
#include "host/windows/bytes.h"
#include "host/windows/decode.h"

const struct plimp_nt_layout plimp_nt_layout_64 = {
    .word = 8,
    .private_resident = 0x8,
    .hard_faults = 0x10,
    .create_time = 0x20,
    .user_time = 0x28,
    .kernel_time = 0x30,
    .image_name = 0x38,
    .pid = 0x50,
    .parent = 0x58,
    .handles = 0x60,
    .session = 0x64,
    .faults = 0x80,
    .peak_resident = 0x88,
    .resident = 0x90,
    .commit = 0xc8,
    .io = 0xd0,
    .threads = 0x100,
    .thread_size = 0x50,
    .thread_start = 0x20,
    .thread_id = 0x30,
    .thread_switches = 0x40,
    .thread_state = 0x44,
};

const struct plimp_nt_layout plimp_nt_layout_32 = {
    .word = 4,
    .private_resident = 0x8,
    .hard_faults = 0x10,
    .create_time = 0x20,
    .user_time = 0x28,
    .kernel_time = 0x30,
    .image_name = 0x38,
    .pid = 0x44,
    .parent = 0x48,
    .handles = 0x4c,
    .session = 0x50,
    .faults = 0x60,
    .peak_resident = 0x64,
    .resident = 0x68,
    .commit = 0x84,
    .io = 0x88,
    .threads = 0xb8,
    .thread_size = 0x40,
    .thread_start = 0x1c,
    .thread_id = 0x24,
    .thread_switches = 0x30,
    .thread_state = 0x34,
};

int plimp_decode_nt_io(plim_bytes bytes, struct plimp_nt_io *io)
{
	if (bytes.size < PLIMP_NT_IO_SIZE)
		return PLIM_EMALFORMED;
	io->read_calls = plimp_nt_u64(bytes, 0);
	io->write_calls = plimp_nt_u64(bytes, 8);
	io->other_calls = plimp_nt_u64(bytes, 16);
	io->read_bytes = plimp_nt_u64(bytes, 24);
	io->write_bytes = plimp_nt_u64(bytes, 32);
	io->other_bytes = plimp_nt_u64(bytes, 40);
	return PLIM_OK;
}

/* The characters of a name lie anywhere in the table: behind their process's
 * threads, but nothing promises that. */
static int table_name(plim_bytes table, const struct plimp_nt_layout *layout,
		      uint64_t base, plim_bytes entry, plim_bytes *name)
{
	const plim_bytes header = {entry.data + layout->image_name,
				   entry.size - layout->image_name};
	struct plimp_nt_string string;
	uint64_t at;

	if (plimp_decode_nt_string(header, layout->word, &string) != PLIM_OK)
		return 0;
	*name = (plim_bytes){"", 0};
	if (string.size == 0)
		return 1;
	at = string.address - base;
	if (string.address < base || at > table.size ||
	    string.size > table.size - at)
		return 0;
	*name = (plim_bytes){table.data + at, string.size};
	return 1;
}

static void table_numbers(plim_bytes entry,
			  const struct plimp_nt_layout *layout,
			  struct plimp_nt_process *process)
{
	const unsigned word = layout->word;
	const plim_bytes io = {entry.data + layout->io, PLIMP_NT_IO_SIZE};

	process->pid = plimp_nt_number(entry, layout->pid, word);
	process->parent = plimp_nt_number(entry, layout->parent, word);
	process->create_time = plimp_nt_u64(entry, layout->create_time);
	process->user_time = plimp_nt_u64(entry, layout->user_time);
	process->kernel_time = plimp_nt_u64(entry, layout->kernel_time);
	process->private_resident =
	    plimp_nt_u64(entry, layout->private_resident);
	process->resident = plimp_nt_number(entry, layout->resident, word);
	process->peak_resident =
	    plimp_nt_number(entry, layout->peak_resident, word);
	process->commit = plimp_nt_number(entry, layout->commit, word);
	process->faults = plimp_nt_u32(entry, layout->faults);
	process->hard_faults = plimp_nt_u32(entry, layout->hard_faults);
	process->handles = plimp_nt_u32(entry, layout->handles);
	process->session = plimp_nt_u32(entry, layout->session);
	process->thread_count = plimp_nt_u32(entry, 4);
	(void)plimp_decode_nt_io(io, &process->io);
}

int plimp_decode_nt_process(plim_bytes table,
			    const struct plimp_nt_layout *layout, uint64_t base,
			    size_t *offset, struct plimp_nt_process *process)
{
	struct plimp_nt_process found;
	plim_bytes entry;
	size_t next;
	size_t room;

	if (*offset == table.size)
		return 0;
	if (*offset > table.size || table.size - *offset < layout->threads)
		return -1;
	entry.data = table.data + *offset;
	entry.size = table.size - *offset;
	next = plimp_nt_u32(entry, 0);
	if (next != 0 && (next < layout->threads || next >= entry.size))
		return -1;
	if (next != 0)
		entry.size = next;
	table_numbers(entry, layout, &found);
	room = (entry.size - layout->threads) / layout->thread_size;
	if (found.thread_count > room ||
	    !table_name(table, layout, base, entry, &found.name))
		return -1;
	found.threads.data = entry.data + layout->threads;
	found.threads.size = (size_t)found.thread_count * layout->thread_size;
	*process = found;
	*offset = next != 0 ? *offset + next : table.size;
	return 1;
}

int plimp_decode_nt_thread(plim_bytes threads,
			   const struct plimp_nt_layout *layout, size_t index,
			   struct plimp_nt_thread *thread)
{
	plim_bytes one;

	if (index >= threads.size / layout->thread_size)
		return PLIM_EMALFORMED;
	one.data = threads.data + index * layout->thread_size;
	one.size = layout->thread_size;
	thread->kernel_time = plimp_nt_u64(one, 0);
	thread->user_time = plimp_nt_u64(one, 8);
	thread->create_time = plimp_nt_u64(one, 16);
	thread->tid = plimp_nt_number(one, layout->thread_id, layout->word);
	thread->switches = plimp_nt_u32(one, layout->thread_switches);
	thread->state = plimp_nt_u32(one, layout->thread_state);
	thread->wait_reason =
	    plimp_nt_u32(one, (size_t)layout->thread_state + 4);
	return PLIM_OK;
}

/* KTHREAD_STATE in the order of wdm.h; 0 is one that has not begun. */
char plimp_nt_state(uint32_t state, uint32_t wait_reason)
{
	enum {
		READY = 1,
		RUNNING = 2,
		STANDBY = 3,
		TERMINATED = 4,
		WAITING = 5,
		TRANSITION = 6, /* its stack is paged out */
		DEFERRED_READY = 7
	};
	const uint32_t suspended = 5;	  /* Suspended */
	const uint32_t suspended_wr = 12; /* WrSuspended */

	switch (state) {
	case READY:
	case RUNNING:
	case STANDBY:
	case DEFERRED_READY:
		return 'R';
	case TERMINATED:
		return 'X';
	case WAITING:
		return wait_reason == suspended || wait_reason == suspended_wr
			   ? 'T'
			   : 'S';
	case TRANSITION:
		return 'D';
	default:
		return 0;
	}
}

/* KWAIT_REASON in the order of wdm.h. */
const char *plimp_nt_wait_reason(uint32_t reason)
{
	static const char *const names[] = {
	    "Executive",	"FreePage",	     "PageIn",
	    "PoolAllocation",	"DelayExecution",    "Suspended",
	    "UserRequest",	"WrExecutive",	     "WrFreePage",
	    "WrPageIn",		"WrPoolAllocation",  "WrDelayExecution",
	    "WrSuspended",	"WrUserRequest",     "WrEventPair",
	    "WrQueue",		"WrLpcReceive",	     "WrLpcReply",
	    "WrVirtualMemory",	"WrPageOut",	     "WrRendezvous",
	    "WrKeyedEvent",	"WrTerminated",	     "WrProcessInSwap",
	    "WrCpuRateControl", "WrCalloutStack",    "WrKernel",
	    "WrResource",	"WrPushLock",	     "WrMutex",
	    "WrQuantumEnd",	"WrDispatchInt",     "WrPreempted",
	    "WrYieldExecution", "WrFastMutex",	     "WrGuardedMutex",
	    "WrRundown",	"WrAlertByThreadId", "WrDeferredPreempt"};

	return reason < sizeof names / sizeof names[0] ? names[reason] : "";
}
