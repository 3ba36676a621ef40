/*
 * test_allocation.c - memory runs out at every place where it can.
 *
 * Each public function that asks for memory is called with the first request
 * failing, then with the second, and so on until none fails any more; once
 * with that one request alone, once with all later ones too. Each time the
 * answer is PLIM_ENOMEM with its record, outputs and former contents are
 * untouched, nothing is leaked, the same call succeeds afterwards, and when
 * all is closed nothing is left. The table of these functions is held against
 * the symbol map, so that a new function cannot be forgotten.
 */
#include "allocation.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DUMP_SIZE (8u << 20)

static int world_setup(void **state)
{
	(void)state;
	site_world_begin();
	return 0;
}

static int world_teardown(void **state)
{
	(void)state;
	site_world_end();
	return 0;
}

static void site_begin(struct site *site, const struct entry *entry)
{
	memset(site, 0, sizeof(*site));
	site->allocator = fault_allocator(&site->memory);
	if (entry->prepare != NULL)
		entry->prepare(site);
}

static void site_end(struct site *site)
{
	fault_arm(&site->memory, 0, 0);
	plim_budget_record_free(site->record);
	plim_budget_free(site->budget);
	plim_filter_free(site->filter);
	plim_json_free(site->json);
	plim_table_free(site->table);
	plim_meter_free(site->meter);
	plim_tree_free(site->tree);
	plim_forest_free(site->forest);
	plim_groups_free(site->groups);
	plim_watch_free(site->watch);
	plim_births_free(site->births);
	plim_threads_free(site->threads);
	plim_idle_free(site->idle);
	plim_heaps_free(site->heaps);
	plim_code_close(site->code);
	plim_memory_free(site->sampled);
	plim_fold_free(site->fold);
	plim_profile_free(site->profile);
	plim_diff_free(site->diff);
	plim_stored_free(site->stored);
	plim_mappings_free(site->mappings);
	plim_usage_free(site->usage);
	plim_snapshot_free(site->snapshot);
	plim_target_close(site->target);
	plim_host_close(site->host);
	assert_int_equal(site->memory.live, 0);
	assert_int_equal(site->memory.blocks, 0);
}

/* Records and totals of this round, and of the one before. */
static size_t site_dump_tree(const plim_tree *tree, char *text)
{
	plim_tree_facts facts = plim_tree_about(tree);
	plim_interval interval = {0};
	size_t used;

	plim_tree_interval(tree, &interval, NULL);
	used = (size_t)snprintf(
	    text, DUMP_SIZE, "%u %u %llu %llu\n", facts.members, facts.kept,
	    (unsigned long long)interval.elapsed_ns,
	    (unsigned long long)plim_tree_total(tree, PLIM_FIELD_CPU).value);
	for (size_t i = 0; i < plim_tree_size(tree); i++) {
		const plim_process *earlier = plim_tree_earlier(tree, i);

		used += fault_record(plim_tree_at(tree, i)->process,
				     text + used, DUMP_SIZE - used);
		if (earlier != NULL)
			used += fault_record(earlier, text + used,
					     DUMP_SIZE - used);
	}
	return used;
}

static size_t site_dump_forest(const plim_forest *forest, char *text)
{
	size_t used = 0;

	for (size_t i = 0; i < plim_forest_size(forest); i++) {
		const plim_branch *branch = plim_forest_at(forest, i);

		used += (size_t)snprintf(
		    text + used, DUMP_SIZE - used, "%p %zu %zu %zu %u\n",
		    (const void *)branch->process, branch->parent,
		    branch->depth, branch->size, branch->flags);
	}
	return used;
}

