/*
 * naming.c - the functions and lines of frames.
 *
 * Every frame has at least one line, from the end of the session on, so that
 * whoever reads never meets a frame without a name: before names are looked up
 * (or where there is none) it is its module and the address in the file. Where
 * the rules of unwinding tell the start of its function it is that address, so
 * that all frames of one nameless function are of one. Looking up makes both
 * tables anew, and puts them in place when all of it succeeded.
 */
#include "profile/session.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A base name is cut at so many bytes. */
#define NAMING_MODULE 128
#define NAMING_TEXT   (NAMING_MODULE + 32)

static plim_bytes naming_text(const char *text)
{
	return (plim_bytes){text, strlen(text)};
}

/* A function and a line of it, for a frame that has none. */
static int naming_line(struct plimp_store *store,
		       const plim_profile_function *function,
		       plim_bytes file_of, const plim_profile_line *of,
		       uint32_t *index)
{
	plim_profile_line line = *of;
	int code =
	    plimp_store_function(store, function, file_of, &line.function);

	if (code == PLIM_OK)
		code = plimp_store_add_line(store, &line, index);
	return code;
}

static plim_bytes naming_file_of(const plim_profile_module *module)
{
	return module->build_id.size > 0 ? module->build_id : module->path;
}

/* `address` is one in the file, where the frame has a module. */
static int naming_unnamed(struct plimp_store *store,
			  const plim_profile_frame *frame, uint64_t address,
			  uint32_t *line)
{
	char text[NAMING_TEXT];
	plim_profile_function function = {.module = frame->module,
					  .is_unnamed = 1};
	plim_bytes file_of = {"", 0};

	if (frame->module == PLIM_NO_INDEX) {
		snprintf(text, sizeof(text), "0x%llx",
			 (unsigned long long)address);
	} else {
		const plim_profile_module *module =
		    plimp_store_module(store, frame->module);
		plim_bytes name = plim_base_name(module->path);
		int size =
		    name.size < NAMING_MODULE ? (int)name.size : NAMING_MODULE;

		file_of = naming_file_of(module);
		snprintf(text, sizeof(text), "%.*s+0x%llx", size,
			 name.size > 0 ? name.data : "",
			 (unsigned long long)address);
	}
	function.name = naming_text(text);
	function.start = address;
	return naming_line(store, &function, file_of, &(plim_profile_line){0},
			   line);
}

/* By its own address. */
static int naming_place(struct plimp_store *store,
			const plim_profile_frame *frame, uint32_t *line)
{
	uint64_t bias = frame->module == PLIM_NO_INDEX
			    ? 0
			    : plimp_store_module(store, frame->module)->bias;

	return naming_unnamed(store, frame, frame->address - bias, line);
}

static int naming_special(struct plimp_store *store,
			  const plim_profile_frame *frame, uint32_t *line)
{
	plim_profile_function function = {
	    .name = naming_text(plim_special_name(frame->special)),
	    .module = PLIM_NO_INDEX,
	    .special = frame->special};

	return naming_line(store, &function, (plim_bytes){"", 0},
			   &(plim_profile_line){0}, line);
}

/* System calls in which threads are blocked. */
static int naming_calls(struct plimp_store *store)
{
	char text[64];

	for (size_t i = 0; i < store->stacks.count; i++) {
		plim_profile_stack *stack =
		    plimp_store_stack(store, (uint32_t)i);
		plim_profile_function function = {.module = PLIM_NO_INDEX,
						  .special = PLIM_SPECIAL_CALL};
		uint32_t index;
		int code;

		if (stack->call < 0)
			continue;
		if (stack->call_name.size > 0)
			snprintf(text, sizeof(text), "[%.*s]",
				 (int)stack->call_name.size,
				 stack->call_name.data);
		else
			snprintf(text, sizeof(text), "[syscall_%lld]",
				 (long long)stack->call);
		function.name = naming_text(text);
		code = plimp_store_function(store, &function,
					    (plim_bytes){"", 0}, &index);
		if (code != PLIM_OK)
			return code;
		stack->reserved[0] = (uint64_t)index + 1;
	}
	return PLIM_OK;
}

int plimp_naming_plain(struct plimp_store *store)
{
	for (size_t i = 0; i < store->frames.count; i++) {
		plim_profile_frame *frame =
		    plimp_store_frame(store, (uint32_t)i);
		uint32_t line;
		int code;

		if (frame->line_count > 0)
			continue;
		code = frame->special != 0 ? naming_special(store, frame, &line)
					   : naming_place(store, frame, &line);
		if (code != PLIM_OK)
			return code;
		frame = plimp_store_frame(store, (uint32_t)i);
		frame->first_line = line;
		frame->line_count = 1;
	}
	return naming_calls(store);
}

