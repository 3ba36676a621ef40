/*
 * json_diff.c - what changed between two profiles, as a member of the
 * documented schema: both sides, the test, and a row for each function in the
 * order of the library.
 */
#include "export/json_writer.h"

#include <assert.h>

static const char *const json_diff_sides[] = {"before", "after"};

static void json_diff_side(plim_json *json, const char *key,
			   const plim_diff_side *side)
{
	plim_json_object(json, key);
	plim_json_whole(json, "profiles", side->profiles);
	plim_json_whole(json, "weight", side->weight);
	plim_json_whole(json, "left_out", side->left_out);
	plim_json_whole(json, "samples", side->samples);
	plim_json_number(json, "effective_samples", side->effective_samples);
	if (side->duration_ns > 0)
		plim_json_whole(json, "duration_ns", side->duration_ns);
	else
		plim_json_null(json, "duration_ns");
	plimp_json_real(json, "cpus", side->per_second);
	plim_json_end(json);
}

static void json_diff_text(plim_json *json, const char *key, plim_bytes text)
{
	if (text.size > 0)
		plim_json_text(json, key, text);
	else
		plim_json_null(json, key);
}

static void json_diff_row_side(plim_json *json, const plim_diff_function *row,
			       int side)
{
	plim_json_object(json, json_diff_sides[side]);
	plim_json_whole(json, "self", row->self[side]);
	plim_json_whole(json, "total", row->total[side]);
	plim_json_whole(json, "self_samples", row->self_samples[side]);
	plim_json_whole(json, "total_samples", row->total_samples[side]);
	plim_json_number(json, "self_share", row->self_share[side]);
	plim_json_number(json, "total_share", row->total_share[side]);
	plim_json_end(json);
}

static void json_diff_row(plim_json *json, const plim_diff_function *row)
{
	plim_json_object(json, NULL);
	json_diff_text(json, "name", row->name);
	json_diff_text(json, "module", row->module);
	plim_json_string(json, "verdict", plim_diff_verdict_word(row->verdict));
	plim_json_string(json, "of", plim_diff_of_word(row->of));
	plim_json_boolean(json, "open", row->is_open);
	plimp_json_real(json, "change", row->change);
	plimp_json_real(json, "change_error", row->change_error);
	plimp_json_real(json, "detectable", row->detectable);
	plim_json_number(json, "z", row->z);
	for (int side = 0; side < 2; side++)
		json_diff_row_side(json, row, side);
	plim_json_end(json);
}

void plim_json_diff(plim_json *json, const char *key, const plim_diff *diff)
{
	plim_diff_facts facts;

	assert(json != NULL && diff != NULL);
	facts = plim_diff_about(diff);
	plim_json_object(json, key);
	plim_json_string(json, "view", plim_view_word(facts.view));
	plim_json_text(json, "unit", facts.unit);
	for (int side = 0; side < 2; side++)
		json_diff_side(json, json_diff_sides[side], &facts.sides[side]);
	plim_json_number(json, "detect", facts.detect);
	plim_json_number(json, "level", facts.level);
	plim_json_number(json, "allowance", facts.allowance);
	plim_json_boolean(json, "allowance_seen", facts.is_allowance_seen);
	plimp_json_real(json, "scale", facts.scale);
	plim_json_whole(json, "tested_self", facts.tested[0]);
	plim_json_whole(json, "tested_total", facts.tested[1]);
	plim_json_whole(json, "changed", facts.changed);
	plim_json_whole(json, "same", facts.same);
	plim_json_whole(json, "not_enough_samples", facts.few);
	plim_json_array(json, "functions");
	for (size_t i = 0; i < plim_diff_function_count(diff); i++)
		json_diff_row(json, plim_diff_function_at(diff, i));
	plim_json_end(json);
	plim_json_end(json);
}
