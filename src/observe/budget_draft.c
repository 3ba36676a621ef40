/*
 * budget_draft.c - a first budget file from a measurement.
 *
 * Ceilings are what was measured times a stated slack, rounded up to two
 * digits in the unit that people would take; the text is computed first and
 * the quantity read back from it, so that what was measured is never above
 * its own ceiling. The reader of budgets reads the file back.
 */
#include "observe/budget_writer.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A text as a TOML basic string. */
static void draft_string(struct plimp_budget_writer *writer, const char *text)
{
	plimp_budget_print(writer, "\"");
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			plimp_budget_print(writer, "\\");
		plimp_budget_put(writer, text, 1);
	}
	plimp_budget_print(writer, "\"");
}

/* A key bare where it can be. */
static void draft_key(struct plimp_budget_writer *writer, const char *key)
{
	static const char bare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz0123456789_-";

	if (key[0] != '\0' && key[strspn(key, bare)] == '\0')
		plimp_budget_print(writer, "%.200s", key);
	else
		draft_string(writer, key);
}

/* The suffixes of a unit, from the smallest. */
struct draft_suffix {
	const char *text;
	double size;
};

static const struct draft_suffix draft_bytes[] = {
    {" B", 1}, {" KiB", 1024}, {" MiB", 1048576}, {" GiB", 1073741824},
    {NULL, 0},
};

static const struct draft_suffix draft_bytes_rate[] = {
    {" B/s", 1}, {" KiB/s", 1024}, {" MiB/s", 1048576}, {" GiB/s", 1073741824},
    {NULL, 0},
};

static const struct draft_suffix draft_time[] = {
    {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0},
};

static const struct draft_suffix draft_percent[] = {{" %", 1}, {NULL, 0}};
static const struct draft_suffix draft_rate[] = {{"/s", 1}, {NULL, 0}};
static const struct draft_suffix draft_none[] = {{"", 1}, {NULL, 0}};

static const struct draft_suffix *draft_suffixes(int unit)
{
	switch (unit) {
	case PLIM_UNIT_BYTES:
		return draft_bytes;
	case PLIM_UNIT_BYTES_PER_SECOND:
		return draft_bytes_rate;
	case PLIM_UNIT_NS:
		return draft_time;
	case PLIM_UNIT_PERCENT:
		return draft_percent;
	case PLIM_UNIT_PER_SECOND:
		return draft_rate;
	default:
		return draft_none;
	}
}

#define DRAFT_NUMBER 64

/* `digits` x 10^`power`, without an exponent. */
static void draft_decimal(uint64_t digits, int power, const char *suffix,
			  char text[DRAFT_NUMBER])
{
	char reversed[DRAFT_NUMBER];
	size_t size = 0, used = 0;

	assert(power >= -6 && power <= 18);
	for (int i = 0; i < power; i++)
		reversed[size++] = '0';
	/* At least one digit before the point. */
	for (int i = power < 0 ? power : 0; i <= 0 || digits > 0; i++) {
		if (i == 0 && power < 0)
			reversed[size++] = '.';
		reversed[size++] = (char)('0' + digits % 10);
		digits /= 10;
	}
	assert(size + strlen(suffix) < DRAFT_NUMBER);
	while (size > 0)
		text[used++] = reversed[--size];
	memcpy(text + used, suffix, strlen(suffix) + 1);
}

/*
 * A quantity of two digits that is not below the value, a whole one where
 * there is no unit. Below a millionth of the base unit it is a millionth.
 */
