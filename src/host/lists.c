/*
 * lists.c - the lists that every host fills: pids, threads, what threads are
 * called and wait in, and texts.
 */
#include "core/memory.h"
#include "host/host.h"

#include <assert.h>
#include <string.h>

struct plimp_thread *plimp_threads_slot(struct plimp_thread_list *list,
					const plim_allocator *allocator)
{
	void *items = list->items;

	if (plimp_reserve(allocator, &items, &list->capacity, list->count + 1,
			  64, sizeof *list->items) != PLIM_OK)
		return NULL;
	list->items = items;
	return &list->items[list->count];
}

int plimp_threads_add(struct plimp_thread_list *list,
		      const plim_allocator *allocator,
		      const struct plimp_thread *thread)
{
	struct plimp_thread *slot = plimp_threads_slot(list, allocator);

	if (slot == NULL)
		return PLIM_ENOMEM;
	*slot = *thread;
	list->count++;
	return PLIM_OK;
}

static int threads_before(const struct plimp_thread *a,
			  const struct plimp_thread *b)
{
	return a->tid != b->tid ? a->tid < b->tid
				: a->start_ticks < b->start_ticks;
}

/* The kernel lists threads in the order of their birth, which nearly always is
 * that of their numbers: then there is nothing to do. After a wrap-around a
 * heap sort; the C library's qsort() may allocate. */
static void threads_sift(struct plimp_thread *items, size_t root, size_t count)
{
	struct plimp_thread moved = items[root];
	size_t child;

	while ((child = 2 * root + 1) < count) {
		if (child + 1 < count &&
		    threads_before(&items[child], &items[child + 1]))
			child++;
		if (!threads_before(&moved, &items[child]))
			break;
		items[root] = items[child];
		root = child;
	}
	items[root] = moved;
}

void plimp_threads_sort(struct plimp_thread *items, size_t count)
{
	size_t at = 1;

	while (at < count && !threads_before(&items[at], &items[at - 1]))
		at++;
	if (at >= count)
		return;
	for (at = count / 2; at > 0; at--)
		threads_sift(items, at - 1, count);
	for (at = count - 1; at > 0; at--) {
		struct plimp_thread last = items[at];

		items[at] = items[0];
		items[0] = last;
		threads_sift(items, 0, at);
	}
}

void plimp_threads_release(plim_host *host, struct plimp_thread_list *list)
{
	plimp_release(&host->allocator, list->items, list->capacity,
		      sizeof *list->items);
	*list = (struct plimp_thread_list){NULL, 0, 0};
}

int plimp_pids_add(plim_host *host, struct plimp_pids *pids, int32_t pid)
{
	void *items = pids->items;

	if (pids->count >= PLIM_SNAPSHOT_LIMIT)
		return PLIM_ELIMIT;
	if (plimp_reserve(&host->allocator, &items, &pids->capacity,
			  pids->count + 1, 512, sizeof *pids->items) != PLIM_OK)
		return PLIM_ENOMEM;
	pids->items = items;
	pids->items[pids->count++] = pid;
	return PLIM_OK;
}

void plimp_pids_release(plim_host *host, struct plimp_pids *pids)
{
	plimp_release(&host->allocator, pids->items, pids->capacity,
		      sizeof *pids->items);
	*pids = (struct plimp_pids){NULL, 0, 0};
}

int plimp_texts_add(struct plimp_text_list *list,
		    const plim_allocator *allocator, plim_bytes text)
{
	void *bytes = list->bytes;

	if (text.size > SIZE_MAX - list->size ||
	    plimp_reserve(allocator, &bytes, &list->capacity,
			  list->size + text.size, 1024, 1) != PLIM_OK)
		return PLIM_ENOMEM;
	list->bytes = bytes;
	if (text.size > 0)
		memcpy(list->bytes + list->size, text.data, text.size);
	list->size += text.size;
	return PLIM_OK;
}

void plimp_texts_release(plim_host *host, struct plimp_text_list *list)
{
	plimp_release(&host->allocator, list->bytes, list->capacity, 1);
	*list = (struct plimp_text_list){NULL, 0, 0};
}

int plimp_details_add(struct plimp_thread_details *list,
		      const plim_allocator *allocator)
{
	void *items = list->items;

	if (plimp_reserve(allocator, &items, &list->capacity, list->count + 1,
			  64, sizeof *list->items) != PLIM_OK)
		return PLIM_ENOMEM;
	list->items = items;
	memset(&list->items[list->count++], 0, sizeof *list->items);
	return PLIM_OK;
}

int plimp_details_text(struct plimp_thread_details *list,
		       const plim_allocator *allocator,
		       struct plimp_thread_text *where, plim_bytes text,
		       int method)
{
	size_t start = list->texts.size;

	if (plimp_texts_add(&list->texts, allocator, text) != PLIM_OK)
		return PLIM_ENOMEM;
	where->start = start;
	where->size = plimp_known(text.size, method);
	return PLIM_OK;
}

void plimp_details_release(plim_host *host, struct plimp_thread_details *list)
{
	plimp_release(&host->allocator, list->items, list->capacity,
		      sizeof *list->items);
	plimp_texts_release(host, &list->texts);
	memset(list, 0, sizeof *list);
}
