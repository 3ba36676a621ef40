/*
 * watch.c - processes that are remembered for their CPU time.
 *
 * An array in ascending order of pids, one entry a pid; each has its last two
 * samples. Following a snapshot builds a second array beside the first, so
 * that a failure leaves the watch as it was; the two change places then.
 */
#include "core/fail.h"
#include "core/memory.h"
#include "host/bill.h"

#include <plimsoll/watch.h>

#include <assert.h>
#include <string.h>

struct watch_list {
	struct plimp_watched *items;
	size_t count;
	size_t capacity;
};

struct plim_watch {
	plim_host *host;
	struct watch_list list;
	struct watch_list spare;
	size_t held; /* descriptors */
	size_t limit;
	plim_cost cost;
};

int plim_watch_new(plim_watch **watch, plim_host *host, plim_error *error)
{
	plim_watch *made;

	if (watch == NULL || host == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "new watch", NULL,
				  NULL);
	made = plimp_allocate(&host->allocator, 1, sizeof *made);
	if (made == NULL)
		return plimp_fail(error, PLIM_ENOMEM, 0, "new watch", NULL,
				  NULL);
	made->host = host;
	made->limit = plimp_system_watch_limit(host);
	*watch = made;
	return PLIM_OK;
}

static void watch_drop(plim_watch *watch, struct plimp_watched *item)
{
	watch->held -= item->descriptor >= 0;
	plimp_system_unwatch(watch->host, item);
}

void plim_watch_free(plim_watch *watch)
{
	plim_host *host;
	size_t i;

	if (watch == NULL)
		return;
	host = watch->host;
	for (i = 0; i < watch->list.count; i++)
		watch_drop(watch, &watch->list.items[i]);
	plimp_release(&host->allocator, watch->list.items, watch->list.capacity,
		      sizeof *watch->list.items);
	plimp_release(&host->allocator, watch->spare.items,
		      watch->spare.capacity, sizeof *watch->spare.items);
	plimp_release(&host->allocator, watch, 1, sizeof *watch);
}

