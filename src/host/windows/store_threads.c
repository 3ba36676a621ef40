/*
 * store_threads.c - the threads of one entry of the table.
 *
 * The switches of a thread are the times that it was put on a CPU: Windows
 * does not tell why it was off it. Their sum over the live threads dips when
 * one of them exits; it is a lower bound, and its change is made thread by
 * thread (core/rates.c), so that it is never negative.
 */
#include "host/windows/store.h"

const struct plimp_thread_ways plimp_windows_ways = {
    .start = {.state = PLIM_STATE_KNOWN, .method = PLIM_METHOD_THREAD_TABLE},
    .wakeups = {.state = PLIM_STATE_KNOWN, .method = PLIM_METHOD_THREAD_TABLE},
    .involuntary = {.state = PLIM_STATE_UNSUPPORTED,
		    .method = PLIM_REASON_HOST_NEVER},
    .switches_in = {.state = PLIM_STATE_KNOWN,
		    .method = PLIM_METHOD_THREAD_TABLE},
    .cpu = {.state = PLIM_STATE_KNOWN, .method = PLIM_METHOD_THREAD_TABLE},
    .cpu_ticks = {.state = PLIM_STATE_KNOWN,
		  .method = PLIM_METHOD_THREAD_TABLE},
    .runqueue = {.state = PLIM_STATE_UNSUPPORTED,
		 .method = PLIM_REASON_HOST_NEVER},
};

/* The switches of one thread: the table's counter has 32 bits. */
static void store_thread(const struct plimp_nt_entry *entry,
			 const struct plimp_nt_thread *from,
			 struct plimp_thread *to)
{
	*to = (struct plimp_thread){
	    .tid = (int32_t)from->tid,
	    .start_ticks = from->create_time,
	    .voluntary = from->switches,
	    .switches_in = from->switches,
	    .cpu_ns = plimp_nt_ns(from->user_time + from->kernel_time),
	    .has = PLIMP_THREAD_RUNQUEUE,
	};
	if (entry->lacks[PLIMP_NT_TABLE_SWITCHES] == 0)
		to->has |= PLIMP_THREAD_SWITCHES;
	if (from->create_time == 0)
		to->has |= PLIMP_THREAD_NO_START;
}

/* Appends all; the list stays sorted, and has none twice. */
static int store_append(const plim_allocator *allocator,
			const struct plimp_nt_entry *entry,
			struct plimp_thread_list *threads, uint64_t *switches)
{
	const size_t first = threads->count;
	struct plimp_nt_thread from;
	size_t kept;
	size_t i;

	if (entry->process.thread_count > PLIM_THREAD_LIMIT)
		return PLIM_ELIMIT;
	for (i = 0; plimp_decode_nt_thread(entry->process.threads,
					   entry->layout, i, &from) == PLIM_OK;
	     i++) {
		struct plimp_thread *to =
		    plimp_threads_slot(threads, allocator);

		if (to == NULL)
			return PLIM_ENOMEM;
		if (from.tid == 0 || from.tid > INT32_MAX)
			return PLIM_EMALFORMED;
		store_thread(entry, &from, to);
		threads->count++;
	}
	if (threads->count > first)
		plimp_threads_sort(threads->items + first,
				   threads->count - first);
	for (i = kept = first; i < threads->count; i++) {
		const struct plimp_thread *one = &threads->items[i];

		if (kept > first && threads->items[kept - 1].tid == one->tid &&
		    threads->items[kept - 1].start_ticks == one->start_ticks)
			continue;
		*switches += one->voluntary; /* 65,536 of 32 bits fit */
		threads->items[kept++] = *one;
	}
	threads->count = kept;
	return PLIM_OK;
}

static void store_switches(const struct plimp_nt_entry *entry,
			   const plim_field_set *fields, plim_process *record,
			   uint64_t switches)
{
	const uint16_t lacks = entry->lacks[PLIMP_NT_TABLE_SWITCHES];

	if (!plimp_set_has(fields, PLIM_FIELD_WAKEUPS))
		return;
	plimp_record_set(record, PLIM_FIELD_WAKEUPS,
			 lacks != 0 ? plim_count_missing(lacks, 0)
				    : plim_count_bounded(switches,
							 PLIM_METHOD_SWITCH_SUM,
							 PLIM_BOUND_AT_LEAST));
}

int plimp_nt_store_threads(const struct plimp_nt_entry *entry,
			   const plim_allocator *allocator,
			   const plim_field_set *fields, plim_process *record,
			   struct plimp_thread_list *threads)
{
	const uint16_t lacks = entry->lacks[PLIMP_NT_TABLE_SWITCHES];
	const size_t first = threads->count;
	struct plimp_threads *told = &record->threads;
	uint64_t switches = 0;
	int code;

	told->ways = &plimp_windows_ways;
	told->no_switches = plim_count_missing(
	    lacks != 0 ? lacks : PLIM_REASON_NOT_IN_TABLE, 0);
	told->no_times = plim_count_missing(PLIM_REASON_NOT_IN_TABLE, 0);
	/* It has threads, and its source tells of none. */
	if (entry->process.thread_count > 0 &&
	    entry->process.threads.size == 0) {
		if (plimp_set_has(fields, PLIM_FIELD_WAKEUPS))
			plimp_record_set(record, PLIM_FIELD_WAKEUPS,
					 told->no_switches);
		return PLIM_OK;
	}
	code = store_append(allocator, entry, threads, &switches);
	if (code != PLIM_OK)
		return code;
	told->count = threads->count - first;
	told->known = 1;
	store_switches(entry, fields, record, switches);
	return PLIM_OK;
}
