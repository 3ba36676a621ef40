/*
 * flame.c - a profile as one page of HTML that draws itself: a flame graph of
 * all views and threads, with tables and with what it cost.
 *
 * The page is written by hand in flame/ and made into strings by
 * tools/gen-flame; here its two holes are filled. Its data are JSON between
 * two tags: the rows of the one folding, over a tree in which stacks that
 * begin the same are the same nodes. No byte of a process can end that
 * element, since every `<` is written as an escape, and the page's own policy
 * forbids it to load anything.
 */
#include "export/flame_parts.h"
#include "export/flame_page.h"
#include "export/json_writer.h"
#include "export/profiles.h"
#include "export/stack_tree.h"
#include "core/fail.h"

#include <assert.h>
#include <string.h>

#define FLAME_VIEWS 3 /* enum plim_view, from 1 */

struct flame {
	const plim_profile *profile;
	plim_profile_export options;
	plim_fold *fold; /* of all time */
	plim_json *json;
	struct plimp_buffer text;
	struct plimp_stack_tree tree;
	struct plimp_sink sink;
	int failed;
};

/* Only texts of JSON have a `<`, and there this is the same. */
int plimp_flame_write(const char *data, size_t size, void *user)
{
	struct plimp_sink *sink = user;

	while (size > 0) {
		const char *mark = memchr(data, '<', size);
		const size_t part = mark != NULL ? (size_t)(mark - data) : size;

		plimp_sink_put(sink, data, part);
		if (mark == NULL)
			break;
		plimp_sink_string(sink, "\\u003c");
		data += part + 1;
		size -= part + 1;
	}
	return sink->failed == PLIM_OK ? 0 : sink->system;
}

/* -1 where there is none. */
static void flame_index(struct flame *flame, uint32_t index)
{
	if (index == PLIM_NO_INDEX)
		plim_json_number(flame->json, NULL, -1);
	else
		plim_json_whole(flame->json, NULL, index);
}

/* --- who ------------------------------------------------------------------ */

static void flame_programs(struct flame *flame)
{
	const plim_profile *profile = flame->profile;
	plim_json *json = flame->json;

	plim_json_array(json, "programs");
	for (size_t i = 0; i < plim_profile_process_count(profile); i++) {
		const plim_profile_process *process =
		    plim_profile_process_at(profile, i);

		plim_json_object(json, NULL);
		plimp_export_text(json, &flame->text, "name", process->name);
		plim_json_whole(json, "pid", (uint64_t)process->pid);
		plim_json_end(json);
	}
	plim_json_end(json);
	plim_json_array(json, "threads");
	for (size_t i = 0; i < plim_profile_thread_count(profile); i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(profile, i);

		plim_json_object(json, NULL);
		plimp_export_text(json, &flame->text, "name", thread->name);
		plim_json_whole(json, "tid", (uint64_t)thread->tid);
		plim_json_whole(json, "program", thread->process);
		plim_json_end(json);
	}
	plim_json_end(json);
}

/* Columns, since there are many rows. */
static void flame_functions(struct flame *flame)
{
	const plim_profile *profile = flame->profile;
	const size_t count = plim_profile_function_count(profile);
	plim_json *json = flame->json;

	plim_json_array(json, "modules");
	for (size_t i = 0; i < plim_profile_module_count(profile); i++)
		plimp_export_text(json, &flame->text, NULL,
				  plim_profile_module_at(profile, i)->path);
	plim_json_end(json);
	plim_json_object(json, "functions");
	plim_json_array(json, "name");
	for (size_t i = 0; i < count; i++)
		plimp_export_text(json, &flame->text, NULL,
				  plim_profile_function_at(profile, i)->name);
	plim_json_end(json);
	plim_json_array(json, "module");
	for (size_t i = 0; i < count; i++)
		flame_index(flame,
			    plim_profile_function_at(profile, i)->module);
	plim_json_end(json);
	plim_json_array(json, "file");
	for (size_t i = 0; i < count; i++)
		plimp_export_text(json, &flame->text, NULL,
				  plim_profile_function_at(profile, i)->file);
	plim_json_end(json);
	plim_json_array(json, "line");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL,
				plim_profile_function_at(profile, i)->line);
	plim_json_end(json);
	plim_json_end(json);
}

