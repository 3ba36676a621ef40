/*
 * pprof.c - a profile as google/pprof's profile.proto (at b9395ee), by the
 * field numbers and rules of that file and of its readers.
 *
 * Every view is a type of value, so that one file has them all; that which was
 * asked for is shown first. Samples go out as they are folded, by addresses;
 * which frames, functions and modules they use is marked meanwhile, and those
 * follow. Every text is interned, and the table of texts goes last, where
 * readers take it as well as anywhere. A frame's address lies in its call
 * already, as readers expect it. The flags of a mapping say what is really
 * there: a reader looks for names itself where they say that there are none.
 */
#include "export/gzip.h"
#include "export/profiles.h"
#include "export/proto.h"
#include "core/memory.h"

#include <plimsoll/unwind.h>

#include <assert.h>
#include <string.h>

/* Field numbers. */
enum pprof_profile_field {
	PPROF_SAMPLE_TYPE = 1,
	PPROF_SAMPLE = 2,
	PPROF_MAPPING = 3,
	PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5,
	PPROF_STRING = 6,
	PPROF_TIME = 9,
	PPROF_DURATION = 10,
	PPROF_PERIOD_TYPE = 11,
	PPROF_PERIOD = 12,
	PPROF_COMMENT = 13,
	PPROF_DEFAULT_TYPE = 14
};
enum pprof_inner_field {
	PPROF_VALUE_TYPE = 1,
	PPROF_VALUE_UNIT = 2,
	PPROF_SAMPLE_LOCATION = 1,
	PPROF_SAMPLE_VALUE = 2,
	PPROF_SAMPLE_LABEL = 3,
	PPROF_LABEL_KEY = 1,
	PPROF_LABEL_TEXT = 2,
	PPROF_LABEL_NUMBER = 3,
	PPROF_LABEL_UNIT = 4,
	PPROF_ID = 1,
	PPROF_MAPPING_START = 2,
	PPROF_MAPPING_LIMIT = 3,
	PPROF_MAPPING_OFFSET = 4,
	PPROF_MAPPING_FILE = 5,
	PPROF_MAPPING_BUILD_ID = 6,
	PPROF_MAPPING_FUNCTIONS = 7,
	PPROF_MAPPING_FILES = 8,
	PPROF_MAPPING_LINES = 9,
	PPROF_MAPPING_INLINES = 10,
	PPROF_LOCATION_MAPPING = 2,
	PPROF_LOCATION_ADDRESS = 3,
	PPROF_LOCATION_LINE = 4,
	PPROF_LINE_FUNCTION = 1,
	PPROF_LINE_NUMBER = 2,
	PPROF_FUNCTION_NAME = 2,
	PPROF_FUNCTION_SYSTEM = 3,
	PPROF_FUNCTION_FILE = 4,
	PPROF_FUNCTION_LINE = 5
};

#define PPROF_STRINGS_LEAST 1024
#define PPROF_VIEWS	    3 /* enum plim_view, from 1: cpu, off, wall */

/* A text of the table: where it lies among all of them. */
struct pprof_string {
	size_t start;
	size_t size;
};

struct pprof {
	const plim_profile *profile;
	plim_profile_export options;
	struct plimp_gzip *gzip;
	struct plimp_buffer message; /* one of the profile's fields */
	struct plimp_buffer inner;   /* one of that message's */
	struct plimp_buffer text;    /* of all strings, one after the other */
	struct pprof_string *strings;
	size_t string_count;
	size_t string_capacity;
	uint32_t *slots; /* hash table: 1 + index; at most half of it is used */
	size_t slot_count;
	uint8_t *frames; /* is it used? by index */
	uint8_t *functions;
	uint8_t *modules;
	uint64_t *locations; /* of one sample */
	size_t location_capacity;
	int failed;
};

/* --- strings ------------------------------------------------------------- */

/* FNV-1a, 64 bits. Whoever makes names collide makes this slow, not wrong; a
 * profile has as many names as functions were sampled. */
static uint64_t pprof_hash(plim_bytes text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < text.size; i++)
		hash = (hash ^ (unsigned char)text.data[i]) *
		       UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

static plim_bytes pprof_string_at(const struct pprof *pprof, size_t index)
{
	const struct pprof_string *string = &pprof->strings[index];

	if (string->size == 0)
		return (plim_bytes){"", 0};
	return (plim_bytes){pprof->text.data + string->start, string->size};
}

