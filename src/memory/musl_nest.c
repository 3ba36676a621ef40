/*
 * musl_nest.c - which groups of mallocng lie in slots of others (musl.h).
 *
 * A group of small slots takes one slot of a group of larger ones, which may
 * lie in one itself. That slot is no free one in its group's masks, and holds
 * no block of the program: it is subtracted. In order of address an outer
 * group comes before the inner ones, so that one pass with a stack of the
 * groups that are open tells all. No class nests in itself, so the stack is
 * never deep; one that would be is a contradiction.
 */
#include "memory/musl.h"

#include <stdlib.h>

#define MUSL_DEPTH 16

static int musl_order(const void *left, const void *right)
{
	const struct plimp_musl_group *a = left;
	const struct plimp_musl_group *b = right;

	if (a->mem != b->mem)
		return a->mem < b->mem ? -1 : 1;
	return (a->meta > b->meta) - (a->meta < b->meta);
}

/* The first address behind a group's slots. */
static uint64_t musl_end(const struct plimp_musl_group *group)
{
	if (group->bytes != 0)
		return group->mem + group->bytes;
	return group->mem + 16 + plimp_musl_stride(group) * (group->last + 1u);
}

/* The outer group's slot that holds the inner one whole, or 32. */
static unsigned musl_slot_of(const struct plimp_musl_group *outer,
			     const struct plimp_musl_group *inner)
{
	uint64_t stride = plimp_musl_stride(outer);
	uint64_t offset = inner->mem - outer->mem;
	uint64_t slot;

	if (offset < 16)
		return 32;
	slot = (offset - 16) / stride;
	if (slot > outer->last ||
	    musl_end(inner) > outer->mem + 16 + stride * (slot + 1))
		return 32;
	return (unsigned)slot;
}

/* Enters the inner group into the outer one; 0 if they contradict. */
static int musl_enter(struct plimp_musl_group *outer,
		      const struct plimp_musl_group *inner)
{
	unsigned slot = musl_slot_of(outer, inner);
	uint32_t bit;

	if (slot == 32 || outer->class == PLIMP_MUSL_LARGE)
		return 0;
	bit = UINT32_C(1) << slot;
	if ((outer->avail | outer->freed | outer->nested) & bit)
		return 0;
	outer->nested |= bit;
	return 1;
}

/* Blocks that a group holds itself go to the account of its outermost one. */
static void musl_count_blocks(struct plimp_musl_groups *groups, size_t index)
{
	struct plimp_musl_group *group = &groups->items[index];
	struct plimp_musl_group *top = &groups->items[group->top];
	uint32_t not_live = group->avail | group->freed | group->nested;

	for (unsigned slot = 0; slot <= group->last; slot++) {
		if (not_live >> slot & 1)
			continue;
		top->live++;
		top->stride = plimp_musl_stride(group);
		top->block = group->mem + 16 + slot * top->stride;
	}
}

/* Lies [start, end) in writable private mappings without a gap? The space is
 * ascending, and so are the groups: `*index` goes on from one to the next. */
static int musl_is_mapped(const struct plimp_space *space, size_t *index,
			  uint64_t start, uint64_t end)
{
	const struct plimp_mapping *items = space->items;
	size_t i;

	while (*index < space->count && items[*index].end <= start)
		(*index)++;
	for (i = *index; i < space->count && items[i].start <= start; i++) {
		if ((items[i].protection & PLIMP_MAY_WRITE) == 0)
			return 0;
		if (end <= items[i].end)
			return 1;
		start = items[i].end;
	}
	return 0;
}

/* Marks the outermost groups that are mapped. */
static void musl_mark_mapped(struct plimp_musl_groups *groups,
			     const struct plimp_space *space)
{
	size_t index = 0;

	for (size_t i = 0; i < groups->count; i++) {
		struct plimp_musl_group *group = &groups->items[i];

		if (group->top == i)
			group->is_mapped = (uint8_t)musl_is_mapped(
			    space, &index, group->mem, musl_end(group));
	}
}

size_t plimp_musl_nest(struct plimp_musl_groups *groups,
		       const struct plimp_space *space)
{
	size_t open[MUSL_DEPTH];
	size_t depth = 0;
	size_t contradictions = 0;

	if (groups->count > 1)
		qsort(groups->items, groups->count, sizeof(*groups->items),
		      musl_order);
	for (size_t i = 0; i < groups->count; i++) {
		struct plimp_musl_group *group = &groups->items[i];
		int alone = group->bytes != 0 || !group->freeable;

		while (depth > 0 &&
		       musl_end(&groups->items[open[depth - 1]]) <= group->mem)
			depth--;
		group->top = (uint32_t)i;
		if (alone != (depth == 0)) {
			contradictions++;
		} else if (!alone) {
			struct plimp_musl_group *outer =
			    &groups->items[open[depth - 1]];

			if (musl_enter(outer, group))
				group->top = outer->top;
			else
				contradictions++;
		}
		if (depth < MUSL_DEPTH)
			open[depth++] = i;
		else
			contradictions++;
	}
	for (size_t i = 0; i < groups->count; i++)
		musl_count_blocks(groups, i);
	musl_mark_mapped(groups, space);
	return contradictions;
}
