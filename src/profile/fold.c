/*
 * fold.c - from stacks to rows: the one way that every export takes.
 *
 * A stack becomes items from the root to the leaf: frames, or the functions of
 * their lines. Rows with the same items and the same key are one. Sums are of
 * whole nanoseconds, so that every folding of a view has the same total. The
 * order is by weight, then by names, then by what is left: no two rows are
 * equal in all of it, so that it is always the same.
 */
#include "profile/fold.h"

#include "core/fail.h"
#include "core/memory.h"
#include "core/views.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const plim_profile_line *fold_line(const struct plimp_store *store,
					  uint32_t index)
{
	assert(index < store->lines.count);
	return (const plim_profile_line *)store->lines.items + index;
}

const plim_profile_function *
plimp_fold_function(const struct plimp_store *store, uint32_t index)
{
	assert(index < store->functions.count);
	return (const plim_profile_function *)store->functions.items + index;
}

static const plim_profile_frame *fold_frame(const struct plimp_store *store,
					    uint32_t index)
{
	assert(index < store->frames.count);
	return (const plim_profile_frame *)store->frames.items + index;
}

static int fold_item(plim_fold *fold, uint32_t item)
{
	int code = plimp_reserve(&fold->allocator, (void **)&fold->items,
				 &fold->item_capacity, fold->item_count + 1, 64,
				 sizeof(*fold->items));

	if (code == PLIM_OK)
		fold->items[fold->item_count++] = item;
	return code;
}

/* The functions of one frame, outermost first. */
static int fold_lines(plim_fold *fold, const plim_profile_frame *frame,
		      int inlines)
{
	uint32_t first = frame->first_line;
	uint32_t last = first + frame->line_count;
	int code = PLIM_OK;

	assert(frame->line_count > 0);
	if (!inlines)
		return fold_item(fold,
				 fold_line(fold->store, last - 1)->function);
	while (code == PLIM_OK && last > first)
		code =
		    fold_item(fold, fold_line(fold->store, --last)->function);
	return code;
}

/* The items of a stack, into fold->items. */
int plimp_fold_items(plim_fold *fold, const plim_profile_stack *stack,
		     uint32_t flags)
{
	int code = PLIM_OK;

	fold->item_count = 0;
	for (size_t i = stack->frame_count; i-- > 0 && code == PLIM_OK;) {
		if (flags & PLIM_FOLD_ADDRESSES)
			code = fold_item(fold, stack->frames[i]);
		else
			code = fold_lines(
			    fold, fold_frame(fold->store, stack->frames[i]),
			    (flags & PLIM_FOLD_INLINES) != 0);
	}
	if (code == PLIM_OK && (flags & PLIM_FOLD_CALLS) &&
	    !(flags & PLIM_FOLD_ADDRESSES) && stack->reserved[0] != 0)
		code = fold_item(fold, (uint32_t)(stack->reserved[0] - 1));
	return code;
}

static uint64_t row_hash(const plim_fold *fold, const plim_fold_row *row)
{
	uint32_t flags = fold->total.flags;
	uint64_t hash = plimp_hash_bytes(0, row->items,
					 row->item_count * sizeof(*row->items));

	if (flags & PLIM_FOLD_THREADS)
		hash = plimp_hash_number(hash, row->thread);
	if (flags & PLIM_FOLD_PROCESSES)
		hash = plimp_hash_number(hash, row->process);
	if (flags & PLIM_FOLD_ACTIVITIES)
		hash = plimp_hash_number(hash, (uint64_t)row->activity);
	if (flags & PLIM_FOLD_ENDS)
		hash = plimp_hash_number(hash, (uint64_t)row->end);
	return hash;
}

static uint64_t row_hash_at(void *user, uint32_t index)
{
	const plim_fold *fold = user;

	return row_hash(fold, fold->rows + index);
}