/* The slot of a text, or the free one where it belongs. */
static size_t pprof_slot(const struct pprof *pprof, plim_bytes text)
{
	size_t at = (size_t)pprof_hash(text) & (pprof->slot_count - 1);

	for (;; at = (at + 1) & (pprof->slot_count - 1)) {
		plim_bytes other;

		if (pprof->slots[at] == 0)
			return at;
		other = pprof_string_at(pprof, pprof->slots[at] - 1);
		if (other.size == text.size &&
		    memcmp(other.data, text.data, text.size) == 0)
			return at;
	}
}

static int pprof_slots_grow(struct pprof *pprof)
{
	const plim_allocator *allocator = pprof->options.allocator;
	uint32_t *before = pprof->slots;
	const size_t before_count = pprof->slot_count;
	const size_t count =
	    before_count > 0 ? before_count * 2 : PPROF_STRINGS_LEAST;
	uint32_t *slots = plimp_allocate(allocator, count, sizeof *slots);

	if (slots == NULL)
		return PLIM_ENOMEM;
	pprof->slots = slots;
	pprof->slot_count = count;
	for (size_t i = 0; i < pprof->string_count; i++)
		slots[pprof_slot(pprof, pprof_string_at(pprof, i))] =
		    (uint32_t)i + 1;
	plimp_release(allocator, before, before_count, sizeof *before);
	return PLIM_OK;
}

static int pprof_string_room(struct pprof *pprof)
{
	void *strings = pprof->strings;
	int code;

	if (pprof->string_count >= UINT32_MAX - 1)
		return PLIM_ENOMEM;
	if (pprof->string_count * 2 >= pprof->slot_count &&
	    pprof_slots_grow(pprof) != PLIM_OK)
		return PLIM_ENOMEM;
	code = plimp_reserve(pprof->options.allocator, &strings,
			     &pprof->string_capacity, pprof->string_count + 1,
			     256, sizeof *pprof->strings);
	pprof->strings = strings;
	return code;
}

/* The index of a text, escaped; 0 is the empty one. */
static uint64_t pprof_text(struct pprof *pprof, plim_bytes text)
{
	const size_t start = pprof->text.size;
	plim_bytes escaped = {"", 0};
	size_t slot;

	if (pprof->failed != PLIM_OK)
		return 0;
	pprof->failed = pprof_string_room(pprof);
	plimp_buffer_escaped(&pprof->text, PLIM_ESCAPE_TERMINAL, text);
	if (pprof->failed != PLIM_OK || pprof->text.failed != PLIM_OK) {
		pprof->failed = PLIM_ENOMEM;
		return 0;
	}
	if (pprof->text.size > start) {
		escaped.data = pprof->text.data + start;
		escaped.size = pprof->text.size - start;
	}
	slot = pprof_slot(pprof, escaped);
	if (pprof->slots[slot] == 0) {
		pprof->strings[pprof->string_count] =
		    (struct pprof_string){start, escaped.size};
		pprof->slots[slot] = (uint32_t)++pprof->string_count;
	} else {
		pprof->text.size = start;
	}
	return pprof->slots[slot] - 1;
}

static uint64_t pprof_word(struct pprof *pprof, const char *word)
{
	return pprof_text(pprof, (plim_bytes){word, strlen(word)});
}

/* --- messages ------------------------------------------------------------ */

static plim_bytes pprof_bytes(const struct plimp_buffer *buffer)
{
	if (buffer->size == 0)
		return (plim_bytes){"", 0};
	return (plim_bytes){buffer->data, buffer->size};
}

/* A field of the profile goes out: its key, its size, its bytes. */
static void pprof_put(struct pprof *pprof, unsigned field, plim_bytes bytes)
{
	char head[2 * PLIMP_VARINT_LIMIT];
	size_t size = plimp_proto_varint((uint64_t)field << 3 | 2, head);

	size += plimp_proto_varint(bytes.size, head + size);
	plimp_gzip_put(pprof->gzip, head, size);
	plimp_gzip_put(pprof->gzip, bytes.data, bytes.size);
}

static void pprof_put_message(struct pprof *pprof, unsigned field)
{
	if (pprof->message.failed != PLIM_OK || pprof->inner.failed != PLIM_OK)
		pprof->failed = PLIM_ENOMEM;
	if (pprof->failed == PLIM_OK)
		pprof_put(pprof, field, pprof_bytes(&pprof->message));
	plimp_buffer_clear(&pprof->message);
}

