/*
 * stored_json.c - the JSON of plim profile into the tables of a stored
 * profile.
 *
 * Members may come in any order (jq sorts them), so what refers to each other
 * is kept as numbers and put together at the end: a function names a module, a
 * frame functions, a stack frames. Members that are not known are passed over;
 * those that are known must be what the schema says.
 */
#include "compare/stored.h"

#include "core/json_read.h"
#include "core/hex.h"
#include "core/memory.h"

#include <assert.h>
#include <string.h>

/* Numbers that belong to something: a run of some table. */
struct kept_run {
	uint32_t first;
	uint32_t count;
};

struct kept_stack {
	struct kept_run frames; /* of `frame_numbers` */
	struct kept_run slices; /* of `slices` */
	int activity;
	uint64_t weight;
	uint64_t samples;
};

struct kept_list {
	void *items;
	size_t count;
	size_t capacity;
};

struct kept {
	struct plimp_stored_maker *maker;
	const plim_allocator *allocator;
	struct plimp_jread reader;
	struct kept_list modules;	   /* plim_bytes */
	struct kept_list function_modules; /* uint32_t */
	struct kept_list frames;	   /* kept_run, of line_functions */
	struct kept_list line_functions;   /* uint32_t */
	struct kept_list stacks;	   /* kept_stack */
	struct kept_list frame_numbers;	   /* uint32_t */
	struct kept_list slices;	   /* plim_stored_slice */
	int has_profile;
	int has_stacks;
};

static void kept_fail(struct kept *kept, const char *wrong)
{
	if (kept->reader.wrong != NULL)
		return;
	plimp_stored_fail(kept->maker, PLIM_ESYNTAX, kept->reader.at, wrong);
	kept->reader.wrong = wrong; /* nothing is read after it */
}

/* Room for one more; NULL: there is none, and that is kept. */
static void *kept_add(struct kept *kept, struct kept_list *list, size_t size)
{
	const int code =
	    plimp_reserve(kept->allocator, &list->items, &list->capacity,
			  list->count + 1, 256, size);

	if (code != PLIM_OK) {
		plimp_stored_fail(kept->maker, code, 0, NULL);
		kept->reader.wrong = "no memory";
		return NULL;
	}
	return (char *)list->items + size * list->count++;
}

static void kept_add_number(struct kept *kept, struct kept_list *list,
			    uint32_t number)
{
	uint32_t *place = kept_add(kept, list, sizeof(number));

	if (place != NULL)
		*place = number;
}

static void kept_release(struct kept *kept, struct kept_list *list, size_t size)
{
	plimp_release(kept->allocator, list->items, list->capacity, size);
}

/* --- single values -------------------------------------------------------- */

/* A text or null. */
static plim_bytes kept_text(struct kept *kept,
			    const struct plimp_jread_value *value)
{
	char *copy;
	size_t size;

	if (value->kind == PLIMP_JREAD_NULL)
		return (plim_bytes){"", 0};
	if (value->kind != PLIMP_JREAD_STRING) {
		kept_fail(kept, "a text was expected");
		return (plim_bytes){"", 0};
	}
	copy = plimp_pool_take(&kept->maker->stored->pool, value->raw.size + 1);
	if (copy == NULL) {
		plimp_stored_fail(kept->maker, PLIM_ENOMEM, 0, NULL);
		kept->reader.wrong = "no memory";
		return (plim_bytes){"", 0};
	}
	size = plimp_jread_text(value->raw, copy);
	return (plim_bytes){size > 0 ? copy : "", size};
}

