/*
 * csv_diff.c - what changed between two profiles as CSV (RFC 4180): a header,
 * then a row for each function. A figure that is not there is empty.
 */
#include "export/profiles.h"
#include "export/sink.h"
#include "core/buffer.h"

#include <assert.h>

/* What was computed, and not only divided, is told as far as it is the same on
 * every machine. */
static void csv_diff_fixed(struct plimp_sink *sink, double number)
{
	char text[320];

	plim_fixed_format(number, 6, text, sizeof text);
	plimp_sink_put(sink, ",", 1);
	plimp_sink_string(sink, text);
}

static void csv_diff_real(struct plimp_sink *sink, plim_real real)
{
	if (real.state == PLIM_STATE_KNOWN)
		csv_diff_fixed(sink, real.value);
	else
		plimp_sink_put(sink, ",", 1);
}

static void csv_diff_whole(struct plimp_sink *sink, uint64_t number)
{
	plimp_sink_put(sink, ",", 1);
	plimp_sink_whole(sink, number);
}

static void csv_diff_row(struct plimp_sink *sink, struct plimp_buffer *buffer,
			 const plim_diff_function *row)
{
	plimp_sink_string(sink, plim_diff_verdict_word(row->verdict));
	plimp_sink_put(sink, ",", 1);
	plimp_sink_string(sink, plim_diff_of_word(row->of));
	plimp_sink_put(sink, ",", 1);
	plimp_export_csv_text(sink, buffer, row->name);
	plimp_sink_put(sink, ",", 1);
	plimp_export_csv_text(sink, buffer, row->module);
	csv_diff_real(sink, row->change);
	csv_diff_real(sink, row->change_error);
	csv_diff_real(sink, row->detectable);
	for (int side = 0; side < 2; side++) {
		csv_diff_whole(sink, row->self[side]);
		csv_diff_whole(sink, row->total[side]);
		csv_diff_whole(sink, row->self_samples[side]);
		csv_diff_whole(sink, row->total_samples[side]);
		plimp_export_csv_number(sink, row->self_share[side]);
		plimp_export_csv_number(sink, row->total_share[side]);
	}
	csv_diff_whole(sink, (uint64_t)row->is_open);
	/* Of one that was judged. */
	if (row->verdict == PLIM_DIFF_CHANGED ||
	    row->detectable.state == PLIM_STATE_KNOWN)
		csv_diff_fixed(sink, row->z);
	else
		plimp_sink_put(sink, ",", 1);
	plimp_sink_put(sink, "\r\n", 2);
}

int plim_csv_diff(const plim_diff *diff, const plim_allocator *allocator,
		  plim_write_fn *write, void *user, plim_error *error)
{
	struct plimp_buffer buffer;
	struct plimp_sink sink;
	int code;

	assert(diff != NULL && write != NULL);
	plimp_buffer_init(&buffer, allocator);
	plimp_sink_init(&sink, write, user);
	plimp_sink_string(
	    &sink, "verdict,of,name,module,change,change_error,detectable,"
		   "before_self,before_total,before_self_samples,"
		   "before_total_samples,before_self_share,before_total_share,"
		   "after_self,after_total,after_self_samples,"
		   "after_total_samples,after_self_share,after_total_share,"
		   "open,z\r\n");
	for (size_t i = 0; i < plim_diff_function_count(diff); i++)
		csv_diff_row(&sink, &buffer, plim_diff_function_at(diff, i));
	code = plimp_sink_flush(&sink);
	if (buffer.failed != PLIM_OK)
		code = buffer.failed;
	plimp_buffer_release(&buffer);
	return plimp_export_end(code, sink.system, "csv", error);
}
