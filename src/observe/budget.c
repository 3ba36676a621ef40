/*
 * budget.c - the tables of figures and verdicts, and the budget as an object.
 *
 * The text is read as TOML first; what the document says is checked by
 * budget_read.c and budget_limit.c and copied into the budget's own pool, so
 * that the document can be given back. The first mistake ends the reading.
 */
#include "observe/budget.h"

#include "core/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const plim_budget_figure budget_figures[] = {
#define PLIM_X(name, number, word_, unit_, kind_, sentence) \
	{.id = (number),                                    \
	 .unit = PLIM_UNIT_##unit_,                         \
	 .kind = PLIM_BUDGET_##kind_,                       \
	 .word = word_,                                     \
	 .text = sentence},
    PLIM_BUDGET_FIGURE_LIST(PLIM_X)
#undef PLIM_X
};

const plim_budget_figure *plim_budget_figure_get(int id)
{
	/* Numbers are those of the rows, without a gap. */
	if (id < 1 || id > PLIM_BUDGET_FIGURE_LAST)
		return NULL;
	assert(budget_figures[id - 1].id == id);
	return &budget_figures[id - 1];
}

const plim_budget_figure *plim_budget_figure_find(plim_bytes word)
{
	for (int id = 1; id <= PLIM_BUDGET_FIGURE_LAST; id++) {
		const plim_budget_figure *figure = &budget_figures[id - 1];

		if (strlen(figure->word) == word.size &&
		    memcmp(figure->word, word.data, word.size) == 0)
			return figure;
	}
	return NULL;
}

const char *plim_budget_aggregate_word(int aggregate)
{
	static const char *const words[] = {"worst", "median", "best"};

	if (aggregate < PLIM_AGGREGATE_WORST || aggregate > PLIM_AGGREGATE_BEST)
		return NULL;
	return words[aggregate];
}

void plimp_budget_place_text(const char *file_name, plim_budget_position at,
			     char text[PLIMP_BUDGET_PLACE])
{
	/* Room for two numbers of 32 bits and their colons. */
	const size_t most = PLIMP_BUDGET_PLACE - 24;
	size_t size = strlen(file_name);

	if (size > most)
		file_name += size - most;
	snprintf(text, PLIMP_BUDGET_PLACE, "%s:%lu:%lu", file_name,
		 (unsigned long)at.line, (unsigned long)at.column);
}

static int budget_fail_at(struct plimp_budget_reader *reader, int code,
			  plim_budget_position at, const char *detail)
{
	char place[PLIMP_BUDGET_PLACE];

	plimp_budget_place_text(reader->file_name, at, place);
	if (reader->where != NULL)
		*reader->where = at;
	return plimp_fail_at(reader->error, code, "budget", place, at.offset,
			     "%s", detail);
}

int plimp_budget_wrong(struct plimp_budget_reader *reader, int code,
		       plim_budget_position at, const char *detail, ...)
{
	char text[sizeof(reader->error->detail)];
	va_list arguments;

	text[0] = '\0';
	va_start(arguments, detail);
	vsnprintf(text, sizeof(text), detail, arguments);
	va_end(arguments);
	return budget_fail_at(reader, code, at, text);
}

int plimp_budget_no_memory(struct plimp_budget_reader *reader)
{
	return plimp_fail(reader->error, PLIM_ENOMEM, 0, "budget",
			  reader->file_name, NULL);
}

/* What is known of the place; a smaller struct of an older caller too. */
static plim_budget_place budget_place(const plim_budget_place *given)
{
	plim_budget_place place = {.size = sizeof(place), .is_virtual = -1};

	if (given != NULL)
		memcpy(&place, given,
		       given->size < sizeof(place) ? given->size
						   : sizeof(place));
	return place;
}

static int budget_read(struct plimp_budget_reader *reader, plim_bytes text)
{
	struct plimp_toml document = {0};
	plim_budget_position at = {0};
	plim_error inner = {0};
	int code = plimp_toml_parse(
	    &document, text, &reader->budget->pool.allocator, &at, &inner);

	if (code == PLIM_ENOMEM)
		return plimp_budget_no_memory(reader);
	if (code != PLIM_OK)
		return budget_fail_at(reader, code, at, inner.detail);
	code = plimp_budget_targets(reader, &document.root);
	plimp_toml_release(&document);
	return code;
}

int plim_budget_parse(plim_budget **budget, const char *file_name,
		      plim_bytes text, const plim_budget_place *place,
		      const plim_allocator *allocator,
		      plim_budget_position *where, plim_error *error)
{
	struct plimp_budget_reader reader = {
	    .file_name = file_name != NULL ? file_name : "budget",
	    .place = budget_place(place),
	    .where = where,
	    .error = error,
	};
	int code;

	assert(budget != NULL && (text.data != NULL || text.size == 0));
	if (budget == NULL || (text.data == NULL && text.size > 0) ||
	    (place != NULL && place->size < sizeof(place->size)))
		return plimp_fail(error, PLIM_EINVAL, 0, "budget", file_name,
				  NULL);
	reader.budget = plimp_allocate(allocator, 1, sizeof(*reader.budget));
	if (reader.budget == NULL)
		return plimp_budget_no_memory(&reader);
	if (allocator != NULL)
		reader.budget->pool.allocator = *allocator;
	code = budget_read(&reader, text);
	if (code != PLIM_OK) {
		plim_budget_free(reader.budget);
		return code;
	}
	*budget = reader.budget;
	return PLIM_OK;
}

void plim_budget_free(plim_budget *budget)
{
	plim_allocator allocator;

	if (budget == NULL)
		return;
	allocator = budget->pool.allocator;
	plimp_pool_release(&budget->pool);
	plimp_release(&allocator, budget, 1, sizeof(*budget));
}

size_t plim_budget_count(const plim_budget *budget)
{
	return budget->count;
}

const plim_budget_target *plim_budget_at(const plim_budget *budget,
					 size_t index)
{
	return index < budget->count ? &budget->targets[index] : NULL;
}

const plim_budget_target *plim_budget_find(const plim_budget *budget,
					   const char *name)
{
	for (size_t i = 0; i < budget->count; i++)
		if (strcmp(budget->targets[i].name, name) == 0)
			return &budget->targets[i];
	return NULL;
}