/* Bytes in hexadecimal digits, of a text that is no UTF-8. */
static plim_bytes kept_bytes(struct kept *kept,
			     const struct plimp_jread_value *value)
{
	const plim_bytes raw = value->raw;
	plim_bytes text;
	char *to;

	for (size_t i = 0; i < raw.size; i++)
		if (raw.data[i] == '\0' ||
		    strchr("0123456789abcdefABCDEF", raw.data[i]) == NULL) {
			kept_fail(kept, "hexadecimal digits were expected");
			return (plim_bytes){"", 0};
		}
	text = kept_text(kept, value);
	if (text.size % 2 != 0)
		kept_fail(kept, "hexadecimal digits were expected");
	if (text.size == 0)
		return text;
	to = plimp_pool_take(&kept->maker->stored->pool, text.size);
	if (to == NULL) {
		plimp_stored_fail(kept->maker, PLIM_ENOMEM, 0, NULL);
		return (plim_bytes){"", 0};
	}
	for (size_t i = 0; i + 1 < text.size; i += 2)
		to[i / 2] = (char)(plimp_hex_digit(text.data[i]) << 4 |
				   plimp_hex_digit(text.data[i + 1]));
	return (plim_bytes){to, text.size / 2};
}

/* A whole number; null is 0, which stands for not known. */
static uint64_t kept_whole(struct kept *kept,
			   const struct plimp_jread_value *value)
{
	uint64_t number = 0;

	if (value->kind != PLIMP_JREAD_NULL &&
	    !plimp_jread_whole(value, &number))
		kept_fail(kept, "a whole number was expected");
	return number;
}

/* A place in another table, or PLIM_NO_INDEX for null. */
static uint32_t kept_index(struct kept *kept,
			   const struct plimp_jread_value *value)
{
	uint64_t number;

	if (value->kind == PLIMP_JREAD_NULL)
		return PLIM_NO_INDEX;
	number = kept_whole(kept, value);
	if (number >= PLIM_NO_INDEX) {
		kept_fail(kept, "the number is no place in a table");
		return PLIM_NO_INDEX;
	}
	return (uint32_t)number;
}

/* Begins an array: the loop goes on while kept_item() finds one. */
static int kept_begin(struct kept *kept, const struct plimp_jread_value *value,
		      int kind)
{
	if (value->kind == kind)
		return 1;
	kept_fail(kept, kind == PLIMP_JREAD_ARRAY ? "an array was expected"
						  : "an object was expected");
	return 0;
}

static int kept_item(struct kept *kept, struct plimp_jread_value *value)
{
	return plimp_jread_next(&kept->reader, value) > PLIMP_JREAD_END;
}

/* --- members -------------------------------------------------------------- */

static void kept_facts(struct kept *kept, const struct plimp_jread_value *from)
{
	plim_stored_facts *facts = &kept->maker->stored->facts;
	struct plimp_jread_value value;

	kept->has_profile = 1;
	if (!kept_begin(kept, from, PLIMP_JREAD_OBJECT))
		return;
	while (kept_item(kept, &value)) {
		if (plimp_jread_is(&value, "name"))
			facts->name = kept_text(kept, &value);
		else if (plimp_jread_is(&value, "start_unix_ns"))
			facts->start_unix_ns = kept_whole(kept, &value);
		else if (plimp_jread_is(&value, "duration_ns"))
			facts->duration_ns = kept_whole(kept, &value);
		else if (plimp_jread_is(&value, "period_ns"))
			facts->period_ns = kept_whole(kept, &value);
		else
			plimp_jread_skip(&kept->reader, &value);
	}
}

static void kept_modules(struct kept *kept,
			 const struct plimp_jread_value *from)
{
	struct plimp_jread_value module;
	struct plimp_jread_value value;

	if (!kept_begin(kept, from, PLIMP_JREAD_ARRAY))
		return;
	while (kept_item(kept, &module)) {
		plim_bytes name = {"", 0};
		plim_bytes *place;

		if (!kept_begin(kept, &module, PLIMP_JREAD_OBJECT))
			return;
		while (kept_item(kept, &value))
			if (plimp_jread_is(&value, "path"))
				name =
				    plimp_stored_base(kept_text(kept, &value));
			else
				plimp_jread_skip(&kept->reader, &value);
		place = kept_add(kept, &kept->modules, sizeof(name));
		if (place != NULL)
			*place = name;
	}
}

