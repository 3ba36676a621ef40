/*
 * symbols_alias.c - which of several symbols names a piece of code.
 *
 * The alias rule, for symbols that start at one address, each point deciding
 * what those before it leave open: typed (function, ifunc) before untyped;
 * global (and GNU unique) before weak before local; sized before unsized;
 * fewest leading underscores; the shortest name; the first one by its bytes;
 * the static table before the dynamic one.
 *
 * Of sized functions that overlap, the one that starts last has the address,
 * and what it leaves goes on belonging to the one around it. An unsized one
 * that shares its start with a sized one is as large as that; else it fills
 * the gap behind its start, up to the next symbol or the end of its section,
 * and so does an untyped symbol. None of those takes anything from a sized
 * function, and none reaches over one.
 */
#include "unwind/symbols_table.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

/* Names that agree for longer are as good as each other: a hostile file has
 * many of them. */
enum { ALIAS_COMPARED = 256 };

static int compare_names(const struct plimp_symbol_maker *maker,
			 const struct plimp_symbol_entry *a,
			 const struct plimp_symbol_entry *b)
{
	size_t size = a->name_size;

	if (a->underscores != b->underscores)
		return a->underscores < b->underscores ? -1 : 1;
	if (a->name_size != b->name_size)
		return a->name_size < b->name_size ? -1 : 1;
	if (a->name == b->name)
		return 0;
	return memcmp(maker->strings + a->name, maker->strings + b->name,
		      size < ALIAS_COMPARED ? size : ALIAS_COMPARED);
}

int plimp_symbol_compare(const struct plimp_symbol_maker *maker,
			 const struct plimp_symbol_entry *a,
			 const struct plimp_symbol_entry *b)
{
	int order;

	if (a->is_untyped != b->is_untyped)
		return a->is_untyped ? 1 : -1;
	if (a->binding != b->binding)
		return a->binding < b->binding ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	order = compare_names(maker, a, b);
	if (order || a->source == b->source)
		return order;
	return a->source == PLIMP_SYMBOL_DYNSYM	  ? 1
	       : b->source == PLIMP_SYMBOL_DYNSYM ? -1
						  : 0;
}

/* The best first. Groups are small but for a hostile file's, so they are
 * sorted in place by a heap, which has no worst case. */
static void group_sink(const struct plimp_symbol_maker *maker,
		       struct plimp_symbol_entry *group, size_t at,
		       size_t count)
{
	struct plimp_symbol_entry item = group[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= count)
			break;
		if (child + 1 < count &&
		    plimp_symbol_compare(maker, &group[child + 1],
					 &group[child]) > 0)
			child++;
		if (plimp_symbol_compare(maker, &group[child], &item) <= 0)
			break;
		group[at] = group[child];
		at = child;
	}
	group[at] = item;
}

static void group_sort(const struct plimp_symbol_maker *maker,
		       struct plimp_symbol_entry *group, size_t count)
{
	for (size_t i = count / 2; i--;)
		group_sink(maker, group, i, count);
	for (size_t i = count; i-- > 1;) {
		struct plimp_symbol_entry worst = group[0];

		group[0] = group[i];
		group[i] = worst;
		group_sink(maker, group, 0, i);
	}
}

/* What remains to be done with one group: sized entries go to `sized`, best
 * last, a filler to `fillers`. */
struct alias {
	struct plimp_symbol_maker *maker;
	struct plimp_symbol_entry *sized;
	size_t sized_count;
	struct plimp_symbol_entry *fillers;
	size_t filler_count;
};

/*
 * Of a sorted group. Walking from the best on, an entry is of use only where
 * it reaches further than all before it. They go in with the worst first, so
 * that the order of a sweep is the order of the array.
 */
static void group_take(struct alias *alias,
		       const struct plimp_symbol_entry *group, size_t count)
{
	uint32_t widest = 0, reached = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count && !group[i].is_untyped; i++)
		if (group[i].size > widest)
			widest = group[i].size;
	if (!widest) {
		alias->fillers[alias->filler_count++] = group[0];
		return;
	}
	for (size_t i = 0; i < count && !group[i].is_untyped; i++) {
		uint32_t size = group[i].size ? group[i].size : widest;

		if (size <= reached)
			continue;
		reached = size;
		alias->sized[alias->sized_count + kept] = group[i];
		alias->sized[alias->sized_count + kept++].size = size;
	}
	for (size_t i = 0; i < kept / 2; i++) {
		struct plimp_symbol_entry *low =
		    &alias->sized[alias->sized_count + i];
		struct plimp_symbol_entry *high =
		    &alias->sized[alias->sized_count + kept - 1 - i];
		struct plimp_symbol_entry swap = *low;

		*low = *high;
		*high = swap;
	}
	alias->sized_count += kept;
}

