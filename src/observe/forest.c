/*
 * forest.c - plim_forest: a snapshot's records as trees (core/forest.h).
 *
 * Two forests alternate, so that one that finds no memory leaves the other as
 * it was. Records are borrowed from the snapshot.
 */
#include "core/fail.h"
#include "core/forest.h"
#include "observe/snapshot.h"

#include <assert.h>

struct plim_forest {
	plim_allocator allocator;
	struct plimp_forest sides[2];
	int current;
	const plim_process **records; /* in the order of the snapshot */
	size_t capacity;
};

int plim_forest_new(plim_forest **forest, const plim_allocator *allocator,
		    plim_error *error)
{
	plim_forest *made;

	if (forest == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new forest", NULL,
				  NULL);
	made = plimp_allocate(allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new forest", NULL,
				  NULL);
	if (allocator != NULL)
		made->allocator = *allocator;
	*forest = made;
	return PLIM_OK;
}

void plim_forest_free(plim_forest *forest)
{
	plim_allocator allocator;

	if (forest == NULL)
		return;
	allocator = forest->allocator;
	plimp_forest_release(&forest->sides[0], &allocator);
	plimp_forest_release(&forest->sides[1], &allocator);
	plimp_release(&allocator, (void *)forest->records, forest->capacity,
		      sizeof(const plim_process *));
	plimp_release(&allocator, forest, 1, sizeof *forest);
}

static int forest_reserve(plim_forest *forest, size_t count)
{
	void *records = (void *)forest->records;
	int code =
	    plimp_reserve(&forest->allocator, &records, &forest->capacity,
			  count, 256, sizeof(const plim_process *));

	forest->records = records;
	if (code != PLIM_OK)
		return code;
	return plimp_forest_reserve(&forest->sides[!forest->current],
				    &forest->allocator, count);
}

int plim_forest_plant(plim_forest *forest, const plim_snapshot *snapshot,
		      plim_error *error)
{
	size_t count;
	size_t i;

	if (forest == NULL || snapshot == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "plant forest", NULL,
				  NULL);
	count = plim_snapshot_size(snapshot);
	if (forest_reserve(forest, count) != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "plant forest", NULL,
				  NULL);
	for (i = 0; i < count; i++)
		forest->records[i] = plim_snapshot_at(snapshot, i);
	forest->current = !forest->current;
	plimp_forest_plant(&forest->sides[forest->current], forest->records,
			   count, PLIM_NO_PARENT);
	return PLIM_OK;
}

size_t plim_forest_size(const plim_forest *forest)
{
	assert(forest != NULL);
	return forest->sides[forest->current].count;
}

const plim_branch *plim_forest_at(const plim_forest *forest, size_t index)
{
	assert(forest != NULL);
	if (index >= forest->sides[forest->current].count)
		return NULL;
	return &forest->sides[forest->current].branches[index];
}

plim_sum plim_forest_sum(const plim_forest *forest, size_t index, int field)
{
	const plim_branch *branch = plim_forest_at(forest, index);
	plim_sum sum = {0};
	size_t i;

	for (i = 0; branch != NULL && i < branch->size; i++)
		plim_sum_add(&sum,
			     plim_process_count(branch[i].process, field));
	return sum;
}
