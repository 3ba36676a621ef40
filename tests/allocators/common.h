/*
 * common.h - a walk of one allocator of a live workload, for tests.
 */
#ifndef TESTS_ALLOCATORS_COMMON_H
#define TESTS_ALLOCATORS_COMMON_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "memory/gperftools.h"
#include "memory/heaps.h"
#include "memory/musl.h"
#include "memory/recognise.h"

#include "live.h"
#include "skip.h"
#include "spawn.h"

struct walked {
	struct live_image live;
	struct plimp_heap_list list;
};

/* Recognises the allocators of the process and walks those that this part
 * walks; fails the test if that gives an error. */
void walk(struct walked *walked, int32_t pid);
void walked_release(struct walked *walked);

/* The allocator of this kind, which must be there; one that must not. */
plim_heap *walked_heap(const struct walked *walked, int kind);
void walked_lacks(const struct walked *walked, int kind);

/* A figure that must be known and exact. */
uint64_t figure(const plim_heap *heap, int id);
/* It must be missing for this reason. */
void lacks(const plim_heap *heap, int id, int reason);
/* The allocator must have been walked, and no check failed. */
void is_exact(const plim_heap *heap);
/* Some line of evidence must hold the text. */
void has_evidence(const plim_heap *heap, const char *text);

/* Starts a workload of the build folder, skipped where it was not built
 * (`what` is the reason); with a library preloaded (its path's pattern), and
 * skipped where that is not installed. */
void start_built(struct spawn *spawn, const char *name, const char *what);
void start_preloaded(struct spawn *spawn, const char *name, const char *pattern,
		     const char *what);

#endif
