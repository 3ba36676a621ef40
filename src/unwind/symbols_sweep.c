/*
 * symbols_sweep.c - overlapping ranges with names become pieces with one name
 * each.
 *
 * One pass over the ranges by their starts, with a heap of those that have
 * begun: what lies between two starts belongs to the range of the highest
 * order, and after its end to the next one that has not ended. Ended ranges
 * are taken out when they come to the top. At most two pieces come of a range,
 * so that hostile overlaps cost a logarithm and no more.
 */
#include "unwind/symbols_table.h"

#include "core/memory.h"

#include <assert.h>

struct sweep {
	struct plimp_symbol_maker *maker;
	const struct plimp_symbol_entry *entries;
	const uint32_t *order;
	uint32_t *heap; /* indices of entries, the highest order first */
	uint8_t *retired;
	size_t count;
	uint64_t at; /* all before it has its pieces */
};

int plimp_symbol_piece(struct plimp_symbol_maker *maker,
		       const struct plimp_symbol_entry *entry, uint64_t from,
		       uint64_t to)
{
	int failed;

	assert(from >= entry->start && to > from);
	failed = plimp_reserve(maker->allocator, (void **)&maker->starts,
			       &maker->starts_capacity, maker->piece_count + 1,
			       1024, sizeof(*maker->starts));
	if (!failed)
		failed = plimp_reserve(
		    maker->allocator, (void **)&maker->pieces,
		    &maker->pieces_capacity, maker->piece_count + 1, 1024,
		    sizeof(*maker->pieces));
	if (failed)
		return failed;
	maker->starts[maker->piece_count] = from;
	maker->pieces[maker->piece_count++] = (struct plimp_symbol_piece){
	    .size = (uint32_t)(to - from),
	    .back = (uint32_t)(from - entry->start),
	    .whole = entry->size ? entry->size : (uint32_t)(to - from),
	    .name = entry->name,
	    .name_size = entry->name_size,
	    .source = entry->source,
	};
	return PLIM_OK;
}

static void sweep_push(struct sweep *sweep, uint32_t item)
{
	size_t at = sweep->count++;

	while (at) {
		size_t parent = (at - 1) / 2;

		if (sweep->order[sweep->heap[parent]] > sweep->order[item])
			break;
		sweep->heap[at] = sweep->heap[parent];
		at = parent;
	}
	sweep->heap[at] = item;
}

static void sweep_pop(struct sweep *sweep)
{
	uint32_t item = sweep->heap[--sweep->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= sweep->count)
			break;
		if (child + 1 < sweep->count &&
		    sweep->order[sweep->heap[child + 1]] >
			sweep->order[sweep->heap[child]])
			child++;
		if (sweep->order[sweep->heap[child]] < sweep->order[item])
			break;
		sweep->heap[at] = sweep->heap[child];
		at = child;
	}
	sweep->heap[at] = item;
}

static uint64_t sweep_end(const struct sweep *sweep, uint32_t item)
{
	return sweep->entries[item].start + sweep->entries[item].size;
}

/* The range that covers `at`, or `none`. */
static uint32_t sweep_top(struct sweep *sweep, uint32_t none)
{
	while (sweep->count && sweep_end(sweep, sweep->heap[0]) <= sweep->at)
		sweep_pop(sweep);
	return sweep->count ? sweep->heap[0] : none;
}

/* Makes the pieces up to `limit`. */
static int sweep_on(struct sweep *sweep, uint64_t limit)
{
	while (sweep->at < limit) {
		uint32_t item = sweep_top(sweep, UINT32_MAX);
		uint64_t to;
		int failed;

		if (item == UINT32_MAX)
			break;
		to = sweep_end(sweep, item) < limit ? sweep_end(sweep, item)
						    : limit;
		if (!sweep->retired[item]) {
			failed = plimp_symbol_piece(
			    sweep->maker, &sweep->entries[item], sweep->at, to);
			if (failed)
				return failed;
		}
		sweep->at = to;
	}
	sweep->at = limit;
	return PLIM_OK;
}

static int sweep_all(struct sweep *sweep, size_t count, int retires)
{
	for (uint32_t i = 0; i < count; i++) {
		int failed = sweep_on(sweep, sweep->entries[i].start);
		uint32_t top;

		assert(sweep->entries[i].size > 0);
		if (failed)
			return failed;
		top = sweep_top(sweep, i);
		if (retires && sweep->order[top] > sweep->order[i])
			sweep->retired[i] = 1;
		sweep_push(sweep, i);
	}
	return sweep_on(sweep, UINT64_MAX);
}

int plimp_symbol_sweep(struct plimp_symbol_maker *maker,
		       const struct plimp_symbol_entry *entries,
		       const uint32_t *order, size_t count, int retires)
{
	struct sweep sweep = {
	    .maker = maker, .entries = entries, .order = order};
	int failed = PLIM_ENOMEM;

	if (!count)
		return PLIM_OK;
	sweep.heap =
	    plimp_allocate(maker->allocator, count, sizeof(*sweep.heap));
	sweep.retired =
	    plimp_allocate(maker->allocator, count, sizeof(*sweep.retired));
	if (sweep.heap && sweep.retired)
		failed = sweep_all(&sweep, count, retires);
	plimp_release(maker->allocator, sweep.heap, count, sizeof(*sweep.heap));
	plimp_release(maker->allocator, sweep.retired, count,
		      sizeof(*sweep.retired));
	return failed;
}
