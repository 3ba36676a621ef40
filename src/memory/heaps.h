/*
 * heaps.h - the result of walks, and how it is filled.
 *
 * A recogniser adds a heap for each allocator that it sees, with evidence; a
 * walk fills that heap, or says why it could not. All lists are bounded: what
 * a hostile heap would make endless ends with PLIM_ELIMIT, and the rows so far
 * stay. A list is made, filled by one walk, and given back whole.
 */
#ifndef PLIMP_HEAPS_H
#define PLIMP_HEAPS_H

#include "core/fail.h"

#include <plimsoll/fields.h>
#include <plimsoll/heap.h>

#define PLIMP_HEAPS_MOST    32	  /* allocators of one process */
#define PLIMP_ARENAS_MOST   16384 /* of one allocator */
#define PLIMP_EVIDENCE_MOST 32
#define PLIMP_CHECKS_MOST   64
#define PLIMP_HOSTAGES	    12
#define PLIMP_HOSTAGES_MOST 1000

struct plimp_arena {
	plim_arena about;
	plim_count figures[PLIM_HEAP_LIMIT];
};

struct plimp_evidence {
	char text[128];
};

struct plim_heap {
	plim_allocator allocator;
	int kind;
	int depth;	/* RECOGNISED when it is added */
	int confidence; /* POSSIBLE when it is added */
	int is_static;
	char version[32];
	const char *layout;   /* static; NULL: none */
	const char *standing; /* static; NULL: none */
	plim_count missing;
	char why[192];
	plim_count figures[PLIM_HEAP_LIMIT];
	struct plimp_arena *arenas;
	size_t arena_count;
	size_t arena_capacity;
	plim_hostage *hostages; /* a heap by kept_bytes, the least first, until
				 * plimp_heap_finish() */
	size_t hostage_count;
	size_t hostage_capacity;
	size_t hostage_most;
	plim_heap_check checks[PLIMP_CHECKS_MOST];
	size_t check_count;
	struct plimp_evidence evidence[PLIMP_EVIDENCE_MOST];
	size_t evidence_count;
};

/* All allocators of one walk. Pointers to heaps stay as the list grows. */
struct plimp_heap_list {
	plim_allocator allocator;
	size_t hostage_most;
	plim_heap *items[PLIMP_HEAPS_MOST];
	size_t count;
};

/* `hostages` 0: the default; more than the bound: the bound. */
void plimp_heap_list_init(struct plimp_heap_list *list,
			  const plim_allocator *allocator, size_t hostages);
void plimp_heap_list_release(struct plimp_heap_list *list);

/* Adds an allocator: recognised, possible, without figures. PLIM_ENOMEM,
 * PLIM_ELIMIT. */
int plimp_heap_list_add(struct plimp_heap_list *list, int kind,
			plim_heap **heap);
/* The first one of this kind, or NULL. */
plim_heap *plimp_heap_list_find(const struct plimp_heap_list *list, int kind);
/* Orders by confidence, walked before others; stable. */
void plimp_heap_list_sort(struct plimp_heap_list *list);

/* As plim_heaps_sum(). */
plim_count plimp_heap_list_sum(const struct plimp_heap_list *list, int figure);

/* A line of evidence, cut to fit; the one after the last that fits is left
 * out. Bytes of the process may be in it. */
void plimp_heap_add_evidence(plim_heap *heap, const char *format, ...)
    PLIMP_PRINTF(2, 3);

/* Adds a zeroed arena, whose figures are UNREAD, and lends it until the next
 * one is added. PLIM_ENOMEM, PLIM_ELIMIT. */
int plimp_heap_add_arena(plim_heap *heap, struct plimp_arena **arena);

/* Keeps the hostages that keep most. PLIM_ENOMEM. */
int plimp_heap_add_hostage(plim_heap *heap, const plim_hostage *hostage);
/* What a hostage must keep more of than this to be kept: to spare the making
 * of those that would not be. */
uint64_t plimp_heap_hostage_floor(const plim_heap *heap);

/* `name` is static; `format` may be NULL. Beyond the bound it is left out. */
void plimp_heap_add_check(plim_heap *heap, const char *name, int state,
			  plim_count expected, plim_count found,
			  const char *format, ...) PLIMP_PRINTF(6, 7);

/* A figure by the walk (PLIM_METHOD_HEAP_WALK), known and exact. */
void plimp_heap_set(plim_heap *heap, int figure, uint64_t value);
/* The same with a bound. */
void plimp_heap_set_bounded(plim_heap *heap, int figure, uint64_t value,
			    int bound);
/* A figure that cannot be had. */
void plimp_heap_set_missing(plim_heap *heap, int figure, int reason);

/* Nothing can be said of its memory, for this reason: figures, arenas and
 * hostages go, evidence and checks stay; `depth` is REFUSED. `format` is the
 * sentence. */
void plimp_heap_refuse(plim_heap *heap, int reason, int32_t code,
		       const char *format, ...) PLIMP_PRINTF(4, 5);

/* The walk is through: `depth` becomes WALKED, the hostages are put in order.
 * A figure that is still UNREAD stays so. */
void plimp_heap_finish(plim_heap *heap);

#endif