static int draft_quantity(double value, int unit, char text[DRAFT_NUMBER])
{
	const struct draft_suffix *suffix = draft_suffixes(unit);
	double scaled, back = 0;
	uint64_t digits;
	int power = 0;

	if (!(value >= 0 && value <= 1e18))
		return 0;
	while (suffix[1].text != NULL && value >= suffix[1].size)
		suffix++;
	scaled = value / suffix->size;
	for (; scaled >= 100 && unit != PLIM_UNIT_NONE; power++)
		scaled /= 10;
	for (; scaled < 10 && power > -6 && unit != PLIM_UNIT_NONE; power--)
		scaled *= 10;
	digits = (uint64_t)scaled;
	/* Dividing rounds: the first one that holds, read back, is taken. */
	for (int tries = 0; tries < 3; tries++) {
		draft_decimal(digits + (uint64_t)tries, power, suffix->text,
			      text);
		if (plim_quantity_parse(text, unit, &back, NULL) == PLIM_OK &&
		    back >= value)
			return 1;
	}
	return 0;
}

/* The least of a figure that a window can show: what a ceiling is made of
 * where nothing was seen. */
static double draft_least(const plim_budget_figure *figure, uint64_t window_ns)
{
	double seconds = window_ns > 0 ? (double)window_ns / 1e9 : 1;

	switch (figure->unit) {
	case PLIM_UNIT_PERCENT:
		return 0.01;
	case PLIM_UNIT_PER_SECOND:
		return 1 / seconds;
	case PLIM_UNIT_BYTES_PER_SECOND:
		return 4096 / seconds;
	case PLIM_UNIT_BYTES:
		return 4096;
	case PLIM_UNIT_NS:
		return 1e6;
	default:
		return figure->kind == PLIM_BUDGET_STARTS ? 0 : 1;
	}
}

static void draft_missing(struct plimp_budget_writer *writer,
			  const plim_budget_figure *figure, plim_real value)
{
	const char *reason = plim_reason_text(value.method);

	plimp_budget_print(writer, "# No limit of %s: %.180s.\n", figure->word,
			   reason != NULL ? reason : "unavailable");
}

static int draft_figure(struct plimp_budget_writer *writer,
			const plim_budget_sketch *sketch,
			const plim_budget_draft_figure *drafted)
{
	const plim_budget_figure *figure =
	    plim_budget_figure_get(drafted->figure);
	char text[DRAFT_NUMBER];
	double base = drafted->value.value;
	const char *method = plim_method_word(drafted->value.method);

	if (drafted->value.state != PLIM_STATE_KNOWN) {
		draft_missing(writer, figure, drafted->value);
		return PLIM_OK;
	}
	if (base == 0)
		base = draft_least(figure, sketch->window_ns);
	if (!draft_quantity(base * sketch->slack, figure->unit, text))
		return PLIM_EINVAL;
	plimp_budget_print(writer, "# Measured ");
	if (drafted->least.state == PLIM_STATE_KNOWN &&
	    drafted->least.value < drafted->value.value) {
		plimp_budget_put_quantity(writer, drafted->least.value,
					  figure->unit);
		plimp_budget_print(writer, " to ");
	}
	plimp_budget_put_quantity(writer, drafted->value.value, figure->unit);
	if (method != NULL && drafted->value.method != PLIM_METHOD_NONE)
		plimp_budget_print(writer, " by %s", method);
	plimp_budget_print(writer, ".\nlimit.%s.max = \"%s\"\n", figure->word,
			   text);
	return PLIM_OK;
}

/* A duration that reads back as the same. */
static void draft_duration(struct plimp_budget_writer *writer, const char *key,
			   uint64_t ns)
{
	const char *unit = "ns";

	if (ns % UINT64_C(1000000000) == 0) {
		ns /= UINT64_C(1000000000);
		unit = "s";
	} else if (ns % 1000000 == 0) {
		ns /= 1000000;
		unit = "ms";
	}
	plimp_budget_print(writer, "%s = \"%llu%s\"\n", key,
			   (unsigned long long)ns, unit);
}

