/*
 * heaps.c - the adders of a result: what recognisers and walks fill in.
 *
 * Everything is bounded, because a hostile heap can be endless. Hostages are
 * kept in a binary heap with the least at its root, so that the many that
 * keep little cost one comparison each.
 */
#include "memory/heaps.h"

#include "core/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void plimp_heap_list_init(struct plimp_heap_list *list,
			  const plim_allocator *allocator, size_t hostages)
{
	assert(list != NULL);
	memset(list, 0, sizeof *list);
	if (allocator != NULL)
		list->allocator = *allocator;
	list->hostage_most = hostages == 0 ? PLIMP_HOSTAGES : hostages;
	if (list->hostage_most > PLIMP_HOSTAGES_MOST)
		list->hostage_most = PLIMP_HOSTAGES_MOST;
}

static void heap_drop_rows(plim_heap *heap)
{
	plimp_release(&heap->allocator, heap->arenas, heap->arena_capacity,
		      sizeof *heap->arenas);
	plimp_release(&heap->allocator, heap->hostages, heap->hostage_capacity,
		      sizeof *heap->hostages);
	heap->arenas = NULL;
	heap->arena_count = 0;
	heap->arena_capacity = 0;
	heap->hostages = NULL;
	heap->hostage_count = 0;
	heap->hostage_capacity = 0;
}

void plimp_heap_list_release(struct plimp_heap_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		heap_drop_rows(list->items[i]);
		plimp_release(&list->allocator, list->items[i], 1,
			      sizeof *list->items[i]);
	}
	list->count = 0;
}

int plimp_heap_list_add(struct plimp_heap_list *list, int kind,
			plim_heap **heap)
{
	plim_heap *made;

	assert(plim_heap_kind_word(kind) != NULL);
	if (list->count == PLIMP_HEAPS_MOST)
		return PLIM_ELIMIT;
	made = plimp_allocate(&list->allocator, 1, sizeof *made);
	if (made == NULL)
		return PLIM_ENOMEM;
	made->allocator = list->allocator;
	made->hostage_most = list->hostage_most;
	made->kind = kind;
	made->depth = PLIM_DEPTH_RECOGNISED;
	made->confidence = PLIM_CONFIDENCE_POSSIBLE;
	made->missing = plim_count_missing(PLIM_REASON_NOT_WALKED, 0);
	list->items[list->count++] = made;
	*heap = made;
	return PLIM_OK;
}

plim_heap *plimp_heap_list_find(const struct plimp_heap_list *list, int kind)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i]->kind == kind)
			return list->items[i];
	return NULL;
}

static int heap_rank(const plim_heap *heap)
{
	return heap->confidence * 2 + (heap->depth == PLIM_DEPTH_WALKED);
}

void plimp_heap_list_sort(struct plimp_heap_list *list)
{
	size_t i;
	size_t j;

	for (i = 1; i < list->count; i++) {
		plim_heap *heap = list->items[i];

		for (j = i;
		     j > 0 && heap_rank(list->items[j - 1]) < heap_rank(heap);
		     j--)
			list->items[j] = list->items[j - 1];
		list->items[j] = heap;
	}
}

plim_count plimp_heap_list_sum(const struct plimp_heap_list *list, int figure)
{
	plim_sum sum;
	size_t i;

	if (plim_heap_figure_name(figure) == NULL)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (list->count == 0)
		return plim_count_missing(PLIM_REASON_HEAP_NOT_FOUND, 0);
	memset(&sum, 0, sizeof sum);
	for (i = 0; i < list->count; i++)
		plim_sum_add(&sum, plim_heap_figure(list->items[i], figure));
	return plim_sum_total(&sum);
}

void plimp_heap_add_evidence(plim_heap *heap, const char *format, ...)
{
	struct plimp_evidence *row;
	va_list arguments;

	if (heap->evidence_count == PLIMP_EVIDENCE_MOST)
		return;
	row = &heap->evidence[heap->evidence_count++];
	va_start(arguments, format);
	vsnprintf(row->text, sizeof row->text, format, arguments);
	va_end(arguments);
}

int plimp_heap_add_arena(plim_heap *heap, struct plimp_arena **arena)
{
	void *rows = heap->arenas;
	int code;

	if (heap->arena_count == PLIMP_ARENAS_MOST)
		return PLIM_ELIMIT;
	code = plimp_reserve(&heap->allocator, &rows, &heap->arena_capacity,
			     heap->arena_count + 1, 8, sizeof *heap->arenas);
	heap->arenas = rows;
	if (code != PLIM_OK)
		return code;
	*arena = &heap->arenas[heap->arena_count++];
	memset(*arena, 0, sizeof **arena);
	return PLIM_OK;
}

