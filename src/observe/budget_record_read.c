/*
 * budget_record_read.c - RESULT lines into the readings of a record.
 *
 * Which lines and pairs become which figures stands in the tables below. An
 * observation ends with its line `budget`, which tells the methods of the
 * lines before it. A line that claims to be a RESULT and is none, a figure in
 * another unit, or a number below 0 ends the reading: who wrote that is not
 * to be judged by. Lines and keys that are not known are passed over.
 */
#include "observe/budget_record.h"

#include "core/memory.h"

#include <plimsoll/result.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A plain line, or a pair of `budget`, and the figure that it is. */
struct recorded_line {
	const char *key;
	int figure;
	int rank;
	const char *unit;
};

static const struct recorded_line recorded_lines[] = {
    {"idle_cpu_percent", PLIM_BUDGET_IDLE_CPU, PLIMP_RECORD_ITSELF, "percent"},
    {"wakeups_per_second", PLIM_BUDGET_WAKEUPS, PLIMP_RECORD_ITSELF,
     "per_second"},
    {"disk_ops_per_second", PLIM_BUDGET_DISK_OPS, PLIMP_RECORD_ITSELF,
     "per_second"},
    {"disk_read_bytes_per_second", PLIM_BUDGET_DISK_READ, PLIMP_RECORD_ITSELF,
     "bytes_per_second"},
    {"disk_write_bytes_per_second", PLIM_BUDGET_DISK_WRITE, PLIMP_RECORD_ITSELF,
     "bytes_per_second"},
    {"warm_resident_bytes", PLIM_BUDGET_RESIDENT_WARM, PLIMP_RECORD_ITSELF,
     "bytes"},
    {"idle_resident_bytes", PLIM_BUDGET_RESIDENT_END, PLIMP_RECORD_ITSELF,
     "bytes"},
    {"resident_memory_bytes", PLIM_BUDGET_RESIDENT_WARM, PLIMP_RECORD_LARGER,
     "bytes"},
    {"resident_memory_bytes", PLIM_BUDGET_RESIDENT_END, PLIMP_RECORD_LARGER,
     "bytes"},
    {"footprint_bytes", PLIM_BUDGET_PRIVATE_WARM, PLIMP_RECORD_LARGER, "bytes"},
};

static const struct recorded_line recorded_pairs[] = {
    {"idle_cpu_percent", PLIM_BUDGET_IDLE_CPU, PLIMP_RECORD_BUDGET, NULL},
    {"wakeups_per_s", PLIM_BUDGET_WAKEUPS, PLIMP_RECORD_BUDGET, NULL},
    {"disk_ops_per_s", PLIM_BUDGET_DISK_OPS, PLIMP_RECORD_BUDGET, NULL},
    {"disk_blocks_per_s", PLIM_BUDGET_DISK_BLOCKS, PLIMP_RECORD_ITSELF, NULL},
    {"io_calls_per_s", PLIM_BUDGET_IO_CALLS, PLIMP_RECORD_ITSELF, NULL},
    {"resident_bytes", PLIM_BUDGET_RESIDENT_WARM, PLIMP_RECORD_BUDGET_LARGER,
     NULL},
    {"resident_bytes", PLIM_BUDGET_RESIDENT_END, PLIMP_RECORD_BUDGET_LARGER,
     NULL},
};

/* The words of the method pair of `budget`, and the figures they are of. */
static const struct recorded_line recorded_methods[] = {
    {"resident", PLIM_BUDGET_RESIDENT_WARM, 0, NULL},
    {"resident", PLIM_BUDGET_RESIDENT_END, 0, NULL},
    {"idle_cpu", PLIM_BUDGET_IDLE_CPU, 0, NULL},
    {"wakeups", PLIM_BUDGET_WAKEUPS, 0, NULL},
    {"disk_ops", PLIM_BUDGET_DISK_OPS, 0, NULL},
};

#define RECORD_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A record in the making. */
struct recorded_reader {
	plim_budget_record *record;
	const char *file_name;
	plim_bytes line;
	plim_budget_position at; /* of the line */
	uint64_t window_ns;	 /* of the observation, so far */
	plim_budget_position *where;
	plim_error *error;
};

static int recorded_equals(plim_bytes text, const char *word)
{
	return text.size == strlen(word) &&
	       memcmp(text.data, word, text.size) == 0;
}