static int row_same(const plim_fold *fold, const plim_fold_row *a,
		    const plim_fold_row *b)
{
	uint32_t flags = fold->total.flags;

	return a->item_count == b->item_count &&
	       (!(flags & PLIM_FOLD_THREADS) || a->thread == b->thread) &&
	       (!(flags & PLIM_FOLD_PROCESSES) || a->process == b->process) &&
	       (!(flags & PLIM_FOLD_ACTIVITIES) ||
		a->activity == b->activity) &&
	       (!(flags & PLIM_FOLD_ENDS) || a->end == b->end) &&
	       memcmp(a->items, b->items, a->item_count * sizeof(*a->items)) ==
		   0;
}

static plim_fold_row *row_find(plim_fold *fold, const plim_fold_row *row,
			       uint64_t value)
{
	const struct plimp_hash *hash = &fold->hash;
	size_t at;

	if (hash->size == 0)
		return NULL;
	for (at = (size_t)value & (hash->size - 1); hash->slots[at] != 0;
	     at = (at + 1) & (hash->size - 1)) {
		plim_fold_row *found = fold->rows + (hash->slots[at] - 1);

		if (row_same(fold, found, row))
			return found;
	}
	return NULL;
}

/* One row more into one that is there. */
static void row_merge(plim_fold_row *into, const plim_fold_row *row)
{
	into->weight_ns += row->weight_ns;
	into->samples += row->samples;
	into->incomplete_samples += row->incomplete_samples;
	into->reserved[0] |= row->reserved[0];
	if (into->thread != row->thread)
		into->thread = PLIM_NO_INDEX;
	if (into->process != row->process)
		into->process = PLIM_NO_INDEX;
	if (into->activity != row->activity)
		into->activity = 0;
	if (into->end != row->end)
		into->end = 0;
}

static int row_add(plim_fold *fold, plim_fold_row *row, uint64_t value)
{
	size_t bytes = row->item_count * sizeof(*row->items);
	uint32_t *items = plimp_pool_take(&fold->pool, bytes);
	int code = items != NULL ? PLIM_OK : PLIM_ENOMEM;

	if (code == PLIM_OK)
		code = plimp_hash_room(&fold->allocator, &fold->hash,
				       row_hash_at, fold);
	if (code == PLIM_OK)
		code = plimp_reserve(&fold->allocator, (void **)&fold->rows,
				     &fold->row_capacity, fold->row_count + 1,
				     64, sizeof(*fold->rows));
	if (code != PLIM_OK)
		return code;
	memcpy(items, row->items, bytes);
	row->items = items;
	fold->rows[fold->row_count] = *row;
	plimp_hash_put(&fold->hash, value, (uint32_t)fold->row_count);
	fold->row_count++;
	return PLIM_OK;
}

static int fold_stack(plim_fold *fold, const plim_profile_stack *stack,
		      uint32_t *number)
{
	const plim_profile_thread *thread =
	    (const plim_profile_thread *)fold->store->threads.items +
	    stack->thread;
	plim_fold_row row = {.weight_ns = stack->weight_ns,
			     .samples = stack->samples,
			     .thread = stack->thread,
			     .process = thread->process,
			     .activity = stack->activity,
			     .end = stack->end};
	plim_fold_row *found;
	uint64_t value;
	int code = plimp_fold_items(fold, stack, fold->total.flags);

	if (code != PLIM_OK)
		return code;
	row.reserved[0] = stack->weight_square > 0;
	if (!stack->is_counted && stack->end != PLIM_STACK_ROOT)
		row.incomplete_samples = stack->samples;
	row.items = fold->items;
	row.item_count = fold->item_count;
	fold->total.weight_ns += row.weight_ns;
	fold->total.samples += row.samples;
	fold->total.incomplete_samples += row.incomplete_samples;
	if (stack->weight_square > 0) {
		fold->sampled += (double)stack->weight_ns;
		fold->squares += stack->weight_square;
	}
	value = row_hash(fold, &row);
	found = row_find(fold, &row, value);
	if (found == NULL) {
		*number = (uint32_t)fold->row_count;
		row.reserved[1] = fold->row_count; /* until they are sorted */
		return row_add(fold, &row, value);
	}
	*number = (uint32_t)(found - fold->rows);
	row_merge(found, &row);
	return PLIM_OK;
}

