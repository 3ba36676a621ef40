/*
 * memory_mappings.c - plim_mappings: read, classified and added up.
 *
 * Two readings alternate, as in a snapshot, so that one that fails leaves the
 * one before. All that can be asked is computed when they are read; what is
 * given out is looked up, and texts are borrowed from the reading.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"
#include "observe/memory_guard.h"
#include "observe/memory_mappings.h"

#include <assert.h>
#include <string.h>

int plim_mappings_new(plim_mappings **mappings, plim_host *host,
		      plim_error *error)
{
	plim_mappings *made;

	if (mappings == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new mappings", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof(*made));
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new mappings", NULL,
				  NULL);
	made->host = host;
	*mappings = made;
	return PLIM_OK;
}

void plim_mappings_free(plim_mappings *mappings)
{
	plim_host *host;
	int i;

	if (mappings == NULL)
		return;
	host = mappings->host;
	for (i = 0; i < 2; i++) {
		struct plimp_mappings_side *side = &mappings->sides[i];

		plimp_space_release(host, &side->space);
		plimp_release(&host->allocator, side->regions,
			      side->regions_capacity, sizeof(*side->regions));
		plimp_region_groups_release(&host->allocator, &side->groups[0]);
		plimp_region_groups_release(&host->allocator, &side->groups[1]);
	}
	plimp_stacks_release(host, &mappings->stacks);
	plimp_texts_release(host, &mappings->texts);
	plimp_release(&host->allocator, mappings, 1, sizeof(*mappings));
}

static void mappings_empty(struct plimp_mappings_side *side)
{
	side->space.count = 0;
	side->space.texts.size = 0;
	side->groups[0].count = 0;
	side->groups[1].count = 0;
	memset(&side->baseline, 0, sizeof(side->baseline));
	memset(&side->known, 0, sizeof(side->known));
	memset(&side->stamp, 0, sizeof(side->stamp));
}

void plimp_mappings_clear(plim_mappings *mappings)
{
	mappings_empty(&mappings->sides[0]);
	mappings_empty(&mappings->sides[1]);
}

void plimp_mappings_turn(plim_mappings *mappings)
{
	mappings->current = !mappings->current;
}

/* The path of the program; empty where it cannot be had. Borrowed from the
 * texts until the next time. PLIM_ENOMEM alone is an error: what else goes
 * wrong, the lens tells, too. */
static int mappings_program(plim_mappings *mappings, plim_target *target,
			    plim_bytes *program)
{
	struct plimp_thread_list threads = {0};
	struct plimp_request request = {
	    .texts = &mappings->texts,
	    .young_ticks = UINT64_MAX,
	};
	plim_process record;
	plim_text text;
	int code;

	memset(&record, 0, sizeof(record));
	mappings->texts.size = 0;
	plim_field_set_add(&request.fields, PLIM_FIELD_EXE);
	code = target == NULL ? plimp_system_read_self(mappings->host, &request,
						       &record, &threads, NULL)
			      : plimp_system_read_target(
				    target, &request, &record, &threads, NULL);
	plimp_threads_release(mappings->host, &threads);
	if (code != PLIM_OK)
		return code == PLIM_ENOMEM ? code : PLIM_OK;
	record.texts.data = mappings->texts.bytes;
	text = plim_process_text(&record, PLIM_FIELD_EXE);
	if (text.state == PLIM_STATE_KNOWN)
		*program = text.bytes;
	return PLIM_OK;
}

/* What could not be read of pages is so marked in every mapping. */
static void mappings_refused(struct plimp_space *space, plim_count missing)
{
	size_t at;

	for (at = 0; at < space->count; at++) {
		space->items[at].resident = missing;
		space->items[at].anonymous = missing;
		space->items[at].swap = missing;
		space->items[at].exclusive = missing;
	}
}

static int mappings_is_fate(int code)
{
	return code == PLIM_ENOPROCESS || code == PLIM_EREPLACED ||
	       code == PLIM_EIMAGE || code == PLIM_EHIDDEN ||
	       code == PLIM_ECANNOTTELL || code == PLIM_ENOMEM ||
	       code == PLIM_ELIMIT;
}

/* The list with its figures. What is refused is no failure. */
static int mappings_list(struct plimp_mappings_side *side,
			 struct plimp_lens *lens, int way, plim_error *error)
{
	plim_error why;
	int code = way == PLIMP_MAPPINGS_SMAPS
		       ? plimp_system_lens_smaps(lens, &side->space, &why)
		       : plimp_system_lens_maps(lens, &side->space, &why);