/* Both samples, and what changed between them. */
static size_t site_dump_threads(const plim_threads *threads, char *text)
{
	const plim_process *records[] = {plim_threads_first(threads),
					 plim_threads_last(threads)};
	size_t used = 0;

	for (size_t i = 0; i < 2; i++)
		if (records[i] != NULL)
			used += fault_record(records[i], text + used,
					     DUMP_SIZE - used);
	for (size_t i = 0; i < plim_threads_changes(threads); i++) {
		plim_thread_change change = plim_threads_change(threads, i);

		used += (size_t)snprintf(
		    text + used, DUMP_SIZE - used, "%d %d %llu %.*s %.*s\n",
		    (int)change.last->tid, change.born,
		    (unsigned long long)change.wakeups.value,
		    (int)change.name.bytes.size, change.name.bytes.data,
		    (int)change.last->blocked_in.bytes.size,
		    change.last->blocked_in.bytes.data);
	}
	return used;
}

/* What stands on the site, as text. */
static size_t site_dump(const struct site *site, char *text)
{
	size_t used = 0;

	if (site->usage != NULL)
		used += fault_record(plim_usage_process(site->usage), text,
				     DUMP_SIZE);
	if (site->tree != NULL)
		used += site_dump_tree(site->tree, text + used);
	if (site->threads != NULL)
		used += site_dump_threads(site->threads, text + used);
	if (site->forest != NULL)
		used += site_dump_forest(site->forest, text + used);
	for (size_t i = 0;
	     site->groups != NULL && i < plim_groups_size(site->groups); i++) {
		const plim_group *group = plim_groups_at(site->groups, i);

		used += (size_t)snprintf(
		    text + used, DUMP_SIZE - used, "%.*s %zu %zu %zu\n",
		    (int)group->key.bytes.size, group->key.bytes.data,
		    group->parent, group->members, group->own);
	}
	if (site->snapshot == NULL)
		return used;
	for (size_t i = 0; i < plim_snapshot_size(site->snapshot); i++)
		used += fault_record(plim_snapshot_at(site->snapshot, i),
				     text + used, DUMP_SIZE - used);
	used += (size_t)snprintf(
	    text + used, DUMP_SIZE - used, "%llu %llu",
	    (unsigned long long)plim_snapshot_begin(site->snapshot)
		.monotonic.ns,
	    (unsigned long long)plim_snapshot_cost(site->snapshot)
		.system_calls);
	return used;
}

/* After a failure: nothing but the failure has happened. */
static void expect_untouched(const struct site *site, const struct entry *entry,
			     size_t descriptors,
			     const struct fault_children *children,
			     const char *former, size_t former_size)
{
	static char now[DUMP_SIZE];
	size_t size = site_dump(site, now);

	assert_int_equal(size, former_size);
	assert_memory_equal(now, former, size);
	if (entry->may_shrink) {
		assert_true(fault_descriptors() <= descriptors);
		assert_int_equal(fault_new_child(children), 0);
	} else {
		assert_int_equal(fault_descriptors(), descriptors);
		fault_expect_children(children);
	}
}

/* Request `k` fails. 1 if it was made, 0 if there are fewer. */
static int attempt(const struct entry *entry, size_t k, int all_after)
{
	static char former[DUMP_SIZE];
	struct fault_children children;
	plim_error error = fault_poisoned();
	struct site site;
	size_t former_size;
	size_t descriptors;
	int failed;
	int code;

	site_begin(&site, entry);
	former_size = site_dump(&site, former);
	children = fault_children();
	descriptors = fault_descriptors();
	fault_arm(&site.memory, k, all_after);
	code = entry->act(&site, &error);
	failed = site.memory.failed > 0;
	fault_arm(&site.memory, 0, 0);
	if (failed) {
		assert_int_equal(code, PLIM_ENOMEM);
		fault_expect_error(&error, PLIM_ENOMEM);
		expect_untouched(&site, entry, descriptors, &children, former,
				 former_size);
		error = fault_poisoned();
		code = entry->act(&site, &error);
	}
	assert_int_equal(code, PLIM_OK);
	assert_true(fault_is_poisoned(&error));
	site_end(&site);
	return failed;
}

