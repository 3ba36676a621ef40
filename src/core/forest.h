/*
 * forest.h - records in preorder, by links that start times prove.
 *
 * The one walk under plim_forest and plim_tree. It takes any records, also
 * those of a made-up recording: each comes out once, whatever they claim of
 * their parents.
 */
#ifndef PLIMP_FOREST_H
#define PLIMP_FOREST_H

#include <plimsoll/tree.h>

#include "core/memory.h"

/* What one record is linked with; indexes into the records. */
struct plimp_forest_node {
	size_t parent;
	size_t child;	/* the first one */
	size_t sibling; /* the next one */
	size_t branch;	/* where it stands in preorder */
};

struct plimp_forest {
	plim_branch *branches;
	size_t count;
	size_t capacity;
	struct plimp_forest_node *nodes;
	size_t node_capacity;
};

/* Room for so many records. PLIM_ENOMEM leaves the branches as they are. */
int plimp_forest_reserve(struct plimp_forest *forest,
			 const plim_allocator *allocator, size_t count);
void plimp_forest_release(struct plimp_forest *forest,
			  const plim_allocator *allocator);

/*
 * Puts `count` records, which ascend by pid, into their places; there is room
 * for them. Roots stand in the order of their pids, but `first` (an index, or
 * PLIM_NO_PARENT) is a root whatever it says, and comes before all.
 *
 * Only records of one start tick, or without any, can claim each other in a
 * circle: such a circle is cut above its lowest pid, which becomes a root.
 */
void plimp_forest_plant(struct plimp_forest *forest,
			const plim_process *const *records, size_t count,
			size_t first);

/* The index of the record with this pid among `count` that ascend by pid;
 * PLIM_NO_PARENT if there is none. */
size_t plimp_forest_find(const plim_process *const *records, size_t count,
			 uint64_t pid);

#endif
