/*
 * store.c - the tables of a profile: rows appended, frames and stacks found
 * again, all of it counted against the bound.
 */
#include "profile/store.h"

#include "core/memory.h"

#include <assert.h>
#include <string.h>

#define STORE_FIRST 64

void plimp_store_begin(struct plimp_store *store,
		       const plim_allocator *allocator, uint64_t limit)
{
	*store = (struct plimp_store){0};
	if (allocator != NULL)
		store->allocator = *allocator;
	store->pool.allocator = store->allocator;
	store->limit = limit;
}

static void table_release(struct plimp_store *store, struct plimp_table *table,
			  size_t size)
{
	plimp_release(&store->allocator, table->items, table->capacity, size);
	*table = (struct plimp_table){0};
}

void plimp_store_end(struct plimp_store *store)
{
	table_release(store, &store->processes, sizeof(plim_profile_process));
	table_release(store, &store->threads, sizeof(plim_profile_thread));
	table_release(store, &store->modules, sizeof(plim_profile_module));
	table_release(store, &store->functions, sizeof(plim_profile_function));
	table_release(store, &store->lines, sizeof(plim_profile_line));
	table_release(store, &store->frames, sizeof(plim_profile_frame));
	table_release(store, &store->stacks, sizeof(plim_profile_stack));
	table_release(store, &store->samples, sizeof(plim_profile_sample));
	plimp_hash_release(&store->allocator, &store->frame_hash);
	plimp_hash_release(&store->allocator, &store->stack_hash);
	plimp_hash_release(&store->allocator, &store->function_hash);
	plimp_pool_release(&store->pool);
}

/* Room for so many bytes more, of the bound. */
static int store_take(struct plimp_store *store, uint64_t bytes)
{
	if (store->limit != 0 && (store->is_full || bytes > store->limit ||
				  store->used > store->limit - bytes)) {
		store->is_full = 1;
		return PLIM_ELIMIT;
	}
	store->used += bytes;
	return PLIM_OK;
}

/* One more row, zeroed; `bytes` more than it takes are counted with it. */
static int table_add(struct plimp_store *store, struct plimp_table *table,
		     size_t size, uint64_t bytes, const void *row,
		     uint32_t *index)
{
	int code;

	if (table->count >= PLIM_NO_INDEX)
		return PLIM_ELIMIT;
	code = plimp_reserve(&store->allocator, &table->items, &table->capacity,
			     table->count + 1, STORE_FIRST, size);
	if (code == PLIM_OK)
		code = store_take(store, size + bytes);
	if (code != PLIM_OK)
		return code;
	memcpy((char *)table->items + table->count * size, row, size);
	*index = (uint32_t)table->count++;
	return PLIM_OK;
}

plim_bytes plimp_store_text(struct plimp_store *store, plim_bytes text)
{
	plim_bytes copy = {"", 0};

	if (text.size > 0) {
		copy.data = plimp_pool_copy(&store->pool, text);
		copy.size = text.size;
		if (copy.data == NULL)
			return (plim_bytes){"", 0};
		store->used += text.size;
	}
	return copy;
}

/* Copies a text in place; PLIM_ENOMEM. */
static int store_own(struct plimp_store *store, plim_bytes *text)
{
	size_t size = text->size;

	*text = plimp_store_text(store, *text);
	return text->size == size ? PLIM_OK : PLIM_ENOMEM;
}

plim_profile_process *plimp_store_process(struct plimp_store *store,
					  uint32_t index)
{
	assert(index < store->processes.count);
	return (plim_profile_process *)store->processes.items + index;
}

plim_profile_thread *plimp_store_thread(struct plimp_store *store,
					uint32_t index)
{
	assert(index < store->threads.count);
	return (plim_profile_thread *)store->threads.items + index;
}

plim_profile_module *plimp_store_module(struct plimp_store *store,
					uint32_t index)
{
	assert(index < store->modules.count);
	return (plim_profile_module *)store->modules.items + index;
}

plim_profile_frame *plimp_store_frame(struct plimp_store *store, uint32_t index)
{
	assert(index < store->frames.count);
	return (plim_profile_frame *)store->frames.items + index;
}

plim_profile_stack *plimp_store_stack(struct plimp_store *store, uint32_t index)
{
	assert(index < store->stacks.count);
	return (plim_profile_stack *)store->stacks.items + index;
}

plim_profile_sample *plimp_store_sample(struct plimp_store *store,
					uint32_t index)
{
	assert(index < store->samples.count);
	return (plim_profile_sample *)store->samples.items + index;
}

int plimp_store_add_process(struct plimp_store *store,
			    const plim_profile_process *process,
			    uint32_t *index)
{
	plim_profile_process row = *process;

	if (store_own(store, &row.name) != PLIM_OK)
		return PLIM_ENOMEM;
	return table_add(store, &store->processes, sizeof(row), 0, &row, index);
}

int plimp_store_add_thread(struct plimp_store *store,
			   const plim_profile_thread *thread, uint32_t *index)
{
	plim_profile_thread row = *thread;

	if (store_own(store, &row.name) != PLIM_OK)
		return PLIM_ENOMEM;
	return table_add(store, &store->threads, sizeof(row), 0, &row, index);
}