	if (code == PLIM_EDENIED) {
		side->known =
		    plim_count_missing(PLIM_REASON_NOT_PERMITTED, why.system);
		return PLIM_OK;
	}
	if (code == PLIM_OK && way == PLIMP_MAPPINGS_PAGES) {
		code = plimp_system_lens_resident(lens, &side->space, &why);
		if (code != PLIM_OK && !mappings_is_fate(code)) {
			mappings_refused(
			    &side->space,
			    plim_count_missing(code == PLIM_EDENIED
						   ? PLIM_REASON_NOT_PERMITTED
						   : PLIM_REASON_READ_FAILED,
					       why.system));
			code = PLIM_OK;
		}
	}
	if (code != PLIM_OK) {
		if (error != NULL)
			*error = why;
		return code;
	}
	side->known = plim_count_known(side->space.count, PLIM_METHOD_MAPS);
	if (side->space.count > 0 &&
	    side->space.items[0].resident.state == PLIM_STATE_KNOWN)
		side->known.method = side->space.items[0].resident.method;
	return PLIM_OK;
}

/* Where the stacks are, if that can be had: without it they are still told by
 * their marks. */
static int mappings_stacks(plim_mappings *mappings, struct plimp_lens *lens,
			   int *are_known, plim_error *error)
{
	plim_error why;
	int code = plimp_system_lens_stacks(lens, &mappings->stacks, &why);

	if (code != PLIM_OK && code != PLIM_ELIMIT && mappings_is_fate(code)) {
		if (error != NULL)
			*error = why;
		return code;
	}
	*are_known = code == PLIM_OK;
	return PLIM_OK;
}

static int mappings_room(const plim_allocator *allocator,
			 struct plimp_mappings_side *side)
{
	void *array = side->regions;
	int code = plimp_reserve(allocator, &array, &side->regions_capacity,
				 side->space.count, 64, sizeof(*side->regions));

	side->regions = array;
	return code;
}

/* What each is, and the sums. */
static int mappings_work_out(plim_mappings *mappings,
			     struct plimp_mappings_side *side,
			     plim_target *target, int stacks)
{
	const plim_allocator *allocator = &mappings->host->allocator;
	struct plimp_regions_facts facts = {
	    .space = &side->space,
	    .stacks = stacks ? &mappings->stacks : NULL,
	};
	plim_count own = mappings->host->facts[PLIM_HOST_OWN_PID];
	int by;

	facts.pid = target != NULL		    ? target->identity.pid
		    : own.state == PLIM_STATE_KNOWN ? (int32_t)own.value
						    : 0;
	if (mappings_program(mappings, target, &facts.program) != PLIM_OK ||
	    mappings_room(allocator, side) != PLIM_OK)
		return PLIM_ENOMEM;
	plimp_regions_classify(&facts, side->regions);
	for (by = 0; by < 2; by++)
		if (plimp_regions_group(allocator, &side->space, side->regions,
					by, &side->groups[by]) != PLIM_OK)
			return PLIM_ENOMEM;
	side->baseline = plimp_arenas_estimate(&side->space);
	return PLIM_OK;
}

int plimp_mappings_take(plim_mappings *mappings, struct plimp_lens *lens,
			plim_target *target, int way, int stacks,
			plim_error *error)
{
	struct plimp_mappings_side *side = &mappings->sides[!mappings->current];
	int code;

	mappings_empty(side);
	code = mappings_list(side, lens, way, error);
	if (code != PLIM_OK)
		return code;
	if (stacks && side->space.count > 0) {
		code = mappings_stacks(mappings, lens, &stacks, error);
		if (code != PLIM_OK)
			return code;
	}
	if (mappings_work_out(mappings, side, target, stacks) != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "read mappings", NULL,
				  NULL);
	side->stamp = plimp_system_now();
	return PLIM_OK;
}

static plim_count mappings_sum(const struct plimp_mappings_side *side,
			       int figure)
{
	plim_sum sum = {0};
	size_t at;

	if (figure < 1 || figure >= PLIM_MAPPING_FIGURE_COUNT)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (side->known.state != PLIM_STATE_KNOWN)
		return side->known;
	for (at = 0; at < side->groups[PLIM_MAPPING_BY_KIND].count; at++)
		plim_sum_add(&sum, side->groups[PLIM_MAPPING_BY_KIND]
				       .items[at]
				       .figures[figure]);
	return plim_sum_total(&sum);
}

plim_count plimp_mappings_taken(const plim_mappings *mappings, int figure)
{
	return mappings_sum(&mappings->sides[!mappings->current], figure);
}

static int mappings_way(const struct plimp_memory_guard *guard,
			struct plimp_lens *lens)
{
	return plimp_guard_ask(guard, plimp_system_lens_predict(lens),
			       plimp_system_monotonic()) == PLIMP_GUARD_WALK
		   ? PLIMP_MAPPINGS_SMAPS
		   : PLIMP_MAPPINGS_PAGES;
}