static void pprof_put_number(struct pprof *pprof, unsigned field,
			     uint64_t number)
{
	char bytes[2 * PLIMP_VARINT_LIMIT];
	size_t size = plimp_proto_varint((uint64_t)field << 3, bytes);

	size += plimp_proto_varint(number, bytes + size);
	plimp_gzip_put(pprof->gzip, bytes, size);
}

/* What has been made within goes into the message. */
static void pprof_inner(struct pprof *pprof, unsigned field)
{
	plimp_proto_bytes(&pprof->message, field, pprof_bytes(&pprof->inner),
			  1);
	if (pprof->inner.failed != PLIM_OK)
		pprof->failed = PLIM_ENOMEM;
	plimp_buffer_clear(&pprof->inner);
}

static void pprof_value_type(struct pprof *pprof, unsigned field,
			     const char *type, const char *unit)
{
	plimp_proto_number(&pprof->message, PPROF_VALUE_TYPE,
			   pprof_word(pprof, type));
	plimp_proto_number(&pprof->message, PPROF_VALUE_UNIT,
			   pprof_word(pprof, unit));
	pprof_put_message(pprof, field);
}

/* --- samples ------------------------------------------------------------- */

static void pprof_label_text(struct pprof *pprof, const char *key,
			     plim_bytes text)
{
	plimp_proto_number(&pprof->inner, PPROF_LABEL_KEY,
			   pprof_word(pprof, key));
	plimp_proto_number(&pprof->inner, PPROF_LABEL_TEXT,
			   pprof_text(pprof, text));
	pprof_inner(pprof, PPROF_SAMPLE_LABEL);
}

static void pprof_label_word(struct pprof *pprof, const char *key,
			     const char *word)
{
	if (word != NULL)
		pprof_label_text(pprof, key, (plim_bytes){word, strlen(word)});
}

/* Readers show a number without a unit with its key as the unit. */
static void pprof_label_number(struct pprof *pprof, const char *key,
			       uint64_t number)
{
	plimp_proto_number(&pprof->inner, PPROF_LABEL_KEY,
			   pprof_word(pprof, key));
	plimp_proto_number(&pprof->inner, PPROF_LABEL_NUMBER, number);
	pprof_inner(pprof, PPROF_SAMPLE_LABEL);
}

static void pprof_sample_labels(struct pprof *pprof, const plim_fold_row *row)
{
	const plim_profile_thread *thread =
	    plim_profile_thread_at(pprof->profile, row->thread);
	const plim_profile_process *process;

	assert(thread != NULL);
	process = plim_profile_process_at(pprof->profile, thread->process);
	if (thread->name.size > 0)
		pprof_label_text(pprof, "thread", thread->name);
	pprof_label_number(pprof, "tid", (uint64_t)thread->tid);
	if (process != NULL)
		pprof_label_number(pprof, "pid", (uint64_t)process->pid);
	pprof_label_word(pprof, "state", plim_activity_word(row->activity));
	pprof_label_word(pprof, "end", plim_stack_end_word(row->end));
}

/* The frames of a row as locations, leaf first, and marked as used. */
static int pprof_sample_locations(struct pprof *pprof, const plim_fold_row *row)
{
	void *locations = pprof->locations;

	if (plimp_reserve(pprof->options.allocator, &locations,
			  &pprof->location_capacity, row->item_count, 256,
			  sizeof *pprof->locations) != PLIM_OK)
		return PLIM_ENOMEM;
	pprof->locations = locations;
	for (size_t i = 0; i < row->item_count; i++) {
		const uint32_t frame = row->items[row->item_count - 1 - i];

		pprof->frames[frame] = 1;
		pprof->locations[i] = (uint64_t)frame + 1;
	}
	return PLIM_OK;
}

static void pprof_sample(struct pprof *pprof, const plim_fold_row *row)
{
	const int is_running = row->activity == PLIM_ACTIVITY_RUNNING;
	const uint64_t values[1 + PPROF_VIEWS] = {
	    row->samples,
	    is_running ? row->weight_ns : 0,
	    is_running ? 0 : row->weight_ns,
	    row->weight_ns,
	};

	if (pprof_sample_locations(pprof, row) != PLIM_OK) {
		pprof->failed = PLIM_ENOMEM;
		return;
	}
	plimp_proto_numbers(&pprof->message, PPROF_SAMPLE_LOCATION,
			    pprof->locations, row->item_count);
	plimp_proto_numbers(&pprof->message, PPROF_SAMPLE_VALUE, values,
			    1 + PPROF_VIEWS);
	pprof_sample_labels(pprof, row);
	pprof_put_message(pprof, PPROF_SAMPLE);
}