static void take_groups(struct alias *alias)
{
	struct plimp_symbol_maker *maker = alias->maker;

	for (size_t i = 0; i < maker->count;) {
		size_t end = i + 1;

		while (end < maker->count &&
		       maker->entries[end].start == maker->entries[i].start)
			end++;
		if (end - i > 1)
			group_sort(maker, maker->entries + i, end - i);
		group_take(alias, maker->entries + i, end - i);
		i = end;
	}
}

/* A filler's piece between two starts, if it has one: those of the sized
 * functions' pieces `old` from `*next` on. */
static int filler_piece(struct alias *alias,
			const struct plimp_symbol_maker *old, size_t next,
			size_t index)
{
	struct plimp_symbol_entry filler = alias->fillers[index];
	uint64_t end =
	    filler.start + (filler.size ? filler.size : filler.limit);

	filler.size = 0;
	if (next &&
	    filler.start < old->starts[next - 1] + old->pieces[next - 1].size)
		return PLIM_OK;
	if (next < old->piece_count && old->starts[next] < end)
		end = old->starts[next];
	if (index + 1 < alias->filler_count &&
	    alias->fillers[index + 1].start < end)
		end = alias->fillers[index + 1].start;
	return plimp_symbol_piece(alias->maker, &filler, filler.start, end);
}

static int copy_piece(struct plimp_symbol_maker *maker,
		      const struct plimp_symbol_maker *old, size_t at)
{
	const struct plimp_symbol_piece *piece = &old->pieces[at];
	struct plimp_symbol_entry entry = {
	    .start = old->starts[at] - piece->back,
	    .size = piece->whole,
	    .name = piece->name,
	    .name_size = piece->name_size,
	    .source = (uint8_t)piece->source,
	};

	return plimp_symbol_piece(maker, &entry, old->starts[at],
				  old->starts[at] + piece->size);
}

/* Pieces of the sized functions, and in their gaps the fillers'. */
static int fill_gaps(struct alias *alias)
{
	struct plimp_symbol_maker *maker = alias->maker;
	struct plimp_symbol_maker old = *maker;
	size_t next = 0;
	int failed = PLIM_OK;

	if (!alias->filler_count)
		return PLIM_OK;
	maker->starts = NULL;
	maker->pieces = NULL;
	maker->piece_count = 0;
	maker->starts_capacity = 0;
	maker->pieces_capacity = 0;
	for (size_t i = 0; !failed && i < alias->filler_count; i++) {
		while (!failed && next < old.piece_count &&
		       old.starts[next] <= alias->fillers[i].start)
			failed = copy_piece(maker, &old, next++);
		if (!failed)
			failed = filler_piece(alias, &old, next, i);
	}
	while (!failed && next < old.piece_count)
		failed = copy_piece(maker, &old, next++);
	plimp_release(maker->allocator, old.starts, old.starts_capacity,
		      sizeof(*old.starts));
	plimp_release(maker->allocator, old.pieces, old.pieces_capacity,
		      sizeof(*old.pieces));
	return failed;
}

static int alias_sweep(struct alias *alias)
{
	struct plimp_symbol_maker *maker = alias->maker;
	uint32_t *order;
	int failed;

	if (!alias->sized_count)
		return PLIM_OK;
	order = plimp_allocate(maker->allocator, alias->sized_count,
			       sizeof(*order));
	if (!order)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < alias->sized_count; i++)
		order[i] = (uint32_t)i;
	failed = plimp_symbol_sweep(maker, alias->sized, order,
				    alias->sized_count, 0);
	plimp_release(maker->allocator, order, alias->sized_count,
		      sizeof(*order));
	return failed;
}

int plimp_symbol_pieces(struct plimp_symbol_maker *maker)
{
	struct alias alias = {.maker = maker};
	size_t count = maker->count;
	int failed = PLIM_ENOMEM;

	assert(count <= UINT32_MAX);
	if (!count)
		return PLIM_OK;
	alias.sized =
	    plimp_allocate(maker->allocator, count, sizeof(*alias.sized));
	alias.fillers =
	    plimp_allocate(maker->allocator, count, sizeof(*alias.fillers));
	if (alias.sized && alias.fillers) {
		take_groups(&alias);
		failed = alias_sweep(&alias);
		if (!failed)
			failed = fill_gaps(&alias);
	}
	plimp_release(maker->allocator, alias.sized, count,
		      sizeof(*alias.sized));
	plimp_release(maker->allocator, alias.fillers, count,
		      sizeof(*alias.fillers));
	return failed;
}