/* Fails at a byte of the line. */
static int recorded_wrong(struct recorded_reader *reader, int code,
			  size_t offset, const char *detail)
{
	plim_budget_position at = reader->at;
	char place[PLIMP_BUDGET_PLACE];

	for (size_t i = 0; i < offset && i < reader->line.size; i++)
		at.column +=
		    ((unsigned char)reader->line.data[i] & 0xc0) != 0x80;
	at.offset += offset;
	plimp_budget_place_text(reader->file_name, at, place);
	if (reader->where != NULL)
		*reader->where = at;
	return plimp_fail_at(reader->error, code, "record", place, at.offset,
			     "%s", detail);
}

static int recorded_no_memory(struct recorded_reader *reader)
{
	return plimp_fail(reader->error, PLIM_ENOMEM, 0, "record",
			  reader->file_name, NULL);
}

static size_t recorded_offset(const struct recorded_reader *reader,
			      plim_bytes part)
{
	return (size_t)(part.data - reader->line.data);
}

static int recorded_copy(struct recorded_reader *reader, plim_bytes text,
			 const char **copy)
{
	plim_bytes raw = text;
	char *made = plimp_pool_copy(&reader->record->pool, raw);

	if (made == NULL)
		return recorded_no_memory(reader);
	/* Taking escapes away makes a text no longer. */
	made[plim_result_unescape(text, made, text.size)] = '\0';
	*copy = made;
	return PLIM_OK;
}

static int recorded_add(struct recorded_reader *reader, const char *target,
			int figure, int rank,
			const plim_budget_reading *reading)
{
	int code =
	    plimp_record_add(reader->record, target, figure, rank, reading);

	if (code == PLIM_ELIMIT)
		return recorded_wrong(
		    reader, code, 0,
		    "too many figures, or of too many targets");
	return code == PLIM_OK ? code : recorded_no_memory(reader);
}

/* The row of a reason's word. What only a writer knows is "never here", and
 * the word says more. */
static int recorded_missing(struct recorded_reader *reader, plim_bytes word,
			    plim_budget_reading *reading)
{
	reading->value = plim_real_missing(PLIM_REASON_HOST_NEVER, 0);
	for (int id = 0; plim_reason_word(id) != NULL; id++) {
		if (!recorded_equals(word, plim_reason_word(id)))
			continue;
		reading->value = plim_real_missing(id, 0);
		return PLIM_OK;
	}
	if (word.size == 0)
		return PLIM_OK;
	return recorded_copy(reader, word, &reading->note);
}

/* The row of a method's word; NONE, "not stated", for an unknown one. */
static int recorded_method(plim_bytes word)
{
	for (int id = 1; plim_method_word(id) != NULL; id++)
		if (recorded_equals(word, plim_method_word(id)))
			return id;
	return PLIM_METHOD_NONE;
}

static int recorded_bound(plim_bytes word)
{
	if (recorded_equals(word, plim_bound_word(PLIM_BOUND_AT_LEAST)))
		return PLIM_BOUND_AT_LEAST;
	if (recorded_equals(word, plim_bound_word(PLIM_BOUND_AT_MOST)))
		return PLIM_BOUND_AT_MOST;
	return PLIM_BOUND_EXACT;
}

/* A number of a figure: not below 0. */
static int recorded_number(struct recorded_reader *reader, plim_bytes text,
			   double *number)
{
	if (plim_result_number(text, number, NULL) != PLIM_OK)
		return recorded_wrong(reader, PLIM_ESYNTAX,
				      recorded_offset(reader, text),
				      "expected a number or unavailable");
	if (*number < 0)
		return recorded_wrong(reader, PLIM_ESYNTAX,
				      recorded_offset(reader, text),
				      "no figure is below 0");
	return PLIM_OK;
}

/* Seconds as nanoseconds; what is no sensible time is 0, unknown. */
static uint64_t recorded_ns(double seconds)
{
	return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
}

static int recorded_plain(struct recorded_reader *reader,
			  const plim_result *result,
			  const struct recorded_line *row)
{
	plim_budget_reading reading = {.window_ns = reader->window_ns};
	double number = 0;
	int code;

	if (result->kind == PLIM_RESULT_UNAVAILABLE) {
		code = recorded_missing(reader, result->unit, &reading);
	} else if (result->kind != PLIM_RESULT_VALUE) {
		return recorded_wrong(reader, PLIM_ESYNTAX, result->start,
				      "expected a number or unavailable");
	} else if (!recorded_equals(result->unit, row->unit)) {
		return recorded_wrong(reader, PLIM_ESYNTAX, result->start,
				      "the figure is in another unit than it "
				      "always has");
	} else {
		code = recorded_number(reader, result->value, &number);
		reading.value = plim_real_known(number, PLIM_METHOD_NONE);
		if (row->rank >= PLIMP_RECORD_LARGER)
			reading.value.bound = PLIM_BOUND_AT_MOST;
	}
	if (code != PLIM_OK)
		return code;
	return recorded_add(reader, NULL, row->figure, row->rank, &reading);
}