/* --- how much ------------------------------------------------------------- */

static void flame_error_rows(struct flame *flame, const plim_fold *fold)
{
	const size_t count = plim_fold_function_count(fold);
	plim_json *json = flame->json;

	plim_json_array(json, "function");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL,
				plim_fold_function_at(fold, i)->function);
	plim_json_end(json);
	plim_json_array(json, "self");
	for (size_t i = 0; i < count; i++)
		plim_json_number(json, NULL,
				 plim_fold_function_at(fold, i)->self_error);
	plim_json_end(json);
	plim_json_array(json, "total");
	for (size_t i = 0; i < count; i++)
		plim_json_number(json, NULL,
				 plim_fold_function_at(fold, i)->total_error);
	plim_json_end(json);
}

/* Of the shares in each view, which the page cannot make of its rows. */
static int flame_errors(struct flame *flame)
{
	plim_json_object(flame->json, "errors");
	for (int view = 1; view <= FLAME_VIEWS; view++) {
		plim_profile_export of_view = flame->options;
		plim_fold *fold = NULL;
		int code;

		of_view.view = view;
		code =
		    plimp_export_fold(flame->profile, &of_view, 0, &fold, NULL);
		if (code != PLIM_OK)
			return code;
		plim_json_object(flame->json, plim_view_word(view));
		flame_error_rows(flame, fold);
		plim_json_end(flame->json);
		plim_fold_free(fold);
	}
	plim_json_end(flame->json);
	return PLIM_OK;
}

/* The node on which a row lies. */
static uint32_t flame_leaf(struct flame *flame, const plim_fold_row *row)
{
	uint32_t node = PLIMP_NO_NODE;

	for (size_t i = 0; i < row->item_count && flame->failed == PLIM_OK; i++)
		flame->failed = plimp_stack_tree_add(&flame->tree, node,
						     row->items[i], &node);
	return node;
}

static void flame_rows(struct flame *flame)
{
	const size_t count = plim_fold_row_count(flame->fold);
	plim_json *json = flame->json;

	plim_json_object(json, "rows");
	plim_json_array(json, "node");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(
		    json, NULL,
		    flame_leaf(flame, plim_fold_row_at(flame->fold, i)));
	plim_json_end(json);
	plim_json_array(json, "thread");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL,
				plim_fold_row_at(flame->fold, i)->thread);
	plim_json_end(json);
	plim_json_array(json, "activity");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(
		    json, NULL,
		    (uint64_t)plim_fold_row_at(flame->fold, i)->activity);
	plim_json_end(json);
	plim_json_array(json, "weight_ns");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL,
				plim_fold_row_at(flame->fold, i)->weight_ns);
	plim_json_end(json);
	plim_json_array(json, "samples");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL,
				plim_fold_row_at(flame->fold, i)->samples);
	plim_json_end(json);
	plim_json_end(json);
}

static void flame_nodes(struct flame *flame)
{
	plim_json *json = flame->json;

	plim_json_object(json, "nodes");
	plim_json_array(json, "parent");
	for (size_t i = 0; i < flame->tree.count; i++)
		flame_index(flame, flame->tree.nodes[i].parent);
	plim_json_end(json);
	plim_json_array(json, "function");
	for (size_t i = 0; i < flame->tree.count; i++)
		plim_json_whole(json, NULL, flame->tree.nodes[i].item);
	plim_json_end(json);
	plim_json_end(json);
}

/* --- all ------------------------------------------------------------------ */

static void flame_figure(plim_json *json, const char *name, int unit,
			 const char *text)
{
	plim_json_object(json, NULL);
	plim_json_string(json, "name", name);
	plim_json_string(json, "unit", plim_unit_word(unit));
	plim_json_string(json, "text", text);
	plim_json_end(json);
}

static void flame_figures(plim_json *json)
{
	const char *name;

	plim_json_array(json, "figures");
	for (int k = 1; (name = plim_profile_metric_name(k)) != NULL; k++)
		flame_figure(json, name, plim_profile_metric_unit(k),
			     plim_profile_metric_text(k));
	for (int k = 1; (name = plim_profile_ratio_name(k)) != NULL; k++)
		flame_figure(json, name, PLIM_UNIT_NONE,
			     plim_profile_ratio_text(k));
	plim_json_end(json);
}