static struct plimp_program *naming_image(plim_profile *profile,
					  uint32_t process)
{
	for (size_t i = 0; i < profile->image_count; i++) {
		if (profile->images[i].process == process)
			return profile->images + i;
	}
	return NULL;
}

static int naming_one(plim_profile *profile, const plim_profile_frame *frame,
		      const struct plimp_frame_name *name, uint32_t *line)
{
	const plim_profile_module *module =
	    plimp_store_module(&profile->store, frame->module);
	plim_profile_function function = {.name = name->function,
					  .linkage = name->linkage,
					  .file = name->file,
					  .module = frame->module,
					  .start = name->start};
	plim_profile_line row = {.file = name->file,
				 .line = name->line,
				 .is_inlined = name->is_inlined};

	return naming_line(&profile->store, &function, naming_file_of(module),
			   &row, line);
}

/* The lines of one frame; 0 where nothing is known of its function. */
static int naming_find(plim_profile *profile, const plim_profile_frame *frame,
		       uint32_t *first, uint32_t *count)
{
	const struct plimp_frame_name *names = NULL;
	struct plimp_program *image = NULL;
	size_t found = 0;
	uint32_t module;
	int code;

	*count = 0;
	if (frame->special != 0 || frame->module == PLIM_NO_INDEX)
		return PLIM_OK;
	image = naming_image(profile, frame->process);
	if (image == NULL || image->namer == NULL)
		return PLIM_OK;
	module = (uint32_t)(plimp_store_module(&profile->store, frame->module)
				->reserved[0] -
			    1);
	code = plimp_namer_find(image->namer, module, frame->address, 0, &names,
				&found, NULL);
	if (code != PLIM_OK)
		return code == PLIM_ENOMEM ? code : PLIM_OK;
	if (found == 0)
		return PLIM_OK;
	if (names[found - 1].function.size == 0) {
		if (names[found - 1].start == 0)
			return PLIM_OK;
		*count = 1;
		return naming_unnamed(&profile->store, frame,
				      names[found - 1].start, first);
	}
	for (size_t i = 0; i < found && code == PLIM_OK; i++) {
		uint32_t line;

		if (names[i].function.size == 0)
			continue;
		code = naming_one(profile, frame, names + i, &line);
		if (code == PLIM_OK && (*count)++ == 0)
			*first = line;
	}
	return code;
}

/* A module of one process, and the object that it has in common with those of
 * others. */
struct naming_row {
	const struct plimp_object *object; /* NULL: nothing to prepare */
	struct plimp_namer *namer;
	uint64_t bias;
	uint32_t module; /* the namer's */
	uint32_t row;
};

static int naming_compare(const void *a, const void *b)
{
	const struct naming_row *left = a;
	const struct naming_row *right = b;

	if (left->object != right->object)
		return (uintptr_t)left->object < (uintptr_t)right->object ? -1
									  : 1;
	return left->row < right->row ? -1 : left->row > right->row;
}

static void naming_rows(plim_profile *profile, struct naming_row *rows)
{
	for (size_t i = 0; i < profile->store.modules.count; i++) {
		const plim_profile_module *module =
		    plimp_store_module(&profile->store, (uint32_t)i);
		struct plimp_program *image =
		    naming_image(profile, module->process);

		rows[i] = (struct naming_row){.row = (uint32_t)i};
		if (image == NULL || image->namer == NULL ||
		    module->reserved[0] == 0)
			continue;
		rows[i].namer = image->namer;
		rows[i].bias = module->bias;
		rows[i].module = (uint32_t)(module->reserved[0] - 1);
		rows[i].object =
		    plimp_modules_object(image->modules, rows[i].module);
	}
}

/* Frames and rows, as they are sorted into one another. */
struct naming_plan {
	struct naming_row *rows; /* by their object */
	size_t row_count;
	uint32_t *places; /* of each row of the store, in `rows` */
	size_t *starts;	  /* of each of `rows`, in `addresses`; and the end */
	uint64_t *addresses; /* in the file */
	size_t count;
};

static size_t plan_place(const struct naming_plan *plan,
			 const plim_profile_frame *frame)
{
	return frame->special != 0 || frame->module == PLIM_NO_INDEX
		   ? plan->row_count
		   : plan->places[frame->module];
}

