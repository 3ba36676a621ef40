/*
 * heaps.c - plim_heaps: the walk of a process or of a core file, from its
 * arguments to its result.
 *
 * A walk fills a list of its own. Only when it is through, and the process is
 * proven to be the one it was, does that list take the place of the last one;
 * so a failure leaves the last result whole, and never shows a mixture.
 */
#include "observe/heaps.h"

#include "core/fail.h"
#include "core/memory.h"
#include "memory/verdict.h"
#include "host/bill.h"

#include <assert.h>
#include <string.h>

int plim_heaps_new(plim_heaps **heaps, plim_host *host, plim_error *error)
{
	plim_heaps *made;

	if (heaps == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new heaps", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new heaps", NULL,
				  NULL);
	made->host = host;
	plimp_heap_list_init(&made->list, &host->allocator, 0);
	*heaps = made;
	return PLIM_OK;
}

void plim_heaps_free(plim_heaps *heaps)
{
	plim_host *host;

	if (heaps == NULL)
		return;
	host = heaps->host;
	plimp_heap_list_release(&heaps->list);
	plimp_release(&host->allocator, heaps, 1, sizeof *heaps);
}

static int heaps_options(const plim_heaps_options *given,
			 plim_heaps_options *options, plim_error *error)
{
	memset(options, 0, sizeof *options);
	if (given != NULL && given->size < sizeof given->size)
		return plimp_fail(error, PLIM_EINVAL, 0, "walk heaps",
				  "options.size",
				  "set it to sizeof(plim_heaps_options)");
	if (given != NULL)
		memcpy(options, given,
		       given->size < sizeof *options ? given->size
						     : sizeof *options);
	if ((options->flags & ~(uint32_t)PLIM_HEAPS_RECOGNISE) != 0)
		return plimp_fail(error, PLIM_EINVAL, 0, "walk heaps",
				  "options.flags", NULL);
	return PLIM_OK;
}

static void heaps_begin(struct plimp_heaps_draft *draft, plim_heaps *heaps,
			const plim_heaps_options *options)
{
	memset(draft, 0, sizeof *draft);
	draft->host = heaps->host;
	draft->walk = (options->flags & PLIM_HEAPS_RECOGNISE) == 0;
	plimp_heap_list_init(&draft->list, &heaps->host->allocator,
			     options->hostages);
	draft->facts.stamp = plimp_system_now();
}

/* The draft takes the place of the last result, or is thrown away. */
static int heaps_end(plim_heaps *heaps, struct plimp_heaps_draft *draft,
		     const struct plimp_bill_mark *mark, int code)
{
	memset(&heaps->cost, 0, sizeof heaps->cost);
	plimp_bill_end(heaps->host, mark, &heaps->cost);
	if (code != PLIM_OK) {
		plimp_heap_list_release(&draft->list);
		return code;
	}
	plimp_heap_list_release(&heaps->list);
	heaps->list = draft->list;
	heaps->facts = draft->facts;
	heaps->facts.wall_ns = heaps->cost.wall_ns;
	return PLIM_OK;
}

int plim_heaps_walk(plim_heaps *heaps, plim_target *target,
		    const plim_heaps_options *given, plim_error *error)
{
	struct plimp_heaps_draft draft;
	struct plimp_bill_mark mark;
	plim_heaps_options options;
	int code;

	if (heaps == NULL || (target != NULL && target->host != heaps->host))
		return plimp_fail(error, PLIM_EINVAL, 0, "walk heaps", NULL,
				  NULL);
	code = heaps_options(given, &options, error);
	if (code != PLIM_OK)
		return code;
	mark = plimp_bill_begin(heaps->host, 1);
	heaps_begin(&draft, heaps, &options);
	code = plimp_heaps_live(&draft, target, error);
	return heaps_end(heaps, &draft, &mark, code);
}

int plim_heaps_walk_core(plim_heaps *heaps, const char *path,
			 const plim_heaps_options *given, plim_error *error)
{
	struct plimp_heaps_draft draft;
	struct plimp_bill_mark mark;
	plim_heaps_options options;
	int code;

	if (heaps == NULL || path == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "walk core", path,
				  NULL);
	code = heaps_options(given, &options, error);
	if (code != PLIM_OK)
		return code;
	mark = plimp_bill_begin(heaps->host, 1);
	heaps_begin(&draft, heaps, &options);
	code = plimp_heaps_core(&draft, path, error);
	return heaps_end(heaps, &draft, &mark, code);
}

plim_heaps_facts plim_heaps_about(const plim_heaps *heaps)
{
	assert(heaps != NULL);
	return heaps->facts;
}

plim_cost plim_heaps_cost(const plim_heaps *heaps)
{
	assert(heaps != NULL);
	return heaps->cost;
}

size_t plim_heaps_count(const plim_heaps *heaps)
{
	return heaps->list.count;
}

const plim_heap *plim_heaps_at(const plim_heaps *heaps, size_t index)
{
	return index < heaps->list.count ? heaps->list.items[index] : NULL;
}

plim_count plim_heaps_sum(const plim_heaps *heaps, int figure)
{
	assert(heaps != NULL);
	return plimp_heap_list_sum(&heaps->list, figure);
}

int plim_retention_find(const plim_heaps *heaps,
			const plim_retention_memory *given, plim_retention *out)
{
	plim_retention_memory memory;

	if (out == NULL || (given != NULL && given->size < sizeof given->size))
		return PLIM_EINVAL;
	memset(&memory, 0, sizeof memory);
	if (given != NULL)
		memcpy(&memory, given,
		       given->size < sizeof memory ? given->size
						   : sizeof memory);
	plimp_retention_find(heaps != NULL ? &heaps->list : NULL, &memory, out);
	return PLIM_OK;
}
