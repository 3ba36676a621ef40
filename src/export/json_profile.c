/*
 * json_profile.c - a profile as members of the documented schema. Everything
 * is told once and by index: functions and frames are those of the profile's
 * own tables, so that an index is a place in an array of the same object. The
 * stacks are the fold of all time by addresses; each has its activity, so that
 * any view can be made of them, and the functions have the shares that the
 * library makes of the same fold in each view.
 */
#include "export/json_writer.h"
#include "export/profiles.h"
#include "export/slices.h"
#include "core/memory.h"

#include <plimsoll/unwind.h>

#include <assert.h>
#include <string.h>

#define PROFILE_VIEWS 3 /* enum plim_view, from 1 */

/* What a function came to, by view; NULL: nothing. */
struct profile_shares {
	const plim_fold_function **rows; /* by function */
	plim_fold *fold;
};

/* Hexadecimal, because readers of JSON cut whole numbers at 2^53. */
static void profile_json_address(plim_json *json, const char *key,
				 uint64_t address)
{
	char text[2 + 16] = "0x";
	size_t size = 2;

	for (int shift = 60; shift >= 0; shift -= 4) {
		const unsigned digit = (unsigned)(address >> shift) & 15;

		if (digit != 0 || size > 2 || shift == 0)
			text[size++] = "0123456789abcdef"[digit];
	}
	plim_json_text(json, key, (plim_bytes){text, size});
}

/* Text, or null where there is none; and its bytes where they are no UTF-8. */
static void profile_json_text(plim_json *json, const char *key, plim_bytes text)
{
	const struct plimp_json_key bytes = plimp_json_key(key, "_bytes");

	if (text.size == 0) {
		plim_json_null(json, key);
		return;
	}
	plim_json_text(json, key, text);
	if (!plim_is_utf8(text))
		plimp_json_hex(json, bytes.text, text);
}

static void profile_json_index(plim_json *json, const char *key, uint32_t index)
{
	if (index == PLIM_NO_INDEX)
		plim_json_null(json, key);
	else
		plim_json_whole(json, key, index);
}

/* 0 stands for not known, not there, or not yet. */
static void profile_json_known(plim_json *json, const char *key,
			       uint64_t number)
{
	if (number == 0)
		plim_json_null(json, key);
	else
		plim_json_whole(json, key, number);
}

/* --- what it was ---------------------------------------------------------- */

static void profile_json_clamps(plim_json *json, uint32_t clamped)
{
	static const struct {
		uint32_t bit;
		const char *word;
	} clamps[] = {{PLIM_CLAMPED_HZ, "hz"},
		      {PLIM_CLAMPED_DURATION, "duration"},
		      {PLIM_CLAMPED_STACK, "stack"},
		      {PLIM_CLAMPED_MEMORY, "memory"},
		      {PLIM_CLAMPED_CEILING, "ceiling"}};

	plim_json_array(json, "clamped");
	for (size_t i = 0; i < sizeof clamps / sizeof clamps[0]; i++)
		if ((clamped & clamps[i].bit) != 0)
			plim_json_string(json, NULL, clamps[i].word);
	plim_json_end(json);
}

static void profile_json_tiers(plim_json *json, const plim_profile *profile)
{
	plim_json_array(json, "tiers");
	for (size_t i = 0; i < plim_profile_tier_count(profile); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(profile, i);
		struct plimp_json_list list = {.count = 0};

		plim_json_object(json, NULL);
		plim_json_string(json, "name", tier->word);
		plim_json_boolean(json, "used", tier->used);
		plim_json_string(json, "text", tier->text);
		plim_json_string(json, "remedy",
				 tier->remedy != NULL && tier->remedy[0] != '\0'
				     ? tier->remedy
				     : NULL);
		plimp_json_list_add(&list, "works", tier->works);
		plimp_json_list_write(json, &list, 1);
		plim_json_end(json);
	}
	plim_json_end(json);
	plim_json_array(json, "lacks");
	for (size_t i = 0; i < plim_profile_lack_count(profile); i++)
		plim_json_string(json, NULL, plim_profile_lack(profile, i));
	plim_json_end(json);
}

