/*
 * decode_nt_memory.c - the counters of a process's memory, and times.
 *
 * PROCESS_MEMORY_COUNTERS grew twice (_EX: PrivateUsage, _EX2: private working
 * set and shared commit). A system that knows less than was asked for may
 * succeed all the same, fill what it knows and say so in `cb` alone, and leave
 * what was in the buffer behind that: so a member counts if it ends at or
 * below the size that the call wrote.
 */
#include "host/windows/bytes.h"
#include "host/windows/decode.h"

struct memory_row {
	uint32_t part;
	uint8_t index; /* of the words behind cb and the faults */
};

static void memory_store(struct plimp_nt_memory *memory, uint32_t part,
			 uint64_t value)
{
	memory->has |= part;
	switch (part) {
	case PLIMP_NT_PEAK_RESIDENT:
		memory->peak_resident = value;
		break;
	case PLIMP_NT_RESIDENT:
		memory->resident = value;
		break;
	case PLIMP_NT_PAGEFILE:
		memory->pagefile = value;
		break;
	case PLIMP_NT_PRIVATE:
		memory->private_bytes = value;
		break;
	case PLIMP_NT_PRIVATE_RESIDENT:
		memory->private_resident = value;
		break;
	default:
		memory->shared_commit = value;
		break;
	}
}

int plimp_decode_nt_memory(plim_bytes bytes, unsigned word,
			   struct plimp_nt_memory *memory)
{
	/* Between them stand four quotas; the last member, which _EX2 has in
	 * 64 bits always, lies behind the private working set. */
	static const struct memory_row rows[] = {
	    {PLIMP_NT_PEAK_RESIDENT, 0},    {PLIMP_NT_RESIDENT, 1},
	    {PLIMP_NT_PAGEFILE, 6},	    {PLIMP_NT_PRIVATE, 8},
	    {PLIMP_NT_PRIVATE_RESIDENT, 9},
	};
	struct plimp_nt_memory found = {.has = 0};
	uint64_t filled;
	size_t i;

	if (bytes.size < 4 || (word != 4 && word != 8))
		return PLIM_EMALFORMED;
	filled = plimp_nt_u32(bytes, 0);
	if (filled < bytes.size)
		bytes.size = (size_t)filled;
	if (bytes.size < 8)
		return PLIM_EMALFORMED;
	found.has = PLIMP_NT_FAULTS;
	found.faults = plimp_nt_u32(bytes, 4);
	for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		size_t at = 8 + (size_t)rows[i].index * word;

		if (at + word <= bytes.size)
			memory_store(&found, rows[i].part,
				     plimp_nt_number(bytes, at, word));
	}
	if (8 + (size_t)10 * word + 8 <= bytes.size)
		memory_store(&found, PLIMP_NT_SHARED_COMMIT,
			     plimp_nt_u64(bytes, 8 + (size_t)10 * word));
	*memory = found;
	return PLIM_OK;
}

int plimp_nt_unix_ms(uint64_t filetime, uint64_t *ms)
{
	const uint64_t unix_epoch = UINT64_C(116444736000000000);

	if (filetime < unix_epoch)
		return -1;
	*ms = (filetime - unix_epoch) / 10000;
	return 0;
}

uint64_t plimp_nt_ns(uint64_t units)
{
	return units > UINT64_MAX / 100 ? UINT64_MAX : units * 100;
}