/* --- where they lie ------------------------------------------------------ */

static void pprof_location(struct pprof *pprof, uint32_t index)
{
	const plim_profile_frame *frame =
	    plim_profile_frame_at(pprof->profile, index);
	uint32_t count = frame->line_count;
	uint32_t first = frame->first_line;

	if ((pprof->options.flags & PLIM_EXPORT_NO_INLINES) != 0 && count > 1) {
		first += count - 1;
		count = 1;
	}
	plimp_proto_number(&pprof->message, PPROF_ID, (uint64_t)index + 1);
	if (frame->module != PLIM_NO_INDEX) {
		pprof->modules[frame->module] = 1;
		plimp_proto_number(&pprof->message, PPROF_LOCATION_MAPPING,
				   (uint64_t)frame->module + 1);
	}
	plimp_proto_number(&pprof->message, PPROF_LOCATION_ADDRESS,
			   frame->address);
	for (uint32_t i = 0; i < count; i++) {
		const plim_profile_line *line =
		    plim_profile_line_at(pprof->profile, first + i);

		pprof->functions[line->function] = 1;
		plimp_proto_number(&pprof->inner, PPROF_LINE_FUNCTION,
				   (uint64_t)line->function + 1);
		plimp_proto_number(&pprof->inner, PPROF_LINE_NUMBER,
				   line->line);
		pprof_inner(pprof, PPROF_LOCATION_LINE);
	}
	pprof_put_message(pprof, PPROF_LOCATION);
}

static void pprof_function(struct pprof *pprof, uint32_t index)
{
	const plim_profile_function *function =
	    plim_profile_function_at(pprof->profile, index);
	const plim_bytes linkage =
	    function->linkage.size > 0 ? function->linkage : function->name;

	plimp_proto_number(&pprof->message, PPROF_ID, (uint64_t)index + 1);
	plimp_proto_number(&pprof->message, PPROF_FUNCTION_NAME,
			   pprof_text(pprof, function->name));
	plimp_proto_number(&pprof->message, PPROF_FUNCTION_SYSTEM,
			   pprof_text(pprof, linkage));
	plimp_proto_number(&pprof->message, PPROF_FUNCTION_FILE,
			   pprof_text(pprof, function->file));
	plimp_proto_number(&pprof->message, PPROF_FUNCTION_LINE,
			   function->line);
	pprof_put_message(pprof, PPROF_FUNCTION);
}

/* As GNU's tools print it. */
static uint64_t pprof_build_id(struct pprof *pprof, plim_bytes id)
{
	char hex[2 * 64];
	size_t size = 0;

	for (size_t i = 0; i < id.size && size < sizeof hex; i++) {
		const unsigned byte = (unsigned char)id.data[i];

		hex[size++] = "0123456789abcdef"[byte >> 4];
		hex[size++] = "0123456789abcdef"[byte & 15];
	}
	return pprof_text(pprof, (plim_bytes){hex, size});
}

static void pprof_mapping(struct pprof *pprof, uint32_t index)
{
	const plim_profile_module *module =
	    plim_profile_module_at(pprof->profile, index);
	const int inlines =
	    (pprof->options.flags & PLIM_EXPORT_NO_INLINES) == 0;
	struct plimp_buffer *message = &pprof->message;

	plimp_proto_number(message, PPROF_ID, (uint64_t)index + 1);
	plimp_proto_number(message, PPROF_MAPPING_START, module->start);
	plimp_proto_number(message, PPROF_MAPPING_LIMIT, module->end);
	plimp_proto_number(message, PPROF_MAPPING_OFFSET, module->offset);
	plimp_proto_number(message, PPROF_MAPPING_FILE,
			   pprof_text(pprof, module->path));
	plimp_proto_number(message, PPROF_MAPPING_BUILD_ID,
			   pprof_build_id(pprof, module->build_id));
	plimp_proto_number(message, PPROF_MAPPING_FUNCTIONS,
			   module->has_symbols != 0);
	plimp_proto_number(message, PPROF_MAPPING_FILES,
			   module->has_lines != 0);
	plimp_proto_number(message, PPROF_MAPPING_LINES,
			   module->has_lines != 0);
	plimp_proto_number(message, PPROF_MAPPING_INLINES,
			   module->has_inlines != 0 && inlines);
	pprof_put_message(pprof, PPROF_MAPPING);
}

/*
 * The program's own file goes first, by convention. Both architectures put it
 * below every library (mm/mmap.c grows downwards from the stack, and
 * fs/binfmt_elf.c places a program that can move at two thirds of the space).
 */
