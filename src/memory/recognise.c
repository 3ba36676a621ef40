/*
 * recognise.c - which allocators a process has: the order of the questions
 * (recognise.h).
 *
 * The modules are listed first: a file is one if a page of its beginning is
 * mapped and something of it may be executed. The lowest one is the program:
 * the kernel puts libraries, and the loader, above it.
 */
#include "memory/recognise.h"

#include "core/fail.h"
#include "core/memory.h"
#include "memory/musl.h"

#include <string.h>

plim_bytes plimp_recognise_name(const struct plimp_image *image, size_t mapping)
{
	return plim_base_name(
	    plimp_space_name(image->space, &image->space->items[mapping]));
}

plim_heap *plimp_recognise_as(struct plimp_recognition *recognition, int kind,
			      int confidence)
{
	plim_heap *heap = plimp_heap_list_find(recognition->list, kind);

	if (heap == NULL &&
	    plimp_heap_list_add(recognition->list, kind, &heap) != PLIM_OK)
		return NULL;
	if (heap->confidence < confidence)
		heap->confidence = confidence;
	return heap;
}

/* --- modules ---------------------------------------------------------------
 */

static int modules_is_same(const struct plimp_mapping *a,
			   const struct plimp_mapping *b)
{
	return a->inode == b->inode && a->device == b->device;
}

/* The module's mappings from the first one on: those of its file and the
 * nameless ones between and behind them, as long as they adjoin. */
static void modules_measure(const struct plimp_space *space,
			    struct plimp_heap_module *module, int *has_code)
{
	const struct plimp_mapping *first = &space->items[module->first];
	size_t i = module->first;

	*has_code = 0;
	module->last = i;
	for (; i < space->count; i++) {
		const struct plimp_mapping *here = &space->items[i];

		if (here->inode != 0 && !modules_is_same(here, first))
			break;
		if (i > module->first && here->offset == 0 && here->inode != 0)
			break; /* the same file once more */
		if (here->inode == 0 &&
		    (here->name_size != 0 ||
		     here->start != space->items[i - 1].end))
			break;
		if (here->inode != 0 &&
		    (here->protection & PLIMP_MAY_EXECUTE) != 0)
			*has_code = 1;
		module->last = i;
	}
	module->start = first->start;
	module->end = space->items[module->last].end;
}

static int modules_list(struct plimp_recognition *recognition)
{
	const struct plimp_space *space = recognition->image->space;
	struct plimp_heap_modules *modules = &recognition->modules;

	for (size_t i = 0; i < space->count; i++) {
		struct plimp_heap_module module = {.first = i};
		void *items = modules->items;
		int has_code;
		int status;

		if (space->items[i].inode == 0 || space->items[i].offset != 0)
			continue;
		modules_measure(space, &module, &has_code);
		if (!has_code)
			continue;
		if (modules->count == PLIMP_MODULES_MOST)
			return PLIM_OK;
		status = plimp_reserve(recognition->image->allocator, &items,
				       &modules->capacity, modules->count + 1,
				       64, sizeof(*modules->items));
		if (status != PLIM_OK)
			return status;
		modules->items = items;
		if (modules->count == 0)
			module.signs = PLIMP_MODULE_PROGRAM;
		modules->items[modules->count++] = module;
		i = module.last;
	}
	return PLIM_OK;
}

static int modules_ask(struct plimp_recognition *recognition)
{
	for (size_t i = 0; i < recognition->modules.count; i++) {
		int status = plimp_recognise_module(
		    recognition, &recognition->modules.items[i]);

		if (status != PLIM_OK)
			return status;
	}
	return PLIM_OK;
}

/* --- what is found in memory -----------------------------------------------
 */

static int modules_have(const struct plimp_recognition *recognition,
			uint32_t sign)
{
	for (size_t i = 0; i < recognition->modules.count; i++) {
		if (recognition->modules.items[i].signs & sign)
			return 1;
	}
	return 0;
}

/* mallocng has a record that proves itself, in a stripped program too. */
static int recognise_mallocng(struct plimp_recognition *recognition)
{
	struct plimp_musl_place place;
	plim_heap *heap;
	int status;

	if (modules_have(recognition, PLIMP_MODULE_IS_GLIBC))
		return PLIM_OK;
	status = plimp_musl_locate(recognition->image, &place);
	if (status < 0)
		return status;
	if (status != PLIMP_MUSL_OK)
		return PLIM_OK;
	heap = plimp_recognise_as(recognition, PLIM_HEAP_OF_MUSL,
				  PLIM_CONFIDENCE_CERTAIN);
	if (heap == NULL)
		return PLIM_ENOMEM;
	if (!modules_have(recognition, PLIMP_MODULE_IS_MUSL))
		heap->is_static = 1;
	plimp_heap_add_evidence(heap,
				"memory: the context of mallocng at 0x%llx "
				"and its records share a secret",
				(unsigned long long)place.context);
	return PLIM_OK;
}

/* Go begins its heap there, on every 64-bit Linux, and nothing else does. */
static int recognise_go_arena(struct plimp_recognition *recognition)
{
	const struct plimp_mapping *mapping =
	    plimp_space_find(recognition->image->space, UINT64_C(0xc000000000));
	plim_heap *heap =
	    plimp_heap_list_find(recognition->list, PLIM_HEAP_OF_GO);

	if (mapping == NULL || mapping->start != UINT64_C(0xc000000000) ||
	    heap == NULL)
		return PLIM_OK;
	heap->confidence = PLIM_CONFIDENCE_CERTAIN;
	plimp_heap_add_evidence(heap, "memory: a mapping at 0xc000000000, "
				      "where Go's heap begins");
	return PLIM_OK;
}

/* Who has no reader says so, and why not, in the figures' own words. */
static void recognise_settle(struct plimp_heap_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		plim_heap *heap = list->items[i];

		if (heap->kind == PLIM_HEAP_OF_GLIBC ||
		    heap->kind == PLIM_HEAP_OF_MUSL ||
		    heap->kind == PLIM_HEAP_OF_GPERFTOOLS)
			continue;
		heap->missing = plim_count_missing(PLIM_REASON_NOT_WALKED, 0);
	}
	plimp_heap_list_sort(list);
}

int plimp_recognise(const struct plimp_image *image,
		    struct plimp_heap_list *list, plim_error *error)
{
	static int (*const steps[])(struct plimp_recognition *) = {
	    modules_list,	modules_ask,	    plimp_recognise_names,
	    recognise_mallocng, recognise_go_arena, plimp_recognise_bound};
	struct plimp_recognition recognition = {.image = image, .list = list};
	int status = PLIM_OK;

	for (size_t i = 0;
	     status == PLIM_OK && i < sizeof(steps) / sizeof(steps[0]); i++)
		status = steps[i](&recognition);
	plimp_release(image->allocator, recognition.modules.items,
		      recognition.modules.capacity,
		      sizeof(*recognition.modules.items));
	if (status != PLIM_OK)
		return plimp_fail(error, status, 0, "recognise", "allocators",
				  NULL);
	recognise_settle(list);
	return PLIM_OK;
}
