/*
 * csv_profile.c - the functions of a profile as CSV (RFC 4180): a header, then
 * a row for each, most self time first, with the error of both shares.
 */
#include "export/profiles.h"
#include "export/sink.h"
#include "core/buffer.h"

#include <assert.h>

static void profile_csv_text(struct plimp_sink *sink,
			     struct plimp_buffer *buffer, plim_bytes text)
{
	plimp_export_csv_text(sink, buffer, text);
	plimp_sink_put(sink, ",", 1);
}

static void profile_csv_row(struct plimp_sink *sink,
			    struct plimp_buffer *buffer,
			    const plim_profile *profile,
			    const plim_fold_function *row)
{
	const plim_profile_function *function =
	    plim_profile_function_at(profile, row->function);
	const plim_profile_module *module =
	    function->module != PLIM_NO_INDEX
		? plim_profile_module_at(profile, function->module)
		: NULL;

	profile_csv_text(sink, buffer, function->name);
	profile_csv_text(sink, buffer,
			 module != NULL ? module->path : (plim_bytes){"", 0});
	profile_csv_text(sink, buffer, function->file);
	if (function->line > 0)
		plimp_sink_whole(sink, function->line);
	plimp_sink_put(sink, ",", 1);
	plimp_sink_whole(sink, row->self_ns);
	plimp_sink_put(sink, ",", 1);
	plimp_sink_whole(sink, row->total_ns);
	plimp_sink_put(sink, ",", 1);
	plimp_sink_whole(sink, row->self_samples);
	plimp_sink_put(sink, ",", 1);
	plimp_sink_whole(sink, row->total_samples);
	plimp_export_csv_number(sink, row->self_share);
	plimp_export_csv_number(sink, row->self_error);
	plimp_export_csv_number(sink, row->total_share);
	plimp_export_csv_number(sink, row->total_error);
	plimp_sink_put(sink, "\r\n", 2);
}

int plim_csv_profile(const plim_profile *profile,
		     const plim_profile_export *how, plim_write_fn *write,
		     void *user, plim_error *error)
{
	plim_profile_export options;
	struct plimp_buffer buffer;
	struct plimp_sink sink;
	plim_fold *fold = NULL;
	int code;

	assert(profile != NULL && write != NULL);
	code = plimp_export_read(how, &options, "csv", error);
	if (code == PLIM_OK)
		code = plimp_export_fold(profile, &options, 0, &fold, error);
	if (code != PLIM_OK)
		return code;
	plimp_buffer_init(&buffer, options.allocator);
	plimp_sink_init(&sink, write, user);
	plimp_sink_string(&sink,
			  "name,module,file,line,self_ns,total_ns,self_samples,"
			  "total_samples,self_share,self_error,total_share,"
			  "total_error\r\n");
	for (size_t i = 0; i < plim_fold_function_count(fold); i++)
		profile_csv_row(&sink, &buffer, profile,
				plim_fold_function_at(fold, i));
	plim_fold_free(fold);
	code = plimp_sink_flush(&sink);
	if (buffer.failed != PLIM_OK)
		code = buffer.failed;
	plimp_buffer_release(&buffer);
	return plimp_export_end(code, sink.system, "csv", error);
}