static int flame_data(struct flame *flame)
{
	const plim_profile_facts facts = plim_profile_about(flame->profile);
	plim_json *json = flame->json;
	char generator[64] = "plimsoll ";

	strncat(generator, plim_version(), 32);
	plim_json_object(json, NULL);
	plim_json_string(json, "generator", generator);
	plimp_export_text(json, &flame->text, "title", facts.name);
	plim_json_string(json, "view", plim_view_word(flame->options.view));
	plimp_json_profile_self(json, flame->profile, flame->options.view);
	flame_figures(json);
	flame_programs(flame);
	flame_functions(flame);
	flame_rows(flame);
	flame_nodes(flame);
	if (flame->failed == PLIM_OK)
		flame->failed = flame_errors(flame);
	if (flame->failed != PLIM_OK)
		return flame->failed;
	plim_json_end(json);
	return PLIM_OK;
}

void plimp_flame_text(struct plimp_sink *sink, struct plimp_buffer *text,
		      plim_bytes value)
{
	plim_bytes rest;

	plimp_buffer_escaped(text, PLIM_ESCAPE_TERMINAL, value);
	rest = (plim_bytes){text->size > 0 ? text->data : "", text->size};
	for (size_t i = 0; i < rest.size; i++) {
		switch (rest.data[i]) {
		case '<':
			plimp_sink_string(sink, "&lt;");
			break;
		case '&':
			plimp_sink_string(sink, "&amp;");
			break;
		default:
			plimp_sink_put(sink, rest.data + i, 1);
		}
	}
	text->size = 0; /* a failure is kept */
}

static void flame_title(struct flame *flame)
{
	const plim_profile_facts facts = plim_profile_about(flame->profile);

	plimp_flame_text(&flame->sink, &flame->text, facts.name);
	plimp_sink_string(&flame->sink, " ");
	plimp_sink_whole(&flame->sink, (uint64_t)facts.target.pid);
	plimp_sink_string(&flame->sink, ": where its time goes");
}

static int flame_page(struct flame *flame, plim_error *error)
{
	int code;

	plimp_sink_string(&flame->sink, plimp_flame_begin);
	flame_title(flame);
	plimp_sink_string(&flame->sink, plimp_flame_middle);
	code = flame_data(flame);
	if (code != PLIM_OK)
		return plimp_export_end(code, 0, "flame", error);
	code = plimp_export_finish(flame->json, &flame->text, "flame", error);
	if (code != PLIM_OK)
		return code;
	plimp_sink_string(&flame->sink, plimp_flame_script);
	plimp_sink_string(&flame->sink, plimp_flame_end);
	code = plimp_sink_flush(&flame->sink);
	return plimp_export_end(code, flame->sink.system, "flame", error);
}

int plim_flame_profile(const plim_profile *profile,
		       const plim_profile_export *how, plim_write_fn *write,
		       void *user, plim_error *error)
{
	struct flame flame = {.profile = profile};
	plim_profile_export all;
	int code;

	assert(profile != NULL && write != NULL);
	code = plimp_export_read(how, &flame.options, "flame", error);
	if (code != PLIM_OK)
		return code;
	plimp_buffer_init(&flame.text, flame.options.allocator);
	plimp_stack_tree_begin(&flame.tree, flame.options.allocator);
	plimp_sink_init(&flame.sink, write, user);
	all = flame.options;
	all.view = PLIM_VIEW_WALL;
	code = plimp_export_fold(profile, &all,
				 PLIM_FOLD_THREADS | PLIM_FOLD_ACTIVITIES,
				 &flame.fold, error);
	if (code == PLIM_OK)
		code =
		    plim_json_new(&flame.json, plimp_flame_write, &flame.sink,
				  0, flame.options.allocator, error);
	if (code == PLIM_OK)
		code = flame_page(&flame, error);
	plim_json_free(flame.json);
	plim_fold_free(flame.fold);
	plimp_stack_tree_release(&flame.tree);
	plimp_buffer_release(&flame.text);
	return code;
}
