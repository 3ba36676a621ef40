/*
 * stored_pprof.c - google/pprof's profile.proto (at b9395ee) into the tables
 * of a stored profile, whoever wrote it.
 *
 * Fields may come in any order and ids are any numbers, so the message is gone
 * through once for each kind of field: texts first, then what they name, the
 * samples last. Ids are found by binary search. Mappings, functions and lines
 * may be missing: a location without a function is called after its file and
 * its place in it, or by its address.
 *
 * Which of a sample's values is what: the weight is the default type, or the
 * last value, as the pprof tool has it; the count of samples is a value in
 * "count" that is called samples or ..._sample, or else the weight by the
 * period, where both have one unit. A profile that has neither a time nor such
 * a count, a heap's for instance, is not one of time.
 */
#include "compare/order.h"
#include "compare/stored.h"
#include "compare/wire.h"

#include "core/memory.h"
#include "core/hex.h"

#include <assert.h>
#include <string.h>

enum {
	PB_SAMPLE_TYPE = 1,
	PB_SAMPLE = 2,
	PB_MAPPING = 3,
	PB_LOCATION = 4,
	PB_FUNCTION = 5,
	PB_STRING = 6,
	PB_TIME = 9,
	PB_DURATION = 10,
	PB_PERIOD_TYPE = 11,
	PB_PERIOD = 12,
	PB_COMMENT = 13,
	PB_DEFAULT_TYPE = 14
};

#define PB_VALUES 64 /* types of values; more are refused */
#define PB_NONE	  SIZE_MAX

struct pb_type {
	plim_bytes type;
	plim_bytes unit;
};

struct pb_mapping {
	uint64_t id;
	uint64_t start;
	uint64_t offset;
	plim_bytes name; /* of its file, without folders */
};

struct pb_function {
	uint64_t id;
	plim_bytes name;
	uint32_t made; /* index of the function made of it, or PLIM_NO_INDEX */
};

struct pb_location {
	uint64_t id;
	uint64_t mapping; /* id */
	uint64_t address;
	plim_bytes message; /* its lines are read when it is first used */
	uint32_t first;	    /* into `lines`: functions made of it */
	uint32_t count;	    /* 0: not yet used */
};

struct pb_table {
	void *items;
	size_t count;
	size_t capacity;
	uint32_t *order; /* indices by id */
	size_t order_room;
};

struct pb {
	struct plimp_stored_maker *maker;
	const plim_allocator *allocator;
	plim_bytes message;
	struct pb_table strings; /* plim_bytes, within the message */
	struct pb_table mappings;
	struct pb_table functions;
	struct pb_table locations;
	struct pb_table lines; /* uint32_t: functions made */
	struct pb_type types[PB_VALUES];
	size_t type_count;
	struct pb_type period_type;
	uint64_t period;
	uint64_t default_type;
	size_t weight;	/* which value it is */
	size_t samples; /* or PB_NONE: weight by period */
	uint64_t scale; /* ns of one of the weight's units; 0: no time */
	int is_ours;	/* written by plim, which escapes names */
	int is_mixed;	/* of some sample it is not known what the thread did */
};

static int pb_is(plim_bytes text, const char *word)
{
	return text.size == strlen(word) &&
	       memcmp(text.data, word, text.size) == 0;
}

static int pb_ends(plim_bytes text, const char *word)
{
	const size_t size = strlen(word);

	return text.size >= size &&
	       memcmp(text.data + text.size - size, word, size) == 0;
}

/* `at` lies in the message. */
static void pb_wrong(struct pb *pb, const char *at, const char *wrong)
{
	plimp_stored_fail(pb->maker, PLIM_ESYNTAX,
			  (size_t)(at - pb->message.data), wrong);
}

/* A wrong field ends the reading of its message, and is kept. */
static void pb_end(struct pb *pb, const struct plimp_wire *wire)
{
	if (wire->is_wrong)
		pb_wrong(pb, wire->rest.data, "this is no profile.proto");
}

static struct plimp_wire pb_open(plim_bytes message)
{
	return (struct plimp_wire){message, 0};
}

static void *pb_add(struct pb *pb, struct pb_table *table, size_t size)
{
	void *item;
	int code;

	if (pb->maker->code != PLIM_OK)
		return NULL;
	code = plimp_reserve(pb->allocator, &table->items, &table->capacity,
			     table->count + 1, 256, size);
	if (code != PLIM_OK) {
		plimp_stored_fail(pb->maker, code, 0, NULL);
		return NULL;
	}
	item = (char *)table->items + size * table->count++;
	memset(item, 0, size);
	return item;
}

