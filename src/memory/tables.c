/*
 * tables.c - the rows of memory.h and mapping.h by number and by name.
 */
#include <plimsoll/mapping.h>
#include <plimsoll/memory.h>

#include <string.h>

#define MEMORY_ROWS(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The row of a number, NULL for one that is none. */
static const char *memory_row(const char *const *rows, int count, int number)
{
	return number >= 0 && number < count ? rows[number] : NULL;
}

static const char *const memory_names[] = {
#define PLIM_X(name, number, json, linux_source, text) [number] = json,
    PLIM_MEMORY_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const memory_sources[] = {
#define PLIM_X(name, number, json, linux_source, text) [number] = linux_source,
    PLIM_MEMORY_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const memory_texts[] = {
#define PLIM_X(name, number, json, linux_source, text) [number] = text,
    PLIM_MEMORY_LIST(PLIM_X)
#undef PLIM_X
};

const char *plim_memory_name(int figure)
{
	return memory_row(memory_names, MEMORY_ROWS(memory_names), figure);
}

const char *plim_memory_source(int figure)
{
	return memory_row(memory_sources, MEMORY_ROWS(memory_sources), figure);
}

const char *plim_memory_text(int figure)
{
	return memory_row(memory_texts, MEMORY_ROWS(memory_texts), figure);
}

int plim_memory_find(const char *name)
{
	int figure;

	if (name == NULL)
		return 0;
	for (figure = 1; figure < PLIM_MEMORY_COUNT; figure++)
		if (strcmp(memory_names[figure], name) == 0)
			return figure;
	return 0;
}

static const char *const memory_trend_words[] = {
#define PLIM_X(name, number, word, text) [number] = word,
    PLIM_TREND_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const memory_trend_texts[] = {
#define PLIM_X(name, number, word, text) [number] = text,
    PLIM_TREND_LIST(PLIM_X)
#undef PLIM_X
};

const char *plim_trend_word(int trend)
{
	return memory_row(memory_trend_words, MEMORY_ROWS(memory_trend_words),
			  trend);
}

const char *plim_trend_text(int trend)
{
	return memory_row(memory_trend_texts, MEMORY_ROWS(memory_trend_texts),
			  trend);
}

static const char *const memory_end_words[] = {
#define PLIM_X(name, number, word, text) [number] = word,
    PLIM_MEMORY_END_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const memory_end_texts[] = {
#define PLIM_X(name, number, word, text) [number] = text,
    PLIM_MEMORY_END_LIST(PLIM_X)
#undef PLIM_X
};

const char *plim_memory_end_word(int how)
{
	return memory_row(memory_end_words, MEMORY_ROWS(memory_end_words), how);
}

const char *plim_memory_end_text(int how)
{
	return memory_row(memory_end_texts, MEMORY_ROWS(memory_end_texts), how);
}

static const char *const mapping_kind_words[] = {
#define PLIM_X(name, number, word, text) [number] = word,
    PLIM_MAPPING_KIND_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const mapping_kind_texts[] = {
#define PLIM_X(name, number, word, text) [number] = text,
    PLIM_MAPPING_KIND_LIST(PLIM_X)
#undef PLIM_X
};

const char *plim_mapping_kind_word(int kind)
{
	return memory_row(mapping_kind_words, MEMORY_ROWS(mapping_kind_words),
			  kind);
}

const char *plim_mapping_kind_text(int kind)
{
	return memory_row(mapping_kind_texts, MEMORY_ROWS(mapping_kind_texts),
			  kind);
}

static const char *const mapping_figure_names[] = {
#define PLIM_X(name, number, json, text) [number] = json,
    PLIM_MAPPING_FIGURE_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const mapping_figure_texts[] = {
#define PLIM_X(name, number, json, text) [number] = text,
    PLIM_MAPPING_FIGURE_LIST(PLIM_X)
#undef PLIM_X
};

const char *plim_mapping_figure_name(int figure)
{
	return memory_row(mapping_figure_names,
			  MEMORY_ROWS(mapping_figure_names), figure);
}

const char *plim_mapping_figure_text(int figure)
{
	return memory_row(mapping_figure_texts,
			  MEMORY_ROWS(mapping_figure_texts), figure);
}

static const struct {
	int bit;
	const char *word;
	const char *text;
} memory_blind_spots[] = {
#define PLIM_X(name, number, word, text) {number, word, text},
    PLIM_BLIND_SPOT_LIST(PLIM_X)
#undef PLIM_X
};

const char *plim_blind_spot_word(int bit)
{
	int row;

	for (row = 0; row < MEMORY_ROWS(memory_blind_spots); row++)
		if (memory_blind_spots[row].bit == bit)
			return memory_blind_spots[row].word;
	return NULL;
}

const char *plim_blind_spot_text(int bit)
{
	int row;

	for (row = 0; row < MEMORY_ROWS(memory_blind_spots); row++)
		if (memory_blind_spots[row].bit == bit)
			return memory_blind_spots[row].text;
	return NULL;
}
