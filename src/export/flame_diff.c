/*
 * flame_diff.c - what changed between two profiles, as the page of a flame
 * graph: flame.c's page with a script more (flame/diff.js), that colours by the
 * verdicts.
 *
 * Its data have the shape that the page knows: rows of weights on a tree of
 * functions. The two sides stand where a profile has its activities, so that
 * the page is as wide as either. Functions are those of the comparison, in its
 * order; what it says of them is the JSON of plim_json_diff().
 */
#include "export/flame_parts.h"
#include "export/json_writer.h"
#include "export/profiles.h"
#include "export/stack_tree.h"

#include <assert.h>
#include <string.h>

struct flame_diff {
	const plim_diff *diff;
	const plim_bytes *names;
	plim_json *json;
	struct plimp_buffer text;
	struct plimp_stack_tree tree;
	struct plimp_sink sink;
	int failed;
};

static plim_bytes flame_diff_name(const struct flame_diff *page, int side)
{
	static const char *const words[] = {"before", "after"};

	if (page->names != NULL && page->names[side].size > 0)
		return page->names[side];
	return (plim_bytes){words[side], strlen(words[side])};
}

/* Columns, as of a profile; each function has its own module. */
static void flame_diff_functions(struct flame_diff *page)
{
	const size_t count = plim_diff_function_count(page->diff);
	plim_json *json = page->json;

	plim_json_array(json, "modules");
	for (size_t i = 0; i < count; i++)
		plimp_export_text(json, &page->text, NULL,
				  plim_diff_function_at(page->diff, i)->module);
	plim_json_end(json);
	plim_json_object(json, "functions");
	plim_json_array(json, "name");
	for (size_t i = 0; i < count; i++)
		plimp_export_text(json, &page->text, NULL,
				  plim_diff_function_at(page->diff, i)->name);
	plim_json_end(json);
	plim_json_array(json, "module");
	for (size_t i = 0; i < count; i++)
		plim_json_whole(json, NULL, i);
	plim_json_end(json);
	plim_json_end(json);
}

static uint32_t flame_diff_leaf(struct flame_diff *page,
				const plim_diff_stack *stack)
{
	uint32_t node = PLIMP_NO_NODE;

	for (size_t i = stack->function_count;
	     i-- > 0 && page->failed == PLIM_OK;)
		page->failed = plimp_stack_tree_add(&page->tree, node,
						    stack->functions[i], &node);
	return node;
}

enum flame_diff_column {
	FLAME_DIFF_NODE,
	FLAME_DIFF_THREAD,
	FLAME_DIFF_SIDE,
	FLAME_DIFF_WEIGHT,
	FLAME_DIFF_SAMPLES
};

static void flame_diff_column(struct flame_diff *page, const char *key,
			      enum flame_diff_column column)
{
	plim_json_array(page->json, key);
	for (size_t i = 0; i < plim_diff_stack_count(page->diff); i++) {
		const plim_diff_stack stack = plim_diff_stack_at(page->diff, i);
		const uint64_t cells[] = {
		    column == FLAME_DIFF_NODE ? flame_diff_leaf(page, &stack)
					      : 0,
		    0, (uint64_t)stack.side + 1, stack.weight, stack.samples};

		plim_json_whole(page->json, NULL, cells[column]);
	}
	plim_json_end(page->json);
}

static void flame_diff_rows(struct flame_diff *page)
{
	plim_json *json = page->json;

	plim_json_object(json, "rows");
	flame_diff_column(page, "node", FLAME_DIFF_NODE);
	flame_diff_column(page, "thread", FLAME_DIFF_THREAD);
	flame_diff_column(page, "activity", FLAME_DIFF_SIDE);
	flame_diff_column(page, "weight_ns", FLAME_DIFF_WEIGHT);
	flame_diff_column(page, "samples", FLAME_DIFF_SAMPLES);
	plim_json_end(json);
	plim_json_object(json, "nodes");
	plim_json_array(json, "parent");
	for (size_t i = 0; i < page->tree.count; i++) {
		const uint32_t parent = page->tree.nodes[i].parent;

		plim_json_number(json, NULL,
				 parent == PLIMP_NO_NODE ? -1 : (double)parent);
	}
	plim_json_end(json);
	plim_json_array(json, "function");
	for (size_t i = 0; i < page->tree.count; i++)
		plim_json_whole(json, NULL, page->tree.nodes[i].item);
	plim_json_end(json);
	plim_json_end(json);
}

static int flame_diff_data(struct flame_diff *page)
{
	plim_json *json = page->json;
	char generator[64] = "plimsoll ";

	strncat(generator, plim_version(), 32);
	plim_json_object(json, NULL);
	plim_json_string(json, "generator", generator);
	plim_json_string(json, "view", "after");
	plim_json_array(json, "names");
	for (int side = 0; side < 2; side++)
		plimp_export_text(json, &page->text, NULL,
				  flame_diff_name(page, side));
	plim_json_end(json);
	plim_json_array(json, "threads");
	plim_json_object(json, NULL);
	plim_json_string(json, "name", "all");
	plim_json_whole(json, "tid", 0);
	plim_json_whole(json, "program", 0);
	plim_json_end(json);
	plim_json_end(json);
	plim_json_array(json, "programs");
	plim_json_end(json);
	flame_diff_functions(page);
	flame_diff_rows(page);
	plim_json_diff(json, "diff", page->diff);
	if (page->failed != PLIM_OK)
		return page->failed;
	plim_json_end(json);
	return PLIM_OK;
}

static int flame_diff_page(struct flame_diff *page, plim_error *error)
{
	int code;

	plimp_sink_string(&page->sink, plimp_flame_begin);
	plimp_flame_text(&page->sink, &page->text, flame_diff_name(page, 0));
	plimp_sink_string(&page->sink, " and ");
	plimp_flame_text(&page->sink, &page->text, flame_diff_name(page, 1));
	plimp_sink_string(&page->sink, ": what changed");
	plimp_sink_string(&page->sink, plimp_flame_middle);
	code = flame_diff_data(page);
	if (code != PLIM_OK)
		return plimp_export_end(code, 0, "flame", error);
	code = plimp_export_finish(page->json, &page->text, "flame", error);
	if (code != PLIM_OK)
		return code;
	plimp_sink_string(&page->sink, plimp_flame_script);
	plimp_sink_string(&page->sink, plimp_flame_diff);
	plimp_sink_string(&page->sink, plimp_flame_end);
	code = plimp_sink_flush(&page->sink);
	return plimp_export_end(code, page->sink.system, "flame", error);
}

int plim_flame_diff(const plim_diff *diff, const plim_bytes *names,
		    const plim_allocator *allocator, plim_write_fn *write,
		    void *user, plim_error *error)
{
	struct flame_diff page = {.diff = diff, .names = names};
	int code;

	assert(diff != NULL && write != NULL);
	plimp_buffer_init(&page.text, allocator);
	plimp_stack_tree_begin(&page.tree, allocator);
	plimp_sink_init(&page.sink, write, user);
	code = plim_json_new(&page.json, plimp_flame_write, &page.sink, 0,
			     allocator, error);
	if (code == PLIM_OK)
		code = flame_diff_page(&page, error);
	plim_json_free(page.json);
	plimp_stack_tree_release(&page.tree);
	plimp_buffer_release(&page.text);
	return code;
}