static void naming_sort(struct plimp_store *store, struct naming_plan *plan)
{
	size_t sum = 0;

	qsort(plan->rows, plan->row_count, sizeof(*plan->rows), naming_compare);
	for (size_t i = 0; i < plan->row_count; i++)
		plan->places[plan->rows[i].row] = (uint32_t)i;
	for (size_t i = 0; i < plan->count; i++)
		plan->starts[plan_place(
		    plan, plimp_store_frame(store, (uint32_t)i))]++;
	for (size_t i = 0; i <= plan->row_count; i++) {
		size_t here = plan->starts[i];

		plan->starts[i] = sum;
		sum += here;
	}
	for (size_t i = 0; i < plan->count; i++) {
		const plim_profile_frame *frame =
		    plimp_store_frame(store, (uint32_t)i);
		size_t place = plan_place(plan, frame);

		if (place < plan->row_count)
			plan->addresses[plan->starts[place]++] =
			    frame->address - plan->rows[place].bias;
	}
	/* Each has come to where the next one began. */
	for (size_t i = plan->row_count; i > 0; i--)
		plan->starts[i] = plan->starts[i - 1];
	plan->starts[0] = 0;
}

/* Every object once, with the addresses of all who have it. */
static int naming_prepare_all(const struct naming_plan *plan)
{
	size_t next;

	for (size_t i = 0; i < plan->row_count; i = next) {
		const struct naming_row *row = plan->rows + i;
		int code = PLIM_OK;

		for (next = i + 1; next < plan->row_count; next++)
			if (plan->rows[next].object != row->object)
				break;
		if (row->object != NULL)
			code = plimp_namer_prepare(
			    row->namer, row->module,
			    plan->addresses + plan->starts[i],
			    plan->starts[next] - plan->starts[i], NULL);
		if (code == PLIM_ENOMEM)
			return code;
	}
	return PLIM_OK;
}

/* Names the frames object by object, which is how they are had fast. */
static int naming_prepare(plim_profile *profile)
{
	struct plimp_store *store = &profile->store;
	const plim_allocator *allocator = &store->allocator;
	struct naming_plan plan = {.row_count = store->modules.count,
				   .count = store->frames.count};
	size_t rows = plan.row_count + 1;
	int code = PLIM_ENOMEM;

	plan.rows = plimp_allocate(allocator, rows, sizeof(*plan.rows));
	plan.places = plimp_allocate(allocator, rows, sizeof(*plan.places));
	plan.starts = plimp_allocate(allocator, rows, sizeof(*plan.starts));
	plan.addresses =
	    plimp_allocate(allocator, plan.count + 1, sizeof(*plan.addresses));
	if (plan.rows != NULL && plan.places != NULL && plan.starts != NULL &&
	    plan.addresses != NULL) {
		naming_rows(profile, plan.rows);
		naming_sort(store, &plan);
		code = naming_prepare_all(&plan);
	}
	plimp_release(allocator, plan.rows, rows, sizeof(*plan.rows));
	plimp_release(allocator, plan.places, rows, sizeof(*plan.places));
	plimp_release(allocator, plan.starts, rows, sizeof(*plan.starts));
	plimp_release(allocator, plan.addresses, plan.count + 1,
		      sizeof(*plan.addresses));
	return code;
}

static int naming_all(plim_profile *profile)
{
	struct plimp_store *store = &profile->store;
	int prepared = naming_prepare(profile);

	if (prepared != PLIM_OK)
		return prepared;
	for (size_t i = 0; i < store->frames.count; i++) {
		uint32_t first = 0;
		uint32_t count = 0;
		int code =
		    naming_find(profile, plimp_store_frame(store, (uint32_t)i),
				&first, &count);
		plim_profile_frame *frame =
		    plimp_store_frame(store, (uint32_t)i);

		if (code != PLIM_OK)
			return code;
		frame->first_line = first;
		frame->line_count = count;
	}
	return plimp_naming_plain(store);
}

static int naming_modules(plim_profile *profile)
{
	for (size_t i = 0; i < profile->store.modules.count; i++) {
		plim_profile_module *row =
		    plimp_store_module(&profile->store, (uint32_t)i);
		struct plimp_program *image =
		    naming_image(profile, row->process);
		struct plimp_namer_module told;
		int code;

		if (image == NULL || image->namer == NULL ||
		    row->reserved[0] == 0)
			continue;
		code = plimp_namer_module(image->namer,
					  (uint32_t)(row->reserved[0] - 1),
					  &told, NULL);
		if (code == PLIM_ENOMEM)
			return code;
		if (code != PLIM_OK)
			continue;
		row->has_symbols = told.has_symbols != 0;
		row->has_lines = told.has_lines != 0;
		row->has_inlines = told.has_inlines != 0;
	}
	return PLIM_OK;
}

