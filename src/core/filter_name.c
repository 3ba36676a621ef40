/*
 * filter_name.c - what a name in a filter means, and what an unknown one may
 * have been meant to be.
 *
 * A name is a field of the table, with or without its unit; cpu_percent; or a
 * counter, again with or without its unit, per second. Nothing is listed
 * here: all names follow from the table of fields.
 */
#include "core/filter_program.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const plim_field *filter_field(const char *name, const char *suffix)
{
	char full[2 * PLIMP_FILTER_WORD];
	size_t size = strlen(name), extra = strlen(suffix);
	plim_bytes bytes = {full, size + extra};

	assert(size + extra < sizeof(full));
	memcpy(full, name, size);
	memcpy(full + size, suffix, extra);
	return plim_field_find(bytes);
}

/* NAME, NAME_bytes or NAME_ns. */
static const plim_field *filter_field_of(const char *name)
{
	const plim_field *field = filter_field(name, "");

	if (field == NULL)
		field = filter_field(name, "_bytes");
	return field != NULL ? field : filter_field(name, "_ns");
}

static const char filter_rate_suffix[] = "_per_second";

/* Cuts the suffix of a rate off a name that has it. */
static int filter_strip_rate(char *name)
{
	size_t size = strlen(name), extra = sizeof(filter_rate_suffix) - 1;

	if (size <= extra ||
	    strcmp(name + size - extra, filter_rate_suffix) != 0)
		return 0;
	name[size - extra] = '\0';
	return 1;
}

/* Copies a name without the suffix that may be left out; 0 if it has none. */
static int filter_short_name(const char *name, char shorter[PLIMP_FILTER_WORD])
{
	static const char *const suffixes[] = {"_bytes", "_ns"};
	size_t size = strlen(name);

	for (size_t i = 0; i < 2; i++) {
		size_t extra = strlen(suffixes[i]);

		if (size <= extra || size - extra >= PLIMP_FILTER_WORD ||
		    strcmp(name + size - extra, suffixes[i]) != 0)
			continue;
		memcpy(shorter, name, size - extra);
		shorter[size - extra] = '\0';
		return 1;
	}
	return 0;
}

/* The nearest of all names, long and short, copied to `closest`; 0 for none. */
static int filter_nearest(const char *word, char closest[PLIMP_FILTER_WORD])
{
	const char *names[2 * PLIM_FIELD_LIMIT + 2];
	char shorter[PLIM_FIELD_LIMIT][PLIMP_FILTER_WORD];
	const char *found;
	size_t count = 0, shorts = 0;

	for (size_t i = 0; i < plim_field_count() && i < PLIM_FIELD_LIMIT; i++)
		names[count++] = plim_field_at(i)->name;
	names[count++] = "cpu_percent";
	for (size_t i = 0; i < plim_field_count() && i < PLIM_FIELD_LIMIT; i++)
		if (filter_short_name(plim_field_at(i)->name, shorter[shorts]))
			names[count++] = shorter[shorts++];
	names[count] = NULL;
	found = plim_nearest_name(word, names);
	if (found == NULL || strlen(found) >= PLIMP_FILTER_WORD)
		return 0;
	memcpy(closest, found, strlen(found) + 1);
	return 1;
}

int plimp_filter_resolve(const char *name, struct plimp_filter_step *step)
{
	char base[PLIMP_FILTER_WORD];
	const plim_field *field = filter_field_of(name);
	uint8_t source = PLIMP_FILTER_FIELD;

	assert(strlen(name) < sizeof(base));
	memcpy(base, name, strlen(name) + 1);
	if (strcmp(name, "cpu_percent") == 0) {
		source = PLIMP_FILTER_CPU_PERCENT;
		field = plim_field_get(PLIM_FIELD_CPU);
	} else if (field == NULL && filter_strip_rate(base)) {
		source = PLIMP_FILTER_RATE;
		field = filter_field_of(base);
		if (field != NULL && field->kind != PLIM_KIND_COUNTER)
			field = NULL;
	}
	if (field == NULL)
		return 0;
	step->source = source;
	step->field = field->id;
	return 1;
}

void plimp_filter_advise(const char *name, char advice[PLIMP_FILTER_ADVICE])
{
	char base[PLIMP_FILTER_WORD];
	char closest[PLIMP_FILTER_WORD];
	const plim_field *field = NULL;
	int rate;

	assert(strlen(name) < sizeof(base));
	memcpy(base, name, strlen(name) + 1);
	rate = filter_strip_rate(base);
	if (rate)
		field = filter_field_of(base);
	if (field != NULL)
		snprintf(advice, PLIMP_FILTER_ADVICE,
			 "%s is no counter, so it has no rate", field->name);
	else if (filter_nearest(base, closest))
		snprintf(advice, PLIMP_FILTER_ADVICE, "did you mean %s%s?",
			 closest, rate ? filter_rate_suffix : "");
	else
		snprintf(advice, PLIMP_FILTER_ADVICE,
			 "expected the name of a field");
}