static void kept_functions(struct kept *kept,
			   const struct plimp_jread_value *from)
{
	struct plimp_jread_value function;
	struct plimp_jread_value value;

	if (!kept_begin(kept, from, PLIMP_JREAD_ARRAY))
		return;
	while (kept_item(kept, &function)) {
		plim_bytes name = {"", 0};
		plim_bytes bytes = {"", 0};
		uint32_t module = PLIM_NO_INDEX;

		if (!kept_begin(kept, &function, PLIMP_JREAD_OBJECT))
			return;
		while (kept_item(kept, &value)) {
			if (plimp_jread_is(&value, "name"))
				name = kept_text(kept, &value);
			else if (plimp_jread_is(&value, "name_bytes"))
				bytes = kept_bytes(kept, &value);
			else if (plimp_jread_is(&value, "module"))
				module = kept_index(kept, &value);
			else
				plimp_jread_skip(&kept->reader, &value);
		}
		plimp_stored_add_function(kept->maker,
					  bytes.size > 0 ? bytes : name,
					  (plim_bytes){"", 0});
		kept_add_number(kept, &kept->function_modules, module);
	}
}

static void kept_lines(struct kept *kept, const struct plimp_jread_value *from)
{
	struct plimp_jread_value line;
	struct plimp_jread_value value;

	if (!kept_begin(kept, from, PLIMP_JREAD_ARRAY))
		return;
	while (kept_item(kept, &line)) {
		uint32_t function = PLIM_NO_INDEX;

		if (!kept_begin(kept, &line, PLIMP_JREAD_OBJECT))
			return;
		while (kept_item(kept, &value))
			if (plimp_jread_is(&value, "function"))
				function = kept_index(kept, &value);
			else
				plimp_jread_skip(&kept->reader, &value);
		kept_add_number(kept, &kept->line_functions, function);
	}
}

static void kept_frames(struct kept *kept, const struct plimp_jread_value *from)
{
	struct plimp_jread_value frame;
	struct plimp_jread_value value;

	if (!kept_begin(kept, from, PLIMP_JREAD_ARRAY))
		return;
	while (kept_item(kept, &frame)) {
		struct kept_run lines = {(uint32_t)kept->line_functions.count,
					 0};
		struct kept_run *place;

		if (!kept_begin(kept, &frame, PLIMP_JREAD_OBJECT))
			return;
		while (kept_item(kept, &value))
			if (plimp_jread_is(&value, "lines"))
				kept_lines(kept, &value);
			else
				plimp_jread_skip(&kept->reader, &value);
		lines.count =
		    (uint32_t)kept->line_functions.count - lines.first;
		place = kept_add(kept, &kept->frames, sizeof(lines));
		if (place != NULL)
			*place = lines;
	}
}

static int kept_activity(struct kept *kept,
			 const struct plimp_jread_value *value)
{
	const char *word;

	if (value->kind == PLIMP_JREAD_NULL)
		return 0;
	for (int i = 1; (word = plim_activity_word(i)) != NULL; i++)
		if (value->kind == PLIMP_JREAD_STRING &&
		    value->raw.size == strlen(word) &&
		    memcmp(value->raw.data, word, value->raw.size) == 0)
			return i;
	kept_fail(kept, "this is no activity of a thread");
	return 0;
}

static void kept_stack_frames(struct kept *kept,
			      const struct plimp_jread_value *from)
{
	struct plimp_jread_value value;

	if (!kept_begin(kept, from, PLIMP_JREAD_ARRAY))
		return;
	while (kept_item(kept, &value))
		kept_add_number(kept, &kept->frame_numbers,
				kept_index(kept, &value));
}