static size_t fail_in_turn(const struct entry *entry, int all_after)
{
	struct fault_children children = fault_children();
	size_t descriptors = fault_descriptors();
	size_t k = 1;

	while (attempt(entry, k, all_after)) {
		fault_expect_children(&children);
		assert_int_equal(fault_descriptors(), descriptors);
		assert_true(++k < 1000);
	}
	return k - 1;
}

static void test_entry(void **state)
{
	const struct entry *entry = *state;
	size_t alone = fail_in_turn(entry, 0);
	size_t onwards = fail_in_turn(entry, 1);

	assert_true(alone > 0 && onwards > 0);
	printf("%s: %zu allocations failed in turn\n", entry->name, alone);
	fflush(stdout);
}

/* Functions that never ask for memory. What needs a host, a target or a
 * writer is called in test_never below; the rest takes values only. */
static const char *const never[] = {
    "plim_activity_text",
    "plim_activity_word",
    "plim_allow_attach",
    "plim_base_name",
    "plim_births_cost",
    "plim_births_free",
    "plim_births_mark",
    "plim_births_method",
    "plim_births_poll_descriptor",
    "plim_births_read",
    "plim_blind_spot_text",
    "plim_blind_spot_word",
    "plim_bound_word",
    "plim_budget_aggregate_word",
    "plim_budget_at",
    "plim_budget_count",
    "plim_budget_draft",
    "plim_budget_explain",
    "plim_budget_figure_find",
    "plim_budget_figure_get",
    "plim_budget_find",
    "plim_budget_free",
    "plim_budget_judge",
    "plim_budget_record_baseline",
    "plim_budget_record_free",
    "plim_budget_record_readings",
    "plim_budget_verdict",
    "plim_change_rate",
    "plim_code_close",
    "plim_code_kind_word",
    "plim_code_module_at",
    "plim_code_module_count",
    "plim_code_module_find",
    "plim_code_unwind",
    "plim_confidence_word",
    "plim_count_bounded",
    "plim_count_known",
    "plim_count_max",
    "plim_count_missing",
    "plim_count_order",
    "plim_counter_change",
    "plim_counter_rate",
    "plim_csv_header",
    "plim_csv_memory",
    "plim_csv_process",
    "plim_diff_about",
    "plim_diff_free",
    "plim_diff_function_at",
    "plim_diff_function_count",
    "plim_diff_of_text",
    "plim_diff_of_word",
    "plim_diff_stack_at",
    "plim_diff_stack_count",
    "plim_diff_verdict_text",
    "plim_diff_verdict_word",
    "plim_error_message",
    "plim_error_text",
    "plim_error_word",
    "plim_escape",
    "plim_field_at",
    "plim_field_count",
    "plim_field_find",
    "plim_field_get",
    "plim_field_set_add",
    "plim_field_set_has",
    "plim_field_set_parse",
    "plim_field_set_preset",
    "plim_field_set_remove",
    "plim_filter_fields",
    "plim_filter_free",
    "plim_filter_match",
    "plim_filter_needs_rates",
    "plim_fixed_format",
    "plim_fold_about",
    "plim_fold_free",
    "plim_fold_function_at",
    "plim_fold_function_count",
    "plim_fold_item_name",
    "plim_fold_row_at",
    "plim_fold_row_count",
    "plim_fold_row_of",
    "plim_forest_at",
    "plim_forest_free",
    "plim_forest_size",
    "plim_forest_sum",
    "plim_gauge_change",
    "plim_groups_at",
    "plim_groups_free",
    "plim_groups_member",
    "plim_groups_size",
    "plim_groups_sum",
    "plim_heap_about",
    "plim_heap_arena",
    "plim_heap_arena_count",
    "plim_heap_arena_figure",
    "plim_heap_check_at",
    "plim_heap_check_count",
    "plim_heap_check_word",
    "plim_heap_depth_word",
    "plim_heap_evidence",
    "plim_heap_evidence_count",
    "plim_heap_figure",
    "plim_heap_figure_find",
    "plim_heap_figure_name",
    "plim_heap_figure_text",
    "plim_heap_hostage",
    "plim_heap_hostage_count",
    "plim_heap_kind_text",
    "plim_heap_kind_word",
    "plim_heaps_about",
    "plim_heaps_at",
    "plim_heaps_cost",
    "plim_heaps_count",
    "plim_heaps_free",
    "plim_heaps_sum",
    "plim_host_close",
    "plim_host_cost",
    "plim_host_count",
    "plim_host_now",
    "plim_host_text",
    "plim_host_usable_cpus",
    "plim_identity_compare",
    "plim_identity_format",
    "plim_identity_parse",
    "plim_identity_rung",
    "plim_idle_about",
    "plim_idle_change",
    "plim_idle_cost",
    "plim_idle_cpu_percent",
    "plim_idle_end",
    "plim_idle_fields",
    "plim_idle_first",
    "plim_idle_free",
    "plim_idle_last",
    "plim_idle_peak",
    "plim_idle_rate",
    "plim_idle_thread_at",
    "plim_idle_thread_count",
    "plim_idle_thread_facts",
    "plim_idle_threads",
    "plim_idle_tree",
    "plim_idle_warm",
    "plim_is_utf8",
    "plim_json_array",
    "plim_json_boolean",
    "plim_json_cost",
    "plim_json_diff",
    "plim_json_end",
    "plim_json_error",
    "plim_json_finish",
    "plim_json_free",
    "plim_json_heap",
    "plim_json_host",
    "plim_json_mappings",
    "plim_json_memory_members",
    "plim_json_null",
    "plim_json_number",
    "plim_json_object",
    "plim_json_process",
    "plim_json_process_members",
    "plim_json_retention",
    "plim_json_string",
    "plim_json_text",
    "plim_json_thread",
    "plim_json_thread_members",
    "plim_json_whole",
    "plim_mapping_figure_name",
    "plim_mapping_figure_text",
    "plim_mapping_kind_text",
    "plim_mapping_kind_word",
    "plim_mappings_at",
    "plim_mappings_baseline",
    "plim_mappings_count",
    "plim_mappings_figure",
    "plim_mappings_free",
    "plim_mappings_group",
    "plim_mappings_group_count",
    "plim_mappings_group_figure",
    "plim_mappings_known",
    "plim_mappings_stamp",
    "plim_mappings_total",
    "plim_memory_at",
    "plim_memory_clear",
    "plim_memory_end_text",
    "plim_memory_end_word",
    "plim_memory_ended",
    "plim_memory_find",
    "plim_memory_free",
    "plim_memory_last",
    "plim_memory_ledger",
    "plim_memory_mappings",
    "plim_memory_name",
    "plim_memory_range",
    "plim_memory_samples",
    "plim_memory_source",
    "plim_memory_stamp",
    "plim_memory_taken",
    "plim_memory_text",
    "plim_memory_timeline",
    "plim_meter_free",
    "plim_meter_round",
    "plim_method_text",
    "plim_method_word",
    "plim_nearest_name",
    "plim_number_format",
    "plim_pprof_compresses",
    "plim_process_change",
    "plim_process_count",
    "plim_process_cpu_percent",
    "plim_process_identity",
    "plim_process_interval",
    "plim_process_is_child_of",
    "plim_process_is_measured",
    "plim_process_pid",
    "plim_process_rate",
    "plim_process_stamp",
    "plim_process_text",
    "plim_profile_about",
    "plim_profile_check",
    "plim_profile_end_text",
    "plim_profile_end_word",
    "plim_profile_frame_at",
    "plim_profile_frame_count",
    "plim_preload_free",
    "plim_preload_setting",
    "plim_profile_free",
    "plim_profile_function_at",
    "plim_profile_function_count",
    "plim_profile_join",
    "plim_profile_lack",
    "plim_profile_lack_count",
    "plim_profile_line_at",
    "plim_profile_line_count",
    "plim_profile_metric",
    "plim_profile_metric_name",
    "plim_profile_metric_text",
    "plim_profile_metric_unit",
    "plim_profile_module_at",
    "plim_profile_module_count",
    "plim_profile_process_at",
    "plim_profile_process_count",
    "plim_profile_ratio",
    "plim_profile_ratio_name",
    "plim_profile_ratio_text",
    "plim_profile_sample_at",
    "plim_profile_sample_count",
    "plim_profile_stack_at",
    "plim_profile_stack_count",
    "plim_profile_stop",
    "plim_profile_thread_at",
    "plim_profile_thread_count",
    "plim_profile_tier_at",
    "plim_profile_tier_count",
    "plim_profile_total",
    "plim_quantity_format",
    "plim_quantity_parse",
    "plim_quantity_parse_whole",
    "plim_ratio",
    "plim_real_in_unit",
    "plim_real_known",
    "plim_real_missing",
    "plim_real_of",
    "plim_real_order",
    "plim_reason_state",
    "plim_reason_text",
    "plim_reason_word",
    "plim_result_add_count",
    "plim_result_add_hex",
    "plim_result_add_name",
    "plim_result_add_real",
    "plim_result_add_text",
    "plim_result_add_whole",
    "plim_result_add_word",
    "plim_result_begin",
    "plim_result_budget",
    "plim_result_count",
    "plim_result_end",
    "plim_result_find",
    "plim_result_idle",
    "plim_result_idle_figures",
    "plim_result_idle_threads",
    "plim_result_next",
    "plim_result_number",
    "plim_result_observation",
    "plim_result_parse",
    "plim_result_real",
    "plim_result_text",
    "plim_result_thread",
    "plim_result_thread_summary",
    "plim_result_threads",
    "plim_result_unavailable",
    "plim_result_unescape",
    "plim_result_whole",
    "plim_retention_find",
    "plim_retention_tell",
    "plim_retention_text",
    "plim_retention_word",
    "plim_snapshot_at",
    "plim_snapshot_begin",
    "plim_snapshot_compare",
    "plim_snapshot_cost",
    "plim_snapshot_end",
    "plim_snapshot_find",
    "plim_snapshot_free",
    "plim_snapshot_size",
    "plim_special_name",
    "plim_special_text",
    "plim_stack_end_text",
    "plim_stack_end_word",
    "plim_stack_thread_word",
    "plim_state_text",
    "plim_state_word",
    "plim_stored_about",
    "plim_stored_form_text",
    "plim_stored_form_word",
    "plim_stored_free",
    "plim_stored_function_at",
    "plim_stored_function_count",
    "plim_stored_stack_at",
    "plim_stored_stack_count",
    "plim_sum_add",
    "plim_sum_total",
    "plim_system_call_name",
    "plim_system_error_name",
    "plim_table_ascii",
    "plim_table_clear",
    "plim_table_free",
    "plim_table_print",
    "plim_target_check",
    "plim_target_close",
    "plim_target_exit_status",
    "plim_target_identity",
    "plim_target_poll_descriptor",
    "plim_target_signal",
    "plim_target_wait",
    "plim_text_stack",
    "plim_text_width",
    "plim_threads_about",
    "plim_threads_at",
    "plim_threads_change",
    "plim_threads_changes",
    "plim_threads_cost",
    "plim_threads_count",
    "plim_threads_exited",
    "plim_threads_exited_at",
    "plim_threads_first",
    "plim_threads_free",
    "plim_threads_interval",
    "plim_threads_last",
    "plim_tree_about",
    "plim_tree_at",
    "plim_tree_change",
    "plim_tree_cost",
    "plim_tree_cpu_percent",
    "plim_tree_earlier",
    "plim_tree_free",
    "plim_tree_interval",
    "plim_tree_rate",
    "plim_tree_size",
    "plim_tree_sum",
    "plim_tree_total",
    "plim_trend_text",
    "plim_trend_word",
    "plim_unit_word",
    "plim_usage_basic",
    "plim_usage_cost",
    "plim_usage_free",
    "plim_usage_process",
    "plim_usage_reap",
    "plim_usage_refresh_self",
    "plim_verdict_join",
    "plim_verdict_word",
    "plim_version",
    "plim_view_find",
    "plim_view_text",
    "plim_view_word",
    "plim_watch_cost",
    "plim_watch_cpu",
    "plim_watch_free",
    "plim_watch_identity",
    "plim_watch_percent",
    "plim_watch_refresh",
    "plim_watch_remove",
    "plim_watch_size",
};
#define NEVER_COUNT (sizeof(never) / sizeof(never[0]))

