/*
 * column.c - columns by name. The table of fields has all names; what is
 * added here are the rates that two rounds make of its counters.
 */
#include "column.h"
#include "user.h"

#include <stdio.h>
#include <string.h>

static const char per_second[] = "_per_second";
static const char cpu_percent[] = "cpu_percent";
static const char of_tree[] = "tree_";
static const char processes[] = "processes";
static const char user[] = "user";

/* One look leaves out what only io tells: a file more of every process, for
 * totals since its start. */
const char *column_list(int rates, int tree)
{
	static const char *const lists[2][2] = {
	    {"pid,uid,state,threads,cpu,resident,private,wakeups,name",
	     "pid,uid,state,cpu,tree_cpu,resident,tree_resident,private,"
	     "tree_private,tree_processes,name"},
	    {"pid,uid,state,threads,cpu_percent,resident,private,"
	     "disk_read_per_second,disk_write_per_second,wakeups_per_second,"
	     "name",
	     "pid,uid,state,cpu_percent,tree_cpu_percent,resident,"
	     "tree_resident,private,tree_private,tree_processes,name"}};

	return lists[rates != 0][tree != 0];
}

static int column_same(plim_bytes name, const char *word)
{
	return name.size == strlen(word) &&
	       memcmp(name.data, word, name.size) == 0;
}

/* The field with this name, its suffix given or not. */
static const plim_field *column_field(plim_bytes name)
{
	static const char *const suffixes[] = {"", "_bytes", "_ns"};
	char text[64];
	size_t i;

	for (i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
		int size = snprintf(text, sizeof text, "%.*s%s", (int)name.size,
				    name.data, suffixes[i]);
		const plim_field *field;

		if (name.size > 40 || size < 0)
			return NULL;
		field = plim_field_find((plim_bytes){text, (size_t)size});
		if (field != NULL)
			return field;
	}
	return NULL;
}

static int column_fail(plim_error *error, int code, plim_bytes name,
		       const char *detail)
{
	memset(error, 0, sizeof *error);
	error->code = code;
	error->position = 0;
	snprintf(error->operation, sizeof error->operation, "column");
	snprintf(error->path, sizeof error->path, "%.*s",
		 (int)(name.size < 63 ? name.size : 63), name.data);
	snprintf(error->detail, sizeof error->detail, "%s", detail);
	return code;
}

/* A name as people write it: without its suffix. */
static const char *column_stem(const char *name, char *stem, size_t size)
{
	size_t length = strlen(name);

	if (length > 6 && strcmp(name + length - 6, "_bytes") == 0)
		length -= 6;
	else if (length > 3 && strcmp(name + length - 3, "_ns") == 0)
		length -= 3;
	snprintf(stem, size, "%.*s", (int)length, name);
	return stem;
}

static int column_unknown(plim_bytes name, plim_error *error)
{
	const char *names[2 * PLIM_FIELD_LIMIT + 3];
	char stems[PLIM_FIELD_LIMIT][40];
	const char *nearest;
	char detail[128];
	char word[64];
	size_t count = 0;
	size_t i;

	if (name.size == 0)
		return column_fail(error, PLIM_ENAME, name,
				   "a name is missing between two commas");
	for (i = 0; i < plim_field_count() && i < PLIM_FIELD_LIMIT; i++) {
		names[count++] = plim_field_at(i)->name;
		names[count++] = column_stem(plim_field_at(i)->name, stems[i],
					     sizeof stems[i]);
	}
	names[count++] = cpu_percent;
	names[count++] = user;
	names[count] = NULL;
	snprintf(word, sizeof word, "%.*s",
		 (int)(name.size < 63 ? name.size : 63), name.data);
	nearest = plim_nearest_name(word, names);
	snprintf(detail, sizeof detail, "%s%s%s",
		 nearest != NULL ? "did you mean '" : "plim(1) lists the ",
		 nearest != NULL ? nearest : "fields",
		 nearest != NULL ? "'?" : "");
	return column_fail(error, PLIM_ENAME, name, detail);
}

/* "resident_bytes" stands as RESIDENT. */
static void column_title(struct column *column, plim_bytes name)
{
	size_t size = name.size;
	size_t i;

	if (size > 6 && memcmp(name.data + size - 6, "_bytes", 6) == 0)
		size -= 6;
	else if (size > 3 && memcmp(name.data + size - 3, "_ns", 3) == 0)
		size -= 3;
	else if (size > sizeof per_second &&
		 memcmp(name.data + size - strlen(per_second), per_second,
			strlen(per_second)) == 0)
		size -= strlen("_per_second");
	if (size >= sizeof column->title - 3)
		size = sizeof column->title - 3;
	for (i = 0; i < size; i++)
		column->title[i] =
		    (char)(name.data[i] >= 'a' && name.data[i] <= 'z'
			       ? name.data[i] - 'a' + 'A'
			       : name.data[i]);
	column->title[i] = '\0';
	if (size != name.size && column->rate)
		snprintf(column->title + i, 3, "/s");
	if (column->rate && column->field->id == PLIM_FIELD_CPU)
		snprintf(column->title, sizeof column->title, "%sCPU%%",
			 column->subtree ? "TREE_" : "");
}

/* The part of the name that stands behind tree_, if it has one. */
static plim_bytes column_subtree(struct column *column, plim_bytes name)
{
	size_t size = strlen(of_tree);

	column->subtree = 0;
	column->members = 0;
	if (name.size <= size || memcmp(name.data, of_tree, size) != 0)
		return name;
	column->subtree = 1;
	name.data += size;
	name.size -= size;
	column->members = column_same(name, processes);
	if (column->members)
		name = (plim_bytes){"threads", 7}; /* a gauge of things */
	return name;
}

