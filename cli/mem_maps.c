/*
 * mem_maps.c - what plim mem tells behind the allocators: the largest mappings
 * and totals by kind, the estimate where nothing was walked, the sums of a
 * tree, and what finding out cost the process.
 */
#include "mem.h"

/* --- mappings ------------------------------------------------------------- */

static void mem_group_row(struct telling *telling,
			  const plim_mappings *mappings, int by, size_t index)
{
	static const int figures[] = {
	    PLIM_MAPPING_FIGURE_RESIDENT, PLIM_MAPPING_FIGURE_PRIVATE_DIRTY,
	    PLIM_MAPPING_FIGURE_SWAP, PLIM_MAPPING_FIGURE_SIZE};
	plim_mapping_group group = plim_mappings_group(mappings, by, index);
	size_t i;

	for (i = 0; i < sizeof figures / sizeof figures[0]; i++)
		tell_count(
		    telling,
		    plim_mappings_group_figure(mappings, by, index, figures[i]),
		    PLIM_UNIT_BYTES);
	tell_count(telling, plim_count_known(group.count, PLIM_METHOD_LISTING),
		   PLIM_UNIT_NONE);
	tell_string(telling, plim_mapping_kind_word(group.kind));
	if (by == PLIM_MAPPING_BY_NAME)
		tell_text(telling, group.label);
	else
		tell_string(telling, plim_mapping_kind_text(group.kind));
}

static void mem_groups(struct telling *telling, const struct mem_view *view,
		       const plim_mappings *mappings, int by)
{
	const char *titles[] = {"RESIDENT", "PRIVATE DIRTY", "SWAP", "SIZE",
				"MAPPINGS", " KIND",	     NULL};
	const size_t count = plim_mappings_group_count(mappings, by);
	const size_t rows =
	    by == PLIM_MAPPING_BY_NAME ? mem_rows(view, count) : count;
	size_t i;

	titles[6] = by == PLIM_MAPPING_BY_NAME ? " NAME" : " WHAT IT IS";
	tell_table(telling, titles, 7);
	for (i = 0; i < rows; i++)
		mem_group_row(telling, mappings, by, i);
	tell_table_end(telling);
	mem_rows_more(telling, rows, count);
}

/* Stacks whose thread is known: how many, and the largest. */
static void mem_stacks(struct telling *telling, const plim_mappings *mappings)
{
	plim_count most = plim_count_missing(PLIM_REASON_NONE, 0);
	int32_t owner = 0;
	size_t count = 0;
	size_t i;

	for (i = 0; i < plim_mappings_count(mappings); i++) {
		plim_mapping mapping = plim_mappings_at(mappings, i);
		plim_count resident = plim_mappings_figure(
		    mappings, i, PLIM_MAPPING_FIGURE_RESIDENT);

		if (mapping.kind != PLIM_MAPPING_STACK || mapping.tid == 0)
			continue;
		count++;
		if (plim_count_order(resident, most, 1) < 0) {
			most = resident;
			owner = mapping.tid;
		}
	}
	if (count > 0 && mem_is_known(most))
		tell_aside(telling,
			   "stacks of threads: %zu are known by their stack "
			   "pointers; the largest is that of %d, %s resident",
			   count, (int)owner, mem_bytes(telling, most));
}

void mem_tell_mappings(struct telling *telling, const struct mem_view *view)
{
	const plim_mappings *mappings = plim_memory_mappings(view->memory);
	plim_count known;

	tell_section(telling, "mappings", "Mappings");
	if (mappings == NULL) {
		tell_line(telling, "none were read");
		return;
	}
	known = plim_mappings_known(mappings);
	if (!mem_is_known(known)) {
		tell_line(telling, "unknown: %s",
			  show_reason(known.state, known.method, known.code));
		return;
	}
	tell_line(
	    telling, "%s mappings, by %s, read %s after the first sample",
	    show_count(telling->options, known, PLIM_UNIT_NONE),
	    plim_method_word(known.method),
	    mem_time(telling, mem_at(view, plim_mappings_stamp(mappings))));
	mem_groups(telling, view, mappings, PLIM_MAPPING_BY_NAME);
	tell_section(telling, "by kind", "Mappings by kind");
	tell_line(telling, "%s resident in all",
		  mem_bytes(telling,
			    plim_mappings_total(mappings,
						PLIM_MAPPING_FIGURE_RESIDENT)));
	mem_groups(telling, view, mappings, PLIM_MAPPING_BY_KIND);
	mem_stacks(telling, mappings);
}