static plim_bytes pb_string(struct pb *pb, uint64_t index, const char *at)
{
	if (index < pb->strings.count)
		return ((const plim_bytes *)pb->strings.items)[index];
	if (index != 0) /* 0 is the empty text, also where there is no table */
		pb_wrong(pb, at, "a text is not in the table");
	return (plim_bytes){"", 0};
}

/* A copy of a text; of our own writer with its escapes undone: \xNN, the
 * backslash's own among them. */
static plim_bytes pb_copy(struct pb *pb, plim_bytes text)
{
	plim_bytes copy = plimp_stored_text(pb->maker, text);
	char *to = (char *)copy.data;
	size_t used = 0;

	if (!pb->is_ours || copy.size == 0)
		return copy;
	for (size_t i = 0; i < copy.size; used++) {
		if (copy.size - i >= 4 && copy.data[i] == '\\' &&
		    copy.data[i + 1] == 'x' &&
		    plimp_hex_digit(copy.data[i + 2]) >= 0 &&
		    plimp_hex_digit(copy.data[i + 3]) >= 0) {
			to[used] =
			    (char)(plimp_hex_digit(copy.data[i + 2]) << 4 |
				   plimp_hex_digit(copy.data[i + 3]));
			i += 4;
		} else {
			to[used] = copy.data[i++];
		}
	}
	return (plim_bytes){to, used};
}

static int pb_begins(plim_bytes text, const char *word)
{
	const size_t size = strlen(word);

	return text.size >= size && memcmp(text.data, word, size) == 0;
}

/* --- ids ------------------------------------------------------------------ */

static uint64_t pb_id(const void *items, size_t size, uint32_t index)
{
	uint64_t id;

	/* The first member of each of them. */
	memcpy(&id, (const char *)items + size * index, sizeof(id));
	return id;
}

struct pb_ids {
	const void *items;
	size_t size;
};

static int pb_order_ids(uint32_t a, uint32_t b, const void *user)
{
	const struct pb_ids *ids = user;
	const uint64_t left = pb_id(ids->items, ids->size, a);
	const uint64_t right = pb_id(ids->items, ids->size, b);

	if (left != right)
		return left < right ? -1 : 1;
	return a < b ? -1 : a > b; /* the first of equal ones is found */
}

static void pb_sort(struct pb *pb, struct pb_table *table, size_t size)
{
	const struct pb_ids ids = {table->items, size};

	if (pb->maker->code != PLIM_OK || table->count == 0)
		return;
	table->order =
	    plimp_allocate(pb->allocator, table->count, sizeof(*table->order));
	if (table->order == NULL) {
		plimp_stored_fail(pb->maker, PLIM_ENOMEM, 0, NULL);
		return;
	}
	table->order_room = table->count;
	for (size_t i = 0; i < table->count; i++)
		table->order[i] = (uint32_t)i;
	plimp_order(table->order, table->count, pb_order_ids, &ids);
}

static void *pb_find(const struct pb_table *table, size_t size, uint64_t id)
{
	size_t low = 0;
	size_t high = table->order_room;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (pb_id(table->items, size, table->order[middle]) < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == table->order_room ||
	    pb_id(table->items, size, table->order[low]) != id)
		return NULL;
	return (char *)table->items + size * table->order[low];
}

/* --- what samples stand on ------------------------------------------------ */

static void pb_read_strings(struct pb *pb)
{
	struct plimp_wire wire = pb_open(pb->message);
	struct plimp_wire_field field;

	while (pb->maker->code == PLIM_OK && plimp_wire_next(&wire, &field)) {
		plim_bytes *text;

		if (field.number != PB_STRING)
			continue;
		text = pb_add(pb, &pb->strings, sizeof(*text));
		if (text != NULL)
			*text = field.bytes;
	}
	pb_end(pb, &wire);
}

static struct pb_type pb_read_type(struct pb *pb, plim_bytes message)
{
	struct pb_type type = {{"", 0}, {"", 0}};
	struct plimp_wire wire = pb_open(message);
	struct plimp_wire_field field;

	while (plimp_wire_next(&wire, &field)) {
		if (field.number == 1)
			type.type = pb_string(pb, field.whole, message.data);
		else if (field.number == 2)
			type.unit = pb_string(pb, field.whole, message.data);
	}
	pb_end(pb, &wire);
	return type;
}