static uint32_t pprof_main(const struct pprof *pprof)
{
	uint32_t found = PLIM_NO_INDEX;
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i < plim_profile_module_count(pprof->profile);
	     i++) {
		const plim_profile_module *module =
		    plim_profile_module_at(pprof->profile, i);

		if (module->process == 0 && module->path.size > 0 &&
		    module->path.data[0] == '/' && module->start < lowest) {
			found = i;
			lowest = module->start;
		}
	}
	return found;
}

static void pprof_mappings(struct pprof *pprof)
{
	const uint32_t first = pprof_main(pprof);
	const size_t count = plim_profile_module_count(pprof->profile);

	if (first != PLIM_NO_INDEX)
		pprof_mapping(pprof, first);
	for (uint32_t i = 0; i < count; i++)
		if (pprof->modules[i] && i != first)
			pprof_mapping(pprof, i);
}

/* --- the profile --------------------------------------------------------- */

/* What has been put into the inner buffer becomes a comment. */
static void pprof_comment(struct pprof *pprof)
{
	const uint64_t index = pprof_text(pprof, pprof_bytes(&pprof->inner));

	if (pprof->inner.failed != PLIM_OK)
		pprof->failed = PLIM_ENOMEM;
	plimp_buffer_clear(&pprof->inner);
	if (pprof->failed == PLIM_OK)
		pprof_put_number(pprof, PPROF_COMMENT, index);
}

static void pprof_comment_figure(struct pprof *pprof, const char *name,
				 plim_real figure)
{
	char text[64] = "unavailable";

	if (figure.state == PLIM_STATE_KNOWN)
		plim_number_format(figure.value, text, sizeof text);
	plimp_buffer_string(&pprof->inner, " ");
	plimp_buffer_string(&pprof->inner, name);
	plimp_buffer_string(&pprof->inner, "=");
	plimp_buffer_string(&pprof->inner, text);
}

/* The format has no other home for what a profile says of itself. Readers
 * print each comment as a line before everything else, so they are few. */
static void pprof_comments(struct pprof *pprof)
{
	const char *name;

	plimp_buffer_string(&pprof->inner, "plimsoll ");
	plimp_buffer_string(&pprof->inner, plim_version());
	plimp_buffer_string(&pprof->inner, ", tiers:");
	for (size_t i = 0; i < plim_profile_tier_count(pprof->profile); i++) {
		const plim_profile_tier *tier =
		    plim_profile_tier_at(pprof->profile, i);

		plimp_buffer_string(&pprof->inner, tier->used ? " " : " no ");
		plimp_buffer_string(&pprof->inner, tier->word);
	}
	pprof_comment(pprof);
	for (size_t i = 0; i < plim_profile_lack_count(pprof->profile); i++) {
		plimp_buffer_string(&pprof->inner, "lacks: ");
		plimp_buffer_string(&pprof->inner,
				    plim_profile_lack(pprof->profile, i));
		pprof_comment(pprof);
	}
	plimp_buffer_string(&pprof->inner, "metrics:");
	for (int k = 1; (name = plim_profile_metric_name(k)) != NULL; k++)
		pprof_comment_figure(
		    pprof, name,
		    plim_real_of(plim_profile_metric(pprof->profile, k)));
	for (int k = 1; (name = plim_profile_ratio_name(k)) != NULL; k++)
		pprof_comment_figure(pprof, name,
				     plim_profile_ratio(pprof->profile, k));
	pprof_comment(pprof);
}

static void pprof_facts(struct pprof *pprof)
{
	const plim_profile_facts facts = plim_profile_about(pprof->profile);
	const char *view = plim_view_word(pprof->options.view);

	pprof_put_number(pprof, PPROF_TIME, facts.start_unix_ns);
	pprof_put_number(pprof, PPROF_DURATION, facts.duration_ns);
	/* Of the clock that takes samples. The same for all views, since two
	 * profiles are merged only where they agree in it. */
	pprof_value_type(pprof, PPROF_PERIOD_TYPE,
			 plim_view_word(PLIM_VIEW_CPU), "nanoseconds");
	pprof_put_number(pprof, PPROF_PERIOD, facts.period_ns);
	pprof_put_number(pprof, PPROF_DEFAULT_TYPE, pprof_word(pprof, view));
	pprof_comments(pprof);
}

