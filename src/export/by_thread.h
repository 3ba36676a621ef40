/*
 * by_thread.h - things that belong to threads, thread by thread: for formats
 * that tell one thread after the other.
 */
#ifndef PLIMP_BY_THREAD_H
#define PLIMP_BY_THREAD_H

#include <plimsoll/base.h>

struct plimp_by_thread {
	size_t *items; /* indices; those of thread t are */
	size_t *begin; /* items[begin[t]] to items[begin[t + 1] - 1] */
	size_t item_count;
	size_t thread_count;
	const plim_allocator *allocator;
};

/* The thread of an item, below the count of threads. */
typedef size_t plimp_thread_of_fn(const void *user, size_t index);

/* Items of one thread keep their order. PLIM_ENOMEM; released all the same. */
int plimp_by_thread_make(struct plimp_by_thread *sorted,
			 const plim_allocator *allocator, size_t thread_count,
			 size_t item_count, plimp_thread_of_fn *thread_of,
			 const void *user);
void plimp_by_thread_release(struct plimp_by_thread *sorted);

#endif