int plim_mappings_read(plim_mappings *mappings, plim_target *target,
		       const plim_memory_options *options, plim_error *error)
{
	struct plimp_memory_guard guard = {0};
	struct plimp_lens *lens = NULL;
	struct plimp_bill_mark mark;
	plim_cost cost = {0};
	int code;

	if (mappings == NULL ||
	    (target != NULL && target->host != mappings->host))
		return plimp_fail(error, PLIM_EINVAL, 0, "read mappings", NULL,
				  NULL);
	code = plimp_guard_set(&guard, options, error);
	if (code != PLIM_OK)
		return code;
	mark = plimp_bill_begin(mappings->host, 1);
	code = plimp_system_lens_open(mappings->host, target, &lens, error);
	if (code == PLIM_OK)
		code = plimp_mappings_take(
		    mappings, lens, target, mappings_way(&guard, lens),
		    (guard.parts & PLIM_MEMORY_STACKS) != 0, error);
	if (code == PLIM_OK)
		code = plimp_system_lens_check(lens, error);
	plimp_system_lens_close(lens);
	plimp_bill_end(mappings->host, &mark, &cost);
	if (code == PLIM_OK)
		plimp_mappings_turn(mappings);
	return code;
}

static const struct plimp_mappings_side *
mappings_side(const plim_mappings *mappings)
{
	assert(mappings != NULL);
	return &mappings->sides[mappings->current];
}

plim_count plim_mappings_known(const plim_mappings *mappings)
{
	return mappings_side(mappings)->known;
}

plim_stamp plim_mappings_stamp(const plim_mappings *mappings)
{
	return mappings_side(mappings)->stamp;
}

size_t plim_mappings_count(const plim_mappings *mappings)
{
	return mappings_side(mappings)->space.count;
}

static int mappings_is_deleted(plim_bytes name)
{
	static const char mark[] = " (deleted)";
	size_t size = sizeof(mark) - 1;

	return name.size > size && name.data[0] == '/' &&
	       memcmp(name.data + name.size - size, mark, size) == 0;
}

plim_mapping plim_mappings_at(const plim_mappings *mappings, size_t index)
{
	const struct plimp_mappings_side *side = mappings_side(mappings);
	const struct plimp_mapping *from;
	const struct plimp_region *region;
	plim_mapping mapping;

	memset(&mapping, 0, sizeof(mapping));
	if (index >= side->space.count)
		return mapping;
	from = &side->space.items[index];
	region = &side->regions[index];
	mapping.start = from->start;
	mapping.end = from->end;
	mapping.offset = from->offset;
	mapping.inode = from->inode;
	mapping.device_major = (uint32_t)(from->device >> 32);
	mapping.device_minor = (uint32_t)from->device;
	mapping.protection = from->protection;
	mapping.kind = region->kind;
	mapping.tid = region->tid;
	mapping.threads = region->threads;
	mapping.name = plimp_space_name(&side->space, from);
	mapping.label = plimp_regions_label(&side->space, index, region);
	mapping.is_deleted = mappings_is_deleted(mapping.name);
	return mapping;
}

plim_count plim_mappings_figure(const plim_mappings *mappings, size_t index,
				int figure)
{
	const struct plimp_mappings_side *side = mappings_side(mappings);

	if (index >= side->space.count)
		return plim_count_missing(PLIM_REASON_NONE, 0);
	return plimp_regions_figure(&side->space.items[index], figure);
}

plim_count plim_mappings_total(const plim_mappings *mappings, int figure)
{
	return mappings_sum(mappings_side(mappings), figure);
}

/* The group, or NULL. */
static const struct plimp_region_group *
mappings_group(const plim_mappings *mappings, int by, size_t index)
{
	const struct plimp_mappings_side *side = mappings_side(mappings);

	if ((by != PLIM_MAPPING_BY_NAME && by != PLIM_MAPPING_BY_KIND) ||
	    index >= side->groups[by].count)
		return NULL;
	return &side->groups[by].items[index];
}

size_t plim_mappings_group_count(const plim_mappings *mappings, int by)
{
	if (by != PLIM_MAPPING_BY_NAME && by != PLIM_MAPPING_BY_KIND)
		return 0;
	return mappings_side(mappings)->groups[by].count;
}

plim_mapping_group plim_mappings_group(const plim_mappings *mappings, int by,
				       size_t index)
{
	const struct plimp_region_group *from =
	    mappings_group(mappings, by, index);
	plim_mapping_group group;

	memset(&group, 0, sizeof(group));
	if (from == NULL)
		return group;
	group.label = from->label;
	group.kind = from->kind;
	group.count = from->count;
	return group;
}

plim_count plim_mappings_group_figure(const plim_mappings *mappings, int by,
				      size_t index, int figure)
{
	const struct plimp_region_group *from =
	    mappings_group(mappings, by, index);

	if (from == NULL)
		return plim_count_missing(PLIM_REASON_NONE, 0);
	if (figure < 1 || figure >= PLIM_MAPPING_FIGURE_COUNT)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	return from->figures[figure];
}

plim_baseline plim_mappings_baseline(const plim_mappings *mappings)
{
	const struct plimp_mappings_side *side = mappings_side(mappings);
	plim_baseline baseline = side->baseline;

	if (side->known.state == PLIM_STATE_KNOWN)
		return baseline;
	/* Nothing was counted, which is not the same as none. */
	baseline.sub_heaps = side->known;
	baseline.resident = side->known;
	baseline.reserved = side->known;
	baseline.main_heap_size = side->known;
	baseline.main_heap_resident = side->known;
	baseline.blind_spots = 0;
	return baseline;
}