static int listed(const char *symbol)
{
	int found = 0;

	for (size_t i = 0; i < NEVER_COUNT; i++)
		found += strcmp(never[i], symbol) == 0;
	for (size_t i = 0; i < site_entry_count; i++)
		if (strcmp(site_entries[i].symbol, symbol) == 0)
			return found + 1;
	return found;
}

/* The words of the map that end with a semicolon, plim_ ones. */
static size_t map_symbols(char names[][64], size_t most)
{
	FILE *map = fopen(FAULT_MAP, "re");
	char line[256];
	size_t count = 0;

	assert_non_null(map);
	while (fgets(line, sizeof(line), map) != NULL) {
		char *at = line + strspn(line, " \t");
		size_t size = strcspn(at, ";");

		if (strncmp(at, "plim_", 5) != 0 || at[size] != ';')
			continue;
		assert_true(size < 64 && count < most);
		memcpy(names[count], at, size);
		names[count++][size] = '\0';
	}
	fclose(map);
	return count;
}

/* Every exported function is in one of the two tables, and none else. */
static void test_complete(void **state)
{
	static char names[1024][64];
	size_t count = map_symbols(names, 1024);
	size_t functions = NEVER_COUNT;
	int missing = 0;

	(void)state;
	assert_true(count > 100);
	for (size_t i = 0; i < count; i++) {
		if (listed(names[i]) == 1)
			continue;
		printf("%s stands in %d tables of test_allocation.c\n",
		       names[i], listed(names[i]));
		missing = 1;
	}
	assert_int_equal(missing, 0);
	for (size_t i = 0; i < site_entry_count; i++)
		functions += i == 0 || strcmp(site_entries[i].symbol,
					      site_entries[i - 1].symbol) != 0;
	assert_int_equal(functions, count);
}