static int recorded_value(struct recorded_reader *reader,
			  const plim_result *result)
{
	for (size_t i = 0; i < RECORD_COUNT(recorded_lines); i++) {
		int code;

		if (!recorded_equals(result->key, recorded_lines[i].key))
			continue;
		code = recorded_plain(reader, result, &recorded_lines[i]);
		if (code != PLIM_OK)
			return code;
	}
	if (recorded_equals(result->key, "idle_window_seconds"))
		reader->window_ns = result->kind == PLIM_RESULT_VALUE
					? recorded_ns(result->number)
					: 0;
	return PLIM_OK;
}

/* WORD:METHOD or WORD:METHOD:BOUND, of the readings of this observation. */
static void recorded_apply_method(struct recorded_reader *reader,
				  plim_bytes word, plim_bytes method,
				  plim_bytes bound)
{
	for (size_t i = 0; i < RECORD_COUNT(recorded_methods); i++) {
		struct plimp_record_group *group;
		plim_real *value;

		if (!recorded_equals(word, recorded_methods[i].key))
			continue;
		group = plimp_record_find(reader->record, NULL,
					  recorded_methods[i].figure,
					  PLIMP_RECORD_ITSELF);
		if (group == NULL || group->count == 0)
			continue;
		value = &group->readings[group->count - 1].value;
		if (value->state != PLIM_STATE_KNOWN ||
		    value->method != PLIM_METHOD_NONE)
			continue;
		if (recorded_equals(method, "disk_blocks")) {
			*value = plim_real_missing(PLIM_REASON_OTHER_METHOD, 0);
			group->readings[group->count - 1].note =
			    "it was taken from blocks; limit disk_blocks";
			continue;
		}
		value->method = (uint16_t)recorded_method(method);
		value->bound = (uint8_t)recorded_bound(bound);
	}
}

/* Cuts off what stands before `mark`, or all of it. */
static plim_bytes recorded_cut(plim_bytes *rest, char mark)
{
	plim_bytes part = *rest;
	const char *found =
	    rest->size > 0 ? memchr(rest->data, mark, rest->size) : NULL;

	if (found != NULL)
		part.size = (size_t)(found - rest->data);
	rest->data += part.size;
	rest->size -= part.size;
	if (found != NULL) {
		rest->data++;
		rest->size--;
	}
	return part;
}

static void recorded_apply_methods(struct recorded_reader *reader,
				   plim_bytes list)
{
	while (list.size > 0) {
		plim_bytes item = recorded_cut(&list, ',');
		plim_bytes word = recorded_cut(&item, ':');
		plim_bytes method = recorded_cut(&item, ':');

		recorded_apply_method(reader, word, method,
				      recorded_cut(&item, ':'));
	}
}

/* A pair, if it is there: 1, 0, or a failure. */
static int recorded_pair(struct recorded_reader *reader,
			 const plim_result *result, const char *key,
			 plim_result_pair *pair)
{
	int found = plim_result_find(result, key, pair, NULL);

	if (found < 0)
		return recorded_wrong(reader, PLIM_ESYNTAX, result->start,
				      "a key stands twice in the record");
	return found;
}

/* `RESULT budget ...`: the last line of an observation. */
static int recorded_budget(struct recorded_reader *reader,
			   const plim_result *result)
{
	plim_budget_reading reading = {.window_ns = reader->window_ns};
	plim_result_pair pair;
	double number = 0;
	int found = recorded_pair(reader, result, "method", &pair);

	if (found < 0)
		return found;
	if (found)
		recorded_apply_methods(reader, pair.value);
	found = recorded_pair(reader, result, "window", &pair);
	if (found > 0 && plim_result_number(pair.value, &number, NULL) == 0)
		reading.window_ns = recorded_ns(number);
	for (size_t i = 0; i < RECORD_COUNT(recorded_pairs) && found >= 0;
	     i++) {
		const struct recorded_line *row = &recorded_pairs[i];
		int code;

		found = recorded_pair(reader, result, row->key, &pair);
		if (found <= 0)
			continue;
		reading.value = plim_real_missing(PLIM_REASON_HOST_NEVER, 0);
		if (!pair.unavailable) {
			code = recorded_number(reader, pair.value, &number);
			if (code != PLIM_OK)
				return code;
			reading.value =
			    plim_real_known(number, PLIM_METHOD_NONE);
			if (row->rank >= PLIMP_RECORD_LARGER)
				reading.value.bound = PLIM_BOUND_AT_MOST;
		}
		code = recorded_add(reader, NULL, row->figure, row->rank,
				    &reading);
		if (code != PLIM_OK)
			return code;
	}
	reader->window_ns = 0;
	return found < 0 ? found : PLIM_OK;
}

