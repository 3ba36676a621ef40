/*
 * with_dwarf_table.c - ranges of addresses into a table that is searched by
 * halving: which of nested ranges is the innermost one at an address.
 *
 * Ranges are sorted so that an outer one comes before those inside it; a stack
 * holds those that are open, and each opening and closing writes where from on
 * another one is the innermost. Every range makes two segments at most.
 */
#if defined(PLIM_WITH_DWARF)

#include "unwind/with_dwarf_calls.h"

#include <assert.h>
#include <stdlib.h>

/* More are not kept, of one list; memory is bounded by the cell besides. */
#define TABLE_LIMIT 33554432u
/* Ranges of one DIE. */
#define TABLE_RANGES 65536
/* Ranges nested deeper are cut off. */
#define TABLE_DEPTH 1024

int plimp_dwarf_interval_add(struct plimp_dwarf_intervals *list, uint64_t low,
			     uint64_t high, uint32_t node)
{
	if (list->count == list->capacity) {
		size_t wanted = list->capacity == 0 ? 64 : list->capacity * 2;
		void *more;

		if (list->capacity >= TABLE_LIMIT)
			return PLIM_ELIMIT;
		more = realloc(list->items, wanted * sizeof list->items[0]);
		if (more == NULL)
			return PLIM_ENOMEM;
		list->items = more;
		list->capacity = wanted;
	}
	list->items[list->count].low = low;
	list->items[list->count].high = high;
	list->items[list->count].node = node;
	list->count++;
	return PLIM_OK;
}

/* Code that the linker has thrown away keeps its DIEs, with ranges from 0 on
 * (1 in a list of ranges, GNU ld; the highest addresses, lld). Address 0 of a
 * file is never code. */
int plimp_dwarf_ranges_add(const struct plimp_dwarf_library *library,
			   Dwarf_Die *die, uint32_t node,
			   struct plimp_dwarf_intervals *list)
{
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t offset = 0;
	int result = PLIM_OK;
	int left = TABLE_RANGES;

	while (result == PLIM_OK && left-- > 0) {
		offset = library->dwarf_ranges(die, offset, &base, &low, &high);
		if (offset <= 0)
			break;
		if (low > 1 && low < high)
			result =
			    plimp_dwarf_interval_add(list, low, high, node);
	}
	return result;
}

/* Outer before inner; of equal ones, a parent before its child, since nodes
 * are numbered on the way down. */
static int table_compare(const void *left, const void *right)
{
	const struct plimp_dwarf_interval *a = left;
	const struct plimp_dwarf_interval *b = right;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	if (a->high != b->high)
		return a->high > b->high ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void table_emit(struct plimp_dwarf_table *table, uint64_t start,
		       uint32_t node)
{
	if (table->count > 0 && table->items[table->count - 1].start == start)
		table->count--;
	if (table->count > 0 && table->items[table->count - 1].node == node)
		return;
	table->items[table->count].start = start;
	table->items[table->count].node = node;
	table->count++;
}

static void table_fill(const struct plimp_dwarf_intervals *list,
		       struct plimp_dwarf_table *table)
{
	struct plimp_dwarf_interval open[TABLE_DEPTH];
	size_t depth = 0;
	size_t i;

	for (i = 0; i <= list->count; i++) {
		const struct plimp_dwarf_interval *item = &list->items[i];
		uint64_t high;

		while (depth > 0 && (i == list->count ||
				     open[depth - 1].high <= item->low)) {
			high = open[--depth].high;
			table_emit(table, high,
				   depth > 0 ? open[depth - 1].node
					     : PLIMP_DWARF_NONE);
		}
		if (i == list->count || depth == TABLE_DEPTH)
			continue;
		high = item->high;
		if (depth > 0 && high > open[depth - 1].high)
			high = open[depth - 1].high;
		open[depth] = *item;
		open[depth++].high = high;
		table_emit(table, item->low, item->node);
	}
}

int plimp_dwarf_flatten(struct plimp_dwarf_intervals *list,
			struct plimp_dwarf_table *table)
{
	struct plimp_dwarf_segment *items;

	table->count = 0;
	table->items = NULL;
	if (list->count == 0) {
		free(list->items);
		return PLIM_OK;
	}
	qsort(list->items, list->count, sizeof list->items[0], table_compare);
	table->items = malloc((2 * list->count + 1) * sizeof items[0]);
	if (table->items != NULL) {
		table_fill(list, table);
		assert(table->count <= 2 * list->count + 1);
		items = realloc(table->items, table->count * sizeof items[0]);
		if (items != NULL)
			table->items = items;
	}
	free(list->items);
	return table->items == NULL ? PLIM_ENOMEM : PLIM_OK;
}

uint32_t plimp_dwarf_lookup(const struct plimp_dwarf_table *table,
			    uint64_t address)
{
	size_t low = 0;
	size_t high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low == 0 ? PLIMP_DWARF_NONE : table->items[low - 1].node;
}

#else
typedef int plimp_with_dwarf_table_is_empty;
#endif
