/*
 * table.c - looking rules up. A block of 256 bytes of text leads to the few
 * rows of it, which are searched by halves.
 */
#include "unwind/table.h"

#include "core/memory.h"

#include <assert.h>

size_t plimp_rules_row(const struct plimp_rules *rules, uint64_t address)
{
	uint64_t offset = address - rules->base;

	if (offset >= rules->span)
		return rules->row_count;
	const uint32_t *index = rules->index + (offset >> rules->shift);
	size_t low = index[0];
	size_t high = index[1];

	/* The first row behind `offset` is in low..high. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (rules->at[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : rules->row_count;
}

const struct plimp_rule *plimp_rules_find(const struct plimp_rules *rules,
					  uint64_t address)
{
	size_t row = plimp_rules_row(rules, address);

	if (row == rules->row_count)
		return rules->rules;
	return rules->rules + (rules->number[row] & PLIMP_ROW_RULE);
}

/* Rows of one function, none of them a gap, lead back to the one that begins
 * it. A hostile table may have one row per byte: the search is bounded. */
int plimp_rules_function(const struct plimp_rules *rules, uint64_t address,
			 uint64_t *start)
{
	size_t row = plimp_rules_row(rules, address);

	if (row == rules->row_count)
		return 0;
	for (size_t steps = 0; steps < 65536; steps++) {
		if (rules->number[row] & PLIMP_ROW_BEGINS) {
			*start = rules->base + rules->at[row];
			return 1;
		}
		if (!row-- || !(rules->number[row] & PLIMP_ROW_RULE))
			return 0;
	}
	return 0;
}

void plimp_rules_free(struct plimp_rules *rules,
		      const plim_allocator *allocator)
{
	if (!rules)
		return;
	plimp_release(allocator, rules->at, rules->row_count,
		      sizeof(*rules->at));
	plimp_release(allocator, rules->number, rules->row_count,
		      sizeof(*rules->number));
	plimp_release(allocator, rules->index, rules->index_count,
		      sizeof(*rules->index));
	plimp_release(allocator, rules->rules, rules->rule_count,
		      sizeof(*rules->rules));
	plimp_release(allocator, rules->side, rules->side_count,
		      sizeof(*rules->side));
	plimp_release(allocator, rules->expressions, rules->expression_bytes,
		      1);
	plimp_release(allocator, rules, 1, sizeof(*rules));
}

struct plimp_rules_facts plimp_rules_facts(const struct plimp_rules *rules)
{
	return rules->facts;
}

const struct plimp_code_range *plimp_code_find(const struct plimp_code_map *map,
					       uint64_t address)
{
	size_t low = 0;
	size_t high = map->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->ranges[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == map->count || address < map->ranges[low].start)
		return NULL;
	return map->ranges + low;
}