static int order_bytes(plim_bytes a, plim_bytes b)
{
	size_t size = a.size < b.size ? a.size : b.size;
	int order = size == 0 ? 0 : memcmp(a.data, b.data, size);

	if (order != 0)
		return order;
	return (a.size > b.size) - (a.size < b.size);
}

int plimp_fold_order_functions(const struct plimp_store *store, uint32_t a,
			       uint32_t b)
{
	const plim_profile_function *one = plimp_fold_function(store, a);
	const plim_profile_function *two = plimp_fold_function(store, b);
	int order = order_bytes(one->name, two->name);

	if (order == 0)
		order = order_bytes(one->linkage, two->linkage);
	if (order == 0)
		order = (one->start > two->start) - (one->start < two->start);
	return order != 0 ? order : (a > b) - (a < b);
}

static plim_bytes frame_name(const struct plimp_store *store, uint32_t frame)
{
	const plim_profile_line *line =
	    fold_line(store, fold_frame(store, frame)->first_line);

	return plimp_fold_function(store, line->function)->name;
}

plim_bytes plim_fold_item_name(const plim_fold *fold, uint32_t item)
{
	if (fold->total.flags & PLIM_FOLD_ADDRESSES)
		return item < fold->store->frames.count
			   ? frame_name(fold->store, item)
			   : (plim_bytes){"", 0};
	return item < fold->store->functions.count
		   ? plimp_fold_function(fold->store, item)->name
		   : (plim_bytes){"", 0};
}

static int order_items(const plim_fold *fold, const plim_fold_row *a,
		       const plim_fold_row *b)
{
	size_t count =
	    a->item_count < b->item_count ? a->item_count : b->item_count;

	for (size_t i = 0; i < count; i++) {
		int order = order_bytes(plim_fold_item_name(fold, a->items[i]),
					plim_fold_item_name(fold, b->items[i]));

		if (order != 0)
			return order;
	}
	if (a->item_count != b->item_count)
		return a->item_count > b->item_count ? 1 : -1;
	for (size_t i = 0; i < count; i++) {
		if (a->items[i] != b->items[i])
			return a->items[i] > b->items[i] ? 1 : -1;
	}
	return 0;
}

static int order_rows(const plim_fold *fold, const plim_fold_row *a,
		      const plim_fold_row *b)
{
	int order;

	if (a->weight_ns != b->weight_ns)
		return a->weight_ns < b->weight_ns ? 1 : -1;
	order = order_items(fold, a, b);
	if (order == 0)
		order = (a->thread > b->thread) - (a->thread < b->thread);
	if (order == 0)
		order = (a->process > b->process) - (a->process < b->process);
	if (order == 0)
		order = a->activity - b->activity;
	return order != 0 ? order : a->end - b->end;
}

/* Sinks one row into the heap below it: the last in order is on top. */
static void rows_sink(plim_fold *fold, size_t at, size_t count)
{
	plim_fold_row *rows = fold->rows;

	for (;;) {
		size_t child = 2 * at + 1;
		plim_fold_row swapped;

		if (child >= count)
			return;
		if (child + 1 < count &&
		    order_rows(fold, &rows[child], &rows[child + 1]) < 0)
			child++;
		if (order_rows(fold, &rows[at], &rows[child]) >= 0)
			return;
		swapped = rows[at];
		rows[at] = rows[child];
		rows[child] = swapped;
		at = child;
	}
}

/* Heapsort: qsort() takes no context, and allocates behind our back. */
static void rows_sort(plim_fold *fold)
{
	for (size_t i = fold->row_count / 2; i-- > 0;)
		rows_sink(fold, i, fold->row_count);
	for (size_t end = fold->row_count; end-- > 1;) {
		plim_fold_row swapped = fold->rows[0];

		fold->rows[0] = fold->rows[end];
		fold->rows[end] = swapped;
		rows_sink(fold, 0, end);
	}
}

