/*
 * regions_group.c - the mappings of a process added up, by label and by kind.
 *
 * Pointers to the mappings are sorted by what they are added up under, each
 * run of like ones becomes a group, and the groups are sorted by what they
 * hold. What is not known of a member is counted as missing in the sum: the
 * total is then a lower bound, or unknown if it is for all.
 */
#include "core/memory.h"
#include "memory/regions.h"

#include <assert.h>
#include <string.h>

/* The figures of a mapping: where each lies. SIZE is computed. */
static const size_t grouping_places[PLIM_MAPPING_FIGURE_COUNT] = {
#define GROUPING_PLACE(name, member) \
	[PLIM_MAPPING_FIGURE_##name] = offsetof(struct plimp_mapping, member)
    GROUPING_PLACE(RESIDENT, resident),
    GROUPING_PLACE(PRIVATE_DIRTY, private_dirty),
    GROUPING_PLACE(PRIVATE_CLEAN, private_clean),
    GROUPING_PLACE(SHARED_CLEAN, shared_clean),
    GROUPING_PLACE(SHARED_DIRTY, shared_dirty),
    GROUPING_PLACE(PSS, pss),
    GROUPING_PLACE(ANONYMOUS, anonymous),
    GROUPING_PLACE(SWAP, swap),
    GROUPING_PLACE(SWAP_PSS, swap_pss),
    GROUPING_PLACE(HUGE, huge),
    GROUPING_PLACE(LAZY_FREE, lazy_free),
    GROUPING_PLACE(LOCKED, locked),
    GROUPING_PLACE(HUGETLB, hugetlb),
    GROUPING_PLACE(EXCLUSIVE, exclusive),
    GROUPING_PLACE(PSS_DIRTY, pss_dirty),
#undef GROUPING_PLACE
};

plim_count plimp_regions_figure(const struct plimp_mapping *mapping, int figure)
{
	plim_count found;

	if (figure == PLIM_MAPPING_FIGURE_SIZE)
		return plim_count_known(mapping->end - mapping->start,
					PLIM_METHOD_MAPS);
	if (figure < 1 || figure >= PLIM_MAPPING_FIGURE_COUNT)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	memcpy(&found, (const char *)mapping + grouping_places[figure],
	       sizeof(found));
	return found;
}

/* A mapping on its way into a group. */
struct grouping_item {
	plim_bytes label; /* empty when kinds are added up */
	uint8_t kind;
	const struct plimp_mapping *mapping;
};

static int grouping_compare_bytes(plim_bytes a, plim_bytes b)
{
	size_t common = a.size < b.size ? a.size : b.size;
	int order = common > 0 ? memcmp(a.data, b.data, common) : 0;

	if (order != 0)
		return order;
	return a.size < b.size ? -1 : a.size > b.size;
}

static int grouping_compare_items(const struct grouping_item *a,
				  const struct grouping_item *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return grouping_compare_bytes(a->label, b->label);
}

/* Groups: largest resident first, unknown last, then by size, then as the
 * items stood. */
static int grouping_compare_groups(const struct plimp_region_group *a,
				   const struct plimp_region_group *b)
{
	static const int figures[] = {PLIM_MAPPING_FIGURE_RESIDENT,
				      PLIM_MAPPING_FIGURE_SIZE};
	size_t at;

	for (at = 0; at < sizeof(figures) / sizeof(figures[0]); at++) {
		int order = plim_count_order(a->figures[figures[at]],
					     b->figures[figures[at]], 1);

		if (order != 0)
			return order;
	}
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return grouping_compare_bytes(a->label, b->label);
}

/* Heap sorts, in place: qsort() may allocate. */
static void grouping_sift_items(struct grouping_item *items, size_t root,
				size_t count)
{
	struct grouping_item moved = items[root];
	size_t child;

	for (; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count &&
		    grouping_compare_items(&items[child], &items[child + 1]) <
			0)
			child++;
		if (grouping_compare_items(&moved, &items[child]) >= 0)
			break;
		items[root] = items[child];
	}
	items[root] = moved;
}

static void grouping_sort_items(struct grouping_item *items, size_t count)
{
	size_t at;

	for (at = count / 2; at > 0; at--)
		grouping_sift_items(items, at - 1, count);
	for (at = count; at > 1; at--) {
		struct grouping_item last = items[at - 1];

		items[at - 1] = items[0];
		items[0] = last;
		grouping_sift_items(items, 0, at - 1);
	}
}

