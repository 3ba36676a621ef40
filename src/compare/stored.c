/*
 * stored.c - a profile read from a file: which reader it needs, and the tables
 * that both readers fill.
 *
 * A file is inflated whole and read whole: what a profile is made of refers to
 * each other in any order. The bound on the inflated size, one on the functions
 * of all stacks (a short text can name a long chain of inlined functions
 * often), and one on the names of all functions (many can have one long text)
 * bound everything.
 */
#include "compare/stored.h"

#include "core/fail.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

#define PLIM_X(name, number, word, text) \
	case number:                     \
		return word;
const char *plim_stored_form_word(int form)
{
	switch (form) {
		PLIM_STORED_FORM_LIST(PLIM_X)
	}
	return NULL;
}
#undef PLIM_X

#define PLIM_X(name, number, word, text) \
	case number:                     \
		return text;
const char *plim_stored_form_text(int form)
{
	switch (form) {
		PLIM_STORED_FORM_LIST(PLIM_X)
	}
	return NULL;
}
#undef PLIM_X

/* --- making one ----------------------------------------------------------- */

void plimp_stored_fail(struct plimp_stored_maker *maker, int code,
		       size_t position, const char *wrong)
{
	assert(code != PLIM_OK);
	if (maker->code != PLIM_OK)
		return;
	maker->code = code;
	maker->position = position;
	maker->wrong = wrong;
}

plim_bytes plimp_stored_text(struct plimp_stored_maker *maker, plim_bytes text)
{
	char *copy;

	if (text.size == 0)
		return (plim_bytes){"", 0};
	copy = plimp_pool_copy(&maker->stored->pool, text);
	if (copy == NULL) {
		plimp_stored_fail(maker, PLIM_ENOMEM, 0, NULL);
		return (plim_bytes){"", 0};
	}
	return (plim_bytes){copy, text.size};
}

plim_bytes plimp_stored_base(plim_bytes path)
{
	for (size_t i = path.size; i > 0; i--)
		if (path.data[i - 1] == '/')
			return (plim_bytes){path.data + i, path.size - i};
	return plim_base_name(path);
}

int plimp_stored_special(plim_bytes name)
{
	const char *known;

	for (int i = 1; (known = plim_special_name(i)) != NULL; i++)
		if (name.size == strlen(known) &&
		    memcmp(name.data, known, name.size) == 0)
			return i;
	return 0;
}

/* Each text is within the file; their sum need not be: many functions can have
 * one long text, and each is copied. */
static void stored_count_text(struct plimp_stored_maker *maker, size_t size)
{
	if (size > PLIM_STORED_FILE_LIMIT - maker->text_size) {
		plimp_stored_fail(maker, PLIM_ELIMIT, 0,
				  "the names of its functions are too long");
		return;
	}
	maker->text_size += size;
}

uint32_t plimp_stored_add_function(struct plimp_stored_maker *maker,
				   plim_bytes name, plim_bytes module)
{
	struct plim_stored *stored = maker->stored;
	void *functions = stored->functions;
	int code;

	if (maker->code != PLIM_OK)
		return 0;
	stored_count_text(maker, name.size + module.size);
	if (maker->code != PLIM_OK)
		return 0;
	code = plimp_reserve(
	    &stored->allocator, &functions, &stored->function_capacity,
	    stored->function_count + 1, 256, sizeof(*stored->functions));
	stored->functions = functions;
	if (code != PLIM_OK) {
		plimp_stored_fail(maker, code, 0, NULL);
		return 0;
	}
	/* Fewer than bytes of a file, which the limit keeps below 2^32. */
	assert(stored->function_count < PLIM_NO_INDEX);
	stored->functions[stored->function_count] =
	    (plim_stored_function){.name = name, .module = module};
	if (module.size == 0)
		stored->functions[stored->function_count].special =
		    plimp_stored_special(name);
	return (uint32_t)stored->function_count++;
}

void plimp_stored_set_module(struct plimp_stored_maker *maker,
			     uint32_t function, plim_bytes module)
{
	plim_stored_function *set = &maker->stored->functions[function];

	assert(function < maker->stored->function_count);
	stored_count_text(maker, module.size);
	set->module = module;
	set->special = 0;
}