static int discard(const char *data, size_t size, void *user)
{
	(void)data;
	(void)size;
	(void)user;
	return 0;
}

/* Of memory, what was sampled while there was some. */
static void never_memory(struct site *site)
{
	const plim_mappings *mappings = plim_memory_mappings(site->sampled);
	plim_retention retention = {0};

	assert_non_null(mappings);
	plim_json_object(site->json, "memory");
	plim_json_memory_members(site->json, site->sampled);
	plim_json_mappings(site->json, "mappings", mappings);
	plim_json_retention(site->json, "verdict", &retention);
	plim_json_end(site->json);
	assert_int_equal(plim_csv_memory(site->sampled, discard, NULL),
			 PLIM_OK);
}

static void never_export(struct site *site)
{
	const plim_process *self = plim_usage_process(site->usage);
	plim_field_set all = plim_field_set_preset(PLIM_FIELDS_ALL);
	plim_cost cost = plim_usage_cost(site->usage);
	plim_error error = {.code = PLIM_EHIDDEN, .position = -1};

	plim_json_object(site->json, NULL);
	plim_json_array(site->json, "array");
	plim_json_end(site->json);
	plim_json_text(site->json, "text", (plim_bytes){"a", 1});
	plim_json_string(site->json, "string", "b");
	plim_json_whole(site->json, "whole", 1);
	plim_json_number(site->json, "number", 1.5);
	plim_json_boolean(site->json, "boolean", 1);
	plim_json_null(site->json, "null");
	plim_json_host(site->json, "host", site->host);
	plim_json_process(site->json, "self", self, self, &all);
	plim_json_thread(site->json, "thread", &(plim_thread){.tid = 1},
			 &(plim_thread_change){.last = NULL});
	plim_json_object(site->json, "other");
	plim_json_thread_members(site->json, &(plim_thread){.tid = 1}, NULL);
	plim_json_end(site->json);
	plim_json_object(site->json, "more");
	plim_json_process_members(site->json, self, self, &all);
	plim_json_end(site->json);
	never_memory(site);
	plim_json_cost(site->json, "cost", &cost);
	plim_json_error(site->json, "error", &error);
	plim_json_end(site->json);
	assert_int_equal(plim_json_finish(site->json, NULL), PLIM_OK);
	assert_int_equal(plim_csv_header(&all, 1, discard, NULL), PLIM_OK);
	assert_int_equal(plim_csv_process(self, NULL, &all, 1, discard, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plim_table_print(site->table, 80, 1, discard, NULL, NULL), PLIM_OK);
	plim_table_clear(site->table);
	plim_filter_match(site->filter, self, self);
}

static void never_target(struct site *site)
{
	plim_check check;

	assert_int_equal(plim_target_check(site->target, &check, NULL),
			 PLIM_OK);
	assert_int_equal(check.fate, PLIM_FATE_SAME);
	assert_int_equal(plim_target_wait(site->target, 0, NULL),
			 PLIM_ETIMEOUT);
	plim_target_exit_status(site->target);
	assert_int_equal(plim_target_signal(site->target, 0, NULL), PLIM_OK);
	assert_true(plim_target_poll_descriptor(site->target) >= 0);
}

static void never_host(struct site *site)
{
	for (int figure = 0; figure <= PLIM_HOST_IS_LIVE + 1; figure++)
		plim_host_count(site->host, figure);
	for (int id = 0; id <= PLIM_HOST_PROC_ROOT + 1; id++)
		plim_host_text(site->host, id);
	assert_int_equal(plim_host_usable_cpus(site->host).state,
			 PLIM_STATE_KNOWN);
	plim_host_cost(site->host);
	assert_int_equal(plim_allow_attach(PLIM_ATTACH_NONE, NULL), PLIM_OK);
	plim_system_call_name(site->host, 0);
}

/* With no memory to be had at all. */
static void test_never(void **state)
{
	struct site site = {.memory = {0}};
	pid_t child;

	(void)state;
	site.allocator = fault_allocator(&site.memory);
	site.host = fault_host(&site.memory, NULL);
	site.usage = new_usage(site.host);
	site.target = open_target(site.host, site_world.plain.pid);
	assert_int_equal(
	    plim_json_new(&site.json, discard, NULL, 0, &site.allocator, NULL),
	    PLIM_OK);
	assert_int_equal(plim_table_new(&site.table, &site.allocator, NULL),
			 PLIM_OK);
	plim_table_column(site.table, "A", 0);
	assert_int_equal(plim_memory_new(&site.sampled, site.host, NULL),
			 PLIM_OK);
	assert_int_equal(
	    plim_memory_sample(site.sampled, site.target, NULL, NULL), PLIM_OK);
	assert_int_equal(plim_filter_new(&site.filter, "pid > 1 and name ~ a*",
					 &site.allocator, NULL),
			 PLIM_OK);
	fflush(stdout);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(3);
	fault_arm(&site.memory, 1, 1);
	never_host(&site);
	never_target(&site);
	measure_self(site.usage);
	never_export(&site);
	assert_int_equal(plim_usage_reap(site.usage, child, NULL, NULL),
			 PLIM_OK);
	assert_int_equal(site.memory.calls, 0);
	site_end(&site);
}

int main(void)
{
	struct CMUnitTest tests[128] = {
	    cmocka_unit_test(test_complete),
	    cmocka_unit_test(test_never),
	};
	static struct entry entries[126];
	size_t count = 2;

	for (size_t i = 0; i < site_entry_count; i++) {
		entries[i] = site_entries[i];
		tests[count++] = (struct CMUnitTest){
		    entries[i].name, test_entry, NULL, NULL, &entries[i]};
	}
	return _cmocka_run_group_tests("allocation", tests, count, world_setup,
				       world_teardown);
}