/* Where the pid stands, or would stand. */
static size_t watch_place(const struct watch_list *list, int32_t pid)
{
	size_t low = 0;
	size_t high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list->items[middle].identity.pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int watch_stands(const struct watch_list *list, size_t place,
			int32_t pid)
{
	return place < list->count && list->items[place].identity.pid == pid;
}

static int watch_reserve(plim_watch *watch, struct watch_list *list,
			 size_t count, plim_error *error)
{
	void *items = list->items;
	int code = PLIM_OK;

	if (count > PLIM_SNAPSHOT_LIMIT)
		return plimp_fail(error, PLIM_ELIMIT, 0, "watch process", NULL,
				  NULL);
	if (plimp_reserve(&watch->host->allocator, &items, &list->capacity,
			  count, 64, sizeof *list->items) != PLIM_OK)
		code = plimp_fail(error, PLIM_ENOMEM, 0, "watch process", NULL,
				  NULL);
	list->items = items;
	return code;
}

static int watch_take(plim_watch *watch, const plim_identity *identity,
		      struct plimp_watched *item, plim_error *error)
{
	int code = plimp_system_watch(watch->host, identity,
				      watch->held < watch->limit, item, error);

	if (code == PLIM_OK) {
		item->earlier = plim_count_missing(PLIM_REASON_FIRST_SAMPLE, 0);
		watch->held += item->descriptor >= 0;
	}
	return code;
}

static int watch_insert(plim_watch *watch, const plim_identity *identity,
			plim_error *error)
{
	struct watch_list *list = &watch->list;
	size_t place = watch_place(list, identity->pid);
	int there = watch_stands(list, place, identity->pid);
	struct plimp_watched item = {.descriptor = -1};
	int code;

	if (there && !list->items[place].ended &&
	    plim_identity_compare(&list->items[place].identity, identity) ==
		PLIM_SAME)
		return PLIM_OK;
	code = watch_reserve(watch, list, list->count + 1, error);
	if (code == PLIM_OK)
		code = watch_take(watch, identity, &item, error);
	if (code != PLIM_OK)
		return code;
	if (there) {
		watch_drop(watch, &list->items[place]);
	} else {
		memmove(list->items + place + 1, list->items + place,
			(list->count - place) * sizeof *list->items);
		list->count++;
	}
	list->items[place] = item;
	return PLIM_OK;
}

int plim_watch_add(plim_watch *watch, const plim_identity *identity,
		   plim_error *error)
{
	struct plimp_bill_mark mark;
	plim_cost cost = {0};
	int code;

	if (watch == NULL || identity == NULL || identity->pid < 1)
		return plimp_fail(error, PLIM_EINVAL, 0, "watch process", NULL,
				  NULL);
	mark = plimp_bill_begin(watch->host, 1);
	code = watch_insert(watch, identity, error);
	plimp_bill_end(watch->host, &mark, &cost);
	return code;
}

void plim_watch_remove(plim_watch *watch, int32_t pid)
{
	struct watch_list *list = &watch->list;
	size_t place = watch_place(list, pid);

	if (!watch_stands(list, place, pid))
		return;
	watch_drop(watch, &list->items[place]);
	list->count--;
	memmove(list->items + place, list->items + place + 1,
		(list->count - place) * sizeof *list->items);
}

/* What became of a process since the snapshot is no failure. */
static int watch_is_outcome(int code)
{
	return code == PLIM_ENOPROCESS || code == PLIM_EREPLACED ||
	       code == PLIM_EHIDDEN || code == PLIM_ECANNOTTELL;
}

/* The one that is watched already, if it is the same. */
static struct plimp_watched *watch_known(plim_watch *watch,
					 const plim_identity *identity)
{
	struct watch_list *list = &watch->list;
	size_t place = watch_place(list, identity->pid);

	if (!watch_stands(list, place, identity->pid) ||
	    list->items[place].ended ||
	    plim_identity_compare(&list->items[place].identity, identity) !=
		PLIM_SAME)
		return NULL;
	return &list->items[place];
}

static int watch_gather(plim_watch *watch, const plim_snapshot *snapshot,
			plim_error *error)
{
	struct watch_list *spare = &watch->spare;
	plim_error problem;
	size_t i;

	for (i = 0; i < plim_snapshot_size(snapshot); i++) {
		plim_identity identity =
		    plim_process_identity(plim_snapshot_at(snapshot, i));
		struct plimp_watched *known = watch_known(watch, &identity);
		int code = PLIM_OK;

		if (known != NULL)
			spare->items[spare->count] = *known;
		else
			code =
			    watch_take(watch, &identity,
				       &spare->items[spare->count], &problem);
		if (code == PLIM_OK)
			spare->count++;
		if (code == PLIM_OK || watch_is_outcome(code))
			continue;
		if (error != NULL)
			*error = problem;
		return code;
	}
	return PLIM_OK;
}

/* Of two lists that share descriptors, drops what only `from` has. */
static void watch_drop_others(plim_watch *watch, struct watch_list *from,
			      const struct watch_list *other)
{
	size_t i;

	for (i = 0; i < from->count; i++) {
		struct plimp_watched *item = &from->items[i];
		size_t place = watch_place(other, item->identity.pid);

		if (item->descriptor >= 0 &&
		    !(watch_stands(other, place, item->identity.pid) &&
		      other->items[place].descriptor == item->descriptor))
			watch_drop(watch, item);
	}
	from->count = 0;
}

int plim_watch_follow(plim_watch *watch, const plim_snapshot *snapshot,
		      plim_error *error)
{
	struct plimp_bill_mark mark;
	struct watch_list gathered;
	plim_cost cost = {0};
	int code;

	if (watch == NULL || snapshot == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "watch processes",
				  NULL, NULL);
	code = watch_reserve(watch, &watch->spare, plim_snapshot_size(snapshot),
			     error);
	if (code != PLIM_OK)
		return code;
	mark = plimp_bill_begin(watch->host, 1);
	code = watch_gather(watch, snapshot, error);
	if (code == PLIM_OK) {
		gathered = watch->spare;
		watch->spare = watch->list;
		watch->list = gathered;
	}
	watch_drop_others(watch, &watch->spare, &watch->list);
	plimp_bill_end(watch->host, &mark, &cost);
	return code;
}

int plim_watch_refresh(plim_watch *watch, plim_error *error)
{
	struct watch_list *list;
	struct plimp_bill_mark mark;
	plim_cost cost = {0};
	size_t i;

	if (watch == NULL)
		return plimp_fail(error, PLIM_EINVAL, 0, "read clocks", NULL,
				  NULL);
	list = &watch->list;
	mark = plimp_bill_begin(watch->host, 1);
	for (i = 0; i < list->count; i++) {
		struct plimp_watched *item = &list->items[i];

		cost.present += !item->ended;
		watch->held -= item->descriptor >= 0;
		if (item->cpu.state != PLIM_STATE_UNREAD) {
			item->earlier = item->cpu;
			item->earlier_ns = item->monotonic_ns;
		}
	}
	plimp_system_watch_read(watch->host, list->items, list->count);
	for (i = 0; i < list->count; i++) {
		cost.read += list->items[i].cpu.state == PLIM_STATE_KNOWN;
		cost.vanished += list->items[i].ended != 0;
		watch->held += list->items[i].descriptor >= 0;
	}
	cost.vanished -= (uint32_t)list->count - cost.present;
	plimp_bill_end(watch->host, &mark, &cost);
	watch->cost = cost;
	return PLIM_OK;
}

size_t plim_watch_size(const plim_watch *watch)
{
	assert(watch != NULL);
	return watch->list.count;
}

plim_identity plim_watch_identity(const plim_watch *watch, size_t index)
{
	plim_identity none = {0};

	assert(watch != NULL);
	return index < watch->list.count ? watch->list.items[index].identity
					 : none;
}

plim_count plim_watch_cpu(const plim_watch *watch, size_t index)
{
	assert(watch != NULL);
	if (index >= watch->list.count)
		return plim_count_missing(PLIM_REASON_NONE, 0);
	return watch->list.items[index].cpu;
}

/* Nanoseconds of CPU per second of time, of which 1e9 are 100 %. */
plim_real plim_watch_percent(const plim_watch *watch, size_t index)
{
	const struct plimp_watched *item;
	plim_real rate;

	assert(watch != NULL);
	if (index >= watch->list.count)
		return plim_real_missing(PLIM_REASON_NONE, 0);
	item = &watch->list.items[index];
	rate = plim_counter_rate(item->earlier, item->cpu,
				 item->monotonic_ns - item->earlier_ns);
	rate.value /= 1e7;
	return rate;
}

plim_cost plim_watch_cost(const plim_watch *watch)
{
	assert(watch != NULL);
	return watch->cost;
}