void plimp_stored_add_item(struct plimp_stored_maker *maker, uint32_t function)
{
	struct plim_stored *stored = maker->stored;
	void *items = stored->items;
	int code;

	if (maker->code != PLIM_OK)
		return;
	if (maker->items_added++ == PLIM_STORED_ITEMS_LIMIT) {
		plimp_stored_fail(maker, PLIM_ELIMIT, 0,
				  "its stacks have too many functions");
		return;
	}
	code =
	    plimp_reserve(&stored->allocator, &items, &stored->item_capacity,
			  stored->item_count + 1, 1024, sizeof(*stored->items));
	stored->items = items;
	if (code != PLIM_OK) {
		plimp_stored_fail(maker, code, 0, NULL);
		return;
	}
	stored->items[stored->item_count++] = function;
}

void plimp_stored_add_slice(struct plimp_stored_maker *maker, uint32_t slice,
			    uint64_t weight)
{
	struct plim_stored *stored = maker->stored;
	void *slices = stored->slices;
	int code;

	if (maker->code != PLIM_OK)
		return;
	if (stored->slice_count == PLIM_STORED_ITEMS_LIMIT) {
		plimp_stored_fail(maker, PLIM_ELIMIT, 0,
				  "its stacks have too many slices");
		return;
	}
	code = plimp_reserve(&stored->allocator, &slices,
			     &stored->slice_capacity, stored->slice_count + 1,
			     1024, sizeof(*stored->slices));
	stored->slices = slices;
	if (code != PLIM_OK) {
		plimp_stored_fail(maker, code, 0, NULL);
		return;
	}
	stored->slices[stored->slice_count++] =
	    (plim_stored_slice){.slice = slice, .weight = weight};
}

/* A comparison looks at each function of a stack in each slice. */
static void stored_count_sliced(struct plimp_stored_maker *maker, size_t items,
				size_t slices)
{
	if (slices == 0)
		return;
	if (items > (PLIM_STORED_SLICED_LIMIT - maker->sliced) / slices) {
		plimp_stored_fail(maker, PLIM_ELIMIT, 0,
				  "its stacks have too many functions in too "
				  "many slices");
		return;
	}
	maker->sliced += items * slices;
}

void plimp_stored_end_stack(struct plimp_stored_maker *maker, int activity,
			    uint64_t weight, uint64_t samples)
{
	struct plim_stored *stored = maker->stored;
	const size_t start = maker->items_ended;
	void *stacks = stored->stacks;
	int code;

	if (maker->code == PLIM_OK && weight == 0) {
		stored->item_count = start;
		stored->slice_count = maker->slices_ended;
		return;
	}
	if (stored->item_count == start) {
		const char *name = plim_special_name(PLIM_SPECIAL_NOWHERE);

		plimp_stored_add_item(
		    maker, plimp_stored_add_function(
			       maker, (plim_bytes){name, strlen(name)},
			       (plim_bytes){"", 0}));
	}
	stored_count_sliced(maker, stored->item_count - start,
			    stored->slice_count - maker->slices_ended);
	if (maker->code != PLIM_OK)
		return;
	code = plimp_reserve(&stored->allocator, &stacks,
			     &stored->stack_capacity, stored->stack_count + 1,
			     256, sizeof(*stored->stacks));
	stored->stacks = stacks;
	if (code != PLIM_OK) {
		plimp_stored_fail(maker, code, 0, NULL);
		return;
	}
	stored->stacks[stored->stack_count++] = (plim_stored_stack){
	    .function_count = stored->item_count - start,
	    .activity = activity,
	    .weight = weight,
	    .samples = samples,
	    .slice_count =
		(uint32_t)(stored->slice_count - maker->slices_ended),
	};
	maker->items_ended = stored->item_count;
	maker->slices_ended = stored->slice_count;
}

/* Nothing grows any more: stacks can point at their items, and names that
 * would be empty get one. */
static void stored_settle(struct plim_stored *stored)
{
	size_t item = 0;
	size_t slice = 0;

	for (size_t i = 0; i < stored->stack_count; i++) {
		plim_stored_stack *stack = &stored->stacks[i];

		assert(stack->function_count > 0);
		stack->functions = stored->items + item;
		item += stack->function_count;
		if (stack->slice_count > 0)
			stack->slices = stored->slices + slice;
		slice += stack->slice_count;
	}
	assert(item <= stored->item_count && slice <= stored->slice_count);
	for (size_t i = 0; i < stored->function_count; i++)
		if (stored->functions[i].name.size == 0)
			stored->functions[i].name =
			    (plim_bytes){"[no name]", 9};
}