int plimp_store_add_module(struct plimp_store *store,
			   const plim_profile_module *module, uint32_t *index)
{
	plim_profile_module row = *module;

	if (store_own(store, &row.path) != PLIM_OK ||
	    store_own(store, &row.build_id) != PLIM_OK)
		return PLIM_ENOMEM;
	return table_add(store, &store->modules, sizeof(row), 0, &row, index);
}

int plimp_store_add_line(struct plimp_store *store,
			 const plim_profile_line *line, uint32_t *index)
{
	plim_profile_line row = *line;

	if (store_own(store, &row.file) != PLIM_OK)
		return PLIM_ENOMEM;
	return table_add(store, &store->lines, sizeof(row), 0, &row, index);
}

int plimp_store_add_sample(struct plimp_store *store,
			   const plim_profile_sample *sample, uint32_t *index)
{
	return table_add(store, &store->samples, sizeof(*sample), 0, sample,
			 index);
}

static uint64_t function_hash(const plim_profile_function *function)
{
	uint64_t hash =
	    plimp_hash_bytes(0, function->name.data, function->name.size);

	hash = plimp_hash_bytes(hash, function->linkage.data,
				function->linkage.size);
	hash = plimp_hash_number(hash, function->start);
	return plimp_hash_number(hash, function->reserved[0]);
}

static uint64_t function_hash_at(void *user, uint32_t index)
{
	struct plimp_store *store = user;

	return function_hash((plim_profile_function *)store->functions.items +
			     index);
}

