/*
 * json_memory.c - the samples of a process's memory as members of the
 * documented schema: the timeline, what each figure did over it, how the run
 * ended, and what it cost the target. Where a figure comes from is told once,
 * in `steady`, and not again in each of thousands of samples.
 */
#include "export/json_writer.h"

#include <plimsoll/memory.h>

#include <assert.h>

/* Nanoseconds of a stamp behind the first sample; a run has no time before. */
static uint64_t memory_since(const plim_memory *memory, plim_stamp stamp)
{
	uint64_t first = plim_memory_stamp(memory, 0).monotonic.ns;

	return stamp.monotonic.ns > first ? stamp.monotonic.ns - first : 0;
}

static void memory_sample(plim_json *json, const plim_memory *memory,
			  size_t index)
{
	plim_stamp stamp = plim_memory_stamp(memory, index);
	struct plimp_json_list list = {.count = 0};
	const char *name;

	plim_json_object(json, NULL);
	plim_json_whole(json, "at_ns", memory_since(memory, stamp));
	plim_json_whole(json, "boot_ns", stamp.boottime.ns);
	for (int k = 1; (name = plim_memory_name(k)) != NULL; k++)
		plimp_json_list_add(&list, name,
				    plim_memory_at(memory, index, k));
	plimp_json_list_write(json, &list, 0);
	plim_json_end(json);
}

static void memory_steady(plim_json *json, const plim_memory *memory,
			  int figure)
{
	plim_memory_steady steady = plim_memory_range(memory, figure);
	struct plimp_json_list list = {.count = 0};

	plim_json_object(json, plim_memory_name(figure));
	plimp_json_list_add(&list, "last", steady.last);
	plimp_json_list_add(&list, "min", steady.lowest);
	plimp_json_list_add(&list, "max", steady.highest);
	plimp_json_real(json, "slope", steady.slope);
	plim_json_string(json, "trend", plim_trend_word(steady.trend));
	plim_json_whole(json, "known", steady.known);
	plim_json_whole(json, "missing", steady.missing);
	if (steady.known > 0)
		plim_json_whole(json, "last_at_ns",
				memory_since(memory, steady.last_at));
	else
		plim_json_null(json, "last_at_ns");
	plimp_json_list_write(json, &list, 1);
	plim_json_end(json);
}

static void memory_ended(plim_json *json, const plim_memory *memory)
{
	plim_memory_end end = plim_memory_ended(memory);
	struct plimp_json_list list = {.count = 0};

	plim_json_object(json, "ended");
	plim_json_string(json, "how", plim_memory_end_word(end.how));
	if (end.how == PLIM_MEMORY_END_ALIVE) {
		plim_json_null(json, "seen_ns");
		plim_json_null(json, "last_alive_ns");
	} else {
		plim_json_whole(json, "seen_ns",
				memory_since(memory, end.seen));
		plim_json_whole(json, "last_alive_ns",
				memory_since(memory, end.last_alive));
	}
	plimp_json_list_add(&list, "exit_status", end.exit_status);
	plimp_json_list_write(json, &list, 1);
	plim_json_end(json);
}

static void memory_ledger(plim_json *json, const plim_memory *memory)
{
	plim_memory_cost ledger = plim_memory_ledger(memory);
	struct plimp_json_list list = {.count = 0};

	plim_json_object(json, "ledger");
	plim_json_whole(json, "stall_ns", ledger.stall_ns);
	if (ledger.longest_call != NULL && ledger.longest_call[0] != '\0')
		plim_json_string(json, "longest_call", ledger.longest_call);
	else
		plim_json_null(json, "longest_call");
	plim_json_whole(json, "walks", ledger.walks);
	plim_json_whole(json, "skipped", ledger.skipped);
	plim_json_whole(json, "rested", ledger.rested);
	plim_json_whole(json, "scans", ledger.scans);
	plimp_json_list_add(&list, "predicted_ns", ledger.predicted_ns);
	plimp_json_list_add(&list, "longest_call_ns", ledger.longest_call_ns);
	plimp_json_list_write(json, &list, 1);
	plim_json_cost(json, "cost", &ledger.cost);
	plim_json_end(json);
}

void plim_json_memory_members(plim_json *json, const plim_memory *memory)
{
	assert(memory != NULL);
	plim_json_whole(json, "samples_taken", plim_memory_taken(memory));
	plim_json_array(json, "samples");
	for (size_t i = 0; i < plim_memory_samples(memory); i++)
		memory_sample(json, memory, i);
	plim_json_end(json);
	plim_json_object(json, "steady");
	for (int k = 1; plim_memory_name(k) != NULL; k++)
		memory_steady(json, memory, k);
	plim_json_end(json);
	memory_ended(json, memory);
	memory_ledger(json, memory);
}