/* The value of a gate_figure, with what belongs to it. */
static int recorded_gate_value(struct recorded_reader *reader,
			       const plim_result *result,
			       const plim_budget_figure *figure,
			       plim_budget_reading *reading)
{
	plim_result_pair pair;
	double number = 0;
	int found = recorded_pair(reader, result, "unit", &pair);
	int code;

	if (found < 0)
		return found;
	if (found > 0 &&
	    !recorded_equals(pair.value, plim_unit_word(figure->unit)) &&
	    !(figure->unit == PLIM_UNIT_NONE &&
	      recorded_equals(pair.value, "count")))
		return recorded_wrong(reader, PLIM_ESYNTAX,
				      recorded_offset(reader, pair.value),
				      "the figure is in another unit than it "
				      "always has");
	found = recorded_pair(reader, result, "value", &pair);
	if (found <= 0)
		return found < 0
			   ? found
			   : recorded_wrong(reader, PLIM_ESYNTAX, result->start,
					    "gate_figure without value");
	if (pair.unavailable) {
		found = recorded_pair(reader, result, "reason", &pair);
		if (found <= 0)
			pair.value.size = 0;
		return found < 0
			   ? found
			   : recorded_missing(reader, pair.value, reading);
	}
	code = recorded_number(reader, pair.value, &number);
	if (code != PLIM_OK)
		return code;
	reading->value = plim_real_known(number, PLIM_METHOD_NONE);
	found = recorded_pair(reader, result, "method", &pair);
	if (found > 0)
		reading->value.method = (uint16_t)recorded_method(pair.value);
	if (found >= 0)
		found = recorded_pair(reader, result, "bound", &pair);
	if (found > 0)
		reading->value.bound = (uint8_t)recorded_bound(pair.value);
	return found < 0 ? found : PLIM_OK;
}

static int recorded_gate_counts(struct recorded_reader *reader,
				const plim_result *result,
				plim_budget_reading *reading)
{
	plim_result_pair pair;
	double seconds = 0;
	uint64_t counted;
	int found = recorded_pair(reader, result, "window_seconds", &pair);

	if (found > 0 && plim_result_number(pair.value, &seconds, NULL) == 0)
		reading->window_ns = recorded_ns(seconds);
	if (found >= 0)
		found = recorded_pair(reader, result, "counted", &pair);
	if (found > 0 && plim_result_whole(pair.value, &counted, NULL) == 0)
		reading->counted =
		    plim_count_known(counted, reading->value.method);
	return found < 0 ? found : PLIM_OK;
}

static int recorded_gate_figure(struct recorded_reader *reader,
				const plim_result *result)
{
	plim_budget_reading reading = {0};
	const plim_budget_figure *figure;
	plim_result_pair pair;
	const char *target = NULL;
	int code;
	int found = recorded_pair(reader, result, "figure", &pair);

	if (found <= 0)
		return found < 0
			   ? found
			   : recorded_wrong(reader, PLIM_ESYNTAX, result->start,
					    "gate_figure without figure");
	/* A newer version may record what is not known here. */
	figure = plim_budget_figure_find(pair.value);
	if (figure == NULL)
		return PLIM_OK;
	found = recorded_pair(reader, result, "target", &pair);
	if (found <= 0)
		return found < 0
			   ? found
			   : recorded_wrong(reader, PLIM_ESYNTAX, result->start,
					    "gate_figure without target");
	/* No budget has a longer one, and names are compared one by one. */
	if (pair.value.size > (size_t)4 * PLIMP_RECORD_NAME)
		return recorded_wrong(reader, PLIM_ESYNTAX,
				      recorded_offset(reader, pair.value),
				      "the name of a target is too long");
	code = recorded_copy(reader, pair.value, &target);
	if (code == PLIM_OK)
		code = recorded_gate_value(reader, result, figure, &reading);
	if (code == PLIM_OK)
		code = recorded_gate_counts(reader, result, &reading);
	if (code == PLIM_OK)
		code = recorded_add(reader, target, figure->id,
				    PLIMP_RECORD_ITSELF, &reading);
	return code;
}

static int recorded_host_text(struct recorded_reader *reader,
			      const plim_result *result, const char *key,
			      const char **text)
{
	plim_result_pair pair;
	int found = recorded_pair(reader, result, key, &pair);

	*text = NULL;
	if (found <= 0 || pair.unavailable)
		return found < 0 ? found : PLIM_OK;
	return recorded_copy(reader, pair.value, text);
}

