/*
 * csv_memory.c - the timeline of a process's memory as CSV (RFC 4180): a
 * header of names, then a row for each sample. A missing figure is empty; why
 * it is missing is told by JSON.
 */
#include "export/sink.h"

#include <plimsoll/memory.h>

#include <assert.h>

int plim_csv_memory(const plim_memory *memory, plim_write_fn *write, void *user)
{
	const uint64_t first = plim_memory_stamp(memory, 0).monotonic.ns;
	struct plimp_sink sink;
	const char *name;

	assert(memory != NULL && write != NULL);
	plimp_sink_init(&sink, write, user);
	plimp_sink_string(&sink, "at_ns,boot_ns");
	for (int k = 1; (name = plim_memory_name(k)) != NULL; k++) {
		plimp_sink_put(&sink, ",", 1);
		plimp_sink_string(&sink, name);
	}
	plimp_sink_put(&sink, "\r\n", 2);
	for (size_t i = 0; i < plim_memory_samples(memory); i++) {
		plim_stamp stamp = plim_memory_stamp(memory, i);

		plimp_sink_whole(&sink, stamp.monotonic.ns - first);
		plimp_sink_put(&sink, ",", 1);
		plimp_sink_whole(&sink, stamp.boottime.ns);
		for (int k = 1; plim_memory_name(k) != NULL; k++) {
			plim_count figure = plim_memory_at(memory, i, k);

			plimp_sink_put(&sink, ",", 1);
			if (figure.state == PLIM_STATE_KNOWN)
				plimp_sink_whole(&sink, figure.value);
		}
		plimp_sink_put(&sink, "\r\n", 2);
	}
	return plimp_sink_flush(&sink);
}