static void pb_read_mapping(struct pb *pb, plim_bytes message)
{
	struct pb_mapping *mapping =
	    pb_add(pb, &pb->mappings, sizeof(*mapping));
	struct plimp_wire wire = pb_open(message);
	struct plimp_wire_field field;

	while (mapping != NULL && plimp_wire_next(&wire, &field)) {
		if (field.number == 1)
			mapping->id = field.whole;
		else if (field.number == 2)
			mapping->start = field.whole;
		else if (field.number == 4)
			mapping->offset = field.whole;
		else if (field.number == 5)
			mapping->name = plimp_stored_base(
			    pb_string(pb, field.whole, message.data));
	}
	pb_end(pb, &wire);
}

static void pb_read_function(struct pb *pb, plim_bytes message)
{
	struct pb_function *function =
	    pb_add(pb, &pb->functions, sizeof(*function));
	struct plimp_wire wire = pb_open(message);
	struct plimp_wire_field field;
	plim_bytes system = {"", 0};

	while (function != NULL && plimp_wire_next(&wire, &field)) {
		if (field.number == 1)
			function->id = field.whole;
		else if (field.number == 2)
			function->name =
			    pb_string(pb, field.whole, message.data);
		else if (field.number == 3)
			system = pb_string(pb, field.whole, message.data);
	}
	pb_end(pb, &wire);
	if (function == NULL)
		return;
	function->made = PLIM_NO_INDEX;
	if (function->name.size == 0)
		function->name = system;
}

static void pb_read_location(struct pb *pb, plim_bytes message)
{
	struct pb_location *location =
	    pb_add(pb, &pb->locations, sizeof(*location));
	struct plimp_wire wire = pb_open(message);
	struct plimp_wire_field field;

	while (location != NULL && plimp_wire_next(&wire, &field)) {
		if (field.number == 1)
			location->id = field.whole;
		else if (field.number == 2)
			location->mapping = field.whole;
		else if (field.number == 3)
			location->address = field.whole;
	}
	pb_end(pb, &wire);
	if (location != NULL)
		location->message = message;
}

static void pb_read_types(struct pb *pb, const struct plimp_wire_field *field)
{
	if (pb->type_count == PB_VALUES) {
		plimp_stored_fail(pb->maker, PLIM_ELIMIT, 0,
				  "its samples have too many values");
		return;
	}
	pb->types[pb->type_count++] = pb_read_type(pb, field->bytes);
}

static void pb_read_tables(struct pb *pb)
{
	plim_stored_facts *facts = &pb->maker->stored->facts;
	struct plimp_wire wire = pb_open(pb->message);
	struct plimp_wire_field field;

	while (pb->maker->code == PLIM_OK && plimp_wire_next(&wire, &field)) {
		switch (field.number) {
		case PB_SAMPLE_TYPE:
			pb_read_types(pb, &field);
			break;
		case PB_MAPPING:
			pb_read_mapping(pb, field.bytes);
			break;
		case PB_FUNCTION:
			pb_read_function(pb, field.bytes);
			break;
		case PB_LOCATION:
			pb_read_location(pb, field.bytes);
			break;
		case PB_PERIOD_TYPE:
			pb->period_type = pb_read_type(pb, field.bytes);
			break;
		case PB_PERIOD:
			pb->period = field.whole;
			break;
		case PB_TIME:
			facts->start_unix_ns = field.whole;
			break;
		case PB_DURATION:
			facts->duration_ns = field.whole;
			break;
		case PB_COMMENT:
			pb->is_ours |= pb_begins(
			    pb_string(pb, field.whole, field.bytes.data),
			    "plimsoll ");
			break;
		case PB_DEFAULT_TYPE:
			pb->default_type = field.whole;
			break;
		default:
			break;
		}
	}
	pb_sort(pb, &pb->mappings, sizeof(struct pb_mapping));
	pb_sort(pb, &pb->functions, sizeof(struct pb_function));
	pb_sort(pb, &pb->locations, sizeof(struct pb_location));
}

/* --- what the values are -------------------------------------------------- */

