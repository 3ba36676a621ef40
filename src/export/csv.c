/*
 * csv.c - processes as CSV (RFC 4180, lines end in CR LF).
 *
 * A column for each field of the set in the order of the table, then, where
 * rates are asked for, cpu_percent and each counter per second. Header and
 * rows walk the same columns, so that they cannot disagree. A missing figure
 * is empty; why it is missing is told by JSON and by the detail view.
 */
#include "core/record.h"
#include "export/sink.h"

#include <plimsoll/usage.h>

#include <assert.h>
#include <string.h>

/* A byte becomes at most four (\x1b), and two quotes stand around. */
#define CSV_TEXT_SIZE (4 * PLIMP_TEXT_SIZE + 3)

struct csv_line {
	struct plimp_sink sink;
	size_t columns;
};

static void csv_next(struct csv_line *line)
{
	if (line->columns++ > 0)
		plimp_sink_put(&line->sink, ",", 1);
}

static int csv_end(struct csv_line *line)
{
	plimp_sink_put(&line->sink, "\r\n", 2);
	return plimp_sink_flush(&line->sink);
}

static int csv_has_rate(const plim_field_set *fields, const plim_field *field)
{
	return field->kind == PLIM_KIND_COUNTER &&
	       plim_field_set_has(fields, field->id);
}

int plim_csv_header(const plim_field_set *fields, int rates,
		    plim_write_fn *write, void *user)
{
	struct csv_line line;

	assert(fields != NULL && write != NULL);
	line.columns = 0;
	plimp_sink_init(&line.sink, write, user);
	for (size_t i = 0; i < plim_field_count(); i++) {
		if (!plim_field_set_has(fields, plim_field_at(i)->id))
			continue;
		csv_next(&line);
		plimp_sink_string(&line.sink, plim_field_at(i)->name);
	}
	if (rates) {
		csv_next(&line);
		plimp_sink_string(&line.sink, "cpu_percent");
	}
	for (size_t i = 0; rates && i < plim_field_count(); i++) {
		if (!csv_has_rate(fields, plim_field_at(i)))
			continue;
		csv_next(&line);
		plimp_sink_string(&line.sink, plim_field_at(i)->name);
		plimp_sink_string(&line.sink, "_per_second");
	}
	return csv_end(&line);
}

static void csv_text(struct csv_line *line, plim_text text)
{
	char escaped[CSV_TEXT_SIZE];

	csv_next(line);
	if (text.state != PLIM_STATE_KNOWN)
		return;
	plim_escape(PLIM_ESCAPE_CSV, text.bytes, escaped, sizeof(escaped));
	plimp_sink_string(&line->sink, escaped);
}

static void csv_real(struct csv_line *line, plim_real real)
{
	char digits[40];

	csv_next(line);
	if (real.state != PLIM_STATE_KNOWN)
		return;
	plim_number_format(real.value, digits, sizeof(digits));
	plimp_sink_string(&line->sink, digits);
}

static void csv_count(struct csv_line *line, plim_count count, int unit)
{
	if (unit == PLIM_UNIT_SIGNED) {
		csv_real(line, plim_real_in_unit(count, unit));
		return;
	}
	csv_next(line);
	if (count.state == PLIM_STATE_KNOWN)
		plimp_sink_whole(&line->sink, count.value);
}

static plim_real csv_percent_of(const plim_process *first,
				const plim_process *last)
{
	if (first == NULL)
		return plim_real_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	return plim_process_cpu_percent(first, last);
}

static plim_real csv_rate_of(const plim_process *first,
			     const plim_process *last, int field)
{
	if (first == NULL)
		return plim_real_missing(PLIM_REASON_FIRST_SAMPLE, 0);
	return plim_process_rate(first, last, field);
}

int plim_csv_process(const plim_process *process, const plim_process *earlier,
		     const plim_field_set *fields, int rates,
		     plim_write_fn *write, void *user)
{
	struct csv_line line;

	assert(process != NULL && fields != NULL && write != NULL);
	line.columns = 0;
	plimp_sink_init(&line.sink, write, user);
	for (size_t i = 0; i < plim_field_count(); i++) {
		const plim_field *field = plim_field_at(i);

		if (!plim_field_set_has(fields, field->id))
			continue;
		if (field->kind == PLIM_KIND_TEXT)
			csv_text(&line, plim_process_text(process, field->id));
		else
			csv_count(&line, plim_process_count(process, field->id),
				  field->unit);
	}
	if (rates)
		csv_real(&line, csv_percent_of(earlier, process));
	for (size_t i = 0; rates && i < plim_field_count(); i++)
		if (csv_has_rate(fields, plim_field_at(i)))
			csv_real(&line, csv_rate_of(earlier, process,
						    plim_field_at(i)->id));
	return csv_end(&line);
}
