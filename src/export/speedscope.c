/*
 * speedscope.c - a profile as a file of speedscope (jlfwong/speedscope:
 * src/lib/file-format-spec.ts): one sampled profile for each thread, its
 * stacks heaviest first, with nanoseconds of the view.
 *
 * Frames are the functions, told once. The format has no place for a library,
 * so that a function without a source file has its module's path instead of
 * one. What else a profile says of itself stands below `plimsoll`, and the
 * module of each frame as `module`: readers leave alone what they do not know.
 */
#include "export/by_thread.h"
#include "export/json_writer.h"
#include "export/profiles.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

struct speedscope {
	const plim_profile *profile;
	plim_profile_export options;
	plim_fold *fold;
	plim_json *json;
	struct plimp_buffer text;
	struct plimp_by_thread rows;
	uint32_t *frames;    /* of a function: 1 + its place, 0 none yet */
	uint32_t *functions; /* of a frame */
	uint32_t frame_count;
};

static size_t speedscope_thread_of(const void *user, size_t index)
{
	return plim_fold_row_at(user, index)->thread;
}

static int speedscope_prepare(struct speedscope *scope)
{
	const plim_allocator *allocator = scope->options.allocator;
	const size_t functions =
	    plim_profile_function_count(scope->profile) + 1;

	scope->frames =
	    plimp_allocate(allocator, functions, sizeof *scope->frames);
	scope->functions =
	    plimp_allocate(allocator, functions, sizeof *scope->functions);
	if (scope->frames == NULL || scope->functions == NULL)
		return PLIM_ENOMEM;
	return plimp_by_thread_make(&scope->rows, allocator,
				    plim_profile_thread_count(scope->profile),
				    plim_fold_row_count(scope->fold),
				    speedscope_thread_of, scope->fold);
}

static void speedscope_release(struct speedscope *scope)
{
	const plim_allocator *allocator = scope->options.allocator;
	const size_t functions =
	    plim_profile_function_count(scope->profile) + 1;

	plimp_release(allocator, scope->frames, functions,
		      sizeof *scope->frames);
	plimp_release(allocator, scope->functions, functions,
		      sizeof *scope->functions);
	plimp_by_thread_release(&scope->rows);
	plimp_buffer_release(&scope->text);
	plim_json_free(scope->json);
	plim_fold_free(scope->fold);
}

static uint32_t speedscope_frame(struct speedscope *scope, uint32_t function)
{
	if (scope->frames[function] == 0) {
		scope->functions[scope->frame_count] = function;
		scope->frames[function] = ++scope->frame_count;
	}
	return scope->frames[function] - 1;
}

/* --- threads -------------------------------------------------------------- */

static const plim_fold_row *speedscope_row(const struct speedscope *scope,
					   size_t place)
{
	return plim_fold_row_at(scope->fold, scope->rows.items[place]);
}

static uint64_t speedscope_weight(const struct speedscope *scope, size_t thread)
{
	uint64_t weight = 0;

	for (size_t i = scope->rows.begin[thread];
	     i < scope->rows.begin[thread + 1]; i++)
		weight += speedscope_row(scope, i)->weight_ns;
	return weight;
}

static void speedscope_stack(struct speedscope *scope, const plim_fold_row *row)
{
	plim_json_array(scope->json, NULL);
	for (size_t i = 0; i < row->item_count; i++)
		plim_json_whole(scope->json, NULL,
				speedscope_frame(scope, row->items[i]));
	plim_json_end(scope->json);
}

static void speedscope_thread(struct speedscope *scope, size_t index,
			      uint64_t weight)
{
	const plim_profile_thread *thread =
	    plim_profile_thread_at(scope->profile, index);
	const size_t begin = scope->rows.begin[index];
	const size_t end = scope->rows.begin[index + 1];
	plim_json *json = scope->json;

	plim_json_object(json, NULL);
	plim_json_string(json, "type", "sampled");
	plimp_export_thread_name(json, &scope->text, "name", thread);
	plim_json_string(json, "unit", "nanoseconds");
	plim_json_whole(json, "startValue", 0);
	plim_json_whole(json, "endValue", weight);
	plim_json_array(json, "samples");
	for (size_t i = begin; i < end; i++)
		if (speedscope_row(scope, i)->weight_ns > 0)
			speedscope_stack(scope, speedscope_row(scope, i));
	plim_json_end(json);
	plim_json_array(json, "weights");
	for (size_t i = begin; i < end; i++)
		if (speedscope_row(scope, i)->weight_ns > 0)
			plim_json_whole(json, NULL,
					speedscope_row(scope, i)->weight_ns);
	plim_json_end(json);
	plim_json_whole(json, "tid", (uint64_t)thread->tid);
	plim_json_end(json);
}