static uint64_t pb_unit_ns(plim_bytes unit)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = {
	    {"nanoseconds", 1},	       {"nanosecond", 1},
	    {"microseconds", 1000},    {"microsecond", 1000},
	    {"milliseconds", 1000000}, {"millisecond", 1000000},
	    {"seconds", 1000000000},   {"second", 1000000000},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (pb_is(unit, units[i].word))
			return units[i].ns;
	return 0;
}

static int pb_is_samples(const struct pb_type *type)
{
	return pb_is(type->unit, "count") &&
	       (pb_is(type->type, "samples") || pb_is(type->type, "sample") ||
		pb_ends(type->type, "_sample") ||
		pb_ends(type->type, "_samples"));
}

static int pb_same_unit(const struct pb *pb)
{
	const plim_bytes unit = pb->types[pb->weight].unit;

	return pb->period > 0 && pb->period <= INT64_MAX &&
	       unit.size == pb->period_type.unit.size &&
	       memcmp(unit.data, pb->period_type.unit.data, unit.size) == 0;
}

static void pb_choose(struct pb *pb)
{
	const plim_bytes wanted =
	    pb_string(pb, pb->default_type, pb->message.data);

	pb->samples = PB_NONE;
	if (pb->type_count == 0) {
		pb_wrong(pb, pb->message.data,
			 "it says of no value what it is");
		return;
	}
	pb->weight = pb->type_count - 1;
	for (size_t i = pb->type_count; i-- > 0;) {
		if (wanted.size > 0 && pb->types[i].type.size == wanted.size &&
		    memcmp(pb->types[i].type.data, wanted.data, wanted.size) ==
			0)
			pb->weight = i;
		if (pb_is_samples(&pb->types[i]))
			pb->samples = i;
	}
	pb->scale = pb_unit_ns(pb->types[pb->weight].unit);
	if (pb->samples == PB_NONE && (pb->scale == 0 || !pb_same_unit(pb)))
		plimp_stored_fail(pb->maker, PLIM_EUNSUPPORTED, 0,
				  "it holds neither counts of samples nor "
				  "times with a period");
}

static void pb_facts(struct pb *pb)
{
	plim_stored_facts *facts = &pb->maker->stored->facts;
	const struct pb_type *weight = &pb->types[pb->weight];
	const uint64_t period_scale = pb_unit_ns(pb->period_type.unit);

	facts->form = PLIM_STORED_PPROF;
	facts->is_time = pb->scale > 0;
	facts->type = plimp_stored_text(pb->maker, weight->type);
	facts->unit = pb->scale > 0
			  ? (plim_bytes){"nanoseconds", 11}
			  : plimp_stored_text(pb->maker, weight->unit);
	facts->views = 1u << PLIM_VIEW_CPU;
	if (pb_is(weight->type, plim_view_word(PLIM_VIEW_OFF)))
		facts->views = 1u << PLIM_VIEW_OFF;
	else if (pb_is(weight->type, plim_view_word(PLIM_VIEW_WALL)))
		facts->views = 1u << PLIM_VIEW_WALL;
	if (period_scale > 0 && pb->period <= INT64_MAX / period_scale)
		facts->period_ns = pb->period * period_scale;
	if (facts->duration_ns > INT64_MAX)
		facts->duration_ns = 0;
	if (facts->start_unix_ns > INT64_MAX)
		facts->start_unix_ns = 0;
	/* By convention the program itself is the first mapping. */
	if (pb->mappings.count > 0)
		facts->name = pb_copy(
		    pb, ((const struct pb_mapping *)pb->mappings.items)->name);
}

/* --- locations ------------------------------------------------------------ */

static void pb_add_line(struct pb *pb, uint32_t function)
{
	uint32_t *place = pb_add(pb, &pb->lines, sizeof(function));

	if (place != NULL)
		*place = function;
}

/* "file+0xOFFSET", or "0xADDRESS". */
static plim_bytes pb_address_name(struct pb *pb,
				  const struct pb_location *location,
				  const struct pb_mapping *mapping)
{
	const plim_bytes file =
	    mapping != NULL ? pb_copy(pb, mapping->name) : (plim_bytes){"", 0};
	uint64_t number = location->address;
	char *name = plimp_pool_take(&pb->maker->stored->pool, file.size + 32);
	size_t used = file.size;

	if (name == NULL) {
		plimp_stored_fail(pb->maker, PLIM_ENOMEM, 0, NULL);
		return (plim_bytes){"", 0};
	}
	if (file.size > 0) {
		memcpy(name, file.data, file.size);
		name[used++] = '+';
		number = number - mapping->start + mapping->offset;
	}
	name[used++] = '0';
	name[used++] = 'x';
	for (int shift = 60, begun = 0; shift >= 0; shift -= 4) {
		const unsigned digit = (unsigned)(number >> shift) & 15;

		begun |= digit != 0 || shift == 0;
		if (begun)
			name[used++] = "0123456789abcdef"[digit];
	}
	return (plim_bytes){name, used};
}