/* Pairs of a slice and what is in it. */
static void kept_slices(struct kept *kept, const struct plimp_jread_value *from)
{
	struct plimp_jread_value value;

	if (!kept_begin(kept, from, PLIMP_JREAD_ARRAY))
		return;
	while (kept_item(kept, &value)) {
		const uint32_t slice = kept_index(kept, &value);
		plim_stored_slice *place;

		if (!kept_item(kept, &value)) {
			kept_fail(kept, "a slice has no time");
			return;
		}
		place = kept_add(kept, &kept->slices, sizeof(*place));
		if (place != NULL)
			*place = (plim_stored_slice){
			    .slice = slice, .weight = kept_whole(kept, &value)};
	}
}

static void kept_stack(struct kept *kept)
{
	struct kept_stack stack = {
	    .frames = {(uint32_t)kept->frame_numbers.count, 0},
	    .slices = {(uint32_t)kept->slices.count, 0}};
	struct kept_stack *place;
	struct plimp_jread_value value;

	while (kept_item(kept, &value)) {
		if (plimp_jread_is(&value, "activity"))
			stack.activity = kept_activity(kept, &value);
		else if (plimp_jread_is(&value, "weight_ns"))
			stack.weight = kept_whole(kept, &value);
		else if (plimp_jread_is(&value, "samples"))
			stack.samples = kept_whole(kept, &value);
		else if (plimp_jread_is(&value, "frames"))
			kept_stack_frames(kept, &value);
		else if (plimp_jread_is(&value, "slices"))
			kept_slices(kept, &value);
		else
			plimp_jread_skip(&kept->reader, &value);
	}
	stack.frames.count =
	    (uint32_t)kept->frame_numbers.count - stack.frames.first;
	stack.slices.count = (uint32_t)kept->slices.count - stack.slices.first;
	place = kept_add(kept, &kept->stacks, sizeof(stack));
	if (place != NULL)
		*place = stack;
}

static void kept_stacks(struct kept *kept, const struct plimp_jread_value *from)
{
	struct plimp_jread_value value;

	kept->has_stacks = 1;
	if (!kept_begin(kept, from, PLIMP_JREAD_ARRAY))
		return;
	while (kept_item(kept, &value)) {
		if (!kept_begin(kept, &value, PLIMP_JREAD_OBJECT))
			return;
		kept_stack(kept);
	}
}

static void kept_slice_count(struct kept *kept,
			     const struct plimp_jread_value *value)
{
	const uint64_t count = kept_whole(kept, value);

	if (count > PLIM_STORED_SLICE_LIMIT)
		kept_fail(kept, "the run has too many slices");
	else
		kept->maker->stored->facts.slice_count = (uint32_t)count;
}

static void kept_members(struct kept *kept)
{
	struct plimp_jread_value value;

	if (plimp_jread_next(&kept->reader, &value) != PLIMP_JREAD_OBJECT)
		return;
	while (kept_item(kept, &value)) {
		if (plimp_jread_is(&value, "profile"))
			kept_facts(kept, &value);
		else if (plimp_jread_is(&value, "modules"))
			kept_modules(kept, &value);
		else if (plimp_jread_is(&value, "functions"))
			kept_functions(kept, &value);
		else if (plimp_jread_is(&value, "frames"))
			kept_frames(kept, &value);
		else if (plimp_jread_is(&value, "stacks"))
			kept_stacks(kept, &value);
		else if (plimp_jread_is(&value, "slice_count"))
			kept_slice_count(kept, &value);
		else
			plimp_jread_skip(&kept->reader, &value);
	}
	plimp_jread_next(&kept->reader, &value); /* nothing stands behind */
}

/* --- put together --------------------------------------------------------- */

static void kept_join_functions(struct kept *kept)
{
	struct plim_stored *stored = kept->maker->stored;
	const uint32_t *modules = kept->function_modules.items;
	const plim_bytes *names = kept->modules.items;

	for (size_t i = 0; i < stored->function_count; i++) {
		if (modules[i] == PLIM_NO_INDEX)
			continue;
		if (modules[i] >= kept->modules.count) {
			kept_fail(kept, "a function is of no module");
			return;
		}
		plimp_stored_set_module(kept->maker, (uint32_t)i,
					names[modules[i]]);
	}
}

