/*
 * heaps_read.c - the words of heap.h, and what a caller asks of one heap.
 */
#include "memory/heaps.h"

#include <assert.h>
#include <string.h>

static const char *const heap_figure_names[] = {NULL,
#define PLIM_X(name, number, word, text) word,
						PLIM_HEAP_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const heap_figure_texts[] = {NULL,
#define PLIM_X(name, number, word, text) text,
						PLIM_HEAP_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const heap_kind_words[] = {NULL,
#define PLIM_X(name, number, word, text) word,
					      PLIM_HEAP_KIND_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const heap_kind_texts[] = {NULL,
#define PLIM_X(name, number, word, text) text,
					      PLIM_HEAP_KIND_LIST(PLIM_X)
#undef PLIM_X
};

static const char *const heap_depth_words[] = {NULL, "recognised", "walked",
					       "refused"};
static const char *const heap_confidence_words[] = {NULL, "possible", "likely",
						    "certain"};
static const char *const heap_check_words[] = {NULL, "passed", "failed",
					       "not_made"};

#define HEAP_WORD(words, number) \
	heap_word(words, sizeof(words) / sizeof((words)[0]), number)

static const char *heap_word(const char *const *words, size_t count, int number)
{
	return number > 0 && (size_t)number < count ? words[number] : NULL;
}

const char *plim_heap_figure_name(int figure)
{
	return HEAP_WORD(heap_figure_names, figure);
}

const char *plim_heap_figure_text(int figure)
{
	return HEAP_WORD(heap_figure_texts, figure);
}

int plim_heap_figure_find(plim_bytes name)
{
	int figure;

	for (figure = 1; plim_heap_figure_name(figure) != NULL; figure++) {
		const char *word = plim_heap_figure_name(figure);

		if (strlen(word) == name.size && name.size > 0 &&
		    memcmp(word, name.data, name.size) == 0)
			return figure;
	}
	return 0;
}

const char *plim_heap_kind_word(int kind)
{
	return HEAP_WORD(heap_kind_words, kind);
}

const char *plim_heap_kind_text(int kind)
{
	return HEAP_WORD(heap_kind_texts, kind);
}

const char *plim_heap_depth_word(int depth)
{
	return HEAP_WORD(heap_depth_words, depth);
}

const char *plim_confidence_word(int confidence)
{
	return HEAP_WORD(heap_confidence_words, confidence);
}

const char *plim_heap_check_word(int state)
{
	return HEAP_WORD(heap_check_words, state);
}

plim_heap_facts plim_heap_about(const plim_heap *heap)
{
	plim_heap_facts facts;

	assert(heap != NULL);
	memset(&facts, 0, sizeof facts);
	facts.kind = heap->kind;
	facts.depth = heap->depth;
	facts.confidence = heap->confidence;
	facts.is_static = heap->is_static;
	facts.version = heap->version;
	facts.layout = heap->layout != NULL ? heap->layout : "";
	facts.standing = heap->standing != NULL ? heap->standing : "";
	facts.missing = heap->missing;
	facts.why = heap->why;
	if (facts.why[0] == '\0' && heap->missing.state != PLIM_STATE_KNOWN)
		facts.why = plim_reason_text(heap->missing.method);
	return facts;
}

plim_count plim_heap_figure(const plim_heap *heap, int figure)
{
	assert(heap != NULL);
	if (plim_heap_figure_name(figure) == NULL)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	if (heap->depth != PLIM_DEPTH_WALKED)
		return heap->missing;
	return heap->figures[figure];
}

size_t plim_heap_evidence_count(const plim_heap *heap)
{
	return heap->evidence_count;
}

const char *plim_heap_evidence(const plim_heap *heap, size_t index)
{
	return index < heap->evidence_count ? heap->evidence[index].text : "";
}

size_t plim_heap_arena_count(const plim_heap *heap)
{
	return heap->arena_count;
}

const plim_arena *plim_heap_arena(const plim_heap *heap, size_t index)
{
	return index < heap->arena_count ? &heap->arenas[index].about : NULL;
}

plim_count plim_heap_arena_figure(const plim_heap *heap, size_t index,
				  int figure)
{
	if (index >= heap->arena_count || plim_heap_figure_name(figure) == NULL)
		return plim_count_missing(PLIM_REASON_UNKNOWN_FIELD, 0);
	return heap->arenas[index].figures[figure];
}

size_t plim_heap_hostage_count(const plim_heap *heap)
{
	return heap->hostage_count;
}

const plim_hostage *plim_heap_hostage(const plim_heap *heap, size_t index)
{
	return index < heap->hostage_count ? &heap->hostages[index] : NULL;
}

size_t plim_heap_check_count(const plim_heap *heap)
{
	return heap->check_count;
}

const plim_heap_check *plim_heap_check_at(const plim_heap *heap, size_t index)
{
	return index < heap->check_count ? &heap->checks[index] : NULL;
}
