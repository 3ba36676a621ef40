/*
 * json_mapping.c - the mappings of a process as an object of the documented
 * schema: totals by name and by kind, which thread has which stack, and the
 * estimate that the layout alone allows, which says that it is one. The
 * mappings one by one are many; who wants them asks the library.
 */
#include "export/json_writer.h"

#include <plimsoll/mapping.h>

#include <assert.h>

static void mapping_group(plim_json *json, const plim_mappings *mappings,
			  int by, size_t index)
{
	plim_mapping_group group = plim_mappings_group(mappings, by, index);
	struct plimp_json_list list = {.count = 0};
	const char *name;

	plim_json_object(json, NULL);
	if (by == PLIM_MAPPING_BY_NAME)
		plimp_json_bytes(json, "name",
				 (plim_text){.bytes = group.label,
					     .state = PLIM_STATE_KNOWN,
					     .method = PLIM_METHOD_LISTING});
	plim_json_string(json, "kind", plim_mapping_kind_word(group.kind));
	plim_json_whole(json, "count", group.count);
	for (int k = 1; (name = plim_mapping_figure_name(k)) != NULL; k++)
		plimp_json_list_add(
		    &list, name,
		    plim_mappings_group_figure(mappings, by, index, k));
	plimp_json_list_write(json, &list, 0);
	plim_json_end(json);
}

static void mapping_groups(plim_json *json, const char *key,
			   const plim_mappings *mappings, int by)
{
	plim_json_array(json, key);
	for (size_t i = 0; i < plim_mappings_group_count(mappings, by); i++)
		mapping_group(json, mappings, by, i);
	plim_json_end(json);
}

static void mapping_total(plim_json *json, const plim_mappings *mappings)
{
	struct plimp_json_list list = {.count = 0};
	const char *name;

	plim_json_object(json, "total");
	for (int k = 1; (name = plim_mapping_figure_name(k)) != NULL; k++)
		plimp_json_list_add(&list, name,
				    plim_mappings_total(mappings, k));
	plimp_json_list_write(json, &list, 1);
	plim_json_end(json);
}

static void mapping_stack(plim_json *json, const plim_mappings *mappings,
			  size_t index)
{
	static const int figures[] = {
	    PLIM_MAPPING_FIGURE_SIZE, PLIM_MAPPING_FIGURE_RESIDENT,
	    PLIM_MAPPING_FIGURE_PRIVATE_DIRTY, PLIM_MAPPING_FIGURE_SWAP};
	plim_mapping mapping = plim_mappings_at(mappings, index);
	struct plimp_json_list list = {.count = 0};

	plim_json_object(json, NULL);
	plim_json_whole(json, "tid", (uint64_t)mapping.tid);
	plim_json_whole(json, "threads", mapping.threads);
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
		plimp_json_list_add(
		    &list, plim_mapping_figure_name(figures[i]),
		    plim_mappings_figure(mappings, index, figures[i]));
	plimp_json_list_write(json, &list, 0);
	plim_json_end(json);
}

static void mapping_stacks(plim_json *json, const plim_mappings *mappings)
{
	plim_json_array(json, "stacks");
	for (size_t i = 0; i < plim_mappings_count(mappings); i++) {
		plim_mapping mapping = plim_mappings_at(mappings, i);

		if (mapping.kind == PLIM_MAPPING_STACK && mapping.tid > 0)
			mapping_stack(json, mappings, i);
	}
	plim_json_end(json);
}

static void mapping_blind_spots(plim_json *json, uint32_t bits)
{
	plim_json_array(json, "blind_spots");
	for (uint32_t bit = 1; bit != 0 && bit <= bits; bit <<= 1) {
		if ((bits & bit) == 0 || plim_blind_spot_word((int)bit) == NULL)
			continue;
		plim_json_object(json, NULL);
		plim_json_string(json, "word", plim_blind_spot_word((int)bit));
		plim_json_string(json, "text", plim_blind_spot_text((int)bit));
		plim_json_end(json);
	}
	plim_json_end(json);
}

static void mapping_baseline(plim_json *json, const plim_mappings *mappings)
{
	plim_baseline baseline = plim_mappings_baseline(mappings);
	struct plimp_json_list list = {.count = 0};

	plim_json_object(json, "baseline");
	plim_json_boolean(json, "estimate", 1);
	plimp_json_list_add(&list, "sub_heaps", baseline.sub_heaps);
	plimp_json_list_add(&list, "resident_bytes", baseline.resident);
	plimp_json_list_add(&list, "reserved_bytes", baseline.reserved);
	plimp_json_list_add(&list, "main_heap_bytes", baseline.main_heap_size);
	plimp_json_list_add(&list, "main_heap_resident_bytes",
			    baseline.main_heap_resident);
	plimp_json_list_write(json, &list, 1);
	mapping_blind_spots(json, baseline.blind_spots);
	plim_json_end(json);
}

void plim_json_mappings(plim_json *json, const char *key,
			const plim_mappings *mappings)
{
	struct plimp_json_list list = {.count = 0};

	assert(mappings != NULL);
	plim_json_object(json, key);
	plim_json_whole(json, "boot_ns",
			plim_mappings_stamp(mappings).boottime.ns);
	plimp_json_list_add(&list, "count", plim_mappings_known(mappings));
	plimp_json_list_write(json, &list, 1);
	mapping_total(json, mappings);
	mapping_groups(json, "by_name", mappings, PLIM_MAPPING_BY_NAME);
	mapping_groups(json, "by_kind", mappings, PLIM_MAPPING_BY_KIND);
	mapping_stacks(json, mappings);
	mapping_baseline(json, mappings);
	plim_json_end(json);
}