static void profile_json_facts(plim_json *json, const plim_profile *profile,
			       int view)
{
	const plim_profile_facts facts = plim_profile_about(profile);
	char identity[128];

	plim_identity_format(&facts.target, identity, sizeof identity);
	plim_json_object(json, "profile");
	plim_json_whole(json, "pid", (uint64_t)facts.target.pid);
	plim_json_string(json, "identity", identity);
	profile_json_text(json, "name", facts.name);
	plim_json_string(json, "view", plim_view_word(view));
	plim_json_whole(json, "start_unix_ns", facts.start_unix_ns);
	plim_json_whole(json, "start_ns", facts.start_ns);
	plim_json_whole(json, "duration_ns", facts.duration_ns);
	plim_json_whole(json, "duration_effective_ns",
			facts.duration_effective_ns);
	plim_json_whole(json, "hz_effective", facts.hz_effective);
	plim_json_whole(json, "period_ns", facts.period_ns);
	plim_json_whole(json, "jitter_ns", facts.jitter_ns);
	plim_json_whole(json, "stack_bytes", facts.stack_bytes);
	plim_json_whole(json, "memory_bytes", facts.memory_bytes);
	plim_json_string(json, "end", plim_profile_end_word(facts.end));
	plim_json_boolean(json, "tree", (facts.flags & PLIM_PROFILE_TREE) != 0);
	plim_json_boolean(json, "resolved", facts.is_resolved);
	plim_json_boolean(json, "kernel_seen", facts.kernel_seen);
	if (facts.is_budget)
		plim_json_number(json, "budget_percent", facts.budget_percent);
	else
		plim_json_null(json, "budget_percent");
	profile_json_known(json, "budget_pause_ns", facts.budget_pause_ns);
	profile_json_clamps(json, facts.clamped);
	profile_json_tiers(json, profile);
	plim_json_end(json);
}

static void profile_json_metrics(plim_json *json, const plim_profile *profile)
{
	const char *name;

	plim_json_object(json, "metrics");
	for (int k = 1; (name = plim_profile_metric_name(k)) != NULL; k++)
		plimp_json_count(json, name, plim_profile_metric(profile, k));
	for (int k = 1; (name = plim_profile_ratio_name(k)) != NULL; k++)
		plimp_json_real(json, name, plim_profile_ratio(profile, k));
	for (int side = PLIMP_JSON_UNAVAILABLE; side <= PLIMP_JSON_BOUND;
	     side++) {
		plim_json_object(json, plimp_json_side_names[side]);
		for (int k = 1; (name = plim_profile_metric_name(k)) != NULL;
		     k++)
			plimp_json_side_entry(
			    json, (enum plimp_json_side)side, name,
			    plimp_json_note_count(
				plim_profile_metric(profile, k)));
		for (int k = 1; (name = plim_profile_ratio_name(k)) != NULL;
		     k++)
			plimp_json_side_entry(
			    json, (enum plimp_json_side)side, name,
			    plimp_json_note_real(
				plim_profile_ratio(profile, k)));
		plim_json_end(json);
	}
	plim_json_end(json);
}

void plimp_json_profile_self(plim_json *json, const plim_profile *profile,
			     int view)
{
	profile_json_facts(json, profile, view);
	profile_json_metrics(json, profile);
}

static void profile_json_times(plim_json *json, const char *key,
			       const plim_profile_times *times)
{
	plim_json_object(json, key);
	plim_json_whole(json, "wall_ns", times->wall_ns);
	plim_json_whole(json, "cpu_ns", times->cpu_ns);
	plim_json_whole(json, "waiting_ns", times->waiting_ns);
	plim_json_whole(json, "blocked_ns", times->blocked_ns);
	plim_json_whole(json, "cpu_sampled_ns", times->sampled_ns);
	plim_json_whole(json, "cpu_system_ns", times->system_ns);
	plim_json_whole(json, "cpu_unsampled_ns", times->unsampled_ns);
	plim_json_end(json);
}