/* --- reading -------------------------------------------------------------- */

static void stored_read_plain(struct plimp_stored_maker *maker, plim_bytes file)
{
	size_t at = 0;

	if (file.size > PLIM_STORED_FILE_LIMIT) {
		plimp_stored_fail(maker, PLIM_ELIMIT, 0, "it is too large");
		return;
	}
	while (at < file.size && file.data[at] != '\0' &&
	       strchr(" \t\r\n", file.data[at]) != NULL)
		at++;
	/* No profile.proto begins so: it would be its field 15, a group. */
	if (at < file.size && file.data[at] == '{')
		plimp_stored_json(maker, file);
	else if (file.size > 0)
		plimp_stored_pprof(maker, file);
	else
		plimp_stored_fail(maker, PLIM_ESYNTAX, 0, "it is empty");
}

static void stored_read_gzip(struct plimp_stored_maker *maker, plim_bytes file)
{
	const plim_allocator *allocator = &maker->stored->allocator;
	char *data = NULL;
	size_t size = 0;
	size_t capacity = 0;
	const int code = plimp_stored_inflate(
	    file, PLIM_STORED_FILE_LIMIT, &data, &size, &capacity, allocator);

	if (code != PLIM_OK) {
		plimp_stored_fail(
		    maker, code, 0,
		    code == PLIM_EUNSUPPORTED
			? "it is compressed, and this library was built "
			  "without zlib; gunzip it first"
		    : code == PLIM_ELIMIT ? "it is too large"
					  : "its compression is broken");
		return;
	}
	stored_read_plain(maker, (plim_bytes){size > 0 ? data : "", size});
	plimp_release(allocator, data, capacity, 1);
}

int plim_stored_read(plim_stored **stored, plim_bytes file,
		     const plim_allocator *allocator, plim_error *error)
{
	struct plimp_stored_maker maker = {.code = PLIM_OK};
	struct plim_stored *made;

	assert(stored != NULL && (file.data != NULL || file.size == 0));
	made = plimp_allocate(allocator, 1, sizeof(*made));
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "read profile", NULL,
				  NULL);
	if (allocator != NULL)
		made->allocator = *allocator;
	made->pool.allocator = made->allocator;
	maker.stored = made;
	if (file.size >= 2 && file.data[0] == '\x1f' && file.data[1] == '\x8b')
		stored_read_gzip(&maker, file);
	else
		stored_read_plain(&maker, file);
	if (maker.code != PLIM_OK) {
		plim_stored_free(made);
		if (maker.code == PLIM_ENOMEM)
			return plimp_fail(error, PLIM_ENOMEM, 0, "read profile",
					  NULL, NULL);
		if (maker.code == PLIM_ESYNTAX)
			return plimp_fail_at(error, maker.code, "read profile",
					     "", maker.position, "%s",
					     maker.wrong);
		return plimp_fail(error, maker.code, 0, "read profile", NULL,
				  "%s", maker.wrong);
	}
	stored_settle(made);
	*stored = made;
	return PLIM_OK;
}

void plim_stored_free(plim_stored *stored)
{
	plim_allocator allocator;

	if (stored == NULL)
		return;
	allocator = stored->allocator;
	plimp_pool_release(&stored->pool);
	plimp_release(&allocator, stored->functions, stored->function_capacity,
		      sizeof(*stored->functions));
	plimp_release(&allocator, stored->stacks, stored->stack_capacity,
		      sizeof(*stored->stacks));
	plimp_release(&allocator, stored->items, stored->item_capacity,
		      sizeof(*stored->items));
	plimp_release(&allocator, stored->slices, stored->slice_capacity,
		      sizeof(*stored->slices));
	plimp_release(&allocator, stored, 1, sizeof(*stored));
}

plim_stored_facts plim_stored_about(const plim_stored *stored)
{
	return stored->facts;
}

size_t plim_stored_function_count(const plim_stored *stored)
{
	return stored->function_count;
}

const plim_stored_function *plim_stored_function_at(const plim_stored *stored,
						    size_t index)
{
	return index < stored->function_count ? stored->functions + index
					      : NULL;
}

size_t plim_stored_stack_count(const plim_stored *stored)
{
	return stored->stack_count;
}

const plim_stored_stack *plim_stored_stack_at(const plim_stored *stored,
					      size_t index)
{
	return index < stored->stack_count ? stored->stacks + index : NULL;
}
