/*
 * profiles.c - what the writers of profiles share, and collapsed stacks, the
 * plainest of them: a row of the folding is a line.
 */
#include "export/profiles.h"
#include "export/sink.h"
#include "core/fail.h"
#include "core/text.h"

#include <assert.h>
#include <string.h>

int plimp_export_read(const plim_profile_export *how,
		      plim_profile_export *options, const char *operation,
		      plim_error *error)
{
	memset(options, 0, sizeof *options);
	if (how != NULL) {
		if (how->size == 0)
			return plimp_fail(error, PLIM_EINVAL, 0, operation, "",
					  "the size of the options is 0");
		memcpy(options, how,
		       how->size < sizeof *options ? how->size
						   : sizeof *options);
	}
	options->size = sizeof *options;
	if (options->view == 0)
		options->view = PLIM_VIEW_CPU;
	if (plim_view_word(options->view) == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, operation, "",
				  "there is no such view");
	return PLIM_OK;
}

int plimp_export_fold(const plim_profile *profile,
		      const plim_profile_export *options, uint32_t flags,
		      plim_fold **fold, plim_error *error)
{
	const uint32_t inlines = (options->flags & PLIM_EXPORT_NO_INLINES) != 0
				     ? 0
				     : (uint32_t)PLIM_FOLD_INLINES;
	const plim_fold_options fold_options = {.size = sizeof fold_options,
						.view = options->view,
						.flags = flags | inlines};

	return plim_profile_fold(profile, &fold_options, fold, error);
}

int plimp_export_end(int code, int system, const char *operation,
		     plim_error *error)
{
	if (code != PLIM_OK)
		plimp_fail(error, code, system, operation, "", NULL);
	return code;
}

plim_bytes plimp_export_module_name(const plim_profile *profile,
				    uint32_t module)
{
	const plim_profile_module *found =
	    module != PLIM_NO_INDEX ? plim_profile_module_at(profile, module)
				    : NULL;
	plim_bytes name = {"", 0};

	if (found == NULL)
		return name;
	name = plim_base_name(found->path);
	return name.size > 0 ? name : found->path;
}

/* --- names in JSON -------------------------------------------------------- */

/* What is in the room becomes a value. */
static void export_put(plim_json *json, struct plimp_buffer *text,
		       const char *key)
{
	plim_json_text(json, key,
		       text->size > 0 ? (plim_bytes){text->data, text->size}
				      : (plim_bytes){"", 0});
	text->size = 0; /* a failure is kept */
}

void plimp_export_text(plim_json *json, struct plimp_buffer *text,
		       const char *key, plim_bytes value)
{
	plimp_buffer_escaped(text, PLIM_ESCAPE_TERMINAL, value);
	export_put(json, text, key);
}

static void export_number(struct plimp_buffer *text, int32_t number)
{
	char digits[PLIMP_DIGITS];

	plimp_buffer_append(
	    text, digits,
	    plimp_digits(number > 0 ? (uint64_t)number : 0, digits));
}

void plimp_export_thread_name(plim_json *json, struct plimp_buffer *text,
			      const char *key,
			      const plim_profile_thread *thread)
{
	plimp_buffer_escaped(text, PLIM_ESCAPE_TERMINAL, thread->name);
	plimp_buffer_string(text, thread->name.size > 0 ? " " : "");
	export_number(text, thread->tid);
	export_put(json, text, key);
}

void plimp_export_title(plim_json *json, struct plimp_buffer *text,
			const char *key, const plim_profile *profile, int view)
{
	const plim_profile_facts facts = plim_profile_about(profile);

	plimp_buffer_escaped(text, PLIM_ESCAPE_TERMINAL, facts.name);
	plimp_buffer_string(text, " ");
	export_number(text, facts.target.pid);
	plimp_buffer_string(text, ", ");
	plimp_buffer_string(text, plim_view_text(view));
	export_put(json, text, key);
}

int plimp_export_finish(plim_json *json, const struct plimp_buffer *text,
			const char *operation, plim_error *error)
{
	if (text->failed != PLIM_OK)
		return plimp_export_end(text->failed, 0, operation, error);
	return plim_json_finish(json, error);
}

/* --- fields of CSV -------------------------------------------------------- */

void plimp_export_csv_text(struct plimp_sink *sink, struct plimp_buffer *text,
			   plim_bytes value)
{
	text->size = 0; /* a failure is kept */
	plimp_buffer_escaped(text, PLIM_ESCAPE_CSV, value);
	if (text->size > 0)
		plimp_sink_put(sink, text->data, text->size);
}

void plimp_export_csv_number(struct plimp_sink *sink, double number)
{
	char text[64];

	plim_number_format(number, text, sizeof text);
	plimp_sink_put(sink, ",", 1);
	plimp_sink_string(sink, text);
}

/* --- collapsed stacks ----------------------------------------------------- */

/* Escaped as for a terminal, which leaves no newline, and without what parts
 * the names of a line. */
static void collapsed_name(struct plimp_sink *sink, plim_bytes name)
{
	while (name.size > 0) {
		const char *mark = memchr(name.data, ';', name.size);
		const size_t size =
		    mark != NULL ? (size_t)(mark - name.data) : name.size;

		plimp_sink_escaped(sink, PLIM_ESCAPE_TERMINAL,
				   (plim_bytes){name.data, size});
		if (mark == NULL)
			return;
		plimp_sink_put(sink, ":", 1);
		name.data += size + 1;
		name.size -= size + 1;
	}
}

static void collapsed_row(struct plimp_sink *sink, const plim_profile *profile,
			  const plim_fold *fold, const plim_fold_row *row)
{
	const plim_profile_thread *thread =
	    plim_profile_thread_at(profile, row->thread);

	assert(thread != NULL);
	collapsed_name(sink, thread->name);
	for (size_t i = 0; i < row->item_count; i++) {
		plimp_sink_put(sink, ";", 1);
		collapsed_name(sink, plim_fold_item_name(fold, row->items[i]));
	}
	plimp_sink_put(sink, " ", 1);
	plimp_sink_whole(sink, row->weight_ns);
	plimp_sink_put(sink, "\n", 1);
}

int plim_collapsed_profile(const plim_profile *profile,
			   const plim_profile_export *how, plim_write_fn *write,
			   void *user, plim_error *error)
{
	plim_profile_export options;
	struct plimp_sink sink;
	plim_fold *fold = NULL;
	int code;

	assert(profile != NULL && write != NULL);
	code = plimp_export_read(how, &options, "collapsed", error);
	if (code == PLIM_OK)
		code = plimp_export_fold(profile, &options, PLIM_FOLD_THREADS,
					 &fold, error);
	if (code != PLIM_OK)
		return code;
	plimp_sink_init(&sink, write, user);
	for (size_t i = 0; i < plim_fold_row_count(fold); i++) {
		const plim_fold_row *row = plim_fold_row_at(fold, i);

		if (row->weight_ns > 0)
			collapsed_row(&sink, profile, fold, row);
	}
	plim_fold_free(fold);
	code = plimp_sink_flush(&sink);
	return plimp_export_end(code, sink.system, "collapsed", error);
}