static void draft_head(struct plimp_budget_writer *writer,
		       const plim_budget_sketch *sketch)
{
	char slack[DRAFT_NUMBER];

	plim_number_format(sketch->slack, slack, sizeof(slack));
	plimp_budget_print(
	    writer, "# A first budget: what was measured, times %s.\n", slack);
	if (sketch->measured != NULL) {
		plimp_budget_print(writer, "# ");
		plimp_budget_put(writer, sketch->measured,
				 strlen(sketch->measured));
		plimp_budget_print(writer, "\n");
	}
	plimp_budget_print(writer, "# The format: plim-budget(5).\n\n"
				   "schema = 1\n\n[target.");
	draft_key(writer, sketch->name);
	plimp_budget_print(writer, "]\n");
	if (sketch->run == NULL) {
		plimp_budget_print(writer, "attach = ");
		draft_string(writer, sketch->attach);
	} else {
		plimp_budget_print(writer, "run = [");
		for (size_t i = 0; sketch->run[i] != NULL; i++) {
			plimp_budget_print(writer, i > 0 ? ", " : "");
			draft_string(writer, sketch->run[i]);
		}
		plimp_budget_print(writer, "]");
	}
	plimp_budget_print(writer,
			   "\n# What it was doing: say so here, it is printed "
			   "in every result.\n"
			   "scope = \"synthetic\"\n"
			   "load.statement = \"not stated yet\"\n"
			   "load.unit = \"runs\"\nload.count = 1\n");
	draft_duration(writer, "window", sketch->window_ns);
	plimp_budget_print(writer, "repeats = %lu\n\n",
			   (unsigned long)sketch->repeats);
}

/* UTF-8 without control characters, so that it can stand in a string and in
 * a comment. */
static int draft_is_text(const char *text)
{
	plim_bytes bytes = {text, 0};

	if (text == NULL)
		return 0;
	bytes.size = strlen(text);
	for (size_t i = 0; i < bytes.size; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return 0;
	return plim_is_utf8(bytes);
}

static int draft_is_sound(const plim_budget_sketch *sketch)
{
	size_t known = 0;

	if (sketch->size < sizeof(*sketch) || !draft_is_text(sketch->name) ||
	    sketch->name[0] == '\0' || strlen(sketch->name) > 128 ||
	    (sketch->measured != NULL && !draft_is_text(sketch->measured)) ||
	    !(sketch->slack >= 1 && sketch->slack <= 1e6) ||
	    sketch->window_ns == 0 || sketch->repeats == 0 ||
	    sketch->repeats > PLIM_BUDGET_REPEAT_LIMIT)
		return 0;
	if (sketch->run == NULL &&
	    (!draft_is_text(sketch->attach) || sketch->attach[0] == '\0'))
		return 0;
	if (sketch->run != NULL &&
	    (sketch->run[0] == NULL || sketch->run[0][0] == '\0'))
		return 0;
	for (size_t i = 0; sketch->run != NULL && sketch->run[i] != NULL; i++)
		if (!draft_is_text(sketch->run[i]))
			return 0;
	for (size_t i = 0; i < sketch->figure_count; i++) {
		plim_real value = sketch->figures[i].value;

		if (plim_budget_figure_get(sketch->figures[i].figure) == NULL)
			return 0;
		for (size_t j = 0; j < i; j++)
			if (sketch->figures[j].figure ==
			    sketch->figures[i].figure)
				return 0;
		if (value.state != PLIM_STATE_KNOWN)
			continue;
		if (!isfinite(value.value) || value.value < 0 ||
		    value.value > 1e18)
			return 0;
		known++;
	}
	return known > 0;
}

int plim_budget_draft(const plim_budget_sketch *sketch, plim_write_fn *write,
		      void *user)
{
	struct plimp_budget_writer writer = {.write = write, .user = user};

	assert(sketch != NULL && write != NULL);
	if (!draft_is_sound(sketch))
		return PLIM_EINVAL;
	draft_head(&writer, sketch);
	for (size_t i = 0; i < sketch->figure_count; i++) {
		int code = draft_figure(&writer, sketch, &sketch->figures[i]);

		if (code != PLIM_OK)
			return code;
	}
	return writer.failed ? PLIM_EOUTPUT : PLIM_OK;
}