static int recorded_same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static int recorded_same_host(const struct plimp_record_host *a,
			      const struct plimp_record_host *b)
{
	return recorded_same_text(a->system, b->system) &&
	       recorded_same_text(a->machine, b->machine) &&
	       recorded_same_text(a->processor, b->processor) &&
	       a->is_virtual == b->is_virtual && a->cpus == b->cpus;
}

static int recorded_gate_host(struct recorded_reader *reader,
			      const plim_result *result)
{
	struct plimp_record_host host = {.is_virtual = -1};
	plim_result_pair pair;
	uint64_t whole;
	int code = recorded_host_text(reader, result, "system", &host.system);

	if (code == PLIM_OK)
		code = recorded_host_text(reader, result, "machine",
					  &host.machine);
	if (code == PLIM_OK)
		code = recorded_host_text(reader, result, "processor",
					  &host.processor);
	if (code != PLIM_OK)
		return code;
	code = recorded_pair(reader, result, "virtual", &pair);
	if (code > 0 && plim_result_whole(pair.value, &whole, NULL) == 0)
		host.is_virtual = whole != 0;
	if (code >= 0)
		code = recorded_pair(reader, result, "cpus", &pair);
	if (code > 0 && plim_result_whole(pair.value, &whole, NULL) == 0 &&
	    whole <= UINT32_MAX)
		host.cpus = (uint32_t)whole;
	if (code < 0)
		return code;
	if (reader->record->has_host &&
	    !recorded_same_host(&reader->record->host, &host))
		return recorded_wrong(reader, PLIM_ESYNTAX, 0,
				      "the record is of two machines");
	reader->record->has_host = 1;
	reader->record->host = host;
	return PLIM_OK;
}

static int recorded_line_of(struct recorded_reader *reader)
{
	plim_result result;
	plim_error inner = {0};
	int code = plim_result_parse(reader->line, &result, &inner);

	if (code != PLIM_OK)
		return recorded_wrong(
		    reader, PLIM_ESYNTAX,
		    inner.position > 0 ? (size_t)inner.position : 0,
		    inner.detail[0] != '\0' ? inner.detail
					    : "this is no RESULT line");
	if (result.kind == PLIM_RESULT_NONE)
		return PLIM_OK;
	if (result.kind != PLIM_RESULT_RECORD)
		return recorded_value(reader, &result);
	if (recorded_equals(result.key, "gate_figure"))
		return recorded_gate_figure(reader, &result);
	if (recorded_equals(result.key, "gate_host"))
		return recorded_gate_host(reader, &result);
	if (recorded_equals(result.key, "budget"))
		return recorded_budget(reader, &result);
	return PLIM_OK;
}

static int recorded_text(struct recorded_reader *reader, plim_bytes text)
{
	size_t at = 0;

	if (text.size > PLIMP_RECORD_SIZE)
		return recorded_wrong(reader, PLIM_ELIMIT, 0,
				      "a record has at most 16 MiB");
	while (at < text.size) {
		const char *end = memchr(text.data + at, '\n', text.size - at);
		int code;

		reader->line.data = text.data + at;
		reader->line.size = end != NULL
					? (size_t)(end - text.data) - at + 1
					: text.size - at;
		reader->at.offset = at;
		reader->at.column = 1;
		code = recorded_line_of(reader);
		if (code != PLIM_OK)
			return code;
		at += reader->line.size;
		reader->at.line++;
	}
	return PLIM_OK;
}

int plim_budget_record_parse(plim_budget_record **record, const char *file_name,
			     plim_bytes text, const plim_allocator *allocator,
			     plim_budget_position *where, plim_error *error)
{
	struct recorded_reader reader = {
	    .file_name = file_name != NULL ? file_name : "record",
	    .at = {.line = 1, .column = 1},
	    .where = where,
	    .error = error,
	};
	int code;

	assert(record != NULL && (text.data != NULL || text.size == 0));
	if (record == NULL || (text.data == NULL && text.size > 0))
		return plimp_fail(error, PLIM_EINVAL, 0, "record", file_name,
				  NULL);
	reader.record = plimp_allocate(allocator, 1, sizeof(*reader.record));
	if (reader.record == NULL)
		return recorded_no_memory(&reader);
	if (allocator != NULL)
		reader.record->pool.allocator = *allocator;
	code = recorded_text(&reader, text);
	if (code != PLIM_OK) {
		plim_budget_record_free(reader.record);
		return code;
	}
	*record = reader.record;
	return PLIM_OK;
}