static void pprof_all(struct pprof *pprof, const plim_fold *fold)
{
	pprof_word(pprof, ""); /* the first text is the empty one */
	pprof_value_type(pprof, PPROF_SAMPLE_TYPE, "samples", "count");
	for (int view = 1; view <= PPROF_VIEWS; view++)
		pprof_value_type(pprof, PPROF_SAMPLE_TYPE, plim_view_word(view),
				 "nanoseconds");
	for (size_t i = 0; i < plim_fold_row_count(fold); i++)
		pprof_sample(pprof, plim_fold_row_at(fold, i));
	for (uint32_t i = 0; i < plim_profile_frame_count(pprof->profile); i++)
		if (pprof->frames[i])
			pprof_location(pprof, i);
	pprof_mappings(pprof);
	for (uint32_t i = 0; i < plim_profile_function_count(pprof->profile);
	     i++)
		if (pprof->functions[i])
			pprof_function(pprof, i);
	pprof_facts(pprof);
	for (size_t i = 0; pprof->failed == PLIM_OK && i < pprof->string_count;
	     i++)
		pprof_put(pprof, PPROF_STRING, pprof_string_at(pprof, i));
}

static void pprof_release(struct pprof *pprof)
{
	const plim_allocator *allocator = pprof->options.allocator;
	const plim_profile *profile = pprof->profile;

	plimp_buffer_release(&pprof->message);
	plimp_buffer_release(&pprof->inner);
	plimp_buffer_release(&pprof->text);
	plimp_release(allocator, pprof->strings, pprof->string_capacity,
		      sizeof *pprof->strings);
	plimp_release(allocator, pprof->slots, pprof->slot_count,
		      sizeof *pprof->slots);
	plimp_release(allocator, pprof->locations, pprof->location_capacity,
		      sizeof *pprof->locations);
	plimp_release(allocator, pprof->frames,
		      plim_profile_frame_count(profile) + 1, 1);
	plimp_release(allocator, pprof->functions,
		      plim_profile_function_count(profile) + 1, 1);
	plimp_release(allocator, pprof->modules,
		      plim_profile_module_count(profile) + 1, 1);
	plimp_gzip_free(pprof->gzip);
}

static int pprof_prepare(struct pprof *pprof, struct plimp_sink *sink)
{
	const plim_allocator *allocator = pprof->options.allocator;
	const plim_profile *profile = pprof->profile;

	plimp_buffer_init(&pprof->message, allocator);
	plimp_buffer_init(&pprof->inner, allocator);
	plimp_buffer_init(&pprof->text, allocator);
	pprof->frames =
	    plimp_allocate(allocator, plim_profile_frame_count(profile) + 1, 1);
	pprof->functions = plimp_allocate(
	    allocator, plim_profile_function_count(profile) + 1, 1);
	pprof->modules = plimp_allocate(
	    allocator, plim_profile_module_count(profile) + 1, 1);
	if (pprof->frames == NULL || pprof->functions == NULL ||
	    pprof->modules == NULL)
		return PLIM_ENOMEM;
	return plimp_gzip_new(&pprof->gzip, sink,
			      (pprof->options.flags & PLIM_EXPORT_PLAIN) != 0,
			      allocator);
}

int plim_pprof_compresses(void)
{
	return plimp_gzip_is_there();
}

int plim_pprof_profile(const plim_profile *profile,
		       const plim_profile_export *how, plim_write_fn *write,
		       void *user, plim_error *error)
{
	struct pprof pprof = {.profile = profile};
	plim_profile_export all;
	struct plimp_sink sink;
	plim_fold *fold = NULL;
	int code;

	assert(profile != NULL && write != NULL);
	code = plimp_export_read(how, &pprof.options, "pprof", error);
	all = pprof.options;
	all.view = PLIM_VIEW_WALL;
	if (code == PLIM_OK)
		code =
		    plimp_export_fold(profile, &all,
				      PLIM_FOLD_ADDRESSES | PLIM_FOLD_THREADS |
					  PLIM_FOLD_ACTIVITIES | PLIM_FOLD_ENDS,
				      &fold, error);
	if (code != PLIM_OK)
		return code;
	plimp_sink_init(&sink, write, user);
	code = pprof_prepare(&pprof, &sink);
	if (code == PLIM_OK) {
		pprof_all(&pprof, fold);
		code = pprof.failed;
	}
	if (code == PLIM_OK)
		code = plimp_gzip_finish(pprof.gzip);
	plim_fold_free(fold);
	pprof_release(&pprof);
	return plimp_export_end(code, sink.system, "pprof", error);
}
