/*
 * decode_perf_record.c - one record of a perf ring.
 *
 * A record is struct perf_event_header of include/uapi/linux/perf_event.h (u32
 * type, u16 misc, u16 size), then what its type says, in the byte order of the
 * machine. FORK and EXIT are five parts of one form: pid, ppid, tid, ptid
 * (u32) and the time (u64); LOST is an id and a count (u64 both). Whatever
 * else a kernel may put into a ring is known by its size alone.
 */
#include "host/linux/decode.h"

#include <assert.h>
#include <string.h>

#define PERF_HEADER_SIZE 8
#define PERF_TYPE_LOST	 2u
#define PERF_TYPE_EXIT	 4u
#define PERF_TYPE_FORK	 7u
#define PERF_LOST_SIZE	 24
#define PERF_TASK_SIZE	 32

static int perf_type(uint32_t type, size_t *least)
{
	*least = PERF_HEADER_SIZE;
	switch (type) {
	case PERF_TYPE_LOST:
		*least = PERF_LOST_SIZE;
		return PLIMP_PERF_LOST;
	case PERF_TYPE_EXIT:
		*least = PERF_TASK_SIZE;
		return PLIMP_PERF_EXIT;
	case PERF_TYPE_FORK:
		*least = PERF_TASK_SIZE;
		return PLIMP_PERF_FORK;
	default:
		return PLIMP_PERF_OTHER;
	}
}

int plimp_decode_perf_record(plim_bytes bytes, struct plimp_perf_record *record)
{
	struct plimp_perf_record found = {.type = PLIMP_PERF_OTHER};
	uint32_t type;
	uint16_t size;
	size_t least;

	if (bytes.size < PERF_HEADER_SIZE)
		return PLIM_EMALFORMED;
	memcpy(&type, bytes.data, sizeof type);
	memcpy(&size, bytes.data + 6, sizeof size);
	found.type = perf_type(type, &least);
	if (size < least || size % 8 != 0 || bytes.size < least)
		return PLIM_EMALFORMED;
	assert(least <= PLIMP_PERF_RECORD_SIZE);
	found.size = size;
	if (found.type == PLIMP_PERF_LOST) {
		memcpy(&found.lost, bytes.data + 16, sizeof found.lost);
	} else if (found.type != PLIMP_PERF_OTHER) {
		memcpy(&found.pid, bytes.data + 8, sizeof found.pid);
		memcpy(&found.ppid, bytes.data + 12, sizeof found.ppid);
		memcpy(&found.tid, bytes.data + 16, sizeof found.tid);
		memcpy(&found.ptid, bytes.data + 20, sizeof found.ptid);
		memcpy(&found.time_ns, bytes.data + 24, sizeof found.time_ns);
	}
	*record = found;
	return PLIM_OK;
}