static uint32_t pb_make_function(struct pb *pb, plim_bytes name,
				 const struct pb_mapping *mapping)
{
	return plimp_stored_add_function(
	    pb->maker, name,
	    mapping != NULL ? pb_copy(pb, mapping->name) : (plim_bytes){"", 0});
}

static void pb_use_line(struct pb *pb, plim_bytes message,
			const struct pb_mapping *mapping)
{
	struct plimp_wire wire = pb_open(message);
	struct plimp_wire_field field;
	struct pb_function *function;
	uint64_t id = 0;

	while (plimp_wire_next(&wire, &field))
		if (field.number == 1)
			id = field.whole;
	pb_end(pb, &wire);
	function = pb_find(&pb->functions, sizeof(*function), id);
	if (function == NULL) {
		if (id != 0)
			pb_wrong(pb, message.data, "a function is not there");
		return; /* a line without a function tells nothing */
	}
	/* The same function in another file is told apart by pprof's writers
	 * with another id. */
	if (function->made == PLIM_NO_INDEX)
		function->made =
		    pb_make_function(pb, pb_copy(pb, function->name), mapping);
	pb_add_line(pb, function->made);
}

static void pb_use_location(struct pb *pb, struct pb_location *location)
{
	const struct pb_mapping *mapping = pb_find(
	    &pb->mappings, sizeof(struct pb_mapping), location->mapping);
	struct plimp_wire wire = pb_open(location->message);
	struct plimp_wire_field field;
	const size_t first = pb->lines.count;

	while (pb->maker->code == PLIM_OK && plimp_wire_next(&wire, &field))
		if (field.number == 4)
			pb_use_line(pb, field.bytes, mapping);
	if (pb->lines.count == first)
		pb_add_line(pb, pb_make_function(
				    pb, pb_address_name(pb, location, mapping),
				    mapping));
	location->first = (uint32_t)first;
	location->count = (uint32_t)(pb->lines.count - first);
}

/* --- samples -------------------------------------------------------------- */

static void pb_sample_location(struct pb *pb, uint64_t id, const char *at)
{
	struct pb_location *location =
	    pb_find(&pb->locations, sizeof(*location), id);

	if (location == NULL) {
		pb_wrong(pb, at, "a location is not there");
		return;
	}
	if (location->count == 0)
		pb_use_location(pb, location);
	for (uint32_t i = 0; i < location->count; i++) {
		if (pb->maker->code != PLIM_OK)
			return;
		plimp_stored_add_item(
		    pb->maker,
		    ((const uint32_t *)pb->lines.items)[location->first + i]);
	}
}

/* Our own writer's label: what the thread did. */
static int pb_sample_state(struct pb *pb, plim_bytes message)
{
	struct plimp_wire wire = pb_open(message);
	struct plimp_wire_field field;
	plim_bytes key = {"", 0};
	plim_bytes text = {"", 0};
	const char *word;

	while (plimp_wire_next(&wire, &field)) {
		if (field.number == 1)
			key = pb_string(pb, field.whole, message.data);
		else if (field.number == 2)
			text = pb_string(pb, field.whole, message.data);
	}
	pb_end(pb, &wire);
	if (!pb_is(key, "state"))
		return 0;
	for (int i = 1; (word = plim_activity_word(i)) != NULL; i++)
		if (pb_is(text, word))
			return i;
	return 0;
}

/* Numbers one by one, or packed. */
static void pb_sample_values(struct pb *pb, uint64_t *values, size_t *count,
			     const struct plimp_wire_field *field)
{
	struct plimp_wire packed = pb_open(field->bytes);
	uint64_t number = field->whole;
	int more = field->type == PLIMP_WIRE_VARINT;

	if (field->type == PLIMP_WIRE_BYTES)
		more = plimp_wire_number(&packed, &number);
	while (more) {
		if (*count < PB_VALUES)
			values[*count] = number;
		(*count)++;
		more = field->type == PLIMP_WIRE_BYTES &&
		       plimp_wire_number(&packed, &number);
	}
	pb_end(pb, &packed);
}