static void grouping_sift_groups(struct plimp_region_group *groups, size_t root,
				 size_t count)
{
	struct plimp_region_group moved = groups[root];
	size_t child;

	for (; (child = 2 * root + 1) < count; root = child) {
		if (child + 1 < count &&
		    grouping_compare_groups(&groups[child],
					    &groups[child + 1]) < 0)
			child++;
		if (grouping_compare_groups(&moved, &groups[child]) >= 0)
			break;
		groups[root] = groups[child];
	}
	groups[root] = moved;
}

static void grouping_sort_groups(struct plimp_region_group *groups,
				 size_t count)
{
	size_t at;

	for (at = count / 2; at > 0; at--)
		grouping_sift_groups(groups, at - 1, count);
	for (at = count; at > 1; at--) {
		struct plimp_region_group last = groups[at - 1];

		groups[at - 1] = groups[0];
		groups[0] = last;
		grouping_sift_groups(groups, 0, at - 1);
	}
}

/* Adds up one run of like items. */
static void grouping_fill(struct plimp_region_group *group,
			  const struct grouping_item *items, size_t count)
{
	int figure;

	memset(group, 0, sizeof(*group));
	group->label = items[0].label;
	group->kind = items[0].kind;
	group->count = count;
	if (group->label.size == 0) {
		group->label.data = plim_mapping_kind_word(group->kind);
		group->label.size = strlen(group->label.data);
	}
	for (figure = 1; figure < PLIM_MAPPING_FIGURE_COUNT; figure++) {
		plim_sum sum = {0};
		size_t at;

		for (at = 0; at < count; at++)
			plim_sum_add(&sum, plimp_regions_figure(
					       items[at].mapping, figure));
		group->figures[figure] = plim_sum_total(&sum);
	}
}

/* The end of the run of like items that begins at `first`. */
static size_t grouping_run(const struct grouping_item *items, size_t first,
			   size_t count)
{
	size_t after = first + 1;

	while (after < count &&
	       grouping_compare_items(&items[first], &items[after]) == 0)
		after++;
	return after;
}

static int grouping_make(const plim_allocator *allocator,
			 const struct grouping_item *items, size_t count,
			 struct plimp_region_groups *groups)
{
	void *array = groups->items;
	size_t needed = 0;
	size_t at;

	for (at = 0; at < count; at = grouping_run(items, at, count))
		needed++;
	if (plimp_reserve(allocator, &array, &groups->capacity, needed, 32,
			  sizeof(*groups->items)) != PLIM_OK)
		return PLIM_ENOMEM;
	groups->items = array;
	for (at = 0; at < count;) {
		size_t after = grouping_run(items, at, count);

		grouping_fill(&groups->items[groups->count++], items + at,
			      after - at);
		at = after;
	}
	assert(groups->count == needed);
	grouping_sort_groups(groups->items, groups->count);
	return PLIM_OK;
}

int plimp_regions_group(const plim_allocator *allocator,
			const struct plimp_space *space,
			const struct plimp_region *regions, int by,
			struct plimp_region_groups *groups)
{
	struct grouping_item *items;
	size_t at;
	int code;

	groups->count = 0;
	if (space->count == 0)
		return PLIM_OK;
	items = plimp_allocate(allocator, space->count, sizeof(*items));
	if (items == NULL)
		return PLIM_ENOMEM;
	for (at = 0; at < space->count; at++) {
		items[at].mapping = &space->items[at];
		items[at].kind = regions[at].kind;
		if (by == PLIM_MAPPING_BY_NAME)
			items[at].label =
			    plimp_regions_label(space, at, &regions[at]);
	}
	grouping_sort_items(items, space->count);
	code = grouping_make(allocator, items, space->count, groups);
	plimp_release(allocator, items, space->count, sizeof(*items));
	return code;
}

void plimp_region_groups_release(const plim_allocator *allocator,
				 struct plimp_region_groups *groups)
{
	plimp_release(allocator, groups->items, groups->capacity,
		      sizeof(*groups->items));
	memset(groups, 0, sizeof(*groups));
}