/* Where nothing was walked: what the layout of the mappings allows to guess. */
void mem_tell_baseline(struct telling *telling, const struct mem_view *view)
{
	const plim_mappings *mappings = plim_memory_mappings(view->memory);
	plim_baseline baseline;
	uint32_t bit;

	if (view->walked || mappings == NULL)
		return;
	baseline = plim_mappings_baseline(mappings);
	tell_section(telling, "estimate", "An estimate, in place of a walk");
	if (!mem_is_known(baseline.sub_heaps)) {
		tell_line(telling, "unknown: %s",
			  show_reason(baseline.sub_heaps.state,
				      baseline.sub_heaps.method,
				      baseline.sub_heaps.code));
		return;
	}
	tell_line(
	    telling,
	    "by the layout of mappings alone: %s regions look like "
	    "heaps that glibc made for threads, %s of %s resident; the "
	    "heap that brk moves has %s of %s",
	    show_count(telling->options, baseline.sub_heaps, PLIM_UNIT_NONE),
	    mem_bytes(telling, baseline.resident),
	    mem_bytes(telling, baseline.reserved),
	    mem_bytes(telling, baseline.main_heap_resident),
	    mem_bytes(telling, baseline.main_heap_size));
	for (bit = 1; bit != 0 && bit <= baseline.blind_spots; bit <<= 1)
		if ((baseline.blind_spots & bit) != 0 &&
		    plim_blind_spot_text((int)bit) != NULL)
			tell_aside(telling, "may be wrong: %s",
				   plim_blind_spot_text((int)bit));
}

/* --- the tree ------------------------------------------------------------- */

static void mem_tree_row(struct telling *telling, const struct mem_view *view,
			 int field)
{
	plim_sum sum = plim_tree_sum(view->tree, field);

	tell_string(telling, plim_field_get(field)->name);
	tell_count(telling, plim_sum_total(&sum), PLIM_UNIT_BYTES);
	tell_count(telling, plim_count_known(sum.known, PLIM_METHOD_LISTING),
		   PLIM_UNIT_NONE);
	tell_count(telling, plim_count_known(sum.missing, PLIM_METHOD_LISTING),
		   PLIM_UNIT_NONE);
	tell_string(telling, plim_field_get(field)->text);
}

void mem_tell_tree(struct telling *telling, const struct mem_view *view)
{
	static const char *const titles[] = {" FIGURE", "SUM", "OF MEMBERS",
					     "LACK IT", " WHAT IT IS"};

	if (!view->options->tree)
		return;
	tell_section(telling, "tree", "The process and its descendants");
	if (view->tree == NULL || view->tree_failed) {
		tell_line(telling, "unknown: %s",
			  view->tree_failed
			      ? plim_error_text(view->tree_error.code)
			      : "the process ended");
		return;
	}
	tell_line(telling, "%zu processes", plim_tree_size(view->tree));
	tell_table(telling, titles, 5);
	mem_tree_row(telling, view, PLIM_FIELD_ANONYMOUS);
	mem_tree_row(telling, view, PLIM_FIELD_PRIVATE_DIRTY);
	mem_tree_row(telling, view, PLIM_FIELD_PSS);
	mem_tree_row(telling, view, PLIM_FIELD_RESIDENT);
	mem_tree_row(telling, view, PLIM_FIELD_SWAP);
	tell_table_end(telling);
}

/* --- what it cost --------------------------------------------------------- */

static void mem_cost_walk(struct telling *telling, const struct mem_view *view)
{
	plim_heaps_facts facts = plim_heaps_about(view->heaps);
	char bytes[40];

	if (!view->walked)
		return;
	snprintf(bytes, sizeof bytes, "%s",
		 mem_bytes(telling, facts.memory_read_bytes));
	tell_line(
	    telling,
	    "the walk of the allocators took %s and read %s of its "
	    "memory, pages that were in RAM alone%s%s%s%s",
	    show_count(telling->options, facts.wall_ns, PLIM_UNIT_NS), bytes,
	    mem_is_known(facts.longest_call_ns) ? "; longest call " : "",
	    mem_is_known(facts.longest_call_ns)
		? show_count(telling->options, facts.longest_call_ns,
			     PLIM_UNIT_NS)
		: "",
	    mem_is_known(facts.longest_call_ns) ? ", " : "",
	    mem_is_known(facts.longest_call_ns) ? facts.longest_call : "");
}

void mem_tell_cost(struct telling *telling, const struct mem_view *view)
{
	plim_memory_cost ledger = plim_memory_ledger(view->memory);
	const struct options *options = telling->options;

	tell_section(telling, "cost to it", "What it cost the process");
	if (mem_is_known(ledger.longest_call_ns))
		tell_line(
		    telling,
		    "longest single call under its memory lock %s "
		    "(%s); a walk of its page tables was predicted to "
		    "take %s, the limit is %s",
		    show_count(options, ledger.longest_call_ns, PLIM_UNIT_NS),
		    ledger.longest_call,
		    show_count(options, ledger.predicted_ns, PLIM_UNIT_NS),
		    mem_time(telling, ledger.stall_ns));
	tell_line(telling,
		  "page-table walks: %llu made, %llu left out for what they "
		  "would have cost it, %llu because the one before was recent; "
		  "%llu page maps read instead",
		  (unsigned long long)ledger.walks,
		  (unsigned long long)ledger.skipped,
		  (unsigned long long)ledger.rested,
		  (unsigned long long)ledger.scans);
	if (ledger.skipped > 0)
		tell_aside(telling,
			   "--force makes them, --stall sets the limit");
	mem_cost_walk(telling, view);
	/* The bill differs from run to run of the same samples; a page is made
	 * of the samples alone. */
	if (telling->sheet == NULL)
		output_cost(view->options, view->host, 0);
}