static void pb_sample_locations(struct pb *pb, plim_bytes message,
				const struct plimp_wire_field *field)
{
	struct plimp_wire packed = pb_open(field->bytes);
	uint64_t id;

	if (field->type == PLIMP_WIRE_VARINT)
		pb_sample_location(pb, field->whole, message.data);
	while (pb->maker->code == PLIM_OK && field->type == PLIMP_WIRE_BYTES &&
	       plimp_wire_number(&packed, &id))
		pb_sample_location(pb, id, message.data);
	pb_end(pb, &packed);
}

static uint64_t pb_sample_count(const struct pb *pb, const uint64_t *values)
{
	const uint64_t weight = values[pb->weight];

	if (pb->samples != PB_NONE)
		return values[pb->samples];
	assert(pb->period > 0);
	return weight / pb->period + (weight % pb->period * 2 >= pb->period);
}

static void pb_read_sample(struct pb *pb, plim_bytes message)
{
	struct plimp_wire wire = pb_open(message);
	struct plimp_wire_field field;
	uint64_t values[PB_VALUES] = {0};
	size_t count = 0;
	int activity = 0;

	while (pb->maker->code == PLIM_OK && plimp_wire_next(&wire, &field)) {
		if (field.number == 1)
			pb_sample_locations(pb, message, &field);
		else if (field.number == 2)
			pb_sample_values(pb, values, &count, &field);
		else if (field.number == 3 && activity == 0)
			activity = pb_sample_state(pb, field.bytes);
	}
	pb_end(pb, &wire);
	if (pb->maker->code != PLIM_OK)
		return;
	if (count != pb->type_count) {
		pb_wrong(pb, message.data,
			 "a sample has not the values that it should");
		return;
	}
	/* A difference that pprof made has negative ones; and no sum of what
	 * is left can overflow. */
	for (size_t i = 0; i < count; i++)
		if (values[i] > INT64_MAX ||
		    (pb->scale > 1 && values[i] > INT64_MAX / pb->scale)) {
			pb_wrong(pb, message.data,
				 "a sample has a value below 0, or too large");
			return;
		}
	pb->is_mixed |= activity == 0;
	plimp_stored_end_stack(pb->maker, activity,
			       values[pb->weight] *
				   (pb->scale > 0 ? pb->scale : 1),
			       pb_sample_count(pb, values));
}

static void pb_read_samples(struct pb *pb)
{
	plim_stored_facts *facts = &pb->maker->stored->facts;
	struct plimp_wire wire = pb_open(pb->message);
	struct plimp_wire_field field;

	while (pb->maker->code == PLIM_OK && plimp_wire_next(&wire, &field))
		if (field.number == PB_SAMPLE)
			pb_read_sample(pb, field.bytes);
	pb_end(pb, &wire);
	/* All time, with labels that say what it was: every view is there. */
	if (facts->views == 1u << PLIM_VIEW_WALL && !pb->is_mixed)
		facts->views |= 1u << PLIM_VIEW_CPU | 1u << PLIM_VIEW_OFF;
}

/* --- all ------------------------------------------------------------------ */

static void pb_release(struct pb *pb, struct pb_table *table, size_t size)
{
	plimp_release(pb->allocator, table->items, table->capacity, size);
	plimp_release(pb->allocator, table->order, table->order_room,
		      sizeof(*table->order));
}

void plimp_stored_pprof(struct plimp_stored_maker *maker, plim_bytes message)
{
	struct pb pb = {.maker = maker,
			.allocator = &maker->stored->allocator,
			.message = message,
			.period_type = {{"", 0}, {"", 0}}};

	pb_read_strings(&pb);
	if (maker->code == PLIM_OK)
		pb_read_tables(&pb);
	if (maker->code == PLIM_OK)
		pb_choose(&pb);
	if (maker->code == PLIM_OK)
		pb_facts(&pb);
	if (maker->code == PLIM_OK)
		pb_read_samples(&pb);
	pb_release(&pb, &pb.strings, sizeof(plim_bytes));
	pb_release(&pb, &pb.mappings, sizeof(struct pb_mapping));
	pb_release(&pb, &pb.functions, sizeof(struct pb_function));
	pb_release(&pb, &pb.locations, sizeof(struct pb_location));
	pb_release(&pb, &pb.lines, sizeof(uint32_t));
}
