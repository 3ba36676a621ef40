/*
 * snapshot.c - every process in one pass.
 *
 * A part of the list of pids, then each of them, then the next part. The list
 * ascends and no pid is looked at twice, so that a storm of forks cannot make
 * the pass endless. What ended in between is left out and counted. Records
 * stay in the order of their pids.
 */
#include "observe/snapshot.h"

#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"

#include <assert.h>
#include <string.h>

/* A process that started within so many ticks before a pass could be
 * followed by another with the same pid and tick. */
#define SNAPSHOT_YOUNG_TICKS 2

int plim_snapshot_new(plim_snapshot **snapshot, plim_host *host,
		      plim_error *error)
{
	plim_snapshot *made;

	if (snapshot == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new snapshot", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new snapshot", NULL,
				  NULL);
	made->host = host;
	*snapshot = made;
	return PLIM_OK;
}

void plimp_pass_release(plim_host *host, struct plimp_pass *pass)
{
	plimp_release(&host->allocator, pass->records, pass->capacity,
		      sizeof *pass->records);
	plimp_threads_release(host, &pass->threads);
	plimp_texts_release(host, &pass->texts);
}

void plim_snapshot_free(plim_snapshot *snapshot)
{
	plim_host *host;

	if (snapshot == NULL)
		return;
	host = snapshot->host;
	plimp_pass_release(host, &snapshot->current);
	plimp_pass_release(host, &snapshot->spare);
	plimp_pids_release(host, &snapshot->pids);
	plimp_release(&host->allocator, snapshot, 1, sizeof *snapshot);
}

/* Proc lists pids in ascending order; a recording may not. */
static void snapshot_sift(int32_t *pids, size_t root, size_t count)
{
	int32_t moved = pids[root];
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count && pids[child] < pids[child + 1])
			child++;
		if (moved >= pids[child])
			break;
		pids[root] = pids[child];
		root = child;
	}
	pids[root] = moved;
}

static void snapshot_sort(int32_t *pids, size_t count)
{
	size_t at = 1;

	while (at < count && pids[at - 1] <= pids[at])
		at++;
	if (at >= count)
		return;
	for (at = count / 2; at > 0; at--)
		snapshot_sift(pids, at - 1, count);
	for (at = count - 1; at > 0; at--) {
		int32_t last = pids[at];

		pids[at] = pids[0];
		pids[0] = last;
		snapshot_sift(pids, 0, at);
	}
}

void plimp_pass_join(struct plimp_pass *pass)
{
	size_t thread = 0;
	size_t text = 0;
	size_t i;

	for (i = 0; i < pass->count; i++) {
		struct plimp_threads *threads = &pass->records[i].threads;
		struct plimp_texts *texts = &pass->records[i].texts;

		threads->items = NULL;
		if (threads->known) {
			threads->items = pass->threads.items + thread;
			thread += threads->count;
		}
		texts->data = NULL;
		if (texts->size > 0) {
			texts->data = pass->texts.bytes + text;
			text += texts->size;
		}
	}
	assert(thread == pass->threads.count);
	assert(text == pass->texts.size);
}

/* Those from `first` on. */
static int snapshot_read(plim_snapshot *snapshot, size_t first,
			 const struct plimp_request *request, plim_error *error)
{
	struct plimp_pass *pass = &snapshot->spare;
	size_t i;

	for (i = first; i < snapshot->pids.count; i++) {
		plim_process *record = &pass->records[pass->count];
		size_t threads = pass->threads.count;
		size_t texts = pass->texts.size;
		int code;

		if (i > 0 &&
		    snapshot->pids.items[i] <= snapshot->pids.items[i - 1])
			continue;
		code =
		    plimp_system_read(snapshot->host, snapshot->pids.items[i],
				      request, record, &pass->threads, error);
		pass->cost.present++;
		if (code == PLIM_OK) {
			pass->count++;
			pass->cost.read++;
			pass->cost.refused +=
			    (uint32_t)plimp_record_is_refused(record);
			continue;
		}
		pass->threads.count = threads;
		pass->texts.size = texts;
		if (code == PLIM_ENOPROCESS)
			pass->cost.vanished++;
		else if (code == PLIM_EHIDDEN)
			pass->cost.refused++;
		else
			return code;
	}
	return PLIM_OK;
}

/* New records are zeroed: one that holds an identity keeps it (record.h). */
int plimp_pass_reserve(plim_host *host, struct plimp_pass *pass, size_t count,
		       plim_error *error)
{
	size_t before = pass->capacity;
	void *records = pass->records;

	if (plimp_reserve(&host->allocator, &records, &pass->capacity, count,
			  256, sizeof *pass->records) != PLIM_OK)
		return plimp_fail(error, PLIM_ENOMEM, 0, "take snapshot", NULL,
				  NULL);
	pass->records = records;
	if (pass->capacity > before)
		memset(pass->records + before, 0,
		       (pass->capacity - before) * sizeof *pass->records);
	return PLIM_OK;
}