static void kept_join_frame(struct kept *kept, uint32_t number)
{
	const struct kept_run *frames = kept->frames.items;
	const uint32_t *functions = kept->line_functions.items;
	struct kept_run lines;

	if (number >= kept->frames.count) {
		kept_fail(kept, "a stack has a frame that is not there");
		return;
	}
	lines = frames[number];
	for (uint32_t i = 0; i < lines.count; i++) {
		const uint32_t function = functions[lines.first + i];

		if (function >= kept->maker->stored->function_count) {
			kept_fail(kept, "a frame has no function");
			return;
		}
		plimp_stored_add_item(kept->maker, function);
	}
}

/* They ascend, and have no more than the stack. */
static void kept_join_slices(struct kept *kept, const struct kept_stack *stack)
{
	const plim_stored_slice *slices = kept->slices.items;
	const uint32_t count = kept->maker->stored->facts.slice_count;
	uint64_t left = stack->weight;

	for (uint32_t i = 0; i < stack->slices.count; i++) {
		const plim_stored_slice *slice =
		    &slices[stack->slices.first + i];

		if (slice->slice >= count ||
		    (i > 0 && slice->slice <= slice[-1].slice) ||
		    slice->weight > left) {
			kept_fail(kept, "a stack has slices that cannot be");
			return;
		}
		left -= slice->weight;
		plimp_stored_add_slice(kept->maker, slice->slice,
				       slice->weight);
	}
}

static void kept_join_stacks(struct kept *kept)
{
	const struct kept_stack *stacks = kept->stacks.items;
	const uint32_t *numbers = kept->frame_numbers.items;

	for (size_t i = 0; i < kept->stacks.count; i++) {
		const struct kept_run frames = stacks[i].frames;

		for (uint32_t k = 0; k < frames.count; k++) {
			if (kept->maker->code != PLIM_OK)
				return;
			kept_join_frame(kept, numbers[frames.first + k]);
		}
		kept_join_slices(kept, &stacks[i]);
		plimp_stored_end_stack(kept->maker, stacks[i].activity,
				       stacks[i].weight, stacks[i].samples);
	}
}

static void kept_join(struct kept *kept)
{
	plim_stored_facts *facts = &kept->maker->stored->facts;

	if (!kept->has_profile || !kept->has_stacks) {
		kept_fail(kept, "this JSON is no profile of plim");
		return;
	}
	/* From here on places in the text mean nothing. */
	kept->reader.at = 0;
	kept_join_functions(kept);
	kept_join_stacks(kept);
	facts->form = PLIM_STORED_JSON;
	facts->is_time = 1;
	facts->views =
	    1u << PLIM_VIEW_CPU | 1u << PLIM_VIEW_OFF | 1u << PLIM_VIEW_WALL;
	facts->unit = (plim_bytes){"nanoseconds", 11};
	facts->type = (plim_bytes){"cpu", 3};
}

void plimp_stored_json(struct plimp_stored_maker *maker, plim_bytes text)
{
	struct kept kept = {.maker = maker,
			    .allocator = &maker->stored->allocator};

	plimp_jread_init(&kept.reader, text);
	kept_members(&kept);
	if (kept.reader.wrong != NULL)
		plimp_stored_fail(
		    maker, kept.reader.is_deep ? PLIM_ELIMIT : PLIM_ESYNTAX,
		    kept.reader.at, kept.reader.wrong);
	if (maker->code == PLIM_OK)
		kept_join(&kept);
	kept_release(&kept, &kept.modules, sizeof(plim_bytes));
	kept_release(&kept, &kept.function_modules, sizeof(uint32_t));
	kept_release(&kept, &kept.frames, sizeof(struct kept_run));
	kept_release(&kept, &kept.line_functions, sizeof(uint32_t));
	kept_release(&kept, &kept.stacks, sizeof(struct kept_stack));
	kept_release(&kept, &kept.frame_numbers, sizeof(uint32_t));
	kept_release(&kept, &kept.slices, sizeof(plim_stored_slice));
}
