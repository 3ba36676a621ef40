/*
 * heaps_image.c - the way from an image to its allocators.
 *
 * glibc is looked for whether it was recognised or not, since one that is
 * linked into a stripped program shows itself by its arenas alone. What is
 * found there is the strongest sign that there can be; where nothing is found
 * though glibc is there, it is refused with the reason, and none of its
 * figures is a guess.
 */
#include "memory/heaps_image.h"

#include "memory/glibc.h"
#include "memory/gperftools.h"
#include "memory/musl.h"
#include "memory/recognise.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* The reason of the table of reasons for one of glibc.h. */
static int glibc_reason_of(int reason)
{
	switch (reason) {
	case PLIMP_GLIBC_MACHINE:
	case PLIMP_GLIBC_OLD:
	case PLIMP_GLIBC_NO_ARENA:
	case PLIMP_GLIBC_SEVERAL:
		return PLIM_REASON_HEAP_LAYOUT;
	case PLIMP_GLIBC_DISAGREE:
	case PLIMP_GLIBC_RING_BROKEN:
		return PLIM_REASON_HEAP_CONTRADICTS;
	case PLIMP_GLIBC_UNREADABLE:
		return PLIM_REASON_PAGES_MISSING;
	case PLIMP_GLIBC_DENIED:
		return PLIM_REASON_NOT_PERMITTED;
	default:
		return PLIM_REASON_HEAP_NOT_FOUND;
	}
}

/* The ways that led to main_arena, as a list: "its symbol, the break". */
static void glibc_ways(const struct plimp_glibc_place *place, char *text,
		       size_t size)
{
	static const struct {
		unsigned way;
		const char *text;
	} ways[] = {
	    {PLIMP_GLIBC_BY_SYMBOL, "its symbol"},
	    {PLIMP_GLIBC_BY_RING, "the ring of arenas"},
	    {PLIMP_GLIBC_BY_SCAN, "a scan of libc's data"},
	    {PLIMP_GLIBC_BY_BREAK, "the break"},
	};
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		if ((place->ways & ways[i].way) != 0 && used < size)
			used += (size_t)snprintf(text + used, size - used,
						 "%s%s", used > 0 ? ", " : "",
						 ways[i].text);
}

static void glibc_evidence(plim_heap *heap,
			   const struct plimp_glibc_place *place)
{
	char ways[96];

	glibc_ways(place, ways, sizeof ways);
	plimp_heap_add_evidence(heap, "main_arena at 0x%llx, by %s",
				(unsigned long long)place->main_arena, ways);
	if (place->version[0] != '\0')
		plimp_heap_add_evidence(
		    heap, "version %s, by %s", place->version,
		    place->version_from != NULL ? place->version_from
						: "layout");
	if (place->is_beyond)
		plimp_heap_add_evidence(
		    heap, "newer than the newest layout that is known, which "
			  "it fits");
}

static void glibc_facts(plim_heap *heap, const struct plimp_glibc_place *place)
{
	snprintf(heap->version, sizeof heap->version, "%s", place->version);
	heap->is_static = place->is_static;
	if (place->layout == NULL)
		return;
	heap->layout = place->layout->name;
	heap->standing = plimp_glibc_standing_word(place->layout->standing);
}

static int glibc_of_place(const struct plimp_image *image, int walk,
			  const struct plimp_glibc_place *place,
			  struct plimp_heap_list *list, plim_error *error)
{
	plim_heap *heap = plimp_heap_list_find(list, PLIM_HEAP_OF_GLIBC);
	int code;

	if (place->reason != PLIMP_GLIBC_FOUND) {
		if (heap == NULL)
			return PLIM_OK;
		glibc_facts(heap, place);
		plimp_heap_refuse(heap, glibc_reason_of(place->reason), 0, "%s",
				  plimp_glibc_reason_text(place->reason));
		return PLIM_OK;
	}
	if (heap == NULL) {
		code = plimp_heap_list_add(list, PLIM_HEAP_OF_GLIBC, &heap);
		if (code != PLIM_OK)
			return plimp_fail(error, code, 0, "walk heaps", NULL,
					  NULL);
	}
	heap->confidence = PLIM_CONFIDENCE_CERTAIN;
	glibc_facts(heap, place);
	glibc_evidence(heap, place);
	if (!walk)
		return PLIM_OK;
	return plimp_glibc_walk(image, place, heap, error);
}

static int image_glibc(const struct plimp_image *image, int walk,
		       struct plimp_heap_list *list, plim_error *error)
{
	struct plimp_glibc_place place;
	int code = plimp_glibc_locate(image, &place, error);

	if (code != PLIM_OK)
		return code;
	code = glibc_of_place(image, walk, &place, list, error);
	plimp_glibc_place_release(image->allocator, &place);
	return code;
}

static int image_others(const struct plimp_image *image,
			struct plimp_heap_list *list, plim_error *error)
{
	size_t i;
	int code = PLIM_OK;

	for (i = 0; code == PLIM_OK && i < list->count; i++) {
		plim_heap *heap = list->items[i];

		if (heap->depth != PLIM_DEPTH_RECOGNISED)
			continue;
		if (heap->kind == PLIM_HEAP_OF_MUSL)
			code = plimp_musl_walk(image, heap, error);
		else if (heap->kind == PLIM_HEAP_OF_GPERFTOOLS)
			code = plimp_gperftools_walk(image, heap, error);
	}
	return code;
}

/* Those that could have been walked were not asked for. */
static void image_not_asked(struct plimp_heap_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		plim_heap *heap = list->items[i];

		if (heap->kind == PLIM_HEAP_OF_GLIBC ||
		    heap->kind == PLIM_HEAP_OF_MUSL ||
		    heap->kind == PLIM_HEAP_OF_GPERFTOOLS)
			if (heap->depth == PLIM_DEPTH_RECOGNISED)
				heap->missing = plim_count_missing(
				    PLIM_REASON_NOT_ASKED, 0);
	}
}

int plimp_heaps_of_image(const struct plimp_image *image, int walk,
			 struct plimp_heap_list *list, plim_error *error)
{
	int code;

	assert(list->count == 0);
	code = plimp_recognise(image, list, error);
	if (code == PLIM_OK)
		code = image_glibc(image, walk, list, error);
	if (code == PLIM_OK && walk)
		code = image_others(image, list, error);
	if (code != PLIM_OK)
		return code;
	if (!walk)
		image_not_asked(list);
	plimp_heap_list_sort(list);
	return PLIM_OK;
}