/* One part of the list; `*more` is 0 behind the last one. */
static int snapshot_part(plim_snapshot *snapshot,
			 const struct plimp_request *request,
			 uint64_t *position, int *more, plim_error *error)
{
	struct plimp_pids *pids = &snapshot->pids;
	size_t first = pids->count;
	int code = plimp_system_list(snapshot->host, pids, position, error);

	*more = pids->count > first;
	if (code != PLIM_OK)
		return code;
	snapshot_sort(pids->items + first, pids->count - first);
	code = plimp_pass_reserve(snapshot->host, &snapshot->spare, pids->count,
				  error);
	if (code != PLIM_OK)
		return code;
	return snapshot_read(snapshot, first, request, error);
}

int plimp_snapshot_fill(plim_snapshot *snapshot, struct plimp_request *request,
			const plim_snapshot *previous, plim_error *error)
{
	struct plimp_pass *pass = &snapshot->spare;
	plim_host *host = snapshot->host;
	uint64_t position = 0;
	int more = 1;
	int code = PLIM_OK;

	pass->count = 0;
	pass->threads.count = 0;
	pass->texts.size = 0;
	request->texts = &pass->texts;
	memset(&pass->cost, 0, sizeof pass->cost);
	pass->begin = plimp_system_now();
	pass->young_ticks = plimp_system_ticks(host, pass->begin.boottime);
	if (pass->young_ticks >= SNAPSHOT_YOUNG_TICKS)
		pass->young_ticks -= SNAPSHOT_YOUNG_TICKS;
	request->young_ticks = pass->young_ticks;
	if (previous != NULL &&
	    previous->current.young_ticks < request->young_ticks)
		request->young_ticks = previous->current.young_ticks;
	plimp_system_begin(host);
	snapshot->pids.count = 0;
	while (code == PLIM_OK && more)
		code =
		    snapshot_part(snapshot, request, &position, &more, error);
	pass->end = plimp_system_now();
	return code;
}

void plimp_snapshot_swap(plim_snapshot *snapshot)
{
	struct plimp_pass taken = snapshot->spare;

	plimp_pass_join(&taken);
	snapshot->spare = snapshot->current;
	snapshot->current = taken;
}

static int snapshot_request(const plim_snapshot_options *given,
			    struct plimp_request *request,
			    const plim_snapshot **previous, plim_error *error)
{
	plim_snapshot_options options;

	memset(&options, 0, sizeof options);
	memset(request, 0, sizeof *request);
	if (given != NULL) {
		if (given->size < sizeof given->size)
			return plimp_fail(
			    error, PLIM_EINVAL, 0, "take snapshot",
			    "options.size",
			    "set it to sizeof(plim_snapshot_options)");
		memcpy(&options, given,
		       given->size < sizeof options ? given->size
						    : sizeof options);
	}
	request->fields = options.fields != NULL
			      ? *options.fields
			      : plim_field_set_preset(PLIM_FIELDS_FULL);
	request->threads = options.threads != 0;
	request->strong = options.strong_identity != 0;
	*previous = options.previous;
	return PLIM_OK;
}

int plim_snapshot_take(plim_snapshot *snapshot,
		       const plim_snapshot_options *options, plim_error *error)
{
	struct plimp_request request;
	struct plimp_bill_mark mark;
	const plim_snapshot *previous = NULL;
	int code;

	if (snapshot == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "take snapshot", NULL,
				  NULL);
	code = snapshot_request(options, &request, &previous, error);
	if (code != PLIM_OK)
		return code;
	mark = plimp_bill_begin(snapshot->host, 1);
	code = plimp_snapshot_fill(snapshot, &request, previous, error);
	plimp_bill_end(snapshot->host, &mark, &snapshot->spare.cost);
	if (code != PLIM_OK)
		return code;
	plimp_snapshot_swap(snapshot);
	return PLIM_OK;
}

size_t plim_snapshot_size(const plim_snapshot *snapshot)
{
	assert(snapshot != NULL);
	return snapshot->current.count;
}

const plim_process *plim_snapshot_at(const plim_snapshot *snapshot,
				     size_t index)
{
	assert(snapshot != NULL);
	if (index >= snapshot->current.count)
		return NULL;
	return &snapshot->current.records[index];
}

const plim_process *plim_snapshot_find(const plim_snapshot *snapshot,
				       int32_t pid)
{
	const struct plimp_pass *pass = &snapshot->current;
	size_t low = 0;
	size_t high = pass->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int32_t found = pass->records[middle].identity.pid;

		if (found == pid)
			return &pass->records[middle];
		if (found < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

plim_cost plim_snapshot_cost(const plim_snapshot *snapshot)
{
	assert(snapshot != NULL);
	return snapshot->current.cost;
}

plim_stamp plim_snapshot_begin(const plim_snapshot *snapshot)
{
	assert(snapshot != NULL);
	return snapshot->current.begin;
}

plim_stamp plim_snapshot_end(const plim_snapshot *snapshot)
{
	assert(snapshot != NULL);
	return snapshot->current.end;
}
