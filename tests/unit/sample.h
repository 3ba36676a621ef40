/*
 * sample.h - what the tests of filters and writers share: records made by
 * hand, a writer that collects, and an allocator that fails on demand.
 */
#ifndef PLIMT_SAMPLE_H
#define PLIMT_SAMPLE_H

#include <plimsoll.h>

#include "core/record.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLE_SECOND UINT64_C(1000000000)

static inline plim_bytes sample_bytes(const char *text)
{
	plim_bytes bytes = {text, strlen(text)};

	return bytes;
}

static inline void sample_known(plim_process *record, int field, uint64_t value,
				int method)
{
	plimp_record_set(record, field, plim_count_known(value, method));
}

/* Process 4242, "worker", sleeping, whose figures stand on several methods;
 * disk bytes are refused, wake-ups are a lower bound. */
static inline void sample_record(plim_process *record)
{
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_identity identity = {0};

	identity.pid = 4242;
	identity.has = PLIM_IDENTITY_START;
	identity.start_ticks = 777;
	memset(record, 0, sizeof(*record));
	plimp_record_clear(record, &all);
	plimp_record_identity(record, &identity);
	plimp_record_name(record, sample_bytes("worker"));
	record->state = 'S';
	sample_known(record, PLIM_FIELD_STATE, 0, PLIM_METHOD_STAT);
	sample_known(record, PLIM_FIELD_CPU, 2 * SAMPLE_SECOND,
		     PLIM_METHOD_PROCESS_CPU_CLOCK);
	sample_known(record, PLIM_FIELD_RESIDENT, UINT64_C(100) << 20,
		     PLIM_METHOD_STATM);
	sample_known(record, PLIM_FIELD_THREADS, 3, PLIM_METHOD_STAT);
	plimp_record_set(record, PLIM_FIELD_WAKEUPS,
			 plim_count_bounded(500, PLIM_METHOD_THREAD_SUM,
					    PLIM_BOUND_AT_LEAST));
	plimp_record_set(record, PLIM_FIELD_DISK_READ,
			 plim_count_missing(PLIM_REASON_NOT_PERMITTED, 13));
	record->stamp.monotonic.ns = 10 * SAMPLE_SECOND;
	record->stamp.boottime.ns = 10 * SAMPLE_SECOND;
}

/* The same process two seconds earlier: half a second of CPU less (25 %), one
 * of the faults and of the writes that the later one is given here. */
static inline void sample_pair(plim_process *earlier, plim_process *later)
{
	sample_record(earlier);
	sample_record(later);
	sample_known(later, PLIM_FIELD_CPU, 5 * SAMPLE_SECOND / 2,
		     PLIM_METHOD_PROCESS_CPU_CLOCK);
	sample_known(earlier, PLIM_FIELD_FAULTS_MINOR, 100, PLIM_METHOD_STAT);
	sample_known(later, PLIM_FIELD_FAULTS_MINOR, 101, PLIM_METHOD_STAT);
	sample_known(earlier, PLIM_FIELD_DISK_WRITE, 0,
		     PLIM_METHOD_IO_WITH_CHILDREN);
	sample_known(later, PLIM_FIELD_DISK_WRITE, 2 << 20,
		     PLIM_METHOD_IO_WITH_CHILDREN);
	later->stamp.monotonic.ns += 2 * SAMPLE_SECOND;
	later->stamp.boottime.ns += 2 * SAMPLE_SECOND;
}

static inline plim_field_set sample_fields(const char *list)
{
	plim_field_set set = {{0}};

	if (plim_field_set_parse(&set, list, NULL) != PLIM_OK)
		abort();
	return set;
}

/* A writer's callback; it fails with `fail_with` at the call `fail_at`. */
struct sample_output {
	char text[65536];
	size_t size;
	int calls;
	int fail_at; /* 0: never */
	int fail_with;
};

static inline int sample_write(const char *data, size_t size, void *user)
{
	struct sample_output *output = user;

	if (++output->calls == output->fail_at)
		return output->fail_with;
	if (size >= sizeof(output->text) - output->size)
		abort();
	memcpy(output->text + output->size, data, size);
	output->size += size;
	output->text[output->size] = '\0';
	return 0;
}

/* Fails the allocation number `fail_at`, counted from 1, and keeps the
 * balance of what is held. */
struct sample_memory {
	long calls;
	long fail_at; /* 0: never */
	size_t held;
};

static inline void *sample_resize(void *memory, size_t old_size,
				  size_t new_size, void *user)
{
	struct sample_memory *state = user;
	void *grown;

	if (new_size == 0) {
		free(memory);
		state->held -= old_size;
		return NULL;
	}
	if (++state->calls == state->fail_at)
		return NULL;
	grown = realloc(memory, new_size);
	if (grown == NULL)
		abort();
	state->held += new_size - old_size;
	return grown;
}

static inline plim_allocator sample_allocator(struct sample_memory *state)
{
	plim_allocator allocator = {sample_resize, state};

	return allocator;
}

#endif