static int bytes_equal(plim_bytes a, plim_bytes b)
{
	return a.size == b.size &&
	       (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static int function_equal(const plim_profile_function *a,
			  const plim_profile_function *b)
{
	return a->start == b->start && a->special == b->special &&
	       a->reserved[0] == b->reserved[0] &&
	       bytes_equal(a->name, b->name) &&
	       bytes_equal(a->linkage, b->linkage);
}

/* The index in a hash of what `same` accepts, or PLIMP_HASH_NONE. */
static uint32_t hash_find(const struct plimp_hash *hash, uint64_t value,
			  int (*same)(const void *user, uint32_t index),
			  const void *user)
{
	size_t at;

	if (hash->size == 0)
		return PLIMP_HASH_NONE;
	for (at = (size_t)value & (hash->size - 1); hash->slots[at] != 0;
	     at = (at + 1) & (hash->size - 1)) {
		if (same(user, hash->slots[at] - 1))
			return hash->slots[at] - 1;
	}
	return PLIMP_HASH_NONE;
}

struct function_key {
	struct plimp_store *store;
	const plim_profile_function *function;
};

static int function_same(const void *user, uint32_t index)
{
	const struct function_key *key = user;

	return function_equal(
	    (plim_profile_function *)key->store->functions.items + index,
	    key->function);
}

/* The file's text is kept as its hash, in a reserved member: 64 bits tell the
 * files of one profile apart. */
int plimp_store_function(struct plimp_store *store,
			 const plim_profile_function *function,
			 plim_bytes file_of, uint32_t *index)
{
	plim_profile_function row = *function;
	struct function_key key = {store, &row};
	uint64_t value;
	uint32_t found;
	int code;

	row.reserved[0] = plimp_hash_bytes(0, file_of.data, file_of.size);
	value = function_hash(&row);
	found = hash_find(&store->function_hash, value, function_same, &key);
	if (found != PLIMP_HASH_NONE) {
		*index = found;
		return PLIM_OK;
	}
	if (store_own(store, &row.name) != PLIM_OK ||
	    store_own(store, &row.linkage) != PLIM_OK ||
	    store_own(store, &row.file) != PLIM_OK)
		return PLIM_ENOMEM;
	code = plimp_hash_room(&store->allocator, &store->function_hash,
			       function_hash_at, store);
	if (code == PLIM_OK)
		code = table_add(store, &store->functions, sizeof(row),
				 2 * sizeof(uint32_t), &row, index);
	if (code == PLIM_OK)
		plimp_hash_put(&store->function_hash, value, *index);
	return code;
}

static uint64_t frame_hash(const plim_profile_frame *frame)
{
	uint64_t hash = plimp_hash_number(0, frame->address);

	hash = plimp_hash_number(hash, (uint64_t)frame->process << 32 |
					   frame->module);
	return plimp_hash_number(hash, (uint64_t)frame->special);
}

static uint64_t frame_hash_at(void *user, uint32_t index)
{
	return frame_hash(plimp_store_frame(user, index));
}

struct frame_key {
	struct plimp_store *store;
	const plim_profile_frame *frame;
};

static int frame_same(const void *user, uint32_t index)
{
	const struct frame_key *key = user;
	const plim_profile_frame *frame = plimp_store_frame(key->store, index);

	return frame->address == key->frame->address &&
	       frame->process == key->frame->process &&
	       frame->module == key->frame->module &&
	       frame->special == key->frame->special;
}

int plimp_store_find_frame(struct plimp_store *store, uint32_t process,
			   uint32_t module, uint64_t address, int special,
			   uint32_t *index)
{
	plim_profile_frame row = {.address = address,
				  .process = process,
				  .module = module,
				  .special = special};
	struct frame_key key = {store, &row};
	uint64_t value = frame_hash(&row);
	uint32_t found = hash_find(&store->frame_hash, value, frame_same, &key);
	int code;

	if (found != PLIMP_HASH_NONE) {
		*index = found;
		return PLIM_OK;
	}
	code = plimp_hash_room(&store->allocator, &store->frame_hash,
			       frame_hash_at, store);
	if (code == PLIM_OK)
		code = table_add(store, &store->frames, sizeof(row),
				 2 * sizeof(uint32_t), &row, index);
	if (code == PLIM_OK)
		plimp_hash_put(&store->frame_hash, value, *index);
	return code;
}

static uint64_t stack_hash(const plim_profile_stack *stack)
{
	uint64_t hash = plimp_hash_number(0, stack->thread);

	hash = plimp_hash_number(
	    hash, (uint64_t)stack->activity << 32 |
		      (uint64_t)(stack->end * 2 + stack->is_counted));
	hash = plimp_hash_number(hash, (uint64_t)stack->call);
	return plimp_hash_bytes(hash, stack->frames,
				stack->frame_count * sizeof(*stack->frames));
}

static uint64_t stack_hash_at(void *user, uint32_t index)
{
	return stack_hash(plimp_store_stack(user, index));
}

struct stack_key {
	struct plimp_store *store;
	const plim_profile_stack *stack;
};

static int stack_same(const void *user, uint32_t index)
{
	const struct stack_key *key = user;
	const plim_profile_stack *a = plimp_store_stack(key->store, index);
	const plim_profile_stack *b = key->stack;

	return a->thread == b->thread && a->activity == b->activity &&
	       a->end == b->end && a->is_counted == b->is_counted &&
	       a->call == b->call && a->frame_count == b->frame_count &&
	       memcmp(a->frames, b->frames,
		      a->frame_count * sizeof(*a->frames)) == 0;
}

/* One that was not there before, and its frames. */
static int stack_add(struct plimp_store *store, const plim_profile_stack *stack,
		     uint64_t value, uint32_t *index)
{
	size_t bytes = stack->frame_count * sizeof(*stack->frames);
	plim_profile_stack row = *stack;
	uint32_t *frames;
	int code = plimp_hash_room(&store->allocator, &store->stack_hash,
				   stack_hash_at, store);

	if (code != PLIM_OK)
		return code;
	if (store->limit != 0 && store->used + bytes > store->limit)
		return store_take(store, bytes);
	frames = plimp_pool_take(&store->pool, bytes);
	if (frames == NULL || store_own(store, &row.call_name) != PLIM_OK)
		return PLIM_ENOMEM;
	memcpy(frames, stack->frames, bytes);
	row.frames = frames;
	row.samples = 0;
	row.weight_ns = 0;
	row.weight_square = 0;
	code = table_add(store, &store->stacks, sizeof(row),
			 bytes + 2 * sizeof(uint32_t), &row, index);
	if (code == PLIM_OK)
		plimp_hash_put(&store->stack_hash, value, *index);
	return code;
}

int plimp_store_find_stack(struct plimp_store *store,
			   const plim_profile_stack *stack, uint32_t *index)
{
	struct stack_key key = {store, stack};
	uint64_t value = stack_hash(stack);
	uint32_t found = hash_find(&store->stack_hash, value, stack_same, &key);

	assert(stack->frame_count > 0);
	if (found == PLIMP_HASH_NONE)
		return stack_add(store, stack, value, index);
	*index = found;
	return PLIM_OK;
}

int plimp_store_special(struct plimp_store *store, uint32_t thread,
			int activity, int special, uint64_t weight_ns,
			double square)
{
	plim_profile_stack *row;
	uint32_t frame = 0;
	uint32_t index = 0;
	plim_profile_stack stack = {.thread = thread,
				    .activity = activity,
				    .call = -1,
				    .is_counted = 1,
				    .frames = &frame,
				    .frame_count = 1};
	int code = plimp_store_find_frame(store, PLIM_NO_INDEX, PLIM_NO_INDEX,
					  0, special, &frame);

	if (code == PLIM_OK)
		code = plimp_store_find_stack(store, &stack, &index);
	if (code != PLIM_OK)
		return code;
	row = plimp_store_stack(store, index);
	row->weight_ns += weight_ns;
	row->weight_square += square;
	return PLIM_OK;
}

void plimp_store_weigh(struct plimp_store *store, uint32_t stack,
		       uint64_t weight_ns, uint64_t looks)
{
	plim_profile_stack *row = plimp_store_stack(store, stack);

	assert(looks > 0);
	row->samples += looks;
	row->weight_ns += weight_ns;
	row->weight_square +=
	    (double)weight_ns * (double)weight_ns / (double)looks;
}