int column_is_sum(const struct column *column)
{
	return column->field->kind == PLIM_KIND_COUNTER ||
	       column->field->kind == PLIM_KIND_GAUGE;
}

const char *column_json_name(const struct column *column, char *name,
			     size_t size)
{
	if (column->members)
		snprintf(name, size, "%s", processes);
	else if (column->rate && column->field->id == PLIM_FIELD_CPU)
		snprintf(name, size, "%s", cpu_percent);
	else
		snprintf(name, size, "%s%s", column->field->name,
			 column->rate ? per_second : "");
	return name;
}

int column_parse(struct column *column, plim_bytes given, plim_error *error)
{
	size_t end = strlen(per_second);
	plim_bytes name = column_subtree(column, given);
	plim_bytes stem = name;

	column->rate = 0;
	column->user = column_same(name, user);
	column->field = column_field(name);
	if (column->user)
		column->field = plim_field_get(PLIM_FIELD_UID);
	if (column->field == NULL && column_same(name, cpu_percent)) {
		column->field = plim_field_get(PLIM_FIELD_CPU);
		column->rate = 1;
	} else if (column->field == NULL && name.size > end &&
		   memcmp(name.data + name.size - end, per_second, end) == 0) {
		stem.size -= end;
		column->field = column_field(stem);
		column->rate = 1;
		if (column->field != NULL &&
		    column->field->kind != PLIM_KIND_COUNTER)
			column->field = NULL;
	}
	if (column->field == NULL)
		return column_unknown(given, error);
	if (column->subtree && !column_is_sum(column))
		return column_fail(error, PLIM_ENAME, given,
				   "there is no sum of it");
	column_title(column, given);
	return PLIM_OK;
}

int columns_parse(struct columns *columns, const char *list, plim_error *error)
{
	columns->count = 0;
	for (;;) {
		plim_bytes name = {list, strcspn(list, ",")};
		int code;

		if (columns->count == COLUMN_MOST)
			return column_fail(error, PLIM_ELIMIT, name,
					   "that is one column too many");
		code =
		    column_parse(&columns->items[columns->count], name, error);
		if (code != PLIM_OK)
			return code;
		columns->count++;
		list += name.size;
		if (*list == '\0')
			return PLIM_OK;
		list++;
	}
}

int column_is_text(const struct column *column)
{
	return column->user || column->field->kind == PLIM_KIND_TEXT;
}

/* The text of such a column. */
static plim_text column_text(const struct column *column,
			     const plim_process *process)
{
	plim_count uid;
	plim_text text;

	if (!column->user)
		return plim_process_text(process, column->field->id);
	uid = plim_process_count(process, PLIM_FIELD_UID);
	memset(&text, 0, sizeof text);
	text.state = uid.state;
	text.method = uid.method;
	text.code = uid.code;
	text.bytes.data =
	    uid.state == PLIM_STATE_KNOWN ? user_name((uint32_t)uid.value) : "";
	text.bytes.size = strlen(text.bytes.data);
	return text;
}

int column_unit(const struct column *column)
{
	if (!column->rate)
		return column->field->unit;
	if (column->field->unit == PLIM_UNIT_NS)
		return PLIM_UNIT_PERCENT;
	return column->field->unit == PLIM_UNIT_BYTES
		   ? PLIM_UNIT_BYTES_PER_SECOND
		   : PLIM_UNIT_PER_SECOND;
}

plim_real column_real(const struct column *column, const plim_process *process,
		      const plim_process *earlier)
{
	plim_real rate;

	if (!column->rate)
		return plim_real_in_unit(
		    plim_process_count(process, column->field->id),
		    column->field->unit);
	if (earlier == NULL)
		return plim_real_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	rate = plim_process_rate(earlier, process, column->field->id);
	if (column->field->unit == PLIM_UNIT_NS)
		rate.value /= 1e7; /* ns per second to per cent of a core */
	return rate;
}

static int column_text_order(plim_text a, plim_text b, int descending)
{
	size_t size = a.bytes.size < b.bytes.size ? a.bytes.size : b.bytes.size;
	int order;

	if (a.state != PLIM_STATE_KNOWN || b.state != PLIM_STATE_KNOWN)
		return (a.state != PLIM_STATE_KNOWN) -
		       (b.state != PLIM_STATE_KNOWN);
	order = size > 0 ? memcmp(a.bytes.data, b.bytes.data, size) : 0;
	if (order == 0)
		order = (a.bytes.size > b.bytes.size) -
			(a.bytes.size < b.bytes.size);
	return descending ? -order : order;
}

int column_order(const struct column *column, const plim_process *a,
		 const plim_process *a_earlier, const plim_process *b,
		 const plim_process *b_earlier, int descending)
{
	int id = column->field->id;

	if (column_is_text(column))
		return column_text_order(column_text(column, a),
					 column_text(column, b), descending);
	if (!column->rate && column->field->unit != PLIM_UNIT_SIGNED)
		return plim_count_order(plim_process_count(a, id),
					plim_process_count(b, id), descending);
	return plim_real_order(column_real(column, a, a_earlier),
			       column_real(column, b, b_earlier), descending);
}

void column_cell(const struct column *column, plim_table *table,
		 const plim_process *process, const plim_process *earlier)
{
	if (column_is_text(column)) {
		plim_text text = column_text(column, process);
		plim_bytes none = {"-", 1};

		plim_table_text(
		    table, text.state == PLIM_STATE_KNOWN ? text.bytes : none);
	} else if (column->rate) {
		plim_table_real(table, column_real(column, process, earlier),
				column_unit(column));
	} else {
		plim_table_count(table,
				 plim_process_count(process, column->field->id),
				 column_unit(column));
	}
}