/* What looking up replaces, kept until it has succeeded. */
struct naming_before {
	struct plimp_table functions;
	struct plimp_table lines;
	struct plimp_hash hash;
	struct naming_span {
		uint32_t first;
		uint32_t count;
	} * spans;
	uint64_t *calls;
};

static int naming_keep(struct plimp_store *store, struct naming_before *before)
{
	*before = (struct naming_before){.functions = store->functions,
					 .lines = store->lines,
					 .hash = store->function_hash};
	before->spans = plimp_allocate(
	    &store->allocator, store->frames.count + 1, sizeof(*before->spans));
	before->calls = plimp_allocate(
	    &store->allocator, store->stacks.count + 1, sizeof(*before->calls));
	if (before->spans == NULL || before->calls == NULL)
		return PLIM_ENOMEM;
	for (size_t i = 0; i < store->frames.count; i++) {
		plim_profile_frame *frame =
		    plimp_store_frame(store, (uint32_t)i);

		before->spans[i] =
		    (struct naming_span){frame->first_line, frame->line_count};
	}
	for (size_t i = 0; i < store->stacks.count; i++)
		before->calls[i] =
		    plimp_store_stack(store, (uint32_t)i)->reserved[0];
	store->functions = (struct plimp_table){0};
	store->lines = (struct plimp_table){0};
	store->function_hash = (struct plimp_hash){0};
	return PLIM_OK;
}

static void naming_restore(struct plimp_store *store,
			   const struct naming_before *before)
{
	store->functions = before->functions;
	store->lines = before->lines;
	store->function_hash = before->hash;
	for (size_t i = 0; i < store->frames.count; i++) {
		plim_profile_frame *frame =
		    plimp_store_frame(store, (uint32_t)i);

		frame->first_line = before->spans[i].first;
		frame->line_count = before->spans[i].count;
	}
	for (size_t i = 0; i < store->stacks.count; i++)
		plimp_store_stack(store, (uint32_t)i)->reserved[0] =
		    before->calls[i];
}

static void naming_drop(struct plimp_store *store,
			struct plimp_table *functions,
			struct plimp_table *lines, struct plimp_hash *hash)
{
	plimp_release(&store->allocator, functions->items, functions->capacity,
		      sizeof(plim_profile_function));
	plimp_release(&store->allocator, lines->items, lines->capacity,
		      sizeof(plim_profile_line));
	plimp_hash_release(&store->allocator, hash);
}

static void naming_forget(struct plimp_store *store,
			  struct naming_before *before)
{
	plimp_release(&store->allocator, before->spans, store->frames.count + 1,
		      sizeof(*before->spans));
	plimp_release(&store->allocator, before->calls, store->stacks.count + 1,
		      sizeof(*before->calls));
}

/* All that is wanted of them is in the store, or was not to be had. Their
 * helper processes end here, so that what those cost is known. */
static void naming_close(plim_profile *profile)
{
	for (size_t i = 0; i < profile->image_count; i++) {
		plimp_namer_close(profile->images[i].namer);
		profile->images[i].namer = NULL;
	}
}

int plim_profile_resolve(plim_profile *profile, plim_error *error)
{
	struct plimp_bill_whole bill;
	struct plimp_store *store;
	struct naming_before before;
	int code;

	if (profile == NULL || !profile->has_run)
		return plimp_fail(error, PLIM_EINVAL, 0, "resolve", NULL, NULL);
	if (profile->facts.is_resolved)
		return PLIM_OK;
	bill = plimp_bill_open(profile->host);
	store = &profile->store;
	code = naming_keep(store, &before);
	if (code == PLIM_OK) {
		code = plimp_finish_namers(profile);
		if (code == PLIM_OK)
			code = naming_all(profile);
		if (code == PLIM_OK)
			code = naming_modules(profile);
		if (code == PLIM_OK) {
			naming_drop(store, &before.functions, &before.lines,
				    &before.hash);
			profile->facts.is_resolved = 1;
		} else {
			naming_drop(store, &store->functions, &store->lines,
				    &store->function_hash);
			naming_restore(store, &before);
		}
		naming_close(profile);
	}
	naming_forget(store, &before);
	plimp_bill_close(profile->host, &bill);
	if (code != PLIM_OK)
		return plimp_fail(error, code, 0, "resolve", NULL, NULL);
	return PLIM_OK;
}