/* The thread that has most of the view is the one that is shown first. */
static void speedscope_threads(struct speedscope *scope)
{
	uint64_t most = 0;
	uint64_t active = 0;
	uint64_t place = 0;

	plim_json_array(scope->json, "profiles");
	for (size_t i = 0; i < scope->rows.thread_count; i++) {
		const uint64_t weight = speedscope_weight(scope, i);

		if (weight == 0)
			continue;
		speedscope_thread(scope, i, weight);
		if (weight > most) {
			most = weight;
			active = place;
		}
		place++;
	}
	plim_json_end(scope->json);
	plim_json_whole(scope->json, "activeProfileIndex", active);
}

/* --- the rest ------------------------------------------------------------- */

static void speedscope_frames(struct speedscope *scope)
{
	plim_json *json = scope->json;

	plim_json_object(json, "shared");
	plim_json_array(json, "frames");
	for (uint32_t i = 0; i < scope->frame_count; i++) {
		const plim_profile_function *function =
		    plim_profile_function_at(scope->profile,
					     scope->functions[i]);
		const plim_profile_module *module =
		    function->module != PLIM_NO_INDEX
			? plim_profile_module_at(scope->profile,
						 function->module)
			: NULL;
		plim_bytes file = function->file;

		if (file.size == 0 && module != NULL)
			file = module->path;
		plim_json_object(json, NULL);
		plimp_export_text(json, &scope->text, "name", function->name);
		if (file.size > 0)
			plimp_export_text(json, &scope->text, "file", file);
		if (function->file.size > 0 && function->line > 0)
			plim_json_whole(json, "line", function->line);
		if (module != NULL)
			plimp_export_text(json, &scope->text, "module",
					  module->path);
		plim_json_end(json);
	}
	plim_json_end(json);
	plim_json_end(json);
}

static void speedscope_all(struct speedscope *scope)
{
	plim_json *json = scope->json;
	char exporter[64] = "plimsoll ";

	strncat(exporter, plim_version(), 32);
	plim_json_object(json, NULL);
	plim_json_string(json, "$schema",
			 "https://www.speedscope.app/file-format-schema.json");
	plim_json_string(json, "exporter", exporter);
	plimp_export_title(json, &scope->text, "name", scope->profile,
			   scope->options.view);
	speedscope_threads(scope);
	speedscope_frames(scope);
	plim_json_object(json, "plimsoll");
	plimp_json_profile_self(json, scope->profile, scope->options.view);
	plim_json_end(json);
	plim_json_end(json);
}

int plim_speedscope_profile(const plim_profile *profile,
			    const plim_profile_export *how,
			    plim_write_fn *write, void *user, plim_error *error)
{
	struct speedscope scope = {.profile = profile};
	int code;

	assert(profile != NULL && write != NULL);
	code = plimp_export_read(how, &scope.options, "speedscope", error);
	if (code != PLIM_OK)
		return code;
	plimp_buffer_init(&scope.text, scope.options.allocator);
	code = plimp_export_fold(profile, &scope.options, PLIM_FOLD_THREADS,
				 &scope.fold, error);
	if (code == PLIM_OK)
		code = plim_json_new(&scope.json, write, user, 0,
				     scope.options.allocator, error);
	if (code == PLIM_OK && speedscope_prepare(&scope) != PLIM_OK)
		code = plimp_export_end(PLIM_ENOMEM, 0, "speedscope", error);
	if (code == PLIM_OK) {
		speedscope_all(&scope);
		code = plimp_export_finish(scope.json, &scope.text,
					   "speedscope", error);
	}
	speedscope_release(&scope);
	return code;
}
