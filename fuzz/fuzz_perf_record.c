/*
 * fuzz_perf_record.c - any bytes as a record of a perf ring: the walk over
 * the sizes always goes on, what is told stands in the bytes, and a failure
 * stores nothing.
 */
#include "host/linux/decode.h"
#include "promise.h"

#include <string.h>

static int is_same(const struct plimp_perf_record *a,
		   const struct plimp_perf_record *b)
{
	return a->type == b->type && a->size == b->size && a->pid == b->pid &&
	       a->tid == b->tid && a->ppid == b->ppid && a->ptid == b->ptid &&
	       a->time_ns == b->time_ns && a->lost == b->lost;
}

static int decode(plim_bytes bytes, struct plimp_perf_record *record)
{
	struct plimp_perf_record poison = {.type = 77, .size = 77, .lost = 77};
	int result;

	*record = poison;
	result = plimp_decode_perf_record(bytes, record);
	PROMISE(result == PLIM_OK || result == PLIM_EMALFORMED);
	if (result != PLIM_OK)
		PROMISE(is_same(record, &poison));
	return result == PLIM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plim_bytes bytes = {.data = (const char *)data, .size = size};
	struct plimp_perf_record record, again;
	int32_t pid;

	while (decode(bytes, &record)) {
		PROMISE(record.size >= 8 && record.size % 8 == 0);
		if (record.type == PLIMP_PERF_FORK ||
		    record.type == PLIMP_PERF_EXIT) {
			PROMISE(record.size >= PLIMP_PERF_RECORD_SIZE);
			memcpy(&pid, bytes.data + 8, sizeof(pid));
			PROMISE(pid == record.pid && record.lost == 0);
		} else {
			PROMISE(record.pid == 0 && record.tid == 0 &&
				record.time_ns == 0);
		}
		if (record.type == PLIMP_PERF_OTHER)
			PROMISE(record.lost == 0);
		/* What lies behind the known parts changes nothing. */
		if (bytes.size > PLIMP_PERF_RECORD_SIZE) {
			plim_bytes begin = {bytes.data, PLIMP_PERF_RECORD_SIZE};

			PROMISE(decode(begin, &again));
			PROMISE(is_same(&record, &again));
		}
		if (record.size >= bytes.size)
			break;
		bytes.data += record.size;
		bytes.size -= record.size;
	}
	return 0;
}