/* Rows have their places: stacks know them. */
static int rows_settle(plim_fold *fold)
{
	uint32_t *places = plimp_allocate(&fold->allocator, fold->row_count + 1,
					  sizeof(*places));

	if (places == NULL)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < fold->row_count; i++) {
		places[fold->rows[i].reserved[1]] = (uint32_t)i;
		fold->rows[i].reserved[1] = 0;
	}
	for (size_t i = 0; i < fold->row_of_count; i++)
		if (fold->row_of[i] != PLIM_NO_INDEX)
			fold->row_of[i] = places[fold->row_of[i]];
	plimp_release(&fold->allocator, places, fold->row_count + 1,
		      sizeof(*places));
	return PLIM_OK;
}

static int fold_make(plim_fold *fold, const plim_fold_options *options)
{
	const plim_profile_stack *stacks = fold->store->stacks.items;
	int code = PLIM_OK;

	fold->row_of_count = fold->store->stacks.count;
	fold->row_of = plimp_allocate(&fold->allocator, fold->row_of_count + 1,
				      sizeof(*fold->row_of));
	if (fold->row_of == NULL)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < fold->row_of_count; i++)
		fold->row_of[i] = PLIM_NO_INDEX;
	for (size_t i = 0; i < fold->store->stacks.count; i++) {
		if (!plimp_view_has(fold->total.view, stacks[i].activity) ||
		    (stacks[i].weight_ns == 0 && stacks[i].samples == 0) ||
		    (options->thread_limit != 0 &&
		     stacks[i].thread != options->thread_limit - 1))
			continue;
		code = fold_stack(fold, stacks + i, &fold->row_of[i]);
		if (code == PLIM_OK)
			code = plimp_fold_count(fold, stacks + i);
		if (code != PLIM_OK)
			return code;
	}
	rows_sort(fold);
	plimp_fold_shares(fold);
	return rows_settle(fold);
}

int plimp_fold_store(const struct plimp_store *store,
		     const plim_fold_options *options, plim_fold **fold,
		     plim_error *error)
{
	plim_fold *made = plimp_allocate(&store->allocator, 1, sizeof(*made));
	int code;

	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "fold", NULL, NULL);
	made->allocator = store->allocator;
	made->pool.allocator = store->allocator;
	made->store = store;
	made->total.view = options->view != 0 ? options->view : PLIM_VIEW_CPU;
	made->total.flags = options->flags;
	if (made->total.flags & PLIM_FOLD_ADDRESSES)
		made->total.flags |= PLIM_FOLD_THREADS | PLIM_FOLD_ACTIVITIES |
				     PLIM_FOLD_ENDS | PLIM_FOLD_PROCESSES;
	code = fold_make(made, options);
	if (code != PLIM_OK) {
		plim_fold_free(made);
		return plimp_fail(error, code, 0, "fold", NULL, NULL);
	}
	*fold = made;
	return PLIM_OK;
}

void plim_fold_free(plim_fold *fold)
{
	plim_allocator allocator;

	if (fold == NULL)
		return;
	allocator = fold->allocator;
	plimp_release(&allocator, fold->items, fold->item_capacity,
		      sizeof(*fold->items));
	plimp_release(&allocator, fold->rows, fold->row_capacity,
		      sizeof(*fold->rows));
	plimp_release(&allocator, fold->functions, fold->function_capacity,
		      sizeof(*fold->functions));
	plimp_release(&allocator, fold->places, fold->place_count,
		      sizeof(*fold->places));
	plimp_release(&allocator, fold->row_of, fold->row_of_count + 1,
		      sizeof(*fold->row_of));
	plimp_hash_release(&allocator, &fold->hash);
	plimp_pool_release(&fold->pool);
	plimp_release(&allocator, fold, 1, sizeof(*fold));
}

plim_fold_total plim_fold_about(const plim_fold *fold)
{
	return fold->total;
}

size_t plim_fold_row_count(const plim_fold *fold)
{
	return fold->row_count;
}

const plim_fold_row *plim_fold_row_at(const plim_fold *fold, size_t index)
{
	return index < fold->row_count ? fold->rows + index : NULL;
}

uint32_t plim_fold_row_of(const plim_fold *fold, uint32_t stack)
{
	return stack < fold->row_of_count ? fold->row_of[stack] : PLIM_NO_INDEX;
}
