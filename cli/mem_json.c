/*
 * mem_json.c - what plim mem has found out, as JSON. The objects are the
 * library's; here is their order, and what stands in place of those that are
 * missing: null, and why.
 */
#include "mem.h"

#include "branch.h"

#include <string.h>

static void mem_json_text(plim_json *json, const char *key, const char *text)
{
	if (text[0] == '\0')
		plim_json_null(json, key);
	else
		plim_json_string(json, key, text);
}

/* How the last walk that succeeded went. */
static void mem_json_walk(plim_json *json, const struct mem_view *view)
{
	plim_heaps_facts facts = plim_heaps_about(view->heaps);
	const int core = facts.source == PLIM_HEAPS_CORE;
	plim_cost cost = plim_heaps_cost(view->heaps);

	plim_json_object(json, "walk");
	plim_json_string(json, "of", core ? "core" : "process");
	plim_json_boolean(json, "has_residency", facts.has_residency);
	plim_json_whole(json, "page_bytes", facts.page_bytes);
	plim_json_whole(json, "machine", (uint64_t)facts.machine);
	if (!core)
		plim_json_whole(json, "boot_ns", facts.stamp.boottime.ns);
	json_count_figure(json, "wall_ns", facts.wall_ns);
	json_count_figure(json, "mappings", facts.mappings);
	json_count_figure(json, "memory_read_bytes", facts.memory_read_bytes);
	json_count_figure(json, "pages_asked", facts.pages_asked);
	json_count_figure(json, "longest_call_ns", facts.longest_call_ns);
	mem_json_text(json, "longest_call", facts.longest_call);
	if (core) {
		plim_json_whole(json, "pid", (uint64_t)facts.pid);
		mem_json_text(json, "process", facts.process);
		plim_json_boolean(json, "is_cut", facts.is_cut);
		json_count_figure(json, "held_bytes", facts.held_bytes);
		json_count_figure(json, "left_out_bytes", facts.left_out_bytes);
	}
	plim_json_cost(json, "cost", &cost);
	plim_json_end(json);
}

static void mem_json_list(plim_json *json, const char *key,
			  const plim_heaps *heaps)
{
	size_t i;

	plim_json_array(json, key);
	for (i = 0; i < plim_heaps_count(heaps); i++)
		plim_json_heap(json, NULL, plim_heaps_at(heaps, i));
	plim_json_end(json);
}

static void mem_json_heaps(plim_json *json, const struct mem_view *view)
{
	if (view->walked) {
		mem_json_list(json, "allocators", view->heaps);
		mem_json_walk(json, view);
	} else {
		plim_json_null(json, "allocators");
		plim_json_null(json, "walk");
	}
	if (view->walked_before)
		mem_json_list(json, "allocators_before", view->before);
	if (view->walk_failed)
		plim_json_error(json, "walk_error", &view->walk_error);
	plim_json_retention(json, "verdict", &view->retention);
}

static void mem_json_tree(plim_json *json, const struct mem_view *view)
{
	static const int fields[] = {PLIM_FIELD_ANONYMOUS,
				     PLIM_FIELD_PRIVATE_DIRTY, PLIM_FIELD_PSS,
				     PLIM_FIELD_RESIDENT, PLIM_FIELD_SWAP};
	struct column column = {.field = NULL};
	size_t i;

	if (view->tree == NULL || view->tree_failed) {
		plim_json_null(json, "tree");
		if (view->tree_failed)
			plim_json_error(json, "tree_error", &view->tree_error);
		return;
	}
	plim_json_object(json, "tree");
	plim_json_whole(json, "members", plim_tree_size(view->tree));
	plim_json_object(json, "sums");
	for (i = 0; i < sizeof fields / sizeof fields[0]; i++) {
		column.field = plim_field_get(fields[i]);
		json_sum(json, column.field->name,
			 plim_tree_sum(view->tree, fields[i]), &column, 0);
	}
	plim_json_end(json);
	plim_json_end(json);
}

static void mem_json_process(plim_json *json, const struct mem_view *view)
{
	const plim_process *process = plim_usage_process(view->usage);
	const plim_mappings *mappings = plim_memory_mappings(view->memory);
	const plim_field_set who = mem_fields();
	int how = plim_memory_ended(view->memory).how;

	plim_json_process(json, "process", process, NULL, &who);
	plim_json_memory_members(json, view->memory);
	if (mappings != NULL)
		plim_json_mappings(json, "mappings", mappings);
	else
		plim_json_null(json, "mappings");
	if (view->options->tree)
		mem_json_tree(json, view);
	if (how == PLIM_MEMORY_END_ALIVE)
		return;
	plim_json_array(json, "events");
	json_event(json, plim_memory_end_word(how), process, NULL);
	plim_json_end(json);
}

int mem_json(const struct mem_view *view)
{
	plim_json *json = json_begin(view->options, view->host, 0);

	if (json == NULL)
		return fail_memory();
	if (view->target != NULL)
		mem_json_process(json, view);
	mem_json_heaps(json, view);
	return json_finish(json, view->host);
}
