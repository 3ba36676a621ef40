/*
 * table.c - the table of a pass: taken once, sorted by pid, looked up.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/windows/system.h"

#include <assert.h>

void plimp_system_begin(plim_host *host)
{
	host->system->table.fresh = 0;
}

int plimp_nt_table_add(plim_host *host, const struct plimp_nt_entry *entry)
{
	struct plimp_nt_table *table = &host->system->table;
	void *items = table->items;

	/* The idle process is no process: it has what nobody used. */
	if (entry->process.pid == 0)
		return PLIM_OK;
	if (entry->process.pid > INT32_MAX)
		return PLIM_EMALFORMED;
	if (table->count >= PLIM_SNAPSHOT_LIMIT)
		return PLIM_ELIMIT;
	if (plimp_reserve(&host->allocator, &items, &table->item_capacity,
			  table->count + 1, 256,
			  sizeof *table->items) != PLIM_OK)
		return PLIM_ENOMEM;
	table->items = items;
	table->items[table->count++] = *entry;
	return PLIM_OK;
}

static void table_sift(struct plimp_nt_entry *items, size_t root, size_t count)
{
	struct plimp_nt_entry moved = items[root];
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count &&
		    items[child].process.pid < items[child + 1].process.pid)
			child++;
		if (moved.process.pid >= items[child].process.pid)
			break;
		items[root] = items[child];
		root = child;
	}
	items[root] = moved;
}

/* The system lists them in the order of their starts, which is none of pids:
 * these are used again soon. A heap sort; qsort() may allocate. */
static void table_sort(struct plimp_nt_entry *items, size_t count)
{
	size_t at;

	for (at = count / 2; at > 0; at--)
		table_sift(items, at - 1, count);
	for (at = count; at > 1; at--) {
		struct plimp_nt_entry last = items[at - 1];

		items[at - 1] = items[0];
		items[0] = last;
		table_sift(items, 0, at - 1);
	}
}

void plimp_nt_table_stamp(plim_host *host)
{
	host->system->table.stamp = plimp_system_now();
	host->system->table.stamp_ticks = plimp_nt_filetime();
}

int plimp_nt_table_take(plim_host *host, plim_error *error)
{
	struct plimp_nt_table *table = &host->system->table;
	int code;

	if (table->fresh)
		return PLIM_OK;
	table->count = 0;
	code = plimp_nt_table_fill(host, error);
	if (code != PLIM_OK)
		return code;
	table_sort(table->items, table->count);
	table->fresh = 1;
	return PLIM_OK;
}

const struct plimp_nt_entry *plimp_nt_table_find(const plim_host *host,
						 int32_t pid)
{
	const struct plimp_nt_table *table = &host->system->table;
	size_t low = 0;
	size_t high = table->count;

	assert(table->fresh && pid > 0);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->items[middle].process.pid < (uint64_t)pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->count &&
		       table->items[low].process.pid == (uint64_t)pid
		   ? &table->items[low]
		   : NULL;
}

int plimp_system_list(plim_host *host, struct plimp_pids *pids,
		      uint64_t *position, plim_error *error)
{
	const struct plimp_nt_table *table = &host->system->table;
	int code;
	size_t i;

	if (*position != 0)
		return PLIM_OK;
	code = plimp_nt_table_take(host, error);
	for (i = 0; code == PLIM_OK && i < table->count; i++) {
		code = plimp_pids_add(host, pids,
				      (int32_t)table->items[i].process.pid);
		if (code != PLIM_OK)
			plimp_fail(error, code, 0, "list processes", NULL,
				   NULL);
	}
	if (code == PLIM_OK)
		*position = 1;
	return code;
}