static int hostage_is_less(const plim_hostage *a, const plim_hostage *b)
{
	if (a->kept_bytes != b->kept_bytes)
		return a->kept_bytes < b->kept_bytes;
	return a->address > b->address;
}

static void hostage_sink(plim_hostage *items, size_t count, size_t at)
{
	plim_hostage moved = items[at];

	for (;;) {
		size_t child = at * 2 + 1;

		if (child >= count)
			break;
		if (child + 1 < count &&
		    hostage_is_less(&items[child + 1], &items[child]))
			child++;
		if (!hostage_is_less(&items[child], &moved))
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = moved;
}

static void hostage_rise(plim_hostage *items, size_t at)
{
	plim_hostage moved = items[at];

	while (at > 0 && hostage_is_less(&moved, &items[(at - 1) / 2])) {
		items[at] = items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	items[at] = moved;
}

int plimp_heap_add_hostage(plim_heap *heap, const plim_hostage *hostage)
{
	void *rows = heap->hostages;
	int code;

	if (hostage->kept_bytes == 0)
		return PLIM_OK;
	if (heap->hostage_count == heap->hostage_most) {
		if (hostage_is_less(&heap->hostages[0], hostage)) {
			heap->hostages[0] = *hostage;
			hostage_sink(heap->hostages, heap->hostage_count, 0);
		}
		return PLIM_OK;
	}
	code = plimp_reserve(&heap->allocator, &rows, &heap->hostage_capacity,
			     heap->hostage_count + 1, PLIMP_HOSTAGES,
			     sizeof *heap->hostages);
	heap->hostages = rows;
	if (code != PLIM_OK)
		return code;
	heap->hostages[heap->hostage_count] = *hostage;
	hostage_rise(heap->hostages, heap->hostage_count++);
	return PLIM_OK;
}

uint64_t plimp_heap_hostage_floor(const plim_heap *heap)
{
	return heap->hostage_count == heap->hostage_most
		   ? heap->hostages[0].kept_bytes
		   : 0;
}

void plimp_heap_add_check(plim_heap *heap, const char *name, int state,
			  plim_count expected, plim_count found,
			  const char *format, ...)
{
	plim_heap_check *check;
	va_list arguments;

	assert(plim_heap_check_word(state) != NULL);
	if (heap->check_count == PLIMP_CHECKS_MOST)
		return;
	check = &heap->checks[heap->check_count++];
	memset(check, 0, sizeof *check);
	check->name = name;
	check->state = state;
	check->expected = expected;
	check->found = found;
	if (format == NULL)
		return;
	va_start(arguments, format);
	vsnprintf(check->text, sizeof check->text, format, arguments);
	va_end(arguments);
}

void plimp_heap_set(plim_heap *heap, int figure, uint64_t value)
{
	plimp_heap_set_bounded(heap, figure, value, PLIM_BOUND_EXACT);
}

void plimp_heap_set_bounded(plim_heap *heap, int figure, uint64_t value,
			    int bound)
{
	assert(plim_heap_figure_name(figure) != NULL);
	heap->figures[figure] =
	    plim_count_bounded(value, PLIM_METHOD_HEAP_WALK, bound);
}

void plimp_heap_set_missing(plim_heap *heap, int figure, int reason)
{
	assert(plim_heap_figure_name(figure) != NULL);
	heap->figures[figure] = plim_count_missing(reason, 0);
}

void plimp_heap_refuse(plim_heap *heap, int reason, int32_t code,
		       const char *format, ...)
{
	va_list arguments;

	assert(reason != PLIM_REASON_NONE);
	heap_drop_rows(heap);
	memset(heap->figures, 0, sizeof heap->figures);
	heap->depth = PLIM_DEPTH_REFUSED;
	heap->missing = plim_count_missing(reason, code);
	va_start(arguments, format);
	vsnprintf(heap->why, sizeof heap->why, format, arguments);
	va_end(arguments);
}

void plimp_heap_finish(plim_heap *heap)
{
	size_t count = heap->hostage_count;

	/* The least goes to the end of what is left, again and again. */
	while (count > 1) {
		plim_hostage least = heap->hostages[0];

		heap->hostages[0] = heap->hostages[--count];
		hostage_sink(heap->hostages, count, 0);
		heap->hostages[count] = least;
	}
	heap->depth = PLIM_DEPTH_WALKED;
	heap->missing = plim_count_known(0, PLIM_METHOD_HEAP_WALK);
	heap->why[0] = '\0';
}