static void profile_json_views(plim_json *json, const plim_profile *profile,
			       const struct profile_shares *shares)
{
	const plim_profile_times times = plim_profile_total(profile);

	plim_json_object(json, "views");
	for (int view = 1; view <= PROFILE_VIEWS; view++) {
		const plim_fold_total total =
		    plim_fold_about(shares[view - 1].fold);

		plim_json_object(json, plim_view_word(view));
		plim_json_whole(json, "weight_ns", total.weight_ns);
		plim_json_whole(json, "samples", total.samples);
		plim_json_whole(json, "incomplete_samples",
				total.incomplete_samples);
		plim_json_number(json, "effective_samples",
				 total.effective_samples);
		plim_json_end(json);
	}
	profile_json_times(json, "times", &times);
	plim_json_end(json);
}

/* --- who ------------------------------------------------------------------ */

static void profile_json_processes(plim_json *json, const plim_profile *profile)
{
	char identity[128];

	plim_json_array(json, "programs");
	for (size_t i = 0; i < plim_profile_process_count(profile); i++) {
		const plim_profile_process *process =
		    plim_profile_process_at(profile, i);

		plim_identity_format(&process->identity, identity,
				     sizeof identity);
		plim_json_object(json, NULL);
		plim_json_whole(json, "pid", (uint64_t)process->pid);
		plim_json_string(json, "identity", identity);
		profile_json_text(json, "name", process->name);
		profile_json_index(json, "parent", process->parent);
		profile_json_index(json, "previous", process->previous);
		profile_json_known(json, "since_ns", process->since_ns);
		profile_json_known(json, "until_ns", process->until_ns);
		plim_json_boolean(json, "has_modules", process->has_modules);
		plim_json_string(json, "why",
				 process->why == PLIM_OK
				     ? NULL
				     : plim_error_word(process->why));
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void profile_json_threads(plim_json *json, const plim_profile *profile)
{
	plim_json_array(json, "threads");
	for (size_t i = 0; i < plim_profile_thread_count(profile); i++) {
		const plim_profile_thread *thread =
		    plim_profile_thread_at(profile, i);

		plim_json_object(json, NULL);
		plim_json_whole(json, "tid", (uint64_t)thread->tid);
		profile_json_index(json, "program", thread->process);
		profile_json_text(json, "name", thread->name);
		profile_json_known(json, "start_ticks", thread->start_ticks);
		profile_json_known(json, "born_ns", thread->born_ns);
		profile_json_known(json, "ended_ns", thread->ended_ns);
		plim_json_whole(json, "samples", thread->samples);
		plim_json_whole(json, "blocked_samples",
				thread->blocked_samples);
		profile_json_times(json, "times", &thread->times);
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void profile_json_modules(plim_json *json, const plim_profile *profile)
{
	plim_json_array(json, "modules");
	for (size_t i = 0; i < plim_profile_module_count(profile); i++) {
		const plim_profile_module *module =
		    plim_profile_module_at(profile, i);

		plim_json_object(json, NULL);
		profile_json_index(json, "program", module->process);
		profile_json_text(json, "path", module->path);
		if (module->build_id.size > 0)
			plimp_json_hex(json, "build_id", module->build_id);
		else
			plim_json_null(json, "build_id");
		profile_json_address(json, "start", module->start);
		profile_json_address(json, "end", module->end);
		profile_json_address(json, "offset", module->offset);
		profile_json_address(json, "bias", module->bias);
		profile_json_known(json, "since_ns", module->since_ns);
		profile_json_known(json, "until_ns", module->until_ns);
		plim_json_boolean(json, "deleted", module->is_deleted != 0);
		plim_json_boolean(json, "replaced", module->is_replaced != 0);
		plim_json_boolean(json, "has_symbols",
				  module->has_symbols != 0);
		plim_json_boolean(json, "has_lines", module->has_lines != 0);
		plim_json_boolean(json, "has_inlines",
				  module->has_inlines != 0);
		plim_json_string(json, "why",
				 module->why == PLIM_OK
				     ? NULL
				     : plim_error_word(module->why));
		plim_json_end(json);
	}
	plim_json_end(json);
}

/* --- where ---------------------------------------------------------------- */

static void profile_json_share(plim_json *json, const char *key,
			       const plim_fold_function *row)
{
	if (row == NULL) {
		plim_json_null(json, key);
		return;
	}
	plim_json_object(json, key);
	plim_json_whole(json, "self_ns", row->self_ns);
	plim_json_whole(json, "total_ns", row->total_ns);
	plim_json_whole(json, "self_samples", row->self_samples);
	plim_json_whole(json, "total_samples", row->total_samples);
	plim_json_number(json, "self_share", row->self_share);
	plim_json_number(json, "self_error", row->self_error);
	plim_json_number(json, "total_share", row->total_share);
	plim_json_number(json, "total_error", row->total_error);
	plim_json_end(json);
}

static void profile_json_functions(plim_json *json, const plim_profile *profile,
				   const struct profile_shares *shares)
{
	plim_json_array(json, "functions");
	for (size_t i = 0; i < plim_profile_function_count(profile); i++) {
		const plim_profile_function *function =
		    plim_profile_function_at(profile, i);

		plim_json_object(json, NULL);
		profile_json_text(json, "name", function->name);
		profile_json_text(json, "linkage", function->linkage);
		profile_json_text(json, "file", function->file);
		profile_json_known(json, "line", function->line);
		profile_json_index(json, "module", function->module);
		plim_json_boolean(json, "special", function->special != 0);
		plim_json_boolean(json, "unnamed", function->is_unnamed != 0);
		for (int view = 1; view <= PROFILE_VIEWS; view++)
			profile_json_share(json, plim_view_word(view),
					   shares[view - 1].rows[i]);
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void profile_json_line(plim_json *json, const plim_profile_line *line)
{
	plim_json_object(json, NULL);
	plim_json_whole(json, "function", line->function);
	profile_json_text(json, "file", line->file);
	profile_json_known(json, "line", line->line);
	plim_json_boolean(json, "inlined", line->is_inlined != 0);
	plim_json_end(json);
}

/* Without inlined functions the last line is the one that has the code. */
static void profile_json_frames(plim_json *json, const plim_profile *profile,
				int inlines)
{
	plim_json_array(json, "frames");
	for (size_t i = 0; i < plim_profile_frame_count(profile); i++) {
		const plim_profile_frame *frame =
		    plim_profile_frame_at(profile, i);

		plim_json_object(json, NULL);
		profile_json_address(json, "address", frame->address);
		profile_json_index(json, "module", frame->module);
		plim_json_array(json, "lines");
		for (uint32_t k = inlines ? 0 : frame->line_count - 1;
		     k < frame->line_count; k++)
			profile_json_line(
			    json, plim_profile_line_at(profile,
						       frame->first_line + k));
		plim_json_end(json);
		plim_json_end(json);
	}
	plim_json_end(json);
}

/* Pairs in one array: the slice, and the time in it. */
static void profile_json_slices(plim_json *json,
				const struct plimp_slices *slices, size_t row)
{
	if (slices->first[row] == slices->first[row + 1])
		return;
	plim_json_array(json, "slices");
	for (size_t i = slices->first[row]; i < slices->first[row + 1]; i++) {
		plim_json_whole(json, NULL, slices->items[i].slice);
		plim_json_whole(json, NULL, slices->items[i].weight_ns);
	}
	plim_json_end(json);
}

static void profile_json_stacks(plim_json *json, const plim_fold *fold,
				const struct plimp_slices *slices)
{
	plim_json_array(json, "stacks");
	for (size_t i = 0; i < plim_fold_row_count(fold); i++) {
		const plim_fold_row *row = plim_fold_row_at(fold, i);

		plim_json_object(json, NULL);
		profile_json_index(json, "thread", row->thread);
		plim_json_string(json, "activity",
				 plim_activity_word(row->activity));
		plim_json_string(json, "end", plim_stack_end_word(row->end));
		plim_json_whole(json, "weight_ns", row->weight_ns);
		plim_json_whole(json, "samples", row->samples);
		profile_json_slices(json, slices, i);
		plim_json_array(json, "frames"); /* leaf first */
		for (size_t k = row->item_count; k > 0; k--)
			plim_json_whole(json, NULL, row->items[k - 1]);
		plim_json_end(json);
		plim_json_end(json);
	}
	plim_json_end(json);
}

/* --- all ------------------------------------------------------------------ */

static int profile_shares_make(struct profile_shares *shares,
			       const plim_profile *profile,
			       const plim_profile_export *options, int view)
{
	const size_t count = plim_profile_function_count(profile);
	plim_profile_export of_view = *options;
	int code;

	of_view.view = view;
	code = plimp_export_fold(profile, &of_view, 0, &shares->fold, NULL);
	if (code != PLIM_OK)
		return code;
	shares->rows =
	    plimp_allocate(options->allocator, count + 1, sizeof *shares->rows);
	if (shares->rows == NULL)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < plim_fold_function_count(shares->fold); i++) {
		const plim_fold_function *row =
		    plim_fold_function_at(shares->fold, i);

		assert(row->function < count);
		shares->rows[row->function] = row;
	}
	return PLIM_OK;
}

static void profile_json_all(plim_json *json, const plim_profile *profile,
			     const plim_profile_export *options,
			     const struct profile_shares *shares,
			     const plim_fold *stacks,
			     const struct plimp_slices *slices)
{
	plimp_json_profile_self(json, profile, options->view);
	profile_json_views(json, profile, shares);
	profile_json_processes(json, profile);
	profile_json_threads(json, profile);
	profile_json_modules(json, profile);
	profile_json_functions(json, profile, shares);
	profile_json_frames(json, profile,
			    (options->flags & PLIM_EXPORT_NO_INLINES) == 0);
	plim_json_whole(json, "slice_count", PLIMP_SLICES);
	profile_json_stacks(json, stacks, slices);
}

void plim_json_profile_members(plim_json *json, const plim_profile *profile,
			       const plim_profile_export *how)
{
	struct profile_shares shares[PROFILE_VIEWS] = {{NULL, NULL}};
	plim_profile_export options;
	plim_profile_export all;
	plim_fold *stacks = NULL;
	struct plimp_slices slices = {.items = NULL};
	int code;

	assert(json != NULL && profile != NULL);
	code = plimp_export_read(how, &options, "json", NULL);
	for (int view = 1; view <= PROFILE_VIEWS && code == PLIM_OK; view++)
		code = profile_shares_make(&shares[view - 1], profile, &options,
					   view);
	all = options;
	all.view = PLIM_VIEW_WALL;
	if (code == PLIM_OK)
		code =
		    plimp_export_fold(profile, &all,
				      PLIM_FOLD_ADDRESSES | PLIM_FOLD_THREADS |
					  PLIM_FOLD_ACTIVITIES | PLIM_FOLD_ENDS,
				      &stacks, NULL);
	if (code == PLIM_OK)
		code = plimp_slices_make(&slices, profile, stacks,
					 options.allocator);
	if (code == PLIM_OK)
		profile_json_all(json, profile, &options, shares, stacks,
				 &slices);
	else if (json->failed == PLIM_OK)
		json->failed = code;
	plimp_slices_release(&slices);
	plim_fold_free(stacks);
	for (int view = 0; view < PROFILE_VIEWS; view++) {
		plimp_release(options.allocator, shares[view].rows,
			      plim_profile_function_count(profile) + 1,
			      sizeof *shares[view].rows);
		plim_fold_free(shares[view].fold);
	}
}
